"""Hands back control and resends programs like a client of UR's driver. Usage: judge_hand_back.py DOMAIN
PORT-OF-30003 urcap|resident|none.

Output and requests for actions are those of `judge.py`.
"""

import sys
import time

from judge import IO, check, commanded, do, in_time, position, say
from realtime import Arm
from ros2 import Node, until


class Judge:
    def __init__(self, domain, port):
        self.node = Node(int(domain))
        self.arm = Arm(int(port))
        self.states = self.node.reader("joint_states", "JointState", depth=1000)
        position(self.states)

    def hand_back(self):
        return self.node.call(f"{IO}/hand_back_control", "Trigger")

    def resend(self):
        return self.node.call(f"{IO}/resend_robot_program", "Trigger")

    def runs(self, wanted):
        """Waits until a program runs (`wanted`) or does not, by the dashboard."""
        until(
            lambda: self.node.call("dashboard_client/program_running", "IsProgramRunning").program_running == wanted,
            f"a program that {'runs' if wanted else 'has ended'}",
        )

    def refused(self, answer, reason):
        check(not answer.success and f"({reason})" in answer.message, f"{answer}, expected {reason}")

    def released(self, running):
        until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")


def urcap(judge):
    """The pendant's program fetches the node's program, and continues after it only by `hand_back_control`."""
    judge.refused(judge.hand_back(), "ProgramAway")
    judge.refused(judge.resend(), "NoSuchProgram")
    do("play")
    running = commanded(judge.node)
    last = position(judge.states)[5]
    # A release does not hand back control: the node's program keeps running.
    check(judge.node.call("outrigger/release", "Trigger").success, "a release is refused")
    judge.released(running)
    time.sleep(1.0)
    judge.runs(True)
    check(abs(position(judge.states)[5] - last) < 1e-3, "the pendant's program moves the arm after a release")
    # A commanded arm is brought to rest before control is handed back.
    running = commanded(judge.node)
    begin = time.monotonic()
    answer = judge.hand_back()
    in_time(answer.success, f"{answer}", stood=0.1)
    say("took", time.monotonic() - begin)
    judge.released(running)
    until(lambda: abs(position(judge.states)[5] - 1.0) < 0.01, "the goal of the pendant's program")
    judge.runs(False)
    judge.arm.rests(0.2)
    judge.refused(judge.hand_back(), "ProgramAway")


def resident(judge):
    """The node's program stays on the controller from `resend_robot_program` to `hand_back_control`, without motion."""
    first = position(judge.states)
    judge.refused(judge.hand_back(), "ProgramAway")
    # The connection for text may be opened later than the one for states.
    until(lambda: judge.resend().success, "our program to be sent")
    judge.runs(True)
    judge.refused(judge.resend(), "ProgramRuns")
    running = commanded(judge.node)
    judge.refused(judge.resend(), "Commanded")
    answer = judge.hand_back()
    in_time(answer.success, f"{answer}", stood=0.1)
    judge.released(running)
    judge.runs(False)
    apart = max(abs(a - b) for a, b in zip(position(judge.states), first))
    check(apart < 1e-3, f"{apart} rad by programs that are sent and handed back")


def none(judge):
    """No program stays on the controller: both calls report that. `hand_back_control` releases the arm all the same."""
    judge.refused(judge.resend(), "NoSuchProgram")
    judge.refused(judge.hand_back(), "NoSuchProgram")
    running = commanded(judge.node)
    answer = judge.hand_back()
    judge.refused(answer, "NoSuchProgram")
    check("a stop of the arm was requested" in answer.message, f"{answer}")
    judge.released(running)


def main(domain, port, what):
    {"urcap": urcap, "resident": resident, "none": none}[what](Judge(domain, port))
    say("done", "yes")


main(*sys.argv[1:])
