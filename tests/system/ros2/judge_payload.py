"""Checks with port 30003 which payloads a node accepts. Usage: judge_payload.py DOMAIN PORT-OF-30003 DISTRO.

The service type has three layouts of one name (core/docs/protocol/ros2-surface.md 5.6). The shortest is recognised by
its length. The other two have equal lengths, and are distinguished by the release that the node is set to.
"""

import sys

from judge import IO, check, say
from realtime import Arm, apart
from ros2 import DEFINED, SERVICES, Node, service, struct, until

struct("geometry_msgs/msg/Inertia", "float64 m; Vector3 com; float64 ixx; float64 ixy; float64 ixz; float64 iyy; float64 iyz; float64 izz")
NAME, ANSWER = "ur_msgs/srv/SetPayload", "bool success"
LONG = SERVICES["SetPayload"]
service(NAME, "float32 mass; Vector3 center_of_gravity", ANSWER)
SHORT = SERVICES["SetPayload"]
service(NAME, "Inertia payload; Duration transition_time", ANSWER)
NEWEST = SERVICES["SetPayload"]


def main(domain, port, distro):
    arm = Arm(port)
    states = Node(int(domain)).reader("joint_states", "JointState")
    until(lambda: states.take(N=10), "joint states")
    vector, inertia = DEFINED["Vector3"], DEFINED["Inertia"]

    def asks(layout, mass, center, length):
        """Calls the service with this layout, and returns whether it reports success."""
        SERVICES["SetPayload"] = layout
        center = vector(*center)
        newest = {"payload": inertia(m=mass, com=center)} if layout is NEWEST else {"mass": mass, "center_of_gravity": center}
        whole = layout[0](client=1, number=1, **newest).serialize(use_version_2=False)
        # Without the encapsulation (4 bytes) and the client's header (16 bytes).
        check(len(whole) - 4 - 16 == length, f"{len(whole)} bytes")
        # A node of its own, because a participant knows only one layout of a name.
        return Node(int(domain)).call(f"{IO}/set_payload", "SetPayload", **newest).success

    def is_taken(layout, mass, center, length):
        check(asks(layout, mass, center, length), f"{distro}: a payload is not set by {length} bytes")
        until(lambda: apart(arm.payload(), (mass, *center)) < 1e-6, f"30003: a payload of {mass} kg, and not {arm.payload()}")

    # Nothing can be set before the session exists, which is after the first states.
    until(lambda: asks(SHORT, 1.5, (0.0, 0.01, 0.05), 32), f"{distro}: a payload by 32 bytes")
    is_taken(SHORT, 1.5, (0.0, 0.01, 0.05), 32)
    ours, theirs = (NEWEST, LONG) if distro == "rolling" else (LONG, NEWEST)
    is_taken(ours, 2.25, (0.02, 0.0, 0.0625), 88)
    check(not asks(theirs, 0.7, (0.01, 0.02, 0.03), 88), f"{distro}: the layout of another release is taken")
    check(apart(arm.payload(), (2.25, 0.02, 0.0, 0.0625)) < 1e-6, f"30003: {arm.payload()}")
    # A centre of gravity of zero is also valid.
    is_taken(ours, 0.5, (0.0, 0.0, 0.0), 88)
    say("done", "yes")


if __name__ == "__main__":
    main(*sys.argv[1:])
