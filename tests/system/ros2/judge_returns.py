"""Judges a node that is killed while it commands, and its replacement. Usage: judge_returns.py DOMAIN PORT-OF-30003.

Output and requests for actions are those of `judge.py`.
"""

import sys
import time

from judge import IO, Deadline, check, commanded, do, say
from realtime import Arm, apart
from ros2 import Action, Node, goal, until


def asked_anew(node, action, goal_id):
    """Asks for a result with a new client. Returns None if no answer arrives: the matched server may be the killed
    one, until its lease expires, or an answer may arrive before its writer is known. The caller then repeats the
    request, as clients do."""
    sent = node.send(f"{action.at}/get_result", f"{action.of}_GetResult", goal_id=goal_id)
    try:
        return node.answer(sent, 5.0)
    except SystemExit:
        return None


def main(domain, port):
    node, arm = Node(int(domain)), Arm(port)
    states = node.reader("joint_states", "JointState", depth=10_000)
    latched = {
        f"{IO}/{name}": node.reader(f"{IO}/{name}", of, latched=True, depth=1)
        for name, of in (("robot_mode", "RobotMode"), ("safety_mode", "SafetyMode"))
    }
    running = commanded(node)
    newest = lambda reader: [m for m in reader.take(N=100)]
    before = {name: until(lambda: newest(reader), name)[-1] for name, reader in latched.items()}
    first = arm.now().q
    there = [q + 0.6 * (joint < 2) for joint, q in enumerate(first)]
    action = Action(node, "scaled_joint_trajectory_controller")
    begun, deadline = time.monotonic(), Deadline(2.4)
    accepted, goal_id = action.send(goal([(4.0, there)]))
    check(accepted, "the goal is rejected")
    until(lambda: arm.way(begun) > 0.15, "the arm to be on its way")

    do("kill")
    deadline.ask()
    died = time.monotonic()
    check(arm.rests(0.5), "30003: nobody commands, and the arm does not come to rest")
    say("way", f"{arm.way(died):.4f} rad to rest")
    deadline.check(apart(arm.now().q, there) > 0.1, "30003: the goal was reached without its node")
    check(arm.way(died) < 0.2, f"30003: {arm.way(died)} rad after the node has died")

    def is_silent():
        states.take(N=10_000)
        time.sleep(0.5)
        return not states.take(N=10_000)

    until(is_silent, "nobody to publish in its place")

    do("start")
    begun = time.monotonic()
    until(lambda: states.take(N=10_000), "joint states of the node in its place")
    seen = time.monotonic() - begun
    for name, reader in latched.items():
        check(until(lambda: newest(reader), f"{name} again")[-1] == before[name], f"{name} is another one")
    check(not until(lambda: newest(running), "robot_program_running again")[-1].data, "the new node commands by itself")
    # Nothing continues by itself, and the new node does not know the goal.
    check(until(lambda: asked_anew(node, action, goal_id), "an answer of the new node").status == 0, "it knows a goal of the old one")
    time.sleep(2.0)
    way = arm.way(begun)
    check(way < 2e-3, f"30003: {way} rad after the node has come back")
    say("seen", f"{seen:.2f} s after its start")

    # The same client requests again and is served.
    commanded(node)
    accepted, goal_id = action.send(goal([(2.0, first)]))
    check(accepted, "the goal is rejected")
    answer = action.result(goal_id)
    check(answer.status == 4, f"{answer}")
    off = apart(arm.now().q, first)
    check(off < 0.02, f"30003: {off} rad off the goal")
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
