"""Lets one arm repeat what another does: both are commanded from here, each by a session of its own.

python 07_two_arms.py [LEADER FOLLOWER]     without addresses, on two simulated arms
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from outrigger_robot import Robot, sim


def main(leader_address: str, follower_address: str) -> None:
    with Robot.ur(leader_address) as leader, Robot.ur(follower_address) as follower:
        start, own_start = leader.state.q, follower.state.q
        goal = start + [0.3, 0, 0, 0, 0, 0]
        with ThreadPoolExecutor() as pool, follower.stream_positions(timeout=0.1) as stream:
            motion = pool.submit(leader.move_to, goal, speed=0.2)
            for state in leader.states():
                stream.send(own_start + state.q - start)
                if motion.done() and abs(follower.state.q[0] - own_start[0] - 0.3) < 5e-3:
                    break
        motion.result()
        led, followed = leader.state.q - start, follower.state.q - own_start
        print(f"the leader turned by {led[0]:.2f} rad, the follower by {followed[0]:.2f} rad")
        print(f"commanded: {leader.mode} and {follower.mode}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(*sys.argv[1:3])
    else:
        with sim.ur("3.15", model="ur10") as one, sim.ur("5.15") as other:
            main(one.address, other.address)
