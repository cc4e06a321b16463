"""urpy: UniversalRobot, with millimetres and angles of three digits."""

from task import run
from urpy import JointPosition, MovementType, Pose, UniversalRobot


def joints(task):
    UniversalRobot(task.host).move_to(JointPosition(*task.joints), wait=False)


def line(task):
    x, y, z = (1000.0 * length for length in task.pose[:3])
    robot = UniversalRobot(task.host)
    robot.set_vel(0.1)
    robot.move_to(Pose(x, y, z, *task.pose[3:]), MovementType.LINEAR, wait=False)


def read(task):
    position = UniversalRobot(task.host).get_joint_position()
    return [getattr(position, name) for name in ("base", "shoulder", "elbow", "wrist1", "wrist2", "wrist3")]


if __name__ == "__main__":
    run(globals())
