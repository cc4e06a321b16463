//! The progress of a motion that the controller executes by itself, and its resumption after a stop.
//!
//! | state | time | left when |
//! |---|---|---|
//! | `Waiting` | at zero | the controller has accepted the start of the motion |
//! | `Running` | as reported by the program on the controller | the goal is reached; suspended |
//! | `Suspended` | stays at the last reported value | resumed by an operator near the path, and the start accepted |
//! | `Finished` | at its end | never |
//!
//! The waypoints are not stored here: each call receives all of them, the same ones each time.

use super::resumption::on;
use super::{Leg, Progress, Resumption, Setpoint, Tolerances, Waypoint};
use crate::robot::Reason;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

/// The parameters of the start of a motion, which is requested from the controller before it receives waypoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beginning<const N: usize> {
    /// The joint angles at which the motion starts \[rad\].
    pub from: JointPositions<N>,
    /// An upper bound of all joint speeds from the start to the end of the motion \[rad/s\].
    pub fastest: f32,
}

/// The progress of a motion that the controller executes.
#[derive(Clone, Copy, Debug)]
pub struct Playback<const N: usize> {
    progress: Progress,
    /// The time of the motion that has passed, as the controller reports.
    elapsed: Duration,
    /// The rest of the motion after a suspension, if it is being resumed.
    on: Option<Resumption<N>>,
    /// The index of the next waypoint to send to the controller.
    next: usize,
    /// The highest joint speed of the whole motion as planned \[rad/s\].
    fastest: f32,
}

impl<const N: usize> Playback<N> {
    /// Creates a motion, not yet started, through the waypoints of `plan`. The first of them is at time zero.
    #[must_use]
    pub fn of(plan: &[Waypoint<N>]) -> Self {
        let legs = plan.iter().zip(plan.iter().skip(1)).map(|(from, to)| Leg::between(from, to));
        let fastest = legs.map(|leg| leg.peak_velocities().max_abs()).fold(0.0, f32::max);
        Self { progress: Progress::Waiting, elapsed: Duration::ZERO, on: None, next: 0, fastest }
    }

    /// Returns the progress of the motion that the controller executes.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns the time of the motion that has passed, as last reported by the controller.
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the setpoint on the motion's path at the present time of the motion.
    #[must_use]
    pub fn wanted(&self, plan: &[Waypoint<N>]) -> Setpoint<N> {
        on(plan, self.elapsed)
    }

    /// Returns the start to request from the controller after a request to command was granted, with the arm at rest at
    /// `measured`; `None` if nothing is to start. `goes_on` is `true` if the request was to resume a suspended motion.
    /// Before [`begun`](Self::begun) nothing changes but the stored plan for resuming.
    ///
    /// # Errors
    /// Those of [`Resumption::of`], which receives `tolerances` and `fits`.
    pub fn begins(
        &mut self,
        plan: &[Waypoint<N>],
        goes_on: bool,
        measured: &JointPositions<N>,
        tolerances: &Tolerances<N>,
        fits: impl FnMut(&Leg<N>) -> Result<(), Reason>,
    ) -> Result<Option<Beginning<N>>, Reason> {
        let Some(first) = plan.first() else { return Ok(None) };
        match self.progress {
            Progress::Waiting => Ok(Some(Beginning { from: first.setpoint.positions, fastest: self.fastest })),
            Progress::Suspended if goes_on => {
                let way = Resumption::of(plan, self.elapsed, measured, tolerances, fits)?;
                self.on = Some(way);
                Ok(Some(Beginning { from: *measured, fastest: self.fastest.max(way.fastest(plan)) }))
            }
            Progress::Suspended | Progress::Running | Progress::Finished | Progress::Endless => Ok(None),
        }
    }

    /// Records that the controller has accepted the start of the motion: waypoints are sent from now on.
    pub const fn begun(&mut self) {
        if matches!(self.progress, Progress::Waiting | Progress::Suspended) {
            (self.progress, self.next) = (Progress::Running, 1);
        }
    }

    /// Returns the next waypoint to send to the controller, and whether it is the last; `None` after the last one, and
    /// unless the motion is running.
    #[must_use]
    pub fn next(&self, plan: &[Waypoint<N>]) -> Option<(Waypoint<N>, bool)> {
        if self.progress != Progress::Running {
            return None;
        }
        match &self.on {
            None => Some((*plan.get(self.next)?, self.next.saturating_add(1) == plan.len())),
            Some(way) => Some((way.waypoint(plan, self.next)?, way.is_last(plan, self.next))),
        }
    }

    /// Records that the controller has accepted the waypoint returned by [`next`](Self::next).
    pub const fn taken(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Updates the motion's elapsed time: `passed` is the time since the latest start, as reported by the controller.
    pub fn shows(&mut self, passed: Duration) {
        if self.progress == Progress::Running {
            self.elapsed = self.on.map_or(passed, |way| way.own_time(passed));
        }
    }

    /// Suspends a running motion, because the controller ended it early. The motion remains at the time reported last.
    pub fn suspend(&mut self) {
        if self.progress == Progress::Running {
            self.progress = Progress::Suspended;
        }
    }

    /// Records that a running motion has reached its goal.
    pub fn finish(&mut self) {
        if self.progress == Progress::Running {
            self.progress = Progress::Finished;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    fn plan() -> [Waypoint<1>; 4] {
        let way = |q, v, millis| Waypoint {
            setpoint: Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) },
            accelerations: None,
            at: Duration::from_millis(millis),
        };
        [way(0.0, 0.0, 0), way(0.5, 0.5, 1_500), way(1.0, 0.5, 2_500), way(1.5, 0.0, 4_000)]
    }

    /// An event of a playback in a test.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Deed {
        /// A request to command, which resumes the motion or not, with the arm this far from the path \[rad\].
        Asked(bool, f32),
        Fed,
        Shown(u64),
        Stopped,
        Ended,
    }

    const DEEDS: [Deed; 8] = [
        Deed::Asked(false, 0.0),
        Deed::Asked(true, 0.05),
        Deed::Asked(true, -0.3),
        Deed::Fed,
        Deed::Shown(700),
        Deed::Shown(9_000),
        Deed::Stopped,
        Deed::Ended,
    ];

    /// Applies the event to the playback and asserts the invariants.
    fn step(playback: &mut Playback<1>, deed: Deed, what: &[Deed]) {
        let (plan, before) = (plan(), *playback);
        match deed {
            Deed::Asked(goes_on, off) => {
                let stands = before.wanted(&plan).positions.map(|q| q + off);
                let asked = playback.begins(&plan, goes_on, &stands, &Tolerances::DEFAULT, |_| Ok(()));
                match (before.progress, goes_on, off > -0.2) {
                    (Progress::Waiting, ..) => assert!(matches!(asked, Ok(Some(_))), "{what:?}"),
                    (Progress::Suspended, true, true) => {
                        assert!(asked.unwrap().is_some_and(|begin| begin.from == stands), "{what:?}");
                    }
                    (Progress::Suspended, true, false) => assert_eq!(asked, Err(Reason::PathTolerance), "{what:?}"),
                    _ => assert_eq!(asked, Ok(None), "{what:?}"),
                }
                assert_eq!((playback.progress, playback.elapsed), (before.progress, before.elapsed), "{what:?}");
                if let Ok(Some(_)) = asked {
                    playback.begun();
                    assert_eq!((playback.progress, playback.elapsed), (Progress::Running, before.elapsed), "{what:?}");
                }
            }
            Deed::Fed => {
                let next = playback.next(&plan);
                assert!(next.is_none() || before.progress == Progress::Running, "{what:?}");
                if next.is_some() {
                    playback.taken();
                }
            }
            Deed::Shown(millis) => {
                playback.shows(Duration::from_millis(millis));
                let stands = before.progress != Progress::Running;
                assert!(!stands || playback.elapsed == before.elapsed, "{what:?}");
                // A resumed motion never reports less than the time at which it was resumed.
                let least = before.on.map_or(Duration::ZERO, |way| way.own_time(Duration::ZERO));
                assert!(stands || playback.elapsed >= least, "{what:?}");
            }
            Deed::Stopped => playback.suspend(),
            Deed::Ended => playback.finish(),
        }
        if before.progress == Progress::Suspended && playback.progress != Progress::Suspended {
            assert!(matches!(deed, Deed::Asked(true, off) if off > -0.2), "{what:?}: not by word");
        }
        assert!(before.progress != Progress::Finished || playback.progress == Progress::Finished, "{what:?}");
    }

    #[test]
    fn over_all_short_histories_a_suspended_motion_goes_on_by_word_alone_from_near_its_path() {
        let mut histories = 0;
        let mut stack = vec![(Playback::of(&plan()), vec![])];
        while let Some((playback, what)) = stack.pop() {
            histories += 1;
            if what.len() == 6 {
                continue;
            }
            for deed in DEEDS {
                let (mut playback, mut what) = (playback, what.clone());
                what.push(deed);
                step(&mut playback, deed, &what);
                stack.push((playback, what));
            }
        }
        assert!(histories > 200_000, "{histories}");
    }

    #[test]
    fn it_gives_away_each_of_its_waypoints_once_and_again_what_is_left_of_them_after_a_stop() {
        let plan = plan();
        let mut playback = Playback::of(&plan);
        let begin = |playback: &mut Playback<1>, goes_on, at: f32| {
            let asked = playback.begins(&plan, goes_on, &JointPositions([at]), &Tolerances::DEFAULT, |_| Ok(()));
            playback.begun();
            asked.unwrap().unwrap()
        };
        let feed = |playback: &mut Playback<1>| {
            let mut given = vec![];
            while let Some((waypoint, last)) = playback.next(&plan) {
                given.push((waypoint, last));
                playback.taken();
            }
            given
        };
        assert_eq!(begin(&mut playback, false, 0.0).from, JointPositions([0.0]));
        let given = feed(&mut playback);
        assert_eq!(given.iter().map(|(way, _)| *way).collect::<Vec<_>>(), plan[1..]);
        assert_eq!(given.iter().map(|(_, last)| *last).collect::<Vec<_>>(), [false, false, true]);
        playback.shows(Duration::from_millis(2_000));
        playback.suspend();
        let left = playback.wanted(&plan).positions.0[0];
        assert!(begin(&mut playback, true, left - 0.02).fastest >= 0.5);
        let given = feed(&mut playback);
        assert_eq!(given.last().map(|(way, last)| (way.setpoint, *last)), Some((plan[3].setpoint, true)));
        assert_eq!(given.iter().filter(|(_, last)| *last).count(), 1);
        // The lead-in covers 0.4 s of the motion in 0.6 s.
        assert_eq!(given.last().map(|(way, _)| way.at), Some(Duration::from_millis(2_200)));
        playback.shows(Duration::from_millis(2_200));
        playback.finish();
        assert_eq!((playback.progress(), playback.elapsed()), (Progress::Finished, Duration::from_secs(4)));
    }
}
