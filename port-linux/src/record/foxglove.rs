//! Messages by the schemas of Foxglove: joints, frames of the arm's links, and a simple shape of the arm.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::math::{Frame, Rotation, Vector3, norm, scale};

use super::arm_frames::along;
use super::common_values::{BASE, quaternion, timestamp};

/// The name of the frame at the tool centre point.
const TOOL: &str = "tool";
/// The diameter of the cylinder that represents a link, as a part of the longest link.
const THICKNESS: f64 = 0.16;
/// The colour of the arm: red, green, blue, opacity.
const COLOUR: [f64; 4] = [0.55, 0.65, 0.75, 1.0];
/// The names of an LWR's joints, which KUKA numbers A1 to A6 with E1 between A2 and A3.
const LWR_JOINTS: [&str; 7] = ["joint_a1", "joint_a2", "joint_e1", "joint_a3", "joint_a4", "joint_a5", "joint_a6"];

/// The joints of an arm, in the order of the controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joints<'v> {
    /// The joint positions \[rad\].
    pub(super) position: &'v [f64],
    /// The joint speeds \[rad/s\]. Empty if the controller sends none.
    pub(super) velocity: &'v [f64],
    /// The joint torques \[Nm\]. Empty if the controller sends none.
    pub(super) effort: &'v [f64],
}

/// Passes the joints of an arm to `visitor` as `foxglove.JointStates`, with the names that ROS uses for them. `nanos`
/// is the time since 1970 \[ns\]. Numbers without a JSON form are left out.
pub(super) fn joint_states(nanos: u64, joints: &Joints<'_>, visitor: &mut dyn FieldVisitor) {
    timestamp(nanos, visitor);
    visitor.begin("joints", Group::List);
    let names: &[&str] = if joints.position.len() == 7 { &LWR_JOINTS } else { &crate::motion::UR_JOINTS };
    for (number, name) in names.iter().enumerate() {
        visitor.begin("", Group::Record);
        visitor.field("name", Value::Text(name.as_bytes()));
        for (field, values) in [("position", joints.position), ("velocity", joints.velocity), ("effort", joints.effort)]
        {
            if let Some(value) = values.get(number).filter(|value| value.is_finite()) {
                visitor.field(field, Value::F64(*value));
            }
        }
        visitor.end();
    }
    visitor.end();
}

/// Returns the name of a frame of the arm that has `count` frames beside that of its base: a link's or the tool's.
fn name(number: usize, count: usize) -> String {
    if number + 1 == count { TOOL.into() } else { format!("link_{}", number + 1) }
}

/// Passes the `frames` of an arm, each relative to the one before it, to `visitor` as `foxglove.FrameTransforms`.
/// `nanos` is the time since 1970 \[ns\].
pub(super) fn frame_transforms(nanos: u64, frames: &[Frame], visitor: &mut dyn FieldVisitor) {
    visitor.begin("transforms", Group::List);
    let mut parent = BASE.to_owned();
    for (number, frame) in frames.iter().enumerate() {
        let child = name(number, frames.len());
        visitor.begin("", Group::Record);
        timestamp(nanos, visitor);
        visitor.field("parent_frame_id", Value::Text(parent.as_bytes()));
        visitor.field("child_frame_id", Value::Text(child.as_bytes()));
        vector("translation", frame.position.map(f64::from), visitor);
        rotation("rotation", &frame.rotation, visitor);
        visitor.end();
        parent = child;
    }
    visitor.end();
}

/// Passes a simple shape of an arm to `visitor` as `foxglove.SceneUpdate`: for each link a sphere at its joint and a
/// cylinder to the next one, fixed to the frame of the link. `sticks` are the vectors from each frame to the next
/// \[m\], the first from the base. `nanos` is the time since 1970 \[ns\].
pub(super) fn scene(nanos: u64, sticks: &[Vector3], visitor: &mut dyn FieldVisitor) {
    let longest = sticks.iter().map(|stick| f64::from(norm(*stick))).fold(0.0, f64::max);
    list("deletions", visitor, |_| {});
    visitor.begin("entities", Group::List);
    for (number, stick) in sticks.iter().enumerate() {
        let frame = if number == 0 { BASE.into() } else { name(number - 1, sticks.len()) };
        entity(nanos, &frame, *stick, longest * THICKNESS, visitor);
    }
    visitor.end();
}

/// Passes a message to `visitor` that has an item in every list, from which the schema of [`scene`] is derived.
pub(super) fn scene_example(visitor: &mut dyn FieldVisitor) {
    let empty = |name: &str, visitor: &mut dyn FieldVisitor| {
        list(name, visitor, |visitor| {
            visitor.begin("", Group::Record);
            visitor.end();
        });
    };
    empty("deletions", visitor);
    visitor.begin("entities", Group::List);
    visitor.begin("", Group::Record);
    head(0, BASE, visitor);
    for unused in UNUSED {
        empty(unused, visitor);
    }
    list("spheres", visitor, |visitor| sphere(0.0, visitor));
    list("cylinders", visitor, |visitor| cylinder([0.0, 0.0, 1.0], 0.0, visitor));
    visitor.end();
    visitor.end();
}

/// The lists of an entity that stay empty.
const UNUSED: [&str; 7] = ["metadata", "arrows", "cubes", "lines", "triangles", "texts", "models"];

fn head(nanos: u64, frame: &str, visitor: &mut dyn FieldVisitor) {
    timestamp(nanos, visitor);
    visitor.field("frame_id", Value::Text(frame.as_bytes()));
    visitor.field("id", Value::Text(frame.as_bytes()));
    visitor.begin("lifetime", Group::Record);
    visitor.field("sec", Value::Unsigned(0));
    visitor.field("nsec", Value::Unsigned(0));
    visitor.end();
    visitor.field("frame_locked", Value::Bool(true));
}

fn entity(nanos: u64, frame: &str, stick: Vector3, diameter: f64, visitor: &mut dyn FieldVisitor) {
    visitor.begin("", Group::Record);
    head(nanos, frame, visitor);
    for unused in UNUSED {
        list(unused, visitor, |_| {});
    }
    list("spheres", visitor, |visitor| sphere(diameter, visitor));
    list("cylinders", visitor, |visitor| {
        if norm(stick) > 1e-3 {
            cylinder(stick, diameter, visitor);
        }
    });
    visitor.end();
}

fn list(name: &str, visitor: &mut dyn FieldVisitor, items: impl FnOnce(&mut dyn FieldVisitor)) {
    visitor.begin(name, Group::List);
    items(visitor);
    visitor.end();
}

/// Passes a sphere at the origin of its frame to `visitor`, as an item of a list.
fn sphere(diameter: f64, visitor: &mut dyn FieldVisitor) {
    visitor.begin("", Group::Record);
    pose([0.0; 3], &Rotation::IDENTITY, visitor);
    vector("size", [1.2 * diameter; 3], visitor);
    colour(visitor);
    visitor.end();
}

/// Passes a cylinder from the origin of its frame to the point `stick` \[m\] to `visitor`, as an item of a list.
fn cylinder(stick: Vector3, diameter: f64, visitor: &mut dyn FieldVisitor) {
    let length = norm(stick);
    visitor.begin("", Group::Record);
    pose(scale(stick, 0.5), &along(scale(stick, 1.0 / length)), visitor);
    vector("size", [diameter, diameter, f64::from(length)], visitor);
    visitor.field("bottom_scale", Value::F64(1.0));
    visitor.field("top_scale", Value::F64(1.0));
    colour(visitor);
    visitor.end();
}

fn pose(position: Vector3, turned: &Rotation, visitor: &mut dyn FieldVisitor) {
    visitor.begin("pose", Group::Record);
    vector("position", position.map(f64::from), visitor);
    rotation("orientation", turned, visitor);
    visitor.end();
}

fn colour(visitor: &mut dyn FieldVisitor) {
    numbers("color", &["r", "g", "b", "a"], &COLOUR, visitor);
}

fn vector(name: &str, values: [f64; 3], visitor: &mut dyn FieldVisitor) {
    numbers(name, &["x", "y", "z"], &values, visitor);
}

fn rotation(name: &str, rotation: &Rotation, visitor: &mut dyn FieldVisitor) {
    numbers(name, &["x", "y", "z", "w"], &quaternion(rotation.to_vector().map(f64::from)), visitor);
}

fn numbers(name: &str, names: &[&str], values: &[f64], visitor: &mut dyn FieldVisitor) {
    visitor.begin(name, Group::Record);
    for (name, value) in names.iter().zip(values) {
        visitor.field(name, Value::F64(*value));
    }
    visitor.end();
}
