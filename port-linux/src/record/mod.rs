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

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use outrigger_core::engine::ur::UrOptions;
use std::sync::Arc;

use outrigger_core::engine::ur::{ConnectConfig, StatesFrom, UrConfig};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::robot::SoftwareVersion;
use outrigger_core::time::Instant;

pub use self::file::{raw_topic, sent_topic};
pub(crate) use self::read::each_message;
pub use self::read::{Raw, each_raw, is_none, is_recording};
pub use self::recorder::{Progress, Recorder};
use crate::args::RecordArgs;
use crate::clock::Clock;
use crate::engine;
use crate::exit::{Failure, Outcome};
use crate::feed::{CAPACITY, Feed};
use crate::net::TcpNet;
use crate::panel::{Panel, Target, Wish};
use crate::show::{Format, tell};

/// Topic of the configuration that a run beside a KRC began with.
pub(crate) const CONFIGURATION: &str = "/engine/configuration";
/// Topic of the inputs of the engine beside a KRC.
pub(crate) const INPUTS: &str = "/engine/inputs";
/// Topic of the log.
pub(crate) const LOG: &str = "/log";

/// Entries that are kept for slow readers beside a KRC: some four seconds at 1 kHz.
pub(crate) const KRC_CAPACITY: usize = 1 << 14;

/// A law that is never asked: nothing here requests.
type Idle = JointServo<6>;

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] where the file cannot be written, [`Failure::Connection`] where there never was a session: then
/// there is no file.
pub fn run(args: &RecordArgs) -> Outcome {
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    let feed = Feed::new(CAPACITY);
    let recorder = Recorder::start(&args.out, feed.reader(), clock, &args.robot.to_string(), !args.uncompressed)?;
    let session = crate::runtime()?.block_on(watch(args, clock, target, feed, recorder.progress()));
    let said = recorder.finish();
    if matches!(session, Err(Failure::Connection(_))) {
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

/// Reads the robot until the operator, the time or the disk ends it.
async fn watch(args: &RecordArgs, clock: Clock, target: Target, feed: Feed, progress: Arc<Progress>) -> Outcome {
    // The recorder has a connection to 30004 of its own, with more than a session asks for.
    let links = [LinkId::PRIMARY, LinkId::REALTIME];
    let mut net = TcpNet::new(&target.address, target.ip, clock, None).with_feed(&feed, &links);
    let (software, known) = tokio::sync::watch::channel(None);
    let (saying, said) = tokio::sync::mpsc::unbounded_channel();
    let at = target.socket(rtde::PORT);
    let following = rtde::Following { at, clock, feed: feed.clone(), software: known, said: saying };
    let panel = Panel::new("record", Format::choose(args.json), clock, target, net.trouble(), args.seconds)?;
    let mut recording = Recording { panel: panel.with_feed(feed), progress, software, said };
    let law = Idle::new(Reference::Hold, JointServoConfig::default());
    let connect = ConnectConfig { states: args.states, ..ConnectConfig::default() };
    let session = engine::run(
        UrConfig { peer: UrOptions { connect, ..UrOptions::default() }, ..UrConfig::default() },
        law,
        &mut net,
        &mut recording,
    );
    if args.states == StatesFrom::Realtime {
        session.await?;
    } else {
        tokio::select! {
            ended = session => ended?,
            never = rtde::follow(following) => match never {},
        }
    }
    recording.panel.finish()
}

struct Recording {
    panel: Panel,
    progress: Arc<Progress>,
    /// Told of the controller's software.
    software: tokio::sync::watch::Sender<Option<SoftwareVersion>>,
    /// What happens on 30004.
    said: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl<'m> outrigger_core::drive::Application<6, Ur<'m>, Idle> for Recording {
    async fn next(&mut self) -> Input {
        loop {
            let wish = tokio::select! {
                wish = self.panel.next() => wish,
                Some(text) = self.said.recv() => {
                    self.panel.say("rtde", text, vec![]);
                    continue;
                }
                () = broken(&self.progress) => Wish::End("the file cannot be written"),
            };
            if let Wish::End(_) = wish {
                self.panel.end_now();
                return Input::Shutdown;
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        if let Event::Peer(UrEvent::Established(identity)) = &event {
            self.software.send_replace(Some(identity.software));
        }
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, Idle>, now: Instant) {
        self.panel.observe(engine, now, || said(&self.progress));
    }
}

/// What is shown of the recorder beside the session.
pub(crate) fn said(progress: &Progress) -> Vec<(String, String)> {
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
