//! Companions of a session, which run beside the thread that commands: a page in a browser, readers over a network, a
//! ROS 2 node, or an application's own.
//!
//! A [`Companion`] states its [needs](Companion::needs) and is [started](Companion::start) with a [`Session`]: the
//! feed of the session's traffic and events, pictures of its state, and, if requested, a [`Client`] that commands
//! like `outrigger ctl`. None of these makes the thread that commands wait: the feed and the pictures discard what is
//! not taken in time, and a release has a queue of its own.
//!
//! # Order
//!
//! 1. Each companion is [checked](Companion::check) before anything else.
//! 2. Companions start in the order in which they were added, a recording of [`Robot::recording_to`](crate::Robot)
//!    before all others: before the first connection of this session, and before the thread that commands takes its
//!    scheduling. The first one that fails ends the run, and those before it are ended.
//! 3. The session runs. A companion that ends early, or is blocked, does not affect it.
//! 4. The session ends: the arm is at standstill, or the link is lost, and nothing more is put into the feed.
//! 5. Companions end in the order in which they started ([`Started::ending`]). A blocked one is abandoned after 15 s.

mod companion_threads;
#[cfg(feature = "record")]
mod recording;
#[cfg(test)]
mod tests;
mod view;
mod view_slot;

use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::Sender;

pub(crate) use self::companion_threads::Counting;
pub use self::companion_threads::Ends;
pub use self::companion_threads::RunningCompanions;
#[cfg(feature = "record")]
pub use self::recording::{Recording, arm_of};
pub use self::view::{Frame, SessionView, Settled};
pub use self::view_slot::Shown;
pub use self::view_slot::Views;
use crate::exit::Failure;
use crate::feed::notice::Remark;
use crate::feed::{Progress, Reader};
use crate::host::clock::Clock;
use crate::host::rate_limit::Pace;
use crate::host::target::Target;
pub use crate::requests::Client;

/// A component that runs beside a session of an arm with `N` joints, on threads of its own.
pub trait Companion<const N: usize>: Send + Sync {
    /// Returns the data and functions that a session must provide for the companion (a component that runs beside a
    /// session, e.g. a recording).
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Checks that the companion (a component that runs beside a session, e.g. a recording) will be able to start.
    /// Called before anything is sent to the robot.
    ///
    /// # Errors
    /// Returns [`Failure`] with the reason if it cannot.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Starts the companion (a component that runs beside a session, e.g. a recording) for `session`, before its first
    /// connection to the robot. Called once per session, which waits for this call.
    ///
    /// # Errors
    /// Returns [`Failure`] if it cannot start, e.g. because an address is in use. The session then does not start.
    fn start(&self, session: Session<N>) -> Result<Started, Failure>;
}

/// The data and functions that a session must provide for a companion (a component that runs beside a session, e.g. a
/// recording). Each one costs the thread that commands a little time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// `true` to receive the traffic of all connections in the feed, in addition to events.
    pub traffic: bool,
    /// `true` to receive all data that the controller sends in the feed, over additional connections if a session
    /// that only observes receives less.
    pub everything: bool,
    /// `true` to receive the inputs and outputs of the engine in the feed, as its recorder has them, and the
    /// configuration of the run.
    pub engine: bool,
    /// The RTDE variables to receive in the feed, in addition to those of the session. Unknown ones are reported and
    /// omitted.
    pub variables: Vec<String>,
    /// `true` to receive pictures of the session (its displayed values at one instant): see [`Session::views`].
    pub views: bool,
    /// `true` to receive a client that may command: see [`Session::client`].
    pub commands: bool,
}

/// A session with a robot, as it is passed to a companion (a component that runs beside a session, e.g. a recording) at
/// its start.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session<const N: usize> {
    /// The name of the controller, as the user gave it.
    pub robot: String,
    /// The names of the configured sensors, indexed by the number of each sensor (its source number).
    pub sources: Vec<String>,
    /// The clock that all times in the feed refer to.
    pub clock: Clock,
    /// The reader of the session's traffic and events.
    pub feed: Reader,
    /// The newest state of the session, as pictures (its displayed values at one instant), if they were
    /// [requested](Needs::views).
    pub views: Option<Views<N>>,
    /// A client of the session, if it was [requested](Needs::commands) and the session accepts requests.
    pub client: Option<Client<N>>,
    /// A channel for messages to the operator from the companion (a component that runs beside a session, e.g. a
    /// recording).
    pub remarks: Remarks,
    /// The address of a controller of Universal Robots, for requests to its dashboard server. `None` for other kinds of
    /// controllers.
    pub target: Option<Target>,
}

/// A channel for messages to the operator from a companion (a component that runs beside a session with a robot, e.g.
/// a recording).
#[derive(Clone, Debug)]
pub struct Remarks {
    kind: &'static str,
    lane: Sender<Remark>,
    clock: Clock,
    pace: Arc<Mutex<Pace>>,
}

impl Remarks {
    fn new(lane: Sender<Remark>, clock: Clock) -> Self {
        let (per_second, at_once) = SAID;
        let pace = Arc::new(Mutex::new(Pace::new(per_second, at_once, clock.now())));
        Self { kind: "companion", lane, clock, pace }
    }

    /// Sets the kind of the events as which the messages of a companion (a component that runs beside a session, e.g.
    /// a recording) are displayed, e.g. `"page"`. The default is `"companion"`.
    #[must_use]
    pub fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    /// Displays `text`, a companion's message to the operator cut to 1 024 characters, as an event of the session.
    /// Returns `false` if it is lost: there were more than 20 per second for some time, too many wait to be displayed,
    /// or the session is over.
    pub fn say(&self, text: impl Into<String>) -> bool {
        let may = self.pace.lock().is_ok_and(|mut pace| pace.take_now(self.clock.now()));
        may && self.lane.try_send((self.kind, cut(text.into()))).is_ok()
    }
}

/// The maximum number of characters of a message to the operator from a companion (a component that runs beside a
/// session, e.g. a recording).
const LONGEST: usize = 1_024;
/// The rate limit on messages to the operator from a companion (a component that runs beside a session, e.g. a
/// recording): messages per second in the long run, and messages at once after a pause.
const SAID: (f32, f32) = (20.0, 50.0);

/// Cuts the `text` of a message from a companion (a component that runs beside a session, e.g. a recording) to the
/// maximum length.
fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// A started companion (a component that runs beside a session, e.g. a recording): its first event, its progress, and
/// the function that ends it.
#[derive(Default)]
#[must_use]
pub struct Started {
    notice: Option<Notice>,
    progress: Option<(&'static str, Arc<Progress>)>,
    end: Option<End>,
}

/// A function that ends a companion (a component that runs beside a session, e.g. a recording). The argument is `false`
/// if there never was a session with the controller.
type End = Box<dyn FnOnce(bool) -> Result<Option<Ended>, Failure> + Send>;

/// An event of a companion (a component that runs beside a session, e.g. a recording): its kind, its text for people
/// and its fields for scripts.
pub(crate) type Notice = (&'static str, String, Vec<(&'static str, String)>);

impl Started {
    /// Creates a started companion (a component that runs beside a session, e.g. a recording) that displays `text` as
    /// an event of this `kind`, with `fields` for scripts.
    pub fn saying(kind: &'static str, text: String, fields: Vec<(&'static str, String)>) -> Self {
        Self { notice: Some((kind, cut(text), fields)), ..Self::default() }
    }

    /// Adds the progress of the companion (a component that runs beside a session, e.g. a recording), which a session
    /// that only observes displays. `name` is the companion's name in a sentence, e.g. `"the recording"`. If the
    /// companion [has failed](Progress::has_failed), that is displayed, and a session that only observes ends.
    pub fn counting(self, name: &'static str, progress: Arc<Progress>) -> Self {
        Self { progress: Some((name, progress)), ..self }
    }

    /// Adds the function `end` to the companion (a component that runs beside a session, e.g. a recording). It is
    /// called on a thread of its own after the session and its feed have ended, with `false` if there never was a
    /// session, and is waited for at most 15 s. If it fails, its failure is that of the run if the run has no other;
    /// otherwise it is displayed.
    pub fn ending(self, end: impl FnOnce(bool) -> Result<Option<Ended>, Failure> + Send + 'static) -> Self {
        Self { end: Some(Box::new(end)), ..self }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("notice", &self.notice).finish_non_exhaustive()
    }
}

/// The result of a companion (a component that runs beside a session, e.g. a recording), which is printed after the
/// session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The result of the companion (a component that runs beside a session, e.g. a recording) as a line of text for
    /// people.
    pub text: String,
    /// The result as a JSON object for scripts, on one line. If it is empty, scripts receive nothing.
    pub json: String,
}

/// The companions of a session (components that run beside it, e.g. a recording), in the order in which they are
/// started.
pub type Companions<const N: usize> = Vec<Arc<dyn Companion<N>>>;
