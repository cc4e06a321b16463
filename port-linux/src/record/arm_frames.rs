//! The frames of an arm's links, for pictures in other programs: one at each joint, and one at the tool.

use outrigger_core::kinematics::KinematicChain;
use outrigger_wire::math::{Frame, Rotation, Vector3, add, cross, dot, norm, scale, subtract};
use outrigger_wire::robot::{JointPositions, Twist};
use outrigger_wire::time::{Duration, Instant};

/// The interval at which the geometry of the arm is looked up again: the controller reports another tool.
const LOOK: Duration = Duration::from_millis(500);

/// The geometry of a session's arm, which becomes known after the first messages of the controller.
pub struct ArmGeometry {
    look: Box<dyn FnMut() -> Option<Known> + Send>,
    due: Instant,
    frames: Option<ArmFrames>,
}

/// The answer to a look for the geometry: the frames of the arm. `None` if its model is unknown.
type Known = Option<ArmFrames>;

impl ArmGeometry {
    /// Returns the geometry of the kinematic chain that `look` finds. `None` of it means that there is no answer yet, and
    /// it is called again soon; `Some(None)` that the chain is unknown, and it is called again after 500 ms.
    #[must_use]
    pub fn of_look<const N: usize>(
        mut look: impl FnMut() -> Option<Option<KinematicChain<N>>> + Send + 'static,
    ) -> Self {
        let look = move || Some(look()?.map(|chain| ArmFrames::of(&chain)));
        Self { look: Box::new(look), due: Instant::ZERO, frames: None }
    }

    /// Returns the geometry of the kinematic chain that `chain` returns: again every 500 ms. `None` while it is
    /// unknown.
    #[must_use]
    pub fn of_chain<const N: usize>(mut chain: impl FnMut() -> Option<KinematicChain<N>> + Send + 'static) -> Self {
        Self::of_look(move || Some(chain()))
    }

    /// Returns a geometry that stays unknown.
    #[cfg(test)]
    pub(super) fn unknown() -> Self {
        Self::of_look::<6>(|| None)
    }

    /// Returns the frames of the arm. `None` until its geometry is known. Looks for a change every 500 ms.
    pub(super) fn at(&mut self, now: Instant) -> Option<&ArmFrames> {
        if now >= self.due
            && let Some(known) = (self.look)()
        {
            self.due = now + LOOK;
            self.frames = known;
        }
        self.frames.as_ref()
    }
}

/// A function that returns frames and points of an arm in the base frame, from its joint angles \[rad\]. `None` for
/// another number of joints.
type Placed = Box<dyn Fn(&[f64]) -> Option<Vec<Frame>> + Send>;

/// The frames of an arm: one on the axis of each joint, with z along it, moved by this joint and those before it, and
/// one at the tool centre point.
pub(super) struct ArmFrames {
    placed: Placed,
    /// The vector from the origin of each frame to that of the next, in this frame \[m\]: first in the base frame.
    pub(super) sticks: Vec<Vector3>,
}

impl ArmFrames {
    /// Returns the frames of an arm with this kinematic chain.
    pub(super) fn of<const N: usize>(chain: &KinematicChain<N>) -> Self {
        let chain = *chain;
        let rest = chain.posture(&JointPositions::ZERO);
        // With the joints after a link at zero, the tool's frame is fixed to this link. A constant rotation makes its
        // z axis that of the joint.
        let back = inverse(&rest.tcp.rotation);
        let turns = rest.jacobian.0.map(|column| back.after(&along(column.angular)));
        let placed = move |q: &[f64]| {
            let q = JointPositions(<[f64; N]>::try_from(q).ok()?.map(|angle| angle as f32));
            let mut frames = Vec::with_capacity(N + 1);
            let mut moved = JointPositions::ZERO;
            let posture = chain.posture(&q);
            let axes = joint_axes(posture.tcp.position, posture.jacobian.0);
            for (number, (axis, turn)) in axes.into_iter().zip(&turns).enumerate() {
                if let (Some(to), Some(from)) = (moved.0.get_mut(number), q.0.get(number)) {
                    *to = *from;
                }
                let rotation = chain.posture(&moved).tcp.rotation.after(turn);
                frames.push(Frame { position: axis.point, rotation });
            }
            frames.push(posture.tcp);
            Some(frames)
        };
        let mut sticks = vec![];
        let mut before = BASE;
        for frame in placed(&[0.0; N]).unwrap_or_default() {
            sticks.push(relative(&before, &frame).position);
            before = frame;
        }
        Self { placed: Box::new(placed), sticks }
    }

    /// Returns each frame relative to the one before it, from the first joint to the tool, at the joint angles `q`
    /// \[rad\]. The first is relative to the base. `None` for another number of joints, and for angles that are no
    /// numbers.
    pub(super) fn transforms(&self, q: &[f64]) -> Option<Vec<Frame>> {
        let mut before = BASE;
        let of = |frame: Frame| relative(&std::mem::replace(&mut before, frame), &frame);
        let frames: Vec<Frame> = (self.placed)(q)?.into_iter().map(of).collect();
        let finite = |frame: &Frame| frame.position.iter().chain(&frame.rotation.z).all(|value| value.is_finite());
        frames.iter().all(finite).then_some(frames)
    }
}

const BASE: Frame = Frame { position: [0.0; 3], rotation: Rotation::IDENTITY };

/// The axis of a joint in the base frame: a point on it \[m\] and its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointAxis {
    /// The point of the axis \[m\] that is nearest to the point of the axis before, or to the base.
    pub point: Vector3,
    /// The direction of the axis, with length 1.
    pub direction: Vector3,
}

/// Returns the axes of an arm's joints from the columns of the Jacobian at the point `tool`.
///
/// The point of an axis is the one nearest to that of the axis before. The origins of the kinematic parameters are
/// unsuitable for a picture, because calibration moves them many metres along axes that are nearly parallel.
pub fn joint_axes(tool: Vector3, columns: impl IntoIterator<Item = Twist>) -> Vec<JointAxis> {
    let mut last = [0.0; 3];
    let axis = |Twist { linear, angular: direction }: Twist| {
        // The column is axis × (tool − a point of the axis), so this is the point of the axis nearest to the tool.
        let on_axis = add(tool, cross(direction, linear));
        last = add(on_axis, scale(direction, dot(direction, subtract(last, on_axis))));
        JointAxis { point: last, direction }
    };
    columns.into_iter().map(axis).collect()
}

/// Returns a rotation whose z axis is the unit vector `z`.
pub(super) fn along(z: Vector3) -> Rotation {
    let other = if z[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let x = subtract(other, scale(z, dot(z, other)));
    let x = scale(x, 1.0 / norm(x));
    Rotation { x, y: cross(z, x), z }
}

fn inverse(rotation: &Rotation) -> Rotation {
    let Rotation { x: [xx, xy, xz], y: [yx, yy, yz], z: [zx, zy, zz] } = *rotation;
    Rotation { x: [xx, yx, zx], y: [xy, yy, zy], z: [xz, yz, zz] }
}

/// Returns `frame` relative to `parent`. Both are in the base frame.
fn relative(parent: &Frame, frame: &Frame) -> Frame {
    let back = inverse(&parent.rotation);
    Frame { position: back.apply(subtract(frame.position, parent.position)), rotation: back.after(&frame.rotation) }
}

#[cfg(test)]
mod tests {
    use outrigger_core::kinematics::DhParameters;
    use outrigger_wire::robot::{Pose, RobotModel};

    use super::*;

    const Q: [f64; 6] = [0.3, -1.2, 1.4, -0.7, 0.9, 0.2];

    fn near(a: Vector3, b: Vector3) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-4)
    }

    /// Parameters of a calibrated arm: 12 m along the shoulder's axis, and back along the elbow's.
    fn calibrated() -> DhParameters<6> {
        let (quarter, zero) = (std::f64::consts::FRAC_PI_2, [0.0; 6]);
        let (a, alpha) = ([0.0, -0.425, -0.3922, 0.0, 0.0, 0.0], [quarter, 1e-3, 0.0, quarter, -quarter, 0.0]);
        let d = [0.1625, 12.0, -12.0, 0.1333, 0.0997, 0.0996];
        DhParameters::from_arrays(zero, a, d, alpha).expect("parameters")
    }

    #[test]
    fn the_chain_of_transforms_ends_at_the_tool_and_every_link_keeps_its_shape() {
        let tool = Pose { position: [0.01, -0.02, 0.15], rotation: [0.3, -0.1, 0.2] };
        for dh in [DhParameters::of(RobotModel::Ur5e), calibrated()] {
            let chain = KinematicChain::new(dh, &tool);
            let arm = ArmFrames::of(&chain);
            let transforms = arm.transforms(&Q).expect("six joints");
            assert_eq!((transforms.len(), arm.sticks.len()), (7, 7));
            for (transform, stick) in transforms.iter().zip(&arm.sticks) {
                assert!(near(transform.position, *stick), "{transform:?} {stick:?}");
                assert!(norm(*stick) < 0.6, "calibration moves no frame far: {stick:?}");
            }
            let end = transforms.iter().fold(BASE, |frame, next| frame.then(next));
            let truth = chain.posture(&JointPositions(Q.map(|angle| angle as f32))).tcp;
            assert!(near(end.position, truth.position), "{end:?} {truth:?}");
            assert!(near(end.rotation.x, truth.rotation.x) && near(end.rotation.z, truth.rotation.z));
        }
    }

    #[test]
    fn a_joint_turns_its_frame_and_those_after_it_about_its_z_axis_only() {
        let arm = ArmFrames::of(&KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default()));
        let (from, mut q) = (arm.transforms(&Q).expect("six joints"), Q);
        q[2] += 0.5;
        let to = arm.transforms(&q).expect("six joints");
        for (number, (from, to)) in from.iter().zip(&to).enumerate() {
            let unmoved = near(from.position, to.position) && near(from.rotation.x, to.rotation.x);
            assert_eq!(unmoved, number != 2, "link {}", number + 1);
        }
        let turn = inverse(&from[2].rotation).after(&to[2].rotation).to_vector();
        assert!(near(turn, [0.0, 0.0, 0.5]), "{turn:?}");
    }

    #[test]
    fn other_joints_and_angles_that_are_no_numbers_have_no_frames() {
        let arm = ArmFrames::of(&KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default()));
        assert!(arm.transforms(&[0.0; 7]).is_none() && arm.transforms(&[f64::NAN; 6]).is_none());
        assert!(ArmGeometry::unknown().at(Instant::from_micros(1)).is_none());
    }
}
