"""The command ``outrigger``, as ``python -m outrigger_robot`` too."""

import signal
import sys

from .outrigger_native import command


def main() -> int:
    """Runs the command line of this process, and returns its exit code."""
    # Ctrl-C is the command's, as in the program `outrigger`.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["outrigger", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
