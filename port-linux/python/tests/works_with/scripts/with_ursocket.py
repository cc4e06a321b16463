"""URsocket: control."""

from task import run
from URsocket.UR import control


def robot(task, call):
    client = control(task.host)
    try:
        return call(client)
    finally:
        client.disconnect()


def joints(task):
    robot(task, lambda client: client.moveJ(task.joints, 2.0, 1.0, 0, 0))


def line(task):
    robot(task, lambda client: client.moveL(task.pose, 0.5, 0.1, 0, 0))


def speed(task):
    robot(task, lambda client: client.speedJ(task.speeds, 2.0, 1.0, True))


def read(task):
    return robot(task, lambda client: list(client.getActualJointPositions()))


if __name__ == "__main__":
    run(globals())
