//! How a run stands, for the thread of requests: written by the loop, which waits for nobody.

use std::sync::{Arc, Mutex};

use outrigger_core::link::{Grade, GradeLow};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};

use super::streamed::Streaming;
use crate::motion::Standing;
use crate::released::ReleasedBy;
use crate::show::Variables;

/// What is known of contacts of the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// One ends what the program on the controller makes by itself, since somebody asked for that, until commanding ends.
    pub watched: bool,
    /// How many have ended such a motion in this run.
    pub seen: u32,
}

/// How a run stood at its engine's last input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// The epoch of the mode machine: requests name the one that they have seen.
    pub epoch: Epoch,
    /// The mode.
    pub mode: Mode,
    /// The grade of the link that brings states.
    pub grade: Grade,
    /// The first reason since the last acknowledge.
    pub latch: Option<Reason>,
    /// What commanding ended by last, latched or not.
    pub left: Option<Reason>,
    /// The cause of that, where it was a release.
    pub released: Option<ReleasedBy>,
    /// What a request would be refused for; nothing while commanding.
    pub unmet: ReasonSet,
    /// The cause of a low grade, if a request would be refused for it.
    pub low: Option<GradeLow>,
    /// The run is about to end.
    pub ending: bool,
    /// What a program on the controller sends, at the last look.
    pub variables: Option<Variables>,
    /// The motion that was begun last, of those that somebody asked for.
    pub motion: Option<Standing>,
    /// The next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The reason that holds the motion while commanding lasts.
    pub held: Option<Reason>,
    /// The tool's contacts.
    pub contacts: Contacts,
    /// How streams of speeds and positions have gone.
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

/// The newest status.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot(Arc<Mutex<Status>>);

impl Slot {
    /// Whether it could be put there: not while somebody reads.
    pub(super) fn put(&self, status: Status) -> bool {
        self.0.try_lock().is_ok_and(|mut slot| {
            *slot = status;
            true
        })
    }

    pub(super) fn get(&self) -> Status {
        // Nothing that holds it can panic.
        self.0.lock().map(|slot| *slot).unwrap_or_default()
    }
}
