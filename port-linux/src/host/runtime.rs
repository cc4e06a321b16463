//! The two ways to run a session: the engine's loop on this thread, and everything else on a runtime of one thread.

use tokio::runtime::{Builder, Runtime};

use crate::exit::Failure;
use crate::host::reactor;

/// Runs the future `session` to its end on this thread, which waits for its sockets and timers.
///
/// # Errors
/// Returns the errors of `session`; [`Failure::BadInput`] with the error of the operating system.
pub fn block_on<T>(session: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    reactor::block_on(session).map_err(|error| Failure::BadInput(format!("cannot wait for sockets: {error}")))?
}

/// Creates a runtime of one thread for work beside an engine: requests to a controller, readers of a feed.
///
/// # Errors
/// Returns [`Failure::BadInput`] with the error of the operating system.
pub fn one_threaded() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::BadInput(format!("cannot start the runtime: {error}")))
}
