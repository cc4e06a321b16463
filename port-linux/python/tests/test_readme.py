"""The programs of the page are run as they stand there."""

import pathlib
import re
import textwrap
import time

import pytest
from pcap_bytes import pcap, tcp

from outrigger_robot.outrigger_native import command

PAGE = pathlib.Path(__file__).parent.parent / "README.md"


def program(heading, number=0):
    """Returns a program of the section with this heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"# {heading}\n")[1].split("\n#")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)[number]


def run(heading, scope=None):
    scope = {} if scope is None else scope
    exec(compile(program(heading), str(PAGE), "exec"), scope)
    return scope


def test_the_first_program_moves_a_simulated_arm_and_says_why_it_stopped(capsys):
    run("outrigger-robot")
    said = capsys.readouterr().out
    assert "Released" in said, said


def test_the_example_with_a_sensor_follows_it_until_an_exception(ur):
    class Enough(Exception):
        pass

    until = time.monotonic() + 3.0
    before = ur.q[5]

    def read_distance():
        if time.monotonic() > until:
            raise Enough
        return 0.1

    scope = run("Follow a sensor")
    with pytest.raises(Enough):
        scope["follow"](ur.address, read_distance)
    assert ur.q[5] - before > 0.1 and ur.at_rest


def test_the_example_of_the_fixture_is_a_test(pytester):
    mine = """
        import socket
        import time

        def my_program(host, script_port):
            text = b"movej([0.5, -1.57, -1.57, -1.57, 1.57, 0.0], a=5, v=2)\\n"
            with socket.create_connection((host, script_port)) as connection:
                connection.sendall(text)
                time.sleep(4)
    """
    pytester.makepyfile(textwrap.dedent(mine) + program("Test a robot program"))
    pytester.runpytest().assert_outcomes(passed=1)


def test_the_example_of_several_versions_is_a_test(pytester):
    pytester.makepyfile(program("Test a robot program", 1))
    pytester.runpytest().assert_outcomes(passed=2)


def test_the_example_opens_a_recording(ur, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command(["outrigger", "record", ur.address, "--out", "weld.mcap", "--duration", "1", "-q"]) == 0
    scope = run("Open a recording")
    assert scope["joints"]["position"].shape[1] == 6
    assert "/joint_states" in capsys.readouterr().out


def test_the_example_decodes_a_capture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    state = (pathlib.Path(__file__).parents[3] / "core/wire/examples/realtime-5.15.bin").read_bytes()
    pathlib.Path("cell.pcap").write_bytes(pcap([tcp(state, 1), tcp(state, 5000)]))
    run("Decode bytes or a capture")
    said = capsys.readouterr().out
    assert "1000.5 [" in said and "bytes are missing" in said, said


def test_the_example_of_a_law_holds_a_distance(ur):
    surface = ur.pose[2] - 0.1

    def read_distance():
        time.sleep(0.01)
        return ur.pose[2] - surface

    run("Run a control law")["hold_distance"](ur.address, read_distance, 400)
    assert abs(read_distance() - 0.05) < 0.005


def test_the_example_moves_an_lwr(capsys):
    run("A KUKA LWR")
    said = capsys.readouterr().out
    assert re.match(r"\[ 0\.(20|19)", said), said


def test_the_example_for_asyncio_moves_an_arm(capsys):
    run("asyncio and notebooks")
    assert "-1.57" in capsys.readouterr().out


def test_the_example_in_virtual_time_runs_a_program(capsys):
    run("In virtual time")
    said = capsys.readouterr().out
    assert "0.5 " in said and " 1 False" in said
