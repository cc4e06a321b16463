"""Speaks with a node of ROS 2 by Cyclone DDS (PyPI: cyclonedds), as its Python binding has it: no ROS 2 is installed.

Types are made of the definitions' texts here, not of the program's. Requests of services carry who asks in 16 bytes before them, as
rmw_cyclonedds sends them.
"""

import dataclasses
import itertools
import os
import random
import time
import types

os.environ.setdefault(
    "CYCLONEDDS_URI",
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
    "<AllowMulticast>spdp</AllowMulticast></General></Domain></CycloneDDS>",
)

import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as idl
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

PATIENCE = 20.0
BASE = {
    "bool": bool, "string": str, "float32": idl.float32, "float64": idl.float64, "int8": idl.int8, "uint8": idl.uint8,
    "uint16": idl.uint16, "int32": idl.int32, "uint32": idl.uint32, "int64": idl.int64, "uint64": idl.uint64,
}
EMPTY = {bool: False, str: ""}
DEFINED = {}


def dds(name):
    *package, last = name.split("/")
    return "::".join(package) + f"::dds_::{last}_"


def kind(text):
    if text.endswith("[]"):
        return idl.sequence[kind(text[:-2])]
    if text.endswith("]"):
        inner, count = text[:-1].split("[")
        return idl.array[kind(inner), int(count)]
    return BASE.get(text) or DEFINED[text]


def default(text):
    if text.endswith("[]"):
        return list
    if text.endswith("]"):
        inner, count = text[:-1].split("[")
        return lambda: [default(inner)() for _ in range(int(count))]
    if text in BASE:
        return {"bool": bool, "string": str}.get(text, float if text.startswith("float") else int)
    return DEFINED[text]


def struct(name, fields, short=None):
    """A message from its definition, a field a line or behind ';': type, then name."""
    pairs = [line.split() for line in fields.replace(";", "\n").splitlines() if line.strip()]
    space = {"__annotations__": {field: kind(of) for of, field in pairs}}
    space |= {field: dataclasses.field(default_factory=default(of)) for of, field in pairs}
    made = types.new_class(short or name.split("/")[-1], (IdlStruct,), {"typename": dds(name)}, lambda ns: ns.update(space))
    made.__module__ = __name__
    made = annotate.final(dataclasses.dataclass(made))
    DEFINED[short or name.split("/")[-1]] = made
    return made


struct("builtin_interfaces/msg/Time", "int32 sec; uint32 nanosec")
struct("builtin_interfaces/msg/Duration", "int32 sec; uint32 nanosec")
struct("std_msgs/msg/Header", "Time stamp; string frame_id")
struct("std_msgs/msg/Bool", "bool data")
struct("std_msgs/msg/Float64", "float64 data")
struct("std_msgs/msg/String", "string data")
struct("std_msgs/msg/MultiArrayDimension", "string label; uint32 size; uint32 stride")
struct("std_msgs/msg/MultiArrayLayout", "MultiArrayDimension[] dim; uint32 data_offset")
struct("std_msgs/msg/Float64MultiArray", "MultiArrayLayout layout; float64[] data")
struct("geometry_msgs/msg/Vector3", "float64 x; float64 y; float64 z")
struct("geometry_msgs/msg/Point", "float64 x; float64 y; float64 z")
struct("geometry_msgs/msg/Quaternion", "float64 x; float64 y; float64 z; float64 w")
struct("geometry_msgs/msg/Pose", "Point position; Quaternion orientation")
struct("geometry_msgs/msg/PoseStamped", "Header header; Pose pose")
struct("geometry_msgs/msg/Twist", "Vector3 linear; Vector3 angular")
struct("geometry_msgs/msg/Wrench", "Vector3 force; Vector3 torque")
struct("geometry_msgs/msg/WrenchStamped", "Header header; Wrench wrench")
struct("geometry_msgs/msg/Vector3Stamped", "Header header; Vector3 vector")
struct("geometry_msgs/msg/Transform", "Vector3 translation; Quaternion rotation")
struct("geometry_msgs/msg/TransformStamped", "Header header; string child_frame_id; Transform transform")
struct("tf2_msgs/msg/TFMessage", "TransformStamped[] transforms")
struct("sensor_msgs/msg/JointState", "Header header; string[] name; float64[] position; float64[] velocity; float64[] effort")
struct("control_msgs/msg/InterfaceValue", "string[] interface_names; float64[] values")
struct("control_msgs/msg/DynamicJointState", "Header header; string[] joint_names; InterfaceValue[] interface_values")
struct("ur_msgs/msg/Digital", "uint8 pin; bool state")
struct("ur_msgs/msg/Analog", "uint8 pin; uint8 domain; float32 state")
struct("ur_msgs/msg/IOStates", """
    Digital[] digital_in_states; Digital[] digital_out_states; Digital[] flag_states
    Analog[] analog_in_states; Analog[] analog_out_states""")
struct("ur_msgs/msg/ToolDataMsg", """
    int8 analog_input_range2; int8 analog_input_range3; float64 analog_input2; float64 analog_input3
    float32 tool_voltage_48v; uint8 tool_output_voltage; float32 tool_current; float32 tool_temperature; uint8 tool_mode""")
struct("ur_dashboard_msgs/msg/RobotMode", "int8 mode")
struct("ur_dashboard_msgs/msg/SafetyMode", "uint8 mode")
struct("trajectory_msgs/msg/JointTrajectoryPoint", """
    float64[] positions; float64[] velocities; float64[] accelerations; float64[] effort; Duration time_from_start""")
struct("trajectory_msgs/msg/JointTrajectory", "Header header; string[] joint_names; JointTrajectoryPoint[] points")
struct("trajectory_msgs/msg/MultiDOFJointTrajectoryPoint", """
    Transform[] transforms; Twist[] velocities; Twist[] accelerations; Duration time_from_start""")
struct("trajectory_msgs/msg/MultiDOFJointTrajectory", """
    Header header; string[] joint_names; MultiDOFJointTrajectoryPoint[] points""")
struct("control_msgs/msg/JointTolerance", "string name; float64 position; float64 velocity; float64 acceleration")
struct("control_msgs/msg/JointComponentTolerance", """
    string joint_name; uint16 component; float64 position; float64 velocity; float64 acceleration""")
FOLLOW = "control_msgs/action/FollowJointTrajectory"
struct(f"{FOLLOW}_Goal", """
    JointTrajectory trajectory; MultiDOFJointTrajectory multi_dof_trajectory
    JointTolerance[] path_tolerance; JointComponentTolerance[] component_path_tolerance
    JointTolerance[] goal_tolerance; JointComponentTolerance[] component_goal_tolerance; Duration goal_time_tolerance""", "FollowGoal")
struct(f"{FOLLOW}_Result", "int32 error_code; string error_string", "FollowResult")
struct(f"{FOLLOW}_Feedback", """
    Header header; string[] joint_names
    JointTrajectoryPoint desired; JointTrajectoryPoint actual; JointTrajectoryPoint error
    string[] multi_dof_joint_names; MultiDOFJointTrajectoryPoint multi_dof_desired
    MultiDOFJointTrajectoryPoint multi_dof_actual; MultiDOFJointTrajectoryPoint multi_dof_error""", "FollowFeedback")
struct(f"{FOLLOW}_FeedbackMessage", "uint8[16] goal_id; FollowFeedback feedback", "FollowFeedbackMessage")
struct("action_msgs/msg/GoalInfo", "uint8[16] goal_id; Time stamp")
struct("action_msgs/msg/GoalStatus", "GoalInfo goal_info; int8 status")
struct("action_msgs/msg/GoalStatusArray", "GoalStatus[] status_list")

SERVICES = {}


def service(name, request, response):
    """Both halves, each behind who asks."""
    who = "uint64 client; int64 number; "
    short = name.split("/")[-1]
    SERVICES[short] = (
        struct(f"{name}_Request", who + request, f"{short}Request"),
        struct(f"{name}_Response", who + response, f"{short}Response"),
    )


NOTHING = "uint8 structure_needs_at_least_one_member"
service("std_srvs/srv/Trigger", NOTHING, "bool success; string message")
service("ur_msgs/srv/SetIO", "int8 fun; int8 pin; float32 state", "bool success")
service("ur_msgs/srv/SetAnalogOutput", "Analog data", "bool success")
service("ur_msgs/srv/SetSpeedSliderFraction", "float64 speed_slider_fraction", "bool success")
service("ur_msgs/srv/SetPayload", """
    float32 mass; Vector3 center_of_gravity
    float64 ixx; float64 iyy; float64 izz; float64 ixy; float64 ixz; float64 iyz; Duration transition_time""", "bool success")
service("ur_msgs/srv/SetForceMode", """
    PoseStamped task_frame
    bool selection_vector_x; bool selection_vector_y; bool selection_vector_z
    bool selection_vector_rx; bool selection_vector_ry; bool selection_vector_rz
    Wrench wrench; uint8 type; Twist speed_limits; float32[6] deviation_limits
    float32 damping_factor; float32 gain_scaling""", "bool success")
service("ur_msgs/srv/GetRobotSoftwareVersion", NOTHING, "uint32 major; uint32 minor; uint32 bugfix; uint32 build")
service("ur_msgs/srv/SetGravity", "Vector3Stamped gravity", "bool success; string status")
service("control_msgs/srv/QueryTrajectoryState", "Time time", """
    bool success; string message; string[] name; float64[] position; float64[] velocity; float64[] acceleration""")
service("action_msgs/srv/CancelGoal", "GoalInfo goal_info", "int8 return_code; GoalInfo[] goals_canceling")
service(f"{FOLLOW}_SendGoal", "uint8[16] goal_id; FollowGoal goal", "bool accepted; Time stamp")
service(f"{FOLLOW}_GetResult", "uint8[16] goal_id", "int8 status; FollowResult result")

struct("ur_dashboard_msgs/msg/ProgramState", "string state")
DASHBOARD = "ur_dashboard_msgs/srv"
service(f"{DASHBOARD}/GetRobotMode", NOTHING, "RobotMode robot_mode; string answer; bool success")
service(f"{DASHBOARD}/GetSafetyMode", NOTHING, "SafetyMode safety_mode; string answer; bool success")
service(f"{DASHBOARD}/GetProgramState", NOTHING, "ProgramState state; string program_name; string answer; bool success")
service(f"{DASHBOARD}/IsProgramRunning", NOTHING, "string answer; bool program_running; bool success")
service(f"{DASHBOARD}/Load", "string filename", "string answer; bool success")
service(f"{DASHBOARD}/RawRequest", "string query", "string answer")
MODE = "ur_dashboard_msgs/action/SetMode"
struct(f"{MODE}_Goal", "int8 target_robot_mode; bool stop_program; bool play_program", "SetModeGoal")
struct(f"{MODE}_Result", "bool success; string message", "SetModeResult")
struct(f"{MODE}_Feedback", "int8 current_robot_mode; int8 current_safety_mode", "SetModeFeedback")
struct(f"{MODE}_FeedbackMessage", "uint8[16] goal_id; SetModeFeedback feedback", "SetModeFeedbackMessage")
service(f"{MODE}_SendGoal", "uint8[16] goal_id; SetModeGoal goal", "bool accepted; Time stamp")
service(f"{MODE}_GetResult", "uint8[16] goal_id", "int8 status; SetModeResult result")
SCRIPT = "ur_msgs/action/SendScript"
struct(f"{SCRIPT}_Goal", "string program; string script_name; Duration start_timeout; bool fail_on_warnings", "SendScriptGoal")
struct(f"{SCRIPT}_Result", "bool success; string message", "SendScriptResult")
struct(f"{SCRIPT}_FeedbackMessage", f"uint8[16] goal_id; {NOTHING}", "SendScriptFeedbackMessage")
service(f"{SCRIPT}_SendGoal", "uint8[16] goal_id; SendScriptGoal goal", "bool accepted; Time stamp")
service(f"{SCRIPT}_GetResult", "uint8[16] goal_id", "int8 status; SendScriptResult result")
struct("controller_manager_msgs/msg/ChainConnection", "string name; string[] reference_interfaces")
struct("controller_manager_msgs/msg/ControllerState", """
    string name; string state; string type; bool is_async; uint16 update_rate; string[] claimed_interfaces
    string[] required_command_interfaces; string[] required_state_interfaces; bool is_chainable; bool is_chained
    string[] exported_state_interfaces; string[] reference_interfaces; ChainConnection[] chain_connections""")
service("controller_manager_msgs/srv/ListControllers", NOTHING, "ControllerState[] controller")
service("controller_manager_msgs/srv/ListControllerTypes", NOTHING, "string[] types; string[] base_classes")
service("controller_manager_msgs/srv/SwitchController", """
    string[] activate_controllers; string[] deactivate_controllers; int32 strictness; bool activate_asap; Duration timeout""",
    "bool ok; string message")
struct("control_msgs/msg/JointTrajectoryControllerState", """
    Header header; string[] joint_names; JointTrajectoryPoint reference; JointTrajectoryPoint feedback
    JointTrajectoryPoint error; JointTrajectoryPoint output; string[] multi_dof_joint_names
    MultiDOFJointTrajectoryPoint multi_dof_reference; MultiDOFJointTrajectoryPoint multi_dof_feedback
    MultiDOFJointTrajectoryPoint multi_dof_error; MultiDOFJointTrajectoryPoint multi_dof_output
    float64 speed_scaling_factor""")
CONTACT = "ur_msgs/action/ToolContact"
struct(f"{CONTACT}_Goal", NOTHING, "ToolContactGoal")
struct(f"{CONTACT}_FeedbackMessage", f"uint8[16] goal_id; {NOTHING}", "ToolContactFeedbackMessage")
service(f"{CONTACT}_SendGoal", "uint8[16] goal_id; ToolContactGoal goal", "bool accepted; Time stamp")
service(f"{CONTACT}_GetResult", "uint8[16] goal_id", f"int8 status; {NOTHING}")
UNTIL = "ur_msgs/action/FollowJointTrajectoryUntil"
struct(f"{UNTIL}_Goal", """
    JointTrajectory trajectory; JointTolerance[] path_tolerance; JointTolerance[] goal_tolerance
    Duration goal_time_tolerance; uint8 until_type""", "UntilGoal")
struct(f"{UNTIL}_Result", "int32 error_code; int32 until_condition_result; string error_string", "UntilResult")
struct(f"{UNTIL}_Feedback", """
    Header header; string[] joint_names
    JointTrajectoryPoint desired; JointTrajectoryPoint actual; JointTrajectoryPoint error""", "UntilFeedback")
struct(f"{UNTIL}_FeedbackMessage", "uint8[16] goal_id; UntilFeedback feedback", "UntilFeedbackMessage")
service(f"{UNTIL}_SendGoal", "uint8[16] goal_id; UntilGoal goal", "bool accepted; Time stamp")
service(f"{UNTIL}_GetResult", "uint8[16] goal_id", "int8 status; UntilResult result")

RELIABLE = Policy.Reliability.Reliable(duration(seconds=1))
XCDR1 = Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False)


def qos(reliable=True, latched=False, depth=10):
    durability = Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile
    return Qos(RELIABLE if reliable else Policy.Reliability.BestEffort, durability, Policy.History.KeepLast(depth), XCDR1)


class Node:
    """Who speaks with the node under test."""

    def __init__(self, domain):
        self.participant = DomainParticipant(domain)
        self.clients = {}
        self.numbers = itertools.count(1)

    def reader(self, name, of, **how):
        return DataReader(self.participant, Topic(self.participant, f"rt/{name}", DEFINED[of]), qos=qos(**how))

    def writer(self, name, of, **how):
        return DataWriter(self.participant, Topic(self.participant, f"rt/{name}", DEFINED[of]), qos=qos(**how))

    def client(self, name, of):
        if name not in self.clients:
            request, response = SERVICES[of]
            writer = DataWriter(self.participant, Topic(self.participant, f"rq/{name}Request", request), qos=qos())
            reader = DataReader(self.participant, Topic(self.participant, f"rr/{name}Reply", response), qos=qos())
            until(lambda: matched(writer.get_matched_subscriptions) and matched(reader.get_matched_publications), f"a server of {name}")
            self.clients[name] = (writer, reader, request, random.getrandbits(63))
        return self.clients[name]

    def send(self, name, of, **fields):
        """Sends a request: what its answer is waited for by."""
        writer, reader, request, client = self.client(name, of)
        number = next(self.numbers)
        writer.write(request(client=client, number=number, **fields))
        return name, reader, client, number

    def answer(self, sent, patience=None):
        name, reader, client, number = sent
        found = []

        def look():
            # That a server has left is a sample without content.
            answers = (m for m in reader.take(N=20) if hasattr(m, "client"))
            found.extend(m for m in answers if (m.client, m.number) == (client, number))
            return found

        until(look, f"an answer of {name}", patience)
        return found[0]

    def call(self, name, of, **fields):
        return self.answer(self.send(name, of, **fields))


def matched(others):
    try:
        return others()
    except IndexError:  # One left while they were counted.
        return []


def until(what, name, patience=None):
    patience = PATIENCE if patience is None else patience
    end = time.monotonic() + patience
    while not (found := what()):
        if time.monotonic() > end:
            raise SystemExit(f"waited {patience} s for {name}")
        time.sleep(0.005)
    return found


JOINTS = [f"{joint}_joint" for joint in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]


def span(seconds):
    return DEFINED["Duration"](sec=int(seconds), nanosec=round(seconds % 1 * 1e9))


def goal(points, joints=JOINTS, **more):
    """A goal of (seconds, positions)."""
    point = DEFINED["JointTrajectoryPoint"]
    made = [point(positions=list(map(float, q)), time_from_start=span(at)) for at, q in points]
    return DEFINED["FollowGoal"](trajectory=DEFINED["JointTrajectory"](joint_names=joints, points=made), **more)


class Action:
    """A client of an action: FollowJointTrajectory of a controller, unless another one is named."""

    def __init__(self, node, name, of="FollowJointTrajectory", feedback="FollowFeedbackMessage"):
        last = "follow_joint_trajectory"
        whole = f"{name}/{last}" if of == "FollowJointTrajectory" and not name.endswith(last) else name
        self.node, self.of, self.at = node, of, f"{whole}/_action"
        self.feedback = node.reader(f"{self.at}/feedback", feedback, depth=10000)
        self.status = node.reader(f"{self.at}/status", "GoalStatusArray", latched=True, depth=1)

    def send(self, wanted):
        goal_id = [random.getrandbits(8) for _ in range(16)]
        answer = self.node.call(f"{self.at}/send_goal", f"{self.of}_SendGoal", goal_id=goal_id, goal=wanted)
        return answer.accepted, goal_id

    def result(self, goal_id, patience=60.0):
        sent = self.node.send(f"{self.at}/get_result", f"{self.of}_GetResult", goal_id=goal_id)
        return self.node.answer(sent, patience)

    def cancel(self, goal_id):
        info = DEFINED["GoalInfo"](goal_id=goal_id)
        return self.node.call(f"{self.at}/cancel_goal", "CancelGoal", goal_info=info)
