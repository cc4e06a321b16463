//! The interface between the control loop and the task that answers requests. Without a pending request it costs the
//! loop one comparison.

use core::cell::Cell;

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use outrigger_core::command::outputs::{Write, WriteOutcome};
use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::mode::{Channel as By, Mode, Refusal};
use outrigger_core::robot::Reason;
use outrigger_embassy::Handle;
use outrigger_remote::request::keyed::Reply;
use outrigger_wire::time::Instant;

/// The number of results of output requests that can wait to be processed. It is small because requests set few
/// outputs at once.
const NEWS: usize = 8;

/// The clients' requests that wait for the control loop, and its decisions.
pub(crate) struct Inquiry {
    /// `true` if a task waits for the control loop to handle a client's request.
    wanted: Cell<bool>,
    /// The engine's mode, and the fault that ended commanding if it is not acknowledged yet, when the control loop was
    /// last observed.
    seen: Cell<(Mode, Option<Reason>)>,
    standing: Cell<Reply>,
    refused: Cell<Option<Refusal>>,
    news: Channel<NoopRawMutex, (Write, WriteOutcome), NEWS>,
    /// The signal that the engine has received all requests sent to it.
    observed: Signal<NoopRawMutex, ()>,
}

impl Inquiry {
    pub(crate) const fn new() -> Self {
        Self {
            wanted: Cell::new(false),
            seen: Cell::new((Mode::Offline, None)),
            standing: Cell::new(OFFLINE),
            refused: Cell::new(None),
            news: Channel::new(),
            observed: Signal::new(),
        }
    }

    /// Sets whether a task waits for the engine to be [`observed`](Self::observed).
    pub(super) fn want(&self, wanted: bool) {
        self.wanted.set(wanted);
    }

    /// Returns the state of the robot's session as the reply to a status request: the mode, an unacknowledged fault,
    /// the grade of the link, and the reasons against commanding.
    pub(super) const fn standing(&self) -> Reply {
        self.standing.get()
    }

    /// Removes and returns the engine's newest rejection of a client's request; `None` if there is none.
    pub(super) fn refused(&self) -> Option<Refusal> {
        self.refused.take()
    }

    pub(super) fn news(&self) -> Option<(Write, WriteOutcome)> {
        self.news.try_receive().ok()
    }

    /// Waits until the engine has received all clients' requests.
    pub(super) async fn observed(&self) {
        self.observed.wait().await;
    }

    pub(crate) fn event<E>(&self, event: &Event<E>) {
        match event {
            Event::Refused(refusal) if refusal.by == By::Message => self.refused.set(Some(*refusal)),
            Event::Output { write, news } if self.wanted.get() => {
                // If there is no room, the sender gets no answer, as if the datagram was lost on the network.
                let _ = self.news.try_send((*write, *news));
            }
            _ => {}
        }
    }

    pub(crate) fn observe<const N: usize, P: Controller<N>, L: Law<N>>(
        &self,
        engine: &Engine<'_, N, P, L>,
        now: Instant,
        robot: Handle<'_>,
    ) {
        let seen = (engine.mode(), engine.latch());
        let wanted = self.wanted.get();
        if !wanted && seen == self.seen.get() {
            return;
        }
        self.seen.set(seen);
        let (mode, latch) = seen;
        let idle = matches!(mode, Mode::Offline | Mode::Monitor);
        let unmet = if idle { engine.unmet(now) } else { OFFLINE.unmet };
        self.standing.set(Reply { mode, latch, grade: engine.grade(), unmet, ..OFFLINE });
        if wanted && !robot.is_waiting() {
            self.observed.signal(());
        }
    }
}

const OFFLINE: Reply = Reply {
    verdict: outrigger_remote::request::keyed::Verdict::Done,
    mode: Mode::Offline,
    grade: outrigger_core::link::Grade::Unacceptable,
    latch: None,
    unmet: outrigger_core::robot::ReasonSet::EMPTY,
    ending: false,
};
