//! `outrigger record`: everything a robot sends, into one file.

use outrigger::exit::{Failure, Outcome};
use outrigger::feed::Feed;
use outrigger::host::clock::Clock;
use outrigger::host::signals::Leaves;
use outrigger::law::BoxedLaw;
use outrigger::maker::apart::Apart;
use outrigger::maker::{Controller, Wanted};
use outrigger::panel::{Onlooker, Operators, Panel};
use outrigger::record::Recorder;
use outrigger::show::{Format, tell};
use outrigger_core::engine::Config;

use crate::args::RecordArgs;

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
    let session = outrigger::host::runtime::block_on(async move {
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
