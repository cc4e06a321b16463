//! A session with a robot that stays open between motions. Nothing here knows Python.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outrigger::boxed_law::BoxedLaw;
use outrigger::companion::{Client, Companion, Needs, Session as Beside, Started};
use outrigger::config::{Configuration, KrcConfiguration, SourceSettings};
use outrigger::core::command::Limits;
use outrigger::core::engine::Controller;
use outrigger::core::engine::krc::KrcConfig;
use outrigger::core::engine::ur::CommandPath;
use outrigger::core::law::{AnyLaw, Forward, JointServo, JointServoConfig, Reference};
use outrigger::core::mode::{ClientNumber, Epoch, Mode};
use outrigger::feed::notice::Notice;
use outrigger::feed::{Entry, EntryContent, Item, Reader};
use outrigger::motion::requested_motion::{ArmMotionState, MotionExecutor, MotionRequest, Moving, Ready, ready};
use outrigger::requests::{Decided, RequestKind, Status, UploadPermit};
use outrigger::{Failure, Reason, Robot, Running, State, States};

/// The highest number of decisions that nobody has fetched.
const KEPT: usize = 64;

/// A session with a robot of `N` joints. The arm is observed until commanding is requested.
pub(crate) struct Session<const N: usize> {
    /// `None` after the end of the session.
    running: Mutex<Option<Box<dyn Handle<N>>>>,
    /// The number of this session in this process.
    number: u32,
    requests: Arc<Mutex<Requests<N>>>,
    /// The reservation of the port for the program on the controller.
    _port: Option<UdpSocket>,
}

/// A request that was sent to a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    session: u32,
    id: u32,
}

/// The number of sessions that were started.
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// The handle of a session, whatever events its kind of controller has.
trait Handle<const N: usize>: Send {
    fn state(&self) -> Option<State<N>>;
    fn states(&self) -> States<N>;
    fn has_ended(&self) -> bool;
    fn release(&self);
    fn end(self: Box<Self>) -> Result<(), Failure>;
}

impl<const N: usize, E: Send + 'static> Handle<N> for Running<N, E> {
    fn state(&self) -> Option<State<N>> {
        Running::state(self)
    }

    fn states(&self) -> States<N> {
        Running::states(self)
    }

    fn has_ended(&self) -> bool {
        Running::has_ended(self)
    }

    fn release(&self) {
        Running::release(self);
    }

    fn end(self: Box<Self>) -> Result<(), Failure> {
        self.stop().map(drop)
    }
}

/// The limits and the position of an arm, from which a motion is prepared.
pub(crate) struct Basis<const N: usize> {
    moving: Moving<N>,
    stands: ArmMotionState<N>,
}

impl<const N: usize> Basis<N> {
    /// Prepares a motion. The time that this takes grows with its waypoints.
    pub(crate) fn prepare(&self, wanted: MotionRequest<N>) -> Result<Ready<N>, String> {
        ready(wanted, &self.moving, &self.stands)
    }
}

/// The client of the session, and the decisions on its requests by their number.
struct Requests<const N: usize> {
    client: Option<Client<N>>,
    decided: BTreeMap<u32, Decided>,
    events: Option<Reader>,
    report: Report,
}

/// The newest events about the end of commanding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The name of the reason for which commanding ended last, and its text with figures.
    reason: Option<(String, String)>,
    /// The file of the newest recording of a fault.
    pub(crate) recording: Option<String>,
}

impl Report {
    fn read(&mut self, notice: &Notice) {
        let field = |name| notice.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        match notice.kind {
            "transition" => {
                // "Command → Stopping: TEXT (NAME)"
                let text = notice.text.split_once(": ").map(|(_, text)| text.to_owned());
                if let (Some(name), Some(text)) = (field("reason"), text) {
                    let text = text.replace(&format!(" ({name})"), "");
                    self.reason = Some((name, text));
                }
            }
            "recording" => self.recording = field("file").or_else(|| self.recording.take()),
            _ => {}
        }
    }

    /// Returns the text with figures of this reason, if it was the last one and has figures.
    pub(crate) fn figure(&self, reason: Reason) -> Option<String> {
        let (name, text) = self.reason.as_ref()?;
        (name == reason.name() && text != reason.text() && !reason.is_release()).then(|| text.clone())
    }
}

impl<const N: usize> Requests<N> {
    /// Reads the events that have arrived.
    fn look(&mut self) {
        while let Some(item) = self.events.as_mut().and_then(Reader::next_now) {
            if let Item::Entry(Entry { what: EntryContent::Notice(notice), .. }) = item {
                self.report.read(&notice);
            }
        }
    }
}

/// The companion that hands the client of its session over.
struct HandOver<const N: usize>(Arc<Mutex<Requests<N>>>);

impl<const N: usize> Companion<N> for HandOver<N> {
    fn needs(&self) -> Needs {
        Needs { commands: true, ..Needs::default() }
    }

    fn start(&self, session: Beside<N>) -> Result<Started, Failure> {
        let mut handed = lock(&self.0);
        (handed.client, handed.events) = (session.client, Some(session.feed));
        drop(handed);
        let requests = Arc::clone(&self.0);
        Ok(Started::default().ending(move |_| {
            lock(&requests).client = None;
            Ok(None)
        }))
    }
}

fn lock<const N: usize>(requests: &Mutex<Requests<N>>) -> MutexGuard<'_, Requests<N>> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a request that could not be queued.
const OVER: &str = "the session is over, or too many requests wait";

/// Returns the law that holds the arm at rest, follows trajectories and streams.
fn hold<const N: usize>() -> AnyLaw<N> {
    AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()))
}

fn bad(value: impl ToString) -> Failure {
    Failure::BadInput(value.to_string())
}

/// The files that a session writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recordings {
    /// The file of the whole session.
    pub(crate) record: Option<PathBuf>,
    /// The folder for a recording of each fault.
    pub(crate) faults: Option<PathBuf>,
}

/// The first port at which the program on a controller connects to this computer, as of the command `outrigger`.
const FIRST_PORT: u16 = 50_001;
/// The ports for further robots.
const MORE_PORTS: RangeInclusive<u16> = 50_010..=50_073;

/// Returns a port of this computer for the program on a controller, and what reserves it. Sessions of this package, in any
/// process, reserve a port by a socket for datagrams of the same number; other programs only occupy it.
fn program_port() -> Result<(u16, UdpSocket), Failure> {
    let reserve = |port: u16| {
        let token = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).ok()?;
        Some((port, token))
    };
    let found = std::iter::once(FIRST_PORT).chain(MORE_PORTS).find_map(reserve);
    found.ok_or_else(|| Failure::Connection("no port of 50001 and 50010 to 50073 is free on this computer".into()))
}

impl Session<6> {
    /// Starts to connect to the robot of Universal Robots at `address`: `host` or `host:port-base`.
    pub(crate) fn ur(address: &str, limits: Limits<6>, recordings: &Recordings) -> Result<Self, Failure> {
        let robot = Robot::ur(address)?;
        let mut config = *robot.config();
        config.limits = limits;
        config.peer.path = CommandPath::Player;
        let (port, reserved) = program_port()?;
        config.peer.program.port = port;
        let session = Self::start(robot.with_config(config), recordings)?;
        Ok(Self { _port: Some(reserved), ..session })
    }
}

impl Session<6> {
    /// Starts a session with the law and the sensors of a configuration.
    pub(crate) fn ur_configured(configuration: Configuration, recordings: &Recordings) -> Result<Self, Failure> {
        let Configuration { control, .. } = configuration;
        let mut config = control.engine();
        let (port, reserved) = program_port()?;
        if config.peer.program.port == FIRST_PORT {
            config.peer.program.port = port;
        }
        let robot = Robot::ur(&control.robot.address.to_string())?.with_config(config);
        let law = BoxedLaw::<6>::configured(control.law).map_err(bad)?;
        let session = Self::configured(robot, law, control.sources, recordings)?;
        Ok(Self { _port: Some(reserved), ..session })
    }
}

impl Session<7> {
    /// Starts a session with the law and the sensors of a configuration.
    pub(crate) fn krc_configured(configuration: KrcConfiguration, recordings: &Recordings) -> Result<Self, Failure> {
        let KrcConfiguration { listen, engine, law, sources, .. } = configuration;
        let krc = engine.peer.address.map_or_else(|| "0.0.0.0".into(), |krc| krc.to_string());
        let robot = Robot::krc(&krc, &listen.to_string())?.with_config(engine);
        let law = BoxedLaw::<7>::configured(law).map_err(bad)?;
        Self::configured(robot, law, sources, recordings)
    }

    /// Starts to wait for the KRC at the IP address `krc`, whose measurements arrive at `listen`.
    pub(crate) fn krc(krc: &str, listen: &str, limits: Limits<7>, recordings: &Recordings) -> Result<Self, Failure> {
        let robot = Robot::krc(krc, listen)?;
        let config = KrcConfig { limits, ..*robot.config() };
        Self::start(robot.with_config(config), recordings)
    }
}

impl<const N: usize> Session<N> {
    fn start<P>(robot: Robot<N, P>, recordings: &Recordings) -> Result<Self, Failure>
    where
        P: Controller<N> + 'static,
        P::Event: Send,
    {
        Self::configured(robot, BoxedLaw::new(hold()), vec![], recordings)
    }

    fn configured<P>(
        mut robot: Robot<N, P>,
        law: BoxedLaw<N>,
        sources: Vec<SourceSettings>,
        recordings: &Recordings,
    ) -> Result<Self, Failure>
    where
        P: Controller<N> + 'static,
        P::Event: Send,
    {
        let requests = Arc::new(Mutex::new(Requests {
            client: None,
            decided: BTreeMap::new(),
            events: None,
            report: Report::default(),
        }));
        if let Some(file) = &recordings.record {
            robot = robot.recording_to(file);
        }
        if let Some(folder) = &recordings.faults {
            robot = robot.recording_fallbacks_to(folder);
        }
        let robot = robot.quiet().awaiting_request().with_companion(HandOver(Arc::clone(&requests)));
        let running: Box<dyn Handle<N>> = Box::new(robot.start_configured(law, sources)?);
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { running: Mutex::new(Some(running)), number, requests, _port: None })
    }

    /// Returns the number of this session in this process.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// Returns the newest state of the robot; `None` without a connection.
    pub(crate) fn state(&self) -> Option<State<N>> {
        self.running().as_ref()?.state()
    }

    fn running(&self) -> MutexGuard<'_, Option<Box<dyn Handle<N>>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the states of the robot as they arrive from now on. `None` after the end of the session.
    pub(crate) fn states(&self) -> Option<States<N>> {
        self.running().as_ref().map(|running| running.states())
    }

    /// Returns whether the arm's position is known, from which a motion begins.
    pub(crate) fn has_position(&self) -> bool {
        lock(&self.requests).client.as_ref().is_some_and(|client| client.stands().at.is_some())
    }

    /// Returns whether the session has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.running().as_ref().is_none_or(|running| running.has_ended())
    }

    /// Returns the status of the session; after its end, that of a session without a connection.
    pub(crate) fn status(&self) -> Status {
        let mut requests = lock(&self.requests);
        requests.look();
        requests.client.as_ref().map(Client::status).unwrap_or_default()
    }

    /// Returns the newest events about the end of commanding.
    pub(crate) fn report(&self) -> Report {
        let mut requests = lock(&self.requests);
        requests.look();
        requests.report.clone()
    }

    /// Returns whether the arm is commanded.
    pub(crate) fn commands(&self) -> bool {
        self.status().mode == Mode::Command
    }

    fn asked(&self, id: Option<u32>) -> Result<Asked, &'static str> {
        Ok(Asked { session: self.number, id: id.ok_or(OVER)? })
    }

    /// Sends a request.
    pub(crate) fn ask(&self, asked: RequestKind) -> Result<Asked, &'static str> {
        self.asked(lock(&self.requests).client.as_mut().and_then(|client| client.ask(asked)))
    }

    /// Sends the request that `asked` returns for the session's epoch and the number of its client.
    pub(crate) fn ask_as(&self, asked: impl FnOnce(Epoch, ClientNumber) -> RequestKind) -> Result<Asked, &'static str> {
        let mut requests = lock(&self.requests);
        let client = requests.client.as_mut().ok_or(OVER)?;
        let request = asked(client.status().epoch, client.asker());
        self.asked(client.ask(request))
    }

    /// Passes on a reading of a sensor whose input is "requests".
    pub(crate) fn sample(&self, sensor: &str, values: &[f32]) -> Result<(), String> {
        lock(&self.requests).client.as_mut().ok_or(OVER)?.sample(sensor, values)
    }

    /// Returns the permit to send a program, which is valid after [`RequestKind::Script`] was granted.
    pub(crate) fn upload_permit(&self) -> Result<UploadPermit, &'static str> {
        lock(&self.requests).client.as_ref().map(Client::upload_permit).ok_or(OVER)
    }

    /// Requests the end of commanding: the arm is brought to rest, and the session continues.
    pub(crate) fn release(&self) {
        // Before any request of this client that the control loop has not taken.
        let released = lock(&self.requests).client.as_mut().is_some_and(Client::release);
        if let (false, Some(running)) = (released, self.running().as_ref()) {
            running.release();
        }
    }

    /// Returns whether the controller executes motions by itself, and not the control law.
    pub(crate) fn moves_by_controller(&self) -> bool {
        let client = &lock(&self.requests).client;
        client.as_ref().is_some_and(|client| client.moving().by == MotionExecutor::Controller)
    }

    /// Returns the limits and the position of the arm at this moment.
    pub(crate) fn basis(&self) -> Result<Basis<N>, String> {
        match &lock(&self.requests).client {
            Some(client) => Ok(Basis { moving: client.moving(), stands: client.stands() }),
            None => Err(OVER.into()),
        }
    }

    /// Sends a prepared motion.
    pub(crate) fn begin(&self, motion: Ready<N>) -> Result<Asked, &'static str> {
        let mut requests = lock(&self.requests);
        let client = requests.client.as_mut().ok_or(OVER)?;
        let epoch = client.status().epoch;
        self.asked(client.begin(epoch, motion))
    }

    /// Passes a command of a stream to the control loop. The newest one counts.
    pub(crate) fn stream(&self, forward: Forward<N>) {
        if let Some(client) = &lock(&self.requests).client {
            client.stream(forward);
        }
    }

    /// Returns the decision on a request, if there is one. Any thread may fetch the decisions of all. The error is that of
    /// a request to another session.
    pub(crate) fn decision(&self, asked: Asked) -> Result<Option<Decided>, &'static str> {
        if asked.session != self.number {
            return Err(OVER);
        }
        let mut requests = lock(&self.requests);
        let Requests { client, decided, .. } = &mut *requests;
        while let Some(next) = client.as_mut().and_then(Client::decided) {
            decided.insert(next.id, next);
            if decided.len() > KEPT {
                decided.pop_first();
            }
        }
        Ok(decided.remove(&asked.id))
    }

    /// Brings the arm to rest and ends the session. A second call has no effect.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        let running = self.running().take();
        running.map_or(Ok(()), |running| running.end())
    }
}
