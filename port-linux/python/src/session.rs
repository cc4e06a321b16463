//! A session with a robot that stays open between motions. Nothing here knows Python.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outrigger::companion::{Client, Companion, Needs, Session as Beside, Started};
use outrigger::core::engine::ur::{CommandPath, UrEvent};
use outrigger::core::law::{AnyLaw, Forward, JointServo, JointServoConfig, Reference};
use outrigger::core::mode::Mode;
use outrigger::motion::requested_motion::{ArmMotionState, MotionRequest, Moving, Ready, ready};
use outrigger::requests::{Decided, RequestKind, Status};
use outrigger::{Failure, Robot, Running, State};

/// The highest number of decisions that nobody has fetched.
const KEPT: usize = 64;

/// A session with a robot of Universal Robots. The arm is observed until commanding is requested.
pub(crate) struct Session {
    running: Running<6, UrEvent>,
    requests: Arc<Mutex<Requests>>,
}

/// The limits and the position of an arm, from which a motion is prepared.
pub(crate) struct Basis {
    moving: Moving<6>,
    stands: ArmMotionState<6>,
}

impl Basis {
    /// Prepares a motion. The time that this takes grows with its waypoints.
    pub(crate) fn prepare(&self, wanted: MotionRequest<6>) -> Result<Ready<6>, String> {
        ready(wanted, &self.moving, &self.stands)
    }
}

/// The client of the session, and the decisions on its requests by their number.
#[derive(Default)]
struct Requests {
    client: Option<Client<6>>,
    decided: BTreeMap<u32, Decided>,
}

/// The companion that hands the client of its session over.
struct HandOver(Arc<Mutex<Requests>>);

impl Companion<6> for HandOver {
    fn needs(&self) -> Needs {
        Needs { commands: true, ..Needs::default() }
    }

    fn start(&self, session: Beside<6>) -> Result<Started, Failure> {
        lock(&self.0).client = session.client;
        let requests = Arc::clone(&self.0);
        Ok(Started::default().ending(move |_| {
            lock(&requests).client = None;
            Ok(None)
        }))
    }
}

fn lock(requests: &Mutex<Requests>) -> MutexGuard<'_, Requests> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a request that could not be queued.
const OVER: &str = "the session is over, or too many requests wait";

impl Session {
    /// Starts to connect to the robot at `address`: `host` or `host:port-base`.
    pub(crate) fn start(address: &str) -> Result<Self, Failure> {
        let requests = Arc::<Mutex<Requests>>::default();
        let robot = Robot::ur(address)?.quiet().awaiting_request().with_companion(HandOver(Arc::clone(&requests)));
        let mut config = *robot.config();
        config.peer.path = CommandPath::Player;
        let hold = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let running = robot.with_config(config).start(hold, None)?;
        Ok(Self { running, requests })
    }

    /// Returns the newest state of the robot; `None` without a connection.
    pub(crate) fn state(&self) -> Option<State<6>> {
        self.running.state()
    }

    /// Returns whether the arm's position is known, from which a motion begins.
    pub(crate) fn has_position(&self) -> bool {
        lock(&self.requests).client.as_ref().is_some_and(|client| client.stands().at.is_some())
    }

    /// Returns whether the session has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.running.has_ended()
    }

    /// Returns the status of the session; after its end, that of a session without a connection.
    pub(crate) fn status(&self) -> Status {
        lock(&self.requests).client.as_ref().map(Client::status).unwrap_or_default()
    }

    /// Returns whether the arm is commanded.
    pub(crate) fn commands(&self) -> bool {
        self.status().mode == Mode::Command
    }

    /// Sends a request, and returns its number.
    pub(crate) fn ask(&self, asked: RequestKind) -> Result<u32, &'static str> {
        lock(&self.requests).client.as_mut().and_then(|client| client.ask(asked)).ok_or(OVER)
    }

    /// Requests the end of commanding: the arm is brought to rest, and the session continues.
    pub(crate) fn release(&self) {
        // Before any request of this client that the control loop has not taken.
        let released = lock(&self.requests).client.as_mut().is_some_and(Client::release);
        if !released {
            self.running.release();
        }
    }

    /// Returns the limits and the position of the arm at this moment.
    pub(crate) fn basis(&self) -> Result<Basis, String> {
        match &lock(&self.requests).client {
            Some(client) => Ok(Basis { moving: client.moving(), stands: client.stands() }),
            None => Err(OVER.into()),
        }
    }

    /// Sends a prepared motion, and returns the number of the request.
    pub(crate) fn begin(&self, motion: Ready<6>) -> Result<u32, &'static str> {
        let mut requests = lock(&self.requests);
        let client = requests.client.as_mut().ok_or(OVER)?;
        let epoch = client.status().epoch;
        client.begin(epoch, motion).ok_or(OVER)
    }

    /// Passes a command of a stream to the control loop. The newest one counts.
    pub(crate) fn stream(&self, forward: Forward<6>) {
        if let Some(client) = &lock(&self.requests).client {
            client.stream(forward);
        }
    }

    /// Returns the decision on the request with this number, if there is one. Any thread may fetch the decisions of all.
    pub(crate) fn decision(&self, id: u32) -> Option<Decided> {
        let mut requests = lock(&self.requests);
        let Requests { client, decided } = &mut *requests;
        while let Some(next) = client.as_mut().and_then(Client::decided) {
            decided.insert(next.id, next);
            if decided.len() > KEPT {
                decided.pop_first();
            }
        }
        decided.remove(&id)
    }

    /// Brings the arm to rest and ends the session.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.running.stop().map(drop)
    }
}
