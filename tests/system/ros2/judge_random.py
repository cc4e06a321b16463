"""Sends random requests, and checks what must hold after any of them. Usage: judge_random.py DOMAIN PORT-OF-30003
SECONDS SEED.

The requests depend on the seed, and on whether the arm is commanded. In any case each request has one answer, each
accepted goal has one result, the arm comes to rest after a cancellation, modes change as defined in
core/src/mode/mod.rs, and no joint exceeds its speed limit. Output and requests for actions are those of `judge.py`.
"""

import collections
import json
import math
import random
import sys
import time

from judge import IO, check, do, say
from realtime import Arm
from ros2 import DEFINED, Node, goal, matched, until

# `limits.velocity` of the cell [rad/s], and the overshoot that the control of the arm may add.
LIMIT, ABOVE = 1.0, 0.03
LEGAL = {
    "Offline": {"Monitor"},
    "Monitor": {"Arming", "Offline"},
    "Arming": {"Command", "Monitor", "Offline"},
    "Command": {"Stopping", "Offline"},
    "Stopping": {"Monitor", "Offline"},
}
# The largest number of unanswered requests. A service queues ten.
MOST = 8
ACTIONS = [f"{name}_controller/follow_joint_trajectory/_action" for name in ("scaled_joint_trajectory", "passthrough_trajectory")]
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
FINAL = {SUCCEEDED, CANCELED, ABORTED}


class Questions:
    """The requests that are not answered yet."""

    def __init__(self, node):
        self.node, self.open, self.counts = node, {}, collections.Counter()

    def ask(self, name, of, then, **fields):
        until(lambda: len(self.open) < MOST or self.listen(), "answers")
        _, _, client, number = self.node.send(name, of, **fields)
        self.open[client, number] = (name, then)
        self.counts[name.rpartition("/")[2]] += 1

    def listen(self):
        """Takes the answers that have arrived. Returns whether another request may be sent."""
        for _, reader, _, _ in list(self.node.clients.values()):
            for message in reader.take(N=100):
                name, then = self.open.pop((message.client, message.number), (None, None))
                check(name is not None, f"an answer to nothing that is asked, or a second one: {message}")
                then(message)
        return len(self.open) < MOST


class Goal:
    def __init__(self, action, number):
        self.action, self.number = action, number
        self.accepted = self.status = self.cancelled = None


class Judge:
    def __init__(self, domain, port, seed):
        self.node, self.arm, self.random = Node(int(domain)), Arm(port), random.Random(int(seed))
        self.asks = Questions(self.node)
        self.events = self.node.reader("outrigger/events", "String", depth=10_000)
        self.goals, self.modes, self.reasons = [], [], collections.Counter()
        self.first = self.arm.now().q
        self.begun = time.monotonic()
        self.rests = 0

    def listen(self):
        self.asks.listen()
        for message in self.events.take(N=1000):
            event = json.loads(message.data)
            if event["kind"] != "transition":
                continue
            old, new = event["from"], event["to"]
            check(new in LEGAL[old], f"{old} to {new}: {event}")
            check(not self.modes or self.modes[-1] == old, f"{event}, and the mode was {self.modes[-1:]}")
            self.modes.append(new)
            if "reason" in event:
                self.reasons[event["reason"]] += 1

    def until(self, holds, what):
        def look():
            self.listen()
            return holds()

        until(look, what)

    def trigger(self, name):
        self.asks.ask(name, "Trigger", lambda answer: None)

    def goal(self):
        pick = self.random
        made = Goal(pick.choice(ACTIONS[:1] * 3 + ACTIONS[1:]), [pick.getrandbits(8) for _ in range(16)])
        self.goals.append(made)
        there = [q + pick.uniform(-0.4, 0.4) for q in self.first]
        points = [(pick.uniform(0.8, 2.5), there)]
        kind = pick.random()
        if kind < 0.1:
            points = [(0.05, there)]
        elif kind < 0.15:
            points = [(1.0, [math.nan] * 6)]
        elif kind < 0.35:
            points = [(1.0, [(a + b) / 2.0 for a, b in zip(there, self.first)]), (2.5, there)]

        def ends(answer):
            check(made.status is None, f"a second result: {answer}")
            expected = FINAL if made.accepted else {0}
            check(answer.status in expected, f"a goal that was {'' if made.accepted else 'not '}accepted ends as {answer.status}")
            made.status = answer.status

        def decided(answer):
            made.accepted = answer.accepted
            self.asks.ask(f"{made.action}/get_result", "FollowJointTrajectory_GetResult", ends, goal_id=made.number)

        self.asks.ask(f"{made.action}/send_goal", "FollowJointTrajectory_SendGoal", decided, goal_id=made.number, goal=goal(points))

    def cancel(self):
        """Cancels one goal, all goals of an action, or an unknown goal. Then waits until the arm is at rest."""
        self.until(lambda: all(of.accepted is not None for of in self.goals), "whether goals are accepted")
        going = [of for of in self.goals if of.accepted and of.status is None]
        number, action = [0] * 16, self.random.choice(ACTIONS)
        kind = self.random.random()
        if kind < 0.2:
            number = [self.random.getrandbits(8) for _ in range(16)]
        elif going and kind < 0.8:
            number, action = going[-1].number, going[-1].action
        answers, asked = [], time.monotonic()
        info = DEFINED["GoalInfo"](goal_id=number)
        self.asks.ask(f"{action}/cancel_goal", "CancelGoal", answers.append, goal_info=info)
        self.until(lambda: answers, "the answer to a cancel")
        cancelled = {tuple(info.goal_id) for info in answers[0].goals_canceling}
        check(bool(cancelled) == (answers[0].return_code == 0), f"{answers[0]}")
        known = {tuple(of.number): of for of in self.goals if of.action == action and of.accepted}
        check(cancelled <= known.keys(), f"goals are cancelled that are none of {action}: {answers[0]}")
        if not cancelled:
            return
        self.until(lambda: all(known[of].status is not None for of in cancelled), "the end of what was cancelled")
        for of in cancelled:
            known[of].cancelled = True
        # Only one motion is active at a time, so nothing may move the arm any more.
        result = time.monotonic()
        check(self.arm.rests(0.2), "30003: it does not rest after a cancel")
        way = self.arm.way(result)
        check(way < 0.02, f"30003: it goes on for {way} rad after the result of a cancel")
        way = self.arm.way(asked)
        check(way < 0.4, f"30003: {way} rad from a cancel to rest")
        self.rests += 1

    def setting(self):
        pick, nothing = self.random, lambda answer: None
        kind = pick.randrange(6)
        if kind == 0:
            state = pick.choice([0.0, 1.0, 0.5, math.nan, math.inf])
            self.asks.ask(f"{IO}/set_io", "SetIO", nothing, fun=pick.randrange(6), pin=pick.randrange(-1, 20), state=state)
        elif kind == 1:
            share = pick.choice([0.3, 0.6, 1.0, 1.0, 0.0, -1.0, 2.0])
            self.asks.ask(f"{IO}/set_speed_slider", "SetSpeedSliderFraction", nothing, speed_slider_fraction=share)
        elif kind == 2:
            center = DEFINED["Vector3"](z=pick.uniform(-0.1, 0.1))
            self.asks.ask(f"{IO}/set_payload", "SetPayload", nothing, mass=pick.uniform(-0.5, 2.0), center_of_gravity=center)
        elif kind == 3:
            self.asks.ask("scaled_joint_trajectory_controller/query_state", "QueryTrajectoryState", nothing)
        elif kind == 4:
            self.asks.ask("ur_configuration_controller/get_software_version", "GetRobotSoftwareVersion", nothing)
        else:
            self.asks.ask(f"{IO}/set_analog_output", "SetAnalogOutput", nothing, data=DEFINED["Analog"](pin=pick.randrange(3), domain=pick.randrange(3), state=0.5))

    def step(self):
        if self.modes[-1] == "Monitor" and self.random.random() < 0.6:
            self.trigger("outrigger/acknowledge")
            self.trigger("outrigger/request")
        kind = self.random.random()
        if kind < 0.36:
            self.goal()
        elif kind < 0.52:
            self.cancel()
        elif kind < 0.58:
            self.trigger("outrigger/request")
        elif kind < 0.61:
            self.trigger("outrigger/release")
        elif kind < 0.64:
            self.trigger("outrigger/acknowledge")
        elif kind < 0.67:
            do(self.random.choice(["pause", "play", "play", "stop", "slider 0.5", "slider 1"]))
        else:
            self.setting()
        pause = time.monotonic() + self.random.choice([0.0, 0.02, 0.1, 0.4])
        self.until(lambda: time.monotonic() >= pause, "the next one")

    def end(self):
        """Ends every goal, and checks that every request is answered and the arm comes to rest."""
        for action in ACTIONS:
            self.asks.ask(f"{action}/cancel_goal", "CancelGoal", lambda answer: None, goal_info=DEFINED["GoalInfo"]())
        do("play")
        do("slider 1")
        self.until(lambda: not self.asks.open, "every answer, and every result")
        self.trigger("outrigger/release")
        self.until(lambda: not self.asks.open and self.modes[-1] == "Monitor", "the end of commanding")
        check(self.arm.rests(0.5), "30003: it moves at the end")
        # A second answer to any request would have arrived by then.
        later = time.monotonic() + 0.5
        self.until(lambda: time.monotonic() >= later, "the end")
        check(self.node.call("ur_configuration_controller/get_software_version", "GetRobotSoftwareVersion").major > 0, "it does not answer")


def main(domain, port, seconds, seed):
    judge = Judge(domain, port, seed)
    states = judge.node.reader("joint_states", "JointState", depth=10)
    until(lambda: states.take(N=10), "joint states")
    # Discovers every server before the measured time begins.
    for action in ACTIONS:
        for part, of in (("send_goal", "FollowJointTrajectory_SendGoal"), ("get_result", "FollowJointTrajectory_GetResult"), ("cancel_goal", "CancelGoal")):
            judge.node.client(f"{action}/{part}", of)
    until(lambda: matched(judge.events.get_matched_publications), "events")

    def commanding():
        judge.trigger("outrigger/request")
        later = time.monotonic() + 0.3
        judge.until(lambda: time.monotonic() >= later, "a while")
        return "Command" in judge.modes

    until(commanding, "commanding")
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        judge.step()
    judge.end()
    fastest = judge.arm.speed(judge.begun)
    check(fastest < LIMIT + ABOVE, f"30003: {fastest} rad/s, and the limit is {LIMIT}")
    ended = collections.Counter(of.status for of in judge.goals if of.accepted)
    check(judge.modes.count("Command") > 0 and ended[CANCELED] + ended[ABORTED] + ended[SUCCEEDED] > 0, "nothing was done")
    say("asked", dict(judge.asks.counts))
    say("goals", f"{len(judge.goals)}, of them accepted {ended.total()}, ended as {dict(ended)}")
    say("rests", judge.rests)
    say("modes", f"{len(judge.modes)} changes, {judge.modes.count('Command')} times Command, for {dict(judge.reasons)}")
    say("fastest", f"{fastest:.3f} rad/s")
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
