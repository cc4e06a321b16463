//! `[run]`: when a run begins and ends, and where its recordings go.

use std::path::PathBuf;

use outrigger_core::time::Duration;

use crate::reader::Section;

/// When a run begins and ends, and where its recordings go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Who asks to command the first time. After a fallback it is always the operator.
    pub request: Start,
    /// When the run ends by itself.
    pub end: End,
    /// How long the end of the motion is held before the run ends.
    pub settle: Duration,
    /// Directory for the recordings of fallbacks; `None` writes none.
    pub recordings: Option<PathBuf>,
    /// File for a recording of everything; `None` writes none.
    pub record: Option<PathBuf>,
}

/// Who asks to command the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An operator, by a line or a key.
    Operator,
    /// This process, whenever every precondition is met, until it has commanded once.
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

impl RunSettings {
    pub(crate) fn read(mut section: Section<'_, '_>) -> Self {
        let request =
            section.choice("request", &[("operator", Start::Operator), ("start", Start::Start)], Start::Operator);
        let settings = Self {
            request,
            end: section.choice("end", &[("never", End::Never), ("done", End::Done)], End::Never),
            settle: section.duration_or("settle", Duration::from_secs(1), 0.0..=600.0),
            recordings: section.text("recordings", "a directory").map(PathBuf::from),
            record: section.text("record", "a file, e.g. \"weld.mcap\"").map(PathBuf::from),
        };
        section.finish();
        settings
    }
}
