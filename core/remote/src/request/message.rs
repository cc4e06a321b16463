//! Requests, and how they are written.

use core::fmt::{self, Write as _};

use super::fresh::Challenge;
use super::key::Key;
use outrigger_core::mode::Epoch;
use outrigger_wire::sensor::SampleValue;

/// One line, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message<'a> {
    /// For its sender, who finds it in the answer.
    pub id: Option<u32>,
    /// The challenge of a recent answer. A request that [causes motion](Ask::causes_motion) needs one.
    pub challenge: Option<Challenge>,
    /// The request.
    pub ask: Ask<'a>,
}

/// A request. An epoch is the one that the sender saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ask<'a> {
    /// The state of the session.
    Status,
    /// The state of the session, now and with each change.
    Watch,
    /// To command.
    Request(Epoch),
    /// To go on with a motion that was suspended.
    Resume(Epoch),
    /// To stop the arm.
    Release,
    /// To clear the latched reason.
    Acknowledge,
    /// To set an output.
    Set {
        /// The epoch that was seen.
        epoch: Epoch,
        /// The output and its value: `digital-out.3=on`. Not empty.
        output: &'a str,
    },
    /// To take a reading of a source.
    Sample {
        /// The epoch that was seen.
        epoch: Epoch,
        /// The source's name. Not empty.
        source: &'a str,
        /// Its numbers, finite, in the source's unit.
        values: SampleValue,
        /// Its sequence number, wrapping; `None`: one more than that of the reading before.
        seq: Option<u32>,
    },
    /// To end our program on the controller, so that the pendant's goes on.
    HandBack(Epoch),
    /// To send that program again.
    Resend(Epoch),
    /// To let a hand move the arm, for as long as the same sender renews it.
    Freedrive {
        /// The epoch that was seen.
        epoch: Epoch,
        /// Within which limits: `tool-speed=0.1`; empty for those of everybody.
        how: &'a str,
    },
    /// To let a force move it, likewise.
    Force {
        /// The epoch that was seen.
        epoch: Epoch,
        /// The kind and its limits: `z=-20 tool-speed=0.1`. Not empty.
        how: &'a str,
    },
    /// A choice whether a contact of the tool ends what the controller executes by itself.
    ToolContact {
        /// The epoch that was seen.
        epoch: Epoch,
        /// `on` or `off`.
        how: &'a str,
    },
    /// A renewal of a motion by hand or force, by its sender.
    Renew,
    /// The end of a motion by hand or force, whoever began it: the arm rests, and stays commanded.
    Stiffen,
    /// To move the arm to one place, or along a motion that is sent in pieces, for as long as the same sender is there.
    Move {
        /// The epoch that was seen.
        epoch: Epoch,
        /// The motion: `q=0,-1.57,-1.57,-1.57,1.57,0 speed=0.5`; or a piece of one: `begin=120`, `rows=0.5,0.1,...`, `end`. Not empty.
        how: &'a str,
    },
    /// The end of a motion, whoever began it: the arm comes to rest, and stays commanded.
    Cancel,
    /// One command to the controller's dashboard server that makes the arm ready; not while it is commanded.
    Dashboard {
        /// The epoch that was seen.
        epoch: Epoch,
        /// The command: `brake-release`. Not empty.
        how: &'a str,
    },
    /// To take an earlier request of the same sender back. It stops the arm only if that very request armed it.
    Withdraw {
        /// The `id` of that request; on a keyed channel its counter.
        what: u32,
    },
}

impl Ask<'_> {
    /// The words of `do`.
    pub const WORDS: [&'static str; 19] = [
        "status",
        "watch",
        "request",
        "resume",
        "release",
        "acknowledge",
        "set",
        "sample",
        "hand-back",
        "resend",
        "freedrive",
        "force",
        "tool-contact",
        "renew",
        "stiffen",
        "move",
        "cancel",
        "dashboard",
        "withdraw",
    ];

    /// Returns the word of `do`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Watch => "watch",
            Self::Request(_) => "request",
            Self::Resume(_) => "resume",
            Self::Release => "release",
            Self::Acknowledge => "acknowledge",
            Self::Set { .. } => "set",
            Self::Sample { .. } => "sample",
            Self::HandBack(_) => "hand-back",
            Self::Resend(_) => "resend",
            Self::Freedrive { .. } => "freedrive",
            Self::Force { .. } => "force",
            Self::ToolContact { .. } => "tool-contact",
            Self::Renew => "renew",
            Self::Stiffen => "stiffen",
            Self::Move { .. } => "move",
            Self::Cancel => "cancel",
            Self::Dashboard { .. } => "dashboard",
            Self::Withdraw { .. } => "withdraw",
        }
    }

    /// Returns whether the arm may move by this, so that it has to be fresh: it is carried out only with a
    /// [`Challenge`] that was issued to its sender at most [`FRESH_FOR`](super::FRESH_FOR) ago and not used yet.
    ///
    /// The list of such requests stands here alone. What stops the arm, or only asks, needs no challenge and never waits for one.
    #[must_use]
    pub fn causes_motion(&self) -> bool {
        match self {
            Self::Request(_) | Self::Resume(_) | Self::HandBack(_) => true,
            // A hand or a force goes on moving the arm by a renewal.
            Self::Freedrive { .. } | Self::Force { .. } | Self::Renew => true,
            // Its beginning and its waypoints are collected; nothing moves before its end.
            Self::Move { how, .. } => !how.starts_with("begin=") && !how.starts_with("rows="),
            // Brakes that open may let the arm sink.
            Self::Dashboard { .. } => true,
            // A motion that the slider holds goes on when it is raised.
            Self::Set { output, .. } => output.starts_with("speed-slider"),
            Self::Status | Self::Watch | Self::Sample { .. } | Self::ToolContact { .. } | Self::Resend(_) => false,
            Self::Release | Self::Acknowledge | Self::Stiffen | Self::Cancel | Self::Withdraw { .. } => false,
        }
    }

    /// Returns the epoch that its sender saw; `None` where none is needed.
    #[must_use]
    pub const fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Status | Self::Watch | Self::Release | Self::Acknowledge => None,
            Self::Renew | Self::Stiffen | Self::Cancel | Self::Withdraw { .. } => None,
            Self::Request(epoch)
            | Self::Resume(epoch)
            | Self::Set { epoch, .. }
            | Self::Sample { epoch, .. }
            | Self::HandBack(epoch)
            | Self::Freedrive { epoch, .. }
            | Self::Force { epoch, .. }
            | Self::ToolContact { epoch, .. }
            | Self::Move { epoch, .. }
            | Self::Dashboard { epoch, .. }
            | Self::Resend(epoch) => Some(*epoch),
        }
    }
}

/// The line, without its newline.
impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        if let Some(id) = self.id {
            write!(f, "\"{}\":{id},", Key::Id.name())?;
        }
        write!(f, "\"{}\":\"{}\"", Key::Do.name(), self.ask.word())?;
        if let Some(epoch) = self.ask.epoch() {
            write!(f, ",\"{}\":{}", Key::Epoch.name(), epoch.number())?;
        }
        if let Some(challenge) = self.challenge {
            write!(f, ",\"{}\":{}", Key::Challenge.name(), challenge.number())?;
        }
        match &self.ask {
            Ask::Set { output, .. } => write!(f, ",\"{}\":{}", Key::Output.name(), Quoted(output))?,
            Ask::Freedrive { how: "", .. } => {}
            Ask::Withdraw { what } => write!(f, ",\"{}\":{what}", Key::What.name())?,
            Ask::Freedrive { how, .. }
            | Ask::Force { how, .. }
            | Ask::ToolContact { how, .. }
            | Ask::Move { how, .. }
            | Ask::Dashboard { how, .. } => {
                write!(f, ",\"{}\":{}", Key::How.name(), Quoted(how))?;
            }
            Ask::Sample { source, values, seq, .. } => {
                write!(f, ",\"{}\":{},\"{}\":[", Key::Source.name(), Quoted(source), Key::Values.name())?;
                for (index, value) in values.as_slice().iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    // The fewest digits that read back as the same number.
                    write!(f, "{comma}{value:?}")?;
                }
                f.write_char(']')?;
                if let Some(seq) = seq {
                    write!(f, ",\"{}\":{seq}", Key::Seq.name())?;
                }
            }
            _ => {}
        }
        f.write_char('}')
    }
}

/// A text in quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                // Also what only a terminal takes for a control character.
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}
