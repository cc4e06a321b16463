import json
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import textwrap
import zipfile

import pytest
import runner
import yaml
from conftest import STOP, listens

FOLDER = runner.ROOT / "port-linux/package/action"
GOAL = [1.0, -1.2, -1.8, -1.57, 1.57, 0.0]
# A look at the arm by another client than the one that moved it.
LOOK = {
    "id": "look",
    "run": '"$PROGRAM" monitor "$ROBOT" --json --duration 3',
    "env": {"PROGRAM": "${{ steps.simulator.outputs.program }}", "ROBOT": "${{ steps.simulator.outputs.robot }}"},
}


def joints(printed):
    """Returns the joint angles of the last state that `outrigger monitor --json` printed."""
    found = re.findall(r'"q_actual":\[([^\]]+)\]', printed)
    assert found, printed[-2000:]
    return [float(angle) for angle in found[-1].split(",")]


def simulators(job):
    processes = subprocess.run(["ps", "-eww", "-o", "args"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in processes.splitlines() if f"{job.temporary}/outrigger/bin/outrigger sim" in line]


def test_the_workflow_of_the_page_moves_the_arm(apart, page, wheel):
    (apart.workspace / "tests").mkdir()
    (apart.workspace / "tests/move.py").write_text(page.python[0], encoding="utf-8")
    (definition,) = page.yaml[0]["jobs"].values()
    *steps, last = definition["steps"]
    wanted = next(step["with"]["wheel"] for step in steps if step.get("id") == "simulator")
    assert wanted == f"ci/{wheel.name}", "the page names another wheel than the one that is built"
    outputs = apart.run([*steps, LOOK])
    assert not apart.failed, apart.output
    assert max(abs(q - goal) for q, goal in zip(joints(apart.output), GOAL)) < 0.001
    simulator = outputs["simulator"]
    assert {name: simulator[name] for name in ("robot", "host", "rtde-port", "robot-api-port")} == {
        "robot": "127.0.0.1",
        "host": "127.0.0.1",
        "rtde-port": "30004",
        "robot-api-port": "",
    }
    before = len(apart.output)
    apart.run([last, {"run": "if : </dev/tcp/127.0.0.1/30004; then exit 1; fi"}])
    assert not apart.failed and not apart.warnings and not apart.errors, apart.output
    assert "simulated ur5e with software 5.15" in apart.output[before:], "the log is not printed"
    assert not simulators(apart)


def test_the_workflow_of_the_page_is_one_that_github_accepts(page, tmp_path):
    workflow = tmp_path / "robot.yml"
    workflow.write_text(page.workflow, encoding="utf-8")
    check = pathlib.Path(sys.executable).parent / "check-jsonschema"
    subprocess.run([check, "--builtin-schema", "vendor.github-workflows", workflow], check=True)


def test_the_krc_of_the_page_sends_measurements(job, page, wheel):
    (step,) = page.yaml[1]
    step["with"]["wheel"] = f"ci/{wheel.name}"
    host, port = step["with"]["remote"].split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as remote:
        remote.bind((host, int(port)))
        remote.settimeout(10)
        job.run([step])
        assert not job.failed, job.output
        measurement = remote.recv(2000)
        # The header of FRI 1.0: a counter, the length, and what it is.
        assert struct.unpack_from("<HH", measurement, 4) == (len(measurement), 0x2006)
        job.run([STOP])
    assert not simulators(job)


def test_two_simulators_have_their_own_ports_and_one_stop_ends_both(job, start):
    outputs = job.run([start("one", model="ur10e"), start("two", software="10.12", faults="stall@50m:200ms\ndrop@60m\n")])
    assert not job.failed, job.output
    one, two = outputs["one"], outputs["two"]
    assert one["port-base"] != two["port-base"] and int(one["secondary-port"]) == int(one["port-base"]) + 3
    assert "simulated ur10e" in job.output and "2 fault(s) scheduled" in job.output
    assert two["dashboard-port"] == "" and listens(two["host"], two["robot-api-port"])
    assert listens(one["host"], one["dashboard-port"])
    job.run([STOP])
    assert not job.failed and not job.warnings and not simulators(job), job.output
    assert not listens(one["host"], one["dashboard-port"]) and not listens(two["host"], two["robot-api-port"])


@pytest.mark.parametrize("listen, expected", [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("127.0.0.7", "127.0.0.7")])
def test_the_output_host_is_an_address_for_this_machine(apart, start, listen, expected):
    look = {
        "run": 'exec 3<>"/dev/tcp/$HOST/$PORT"; echo robotmode >&3; timeout 5 head -n 2 <&3',
        "env": {"HOST": "${{ steps.simulator.outputs.host }}", "PORT": "${{ steps.simulator.outputs.dashboard-port }}"},
    }
    outputs = apart.run([start(listen=listen, arguments="--state=power-off"), look])
    assert not apart.failed and outputs["simulator"]["host"] == expected, apart.output
    assert re.search("^Connected.*\nRobotmode: POWER_OFF\n", apart.output, re.MULTILINE), apart.output


def test_a_port_in_use_fails_with_its_number(job, start):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        job.run([start(port_base=port)])
    (error,) = job.errors
    assert job.failed and f"cannot listen on 127.0.0.1:{port}: Address already in use" in error, job.output
    assert not simulators(job)


@pytest.mark.parametrize(
    "inputs, expected",
    [
        ({"software": "5.99"}, "ur5e has no software 5.99: simulated are 5.0 to 5.25"),
        ({"model": "ur99"}, "invalid value 'ur99' for '--model <MODEL>': expected one of ur3, "),
        ({"faults": "stal@1s"}, "fault `stal@1s`: no kind `stal`; did you mean `stall`?"),
        ({"port-base": "70000"}, "invalid value '70000' for '--port-base <B>': found 70000, expected at most"),
        ({"listen": "localhost"}, "invalid value 'localhost' for '--listen <ADDR>'"),
        ({"arguments": "--no-such"}, "unexpected argument '--no-such' found"),
        ({"arguments": "--help"}, "the simulator did not start, exit code 0: A Universal Robots controller: "),
        ({"controller": "kuka"}, "input controller: found 'kuka', expected ur or krc"),
        ({"controller": "krc", "port-base": None}, "--remote"),
        ({"controller": "krc", "remote": "127.0.0.1:49938"}, "unexpected argument '--port-base' found"),
        ({"timeout": "soon"}, "input timeout: found 'soon', expected whole seconds from 1 to 600"),
        ({"timeout": "0"}, "input timeout: found '0', expected whole seconds from 1 to 600"),
        ({"wheel": "ci/none.whl"}, "input wheel: found no file 'ci/none.whl' in "),
        # Text of a shell is the value of an input, and nothing else.
        ({"software": "5.15$(touch shell)"}, "invalid value '5.15$(touch shell)' for '--polyscope <VERSION>'"),
        ({"wheel": '"; touch shell; "'}, "input wheel: found no file '\"; touch shell; \"' in "),
        # And no command of the runner.
        ({"wheel": "a%\n::warning::b"}, "input wheel: found a control character in 'a%25%0A::warning::b', expected the path of a wheel"),
    ],
)
def test_a_wrong_input_fails_with_what_was_found(job, start, inputs, expected):
    job.run([start(**inputs)])
    assert job.failed and len(job.errors) == 1 and expected in job.errors[0] and not job.warnings, job.output
    assert not simulators(job) and not (job.workspace / "shell").exists()


def test_a_package_that_pip_cannot_install_is_named(job, start, temporary):
    # As long as PyPI has none: an index with nothing stands in for it.
    job.environment["PIP_NO_INDEX"] = "1"
    job.temporary = temporary / "empty"
    job.temporary.mkdir()
    job.environment["RUNNER_TEMP"] = str(job.temporary)
    job.run([start(wheel=None)])
    assert job.failed and "pip cannot install outrigger-robot==0.1.0, see above" in job.errors[0], job.output
    damaged = job.workspace / "ci/outrigger_robot-0.1.0-py3-none-any.whl"
    damaged.write_bytes(b"half a wheel")
    job.failed, job.errors = False, []
    job.run([start(wheel=f"ci/{damaged.name}")])
    assert job.failed and f"pip cannot install ci/{damaged.name}, see above" in job.errors[0], job.output


@pytest.fixture
def stand_in(job, tmp_path):
    """Returns what makes a package whose command `outrigger` is this Python, and gives the job a temporary folder of its own."""

    def make(code):
        package = "outrigger_robot-0.1.0-py3-none-any.whl"
        with zipfile.ZipFile(job.workspace / "ci" / package, "w") as file:
            info = "outrigger_robot-0.1.0.dist-info"
            file.writestr("stand_in.py", "import sys, time\ndef main():\n" + textwrap.indent(code, " "))
            file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: outrigger-robot\nVersion: 0.1.0\n")
            file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr(f"{info}/entry_points.txt", "[console_scripts]\noutrigger = stand_in:main\n")
            file.writestr(f"{info}/RECORD", "")
        return f"ci/{package}"

    job.temporary = tmp_path / "temporary"
    job.temporary.mkdir()
    job.environment["RUNNER_TEMP"] = str(job.temporary)
    yield make
    job.run([STOP])
    shutil.rmtree(job.temporary / "outrigger")


@pytest.mark.parametrize("printed", ["", "not JSON", "5"])
def test_a_simulator_that_is_never_ready_is_ended_after_the_timeout(job, start, stand_in, printed):
    # It prints what a runner would take for a command.
    code = f"print('::error::not mine', file=sys.stderr, flush=True)\nprint('{printed}', flush=True)\ntime.sleep(600)\n"
    job.run([start(wheel=stand_in(code), timeout="2"), STOP])
    assert job.failed and job.errors == ["the simulator was not ready within 2 s; its output is above"], job.output
    assert f"::error::not mine\n{printed}\n" in job.output and not simulators(job)
    assert not job.warnings and "no simulator is running" in job.output, job.output


def test_a_step_that_is_cancelled_leaves_a_simulator_that_stop_ends(job, start, stand_in):
    code = "import os\nos.kill(os.getppid(), 9)\ntime.sleep(600)\n"
    job.run([start(wheel=stand_in(code))])
    assert job.failed and len(simulators(job)) == 1, job.output
    job.run([STOP])
    assert not job.warnings and not simulators(job), job.output


def test_a_process_that_ends_before_the_signal_is_no_error(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import stop

    ended = subprocess.Popen(["true"])
    ended.wait()
    found = iter([True, False])
    monkeypatch.setattr(stop, "runs", lambda pid, program: next(found))
    assert stop.end(str(ended.pid), "outrigger") is None


def test_the_end_of_a_failed_job_stops_the_simulator(job, start):
    outputs = job.run([start(), {"run": "false"}, {"run": "touch not-skipped"}, STOP])
    assert job.failed and not (job.workspace / "not-skipped").exists() and not simulators(job)
    with open(outputs["simulator"]["log"], encoding="utf-8") as log:
        assert log.readline().startswith("outrigger: simulated ur5e with software 5.15")


def test_a_simulator_that_ended_before_is_a_warning(job, start):
    job.run([start(arguments="--duration=1"), {"run": "sleep 4"}, STOP])
    assert job.warnings == ["the simulator had ended before it was stopped; its output is above"], job.output
    assert not job.failed, job.output


def test_without_a_simulator_stop_says_so(job):
    job.run([STOP])
    assert not job.failed and "no simulator is running" in job.output, job.output


def test_versions_inputs_and_outputs_are_those_of_the_page(page):
    workspace = (runner.ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"', workspace, re.MULTILINE)[1]
    definition = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
    assert definition["runs"]["steps"][0]["env"]["VERSION"] == version
    assert {found[1] for found in runner.OURS.findall(page.text)} == {version}
    # Names at the start of a row of a table.
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", page.text, re.MULTILINE))
    assert set(re.findall(r"`([^`]+)`", rows)) == {*definition["inputs"], *definition["outputs"]}
    assert json.dumps(definition).count("${{ inputs.") == len(definition["inputs"]), "an input is not used"
