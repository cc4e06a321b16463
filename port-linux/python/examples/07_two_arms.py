"""Lets one arm repeat what another does: the leader runs a program of its own, the follower is commanded from here.

python 07_two_arms.py [LEADER FOLLOWER]     without addresses, on two simulated arms
"""

import socket
import sys

from outrigger_robot import Robot, sim

PROGRAM = """
def lead():
  start = get_actual_joint_positions()
  movej([start[0] + 0.3, start[1], start[2], start[3], start[4], start[5]], a=0.5, v=0.2)
  sleep(0.5)
end
"""


def start_leader(address: str) -> None:
    host, _, base = address.partition(":")
    with socket.create_connection((host, 30002 - 29999 + int(base or 29999)), timeout=5.0) as connection:
        connection.sendall(PROGRAM.encode())


def main(leader_address: str, follower_address: str) -> None:
    # At present one session of a computer can command: the one that connects first.
    with Robot.ur(follower_address) as follower, Robot.ur(leader_address) as leader:
        start, own_start = leader.state.q, follower.state.q
        with follower.stream_positions(timeout=0.1) as stream:
            start_leader(leader_address)
            for state in leader.states():
                stream.send(own_start + state.q - start)
                if abs(state.q[0] - start[0] - 0.3) < 1e-3 and abs(follower.state.q[0] - own_start[0] - 0.3) < 5e-3:
                    break
        led, followed = leader.state.q - start, follower.state.q - own_start
        print(f"the leader turned by {led[0]:.2f} rad, the follower by {followed[0]:.2f} rad")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(*sys.argv[1:3])
    else:
        with sim.ur("3.15", model="ur10") as one, sim.ur("5.15") as other:
            main(one.address, other.address)
