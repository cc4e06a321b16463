//! Freedrive and force mode: the client that is responsible for them, and their end.
//!
//! The controller executes them like a [move](super::delegated_moves). They start from rest, only in `Command`, under a
//! number that the program mirrors, and every end of commanding cancels them. In addition:
//!
//! | event | result |
//! |---|---|
//! | the client that started it has not renewed it for [`renew_within`](GuideLimits::renew_within) | commanding ends: `NotRenewed` |
//! | another client renews it | refused, `NotYours`; it has no effect |
//! | the tool or a joint exceeds its speed limit, or the tool its distance from the start | commanding ends: `GuideLimit` |
//! | a state does not contain the pose or the speed of the tool | commanding ends: `EvidenceMissing` |
//! | force mode is started [together with a move](Guide::join) | it lasts as long as the move, with the same rules and limits |
//! | the program is paused at the pendant | commanding ends: `ProgramPaused`, because resuming must not apply a force again |
//! | a client requests its end | `Cancel` per state until the program shows the end; then the arm rests in `Command`, and nothing starts by itself |
//!
//! The commands say nothing about the path of the arm meanwhile. The comparison with them
//! ([`Following`](super::Following)) is off, and these limits on measured values replace it.
//!
//! ```
//! use outrigger_core::mode::{ClientNumber, Evidence, Guide, GuideLimits, ModeConfig, ModeMachine};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::robot::State;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! // Outside of `Command` nobody guides the arm.
//! let (mut guide, mut machine) = (Guide::default(), ModeMachine::new(ModeConfig::new(Duration::from_millis(8))));
//! let (state, limits) = (State::<6>::default(), GuideLimits::default());
//! let begun = guide.begin(ClientNumber(1), limits, &mut machine, &Evidence::default(), &state, Instant::ZERO);
//! assert_eq!(begun, Err(Reason::NotCommanding));
//! ```

use super::Mode;
use super::evidence::Evidence;
use super::machine::ModeMachine;
use super::move_types::{Drive, Mirrored, MoveNumber};
use crate::robot::{Reason, settings};
use outrigger_wire::math::{norm, subtract};
use outrigger_wire::robot::State;
use outrigger_wire::time::{Duration, Instant};

/// A client, by the number that the distributor of requests assigned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ClientNumber(pub u32);

settings! {
    /// The limits of the arm's motion in freedrive and force mode.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GuideLimits in "guide." {
        /// The time after which freedrive or force mode ends unless its client has renewed it. Default 1 s.
        pub renew_within: Duration [0.05 to 60.0 "s"] = Duration::from_secs(1),
        /// The highest speed of the tool centre point in freedrive or force mode \[m/s\]. Default 0.25.
        pub tool_speed: f32 [0.001 to 2.0 "m/s"] = 0.25,
        /// The highest speed of each joint in freedrive or force mode \[rad/s\]. Default 1.
        pub joint_speed: f32 [0.001 to 3.2 "rad/s"] = 1.0,
        /// The largest distance of the tool centre point from its position at the start of freedrive or force mode
        /// \[m\]. Default 0.5.
        pub deviation: f32 [0.001 to 3.0 "m"] = 0.5,
    }
}

/// The freedrive or force mode that was started last, until its end is known. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Guide {
    guided: Option<Guided>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Guided {
    number: MoveNumber,
    asker: ClientNumber,
    limits: GuideLimits,
    /// The position of the tool at the start of freedrive or force mode \[m\].
    from: [f32; 3],
    renewed: Instant,
    /// `true` once a client has requested the end of freedrive or force mode.
    ends: bool,
}

impl Guide {
    /// Starts freedrive or force mode for the client `asker`, from where the arm rests in `state`. Returns the number
    /// that the program on the controller will mirror.
    ///
    /// # Errors
    /// The first reason against it; nothing changes then. Those of [`ModeMachine::delegate`], and `EvidenceMissing` if
    /// the state does not contain the pose and the speed of the tool.
    pub fn begin<const N: usize>(
        &mut self,
        asker: ClientNumber,
        limits: GuideLimits,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        state: &State<N>,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let from = match (machine.mode(), state.tcp_pose, state.tcp_speed) {
            (Mode::Command, None, _) | (Mode::Command, _, None) => return Err(Reason::EvidenceMissing),
            (_, pose, _) => pose.unwrap_or_default().position,
        };
        let number = machine.delegate(now, evidence)?;
        self.guided = Some(Guided { number, asker, limits, from, renewed: now, ends: false });
        Ok(number)
    }

    /// Starts force mode together with the move that the controller executes now. Returns the number of that move, with
    /// which it ends. A request for its end ends the move too.
    ///
    /// # Errors
    /// `NotCommanding` if no move is executed, `NotAtRest` if freedrive or force mode is active already,
    /// `EvidenceMissing` as in [`begin`](Self::begin).
    pub fn join<const N: usize>(
        &mut self,
        asker: ClientNumber,
        limits: GuideLimits,
        machine: &ModeMachine,
        evidence: &Evidence,
        state: &State<N>,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let number = match machine.drive() {
            Drive::Delegated(number) if machine.executes_move() => number,
            Drive::Delegated(_) | Drive::Streamed => return Err(Reason::NotCommanding),
        };
        if evidence.mirrored.map(|held| held.value) != Some(Mirrored::Running(number)) {
            return Err(Reason::NotCommanding);
        }
        if self.is_on() {
            return Err(Reason::NotAtRest);
        }
        let (Some(pose), Some(_)) = (state.tcp_pose, state.tcp_speed) else { return Err(Reason::EvidenceMissing) };
        self.guided = Some(Guided { number, asker, limits, from: pose.position, renewed: now, ends: false });
        Ok(number)
    }

    /// Renews freedrive or force mode on behalf of the client that started it.
    ///
    /// # Errors
    /// `NotYours` if another client started it, `NotCommanding` if none is active.
    pub fn renew(&mut self, asker: ClientNumber, now: Instant) -> Result<(), Reason> {
        let guided = self.guided.as_mut().ok_or(Reason::NotCommanding)?;
        if guided.asker != asker {
            return Err(Reason::NotYours);
        }
        guided.renewed = now;
        Ok(())
    }

    /// Requests the end of freedrive or force mode; any client may do so.
    ///
    /// # Errors
    /// `NotCommanding` if neither is active, `MoveNotStarted` if it has not started yet:
    /// [release](ModeMachine::release) it then.
    pub fn end(&mut self, machine: &ModeMachine) -> Result<(), Reason> {
        let guided = self.guided.as_mut().ok_or(Reason::NotCommanding)?;
        if !machine.executes_move() {
            return Err(Reason::MoveNotStarted);
        }
        guided.ends = true;
        Ok(())
    }

    /// Checks freedrive or force mode by a state that the mode machine has already observed: its renewal, its limits,
    /// and a pause at the pendant. Returns the reason that ends commanding, to be passed to [`ModeMachine::fault`];
    /// `None` if there is none.
    pub fn observe<const N: usize>(
        &mut self,
        machine: &ModeMachine,
        evidence: &Evidence,
        state: &State<N>,
        now: Instant,
    ) -> Option<Reason> {
        self.settle(machine, evidence);
        let guided = self.guided.as_ref()?;
        let paused = machine.held_by(evidence).filter(|reason| reason.is_release());
        guided.lapsed(now).or(paused).or_else(|| guided.exceeded(state).filter(|_| machine.executes_move()))
    }

    /// Checks at `now` whether freedrive or force mode was renewed in time. Returns the reason that ends commanding,
    /// like [`observe`](Self::observe); `None` if there is none.
    #[must_use]
    pub fn tick(&self, now: Instant) -> Option<Reason> {
        self.guided.as_ref()?.lapsed(now)
    }

    /// Returns the time at which [`tick`](Self::tick) is due; `None` while neither freedrive nor force mode is active
    /// or about to start.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let guided = self.guided.as_ref()?;
        Some(guided.renewed + guided.limits.renew_within + Duration::from_micros(1))
    }

    /// Returns `true` while freedrive or force mode is active, or about to start.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.guided.is_some()
    }

    /// Returns the number under which the program executes freedrive or force mode, if the program is to be told to end
    /// it: a client has requested the end, and the program has not shown it yet. Otherwise `None`.
    #[must_use]
    pub fn ending(&self) -> Option<MoveNumber> {
        self.guided.filter(|guided| guided.ends).map(|guided| guided.number)
    }

    /// Discards freedrive or force mode, because commanding is over or another motion was requested.
    pub const fn clear(&mut self) {
        self.guided = None;
    }

    /// Discards freedrive or force mode once the program shows its end, and if another motion, or none, is commanded.
    fn settle(&mut self, machine: &ModeMachine, evidence: &Evidence) {
        let Some(guided) = &self.guided else { return };
        let shown = evidence.mirrored.map(|held| held.value);
        let ended = shown == Some(Mirrored::Ended(guided.number)) && machine.executes_move();
        if ended || machine.drive() != Drive::Delegated(guided.number) {
            self.clear();
        }
    }
}

impl Guided {
    fn lapsed(&self, now: Instant) -> Option<Reason> {
        (now.since(self.renewed) > self.limits.renew_within).then_some(Reason::NotRenewed)
    }

    fn exceeded<const N: usize>(&self, state: &State<N>) -> Option<Reason> {
        let Some((pose, speed)) = state.tcp_pose.zip(state.tcp_speed) else { return Some(Reason::EvidenceMissing) };
        let GuideLimits { tool_speed, joint_speed, deviation, .. } = self.limits;
        // NaN is never within a limit.
        let within = norm(speed.linear) <= tool_speed
            && state.velocities.max_abs() <= joint_speed
            && norm(subtract(pose.position, self.from)) <= deviation;
        (!within).then_some(Reason::GuideLimit)
    }
}
