"""Moves an arm with ur_rtde, unchanged, and lets Outrigger say what stops it.

python 10_beside_ur_rtde.py [HOST]     without a host, on a simulated arm with a protective stop; needs ur_rtde
"""

import sys
import time

from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

from outrigger_robot import Robot, sim


def main(host: str) -> None:
    control, receive = RTDEControlInterface(host), RTDEReceiveInterface(host)
    with Robot.ur(host) as robot:  # It only observes: ur_rtde commands the arm.
        goal = receive.getActualQ()
        goal[0] += 0.6
        arrived = control.moveJ(goal, 0.2, 0.5)
        time.sleep(0.5)
        left = goal[0] - robot.state.q[0]
        print(f"ur_rtde says that it {'arrived' if arrived else 'did not arrive'}; {left:.2f} rad are left")
        print("not ready:", "; ".join(robot.not_ready) or "nothing")
    receive.disconnect()
    control.disconnect()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        # ur_rtde cannot change ports: the simulated arm has the real ones.
        with sim.ur("5.15", port_base=29999, faults=["protective-stop@3s"]) as simulator:
            main(simulator.address)
