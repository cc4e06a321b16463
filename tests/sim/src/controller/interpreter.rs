//! Port 30020: statements for a program in interpreter mode, one line each, and a line back for every one
//! (`core/docs/protocol/ur-external-control.md 3`).

use super::{Conn, Controller};
use crate::fault::FaultKind;
use crate::port::Port;
use crate::text;

/// What is not known of interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpreterOptions {
    /// Whether the software has it; by version where `None`: from 5.10, and PolyScope X (assumed).
    pub available: Option<bool>,
    /// Whether a client needs remote control; without, its lines are discarded.
    pub needs_remote: bool,
    /// Statements that may be sent between two `clear_interpreter()`.
    pub statements: usize,
    /// Bytes of the longest line; a longer one is discarded.
    pub line: usize,
}

impl Default for InterpreterOptions {
    /// As the vendor's article has it; 8500 statements are documented for the controller of somebody else, 64 KiB assumed.
    fn default() -> Self {
        Self { available: None, needs_remote: false, statements: 8500, line: 64 * 1024 }
    }
}

/// The line that a client is sending.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    text: String,
    long: bool,
}

impl LineBuffer {
    /// Takes bytes off the front up to the end of a line: the line, or nothing of one that is too long.
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
    /// Whether the software has interpreter mode.
    pub(super) fn has_interpreter(&self) -> bool {
        self.options.interpreter.available.unwrap_or(self.firmware.interpreter_mode())
    }

    /// Bytes of a client of interpreter mode.
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
            let mut reply = text::bytes(&reply);
            reply.push(b'\n');
            self.send(id, &reply);
        }
    }
}
