//! `outrigger record` beside a KRC.

use super::watch::Listener;
use crate::args::RecordArgs;
use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::feed::Feed;
use crate::record::{KRC_CAPACITY, Recorder};
use crate::show::{Format, tell};

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] where the file cannot be written, [`Failure::Connection`] where nothing was heard: then there is no
/// file.
pub(crate) fn run(args: &RecordArgs) -> Outcome {
    let (clock, runtime, feed) = (Clock::start(), crate::runtime()?, Feed::new(KRC_CAPACITY));
    let format = Format::choose(args.json);
    let opened = Listener::open("record", format, clock, &args.robot, args.krc.listen(), args.seconds);
    let listener = runtime.block_on(opened)?;
    let recorder = Recorder::start(&args.out, feed.reader(), clock, &args.robot.to_string(), !args.uncompressed)?;
    let listened = runtime.block_on(listener.recorded(feed, recorder.progress()).run());
    // What holds the feed has to end before the recorder does.
    let listened = listened.map(drop);
    let said = recorder.finish();
    if matches!(listened, Err(Failure::Connection(_))) {
        // Nothing was heard: the next try may have the name.
        let _ = std::fs::remove_file(&args.out);
    }
    listened?;
    let said = said?;
    if args.json {
        return Ok(());
    }
    tell(&format!("{said}\n"))
}
