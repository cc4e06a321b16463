import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import types

import pytest
import yaml

sys.dont_write_bytecode = True

import runner  # noqa: E402

PAGE = runner.ROOT / "port-linux/package/action/README.md"


def from_environment(name):
    """Returns the path in a variable that `.ci/action` sets."""
    return pathlib.Path(os.environ[name]).resolve()


@pytest.fixture(scope="session")
def wheel():
    return from_environment("OUTRIGGER_WHEEL")


@pytest.fixture(scope="session")
def page():
    """The page of the action: its text, and its blocks by their language."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = {}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        blocks.setdefault(language, []).append(block)
    parsed = [yaml.safe_load(block) for block in blocks["yaml"]]
    return types.SimpleNamespace(text=text, yaml=parsed, workflow=blocks["yaml"][0], python=blocks["python"])


@pytest.fixture(scope="session")
def environment():
    """The environment of a job: the Python with ur_rtde is the one that the job finds."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV"))}
    clients = from_environment("OUTRIGGER_CLIENTS") / "bin"
    return {**kept, "PATH": f"{clients}{os.pathsep}{kept['PATH']}"}


@pytest.fixture(scope="session")
def temporary(tmp_path_factory):
    return tmp_path_factory.mktemp("runner")


@pytest.fixture(scope="session")
def network():
    """Two network namespaces with a cable between them, in which the ports of a real controller are free.

    `inside` begins a command in the first, at `address`, and `outside` one in the second. The networks of this machine stay as they are.
    """
    names = [f"outrigger-action-{os.getpid()}-{number}" for number in (1, 2)]
    addresses = "10.0.0.1", "10.0.0.2"
    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address in zip(names, addresses):
            ip("-n", name, "address", "add", f"{address}/30", "dev", "cable")
            for link in "lo", "cable":
                ip("-n", name, "link", "set", link, "up")
        inside, outside = (["ip", "netns", "exec", name] for name in names)
        yield types.SimpleNamespace(inside=inside, outside=outside, address=addresses[0])
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


@pytest.fixture
def job(tmp_path, temporary, environment, wheel):
    """A job whose workspace has the wheel, and whose simulators end with the test."""
    (tmp_path / "ci").mkdir()
    shutil.copy(wheel, tmp_path / "ci")
    job = runner.Job(tmp_path, temporary, environment)
    yield job
    job.run([STOP])


@pytest.fixture
def apart(job, start, network):
    """The same in a network of its own. It has no index of packages, so the package is installed before."""
    job.run([start(), STOP])
    assert not job.failed, job.output
    return runner.Job(job.workspace, job.temporary, job.environment, network.inside)


STOP = {"if": "always()", "uses": "OWNER/outrigger/port-linux/package/action/stop@v0.1.0"}


@pytest.fixture
def start(wheel):
    """Returns the step that starts a simulator with these inputs."""

    def step(name="simulator", **inputs):
        given = {"wheel": f"ci/{wheel.name}", "port-base": "0", **{key.replace("_", "-"): value for key, value in inputs.items()}}
        given = {key: value for key, value in given.items() if value is not None}
        return {"id": name, "uses": "OWNER/outrigger/port-linux/package/action@v0.1.0", "with": given}

    return step


def listens(host, port):
    with socket.socket() as connection:
        connection.settimeout(5)
        return connection.connect_ex((host, int(port))) == 0
