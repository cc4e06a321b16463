"""UR-TCP-RTDE: functions of the module that send URScript, and read the packet of port 30003."""

import time

import UR_TCP_RTDE as ur
from task import run


def sent(task, call):
    connection = ur.connect(task.host, 30003)
    call(connection)
    time.sleep(0.5)
    ur.disconnect(connection)


def joints(task):
    sent(task, lambda connection: ur.send_movej(connection, task.joints, 2.0, 1.0, 0, 0))


def line(task):
    sent(task, lambda connection: ur.send_movel(connection, task.pose, 0.5, 0.1, 0, 0))


def speed(task):
    sent(task, lambda connection: ur.send_speedj(connection, task.speeds, 2.0, 1.0))


def read(task):
    connection = ur.connect(task.host, 30003)
    q = ur.get_JJ_position(connection.recv(1116))
    ur.disconnect(connection)
    return list(q)


if __name__ == "__main__":
    run(globals())
