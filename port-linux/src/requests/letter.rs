//! What is asked of the loop, on its way there, with the place of its answer.

use outrigger_core::command::Guidance;
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{Asker, Epoch, GuideLimits};
use outrigger_wire::sensor::Sample;
use tokio::sync::mpsc::OwnedPermit;

use super::answer::{Answer, Line, Verdict};
use super::claim::{Claim, Named};
use super::slot::Status;
use crate::maker::impedance::Impedance;
use crate::motion::asked::Ready;
use crate::released::ReleasedBy;

/// What was asked, understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Requests command, having seen this epoch.
    Request(Epoch),
    /// Requests command, to go on with a suspended motion.
    Resume(Epoch),
    /// A release, for this cause.
    Release(ReleasedBy),
    /// Acknowledges the latched reason.
    Acknowledge,
    /// Sets an output.
    Set(Epoch, Write),
    /// Changes stiffness and damping.
    Impedance(Epoch, Impedance),
    /// A reading of a source that takes them by request.
    Sample(Epoch, Sample),
    /// Hands a program on the controller back to the pendant.
    HandBack(Epoch),
    /// Sends our program to the controller once more.
    Resend(Epoch),
    /// A permit to upload a third-party program: see [`UploadPermit`](super::upload_permit::UploadPermit).
    Script(Epoch),
    /// Lets a hand or a force move the arm, within these limits.
    Guide(Epoch, Asker, Guidance, GuideLimits),
    /// Ends motions at a contact of the tool, or not.
    ToolContact(Epoch, bool),
    /// Renews what its asker answers for.
    Renew(Asker),
    /// Ends what a hand or a force moves.
    Stiffen,
    /// What is ready comes with the letter.
    Move(Epoch, Asker),
    /// Ends the motion that was asked for.
    Cancel,
    /// This request of its sender is taken back, which the loop has had already.
    Withdraw(Named),
    /// This asker is there no more.
    Gone(Asker),
}

impl Asked {
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

    /// Returns whether it stops the arm, and goes by the lane of releases.
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

/// The same on its way to the loop, with the place of its answer.
#[derive(Debug)]
pub(super) struct Letter<const N: usize> {
    pub(super) asked: Asked,
    pub(super) reply: Reply,
    /// With [`Asked::Move`].
    pub(super) motion: Option<Ready<N>>,
    /// With what causes motion.
    pub(super) claim: Option<Claim>,
}

impl<const N: usize> Letter<N> {
    pub(super) const fn new(asked: Asked, reply: Reply) -> Self {
        Self { asked, reply, motion: None, claim: None }
    }
}

/// Where an answer goes.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: Option<u32>,
    /// `None` where its sender takes no answers: what was asked is done all the same.
    pub(super) to: Option<OwnedPermit<Line>>,
}

impl Reply {
    pub(super) fn give(self, word: &'static str, status: Status, verdict: Verdict) {
        if let Some(to) = self.to {
            drop(to.send(Line::Answer(Answer { id: self.id, word, status, verdict })));
        }
    }
}
