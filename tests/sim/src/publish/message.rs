//! Messages other than the state: the burst after connecting, and the event messages of 30001.

use outrigger_wire::primary::{
    ErrorCode, ErrorDetail, Popup, PopupRequest, ProgramStateMessage, RobotMessage, RobotMessagePayload,
    SAFETY_COMPLIANCE_TOLERANCES, SafetyDetail, SafetyModeMessage, Text, Titled, Version, emit_raw,
};
use outrigger_wire::robot::{Generation, MessageSource, SoftwareVersion};

use crate::firmware::Firmware;
use crate::port::Port;
use crate::program::Notice;
use crate::program_text_bytes;
use crate::stop_error_codes::StopCode;

/// Timestamp of the messages that a client receives right after connecting.
const NO_TIME: u64 = u64::MAX;
/// An arbitrary build date for the version message.
const BUILD_DATE: &[u8] = b"01-01-2020, 00:00:00";
/// The source revision, which version messages of software before 3.5 contain in place of the third version number.
const REVISION: i32 = 16_828;
/// The safety compliance tolerances: the body of the undocumented message of type 24, as recorded on 3.10.
const TOLERANCES: [f64; 22] = [
    0.15, 25.0, 0.0, 3.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.05236, 0.05236, 0.05236, 0.05236, 0.05236, 0.05236, 0.0, 0.0,
    0.0, 0.01745, 0.001, 0.01,
];
/// A message type that no controller sends, for simulated faults.
const UNKNOWN_MESSAGE: u8 = 99;
/// The largest size of a message without its texts \[bytes\]; buffers have this much room besides the texts.
const FRAME: usize = 64;
/// The largest length of a title in a message \[bytes\]: one byte of the message contains the length.
const TITLE: usize = 255;
/// The length to which program names in messages are cut \[bytes\].
const PROGRAM_NAME: usize = 31;

/// Returns the messages that a client of `port` receives first.
pub(crate) fn burst(firmware: Firmware, port: Port) -> Vec<Vec<u8>> {
    let mut messages = vec![];
    let opens = if port.sends_messages() {
        firmware.0.at_least(1, 6)
    } else {
        port.sends_state() && firmware.version_on_secondary()
    };
    if !opens {
        return messages;
    }
    messages.push(robot_message(NO_TIME, MessageSource::RobotInterface, &version(firmware), BUILD_DATE.len()));
    if firmware.opens_with_type_12() {
        let (first, second) = if firmware.generation() == Generation::Cb3 { (0x1FE, 0x103) } else { (0, 0) };
        let payload = RobotMessagePayload::Undocumented { first, second, third: 1 };
        messages.push(robot_message(NO_TIME, MessageSource::RobotInterface, &payload, 0));
    }
    if firmware.opens_with_type_24() {
        let body: Vec<u8> = TOLERANCES.iter().flat_map(|value| value.to_be_bytes()).collect();
        messages.push(raw(SAFETY_COMPLIANCE_TOLERANCES, &body));
    }
    messages
}

fn version(firmware: Firmware) -> RobotMessagePayload<'static> {
    let SoftwareVersion { major, minor, bugfix } = firmware.0;
    let numbered = firmware.build_number();
    RobotMessagePayload::Version(Version {
        project_name: Text(b"URControl"),
        major,
        minor,
        bugfix: if numbered { i32::try_from(bugfix).unwrap_or(0) } else { REVISION },
        build_number: numbered.then_some(0),
        build_date: Text(BUILD_DATE),
    })
}

/// Returns `notice` in the message format of this software version. `None` if the software has no such message, and for
/// the start or end of a program without a name. `later` is whether safety modes and error codes have the form of 5.9.
pub(crate) fn notice(notice: &Notice, firmware: Firmware, later: bool, timestamp: u64) -> Option<Vec<u8>> {
    let key = |title: &'static [u8], name: &str, timestamp| {
        let text = Text(name.as_bytes().get(..PROGRAM_NAME).unwrap_or(name.as_bytes()));
        let payload = RobotMessagePayload::Key(Titled { code: 0, argument: 0, title: Text(title), text });
        // The name of a single line is not known: only named programs are announced.
        let announced = firmware.follows_programs() && !name.is_empty();
        announced.then(|| robot_message(timestamp, MessageSource::RobotInterface, &payload, PROGRAM_NAME + title.len()))
    };
    let send = |source, payload: &RobotMessagePayload<'_>, len| Some(robot_message(timestamp, source, payload, len));
    match notice {
        Notice::Started(name) => key(b"PROGRAM_XXX_STARTED", name, timestamp),
        Notice::Stopped(name) => key(b"PROGRAM_XXX_STOPPED", name, timestamp),
        Notice::Exception { line, column, text } => {
            let position = firmware.follows_programs().then_some((*line, *column));
            let text = program_text_bytes::bytes(text);
            let payload = RobotMessagePayload::RuntimeException { position, text: Text(&text) };
            send(MessageSource::RtMachine, &payload, text.len())
        }
        Notice::Text(text) => {
            let text = program_text_bytes::bytes(text);
            send(MessageSource::RtMachine, &RobotMessagePayload::Text(Text(&text)), text.len())
        }
        Notice::Popup { text, title, warning, error } => {
            const NO_VALUE: u32 = 8;
            let (title, text) = (program_text_bytes::bytes(title), program_text_bytes::bytes(text));
            let title = title.get(..TITLE).unwrap_or(&title);
            let request = PopupRequest { request_id: 0, requested_type: NO_VALUE, blocking: false };
            let payload = RobotMessagePayload::Popup(Popup {
                request: (firmware.generation() != Generation::Cb2).then_some(request),
                warning: *warning,
                error: *error,
                title: Text(title),
                text: Text(&text),
            });
            send(MessageSource::RtMachine, &payload, text.len() + title.len())
        }
        Notice::Safety(mode) => {
            let safety_mode_type = u8::try_from(mode.raw()).unwrap_or(0);
            let text = Text(mode.name().unwrap_or_default().as_bytes());
            let detail = match firmware.generation() {
                Generation::Cb2 => SafetyDetail::Security(text),
                _ if !later => SafetyDetail::Mode { safety_mode_type, text },
                _ => SafetyDetail::Report { safety_mode_type, report_data_type: 0, report_data: 0 },
            };
            let payload = RobotMessagePayload::SafetyMode(SafetyModeMessage { code: 0, argument: 0, detail });
            send(MessageSource::SafetyProcessorA, &payload, text.0.len())
        }
        Notice::Code { level, code, text } => {
            let StopCode { code, argument } = *code;
            let text = Text(text.as_bytes());
            let detail = match firmware.generation() {
                Generation::Cb2 => ErrorDetail::Text(text),
                _ if !later => ErrorDetail::Warning { warning_level: level.number(), text },
                _ => ErrorDetail::Report { report_level: level.number(), data_type: 0, data: 0, text },
            };
            let payload = RobotMessagePayload::ErrorCode(ErrorCode { code, argument, detail });
            send(MessageSource::Controller, &payload, text.0.len())
        }
    }
}

/// Returns the message of the simulated fault `Oversize`: a program state message (type 25) of `size` bytes that
/// contains one long variable.
pub(crate) fn oversize(timestamp: u64, size: usize) -> Vec<u8> {
    /// Number of bytes of the oversized message besides its text: header, timestamp, subtype and an empty title.
    const AROUND: usize = 15;
    let text = vec![b'x'; size.saturating_sub(AROUND)];
    let mut bytes = vec![0; text.len() + FRAME];
    let written = ProgramStateMessage::emit_variable(timestamp, Text(b""), Text(&text), &mut bytes);
    bytes.truncate(written.unwrap_or(0));
    bytes
}

/// Returns the message of the simulated fault `Unknown`: its type is one that no controller sends.
pub(crate) fn unknown() -> Vec<u8> {
    raw(UNKNOWN_MESSAGE, b"from a future release")
}

/// Returns the message of the simulated fault `Polluted`: 9 bytes of unknown type, like the shortest message that was
/// seen among real-time packets.
pub(crate) fn pollution() -> Vec<u8> {
    raw(UNKNOWN_MESSAGE, &[0; 4])
}

fn raw(message_type: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; body.len() + FRAME];
    let written = emit_raw(message_type, body, &mut bytes).unwrap_or(0);
    bytes.truncate(written);
    bytes
}

/// Returns the bytes of a robot message with this payload. `text` is the length of all parts of the payload that have
/// no fixed size \[bytes\].
fn robot_message(timestamp: u64, source: MessageSource, payload: &RobotMessagePayload<'_>, text: usize) -> Vec<u8> {
    let mut bytes = vec![0; text + FRAME];
    let written = RobotMessage::emit(timestamp, source, payload, &mut bytes).unwrap_or(0);
    bytes.truncate(written);
    bytes
}
