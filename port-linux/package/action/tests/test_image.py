"""Starts the program of the image as a container engine does: its user, its arguments, its files and nothing else, as process 1."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import time
import types

import pytest
from conftest import from_environment

SECONDS = 20


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The image: its configuration, and its files unpacked."""
    layout = from_environment("OUTRIGGER_IMAGE")

    def blob(descriptor):
        algorithm, _, digest = descriptor["digest"].partition(":")
        return layout / "blobs" / algorithm / digest

    def document(descriptor):
        return json.loads(blob(descriptor).read_text(encoding="utf-8"))

    (listed,) = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"]
    manifest = document(listed)
    root = tmp_path_factory.mktemp("image")
    for layer in manifest["layers"]:
        with tarfile.open(blob(layer)) as files:
            files.extractall(root)
    # Above it are folders of this user alone.
    for folder in [root, *root.parents][:3]:
        folder.chmod(0o755)
    return types.SimpleNamespace(root=root, config=document(manifest["config"])["config"])


@pytest.fixture
def container(image, network):
    """Starts a container with these arguments, or its own ones. It ends with the test."""
    started = []

    def start(*arguments):
        command = image.config["Entrypoint"] + (list(arguments) or image.config["Cmd"])
        user = f"--userspec={image.config['User']}"
        apart = ["unshare", "--pid", "--fork", shutil.which("chroot"), user, "--groups=", str(image.root), *command]
        process = subprocess.Popen(
            [*network.inside, *apart], env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.kill(first_process(process), signal.SIGKILL)
        process.wait(timeout=10)


def first_process(process):
    """Returns the id of process 1 of the container as this machine sees it."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True, check=True)
    return int(found.stdout)


def listens(network, port):
    connect = [*network.outside, "bash", "-c", f": </dev/tcp/{network.address}/{port}"]
    return subprocess.run(connect, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode == 0


def until_it_listens(process, network, port):
    until = time.monotonic() + SECONDS
    while not listens(network, port):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < until, f"nothing listens on port {port}"
        time.sleep(0.05)


def stopped(process):
    """Ends the container as an engine does, and returns what it printed."""
    os.kill(first_process(process), signal.SIGTERM)
    printed, _ = process.communicate(timeout=10)
    return printed


def test_it_has_one_static_program_its_licences_and_nothing_else(image):
    files = sorted(path.relative_to(image.root).as_posix() for path in image.root.rglob("*"))
    assert files == ["LICENSE-APACHE", "LICENSE-MIT", "outrigger"]
    assert image.config["User"] == "65534:65534"
    kind = subprocess.run(["file", "--brief", image.root / "outrigger"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.search("static(ally|-pie) linked", kind), kind


def test_the_arm_of_its_default_command_is_moved_from_outside(image, container, network, page, environment, tmp_path):
    process = container()
    for exposed in image.config["ExposedPorts"]:
        until_it_listens(process, network, exposed.partition("/")[0])
    status = pathlib.Path(f"/proc/{first_process(process)}/status").read_text(encoding="utf-8")
    assert re.search(r"^Uid:\t65534\t", status, re.MULTILINE) and re.search(r"^CapEff:\t0+$", status, re.MULTILINE), status
    program = tmp_path / "move.py"
    program.write_text(page.python[0], encoding="utf-8")
    moved = subprocess.run(
        [*network.outside, "python3", program, network.address], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert moved.returncode == 0, moved.stdout + moved.stderr
    printed = stopped(process)
    assert process.returncode == 0 and "simulated ur5e with software 5.15" in printed, printed
    assert not listens(network, 30004)


def test_arguments_choose_another_controller(container, network, page):
    # As the page has them.
    (arguments,) = re.findall(r"podman run .* outrigger (sim ur --listen 0[.0]+ .*)", page.text)
    process = container(*arguments.split())
    until_it_listens(process, network, 30002)
    assert "simulated ur10 with software 3.15" in stopped(process)


def test_ctrl_c_ends_it(container, network):
    process = container()
    until_it_listens(process, network, 30004)
    os.kill(first_process(process), signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 0
