//! A client in the same process: asks as any other, without a socket and without text, and waits for nobody.

use std::sync::Arc;

use outrigger_core::law::Forward;
use outrigger_core::mode::{Asker, Epoch};
use outrigger_remote::request::FRESH_FOR;
use outrigger_wire::sensor::SampleValue;
use tokio::sync::mpsc::{self, OwnedPermit};

use super::answer::{Answer, Line};
use super::claim::Claim;
use super::letter::{Asked, Letter, Reply};
use super::said;
use super::shared::Shared;
use super::slot::Status;
use super::upload_permit::UploadPermit;
use crate::motion::asked::{Moving, Ready, Stands};
use crate::released::ReleasedBy;

/// Answers that it is owed at most.
const OWED: usize = 32;

/// A client of a session in the same process: it asks as `outrigger ask` does, and never waits.
#[derive(Debug)]
pub struct Client<const N: usize> {
    shared: Arc<Shared<N>>,
    asker: Asker,
    lines: mpsc::Sender<Line>,
    answers: mpsc::Receiver<Line>,
    next: u32,
    /// The place of what says that it is there no more.
    gone: Option<OwnedPermit<Letter<N>>>,
}

/// What came of something that was asked.
#[derive(Debug)]
pub struct Decided {
    /// The number that it was given.
    pub id: u32,
    /// How the run stood then.
    pub status: Status,
    /// Why it is not done, in the words of `outrigger ask`.
    pub done: Result<(), String>,
}

impl<const N: usize> Client<N> {
    pub(super) fn new(shared: Arc<Shared<N>>) -> Self {
        let (lines, answers) = mpsc::channel(OWED);
        let gone = shared.asks.clone().try_reserve_owned().ok();
        Self { asker: shared.next_asker(), shared, lines, answers, next: 0, gone }
    }

    /// Requests command, as somebody who has seen the session in the epoch `seen`, which [`status`](Self::status) has: after a stop or a
    /// fallback since then it is refused. Returns `false` where that was not passed on: too much has been asked just now, or the session
    /// is over.
    pub fn request(&mut self, seen: Epoch) -> bool {
        self.pass_on(Asked::Request(seen), None, None).is_some()
    }

    /// Releases the arm: it is stopped. Returns `false` where the session is over.
    pub fn release(&mut self) -> bool {
        // Another one that waits stops it as well.
        self.shared.is_releasing() || self.pass_on(Asked::Release(ReleasedBy::Program), None, None).is_some()
    }

    /// Acknowledges the reason of the last fallback. Returns `false` as [`request`](Self::request) does.
    pub fn acknowledge(&mut self) -> bool {
        self.pass_on(Asked::Acknowledge, None, None).is_some()
    }

    /// Passes on a reading of the source of this name, whose input is requests, in its own unit: as `outrigger ask ROBOT sample` does,
    /// without an answer.
    ///
    /// # Errors
    /// The source that is not there, or another number of values than it has; that too much has been asked just now.
    pub fn sample(&mut self, source: &str, values: &[f32]) -> Result<(), String> {
        let counted = SampleValue::new(values).ok_or("one to six values are expected")?;
        let sample = self.shared.sample((source, counted, None), self.shared.now());
        let sample = sample.map_err(|(_, expected, found)| format!("expected {expected}, found {found}"))?;
        let epoch = self.status().epoch;
        let sent = self.pass_on(Asked::Sample(epoch, sample), None, None);
        sent.map(drop).ok_or_else(|| "too much is asked just now".into())
    }

    /// Returns how the session stood at its engine's last input.
    pub fn status(&self) -> Status {
        self.shared.newest()
    }

    /// Where the arm stands.
    pub fn stands(&self) -> Stands<N> {
        self.shared.stands()
    }

    /// What its motions are held to.
    pub fn moving(&self) -> Moving<N> {
        self.shared.moving()
    }

    /// Who it is, for what somebody has to answer for.
    pub const fn asker(&self) -> Asker {
        self.asker
    }

    /// Returns the permit to upload a program, to be used once [`Asked::Script`] is done.
    pub fn upload_permit(&self) -> UploadPermit {
        self.shared.upload_permit()
    }

    /// Asks: the number that its outcome will have. `None` where too much has been asked just now.
    pub fn ask(&mut self, asked: Asked) -> Option<u32> {
        self.pass_on_for_an_answer(asked, None)
    }

    /// Asks to begin what is ready, having seen this epoch.
    pub fn begin(&mut self, epoch: Epoch, motion: Ready<N>) -> Option<u32> {
        self.pass_on_for_an_answer(Asked::Move(epoch, self.asker), Some(motion))
    }

    /// From now on these speeds or positions, as long as they hold: the newest counts, and how it goes is told by
    /// [`status`](Self::status).
    pub fn stream(&self, forward: Forward<N>) {
        self.shared.stream(forward);
    }

    fn pass_on_for_an_answer(&mut self, asked: Asked, motion: Option<Ready<N>>) -> Option<u32> {
        let to = self.lines.clone().try_reserve_owned().ok();
        // Not for want of an answer is the arm not stopped.
        if to.is_none() && !matches!(asked, Asked::Release(_)) {
            return None;
        }
        self.pass_on(asked, motion, to)
    }

    /// Passes it on, with the place of its answer where there is to be one.
    fn pass_on(&mut self, asked: Asked, motion: Option<Ready<N>>, to: Option<OwnedPermit<Line>>) -> Option<u32> {
        let id = self.next;
        // It needs no challenge, for nothing but this process is on its way; that it waits there for long is judged alike.
        let acts = asked.epoch().is_some() || matches!(asked, Asked::Renew(_));
        let claim = acts.then(|| Claim::new((self.asker, id), self.shared.now() + FRESH_FOR));
        let letter = Letter { asked, reply: Reply { id: Some(id), to }, motion, claim };
        self.shared.hand_over(letter).then(|| {
            self.next = self.next.wrapping_add(1);
            id
        })
    }

    /// What came of something that was asked, where there is any news.
    pub fn decided(&mut self) -> Option<Decided> {
        loop {
            match self.answers.try_recv().ok()? {
                Line::Answer(Answer { id: None, .. }) | Line::Text(_) => {}
                Line::Answer(answer) => {
                    let (id, status) = (answer.id.unwrap_or_default(), answer.status);
                    let line = answer.line(self.shared.is_here());
                    let failure = serde_json::from_str(&line).ok().and_then(|answer| said::failure(&answer));
                    let done = failure.map_or(Ok(()), |failure| Err(failure.to_string()));
                    return Some(Decided { id, status, done });
                }
            }
        }
    }
}

impl<const N: usize> Drop for Client<N> {
    fn drop(&mut self) {
        // What it answers for ends with it.
        let letter = Letter::new(Asked::Gone(self.asker), Reply { id: None, to: None });
        match self.gone.take() {
            Some(place) => {
                drop(place.send(letter));
                self.shared.ring();
            }
            None => drop(self.shared.hand_over(letter)),
        }
    }
}
