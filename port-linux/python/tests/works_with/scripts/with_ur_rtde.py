"""ur_rtde: RTDEControlInterface and RTDEReceiveInterface."""

import time

from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface
from task import run


def control(task, call):
    client = RTDEControlInterface(task.host)
    try:
        call(client)
    finally:
        client.stopScript()
        client.disconnect()


def joints(task):
    control(task, lambda client: client.moveJ(task.joints, 1.0, 2.0))


def line(task):
    control(task, lambda client: client.moveL(task.pose, 0.1, 0.5))


def speed(task):
    def turn(client):
        client.speedJ(task.speeds, 2.0, 0.0)
        time.sleep(1.0)
        client.speedStop()

    control(task, turn)


def read(task):
    client = RTDEReceiveInterface(task.host)
    q = client.getActualQ()
    client.disconnect()
    return q


if __name__ == "__main__":
    run(globals())
