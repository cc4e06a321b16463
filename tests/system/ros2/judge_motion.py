"""Judges motions by ROS 2 with port 30003. Usage: judge_motion.py DOMAIN PORT-OF-30003 PAUSE.

PAUSE is the expected effect of a pause at the pendant: `holds`, `ends` or `overridden`. Output and requests for
actions are those of `judge.py`.
"""

import sys
import time

from judge import IO, Deadline, check, commanded, do, say
from realtime import Arm, apart
from ros2 import Action, Node, goal, until


class Judge:
    def __init__(self, domain, port):
        self.node, self.arm = Node(int(domain)), Arm(port)
        self.action = Action(self.node, "scaled_joint_trajectory_controller")
        self.first = self.arm.now().q
        self.there = [q + 0.3 * (joint < 2) for joint, q in enumerate(self.first)]

    def send(self, to):
        accepted, goal_id = self.action.send(goal([(2.0, to)]))
        check(accepted, "the goal is rejected")
        return goal_id

    def arrives(self, goal_id, to):
        self.has_arrived(self.action.result(goal_id), to)

    def has_arrived(self, answer, to):
        check(answer.status == 4 and answer.result.error_code == 0, f"{answer.status}: {answer.result}")
        check(self.arm.rests(0.3), "30003: the arm moves after a goal that succeeded")
        off = apart(self.arm.now().q, to)
        check(off < 0.02, f"30003: the arm is {off} rad off the goal that succeeded")

    def moves(self, begun, far):
        until(lambda: self.arm.way(begun) > far, f"the arm to have gone {far} rad")

    def stands(self, seconds, why):
        """Checks that the arm comes to rest within 0.1 rad, and stays there for `seconds`."""
        begin = time.monotonic()
        check(self.arm.rests(seconds), f"30003: it does not stand {why}")
        way = self.arm.way(begin)
        check(way < 0.1, f"30003: {way} rad {why}")

    def with_slider(self):
        """Moves with the slider at 30 %, at 0 for a while, and at 100 %."""
        do("slider 0.3")
        begun = time.monotonic()
        goal_id = self.send(self.there)
        # Half of the motion takes longer than this.
        deadline = Deadline(3.0)
        self.moves(begun, 0.03)
        do("slider 0")
        deadline.ask()
        self.stands(0.5, "with the slider at 0")
        # At most 0.3 of the speed of the goal: 0.3 rad in 2 s on average, twice that in the middle.
        speed = self.arm.speed(begun)
        check(0.01 < speed < 0.15, f"30003: {speed} rad/s at 30 %")
        deadline.check(apart(self.arm.now().q, self.there) > 0.15, "30003: it was there before the slider stood at 0")
        again = time.monotonic()
        do("slider 1")
        self.arrives(goal_id, self.there)
        took, speed = time.monotonic() - begun, self.arm.speed(again)
        check(took > 3.0 and speed > 0.15, f"{took} s; 30003: {speed} rad/s at 100 %")
        say("slider", f"{took:.2f} s, {speed:.3f} rad/s at 100 %")

    def goes_back(self):
        """Starts a goal back to the first position, which takes 2 s. More than half of that has passed once a
        sixth of the way is left."""
        begun, deadline = time.monotonic(), Deadline(1.2)
        goal_id = self.send(self.first)
        self.moves(begun, 0.03)
        return begun, deadline, goal_id

    def pause_holds(self):
        begun, deadline, goal_id = self.goes_back()
        do("pause")
        deadline.ask()
        self.stands(1.0, "while paused")
        deadline.check(apart(self.arm.now().q, self.first) > 0.05, "30003: it was there before it was paused")
        do("play")
        self.arrives(goal_id, self.first)
        say("pause", f"{time.monotonic() - begun:.2f} s")

    def pause_is_overridden(self, running):
        """Checks that the text of each cycle replaces the paused program. If it is late, a state may report the
        pause, which ends the motion."""
        _, _, goal_id = self.goes_back()
        do("pause")
        answer = self.action.result(goal_id)
        if "ProgramPaused" in answer.result.error_string:
            self.has_ended(answer, running)
            return
        self.has_arrived(answer, self.first)
        say("pause", "overridden")
        self.hands_back(running)

    def pause_ends(self, running):
        _, deadline, goal_id = self.goes_back()
        do("pause")
        deadline.ask()
        answer = self.action.result(goal_id)
        ended = answer.status == 6 and "ProgramPaused" in answer.result.error_string
        deadline.check(ended, f"{answer.status}: {answer.result}")
        self.has_ended(answer, running)

    def has_ended(self, answer, running):
        """Checks that a pause has ended the goal and the motion on its way, and that `play` starts nothing."""
        until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")
        check(self.arm.rests(0.5), "30003: it moves after a pause has ended it")
        off = apart(self.arm.now().q, self.first)
        check(off > 0.05, f"30003: it is {off} rad off a goal that was aborted")
        begin = time.monotonic()
        do("play")
        time.sleep(1.5)
        way = self.arm.way(begin)
        check(way < 2e-3, f"30003: {way} rad by itself after a pause that ended it")
        say("pause", answer.result.error_string)

    def hands_back(self, running):
        check(self.node.call("outrigger/release", "Trigger").success, "a release is refused")
        until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")


def main(domain, port, pause):
    judge = Judge(domain, port)
    check(not judge.action.send(goal([(2.0, judge.there)]))[0], "a goal is accepted while nothing is commanded")
    begin = time.monotonic()
    running = commanded(judge.node)
    # The beginning of commanding moves nothing.
    way = judge.arm.way(begin)
    check(way < 2e-3, f"30003: {way} rad by asking to command")
    judge.with_slider()
    if pause == "holds":
        judge.pause_holds()
        judge.hands_back(running)
    elif pause == "ends":
        judge.pause_ends(running)
    else:
        judge.pause_is_overridden(running)
    check(judge.arm.rests(0.5), "30003: it moves after the end of commanding")
    check(not judge.action.send(goal([(2.0, judge.there)]))[0], "a goal is accepted after that")
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
