"""Ends every simulator that the action started in this job, and prints what each printed. `stop/action.yml` calls it."""

import contextlib
import os
import pathlib
import signal
import time

import report

SECONDS = 10


def runs(pid, program):
    """Tells whether `pid` is a simulator of this job, and not a later process with the same number."""
    try:
        return str(program).encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def send(pid, number):
    """Sends a signal to a process, which may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(pid), number)


def end(pid, program):
    """Returns what was unusual about the end, if anything."""
    if not runs(pid, program):
        return "the simulator had ended before it was stopped; its output is above"
    send(pid, signal.SIGTERM)
    until = time.monotonic() + SECONDS
    while runs(pid, program):
        if time.monotonic() > until:
            send(pid, signal.SIGKILL)
            return f"the simulator did not end within {SECONDS} s and was killed"
        time.sleep(0.05)
    return None


def main():
    temporary = pathlib.Path(os.environ["RUNNER_TEMP"])
    started = sorted(temporary.glob(f"{report.FOLDER}*/{report.PROCESS}"))
    for process in started:
        unusual = end(process.read_text(encoding="utf-8"), temporary / report.PROGRAM)
        process.unlink()
        report.show(process.parent / "simulator.log")
        if unusual:
            print(f"::warning::{report.one_line(unusual)}")
    if not started:
        print("no simulator is running")


if __name__ == "__main__":
    main()
