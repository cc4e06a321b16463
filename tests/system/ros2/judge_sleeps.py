"""Judges a node while a client of it, or the node itself, is stopped (SIGSTOP) for longer than a lease. Usage:
judge_sleeps.py DOMAIN PORT-OF-30003 WHO.

WHO is stopped: `reader`, a program that only reads; `client`, a program that calls services; `node`; `commanding`,
the node while it executes a goal; or `asking`, the node for a short time, just after it was sent a goal that is also
a request to command. Output and requests for actions are those of `judge.py`. `do sleep PID SECONDS` stops this
program, `do sleep node SECONDS` the node.
"""

import os
import random
import sys
import threading
import time

from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from judge import IO, check, commanded, do, say
from neighbours import announce
from realtime import Arm, apart
from ros2 import DEFINED, Action, Node, goal, matched, qos, until

# The duration of a stop, longer than the lease of Cyclone DDS [s].
ASLEEP = 15
# The time limit from the end of a stop until data is exchanged again [s].
BOUND = 5.0
NAME = "outrigger"
# The output that is requested while the node is stopped.
PIN = 3

def stamp(message):
    """Returns the stamp of a message [s]. A notice that a publisher has left has none, which gives 0."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec if hasattr(message, "header") else 0.0


def fresh(states, since):
    """Waits for a state with a stamp after `since`."""
    return until(lambda: [m for m in states.take(N=10_000) if stamp(m) > since], "joint states")[-1]


def answered(node, patience):
    """Returns the time until a call is answered [s]. A call that is sent while no server is known is lost and
    repeated, as clients do."""
    begun, name = time.monotonic(), "controller_manager/list_controllers"
    while time.monotonic() - begun < patience:
        sent = node.send(name, "ListControllers")
        try:
            check(node.answer(sent, 1.0).controller, "no controllers are listed")
            return time.monotonic() - begun
        except SystemExit as ended:
            if "no controllers" in str(ended):
                raise
    raise SystemExit(f"{name} is not answered within {patience} s")


def asked_before_a_stop(node, arm, states):
    """Sends goals some milliseconds before the node is stopped, and checks that none moves the arm when the node
    continues."""
    action = Action(node, "scaled_joint_trajectory_controller")
    for attempt in range(4):
        answered(node, 20.0)
        first, begun = arm.now().q, time.monotonic()
        there = [q + 0.5 * (joint < 1) for joint, q in enumerate(first)]
        goal_id = [random.getrandbits(8) for _ in range(16)]
        asked = f"{action.at}/send_goal", "FollowJointTrajectory_SendGoal"
        node.client(*asked)
        node.send(*asked, goal_id=goal_id, goal=goal([(2.0, there)]))
        do("sleep node 1")
        fresh(states, time.time())
        time.sleep(4.0)
        check(arm.way(begun) < 2e-3, f"30003: attempt {attempt}: {arm.way(begun)} rad by itself")
    say("done", "yes")


def main(domain, port, who):
    node, arm = Node(int(domain)), Arm(port)
    states = node.reader("joint_states", "JointState", depth=10_000)
    fresh(states, 0.0)
    if who == "asking":
        return asked_before_a_stop(node, arm, states)
    ours = announce(node, "/", "judge", [states])
    topic = Topic(node.participant, "ros_discovery_info", DEFINED["ParticipantEntitiesInfo"])
    graph = DataReader(node.participant, topic, qos=qos(latched=True, depth=1))
    announced = lambda: [n.node_name for m in graph.take(N=100) for n in getattr(m, "nodes", ()) if n.readers and n.writers]
    check(until(announced, "the node's announcement") == [NAME], "there is another node")
    asks = who != "reader"
    if asks:
        answered(node, 20.0)
    sleeps = who in ("node", "commanding")
    if who == "commanding":
        commanded(node)
        first = arm.now().q
        there = [q + 0.6 * (joint < 2) for joint, q in enumerate(first)]
        action = Action(node, "scaled_joint_trajectory_controller")
        accepted, goal_id = action.send(goal([(4.0, there)]))
        check(accepted, "the goal is rejected")
        begun = time.monotonic()
        until(lambda: arm.way(begun) > 0.15, "the arm to be on its way")

    if sleeps:
        asked = {"fun": 1, "pin": PIN, "state": 1.0}
        node.client(f"{IO}/set_io", "SetIO")
        threading.Timer(7.0, lambda: node.send(f"{IO}/set_io", "SetIO", **asked)).start()
    stopped = time.monotonic()
    do(f"sleep {'node' if sleeps else os.getpid()} {ASLEEP}")
    awake, now = time.monotonic(), time.time()
    check(awake - stopped > 0.9 * ASLEEP, f"nobody slept: {awake - stopped} s")

    fresh(states, now)
    seen = time.monotonic() - awake
    check(seen < BOUND, f"joint states come {seen:.2f} s after it is awake")
    say("seen", f"{seen:.2f}")
    if asks:
        took = answered(node, BOUND)
        say("answered", f"{time.monotonic() - awake:.2f}")
        check(time.monotonic() - awake < BOUND, f"a call is answered {took:.2f} s after it is asked")
    publishers = lambda: len(matched(states.get_matched_publications))
    until(lambda: publishers() == 1, f"{publishers()} publishers of joint states to be one", BOUND)
    # A late reader receives latched values.
    mode = node.reader(f"{IO}/robot_mode", "RobotMode", latched=True, depth=1)
    until(lambda: mode.take(N=10), "robot_mode", BOUND)
    if sleeps:
        check(until(announced, "the node's announcement", BOUND) == [NAME], "the node is announced as another one")
        outputs = node.reader(f"{IO}/io_states", "IOStates", depth=1)
        high = [d.pin for d in until(lambda: outputs.take(N=1), "outputs")[0].digital_out_states if d.state]
        check(PIN not in high, "what was asked for while the node stood still is done after it")
    if who == "commanding":
        check(arm.rests(0.5), "30003: nobody commands, and the arm does not come to rest")
        rested = time.monotonic()
        running = node.reader(f"{IO}/robot_program_running", "Bool", latched=True, depth=1)
        until(lambda: any(hasattr(m, "data") and not m.data for m in running.take(N=10)), "the end of commanding")
        check(action.result(goal_id).status == 6, "a goal outlives its node's standstill")
        time.sleep(2.0)
        check(arm.way(rested) < 2e-3, f"30003: {arm.way(rested)} rad by itself")
        check(apart(arm.now().q, there) > 0.1, "30003: the goal was reached without its node")
        commanded(node)
        accepted, goal_id = action.send(goal([(2.0, first)]))
        check(accepted, "the goal is rejected")
        check(action.result(goal_id).status == 4 and apart(arm.now().q, first) < 0.02, "the goal is not reached")
    del ours
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
