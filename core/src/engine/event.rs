//! The events that an engine reports to an operator or a log.

use heapless::Deque;
#[cfg(feature = "record")]
use heapless::Vec;

use crate::command::Bridged;
use crate::command::outputs::{Write, WriteOutcome};
use crate::link::{GradeChange, GradeLow};
use crate::mode::{Lapse, Refusal, Transition};
use crate::robot::Reason;
use outrigger_wire::time::Duration;

/// An event for an operator or a log. No event needs an answer.
///
/// `P` is the event type of this kind of controller: a [`UrEvent`](super::ur::UrEvent) or a
/// [`KrcEvent`](super::krc::KrcEvent).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Event<P> {
    /// The mode of the mode machine changed.
    Transition(Transition),
    /// An operator action was refused, or the automatic request to command. It is not repeated automatically.
    Refused(Refusal),
    /// The grade of the link that delivers the states of the arm changed.
    Grade(GradeChange),
    /// The controller's clock restarted, or jumped. The count is since the start of the session.
    ClockJump(u32),
    /// This process was woken later than allowed.
    LocalStall {
        /// The delay with which this process was woken.
        late: Duration,
        /// The longest delay allowed: [`LinkConfig::stall`](crate::link::LinkConfig::stall).
        limit: Duration,
    },
    /// A sensor's reading was too old, and was used for one more cycle all the same.
    Bridged(Bridged),
    /// An outcome of an [`Input::Set`](super::Input::Set), which sets an output or another value of the controller.
    Output {
        /// The output of the controller (or KRL variable) that was requested to be set, and the requested value.
        write: Write,
        /// The newest outcome of this request, such as sent, confirmed or refused.
        news: WriteOutcome,
    },
    /// The number of events that were dropped because the queue of events was full.
    Lost(u32),
    /// The reason that starts to hold the motion during commanding, [`Reason::HeldByScaling`] or
    /// [`Reason::ProgramPaused`]; `None` if the motion continues.
    Held(Option<Reason>),
    /// The [automatic request](crate::mode::OperatorConfig::start_within) to command is no longer made.
    Lapsed(Lapse),
    /// Commanding starts although a stop at the pendant cannot be detected: the next command would override it.
    PendantOverridden,
    /// An event that only this kind of controller reports.
    Peer(P),
    /// The cause of the [`Refused`](Self::Refused) or [`Transition`](Self::Transition) with
    /// [`Reason::GradeLow`](crate::robot::Reason::GradeLow) that follows.
    GradeLow(GradeLow),
    /// A state was received whose values are impossible for this arm, and was discarded. The count is since the session
    /// started.
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

/// The queue of events that the application has not taken yet.
#[derive(Debug)]
pub struct Events<P> {
    queue: Deque<Event<P>, 16>,
    lost: u32,
    /// The transitions between modes since [`Events::begin`], for the recorder. They are stored even if the queue is
    /// full.
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
    /// Appends an event. If the queue is full, the event is counted as lost. The oldest events are kept, because they
    /// explain the later ones.
    // Not inlined: fifty callers, 80 B in each.
    #[inline(never)]
    pub(super) fn push(&mut self, event: Event<P>) {
        #[cfg(feature = "record")]
        if let Event::Transition(transition) = event {
            // One input causes a handful at most; a further one would only be missing in a recording.
            let _ = self.transitions.push(transition);
        }
        if self.queue.push_back(event).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Appends an event of this kind of controller.
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

    /// Begins a call of the engine with a new input: clears the transitions between modes that the input before caused.
    pub(super) fn begin(&mut self) {
        #[cfg(feature = "record")]
        self.transitions.clear();
    }

    /// Returns the transitions between modes since [`begin`](Self::begin).
    #[cfg(feature = "record")]
    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }
}
