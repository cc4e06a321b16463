//! The path of a move: joints in proportion, a straight line of the tool, or an arc.

use crate::kinematics::{Chain, Frame, Pose6, Rotation, Vec3, add, cross, dot, norm, scale, sub};

/// The size below which rotations and distances count as zero \[m, rad\].
const NOTHING: f64 = 1e-9;

/// The path of one move, with its beginning and its end.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// A path on which all joints move in proportion, between joint positions \[rad\].
    Joints { from: [f64; 6], to: [f64; 6] },
    /// A path on which the tool moves along a straight line and turns evenly.
    Line { from: Frame, to: Frame, tcp: Pose6 },
    /// A path on which the tool centre point moves along a circular arc.
    Arc { arc: Arc, from: Frame, to: Frame, turn: ArcTurn, tcp: Pose6 },
}

/// A circular arc in space; it begins at angle 0.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    centre: Vec3,
    normal: Vec3,
    /// The vector from the circle's centre to the beginning of the arc \[m\].
    radius: Vec3,
    /// The angle from the beginning of the arc to its end \[rad\].
    angle: f64,
}

/// The rotation of the tool while it moves on an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcTurn {
    /// The tool turns evenly, from its orientation at the beginning to that at the end.
    Even,
    /// The tool turns with the arc, so that its direction relative to the arc is constant.
    WithArc,
}

impl Arc {
    /// Returns the circular arc from `from` through `via` to `to`. `None` if the three points are on a line.
    fn through(from: Vec3, via: Vec3, to: Vec3) -> Option<Self> {
        let (a, b) = (sub(via, from), sub(to, from));
        let plane = cross(a, b);
        let square = dot(plane, plane);
        if square.sqrt() < NOTHING {
            return None;
        }
        // The vector from `from`, a corner of the triangle, to the centre of the circle.
        let offset = scale(add(scale(cross(plane, a), dot(b, b)), scale(cross(b, plane), dot(a, a))), 0.5 / square);
        let centre = add(from, offset);
        let normal = scale(plane, 1.0 / square.sqrt());
        let radius = sub(from, centre);
        let end = sub(to, centre);
        let angle = dot(cross(radius, end), normal).atan2(dot(radius, end));
        // The points are in their order, so the arc turns about the normal.
        let angle = if angle <= 0.0 { angle + std::f64::consts::TAU } else { angle };
        Some(Self { centre, normal, radius, angle })
    }

    fn at(&self, share: f64) -> Vec3 {
        add(self.centre, Rotation::about(self.normal, self.angle * share).turn(self.radius))
    }
}

/// Returns the orientation at this `share`, 0 … 1, of the shortest rotation from the orientation of `from` to that of
/// `to`.
fn between(from: &Frame, to: &Frame, share: f64) -> Rotation {
    let turn = from.rotation.inverse().after(to.rotation).to_vector();
    from.rotation.after(Rotation::from_vector(scale(turn, share)))
}

impl Way {
    /// Returns the path on a circular arc through three points; a straight line if the points are on one.
    pub(super) fn arc(from: Frame, via: Vec3, to: Frame, turn: ArcTurn, tcp: Pose6) -> Self {
        match Arc::through(from.position, via, to.position) {
            Some(arc) => Self::Arc { arc, from, to, turn, tcp },
            None => Self::Line { from, to, tcp },
        }
    }

    /// Returns the length of the path: \[m\] along a line or an arc, \[rad\] of the joint that travels farthest, or
    /// the rotation \[rad\] of a tool that only turns.
    pub(super) fn length(&self) -> f64 {
        match self {
            Self::Joints { from, to } => from.iter().zip(to).map(|(a, b)| (b - a).abs()).fold(0.0, f64::max),
            Self::Line { from, to, .. } => {
                let distance = norm(sub(to.position, from.position));
                let turn = norm(from.rotation.inverse().after(to.rotation).to_vector());
                if distance > NOTHING { distance } else { turn }
            }
            Self::Arc { arc, .. } => norm(arc.radius) * arc.angle,
        }
    }

    /// Returns the joint positions \[rad\] at this `share`, 0 … 1, of the path; of several solutions the one nearest
    /// to `near`. `None` if the arm cannot reach the pose.
    pub(super) fn joints(&self, share: f64, chain: &Chain, near: &[f64; 6]) -> Option<[f64; 6]> {
        let (frame, tcp) = match self {
            Self::Joints { from, to } => {
                return Some(std::array::from_fn(|joint| from[joint] + (to[joint] - from[joint]) * share));
            }
            Self::Line { from, to, tcp } => {
                let position = add(from.position, scale(sub(to.position, from.position), share));
                (Frame { position, rotation: between(from, to, share) }, tcp)
            }
            Self::Arc { arc, from, to, turn, tcp } => {
                let rotation = match turn {
                    ArcTurn::Even => between(from, to, share),
                    ArcTurn::WithArc => Rotation::about(arc.normal, arc.angle * share).after(from.rotation),
                };
                (Frame { position: arc.at(share), rotation }, tcp)
            }
        };
        chain.inverse(&frame.to_pose(), tcp, near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_passes_its_three_points_in_their_order() {
        for (from, via, to) in [
            ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]),
            ([0.3, 0.1, 0.2], [0.4, 0.3, 0.2], [0.1, 0.2, 0.5]),
            ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ] {
            let arc = Arc::through(from, via, to).unwrap();
            assert!(norm(sub(arc.at(0.0), from)) < 1e-9 && norm(sub(arc.at(1.0), to)) < 1e-9);
            let nearest = (0..1000).map(|n| norm(sub(arc.at(f64::from(n) / 1000.0), via))).fold(1.0, f64::min);
            assert!(nearest < 5e-3, "{nearest}");
        }
        assert!(Arc::through([0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]).is_none());
    }
}
