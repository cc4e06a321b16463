"""Sends a program in URScript to the controller, and observes what the arm does with it.

python 09_observe_a_urscript.py [ADDRESS]     without an address, on a simulated arm
"""

import socket
import sys

from outrigger_robot import Robot, sim

PROGRAM = """
def weld():
  start = get_actual_joint_positions()
  set_standard_digital_out(1, True)
  movej([start[0] + 0.3, start[1], start[2], start[3], start[4], start[5]], a=1.0, v=0.4)
  set_standard_digital_out(1, False)
end
"""


def send(address: str, program: str) -> None:
    """Sends a program to port 30002, or to the port that stands for it at a simulator."""
    host, _, base = address.partition(":")
    with socket.create_connection((host, 30002 - 29999 + int(base or 29999)), timeout=5.0) as connection:
        connection.sendall(program.encode())


def main(address: str) -> None:
    with Robot.ur(address) as robot:  # It only observes: nothing here commands the arm.
        start, welding, fastest = robot.state, 0, 0.0
        send(address, PROGRAM)
        for state in robot.states():
            on = bool(state.digital_outputs >> 1 & 1)
            welding += on
            fastest = max(fastest, abs(state.qd).max())
            if welding and not on:
                break
        print(
            f"the output was on in {welding} states; joint 1 moved by {state.q[0] - start.q[0]:.2f} rad "
            f"with up to {fastest:.2f} rad/s"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
