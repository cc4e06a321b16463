//! The legs of a move along waypoints: those that the program on the controller has, and those that it gets next.

use heapless::Deque;

use super::order_units::micro;
use crate::law::FeedError;
use crate::trajectory::{Leg, Setpoint, TrajectoryError, Waypoint};
#[cfg(feature = "motions")]
use outrigger_wire::math::bounded;
use outrigger_wire::player_messages::PlayerOrderRepr;
use outrigger_wire::program_messages::What;
use outrigger_wire::robot::{JointAccelerations, JointPositions};
use outrigger_wire::time::Duration;

/// The number of waypoints that are kept: those of the present leg, of the legs that wait in the program, and of the
/// next ones.
const KEPT: usize = 12;
/// The highest number of legs that wait in the program on the controller.
const WAITING: usize = 3;
/// The highest number of orders with legs that the program has not answered.
const UNANSWERED: usize = 8;

/// The waypoints of one move, in the order of their times.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SegmentQueue {
    /// The waypoints that are kept; the first is the beginning of the present leg.
    ways: Deque<Waypoint<6>, KEPT>,
    /// The number of waypoints in `ways` that were sent to the program.
    sent: u8,
    /// `true` if the last waypoint in `ways` is the end of the move.
    whole: bool,
    /// The number of all waypoints of the move that were added so far.
    count: u32,
    /// The counters of the orders with legs that are not answered, oldest first.
    unanswered: Deque<u16, UNANSWERED>,
}

impl SegmentQueue {
    /// Starts a move along waypoints, from the joint angles `positions`.
    pub(super) fn begin(&mut self, positions: JointPositions<6>) {
        *self = Self { sent: 1, count: 1, ..Self::default() };
        let setpoint = Setpoint { positions, ..Setpoint::default() };
        // There is room for it.
        let _ = self.ways.push_back(Waypoint { setpoint, accelerations: None, at: Duration::ZERO });
    }

    pub(super) fn room(&self) -> usize {
        if self.whole || self.ways.is_empty() { 0 } else { KEPT.saturating_sub(self.ways.len()) }
    }

    /// Returns the leg from the last waypoint to this one, if there is room for it, and it is finite, later, and of a
    /// time that an order can contain. The `last` waypoint of a move must be at rest.
    pub(super) fn to(&self, to: &Waypoint<6>, last: bool) -> Result<Leg<6>, FeedError> {
        let wrong = |error: TrajectoryError| Err(FeedError::Waypoint(error));
        let Some(from) = self.ways.back() else { return Err(FeedError::NoMotion) };
        if self.whole {
            wrong(TrajectoryError::Complete)
        } else if self.ways.is_full() {
            wrong(TrajectoryError::TooMany)
        } else if !to.is_finite() {
            wrong(TrajectoryError::NotFinite(self.count))
        } else if from.at >= to.at || i32::try_from(to.at.as_micros()).is_err() {
            wrong(TrajectoryError::Order(self.count))
        } else {
            let to = if last { to.at_rest(self.count).map_err(FeedError::Waypoint)? } else { *to };
            Ok(Leg::between(from, &to))
        }
    }

    /// Appends a waypoint to the move, which [`to`](Self::to) has accepted.
    pub(super) fn put(&mut self, to: &Waypoint<6>, last: bool) {
        let to = if last { to.at_rest(self.count).unwrap_or(*to) } else { *to };
        self.whole = self.ways.push_back(to).is_ok() && last;
        self.count = self.count.saturating_add(1);
    }

    /// Returns the order that sends the next leg; `None` unless the program has room in addition to the legs that wait
    /// there.
    pub(super) fn next(&self, waiting: u16) -> Option<PlayerOrderRepr> {
        if usize::from(waiting).saturating_add(self.unanswered.len()) >= WAITING || self.unanswered.is_full() {
            return None;
        }
        let (from, to, last) = self.next_leg()?;
        let (begin, stop) = accelerations(from, to);
        Some(PlayerOrderRepr {
            what: if last { What::LastLeg } else { What::Leg },
            time: u32::try_from((to.at - from.at).as_micros()).unwrap_or(u32::MAX),
            positions: to.setpoint.positions.0.map(micro),
            velocities: to.setpoint.velocities.0.map(micro),
            accelerations: stop.0.map(micro),
            begin: begin.0.map(micro),
            ..PlayerOrderRepr::keep(0)
        })
    }

    /// Returns the waypoints at both ends of the next leg, and whether the leg is the last; `None` if its end is not
    /// known yet.
    pub(super) fn next_leg(&self) -> Option<(&Waypoint<6>, &Waypoint<6>, bool)> {
        let at = usize::from(self.sent);
        let (from, to) = (self.ways.iter().nth(at.checked_sub(1)?)?, self.ways.iter().nth(at)?);
        Some((from, to, self.whole && at.saturating_add(1) == self.ways.len()))
    }

    /// Records that the next leg of the move along waypoints was sent to the program.
    pub(super) const fn went(&mut self) {
        self.sent = self.sent.saturating_add(1);
    }

    /// Records that the next leg was sent by the order with this counter.
    pub(super) fn sent(&mut self, counter: u16) {
        self.went();
        let _ = self.unanswered.push_back(counter);
    }

    /// Records that the program has taken the orders with legs up to the one with this counter.
    pub(super) fn answered(&mut self, counter: u16) {
        let taken = |sent: &u16| counter.wrapping_sub(*sent) < 0x8000;
        while self.unanswered.front().is_some_and(taken) {
            self.unanswered.pop_front();
        }
    }

    /// Takes the program's progress in the move's own time \[µs\], and forgets the waypoints before it.
    pub(super) fn passed(&mut self, progress: u64) {
        while self.sent > 1
            && self.ways.len() > 2
            && self.ways.iter().nth(1).is_some_and(|to| to.at.as_micros() <= progress)
        {
            self.ways.pop_front();
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Returns the time at which the move ends, in its own time; `None` while its last waypoint is not known.
    #[cfg(feature = "motions")]
    pub(super) fn whole(&self) -> Option<Duration> {
        self.ways.back().filter(|_| self.whole).map(|end| end.at)
    }

    /// Returns each joint's distance from the range of its planned positions, from `late` before this time of the move
    /// to `late` after it \[rad\]; `None` if the move has no waypoints.
    #[cfg(feature = "motions")]
    pub(super) fn off(
        &self,
        progress: u64,
        late: Duration,
        positions: &JointPositions<6>,
    ) -> Option<JointPositions<6>> {
        let late = late.as_micros();
        let now = self.planned(progress)?;
        let (before, after) =
            (self.planned(progress.saturating_sub(late))?, self.planned(progress.saturating_add(late))?);
        let mut off = *positions;
        let planned = now.iter().zip(before.iter().zip(after.iter()));
        for (q, (now, (before, after))) in off.0.iter_mut().zip(planned) {
            let nearest = bounded(*q, now.min(before).min(after), now.max(before).max(after));
            *q -= nearest;
        }
        Some(off)
    }

    /// Returns the planned joint positions at the time `progress` of the move \[µs\]; `None` if the move has no
    /// waypoints.
    pub(super) fn planned(&self, progress: u64) -> Option<JointPositions<6>> {
        let mut ways = self.ways.iter();
        let mut from = ways.next()?;
        for to in ways {
            if progress <= to.at.as_micros() {
                let passed = Duration::from_micros(progress.saturating_sub(from.at.as_micros()));
                return Some(Leg::setpoint(from, to, passed.as_secs_f32()).positions);
            }
            from = to;
        }
        Some(from.setpoint.positions)
    }
}

#[cfg(feature = "urcap")]
impl SegmentQueue {
    /// Makes the following legs quintic for as long as every waypoint has accelerations, starting from rest.
    pub(super) fn begin_with_accelerations(&mut self) {
        #[cfg(feature = "trajectories")]
        if let Some(begin) = self.ways.back_mut() {
            begin.accelerations = Some(JointAccelerations::ZERO);
        }
    }

    /// Returns the waypoint without its accelerations, unless the leg before it has some: the program takes
    /// accelerations only after a quintic leg.
    pub(super) fn in_its_line(&self, to: &Waypoint<6>) -> Waypoint<6> {
        let follows = self.ways.back().is_some_and(|from| from.accelerations.is_some());
        Waypoint { accelerations: to.accelerations.filter(|_| follows), ..*to }
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns `true` if the move's last leg was sent to the program.
    pub(super) fn is_all_sent(&self) -> bool {
        self.whole && usize::from(self.sent) == self.ways.len()
    }

    /// Returns the time of the last known waypoint, in the move's own time \[µs\].
    pub(super) fn end(&self) -> u64 {
        self.ways.back().map_or(0, |last| last.at.as_micros())
    }
}

/// Returns the accelerations at both ends of a leg; for a cubic leg, those of the quintic that is equal to it.
fn accelerations(from: &Waypoint<6>, to: &Waypoint<6>) -> (JointAccelerations<6>, JointAccelerations<6>) {
    #[cfg(feature = "trajectories")]
    if let (Some(begin), Some(stop)) = (from.accelerations, to.accelerations) {
        return (begin, stop);
    }
    let seconds = (to.at - from.at).as_secs_f32();
    let (mut begin, mut stop) = (JointAccelerations::ZERO, JointAccelerations::ZERO);
    let ends = begin.0.iter_mut().zip(&mut stop.0);
    let way = from.setpoint.positions.iter().zip(to.setpoint.positions.iter());
    let speeds = from.setpoint.velocities.iter().zip(to.setpoint.velocities.iter());
    for ((begin, stop), ((p0, p1), (v0, v1))) in ends.zip(way.zip(speeds)) {
        let slope = (p1 - p0) / seconds;
        *begin = (6.0 * slope - 4.0 * v0 - 2.0 * v1) / seconds;
        *stop = (2.0 * v0 + 4.0 * v1 - 6.0 * slope) / seconds;
    }
    (begin, stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    #[test]
    fn the_last_leg_ends_at_rest_where_its_speed_is_below_the_bound_and_is_refused_above() {
        let end = |speed| {
            let mut velocities = JointVelocities::ZERO;
            velocities.0[4] = speed;
            let setpoint = Setpoint { positions: JointPositions([0.1; 6]), velocities };
            Waypoint { setpoint, accelerations: None, at: Duration::from_secs(1) }
        };
        let mut legs = SegmentQueue::default();
        legs.begin(JointPositions::ZERO);
        let refused = legs.to(&end(0.1), true).unwrap_err();
        assert_eq!(refused, FeedError::Waypoint(TrajectoryError::NotAtRest { waypoint: 1, joint: 4 }));
        assert!(legs.to(&end(0.1), false).is_ok(), "it is passed");
        assert!(legs.to(&end(-1e-4), true).unwrap().at(1.0).velocities.max_abs() < 1e-6);
        legs.put(&end(-1e-4), true);
        let order = legs.next(0).unwrap();
        assert!(order.what == What::LastLeg && order.velocities == [micro(0.0); 6], "{order:?}");
    }
}
