"""Turns the last joint until a sensor sees no offset: speeds from Python, the control loop in Rust.

python 01_follow_a_sensor.py [ADDRESS]     without an address, on a simulated arm
"""

import sys

from outrigger_robot import Robot, sim

GAIN = 2.0  # [1/s]
WORKPIECE = 0.4  # The angle of the workpiece from the start [rad], for the sensor that is made up here.


def read_sensor(turned: float) -> float:
    """Returns the angle between tool and workpiece [rad]; put your sensor here."""
    return WORKPIECE - turned


def main(address: str) -> None:
    with Robot.ur(address) as robot, robot.stream_speeds(timeout=0.1) as stream:
        start = robot.state.q[5]
        for state in robot.states():  # The pace: 500 times a second with an e-Series.
            offset = read_sensor(state.q[5] - start)
            if abs(offset) < 0.002:
                break
            stream.send([0, 0, 0, 0, 0, max(-0.3, min(0.3, GAIN * offset))])
        print(f"the tool turned by {robot.state.q[5] - start:.2f} rad; offset {offset:.3f} rad")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
