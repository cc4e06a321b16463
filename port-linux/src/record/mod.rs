//! `outrigger record`: everything a robot sends, into one file.

mod derived;
mod file;
mod read;
mod recorder;
mod recording;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::session::{CoController, Config, Event, Input};
use outrigger_core::time::Instant;

pub use self::file::{raw_topic, sent_topic};
pub use self::read::{Raw, each_raw, is_recording};
pub use self::recorder::{Progress, Recorder};
use crate::args::RecordArgs;
use crate::clock::Clock;
use crate::engine;
use crate::exit::{Outcome, output_closed};
use crate::feed::{CAPACITY, Feed};
use crate::net::TcpNet;
use crate::output::Format;
use crate::panel::{Panel, Target, Wish};

/// A law that is never asked: nothing here requests.
type Idle = JointServo<6>;

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`](crate::exit::Failure::BadInput) where the file cannot be written,
/// [`Failure::Connection`](crate::exit::Failure::Connection) where there never was a session.
pub fn run(args: &RecordArgs) -> Outcome {
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    let feed = Feed::new(CAPACITY);
    let recorder = Recorder::start(&args.out, feed.reader(), clock, &args.robot.to_string(), !args.uncompressed)?;
    let session = crate::runtime()?.block_on(watch(args, clock, target, feed, recorder.progress()));
    let said = recorder.finish();
    session?;
    let said = said?;
    if args.json {
        return Ok(());
    }
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{said}").or_else(|error| output_closed(&error))
}

/// Reads the robot until the operator, the time or the disk ends it.
async fn watch(args: &RecordArgs, clock: Clock, target: Target, feed: Feed, progress: Arc<Progress>) -> Outcome {
    let mut net = TcpNet::new(&target.address, target.ip, clock, None).with_feed(&feed);
    let panel = Panel::new("record", Format::choose(args.json), clock, target, net.trouble(), args.seconds)?;
    let mut recording = Recording { panel: panel.with_feed(feed), progress };
    let law = Idle::new(Reference::Hold, JointServoConfig::default());
    engine::run(Config::default(), law, &mut net, &mut recording).await?;
    recording.panel.finish()
}

struct Recording {
    panel: Panel,
    progress: Arc<Progress>,
}

impl outrigger_core::drive::Application<Idle> for Recording {
    async fn next(&mut self) -> Input {
        loop {
            let wish = tokio::select! {
                wish = self.panel.next() => wish,
                () = broken(&self.progress) => Wish::End("the file cannot be written"),
            };
            if let Wish::End(_) = wish {
                self.panel.end_now();
                return Input::Shutdown;
            }
        }
    }

    fn event(&mut self, event: Event) {
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &CoController<'_, Idle>, now: Instant) {
        self.panel.observe(engine, now, || said(&self.progress));
    }
}

/// What is shown of the recorder beside the session.
fn said(progress: &Progress) -> Vec<(String, String)> {
    let megabytes = progress.bytes() as f64 / 1e6;
    let mut said = vec![("recorded".to_owned(), format!("{} messages, {megabytes:.1} MB", progress.messages()))];
    if progress.lost() > 0 {
        said.push(("entries lost".to_owned(), progress.lost().to_string()));
    }
    said
}

/// Resolves when nothing more can be written.
async fn broken(progress: &Progress) {
    const LOOK: std::time::Duration = std::time::Duration::from_millis(200);
    while !progress.has_failed() {
        tokio::time::sleep(LOOK).await;
    }
}
