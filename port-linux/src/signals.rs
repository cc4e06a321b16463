//! SIGINT, SIGTERM and SIGHUP as events.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// Who asks for the end when the terminal is closed: this signal, the view that finds nobody there, or both.
pub(crate) const HANG_UP: &str = "SIGHUP";

/// The signals that ask this process to end.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From now on these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the kernel refuses.
    pub fn listen() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(|error| Failure::BadInput(format!("cannot handle signals: {error}")));
        Ok(Self {
            interrupt: on(SignalKind::interrupt())?,
            terminate: on(SignalKind::terminate())?,
            hang_up: on(SignalKind::hangup())?,
        })
    }

    /// The name of the next signal. Dropping the future loses nothing.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hang_up.recv() => HANG_UP,
        }
    }
}
