"""Helpers of the ur_rtde scripts: an arm that is commanded over one connection and observed over another."""

import math
import socket
import sys
import threading
import time

from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

PATIENCE = 10.0
# Joint speeds below this count as rest [rad/s]: the published speeds of an arm at rest are noise.
REST = 2e-3


def say(name, *values):
    print(name, *(repr(float(value)) for value in values), flush=True)


def wait_for(what, patience=PATIENCE):
    """Polls until `what` returns a true value, for at most `patience` seconds. Returns its last value."""
    until = time.monotonic() + patience
    while not what() and time.monotonic() < until:
        time.sleep(0.002)
    return what()


def fresh(ask):
    """Asks twice and returns the second answer: ur_rtde 1.6.5 does not wait and returns the previous contents."""
    ask()
    time.sleep(0.05)
    return ask()


class Arm:
    """An arm that is commanded over one connection and observed over another."""

    def __init__(self, address, frequency, upper):
        flags = RTDEControlInterface.FLAG_UPLOAD_SCRIPT
        if upper:
            flags |= RTDEControlInterface.FLAG_UPPER_RANGE_REGISTERS
        self.period = 1.0 / frequency
        self.e_series = frequency > 125.0
        with socket.socket() as probe:
            self.dashboard = probe.connect_ex((address, 29999)) == 0
        self.done_register = 24 if upper else 0
        # Uses the range of output registers that the control script does not write.
        self.seen = RTDEReceiveInterface(address, frequency, use_upper_range_registers=not upper)
        self.control = RTDEControlInterface(address, frequency, flags)

    def rests(self):
        return all(abs(speed) < REST for speed in self.seen.getActualQd())

    def settles(self):
        """Waits until the arm has been at rest for five periods in a row, for at most `PATIENCE`."""
        rested = 0
        until = time.monotonic() + PATIENCE
        while rested < 5 and time.monotonic() < until:
            rested = rested + 1 if self.rests() else 0
            time.sleep(self.period)

    def say_rest(self, name):
        """Waits for rest and prints the position of the arm: joints, then pose."""
        self.settles()
        say(name, *self.seen.getActualQ(), *self.seen.getActualTCPPose())

    def watch(self, call):
        """Makes a call, and returns the poses of the tool, one each period, until the arm is at rest again."""
        poses, over = [], threading.Event()

        def look():
            while not over.is_set():
                poses.append(self.seen.getActualTCPPose())
                time.sleep(self.period)

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            call()
            self.settles()
        finally:
            over.set()
            watcher.join()
        return poses

    def script(self, line):
        """Returns a program that executes `line` and then reports its end in the register that the client waits for."""
        return f"def custom():\n  {line}\n  write_output_integer_register({self.done_register}, 2)\nend\n"

    def repeat(self, call, seconds):
        """Makes a call once each period for `seconds`. The argument of `call` is the time since the beginning [s]."""
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < seconds:
            start = self.control.initPeriod()
            call(now)
            self.control.waitPeriod(start)


def off_line(poses, a, b):
    """Returns the largest distance of `poses` from the line through `a` and `b` [m]."""
    along = [y - x for x, y in zip(a[:3], b[:3])]
    length = math.hypot(*along)
    worst = 0.0
    for pose in poses:
        off = [x - y for x, y in zip(pose[:3], a[:3])]
        share = sum(x * y for x, y in zip(off, along)) / length
        worst = max(worst, math.sqrt(max(0.0, sum(x * x for x in off) - share * share)))
    return worst


def nearest(poses, point):
    """Returns the smallest distance of `poses` from `point` [m]."""
    return min(math.dist(pose[:3], point[:3]) for pose in poses)


def shifted(pose, *by):
    return [value + change for value, change in zip(pose, list(by) + [0.0] * (6 - len(by)))]


def main(parts):
    """Runs the function that the command line names."""
    arm = Arm(sys.argv[1], float(sys.argv[2]), sys.argv[3] == "upper")
    try:
        say("connected", arm.control.isConnected())
        parts[sys.argv[4]](arm)
    finally:
        arm.control.disconnect()
        arm.seen.disconnect()
