"""Outcomes and reasons as they are committed, and the page made of both."""

import collections
import fcntl
import fnmatch
import pathlib

from case import FAILED, PASSED, PASSED_AGAIN, SKIPPED

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results.tsv"
REASONS = HERE / "reasons.tsv"
PAGE = HERE / "results.md"
# Who would have to change something for the case to pass.
BLAMED = {
    "simulator": "the simulated controller",
    "suite": "the judge itself",
    "generation": "what this generation of controllers does not have",
    "polyscope": "needs PolyScope",
    "device": "needs a device or a person",
    "machine": "not decided: the machine was too busy",
}


def rows(path, columns):
    """The lines of a table of tab-separated columns, without its comments."""
    found = []
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) != columns:
                raise SystemExit(f"{path.name}:{number}: {len(cells)} columns of {columns}")
            found.append(cells)
    return found


def version(text):
    return tuple(int(part) if part.isdigit() else -1 for part in text.split("."))


class Outcomes:
    """Every case of the newest run of each judge and software: `results.tsv`."""

    def __init__(self):
        self.by_run = collections.defaultdict(dict)
        for judge, software, case, outcome, note in rows(RESULTS, 5):
            self.by_run[judge, software][case] = (outcome, note)

    def sorted(self):
        for judge, software in sorted(self.by_run, key=lambda run: (run[0], version(run[1]))):
            yield judge, software, sorted(self.by_run[judge, software].items())

    def write(self):
        lines = ["# Written by `run`: judge, controller, case, outcome, note."]
        for judge, software, cases in self.sorted():
            for case, (outcome, note) in cases:
                lines.append("\t".join([judge, software, case, outcome, note]))
        RESULTS.write_text("\n".join(lines) + "\n")


def replace(judge, software, results, whole):
    """Puts a run of a judge, `whole` or some cases of it, into `results.tsv`, which another process may be writing, too."""
    with open(HERE / "run") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcomes = Outcomes()
        # Notes of failures have times and addresses in them; the log of the run keeps those.
        notes = {result.case: result.note if result.outcome == SKIPPED else "" for result in results}
        if whole:
            outcomes.by_run.pop((judge, software), None)
        outcomes.by_run[judge, software] |= {result.case: (result.outcome, notes[result.case]) for result in results}
        outcomes.write()


class Reasons:
    """The committed reason of each case that does not pass: `reasons.tsv`."""

    def __init__(self):
        self.rows = rows(REASONS, 5)
        for row in self.rows:
            if row[3] not in BLAMED:
                raise SystemExit(f"{REASONS.name}: {row[3]!r} is none of {', '.join(BLAMED)}")
        self.used = set()

    def of(self, judge, software, case):
        """Who is to blame and why; None for a case without a reason."""
        for number, (of, versions, pattern, blamed, reason) in enumerate(self.rows):
            if of == judge and software in versions.split(",") and fnmatch.fnmatchcase(case, pattern):
                self.used.add(number)
                return blamed, reason
        return None

    def stale(self, runs):
        """Reasons of these runs that no case needs."""
        for number, (judge, versions, pattern, _, _) in enumerate(self.rows):
            if number not in self.used and any((judge, software) in runs for software in versions.split(",")):
                yield f"{judge}\t{versions}\t{pattern}"


def unexplained(outcomes, reasons):
    """Cases that neither passed nor have a reason."""
    for judge, software, cases in outcomes.sorted():
        for case, (outcome, note) in cases:
            explained = outcome in (PASSED, PASSED_AGAIN) or outcome == SKIPPED and note
            if not explained and reasons.of(judge, software, case) is None:
                yield f"{judge}\t{software}\t{case}\t{outcome}"


def write_page(outcomes, reasons, titles, not_run):
    """Writes `results.md`; `not_run` has the reason of each judge that may have no outcome."""
    text = [
        "# What the judges say",
        "",
        "Written by [`run`](README.md): suites and examples that nobody here wrote, as their authors published them, opposite the",
        "simulated controllers. Each case starts beside a controller of its own.",
        "",
        "| judge | controller | passed | failed | skipped |",
        "|---|---|---|---|---|",
    ]
    listed = {FAILED: [], SKIPPED: [], PASSED_AGAIN: []}
    for judge, software, cases in outcomes.sorted():
        count = collections.Counter(outcome for _, (outcome, _) in cases)
        again = f", {count[PASSED_AGAIN]} of them when repeated" if count[PASSED_AGAIN] else ""
        passed = count[PASSED] + count[PASSED_AGAIN]
        text.append(f"| `{judge}` | {software} | {passed}{again} | {count[FAILED]} | {count[SKIPPED]} |")
        for case, (outcome, note) in cases:
            if outcome in listed:
                # A suite's own word for a skip comes before a reason of ours.
                blamed, reason = ("", "") if note else reasons.of(judge, software, case) or ("", "")
                listed[outcome].append((judge, case, blamed, note or reason, software))
    judges = {judge for judge, _ in outcomes.by_run}
    text += [f"| `{judge}` | | not run | | |" for judge in sorted(not_run) if judge not in judges]
    text += ["", "| judge | what it is |", "|---|---|"]
    text += [f"| `{judge}` | {title} |" for judge, title in sorted(titles.items())]
    text += ["" for judge in not_run if judge not in judges][:1]
    text += [f"`{judge}` is not run here: {why}." for judge, why in sorted(not_run.items()) if judge not in judges]
    for outcome, title in ((FAILED, "Failures"), (SKIPPED, "Skipped"), (PASSED_AGAIN, "Passed when repeated")):
        if listed[outcome]:
            text += ["", f"## {title}", ""]
            text += table(listed[outcome], outcome)
    PAGE.write_text("\n".join(text) + "\n")


def table(entries, outcome):
    """One line for each case and reason, with all the controllers that it concerns."""
    together = collections.defaultdict(list)
    for judge, case, blamed, reason, software in entries:
        together[judge, case, blamed, reason].append(software)
    if outcome == PASSED_AGAIN:
        yield "Failed once beside everything else that the machine did, and passed alone right after."
        yield ""
        yield "| judge | case | controllers |"
        yield "|---|---|---|"
    else:
        yield "| judge | case | controllers | whose | reason |"
        yield "|---|---|---|---|---|"
    for (judge, case, blamed, reason), versions in sorted(together.items()):
        line = f"| `{judge}` | {case.replace('|', '/')} | {', '.join(versions)} |"
        yield line if outcome == PASSED_AGAIN else f"{line} {BLAMED.get(blamed, 'the judge itself')} | {reason} |"
