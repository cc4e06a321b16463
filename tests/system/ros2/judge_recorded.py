"""Compares received messages with the recording of the same run, field by field. Usage: judge_recorded.py DOMAIN
PORT-OF-30003 OUTRIGGER RECORDING PORT SECONDS. PORT is the source of the published states: 30003 or `variables`.

Every message is decoded by rosbags, with ROS's own definitions, and must equal the same state in the recording in
every bit. Messages with a stamp are matched by it, the others by their order. None may be missing between the first
and the last. Output and requests for actions are those of `judge.py`.
"""

import csv
import itertools
import math
import re
import struct
import subprocess
import sys
import threading
import time

from cyclonedds._clayer import ddspy_take
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from judge import IO, check, commanded, do, in_time, say
from realtime import Arm, apart
from ros2 import JOINTS, Action, Node, goal, until

MASK = 0xFFFFFFF
# The approximate time that the kernel's queue of a reader covers [s]. A reader that is stopped for longer loses
# messages.
BEHIND = 0.05
# The clocks of recorder and node differ by less than this [ns].
CLOCKS = 20_000_000
STORE = get_typestore(Stores.ROS2_JAZZY)
for name, text in {
    "ur_msgs/msg/Digital": "uint8 pin\nbool state",
    "ur_msgs/msg/Analog": "uint8 pin\nuint8 domain\nfloat32 state",
    "ur_msgs/msg/IOStates": """Digital[] digital_in_states\nDigital[] digital_out_states\nDigital[] flag_states
Analog[] analog_in_states\nAnalog[] analog_out_states""",
    "ur_msgs/msg/ToolDataMsg": """int8 analog_input_range2\nint8 analog_input_range3\nfloat64 analog_input2\nfloat64 analog_input3
float32 tool_voltage_48v\nuint8 tool_output_voltage\nfloat32 tool_current\nfloat32 tool_temperature\nuint8 tool_mode""",
}.items():
    STORE.register(get_types_from_msg(text, name))
TOPICS = {
    "joint_states": ("JointState", "sensor_msgs/msg/JointState"),
    "force_torque_sensor_broadcaster/wrench": ("WrenchStamped", "geometry_msgs/msg/WrenchStamped"),
    "tcp_pose_broadcaster/pose": ("PoseStamped", "geometry_msgs/msg/PoseStamped"),
    "speed_scaling_state_broadcaster/speed_scaling": ("Float64", "std_msgs/msg/Float64"),
    f"{IO}/io_states": ("IOStates", "ur_msgs/msg/IOStates"),
    f"{IO}/tool_data": ("ToolDataMsg", "ur_msgs/msg/ToolDataMsg"),
}
# The names of columns of port 30003 on a CB2, and the corresponding names of RTDE.
OLD = {"q_actual": "actual_q", "qd_actual": "actual_qd", "i_actual": "actual_current", "tool_vector": "actual_TCP_pose", "tcp_force": "actual_TCP_force"}

# The unit at the end of a column's name.
UNIT = re.compile("_(rad_s2|rad_s|rad|m_s2|m_s|kg_m2|kg_m_s|kg|degC|Nm|mA|ms|N|A|V|J|m|s)$")

# Fields that do not change in this test.
STILL = ("name", "header.frame_id", "flag_states", "analog_in_states", "tool_voltage_48v", "tool_mode", "tool_temperature",
         "analog_input2", "analog_input3", "analog_input_range2", "analog_input_range3", "tool_current")


class Row:
    """A state of the recording."""

    def __init__(self, header, cells):
        self.values = dict(zip(header, cells))

    def one(self, name):
        text = self.values.get(name)
        return float(text) if text else None

    def bits(self, name):
        value = self.one(name)
        return None if value is None else int(value)

    def all(self, name, count=6):
        return [self.one(f"{name}_{index}") for index in range(count)]


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def total(values):
    whole = 0.0
    for value in values:
        whole += value
    return whole


def quaternion(vector):
    angle = math.sqrt(total(v * v for v in vector))
    factor = 0.5 if angle < 1e-9 else math.sin(angle / 2.0) / angle
    return [v * factor for v in vector] + [math.cos(angle / 2.0)]


def rows_of(vector):
    x, y, z, w = quaternion(vector)
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]


def into(rows, vector):
    return [total(rows[j][i] * vector[j] for j in range(3)) for i in range(3)]


def turned(force, vector):
    """Computes the same as `into` by Rodrigues' formula with the inverse rotation."""
    angle = math.sqrt(sum(v * v for v in vector))
    if angle == 0.0:
        return list(force)
    k = [-v / angle for v in vector]
    cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    along, across = sum(a * b for a, b in zip(k, force)), cross(k, force)
    return [f * math.cos(angle) + c * math.sin(angle) + a * along * (1.0 - math.cos(angle)) for f, c, a in zip(force, across, k)]


def wrench(row):
    """Computes the wrench by core/docs/protocol/ros2-surface.md 7.5, for a tool with an offset of 0."""
    offset = row.all("tcp_offset")
    check(all(not v for v in offset), f"this judge knows a tool without length, not {offset}")
    pose = row.all("target_TCP_pose")
    pose = row.all("actual_TCP_pose") if pose[0] is None else pose
    force, rows = row.all("actual_TCP_force"), rows_of(pose[3:])
    found = into(rows, force[:3]) + into(rows, force[3:])
    by_rodrigues = turned(force[:3], pose[3:]) + turned(force[3:], pose[3:])
    check(all(abs(a - b) < 1e-9 for a, b in zip(found, by_rodrigues)), f"{found} and {by_rodrigues}")
    return found


def digital(bits):
    return [] if bits is None else [(pin, bool(bits >> pin & 1)) for pin in range(18)]


def analog(row, names, types, first):
    values = [(pin, types >> (first + pin) & 1, row.one(name)) for pin, name in enumerate(names)]
    return [(pin, domain, single(value)) for pin, domain, value in values if value is not None]


def scalings(rows):
    """Yields the speed scaling of each state by core/docs/protocol/ros2-surface.md 7.1 [%]."""
    paused = ramp = None
    for row in rows:
        own, slider, state = row.one("speed_scaling"), row.one("target_speed_fraction"), row.one("runtime_state")
        product = (1.0 if own is None else own) * (1.0 if slider is None else slider)
        check(state not in (4, 5) and paused is None and ramp is None, "this judge knows no pause")
        yield product * 100.0


def expected(topic, rows):
    """Returns the expected content of the message of each of these states, by field name."""
    if topic.endswith("speed_scaling"):
        return [{"data": value} for value in scalings(rows)]
    made = []
    for row in rows:
        if topic == "joint_states":
            made.append({"name": JOINTS, "position": row.all("actual_q"), "velocity": row.all("actual_qd"), "effort": row.all("actual_current")})
        elif topic.endswith("wrench"):
            made.append({"wrench": wrench(row), "header.frame_id": "tool0_controller"})
        elif topic.endswith("pose"):
            pose = row.all("actual_TCP_pose")
            made.append({"position": pose[:3], "orientation": quaternion(pose[3:]), "header.frame_id": "base"})
        elif topic.endswith("io_states"):
            types = row.bits("analog_io_types") or 0
            made.append({
                "digital_in_states": digital(row.bits("actual_digital_input_bits")),
                "digital_out_states": digital(row.bits("actual_digital_output_bits")),
                "flag_states": [],
                "analog_in_states": analog(row, ["standard_analog_input0", "standard_analog_input1"], types, 0),
                "analog_out_states": analog(row, ["standard_analog_output0", "standard_analog_output1"], types, 2),
            })
        else:
            types = row.bits("tool_analog_input_types") or 0
            made.append({
                "analog_input_range2": types & 1, "analog_input_range3": types >> 1 & 1,
                "analog_input2": row.one("tool_analog_input0"), "analog_input3": row.one("tool_analog_input1"),
                "tool_voltage_48v": 0.0, "tool_output_voltage": row.bits("tool_output_voltage"),
                "tool_current": single(row.one("tool_output_current")), "tool_temperature": single(row.one("tool_temperature")),
                "tool_mode": row.bits("tool_mode"),
            })
    return made


def told(topic, message):
    """Returns the content of a received message in the form of `expected`."""
    xyz = lambda of: [of.x, of.y, of.z]
    if topic == "joint_states":
        return {"name": list(message.name), "position": list(message.position), "velocity": list(message.velocity), "effort": list(message.effort)}
    if topic.endswith("wrench"):
        return {"wrench": xyz(message.wrench.force) + xyz(message.wrench.torque), "header.frame_id": message.header.frame_id}
    if topic.endswith("pose"):
        turn = message.pose.orientation
        return {"position": xyz(message.pose.position), "orientation": xyz(turn) + [turn.w], "header.frame_id": message.header.frame_id}
    if topic.endswith("io_states"):
        digital = lambda of: [(one.pin, one.state) for one in of]
        analog = lambda of: [(one.pin, one.domain, single(one.state)) for one in of]
        return {
            "digital_in_states": digital(message.digital_in_states), "digital_out_states": digital(message.digital_out_states),
            "flag_states": digital(message.flag_states),
            "analog_in_states": analog(message.analog_in_states), "analog_out_states": analog(message.analog_out_states),
        }
    fields = {field: getattr(message, field) for field in message.__dataclass_fields__ if field != "__msgtype__"}
    return {field: single(value) if field in ("tool_current", "tool_temperature") else value for field, value in fields.items()}


class Readers(threading.Thread):
    """A thread that takes the bytes of messages as they arrive."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.readers = {name: node.reader(name, of, depth=20_000) for name, (of, _) in TOPICS.items()}
        self.got = {name: [] for name in TOPICS}
        self.over = False
        self.start()

    def run(self):
        last = False
        while not last:
            last = self.over
            for name, reader in self.readers.items():
                self.got[name] += [bytes(data) for data, info in ddspy_take(reader._ref, MASK, 20_000) if info.valid_data]
            time.sleep(0.02)


def change(node, arm, seconds):
    """Moves the arm and changes inputs, outputs and the slider for `seconds`."""
    end, first = time.monotonic() + seconds, arm.now().q
    do("push 5 -3 11 0.4 0.3 -0.7")
    action = Action(node, "scaled_joint_trajectory_controller")
    for turn in itertools.count():
        there = [q + (0.3 if turn % 2 == 0 else 0.0) for q in first]
        action.send(goal([(1.2, there)]))
        do(f"inputs {turn % 8 * 33}")
        if turn % 2:
            do(f"slider {(0.6, 1)[turn // 2 % 2]}")
        node.call(f"{IO}/set_io", "SetIO", fun=1, pin=turn % 8, state=1.0)
        node.call(f"{IO}/set_io", "SetIO", fun=3, pin=turn % 2, state=0.3 + 0.01 * (turn % 50))
        node.call(f"{IO}/set_io", "SetIO", fun=4, pin=0, state=(0.0, 12.0, 24.0)[turn % 3])
        time.sleep(max(0.0, min(1.3, end - time.monotonic())))
        if time.monotonic() >= end:
            return


def recorded(outrigger, recording, port):
    table = f"{recording}.csv"
    subprocess.run([outrigger, "export", recording, "--csv", table, "--port", port], check=True)
    with open(table, newline="") as file:
        lines = csv.reader(file)
        header = [UNIT.sub("", name) for name in next(lines)]
        parts = [name.rpartition("_") for name in header]
        header = [f"{OLD[head]}_{tail}" if head in OLD else name for name, (head, _, tail) in zip(header, parts)]
        check(len(set(header)) == len(header), f"columns of one name: {sorted(name for name in header if header.count(name) > 1)}")
        return [Row(header, line) for line in lines]


def stamps(rows):
    """Yields the expected stamp of each state, its arrival time [µs]. States that were read at once follow each
    other by 1 µs."""
    last = 0
    for row in rows:
        second, micro = row.values["arrival_time"].split(".")
        last = max(int(second) * 1_000_000 + int(micro), last + 1)
        yield last


def compare(topic, messages, rows, at):
    """Checks that each message equals its recorded state and that none is missing. Returns their number."""
    check(messages, f"{topic}: nothing came")
    found = [told(topic, message) for message in messages]
    wanted = expected(topic, rows)
    if hasattr(messages[0], "header"):
        stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in messages]
        # Recorder and node have each read the system's clock once, so that their stamps differ by an offset, and the
        # table has no ns. The state of the first message is found from all stamps together, because the intervals
        # between states are all different.
        near = [index for index, micros in enumerate(at) if abs(stamps[0] - micros * 1000) < CLOCKS]
        check(near, f"{topic}: nothing is recorded around {stamps[0]}")

        def farthest(first):
            """Returns the largest deviation of a stamp [ns] and its message, if the first message is of the state
            `first`."""
            off = stamps[0] - at[first] * 1000
            return max((abs(stamp - at[first + index] * 1000 - off), index) for index, stamp in enumerate(stamps))

        near = [first for first in near if first + len(stamps) <= len(at)]
        check(near, f"{topic}: more messages than states")
        offsets = [first for first in near if farthest(first)[0] < 1000]
        away = [farthest(first) for first in near]
        in_time(offsets, f"{topic}: lost, or stamped wrongly: (ns, message) away from its state {away}, of states {near}", BEHIND)
    else:
        offsets = range(len(rows) - len(messages), -1, -1)
    for offset in offsets:
        differing = next((index for index, of in enumerate(found) if of != wanted[offset + index]), None)
        if differing is None:
            # A field that never changes proves nothing.
            still = [field for field in found[0] if field not in STILL and all(of[field] == found[0][field] for of in found)]
            check(not still, f"{topic}: {still} stood at {found[0]} all the time")
            return len(messages)
    why = f"{topic}: {len(messages)} messages are nowhere in the recording one after the other: the last is {found[-1]}"
    in_time(len(offsets) == 1, why, BEHIND)
    check(False, f"{topic}: {found[differing]}, and recorded is {wanted[offsets[0] + differing]}")


def main(domain, port, outrigger, recording, by, seconds):
    node, arm = Node(int(domain)), Arm(port)
    readers = Readers(node)
    whole = by == "variables"
    until(lambda: readers.got["tcp_pose_broadcaster/pose"], "a pose")
    commanded(node)
    # The first states come from the 10 Hz interface, until a faster one is connected.
    for messages in readers.got.values():
        messages.clear()
    begun, first = time.monotonic(), arm.now()
    change(node, arm, float(seconds))
    check(max(apart(state.q, first.q) for state in arm.since(begun)) > 0.1, "30003: the arm did not move")
    # The lesser of two clocks, because the controller may stand still, and its states may be read late.
    received = min(time.monotonic() - begun, arm.now().time - first.time)
    do("quit")
    readers.over = True
    readers.join()
    rows = recorded(outrigger, recording, by)
    # On a CB2 only the topics whose values come from port 30003.
    topics = TOPICS if whole else list(TOPICS)[:3]
    times = [row.one("timestamp") or row.one("time") for row in rows]
    period = times[1] - times[0]
    gapless = all(abs(b - a - period) < 1e-6 for a, b in zip(times, times[1:]))
    in_time(gapless, "states are missing in the recording itself", BEHIND)
    at = list(stamps(rows))
    for topic in topics:
        of = TOPICS[topic][1]
        messages = [STORE.deserialize_cdr(data, of) for data in readers.got[topic]]
        count = compare(topic, messages, rows, at)
        check(count * period > received - 0.5, f"{topic}: {count} messages in {received} s")
        say(topic, f"{count} in a row, each as recorded")


if __name__ == "__main__":
    main(*sys.argv[1:])
