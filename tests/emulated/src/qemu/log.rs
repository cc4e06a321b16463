//! The board's log: frames of `defmt` on QEMU's standard output, decoded with the firmware's own tables.

use defmt_decoder::{DecodeError, StreamDecoder, Table};
use outrigger_sim::time::SimTime;

/// A line of the board's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The time at which the line arrived.
    pub at: SimTime,
    /// The board's own time of the line, as the board prints it.
    pub uptime: String,
    /// The severity of the line, `trace` … `error`; empty for plain prints.
    pub level: &'static str,
    /// The text of the line.
    pub text: String,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>12} {:<5} {}", self.uptime, self.level, self.text)
    }
}

/// A decoder for the board's log.
pub struct Log<'t> {
    decoder: Box<dyn StreamDecoder + Send + Sync + 't>,
    unreadable: u64,
}

impl std::fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("unreadable", &self.unreadable).finish_non_exhaustive()
    }
}

impl<'t> Log<'t> {
    /// Creates a decoder for firmware with these tables.
    #[must_use]
    pub fn new(table: &'t Table) -> Self {
        Self { decoder: table.new_stream_decoder(), unreadable: 0 }
    }

    /// Decodes received bytes; `each` receives the lines that are complete, in order.
    pub fn receive(&mut self, at: SimTime, bytes: &[u8], mut each: impl FnMut(Line)) {
        self.decoder.received(bytes);
        loop {
            match self.decoder.decode() {
                Ok(frame) => each(Line {
                    at,
                    uptime: frame.display_timestamp().map(|time| time.to_string()).unwrap_or_default(),
                    level: frame.level().map_or("", |level| level.as_str()),
                    text: frame.display_message().to_string(),
                }),
                Err(DecodeError::UnexpectedEof) => return,
                Err(DecodeError::Malformed) => self.unreadable += 1,
            }
        }
    }

    /// Returns the number of frames that could not be decoded.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}
