"""Some rows of ways-to-fail.md; `.ci/nightly` runs all of them."""

import dataclasses
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "ways_to_fail"))

from run import PAGE, Row, Seen, attempted, bound, goes_on, page, read, rows, wrong  # noqa: E402


@pytest.mark.parametrize(
    ("kind", "path", "way"),
    [
        ("5.15", "speeds", "lock"),
        ("5.15", "positions", "SIGSTOP"),
        ("5.15", "force", "sleep"),
        ("5.15", "move_to", "deleted"),
        ("3.15", "standoff", "SIGKILL"),
        ("krc", "speeds", "exception"),
    ],
)
def test_the_arm_rests_within_its_bound_or_goes_on(kind, path, way):
    _, problem = attempted(Row(kind, path, way))
    assert problem == ""


def test_each_row_of_the_page_was_measured_and_within_its_bound():
    found = read()
    assert set(found) == set(rows())
    assert [(row, problem) for row, seen in found.items() if (problem := wrong(row, seen))] == []
    assert PAGE.read_text(encoding="utf-8") == page(found)


def test_an_arm_that_rests_late_or_goes_on_is_wrong():
    row = Row("5.15", "speeds", "SIGKILL")
    seen = Seen(rest=0.2, speed=0.3, turned=0.05, mode="")
    late = dataclasses.replace(seen, rest=bound(row, seen) + 0.001)
    assert wrong(row, seen) == ""
    assert "bound" in wrong(row, late) and "goes on" in wrong(row, dataclasses.replace(seen, rest=None))
    assert goes_on(Row("krc", "move_to", "never")) and wrong(Row("krc", "move_to", "never"), seen)
