"""Compares the members of the Rust library's `Robot` with those of this package, by `members.tsv`.

python tests/front_doors/table.py            ends with 1 if a member is not in members.tsv, or the page is another
python tests/front_doors/table.py --write    writes rust-and-python.md
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

import outrigger_robot

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parents[1] / "rust-and-python.md"
SOURCES = FOLDER.parents[2] / "src"
PUBLIC = re.compile(r"^\s*pub (?:const |async |unsafe )*fn (\w+)")
#: The types of the Rust library whose methods are compared, and the folders or files of their `impl` blocks.
RUST = {
    "Robot": "robot",
    "Running": "robot",
    "States": "robot",
    "Sensor": "robot",
    "Client": "requests/in_process_client.rs",
}
PYTHON = ("Robot", "Stream", "Guide", "Run", "States", "State", "Stop")


def after_generics(text: str) -> str:
    """Returns the text without the balanced `<…>` at its beginning."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">" and text[index - 1] != "-")
        if depth == 0:
            return text[index + (letter == ">") :]
    return ""


def owner_of(line: str) -> str:
    """Returns the type of an inherent `impl` line; nothing for an `impl` of a trait."""
    text = after_generics(line.removeprefix("impl")).strip()
    found = re.match(r"\w+", text)
    if found is None or after_generics(text[found.end() :]).strip().startswith("for "):
        return ""
    return found.group()


def methods(text: str) -> set[str]:
    """Returns the public methods of a Rust file, as `Type::name`."""
    owner, found = "", set()
    for line in text.splitlines():
        if line.startswith("impl"):
            owner = owner_of(line)
        elif line.startswith("}"):
            owner = ""
        elif owner and (public := PUBLIC.match(line)):
            found.add(f"{owner}::{public.group(1)}")
    return found


def variants(text: str, name: str) -> set[str]:
    """Returns the variants of a Rust enum, as `Type::Name`."""
    body = text.split(f"pub enum {name} {{\n", 1)[1].split("\n}\n", 1)[0]
    return {f"{name}::{found}" for found in re.findall(r"^    ([A-Z]\w*)", body, re.MULTILINE)}


def rust_members() -> set[str]:
    found: set[str] = set()
    for owner, where in RUST.items():
        path = SOURCES / where
        of_owner = set()
        for file in sorted(path.rglob("*.rs")) if path.is_dir() else [path]:
            of_owner |= {member for member in methods(file.read_text(encoding="utf-8")) if member.startswith(f"{owner}::")}
        if not of_owner:
            raise ValueError(f"{path}: expected public methods of {owner}, found none")
        found |= of_owner
    return found | variants((SOURCES / "requests/envelope.rs").read_text(encoding="utf-8"), "RequestKind")


def python_members() -> set[str]:
    return {
        f"{owner}.{name}"
        for owner in PYTHON
        for name in dir(getattr(outrigger_robot, owner))
        if not name.startswith("_")
    }


def rows() -> list[tuple[str, str, str]]:
    """Returns the lines of members.tsv: Rust, Python, note. One side may be empty, and then the note is the reason."""
    found = []
    for number, line in enumerate((FOLDER / "members.tsv").read_text(encoding="utf-8").splitlines()[1:], 2):
        parts = line.split("\t")
        if len(parts) != 3 or not (parts[0] or parts[1]) or ("" in parts[:2] and not parts[2]):
            raise ValueError(f"members.tsv:{number}: expected rust, python, note; a reason where a side is empty: {line!r}")
        found.append((parts[0], parts[1], parts[2]))
    return found


def problems(rust: set[str], python: set[str], table: list[tuple[str, str, str]]) -> list[str]:
    """Returns the members that the table lacks, and those that do not exist."""
    named = [{name for row in table for name in row[side].split(", ") if name} for side in (0, 1)]
    found = []
    for members, listed, side in ((rust, named[0], "Rust"), (python, named[1], "Python")):
        found += [f"{side}: {name} is not in members.tsv" for name in sorted(members - listed)]
        found += [f"{side}: {name} of members.tsv does not exist" for name in sorted(listed - members)]
    return found


INTRODUCTION = """\
# The Rust library beside the Python package

Written by `tests/front_doors/table.py` from the public methods of `outrigger::Robot`, of what it returns and of the
requests to a session on the one side, and from the classes of `outrigger_robot` on the other. A test fails if a member
of either is missing here.

{both} members or groups are on both sides, {rust} only in Rust, {python} only in Python."""


def code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ") if name)


def page() -> str:
    """Returns the table as Markdown."""
    table = rows()
    both = sum(1 for row in table if row[0] and row[1])
    rust, python = sum(1 for row in table if not row[1]), sum(1 for row in table if not row[0])
    text = [INTRODUCTION.format(both=both, rust=rust, python=python)]
    parts = (
        ("On both sides", [row for row in table if row[0] and row[1]]),
        ("Only in Rust", [row for row in table if not row[1]]),
        ("Elsewhere in Rust", [row for row in table if not row[0]]),
    )
    for title, part in parts:
        text += ["", f"## {title}", ""]
        if title == "On both sides":
            text += ["| Rust | Python | difference |", "|---|---|---|"]
            text += [f"| {code(row[0])} | {code(row[1])} | {row[2]} |" for row in part]
        else:
            text += ["| member | why |", "|---|---|"]
            text += [f"| {code(row[0] or row[1])} | {row[2]} |" for row in part]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = problems(rust_members(), python_members(), rows())
    if given.write and not found:
        PAGE.write_text(page(), encoding="utf-8")
    if not found and PAGE.read_text(encoding="utf-8") != page():
        found = ["rust-and-python.md differs: python tests/front_doors/table.py --write"]
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
