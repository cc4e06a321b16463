//! `[run]`: when a run begins and ends, and where its recordings go.

use std::path::PathBuf;

use outrigger_core::mode::OperatorConfig;
use outrigger_core::time::Duration;

use crate::reader::Section;

/// When a run begins and ends, and where its recordings go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Who asks to command the first time. After a fallback it is always the operator.
    pub request: Start,
    /// How long after its start this process asks by itself.
    pub start_within: Duration,
    /// When the run ends by itself.
    pub end: End,
    /// How long the end of the motion is held before the run ends.
    pub settle: Duration,
    /// Directory for the recordings of fallbacks; `None` writes none.
    pub recordings: Option<PathBuf>,
    /// How many of them stay there; the oldest goes first.
    pub recordings_kept: u32,
    /// How many bytes of them stay there; the oldest goes first.
    pub recordings_bytes: u64,
    /// File for a recording of everything; `None` writes none.
    pub record: Option<PathBuf>,
}

/// Who asks to command the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An operator, by a line or a key.
    Operator,
    /// This process, once, when every precondition is met.
    Start,
}

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Never.
    Never,
    /// When the motion is done and held for a while, or when a fallback has brought the arm to rest.
    Done,
}

/// One recording has its place in as many.
const LEAST_BYTES: i64 = 16_000_000;

impl RunSettings {
    /// Until how long after its start this process asks by itself; `None` where it does not.
    #[must_use]
    pub fn asks_within(&self) -> Option<Duration> {
        (self.request == Start::Start).then_some(self.start_within)
    }

    pub(crate) fn read(mut section: Section<'_, '_>) -> Self {
        let request =
            section.choice("request", &[("operator", Start::Operator), ("start", Start::Start)], Start::Operator);
        let settings = Self {
            request,
            start_within: section.duration_or("start_within", Duration::from_secs(60), OperatorConfig::START_WITHIN),
            end: section.choice("end", &[("never", End::Never), ("done", End::Done)], End::Never),
            settle: section.duration_or("settle", Duration::from_secs(1), (0.0..=600.0, "s")),
            recordings: section.text("recordings", "a directory").map(PathBuf::from),
            recordings_kept: section.count_or("recordings_kept", 100, 1..=100_000),
            recordings_bytes: {
                let bytes = section.integer("recordings_bytes", None, LEAST_BYTES..=1_000_000_000_000);
                bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(1_000_000_000)
            },
            record: section.text("record", "a file, e.g. \"weld.mcap\"").map(PathBuf::from),
        };
        section.finish();
        settings
    }
}
