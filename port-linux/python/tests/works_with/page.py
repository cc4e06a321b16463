"""The outcomes as they are committed, and the page made of them."""

from __future__ import annotations

import pathlib

from clients import CLIENTS, SCRIPTS, SOFTWARE, reason

RESULTS = pathlib.Path(__file__).parent / "results.tsv"
PAGE = pathlib.Path(__file__).parents[2] / "works-with.md"
#: Client, script and software, and "passed", "failed", or why it failed.
Outcomes = dict[tuple[str, str, str], str]

INTRODUCTION = """\
# Works with

Written by `tests/works_with/run.py`: scripts with clients of other people, unmodified from PyPI and crates.io, on a
simulated controller of each software. A script passes if the true joints, or the tool, of the simulated arm are where it was to
go; *read* passes if the client's joint angles are the true ones. Each ran in a process of its own, beside a controller
of its own. `cyclonedds` and `ros2-client` speak with the ROS 2 node of `outrigger ros2` beside the controller.

No client of RTDE was found on crates.io. The crate `ur-script` 0.2.0 only has poses, and sends nothing.

The clients' own test suites and examples, and those of UR's client library and UR's RTDE client, which PyPI does not
have, are another table: [what the judges say](../../tests/judges/results.md).
"""


def read_results() -> Outcomes:
    """Returns the committed outcomes, of clients that are still listed."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    names = {client.name for client in CLIENTS}
    return {(name, script, software): outcome for name, script, software, outcome in rows if name in names}


def write_results(outcomes: Outcomes) -> None:
    lines = ["# Written by run.py: client, script, software, outcome."]
    # Messages of failures have paths and times in them; the run prints them.
    lines += ["\t".join([*key, "passed" if it == "passed" else "failed"]) for key, it in sorted(outcomes.items())]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def cell(outcomes: Outcomes, notes: list[str], name: str, script: str, software: str) -> str:
    """Returns a cell of the table; a failure is numbered, and its reason appended to `notes`."""
    outcome = outcomes.get((name, script, software))
    if outcome is None:
        return "not run"
    if outcome == "passed":
        return "passed"
    note = reason(name, script, software) or f"not explained yet: {outcome}"
    if note not in notes:
        notes.append(note)
    return f"no ({notes.index(note) + 1})"


def page(outcomes: Outcomes) -> str:
    """Returns the page of these outcomes as Markdown."""
    notes: list[str] = []
    text = [INTRODUCTION, "| client | script | " + " | ".join(SOFTWARE) + " |", "|---" * (len(SOFTWARE) + 2) + "|"]
    for client in CLIENTS:
        for script in client.does:
            cells = [cell(outcomes, notes, client.name, script, software) for software in SOFTWARE]
            text.append(f"| {client.version} | {script} | {' | '.join(cells)} |")
    text += ["", *(f"{number}. {note}" for number, note in enumerate(notes, 1))]
    text += ["", "| script | |", "|---|---|"]
    text += [f"| {script} | {does} |" for script, does in SCRIPTS.items()]
    return "\n".join(text) + "\n"
