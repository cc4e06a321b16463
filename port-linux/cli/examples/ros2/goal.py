"""Requests command, moves the first joint by 0.3 rad and back, and releases the arm.

Usage: goal.py [DOMAIN], beside `outrigger ros2 CONFIG.toml` with command = true in [ros.expert]. Beside a real arm this moves it.
"""

import json
import sys
import time

from ros2 import Action, Node, goal, until

node = Node(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
states = node.reader("joint_states", "JointState")
running = node.reader("io_and_status_controller/robot_program_running", "Bool", latched=True)
events = node.reader("outrigger/events", "String", depth=100)
arm = Action(node, "scaled_joint_trajectory_controller")
begin = list(until(lambda: states.take(N=10), "joint states")[-1].position)
there = [begin[0] + 0.3, *begin[1:]]


def commanding():
    """Returns the newest value: a late reader may receive an older one before it. Ends with the reason if arming has failed."""
    for event in (json.loads(m.data) for m in events.take(N=100) if hasattr(m, "data")):
        if event.get("from") == "Arming" and event["to"] != "Command":
            raise SystemExit(f"commanding did not begin: {event['text']}")
    return [m.data for m in running.take(N=10) if hasattr(m, "data")][-1:] == [True]


try:
    while not (answer := node.call("outrigger/request", "Trigger")).success:
        print("not yet:", answer.message, flush=True)
        time.sleep(0.5)
    until(commanding, "commanding")
    for to in (there, begin):
        accepted, goal_id = arm.send(goal([(2.0, to)]))
        result = arm.result(goal_id).result
        if not accepted or result.error_code:
            raise SystemExit(f"{'aborted' if accepted else 'rejected'}: {result.error_string}")
        print(result.error_code, result.error_string, flush=True)
finally:
    node.call("outrigger/release", "Trigger")
