"""Names that `start.py` and `stop.py` share, and how both print to the log of a step."""

import secrets
import sys

# Below RUNNER_TEMP: the program, and a folder for each simulator.
PROGRAM = "outrigger/bin/outrigger"
FOLDER = "outrigger-sim."
# Files of such a folder.
READY = "ready.json"
PROCESS = "process"

MOST_LINES = 2000


def one_line(text):
    """Returns `text` as a command of the runner takes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def fail(text):
    print(f"::error::{one_line(text)}", flush=True)
    sys.exit(1)


def read(log):
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def first_paragraph(*files):
    """Returns what a program prints before its advice on usage, at most 10 lines, from the first file that is not empty."""
    printed = next(filter(None, ("\n".join(read(file)).strip() for file in files)), "it printed nothing")
    return "\n".join(printed.partition("\n\n")[0].split("\n")[:10])


def show(*files):
    """Prints the end of these files. A line of them that looks like a command of the runner is none."""
    token = secrets.token_hex(16)
    printed = [line for file in files for line in read(file)[-MOST_LINES:]]
    print(f"::group::Output of the simulator\n::stop-commands::{token}", *printed, f"::{token}::", "::endgroup::", sep="\n", flush=True)
