//! Moves with an end, one after the other: each along its way, by its profile. Two that blend overlap in time: what the one
//! still moves and what the next already moves are added.

mod profile;
mod way;

use std::collections::VecDeque;

use profile::Profile;
pub use way::ArcTurn;
use way::Way;

use crate::kinematics::{Chain, Frame, Pose6, norm, sub};
use crate::model::ACCELERATION_LIMIT;

/// How fast a move is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Speed and acceleration: of the leading axis \[rad/s, rad/s²\], of the tool \[m/s, m/s²\]; of a tool that only turns
    /// \[rad/s, rad/s²\] (assumed).
    Speed {
        /// Highest speed.
        speed: f64,
        /// Acceleration and deceleration.
        acceleration: f64,
    },
    /// Over in this time \[s\].
    Time(f64),
}

/// Where a move goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// To these joints \[rad\], all in proportion.
    Joints([f64; 6]),
    /// To this pose of the tool \[m, rad\], on a straight line.
    Line(Pose6),
    /// To this pose on a circle through a point \[m\].
    Arc {
        /// The pose on the way, of which only the position counts.
        via: Pose6,
        /// Where it ends.
        to: Pose6,
        /// How the tool turns.
        turn: ArcTurn,
    },
}

/// How fast an arm that was held elsewhere comes back to its way \[rad/s\]. Assumed.
const RETURN: f64 = 0.3;

/// The shortest time \[s\] of a move in which no joint exceeds its acceleration while the speed rises over a third of it.
fn shortest(from: &[f64; 6], to: &[f64; 6]) -> f64 {
    let farthest = from.iter().zip(to).map(|(from, to)| (to - from).abs()).fold(0.0, f64::max);
    (4.5 * farthest / ACCELERATION_LIMIT).sqrt()
}

#[derive(Clone, Debug)]
struct Leg {
    way: Way,
    profile: Profile,
    /// Time on it \[s\].
    time: f64,
    /// Joints at its beginning and at its end.
    from: [f64; 6],
    to: [f64; 6],
    /// Where it is now.
    now: [f64; 6],
}

impl Leg {
    fn is_over(&self) -> bool {
        self.time >= self.profile.duration()
    }
}

/// Moves that are under way.
#[derive(Clone, Debug, Default)]
pub struct Route {
    legs: VecDeque<Leg>,
    /// Where the moves end: joints, which the next one begins at.
    end: [f64; 6],
    /// From the way to where the arm is held \[rad\]; it goes back to zero.
    aside: [f64; 6],
    /// The arm cannot reach the end of the last move, which is not begun.
    unreachable: bool,
}

impl Route {
    /// Begins where the joints are; what speed they have is braked with `deceleration` \[rad/s²\] beside the first move.
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

    /// Appends a move. Where the arm cannot reach its end, the route cannot be followed any further.
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

    /// Joints after `time` \[s\] more; none where the arm cannot follow its way.
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

    /// Where the way is now.
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

    /// The arm was held elsewhere meanwhile, at `q`: it goes on from there.
    pub(super) fn go_on_from(&mut self, q: &[f64; 6]) {
        let place = self.place();
        self.aside = std::array::from_fn(|joint| q[joint] - place[joint]);
    }

    /// Whether every move is over.
    pub(super) fn is_over(&self) -> bool {
        !self.unreachable && self.legs.iter().all(Leg::is_over) && self.aside == [0.0; 6]
    }

    /// Joints the last move ends at \[rad\].
    pub(super) fn end(&self) -> [f64; 6] {
        self.end
    }

    /// Whether the tool is so near \[m\] to where the last move ends that the next one may begin, and past its middle.
    pub(super) fn is_within(&self, radius: f64, chain: &Chain, tcp: &Pose6) -> bool {
        let Some(leg) = self.legs.back() else { return true };
        let place = |q| chain.tool(q, tcp).position;
        leg.is_over()
            || (leg.profile.covered(leg.time) > 0.5 * leg.profile.length()
                && norm(sub(place(&leg.now), place(&leg.to))) <= radius)
    }
}
