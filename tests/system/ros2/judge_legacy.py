"""Uses the node by the names of ur_modern_driver. Usage: judge_legacy.py DOMAIN PORT-OF-30003 MISSING-TOPICS.

Output is that of `judge.py`.
"""

import sys

from judge import check, commanded, position, reach, say
from ros2 import NOTHING, Action, Node, service, struct, until

struct("geometry_msgs/msg/TwistStamped", "Header header; Twist twist")
struct("sensor_msgs/msg/Temperature", "Header header; float64 temperature; float64 variance")
struct(
    "industrial_msgs/msg/RobotStatus",
    "Header header; int8 mode; int8 e_stopped; int8 drives_powered; int8 motion_possible; int8 in_motion; int8 in_error; int32 error_code",
)
struct(
    "ur_msgs/msg/MasterboardDataMsg",
    "uint32 digital_input_bits; uint32 digital_output_bits; int8 analog_input_range0; int8 analog_input_range1; "
    "float64 analog_input0; float64 analog_input1; int8 analog_output_domain0; int8 analog_output_domain1; "
    "float64 analog_output0; float64 analog_output1; float32 masterboard_temperature; float32 robot_voltage_48v; "
    "float32 robot_current; float32 master_io_current; uint8 master_safety_state; uint8 master_onoff_state",
)
struct(
    "ur_msgs/msg/RobotModeDataMsg",
    "uint64 timestamp; bool is_robot_connected; bool is_real_robot_enabled; bool is_power_on_robot; bool is_emergency_stopped; "
    "bool is_protective_stopped; bool is_program_running; bool is_program_paused",
)
service("std_srvs/srv/Empty", NOTHING, NOTHING)

TOPICS = {
    "wrench": "WrenchStamped",
    "tool_velocity": "TwistStamped",
    "joint_temperature": "Temperature",
    "ur_driver/io_states": "IOStates",
    "ur_driver/robot_status": "RobotStatus",
    "ur_driver/masterboard_state": "MasterboardDataMsg",
    "ur_driver/robot_mode_state": "RobotModeDataMsg",
}


def topics(node, missing):
    readers = {name: node.reader(name, of, depth=100) for name, of in TOPICS.items()}
    newest = {}

    def all_came():
        for name, reader in readers.items():
            newest.update((name, message) for message in reader.take(N=100)[-1:])
        return set(newest) >= set(TOPICS) - missing

    until(all_came, "something of every topic")
    check(not missing & set(newest), f"this controller cannot fill {missing & set(newest)}")
    wrench, speed, status = newest["wrench"], newest["tool_velocity"], newest["ur_driver/robot_status"]
    check(wrench.header.frame_id == speed.header.frame_id == "base", f"{wrench.header}, {speed.header}")
    check(abs(speed.twist.linear.x) < 1e-3, f"an arm at rest has this speed: {speed}")
    found = (status.mode, status.e_stopped, status.drives_powered, status.motion_possible, status.in_motion, status.in_error)
    check(found == (2, 0, 1, 1, -1, 0), f"{status}")
    mode, board = newest["ur_driver/robot_mode_state"], newest["ur_driver/masterboard_state"]
    check(mode.is_power_on_robot and mode.is_robot_connected and not mode.is_program_paused, f"{mode}")
    check(40.0 < board.robot_voltage_48v < 56.0, f"{board}")
    if "joint_temperature" not in missing:
        check(newest["joint_temperature"].header.frame_id.endswith("_link"), f"{newest['joint_temperature']}")
    say("topics", *sorted(newest))


def services(node):
    set_io = lambda **fields: node.call("ur_driver/set_io", "SetIO", **fields).success
    until(lambda: set_io(fun=1, pin=3, state=1.0), "output 3 to be set")
    states = node.reader("ur_driver/io_states", "IOStates", depth=1)
    until(lambda: [m for m in states.take(N=1) if m.digital_out_states[3].state], "output 3 to be high")
    # No interface reports flags, and the current driver has no way to set them.
    check(set_io(fun=2, pin=1, state=1.0), "a flag is not set")
    check(not node.call("io_and_status_controller/set_io", "SetIO", fun=2, pin=1, state=1.0).success, "a flag by today's name")
    payload = lambda mass: node.call("ur_driver/set_payload", "SetPayload", mass=mass).success
    check(payload(1.5), "a payload is not set")
    check(not payload(3.5) and not payload(0.2), "a payload beyond min_payload and max_payload is taken")
    check(not node.call("io_and_status_controller/set_payload", "SetPayload", mass=3.5).success, "the same by today's name")
    node.call("ur_driver/robot_enable", "Empty")


def main(domain, _port, missing=""):
    node = Node(int(domain))
    states = node.reader("joint_states", "JointState", depth=1000)
    first = position(states)
    topics(node, set(filter(None, missing.split(","))))
    services(node)
    commanded(node)
    there = [q + 0.1 for q in first]
    reach(node, Action(node, "follow_joint_trajectory"), states, there, 2.0)
    say("done", "yes")


main(*sys.argv[1:])
