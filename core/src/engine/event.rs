//! What an engine reports.

use heapless::Deque;
#[cfg(feature = "record")]
use heapless::Vec;

use crate::command::Bridged;
use crate::command::outputs::{Write, WriteNews};
use crate::link::{GradeChange, GradeLow};
use crate::mode::{Lapse, Refusal, Transition};
use crate::robot::Reason;
use outrigger_wire::time::Duration;

/// Something an operator or a log should know. None of them needs an answer.
///
/// `P` is what only this kind of controller has to tell: a [`UrEvent`](super::ur::UrEvent) or a
/// [`KrcEvent`](super::krc::KrcEvent).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Event<P> {
    /// The mode changed.
    Transition(Transition),
    /// A word that was said here was refused; it is spent.
    Refused(Refusal),
    /// The grade of the link that states come from changed.
    Grade(GradeChange),
    /// The controller's clock began anew, or jumped; counted from the start of the session.
    ClockJump(u32),
    /// This device was woken late, by more than it may be.
    LocalStall {
        /// The delay of the wake-up.
        late: Duration,
        /// The longest delay allowed: [`LinkConfig::stall`](crate::link::LinkConfig::stall).
        limit: Duration,
    },
    /// A sensor's reading was too old and was bridged for a cycle.
    Bridged(Bridged),
    /// What became of an [`Input::Set`](super::Input::Set).
    Output {
        /// What was to be set.
        write: Write,
        /// What became of it.
        news: WriteNews,
    },
    /// So many events found no room, because nobody took them.
    Lost(u32),
    /// The reason that begins to hold the motion while commanding lasts, [`Reason::HeldByScaling`] or
    /// [`Reason::ProgramPaused`]; `None` where the motion goes on.
    Held(Option<Reason>),
    /// The [automatic request](crate::mode::OperatorConfig::start_within) is not asked any more.
    Lapsed(Lapse),
    /// Commanding begins, and a stop at the pendant is not seen: the next command would override it.
    PendantOverridden,
    /// About this kind of controller.
    Peer(P),
    /// The [`Refused`](Self::Refused) or [`Transition`](Self::Transition) that follows is for
    /// [`Reason::GradeLow`](crate::robot::Reason::GradeLow): for this cause.
    GradeLow(GradeLow),
    /// A state was read that cannot be one of this arm, and used for nothing; so many since the session began.
    Impossible(u32),
}

/// Returns `true` for the counts that are reported: 1, 10, 100, …
pub(super) const fn is_milestone(count: u64) -> bool {
    let mut reported = 1_u64;
    while reported < count {
        reported = reported.saturating_mul(10);
    }
    reported == count
}

/// Events waiting to be taken.
#[derive(Debug)]
pub struct Events<P> {
    queue: Deque<Event<P>, 16>,
    lost: u32,
    /// Transitions since [`Events::begin`], whether or not there was room in the queue: the recorder's.
    #[cfg(feature = "record")]
    transitions: Vec<Transition, 8>,
}

impl<P> Default for Events<P> {
    fn default() -> Self {
        Self {
            queue: Deque::new(),
            lost: 0,
            #[cfg(feature = "record")]
            transitions: Vec::new(),
        }
    }
}

impl<P> Events<P> {
    /// Appends; where there is no room it is counted as lost. The oldest stay: they explain what follows.
    // Not inlined: fifty callers, 80 B in each.
    #[inline(never)]
    pub(super) fn push(&mut self, event: Event<P>) {
        #[cfg(feature = "record")]
        if let Event::Transition(transition) = event {
            // One input makes a handful at most; a further one would only be missing in a recording.
            let _ = self.transitions.push(transition);
        }
        if self.queue.push_back(event).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Appends what only this kind of controller tells.
    pub(super) fn push_peer(&mut self, event: P) {
        self.push(Event::Peer(event));
    }

    pub(super) fn pop(&mut self) -> Option<Event<P>> {
        self.queue.pop_front().or_else(|| match core::mem::take(&mut self.lost) {
            0 => None,
            lost => Some(Event::Lost(lost)),
        })
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.lost == 0
    }

    /// A new input begins.
    pub(super) fn begin(&mut self) {
        #[cfg(feature = "record")]
        self.transitions.clear();
    }

    /// Transitions since then.
    #[cfg(feature = "record")]
    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }
}
