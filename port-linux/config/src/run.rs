//! `[run]`: when a run begins and ends, and where its recordings go.

use std::path::PathBuf;

use outrigger_core::mode::OperatorConfig;
use outrigger_core::robot::Range;
use outrigger_core::{range_of, settings, words};
use outrigger_wire::dashboard::{RequestKind, Support};
use outrigger_wire::robot::{RobotModel, SoftwareVersion};
use outrigger_wire::rtde::MAX_NAMES;
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::time::Duration;

use crate::reader::{Section, nearest};

settings! {
    /// When a run begins and ends, and where its recordings go.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RunSettings in "run." {
        /// Who asks to command the first time. After a fallback it is always the operator.
        pub request: Start = Start::Operator,
        /// How long after its start this process asks by itself.
        pub start_within: Duration [OperatorConfig::START_WITHIN] = Duration::from_secs(60),
        /// When the run ends by itself.
        pub end: End = End::Never,
        /// How long the end of the motion is held before the run ends.
        pub settle: Duration [0.0 to 600.0 "s"] = Duration::from_secs(1),
        /// Other processes of the same user may ask this one, as `outrigger ask` does.
        pub requests: bool = true,
        /// The user role of a CB3's pendant is `locked` while the arm is commanded.
        pub lock_pendant: bool = false,
        /// Directory for the recordings of fallbacks; `None` writes none.
        pub recordings nowhere: Option<PathBuf> = None,
        /// How many of them stay there; the oldest goes first.
        pub recordings_kept: u32 [1 to 100000] = 100,
        /// How many bytes of them stay there, at least one recording's; the oldest goes first.
        pub recordings_bytes: u64 [Self::RECORDINGS_BYTES] = 1_000_000_000,
        /// File for a recording of everything; `None` writes none.
        pub record nowhere: Option<PathBuf> = None,
        /// Variables of RTDE that this recording has beside what the session asks for, by a connection of its own.
        pub record_variables nowhere: Vec<String> = vec![],
    }
}

/// Who asks to command the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An operator, by a line or a key.
    Operator,
    /// This process, once, when every precondition is met.
    Start,
}

words!(Start { "operator" = Operator, "start" = Start });

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Never.
    Never,
    /// When the motion is done and held for a while, or when a fallback has brought the arm to rest.
    Done,
    /// When commanding is over in whatever way, or cannot begin: the same, and a release, and a request by this process that
    /// was not granted in time.
    Over,
}

words!(End { "never" = Never, "done" = Done, "over" = Over });

impl RunSettings {
    /// Range of [`recordings_bytes`](Self::recordings_bytes).
    pub const RECORDINGS_BYTES: Range<u64> = range_of!(16000000 to 1000000000000);

    /// Until how long after its start this process asks by itself; `None` where it does not.
    #[must_use]
    pub fn asks_within(&self) -> Option<Duration> {
        (self.request == Start::Start).then_some(self.start_within)
    }

    /// Why a pendant cannot be locked, where it is to be; `None` where nothing speaks against it.
    pub(crate) fn unlockable(&self, software: Option<SoftwareVersion>, model: Option<RobotModel>) -> Option<String> {
        let lacks = software.filter(|software| RequestKind::SetUserRole.support(*software) != Support::Yes);
        let lacks = lacks.map(|software| format!("software {software}"));
        let lacks = lacks.or_else(|| {
            model
                .filter(|model| !matches!(model, RobotModel::Ur3 | RobotModel::Ur5 | RobotModel::Ur10))
                .map(|model| format!("a {}", model.name()))
        });
        let lacks = lacks.filter(|_| self.lock_pendant)?;
        Some(format!("false: {lacks} has no user roles that a program can set; CB3 has them from 3.1 on"))
    }

    pub(crate) fn of(section: Section<'_, '_>) -> Self {
        section.settings(|run: &mut Self, section| {
            run.read(section);
            run.recordings = section.text("recordings", "a directory").map(PathBuf::from);
            run.record = section.text("record", "a file, e.g. \"weld.mcap\"").map(PathBuf::from);
            let what = "variables of RTDE that the controller sends, e.g. \"target_moment\"";
            run.record_variables = section.texts("record_variables", what, wrong_variable);
        })
    }
}

/// What is expected in place of `name`, where it cannot be recorded after the variables `before` it.
#[must_use]
pub fn wrong_variable(before: &[String], name: &str) -> Option<String> {
    if name == "timestamp" {
        return Some("no timestamp: it comes with the others by itself".into());
    }
    if before.iter().any(|known| known == name) {
        return Some(format!("{name} once"));
    }
    if Variable::named(name, Direction::Output).is_none() {
        let names: Vec<_> = Variable::all(Direction::Output).map(|variable| variable.to_string()).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        return Some(format!("a variable of RTDE that the controller sends{near}"));
    }
    // Names are joined by commas, behind the timestamp.
    let length = "timestamp".len() + before.iter().map(|name| 1 + name.len()).sum::<usize>() + 1 + name.len();
    (length > MAX_NAMES).then(|| format!("fewer variables: a request holds {MAX_NAMES} bytes of names"))
}
