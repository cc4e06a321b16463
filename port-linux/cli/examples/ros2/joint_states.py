import os; os.environ.setdefault("CYCLONEDDS_URI", "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces><AllowMulticast>spdp</AllowMulticast></General></Domain></CycloneDDS>")
from dataclasses import dataclass
from cyclonedds import core, domain, idl, sub, topic
from cyclonedds.idl.types import float64, int32, sequence, uint32
@dataclass
class JointState(idl.IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    sec: int32; nanosec: uint32; frame_id: str; name: sequence[str]; position: sequence[float64]; velocity: sequence[float64]; effort: sequence[float64]
node = domain.DomainParticipant(0)
reader = sub.DataReader(node, topic.Topic(node, "rt/joint_states", JointState), qos=core.Qos(core.Policy.DataRepresentation(True, False)))
for state in reader.take_iter():
    print(state.position, flush=True)
