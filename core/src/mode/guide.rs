//! Motion that a hand or a force makes: who answers for it, and when it ends.
//!
//! The controller executes it like a [move](super::delegated): it begins from rest, in `Command` alone, by a number that the
//! program mirrors, and whatever ends commanding cancels it. Beside that:
//!
//! | what | then |
//! |---|---|
//! | who began it has not renewed it for [`renew_within`](GuideLimits::renew_within) | commanding ends: `NotRenewed` |
//! | somebody else renews it | refused, `NotYours`; it counts for nothing |
//! | the tool, or a joint, is faster than it may be, or the tool is further than that from where it began | commanding ends: `GuideLimit` |
//! | a state does not say where the tool is or how fast | commanding ends: `EvidenceMissing` |
//! | a force is to move the arm [beside a move](Guide::join) | it is as long as that, with the same rules and limits |
//! | the program is paused at the pendant | commanding ends: `ProgramPaused`. Resuming must not make a force press again |
//! | somebody asks for its end | `Cancel` per state until the end is shown; then the arm rests in `Command`, and nothing begins by itself |
//!
//! What was commanded says nothing about where a hand takes the arm: the comparison of the two
//! ([`Following`](super::Following)) is off meanwhile, and these limits on what is measured take its place.
//!
//! ```
//! use outrigger_core::mode::{Asker, Evidence, Guide, GuideLimits, ModeConfig, ModeMachine};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::robot::State;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! // Outside of `Command` nobody guides the arm.
//! let (mut guide, mut machine) = (Guide::default(), ModeMachine::new(ModeConfig::new(Duration::from_millis(8))));
//! let (state, limits) = (State::<6>::default(), GuideLimits::default());
//! let begun = guide.begin(Asker(1), limits, &mut machine, &Evidence::default(), &state, Instant::ZERO);
//! assert_eq!(begun, Err(Reason::NotCommanding));
//! ```

use super::Mode;
use super::evidence::Evidence;
use super::machine::ModeMachine;
use super::moves::{Drive, Mirrored, MoveNumber};
use crate::robot::{Reason, settings};
use outrigger_wire::math::{norm, subtract};
use outrigger_wire::robot::State;
use outrigger_wire::time::{Duration, Instant};

/// Who asks, by a number that whoever passes requests on gives to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Asker(pub u32);

settings! {
    /// What the arm may do while a hand or a force moves it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GuideLimits in "guide." {
        /// It ends where who began it has not renewed it for this long. Default 1 s.
        pub renew_within: Duration [0.05 to 60.0 "s"] = Duration::from_secs(1),
        /// Highest speed of the tool centre point \[m/s\]. Default 0.25.
        pub tool_speed: f32 [0.001 to 2.0 "m/s"] = 0.25,
        /// Highest speed of each joint \[rad/s\]. Default 1.
        pub joint_speed: f32 [0.001 to 3.2 "rad/s"] = 1.0,
        /// How far the tool centre point may be from where it began \[m\]. Default 0.5.
        pub deviation: f32 [0.001 to 3.0 "m"] = 0.5,
    }
}

/// The motion of this kind that was begun last, from then on until its end is known. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Guide {
    guided: Option<Guided>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Guided {
    number: MoveNumber,
    asker: Asker,
    limits: GuideLimits,
    /// Where the tool was \[m\].
    from: [f32; 3],
    renewed: Instant,
    /// Somebody has asked for its end.
    ends: bool,
}

impl Guide {
    /// `asker` wants the arm to give way from where it rests in `state`: the number that its program will mirror.
    ///
    /// # Errors
    /// The first reason against; nothing changes. Those of [`ModeMachine::delegate`], `EvidenceMissing` where the state does
    /// not say where the tool is and how fast.
    pub fn begin<const N: usize>(
        &mut self,
        asker: Asker,
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

    /// A force is to move the arm beside the move that the controller executes now, and for no longer than that: its number.
    /// Where the end is asked for, the move ends with it.
    ///
    /// # Errors
    /// `NotCommanding` where no move is executed, `NotAtRest` where the arm gives way already, `EvidenceMissing` as in
    /// [`begin`](Self::begin).
    pub fn join<const N: usize>(
        &mut self,
        asker: Asker,
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

    /// Who began it goes on answering for it.
    ///
    /// # Errors
    /// `NotYours` where somebody else began it, `NotCommanding` where there is none.
    pub fn renew(&mut self, asker: Asker, now: Instant) -> Result<(), Reason> {
        let guided = self.guided.as_mut().ok_or(Reason::NotCommanding)?;
        if guided.asker != asker {
            return Err(Reason::NotYours);
        }
        guided.renewed = now;
        Ok(())
    }

    /// It is to end, whoever asks.
    ///
    /// # Errors
    /// `NotCommanding` where there is none, `MoveNotStarted` where it has not begun yet: [release](ModeMachine::release) it.
    pub fn end(&mut self, machine: &ModeMachine) -> Result<(), Reason> {
        let guided = self.guided.as_mut().ok_or(Reason::NotCommanding)?;
        if !machine.executes_move() {
            return Err(Reason::MoveNotStarted);
        }
        guided.ends = true;
        Ok(())
    }

    /// Takes a state, after the machine has: what ends commanding, for [`ModeMachine::fault`].
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

    /// Takes the time: likewise.
    #[must_use]
    pub fn tick(&self, now: Instant) -> Option<Reason> {
        self.guided.as_ref()?.lapsed(now)
    }

    /// When [`tick`](Self::tick) is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let guided = self.guided.as_ref()?;
        Some(guided.renewed + guided.limits.renew_within + Duration::from_micros(1))
    }

    /// Whether a hand or a force moves the arm, or is about to.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.guided.is_some()
    }

    /// The motion whose end was asked for and is not known yet: `Cancel` is sent where `Keep` would be.
    #[must_use]
    pub fn ending(&self) -> Option<MoveNumber> {
        self.guided.filter(|guided| guided.ends).map(|guided| guided.number)
    }

    /// Commanding is over, or another motion was asked for.
    pub const fn clear(&mut self) {
        self.guided = None;
    }

    /// It is over where its end is shown, and where something else is commanded, or nothing.
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
        // What is no number is within nothing.
        let within = norm(speed.linear) <= tool_speed
            && state.velocities.max_abs() <= joint_speed
            && norm(subtract(pose.position, self.from)) <= deviation;
        (!within).then_some(Reason::GuideLimit)
    }
}
