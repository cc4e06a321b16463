"""The table of the Rust library beside the Python package: complete, and as committed."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "front_doors"))

from table import PAGE, methods, page, problems, python_members, rows, rust_members  # noqa: E402


def test_every_member_of_both_sides_is_in_the_table_and_the_page_says_so():
    assert problems(rust_members(), python_members(), rows()) == []
    assert PAGE.read_text(encoding="utf-8") == page()


def test_a_member_that_is_new_or_gone_is_named():
    new, gone = "Robot::dance", "Robot::move_to"
    found = problems(rust_members() - {gone} | {new}, python_members() | {"Robot.dance"}, rows())
    assert [line for line in found if "dance" in line] == [
        "Rust: Robot::dance is not in members.tsv",
        "Python: Robot.dance is not in members.tsv",
    ]
    assert f"Rust: {gone} of members.tsv does not exist" in found


def test_methods_are_read_with_their_type():
    text = """
impl<const N: usize, P: Controller<N> + 'static> Robot<N, P> {
    pub const fn quiet(self) -> Self {
    fn hidden(&self) {}
    pub(super) fn inner(&self) {}
}
impl<const N: usize> Iterator for States<N> {
    pub fn not_possible() {}
}
impl Sensor {
    pub fn udp(listen: &str) -> Self {
}
"""
    assert methods(text) == {"Robot::quiet", "Sensor::udp"}
