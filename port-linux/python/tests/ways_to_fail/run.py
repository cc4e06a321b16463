"""Runs `program.py` for each way to fail on each path of motion, and measures when the simulated arm is at rest.

python tests/ways_to_fail/run.py                    all rows; ends with 1 if one exceeds its bound
python tests/ways_to_fail/run.py --only 5.15 speeds SIGKILL    one row
python tests/ways_to_fail/run.py --write            all rows, and writes results.tsv and ways-to-fail.md
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from program import LEAD, MAX_AGE, RENEW_WITHIN, SPEED, TIMEOUT, WAYS

from outrigger_robot import sim

PROGRAM = pathlib.Path(__file__).parent / "program.py"
RESULTS = pathlib.Path(__file__).parent / "results.tsv"
PAGE = pathlib.Path(__file__).parents[2] / "ways-to-fail.md"
HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])
ATTEMPTS = 5
#: A joint is at rest below this speed [rad/s], as in `core/docs/mode-machine.md`.
REST = 0.02
#: The program on the controller stops the arm after this time without a message [s] (README).
PROGRAM_TIMEOUT = 0.2
#: `limits.expert.braking` [rad/s²]: the deceleration that a configuration has by default.
BRAKING = 2.0
#: `expert.correction_deceleration` [rad/s²] and `proportional` [1/s] of the law that follows positions, by default.
CORRECTION, PROPORTIONAL = 1.0, 20.0
#: The time for which the arm is looked at after the failure [s].
LOOKED = 2.0
PATHS = {
    "move_to": "`move_to`, in a thread",
    "speeds": "`stream_speeds`",
    "positions": "`stream_positions`",
    "standoff": "`run` with a law",
    "force": "`force`",
}
KINDS = {"5.15": list(PATHS), "3.15": list(PATHS), "krc": ["move_to", "speeds", "positions"]}
CYCLES = {"5.15": 0.002, "3.15": 0.008, "krc": 0.005}
#: Python goes on, but not its loop.
SLOW = ("sleep", "lock", "collection", "never")
WHAT = {
    "sleep": "`time.sleep(1)` in the loop",
    "lock": "C holds the interpreter's lock for a second",
    "collection": "garbage collection of five million lists",
    "never": "a call that never returns",
    "exception": "an exception leaves the block",
    "SIGINT": "Ctrl-C",
    "SIGTERM": "SIGTERM",
    "SIGKILL": "SIGKILL",
    "SIGSTOP": "SIGSTOP",
    "exit": "`os._exit`",
    "fork": "`os.fork`, both go on",
    "fork and SIGKILL": "`os.fork`, then SIGKILL; the child goes on",
    "deleted": "`del robot`, and of what it returned",
}


@dataclass(frozen=True)
class Row:
    kind: str
    path: str
    way: str


@dataclass(frozen=True)
class Seen:
    """What the simulator saw. Times in s, angles in rad; `rest` is None for an arm that goes on."""

    rest: float | None
    speed: float
    turned: float
    mode: str


def goes_on(row: Row) -> bool:
    """Returns whether the arm is expected to go on: nothing that commands it has failed."""
    return row.way == "fork" or (row.path == "move_to" and row.way in (*SLOW, "deleted"))


def reaction(row: Row) -> float:
    """Returns the longest time until the arm brakes [s]."""
    if row.way in SLOW:
        cycle = CYCLES[row.kind]
        return {"speeds": TIMEOUT, "standoff": MAX_AGE + 2 * cycle, "force": RENEW_WITHIN}[row.path]
    return PROGRAM_TIMEOUT


def bound(row: Row, seen: Seen) -> float:
    """Returns the longest time to rest [s], as `core/docs/mode-machine.md 10` has it."""
    cycle = CYCLES[row.kind]
    if row.path == "positions" and row.way in SLOW:
        # Until the arm has to brake for the last position, with this deceleration, and then in proportion to the error.
        until_braking = max(LEAD / seen.speed - seen.speed / CORRECTION / 2, 0.0)
        last = math.log(CORRECTION / PROPORTIONAL / REST) / PROPORTIONAL
        return until_braking + seen.speed / CORRECTION + last + 2 * cycle
    return reaction(row) + seen.speed / BRAKING + 2 * cycle


class Watch(threading.Thread):
    """Writes down the true joints of an arm, some hundred times a second."""

    def __init__(self, simulator: Any) -> None:
        super().__init__(daemon=True)
        self.simulator = simulator
        self.ended = threading.Event()
        self.seen: list[tuple[float, float, np.ndarray]] = []

    def run(self) -> None:
        while not self.ended.wait(0.002):
            speed = float(abs(self.simulator.qd).max())
            self.seen.append((time.monotonic(), speed, self.simulator.q))

    def judged(self, failed: float, mode: str) -> Seen:
        after = [entry for entry in self.seen if entry[0] >= failed - 0.02]
        moving = [entry for entry in after if entry[1] > REST]
        speed = max(entry[1] for entry in after if entry[0] < failed + 0.1)
        last = moving[-1] if moving else after[0]
        rest = max(last[0] - failed, 0.0)
        turned = float(abs(last[2] - after[0][2]).max())
        return Seen(None if rest > LOOKED - 0.2 else rest, speed, turned, mode)


def started(row: Row) -> Any:
    if row.kind == "krc":
        return sim.krc(q=[0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0])
    return sim.ur(row.kind, q=HOME)


def run(row: Row) -> Seen:
    """Runs one row on a simulator of its own."""
    with started(row) as simulator:
        watch = Watch(simulator)
        watch.start()
        where = [simulator.host, simulator.remote] if row.kind == "krc" else [simulator.address, "-"]
        command = [sys.executable, str(PROGRAM), row.kind, *where, row.path, row.way]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        try:
            assert program.stdout and program.stderr
            begun = program.stdout.readline().split()
            if not begun:
                program.wait(10.0)
                raise RuntimeError(program.stderr.read().strip().splitlines()[-1])
            failed = float(begun[1])
            time.sleep(max(failed + LOOKED - time.monotonic(), 0.0))
            mode = ""
            if row.way in (*SLOW, "fork") and program.poll() is None and row.way != "never":
                mode = program.stdout.readline().removeprefix("mode").strip()
        finally:
            # A child of the program, too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.communicate(timeout=10.0)
            watch.ended.set()
            watch.join(5.0)
        return watch.judged(failed, mode)


def wrong(row: Row, seen: Seen) -> str:
    """Returns what is not as expected, or nothing."""
    if goes_on(row):
        return "" if seen.rest is None else f"the arm rests after {seen.rest:.3f} s, expected: it goes on {seen.mode}"
    if seen.rest is None:
        return "the arm goes on"
    if seen.rest < 0.002:
        return "the arm was at rest before the failure"
    if row.way in SLOW and row.path in ("speeds", "positions") and seen.mode not in ("", "Command"):
        return f"the session is in {seen.mode}, expected: Command"
    longest = bound(row, seen)
    return "" if seen.rest <= longest else f"at rest after {seen.rest:.3f} s, bound {longest:.3f} s"


def attempted(row: Row) -> tuple[Seen | None, str]:
    """Runs a row, again if a busy machine delayed it. Prints each attempt that failed."""
    seen, problem = None, ""
    for _ in range(ATTEMPTS):
        try:
            seen = run(row)
            problem = wrong(row, seen)
        except (RuntimeError, ValueError) as error:
            problem = str(error)
        if not problem:
            break
        print(f"{row.kind} {row.path} {row.way}: {problem}", file=sys.stderr, flush=True)
    return seen, problem


def rows() -> list[Row]:
    return [Row(kind, path, way) for kind, paths in KINDS.items() for path in paths for way in [*WAYS, "deleted"]]


def cell(row: Row, seen: Seen) -> str:
    if seen.rest is None:
        return "goes on"
    after = f", then {seen.mode}" if seen.mode else ""
    return f"{seen.rest * 1e3:.0f} / {bound(row, seen) * 1e3:.0f}, {seen.turned:.3f} rad{after}"


def read() -> dict[Row, Seen]:
    """Returns the newest result of each row of results.tsv."""
    found = {}
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        kind, path, way, rest, speed, turned, mode = line.split("\t")
        found[Row(kind, path, way)] = Seen(float(rest) if rest else None, float(speed), float(turned), mode)
    return found


def write(row: Row, seen: Seen) -> None:
    rest = "" if seen.rest is None else f"{seen.rest:.4f}"
    fields = (row.kind, row.path, row.way, rest, f"{seen.speed:.4f}", f"{seen.turned:.4f}", seen.mode)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\t".join(fields) + "\n")


INTRODUCTION = f"""\
# What the arm does when Python fails

Written by `tests/ways_to_fail/run.py`: a program moves a simulated arm, and fails. In each cell is the time from the
failure until no joint is faster than {REST} rad/s for good, its bound \\[ms\\], and the longest way of a joint. *Goes on*:
the motion continues, because nothing that commands it has failed. The last word is the mode of the session afterwards.

A bound is the time until the arm brakes, the speed at the failure divided by {BRAKING:.0f} rad/s² (`limits.expert.braking`),
and two cycles. The time until it brakes is

* for a stream of speeds whose loop is late its `timeout`, here {TIMEOUT} s;
* for a law whose sensor is silent `max_age`, here {MAX_AGE} s, and two cycles;
* for force mode that is not renewed `renew_within`, here {RENEW_WITHIN} s;
* for everything else the {PROGRAM_TIMEOUT} s after which the program on the controller stops the arm.

The last position of a stream, here {LEAD} rad ahead, is still approached. The arm brakes for it with
{CORRECTION:.0f} rad/s² (`law.expert.correction_deceleration`), and at the end in proportion to the error ({PROPORTIONAL:.0f} 1/s).

Joints move at {SPEED} rad/s, the law approaches a surface, and force mode pushes in free air. `move_to` is in a thread,
and the program fails beside it. The figures are from one run; on another machine they differ, the bounds do not. A
KUKA LWR has no program on its controller, and is judged by the same bounds. `os.fork`, then SIGKILL:
the child has the sockets and the lock of the robot, which nobody else commands until the child ends."""


def page(found: dict[Row, Seen]) -> str:
    """Returns the table as Markdown."""
    text = [INTRODUCTION]
    for kind, paths in KINDS.items():
        title = "KUKA LWR" if kind == "krc" else f"Universal Robots, software {kind}"
        text += ["", f"## {title}", "", "| | " + " | ".join(PATHS[path] for path in paths) + " |"]
        text.append("|---" * (len(paths) + 1) + "|")
        for way in [*WAYS, "deleted"]:
            measured = [(row, found.get(row)) for row in (Row(kind, path, way) for path in paths)]
            cells = [cell(row, seen) if seen else "not measured" for row, seen in measured]
            text.append(f"| {WHAT[way]} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="rows with these kinds, paths and ways")
    parser.add_argument("--write", action="store_true", help="add to results.tsv, and write the page")
    parser.add_argument("--missing", action="store_true", help="only rows that are not in results.tsv")
    given = parser.parse_args()
    exceeded = 0
    known = read() if given.missing else {}
    for row in rows():
        if not set(given.only) <= {row.kind, row.path, row.way} or row in known:
            continue
        seen, problem = attempted(row)
        exceeded += bool(problem)
        if seen is not None:
            print(f"{row.kind} {row.path} {row.way}: {cell(row, seen)}{'  WRONG' if problem else ''}", flush=True)
        if seen is not None and not problem and given.write:
            write(row, seen)
    if given.write:
        PAGE.write_text(page(read()), encoding="utf-8")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
