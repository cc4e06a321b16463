"""Runs each line of `lines.py` with both packages on a simulated controller, and writes the table of them.

python tests/migration/compare.py            runs all lines; ends with 1 if one differs
python tests/migration/compare.py moveJ      runs the lines of this method
python tests/migration/compare.py --write    runs all lines, and writes migration.md
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lines import CLASSES, Kind, Line  # noqa: E402
from sides import SCENES, Ours, Scene, Side, Theirs, ask, repeat, simulator  # noqa: E402

PAGE = pathlib.Path(__file__).parents[2] / "migration.md"
ATTEMPTS = 5


@dataclass(frozen=True)
class Effect:
    """A quantity that is read after a call, and has to differ from its value before; or what the call returns."""

    title: str
    tolerance: float = 1e-6
    measure: Callable[[Side], Any] | None = None
    #: The arm has to be at rest first.
    at_rest: bool = False
    #: The time from the call to the measurement [s].
    after: float = 0.0
    #: The quantity is what the call returns; without it and without `measure` the call has to raise no error.
    returned: bool = False


def payload(side: Side) -> list[float]:
    return [side["observer"].getPayload(), *side["observer"].getPayloadCog()]


def tool_speed(side: Side) -> float:
    """Returns the vertical speed of the tool within half a second [m/s]."""
    height, begun = side.simulator.pose[2], time.monotonic()
    time.sleep(0.5)
    return float((side.simulator.pose[2] - height) / (time.monotonic() - begun))


def answers(side: Side) -> bool:
    try:
        return bool(ask("robotmode"))
    except OSError:
        return False


EFFECTS = {
    "joints": Effect("true joint angles at rest", 3e-3, lambda side: side.simulator.q, at_rest=True),
    "speeds": Effect("true joint speeds", 5e-3, lambda side: side.simulator.qd),
    "rest": Effect(
        "the arm is at rest, before its goal",
        0.0,
        lambda side: [side.simulator.at_rest, side.simulator.q[0] > 2.0],
        at_rest=True,
    ),
    "tool": Effect("true pose of the tool", 1e-6, lambda side: side.simulator.pose),
    "payload": Effect("payload that the controller publishes", 1e-6, payload),
    "inertia": Effect(
        "payload and inertia that the controller publishes",
        1e-6,
        lambda side: payload(side) + side["observer"].getPayloadInertia(),
    ),
    "measured force": Effect(
        "force that the controller publishes", 0.5, lambda side: side["observer"].getActualTCPForce()
    ),
    "outputs": Effect(
        "outputs that the controller publishes",
        0.0,
        lambda side: side["observer"].getActualDigitalOutputBits() & 0x3FFFF,
    ),
    "analog output": Effect(
        "output that the controller publishes", 1e-6, lambda side: side["observer"].getStandardAnalogOutput0()
    ),
    "slider": Effect(
        "speed slider that the controller publishes", 1e-6, lambda side: side["observer"].getTargetSpeedFraction()
    ),
    "connection": Effect("the connection is closed", 0.0, lambda side: side.connected()),
    "accepted": Effect("no error"),
    "pressing": Effect("true force on the surface", 0.2, lambda side: side.simulator.force[2], after=4.0),
    "tool speed": Effect("true speed of the tool", 1.5e-3, tool_speed, after=1.5),
    "stopped": Effect("the arm is at rest, before a limit", 0.0, lambda side: side.simulator.at_rest, after=1.0),
    "yields": Effect("the arm yields to a hand", 0.0, lambda side: bool(abs(side.simulator.qd).max() > 0.02)),
    "recorded": Effect("last joint angles of the file", 1e-3, Side.recorded),
    "file grows": Effect("whether the file grows", 0.0, Side.file_grows),
    "robot mode": Effect("robot mode of the dashboard server", 0.0, lambda side: ask("robotmode"), after=1.5),
    "safety status": Effect("safety status of the dashboard server", 0.0, lambda side: ask("safetystatus")),
    "loaded program": Effect("loaded program of the dashboard server", 0.0, lambda side: ask("get loaded program")),
    "program state": Effect("program state of the dashboard server", 0.0, lambda side: ask("programState")),
    "dashboard server": Effect("whether the dashboard server answers", 0.0, answers),
    "answer": Effect("text of the answer, without its label", returned=True),
    "value": Effect("value", 2e-3, returned=True),
    "time": Effect("value", 0.02, returned=True),
    "period": Effect("mean duration of a call", 1.5e-3, returned=True),
}


def settle(side: Side, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not side.simulator.at_rest and time.monotonic() < until:
        time.sleep(0.01)


def numbers(value: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(value, dtype=float))


def near(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    a, b = numbers(a), numbers(b)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance))


def effect_of(side: Side, text: str, scene: Scene, effect: Effect) -> Any:
    """Makes a call, and returns its effect; raises ValueError if the quantity has not changed."""
    prepare = scene.theirs if isinstance(side, Theirs) else scene.ours
    prepare(side)
    before = effect.measure(side) if effect.measure else None
    result = repeat(side, text, scene) if scene.lasting else side.call(text)
    if effect.measure is None:
        return result if effect.returned else 0.0
    if effect.at_rest:
        settle(side, 4.0)
    time.sleep(effect.after)
    until = time.monotonic() + 1.5
    while near(before, effect.measure(side), effect.tolerance):
        if time.monotonic() > until:
            raise ValueError(f"{text}: {effect.title} is still {before}")
        time.sleep(0.02)
    return effect.measure(side)


@contextlib.contextmanager
def opened(kind: type[Side], scene: Scene) -> Iterator[Side]:
    with simulator(scene) as controller, contextlib.closing(kind(controller)) as side:
        yield side


def compared(line: Line) -> str:
    """Runs a line on a fresh controller for each package. Returns the difference, or nothing."""
    scene, effect = SCENES[line.scene], EFFECTS[line.effect]
    with opened(Theirs, scene) as side:
        theirs = effect_of(side, line.theirs, scene, effect)
    with opened(Ours, scene) as side:
        ours = effect_of(side, line.ours, scene, effect)
    return difference_of(theirs, ours, effect)


def difference_of(theirs: Any, ours: Any, effect: Effect) -> str:
    """Returns the difference of two values, or nothing. Zeros prove nothing where a call returns them."""
    if effect.returned and isinstance(theirs, str) and isinstance(ours, str):
        # ur_rtde returns some answers with their label, and of others a part.
        same = bool(theirs and ours) and (theirs in ours or ours in theirs)
        return "" if same else f"{effect.title}: {theirs!r} and {ours!r}"
    if effect.returned and not numbers(theirs).any():
        return f"{effect.title}: ur_rtde returns {theirs}"
    return "" if near(theirs, ours, effect.tolerance) else f"{effect.title}: {theirs} and {ours}"


def read_together(theirs: Side, ours: Side, line: Line) -> str:
    """Reads a value by both packages at the same moment; on a busy machine up to 50 times."""
    effect = EFFECTS[line.effect]
    for _ in range(50):
        difference = difference_of(theirs.call(line.theirs), ours.call(line.ours), effect)
        if not difference:
            break
        time.sleep(0.02)
    return difference


def attempted(line: Line, run: Callable[[], str]) -> str:
    """Runs a line, again if it differs, because a busy machine delays both clients. Prints each difference."""
    difference = ""
    for _ in range(ATTEMPTS):
        try:
            difference = run()
        except Exception as error:
            difference = f"{type(error).__name__}: {error}"
        if not difference:
            break
        print(f"{line.method}: {difference}", file=sys.stderr)
    return difference


def runs(line: Line) -> bool:
    return bool(line.effect)


def read_shared(scene: str, lines: list[Line]) -> Iterator[str]:
    """Runs the lines of a shared scene. Yields their differences in the same order."""
    with opened(Theirs, SCENES[scene]) as theirs, contextlib.closing(Ours(theirs.simulator)) as ours:
        SCENES[scene].theirs(theirs)
        for line in lines:
            yield attempted(line, functools.partial(read_together, theirs, ours, line))


def differences(only: str = "") -> dict[str, str]:
    """Runs the lines, of one method or all. Returns the difference of each that has one, by class and method."""
    found: dict[str, str] = {}
    for group in CLASSES:
        shared: dict[str, list[Line]] = {}
        for line in (line for line in group.lines if runs(line) and only in ("", line.method)):
            if SCENES[line.scene].shared:
                shared.setdefault(line.scene, []).append(line)
            else:
                found[f"{group.name}.{line.method}"] = attempted(line, functools.partial(compared, line))
        for scene, lines in shared.items():
            for line, difference in zip(lines, read_shared(scene, lines)):
                found[f"{group.name}.{line.method}"] = difference
    return {name: difference for name, difference in found.items() if difference}


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def row(line: Line) -> str:
    if line.kind is Kind.NONE:
        return f"| `{line.method}` | | none | {line.ours} |"
    ours = code(line.ours) + (f"; {line.note}" if line.note else "")
    return f"| {code(line.theirs)} | {ours} | {line.kind.value} | {EFFECTS[line.effect].title} |"


INTRODUCTION = """\
# From ur_rtde to outrigger-robot

Written by `tests/migration/compare.py`: every method of ur_rtde {version}. Both calls of a line that is *equivalent* or
*partly* ran on a simulated controller of 5.15 (`isProgramSaved`: 3.4), each on a fresh one, and the quantity in the last
column was the same after both, and another than before. Values of `RTDEReceiveInterface` were read by both from one controller, most while
its arm moved.

{equivalent} methods are *equivalent*, {partly} *partly*: something differs, or the call has other words. {none} have *none*.

`GOAL`, `MIDDLE` and `FAR` are joint angles, `SPEEDS` joint speeds, `POSE` a pose of the tool, `ramp()` joint angles
that change with time, `WRENCH` is `[None, None, -10, None, None, None]`, `SCRIPT` a program in URScript with the
statement `BODY`, and `FILE` its file; `robot` is `Robot.ur(address)`."""


def page(version: str) -> str:
    """Returns the table as Markdown."""
    count = collections.Counter(line.kind.value for group in CLASSES for line in group.lines)
    text = [INTRODUCTION.format(version=version, **count)]
    for group in CLASSES:
        text += [
            "",
            f"## {group.name}",
            "",
            "| ur_rtde | outrigger-robot | | compared; or what to use |",
            "|---|---|---|---|",
        ]
        text += [row(line) for line in group.lines]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", nargs="?", default="")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    differ = differences(given.method)
    for name, difference in differ.items():
        print(f"{name} differs: {difference}")
    if given.write and not differ:
        from importlib.metadata import version

        PAGE.write_text(page(version("ur_rtde")), encoding="utf-8")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
