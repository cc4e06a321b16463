"""Judges a ROS 2 node from outside. Usage: judge.py WHAT DOMAIN [ARGUMENT ...]

A line `do ...` on standard output asks the caller for an action on the simulated controller. A line on standard input
confirms it. Results are printed as lines `name: value`. A failed check ends the script with its reason. The script
waits for every event. If it was late itself, because the machine did not schedule it, it ends with the exit code 75
instead of a failure.
"""

import math
import pathlib
import sys
import time
from xml.etree import ElementTree

from rosbags.typesys import Stores, get_typestore

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "port-linux/cli/examples/ros2"))

import ros2
from ros2 import DEFINED, JOINTS, SERVICES, Action, Node, goal, matched, struct, until

TOPICS = {
    "joint_states": "JointState",
    "speed_scaling_state_broadcaster/speed_scaling": "Float64",
    "io_and_status_controller/io_states": "IOStates",
    "io_and_status_controller/tool_data": "ToolDataMsg",
    "force_torque_sensor_broadcaster/wrench": "WrenchStamped",
    "tcp_pose_broadcaster/pose": "PoseStamped",
    "dynamic_joint_states": "DynamicJointState",
    "tf": "TFMessage",
}
LATCHED = {
    "io_and_status_controller/robot_mode": "RobotMode",
    "io_and_status_controller/safety_mode": "SafetyMode",
    "io_and_status_controller/robot_program_running": "Bool",
}
IO = "io_and_status_controller"
OWN = "outrigger"
# A long limit, because a busy machine may not schedule a program for seconds.
ros2.PATIENCE = 90.0
# The exit code if this script was late itself (EX_TEMPFAIL).
TOO_LATE = 75


def say(name, *values):
    print(f"{name}:", *values, flush=True)


def do(what):
    print("do", what, flush=True)
    sys.stdin.readline()


def check(holds, why):
    if not holds:
        raise SystemExit(why)


def in_time(holds, why, stood=0.0):
    """Ends with `TOO_LATE` if `holds` is false: not a failure if the machine stood still for `stood` seconds
    without a break."""
    if not holds:
        say("stood", stood)
        print(why, file=sys.stderr, flush=True)
        raise SystemExit(TOO_LATE)


class Deadline:
    """A limit of `seconds`, the duration of a motion. A failed check of a request sent after it only counts as late."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.met = None

    def ask(self):
        """Notes that every request has been sent, and whether that was in time."""
        self.met = time.monotonic() < self.end

    def check(self, holds, why):
        if self.met is None:
            self.ask()
        if self.met:
            check(holds, why)
        else:
            in_time(holds, f"{why}; it was asked for when the motion's time was over")


def as_ros(message, name, store):
    """Decodes the same bytes by rosbags, which has ROS's own message definitions."""
    return store.deserialize_cdr(bytes(message.serialize(use_version_2=False)), name)


def same(ours, theirs, where):
    """Checks that two messages are equal, field by field and exactly."""
    if hasattr(ours, "__dataclass_fields__"):
        for field in ours.__dataclass_fields__:
            same(getattr(ours, field), getattr(theirs, field), f"{where}.{field}")
    elif isinstance(ours, (list, tuple)):
        check(len(ours) == len(theirs), f"{where}: {len(ours)} and {len(theirs)}")
        for index, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{where}[{index}]")
    else:
        check(ours == theirs or ours != ours, f"{where}: {ours!r} here, {theirs!r} by ROS's own definitions")


def turned(roll, pitch, yaw):
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in (roll, pitch, yaw))
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def tool_of(urdf, joints):
    """Returns the position of tool0 by a robot description, in the frame base_link_inertia, which must equal base,
    for these angles."""
    above = {}
    for joint in ElementTree.fromstring(urdf).findall("joint"):
        above[joint.find("child").get("link")] = joint
    chain, link = [], "tool0"
    while link != "base_link_inertia":
        chain.insert(0, above[link])
        link = above[link].find("parent").get("link")
    turn, at = turned(0, 0, 0), [0.0, 0.0, 0.0]
    for joint in chain:
        origin = joint.find("origin")
        shift = [float(v) for v in origin.get("xyz").split()]
        at = [at[i] + sum(turn[i][k] * shift[k] for k in range(3)) for i in range(3)]
        turn = product(turn, turned(*(float(v) for v in origin.get("rpy").split())))
        if joint.get("type") == "revolute":
            turn = product(turn, turned(0, 0, joints[joint.get("name")]))
    inertia, base = (above[of].find("origin").attrib for of in ("base_link_inertia", "base"))
    check(inertia == base, f"base is at {base}, base_link_inertia at {inertia}")
    return at


def listen(node, absent=""):
    """Reads every topic of states for three seconds. Prints the counts, and checks for losses and wrong contents."""
    without = set(filter(None, absent.split(",")))
    readers = {name: node.reader(name, of, depth=5000) for name, of in TOPICS.items()}
    latched = {name: node.reader(name, of, latched=True, depth=1) for name, of in LATCHED.items()}
    until(lambda: readers["joint_states"].take(N=1), "joint states")
    begun, end = time.time(), time.monotonic() + 3.0
    got = {name: [] for name in readers}

    def all_came():
        for name, reader in readers.items():
            got[name] += reader.take(N=1000)
        return time.monotonic() >= end and all(got[name] for name in readers if name not in without)

    until(all_came, "something of every topic")
    ended = time.time()
    store = get_typestore(Stores.ROS2_JAZZY)
    for name, messages in got.items():
        if name in without:
            check(not messages, f"{name}: this controller cannot tell it, and {len(messages)} came")
            continue
        check(messages, f"{name}: nothing came")
        say(name, len(messages))
        of = type(messages[-1]).__idl_typename__.replace("::dds_::", "/").replace("::", "/").rstrip("_")
        if of in store.types:
            same(messages[-1], as_ros(messages[-1], of, store), name)
    joints = got["joint_states"]
    check(all(m.name == JOINTS and len(m.position) == 6 for m in joints), "joints are not six by their names")
    stamps = [m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec for m in joints]
    check(all(a < b for a, b in zip(stamps, stamps[1:])), "stamps do not rise")
    check(begun - 5.0 < stamps[-1] / 1e9 < ended + 0.1, "stamps are not of now")
    say("span", (stamps[-1] - stamps[0]) / 1e9)
    say("q", *joints[-1].position)
    if "tcp_pose_broadcaster/pose" not in without:
        pose, tf = got["tcp_pose_broadcaster/pose"][-1], got["tf"][-1].transforms[0]
        say("pose", pose.pose.position.x, pose.pose.position.y, pose.pose.position.z)
        check((pose.header.frame_id, tf.child_frame_id) == ("base", "tool0_controller"), "frames have other names")
        turn = pose.pose.orientation
        check(abs(turn.x**2 + turn.y**2 + turn.z**2 + turn.w**2 - 1.0) < 1e-9, "no unit quaternion")
        if "robot_description" not in without:
            # The simulated arm's tool has no length, so the description must end at the controller's tool position.
            description = node.reader("robot_description", "String", latched=True, depth=1)
            urdf = until(lambda: description.take(N=1), "robot_description")[0].data
            tool = tool_of(urdf, dict(zip(joints[-1].name, joints[-1].position)))
            at = (pose.pose.position.x, pose.pose.position.y, pose.pose.position.z)
            check(math.dist(tool, at) < 1e-4, f"the description puts the tool at {tool}, the controller at {at}")
    for name, reader in latched.items():
        # A late reader receives the newest value, and only that.
        values = until(lambda: reader.take(N=10), name)
        check(len(values) == 1, f"{name}: {len(values)} values for whoever comes late")
        say(name, *(getattr(values[0], field) for field in values[0].__dataclass_fields__))


def commanded(node):
    """Requests until the arm is commanded. Acknowledges a failed arming: nothing has moved before, so lateness is
    its only cause."""
    running = node.reader(f"{IO}/robot_program_running", "Bool", latched=True, depth=1)
    refused = set()
    end = time.monotonic() + ros2.PATIENCE

    def soon(seconds):
        """Returns whether the arm is commanded within `seconds`."""
        until_then = time.monotonic() + seconds
        while time.monotonic() < until_then:
            if any(message.data for message in running.take(N=10)):
                return True
            time.sleep(0.005)
        return False

    while time.monotonic() < end:
        answer = node.call(f"{OWN}/request", "Trigger")
        if not answer.success:
            refused.add(answer.message)
            if "(Latched)" in answer.message:
                node.call(f"{OWN}/acknowledge", "Trigger")
        if soon(5.0 if answer.success else 0.3):
            return running
    raise SystemExit(f"never commanded: {refused}")


def position(states):
    """Returns the joint positions of a state that arrives from now on [rad]."""
    states.take(N=10_000)
    return list(until(lambda: states.take(N=1000), "joint states")[-1].position)


def reach(node, action, states, to, seconds, meanwhile=None, **more):
    accepted, goal_id = action.send(goal([(seconds, to)], **more))
    check(accepted, "the goal is rejected")
    begun = time.monotonic()
    if meanwhile:
        meanwhile()
    answer = action.result(goal_id)
    check(answer.status == 4 and answer.result.error_code == 0, f"{answer.status}: {answer.result}")
    at = position(states)
    apart = max(abs(a - b) for a, b in zip(at, to))
    check(apart < 0.02, f"{apart} rad off the goal")
    return time.monotonic() - begun


def controllers(node):
    """Returns the active controllers by name."""
    listed = node.call("controller_manager/list_controllers", "ListControllers").controller
    check(len(listed) > 10 and all(one.type and one.state in ("active", "inactive") for one in listed), f"{listed}")
    return {one.name: one for one in listed if one.state == "active"}


def switched(node, on, off):
    at = "controller_manager/switch_controller"
    return node.call(at, "SwitchController", activate_controllers=on, deactivate_controllers=off, strictness=2)


def follow(node):
    """Commands the arm, follows a goal, replaces one, cancels one, and releases the arm."""
    states, action = node.reader("joint_states", "JointState", depth=1000), Action(node, "scaled_joint_trajectory_controller")
    first = position(states)
    there = [q + 0.3 * (joint < 2) for joint, q in enumerate(first)]
    accepted, _ = action.send(goal([(2.0, there)]))
    check(not accepted, "a goal is accepted while nothing is commanded")
    check(max(abs(a - b) for a, b in zip(position(states), first)) < 1e-3, "the arm moved by a goal that was rejected")
    scaled = "scaled_joint_trajectory_controller"
    check("joint_state_broadcaster" in (idle := controllers(node)) and scaled not in idle, f"{idle}")
    running = commanded(node)
    active = controllers(node)
    check(active[scaled].claimed_interfaces == [f"{joint}/position" for joint in JOINTS], f"{active}")
    check(switched(node, [scaled], []).ok and "stays" in switched(node, [], [scaled]).message, "a switch")
    own = node.reader("joint_trajectory_controller/controller_state", "JointTrajectoryControllerState", depth=10000)
    until(lambda: own.take(N=1), "a controller's state")
    say("there", reach(node, action, states, there, 2.0))
    told = own.take(N=10000)
    check(len(told) > 15 and told[-1].joint_names == JOINTS, f"{len(told)} states of a controller")
    apart = max(abs(a - b) for a, b in zip(told[-1].reference.positions, there))
    error = max(abs(a - b - e) for m in told for a, b, e in zip(m.reference.positions, m.feedback.positions, m.error.positions))
    check(apart < 0.02 and error < 1e-9 and told[-1].speed_scaling_factor == 1.0, f"{told[-1]}")
    feedback = action.feedback.take(N=1000)
    check(len(feedback) > 10, f"{len(feedback)} times feedback")
    error = max(abs(e) for m in feedback for e in m.feedback.error.positions)
    check(error < 0.2 and feedback[-1].feedback.joint_names == JOINTS, f"{error} rad of error in feedback")
    # A second goal replaces the first, whose result says so.
    deadline = Deadline(3.0)
    accepted, one = action.send(goal([(3.0, first)]))
    time.sleep(0.5)
    replaced, two = action.send(goal([(3.0, there)]))
    deadline.ask()
    check(accepted and replaced, "one of two goals is rejected")
    deadline.check(action.result(one).status == 6, "the goal that was replaced is not aborted")
    check(action.result(two).status == 4, "the goal that took its place does not succeed")
    # A cancellation brings the arm to rest, and it stays commanded.
    deadline = Deadline(4.0)
    accepted, goal_id = action.send(goal([(4.0, first)]))
    check(accepted, "a goal is rejected")
    time.sleep(1.0)
    cancelled = action.cancel(goal_id).return_code
    deadline.check(cancelled == 0, "a cancel is refused")
    deadline.check(action.result(goal_id).status == 5, "a goal that was cancelled is not canceled")
    rest = position(states)
    time.sleep(0.5)
    # The arm is at rest below 0.02 rad/s, so that little motion may remain.
    moved = max(abs(a - b) for a, b in zip(position(states), rest))
    check(moved < 0.01, f"after a cancel it went on for {moved} rad")
    check(action.cancel(goal_id).return_code == 3, "a cancel of what has ended does not say so")
    check(node.call("outrigger/release", "Trigger").success, "a release is refused")
    until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")
    check(not action.send(goal([(2.0, first)]))[0], "a goal is accepted after a release")
    say("done", "yes")


def contact(node):
    """Detects a contact of the tool with the surface: by a separate goal during a motion, and as the end of a
    motion."""
    states, follows = node.reader("joint_states", "JointState", depth=1000), Action(node, "scaled_joint_trajectory_controller")
    waits = Action(node, "tool_contact_controller/detect_tool_contact", "ToolContact", "ToolContactFeedbackMessage")
    until_contact = Action(node, "trajectory_until_node/execute", "FollowJointTrajectoryUntil", "UntilFeedbackMessage")
    first = position(states)
    low = [q - 0.3 * (joint == 1) for joint, q in enumerate(first)]
    high = [q + 0.2 * (joint == 1) for joint, q in enumerate(first)]
    nothing = DEFINED["ToolContactGoal"]()

    def ends_at(to, of=0):
        wanted = goal([(4.0, to)])
        return until_contact.send(DEFINED["UntilGoal"](trajectory=wanted.trajectory, until_type=of))

    check(not waits.send(nothing)[0] and not ends_at(low)[0], "a contact is waited for while nothing is commanded")
    running = commanded(node)
    check(not ends_at(low, of=7)[0], "another end than a contact is accepted")
    check("tool_contact_controller" in controllers(node), "its controller is not active")
    # A third-party script does not end the program that commands.
    _, execute, send = interface(node)
    check(not execute("halt")[0], "a script is accepted while commanding")
    send("def other():\n  halt\nend\n")
    # A cancelled goal detects nothing any more.
    accepted, one = waits.send(nothing)
    check(accepted, "to wait for a contact is rejected")
    check(not waits.send(nothing)[0] and not ends_at(low)[0], "two wait for a contact")
    check(waits.cancel(one).return_code == 0 and waits.result(one).status == 5, "a goal is not canceled")
    # A contact during a motion ends that motion.
    accepted, two = waits.send(nothing)
    check(accepted, "to wait for a contact is rejected after a cancel")
    accepted, moves = follows.send(goal([(4.0, low)]))
    check(accepted, "a goal is rejected while a contact is waited for")
    check(waits.result(two).status == 4, "no contact was seen")
    answer = follows.result(moves)
    check(answer.status == 6 and "contact" in answer.result.error_string, f"{answer.status}: {answer.result}")
    check(max(abs(a - b) for a, b in zip(position(states), low)) > 0.05, "nothing was in the way")
    # Detection has ended, so the tool can move away from the contact.
    say("away", reach(node, follows, states, first, 3.0))
    accepted, three = ends_at(low)
    check(accepted, "a motion until a contact is rejected")
    answer = until_contact.result(three)
    check((answer.status, answer.result.error_code, answer.result.until_condition_result) == (4, 0, 0), f"{answer.result}")
    feedback = until_contact.feedback.take(N=1000)
    check(len(feedback) > 5 and feedback[-1].feedback.joint_names == JOINTS, f"{len(feedback)} times feedback")
    check(max(abs(a - b) for a, b in zip(position(states), low)) > 0.05, "nothing was in the way")
    reach(node, follows, states, first, 3.0)
    accepted, four = ends_at(high)
    check(accepted, "a motion until a contact is rejected")
    answer = until_contact.result(four)
    check((answer.status, answer.result.error_code, answer.result.until_condition_result) == (4, 0, 1), f"{answer.result}")
    check(max(abs(a - b) for a, b in zip(position(states), high)) < 0.02, "it ended elsewhere")
    # The end of commanding also ends the detection.
    accepted, five = waits.send(nothing)
    check(accepted, "to wait for a contact is rejected after a motion")
    check(node.call("outrigger/release", "Trigger").success, "a release is refused")
    check(waits.result(five).status == 6, "a goal outlives commanding")
    until(lambda: [m for m in running.take(N=10) if not m.data], "the end of commanding")
    say("done", "yes")


def krc(node):
    """Checks a KUKA LWR: seven joints, wrench and pose, and a goal for the joints."""
    states = node.reader("joint_states", "JointState", depth=1000)
    first = until(lambda: states.take(N=1000), "joint states")[-1]
    check(len(first.name) == len(first.position) == len(first.effort) == 7, f"{first}")
    wrenches = node.reader("force_torque_sensor_broadcaster/wrench", "WrenchStamped")
    poses = node.reader("tcp_pose_broadcaster/pose", "PoseStamped")
    until(lambda: wrenches.take(N=1), "a wrench")
    pose = until(lambda: poses.take(N=1), "a pose")[0].pose
    check(0.3 < math.hypot(pose.position.x, pose.position.y, pose.position.z) < 1.3, f"{pose}")
    commanded(node)
    there = [q + 0.1 for q in first.position]
    action = Action(node, "scaled_joint_trajectory_controller")
    accepted, goal_id = action.send(goal([(2.0, there)], joints=first.name))
    check(accepted, "the goal is rejected")
    answer = action.result(goal_id)
    check(answer.status == 4, f"{answer.result}")
    apart = max(abs(a - b) for a, b in zip(position(states), there))
    check(apart < 0.02, f"{apart} rad off the goal")
    say("done", "yes")


def interface(node):
    """Returns the action that sends scripts, a function that sends a goal to it, and one that publishes a script
    to the topic."""
    action = Action(node, "urscript_interface/execute_script", "SendScript", "SendScriptFeedbackMessage")
    topic = node.writer("urscript_interface/script_command", "String")
    until(lambda: matched(topic.get_matched_subscriptions), "a reader of script_command")
    wanted = lambda program, name="": DEFINED["SendScriptGoal"](program=program, script_name=name, fail_on_warnings=True)
    return action, lambda program, name="": action.send(wanted(program, name)), lambda text: topic.write(DEFINED["String"](data=text))


def scripts(node):
    """Sends third-party scripts while the arm is not commanded. Only one runs at a time, and each is followed to
    its end."""
    action, execute, send = interface(node)
    states = node.reader(f"{IO}/io_states", "IOStates", depth=1)
    high = lambda pin: any(d.pin == pin and d.state for m in states.take(N=1) for d in m.digital_out_states)
    send("sec outrigger_test():\n  set_standard_digital_out(5, True)\nend\n")
    until(lambda: high(5), "an output that a script sets")
    time.sleep(1.0)
    accepted, one = execute('textmsg("hello")\nset_standard_digital_out(6, True)\nsleep(0.3)', "greet")
    check(accepted, "a script is rejected")
    answer = action.result(one)
    check(answer.status == 4 and answer.result.success and "'greet'" in answer.result.message, f"{answer.result}")
    check(high(6), "a script that succeeded did nothing")
    accepted, two = execute("no_such_function()")
    answer = action.result(two)
    check(accepted and answer.status == 6 and not answer.result.success, f"{answer.result}")
    for program, name in (("", ""), ("# nothing", ""), ("halt", "no name")):
        check(not execute(program, name)[0], f"{program!r} is accepted as a script")
    accepted, three = execute("while True:\n  sleep(0.1)\nend", "loop")
    check(accepted and not execute("halt")[0], "two scripts at a time")
    # While a script runs, commanding cannot begin, and the topic is ignored.
    check(not node.call("outrigger/request", "Trigger").success, "commanding begins beside somebody's program")
    send("sec outrigger_test():\n  set_standard_digital_out(7, True)\nend\n")
    check(action.cancel(three).return_code == 0, "a cancel is refused")
    answer = action.result(three)
    check(answer.status == 5 and not answer.result.success, f"{answer.status}: {answer.result}")
    check(not high(7), "a script beside another one was sent")
    # The names of the driver of 2015.
    old = node.reader("ur_driver/io_states", "IOStates", depth=1)
    check(node.call("ur_driver/set_io", "SetIO", fun=1, pin=2, state=1.0).success, "set_io by its old name")
    writer = node.writer("ur_driver/URScript", "String")
    until(lambda: matched(writer.get_matched_subscriptions), "a reader of URScript")
    writer.write(DEFINED["String"](data="set_standard_digital_out(1, True)"))
    until(lambda: [m for m in old.take(N=1) if m.digital_out_states[1].state and m.digital_out_states[2].state], "outputs 1 and 2")


def in_a_frame_of_others(node):
    """Sets gravity in a frame that this client defines relative to the base. It is refused until the node knows
    the frame."""
    header, vector, turned = DEFINED["Header"], DEFINED["Vector3"], DEFINED["Quaternion"](w=1.0)
    down = DEFINED["Vector3Stamped"](header=header(frame_id="table"), vector=vector(z=-9.82))
    ask = lambda: node.call("gravity_update_controller/set_gravity", "SetGravity", gravity=down)
    refused = ask()
    check(not refused.success and "table" in refused.status, f"{refused}")
    fixed = node.writer("tf_static", "TFMessage", latched=True, depth=1)
    until(lambda: matched(fixed.get_matched_subscriptions), "a reader of tf_static")
    pose = DEFINED["Transform"](translation=vector(x=0.5), rotation=turned)
    table = DEFINED["TransformStamped"](header=header(frame_id="base"), child_frame_id="table", transform=pose)
    fixed.write(DEFINED["TFMessage"](transforms=[table]))
    until(lambda: ask().success, "gravity in the frame of a table")


def calls(node):
    """Calls each service with valid and invalid requests."""
    position(node.reader("joint_states", "JointState", depth=1))
    set_io = lambda **fields: node.call(f"{IO}/set_io", "SetIO", **fields).success
    # States may arrive before the connection that takes text is open. As a client would, repeat the first call of
    # each kind.
    until(lambda: set_io(fun=1, pin=3, state=1.0), "output 3 to be set")
    until(lambda: set_io(fun=3, pin=0, state=0.5), "an analog output to be set")
    # On a machine that stood still, a command may be unsent for half a second, or unconfirmed for one.
    in_time(set_io(fun=1, pin=9, state=1.0), "output 9 is not set", stood=0.4)
    in_time(set_io(fun=4, pin=0, state=24.0), "the tool's voltage is not set", stood=0.4)
    states = node.reader(f"{IO}/io_states", "IOStates", depth=1)
    high = lambda: [d.pin for m in states.take(N=1) for d in m.digital_out_states if d.state] == [3, 9]
    until(high, "outputs 3 and 9 to be high")
    for wrong in ({"fun": 1, "pin": 18, "state": 1.0}, {"fun": 2, "pin": 0, "state": 1.0}, {"fun": 1, "pin": 0, "state": math.nan}):
        check(not set_io(**wrong), f"{wrong} is taken")
    analog = DEFINED["Analog"]
    check(node.call(f"{IO}/set_analog_output", "SetAnalogOutput", data=analog(pin=1, domain=1, state=0.25)).success, "analog")
    check(not node.call(f"{IO}/set_analog_output", "SetAnalogOutput", data=analog(pin=1, domain=2, state=0.25)).success, "domain 2")
    slider = lambda value: node.call(f"{IO}/set_speed_slider", "SetSpeedSliderFraction", speed_slider_fraction=value).success
    check(slider(0.5) and not slider(0.0) and not slider(1.5), "speed slider")
    scaling = node.reader("speed_scaling_state_broadcaster/speed_scaling", "Float64", depth=1)
    until(lambda: [m for m in scaling.take(N=1) if 0.0 < m.data <= 50.0], "a scaling of half")
    check(slider(1.0), "speed slider back")
    vector = DEFINED["Vector3"]
    payload = lambda **fields: node.call(f"{IO}/set_payload", "SetPayload", **fields).success
    check(payload(mass=1.5, center_of_gravity=vector(z=0.05)), "a payload is not set")
    check(payload(mass=1.5, ixx=0.1, iyy=0.1, izz=0.1), "a payload with its inertia is not set")
    check(not payload(mass=1.5, ixx=math.nan) and not payload(mass=-1.0) and not payload(mass=math.inf), "a payload that is none")
    check(node.call(f"{IO}/zero_ftsensor", "Trigger").success, "the sensor is not zeroed")
    version = node.call("ur_configuration_controller/get_software_version", "GetRobotSoftwareVersion")
    say("software", version.major, version.minor)
    down = DEFINED["Vector3Stamped"](header=DEFINED["Header"](frame_id="base"), vector=vector(z=-9.82))
    check(node.call("gravity_update_controller/set_gravity", "SetGravity", gravity=down).success, "gravity is not set")
    in_a_frame_of_others(node)
    refused = node.call("gravity_update_controller/set_gravity", "SetGravity")
    check(not refused.success and "direction" in refused.status, f"{refused}")
    force = node.call("force_mode_controller/start_force_mode", "SetForceMode", type=2)
    check(not force.success, "a force while nothing is commanded")
    idle = node.call("scaled_joint_trajectory_controller/query_state", "QueryTrajectoryState")
    check(not idle.success and idle.message, "a motion is told of while there is none")
    check(node.call("outrigger/acknowledge", "Trigger").success, "acknowledge")
    scripts(node)
    say("done", "yes")


def dashboard(node):
    """Queries the modes of the controller, and switches the power of the arm off and on."""
    ask = lambda name, of, **fields: node.call(f"dashboard_client/{name}", of, **fields)
    mode = lambda: ask("get_robot_mode", "GetRobotMode").robot_mode.mode
    check(mode() == 7, "the arm does not run")
    check(ask("get_safety_mode", "GetSafetyMode").safety_mode.mode == 1, "its safety mode is not NORMAL")
    check(not ask("program_running", "IsProgramRunning").program_running, "a program runs")
    check(ask("program_state", "GetProgramState").state.state == "STOPPED", "its program is not stopped")
    check("RUNNING" in ask("raw_request", "RawRequest", query="robotmode").answer, "raw request")
    check(not ask("load_program", "Load", filename="none.urp").success, "a program is loaded that is not there")
    check(not ask("load_program", "Load", filename="two\nlines").success, "a name of two lines is taken")
    of = Action(node, "ur_robot_state_helper/set_mode", "SetMode", "SetModeFeedbackMessage")
    want = lambda target: of.send(DEFINED["SetModeGoal"](target_robot_mode=target))
    check(not want(4)[0], "a mode that cannot be chosen is accepted")
    for target in (3, 5, 7):
        accepted, goal_id = want(target)
        check(accepted, f"{target} is rejected")
        answer = of.result(goal_id)
        check(answer.status == 4 and answer.result.success, f"{target}: {answer.result}")
        check(mode() == target, f"the mode is {mode()}, and not {target}")
    check(any(m.feedback.current_robot_mode == 5 for m in of.feedback.take(N=1000)), "feedback tells no IDLE")
    answer = ask("power_off", "Trigger")
    check(answer.success, f"{answer}")
    until(lambda: mode() == 3, "POWER_OFF")
    say("done", "yes")


def only_looks(node):
    """Checks that a node that may not command refuses every action with a reason."""
    answer = node.call("outrigger/request", "Trigger")
    check(not answer.success and "command = true" in answer.message, f"{answer}")
    check(not node.call(f"{IO}/set_io", "SetIO", fun=1, pin=0, state=1.0).success, "an output is set")
    check(not node.call("dashboard_client/power_off", "Trigger").success, "the arm is switched off")
    check(node.call("dashboard_client/get_robot_mode", "GetRobotMode").robot_mode.mode == 7, "a question is not answered")
    accepted, _ = Action(node, "scaled_joint_trajectory_controller").send(goal([(2.0, [0.0] * 6)]))
    check(not accepted, "a goal is accepted")
    say("done", "yes")


def nonsense(node):
    """Sends invalid requests, impossible lengths and trajectories of NaN. The node must survive and execute a
    valid goal afterwards."""
    short = struct("ur_msgs/srv/SetIO_Request", "uint64 client; int64 number; int8 fun", "ShortRequest")
    absurd = struct(
        "control_msgs/action/FollowJointTrajectory_SendGoal_Request",
        "uint64 client; int64 number; uint8[16] goal_id; uint32 sec; uint32 nanosec; uint32 length; uint8[4] rest",
        "AbsurdRequest",
    )
    tiny = struct("std_srvs/srv/Trigger_Request", "uint32 half", "TinyRequest")
    send = "scaled_joint_trajectory_controller/follow_joint_trajectory/_action/send_goal"
    for at, of, message, answer in (
        (f"{IO}/set_io", short, short(client=7, number=1, fun=1), "SetIO"),
        (send, absurd, absurd(client=7, number=1, length=0xFFFFFFFF), "FollowJointTrajectory_SendGoal"),
        ("outrigger/request", tiny, tiny(half=7), None),
    ):
        from cyclonedds.pub import DataWriter
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic
        from ros2 import qos

        writer = DataWriter(node.participant, Topic(node.participant, f"rq/{at}Request", of), qos=qos())
        until(lambda: matched(writer.get_matched_subscriptions), f"a server of {at}")
        if answer:
            reader = DataReader(node.participant, Topic(node.participant, f"rr/{at}Reply", SERVICES[answer][1]), qos=qos())
            until(lambda: matched(reader.get_matched_publications), f"answers of {at}")
        for _ in range(20):
            writer.write(message)
        if answer:
            said = until(lambda: reader.take(N=100), f"an answer of {at}")[0]
            check(not getattr(said, "success", False) and not getattr(said, "accepted", False), f"{at}: nonsense is taken")
    action = Action(node, "scaled_joint_trajectory_controller")
    commanded(node)
    states = node.reader("joint_states", "JointState", depth=1000)
    first = position(states)
    there = [q + 0.2 for q in first]
    for name, wrong in {
        "NaN": goal([(2.0, [math.nan] * 6)]),
        "infinite": goal([(2.0, [math.inf] * 6)]),
        "too far": goal([(2.0, [99.0] * 6)]),
        "too fast": goal([(0.01, there)]),
        "no points": goal([]),
        "out of order": goal([(2.0, there), (1.0, there)]),
        "before the beginning": goal([(-1.0, there)]),
        "other joints": goal([(2.0, there)], joints=[f"left_{joint}" for joint in JOINTS]),
        "five joints": goal([(2.0, there[:5])], joints=JOINTS[:5]),
        "wrong tolerance": goal([(2.0, there)], goal_tolerance=[DEFINED["JointTolerance"](name=JOINTS[0], position=-3.0)]),
    }.items():
        accepted, _ = action.send(wrong)
        check(not accepted, f"a goal is accepted: {name}")
    check(max(abs(a - b) for a, b in zip(position(states), first)) < 1e-3, "the arm moved by nonsense")
    say("there", reach(node, action, states, there, 2.0))


def main(what, domain, *arguments):
    node = Node(int(domain))
    {"listen": listen, "follow": follow, "calls": calls, "only-looks": only_looks, "nonsense": nonsense, "dashboard": dashboard, "krc": krc, "contact": contact}[what](node, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
