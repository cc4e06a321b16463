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


def ready_line(process, ready, log, seconds):
    """Returns the simulator's line that clients can connect, or ends this process with what went wrong."""
    until = time.monotonic() + seconds
    while True:
        ended = process.poll()
        line, newline, _ = ready.read_text(encoding="utf-8").partition("\n")
        if newline and ended is None:
            return json.loads(line)
        if ended is not None or time.monotonic() > until:
            process.kill()
            process.wait()
            report.show(log)
            if ended is None:
                report.fail(f"the simulator was not ready within {seconds} s; its output is above")
            report.fail(f"the simulator did not start, exit code {ended}: {report.first_paragraph(log)}")
        time.sleep(0.05)


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
    simulator = ready_line(process, ready, log, seconds)
    (folder / report.PROCESS).write_text(str(process.pid), encoding="utf-8")
    report.show(log)
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        for name, value in outputs(simulator, program, log).items():
            file.write(f"{name}={value}\n")
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
