//! Consecutive moves that have an end: each along its path, by its speed profile. Two moves that blend overlap in
//! time: the remaining displacement of the first and the displacement of the second are added.

mod move_path;
mod profile;

use std::collections::VecDeque;

pub use move_path::ArcTurn;
use move_path::Way;
use profile::Profile;

use crate::kinematics::{Chain, Frame, Pose6, norm, sub};
use crate::model::ACCELERATION_LIMIT;

/// The speed or the duration of a move, as the program gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Speed and acceleration of a move: of the leading axis, the joint that travels farthest \[rad/s, rad/s²\], or
    /// of the tool \[m/s, m/s²\]; for a tool that only turns \[rad/s, rad/s²\] (assumed).
    Speed {
        /// Highest speed of the move along its path.
        speed: f64,
        /// Acceleration and deceleration of the move along its path.
        acceleration: f64,
    },
    /// The duration of the move \[s\].
    Time(f64),
}

/// The target of a move, and the form of the path to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Joint positions at the end of the move \[rad\]; all joints move in proportion.
    Joints([f64; 6]),
    /// A pose of the tool \[m, rad\], reached on a straight line.
    Line(Pose6),
    /// A pose of the tool \[m, rad\], reached on a circular arc through another pose.
    Arc {
        /// The pose through which the arc passes; only its position counts.
        via: Pose6,
        /// The pose at which the arc ends.
        to: Pose6,
        /// The rotation of the tool on the arc.
        turn: ArcTurn,
    },
}

/// The speed of the joints at which an arm that was moved aside while a pause held it on its path returns to the path
/// \[rad/s\]. Assumed.
const RETURN: f64 = 0.3;

/// Returns the shortest duration \[s\] of a move between the joint positions `from` and `to` in which no joint
/// exceeds its acceleration, if the speed rises over a third of the duration.
fn shortest(from: &[f64; 6], to: &[f64; 6]) -> f64 {
    let farthest = from.iter().zip(to).map(|(from, to)| (to - from).abs()).fold(0.0, f64::max);
    (4.5 * farthest / ACCELERATION_LIMIT).sqrt()
}

#[derive(Clone, Debug)]
struct Leg {
    way: Way,
    profile: Profile,
    /// The time since this move began \[s\].
    time: f64,
    /// Joint positions at the beginning of this move and at its end \[rad\].
    from: [f64; 6],
    to: [f64; 6],
    /// Present joint positions of this move \[rad\].
    now: [f64; 6],
}

impl Leg {
    fn is_over(&self) -> bool {
        self.time >= self.profile.duration()
    }
}

/// Consecutive moves of the arm that are in progress; moves that blend overlap in time.
#[derive(Clone, Debug, Default)]
pub struct Route {
    legs: VecDeque<Leg>,
    /// The joint positions at the end of the last move \[rad\], where the next one begins.
    end: [f64; 6],
    /// The difference between the path and the position at which a pause held the arm \[rad per joint\]; it decays to
    /// zero when the arm continues.
    aside: [f64; 6],
    /// `true` if the arm cannot reach the end of the last move, which is then not begun.
    unreachable: bool,
}

impl Route {
    /// Returns a route that begins at the joint positions `q` \[rad\]. Their speed `qd` \[rad/s\] is braked with
    /// `deceleration` \[rad/s²\] during the first move.
    pub(super) fn new(q: [f64; 6], qd: [f64; 6], deceleration: f64) -> Self {
        let mut route = Self { legs: VecDeque::new(), end: q, aside: [0.0; 6], unreachable: false };
        let speed = qd.iter().fold(0.0, |fastest: f64, v| fastest.max(v.abs()));
        if speed > 1e-9 {
            let profile = Profile::braking(speed, deceleration);
            let to = std::array::from_fn(|joint| q[joint] + qd[joint] / speed * profile.length());
            route.push(Way::Joints { from: q, to }, profile, to);
        }
        route
    }

    fn push(&mut self, way: Way, profile: Profile, to: [f64; 6]) {
        let from = self.end;
        self.legs.push_back(Leg { way, profile, time: 0.0, from, to, now: from });
        self.end = to;
    }

    /// Appends a move to the route. If the arm cannot reach the end of the move, it cannot follow the route any
    /// further.
    pub(super) fn append(&mut self, goal: Goal, pace: Pace, chain: &Chain, tcp: &Pose6) {
        let from = chain.tool(&self.end, tcp);
        let way = match goal {
            Goal::Joints(to) => Way::Joints { from: self.end, to },
            Goal::Line(to) => Way::Line { from, to: Frame::from_pose(&to), tcp: *tcp },
            Goal::Arc { via, to, turn } => Way::arc(from, [via[0], via[1], via[2]], Frame::from_pose(&to), turn, *tcp),
        };
        let Some(to) = way.joints(1.0, chain, &self.end) else {
            self.unreachable = true;
            return;
        };
        let length = way.length();
        let profile = match pace {
            Pace::Speed { speed, acceleration } => Profile::of_speed(length, speed, acceleration),
            Pace::Time(time) => Profile::of_time(length, time.max(shortest(&self.end, &to))),
        };
        self.push(way, profile, to);
    }

    /// Returns the joint positions of the route \[rad\] after `time` \[s\] more. `None` if the arm cannot follow its
    /// path.
    pub(super) fn advance(&mut self, time: f64, dt: f64, chain: &Chain) -> Option<[f64; 6]> {
        if self.unreachable {
            return None;
        }
        for leg in &mut self.legs {
            leg.time += time;
            let length = leg.profile.length();
            let share = if length > 0.0 { leg.profile.covered(leg.time) / length } else { 1.0 };
            leg.now = if leg.is_over() { leg.to } else { leg.way.joints(share, chain, &leg.now)? };
        }
        while self.legs.len() > 1 && self.legs.front().is_some_and(Leg::is_over) {
            self.legs.pop_front();
        }
        for aside in &mut self.aside {
            *aside -= aside.clamp(-RETURN * dt, RETURN * dt);
        }
        let place = self.place();
        Some(std::array::from_fn(|joint| place[joint] + self.aside[joint]))
    }

    /// Returns the present joint positions on the path of the route \[rad\]: the moves that overlap are added.
    fn place(&self) -> [f64; 6] {
        let mut legs = self.legs.iter();
        let mut place = legs.next().map_or(self.end, |leg| leg.now);
        for leg in legs {
            for (joint, place) in place.iter_mut().enumerate() {
                *place += leg.now[joint] - leg.from[joint];
            }
        }
        place
    }

    /// Continues the route from the joint positions `q` \[rad\], at which a pause has held the arm.
    pub(super) fn go_on_from(&mut self, q: &[f64; 6]) {
        let place = self.place();
        self.aside = std::array::from_fn(|joint| q[joint] - place[joint]);
    }

    /// Returns whether every move of the arm's route has ended and the arm is on its path. `false` if the end of a move
    /// is out of reach.
    pub(super) fn is_over(&self) -> bool {
        !self.unreachable && self.legs.iter().all(Leg::is_over) && self.aside == [0.0; 6]
    }

    /// Returns the joint positions at the end of the route's last move \[rad\].
    pub(super) fn end(&self) -> [f64; 6] {
        self.end
    }

    /// Returns whether the last move is past its middle and the tool within `radius` \[m\] of its end, so that the
    /// following move can begin.
    pub(super) fn is_within(&self, radius: f64, chain: &Chain, tcp: &Pose6) -> bool {
        let Some(leg) = self.legs.back() else { return true };
        let place = |q| chain.tool(q, tcp).position;
        leg.is_over()
            || (leg.profile.covered(leg.time) > 0.5 * leg.profile.length()
                && norm(sub(place(&leg.now), place(&leg.to))) <= radius)
    }
}
