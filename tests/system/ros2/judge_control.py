"""Replaces ros2_control and MoveIt, configured by their example files. Usage: judge_control.py DOMAIN PORT-OF-30003
[FOLDER].

With a folder the node has the namespace of `arm.urdf.xacro`. Without one only plans of MoveIt are sent. Output and
requests for actions are those of `judge.py`.
"""

import ast
import math
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import judge
from judge import check, commanded, position, say
from ros2 import DEFINED, JOINTS, Action, Node, goal, matched, span, until

SECONDS, WAY = 3.0, 0.4


class Component:
    """A hardware component of ros2_control that uses topics, as described in `core/docs/protocol/ros2-surface.md`
    12.1."""

    def __init__(self, node, file):
        robot = ElementTree.parse(file).getroot()
        parameters = {of.get("name"): of.text for of in robot.iter("param")}
        self.names = [of.get("name") for of in robot.iter() if str(of.tag).endswith("}joint_by_topic")]
        self.namespace = parameters["joint_states_topic"].rsplit("/", 1)[0].lstrip("/")
        self.states = node.reader(parameters["joint_states_topic"].lstrip("/"), "JointState", reliable=False, depth=5)
        self.commands = node.writer(parameters["joint_commands_topic"].lstrip("/"), "JointState", depth=1)
        until(lambda: matched(self.commands.get_matched_subscriptions), "a reader of commands")

    def read(self):
        """Returns the newest positions in the order of the component [rad], or None if none has arrived."""
        taken = self.states.take(N=100)
        return [dict(zip(taken[-1].name, taken[-1].position))[name] for name in self.names] if taken else None

    def write(self, positions):
        self.commands.write(DEFINED["JointState"](name=self.names, position=positions))


def cycles(component, seconds, wanted, rate=125.0):
    """Runs the loop of the controller manager. Returns the largest lag of a joint behind its command [rad]."""
    begun, at, behind, now = time.monotonic(), 0.0, 0.0, None
    while at < seconds:
        now = component.read() or now
        command = wanted(at)
        if now:
            behind = max([behind, *(abs(a - b) for a, b in zip(now, command) if math.isfinite(b))])
        component.write(command)
        time.sleep(max(0.0, begun + at + 1.0 / rate - time.monotonic()))
        at = time.monotonic() - begun
    return behind


def stays(states, at, what):
    off = max(abs(a - b) for a, b in zip(position(states), at))
    check(off < 1e-3, f"{what}: the arm moves by {off} rad")


def planned(node, controller, names, states, to):
    """Executes a plan as MoveIt sends it: from the current position at 0 s, with velocities and accelerations,
    without tolerances."""
    action, begin = Action(node, controller), position(states)
    point, rate, points = DEFINED["JointTrajectoryPoint"], math.pi / SECONDS, []
    for count in range(31):
        at = SECONDS * count / 30
        q = (1.0 - math.cos(rate * at)) / 2.0
        v, a = rate * math.sin(rate * at) / 2.0, rate**2 * math.cos(rate * at) / 2.0
        ways = [b - a for a, b in zip(begin, to)]
        points.append(point(
            positions=[at + q * way for at, way in zip(begin, ways)], velocities=[v * way for way in ways],
            accelerations=[a * way for way in ways], time_from_start=span(at)))
    plan = DEFINED["FollowGoal"](trajectory=DEFINED["JointTrajectory"](joint_names=names, points=points))
    accepted, goal_id = action.send(plan)
    check(accepted, "a plan is rejected")
    answer = action.result(goal_id)
    check(answer.status == 4 and answer.result.error_code == 0, f"{answer.status}: {answer.result}")
    off = max(abs(a - b) for a, b in zip(position(states), to))
    check(off < 0.02 and len(action.feedback.take(N=10000)) > 10, f"{off} rad off the end of the plan")


def plans(node):
    """Sends plans of MoveIt only: a motion there and back, and a plan that is cancelled on its way."""
    states, name = node.reader("joint_states", "JointState", depth=1000), "joint_trajectory_controller"
    commanded(node)
    begin = position(states)
    there = [begin[0] + WAY, begin[1] - WAY, *begin[2:]]
    planned(node, name, JOINTS, states, there)
    planned(node, name, JOINTS, states, begin)
    action = Action(node, name)
    accepted, goal_id = action.send(goal([(0.0, begin), (5.0, there)]))
    check(accepted, "a plan is rejected")
    time.sleep(1.0)
    action.cancel(goal_id)
    check(action.result(goal_id).status == 5, "a plan is not cancelled")
    say("done", "yes")


def main(domain, _port, folder=None):
    node = Node(int(domain))
    if folder is None:
        return plans(node)
    folder = Path(folder)
    launch = ast.parse((folder / "moveit.launch.py").read_text())
    check(any(isinstance(of, ast.FunctionDef) and of.name == "generate_launch_description" for of in launch.body), "no launch file")
    component = Component(node, folder / "arm.urdf.xacro")
    judge.IO = f"{component.namespace}/{judge.IO}"
    judge.OWN = f"{component.namespace}/{judge.OWN}"
    states = node.reader(f"{component.namespace}/joint_states", "JointState", depth=1000)
    begin = until(component.read, "joint states")

    # First no controller is active, then one that commands a position. Nothing moves before the node commands.
    cycles(component, 0.5, lambda at: [math.nan] * 6)
    cycles(component, 0.5, lambda at: [q + 0.1 for q in begin])
    stays(states, begin, "nobody commands")
    running = commanded(node)
    cycles(component, 0.5, lambda at: [math.nan] * 6)
    stays(states, begin, "commands without numbers")

    # A trajectory that is sampled in each cycle. Its end is held.
    part = lambda at: WAY * (1.0 - math.cos(math.pi * min(1.0, at / SECONDS))) / 2.0
    behind = cycles(component, SECONDS + 1.0, lambda at: [begin[0] + part(at), begin[1] - part(at), *begin[2:]])
    there = [begin[0] + WAY, begin[1] - WAY, *begin[2:]]
    off = max(abs(a - b) for a, b in zip(position(states), there))
    check(off < 0.005, f"{off} rad off the end of the trajectory")
    check(behind < 0.1, f"{behind} rad behind on the way")
    say("behind", behind)

    cycles(component, 0.2, lambda at: [math.nan] * 6)
    planned(node, f"{component.namespace}/joint_trajectory_controller", component.names, states, begin)

    # Commands after a release move nothing.
    check(node.call(f"{judge.OWN}/release", "Trigger").success, "a release is refused")
    until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")
    time.sleep(0.5)
    rest = position(states)
    cycles(component, 0.5, lambda at: [rest[0] + 0.1 * at, *rest[1:]])
    stays(states, rest, "after a release")
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
