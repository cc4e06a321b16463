//! A run: from one event to the next, the host's loop as a port would write it, and everything noted down.

use outrigger_core::engine::ur::LINKS;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use outrigger_core::client::rtde::Claim;
use outrigger_core::command::JointMove;
use outrigger_core::engine::ur::rtde::{RtdeMemory, StateMemory};
use outrigger_core::engine::ur::{CommandPath, Memory, UrEngine};
use outrigger_core::engine::{Event, Input, LinkId, Output};
use outrigger_core::law::{AnyLaw, FeedError};
use outrigger_core::mode::{Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Waypoint;
use outrigger_sim::controller::{Controller, Refused};
use outrigger_sim::dial::Dial;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::time::SimTime;
use outrigger_wire::external_control::{Control, ControlMode};
use outrigger_wire::player::PlayerOrder;
use outrigger_wire::program::{Order, OrderRepr, What};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Instant;

use super::record::{Command, Motion, Record, speeds_of, torques_of};
use super::rules::{Moment, Rules};
use super::setup::{Reading, Sensor, Setup, core_time};
use super::socket::Socket;

/// Receive memory of one co-controller.
#[derive(Debug)]
pub struct Buffers {
    primary: Vec<u8>,
    realtime: Vec<u8>,
    rtde: bool,
    recorder: Vec<u8>,
    /// The first call of the engine that a checkpoint is taken before, of every two.
    first: usize,
}

impl Buffers {
    /// The same with memory for RTDE, so that states come from there.
    #[must_use]
    pub fn with_rtde() -> Self {
        Self { rtde: true, ..Self::default() }
    }

    /// Adds a recorder, and a checkpoint before every second call of the engine, from its call number `first` on.
    #[must_use]
    pub fn with_checkpoints(self, first: usize) -> Self {
        Self { recorder: vec![0; RECORDER], first, ..self }
    }
}

impl Default for Buffers {
    /// 4 and 8 KiB.
    fn default() -> Self {
        Self { primary: vec![0; 4096], realtime: vec![0; 8192], rtde: false, recorder: vec![], first: 0 }
    }
}

/// What the host does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Runs,
    /// Nothing of it runs until then.
    Paused(SimTime),
    Dead,
}

/// How the process of the co-controller ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The process ends; the kernel resets its connections.
    Reset,
    /// The host stands still, or has no power: not another byte, and nobody resets anything.
    Silent,
}

/// A host with a co-controller, and the robot beside it.
pub struct Rig<'m> {
    /// The robot: its truth, and what an operator does to it.
    pub controller: Controller,
    engine: UrEngine<'m, AnyLaw<6>>,
    /// Of the links, and of the connection that a program makes.
    sockets: [Socket; LINKS.len() + 4],
    /// Calls of the controller that are under way, with when they arrive.
    calls: Vec<(Dial, SimTime)>,
    sensors: Vec<(Sensor, Readings)>,
    host: Host,
    reading: Reading,
    latency: Duration,
    /// No connection can be made before this.
    cable_until: SimTime,
    /// When each state of the last cycles was published, by the clocks of 30003 and of RTDE.
    published: VecDeque<([Duration; 2], SimTime)>,
    record: Record,
    rules: Rules,
    /// The text of a program that goes out in pieces.
    program: Option<Vec<u8>>,
    /// The joint positions of the newest order, where those are sent \[µrad\].
    position: Option<[i32; 6]>,
    late: Late,
    /// The number of the next call of the engine, where checkpoints are taken before every second one.
    calls_of_engine: Option<usize>,
}

/// The readings of one sensor.
#[derive(Clone, Copy, Debug, Default)]
struct Readings {
    next: SimTime,
    seq: u32,
}

/// The host, and the robot.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 56, 1));
const ROBOT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 56, 101));
/// Memory of a recorder \[B\]: seconds of a session with all their checkpoints, in one half.
const RECORDER: usize = 256 << 20;
/// Nothing should need this many wake-ups without time passing; a byte per segment needs one each.
const BUSY: u32 = 20_000;
/// States whose time of publication is remembered.
const PUBLISHED: usize = 4_096;
/// Anything a test waits for without saying how long happens within this.
const PATIENCE: Duration = Duration::from_secs(30);

/// What woke the host.
enum Woken {
    Opened(LinkId, bool),
    Accepted(LinkId),
    Closed(LinkId),
    Readable(LinkId),
    Sensor(usize),
    Deadline,
}

/// A leg that the network has held back.
#[derive(Debug, Default)]
struct Late {
    newest: Option<Vec<u8>>,
    leg: Option<Vec<u8>>,
}

impl Late {
    /// Everything behind the counter of an order to go on is that of the leg.
    fn pass(&mut self, bytes: &mut [u8]) {
        let what = PlayerOrder::new_checked(bytes).expect("an order").repr().what;
        match (what, &self.leg) {
            (What::Leg | What::LastLeg, _) => self.newest = Some(bytes.to_vec()),
            (What::Keep, Some(leg)) => bytes[4..].copy_from_slice(&leg[4..]),
            _ => {}
        }
    }
}

impl<'m> Rig<'m> {
    /// At time zero, with the co-controller about to connect.
    ///
    /// # Panics
    /// Where the set-up cannot be run.
    #[must_use]
    pub fn new(setup: Setup, buffers: &'m mut Buffers) -> Self {
        let Setup { mut controller, config, law, sensors, latency, reading } = setup;
        controller.faults.push(Fault::new(FaultKind::Delay(latency), SimTime::ZERO, None));
        let Buffers { primary, realtime, rtde, recorder, first } = buffers;
        let calls_of_engine = (!recorder.is_empty()).then_some(*first);
        let room = || Box::leak(Box::new(RtdeMemory::<'m, 1024, { Claim::ALL.len() }>::new()));
        let rtde = rtde.then(|| room() as &mut dyn StateMemory<'m>);
        let memory = Memory { primary, realtime, rtde };
        let mut rig = Self {
            controller: Controller::new(controller).unwrap(),
            engine: UrEngine::new(config, law, memory).unwrap().with_recorder(recorder),
            sockets: Default::default(),
            calls: vec![],
            sensors: sensors.into_iter().map(|sensor| (sensor, Readings::default())).collect(),
            host: Host::Runs,
            reading,
            latency,
            cable_until: SimTime::ZERO,
            published: VecDeque::new(),
            record: Record::default(),
            rules: Rules::default(),
            program: None,
            position: None,
            late: Late::default(),
            calls_of_engine,
        };
        rig.input(Input::Start);
        rig
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.controller.now()
    }

    /// The co-controller.
    #[must_use]
    pub fn engine(&self) -> &UrEngine<'m, AnyLaw<6>> {
        &self.engine
    }

    /// What happened so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What an operator, or a port, tells the co-controller now.
    ///
    /// # Panics
    /// Where the host does not run, or a rule is broken.
    pub fn input(&mut self, input: Input) {
        assert!(self.host == Host::Runs, "nobody is there to take {input:?}");
        if matches!(input, Input::Request(_) | Input::Resume(_)) {
            self.rules.request();
        }
        self.hand_over(input);
    }

    /// Whether the newest leg that went out in an earlier call goes out again in place of each order to go on as before, as
    /// one that the network has held back.
    pub fn hold_back_a_leg(&mut self, on: bool) {
        self.late.leg = if on { self.late.newest.clone() } else { None };
    }

    /// The controller is to make this move by itself.
    ///
    /// # Errors
    /// Why it is not.
    pub fn delegate(&mut self, asked: JointMove<6>) -> Result<MoveNumber, Reason> {
        self.engine.delegate(asked, core_time(self.now()))
    }

    /// Asks the engine for something, in place of an input.
    pub fn ask<T>(&mut self, ask: impl FnOnce(&mut UrEngine<'m, AnyLaw<6>>, Instant) -> T) -> T {
        let now = core_time(self.now());
        ask(&mut self.engine, now)
    }

    /// One waypoint more for the move that leads on.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn lead_on(&mut self, to: &Waypoint<6>, last: bool) -> Result<(), FeedError> {
        self.engine.lead_on(to, last)
    }

    /// The law is to go on.
    ///
    /// # Errors
    /// Why it is not.
    pub fn stream(&mut self) -> Result<(), Reason> {
        self.engine.stream(core_time(self.now()))
    }

    /// An operator, who sees how things stand, asks to command.
    pub fn request(&mut self) {
        let epoch = self.engine().mode_machine().epoch();
        self.input(Input::Request(epoch));
    }

    /// The same, to go on with a suspended motion.
    pub fn resume(&mut self) {
        let epoch = self.engine().mode_machine().epoch();
        self.input(Input::Resume(epoch));
    }

    /// What a program does with the co-controller between two inputs.
    pub fn with_engine<T>(&mut self, call: impl FnOnce(&mut UrEngine<'m, AnyLaw<6>>, Instant) -> T) -> T {
        let now = core_time(self.now());
        let done = call(&mut self.engine, now);
        self.drain();
        done
    }

    /// Returns what a dump of the recorder begins with, and the entries from the beginning of the run on.
    ///
    /// # Panics
    /// Where there is no recorder, or its memory has turned over.
    #[must_use]
    pub fn recorded(&self) -> (Vec<u8>, &[u8]) {
        let recorder = self.engine.recorder();
        let [older, active] = recorder.halves();
        assert!(older.is_empty() && !active.is_empty() && recorder.lost() == 0, "all of the run is in one half");
        let mut header = vec![0; 2048];
        let length = self.engine.dump_header(&mut header).unwrap();
        header.truncate(length);
        (header, active)
    }

    /// Keeps every byte that is written from now on.
    pub fn keep_bytes(&mut self) {
        self.record.written.get_or_insert_default();
    }

    /// Whether the host runs: it takes inputs.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.host == Host::Runs
    }

    /// The next arming, and no other, is asked for by a line or by the co-controller itself.
    pub const fn expect_arming(&mut self) {
        self.rules.expect_arming();
    }

    /// One more fault, from now on; for good where no time is given.
    pub fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>) {
        // Its beginning is an event of the controller's own, one µs ahead.
        let start = self.now() + Duration::from_micros(1);
        self.controller.inject(Fault::new(kind, start, lasting));
    }

    /// The cable is cut: silence both ways, and no connection can be made; for good where no time is given.
    pub fn cut_cable(&mut self, lasting: Option<Duration>) {
        self.fault(FaultKind::Stall, lasting);
        self.cable_until = lasting.map_or(SimTime::MAX, |lasting| self.now() + lasting);
    }

    /// The process ends, or its host.
    pub fn kill(&mut self, death: Death) {
        self.host = Host::Dead;
        if death == Death::Reset {
            self.sockets.iter_mut().for_each(|socket| socket.abort(&mut self.controller));
        }
    }

    /// The whole host stands still for this long; its kernel keeps what arrives.
    pub fn pause_host(&mut self, lasting: Duration) {
        self.host = Host::Paused(self.now() + lasting);
    }

    /// The sensors fall silent.
    pub fn kill_sensors(&mut self) {
        self.sensors.clear();
    }

    /// Lives on for this long.
    ///
    /// # Panics
    /// Where a rule is broken.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Lives on until `done`, asked after each event, but for no longer than `limit`; says whether it is done.
    ///
    /// # Panics
    /// Where a rule is broken.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now() + limit;
        loop {
            if done(self) {
                return true;
            }
            if self.now() >= end {
                return false;
            }
            self.step(end);
        }
    }

    /// Lives on until the co-controller is in `mode`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn run_to(&mut self, mode: Mode) {
        let reached = self.run_until(PATIENCE, |rig| rig.engine.mode() == mode);
        assert!(reached, "{} not reached:\n{}", mode.name(), self.record.story());
    }

    /// Connects, waits until nothing speaks against it, requests, and lives on into `Command`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn command(&mut self) {
        self.ready();
        self.request();
        self.run_to(Mode::Command);
    }

    /// Lives on until nothing speaks against a request.
    ///
    /// # Panics
    /// Where that does not happen, with what speaks against it and the story so far.
    pub fn ready(&mut self) {
        let ready = self.run_until(PATIENCE, |rig| rig.engine.unmet(core_time(rig.now())).is_empty());
        let unmet = self.engine.unmet(core_time(self.now()));
        assert!(ready, "{:?} still unmet:\n{}", unmet.iter().collect::<Vec<_>>(), self.record.story());
    }

    /// Lives on until just after the next moving command is on its way.
    ///
    /// # Panics
    /// Where none goes out.
    pub fn run_past_a_command(&mut self) {
        let before = self.record.commands.len();
        let sent = |rig: &Self| rig.record.commands.iter().skip(before).any(Command::moves);
        assert!(self.run_until(PATIENCE, sent), "no moving command:\n{}", self.record.story());
    }

    /// Lives on until just after the next control cycle has begun, and what answers its state is under way.
    pub fn run_past_a_packet(&mut self) {
        let cycles = self.controller.cycles();
        self.run_until(PATIENCE, |rig| rig.controller.cycles() != cycles);
        self.run_for(self.latency * 3);
    }

    /// To the next event, but not beyond `end`.
    fn step(&mut self, end: SimTime) {
        let next = self.controller.next_event().min(self.wakes_at()).min(end).max(self.now());
        let cycles = self.controller.cycles();
        let clocks = [self.controller.clock(), self.controller.rtde_clock()];
        self.controller.advance_to(next);
        if self.controller.cycles() != cycles {
            self.note_cycle(clocks);
        }
        if let Host::Paused(until) = self.host
            && until <= self.now()
        {
            self.host = Host::Runs;
        }
        if self.host == Host::Runs && self.comes_round() {
            self.serve();
        }
    }

    /// Whether the host's loop looks at its sockets now.
    fn comes_round(&self) -> bool {
        match self.reading {
            Reading::AtOnce => true,
            Reading::Every(span) => self.now().as_micros().is_multiple_of(micros(span)),
        }
    }

    /// When the host wakes up by itself.
    fn wakes_at(&self) -> SimTime {
        match (self.host, self.reading) {
            (Host::Dead, _) => SimTime::MAX,
            (Host::Paused(until), _) => until,
            (Host::Runs, Reading::Every(span)) => {
                SimTime::from_micros((self.now().as_micros() / micros(span) + 1) * micros(span))
            }
            (Host::Runs, Reading::AtOnce) => {
                let deadline = self.engine.poll_timeout().map_or(SimTime::MAX, super::sim_time);
                let opens = self.sockets.iter().map(Socket::opens_at);
                let reads = self.sensors.iter().map(|(_, readings)| readings.next);
                let calls = self.calls.iter().map(|(_, at)| *at);
                opens.chain(calls).chain(reads).fold(deadline, SimTime::min)
            }
        }
    }

    /// The host's loop, until there is nothing left to do at this moment.
    fn serve(&mut self) {
        for _ in 0..BUSY {
            let Some(woken) = self.woken() else { return };
            self.report_unacked();
            match woken {
                Woken::Opened(link, true) => {
                    self.hand_over(Input::Ends(link, HERE, ROBOT));
                    self.hand_over(Input::Opened(link));
                }
                Woken::Accepted(link) => self.hand_over(Input::Accepted(link, SocketAddr::new(ROBOT, 49_152))),
                Woken::Opened(link, false) => self.hand_over(Input::Refused(link)),
                Woken::Closed(link) => self.hand_over(Input::Closed(link)),
                Woken::Readable(link) => self.read(link),
                Woken::Sensor(index) => self.sample(index),
                Woken::Deadline => self.hand_over(Input::Tick),
            }
        }
        panic!("the engine wants to be called without end at {}:\n{}", self.now(), self.record.story());
    }

    fn woken(&mut self) -> Option<Woken> {
        let now = self.now();
        // The links that carry the control cycle go first.
        while let Some(dial) = self.controller.poll_dial() {
            self.calls.push((dial, now.max(self.cable_until) + self.latency));
        }
        if let Some(due) = self.calls.iter().position(|(_, at)| *at <= now) {
            let (Dial { conn, port, .. }, _) = self.calls.remove(due);
            let link = [LinkId::REVERSE, LinkId::SCRIPT, LinkId::TRAJECTORY, LinkId::COMMAND]
                .into_iter()
                .find(|link| self.sockets[link.index()].accept(port, conn));
            self.controller.dialled(conn, if link.is_some() { Ok(()) } else { Err(Refused) });
            if let Some(link) = link {
                self.position = None;
                return Some(Woken::Accepted(link));
            }
        }
        for link in (0..7_u8).rev().filter_map(LinkId::new) {
            let socket = self.sockets.get_mut(link.index())?;
            if let Some(stands) = socket.opened(&mut self.controller) {
                return Some(Woken::Opened(link, stands));
            }
            if socket.closed_by_peer(&self.controller) {
                return Some(Woken::Closed(link));
            }
            if socket.conn().is_some_and(|conn| self.controller.pending(conn) > 0) {
                return Some(Woken::Readable(link));
            }
        }
        if let Some(index) = self.sensors.iter().position(|(_, readings)| readings.next <= now) {
            return Some(Woken::Sensor(index));
        }
        let due = self.engine.poll_timeout().is_some_and(|at| at <= core_time(now));
        due.then_some(Woken::Deadline)
    }

    fn report_unacked(&mut self) {
        for link in LINKS.into_iter().chain([LinkId::REVERSE]) {
            let Some(socket) = self.sockets.get_mut(link.index()).filter(|socket| socket.conn().is_some()) else {
                continue;
            };
            let (bytes, age) = socket.unacked(&self.controller);
            if bytes > 0 || self.engine.has_unacked(link) {
                self.hand_over(Input::Unacked { link, bytes, age });
            }
        }
    }

    fn read(&mut self, link: LinkId) {
        let now = core_time(self.now());
        // What un-acknowledged bytes led to may have closed it.
        let Some(conn) = self.sockets.get(link.index()).and_then(Socket::conn) else { return };
        let count = self.controller.read(conn, self.engine.receive_window(link));
        let before = self.engine.state().map(|state| state.controller_time);
        self.take_checkpoint();
        self.engine.commit(link, count, now, now);
        let state = self.engine.state().map(|state| state.controller_time);
        if state != before
            && let Some(age) = state.and_then(|state| self.true_age(state))
        {
            self.rules.state_read(age);
        }
        self.drain();
    }

    fn sample(&mut self, index: usize) {
        let now = self.now();
        let Some((sensor, readings)) = self.sensors.get_mut(index) else { return };
        readings.next = now + sensor.period;
        let Some(value) = (sensor.read)(&self.controller) else { return };
        readings.seq = readings.seq.wrapping_add(1);
        let sample = Sample { source: sensor.id, value, seq: readings.seq, taken_at: core_time(now) };
        self.hand_over(Input::Sample(sample));
    }

    /// Has the recorder begin the next call with a checkpoint, as after a change of the law, where it is the turn of one.
    fn take_checkpoint(&mut self) {
        if let Some(number) = &mut self.calls_of_engine {
            *number += 1;
            if number.is_multiple_of(2) {
                let _ = self.engine.law_mut();
            }
        }
    }

    /// One input, then drain.
    fn hand_over(&mut self, input: Input) {
        self.take_checkpoint();
        self.engine.handle(core_time(self.now()), input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Open { link, endpoint } => {
                    let (now, latency) = (self.controller.now(), self.latency);
                    let answered = now.max(self.cable_until) + latency * 2;
                    self.sockets[link.index()].open(endpoint.port, answered);
                }
                Output::Abort(link) => self.sockets[link.index()].abort(&mut self.controller),
                Output::Listen { link, port } => self.sockets[link.index()].listen(port),
                Output::Transmit { link, bytes, .. } => {
                    let mut bytes = bytes.to_vec();
                    if link == LinkId::REVERSE && self.engine.config().peer.path == CommandPath::Player {
                        self.late.pass(&mut bytes);
                    }
                    self.note_events();
                    match link {
                        // The text of a program that will be told how to move.
                        LinkId::REALTIME if self.program_goes_out(&bytes) => {}
                        LinkId::REALTIME => self.note_text(String::from_utf8_lossy(&bytes).into_owned()),
                        LinkId::REVERSE => self.note_order(&bytes),
                        LinkId::RTDE => self.note_registers(&bytes),
                        _ => {}
                    }
                    self.sockets[link.index()].write(&mut self.controller, &bytes);
                    if let Some(written) = &mut self.record.written {
                        written.push((self.controller.now(), link, bytes));
                    }
                }
            }
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        let now = self.now();
        while let Some(event) = self.engine.poll_event() {
            if let Event::Transition(transition) = &event {
                self.rules.transition(transition);
            }
            self.record.events.push((now, event));
        }
    }

    /// Whether these bytes are of a program that comes in pieces: up to its last `end`.
    fn program_goes_out(&mut self, bytes: &[u8]) -> bool {
        if bytes.starts_with(b"def outrigger_") || bytes.starts_with(b"def externalControl") {
            (self.program, self.position) = (Some(vec![]), None);
        }
        let Some(program) = &mut self.program else { return false };
        program.extend(bytes);
        // Its last `end` is that of the first line.
        if program.ends_with(b"\nend\n") {
            self.program = None;
        }
        true
    }

    /// Orders to a program of ours in what is written to registers: eight whole numbers of four bytes.
    fn note_registers(&mut self, mut bytes: &[u8]) {
        while let Some((header, _)) = bytes.split_first_chunk::<3>() {
            let length = usize::from(u16::from_be_bytes([header[0], header[1]]));
            let (package, rest) = bytes.split_at(length);
            if header[2] == b'U' && length == 4 + 32 {
                self.note_order(&package[4..]);
            }
            bytes = rest;
        }
    }

    /// An order to a program of ours, as the text that it stands for.
    fn note_order(&mut self, bytes: &[u8]) {
        if self.engine.config().peer.path.is_external() {
            let control = Control::new_checked(bytes).expect("a message").repr();
            return self.note_text(match control.mode {
                ControlMode::Stopped => "end order\n".into(),
                ControlMode::Idle | ControlMode::Forward => return,
                ControlMode::Torque => torques(control.values),
                _ => format!("speedj({:?}) order\n", control.values.map(|value| f64::from(value) * 1e-6)),
            });
        }
        let is_player = self.engine.config().peer.path == CommandPath::Player;
        let order = if is_player {
            let order = PlayerOrder::new_checked(bytes).expect("an order").repr();
            OrderRepr { counter: order.counter, what: order.what, cycles: 1, values: order.positions }
        } else {
            Order::new_checked(bytes).expect("an order").repr()
        };
        let text = match order.what {
            What::End => {
                self.position = None;
                "end order\n".into()
            }
            What::Rest => {
                self.position = None;
                return;
            }
            What::Keep | What::Move | What::Line | What::Cancel | What::Begin | What::Leg | What::LastLeg => return,
            // A position moves by how far it is from the one before.
            _ if self.engine.config().peer.path.is_positions() => {
                let before = self.position.replace(order.values).unwrap_or(order.values);
                let way: [f64; 6] = std::array::from_fn(|joint| f64::from(order.values[joint] - before[joint]) * 1e-6);
                format!("servoj by speedj({way:?}) order\n")
            }
            _ if self.engine.config().peer.path.is_torques() => torques(order.values),
            _ => format!("speedj({:?}) order\n", order.values.map(|value| f64::from(value) * 1e-6)),
        };
        self.note_text(text);
    }

    fn note_text(&mut self, text: String) {
        let state = self.engine.state().map(|state| state.controller_time);
        let state_age = state.and_then(|state| self.true_age(state)).unwrap_or_default();
        let (at, mode, speeds) = (self.now(), self.engine.mode(), speeds_of(&text));
        let torques = torques_of(&text);
        let command = Command { at, mode, text, speeds, torques, state_age };
        let (config, identity) = (self.engine.config(), self.engine.peer().identity());
        let moment = Moment { config, identity, latch: self.engine.latch(), state };
        let broken = if command.sets_outputs() {
            let broken = self.rules.broken_by_setting(&command, &moment);
            self.record.settings.push(command);
            broken
        } else {
            let broken = self.rules.broken_by(&command, &moment);
            self.record.cycles.answered += u64::from(command.moves());
            self.record.commands.push(command);
            broken
        };
        if let Some(rule) = broken {
            panic!("{rule}, at {at}:\n{}", self.record.story());
        }
    }

    /// How long ago this state was published.
    fn true_age(&self, state: ControllerTime) -> Option<Duration> {
        let by_rtde = self.engine.peer().identity().is_some_and(|identity| identity.states == LinkId::RTDE);
        let shows = |[clock, rtde]: &[Duration; 2]| {
            micros(if by_rtde { *rtde } else { *clock }).abs_diff(state.as_micros()) <= 1
        };
        let (_, at) = self.published.iter().rev().find(|(clocks, _)| shows(clocks))?;
        Some(self.now().since(*at))
    }

    /// A control cycle has passed; `clocks` is what its packets on 30003 and its data on 30004 show.
    fn note_cycle(&mut self, clocks: [Duration; 2]) {
        let now = self.now();
        self.published.push_back((clocks, now));
        if self.published.len() > PUBLISHED {
            self.published.pop_front();
        }
        // The simulation moves the arm at the beginning of a cycle to where it is at its end.
        let (at, arm) = (now + self.controller.period(), self.controller.truth());
        let (q, qd, qd_target, scaling) = (arm.q, arm.qd, arm.targets.qd, arm.scaling);
        let torque = match arm.motion {
            outrigger_sim::arm::Motion::Torque { torque, .. } => Some(torque),
            _ => None,
        };
        self.record.motion.push(Motion { at, q, qd, qd_target, torque, scaling });
        self.record.cycles.commanded += u64::from(self.engine.mode() == Mode::Command);
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX).max(1)
}

/// An order of torques as the text that it stands for.
fn torques(values: [i32; 6]) -> String {
    format!("direct_torque({:?}) order\n", values.map(|value| f64::from(value) * 1e-6))
}
