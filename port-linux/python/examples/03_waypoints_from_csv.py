"""Moves through the waypoints of a CSV file: time [s] and six joint angles [deg] from the start, one row each.

python 03_waypoints_from_csv.py [ADDRESS [FILE]]     without an address, on a simulated arm
"""

import pathlib
import sys

import numpy as np

from outrigger_robot import Robot, sim

WAYPOINTS = str(pathlib.Path(__file__).with_suffix(".csv"))


def main(address: str, file: str = WAYPOINTS) -> None:
    table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    times, changes = table[:, 0], np.radians(table[:, 1:])
    with Robot.ur(address) as robot:
        positions = robot.state.q + changes
        robot.follow(times.tolist(), positions)
        error = np.degrees(np.abs(robot.state.q - positions[-1]).max())
        print(f"{len(times)} waypoints in {times[-1]:.1f} s; at rest within {error:.2f}° of the last one")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
