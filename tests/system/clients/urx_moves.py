"""Makes every kind of move that urx, a third-party client for real robots, offers.

Usage: urx_moves.py ADDRESS waits|sends

After software 3.2 urx cannot see that the robot runs. There (`sends`) its moves are sent without waiting for their end.
The position of the arm after a move is also read through urx. Each line of the output is a name and its numbers.
"""

import logging
import sys
import time

from urx.urrobot import URRobot

PATIENCE = 10.0


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def settles(robot):
    """Waits until the joints are unchanged in four readings in a row, for at most `PATIENCE` seconds."""
    until = time.monotonic() + PATIENCE
    time.sleep(0.3)
    stays = 0
    before = robot.getj(wait=True)
    while stays < 4 and time.monotonic() < until:
        now = robot.getj(wait=True)
        stays = stays + 1 if max(abs(a - b) for a, b in zip(now, before)) < 1e-4 else 0
        before = now


def shifted(pose, *by):
    return [value + change for value, change in zip(pose, list(by) + [0.0] * (6 - len(by)))]


def moved(robot, name, call, wanted):
    """Makes a move, and prints the wanted and the actual position of the tool after it."""
    call()
    settles(robot)
    say(name + ".wanted", *wanted[:3])
    say(name, *robot.getl(wait=True)[:3])


def main(address, waits):
    robot = URRobot(address)
    try:
        robot.getl(wait=True)
        if waits:
            until = time.monotonic() + PATIENCE
            while not robot.is_running() and time.monotonic() < until:
                time.sleep(0.02)
        home, start = robot.getj(), robot.getl()
        quick = {"acc": 1.0, "vel": 0.2, "threshold": 0.001, "wait": waits}
        goal = shifted(start, -0.04, 0.03, -0.02)
        moved(robot, "movel", lambda: robot.movel(goal, **quick), goal)
        moved(robot, "movep", lambda: robot.movep(start, **quick), start)
        moved(robot, "relative", lambda: robot.movel([0, 0, -0.03, 0, 0, 0], relative=True, **quick), shifted(start, 0, 0, -0.03))
        end = shifted(start, 0.0, 0.0, 0.03)
        moved(robot, "movec", lambda: robot.movec(shifted(start, 0.0, 0.03, 0.0), end, acc=1.0, vel=0.1, threshold=0.001, wait=waits), end)
        corners = [shifted(start, 0.0, 0.0, -0.04), shifted(start, 0.0, 0.04, -0.04), shifted(start, 0.0, 0.04, 0.0)]
        moved(robot, "movels", lambda: robot.movels(corners, acc=1.0, vel=0.2, radius=0.01, threshold=0.001, wait=waits), corners[-1])
        moved(robot, "translate", lambda: robot.translate((0.0, -0.04, 0.0), acc=1.0, vel=0.1, wait=waits), start)

        turned = home[:5] + [home[5] + 0.5]
        robot.movej(turned, acc=2.0, vel=0.5, wait=False)
        time.sleep(0.5)
        robot.stopj(4.0)
        settles(robot)
        on_the_way = robot.getj(wait=True)[5] - home[5]
        say("stopped", on_the_way)
        time.sleep(0.3)
        say("stays", robot.getj(wait=True)[5] - home[5] - on_the_way)
        robot.movej(home, acc=2.0, vel=1.0, threshold=0.01, wait=waits)
        settles(robot)
        say("home", *(now - then for now, then in zip(robot.getj(wait=True), home)))
    finally:
        robot.close()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    main(sys.argv[1], sys.argv[2] == "waits")
