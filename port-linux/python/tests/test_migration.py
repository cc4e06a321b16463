"""The table of ur_rtde's methods: complete, as committed, and both packages with the same effect."""

import dataclasses
import pathlib
import sys
from importlib.metadata import version

import pytest

pytest.importorskip("rtde_control", reason="ur_rtde is not installed")
sys.path.insert(0, str(pathlib.Path(__file__).parent / "migration"))

import dashboard_client  # noqa: E402
import rtde_control  # noqa: E402
import rtde_io  # noqa: E402
import rtde_receive  # noqa: E402
from compare import ATTEMPTS, PAGE, compared, differences, page, runs  # noqa: E402
from lines import CLASSES, CONTROL, DASHBOARD, IO, RECEIVE, Kind, Line  # noqa: E402

from outrigger_robot import OutriggerError  # noqa: E402


def methods(owner: type) -> list[str]:
    """The public methods of a class, without its constants and nested types."""
    called = type(owner.disconnect)
    return sorted(name for name in dir(owner) if not name.startswith("_") and isinstance(getattr(owner, name), called))


def compared_or_stopped(line: Line) -> str:
    """The difference of a line, or why a busy machine ended it."""
    try:
        return compared(line)
    except OutriggerError as error:
        return str(error)


@pytest.mark.parametrize(
    ("group", "owner"),
    [
        (CONTROL, rtde_control.RTDEControlInterface),
        (RECEIVE, rtde_receive.RTDEReceiveInterface),
        (IO, rtde_io.RTDEIOInterface),
        (DASHBOARD, dashboard_client.DashboardClient),
    ],
)
def test_every_method_of_ur_rtde_is_listed_once(group, owner):
    assert sorted(line.method for line in group.lines) == methods(owner)


def test_a_line_with_an_equivalent_runs():
    for group in CLASSES:
        for line in group.lines:
            assert line.ours, line
            assert (line.kind is Kind.NONE) != runs(line), line


def test_another_goal_is_a_difference():
    line = next(line for line in CONTROL.lines if line.method == "moveJ")
    wrong = dataclasses.replace(line, ours="robot.move_to(MIDDLE)")
    assert any("true joint angles" in compared_or_stopped(wrong) for _ in range(ATTEMPTS))


def test_both_packages_have_the_same_effect_and_the_page_says_so():
    assert differences() == {}
    assert PAGE.read_text(encoding="utf-8") == page(version("ur_rtde"))
