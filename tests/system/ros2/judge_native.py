"""Uses a node by the names of UR's paper on PolyScope X. Usage: judge_native.py DOMAIN PORT-OF-30003
PERIOD-IN-MICROSECONDS.

The node has a topic for each port of inputs and outputs, time stamps of the controller's clock, topics of RTDE
variables, and a source that accepts `external_wrench`. Output is that of `judge.py`.
"""

import sys
import time

from judge import IO, check, in_time, say
from ros2 import DEFINED, Node, matched, service, struct, until

struct("urinterfaces/msg/DigitalPort", "Header header; bool[] data")
struct("urinterfaces/msg/Analog", "Header header; uint8 domain; float32 data", "AnalogPort")
struct("urinterfaces/msg/Digital", "uint8 pin; bool state", "DigitalPin")
service("urinterfaces/srv/SetDigitalOutput", "DigitalPin[] data", "bool success")
struct("std_msgs/msg/UInt32", "uint32 data")
struct("std_msgs/msg/Int32", "int32 data")
struct("std_msgs/msg/Int32MultiArray", "MultiArrayLayout layout; int32[] data")

LATCHED = [f"{kind}_digital_{side}" for kind in ("standard", "configurable") for side in ("inputs", "outputs")]
VARIABLES = {"actual_momentum": "Float64", "actual_q": "Float64MultiArray", "robot_mode": "Int32", "runtime_state": "UInt32", "joint_mode": "Int32MultiArray"}


def ports(node):
    readers = {name: node.reader(name, "DigitalPort", latched=True, depth=1) for name in LATCHED}
    for name, reader in readers.items():
        message = until(lambda: reader.take(N=1), name)[0]
        check(len(message.data) == 8, f"{name}: {message}")
    bits = node.reader("standard_digital_outputs", "DigitalPort", latched=True, depth=1)
    node.call("set_standard_digital_output", "SetDigitalOutput", data=[DEFINED["DigitalPin"](pin=5, state=True)])
    until(lambda: [m for m in bits.take(N=1) if m.data[5]], "output 5 to be high")
    # Other topics are not latched: they publish when a value changes.
    volts = node.reader("standard_analog_output_0", "AnalogPort", depth=10)
    until(lambda: matched(volts.get_matched_publications), "a topic of analog output 0")
    check(node.call(f"{IO}/set_analog_output", "SetAnalogOutput", data=DEFINED["Analog"](pin=0, domain=1, state=0.25)).success, "analog")
    until(lambda: [m for m in volts.take(N=10) if m.domain == 1 and abs(m.data - 2.5) < 0.01], "2.5 V at output 0")


def stamps(node, period):
    """Checks that time stamps differ by whole periods of the controller to the µs, independent of the time of
    reading."""
    reader = node.reader("joint_states", "JointState", depth=5000)
    nanos = lambda m: m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec
    # By then the offset of the clocks has settled.
    time.sleep(3.0)
    reader.take(N=5000)
    begun = time.time()
    time.sleep(0.8)
    all_of = [nanos(m) for m in reader.take(N=5000)]
    check(len(all_of) > 20, f"{len(all_of)} states")
    spans = [b - a for a, b in zip(all_of, all_of[1:])]
    off = [abs((span + period // 2) % period - period // 2) for span in spans]
    # The offset of the clocks is updated ten times a second. Times of reading would hardly ever differ by whole
    # periods to the µs.
    exact = sum(of < 1_000 for of in off) / len(off)
    in_time(exact > 0.85 and max(off) < 1_000_000, f"{exact} of {len(off)} spans are whole periods, {sorted(off)[-3:]} ns off", stood=0.05)
    check(begun - 1.0 < all_of[0] / 1e9 < begun + 1.0, "stamps are not of now")
    say("exact", exact)
    say("off", max(off))


def variables(node):
    readers = {name: node.reader(f"rtde/{name}", of, depth=100) for name, of in VARIABLES.items()}
    newest = {name: until(lambda: reader.take(N=100), name)[-1] for name, reader in readers.items()}
    check(newest["robot_mode"].data == 7 and len(newest["actual_q"].data) == 6, f"{newest}")
    check(list(newest["joint_mode"].data) == [253] * 6 and newest["actual_momentum"].data < 1e-3, f"{newest}")
    say("variables", *sorted(newest))


def external(node):
    """Publishes a force, which a program on the controller uses in place of the measured one."""
    writer = node.writer("external_wrench", "WrenchStamped")
    until(lambda: matched(writer.get_matched_subscriptions), "a reader of external_wrench")
    wrenches = node.reader("tcp_wrench", "WrenchStamped", depth=1)
    vector = DEFINED["Vector3"]
    wanted = DEFINED["Wrench"](force=vector(x=3.0, y=-2.0, z=1.5), torque=vector(x=0.25, y=-0.5, z=0.125))

    def arrives():
        writer.write(DEFINED["WrenchStamped"](wrench=wanted))
        time.sleep(0.01)
        found = [m.wrench for m in wrenches.take(N=1)]
        return [w for w in found if abs(w.force.x - 3.0) < 1e-3 and abs(w.force.y + 2.0) < 1e-3 and abs(w.force.z - 1.5) < 1e-3]

    until(arrives, "the force at the controller")
    say("external", "yes")


def main(domain, _port, period):
    node = Node(int(domain))
    states = node.reader("joint_states", "JointState", depth=1)
    until(lambda: states.take(N=1), "joint states")
    ports(node)
    variables(node)
    stamps(node, int(period) * 1_000)
    external(node)
    say("done", "yes")


main(*sys.argv[1:])
