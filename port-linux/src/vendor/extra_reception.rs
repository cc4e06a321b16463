//! Receives additional data for a recorder on a thread of its own, over connections separate from the engine's
//! links.

use std::convert::Infallible;
use std::time::Duration;

use outrigger_core::engine::Config;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, channel, unbounded_channel};

use crate::exit::Failure;
use crate::feed::Feed;
use crate::host::clock::Clock;
use crate::host::worker::Worker;
use crate::vendor::{Vendor, Wanted};

/// The longest time to wait for the end of the receiving thread.
const PATIENCE: Duration = Duration::from_secs(1);

/// A thread that receives additional data for a recorder. It ends when this is dropped.
#[derive(Debug)]
pub struct Apart {
    beside: Option<Sender<Infallible>>,
    worker: Option<Worker>,
}

impl Drop for Apart {
    /// Ends the thread, and waits for at most 1 s until it has stopped putting entries into the feed.
    fn drop(&mut self) {
        self.beside = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join(PATIENCE);
        }
    }
}

impl Apart {
    /// Starts to put the `wanted` data of `controller` into `feed`. Returns a receiver of messages for people.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the operating system starts no thread.
    pub fn start<const N: usize, C: Vendor<N>>(
        controller: &mut C,
        config: &Config<N, C::Options>,
        wanted: Wanted,
        clock: Clock,
        feed: Feed,
    ) -> Result<(Self, UnboundedReceiver<String>), Failure> {
        let runtime = crate::host::runtime::one_threaded()?;
        let (beside, mut ended) = channel(1);
        let (sender, remarks) = unbounded_channel();
        let apart = controller.apart(config, wanted, clock, feed, sender);
        let follow = async move {
            tokio::select! {
                never = apart => match never {},
                _ = ended.recv() => {}
            }
        };
        let worker = Worker::start("apart", move || runtime.block_on(follow))
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok((Self { beside: Some(beside), worker: Some(worker) }, remarks))
    }
}
