//! The bench: one engine, one scripted peer, one clock. All output is kept and checked against the invariants.

use crate::engine::ur::LINKS;
#[cfg(feature = "record")]
use crate::engine::ur::Ur;
use crate::engine::ur::rtde::{RtdeMemory, StateMemory};
use crate::engine::ur::{Memory, UrConfig, UrEngine, UrEvent};
use crate::engine::{Event, Input, LinkId, Output};
#[cfg(feature = "record")]
use crate::engine::{ReplayError, Replayed, replay};
use crate::law::{JointServo, JointServoConfig, Reference};
use crate::mode::{Channel, Mode, PendantStop, Refusal, Transition};
use crate::peer::Peer;
use crate::robot::Reason;
use crate::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// Returns the event that a request by a message was refused for `reason`.
pub(crate) const fn refused(reason: Reason) -> Event<UrEvent> {
    Event::Refused(Refusal::of_request(Channel::Message, reason))
}

/// A URScript text that the tested engine sent to the controller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    /// The mode of the engine when it sent the text.
    pub(crate) mode: Mode,
    pub(crate) text: String,
}

impl Sent {
    /// Returns the speeds of a `speedj`; `None` for a `stopj`.
    pub(crate) fn speeds(&self) -> Option<Vec<f64>> {
        let list = self.text.split_once("speedj([")?.1.split_once(']')?.0;
        Some(list.split(',').map(|n| n.parse().unwrap()).collect())
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.speeds().is_some_and(|speeds| speeds.iter().any(|v| *v != 0.0))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.speeds().is_some_and(|speeds| speeds.iter().all(|v| *v == 0.0))
    }

    pub(crate) fn is_stop(&self) -> bool {
        self.speeds().is_none() && self.text.starts_with("stopj(")
    }
}

/// The call with which the bench lets the engine do its account: the work (deadline, figures, recorder) for which the
/// answer to a state does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accounts {
    /// With each [`written`](crate::engine::Engine::written).
    Written,
    /// With the events; writes are not reported.
    Events,
    /// Before the next input, or before the deadline is read.
    Late,
}

pub(crate) struct Bench {
    pub(crate) engine: UrEngine<'static, JointServo<6>>,
    pub(crate) peer: Peer,
    pub(crate) now: Instant,
    /// The sent texts that concern motion, in order.
    pub(crate) sent: Vec<Sent>,
    /// The sent texts that set outputs of the robot, in order.
    pub(crate) settings: Vec<Sent>,
    pub(crate) events: Vec<Event<UrEvent>>,
    /// The links that the port has open.
    pub(crate) open: [bool; LINKS.len()],
    /// The ports that refuse connections.
    pub(crate) refused: Vec<u16>,
    /// The ports that accept connections and send nothing.
    pub(crate) silent: Vec<u16>,
    /// A port with a wrong service, and the bytes that it sends.
    pub(crate) instead: Option<(u16, Vec<u8>)>,
    /// The ports of the controller to which the engine requested connections, in order.
    pub(crate) asked: Vec<u16>,
    /// The highest number of bytes that a read returns.
    pub(crate) read_most: usize,
    /// `true` if the network delivers nothing to the engine; data from the controller waits.
    pub(crate) stalled: bool,
    /// `true` if the link of RTDE delivers nothing to the engine; data from the controller waits.
    pub(crate) rtde_stalled: bool,
    /// `true` if the texts that the engine sends do not reach the controller.
    pub(crate) mute: bool,
    pub(crate) accounts: Accounts,
    connected_port: [u16; LINKS.len()],
    next_cycle: Instant,
}

/// The size of the recorder's memory [B]: half a second of a 500 Hz stream, so that it turns over all the time.
#[cfg(feature = "record")]
const RECORDER: usize = 400_000;
/// The size of the recorder's memory of a [fork](Bench::forked) \[B\]: some cycles after a checkpoint.
#[cfg(feature = "record")]
const FORKS_RECORDER: usize = 32_768;

fn rtde() -> &'static mut dyn StateMemory<'static> {
    Box::leak(Box::new(<RtdeMemory<'_>>::new()))
}

fn leak(len: usize) -> &'static mut [u8] {
    Box::leak(vec![0; len].into_boxed_slice())
}

/// Returns a law that turns the base joint by 1 rad in 4 s and then stops.
pub(crate) fn turning() -> JointServo<6> {
    let at = |angle, seconds| {
        let mut positions = JointPositions::ZERO;
        positions.0[0] = angle;
        let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
        Waypoint { setpoint, accelerations: None, at: Duration::from_secs(seconds) }
    };
    let motion = Trajectory::through(&[at(0.0, 0), at(1.0, 4)]).unwrap();
    JointServo::new(Reference::Relative(motion), JointServoConfig::default())
}

impl Bench {
    pub(crate) fn new(major: u8, minor: u8, config: UrConfig) -> Self {
        Self::with_memory(major, minor, config, Memory { primary: leak(4096), realtime: leak(8192), rtde: None })
    }

    /// Creates a bench like [`new`](Self::new), with memory for RTDE.
    pub(crate) fn with_rtde(major: u8, minor: u8, config: UrConfig) -> Self {
        let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde: Some(rtde()) };
        Self::with_memory(major, minor, config, memory)
    }

    /// Creates a bench that may command without detecting a stop at the pendant: most benches have states only from
    /// 30003, which do not show it.
    fn with_memory(major: u8, minor: u8, mut config: UrConfig, memory: Memory<'static>) -> Self {
        config.mode.pendant.stop = PendantStop::Overridden;
        Self::as_configured(major, minor, config, memory)
    }

    /// Creates a bench that commands only if a stop at the pendant is detected.
    pub(crate) fn seeing_stops(major: u8, minor: u8, config: UrConfig, with_rtde: bool) -> Self {
        let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde: with_rtde.then(rtde) };
        Self::as_configured(major, minor, config, memory)
    }

    fn as_configured(major: u8, minor: u8, config: UrConfig, memory: Memory<'static>) -> Self {
        let engine = UrEngine::new(config, turning(), memory).unwrap();
        Self {
            #[cfg(feature = "record")]
            engine: engine.with_recorder(leak(RECORDER)),
            #[cfg(not(feature = "record"))]
            engine,
            peer: Peer::new(SoftwareVersion::new(major, minor)),
            now: Instant::ZERO,
            sent: Vec::new(),
            settings: Vec::new(),
            events: Vec::new(),
            open: [false; LINKS.len()],
            refused: Vec::new(),
            silent: Vec::new(),
            instead: None,
            asked: Vec::new(),
            read_most: usize::MAX,
            stalled: false,
            rtde_stalled: false,
            mute: false,
            accounts: Accounts::Events,
            connected_port: [0; LINKS.len()],
            next_cycle: Instant::ZERO,
        }
    }

    /// Returns a bench like this one without any output; its engine continues from the state of this one.
    #[cfg(feature = "record")]
    pub(crate) fn forked(&self) -> Self {
        let mut room = [0; 8192];
        let snapshot = self.engine.snapshot(&mut room).unwrap();
        let rtde = self.engine.peer().rtde().map(|_| rtde());
        let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde };
        let other = JointServo::new(Reference::Hold, JointServoConfig::default());
        Self {
            engine: snapshot.engine(other, memory).unwrap().with_recorder(leak(FORKS_RECORDER)),
            peer: self.peer.clone(),
            sent: Vec::new(),
            settings: Vec::new(),
            events: Vec::new(),
            refused: self.refused.clone(),
            silent: self.silent.clone(),
            instead: self.instead.clone(),
            asked: Vec::new(),
            ..*self
        }
    }

    /// Returns a bench that was started, and has run until a request would be granted.
    pub(crate) fn ready(major: u8, minor: u8) -> Self {
        Self::ready_with(major, minor, UrConfig::default())
    }

    pub(crate) fn ready_with(major: u8, minor: u8, config: UrConfig) -> Self {
        Self::new(major, minor, config).started()
    }

    /// Starts the bench, and runs it until a request to command would be granted, or only lacks a rise of the request
    /// line.
    pub(crate) fn started(mut self) -> Self {
        self.input(Input::Start);
        self.run_until(10_000, |b| {
            b.engine.mode() == Mode::Monitor && b.unmet().iter().all(|unmet| *unmet == Reason::LineLow)
        });
        self
    }

    /// Returns a bench in `Command`, with the arm in motion.
    pub(crate) fn moving(major: u8, minor: u8) -> Self {
        Self::moving_with(major, minor, UrConfig::default())
    }

    pub(crate) fn moving_with(major: u8, minor: u8, config: UrConfig) -> Self {
        Self::ready_with(major, minor, config).commanding()
    }

    /// Requests commanding, and runs until the arm is in motion.
    pub(crate) fn commanding(mut self) -> Self {
        self.request();
        self.run_until(12_000, |b| b.engine.mode() == Mode::Command);
        self.run(1_000);
        assert!(self.sent.last().unwrap().is_moving() && self.peer.qd[0] > 0.1);
        self
    }

    /// Handles one input, then drains.
    pub(crate) fn input(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    /// Requests commanding, for an operator who sees the present epoch.
    pub(crate) fn request(&mut self) {
        self.input(Input::Request(self.engine.mode_machine().epoch()));
    }

    /// Requests commanding, to continue a suspended motion.
    pub(crate) fn resume(&mut self) {
        self.input(Input::Resume(self.engine.mode_machine().epoch()));
    }

    /// Delivers any bytes on `link`.
    pub(crate) fn bytes(&mut self, link: LinkId, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let window = self.engine.receive_window(link);
            let count = window.len().min(bytes.len()).min(self.read_most);
            assert!(count > 0, "a window is never empty");
            window[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            self.engine.commit(link, count, self.now, self.now);
            self.drain();
        }
    }

    /// Closes a connection, as the peer or the network does.
    pub(crate) fn close(&mut self, link: LinkId) {
        self.open[link.index()] = false;
        self.peer.close(link);
        self.input(Input::Closed(link));
    }

    /// Lets time pass: cycles of the peer and deadlines of the engine, each at its time.
    pub(crate) fn run(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            self.step(end);
        }
    }

    /// Runs until `done`, for `millis` at most.
    pub(crate) fn run_until(&mut self, millis: u64, done: impl Fn(&Self) -> bool) {
        let end = self.now + Duration::from_millis(millis);
        while !done(self) {
            assert!(self.now < end, "still {:?}, unmet {:?}", self.engine.mode(), self.unmet());
            self.step(end);
        }
    }

    /// Lets time pass while this process is not scheduled: nothing is read, and deadlines are missed.
    pub(crate) fn sleep_through(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while self.next_cycle <= end {
            self.next_cycle = self.next_cycle + Duration::from_micros(self.peer.period());
            self.peer.cycle();
        }
        self.now = end;
    }

    /// Returns the content of the recorder.
    #[cfg(feature = "record")]
    pub(crate) fn dump(&self) -> Vec<u8> {
        let mut dump = vec![0; 1024];
        let header = self.engine.dump_header(&mut dump).unwrap();
        dump.truncate(header);
        self.engine.recorder().halves().iter().for_each(|half| dump.extend_from_slice(half));
        dump.extend(self.engine.dump_end(header));
        dump
    }

    /// Replays the content of the recorder.
    #[cfg(feature = "record")]
    pub(crate) fn replay(&self) -> Result<Replayed, ReplayError> {
        let mut rtde: RtdeMemory<'_> = RtdeMemory::new();
        let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: Some(&mut rtde) };
        let other = JointServo::new(Reference::Hold, JointServoConfig::default());
        replay::<6, Ur<'_>, _>(&self.dump(), other, memory)
    }

    pub(crate) fn unmet(&self) -> Vec<Reason> {
        self.engine.unmet(self.now).iter().collect()
    }

    pub(crate) fn transitions(&self) -> Vec<Transition> {
        let transition = |event: &Event<UrEvent>| if let Event::Transition(t) = event { Some(*t) } else { None };
        self.events.iter().filter_map(transition).collect()
    }

    /// Returns the texts that were sent at or after `at`.
    pub(crate) fn sent_since(&self, at: Instant) -> Vec<Sent> {
        self.sent.iter().filter(|sent| sent.at >= at).cloned().collect()
    }

    fn step(&mut self, end: Instant) {
        if self.accounts == Accounts::Late {
            assert_eq!(self.engine.poll_event(), None, "events are taken at once");
        }
        let deadline = self.engine.poll_timeout().unwrap_or(end).max(self.now);
        self.now = deadline.min(self.next_cycle).min(end);
        if self.now >= self.next_cycle {
            self.next_cycle = self.next_cycle + Duration::from_micros(self.peer.period());
            self.peer.cycle();
            self.deliver();
        }
        if deadline <= self.now {
            self.input(Input::Tick);
        }
    }

    /// Delivers the data that the controller sent to the engine: first that of RTDE, then of 30003, then of 30001.
    pub(crate) fn deliver(&mut self) {
        if self.stalled {
            return;
        }
        for link in [LinkId::RTDE, LinkId::REALTIME, LinkId::PRIMARY] {
            if link == LinkId::RTDE && self.rtde_stalled {
                continue;
            }
            loop {
                let most = self.engine.receive_window(link).len();
                let port = self.connected_port[link.index()];
                let mut bytes = self.peer.read(link, most);
                if self.silent.contains(&port) {
                    bytes.clear();
                }
                if let Some((_, instead)) = self.instead.as_ref().filter(|(at, _)| *at == port) {
                    bytes = if bytes.is_empty() { Vec::new() } else { instead.clone() };
                }
                if bytes.is_empty() || !self.open[link.index()] {
                    break;
                }
                self.bytes(link, &bytes);
            }
        }
    }

    fn drain(&mut self) {
        let (mut texts, mut asked) = (0, false);
        let (mut opened, mut written) = (Vec::new(), false);
        let before = self.events.len();
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Open { link, endpoint } => opened.push((link, endpoint.port)),
                Output::Listen { .. } => panic!("nobody listens"),
                Output::Abort(link) => {
                    self.open[link.index()] = false;
                    self.peer.close(link);
                }
                Output::Transmit { link: LinkId::RTDE, bytes, .. } => {
                    assert!(self.open[LinkId::RTDE.index()], "a question for a connection that is not there");
                    self.peer.write(LinkId::RTDE, bytes);
                    asked = true;
                }
                Output::Transmit { link, bytes, .. } => {
                    assert_eq!(link, LinkId::REALTIME, "one writer");
                    assert!(self.open[link.index()], "text for a connection that is not there");
                    let text = String::from_utf8(bytes.to_vec()).unwrap();
                    if !self.mute {
                        self.peer.write(link, bytes);
                    }
                    written = true;
                    let sent = Sent { at: self.now, mode: self.engine.mode(), text };
                    if sent.text.starts_with("sec ") {
                        assert_ne!(sent.mode, Mode::Offline, "{sent:?}");
                        self.settings.push(sent);
                    } else {
                        assert!(self.settings.last().is_none_or(|last| last.at < self.now), "motion goes first");
                        texts += 1;
                        self.sent.push(sent);
                    }
                }
            }
        }
        if written && self.accounts == Accounts::Written {
            let _ = self.engine.written(self.now);
        }
        // Taking events accounts for the call.
        while self.accounts != Accounts::Late || self.engine.has_events() {
            let Some(event) = self.engine.poll_event() else { break };
            self.events.push(event);
        }
        assert!(texts <= 1, "one input gave {texts} texts");
        self.check(texts, before);
        if asked && !self.rtde_stalled {
            // Answers need no cycle of the controller.
            self.deliver();
        }
        for (link, port) in opened {
            self.asked.push(port);
            if self.refused.contains(&port) {
                self.input(Input::Refused(link));
            } else {
                self.open[link.index()] = true;
                self.connected_port[link.index()] = port;
                self.peer.open(link);
                self.input(Input::Opened(link));
            }
        }
    }

    /// Checks after each input that the mode permits what was sent (`core/docs/mode-machine.md 1, 9`).
    fn check(&self, texts: usize, events_before: usize) {
        let mut fell_back = None;
        for event in &self.events[events_before..] {
            if let Event::Transition(t) = event
                && t.from == Mode::Command
            {
                fell_back = Some(*t);
            }
        }
        if let Some(sent) = self.sent.last().filter(|_| texts > 0) {
            let allowed = match sent.mode {
                Mode::Offline => false,
                // The one stop for an arm that moves by our command after a reconnect.
                Mode::Monitor => sent.is_stop(),
                // A stop, if another program has to be ended first.
                Mode::Arming => sent.is_zero() || sent.is_stop(),
                Mode::Command => sent.speeds().is_some(),
                Mode::Stopping => sent.is_zero() || sent.is_stop(),
            };
            assert!(allowed, "{sent:?}");
            assert!(sent.text.ends_with('\n'));
        }
        // A connection that was reset at the same time carries no more data.
        let connected = self.engine.mode() != Mode::Offline;
        if let Some(t) = fell_back.filter(|t| t.to == Mode::Stopping && connected) {
            // A robot that has stopped itself is sent nothing.
            let robot_stopped = self.engine.state().is_some_and(|state| Reason::of_safety(state.safety).is_some());
            let zero = texts > 0 && self.sent.last().is_some_and(Sent::is_zero);
            // A stopped program is not replaced by another; a stop replaces a paused one.
            let by_pendant = match t.reason {
                Some(Reason::ProgramStopped) => texts == 0,
                Some(Reason::ProgramPaused) => texts > 0 && self.sent.last().is_some_and(Sent::is_stop),
                _ => false,
            };
            assert!(zero || robot_stopped || by_pendant, "no zero velocity in the cycle that found {t:?}");
        }
    }
}
