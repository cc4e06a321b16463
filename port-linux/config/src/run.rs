//! The table `[run]`: the start and the end of a run, and its recordings.

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
    /// The conditions on which a run starts and ends, and the recordings that it writes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RunSettings in "run." {
        /// The origin of the first request to command. After a fallback only an operator can request.
        pub request: Start = Start::Operator,
        /// Time from the start of the process within which it requests by itself.
        pub start_within: Duration [OperatorConfig::START_WITHIN] = Duration::from_secs(60),
        /// The condition on which the run ends by itself.
        pub end: End = End::Never,
        /// Time for which the arm holds the end of the motion before the run ends.
        pub settle: Duration [0.0 to 600.0 "s"] = Duration::from_secs(1),
        /// Other processes of the same user may send requests, as `outrigger ctl` does.
        pub requests: bool = true,
        /// The user role of a CB3's pendant is set to `locked` while the arm is commanded.
        pub lock_pendant: bool = false,
        /// The directory into which recordings of fallbacks are written. `None` writes none.
        pub recordings nowhere: Option<PathBuf> = None,
        /// The maximum number of recordings in the directory. The oldest is deleted first.
        pub recordings_kept: u32 [1 to 100000] = 100,
        /// The maximum size of all recordings in the directory \[B\]; one recording is always kept. The oldest is
        /// deleted first.
        pub recordings_bytes: u64 [Self::RECORDINGS_BYTES] = 1_000_000_000,
        /// The file for a recording of the whole run. `None` writes none.
        pub record nowhere: Option<PathBuf> = None,
        /// The RTDE variables that this recording contains in addition to those of the session, received over a
        /// connection of its own.
        pub record_variables nowhere: Vec<String> = vec![],
    }
}

/// The origin of a run's first request to command the arm: an operator, or the process itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An operator requests commanding, e.g. by a line on standard input or a key. The process never does.
    Operator,
    /// The process itself requests commanding, once, as soon as every precondition is met.
    Start,
}

words!(Start { "operator" = Operator, "start" = Start });

/// The condition on which a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run never ends by itself.
    Never,
    /// The run ends once the motion is finished and its end was held for `settle`, or once a fallback (an end of
    /// commanding by a fault) has brought the arm to rest.
    Done,
    /// The run ends once commanding has ended in any way or cannot start: as with `Done`, and also after a release, or
    /// if a request by this process was not granted in time.
    Over,
}

words!(End { "never" = Never, "done" = Done, "over" = Over });

impl RunSettings {
    /// The accepted range of the size limit [`recordings_bytes`](Self::recordings_bytes) \[B\].
    pub const RECORDINGS_BYTES: Range<u64> = range_of!(16000000 to 1000000000000);

    /// Returns the time from the start of the process within which the process requests to command the arm by itself.
    /// `None` if only an operator requests.
    #[must_use]
    pub fn asks_within(&self) -> Option<Duration> {
        (self.request == Start::Start).then_some(self.start_within)
    }

    /// Returns the reason why the pendant cannot be locked with this software and this model, if the file requires
    /// that. `None` if it can, or if the file does not require it.
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

/// Checks whether the RTDE variable `name` can be recorded in addition to those in `before`. Returns a description
/// of what is expected instead, or `None` if it can be recorded.
#[must_use]
pub fn wrong_variable(before: &[String], name: &str) -> Option<String> {
    if name == "timestamp" {
        return Some("no timestamp: it is always recorded".into());
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
    // The names are joined by commas, after `timestamp`.
    let length = "timestamp".len() + before.iter().map(|name| 1 + name.len()).sum::<usize>() + 1 + name.len();
    (length > MAX_NAMES).then(|| format!("fewer variables: a request holds {MAX_NAMES} bytes of names"))
}
