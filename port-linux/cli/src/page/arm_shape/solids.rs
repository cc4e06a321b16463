//! The bodies of an arm's links as surfaces of revolution.
//!
//! Positions follow from the kinematics. Thicknesses are not measured from any arm: they are multiples of one radius,
//! which was chosen to resemble the arms.

use outrigger_wire::math::{Vector3, add, bounded, norm, scale, subtract};
use outrigger_wire::robot::RobotModel as Model;
use serde::Serialize;

use super::{Skeleton, rounded};
use outrigger::json::Number;

/// The thickness of a UR's wrist in relation to the distance between the axes of its last two joints.
const WRIST: f32 = 0.38;

/// A surface of revolution as a JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Solid {
    /// The number of joints that turn the body: 0 for the base.
    joints: usize,
    tint: Tint,
    origin: [Number<f32>; 3],
    axis: [Number<f32>; 3],
    /// The distances along the axis and the radii there \[m\].
    profile: Vec<[Number<f32>; 2]>,
}

/// The kind of a body, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tint {
    Body,
    Cap,
    /// A gap between two parts of a joint.
    Gap,
    Metal,
    Tool,
}

/// An end of a cylinder: its distance along the axis, and whether it is closed.
#[derive(Clone, Copy, Debug)]
struct End {
    at: f32,
    closed: bool,
}

const fn open(at: f32) -> End {
    End { at, closed: false }
}

const fn closed(at: f32) -> End {
    End { at, closed: true }
}

/// The bodies of one arm, while they are collected.
#[derive(Debug, Default)]
struct Solids(Vec<Solid>);

impl Solids {
    fn add(&mut self, joints: usize, tint: Tint, (origin, axis): (Vector3, Vector3), profile: &[[f32; 2]]) {
        let number = |value: f32| Number((value * 1e5).round() / 1e5);
        let profile = profile.iter().map(|point| point.map(number)).collect();
        self.0.push(Solid { joints, tint, origin: rounded(origin), axis: axis.map(Number), profile });
    }

    /// Adds a cylinder along `line` between two distances from its origin. An end that is seen has a rounded edge; one
    /// inside another body, or below a cover, is open.
    fn can(&mut self, joints: usize, tint: Tint, line: (Vector3, Vector3), [from, to]: [End; 2], radius: f32) {
        let edge = (0.18 * radius).min(0.4 * (to.at - from.at).abs());
        let end = |End { at, closed }, inwards: f32| {
            let rounded = [[at, 0.0], [at, radius - 0.7 * edge], [at + inwards * edge, radius]];
            if closed { rounded.to_vec() } else { vec![[at, radius]] }
        };
        let mut profile = end(from, 1.0);
        profile.extend(end(to, -1.0).into_iter().rev());
        self.add(joints, tint, line, &profile);
    }

    /// Adds a domed cover at the distance `at`, towards `at + thickness`.
    fn cap(&mut self, joints: usize, line: (Vector3, Vector3), at: f32, thickness: f32, radius: f32) {
        let profile = [
            [at, radius],
            [at + 0.3 * thickness, 0.97 * radius],
            [at + 0.65 * thickness, 0.86 * radius],
            [at + 0.9 * thickness, 0.66 * radius],
            [at + thickness, 0.4 * radius],
            [at + thickness, 0.0],
        ];
        self.add(joints, Tint::Cap, line, &profile);
    }

    /// Adds a tube between two points, with a radius at each end.
    fn tube(&mut self, joints: usize, tint: Tint, [a, b]: [Vector3; 2], [first, second]: [f32; 2]) {
        let length = norm(subtract(b, a));
        if length > 1e-4 {
            let axis = scale(subtract(b, a), 1.0 / length);
            self.add(joints, tint, (a, axis), &[[0.0, first], [length, second]]);
        }
    }

    /// Adds the tube of a link between the axes of two joints. It begins and ends inside the joints, by these distances
    /// from their axes.
    fn link(&mut self, joints: usize, [a, b]: [Vector3; 2], [first, second]: [f32; 2], radii: [f32; 2]) {
        let way = subtract(b, a);
        let length = norm(way).max(first + second + 1e-3);
        let ends = [add(a, scale(way, first / length)), add(a, scale(way, 1.0 - second / length))];
        self.tube(joints, Tint::Body, ends, radii);
    }

    /// Adds a ring that marks a gap between the two parts of a joint.
    fn gap(&mut self, joints: usize, line: (Vector3, Vector3), at: f32, radius: f32) {
        let half = 0.05 * radius;
        self.add(joints, Tint::Gap, line, &[[at - half, radius], [at + half, radius]]);
    }
}

/// Returns how far upper arm and forearm lie beside the shoulder, along its axis \[m\], for an arm whose first wrist
/// joint lies `wrist` beside it.
///
/// The positions are those of UR's meshes (`core/docs/protocol/ros2-surface.md` 12.3). The meshes of UR8 Long, UR15 and
/// UR18 have other origins, and an unknown arm has none: these have the proportions of UR20 and UR5e.
const fn offsets(model: Option<Model>, wrist: f32) -> [f32; 2] {
    match model {
        Some(Model::Ur3) => [0.1198, 0.0275],
        Some(Model::Ur5) => [0.13585, 0.0165],
        Some(Model::Ur10) => [0.220_941, 0.049_042],
        Some(Model::Ur3e) => [0.12, 0.027],
        Some(Model::Ur5e | Model::Ur7e) => [0.138, 0.007],
        Some(Model::Ur10e | Model::Ur12e | Model::Ur16e) => [0.1762, 0.0393],
        Some(Model::Ur20 | Model::Ur30) => [0.26, 0.043],
        Some(Model::Ur8Long | Model::Ur15 | Model::Ur18) => [wrist * 0.26 / 0.201, wrist * 0.043 / 0.201],
        None => [wrist * 0.138 / 0.1333, wrist * 0.007 / 0.1333],
    }
}

/// Returns the bodies of a UR arm. `model` is the model with its lengths, if there is one.
pub(super) fn of_ur(arm: &Skeleton, model: Option<Model>) -> Vec<Solid> {
    let mut solids = Solids::default();
    let w = bounded(WRIST * arm.length(4), 0.02, 0.08);
    let [upper, fore] = offsets(model, arm.length(3));
    let (big, elbow) = (1.55 * w, 1.28 * w);
    let line = |joint: usize| (arm.point(joint), arm.direction(joint));
    let beside = |joint: usize, distance: f32| add(arm.point(joint), scale(arm.direction(joint), distance));
    let shoulder = arm.length(0);
    let floor = (arm.point(0), arm.direction(0));

    let back = |joint: usize| (arm.point(joint), scale(arm.direction(joint), -1.0));

    // The base and the first joint, up to the shoulder.
    let foot = 0.32 * w;
    solids.can(0, Tint::Metal, floor, [closed(0.0), closed(foot)], 1.95 * w);
    let neck = (shoulder - 1.35 * big).max(0.3 * shoulder);
    solids.can(0, Tint::Body, floor, [open(foot), closed(neck)], 1.6 * w);
    solids.gap(1, floor, neck, 1.5 * w);
    solids.can(1, Tint::Body, floor, [closed(neck), open(shoulder - 0.6 * big)], 0.97 * big);

    // The shoulder: a cover at the back, the upper arm in front.
    let face = (upper - 1.6 * w).max(0.4 * upper);
    solids.can(1, Tint::Body, line(1), [open(-1.35 * w), closed(face)], big);
    solids.cap(1, back(1), 1.35 * w, 0.5 * w, big);
    solids.gap(2, line(1), face, 0.97 * big);
    solids.can(2, Tint::Body, line(1), [closed(face), open(upper + 1.15 * w)], big);
    solids.cap(2, line(1), upper + 1.15 * w, 0.5 * w, big);
    solids.link(2, [beside(1, upper), beside(2, upper)], [0.8 * big, 0.8 * elbow], [1.22 * w, 1.08 * w]);

    // The elbow, between upper arm and forearm.
    let middle = 0.5 * (upper + fore);
    solids.cap(2, line(2), upper + w, 0.45 * w, elbow);
    solids.can(2, Tint::Body, line(2), [closed(middle), open(upper + w)], elbow);
    solids.gap(3, line(2), middle, 0.97 * elbow);
    solids.can(3, Tint::Body, line(2), [open(fore - w), closed(middle)], elbow);
    solids.cap(3, back(2), w - fore, 0.45 * w, elbow);
    solids.link(3, [beside(2, fore), beside(3, fore)], [0.75 * elbow, 0.75 * w], [1.02 * w, 0.9 * w]);

    // The three joints of the wrist. The first lies beside the forearm, the others follow at right angles.
    let wrist = arm.length(3);
    let split = bounded(0.5 * (fore + wrist), fore + 0.5 * w, wrist - 0.5 * w);
    solids.can(3, Tint::Body, line(3), [open(fore - 0.95 * w), closed(split)], w);
    solids.cap(3, back(3), 0.95 * w - fore, 0.4 * w, w);
    solids.gap(4, line(3), split, 0.96 * w);
    solids.can(4, Tint::Body, line(3), [closed(split), open(wrist + 0.95 * w)], w);
    solids.cap(4, line(3), wrist + 0.95 * w, 0.4 * w, w);
    let (half, last) = (0.5 * arm.length(4), arm.length(4));
    solids.can(4, Tint::Body, line(4), [open(0.5 * w), closed(half)], 0.97 * w);
    solids.gap(5, line(4), half, 0.95 * w);
    solids.can(5, Tint::Body, line(4), [closed(half), open(last + 0.95 * w)], 0.98 * w);
    solids.cap(5, line(4), last + 0.95 * w, 0.4 * w, 0.98 * w);
    let flange = arm.to_flange(model);
    solids.can(5, Tint::Body, line(5), [open(0.5 * w), closed(0.62 * flange)], 0.95 * w);
    solids.gap(6, line(5), 0.62 * flange, 0.93 * w);
    solids.can(6, Tint::Metal, line(5), [closed(0.62 * flange), closed(flange)], 0.92 * w);
    tool(&mut solids, arm, (6, beside(5, flange)), w);
    solids.0
}

/// Returns the bodies of a KUKA LWR 4+.
pub(super) fn of_lwr(arm: &Skeleton) -> Vec<Solid> {
    let mut solids = Solids::default();
    let r = 0.062;
    let up = (arm.point(0), arm.direction(0));
    let height = |joint: usize| norm(subtract(arm.point(joint), arm.point(0)));
    solids.can(0, Tint::Metal, up, [closed(0.0), closed(0.03)], 1.5 * r);
    solids.add(0, Tint::Body, up, &[[0.03, 1.4 * r], [0.09, 1.12 * r], [0.13, 1.05 * r]]);
    // The joints that turn the links, and between them those that bend the arm.
    for (bend, [from, to]) in [(1, [0.13, height(3) - 0.2]), (3, [height(1) + 0.2, height(5) - 0.19])] {
        let (low, high) = (height(bend) - 1.3 * r, height(bend) + 1.3 * r);
        solids.gap(bend, up, from, 1.04 * r);
        solids.add(bend, Tint::Body, up, &[[from, r], [low, 1.06 * r], [height(bend), 1.06 * r]]);
        bent(&mut solids, arm, bend, r);
        solids.add(bend + 1, Tint::Body, up, &[[height(bend), 1.06 * r], [high, 1.06 * r], [to, r]]);
    }
    let last = height(5);
    solids.gap(5, up, last - 0.19, 1.04 * r);
    solids.add(5, Tint::Body, up, &[[last - 0.19, r], [last - 0.06, 0.95 * r], [last, 0.9 * r]]);
    bent(&mut solids, arm, 5, 0.9 * r);
    let flange = norm(subtract(arm.tool, arm.point(0)));
    solids.can(6, Tint::Body, up, [open(last), closed(flange - 0.025)], 0.72 * r);
    solids.gap(7, up, flange - 0.025, 0.69 * r);
    solids.can(7, Tint::Metal, up, [closed(flange - 0.025), closed(flange)], 0.68 * r);
    tool(&mut solids, arm, (7, arm.tool), 0.6 * r);
    solids.0
}

/// Adds a joint of the LWR that bends the arm, with a cover on each side.
fn bent(solids: &mut Solids, arm: &Skeleton, joint: usize, radius: f32) {
    let (point, direction) = (arm.point(joint), arm.direction(joint));
    let side = 1.12 * radius;
    solids.can(joint, Tint::Body, (point, direction), [open(-side), open(side)], 1.08 * radius);
    for way in [1.0, -1.0] {
        solids.cap(joint + 1, (point, scale(direction, way)), side, 0.3 * radius, 1.08 * radius);
    }
}

/// Adds what is known of the tool: a thin rod from the flange to the tool centre point.
fn tool(solids: &mut Solids, arm: &Skeleton, (joints, flange): (usize, Vector3), radius: f32) {
    let way = subtract(arm.tool, flange);
    let (length, axis) = (norm(way), arm.direction(joints - 1));
    // A tool frame in the flange's face is no tool.
    if length < 0.005 {
        return;
    }
    let straight = scale(axis, 0.35 * radius);
    solids.tube(joints, Tint::Metal, [flange, add(flange, straight)], [0.6 * radius, 0.42 * radius]);
    let tip = (0.25 * length).min(radius);
    let neck = add(flange, scale(way, (length - tip) / length));
    solids.tube(joints, Tint::Tool, [flange, neck], [0.2 * radius, 0.2 * radius]);
    solids.tube(joints, Tint::Tool, [neck, arm.tool], [0.2 * radius, 0.05 * radius]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_as_thick_and_as_far_aside_as_the_model_demands() {
        let of = |model| of_ur(&Skeleton::nominal(model), Some(model));
        let widest = |solids: &[Solid]| {
            solids.iter().flat_map(|solid| &solid.profile).map(|point| point[1].0).fold(0.0, f32::max)
        };
        let (small, large) = (widest(&of(Model::Ur3e)), widest(&of(Model::Ur20)));
        assert!((0.055..0.075).contains(&small) && (0.11..0.13).contains(&large), "{small} {large}");
        // The tube of the upper arm begins beside the shoulder, by the offset of the model.
        for (model, offset) in [(Model::Ur3e, 0.12), (Model::Ur5, 0.13585), (Model::Ur20, 0.26)] {
            let solids = of(model);
            let tube =
                solids.iter().find(|solid| solid.joints == 2 && solid.profile.len() == 2 && solid.tint == Tint::Body);
            // The arm is laid out along x, so that the offset is along y.
            let [_, y, _] = tube.expect("an upper arm").origin.map(|value| value.0);
            assert!((y.abs() - offset).abs() < 1e-4, "{model:?}: {y}");
        }
    }

    #[test]
    fn no_body_has_a_length_or_a_radius_that_no_arm_has() {
        for model in Model::ALL.iter().copied() {
            for solid in of_ur(&Skeleton::nominal(model), Some(model)) {
                let fits = solid.profile.iter().all(|[at, radius]| at.0.abs() < 1.0 && (0.0..0.2).contains(&radius.0));
                assert!(fits && solid.joints <= 6, "{model:?}: {solid:?}");
            }
        }
    }
}
