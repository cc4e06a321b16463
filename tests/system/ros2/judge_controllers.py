"""Compares the controllers that are listed as active with the commands that it accepts. Usage: judge_controllers.py
DOMAIN PORT-OF-30003.

Every goal and call moves the arm very little. Output and requests for actions are those of `judge.py`.
"""

import json
import sys
import time

from judge import IO, check, commanded, controllers, position, say
from judge_forward import Stream
from ros2 import DEFINED, Action, Node, goal, until

ALWAYS = {"joint_state_broadcaster", "io_and_status_controller", "speed_scaling_state_broadcaster", "tcp_pose_broadcaster"}
FOLLOWERS = ("scaled_joint_trajectory_controller", "joint_trajectory_controller", "passthrough_trajectory_controller")


class Judge:
    def __init__(self, domain):
        self.node = Node(int(domain))
        self.states = self.node.reader("joint_states", "JointState", depth=1000)
        self.events = self.node.reader("outrigger/events", "String", depth=10_000)
        self.followers = {name: Action(self.node, name) for name in FOLLOWERS}
        at = "tool_contact_controller/detect_tool_contact"
        self.contact = Action(self.node, at, "ToolContact", "ToolContactFeedbackMessage")
        self.streams = {kind: Stream(self.node, kind) for kind in ("velocity", "position", "effort")}
        self.freedrive = self.node.writer("freedrive_mode_controller/enable_freedrive_mode", "Bool")
        position(self.states)

    def lines(self):
        return [json.loads(m.data).get("text", "") for m in self.events.take(N=10_000)]

    def follows(self, name):
        here = position(self.states)
        accepted, number = self.followers[name].send(goal([(0.5, [here[0] + 0.01, *here[1:]])]))
        if accepted:
            answer = self.followers[name].result(number)
            check(answer.status == 4, f"{name}: {answer.status}: {answer.result}")
        else:
            rejected = f"a goal of {name}/follow_joint_trajectory was rejected"
            until(lambda: any(rejected in line for line in self.lines()), f"the rejection of {name} in the log")
        return accepted

    def contacts(self):
        accepted, number = self.contact.send(DEFINED["ToolContactGoal"]())
        if accepted:
            check(self.contact.cancel(number).return_code == 0 and self.contact.result(number).status == 5, "a cancel")
        return accepted

    def heeds(self, kind):
        """Streams commands, waits until they have lapsed or reached their goal, and returns whether the log shows
        no rejection."""
        self.lines()
        here = position(self.states)
        self.streams[kind].send(0.3, here if kind == "position" else [0.0] * 6)
        time.sleep(1.5)
        rejections = f"forward_{kind}_controller", "a streamed command was rejected"
        return not any(rejection in line for line in self.lines() for rejection in rejections)

    def forces(self):
        pose = DEFINED["PoseStamped"](header=DEFINED["Header"](frame_id="base"))
        pose.pose.orientation.w = 1.0
        limits = DEFINED["Twist"](linear=DEFINED["Vector3"](x=0.1, y=0.1, z=0.1), angular=DEFINED["Vector3"](x=0.1, y=0.1, z=0.1))
        fields = {"selection_vector_z": True, "type": 2, "speed_limits": limits, "deviation_limits": [0.1] * 6}
        fields |= {"damping_factor": 0.05, "gain_scaling": 0.5}
        answer = self.node.call("force_mode_controller/start_force_mode", "SetForceMode", task_frame=pose, **fields)
        if answer.success:
            check(self.node.call("force_mode_controller/stop_force_mode", "Trigger").success, "a force does not end")
            time.sleep(1.0)
        return answer.success

    def frees(self):
        self.lines()
        for _ in range(5):
            self.freedrive.write(DEFINED["Bool"](data=True))
            time.sleep(0.1)
        rejected = any("freedrive" in line for line in self.lines())
        self.freedrive.write(DEFINED["Bool"](data=False))
        time.sleep(1.0)
        return not rejected

    def weighs(self):
        down = DEFINED["Vector3Stamped"](header=DEFINED["Header"](frame_id="base"), vector=DEFINED["Vector3"](z=-9.82))
        return self.node.call("gravity_update_controller/set_gravity", "SetGravity", gravity=down).success

    def compare(self, when):
        active = set(controllers(self.node))
        check(ALWAYS <= active, f"{when}: {active}")
        accepts = {name: self.follows(name) for name in FOLLOWERS}
        accepts["tool_contact_controller"] = self.contacts()
        accepts |= {f"forward_{kind}_controller": self.heeds(kind) for kind in self.streams}
        accepts["force_mode_controller"] = self.forces()
        accepts["freedrive_mode_controller"] = self.frees()
        accepts["gravity_update_controller"] = self.weighs()
        for name, accepted in accepts.items():
            check(accepted == (name in active), f"{when}: {name} is {'' if name in active else 'in'}active, and accepts: {accepted}")
        check(set(controllers(self.node)) == active, f"{when}: others are active now")
        say(when, *sorted(name for name, accepted in accepts.items() if accepted) or ["nothing"])


def main(domain, _port, leave):
    judge = Judge(domain)
    judge.compare("resting")
    if leave == "commands":
        commanded(judge.node)
        judge.compare("commanded")
        check(judge.node.call("outrigger/release", "Trigger").success, "a release is refused")
    say("done", "yes")


main(*sys.argv[1:])
