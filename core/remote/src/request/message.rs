//! The requests to a process that commands a robot, and their form as a line.

use core::fmt::{self, Write as _};

use super::json_keys::Key;
use super::request_freshness::Challenge;
use outrigger_core::mode::Epoch;
use outrigger_wire::sensor::SampleValue;

/// A request to a process that commands a robot, in the form of one line, with its `id` and challenge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message<'a> {
    /// The number of the request, chosen by its sender; the answer repeats it.
    pub id: Option<u32>,
    /// The challenge of a recent answer. A request that [causes motion](ClientRequest::causes_motion) needs one.
    pub challenge: Option<Challenge>,
    /// The request that the message transmits.
    pub ask: ClientRequest<'a>,
}

/// A client's request to a process that commands a robot. Its epoch is that of the session with the robot, a counter of
/// connections and losses of authority, as the sender observed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientRequest<'a> {
    /// Report the state of the session with the robot once.
    Status,
    /// Report the state of the session with the robot now and after each change of it.
    Watch,
    /// Begin commanding the arm, if the session with the robot is still in this epoch.
    Request(Epoch),
    /// Resume a suspended motion of the arm, if the session with the robot is still in this epoch.
    Resume(Epoch),
    /// Stop the arm and stop commanding it.
    Release,
    /// Clear the stored reason for which commanding ended, so that commanding the arm can be requested again.
    Acknowledge,
    /// Set an output of the controller.
    Set {
        /// The epoch of the session with the robot that the sender observed; the output is set only if it is still the
        /// present one.
        epoch: Epoch,
        /// The output and its value: `digital-out.3=on`. Not empty.
        output: &'a str,
    },
    /// Accept a reading of a sensor.
    Sample {
        /// The epoch of the session with the robot that the sender observed; the reading is accepted only if it is
        /// still the present one.
        epoch: Epoch,
        /// The name of the sensor in the configuration; not empty.
        source: &'a str,
        /// The values of the reading, finite, in the sensor's unit.
        values: SampleValue,
        /// The sequence number of the reading, wrapping; `None`: one more than that of the previous reading.
        seq: Option<u32>,
    },
    /// End the driver's program on the controller, so that the pendant's program around it continues, if the session
    /// with the robot is still in this epoch.
    HandBack(Epoch),
    /// Send the driver's program to the controller again, if the session with the robot is still in this epoch.
    Resend(Epoch),
    /// Let a hand move the arm (freedrive), as long as the same sender renews it.
    Freedrive {
        /// The epoch of the session with the robot that the sender observed; freedrive begins only if it is still the
        /// present one.
        epoch: Epoch,
        /// The limits of the motion by hand: `tool-speed=0.1`; empty for the defaults.
        how: &'a str,
    },
    /// Let a force move the arm (force mode), as long as the same sender renews it.
    Force {
        /// The epoch of the session with the robot that the sender observed; force mode begins only if it is still the
        /// present one.
        epoch: Epoch,
        /// The parameters and limits of force mode: `z=-20 tool-speed=0.1`. Not empty.
        how: &'a str,
    },
    /// Choose whether a contact of the tool ends motions executed by the controller.
    ToolContact {
        /// The epoch of the session with the robot that the sender observed; the choice is made only if it is still the
        /// present one.
        epoch: Epoch,
        /// The choice for contacts of the tool: `on` if a contact ends motions, `off` if not.
        how: &'a str,
    },
    /// Renew freedrive or force mode, so that it continues; only by the sender who began it.
    Renew,
    /// End freedrive or force mode, whoever began it: the arm rests, and remains commanded.
    Stiffen,
    /// Move the arm to a target, or along a motion that is sent in parts, as long as the same sender is connected.
    Move {
        /// The epoch of the session with the robot that the sender observed; the motion begins only if it is still the
        /// present one.
        epoch: Epoch,
        /// The motion: `q=0,-1.57,-1.57,-1.57,1.57,0 speed=0.5`; or a part of one: `begin=120`, `rows=0.5,0.1,...`,
        /// `end`. Not empty.
        how: &'a str,
    },
    /// End the motion that a [`Self::Move`] began, whoever requested it: the arm comes to rest, and remains commanded.
    Cancel,
    /// Send one command that makes the arm ready to the controller's dashboard server; not while the arm is commanded.
    Dashboard {
        /// The epoch of the session with the robot that the sender observed; the command is sent only if it is still
        /// the present one.
        epoch: Epoch,
        /// The dashboard command: `brake-release`. Not empty.
        how: &'a str,
    },
    /// Withdraw an earlier request of the same sender. Stops the arm only if that request alone armed it, i.e. began
    /// the preparation for commanding it.
    Withdraw {
        /// The `id` of the request to withdraw; on a keyed channel its counter.
        what: u32,
    },
}

impl ClientRequest<'_> {
    /// The values of the JSON key `do`, one for each kind of request.
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

    /// Returns the value of the JSON key `do` for this request.
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

    /// Returns whether the arm may move as a result of the request. If so, it has to be fresh: it is carried out only
    /// with a [`Challenge`] that was issued to its sender at most [`FRESH_FOR`](super::FRESH_FOR) ago and not used yet.
    ///
    /// This is the only list of such requests. Requests that stop the arm, or only query, need no challenge and never
    /// wait for one.
    #[must_use]
    pub fn causes_motion(&self) -> bool {
        match self {
            Self::Request(_) | Self::Resume(_) | Self::HandBack(_) => true,
            // After a renewal, freedrive or force mode continues to move the arm.
            Self::Freedrive { .. } | Self::Force { .. } | Self::Renew => true,
            // The beginning and the waypoints of a motion are collected; nothing moves before its end is sent.
            Self::Move { how, .. } => !how.starts_with("begin=") && !how.starts_with("rows="),
            // When brakes are released, the arm may sink.
            Self::Dashboard { .. } => true,
            // A motion held by the speed slider continues when the slider is raised.
            Self::Set { output, .. } => output.starts_with("speed-slider"),
            Self::Status | Self::Watch | Self::Sample { .. } | Self::ToolContact { .. } | Self::Resend(_) => false,
            Self::Release | Self::Acknowledge | Self::Stiffen | Self::Cancel | Self::Withdraw { .. } => false,
        }
    }

    /// Returns the epoch of the session with the robot that the sender observed; `None` for requests that need none.
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

/// Formats the request as a line of JSON without its newline.
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
            ClientRequest::Set { output, .. } => write!(f, ",\"{}\":{}", Key::Output.name(), Quoted(output))?,
            ClientRequest::Freedrive { how: "", .. } => {}
            ClientRequest::Withdraw { what } => write!(f, ",\"{}\":{what}", Key::What.name())?,
            ClientRequest::Freedrive { how, .. }
            | ClientRequest::Force { how, .. }
            | ClientRequest::ToolContact { how, .. }
            | ClientRequest::Move { how, .. }
            | ClientRequest::Dashboard { how, .. } => {
                write!(f, ",\"{}\":{}", Key::How.name(), Quoted(how))?;
            }
            ClientRequest::Sample { source, values, seq, .. } => {
                write!(f, ",\"{}\":{},\"{}\":[", Key::Source.name(), Quoted(source), Key::Values.name())?;
                for (index, value) in values.as_slice().iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    // The fewest digits that are read as the same number.
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

/// A text to be written to a request line in quotes, with JSON's escapes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                // Including characters that only terminals treat as control characters.
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}
