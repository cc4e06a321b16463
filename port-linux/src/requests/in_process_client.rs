//! A client in the same process: sends the same requests as others, without a socket and without text, and never
//! blocks.

use std::sync::Arc;

use outrigger_core::law::Forward;
use outrigger_core::mode::{ClientNumber, Epoch};
use outrigger_remote::request::FRESH_FOR;
use outrigger_wire::sensor::SampleValue;
use tokio::sync::mpsc::{self, OwnedPermit};

use super::answer::{Answer, Line};
use super::client_shared_state::Shared;
use super::envelope::{Envelope, Reply, RequestKind};
use super::failure_text;
use super::motion_claim::MotionClaim;
use super::run_status::Status;
use super::upload_permit::UploadPermit;
use crate::motion::requested_motion::{ArmMotionState, Moving, Ready};
use crate::released::ReleasedBy;

/// The maximum number of this client's requests without an answer yet.
const OWED: usize = 32;

/// A client of a session in the same process. It sends the requests of `outrigger ctl`, and never blocks.
#[derive(Debug)]
pub struct Client<const N: usize> {
    shared: Arc<Shared<N>>,
    asker: ClientNumber,
    lines: mpsc::Sender<Line>,
    answers: mpsc::Receiver<Line>,
    next: u32,
    /// The reserved place in the queue for the message that this client has disconnected.
    gone: Option<OwnedPermit<Envelope<N>>>,
}

/// The result of a request of the client in this process.
#[derive(Debug)]
pub struct Decided {
    /// The number of the request, as returned by [`ask`](Client::ask) or [`begin`](Client::begin).
    pub id: u32,
    /// The status of the run at the time when the request was decided.
    pub status: Status,
    /// `Ok` if the request was carried out, otherwise the reason why not, as text like that of `outrigger ctl`.
    pub done: Result<(), String>,
}

impl<const N: usize> Client<N> {
    pub(super) fn new(shared: Arc<Shared<N>>) -> Self {
        let (lines, answers) = mpsc::channel(OWED);
        let gone = shared.asks.clone().try_reserve_owned().ok();
        Self { asker: shared.next_asker(), shared, lines, answers, next: 0, gone }
    }

    /// Requests to command, by a caller that has seen the session in the epoch `seen`, which is in
    /// [`status`](Self::status). The request is rejected if there was a stop or a fallback (end of commanding by a
    /// fault) since then. Returns `false` if the request was not queued: there are too many requests, or the session is
    /// over.
    pub fn request(&mut self, seen: Epoch) -> bool {
        self.pass_on(RequestKind::Request(seen), None, None).is_some()
    }

    /// Requests the end of commanding (a release): the arm is stopped. Returns `false` if the session is over.
    pub fn release(&mut self) -> bool {
        // A release that is already queued has the same effect.
        self.shared.is_releasing() || self.pass_on(RequestKind::Release(ReleasedBy::Program), None, None).is_some()
    }

    /// Acknowledges the latched reasons, which prevent commanding until they are acknowledged. Returns `false` like
    /// [`request`](Self::request).
    pub fn acknowledge(&mut self) -> bool {
        self.pass_on(RequestKind::Acknowledge, None, None).is_some()
    }

    /// Passes on a reading of the source `source`, in its own unit, like `outrigger ctl ROBOT sample`, but without an
    /// answer. The source's input must be `requests`.
    ///
    /// # Errors
    /// Returns an error if there is no such source, if it has another number of values, or if there are too many
    /// requests.
    pub fn sample(&mut self, source: &str, values: &[f32]) -> Result<(), String> {
        let counted = SampleValue::new(values).ok_or("expected one to six values")?;
        let sample = self.shared.sample((source, counted, None), self.shared.now());
        let sample = sample.map_err(|(_, expected, found)| format!("expected {expected}, found {found}"))?;
        let epoch = self.status().epoch;
        let sent = self.pass_on(RequestKind::Sample(epoch, sample), None, None);
        sent.map(drop).ok_or_else(|| "too many requests at once".into())
    }

    /// Returns the status of the session after its engine's last input.
    pub fn status(&self) -> Status {
        self.shared.newest()
    }

    /// Returns the measured joint positions and speeds of the arm, the active setpoint and the period of robot states.
    pub fn stands(&self) -> ArmMotionState<N> {
        self.shared.stands()
    }

    /// Returns the limits of the session's motions, and which motions it rejects.
    pub fn moving(&self) -> Moving<N> {
        self.shared.moving()
    }

    /// Returns the identity of this client, to which its motions, freedrive and force mode are bound.
    pub const fn asker(&self) -> ClientNumber {
        self.asker
    }

    /// Returns the permit to upload a program. It can be used after [`RequestKind::Script`] was granted.
    pub fn upload_permit(&self) -> UploadPermit {
        self.shared.upload_permit()
    }

    /// Sends a request. Returns the number that the result will have, or `None` if there are too many requests or the
    /// session is over.
    pub fn ask(&mut self, asked: RequestKind) -> Option<u32> {
        self.pass_on_for_an_answer(asked, None)
    }

    /// Requests the start of a prepared motion, by a caller that has seen this epoch of the session (a counter of
    /// connections and losses of authority). Returns the number that the result will have, or `None` like
    /// [`ask`](Self::ask).
    pub fn begin(&mut self, epoch: Epoch, motion: Ready<N>) -> Option<u32> {
        self.pass_on_for_an_answer(RequestKind::Move(epoch, self.asker), Some(motion))
    }

    /// Streams speeds, positions or torques. Each command is valid for its own time, and the newest one counts.
    /// [`status`](Self::status) reports the progress.
    pub fn stream(&self, forward: Forward<N>) {
        self.shared.stream(forward);
    }

    fn pass_on_for_an_answer(&mut self, asked: RequestKind, motion: Option<Ready<N>>) -> Option<u32> {
        let to = self.lines.clone().try_reserve_owned().ok();
        // A release is sent even if there is no room for its answer.
        if to.is_none() && !matches!(asked, RequestKind::Release(_)) {
            return None;
        }
        self.pass_on(asked, motion, to)
    }

    /// Queues a request for the control loop. `to` is the reserved place for its answer. Returns its number, or `None`
    /// if it was not queued.
    fn pass_on(&mut self, asked: RequestKind, motion: Option<Ready<N>>, to: Option<OwnedPermit<Line>>) -> Option<u32> {
        let id = self.next;
        // No challenge is needed, because nothing but this process can delay the request. A long wait in the queue is
        // checked all the same.
        let acts = asked.epoch().is_some() || matches!(asked, RequestKind::Renew(_));
        let claim = acts.then(|| MotionClaim::new((self.asker, id), self.shared.now() + FRESH_FOR));
        let letter = Envelope { asked, reply: Reply { id: Some(id), to }, motion, claim };
        self.shared.hand_over(letter).then(|| {
            self.next = self.next.wrapping_add(1);
            id
        })
    }

    /// Returns the result of one of this client's earlier requests. `None` if there is no new result.
    pub fn decided(&mut self) -> Option<Decided> {
        loop {
            match self.answers.try_recv().ok()? {
                Line::Answer(Answer { id: None, .. }) | Line::Text(_) => {}
                Line::Answer(answer) => {
                    let (id, status) = (answer.id.unwrap_or_default(), answer.status);
                    let line = answer.line(self.shared.is_here());
                    let failure = serde_json::from_str(&line).ok().and_then(|answer| failure_text::failure(&answer));
                    let done = failure.map_or(Ok(()), |failure| Err(failure.to_string()));
                    return Some(Decided { id, status, done });
                }
            }
        }
    }
}

impl<const N: usize> Drop for Client<N> {
    fn drop(&mut self) {
        // The motion of this client ends now. Freedrive and force mode end because they are no longer renewed.
        let letter = Envelope::new(RequestKind::Gone(self.asker), Reply { id: None, to: None });
        match self.gone.take() {
            Some(place) => {
                drop(place.send(letter));
                self.shared.ring();
            }
            None => drop(self.shared.hand_over(letter)),
        }
    }
}
