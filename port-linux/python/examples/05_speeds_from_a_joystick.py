"""Streams joint speeds as a joystick would give them, 50 times a second. A stick that falls silent stops the arm.

python 05_speeds_from_a_joystick.py [ADDRESS]     without an address, on a simulated arm
"""

import sys
import time
from collections.abc import Iterator

from outrigger_robot import Robot, sim

FASTEST = 0.3  # [rad/s]


def stick() -> Iterator[tuple[float, float]]:
    """Yields two axes, each from -1 to 1; put your joystick here."""
    for axes, seconds in (((0.5, 0.0), 1.0), ((0.0, -1.0), 0.5), ((0.0, 0.0), 0.3)):
        for _ in range(int(seconds * 50)):
            time.sleep(0.02)
            yield axes


def main(address: str) -> None:
    with Robot.ur(address) as robot, robot.stream_speeds(timeout=0.1) as stream:
        start = robot.state.q
        for turn, wrist in stick():
            stream.send([FASTEST * turn, 0, 0, 0, 0, FASTEST * wrist])
        time.sleep(0.5)  # The stick is silent: the arm comes to rest by itself.
        moved = robot.state.q - start
        print(f"joint 1 moved by {moved[0]:+.2f} rad, joint 6 by {moved[5]:+.2f} rad; {stream.lapses} lapse")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
