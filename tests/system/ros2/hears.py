"""Receives joint states by Cyclone DDS with default settings: hears.py DOMAIN SECONDS. Prints its results as lines
`name: value`.

`met` is the time until the first state [s], `states` the number in the 2 s after it. Ends with 1 if no state arrives
within SECONDS.
"""
import sys
import time
from dataclasses import dataclass

from cyclonedds import core, domain, idl, sub, topic
from cyclonedds.idl.types import float64, int32, sequence, uint32


@dataclass
class JointState(idl.IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    sec: int32
    nanosec: uint32
    frame_id: str
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


begin = time.monotonic()
node = domain.DomainParticipant(int(sys.argv[1]))
policies = core.Qos(core.Policy.DataRepresentation(True, False), core.Policy.History.KeepLast(1000))
reader = sub.DataReader(node, topic.Topic(node, "rt/joint_states", JointState), qos=policies)
met, states = None, 0
while met is None or time.monotonic() < met + 2:
    states += len(reader.take(N=1000))
    if states and met is None:
        met = time.monotonic()
    if met is None and time.monotonic() > begin + float(sys.argv[2]):
        sys.exit("no joint state came")
    time.sleep(0.01)
print(f"met: {met - begin:.3f}")
print(f"states: {states}")
