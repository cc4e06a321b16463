//! The conversation with the test robot, over one link that listens for it.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::message::{LONGEST, Message, POINTS, SHOWN_LEN, Shown};
use crate::command::{JointMove, Limits, MAX_SOURCES};
use crate::engine::config::{Config, ConfigError, Options};
use crate::engine::controller::{
    ArmFacts, Context, Controller, ControllerKind, ControllerStatus, Delegated, Judged, LinkRoles, Received, Waiting,
    sealed::Sealed,
};
#[cfg(feature = "record")]
use crate::engine::controller::{MemorySizes, Recorded};
use crate::engine::cycle::{CycleConfig, CycleMemory, MotionProgress, PendantSight, SideFacts, Verdict};
use crate::engine::event::Events;
use crate::engine::io::{Input, LinkId, Output};

use crate::link::LinkTuning;
use crate::mode::{
    Activity, Course, CourseConfig, Mirrored, ModeConfig, ModeTuning, MoveNumber, OperatorConfig, PeerGate,
    StandstillConfig, TimedFact,
};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use outrigger_wire::robot::{ControllerTime, JointPositions, JointVelocities, RobotMode, Safety, SafetyMode, State};
use outrigger_wire::time::{Duration, Instant};

impl LinkId {
    /// The only link of this kind of controller (for tests): the connection that the test robot makes to this device.
    pub const CONTROL: Self = Self::of(0);
}

/// The period of the test robot's states.
const PERIOD: Duration = Duration::from_millis(8);
/// The wait before a port that cannot be listened on is tried again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// The configuration of an engine for the test controller.
pub type TestConfig = Config<2, TestOptions>;

/// The settings that only the test controller has.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct TestOptions {
    /// The port of this device that the test robot connects to.
    pub port: u16,
    /// The robot's address; connections from other addresses are closed.
    pub robot: IpAddr,
    /// The number of bytes of a message that are passed at a time to the port, the code that does the engine's I/O.
    pub chunk: u16,
    /// The time without a message after which the robot counts as lost.
    pub silence: Duration,
}

impl Options for TestOptions {
    const KIND: u8 = b'T';
}

impl Default for TestConfig {
    fn default() -> Self {
        let robot = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 2));
        Self {
            peer: TestOptions { port: 50_002, robot, chunk: 1460, silence: Duration::from_secs(1) },
            link: LinkTuning::default(),
            mode: ModeTuning { acceptance_unknown: true, ..ModeTuning::default() },
            standstill: StandstillConfig::default(),
            limits: Limits::default(),
            sources: [None; MAX_SOURCES],
            operator: OperatorConfig::default(),
        }
    }
}

impl TestConfig {
    fn cycle(&self) -> CycleConfig {
        CycleConfig {
            link: self.link.stream(PERIOD),
            mode: ModeConfig { rest_window: self.standstill.window, ..self.mode.of(PERIOD) },
            following: self.mode.following.of(PERIOD),
            scaling: self.mode.scaling,
            pendant: self.mode.pendant,
            sight: PendantSight::Always,
            hold: Duration::ZERO,
            #[cfg(feature = "programs")]
            most_feedback: f32::INFINITY,
        }
    }
}

/// The events that only an engine for this test controller reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum TestEvent {
    /// The test robot has connected.
    Found,
    /// A connection from another address was closed; the number of them so far.
    Stranger(u32),
    /// The connection to the test robot is lost.
    Lost,
}

/// The status of the conversation with the test robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct TestStatus {
    /// The number of connections that were closed because another address made them.
    pub strangers: u32,
}

impl ControllerStatus for TestStatus {
    const KIND: u8 = TestOptions::KIND;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Listening {
    No,
    Wanted,
    Requested,
    Again(Instant),
    /// The robot has connected; contains the time of its last message.
    Connected(Instant),
}

/// The move that was requested last, and its course.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Assignment {
    asked: JointMove<2>,
    course: Course<2>,
}

/// Our side of the conversation with the test robot.
#[derive(Debug)]
pub struct TestPeer {
    listening: Listening,
    abort: bool,
    strangers: u32,
    /// The receive buffer, with room for four states; `filled` bytes are in it.
    window: [[u8; 24]; 8],
    filled: usize,
    shown: Option<Shown>,
    /// The status of moves that the test robot reports, with the time when its program was last seen running.
    mirrored: Option<TimedFact<Mirrored>>,
    asked: Option<Assignment>,
    chunk: usize,
    out: [u8; LONGEST],
    length: usize,
    /// The number of bytes of the message in `out` that were passed to the port, the code that does the engine's I/O.
    given: usize,
    #[cfg(feature = "record")]
    new: bool,
}

type Cx<'c> = Context<'c, 2, TestPeer>;

impl TestPeer {
    /// Returns the newest state of the test robot.
    #[must_use]
    pub const fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    fn accepted(&mut self, from: SocketAddr, cx: &mut Cx<'_>) {
        if self.listening != Listening::Requested {
            self.abort = true;
        } else if from.ip() == cx.config.peer.robot {
            self.listening = Listening::Connected(cx.now);
            cx.events.push_peer(TestEvent::Found);
        } else {
            self.strangers = self.strangers.saturating_add(1);
            (self.abort, self.listening) = (true, Listening::Wanted);
            cx.events.push_peer(TestEvent::Stranger(self.strangers));
        }
    }

    fn lost(&mut self, reason: Reason, cx: &mut Cx<'_>) {
        self.listening = Listening::Wanted;
        (self.filled, self.length, self.given) = (0, 0, 0);
        (self.shown, self.mirrored) = (None, None);
        cx.events.push_peer(TestEvent::Lost);
        cx.cycle.take_arrival();
        cx.cycle.link_lost(cx.now, reason, cx.events);
    }

    fn heard(&mut self, shown: &Shown, arrival: Instant, cx: &mut Cx<'_>) {
        if self.shown.is_none() {
            cx.cycle.establish(cx.config.cycle(), cx.now, cx.events);
        }
        // The values of a paused or ended program are as old as its last sign of life.
        if self.shown.is_none_or(|before| before.beat != shown.beat) {
            self.mirrored = Some(TimedFact::new(shown.mirrored(), arrival));
        }
        self.shown = Some(*shown);
        let safety = if shown.stopped { SafetyMode::ProtectiveStop } else { SafetyMode::Normal };
        let state = State {
            controller_time: ControllerTime::from_micros(shown.micros),
            positions: JointPositions(shown.positions),
            velocities: JointVelocities(shown.speeds),
            target_positions: JointPositions(shown.targets),
            target_velocities: JointVelocities(shown.speeds),
            robot_mode: Some(RobotMode::Running),
            safety: Safety::Mode(safety),
            ..State::default()
        };
        cx.cycle.hear(&state, arrival, cx.now, cx.events);
        cx.cycle.arrived(arrival);
    }

    const fn is_waiting(&self) -> bool {
        self.given < self.length
    }

    /// Returns the planned position of the requested move at this share of its way.
    fn planned(course: &Course<2>, share: f32) -> JointPositions<2> {
        course.from.zip_with(course.to.as_array(), |from, to| from + (to - from) * share)
    }
}

impl Sealed for TestPeer {}

impl ControllerKind for TestPeer {
    type Event = TestEvent;
    type Options = TestOptions;
    type Status = TestStatus;
    type Memory = ();

    const LISTENS: bool = true;
    const DELEGATES: bool = true;
}

impl ArmFacts<2> for TestPeer {}

impl Delegated<2> for TestPeer {
    fn executed(&mut self, state: &State<2>, _: Instant) -> MotionProgress {
        let (Some(shown), config) = (self.shown, CourseConfig::default()) else { return MotionProgress::default() };
        let on_course = self.asked.is_some_and(|Assignment { course, .. }| match shown.mirrored() {
            Mirrored::Running(_) if shown.progress.is_finite() => {
                course.holds_at(&Self::planned(&course, shown.progress), state, &config)
            }
            Mirrored::Running(_) | Mirrored::Idle | Mirrored::Ended(_) => course.holds(state, &config),
        });
        MotionProgress { mirrored: self.mirrored, paused: shown.paused, on_course }
    }

    fn delegated(&mut self, _: MoveNumber, asked: JointMove<2>, state: &State<2>) {
        let course = Course { from: state.target_positions, to: *asked.to(), speed: asked.speed() };
        self.asked = Some(Assignment { asked, course });
    }

    fn asked(&self) -> Option<JointMove<2>> {
        self.asked.map(|asked| asked.asked)
    }
}

impl Controller<2> for TestPeer {
    fn new(config: &TestConfig, (): ()) -> Result<(Self, CycleMemory<2>), ConfigError> {
        let cycle = config.cycle();
        config.check_common(&cycle)?;
        let value = ConfigError::of("mode");
        cycle.mode.delegated.check(cycle.mode.cycle).map_err(value)?;
        let peer = Self {
            listening: Listening::No,
            abort: false,
            strangers: 0,
            window: [[0; 24]; 8],
            filled: 0,
            shown: None,
            mirrored: None,
            asked: None,
            chunk: usize::from(config.peer.chunk.max(1)),
            out: [0; LONGEST],
            length: 0,
            given: 0,
            #[cfg(feature = "record")]
            new: false,
        };
        let sources = config.monitors()?;
        Ok((peer, CycleMemory::new(config.cycle(), config.standstill, config.limits, sources, config.operator)))
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        #[cfg(feature = "record")]
        {
            self.new = false;
        }
        match self.listening {
            Listening::Again(at) if at <= cx.now => self.listening = Listening::Wanted,
            Listening::Connected(since) if cx.now.since(since) > cx.config.peer.silence => {
                self.abort = true;
                self.lost(Reason::StateStale, cx);
            }
            _ => {}
        }
    }

    fn handle(&mut self, input: Input, cx: &mut Cx<'_>) {
        match input {
            Input::Start => self.listening = Listening::Wanted,
            Input::Accepted(_, from) => self.accepted(from, cx),
            Input::Refused(_) => self.listening = Listening::Again(cx.now + LISTEN_AGAIN),
            Input::Closed(_) => self.lost(Reason::LinkClosed, cx),
            _ => {}
        }
    }

    fn receive_window(&mut self, _: LinkId) -> &mut [u8] {
        self.window.as_flattened_mut().get_mut(self.filled..).unwrap_or_default()
    }

    fn commit(&mut self, received: &Received, cx: &mut Cx<'_>) -> bool {
        if !matches!(self.listening, Listening::Connected(_)) {
            return false;
        }
        self.listening = Listening::Connected(cx.now);
        self.filled = self.filled.saturating_add(received.count);
        let window = self.window;
        let mut rest = window.as_flattened().get(..self.filled).unwrap_or_default();
        let full = rest.len() == window.as_flattened().len();
        let mut states = false;
        while let Some((state, behind)) = rest.split_first_chunk::<SHOWN_LEN>() {
            self.heard(&Shown::from_bytes(state), received.arrival, cx);
            (rest, states) = (behind, true);
        }
        self.window.as_flattened_mut().iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.filled = rest.len();
        states && !full
    }

    fn facts(&mut self, _: &mut Cx<'_>) -> SideFacts {
        let granted = self.shown.is_some_and(|shown| shown.granted);
        SideFacts {
            path_open: true,
            gate: Some(if granted { PeerGate::Granted } else { PeerGate::No }),
            program: self.mirrored.filter(|_| !granted).map(|held| TimedFact::new(Activity::Stopped, held.at)),
            ..SideFacts::default()
        }
    }

    fn prepare(&mut self, _: Option<Judged>, _: &mut Cx<'_>) -> bool {
        self.shown.is_some()
    }

    fn write(&mut self, verdict: Verdict<'_, 2>) -> Result<bool, Reason> {
        // A message that was started is completed, whatever follows.
        if self.given > 0 && self.is_waiting() {
            return Ok(false);
        }
        let message = match verdict {
            Verdict::Silent | Verdict::Mirror => return Ok(false),
            Verdict::Hold => Message::Hold,
            Verdict::Stop => Message::Stop,
            Verdict::Move(approved) => Message::Speeds(approved.into_parts().0.0),
            Verdict::Start(approved, number) => {
                let (asked, _) = approved.into_parts();
                let course = self.asked.ok_or(Reason::Internal)?.course;
                let mut points = [[0.0; 2]; POINTS];
                for (at, point) in (1_u8..).zip(&mut points) {
                    *point = Self::planned(&course, f32::from(at) / POINTS as f32).0;
                }
                Message::Start(number.get(), [asked.speed(), asked.acceleration()], points)
            }
            // This kind of controller has neither.
            #[cfg(feature = "programs")]
            Verdict::Guide(..) => return Err(Reason::Internal),
            #[cfg(feature = "motions")]
            Verdict::Torque(_) => return Err(Reason::Internal),
            Verdict::Keep => Message::Keep,
            Verdict::Cancel(number) => Message::Cancel(number.get()),
        };
        (self.length, self.given) = (message.emit(&mut self.out), 0);
        #[cfg(feature = "record")]
        {
            self.new = true;
        }
        Ok(true)
    }

    fn conclude(&mut self, _: &mut Cx<'_>) -> bool {
        false
    }

    fn leave(&mut self, _: Instant, cx: &mut Cx<'_>) -> bool {
        self.abort = matches!(self.listening, Listening::Connected(_) | Listening::Requested);
        self.lost(Reason::Released, cx);
        self.listening = Listening::No;
        true
    }

    fn is_established(&self) -> bool {
        self.shown.is_some()
    }

    fn waiting(&self) -> Waiting {
        match self.abort || self.listening == Listening::Wanted {
            true => Waiting::Links,
            false if self.is_waiting() => Waiting::Bytes,
            false => Waiting::Nothing,
        }
    }

    fn poll_output(&mut self, config: &TestConfig, _: &mut Events<TestEvent>) -> Option<Output<'_>> {
        let link = LinkId::CONTROL;
        if core::mem::take(&mut self.abort) {
            return Some(Output::Abort(link));
        }
        if self.listening == Listening::Wanted {
            self.listening = Listening::Requested;
            return Some(Output::Listen { link, port: config.peer.port });
        }
        let bytes = self.out.get(self.given..self.length).filter(|bytes| !bytes.is_empty())?;
        let bytes = bytes.get(..self.chunk).unwrap_or(bytes);
        self.given = self.given.saturating_add(bytes.len());
        Some(Output::Transmit { link, to: None, bytes })
    }

    fn next_deadline(&self, _: Instant, config: &TestConfig, _: &CycleMemory<2>) -> Option<Instant> {
        match self.listening {
            Listening::Again(at) => Some(at),
            Listening::Connected(since) => Some(since + config.peer.silence + Duration::from_micros(1)),
            Listening::No | Listening::Wanted | Listening::Requested => None,
        }
    }

    fn links(&self) -> LinkRoles {
        LinkRoles::default()
    }

    fn status(&self) -> TestStatus {
        TestStatus { strangers: self.strangers }
    }
}

#[cfg(feature = "record")]
impl Recorded<2> for TestPeer {
    fn received(&mut self, link: LinkId, count: usize) -> &[u8] {
        self.receive_window(link).get(..count).unwrap_or_default()
    }

    fn memory_sizes(&self) -> MemorySizes {
        MemorySizes::default()
    }

    fn exactly((): (), _: MemorySizes) -> Option<()> {
        Some(())
    }

    fn made(&self) -> [&[u8]; 3] {
        let made = self.out.get(..self.length).filter(|_| self.new);
        [made.unwrap_or_default(), &[], &[]]
    }

    fn next_made(&mut self) -> Option<&[u8]> {
        // No port listens or closes a link in a replay.
        self.abort = false;
        if self.listening == Listening::Wanted {
            self.listening = Listening::Requested;
        }
        let waiting = self.is_waiting();
        self.given = self.length;
        self.out.get(..self.length).filter(|_| waiting)
    }

    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&(self.listening, self.abort, self.strangers, self.window, self.filled))?;
        to.put(&(self.shown, self.mirrored, self.asked))
    }

    fn load(&mut self, from: &mut Loader<'_>, config: &TestConfig) -> Option<CycleConfig> {
        (self.listening, self.abort, self.strangers, self.window, self.filled) = from.take()?;
        (self.shown, self.mirrored, self.asked) = from.take()?;
        (self.length, self.given) = (0, 0);
        Some(config.cycle())
    }
}
