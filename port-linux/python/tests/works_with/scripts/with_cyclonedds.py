"""cyclonedds: topics, a service and an action of the ROS 2 node, by `ros2.py` of Outrigger's examples."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[5] / "port-linux/cli/examples/ros2"))

from ros2 import DEFINED, JOINTS, Action, Node, goal, matched, until
from task import run


def commanded(node):
    """Requests that the arm is commanded, and waits until it is."""
    running = node.reader("io_and_status_controller/robot_program_running", "Bool", latched=True, depth=1)
    until(lambda: node.call("outrigger/request", "Trigger").success or time.sleep(0.3), "commanding")
    until(lambda: any(message.data for message in running.take(N=10)), "a program that runs")


def joints(task):
    node = Node(0)
    commanded(node)
    arm = Action(node, "scaled_joint_trajectory_controller")
    accepted, goal_id = arm.send(goal([(2.0, task.joints)]))
    result = arm.result(goal_id).result
    if not accepted or result.error_code:
        raise SystemExit(f"{'aborted' if accepted else 'rejected'}: {result.error_string}")


def speed(task):
    node = Node(0)
    speeds = node.writer("forward_velocity_controller/commands", "Float64MultiArray")
    until(lambda: matched(speeds.get_matched_subscriptions), "the controller of speeds")
    commanded(node)
    for _ in range(50):
        speeds.write(DEFINED["Float64MultiArray"](data=task.speeds))
        time.sleep(0.02)
    speeds.write(DEFINED["Float64MultiArray"](data=[0.0] * 6))
    time.sleep(1.0)


def read(task):
    state = until(Node(0).reader("joint_states", "JointState").take, "joint states")[-1]
    return [state.position[state.name.index(joint)] for joint in JOINTS]


if __name__ == "__main__":
    run(globals())
