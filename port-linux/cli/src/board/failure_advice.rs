//! Describes the failures of `outrigger board`, with advice.

use outrigger_remote::provision::Refusal;

use super::serial_line::Port;
use outrigger::exit::Failure;

/// Returns the error of `outrigger board`, with advice, for a request that the board has refused. `text` is the board's
/// explanation.
pub(super) fn failure(why: Refusal, text: &str) -> Failure {
    let bad = Failure::BadInput;
    match why {
        Refusal::Commanding(mode) => Failure::Fault(format!(
            "the board is in mode {mode:?}: it commands the arm, or is about to; stop it, wait for standstill, and \
             repeat the command"
        )),
        Refusal::OtherKind { .. } => {
            bad("robot.kind: the file is for another kind of controller than the board's firmware; flash one that was built from a file \
             of this kind"
                .into())
        }
        Refusal::OtherFormat { found, expected } => bad(format!(
            "found settings of format {found}, expected {expected}: program and firmware have different versions; \
             use the program of the firmware's version, or flash the firmware of this version"
        )),
        Refusal::TooLong { found, expected } => bad(format!(
            "found {found} bytes, expected at most {expected}: use fewer waypoints, or a firmware with the file \
             compiled in"
        )),
        Refusal::NoRequests => {
            bad("device.expert.requests: the board's firmware was built without them; flash one that was built from \
                 a file with device.expert.requests, or remove the key"
                .into())
        }
        Refusal::NoMotion => bad(
            "law.waypoint: found more than the engine's memory holds, and the board's firmware was built without the feature motion"
                .into(),
        ),
        Refusal::Unfit => bad(format!(
            "the board cannot run it: {text}. What each board can read, and where it is wired: port-embassy/docs/inputs.md"
        )),
        Refusal::NoImage | Refusal::NoSettings => {
            bad("the board does not know these settings: program and firmware have different versions".into())
        }
        Refusal::OtherVersion { found, expected } => Failure::Fault(format!(
            "this program uses protocol version {found} and the board version {expected}: use the program of the \
             firmware's version"
        )),
        Refusal::Flash { at } => Failure::Fault(format!(
            "the board's flash did not store it, at byte {at}; after its restart the board runs its previous \
             settings. Try again; if that fails, the flash is worn out or broken"
        )),
        Refusal::NoRequest
        | Refusal::NoBegin
        | Refusal::Gap { .. }
        | Refusal::Incomplete { .. }
        | Refusal::Damaged { .. } => Failure::Fault(format!(
            "the line loses too much: {why:?}; nothing was written. Try a shorter cable, or try again"
        )),
    }
}

pub(super) fn silent(heard: bool, port: &Port) -> Failure {
    let name = port.name();
    Failure::Connection(if heard {
        format!(
            "{name}: received data that no board sends: check the rate (--baud), and that this is the board's \
                 line"
        )
    } else {
        format!(
            "{name}: no answer: is it the board's line, is the board on, and does its firmware use the line? \
             boards/README.md"
        )
    })
}

pub(super) fn lost() -> Failure {
    Failure::Fault(
        "the board was asked to write and has not reported its restart in time: `outrigger board show` shows its settings"
            .into(),
    )
}

pub(super) fn not_understood() -> Failure {
    Failure::Fault("the board's answer is of another version: use the program of the firmware's version".into())
}

#[cfg(test)]
mod tests {
    use outrigger_core::mode::Mode;

    use super::*;

    #[test]
    fn a_refusal_for_the_file_is_bad_input_and_one_for_the_board_or_its_line_a_fault() {
        for (why, code, expected) in [
            (
                Refusal::OtherKind { found: b'U', expected: b'K' },
                1,
                "robot.kind: the file is for another kind of controller",
            ),
            (Refusal::OtherFormat { found: 8, expected: 9 }, 1, "found settings of format 8, expected 9"),
            (Refusal::TooLong { found: 5000, expected: 4096 }, 1, "found 5000 bytes, expected at most 4096"),
            (Refusal::NoRequests, 1, "device.expert.requests: "),
            (Refusal::NoMotion, 1, "law.waypoint: "),
            (Refusal::Unfit, 1, "the board cannot run it: limits.velocity: expected more"),
            (Refusal::NoSettings, 1, "the board does not know these settings"),
            (Refusal::Commanding(Mode::Stopping), 4, "the board is in mode Stopping"),
            (Refusal::OtherVersion { found: 1, expected: 2 }, 4, "uses protocol version 1 and the board version 2"),
            (Refusal::Flash { at: 256 }, 4, "flash did not store it, at byte 256"),
            (Refusal::Gap { found: 2, expected: 1 }, 4, "the line loses too much"),
        ] {
            let failure = failure(why, "limits.velocity: expected more");
            let told = failure.to_string();
            assert!(failure.code() == code && told.contains(expected), "{why:?}: {} {told}", failure.code());
        }
        assert_eq!((lost().code(), not_understood().code()), (4, 4));
    }
}
