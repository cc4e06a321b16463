"""Picks a part and places it beside, with a gripper at the tool's digital output 0.

python 02_pick_and_place.py [ADDRESS]     without an address, on a simulated arm
"""

import sys
import time

import numpy as np

from outrigger_robot import Robot, sim

UP = np.array([0, 0, 0.08, 0, 0, 0])  # [m]
BESIDE = np.array([0, 0.15, 0, 0, 0, 0])


def grip(robot: Robot, closed: bool) -> None:
    robot.set(f"tool-out.0={'on' if closed else 'off'}")
    robot.set(f"payload={0.5 if closed else 0.0}@0,0,0.05")
    time.sleep(0.2)  # The gripper needs time.


def visit(robot: Robot, place: np.ndarray, closed: bool) -> None:
    """Moves above a place and down to it, opens or closes the gripper, and moves up again."""
    robot.move_to(pose=place + UP, speed=0.8)
    robot.move_to(pose=place, linear=True)
    grip(robot, closed)
    robot.move_to(pose=place + UP, linear=True)


def main(address: str) -> None:
    with Robot.ur(address) as robot:
        above = robot.state.pose
        pick, place = above - UP, above - UP + BESIDE
        visit(robot, pick, closed=True)
        held = bool(robot.state.digital_outputs >> 16 & 1)
        visit(robot, place, closed=False)
        moved = robot.state.pose - above
        print(f"gripper closed on the way: {held}; placed {moved[1]:.3f} m beside")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
