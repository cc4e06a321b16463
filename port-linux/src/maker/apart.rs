//! What a recorder takes beside the engine's links, on a thread of its own.

use std::convert::Infallible;
use std::time::Duration;

use outrigger_core::engine::Config;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, channel, unbounded_channel};

use crate::exit::Failure;
use crate::feed::Feed;
use crate::host::clock::Clock;
use crate::host::worker::Worker;
use crate::maker::{Vendor, Wanted};

/// The longest wait for its end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Ends with this.
#[derive(Debug)]
pub struct Apart {
    beside: Option<Sender<Infallible>>,
    worker: Option<Worker>,
}

impl Drop for Apart {
    /// Waits until nothing more is put into the feed.
    fn drop(&mut self) {
        self.beside = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join(PATIENCE);
        }
    }
}

impl Apart {
    /// Begins to put what is `wanted` of `controller` into `feed`; what happens is told in words.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the operating system gives no thread.
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
