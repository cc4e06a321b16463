//! The simulated KRC as a whole: its cycle, its link to the remote computer, and its faults.

use std::collections::VecDeque;
use std::time::Duration;

use outrigger_wire::fri::{Command, CommandFlags, CommandRepr, ControlScheme, FriState, Quality};

use super::arm::Arm;
use super::fault::{Fault, FaultKind};
use super::fri_interface::{Interface, Reason};
use super::link_rating::{LinkRating, Statistics, rank};
use super::model::Joints;
use super::network_channel::{Channel, Sender, Transmit};
use super::options::{OperationMode, Options, OptionsError};
use super::program::{CYCLE_MS, Call, Program};
use super::program_motion::Mover;
use super::publish::{self, Facts};
use crate::fault::Direction;
use crate::rng::Rng;
use crate::time::SimTime;

const MILLISECOND: Duration = Duration::from_millis(1);
/// The distance from the newest command's counter up to which a command with a lower counter counts as old. Beyond
/// it, the remote computer counts as restarted.
const OLD: i32 = 1000;
/// The number of cycles without a newer command after which the remote computer counts as restarted.
const FORGOTTEN: u32 = 25;

/// Numbers of events that the simulated KRC has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of measurements that the KRC has sent.
    pub sent: u64,
    /// Number of measurements that the remote computer answered within their cycle.
    pub answered: u64,
    /// Number of malformed commands that arrived: wrong datagram length, size field or datagram ID.
    pub malformed: u64,
    /// Number of commands that were received before, or are older than the newest.
    pub old: u64,
    /// Number of commands of the remote computer that are missing between received ones.
    pub lost: u64,
    /// Number of the remote computer's answers to older measurements than the newest.
    pub late: u64,
    /// Number of cycles without an answer in which the KRC extrapolated or repeated the setpoint.
    pub bridged: u64,
    /// Number of starts of the command state that the KRC refused.
    pub refused: u64,
    /// Number of transitions from the monitor state to the command state.
    pub started: u64,
    /// Number of cycles that the KRC spent in the command state.
    pub commanding: u64,
    /// Number of cycles at each link quality that the KRC rated, UNACCEPTABLE first.
    pub qualities: [u64; 4],
}

/// The true state of the simulated arm, gripper and outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Actual joint positions of the arm \[rad\].
    pub q: Joints,
    /// Actual joint speeds of the arm \[rad/s\].
    pub qd: Joints,
    /// The joint setpoint that the KRC gives the arm \[rad\].
    pub setpoint: Joints,
    /// The opening of the gripper's jaws \[m\].
    pub opening: f64,
    /// States of the KRC's digital outputs, bit 0 is the first.
    pub outputs: u8,
}

/// A KRC with its arm, its KRL program and both directions of its link.
#[derive(Debug)]
pub struct Krc {
    options: Options,
    now: SimTime,
    /// The time of the next millisecond of the simulation to be executed.
    next: SimTime,
    /// The time at which the present cycle of the KRC began.
    cycle: SimTime,
    period: Duration,
    open: bool,
    counter: u16,
    reflected: u16,
    sent: Option<u16>,
    rating: LinkRating,
    interface: Interface,
    arm: Arm,
    program: Program,
    mover: Mover,
    up: Channel,
    down: Channel,
    /// The command that is executed at the end of the present cycle: the newest that answers its measurement, or else
    /// the first late answer, if the options permit that. `None` until one has arrived.
    received: Option<CommandRepr>,
    heard: Option<CommandRepr>,
    newest: Option<u16>,
    /// The number of cycles of the KRC since the newest command of the remote computer arrived.
    unheard: u32,
    stranger: u16,
    begun: Vec<bool>,
    out: VecDeque<Transmit>,
    fallbacks: Vec<(SimTime, Reason)>,
    counts: Counts,
}

impl Krc {
    /// Returns a KRC whose interface is open, in monitor state, at time 0.
    ///
    /// # Errors
    /// Returns an error if the options are not possible for a KRC.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Self {
            now: SimTime::ZERO,
            next: SimTime::ZERO,
            cycle: SimTime::ZERO,
            period: options.period,
            open: true,
            counter: options.first_counter.wrapping_sub(1),
            reflected: options.first_reflected,
            sent: None,
            rating: LinkRating::new(options.rating, options.period),
            interface: Interface::new(&options),
            arm: Arm::new(options.arm.clone(), options.start),
            program: Program::new(options.program.clone()),
            mover: Mover::new(options.motion.clone(), options.start),
            up: Channel::new(Rng::new(options.seed, 0x5550)),
            down: Channel::new(Rng::new(options.seed, 0xd0b0)),
            received: None,
            heard: None,
            newest: None,
            unheard: 0,
            stranger: 30_000,
            begun: vec![false; options.faults.len()],
            out: VecDeque::new(),
            fallbacks: vec![],
            counts: Counts::default(),
            options,
        })
    }

    /// Returns the present virtual time of the simulation.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the time at which the simulation has something to do next.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        self.next.min(self.up.next_arrival()).min(self.down.next_arrival())
    }

    /// Executes everything that happens up to the virtual time `time`.
    pub fn advance_to(&mut self, time: SimTime) {
        loop {
            // A command that arrives at the end of a cycle still counts for that cycle.
            while let Some((at, bytes)) = self.up.arrived(self.next.min(time)) {
                self.now = self.now.max(at);
                self.take(&bytes);
            }
            if self.next > time {
                break;
            }
            self.now = self.next;
            self.millisecond();
            self.next = self.next + MILLISECOND;
            self.deliver();
        }
        self.now = self.now.max(time);
        self.deliver();
    }

    fn deliver(&mut self) {
        while let Some((_, bytes)) = self.down.arrived(self.now) {
            self.out.push_back(Transmit { sender: Sender::Krc, bytes });
        }
    }

    /// Processes a datagram that arrives now from the remote computer; the simulated network may delay or drop it.
    pub fn receive(&mut self, bytes: &[u8]) {
        let faults = Fault::in_force(&self.options.faults, self.now, Direction::Up);
        self.up.send(bytes.to_vec(), self.now, self.period, faults);
    }

    /// Returns the next datagram that the KRC, or the other sender of the fault `second-sender`, sends now; `None` if
    /// there is none.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.pop_front()
    }

    /// Returns the state of the Fast Research Interface: off while it is closed, else monitor or command.
    #[must_use]
    pub const fn state(&self) -> FriState {
        if self.open { self.interface.state } else { FriState::Off }
    }

    /// Returns the active control scheme of the KRC: joint position, joint impedance or Cartesian impedance.
    #[must_use]
    pub const fn scheme(&self) -> ControlScheme {
        self.interface.scheme
    }

    /// Returns the quality of the link as the KRC rates it.
    #[must_use]
    pub const fn quality(&self) -> Quality {
        self.rating.quality()
    }

    /// Returns the statistics of the link as the KRC measures them.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.rating.statistics()
    }

    /// Returns the numbers of events that the KRC has counted.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        Counts { bridged: self.interface.bridged, ..self.counts }
    }

    /// Returns the times at which the KRC left the command state and the reasons, oldest first.
    #[must_use]
    pub fn fallbacks(&self) -> &[(SimTime, Reason)] {
        &self.fallbacks
    }

    /// Returns the longest commanded step of a joint, as a share of the longest step that is allowed.
    #[must_use]
    pub const fn longest_step(&self) -> f64 {
        self.interface.longest_step
    }

    /// Returns the numbers of datagrams that the simulated network has lost: commands, measurements.
    #[must_use]
    pub const fn lost_on_the_way(&self) -> (u64, u64) {
        (self.up.lost, self.down.lost)
    }

    /// Returns the true state of the simulated arm, gripper and outputs.
    #[must_use]
    pub fn truth(&self) -> Truth {
        Truth {
            q: self.arm.q,
            qd: self.arm.qd,
            setpoint: self.interface.setpoint(),
            opening: self.program.opening(),
            outputs: self.program.outputs(),
        }
    }

    /// Sets whether an operator holds the enabling switch.
    pub const fn set_enabled(&mut self, held: bool) {
        self.options.enabled = held;
    }

    /// Sets the digital inputs of the KRC, bit 0 is the first.
    pub const fn set_inputs(&mut self, inputs: u8) {
        self.program.set_inputs(inputs);
    }

    /// Applies the force and torque of a person's hand to the flange \[N, Nm\], in the base's directions.
    pub const fn push(&mut self, wrench: [f64; 6]) {
        self.arm.hand = wrench;
    }

    /// Adds a fault to the simulated KRC's schedule.
    pub fn add_fault(&mut self, fault: Fault) {
        self.options.faults.push(fault);
        self.begun.push(false);
    }

    fn is_on(&self, wanted: impl Fn(FaultKind) -> bool) -> bool {
        self.options.faults.iter().any(|fault| fault.active(self.now) && wanted(fault.kind))
    }

    fn powered(&self) -> bool {
        let released = self.is_on(|kind| kind == FaultKind::Release);
        let enabled = !self.options.operation.needs_enabling() || self.options.enabled;
        enabled && !released && !self.is_on(|kind| kind == FaultKind::PowerOff)
    }

    /// Returns the factor that the operation mode (T1, T2 or automatic) has on the speed limits.
    fn factor(&self) -> f64 {
        if self.options.operation == OperationMode::T1 { self.options.t1_factor } else { 1.0 }
    }

    fn millisecond(&mut self) {
        self.begin_faults();
        let closed = self.is_on(|kind| kind == FaultKind::Close);
        if closed && self.open {
            self.leave(Reason::Closed);
            self.open = false;
        } else if !closed && !self.open {
            self.reopen(self.period);
        }
        let in_cycle = self.now.since(self.cycle);
        let cycle_begins = self.open && (self.sent.is_none() || in_cycle >= self.period);
        if cycle_begins {
            self.evaluate();
            self.cycle = self.now;
        }
        self.program_looks();
        self.move_arm();
        if cycle_begins && self.open {
            self.emit();
        }
    }

    fn begin_faults(&mut self) {
        for at in 0..self.options.faults.len() {
            let fault = self.options.faults[at];
            if self.begun[at] || fault.start > self.now {
                continue;
            }
            self.begun[at] = true;
            match fault.kind {
                FaultKind::Restart => {
                    self.leave(Reason::Closed);
                    self.counter = 0;
                    self.reopen(self.period);
                }
                FaultKind::Period(period) => {
                    self.leave(Reason::Closed);
                    self.reopen(period);
                }
                FaultKind::Stop => self.leave(Reason::Stopped),
                _ => {}
            }
        }
        let hands = self.options.faults.iter().filter(|fault| fault.active(self.now));
        let force: f64 = hands.map(|fault| if let FaultKind::Hand(force) = fault.kind { force } else { 0.0 }).sum();
        if force != 0.0 || self.options.faults.iter().any(|fault| matches!(fault.kind, FaultKind::Hand(_))) {
            self.arm.hand = [0.0, 0.0, -force, 0.0, 0.0, 0.0];
        }
    }

    /// Opens the Fast Research Interface (`friOpen`) with this period of measurements.
    fn reopen(&mut self, period: Duration) {
        self.open = true;
        self.period = period;
        self.sent = None;
        self.newest = None;
        self.received = None;
        self.heard = None;
        self.reflected = self.options.first_reflected;
        self.rating = LinkRating::new(self.options.rating, period);
        self.program = Program::new(self.options.program.clone());
    }

    fn seconds(&self) -> f64 {
        self.period.as_secs_f64()
    }

    /// Returns the progress of the present cycle, 0 … 1, at the end of this millisecond.
    fn share(&self) -> f64 {
        ((self.now.since(self.cycle) + MILLISECOND).as_secs_f64() / self.seconds()).min(1.0)
    }

    fn leave(&mut self, reason: Reason) {
        if self.interface.state == FriState::Command {
            let share = (self.now.since(self.cycle).as_secs_f64() / self.seconds()).min(1.0);
            self.interface.stop(share, self.seconds(), &self.arm.q);
            self.fallbacks.push((self.now, reason));
        }
    }

    /// Processes a command datagram that has arrived at the KRC.
    fn take(&mut self, bytes: &[u8]) {
        if !self.open {
            return;
        }
        let Ok(command) = Command::new_checked(bytes) else {
            self.counts.malformed += 1;
            return;
        };
        let ahead = self.newest.map(|newest| i32::from(command.send_seq_count().wrapping_sub(newest).cast_signed()));
        if let Some(ahead) = ahead.filter(|ahead| ahead.abs() <= OLD && self.unheard < FORGOTTEN) {
            if ahead <= 0 {
                self.counts.old += 1;
                return;
            }
            self.counts.lost += u64::from(ahead.unsigned_abs()) - 1;
        }
        self.newest = Some(command.send_seq_count());
        self.unheard = 0;
        self.rating.received(command.refl_seq_count(), self.now);
        let repr = command.to_repr();
        self.reflected = repr.send_seq_count;
        self.heard = Some(repr);
        if Some(repr.refl_seq_count) == self.sent {
            self.received = Some(repr);
        } else {
            self.counts.late += 1;
            if self.options.uses_late_answers && self.received.is_none() {
                self.received = Some(repr);
            }
        }
    }

    /// Ends an FRI cycle: evaluates the remote computer's answer to the cycle's measurement message and updates the
    /// setpoint.
    fn evaluate(&mut self) {
        let Some(sent) = self.sent else { return };
        self.unheard = self.unheard.saturating_add(1);
        let answer = self.received.take();
        let in_time = answer.as_ref().is_some_and(|command| command.refl_seq_count == sent);
        self.rating.judge(in_time);
        self.counts.answered += u64::from(in_time);
        self.counts.commanding += u64::from(self.interface.state == FriState::Command);
        if let Some(count) = self.counts.qualities.get_mut(usize::from(rank(self.rating.quality()))) {
            *count += 1;
        }
        if self.interface.state != FriState::Command {
            return;
        }
        let (powered, period, factor) = (self.powered(), self.seconds(), self.factor());
        let outcome = match &answer {
            Some(command) => self.interface.obey(command, powered, period, factor, &self.arm.q),
            None => self.interface.bridge(powered),
        };
        if let Err(reason) = outcome.and_then(|()| self.interface.permits(self.rating.quality())) {
            self.leave(reason);
        }
    }

    fn program_looks(&mut self) {
        let millis = self.now.as_micros() / 1_000;
        if !self.open || !millis.is_multiple_of(CYCLE_MS) {
            return;
        }
        let heard = self.heard.as_ref().map(|command| &command.krl);
        match self.program.poll(heard, self.interface.state, self.rating.quality()) {
            Some(Call::Start { scheme, scale }) => {
                if rank(self.rating.quality()) < rank(self.options.start_quality) {
                    self.counts.refused += 1;
                    return;
                }
                let flags = self.heard.as_ref().map(|command| CommandFlags::from_bits(command.cmd_flags));
                self.interface.start(scheme, scale, flags);
                self.counts.started += 1;
            }
            Some(Call::Stop) => self.leave(Reason::Stopped),
            Some(Call::Close) => {
                self.leave(Reason::Closed);
                self.open = false;
                // The program has ended, so the interface stays closed.
                self.add_fault(Fault::new(FaultKind::Close, self.now, None));
            }
            None => {}
        }
    }

    fn move_arm(&mut self) {
        let own = if self.powered() { self.mover.step(&self.interface.own, 1e-3) } else { self.interface.own };
        if own != self.interface.own {
            self.interface.own_moved(own);
        }
        if self.powered() {
            self.interface.brake(1e-3);
            let target = self.interface.target(self.share());
            self.arm.step(&target);
        } else {
            self.interface.halt();
            self.arm.hold();
        }
    }

    fn emit(&mut self) {
        self.counter = self.counter.wrapping_add(1);
        self.sent = Some(self.counter);
        self.counts.sent += 1;
        self.rating.sent(self.counter, self.now);
        let stale = self.is_on(|kind| kind == FaultKind::Stale);
        let facts = Facts {
            counter: self.counter,
            reflected: if stale { self.options.first_reflected } else { self.reflected },
            now: self.now,
            period: self.seconds(),
            quality: self.rating.quality(),
            statistics: self.rating.statistics(),
            powered: self.powered(),
            krl: self.program.says,
        };
        let mut repr = publish::measurement(&facts, &self.arm, &self.interface);
        if self.is_on(|kind| kind == FaultKind::NotANumber) {
            repr.msr_jnt_pos = [f32::NAN; 7];
        }
        let mut bytes = vec![0; 916];
        repr.emit(&mut bytes).expect("room for a measurement");
        let faults = Fault::in_force(&self.options.faults, self.now, Direction::Down);
        self.down.send(bytes, self.now, self.period, faults);
        if self.is_on(|kind| kind == FaultKind::SecondSender) {
            self.stranger = self.stranger.wrapping_add(1);
            let mut bytes = vec![0; 916];
            repr.send_seq_count = self.stranger;
            repr.cmd_jnt_pos = [1.0; 7];
            repr.emit(&mut bytes).expect("room for a measurement");
            self.out.push_back(Transmit { sender: Sender::Stranger, bytes });
        }
    }
}
