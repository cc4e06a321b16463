//! A run in virtual time, from one event to the next. It has the host's loop, as a port implements it, and records
//! all events.

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
use outrigger_wire::player_messages::PlayerOrder;
use outrigger_wire::program_messages::{Order, OrderRepr, What};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Instant;

use super::record::{Command, Motion, Record, speeds_of, torques_of};
use super::rules::{Moment, Rules};
use super::setup::{Reading, Sensor, Setup, core_time};
use super::socket::Socket;

/// The receive memory of a co-controller.
#[derive(Debug)]
pub struct Buffers {
    primary: Vec<u8>,
    realtime: Vec<u8>,
    rtde: bool,
    recorder: Vec<u8>,
    /// The number from which the calls of the engine are counted, 0 or 1. A checkpoint is taken before each call that
    /// gets an even number: with 1 before the first, the third and so on, with 0 before the second, the fourth and so
    /// on.
    first: usize,
}

impl Buffers {
    /// Returns buffers with memory for RTDE, so that the engine receives states over RTDE.
    #[must_use]
    pub fn with_rtde() -> Self {
        Self { rtde: true, ..Self::default() }
    }

    /// Adds a recorder, and a checkpoint before every second call of the engine: from the first call on if `first` is
    /// 1, from the second on if `first` is 0.
    #[must_use]
    pub fn with_checkpoints(self, first: usize) -> Self {
        Self { recorder: vec![0; RECORDER], first, ..self }
    }
}

impl Default for Buffers {
    /// Returns 4 KiB for the primary interface and 8 KiB for the realtime interface.
    fn default() -> Self {
        Self { primary: vec![0; 4096], realtime: vec![0; 8192], rtde: false, recorder: vec![], first: 0 }
    }
}

/// The present activity of the co-controller's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Runs,
    /// The host is paused until this time: none of its code runs.
    Paused(SimTime),
    Dead,
}

/// The way in which the co-controller's process or its host ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashPoint {
    /// The process ends; the kernel resets its connections.
    Reset,
    /// The host freezes or loses power: it sends no more bytes, and no connection is reset.
    Silent,
}

/// A host with a co-controller, and the robot.
pub struct Rig<'m> {
    /// The simulated robot: its true state, and the operator's actions on it.
    pub controller: Controller,
    engine: UrEngine<'m, AnyLaw<6>>,
    /// The sockets of the links, and those of the connections that a program makes.
    sockets: [Socket; LINKS.len() + 4],
    /// Connection attempts of the controller that are in progress, each with the time of its arrival.
    calls: Vec<(Dial, SimTime)>,
    sensors: Vec<(Sensor, Readings)>,
    host: Host,
    reading: Reading,
    latency: Duration,
    /// The time before which no connection can be made, because the network cable is cut.
    cable_until: SimTime,
    /// The time at which each state of the last cycles was published, with its timestamps in the clocks of 30003 and
    /// of RTDE.
    published: VecDeque<([Duration; 2], SimTime)>,
    record: Record,
    rules: Rules,
    /// The text of a program that is being sent in pieces.
    program: Option<Vec<u8>>,
    /// The joint positions of the newest order, if positions are sent \[µrad\].
    position: Option<[i32; 6]>,
    late: Late,
    /// The number of the last call of the engine, counted from `Buffers::first`; `None` if no checkpoints are taken.
    calls_of_engine: Option<usize>,
}

/// The time of the next reading of a sensor, and the sequence number of its last.
#[derive(Clone, Copy, Debug, Default)]
struct Readings {
    next: SimTime,
    seq: u32,
}

/// The address of the co-controller's host; [`ROBOT`] is that of the robot.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 56, 1));
const ROBOT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 56, 101));
/// The memory of a recorder \[B\]: enough for seconds of a session with all its checkpoints, in one half.
const RECORDER: usize = 256 << 20;
/// The largest number of wake-ups at one moment before the run fails. One byte per segment needs one wake-up each.
const BUSY: u32 = 20_000;
/// The number of states whose time of publication is remembered.
const PUBLISHED: usize = 4_096;
/// The longest time that a test without a time limit of its own waits for an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// The cause for which the host's loop wakes up.
enum Woken {
    Opened(LinkId, bool),
    Accepted(LinkId),
    Closed(LinkId),
    Readable(LinkId),
    Sensor(usize),
    Deadline,
}

/// The newest leg (one part of a motion) that was sent to the player program, and the leg that the network has delayed,
/// if any.
#[derive(Debug, Default)]
struct Late {
    newest: Option<Vec<u8>>,
    leg: Option<Vec<u8>>,
}

impl Late {
    /// Remembers a leg that is sent to the player program. While a leg is held back, replaces the contents of each
    /// order to continue (`Keep`) by that leg; only the order's counter stays.
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
    /// Creates the host, its co-controller and the robot at time zero, with the co-controller about to connect.
    ///
    /// # Panics
    /// If the set-up is invalid.
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

    /// Returns the present virtual time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.controller.now()
    }

    /// Returns the engine of the co-controller.
    #[must_use]
    pub fn engine(&self) -> &UrEngine<'m, AnyLaw<6>> {
        &self.engine
    }

    /// Returns the record of the run so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Passes an input of an operator or of a port to the co-controller now.
    ///
    /// # Panics If the host does not run, or a text that the engine sends breaks one of the [`Rules`].
    pub fn input(&mut self, input: Input) {
        assert!(self.host == Host::Runs, "nobody is there to take {input:?}");
        if matches!(input, Input::Request(_) | Input::Resume(_)) {
            self.rules.request();
        }
        self.hand_over(input);
    }

    /// Sets whether the newest leg (one part of a motion for the player program) sent before this call is sent again in
    /// place of each order to continue (`Keep`), like a leg that the network has held back.
    pub fn hold_back_a_leg(&mut self, on: bool) {
        self.late.leg = if on { self.late.newest.clone() } else { None };
    }

    /// Delegates this move to the controller.
    ///
    /// # Errors
    /// Returns the reason if the engine rejects the move.
    pub fn delegate(&mut self, asked: JointMove<6>) -> Result<MoveNumber, Reason> {
        self.engine.delegate(asked, core_time(self.now()))
    }

    /// Calls `ask` with the engine and its time, without an input and without draining the engine's outputs.
    pub fn ask<T>(&mut self, ask: impl FnOnce(&mut UrEngine<'m, AnyLaw<6>>, Instant) -> T) -> T {
        let now = core_time(self.now());
        ask(&mut self.engine, now)
    }

    /// Adds a waypoint to the move along waypoints in progress.
    ///
    /// # Errors
    /// Returns an error if the engine rejects the waypoint.
    pub fn lead_on(&mut self, to: &Waypoint<6>, last: bool) -> Result<(), FeedError> {
        self.engine.lead_on(to, last)
    }

    /// Makes the law command the arm again, in place of moves that were delegated to the controller.
    ///
    /// # Errors
    /// Returns the reason if the engine rejects the request.
    pub fn stream(&mut self) -> Result<(), Reason> {
        self.engine.stream(core_time(self.now()))
    }

    /// Requests `Command` as an operator does who sees the present state (the current epoch).
    pub fn request(&mut self) {
        let epoch = self.engine().mode_machine().epoch();
        self.input(Input::Request(epoch));
    }

    /// Requests `Command` like [`request`](Self::request), to resume a suspended motion.
    pub fn resume(&mut self) {
        let epoch = self.engine().mode_machine().epoch();
        self.input(Input::Resume(epoch));
    }

    /// Calls `call` with the engine and its time, as a program does between two inputs, and drains the engine's
    /// outputs.
    pub fn with_engine<T>(&mut self, call: impl FnOnce(&mut UrEngine<'m, AnyLaw<6>>, Instant) -> T) -> T {
        let now = core_time(self.now());
        let done = call(&mut self.engine, now);
        self.drain();
        done
    }

    /// Returns the header of a recorder's dump, and the entries since the beginning of the run.
    ///
    /// # Panics
    /// If there is no recorder, or its memory has overflowed into the other half.
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

    /// Records every byte that is written to a link from now on, in [`Record::written`].
    pub fn keep_bytes(&mut self) {
        self.record.written.get_or_insert_default();
    }

    /// Returns whether the host runs and takes inputs.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.host == Host::Runs
    }

    /// Allows the next change to the mode `Arming`, and no other, without a request through this run: a digital input
    /// line or the co-controller itself requests it.
    pub const fn expect_arming(&mut self) {
        self.rules.expect_arming();
    }

    /// Injects a fault from now on. It stays for good if no time is given.
    pub fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>) {
        // The beginning of the fault is an event in the controller, 1 µs ahead.
        let start = self.now() + Duration::from_micros(1);
        self.controller.inject(Fault::new(kind, start, lasting));
    }

    /// Cuts the cable: no data pass in either direction, and no connection can be made. The cable stays cut for good
    /// if no time is given.
    pub fn cut_cable(&mut self, lasting: Option<Duration>) {
        self.fault(FaultKind::Stall, lasting);
        self.cable_until = lasting.map_or(SimTime::MAX, |lasting| self.now() + lasting);
    }

    /// Ends the co-controller's process, or its host.
    pub fn kill(&mut self, death: CrashPoint) {
        self.host = Host::Dead;
        if death == CrashPoint::Reset {
            self.sockets.iter_mut().for_each(|socket| socket.abort(&mut self.controller));
        }
    }

    /// Freezes the whole host for this long; its kernel keeps the data that arrive.
    pub fn pause_host(&mut self, lasting: Duration) {
        self.host = Host::Paused(self.now() + lasting);
    }

    /// Removes the sensors: no more readings arrive.
    pub fn kill_sensors(&mut self) {
        self.sensors.clear();
    }

    /// Runs for this long.
    ///
    /// # Panics If a text that the engine sends breaks one of the [`Rules`], or the engine wants to be called without
    /// end.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Runs until `done` returns `true`, which is evaluated after each event, but for no longer than `limit`. Returns
    /// whether `done` returned `true`.
    ///
    /// # Panics If a text that the engine sends breaks one of the [`Rules`], or the engine wants to be called without
    /// end.
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

    /// Runs until the co-controller is in `mode`.
    ///
    /// # Panics
    /// If that does not happen within 30 s; the message has the log so far.
    pub fn run_to(&mut self, mode: Mode) {
        let reached = self.run_until(PATIENCE, |rig| rig.engine.mode() == mode);
        assert!(reached, "{} not reached:\n{}", mode.name(), self.record.story());
    }

    /// Connects, waits until no precondition is unmet, requests `Command`, and runs until the co-controller is in
    /// `Command`.
    ///
    /// # Panics
    /// If that does not happen within 30 s; the message has the log so far.
    pub fn command(&mut self) {
        self.ready();
        self.request();
        self.run_to(Mode::Command);
    }

    /// Runs until no precondition of a request is unmet.
    ///
    /// # Panics
    /// If that does not happen within 30 s; the message has the unmet preconditions and the log so far.
    pub fn ready(&mut self) {
        let ready = self.run_until(PATIENCE, |rig| rig.engine.unmet(core_time(rig.now())).is_empty());
        let unmet = self.engine.unmet(core_time(self.now()));
        assert!(ready, "{:?} still unmet:\n{}", unmet.iter().collect::<Vec<_>>(), self.record.story());
    }

    /// Runs until just after the next moving command is sent.
    ///
    /// # Panics
    /// If none is sent within 30 s.
    pub fn run_past_a_command(&mut self) {
        let before = self.record.commands.len();
        let sent = |rig: &Self| rig.record.commands.iter().skip(before).any(Command::moves);
        assert!(self.run_until(PATIENCE, sent), "no moving command:\n{}", self.record.story());
    }

    /// Runs until just after the next control cycle has begun, when the command that answers its state has been sent.
    pub fn run_past_a_packet(&mut self) {
        let cycles = self.controller.cycles();
        self.run_until(PATIENCE, |rig| rig.controller.cycles() != cycles);
        self.run_for(self.latency * 3);
    }

    /// Runs to the next event, but not beyond `end`.
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

    /// Returns whether the host's loop looks at its sockets now.
    fn comes_round(&self) -> bool {
        match self.reading {
            Reading::AtOnce => true,
            Reading::Every(span) => self.now().as_micros().is_multiple_of(micros(span)),
        }
    }

    /// Returns the time at which the host wakes up without input.
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

    /// Runs the host's loop until no work is left at this moment.
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
        // Input that reported un-acknowledged bytes may have closed the connection.
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

    /// Makes the recorder begin every second call of the engine with a checkpoint, as after a change of the law. Does
    /// nothing without a recorder.
    fn take_checkpoint(&mut self) {
        if let Some(number) = &mut self.calls_of_engine {
            *number += 1;
            if number.is_multiple_of(2) {
                let _ = self.engine.law_mut();
            }
        }
    }

    /// Passes one input to the engine, and processes its outputs.
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
                        // The text of a program that will receive orders of motion.
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

    /// Follows a program that is sent to the controller in pieces, up to its last `end`. Returns whether these bytes
    /// belong to one.
    fn program_goes_out(&mut self, bytes: &[u8]) -> bool {
        if bytes.starts_with(b"def outrigger_") || bytes.starts_with(b"def externalControl") {
            (self.program, self.position) = (Some(vec![]), None);
        }
        let Some(program) = &mut self.program else { return false };
        program.extend(bytes);
        // The last `end` of a program has no indentation, like its first line.
        if program.ends_with(b"\nend\n") {
            self.program = None;
        }
        true
    }

    /// Records the orders to one of Outrigger's programs in data for RTDE registers: eight integers of four bytes.
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

    /// Records an order to a program on the controller, as the text with the same effect.
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
            // A position moves the arm by its difference from the position before.
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

    /// Returns the time since this state was published.
    fn true_age(&self, state: ControllerTime) -> Option<Duration> {
        let by_rtde = self.engine.peer().identity().is_some_and(|identity| identity.states == LinkId::RTDE);
        let shows = |[clock, rtde]: &[Duration; 2]| {
            micros(if by_rtde { *rtde } else { *clock }).abs_diff(state.as_micros()) <= 1
        };
        let (_, at) = self.published.iter().rev().find(|(clocks, _)| shows(clocks))?;
        Some(self.now().since(*at))
    }

    /// Records a control cycle; `clocks` are the timestamps of its packets on 30003 and of its data on 30004.
    fn note_cycle(&mut self, clocks: [Duration; 2]) {
        let now = self.now();
        self.published.push_back((clocks, now));
        if self.published.len() > PUBLISHED {
            self.published.pop_front();
        }
        // At the beginning of a cycle, the simulation moves the arm to its position at the end of that cycle.
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

/// Returns a torque order as the text with the same effect.
fn torques(values: [i32; 6]) -> String {
    format!("direct_torque({:?}) order\n", values.map(|value| f64::from(value) * 1e-6))
}
