"""Reads a controller with urx, a third-party client for real robots, and prints the values that it decoded.

Usage: urx_reads.py ADDRESS

urx uses the ports 30002 and 30003 only. Each line of the output is a name and its numbers.
"""

import logging
import socket
import sys

from urx.urrtmon import URRTMonitor
from urx.ursecmon import SecondaryMonitor

JOINTS = range(6)
PACKETS = 20
POSE = ("X", "Y", "Z", "Rx", "Ry", "Rz")


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def secondary(address):
    monitor = SecondaryMonitor(address)
    try:
        for _ in range(2):
            monitor.wait(timeout=5)
        data = monitor.get_all_data()
        joints = data["JointData"]
        say("secondary.q_actual", *(joints[f"q_actual{i}"] for i in JOINTS))
        say("secondary.q_target", *(joints[f"q_target{i}"] for i in JOINTS))
        say("secondary.pose", *(data["CartesianInfo"][axis] for axis in POSE))
        say("secondary.robot_mode", data["RobotModeData"]["robotMode"])
        say("secondary.digital_in", monitor.get_digital_in_bits())
        say("secondary.running", monitor.running)
    finally:
        monitor.close()


def realtime(address):
    monitor = URRTMonitor(address)
    monitor.start_buffering()
    monitor.start()
    try:
        packets = [monitor.pop_buffer() for _ in range(PACKETS)]
        say("realtime.time", *(controller_time for _, controller_time, _, _ in packets))
        _, _, pose, q_actual = packets[-1]
        say("realtime.q_actual", *q_actual)
        say("realtime.pose", *pose)
    finally:
        monitor.close()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    socket.setdefaulttimeout(10)
    secondary(sys.argv[1])
    realtime(sys.argv[1])
