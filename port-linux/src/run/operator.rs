//! The help for the operator of a run.

use outrigger_config::Start;

use crate::show::Format;

/// Returns the help text about the keys and lines that the operator can use. `None` if this process has no operator.
pub(super) const fn operator_help(format: Format, request: Start) -> Option<&'static str> {
    Some(match (format, request) {
        (Format::View, Start::Operator) => {
            "keys: r requests command, c continues a suspended motion, s stops, a acknowledges, q ends"
        }
        (Format::View, Start::Start) => {
            "requests by itself once; keys: r, c continues a suspended motion, s stops, a acknowledges, q ends"
        }
        (Format::Lines | Format::Json, Start::Operator) => {
            "lines on standard input: request, resume, release, acknowledge, quit"
        }
        (Format::Lines | Format::Json, Start::Start) => {
            "requests by itself once; lines on standard input: request, resume, release, acknowledge, quit"
        }
        (Format::Remarks | Format::Silent, _) => return None,
    })
}

/// Returns the message for a line that is not a valid input.
pub(super) fn unknown_word(line: &str) -> String {
    format!("'{line}' is none of request, resume, release, acknowledge, quit")
}
