//! `outrigger ask`: requests to a run in another process, and what it answers.

mod args;
mod words;

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::net::UnixStream;

use outrigger_core::command::SampleValue;
use outrigger_core::mode::Epoch;
use outrigger_core::request::{Ask, Message};
use outrigger_core::time::{Duration, Instant};
use serde_json::Value;

pub(crate) use self::args::AskArgs;
use self::args::{Wanted, Word};
use crate::beside;
use crate::clock::{Clock, std_duration};
use crate::exit::{Failure, Outcome, output_closed};
use crate::requests::connect;

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] for words that do not fit, [`Failure::Connection`] where nobody runs beside this robot or does not
/// answer, [`Failure::BadInput`] for what the run does not understand or have, [`Failure::Fault`] where it refuses.
pub(crate) fn run(args: &AskArgs) -> Outcome {
    let wanted = args.wanted()?;
    let seat = beside::seat(&args.robot, &args.controller)?;
    let mut conversation = Conversation::new(connect(seat)?, args)?;
    match &wanted {
        Wanted::Plain(Word::Status) => conversation.one(Ask::Status),
        Wanted::Plain(Word::Watch) => conversation.watch(),
        Wanted::Plain(Word::Release) => conversation.one(Ask::Release)?.then(&["monitor", "offline"], &[]),
        Wanted::Plain(Word::Acknowledge) => conversation.one(Ask::Acknowledge),
        Wanted::Plain(word) => {
            let epoch = conversation.epoch()?;
            let ask = if *word == Word::Resume { Ask::Resume(epoch) } else { Ask::Request(epoch) };
            conversation.one(ask)?.then(&["command"], &["monitor", "offline", "stopping"])
        }
        Wanted::Set(settings) => {
            let epoch = conversation.epoch()?;
            let asks: Vec<_> = settings.iter().map(|output| Ask::Set { epoch, output }).collect();
            conversation.all(&asks)
        }
        Wanted::Sample { source, values, seq } => {
            let epoch = conversation.epoch()?;
            let values = SampleValue::new(values).ok_or_else(|| Failure::Usage("1 to 6 values".into()))?;
            conversation.one(Ask::Sample { epoch, source, values, seq: *seq })
        }
    }
}
