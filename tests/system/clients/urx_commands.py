"""Reads and moves an arm with urx, a third-party client for real robots, and prints the values that it read.

Usage: urx_commands.py ADDRESS

Uses the class `URRobot`: its subclass `Robot` needs a release of math3d that is no longer available. Each line of the
output is a name and its numbers.
"""

import logging
import sys
import time

from urx.urrobot import URRobot

PATIENCE = 5.0


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def wait_for(what):
    """Polls until `what` returns a true value, for at most `PATIENCE` seconds. Returns its last value."""
    until = time.monotonic() + PATIENCE
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    return what()


def main(address):
    robot = URRobot(address)
    try:
        say("running", wait_for(robot.is_running))
        say("getl", *robot.getl(wait=True))
        say("getj", *robot.getj())
        say("digital_in", robot.get_digital_in_bits())

        robot.set_digital_out(2, True)
        say("output_2_on", wait_for(lambda: robot.get_digital_out(2)))
        robot.set_digital_out(2, False)
        say("output_2_off", wait_for(lambda: not robot.get_digital_out(2)))
        robot.set_digital_out(1, True)
        say("outputs", wait_for(robot.get_digital_out_bits))
        for command in (
            lambda: robot.set_analog_out(0, 0.5),
            lambda: robot.set_tool_voltage(24),
            lambda: robot.set_payload(1.5),
            lambda: robot.set_tcp((0, 0, 0.1, 0, 0, 0)),
        ):
            command()
            time.sleep(0.1)

        goal = [joint + 0.05 for joint in robot.getj()]
        say("goal", *goal)
        say("movej", *robot.movej(goal, acc=2, vel=1, threshold=0.01))
        say("relative", *robot.movej([-0.02] * 6, acc=2, vel=1, relative=True, threshold=0.005))
        wait_for(lambda: not robot.is_program_running())
        say("there", *robot.getj(wait=True))
        pose = robot.getl(wait=True)
        say("pose", *pose)
        lower = pose[:2] + [pose[2] - 0.03] + pose[3:]
        say("lower", *lower)
        robot.movex("movej", lower, acc=2, vel=1, threshold=0.001)
        wait_for(lambda: not robot.is_program_running())
        say("lowered", *robot.getl(wait=True))
    finally:
        robot.close()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    main(sys.argv[1])
