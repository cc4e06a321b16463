"""Judges of a simulated KRC: remote programs for FRI 1.0 that somebody has built."""

import pathlib

from case import Case

SOFTWARE = "krc"
TITLE = "KUKA's friRemote of 2009, and Stanford's Fast Research Interface Library, which contains files of it"
NOT_RUN = (
    "every file of friRemote, and friComm.h and friudp of the library of Stanford, may not be used without prior written "
    "consent of KUKA; whoever has it passes what they have built by --fri"
)
# Where remote programs listen unless told otherwise (core/docs/protocol/kuka-fri.md A1).
REMOTE = "127.0.0.1:49938"


def fri(programs, folder):
    """One case for each of `programs`, KRL:PROGRAM, where KRL says how `outrigger sim krc` is asked to start."""
    cases = []
    for text in programs:
        krl, _, program = text.partition(":")
        program = pathlib.Path(program).resolve()
        if not program.is_file():
            raise SystemExit(f"--fri {text}: expected KRL:PROGRAM, such as fri-control:./LWRJointPositionControlExample")
        options = ("--remote", REMOTE, "--period-ms", "2", "--krl", krl)
        cases.append(Case(program.name, [program], folder / "build", 60, localhost=True, options=options))
    return cases
