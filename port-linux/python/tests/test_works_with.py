"""The table of clients: complete and explained, as committed, and the judge of it passes and fails what it should."""

import pathlib
import re
import sys

import pytest

WORKS_WITH = pathlib.Path(__file__).parent / "works_with"
sys.path.insert(0, str(WORKS_WITH))

from clients import CLIENTS, SOFTWARE  # noqa: E402
from judge import verdict  # noqa: E402
from page import PAGE, page, read_results  # noqa: E402
from run import problems  # noqa: E402

SOCKET = [sys.executable, str(WORKS_WITH / "scripts/with_socket.py")]


def test_every_script_of_every_client_has_an_outcome_and_every_failure_a_reason():
    outcomes = read_results()
    cells = {(client.name, script, software) for client in CLIENTS for script in client.does for software in SOFTWARE}
    assert set(outcomes) == cells
    assert problems(outcomes) == []


def test_a_crate_is_pinned_to_the_version_that_the_page_names():
    crates = [client for client in CLIENTS if client.cargo]
    assert crates
    for client in crates:
        name, version = client.version.split("==")
        pin = re.compile(rf'^{name} = .*"={re.escape(version)}"', re.MULTILINE)
        assert pin.search((client.cargo / "Cargo.toml").read_text(encoding="utf-8")), client.version
        assert f'name = "{name}"\nversion = "{version}"\n' in (client.cargo / "Cargo.lock").read_text(encoding="utf-8")


def test_the_page_is_made_of_the_outcomes():
    assert PAGE.read_text(encoding="utf-8") == page(read_results())


@pytest.mark.parametrize("script", ["joints", "line", "speed", "read"])
def test_a_plain_socket_works(script):
    assert verdict(SOCKET, script, "5.15") == ""


def test_an_arm_that_is_elsewhere_fails(tmp_path):
    nothing = tmp_path / "nothing.py"
    nothing.write_text("print([0, 0, 0, 0, 0, 0])")
    words = [sys.executable, str(nothing)]
    assert "rad from its goal" in verdict(words, "joints", "5.15")
    assert "mm and" in verdict(words, "line", "5.15")
    assert "turned by" in verdict(words, "speed", "5.15")
    assert "reads" in verdict(words, "read", "5.15")
    # The goal of `line`, but by way of the joints.
    assert "beside the line" in verdict([*SOCKET[:1], str(by_joints(tmp_path))], "line", "5.15")


def by_joints(folder):
    """Writes a script that moves the tool to the pose of `line` on a way of its own."""
    script = folder / "by_joints.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(WORKS_WITH / 'scripts')!r})\n"
        "from task import run\n"
        "from with_socket import send\n"
        "def line(task):\n"
        "    over = [p + d for p, d in zip(task.pose, [0, 0, 0.1, 0, 0, 0])]\n"
        "    send(task, f'def way():\\n movej(p{over}, a=2, v=1)\\n movej(p{task.pose}, a=2, v=1)\\nend')\n"
        "run(globals())\n"
    )
    return script
