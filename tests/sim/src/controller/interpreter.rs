//! Port 30020: statements for a program in interpreter mode, one line each, and one line of answer for each
//! (`core/docs/protocol/ur-external-control.md 3`).

use super::{Conn, Controller};
use crate::fault::FaultKind;
use crate::port::Port;
use crate::program_text_bytes;

/// Properties of interpreter mode that are not documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpreterOptions {
    /// `Some(true)` if the controller has interpreter mode. `None` depends on the software: from 5.10, and on
    /// PolyScope X (assumed).
    pub available: Option<bool>,
    /// `true` if interpreter mode requires remote control; lines that arrive in local control are then discarded.
    pub needs_remote: bool,
    /// The highest number of statements that may be sent between two calls of `clear_interpreter()`.
    pub statements: usize,
    /// The largest length of a line \[bytes\]; a longer one is discarded.
    pub line: usize,
}

impl Default for InterpreterOptions {
    /// Returns the default options of interpreter mode, from the vendor's article. The limit of 8500 statements is
    /// documented for another vendor's controller; the line length of 64 KiB is assumed.
    fn default() -> Self {
        Self { available: None, needs_remote: false, statements: 8500, line: 64 * 1024 }
    }
}

/// The bytes of a client's line on port 30020 whose end has not arrived yet.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    text: String,
    long: bool,
}

impl LineBuffer {
    /// Removes bytes from the front of `bytes` up to the end of a line. Returns the line, `Some(None)` for a line
    /// longer than `limit`, or `None` if the end of the line has not arrived.
    fn next(&mut self, bytes: &mut &[u8], limit: usize) -> Option<Option<String>> {
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if *byte == b'\n' {
                let Self { text, long } = std::mem::take(self);
                return Some((!long).then(|| text.trim_end_matches('\r').to_owned()));
            }
            self.long |= self.text.len() >= limit;
            if !self.long {
                self.text.push(char::from(*byte));
            }
        }
        None
    }
}

impl Controller {
    /// Returns whether this controller has interpreter mode.
    pub(super) fn has_interpreter(&self) -> bool {
        self.options.interpreter.available.unwrap_or(self.firmware.interpreter_mode())
    }

    /// Processes bytes that a client of interpreter mode has sent.
    pub(super) fn interpret(&mut self, id: Conn, mut bytes: &[u8]) {
        let muted = self.faults.on(self.now, Port::Interpreter).any(|kind| kind == FaultKind::Mute);
        let limit = self.options.interpreter.line;
        while let Some(connection) = self.connections.get_mut(&id)
            && let Some(line) = connection.lines.next(&mut bytes, limit)
        {
            let permitted = !self.options.interpreter.needs_remote || self.plant.robot.control.obeys_clients();
            let reply = match line {
                _ if muted => continue,
                None => "discard: line too long: ".to_owned(),
                Some(line) if !permitted => format!("discard: robot is not in remote control: {line}"),
                Some(line) => self.programs.interpret(&line, &mut self.plant),
            };
            let mut reply = program_text_bytes::bytes(&reply);
            reply.push(b'\n');
            self.send(id, &reply);
        }
    }
}
