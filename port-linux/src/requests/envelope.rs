//! Requests of clients in the queue to the control loop, with the place for their answer.

use outrigger_core::command::Guidance;
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{ClientNumber, Epoch, GuideLimits};
use outrigger_wire::sensor::Sample;
use tokio::sync::mpsc::OwnedPermit;

use super::answer::{Answer, Line, Verdict};
use super::motion_claim::{MotionClaim, Named};
use super::run_status::Status;
use crate::motion::impedance::Impedance;
use crate::motion::requested_motion::Ready;
use crate::released::ReleasedBy;

/// A parsed request of a client to a run (a process that commands a robot).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestKind {
    /// Requests that the arm is commanded. Contains the session's epoch (a counter of connections and losses of
    /// authority) that the sender has seen.
    Request(Epoch),
    /// Requests that the arm is commanded, and that a suspended motion is resumed.
    Resume(Epoch),
    /// Releases the arm for this cause: commanding ends, and the arm is brought to rest.
    Release(ReleasedBy),
    /// Acknowledges the latched reasons, which prevent commanding until they are acknowledged.
    Acknowledge,
    /// Sets an output of the controller or one of its settings, e.g. the payload, the tool centre point or the speed
    /// slider.
    Set(Epoch, Write),
    /// Changes the arm's stiffness and damping.
    Impedance(Epoch, Impedance),
    /// Passes a reading of a sensor to the control engine. The sensor is configured with `input = "requests"`: clients
    /// send its readings.
    Sample(Epoch, Sample),
    /// Returns control of a program on the controller to the pendant.
    HandBack(Epoch),
    /// Sends our program (the one that moves the arm) to the controller once more.
    Resend(Epoch),
    /// Requests a permit to upload a third-party program: see [`UploadPermit`](super::upload_permit::UploadPermit).
    Script(Epoch),
    /// Starts freedrive or force mode of the arm, within these limits.
    Guide(Epoch, ClientNumber, Guidance, GuideLimits),
    /// Sets whether a contact of the tool ends the arm's motions.
    ToolContact(Epoch, bool),
    /// Renews the freedrive or force mode that its sender has started.
    Renew(ClientNumber),
    /// Ends freedrive or force mode of the arm.
    Stiffen,
    /// Starts the prepared motion that the envelope contains.
    Move(Epoch, ClientNumber),
    /// Cancels the requested motion that is active.
    Cancel,
    /// Withdraws an earlier request of its sender that the control loop has already taken.
    Withdraw(Named),
    /// Reports that the client with this number has disconnected.
    Gone(ClientNumber),
}

impl RequestKind {
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Resume(_) => "resume",
            Self::Release(_) => "release",
            Self::Acknowledge => "acknowledge",
            Self::Set(..) | Self::Impedance(..) => "set",
            Self::Sample(..) => "sample",
            Self::HandBack(_) => "hand-back",
            Self::Resend(_) => "resend",
            Self::Script(_) => "script",
            Self::Guide(_, _, Guidance::Freedrive, _) => "freedrive",
            Self::Guide(_, _, Guidance::Force(_), _) => "force",
            Self::ToolContact(..) => "tool-contact",
            Self::Renew(_) => "renew",
            Self::Stiffen => "stiffen",
            Self::Move(..) => "move",
            Self::Withdraw(_) => "withdraw",
            Self::Cancel | Self::Gone(_) => "cancel",
        }
    }

    /// Returns `true` if the request stops the arm. Such requests use the queue of releases.
    pub(super) const fn stops(&self) -> bool {
        matches!(self, Self::Release(_) | Self::Withdraw(_))
    }

    pub(super) const fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Request(epoch)
            | Self::Resume(epoch)
            | Self::Set(epoch, _)
            | Self::Sample(epoch, _)
            | Self::Impedance(epoch, _)
            | Self::HandBack(epoch)
            | Self::Guide(epoch, ..)
            | Self::ToolContact(epoch, _)
            | Self::Script(epoch)
            | Self::Move(epoch, _)
            | Self::Resend(epoch) => Some(*epoch),
            Self::Release(_) | Self::Acknowledge | Self::Renew(_) | Self::Stiffen => None,
            Self::Cancel | Self::Withdraw(_) | Self::Gone(_) => None,
        }
    }
}

/// A request in the queue to the control loop, with the place for its answer.
#[derive(Debug)]
pub(super) struct Envelope<const N: usize> {
    pub(super) asked: RequestKind,
    pub(super) reply: Reply,
    /// The prepared motion, if the request is a [`RequestKind::Move`].
    pub(super) motion: Option<Ready<N>>,
    /// The state and validity of the request, if it causes motion.
    pub(super) claim: Option<MotionClaim>,
}

impl<const N: usize> Envelope<N> {
    pub(super) const fn new(asked: RequestKind, reply: Reply) -> Self {
        Self { asked, reply, motion: None, claim: None }
    }
}

/// The destination of the answer to a client's request.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: Option<u32>,
    /// The reserved place for the answer. `None` if the client accepts no answers; its request is carried out all the
    /// same.
    pub(super) to: Option<OwnedPermit<Line>>,
}

impl Reply {
    pub(super) fn give(self, word: &'static str, status: Status, verdict: Verdict) {
        if let Some(to) = self.to {
            drop(to.send(Line::Answer(Answer { id: self.id, word, status, verdict })));
        }
    }
}
