"""urkit: URRobot, a layer over ur_rtde."""

import time

from task import run
from urkit import URRobot


def robot(task, call):
    client = URRobot(ip=task.host)
    try:
        return call(client)
    finally:
        client.disconnect()


def joints(task):
    robot(task, lambda client: client.rtde_control.moveJ(task.joints, 1.0, 2.0))


def line(task):
    robot(task, lambda client: client.move_to(task.pose, vel=0.1, acc=0.5))


def speed(task):
    def turn(client):
        client.rtde_control.speedJ(task.speeds, 2.0, 0.0)
        time.sleep(1.0)
        client.speed_stop()

    robot(task, turn)


def read(task):
    return robot(task, lambda client: list(client.get_joint_positions()))


if __name__ == "__main__":
    run(globals())
