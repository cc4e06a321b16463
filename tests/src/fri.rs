//! The engine beside a simulated KRC, in virtual time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration as StdDuration;

use outrigger_core::command::Samples;
use outrigger_core::law::Law;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::{JointVelocities, Reason, State};
use outrigger_core::session::Event;
use outrigger_core::session::fri::{FriConfig, FriInput, FriSession, KrlConvention};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::{Command, FriState, Measurement};
use outrigger_sim::krc::{Krc, Options, Sender};
use outrigger_sim::time::SimTime;

const KRC: &str = "192.0.2.1:49938";
const STRANGER: &str = "192.0.2.9:40000";

/// Every joint to and fro.
#[derive(Clone, Copy, Debug)]
pub struct Swing {
    /// Highest speed of each joint \[rad/s\].
    pub speed: f32,
    /// Time of one swing \[s\].
    pub period: f32,
    time: f32,
    /// Where the first joint began, and to which side it goes first now.
    home: Option<f32>,
    side: f32,
}

impl Swing {
    /// Beginning in the middle, at rest.
    #[must_use]
    pub const fn new(speed: f32, period: f32) -> Self {
        Self { speed, period, time: 0.0, home: None, side: 1.0 }
    }
}

impl Law<7> for Swing {
    fn arm(&mut self, state: &State<7>) -> Result<(), Reason> {
        self.time = 0.0;
        // Back to where it began, so that many beginnings do not lead out of range.
        let [first, ..] = state.positions.0;
        self.side = if first > *self.home.get_or_insert(first) { -1.0 } else { 1.0 };
        Ok(())
    }

    fn step(&mut self, _: &State<7>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        self.time += dt.as_secs_f32();
        let phase = std::f32::consts::TAU * self.time / self.period;
        Ok(JointVelocities([self.side * self.speed * phase.sin(); 7]))
    }
}

/// One run.
pub struct Rig<L> {
    /// The controller.
    pub krc: Krc,
    /// The engine under test.
    pub session: FriSession<L, KrlConvention>,
    /// From a measurement's arrival to the command's departure.
    pub thinking: StdDuration,
    /// Everything the engine reported.
    pub events: Vec<Event>,
    /// The longest commanded step while the KRC followed, as a share of the highest speed times the time since the
    /// command before.
    pub longest_step: f64,
    /// Commands sent.
    pub commands: u64,
    limits: [f32; 7],
    leaving: VecDeque<(SimTime, Vec<u8>)>,
    /// Counter, positions and whether the KRC followed, of the newest command.
    last: Option<(u16, [f32; 7])>,
    /// The newest measurement handed over, by counter.
    given: Option<(u16, bool, f32)>,
    /// Who sent it, and when.
    believed: Option<(SocketAddr, SimTime)>,
    silence: StdDuration,
}

fn instant(time: SimTime) -> Instant {
    Instant::from_micros(time.as_micros())
}

impl<L: Law<7>> Rig<L> {
    /// A KRC and an engine that have not met.
    ///
    /// # Panics
    /// Where options or configuration cannot be.
    #[must_use]
    pub fn new(options: Options, config: FriConfig, law: L, convention: KrlConvention) -> Self {
        let limits = config.limits.velocity.0;
        let silence = StdDuration::from_micros(config.silence.as_micros());
        Self {
            krc: Krc::new(options).expect("a possible KRC"),
            session: FriSession::new(config, law, convention).expect("a possible session"),
            thinking: StdDuration::from_micros(150),
            events: vec![],
            longest_step: 0.0,
            commands: 0,
            limits,
            leaving: VecDeque::new(),
            last: None,
            given: None,
            believed: None,
            silence,
        }
    }

    /// Gives an input, and takes what comes of it.
    pub fn input(&mut self, input: FriInput<'_>) {
        let now = self.krc.now();
        self.session.handle(instant(now), input);
        self.drain(now);
    }

    fn drain(&mut self, now: SimTime) {
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
        }
        if let Some(transmit) = self.session.poll_transmit() {
            assert_eq!(Some(transmit.to), self.believed.map(|(from, _)| from), "only who is believed is answered");
            let bytes = transmit.bytes.to_vec();
            self.check(&bytes);
            self.leaving.push_back((now + self.thinking, bytes));
            assert!(self.session.poll_transmit().is_none(), "one command per input");
        }
    }

    /// What holds for every command.
    fn check(&mut self, bytes: &[u8]) {
        let command = Command::new_checked(bytes).expect("a command");
        let (counter, leads, period) = self.given.expect("nothing is sent before a measurement came");
        assert_eq!(command.refl_seq_count(), counter, "the newest measurement is answered");
        self.commands += 1;
        let positions = command.jnt_pos();
        assert!(positions.iter().all(|q| q.is_finite()));
        if let Some((before, last)) = self.last
            && leads
        {
            let cycles = counter.wrapping_sub(before);
            assert!(cycles > 0, "a measurement is answered once");
            let dt = f64::from(period) * f64::from(cycles);
            for ((q, last), limit) in positions.iter().zip(last).zip(self.limits) {
                // Positions travel as singles: one unit in the last place of each.
                let step = (f64::from(*q) - f64::from(last)).abs() - 4e-7;
                self.longest_step = self.longest_step.max(step / (f64::from(limit) * dt));
            }
        }
        self.last = Some((counter, positions));
    }

    /// Lives on to `end`.
    pub fn advance_to(&mut self, end: SimTime) {
        while self.krc.now() < end {
            let leaving = self.leaving.front().map_or(SimTime::MAX, |(due, _)| *due);
            let due = self.session.poll_timeout().map_or(SimTime::MAX, |at| SimTime::from_micros(at.as_micros()));
            let now = self.krc.now();
            let next = self.krc.next_event().min(leaving).min(due.max(now + StdDuration::from_micros(1))).min(end);
            self.krc.advance_to(next);
            while self.leaving.front().is_some_and(|(due, _)| *due <= next) {
                let (_, bytes) = self.leaving.pop_front().expect("one leaves");
                self.krc.receive(&bytes);
            }
            let mut received = false;
            while let Some(transmit) = self.krc.poll_transmit() {
                received = true;
                self.hand_over(transmit.sender, &transmit.bytes, next);
            }
            if received {
                self.input(FriInput::Drained);
            } else if due <= next {
                self.input(FriInput::Tick);
            }
        }
    }

    fn hand_over(&mut self, sender: Sender, bytes: &[u8], now: SimTime) {
        let from = match sender {
            Sender::Krc => KRC,
            Sender::Stranger => STRANGER,
        };
        let before = self.session.counts();
        let from: SocketAddr = from.parse().expect("an address");
        self.session.handle(instant(now), FriInput::Datagram { from, bytes, arrival: instant(now) });
        let after = self.session.counts();
        let used = after.measurements > before.measurements && after.unused == before.unused;
        if let (true, Ok(measurement)) = (used, Measurement::new_checked(bytes)) {
            let leads = measurement.named_state() == FriState::Command && measurement.power() != 0;
            self.given = Some((measurement.send_seq_count(), leads, measurement.desired_cmd_sample_time()));
            if let Some((before, heard)) = self.believed.replace((from, now))
                && before != from
            {
                assert!(now.since(heard) >= self.silence, "{from} is believed while {before} speaks");
                // Another arm stands elsewhere.
                self.last = None;
            }
        }
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
        }
    }

    /// Lives on for `millis`.
    pub fn advance(&mut self, millis: u64) {
        self.advance_to(self.krc.now() + StdDuration::from_millis(millis));
    }

    /// Lives on until `holds`.
    ///
    /// # Panics
    /// Where that takes longer than `millis`.
    pub fn until(&mut self, millis: u64, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.krc.now() + StdDuration::from_millis(millis);
        while !holds(self) {
            let now = instant(self.krc.now());
            assert!(
                self.krc.now() < end,
                "{what} not within {millis} ms: mode {:?}, unmet {:?}, latch {:?}, grade {:?} by {:?}, KRC {:?} {:?}, {:?}",
                self.session.mode(),
                self.session.unmet(now).iter().collect::<Vec<_>>(),
                self.session.latch(),
                self.session.figures(now).grade,
                self.session.figures(now).held_by,
                self.krc.state(),
                self.krc.quality(),
                self.krc.fallbacks(),
            );
            self.advance(1);
        }
    }

    /// Until a request is accepted: acknowledges, requests, and waits for `Command`.
    pub fn command(&mut self, millis: u64) {
        self.until(millis, "ready", |rig| {
            let unmet = rig.session.unmet(instant(rig.krc.now()));
            unmet.iter().all(|reason| reason == Reason::Latched)
        });
        self.input(FriInput::Acknowledge);
        self.input(FriInput::Request);
        self.until(millis, "command", |rig| rig.session.mode() == Mode::Command);
    }

    /// The transitions so far.
    pub fn transitions(&self) -> impl Iterator<Item = &Transition> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Transition(transition) = event { Some(transition) } else { None })
    }
}
