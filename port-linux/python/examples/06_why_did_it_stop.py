"""Moves until something stops the arm, says why, and goes on after a person has looked.

python 06_why_did_it_stop.py [ADDRESS]     without an address, on a simulated arm with a protective stop
"""

import sys
import time

import numpy as np

from outrigger_robot import Rejected, Robot, Stopped, sim

SWING = np.array([0.5, 0, 0, 0, 0, 0])


def main(address: str) -> None:
    with Robot.ur(address) as robot:
        home = robot.state.q
        try:
            for _ in range(5):
                robot.move_to(home + SWING, speed=0.3)
                robot.move_to(home, speed=0.3)
        except (Stopped, Rejected):
            why = robot.why_stopped()
            print("stopped:", why)
            recover(robot)
        print("ready to go on")


def recover(robot: Robot) -> None:
    """Unlocks a protective stop and resets the fault. A person has to look for the cause first."""
    while robot.not_ready:
        print("not ready:", "; ".join(robot.not_ready))
        time.sleep(2.0)
        try:
            if "PROTECTIVE_STOP" in robot.dashboard("safetymode"):
                robot.dashboard("unlock protective stop")
            robot.reset()
        except (Rejected, Stopped) as error:
            print("not yet:", error)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with sim.ur("5.15", faults=["protective-stop@3s:6s"]) as simulator:
            main(simulator.address)
