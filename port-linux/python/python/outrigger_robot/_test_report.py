"""The properties of a simulated arm after a test, and the place of the page about it."""

import hashlib
import re
from typing import Any

#: The number of events in a property; the page has all of them.
_EVENTS = 50
#: The greatest length of a part of a path, in characters.
_NAME = 100


def properties(simulator: Any) -> dict[str, str]:
    """Returns what the arm did: strings, because pytest-xdist sends them between processes."""
    past = simulator.history()
    found = {name: str(getattr(simulator, name)) for name in ("model", "software") if hasattr(simulator, name)}
    if len(past):  # after the first cycle
        found["q"] = " ".join(f"{angle:.4f}" for angle in past.q[-1])
        found["at_rest"] = str(bool(abs(past.qd[-1]).max() < 1e-3)).lower()
    events = [f"{time:.3f} s: {text}" for time, text in simulator.events()]
    found["events"] = "; ".join(events[-_EVENTS:])
    return found


def report_folder(nodeid: str) -> str:
    """Returns the folder of a test below that of the reports: one for each test, and never outside of it."""
    file, *names = nodeid.split("::")
    return "/".join(_part(part) for part in [*file.split("/"), *names])


def _part(part: str) -> str:
    name = re.sub(r"[^\w.=,+\[\]-]", "_", part, flags=re.ASCII)[:_NAME]
    if name != part or not name.strip("."):
        # Another test may have the same name without these characters.
        name = f"{name.strip('.')}-{hashlib.sha1(part.encode()).hexdigest()[:8]}"
    return name
