//! Starts the companions of a session (components that run beside it, e.g. a recording), and ends them after the
//! session.

use std::sync::Arc;
use std::sync::mpsc::channel as channel_of_one;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, channel};

use super::view_slot::Tap;
use super::{Companions, End, Ended, Needs, Notice, Remarks, Session, Started};
use crate::exit::Failure;
use crate::feed::notice::Remark;
use crate::feed::{Feed, Progress};
use crate::host::clock::Clock;
use crate::host::worker::{Joined, Worker};
use crate::requests::Client;
use crate::vendor::Vendor;

/// The number of messages to the operator from all companions together (components that run beside a session, e.g. a
/// recording) that can wait to be displayed.
const WAITING: usize = 256;
/// The longest time to wait for the end of one companion of a session, e.g. of a recording, which may take 10 s.
const PATIENCE: Duration = Duration::from_secs(15);

/// The running companions of a session (components that run beside it, e.g. a recording), for the thread that commands
/// the arm.
#[derive(Debug)]
pub struct RunningCompanions<C: Vendor<N>, const N: usize> {
    /// The senders of pictures of the session's state (its displayed values at one instant), for the companions
    /// (components that run beside it, e.g. a page) that need them.
    pub taps: Vec<Tap<C, N>>,
    /// The events that the companions (components that run beside the session, e.g. a recording) display at the start,
    /// in the order of the companions.
    pub notices: Vec<Notice>,
    /// The progress of those companions (components that run beside the session, e.g. a recording) that report it.
    pub(crate) progress: Vec<Counting>,
    /// The receiver of the messages that companions (components that run beside the session, e.g. a recording) send to
    /// the operator after their start.
    pub(crate) remarks: Receiver<Remark>,
}

/// A companion (a component that runs beside a session, e.g. a recording) that reports its progress.
#[derive(Debug)]
pub(crate) struct Counting {
    /// The kind of the events of the companion (a component that runs beside a session, e.g. a recording), as one
    /// word for scripts.
    pub(crate) kind: &'static str,
    /// The name of the companion (a component that runs beside a session, e.g. a recording) in a sentence, e.g.
    /// `the recording`.
    pub(crate) name: &'static str,
    pub(crate) progress: Arc<Progress>,
    /// `true` if the companion (a component that runs beside a session, e.g. a recording) needs the inputs and
    /// outputs of the session's control engine.
    pub(crate) engine: bool,
}

/// The functions that end the started companions of a session (components that run beside it, e.g. a recording), in the
/// order of the companions.
#[derive(Default)]
pub struct Ends {
    ends: Vec<End>,
    /// `true` if there was a session with the controller.
    heard: bool,
}

impl Ends {
    /// Records that there was a session with the controller.
    pub fn heard(&mut self) {
        self.heard = true;
    }

    /// Ends the companions (components that run beside a session, e.g. a recording), after the feed of the session's
    /// traffic and events has ended. Returns their results and their failures. A companion that has not ended after 15
    /// s is abandoned.
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
    /// Ends the companions (components that run beside a session, e.g. a recording), even after a panic of the
    /// session.
    fn drop(&mut self) {
        self.end();
    }
}

impl Needs {
    /// Combines the data that each of the session's `companions` (components that run beside it, e.g. a recording)
    /// needs.
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

impl<C: Vendor<N>, const N: usize> RunningCompanions<C, N> {
    /// Starts `companions` (components that run beside a session, e.g. a recording) for `controller`, each with a
    /// reader of `feed`. Those that were started are added to `ends`, even if a later one fails.
    ///
    /// # Errors
    /// Returns the failure of the first one that cannot start.
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
