//! `outrigger record`: everything a robot sends, into one file.

mod derived;
mod file;
mod read;
mod recorder;
mod recording;
mod rtde;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::StatesFrom;

pub use self::file::{raw_topic, sent_topic};
pub(crate) use self::read::each_message;
pub use self::read::{Raw, each_raw, is_none, is_recording};
pub use self::recorder::Recorder;
use crate::args::RecordArgs;
use crate::clock::Clock;
use crate::engine;
use crate::exit::{Failure, Outcome};
use crate::feed::{CAPACITY, Feed, Progress};
use crate::maker::krc::{self, KrcController};
use crate::maker::ur::{self, UrController};
use crate::panel::{Onlooker, Panel};
use crate::show::{Format, tell};
use crate::target::Target;

/// Topic of the configuration that a run began with.
pub(crate) const CONFIGURATION: &str = "/engine/configuration";
/// Topic of what the engine of a run was given and did, as [`What::Engine`](crate::feed::What::Engine) has it.
pub(crate) const ENGINE: &str = "/engine/recording";
/// Topic of the log.
pub(crate) const LOG: &str = "/log";

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] where the file cannot be written, [`Failure::Connection`] where there never was a session: then
/// there is no file.
pub fn run(args: &RecordArgs) -> Outcome {
    let is_krc = args.krc.is_krc(args.states)?;
    let (clock, runtime) = (Clock::start(), crate::runtime()?);
    let feed = Feed::new(if is_krc { krc::ENTRIES } else { CAPACITY });
    let recorder = Recorder::start(&args.out, feed.reader(), clock, &args.robot.to_string(), !args.uncompressed)?;
    let session = if is_krc {
        runtime.block_on(beside_krc(args, clock, feed, recorder.progress()))
    } else {
        runtime.block_on(beside_ur(args, clock, feed, recorder.progress()))
    };
    let said = recorder.finish();
    if let Err(Failure::Connection(_) | Failure::Usage(_)) = session {
        // Nothing was heard: the next try may have the name.
        let _ = std::fs::remove_file(&args.out);
    }
    session?;
    let said = said?;
    if args.json {
        return Ok(());
    }
    tell(&format!("{said}\n"))
}

async fn beside_krc(args: &RecordArgs, clock: Clock, feed: Feed, progress: Arc<Progress>) -> Outcome {
    let config = krc::looking(&args.robot)?;
    let robot = args.robot.to_string();
    let (net, maker) = KrcController::listening(robot, args.krc.listen(), clock, None).await?;
    let mut net = net.with_feed(&feed, &[]);
    let panel = Panel::new("record", Format::choose(args.json), clock, maker, args.seconds)?;
    let mut onlooker = Onlooker::recorded(panel, feed, progress);
    krc::run(config, engine::idle(), &mut net, &mut onlooker, 0).await?;
    onlooker.finish()
}

async fn beside_ur(args: &RecordArgs, clock: Clock, feed: Feed, progress: Arc<Progress>) -> Outcome {
    let target = Target::resolve(&args.robot)?;
    // The recorder has a connection to 30004 of its own, with more than a session asks for.
    let links = [LinkId::PRIMARY, LinkId::REALTIME];
    let at = target.socket(rtde::PORT);
    let (net, maker) = UrController::connecting(target, clock, None);
    let mut net = net.with_feed(&feed, &links);
    let (software, known) = tokio::sync::watch::channel(None);
    let (remarks, beside) = tokio::sync::mpsc::unbounded_channel();
    let following = rtde::Following { at, clock, feed: feed.clone(), software: known, remarks };
    let maker = maker.with_software(software);
    let panel = Panel::new("record", Format::choose(args.json), clock, maker, args.seconds)?;
    let mut onlooker = Onlooker::recorded(panel, feed, progress).hearing(beside);
    let session = ur::run(ur::looking(args.states), engine::idle(), &mut net, &mut onlooker, 0);
    if args.states == StatesFrom::Realtime {
        session.await?;
    } else {
        tokio::select! {
            ended = session => ended?,
            never = rtde::follow(following) => match never {},
        }
    }
    onlooker.finish()
}
