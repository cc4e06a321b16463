//! The engine with a simulated KRC, in virtual time.

use outrigger_core::engine::krc::KrcEvent;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration as StdDuration;

use outrigger_core::command::Samples;
use outrigger_core::engine::krc::{KrcConfig, KrcEngine, KrlConvention};
use outrigger_core::engine::{Event, Input, LinkId, Output};
use outrigger_core::law::{Law, Start};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_sim::krc::{Krc, Options, Sender};
use outrigger_sim::time::SimTime;
use outrigger_wire::fri::{Command, CommandFlags, ControlScheme, Frame, FriState, Jacobian, Measurement};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

const KRC: &str = "192.0.2.1:49938";
/// The offset of the control scheme in a measurement \[B\].
const SCHEME_AT: usize = 182;
const STRANGER: &str = "192.0.2.9:40000";

/// A law that moves every joint to and fro.
#[derive(Clone, Copy, Debug)]
pub struct Swing {
    /// The highest speed of each joint \[rad/s\].
    pub speed: f32,
    /// The period of the motion \[s\].
    pub period: f32,
    time: f32,
    /// The position at which the first joint began \[rad\]; `side` is the direction of the present motion's first
    /// half.
    home: Option<f32>,
    side: f32,
}

impl Swing {
    /// Creates the law. It begins in the middle, at rest.
    #[must_use]
    pub const fn new(speed: f32, period: f32) -> Self {
        Self { speed, period, time: 0.0, home: None, side: 1.0 }
    }
}

impl Checkpoint for Swing {}

impl Law<7> for Swing {
    fn arm(&mut self, start: &Start<'_, 7>) -> Result<(), Reason> {
        self.time = 0.0;
        // Moves back towards the first position, so that repeated starts do not drift out of range.
        let [first, ..] = start.state.positions.0;
        self.side = if first > *self.home.get_or_insert(first) { -1.0 } else { 1.0 };
        Ok(())
    }

    fn step(&mut self, _: &State<7>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        self.time += dt.as_secs_f32();
        let phase = std::f32::consts::TAU * self.time / self.period;
        Ok(JointVelocities([self.side * self.speed * phase.sin(); 7]))
    }
}

/// A law with speeds that change at random moments, for each joint independently, as far as the limits permit. It
/// reveals errors that a smooth motion hides.
#[derive(Clone, Debug)]
pub struct Restless {
    /// The highest commanded speed \[rad/s\].
    pub speed: f32,
    random: u64,
    wanted: [f32; 7],
    /// The time until the speeds change next \[s\].
    left: f32,
    home: Option<[f32; 7]>,
}

impl Restless {
    /// Creates the law with all joints at rest.
    #[must_use]
    pub const fn new(speed: f32, seed: u64) -> Self {
        Self { speed, random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, wanted: [0.0; 7], left: 0.0, home: None }
    }

    /// Returns a random number in 0 … 1, by Marsaglia's xorshift.
    fn unit(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1_u64 << 24) as f32
    }
}

impl Checkpoint for Restless {}

impl Law<7> for Restless {
    fn arm(&mut self, start: &Start<'_, 7>) -> Result<(), Reason> {
        self.home.get_or_insert(start.state.positions.0);
        self.left = 0.0;
        Ok(())
    }

    fn step(&mut self, state: &State<7>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        self.left -= dt.as_secs_f32();
        if self.left <= 0.0 {
            self.left = 0.02 + 0.8 * self.unit();
            let home = self.home.unwrap_or_default();
            let away: [f32; 7] = std::array::from_fn(|joint| state.positions.0[joint] - home[joint]);
            self.wanted = away.map(|away| {
                let side = if away.abs() > 0.2 { -away } else { self.unit() - 0.5 };
                self.speed * (4.0 * self.unit()).min(1.0).copysign(side)
            });
        }
        Ok(JointVelocities(self.wanted))
    }
}

/// The values of the newest measurement that are needed to check the command that answers it.
#[derive(Clone, Debug)]
struct Given {
    counter: u16,
    /// `true` if the KRC followed the commands, which so led the arm.
    leads: bool,
    period: f32,
    jacobian: Jacobian,
}

/// A run of the engine with a simulated KRC.
pub struct Rig<L> {
    /// The simulated KRC.
    pub krc: Krc,
    /// The engine that is tested.
    pub session: KrcEngine<'static, L>,
    /// The time from a measurement's arrival to the command's departure.
    pub thinking: StdDuration,
    /// The control scheme that measurements show in place of the true one, if any.
    pub told_scheme: Option<ControlScheme>,
    /// All events that the engine reported, in order.
    pub events: Vec<Event<KrcEvent>>,
    /// The times of the reported events, in order.
    pub event_times: Vec<SimTime>,
    /// Every command with its time; `None` unless a test puts an empty list here.
    pub written: Option<Vec<(SimTime, Vec<u8>)>>,
    /// The longest commanded step while the KRC followed, as a fraction of the highest speed times the time since the
    /// command before.
    pub longest_step: f64,
    /// The largest distance of a commanded frame from the frame to which the joints' step leads by the measured
    /// Jacobian, while the KRC followed \[m, rad\].
    pub farthest_frame: f64,
    /// The number of commands sent.
    pub commands: u64,
    limits: [f32; 7],
    leaving: VecDeque<(SimTime, Vec<u8>)>,
    /// The counter, positions and frame of the newest command.
    last: Option<(u16, [f32; 7], Frame)>,
    /// The newest measurement that the engine used.
    given: Option<Given>,
    /// The sender of the newest measurement that the engine used, and the time of its arrival.
    believed: Option<(SocketAddr, SimTime)>,
    silence: StdDuration,
    asleep_until: Option<SimTime>,
    /// Datagrams that arrived while the host was frozen.
    waiting: Vec<(Sender, Vec<u8>)>,
}

/// Returns the distance of `to` from the frame to which a joint step leads `from` \[m, rad\], minus the second-order
/// error of such a step.
fn astray(from: &Frame, to: &Frame, jacobian: &Jacobian, step: &[f64; 7]) -> f64 {
    let led = |rows: &[[f32; 7]; 3]| rows.map(|row| row.iter().zip(step).map(|(a, b)| f64::from(*a) * b).sum::<f64>());
    let (moved, turned) = (led(&jacobian.linear), led(&jacobian.angular));
    let away = (0..3).map(|i| (f64::from(to.position[i]) - f64::from(from.position[i]) - moved[i]).abs());
    // The rotation from one to the other, if it is small: the skew-symmetric part of to · fromᵀ.
    let product =
        |i: usize, k: usize| (0..3).map(|j| f64::from(to.rotation[i][j]) * f64::from(from.rotation[k][j])).sum::<f64>();
    let skew = [(2, 1), (0, 2), (1, 0)].map(|(i, k)| 0.5 * (product(i, k) - product(k, i)));
    let off = (0..3).map(|i| (skew[i] - turned[i]).abs());
    // A Jacobian is a tangent: the error of a step is of its second order.
    let bent = 0.5 * step.iter().map(|q| q.abs()).sum::<f64>().powi(2);
    away.chain(off).fold(0.0, f64::max) - bent
}

fn instant(time: SimTime) -> Instant {
    Instant::from_micros(time.as_micros())
}

/// Passes a datagram of `from`, read at `at`, to the engine.
pub fn receive<L: Law<7>>(engine: &mut KrcEngine<'_, L>, from: SocketAddr, bytes: &[u8], at: Instant) {
    let window = engine.receive_window(LinkId::FRI);
    let length = bytes.len().min(window.len());
    window[..length].copy_from_slice(&bytes[..length]);
    engine.commit_datagram(LinkId::FRI, length, from, at, at);
}

/// Returns the next command that the engine sends, if any.
pub fn sent<L: Law<7>>(engine: &mut KrcEngine<'_, L>) -> Option<Vec<u8>> {
    while let Some(output) = engine.poll_output() {
        if let Output::Transmit { bytes, .. } = output {
            return Some(bytes.to_vec());
        }
    }
    None
}

/// Returns the engine after its start, with its UDP port open.
fn started<L: Law<7>>(mut engine: KrcEngine<'static, L>) -> KrcEngine<'static, L> {
    engine.handle(Instant::ZERO, Input::Start);
    assert!(matches!(engine.poll_output(), Some(Output::Listen { link: LinkId::FRI, .. })));
    engine.handle(Instant::ZERO, Input::Opened(LinkId::FRI));
    engine
}

impl<L: Law<7>> Rig<L> {
    /// Creates a KRC and an engine that have not exchanged any datagram.
    ///
    /// # Panics
    /// If the options or the configuration are invalid.
    #[must_use]
    pub fn new(options: Options, mut config: KrcConfig, law: L, convention: KrlConvention) -> Self {
        config.peer.handshake = convention;
        let limits = config.limits.velocity.0;
        let silence = StdDuration::from_micros(config.peer.silence.as_micros());
        Self {
            krc: Krc::new(options).expect("a possible KRC"),
            session: started(KrcEngine::new(config, law, ()).expect("a possible session")),
            thinking: StdDuration::from_micros(150),
            told_scheme: None,
            events: vec![],
            event_times: vec![],
            written: None,
            longest_step: 0.0,
            farthest_frame: 0.0,
            commands: 0,
            limits,
            leaving: VecDeque::new(),
            last: None,
            given: None,
            believed: None,
            silence,
            asleep_until: None,
            waiting: vec![],
        }
    }

    /// Freezes the host for this long; its kernel keeps the data that arrive.
    pub fn pause_host(&mut self, lasting: StdDuration) {
        self.asleep_until = Some(self.krc.now() + lasting);
    }

    /// Returns whether the host runs and takes inputs.
    #[must_use]
    pub const fn is_awake(&self) -> bool {
        self.asleep_until.is_none()
    }

    /// Passes an input to the engine, and processes the engine's outputs and events.
    pub fn input(&mut self, input: Input) {
        let now = self.krc.now();
        self.session.handle(instant(now), input);
        self.drain(now);
    }

    /// Requests `Command` as an operator does who sees the present state (the current epoch).
    pub fn request(&mut self) {
        self.input(Input::Request(self.session.mode_machine().epoch()));
    }

    fn drain(&mut self, now: SimTime) {
        self.note_events(now);
        if let Some(Output::Transmit { to, bytes, .. }) = self.session.poll_output() {
            assert_eq!(to, self.believed.map(|(from, _)| from), "only who is believed is answered");
            let bytes = bytes.to_vec();
            self.check(&bytes);
            if let Some(written) = &mut self.written {
                written.push((now, bytes.clone()));
            }
            self.leaving.push_back((now + self.thinking, bytes));
            assert!(self.session.poll_output().is_none(), "one command per input");
        }
    }

    /// Checks the properties that every command must have, and updates the largest step and the largest distance of a
    /// frame.
    fn check(&mut self, bytes: &[u8]) {
        let command = Command::new_checked(bytes).expect("a command");
        let given = self.given.clone().expect("nothing is sent before a measurement came");
        assert_eq!(command.refl_seq_count(), given.counter, "the newest measurement is answered");
        self.commands += 1;
        let (positions, frame) = (command.jnt_pos(), command.cart_pos());
        assert!(positions.iter().chain(&frame.to_rows()).all(|value| value.is_finite()));
        if let Some((before, last, frame_before)) = self.last
            && given.leads
        {
            let cycles = given.counter.wrapping_sub(before);
            assert!(cycles > 0, "a measurement is answered once");
            let dt = f64::from(given.period) * f64::from(cycles);
            if command.flags().contains(CommandFlags::CARTESIAN_POSITION) {
                let step = std::array::from_fn(|j| f64::from(positions[j]) - f64::from(last[j]));
                self.farthest_frame = self.farthest_frame.max(astray(&frame_before, &frame, &given.jacobian, &step));
            }
            for ((q, last), limit) in positions.iter().zip(last).zip(self.limits) {
                // Positions are sent as single-precision numbers: one unit in the last place of each.
                let step = (f64::from(*q) - f64::from(last)).abs() - 4e-7;
                self.longest_step = self.longest_step.max(step / (f64::from(limit) * dt));
            }
        }
        self.last = Some((given.counter, positions, frame));
    }

    /// Runs until the virtual time `end`.
    pub fn advance_to(&mut self, end: SimTime) {
        while self.krc.now() < end {
            let leaving = self.leaving.front().map_or(SimTime::MAX, |(due, _)| *due);
            let due = self.session.poll_timeout().map_or(SimTime::MAX, |at| SimTime::from_micros(at.as_micros()));
            let due = self.asleep_until.unwrap_or(due);
            let now = self.krc.now();
            let next = self.krc.next_event().min(leaving).min(due.max(now + StdDuration::from_micros(1))).min(end);
            self.krc.advance_to(next);
            while self.leaving.front().is_some_and(|(due, _)| *due <= next) {
                let (_, bytes) = self.leaving.pop_front().expect("one leaves");
                self.krc.receive(&bytes);
            }
            while let Some(mut transmit) = self.krc.poll_transmit() {
                if let Some(scheme) = self.told_scheme {
                    transmit.bytes[SCHEME_AT..SCHEME_AT + 2].copy_from_slice(&scheme.raw().to_le_bytes());
                }
                self.waiting.push((transmit.sender, transmit.bytes));
            }
            if self.asleep_until.is_some_and(|until| next < until) {
                continue;
            }
            self.asleep_until = None;
            let waiting = std::mem::take(&mut self.waiting);
            for (sender, bytes) in &waiting {
                self.hand_over(*sender, bytes, next);
            }
            if !waiting.is_empty() || due <= next {
                self.input(Input::Tick);
            }
        }
    }

    fn hand_over(&mut self, sender: Sender, bytes: &[u8], now: SimTime) {
        let from = match sender {
            Sender::Krc => KRC,
            Sender::Stranger => STRANGER,
        };
        let before = self.session.peer().counts();
        let from: SocketAddr = from.parse().expect("an address");
        receive(&mut self.session, from, bytes, instant(now));
        let after = self.session.peer().counts();
        let used = after.measurements > before.measurements && after.unused == before.unused;
        if let (true, Ok(measurement)) = (used, Measurement::new_checked(bytes)) {
            let leads = measurement.named_state() == FriState::Command && measurement.power() != 0;
            self.given = Some(Given {
                counter: measurement.send_seq_count(),
                leads,
                period: measurement.desired_cmd_sample_time(),
                jacobian: measurement.jacobian(),
            });
            if let Some((before, heard)) = self.believed.replace((from, now))
                && before != from
            {
                assert!(now.since(heard) >= self.silence, "{from} is believed while {before} speaks");
                // Another arm is at other positions.
                self.last = None;
            }
        }
        self.note_events(now);
    }

    fn note_events(&mut self, now: SimTime) {
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
            self.event_times.push(now);
        }
    }

    /// Runs for `millis` of virtual time.
    pub fn advance(&mut self, millis: u64) {
        self.advance_to(self.krc.now() + StdDuration::from_millis(millis));
    }

    /// Runs until `holds` returns `true` for the rig.
    ///
    /// # Panics
    /// If that takes longer than `millis`.
    pub fn until(&mut self, millis: u64, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.krc.now() + StdDuration::from_millis(millis);
        while !holds(self) {
            let now = instant(self.krc.now());
            assert!(
                self.krc.now() < end,
                "{what} not within {millis} ms: mode {:?}, unmet {:?}, latch {:?}, grade {:?}, {:?}, KRC {:?} {:?}, {:?}",
                self.session.mode(),
                self.session.unmet(now).iter().collect::<Vec<_>>(),
                self.session.latch(),
                self.session.figures(now).grade,
                self.session.figures(now).grade_low(),
                self.krc.state(),
                self.krc.quality(),
                self.krc.fallbacks(),
            );
            self.advance(1);
        }
    }

    /// Waits until no precondition but a latched reason is unmet, acknowledges, requests `Command`, and waits until the
    /// engine is in that mode. Either wait fails the test after `millis` \[ms\].
    pub fn command(&mut self, millis: u64) {
        self.until(millis, "ready", |rig| {
            let unmet = rig.session.unmet(instant(rig.krc.now()));
            unmet.iter().all(|reason| reason == Reason::Latched)
        });
        self.input(Input::Acknowledge);
        self.request();
        self.until(millis, "command", |rig| rig.session.mode() == Mode::Command);
    }

    /// Returns the mode transitions of the engine so far.
    pub fn transitions(&self) -> impl Iterator<Item = &Transition> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Transition(transition) = event { Some(transition) } else { None })
    }
}
