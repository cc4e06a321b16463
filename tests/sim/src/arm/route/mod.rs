//! Consecutive moves that have an end: each along its path, by its speed profile. Two moves that blend overlap in
//! time: the remaining displacement of the first and the displacement of the second are added.

mod profile;
mod way;

use std::collections::VecDeque;

use profile::Profile;
pub use way::ArcTurn;
use way::Way;

use crate::kinematics::{Chain, Frame, Pose6, norm, sub};
use crate::model::ACCELERATION_LIMIT;

/// The speed or the duration of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Speed and acceleration: of the leading axis \[rad/s, rad/s²\], or of the tool \[m/s, m/s²\]; for a tool that
    /// only turns \[rad/s, rad/s²\] (assumed).
    Speed {
        /// Highest speed.
        speed: f64,
        /// Acceleration and deceleration.
        acceleration: f64,
    },
    /// The duration \[s\].
    Time(f64),
}

/// The goal of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Joint positions \[rad\]; all joints move in proportion.
    Joints([f64; 6]),
    /// A pose of the tool \[m, rad\], on a straight line.
    Line(Pose6),
    /// A pose on a circle through a point \[m\].
    Arc {
        /// The pose on the way; only its position counts.
        via: Pose6,
        /// The end pose.
        to: Pose6,
        /// The rotation of the tool on the arc.
        turn: ArcTurn,
    },
}

/// The speed at which an arm that was held elsewhere returns to its path \[rad/s\]. Assumed.
const RETURN: f64 = 0.3;

/// Returns the shortest time \[s\] of a move in which no joint exceeds its acceleration, if the speed rises over a
/// third of it.
fn shortest(from: &[f64; 6], to: &[f64; 6]) -> f64 {
    let farthest = from.iter().zip(to).map(|(from, to)| (to - from).abs()).fold(0.0, f64::max);
    (4.5 * farthest / ACCELERATION_LIMIT).sqrt()
}

#[derive(Clone, Debug)]
struct Leg {
    way: Way,
    profile: Profile,
    /// The time since this leg began \[s\].
    time: f64,
    /// Joints at the beginning of the leg and at its end.
    from: [f64; 6],
    to: [f64; 6],
    /// Joints at present.
    now: [f64; 6],
}

impl Leg {
    fn is_over(&self) -> bool {
        self.time >= self.profile.duration()
    }
}

/// The moves in progress.
#[derive(Clone, Debug, Default)]
pub struct Route {
    legs: VecDeque<Leg>,
    /// The end of the last move: joints at which the next one begins.
    end: [f64; 6],
    /// The distance from the path to the position at which the arm was held \[rad\]; it decays to zero.
    aside: [f64; 6],
    /// `true` if the arm cannot reach the end of the last move, which is then not begun.
    unreachable: bool,
}

impl Route {
    /// Returns a route that begins at the joints `q`. Their speed `qd` is braked with `deceleration` \[rad/s²\]
    /// during the first move.
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

    /// Appends a move. If the arm cannot reach its end, the route cannot be followed any further.
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

    /// Returns the joints after `time` \[s\] more. `None` if the arm cannot follow its path.
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

    /// Returns the present position on the path.
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

    /// Continues from `q`, the position at which the arm was held meanwhile.
    pub(super) fn go_on_from(&mut self, q: &[f64; 6]) {
        let place = self.place();
        self.aside = std::array::from_fn(|joint| q[joint] - place[joint]);
    }

    /// Returns whether every move is over.
    pub(super) fn is_over(&self) -> bool {
        !self.unreachable && self.legs.iter().all(Leg::is_over) && self.aside == [0.0; 6]
    }

    /// Returns the joints at the end of the last move \[rad\].
    pub(super) fn end(&self) -> [f64; 6] {
        self.end
    }

    /// Returns whether the last move is past its middle and the tool within `radius` \[m\] of its end, so that the
    /// next one may begin.
    pub(super) fn is_within(&self, radius: f64, chain: &Chain, tcp: &Pose6) -> bool {
        let Some(leg) = self.legs.back() else { return true };
        let place = |q| chain.tool(q, tcp).position;
        leg.is_over()
            || (leg.profile.covered(leg.time) > 0.5 * leg.profile.length()
                && norm(sub(place(&leg.now), place(&leg.to))) <= radius)
    }
}
