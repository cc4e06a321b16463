//! The help for the operator of a run: its keys and other inputs.

use outrigger_config::Start;

use crate::show::Format;

/// Returns the help text about the keys and lines that the operator can use. `None` if this process has no operator.
pub(super) const fn operator_help(format: Format, request: Start) -> Option<&'static str> {
    Some(match (format, request) {
        (Format::View, Start::Operator) => "Keys: r start, c continue a suspended motion, s stop, a reset, q quit",
        (Format::View, Start::Start) => {
            "Will start automatically once. Keys: r start, c continue, s stop, a reset, q quit"
        }
        (Format::Lines | Format::Json, Start::Operator) => "Lines on standard input: start, resume, stop, reset, quit",
        (Format::Lines | Format::Json, Start::Start) => {
            "Will start automatically once. Lines on standard input: start, resume, stop, reset, quit"
        }
        (Format::Remarks | Format::Silent, _) => return None,
    })
}

/// Returns the message for a line of the operator that is not a valid input of a run.
pub(super) fn unknown_word(line: &str) -> String {
    format!("'{line}' is not a command; expected start, resume, stop, reset or quit")
}
