"""What the judges of ur_rtde share: an arm that is commanded over one connection and looked at over another."""

import math
import socket
import sys
import threading
import time

from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

PATIENCE = 10.0
# [rad/s]; published speeds of an arm that rests are noise.
REST = 2e-3


def say(name, *values):
    print(name, *(repr(float(value)) for value in values), flush=True)


def wait_for(what, patience=PATIENCE):
    """The first true answer, or the last one after a while."""
    until = time.monotonic() + patience
    while not what() and time.monotonic() < until:
        time.sleep(0.002)
    return what()


def fresh(ask):
    """The answer to a question that ur_rtde 1.6.5 asks without waiting: it returns what stood in the registers before."""
    ask()
    time.sleep(0.05)
    return ask()


class Arm:
    """An arm that is commanded over one connection and looked at over another."""

    def __init__(self, address, frequency, upper):
        flags = RTDEControlInterface.FLAG_UPLOAD_SCRIPT
        if upper:
            flags |= RTDEControlInterface.FLAG_UPPER_RANGE_REGISTERS
        self.period = 1.0 / frequency
        self.e_series = frequency > 125.0
        with socket.socket() as probe:
            self.dashboard = probe.connect_ex((address, 29999)) == 0
        self.done_register = 24 if upper else 0
        # Reads the output registers that the control script does not write.
        self.seen = RTDEReceiveInterface(address, frequency, use_upper_range_registers=not upper)
        self.control = RTDEControlInterface(address, frequency, flags)

    def rests(self):
        return all(abs(speed) < REST for speed in self.seen.getActualQd())

    def settles(self):
        """Waits for the arm to have rested for five periods."""
        rested = 0
        until = time.monotonic() + PATIENCE
        while rested < 5 and time.monotonic() < until:
            rested = rested + 1 if self.rests() else 0
            time.sleep(self.period)

    def say_rest(self, name):
        """Where a call left the arm: joints, then pose."""
        self.settles()
        say(name, *self.seen.getActualQ(), *self.seen.getActualTCPPose())

    def watch(self, call):
        """Poses that were passed while a call lasted."""
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
        """A program of one line that says when it is done, as the client waits for."""
        return f"def custom():\n  {line}\n  write_output_integer_register({self.done_register}, 2)\nend\n"

    def repeat(self, call, seconds):
        """Makes a call once in each period, with the time since the first."""
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < seconds:
            start = self.control.initPeriod()
            call(now)
            self.control.waitPeriod(start)


def off_line(poses, a, b):
    """Largest distance of positions from the line through two [m]."""
    along = [y - x for x, y in zip(a[:3], b[:3])]
    length = math.hypot(*along)
    worst = 0.0
    for pose in poses:
        off = [x - y for x, y in zip(pose[:3], a[:3])]
        share = sum(x * y for x, y in zip(off, along)) / length
        worst = max(worst, math.sqrt(max(0.0, sum(x * x for x in off) - share * share)))
    return worst


def nearest(poses, point):
    """Smallest distance of positions from a point [m]."""
    return min(math.dist(pose[:3], point[:3]) for pose in poses)


def shifted(pose, *by):
    return [value + change for value, change in zip(pose, list(by) + [0.0] * (6 - len(by)))]


def main(parts):
    """Runs the part that the command line names."""
    arm = Arm(sys.argv[1], float(sys.argv[2]), sys.argv[3] == "upper")
    try:
        say("connected", arm.control.isConnected())
        parts[sys.argv[4]](arm)
    finally:
        arm.control.disconnect()
        arm.seen.disconnect()
