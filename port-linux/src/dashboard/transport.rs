//! What carries requests to a controller: its dashboard server, or the Robot API of PolyScope X.

use std::future::Future;

use outrigger_core::client::dashboard::{Obstacle, Progress, Sequence, Step};
use outrigger_core::wire::dashboard::{Reply, Request};

use crate::clock::Clock;

/// Carries one request at a time, and connects where there is no connection.
pub trait Transport {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// [`Trouble`] where there is none. The next request connects anew.
    fn execute<'s>(&'s mut self, request: Request<'_>) -> impl Future<Output = Result<Reply<'s>, Trouble>>;
}

/// Why a request has no answer: what happened, and what to check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// Why a [`Sequence`] did not reach its goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
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
pub async fn run(
    sequence: &mut impl Sequence,
    transport: &mut impl Transport,
    clock: Clock,
    mut tell: impl FnMut(Progress),
) -> Result<(), Ended> {
    loop {
        match sequence.next(clock.now()) {
            Step::Say(progress) => tell(progress),
            Step::Ask(request) => {
                let reply = transport.execute(request).await?;
                sequence.answered(clock.now(), &reply);
            }
            Step::WaitUntil(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
            Step::Done => return Ok(()),
            Step::Stopped(obstacle) => return Err(Ended::Obstacle(obstacle)),
        }
    }
}
