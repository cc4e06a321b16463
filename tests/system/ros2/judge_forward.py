"""Judges streamed speeds and positions. Usage: judge_forward.py DOMAIN. Output and requests for actions are those of
`judge.py`.
"""

import json
import sys
import time

from judge import IO, check, commanded, do, position, reach, say
from ros2 import DEFINED, JOINTS, Action, Node, goal, matched, until

HZ = 50.0
FOLLOW = "scaled_joint_trajectory_controller/follow_joint_trajectory"


class Stream:
    """A publisher of commands to one of the forward controllers."""

    def __init__(self, node, of):
        self.writer = node.writer(f"forward_{of}_controller/commands", "Float64MultiArray", reliable=of == "velocity")
        until(lambda: matched(self.writer.get_matched_subscriptions), f"who hears {of}")

    def once(self, data):
        self.writer.write(DEFINED["Float64MultiArray"](data=list(map(float, data))))

    def send(self, seconds, data):
        """Streams `data`, a list or a function of the time since the beginning [s], for `seconds`."""
        begun, at = time.monotonic(), 0.0
        while at < seconds:
            self.once(data(at) if callable(data) else data)
            time.sleep(max(0.0, begun + at + 1.0 / HZ - time.monotonic()))
            at = time.monotonic() - begun


class Told:
    """The log of the node."""

    def __init__(self, node):
        self.reader, self.lines = node.reader("outrigger/events", "String", depth=1000), []

    def all(self):
        self.lines += [json.loads(m.data).get("text", "") for m in self.reader.take(N=1000)]
        return self.lines

    def says(self, what):
        return until(lambda: [line for line in self.all() if what in line], f"'{what}' in the log")


def apart(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def first(speed):
    return [speed, 0.0, 0.0, 0.0, 0.0, 0.0]


def rests(states, within):
    """Waits for rest and returns the time that it took [s]."""
    begun = time.monotonic()
    while True:
        fresh = until(lambda: states.take(N=1000), "joint states")
        if max(abs(v) for v in fresh[-1].velocity) < 1e-3:
            return time.monotonic() - begun
        check(time.monotonic() - begun < within, f"it moves {within} s after the last command: {fresh[-1].velocity}")


def main(domain):
    node = Node(int(domain))
    states, told = node.reader("joint_states", "JointState", depth=1000), Told(node)
    speeds, positions = Stream(node, "velocity"), Stream(node, "position")
    begin = position(states)
    speeds.send(0.3, first(0.3))
    check(apart(position(states), begin) < 1e-3, "speeds move an arm that nobody commands")
    told.says("NotCommanding")

    running = commanded(node)
    action = Action(node, "scaled_joint_trajectory_controller")
    # Speeds move the arm, and no goal is accepted meanwhile. Without further speeds the arm rests and stays commanded.
    speeds.send(1.0, first(0.3))
    speeds.once(first(0.3))
    there = position(states)
    check(0.15 < there[0] - begin[0] < 0.4 and apart(there[1:], begin[1:]) < 0.01, f"speeds led from {begin} to {there}")
    node.client(f"{FOLLOW}/_action/send_goal", "FollowJointTrajectory_SendGoal")
    speeds.send(0.1, first(0.3))
    sent = node.send(f"{FOLLOW}/_action/send_goal", "FollowJointTrajectory_SendGoal", goal_id=[7] * 16, goal=goal([(3.0, begin)]))
    speeds.send(0.6, first(0.2))
    check(not node.answer(sent).accepted, "a goal is taken while speeds move the arm")
    say("rest", rests(states, 1.0))
    told.says("the arm stops and stays commanded")
    check(not [m for m in running.take(N=10) if not m.data], "it is not commanded any more")

    # Invalid commands move nothing, and the log names their fault.
    rest = position(states)
    for wrong, name in (
        (first(float("nan")), "joint 1 is NaN"),
        (first(0.1)[:5], "expected 6 numbers"),
        (first(0.1) + [0.0], "expected 6 numbers"),
        (first(7.0), "joint 1 would reach"),
        (first(1e300), "joint 1 is"),
    ):
        speeds.send(0.1, wrong)
        told.says(name)
    for wrong, name in ((rest[:5], "expected 6 numbers"), ([rest[0] + 1.0, *rest[1:]], "(Far)"), ([7.0, *rest[1:]], "(Beyond)")):
        positions.send(0.1, wrong)
        told.says(name)
    check(apart(position(states), rest) < 1e-3, "nonsense moves the arm")

    # A goal continues to its end although speeds are streamed meanwhile.
    reach(node, action, states, begin, 2.0, lambda: speeds.send(1.0, first(0.3)))
    told.says("a motion is active")

    # Positions are followed, and the arm stays at the last one.
    way = lambda at: [begin[0] + min(0.3, 0.2 * at), *begin[1:]]
    positions.send(2.0, way)
    until(lambda: apart(position(states), way(9.0)) < 0.005, "the last position")
    rests(states, 1.0)
    speeds.send(0.2, first(0.0))
    say("moved", "by positions")

    # With the slider at 30 % the arm is slower. Commands that expired with the slider at 0 are not continued.
    rests(states, 1.0)
    before = position(states)
    do("slider 0.3")
    speeds.send(1.0, first(-0.3))
    rests(states, 2.0)
    slower = before[0] - position(states)[0]
    check(0.03 < slower < 0.2, f"at 30 % a second of 0.3 rad/s makes {slower} rad")
    do("slider 0.0")
    before = position(states)
    speeds.send(0.5, first(-0.3))
    time.sleep(0.3)
    do("slider 1.0")
    time.sleep(0.5)
    check(apart(position(states), before) < 5e-3, "what was sent with the slider at 0 moves the arm later")
    # The topic of the driver of 2015, with the joints in another order.
    old = node.writer("ur_driver/joint_speed", "JointTrajectory")
    until(lambda: matched(old.get_matched_subscriptions), "a reader of joint_speed")
    point = DEFINED["JointTrajectoryPoint"](velocities=first(-0.2)[::-1])
    for _ in range(25):
        old.write(DEFINED["JointTrajectory"](joint_names=JOINTS[::-1], points=[point]))
        time.sleep(1.0 / HZ)
    check(before[0] - position(states)[0] > 0.03, "speeds do not move the arm after the slider was at 0")
    rests(states, 2.0)

    # Commands like a hardware component of ros2_control: first without numbers, then positions, then velocities
    # without positions.
    control = node.writer("robot_joint_commands", "JointState")
    until(lambda: matched(control.get_matched_subscriptions), "a reader of robot_joint_commands")
    begin = position(states)

    def command(at, **of):
        joints = {key: list(map(float, value))[::-1] for key, value in of.items()}
        control.write(DEFINED["JointState"](name=JOINTS[::-1], **joints))
        time.sleep(1.0 / HZ)

    for at in range(10):
        command(at, position=[float("nan")] * 6)
    check(apart(position(states), begin) < 1e-3, "commands without numbers move the arm")
    for at in range(75):
        command(at, position=[begin[0] + 0.2 * min(1.0, at / 50), *begin[1:]])
    until(lambda: apart(position(states), [begin[0] + 0.2, *begin[1:]]) < 0.005, "the position that ros2_control commands")
    rests(states, 1.0)
    for at in range(25):
        command(at, velocity=first(-0.2))
    check(begin[0] + 0.2 - position(states)[0] > 0.03, "velocities of ros2_control do not move the arm")
    rests(states, 2.0)
    for at in range(5):
        command(at, position=begin[:5] + [begin[5] + 1.0])
    told.says("(Far)")
    for at in range(5):
        command(at, effort=[1.0] * 6)
    told.says("effort: found 6 numbers")
    check(not [line for line in told.all() if "NaN" in line and "robot_joint_commands" in line], "commands without numbers are told")

    check(node.call("outrigger/release", "Trigger").success, "a release is refused")
    until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")
    rests(states, 2.0)
    before = position(states)
    speeds.send(0.3, first(0.3))
    check(apart(position(states), before) < 1e-3, "speeds move the arm after a release")
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
