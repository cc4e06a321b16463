"""Prints the wrench of a force at a tool that is offset from the flange. Usage: judge_lever.py DOMAIN PORT-OF-30003.

Output and requests for actions are those of `judge.py`.
"""

import math
import sys

from judge import check, do, say
from ros2 import Node, until


def main(domain, _port):
    node = Node(int(domain))
    wrenches = node.reader("force_torque_sensor_broadcaster/wrench", "WrenchStamped", depth=100)
    until(lambda: wrenches.take(N=100), "a wrench")
    do("push 0 0 -20 0 0 0")

    def pushed():
        """Returns the newest wrench with a force of 20 N, or None."""
        taken = [message.wrench for message in wrenches.take(N=100)]
        of = [w for w in taken if abs(math.hypot(w.force.x, w.force.y, w.force.z) - 20.0) < 0.01]
        return of[-1] if of else None

    wrench = until(pushed, "a force of 20 N")
    check(math.isfinite(wrench.torque.x), "the torque is no number")
    say("force", wrench.force.x, wrench.force.y, wrench.force.z)
    say("torque", wrench.torque.x, wrench.torque.y, wrench.torque.z)
    say("done", "yes")


main(*sys.argv[1:])
