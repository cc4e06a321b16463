"""Starts a simulated controller in the background and returns once clients can connect. `action.yml` calls it.

Its process outlives this one. The action `stop` ends it, or the runner at the end of the job.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

import report

# Inputs that are one argument each, and those with an argument a line.
SINGLE = {
    "SOFTWARE": "--polyscope",
    "MODEL": "--model",
    "PORT_BASE": "--port-base",
    "LISTEN": "--listen",
    "REMOTE": "--remote",
}
PORTS = {
    "dashboard-port": "29999",
    "primary-port": "30001",
    "secondary-port": "30002",
    "realtime-port": "30003",
    "rtde-port": "30004",
    "interpreter-port": "30020",
    "robot-api-port": "80",
}
# Where a client reaches a simulator that listens on every address.
THIS_MACHINE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
MOST_SECONDS = 600


def given(name):
    return os.environ.get(name, "").strip()


def lines(name):
    return [line.strip() for line in given(name).splitlines() if line.strip()]


def command(program):
    controller = given("CONTROLLER")
    if controller not in ("ur", "krc"):
        report.fail(f"input controller: found '{controller}', expected ur or krc")
    arguments = [str(program), "sim", controller, "--ready"]
    arguments += [f"{option}={given(name)}" for name, option in SINGLE.items() if given(name)]
    arguments += [f"--fault={fault}" for fault in lines("FAULTS")]
    return arguments + lines("ARGUMENTS")


def longest_wait():
    text = given("TIMEOUT")
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_SECONDS):
        report.fail(f"input timeout: found '{text}', expected whole seconds from 1 to {MOST_SECONDS}")
    return int(text)


def parsed(ready):
    """Returns the object in the first line of a file, or None if there is no such object."""
    line, newline, _ = ready.read_text(encoding="utf-8", errors="replace").partition("\n")
    try:
        value = json.loads(line) if newline else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def ready_line(process, ready, seconds):
    """Returns the simulator's line that clients can connect, or None if there was none in this time."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        simulator = parsed(ready)
        if simulator is not None:
            return simulator
        time.sleep(0.05)
    return None


def give_up(process, folder, ready, log, seconds):
    """Ends a simulator that is not ready, and this process with what went wrong."""
    ended = process.poll()
    process.kill()
    process.wait()
    (folder / report.PROCESS).unlink()
    report.show(log, ready)
    if ended is None:
        report.fail(f"the simulator was not ready within {seconds} s; its output is above")
    report.fail(f"the simulator did not start, exit code {ended}: {report.first_paragraph(log, ready)}")


def outputs(simulator, program, log):
    values = {"program": program, "log": log}
    if "robot" in simulator:
        host = THIS_MACHINE.get(simulator["address"], simulator["address"])
        values.update({"robot": simulator["robot"], "host": host, "port-base": simulator["port_base"]})
        values.update({name: simulator["ports"][port] for name, port in PORTS.items() if port in simulator["ports"]})
    return values


def main():
    temporary = pathlib.Path(os.environ["RUNNER_TEMP"])
    program = temporary / report.PROGRAM
    arguments = command(program)
    seconds = longest_wait()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=report.FOLDER, dir=temporary))
    ready, log = folder / report.READY, folder / "simulator.log"
    with ready.open("wb") as stdout, log.open("wb") as stderr:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
    # Before the wait, so that the action `stop` knows of it even if this step is cancelled.
    (folder / report.PROCESS).write_text(str(process.pid), encoding="utf-8")
    simulator = ready_line(process, ready, seconds)
    if simulator is None:
        give_up(process, folder, ready, log, seconds)
    report.show(log)
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        for name, value in outputs(simulator, program, log).items():
            file.write(f"{name}={value}\n")
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
