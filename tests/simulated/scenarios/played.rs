//! The part of a port's work that passes a motion, which the controller executes by itself, to the engine; in virtual
//! time.

use std::time::Duration;

use outrigger_core::command::JointMove;
use outrigger_core::law::survey;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Beginning, Leg, Playback, Progress, Tolerances, Watch, Waypoint};
use outrigger_tests::cosim::Rig;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time as core;

use super::motions::{Point, waypoint};

/// A motion that is passed to the controller in parts (legs), one after the other.
pub(crate) struct Played {
    pub(crate) plan: Vec<Waypoint<6>>,
    pub(crate) playback: Playback<6>,
    pub(crate) tolerances: Tolerances<6>,
    number: Option<MoveNumber>,
    /// The reason for which the last attempt to begin or to resume failed; `None` if it succeeded.
    pub(crate) refused: Option<Reason>,
}

impl Played {
    /// Creates a motion through `points`, from the position of the arm.
    pub(crate) fn from_here(rig: &Rig<'_>, points: &[Point], tolerances: Tolerances<6>) -> Self {
        let here = JointPositions(rig.controller.truth().q.map(|q| q as f32));
        let at = |point: &Point| {
            let mut way = waypoint(*point);
            way.setpoint.positions = way.setpoint.positions.zip_with(here.as_array(), |q, h| q + h);
            way
        };
        let plan: Vec<_> = points.iter().map(at).collect();
        Self { playback: Playback::of(&plan), plan, tolerances, number: None, refused: None }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.playback.progress()
    }

    pub(crate) fn elapsed(&self) -> core::Duration {
        self.playback.elapsed()
    }

    fn begin(&mut self, rig: &mut Rig<'_>) -> Result<(), Reason> {
        let Some(state) = rig.engine().state().copied() else { return Ok(()) };
        let limits = rig.engine().config().limits;
        let fits = |leg: &Leg<6>| survey(leg, &limits, Some(&JointPositions::ZERO)).map_err(|_| Reason::Internal);
        let goes_on = rig.engine().goes_on();
        let asked = self.playback.begins(&self.plan, goes_on, &state.positions, &self.tolerances, fits)?;
        let Some(Beginning { from, fastest }) = asked else { return Ok(()) };
        match rig.delegate(JointMove::along(from, fastest).expect("a move")) {
            Err(Reason::NotAtRest | Reason::EvidenceMissing | Reason::HeldByScaling | Reason::ProgramPaused) => Ok(()),
            Err(reason) => Err(reason),
            Ok(number) => {
                self.number = Some(number);
                self.playback.begun();
                let tolerances = self.tolerances;
                rig.ask(|engine, _| engine.hold_to(tolerances)).expect("a move that leads on");
                Ok(())
            }
        }
    }

    /// Passes those parts of the motion (legs) to the engine for which it has room, and executes other work that is due
    /// now.
    pub(crate) fn tend(&mut self, rig: &mut Rig<'_>) {
        if !rig.is_awake() {
            return;
        }
        if rig.engine().mode() != Mode::Command {
            self.playback.suspend();
            self.number = None;
        } else if self.number.is_none() {
            self.refused = self.begin(rig).err();
        }
        while self.number.is_some()
            && rig.engine().leg_room() > 0
            && let Some((waypoint, last)) = self.playback.next(&self.plan)
        {
            rig.lead_on(&waypoint, last).unwrap_or_else(|error| panic!("{waypoint:?}: {error}"));
            self.playback.taken();
        }
        let evidence = rig.engine().evidence();
        let shown = evidence.mirrored.map(|held| held.value);
        let ours = |number| shown == Some(Mirrored::Running(number)) || shown == Some(Mirrored::Ended(number));
        if let (Some(number), Some(led)) = (self.number, rig.engine().led())
            && ours(number)
        {
            self.playback.shows(led);
            let over = shown == Some(Mirrored::Ended(number)) && evidence.at_rest.is_some_and(|rest| rest.value);
            if over && rig.engine().tolerated().is_some_and(Watch::has_arrived) {
                self.playback.finish();
            }
        }
    }

    /// Runs for at most `span`, until `done` returns `true`, and passes the motion's legs to the engine meanwhile.
    pub(crate) fn run_until(
        &mut self,
        rig: &mut Rig<'_>,
        span: Duration,
        mut done: impl FnMut(&Self, &Rig<'_>) -> bool,
    ) -> bool {
        let end = rig.now() + span;
        while rig.now() < end {
            if done(self, rig) {
                return true;
            }
            rig.run_for(rig.controller.period().min(end.since(rig.now())));
            self.tend(rig);
        }
        done(self, rig)
    }

    pub(crate) fn run_for(&mut self, rig: &mut Rig<'_>, span: Duration) {
        self.run_until(rig, span, |_, _| false);
    }
}
