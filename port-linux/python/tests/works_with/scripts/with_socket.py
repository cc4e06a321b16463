"""URScript over a socket, and the packet of port 30003."""

import socket
import struct
import time

from task import run


def send(task, line):
    with socket.create_connection((task.host, 30002), 5) as connection:
        connection.sendall((line + "\n").encode())
        time.sleep(0.5)


def joints(task):
    send(task, f"movej({task.joints}, a=2.0, v=1.0)")


def line(task):
    send(task, f"movel(p{task.pose}, a=0.5, v=0.1)")


def speed(task):
    # The length of the argument list of CB2, which later software accepts, too.
    send(task, f"def turn():\n speedj({task.speeds}, 2.0, 1.0)\n stopj(2.0)\nend")


def read(task):
    with socket.create_connection((task.host, 30003), 5) as connection:
        packet = connection.recv(4096, socket.MSG_WAITALL)
    return struct.unpack(">6d", packet[252:300])


if __name__ == "__main__":
    run(globals())
