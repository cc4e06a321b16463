//! Companions of a session, which run beside the thread that commands: a page in a browser, readers of a network, a node of ROS 2, or
//! a program's own.
//!
//! A [`Companion`] says what it [needs](Companion::needs) and is [started](Companion::start) with a [`Session`]: the feed of what
//! the session's connections carry and report, pictures of how it stands, and, where it asks for one, a [`Client`] that commands
//! as `outrigger ask` does. None of these makes the thread that commands wait: the feed and the pictures drop what is not taken in
//! time, and a release has a lane of its own.
//!
//! # Order
//!
//! 1. Each companion is [checked](Companion::check) before anything else.
//! 2. Companions start in the order in which they were added, a recording of [`Robot::recording_to`](crate::Robot) before all others:
//!    before the first connection of this session, and before the thread that commands takes its scheduling. The first that fails ends the
//!    run, and those before it are ended.
//! 3. The session runs. A companion that ends early, or hangs, changes nothing for it.
//! 4. The session ends: the arm is at rest, or the link is lost, and nothing more is put into the feed.
//! 5. Companions end in the order in which they started ([`Started::ending`]). One that hangs is left behind after 15 s.

mod beside;
mod lane;
#[cfg(feature = "record")]
mod recording;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::Sender;

pub use self::beside::Beside;
pub(crate) use self::beside::Counting;
pub use self::beside::Ends;
pub use self::lane::Shown;
pub use self::lane::Views;
#[cfg(feature = "record")]
pub use self::recording::Recording;
pub use self::view::{Frame, SessionView, Settled};
use crate::exit::Failure;
use crate::feed::notice::Remark;
use crate::feed::{Progress, Reader};
use crate::host::clock::Clock;
use crate::host::pace::Pace;
use crate::host::target::Target;
pub use crate::requests::Client;

/// Something that runs beside a session of an arm with `N` joints, on threads of its own.
pub trait Companion<const N: usize>: Send + Sync {
    /// Returns what the session has to provide.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Checks, before anything is asked of the robot, that it will be able to start.
    ///
    /// # Errors
    /// [`Failure`] with the obstacle.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Starts beside `session`, before its first connection to the robot, once for each session. The session waits for this call.
    ///
    /// # Errors
    /// [`Failure`] where it cannot start, e.g. because an address is taken: the session does not begin.
    fn start(&self, session: Session<N>) -> Result<Started, Failure>;
}

/// The things that a session has to provide for a companion. Each costs the thread that commands a little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The bytes of all connections in the feed, not events alone.
    pub traffic: bool,
    /// The feed has everything that the controller sends, over further connections where a session that only looks asks for less.
    pub everything: bool,
    /// The feed has the inputs and outputs of the engine, as its recorder holds them, and the configuration of the run.
    pub engine: bool,
    /// Variables of RTDE in the feed beside those of the session. Unknown ones are reported and left out.
    pub variables: Vec<String>,
    /// Pictures of the session: see [`Session::views`].
    pub views: bool,
    /// A client that may command: see [`Session::client`].
    pub commands: bool,
}

/// A session, as a companion has it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session<const N: usize> {
    /// The controller, as it was named.
    pub robot: String,
    /// The names of the sensors, by the numbers of their sources.
    pub sources: Vec<String>,
    /// The clock of every time in the feed.
    pub clock: Clock,
    /// The bytes of the connections and the events of the session.
    pub feed: Reader,
    /// Pictures of the session, where they were [needed](Needs::views).
    pub views: Option<Views<N>>,
    /// A client of the session, where it was [needed](Needs::commands) and the session takes requests.
    pub client: Option<Client<N>>,
    /// A way to tell the operator something.
    pub remarks: Remarks,
    /// The address of a controller of Universal Robots, for its dashboard server.
    pub target: Option<Target>,
}

/// Tells the operator of a session what a companion has to say.
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

    /// Returns the same for events of this kind, e.g. `"page"`. Without it they are of the kind `"companion"`.
    #[must_use]
    pub fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    /// Shows `text`, of at most 1 024 characters, as an event of the session. Returns `false` where it is lost: there were more than
    /// 20 per second for longer, or the session is over.
    pub fn say(&self, text: impl Into<String>) -> bool {
        let may = self.pace.lock().is_ok_and(|mut pace| pace.take_now(self.clock.now()));
        may && self.lane.try_send((self.kind, cut(text.into()))).is_ok()
    }
}

/// The most characters of a text.
const LONGEST: usize = 1_024;
/// Remarks of a companion per second in the long run, and at once.
const SAID: (f32, f32) = (20.0, 50.0);

/// Returns the beginning of `text`.
fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// A companion that has started: what it shows, and how it is ended.
#[derive(Default)]
#[must_use]
pub struct Started {
    notice: Option<Notice>,
    progress: Option<(&'static str, Arc<Progress>)>,
    end: Option<End>,
}

/// Ends a companion; `false` where there never was a session.
type End = Box<dyn FnOnce(bool) -> Result<Option<Ended>, Failure> + Send>;

/// Kind, text and fields of an event.
pub(crate) type Notice = (&'static str, String, Vec<(&'static str, String)>);

impl Started {
    /// Returns one that shows `text` as an event of this `kind` at the start, with `fields` for scripts.
    pub fn saying(kind: &'static str, text: String, fields: Vec<(&'static str, String)>) -> Self {
        Self { notice: Some((kind, cut(text), fields)), ..Self::default() }
    }

    /// Returns the same with counts of what it has done, which a session that only looks shows. `name` is its name in a sentence, e.g.
    /// `"the recording"`. Where it [has failed](Progress::has_failed), that is shown; a session that only looks ends then.
    pub fn counting(self, name: &'static str, progress: Arc<Progress>) -> Self {
        Self { progress: Some((name, progress)), ..self }
    }

    /// Returns the same with `end`, which is called once the session and its feed are over, on a thread of its own, with `false` where
    /// there never was a session. It is waited for at most 15 s. Its failure is that of the
    /// run where the run has none of its own; otherwise it is shown.
    pub fn ending(self, end: impl FnOnce(bool) -> Result<Option<Ended>, Failure> + Send + 'static) -> Self {
        Self { end: Some(Box::new(end)), ..self }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("notice", &self.notice).finish_non_exhaustive()
    }
}

/// The result of a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// A line for people.
    pub text: String,
    /// A JSON object for scripts, on one line; nothing is shown to them where it is empty.
    pub json: String,
}

/// A list of companions.
pub type Companions<const N: usize> = Vec<Arc<dyn Companion<N>>>;
