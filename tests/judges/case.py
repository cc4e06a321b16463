"""Cases of a judge, and the processes that run them."""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# Failed beside what else the machine did, passed on its own right after.
PASSED_AGAIN = "passed when repeated"


@dataclasses.dataclass(frozen=True)
class Case:
    """A program of a judge that is started beside a controller of its own."""

    name: str
    command: list
    folder: pathlib.Path
    # Most time it may take [s]; after that it is killed and has failed.
    limit: float = 120
    environment: dict = dataclasses.field(default_factory=dict)
    # Time after which an endless program is interrupted as by Ctrl-C [s]; it fails if it ends earlier.
    interrupt_after: float | None = None
    # Exit codes of a success.
    exit_codes: tuple = (0,)
    # Pattern and least number of its matches in the output.
    prints: tuple | None = None
    # A reason not to start it at all.
    skip: str | None = None
    # Options of the simulator beside those of the judge.
    options: tuple = ()
    # The controller is this host, for programs that ask for localhost.
    localhost: bool = False
    # Program that somebody at the pendant loads, and plays whenever none runs.
    operator: str | None = None


@dataclasses.dataclass(frozen=True)
class Result:
    """The outcome of a case."""

    case: str
    outcome: str
    # One line: what failed, or the reason of a skip in the suite's own words.
    note: str
    seconds: float


def last_complaint(text):
    """The line of an output that says most about a failure."""
    marks = r"Failure$|error: |ERROR|Error:|Exception|FATAL|terminate called|what\(\)|Timeout|[Tt]imed out"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if re.search(marks, line)]
    return (found or lines or ["no output"])[-1][:160]


def run(case, log):
    """Runs a case once, with its output in `log`, and returns its [`Result`]."""
    began = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(word) for word in case.command],
            cwd=case.folder,
            env={**os.environ, **case.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        problem = None
        try:
            if case.interrupt_after is None:
                process.wait(case.limit)
            else:
                try:
                    process.wait(case.interrupt_after)
                    problem = f"ended by itself, with exit code {process.returncode}"
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGINT)
                    process.wait(case.limit - case.interrupt_after)
        except subprocess.TimeoutExpired:
            problem = f"killed after {case.limit:.0f} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            code = process.wait()
    seconds = time.monotonic() - began
    text = log.read_bytes().decode(errors="replace")
    if problem is None and code not in case.exit_codes:
        problem = f"exit code {code}: {last_complaint(text)}"
    if problem is None and case.prints is not None:
        pattern, least = case.prints
        found = len(re.findall(pattern, text))
        if found < least:
            problem = f"printed {pattern!r} {found} times of at least {least}"
    if problem is not None:
        return Result(case.name, FAILED, problem, seconds)
    # GoogleTest's own word for a case that does not apply.
    skipped = re.search(r"^\S+: Skipped\n(.*)$", text, re.MULTILINE)
    if skipped or "[  SKIPPED ]" in text:
        return Result(case.name, SKIPPED, skipped.group(1).strip() if skipped else "", seconds)
    return Result(case.name, PASSED, "", seconds)
