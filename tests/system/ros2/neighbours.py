"""Other programs in the domain of a node. Usage: neighbours.py WHAT DOMAIN

Output and requests for actions are those of `judge.py`.
"""

import sys

from judge import check, do, say
from ros2 import DEFINED, SERVICES, Node, qos, service, struct, until

from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

struct("rmw_dds_common/msg/Gid", "uint8[16] data")
struct("rmw_dds_common/msg/NodeEntitiesInfo", "string node_namespace; string node_name; Gid[] readers; Gid[] writers")
struct("rmw_dds_common/msg/ParticipantEntitiesInfo", "Gid gid; NodeEntitiesInfo[] nodes")
struct("rmw_dds_common/msg/WideGid", "uint8[24] data")
struct("rmw_dds_common/msg/WideNodeEntitiesInfo", "string node_namespace; string node_name; WideGid[] readers; WideGid[] writers")
struct("rmw_dds_common/msg/ParticipantEntitiesInfo", "WideGid gid; WideNodeEntitiesInfo[] nodes", "WideParticipantEntitiesInfo")
struct("rcl_interfaces/msg/Log", "Time stamp; uint8 level; string name; string msg; string file; string function; uint32 line")
service("rcl_interfaces/srv/ListParameters", "string[] prefixes; uint64 depth", "string[] names; string[] found")


def announce(node, namespace, name, endpoints=(), wide=False):
    """Announces a node as the only one of its participant. The announcement lasts as long as the returned writer."""
    start, size = ("Wide", 24) if wide else ("", 16)
    gid = lambda of: DEFINED[f"{start}Gid"](data=[*of.guid.bytes, *bytes(size - 16)])
    info = DEFINED[f"{start}NodeEntitiesInfo"](node_namespace=namespace, node_name=name, readers=[gid(of) for of in endpoints])
    topic = Topic(node.participant, "ros_discovery_info", DEFINED[f"{start}ParticipantEntitiesInfo"])
    writer = DataWriter(node.participant, topic, qos=qos(latched=True, depth=1))
    writer.write(DEFINED[f"{start}ParticipantEntitiesInfo"](gid=gid(node.participant), nodes=[info]))
    return writer


def trouble(domain):
    """Creates a node with the same name that requests an unavailable quality, uses another type and offers the
    same service, and a node of an old release."""
    node, old = Node(domain), Node(domain)
    late = node.reader("joint_states", "JointState", latched=True)
    other = DataReader(node.participant, Topic(node.participant, "rt/tcp_pose_broadcaster/pose", DEFINED["String"]), qos=qos())
    request = Topic(node.participant, "rq/io_and_status_controller/set_ioRequest", SERVICES["SetIO"][0])
    serves = DataReader(node.participant, request, qos=qos())
    kept = announce(node, "/", "outrigger", [late, other, serves]), announce(old, "/cell", "old", wide=True)
    do("look")
    del kept


def fits(domain):
    """Creates a node that is compatible with the node under test."""
    node = Node(domain)
    kept = node.reader("joint_states", "JointState"), announce(node, "/", "viewer")
    do("look")
    del kept


def controller(domain):
    """Checks a node named by a serial number: its names, its parameters, and its warning about a second node of
    the same name."""
    node = Node(domain)
    space = "UR20205500001"
    states = node.reader("joint_states", "JointState")
    names = until(lambda: states.take(N=1), "joint states outside of the namespace")[0].name
    check(names[0] == f"{space}_shoulder_pan_joint", f"{names}")
    modes = node.reader(f"{space}/robot_mode", "RobotModeStamped", latched=True, depth=1)
    check(until(lambda: modes.take(N=1), "a mode below the namespace")[0].data == 7, "the arm does not run")
    listed = node.call(f"{space}/outrigger/list_parameters", "ListParameters")
    check("distro" in listed.names and "peers" in listed.names, f"{listed}")
    log = DataReader(node.participant, Topic(node.participant, "rt/rosout", DEFINED["Log"]), qos=qos())
    kept = announce(node, f"/{space}", "outrigger")
    said = until(lambda: [m for m in log.take(N=100) if "already runs" in m.msg], "a word about a second node of its name")[0]
    check((said.level, said.name) == (30, f"{space}.outrigger"), f"{said}")
    del kept
    say("done", "yes")


if __name__ == "__main__":
    struct("urinterfaces/msg/RobotMode", "Header header; int8 data", "RobotModeStamped")
    what, domain = sys.argv[1:]
    {"trouble": trouble, "fits": fits, "controller": controller}[what](int(domain))
