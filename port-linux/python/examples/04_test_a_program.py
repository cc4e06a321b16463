"""Tests a robot program with pytest on a simulated arm: where it ends, and what it does after a protective stop.

pytest 04_test_a_program.py                runs the tests
python 04_test_a_program.py [ADDRESS]      runs the program; without an address, on a simulated arm
"""

import sys

import numpy as np
import pytest

from outrigger_robot import Robot, Stopped, sim

SHIFT = np.array([0.8, 0, 0, 0, 0, 0])


def main(address: str) -> str:
    """The program: moves joint 1 and returns what happened."""
    with Robot.ur(address) as robot:
        try:
            robot.move_to(robot.state.q + SHIFT, speed=0.4)
        except Stopped as stop:
            return f"stopped: {stop}"
        return "arrived"


def test_the_arm_arrives(ur):
    start = ur.q
    assert main(ur.address) == "arrived"
    assert np.allclose(ur.q, start + SHIFT, atol=2e-3) and ur.at_rest


@pytest.mark.ur("5.11", model="ur10e", faults=["protective-stop@2s"])
def test_a_protective_stop_ends_the_program(ur):
    assert main(ur.address).startswith("stopped")
    assert ur.at_rest


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(main(sys.argv[1]))
    else:
        with sim.ur("5.15") as simulator:
            print(main(simulator.address))
