//! Companions at work: how they are started beside a session, and ended after it.

use std::sync::Arc;
use std::sync::mpsc::channel as channel_of_one;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, channel};

use super::lane::Tap;
use super::{Companions, End, Ended, Needs, Notice, Remarks, Session, Started};
use crate::exit::Failure;
use crate::feed::notice::Remark;
use crate::feed::{Feed, Progress};
use crate::host::clock::Clock;
use crate::host::worker::{Joined, Worker};
use crate::maker::Vendor;
use crate::requests::Client;

/// Remarks that wait to be shown, of all companions together.
const WAITING: usize = 256;
/// The longest wait for the end of one of them: a recording may take 10 s.
const PATIENCE: Duration = Duration::from_secs(15);

/// The companions of a session, for the thread that commands.
#[derive(Debug)]
pub struct Beside<C: Vendor<N>, const N: usize> {
    /// Lanes of those that want pictures.
    pub taps: Vec<Tap<C, N>>,
    /// The events that they show at the start, in their order.
    pub notices: Vec<Notice>,
    /// The counts of what they have done so far.
    pub(crate) progress: Vec<Counting>,
    /// The events that they show later.
    pub(crate) remarks: Receiver<Remark>,
}

/// A companion that counts what it has done.
#[derive(Debug)]
pub(crate) struct Counting {
    /// The kind of its events.
    pub(crate) kind: &'static str,
    /// Its name in a sentence, e.g. `the recording`.
    pub(crate) name: &'static str,
    pub(crate) progress: Arc<Progress>,
    /// Set where it needs the inputs of the engine.
    pub(crate) engine: bool,
}

/// The ends of those that have started, in their order.
#[derive(Default)]
pub struct Ends {
    ends: Vec<End>,
    /// Set once there was a session.
    heard: bool,
}

impl Ends {
    /// Notes that there was a session.
    pub fn heard(&mut self) {
        self.heard = true;
    }

    /// Ends them, once nothing is put into their feed any more: what they return, and the failures. One that hangs is left behind.
    pub fn finish(mut self) -> (Vec<Ended>, Vec<Failure>) {
        self.end()
    }

    fn end(&mut self) -> (Vec<Ended>, Vec<Failure>) {
        let (mut ended, mut failures) = (vec![], vec![]);
        let heard = self.heard;
        for end in std::mem::take(&mut self.ends) {
            let (tell, told) = channel_of_one();
            let joined = Worker::start("end", move || drop(tell.send(end(heard)))).map(|worker| worker.join(PATIENCE));
            match told.try_recv() {
                Ok(Ok(one)) => ended.extend(one),
                Ok(Err(failure)) => failures.push(failure),
                Err(_) => {
                    let why = match joined {
                        Ok(Joined::Hangs) => format!("did not end within {} s", PATIENCE.as_secs()),
                        Ok(Joined::Ended | Joined::Panicked) => "panicked at its end".to_owned(),
                        Err(error) => format!("has no thread to end on: {error}"),
                    };
                    failures.push(Failure::BadInput(format!("a companion {why}")));
                }
            }
        }
        (ended, failures)
    }
}

impl Drop for Ends {
    /// After a panic of the session they are ended all the same.
    fn drop(&mut self) {
        self.end();
    }
}

impl Needs {
    /// Returns what all of `companions` need together.
    pub(crate) fn of<const N: usize>(companions: &Companions<N>) -> Self {
        let mut all = Self::default();
        for Self { traffic, everything, engine, variables, views, commands } in
            companions.iter().map(|companion| companion.needs())
        {
            all.traffic |= traffic;
            all.everything |= everything;
            all.engine |= engine;
            all.views |= views;
            all.commands |= commands;
            for name in variables {
                if !all.variables.contains(&name) {
                    all.variables.push(name);
                }
            }
        }
        all
    }
}

impl<C: Vendor<N>, const N: usize> Beside<C, N> {
    /// Starts `companions` beside `controller`, each with a reader of `feed`. Those that have started are in `ends`, whatever
    /// comes of the others.
    ///
    /// # Errors
    /// The failure of the first that cannot start.
    pub fn start(
        companions: &Companions<N>,
        controller: &C,
        sources: &[String],
        clock: Clock,
        feed: &Feed,
        client: impl Fn() -> Option<Client<N>>,
        ends: &mut Ends,
    ) -> Result<Self, Failure> {
        let (lane, remarks) = channel(WAITING);
        let mut beside = Self { taps: vec![], notices: vec![], progress: vec![], remarks };
        for companion in companions {
            let needs = companion.needs();
            let views = needs.views.then(|| {
                let (tap, views) = Tap::pair(controller.clone());
                beside.taps.push(tap);
                views
            });
            let Started { notice, progress, end } = companion.start(Session {
                robot: controller.robot(),
                sources: sources.to_vec(),
                clock,
                feed: feed.reader(),
                views,
                client: if needs.commands { client() } else { None },
                remarks: Remarks::new(lane.clone(), clock),
                target: controller.target(),
            })?;
            let kind = notice.as_ref().map_or("companion", |(kind, ..)| *kind);
            beside.notices.extend(notice);
            let engine = needs.engine;
            beside.progress.extend(progress.map(|(name, progress)| Counting { kind, name, progress, engine }));
            ends.ends.extend(end);
        }
        Ok(beside)
    }
}
