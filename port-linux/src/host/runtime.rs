//! What a session runs on: the loop of an engine on this thread, everything beside it on a runtime of one thread.

use tokio::runtime::{Builder, Runtime};

use crate::exit::Failure;
use crate::host::reactor;

/// Runs a session on this thread.
///
/// # Errors
/// Those of `session`; [`Failure::BadInput`] with what the kernel refuses.
pub fn block_on<T>(session: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    reactor::block_on(session).map_err(|error| Failure::BadInput(format!("cannot wait for sockets: {error}")))?
}

/// The one-threaded runtime of what is beside an engine: requests to a controller, readers of a feed.
///
/// # Errors
/// [`Failure::BadInput`] with what the kernel refuses.
pub fn one_threaded() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::BadInput(format!("cannot start the runtime: {error}")))
}
