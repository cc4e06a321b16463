"""Asks for command, moves the first joint by 0.3 rad and back, and releases the arm.

Usage: goal.py [DOMAIN], beside `outrigger ros2 CONFIG.toml` with command = true in [ros]. Beside a real arm this moves it.
"""

import sys
import time

from ros2 import Action, Node, goal, until

node = Node(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
states = node.reader("joint_states", "JointState")
arm = Action(node, "scaled_joint_trajectory_controller")
begin = list(until(lambda: states.take(N=10), "joint states")[-1].position)
there = [begin[0] + 0.3, *begin[1:]]

while not (answer := node.call("outrigger/request", "Trigger")).success:
    print("not yet:", answer.message, flush=True)
    time.sleep(0.5)
running = node.reader("io_and_status_controller/robot_program_running", "Bool", latched=True)
until(lambda: [m for m in running.take(N=10) if m.data], "commanding")
for to in (there, begin):
    accepted, goal_id = arm.send(goal([(2.0, to)]))
    if not accepted:
        raise SystemExit("the goal was rejected: the node says why")
    result = arm.result(goal_id).result
    print(result.error_code, result.error_string, flush=True)
node.call("outrigger/release", "Trigger")
