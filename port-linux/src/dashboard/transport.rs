//! What carries requests to a controller: its dashboard server, or the Robot API of PolyScope X.

use std::future::Future;

use outrigger_core::client::dashboard::{Obstacle, Progress, Sequence, SequenceEvent, SequenceInput};
use outrigger_core::wire::dashboard::{Reply, Request};

use crate::clock::Clock;

/// Carries one request at a time, and connects where there is no connection.
pub(super) trait Transport {
    /// Puts a request.
    fn ask(&mut self, request: Request<'_>);

    /// Waits for the answer and hands it to `read`.
    ///
    /// # Errors
    /// [`Trouble`] where there is none. The next request connects anew.
    fn answer<R>(&mut self, read: impl FnOnce(&Reply<'_>) -> R) -> impl Future<Output = Result<R, Trouble>>;

    /// Puts a request, and hands its answer to `read`.
    ///
    /// # Errors
    /// Those of [`Self::answer`].
    async fn execute<R>(&mut self, request: Request<'_>, read: impl FnOnce(&Reply<'_>) -> R) -> Result<R, Trouble> {
        self.ask(request);
        self.answer(read).await
    }
}

/// Why a request has no answer: what happened, and what to check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Trouble(pub(super) String);

/// Why a [`Sequence`] did not reach its goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ended {
    /// The controller could not be asked.
    #[error("{0}")]
    Trouble(#[from] Trouble),
    /// Something stands in the way.
    #[error("{0}; {advice}", advice = .0.advice())]
    Obstacle(Obstacle),
}

/// Runs a sequence to its end and tells its steps.
///
/// # Errors
/// [`Ended`] where it does not reach its goal.
pub(super) async fn run(
    sequence: &mut impl Sequence,
    transport: &mut impl Transport,
    clock: Clock,
    mut tell: impl FnMut(Progress),
) -> Result<(), Ended> {
    loop {
        while let Some(event) = sequence.poll_event() {
            match event {
                SequenceEvent::Progress(progress) => tell(progress),
                SequenceEvent::Done => return Ok(()),
                SequenceEvent::Stopped(obstacle) => return Err(Ended::Obstacle(obstacle)),
            }
        }
        if let Some(request) = sequence.poll_output() {
            transport.ask(request);
            transport.answer(|reply| sequence.handle(clock.now(), SequenceInput::Reply(*reply))).await?;
            continue;
        }
        if let Some(at) = sequence.poll_timeout() {
            tokio::time::sleep_until(clock.std_instant(at).into()).await;
        }
        sequence.handle(clock.now(), SequenceInput::Tick);
    }
}
