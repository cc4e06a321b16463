"""The clients that are run, the version of each, and why some cannot do a script with some software."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from fnmatch import fnmatchcase

HERE = pathlib.Path(__file__).resolve().parent

#: One of each protocol generation.
SOFTWARE = ("1.8", "3.2", "3.15", "5.4", "5.15", "5.25", "10.11")
SCRIPTS = {
    "joints": "moves to joint angles",
    "send": "moves to joint angles, without waiting for the end",
    "line": "moves the tool on a straight line",
    "speed": "moves one joint at a speed for a second, and stops",
    "read": "reads the joint angles",
}


@dataclass(frozen=True)
class Client:
    """A client, the packages of its environment, and its script in the folder `scripts`.

    The script of a crate is a program: `script` is its name, and `cargo` the folder of its package. A client of ROS 2
    speaks with a node beside the controller.
    """

    name: str
    packages: tuple[str, ...]
    script: str
    does: tuple[str, ...] = ("joints", "line", "speed", "read")
    cargo: pathlib.Path | None = None
    ros2: bool = False

    @property
    def version(self) -> str:
        """The first package with its version; without packages, the standard library."""
        return self.packages[0] if self.packages else "Python's standard library"


CLIENTS = (
    Client("socket", (), "with_socket.py"),
    Client("ur_rtde", ("ur_rtde==1.6.5",), "with_ur_rtde.py"),
    Client("ur_rtde-1.5", ("ur_rtde==1.5.9",), "with_ur_rtde.py"),
    Client(
        "urx",
        ("urx==0.11.0", "math3d==4.0.0", "numpy==2.4.6"),
        "with_urx.py",
        ("joints", "send", "line", "speed", "read"),
    ),
    Client("urkit", ("urkit==0.6.0", "ur_rtde==1.6.5"), "with_urkit.py"),
    Client("ursocket", ("URsocket==0.2", "numpy==2.4.6"), "with_ursocket.py"),
    Client("ur-aj", ("ur-aj==0.1.5",), "with_ur_aj.py", ("line", "read")),
    Client("urpy", ("urpy==1.2.0",), "with_urpy.py", ("joints", "line", "read")),
    Client("ur-tcp-rtde", ("UR-TCP-RTDE==0.0.1", "numpy==2.4.6"), "with_ur_tcp_rtde.py"),
    Client(
        "universal-robots-clients", ("universal-robots-clients==0.4.0", "ur_rtde==1.6.5"), "with_clients.py", ("read",)
    ),
    Client("rur", ("rur==0.1.0",), "outrigger-works-with-rur", cargo=HERE / "rur"),
    Client("cyclonedds", ("cyclonedds==11.0.1",), "with_cyclonedds.py", ("joints", "speed", "read"), ros2=True),
    Client(
        "ros2-client",
        ("ros2-client==0.12.1",),
        "outrigger-ros2-client-judge",
        ("joints", "read"),
        cargo=HERE.parents[3] / "tests/system/ros2/client",
        ros2=True,
    ),
)

NO_RTDE = "needs RTDE, which this software does not have"
NO_DASHBOARD = "needs a dashboard server, which PolyScope X does not have"
OLD = "1.8,3.2"
#: Client, scripts, software (patterns), and why it fails; the first line that fits counts.
REASONS = (
    ("ur_rtde*", "*", OLD, NO_RTDE),
    ("universal-robots-clients", "*", OLD, NO_RTDE),
    ("ursocket", "*", OLD, NO_RTDE),
    ("urkit", "*", OLD, NO_RTDE),
    ("ur_rtde-1.5", "[!r]*", "10.*", NO_DASHBOARD),
    ("urkit", "*", "10.*", NO_DASHBOARD),
    ("urkit", "*", "3.15,5.4", "asks the dashboard server for remote control, which it does not know before 5.6"),
    (
        "ursocket",
        "*",
        "3.15,5.4",
        "asks RTDE for variables that this software lacks: `payload` before 5.5, `tool_digital_output0_mode` on CB3",
    ),
    ("urx", "speed", OLD, "names the argument `t_min`, as manuals up to 3.3 do; the simulator only knows it as `t`"),
    ("urx", "speed", "*", "names the argument `t_min`, which this software rejects (python-urx, issues 73 and 91)"),
    ("urx", "joints", "3.15,5.*,10.*", "takes every robot after 3.2 for stopped, and raises; *send* does not look"),
    ("urx", "line", "3.15,5.*,10.*", "takes every robot after 3.2 for stopped, and raises; *send* does not look"),
    ("urpy", "read", "*", "its package lacks its own file `configuration.xml`"),
    ("rur", "read", "*", "only reads lines of text: `read_line` panics at a packet, which is not UTF-8"),
    ("ur-tcp-rtde", "speed", OLD, "sends no stop; after `speedj` the arm of this software keeps its speed"),
)


def reason(client: str, script: str, software: str) -> str | None:
    """Returns why a client cannot do a script with this software; None if it should."""
    for of, scripts, versions, text in REASONS:
        if (
            fnmatchcase(client, of)
            and fnmatchcase(script, scripts)
            and any(fnmatchcase(software, v) for v in versions.split(","))
        ):
            return text
    return None
