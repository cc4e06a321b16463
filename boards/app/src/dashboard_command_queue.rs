//! The queue of at most one command for the controller's dashboard server, between its requesters and the task that
//! executes it.

use core::cell::Cell;

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use outrigger_core::client::dashboard::{ArmCommand, Outcome};
use outrigger_embassy::Handle;

/// The origin of a command for the dashboard server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A client on the network that has the key of the request service.
    Message,
    /// An operator's contact at the board: the brake contact.
    Pin,
}

/// The exchange between the requesters of commands for the dashboard server and the task that executes them: at most
/// one command at a time, and its outcome.
pub(crate) struct ServiceCommands {
    asked: Signal<NoopRawMutex, (ArmCommand, Asker)>,
    busy: Cell<bool>,
    outcome: Signal<NoopRawMutex, Outcome>,
    /// `true` while the dashboard command waits until the control loop has ended commanding the arm.
    releasing: Cell<bool>,
    released: Signal<NoopRawMutex, ()>,
}

impl ServiceCommands {
    pub(crate) const fn new() -> Self {
        let (busy, releasing) = (Cell::new(false), Cell::new(false));
        Self { asked: Signal::new(), busy, outcome: Signal::new(), releasing, released: Signal::new() }
    }

    /// Adds a command for the dashboard server; returns `false` while another one is in execution.
    pub(crate) fn ask(&self, arm_command: ArmCommand, by: Asker) -> bool {
        let free = !self.busy.replace(true);
        if free {
            self.asked.signal((arm_command, by));
        }
        free
    }

    /// Waits for the outcome of the dashboard command that a client's message requested, and returns it once.
    pub(crate) async fn outcome(&self) -> Outcome {
        self.outcome.wait().await
    }

    /// Wakes [`looked`](Self::looked) if a dashboard command waits for the end of commanding and the control loop has
    /// taken all operators' requests. Called after each observation of the engine.
    pub(crate) fn observe(&self, robot: Handle<'_>) {
        if self.releasing.get() && !robot.is_waiting() {
            self.released.signal(());
        }
    }

    /// Waits for the next command for the dashboard server, and returns it with its origin.
    pub(crate) async fn next(&self) -> (ArmCommand, Asker) {
        self.asked.wait().await
    }

    /// Ends the dashboard command in execution, so that the next one is accepted.
    pub(crate) fn end(&self) {
        self.releasing.set(false);
        self.busy.set(false);
    }

    /// Reports the outcome of a dashboard command that a client's message requested.
    pub(crate) fn report(&self, outcome: Outcome) {
        self.outcome.signal(outcome);
    }

    /// Begins to wait until the control loop has ended commanding the arm, which a dashboard command requires.
    pub(crate) fn await_release(&self) {
        self.released.reset();
        self.releasing.set(true);
    }

    /// Returns `true` while a dashboard command waits until the control loop has ended commanding the arm.
    pub(crate) const fn awaits_release(&self) -> bool {
        self.releasing.get()
    }

    /// Waits until the control loop has taken all operators' requests that were sent to it. Call
    /// [`await_release`](Self::await_release) before.
    pub(crate) async fn looked(&self) {
        self.released.wait().await;
    }

    /// Ends the dashboard command's wait for the end of commanding.
    pub(crate) fn end_release(&self) {
        self.releasing.set(false);
    }
}
