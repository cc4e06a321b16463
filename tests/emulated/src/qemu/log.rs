//! The board's log: frames of `defmt` on QEMU's standard output, made readable with the firmware's own tables.

use defmt_decoder::{DecodeError, StreamDecoder, Table};
use outrigger_sim::time::SimTime;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it arrived.
    pub at: SimTime,
    /// The board's own time, as it prints it.
    pub uptime: String,
    /// `trace` … `error`; empty for plain prints.
    pub level: &'static str,
    /// What it says.
    pub text: String,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>12} {:<5} {}", self.uptime, self.level, self.text)
    }
}

/// Decodes the log as it comes.
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
    /// For firmware with these tables.
    #[must_use]
    pub fn new(table: &'t Table) -> Self {
        Self { decoder: table.new_stream_decoder(), unreadable: 0 }
    }

    /// Bytes have come; `each` gets the lines they complete, in order.
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

    /// Frames that could not be decoded.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}
