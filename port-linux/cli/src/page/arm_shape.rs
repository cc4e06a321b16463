//! The arm's shape for the picture on the live page: the axes of its joints and the bodies of its links, all in the
//! base frame and with each joint at 0. The page turns each link about the axes before it.

mod solids;

use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_sim::krc::model as lwr;
use outrigger_wire::math::{Vector3, dot, norm, subtract};
use outrigger_wire::robot::{JointPositions, Pose, RobotModel, Twist};
use serde::Serialize;

use self::solids::Solid;
use outrigger::json::Number;
use outrigger::record::{JointAxis, joint_axes};

/// The number of joints of a UR arm.
const UR_JOINTS: usize = 6;
/// The largest deviation of a calibrated arm from the nominal lengths of its model \[m\].
const CALIBRATION: f32 = 0.012;

/// The shape of an arm as a JSON object.
#[derive(Debug, Serialize)]
pub(super) struct ArmShape {
    /// The models that have these lengths. Empty if they are those of no known model.
    models: Vec<String>,
    series: Family,
    joints: Vec<Axis>,
    tool: ToolFrame,
    solids: Vec<Solid>,
}

/// The family of arms whose colours the picture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Family {
    Cb3,
    ESeries,
    /// The arms after the e-Series: UR8 Long, UR15, UR18, UR20 and UR30.
    Large,
    Lwr,
    Unknown,
}

#[derive(Debug, Serialize)]
struct Axis {
    point: [Number<f32>; 3],
    direction: [Number<f32>; 3],
}

/// The tool frame in the base frame: its origin, and its axes.
#[derive(Debug, Serialize)]
struct ToolFrame {
    origin: [Number<f32>; 3],
    axes: [[Number<f32>; 3]; 3],
}

/// The axes of an arm's joints and its tool frame, with each joint at 0.
#[derive(Clone, Debug)]
struct Skeleton {
    axes: Vec<JointAxis>,
    tool: Vector3,
    /// The directions of the tool frame's axes.
    tool_axes: [Vector3; 3],
}

impl ArmShape {
    /// Returns the shape of the arm with these kinematics. `None` without kinematics, except for an arm with seven
    /// joints, which is a KUKA LWR 4+.
    pub(super) fn of<const N: usize>(chain: Option<&KinematicChain<N>>) -> Option<Self> {
        match (chain, N) {
            (None, lwr::JOINTS) => Some(Self::of_lwr()),
            (Some(chain), UR_JOINTS) => Some(Self::of_ur(&Skeleton::of(chain))),
            _ => None,
        }
    }

    fn of_ur(skeleton: &Skeleton) -> Self {
        let models = skeleton.models();
        let series = models.first().copied().map_or(Family::Unknown, Family::of);
        let solids = solids::of_ur(skeleton, models.first().copied());
        Self::new(models.iter().map(|model| name(*model)).collect(), series, skeleton, solids)
    }

    fn of_lwr() -> Self {
        let upright = [0.0; lwr::JOINTS];
        let flange = lwr::flange(&upright);
        let narrow = |[x, y, z]: [f64; 3]| [x as f32, y as f32, z as f32];
        let columns = lwr::jacobian(&upright).map(|column| {
            let [x, y, z, rx, ry, rz] = column;
            Twist { linear: narrow([x, y, z]), angular: narrow([rx, ry, rz]) }
        });
        let tool = narrow(flange.position);
        let tool_axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let skeleton = Skeleton { axes: joint_axes(tool, columns), tool, tool_axes };
        let solids = solids::of_lwr(&skeleton);
        Self::new(vec!["KUKA LWR 4+".to_owned()], Family::Lwr, &skeleton, solids)
    }

    fn new(models: Vec<String>, series: Family, skeleton: &Skeleton, solids: Vec<Solid>) -> Self {
        let Skeleton { axes, tool, tool_axes } = skeleton;
        let joints = axes
            .iter()
            .map(|JointAxis { point, direction }| Axis { point: rounded(*point), direction: direction.map(Number) })
            .collect();
        let tool = ToolFrame { origin: rounded(*tool), axes: tool_axes.map(|axis| axis.map(Number)) };
        Self { models, series, joints, tool, solids }
    }
}

impl Family {
    const fn of(model: RobotModel) -> Self {
        match model {
            RobotModel::Ur3 | RobotModel::Ur5 | RobotModel::Ur10 => Self::Cb3,
            RobotModel::Ur3e
            | RobotModel::Ur5e
            | RobotModel::Ur7e
            | RobotModel::Ur10e
            | RobotModel::Ur12e
            | RobotModel::Ur16e => Self::ESeries,
            RobotModel::Ur8Long | RobotModel::Ur15 | RobotModel::Ur18 | RobotModel::Ur20 | RobotModel::Ur30 => {
                Self::Large
            }
        }
    }
}

impl Skeleton {
    fn of<const N: usize>(chain: &KinematicChain<N>) -> Self {
        let posture = chain.posture(&JointPositions::ZERO);
        let (tool, turned) = (posture.tcp.position, posture.tcp.rotation);
        Self { axes: joint_axes(tool, posture.jacobian.0), tool, tool_axes: [turned.x, turned.y, turned.z] }
    }

    /// Returns the skeleton of a model with nominal lengths, whose tool frame is the flange.
    fn nominal(model: RobotModel) -> Self {
        Self::of(&KinematicChain::new(DhParameters::of(model), &Pose::default()))
    }

    /// Returns the point on the axis of a joint, counted from 0, which is nearest to the axis before.
    fn point(&self, joint: usize) -> Vector3 {
        self.axes.get(joint).map_or(self.tool, |axis| axis.point)
    }

    fn direction(&self, joint: usize) -> Vector3 {
        self.axes.get(joint).map_or([0.0, 0.0, 1.0], |axis| axis.direction)
    }

    /// Returns the distance from the axis of a joint to that of the next one \[m\].
    fn length(&self, joint: usize) -> f32 {
        norm(subtract(self.point(joint + 1), self.point(joint)))
    }

    /// Returns the models with the lengths of this arm: several if they cannot be distinguished (UR5e and UR7e), none
    /// if there is none.
    fn models(&self) -> Vec<RobotModel> {
        let difference = |model: &RobotModel| {
            let nominal = Self::nominal(*model);
            (0..5).map(|joint| (self.length(joint) - nominal.length(joint)).abs()).fold(0.0, f32::max)
        };
        let least = RobotModel::ALL.iter().map(difference).fold(f32::INFINITY, f32::min);
        let is_it = |model: &RobotModel| least < CALIBRATION && difference(model) < least + 1e-6;
        RobotModel::ALL.iter().copied().filter(is_it).collect()
    }

    /// Returns the distance of the flange from the last but one axis, along the last one \[m\].
    fn to_flange(&self, model: Option<RobotModel>) -> f32 {
        match model.map(Self::nominal) {
            Some(nominal) => norm(subtract(nominal.tool, nominal.point(5))),
            // On every known model the flange is about as far from there as that axis is from the one before.
            None => self.length(4).min(dot(subtract(self.tool, self.point(5)), self.direction(5)).abs()),
        }
    }
}

/// Returns the name of a model as it stands on the arm, such as `UR5e`.
fn name(model: RobotModel) -> String {
    if model == RobotModel::Ur8Long { "UR8 Long".to_owned() } else { model.name().replacen("ur", "UR", 1) }
}

/// Returns a vector for JSON, rounded to a hundredth of a millimetre.
fn rounded(vector: Vector3) -> [Number<f32>; 3] {
    vector.map(|value| Number((value * 1e5).round() / 1e5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(model: RobotModel) -> ArmShape {
        ArmShape::of(Some(&KinematicChain::new(DhParameters::of(model), &Pose::default()))).expect("kinematics")
    }

    #[test]
    fn every_model_is_recognised_by_its_lengths_unless_another_has_the_same() {
        for model in RobotModel::ALL.iter().copied() {
            let expected: &[&str] = match model {
                RobotModel::Ur5e | RobotModel::Ur7e => &["UR5e", "UR7e"],
                RobotModel::Ur10e | RobotModel::Ur12e => &["UR10e", "UR12e"],
                _ => &[&name(model)],
            };
            assert_eq!(shape(model).models, expected);
        }
    }

    #[test]
    fn a_calibrated_arm_is_recognised_and_an_unknown_one_is_drawn_without_a_name() {
        let (quarter, zero) = (std::f64::consts::FRAC_PI_2, [0.0; 6]);
        let alpha = [quarter, 1e-3, 0.0, quarter, -quarter, 0.0];
        let d = [0.1622, 12.0, -12.0, 0.1333, 0.0997, 0.0996];
        let with = |upper_arm| {
            let dh = DhParameters::from_arrays(zero, [0.0, upper_arm, -0.3925, 0.0, 0.0, 0.0], d, alpha);
            let tool = Pose { position: [0.0, 0.0, 0.2], ..Pose::default() };
            ArmShape::of(Some(&KinematicChain::new(dh.expect("parameters"), &tool))).expect("kinematics")
        };
        assert_eq!(with(-0.4252).models, ["UR5e", "UR7e"]);
        let unknown = with(-0.3);
        assert!(unknown.models.is_empty() && unknown.series == Family::Unknown);
        assert!(unknown.solids.len() > 10);
    }

    #[test]
    fn an_arm_with_seven_joints_is_the_lwr_with_its_published_lengths() {
        let shape = ArmShape::of::<7>(None).expect("the LWR");
        let heights: Vec<f32> = shape.joints.iter().map(|joint| joint.point[2].0).collect();
        assert_eq!(heights, [0.0, 0.3105, 0.3105, 0.7105, 0.7105, 1.1005, 1.1005]);
        assert_eq!(shape.tool.origin.map(|value| value.0), [0.0, 0.0, 1.1785]);
        assert!(ArmShape::of::<6>(None).is_none());
    }
}
