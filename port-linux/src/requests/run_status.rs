//! The status of a run for the thread of requests. The control loop writes it without waiting.

use std::sync::{Arc, Mutex};

use outrigger_core::link::{Grade, GradeLow};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};

use super::streamed_commands::Streaming;
use crate::motion::MotionReport;
use crate::released::ReleasedBy;
use crate::show::Variables;

/// The part of a run's status about contacts of the arm's tool with an obstacle: whether they end motions, and how
/// many motions they have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// `true` if a contact ends motions that the program on the controller executes. Requested by a client, until
    /// commanding ends.
    pub watched: bool,
    /// The number of motions that a contact has ended in this run.
    pub seen: u32,
}

/// The status of a run (a process that commands a robot) after its engine's last input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// The session's epoch, a counter of connections and losses of authority. Requests contain the epoch that their
    /// sender has seen.
    pub epoch: Epoch,
    /// The mode of the control state machine, e.g. monitor or command.
    pub mode: Mode,
    /// The grade (quality) of the link that carries robot states.
    pub grade: Grade,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched.
    pub latch: Option<Reason>,
    /// The reason that ended commanding last, whether or not it is latched (prevents commanding until it is
    /// acknowledged).
    pub left: Option<Reason>,
    /// The cause of the release, if the reason in `left` is a release.
    pub released: Option<ReleasedBy>,
    /// The unmet preconditions, for which a request to command would be rejected. Empty while commanding.
    pub unmet: ReasonSet,
    /// The cause of the link's low grade (quality), if a request to command would be rejected because of that grade.
    pub low: Option<GradeLow>,
    /// `true` if the run is about to end.
    pub ending: bool,
    /// The variables of a program on the controller, at the last update. `None` if this kind of controller shares none,
    /// or has sent none yet.
    pub variables: Option<Variables>,
    /// The state of the requested motion that was started last. `None` before the first one.
    pub motion: Option<MotionReport>,
    /// `true` if the next command of this process overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The reason why the motion is held (paused, e.g. by the speed slider) while commanding continues. `None` if it is
    /// not held.
    pub held: Option<Reason>,
    /// The contacts of the tool with an obstacle: whether they end motions, and how many motions they have ended.
    pub contacts: Contacts,
    /// The progress of the clients' streams of speeds, positions or torques.
    pub streaming: Streaming,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            epoch: Epoch::default(),
            mode: Mode::Offline,
            grade: Grade::Unacceptable,
            latch: None,
            left: None,
            released: None,
            unmet: ReasonSet::EMPTY,
            low: None,
            ending: false,
            variables: None,
            motion: None,
            overrides_pendant: false,
            held: None,
            contacts: Contacts::default(),
            streaming: Streaming::default(),
        }
    }
}

/// The newest status of the run, shared by the control loop and the thread of requests.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestStatus(Arc<Mutex<Status>>);

impl LatestStatus {
    /// Stores the status of the run. Returns `false` if a reader holds the lock.
    pub(super) fn put(&self, status: Status) -> bool {
        self.0.try_lock().is_ok_and(|mut slot| {
            *slot = status;
            true
        })
    }

    pub(super) fn get(&self) -> Status {
        // No code that holds the lock can panic.
        self.0.lock().map(|slot| *slot).unwrap_or_default()
    }
}
