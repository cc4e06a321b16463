"""A ROS 2 node beside a simulated controller: `outrigger ros2`, for clients that speak with it instead of the controller."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator

#: The client and the node keep to this computer. The domain is ROS's default.
HERE = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
#: A robot of `{host}` that may be commanded; `{path}` is the way of its commands.
CONFIGURATION = """\
robot.address = "{host}"
session.path = "{path}"
{more}
[law]
kind = "joint-servo"
[ros]
expert.command = true
"""


def configuration(host: str, software: str) -> str:
    """Returns the configuration of a node. Software without RTDE takes commands as text, which a pendant overrides."""
    if software.startswith("1.") or software == "3.2":
        return CONFIGURATION.format(host=host, path="text", more='session.expert.pendant_stop = "overridden"')
    return CONFIGURATION.format(host=host, path="reverse-speedj", more="")


@contextlib.contextmanager
def node(program: str, host: str, software: str) -> Iterator[pathlib.Path]:
    """Runs a node beside this controller, and gives the file with what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        file, log = pathlib.Path(folder, "robot.toml"), pathlib.Path(folder, "log")
        file.write_text(configuration(host, software), encoding="utf-8")
        with log.open("w") as output:
            words = [program, "ros2", str(file), "--domain", "0"]
            running = subprocess.Popen(
                words, env=os.environ | HERE, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            yield log
        finally:
            running.terminate()
            try:
                running.wait(10.0)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
