"""urx: URRobot."""

import time

from task import run
from urx.urrobot import URRobot


def robot(task, call):
    client = URRobot(task.host)
    try:
        return call(client)
    finally:
        client.close()


def joints(task):
    robot(task, lambda client: client.movej(task.joints, acc=2.0, vel=1.0))


def send(task):
    robot(task, lambda client: client.movej(task.joints, acc=2.0, vel=1.0, wait=False))


def line(task):
    robot(task, lambda client: client.movel(task.pose, acc=0.5, vel=0.1))


def speed(task):
    def turn(client):
        client.speedx("speedj", task.speeds, 2.0, 1.0)
        time.sleep(1.2)
        client.stopj()
        time.sleep(0.2)

    robot(task, turn)


def read(task):
    return robot(task, lambda client: list(client.getj()))


if __name__ == "__main__":
    run(globals())
