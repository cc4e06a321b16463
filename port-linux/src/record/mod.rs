//! `outrigger record`: everything a robot sends, into one file.

mod apart;
mod derived;
mod file;
mod read;
mod reader;
mod recorder;
mod recording;
mod schema;
#[cfg(test)]
mod tests;

use outrigger_core::engine::Config;

pub(crate) use self::apart::Apart;
pub use self::file::{raw_topic, sent_topic};
pub(crate) use self::read::each_message;
pub use self::read::{Raw, each_raw, is_none, is_recording};
pub(crate) use self::reader::LARGEST;
pub use self::recorder::Recorder;
pub(crate) use self::recorder::can_create;
use crate::args::RecordArgs;
use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::maker::{Controller, Wanted};
use crate::panel::{Onlooker, Operators, Panel};
use crate::show::{Format, tell};
use crate::signals::Leaves;

/// Topic of the configuration that a run began with.
pub(crate) const CONFIGURATION: &str = "/engine/configuration";
/// Topic of what the engine of a run was given and did, as [`What::Engine`](crate::feed::What::Engine) has it.
pub(crate) const ENGINE: &str = "/engine/recording";
/// Topic of the log.
pub(crate) const LOG: &str = "/log";

/// Records everything that `controller` sends.
///
/// # Errors
/// [`Failure::BadInput`] where the file cannot be written, [`Failure::Connection`] where there never was a session: then
/// there is no file.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    args: &RecordArgs,
) -> Outcome {
    let clock = Clock::start();
    let feed = Feed::new(C::ENTRIES);
    let recorder = Recorder::start(&args.out, feed.reader(), clock, &args.robot.to_string(), !args.uncompressed)?;
    let progress = recorder.progress();
    let session = crate::runtime::block_on(async move {
        let (_apart, remarks) = Apart::start(&mut controller, &config, Wanted::Everything, clock, feed.clone())?;
        let mut net = controller.open(clock, None).await?.with_feed(&feed, C::APART);
        let operators = Operators::here(Leaves::Nothing)?;
        let panel = Panel::new("record", Format::choose(args.json), clock, controller, operators, args.seconds);
        let mut onlooker = Onlooker::recorded(panel, feed, progress, remarks);
        C::run(config, BoxedLaw::idle(), &mut net, &mut onlooker, 0).await?;
        onlooker.finish()
    });
    let said = recorder.finish();
    if let Err(Failure::Connection(_)) = session {
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
