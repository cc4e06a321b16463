//! The encoding of a cycle's commands as orders to a program on the controller.

#[cfg(feature = "motions")]
use super::order_units::micro;
use super::speeds_to_positions::Step;
use super::{IDLE, Moment, Pause, ProgramStage, Reverse, STAY, Wrote};
use crate::command::Approved;
#[cfg(feature = "motions")]
use crate::command::ApprovedTorques;
use crate::engine::cycle::Verdict;
use crate::engine::ur::command_path::CommandPath;
use crate::mode::Mode;
use crate::robot::Reason;
use outrigger_wire::external_control::{ControlMode, ControlRepr};
use outrigger_wire::player_messages::PlayerOrderRepr;
use outrigger_wire::program_messages::{Kind, OrderRepr, What};
#[cfg(feature = "motions")]
use outrigger_wire::robot::JointTorques;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

/// The number of cycles without a new position in which the program continues its motion
/// (`urscript/programs/servoj.script`).
const BRIDGED: u64 = 2;

impl Reverse {
    /// Stores the time, the mode of the engine, the arm's state and the program's pause, for the next command to the program.
    pub(in crate::engine::ur) fn prepare(&mut self, now: Instant, mode: Mode, state: Option<&State<6>>, pause: Pause) {
        let state = if self.takes_positions() { state.copied() } else { None };
        self.moment = Moment { now, mode, state, pause };
        self.stopped &= mode == Mode::Stopping;
        self.rests &= pause.reads_nothing;
        if pause.reads_nothing && mode == Mode::Command {
            // An order that waits for a paused program is not late.
            self.waiting.iter_mut().for_each(|at| *at = now);
        }
    }

    pub(super) const fn takes_positions(&self) -> bool {
        matches!(self.kind, Kind::ServoJ | Kind::Buffered)
    }

    /// Carries out the command of one cycle by an order to the program on the controller.
    ///
    /// # Errors
    /// The reason that ends commanding instead.
    pub(in crate::engine::ur) fn write(&mut self, verdict: Verdict<'_, 6>) -> Result<Wrote, Reason> {
        let Moment { now, mode, state, pause } = self.moment;
        let paused = pause.stands || (pause.reads_nothing && mode == Mode::Stopping);
        if !matches!(verdict, Verdict::Silent | Verdict::Mirror) {
            let streams = matches!(verdict, Verdict::Hold | Verdict::Stop | Verdict::Move(_));
            #[cfg(feature = "motions")]
            let streams = streams || matches!(verdict, Verdict::Torque(_));
            self.player.executes = !streams;
        }
        #[cfg(feature = "urcap")]
        if self.is_foreign() && matches!(verdict, Verdict::Start(..) | Verdict::Keep | Verdict::Cancel(_)) {
            return self.forward(verdict);
        }
        let made = match verdict {
            Verdict::Silent | Verdict::Mirror => false,
            Verdict::Start(approved, number) => self.start(approved, number),
            #[cfg(feature = "programs")]
            Verdict::Guide(authority, number) => self.guide(authority, number)?,
            Verdict::Keep => self.keep(),
            Verdict::Cancel(number) => self.cancel(number),
            Verdict::Hold if !self.is_ready() => {
                if mode == Mode::Arming {
                    self.positions.forget();
                    self.call(now);
                }
                false
            }
            // One order to rest waits for the paused program, which reads it before anything else.
            Verdict::Hold if pause.halts && pause.reads_nothing && self.rests => false,
            Verdict::Hold if pause.halts => {
                let made = self.rest(now);
                self.rests |= made && pause.reads_nothing;
                made
            }
            // Without torques the arm would continue to move: its program brakes, and holds it.
            Verdict::Hold if self.path.is_torques() && (mode != Mode::Stopping || self.stays()) => {
                self.order(What::Rest, 1, [0; 6], now)
            }
            Verdict::Hold if self.path.is_torques() => self.end(now),
            #[cfg(feature = "motions")]
            Verdict::Torque(_) if !self.is_ready() => false,
            #[cfg(feature = "motions")]
            Verdict::Torque(approved) => {
                let values = torques(approved);
                self.order(What::Values, 1, values, now)
            }
            // A target that stopped at once would be a jerk; its program brakes.
            Verdict::Hold if mode == Mode::Stopping && self.takes_positions() && !self.stays() => self.end(now),
            Verdict::Hold if mode == Mode::Stopping && self.takes_positions() => self.rest(now),
            Verdict::Hold => {
                let full = self.is_full();
                let (step, rests) = match &state {
                    Some(state) if mode == Mode::Command => {
                        let ring = self.ring();
                        let longest = self.longest_step(ring);
                        let step = self.positions.settle(state, &self.limits, ring, longest);
                        // A point equal to the one before would only fill the ring.
                        (step, matches!(self.kind, Kind::Buffered) && self.positions.rests())
                    }
                    Some(state) => (Step { to: self.positions.hold(state), cycles: 1 }, false),
                    None => (Step { to: [0; 6], cycles: 1 }, false),
                };
                let what = if full || rests { What::Keep } else { What::Values };
                self.order(what, step.cycles, step.to, now)
            }
            Verdict::Move(_) if !self.is_ready() => false,
            Verdict::Move(approved) => match &state {
                Some(state) => {
                    let (full, ring) = (self.is_full(), self.ring());
                    let (limits, lead, longest) = (&self.limits, self.lead(), self.longest_step(ring));
                    let step = self.positions.advance(approved, state, limits, lead, ring, longest)?;
                    let what = if full { What::Keep } else { What::Values };
                    self.order(what, step.cycles, step.to, now)
                }
                None => {
                    let values = speeds(approved);
                    self.order(What::Values, 1, values, now)
                }
            },
            // The zero velocities were sent before.
            Verdict::Stop if self.is_ready() && !paused && self.stays() => self.order(What::Rest, 1, [0; 6], now),
            Verdict::Stop if self.is_ready() && !paused => self.end(now),
            // A text would end the pendant program around it, and no program of ours moves the arm any more.
            Verdict::Stop if self.script().is_some() => false,
            Verdict::Stop if matches!(self.stage, ProgramStage::Ending(..)) && !paused => false,
            Verdict::Stop if self.stopped => false,
            Verdict::Stop => {
                self.stopped = mode == Mode::Stopping;
                return Ok(Wrote::StopText);
            }
        };
        Ok(Wrote::Order(made))
    }

    /// Returns the largest permitted distance of a target from the measured joint \[rad\].
    fn lead(&self) -> f32 {
        self.config.lead(self.path, self.limits.velocity.iter().fold(0.0, f32::max))
    }

    /// Returns `true` if the ring buffer on the controller has more positions than are to wait there: then the target
    /// does not advance.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.kind, Kind::Buffered) && self.lag > self.fill
    }

    /// Returns `true` if no point is put into the ring buffer of positions on the controller now, so that the arm may
    /// be slower than approved.
    pub(in crate::engine::ur) fn holds_back(&self) -> bool {
        self.ring() == Some(Duration::ZERO)
    }

    /// Returns the period in which points are taken out of the ring buffer of positions on the controller, zero while
    /// it is full; `None` on a path without one.
    fn ring(&self) -> Option<Duration> {
        matches!(self.kind, Kind::Buffered).then_some(if self.is_full() { Duration::ZERO } else { self.period })
    }

    /// Returns the longest step of positions after lost states. With a ring buffer on the controller, an approved speed
    /// may last. Otherwise the arm moves to each position at once, so a step is limited to the time in which the
    /// program continued by itself, and one cycle; a longer one would make the arm jump faster than it may move.
    fn longest_step(&self, ring: Option<Duration>) -> Duration {
        let longest = self.limits.longest_step;
        if ring.is_some() { longest } else { longest.min(self.period.times(BRIDGED + 1)) }
    }

    /// Orders the program to bring the arm to rest and to end. Returns `true` if the order was made.
    pub(super) fn end(&mut self, now: Instant) -> bool {
        self.stage = ProgramStage::Ending(now);
        if self.is_foreign() {
            return self.control(ControlMode::Stopped, [0; 6]);
        }
        let counter = self.counter;
        self.lateness.ordered(What::End);
        self.put(counter, What::End, 1, [0; 6])
    }

    /// Orders the program to bring the arm to rest, and to keep running. Returns `true` if the order was made.
    pub(super) fn rest(&mut self, now: Instant) -> bool {
        self.positions.forget();
        self.order(What::Rest, 1, [0; 6], now)
    }

    /// Makes a control message of External Control with these values. Returns `true` if it was made.
    pub(super) fn control(&mut self, mode: ControlMode, values: [i32; 6]) -> bool {
        let timeout = match mode {
            ControlMode::SpeedJ | ControlMode::Torque => self.hold,
            ControlMode::Forward => CommandPath::LONGEST_SILENCE,
            _ => IDLE,
        };
        let timeout = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
        let control = ControlRepr { timeout, values, mode };
        self.order.put(|out| control.emit(out)).is_ok_and(|len| len > 0)
    }

    pub(super) fn order(&mut self, what: What, cycles: u16, values: [i32; 6], now: Instant) -> bool {
        if self.is_foreign() {
            self.spoke = now;
            let moving = if self.path.is_torques() { ControlMode::Torque } else { ControlMode::SpeedJ };
            let mode = if what == What::Rest { ControlMode::Idle } else { moving };
            return self.control(mode, values);
        }
        let counter = self.counter;
        self.lateness.ordered(what);
        let stops = matches!(what, What::Rest | What::End);
        self.count(stops, now) && self.put(counter, what, cycles, values)
    }

    /// Reserves the counter of one more unanswered order. Returns `true` if there is room. The last place is reserved
    /// for an order that `stops` the arm.
    pub(super) fn count(&mut self, stops: bool, now: Instant) -> bool {
        let most = usize::from(self.config.unanswered);
        let room = if stops { most } else { most.saturating_sub(1).max(1) };
        if self.waiting.len() >= room || self.waiting.push_back(now).is_err() {
            return false;
        }
        self.answers.sent(self.counter, now);
        self.spoke = now;
        self.counter = self.counter.wrapping_add(1);
        true
    }

    fn put(&mut self, counter: u16, what: What, cycles: u16, values: [i32; 6]) -> bool {
        let written = if self.is_player() {
            let order = PlayerOrderRepr { what, positions: values, ..PlayerOrderRepr::keep(counter) };
            let order = self.player.asking(order);
            self.order.put(|out| order.emit(out))
        } else {
            let order = OrderRepr { counter, what, cycles, values };
            self.order.put(|out| order.emit(out))
        };
        written.is_ok_and(|len| len > 0)
    }

    /// Makes the order to the program that `mode` requires apart from the command of the cycle: to rest, as a keep-alive,
    /// or to end. Returns `true` if `stopj` is to be sent as text, because the program has not ended in time.
    pub(in crate::engine::ur) fn conclude(&mut self, mode: Mode, now: Instant) -> bool {
        match (mode, self.stage) {
            (Mode::Offline | Mode::Monitor, ProgramStage::Ready) if self.stays() => {
                // Orders of a move have a shorter timeout, so the next order must follow sooner.
                let soon = core::mem::take(&mut self.player.executes) && self.spoke < now;
                // A program of External Control reads one message in each cycle: a single one waits for it while it is
                // paused.
                let paused = self.moment.pause.reads_nothing && self.is_foreign();
                if soon || (now.since(self.spoke) >= STAY && !(paused && self.rests)) {
                    self.rests |= self.rest(now) && paused;
                }
                false
            }
            (Mode::Offline | Mode::Monitor, ProgramStage::Ready) => {
                self.end(now);
                false
            }
            (Mode::Stopping, ProgramStage::Ending(since)) if now.since(since) > self.config.end_timeout => {
                !core::mem::replace(&mut self.stopped, true)
            }
            _ => false,
        }
    }
}

/// Returns the approved joint speeds in the program's unit \[µrad/s\]. No other function makes an order of them.
fn speeds(approved: Approved<'_, 6>) -> [i32; 6] {
    let (JointVelocities(speeds), _authority) = approved.into_parts();
    speeds.map(|speed| {
        let micro = speed * 1e6;
        (micro + 0.5_f32.copysign(micro)) as i32
    })
}

/// Returns the approved joint torques in the program's unit \[µNm\]. No other function makes an order of them.
#[cfg(feature = "motions")]
fn torques(approved: ApprovedTorques<'_, 6>) -> [i32; 6] {
    let (JointTorques(torques), _authority) = approved.into_parts();
    torques.map(micro)
}
