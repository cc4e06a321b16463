//! The transport of requests to a controller: its dashboard server, or the Robot API of PolyScope X.

use std::future::Future;

use outrigger_core::client::dashboard::{Progress, Sequence, SequenceError, SequenceEvent, SequenceInput};
use outrigger_wire::dashboard::{Refusal, Reply, Request};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::SoftwareVersion;

use super::reply_text::words;
use crate::host::clock::Clock;

/// The newest version of the controller's software whose dashboard server cannot report its version.
const WITHOUT_VERSION: SoftwareVersion = SoftwareVersion::new(1, 7);

/// A connection to a dashboard server or Robot API of a controller, which carries one request at a time. It is opened
/// when it is needed.
pub trait Transport {
    /// Sends a request to the controller; the reply is received later.
    fn ask(&mut self, request: Request<'_>);

    /// Waits for the controller's reply to the last request, and passes it to `read` with the line that contained it.
    ///
    /// # Errors
    /// Returns [`Trouble`] if there is no reply. The next request connects anew.
    fn answer_with_line<R>(
        &mut self,
        read: impl FnOnce(&Reply<'_>, Text<'_>) -> R,
    ) -> impl Future<Output = Result<R, Trouble>>;

    /// Waits for the controller's reply to the last request, and passes it to `read`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::answer_with_line`].
    fn answer<R>(&mut self, read: impl FnOnce(&Reply<'_>) -> R) -> impl Future<Output = Result<R, Trouble>> {
        self.answer_with_line(|reply, _| read(reply))
    }

    /// Sends a request to the controller, and passes its reply to `read`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::answer`].
    fn execute<R>(
        &mut self,
        request: Request<'_>,
        read: impl FnOnce(&Reply<'_>) -> R,
    ) -> impl Future<Output = Result<R, Trouble>> {
        self.ask(request);
        self.answer(read)
    }
}

/// A reason why a request to a dashboard server or Robot API has no reply: what happened, and what to check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// A reason why a [`Sequence`] of requests to a controller did not reach its goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// A request to the controller had no reply.
    #[error("{0}")]
    Trouble(#[from] Trouble),
    /// A condition on the controller prevents the goal of the sequence.
    #[error("{0}; {advice}", advice = .0.advice())]
    Obstacle(SequenceError),
}

/// Returns the version of the software behind a dashboard server. The available requests depend on it.
///
/// # Errors
/// Returns [`Trouble`] if the version is not reported.
pub async fn software(transport: &mut impl Transport) -> Result<SoftwareVersion, Trouble> {
    let software = transport.execute(Request::PolyscopeVersion, |reply| match reply {
        Reply::Software { version, .. } => Ok(*version),
        Reply::Refused(Refusal::NotUnderstood(_)) => Ok(WITHOUT_VERSION),
        other => Err(words(other)),
    });
    software.await?.map_err(|answer| {
        Trouble(format!(
            "not a dashboard server's answer to the version query: \
                                                      {answer}"
        ))
    })
}

/// Runs a sequence of requests to a controller (e.g. to power it on) to its end, and passes each step to `tell`.
///
/// # Errors
/// Returns [`Ended`] if it does not reach its goal.
pub async fn run(
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
