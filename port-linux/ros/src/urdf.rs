//! The robot's description: links, joints and limits as URDF, of the geometry that the arm tells of itself.
//!
//! Frames are those of the Denavit–Hartenberg parameters, with the names that UR's description has: angles of `joint_states` mean the
//! same, the frames between joints are turned otherwise. Shapes are sticks as long as the links.

use std::fmt::Write as _;

use crate::arm::{Arm, UR_JOINTS};
use crate::readings::{Readings, Variable};

/// Links behind the joints, in their order.
const LINKS: [&str; 6] =
    ["shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link"];
/// The elbow turns half as far as the others.
const ELBOW: usize = 2;
/// The joint that turns without end on small arms.
const WRIST_3: usize = 5;
/// A longer shift along an axis is one that calibration draws two parallel axes along each other by \[m\]: no stick is as long.
const LONGEST: f64 = 1.0;
/// Of a stick \[m\].
const RADIUS: f64 = 0.03;

/// Geometry of an arm: θ \[rad\], a \[m\], d \[m\] and α \[rad\] of each joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    theta: [f64; 6],
    a: [f64; 6],
    d: [f64; 6],
    alpha: [f64; 6],
    /// Wrist 3 turns without end.
    endless: bool,
}

impl Geometry {
    /// What the arm tells of itself, once it has.
    #[must_use]
    pub(crate) fn of(readings: &Readings) -> Option<Self> {
        let of = |variable| readings.array(variable).filter(|values: &[f64; 6]| values.iter().all(|v| v.is_finite()));
        Some(Self {
            theta: of(Variable::DhTheta)?,
            a: of(Variable::DhA)?,
            d: of(Variable::DhD)?,
            alpha: of(Variable::DhAlpha)?,
            endless: readings.wrist_turns_without_end(),
        })
    }
}

/// The text, for an arm with these names whose joints are no faster than `velocity` \[rad/s\].
#[must_use]
pub(crate) fn text(geometry: &Geometry, arm: &Arm, velocity: [f64; 6]) -> String {
    let prefix = arm.joints.first().map_or("", |first| first.strip_suffix(UR_JOINTS[0]).unwrap_or_default());
    let Geometry { theta, a, d, alpha, endless } = geometry;
    let mut text = String::from("<?xml version=\"1.0\"?>\n<robot name=\"ur\">\n");
    let _ = writeln!(text, "  <link name=\"{prefix}base_link\"/>\n  <link name=\"{prefix}base\"/>");
    fixed(&mut text, prefix, "base_link", "base", [0.0; 3], [0.0, 0.0, std::f64::consts::PI]);
    let mut parent = "base";
    let mut shift = ([0.0; 3], 0.0);
    for (number, (name, link)) in arm.joints.iter().zip(LINKS).enumerate() {
        let [theta, a, d, alpha, velocity] =
            [theta, a, d, alpha, &velocity].map(|of| of.get(number).copied().unwrap_or_default());
        let (xyz, turned) = shift;
        let most = std::f64::consts::PI * if number == ELBOW { 1.0 } else { 2.0 };
        let (kind, range) = if *endless && number == WRIST_3 {
            ("continuous", String::new())
        } else {
            ("revolute", format!("lower=\"-{most:.6}\" upper=\"{most:.6}\" "))
        };
        let _ = write!(
            text,
            "  <joint name=\"{name}\" type=\"{kind}\">\n    <parent link=\"{prefix}{parent}\"/>\n    <child link=\"{prefix}{link}\"/>\n    \
             {}\n    <axis xyz=\"0 0 1\"/>\n    <limit {range}effort=\"0\" velocity=\"{velocity:.6}\"/>\n  \
             </joint>\n  <link name=\"{prefix}{link}\">\n{}  </link>\n",
            origin(xyz, turns(turned, theta)),
            sticks(a, d),
        );
        shift = ([a, 0.0, d], alpha);
        parent = link;
    }
    for name in ["flange", "tool0"] {
        let _ = writeln!(text, "  <link name=\"{prefix}{name}\"/>");
        fixed(&mut text, prefix, parent, name, shift.0, turns(shift.1, 0.0));
    }
    text.push_str("</robot>\n");
    text
}

fn fixed(text: &mut String, prefix: &str, parent: &str, child: &str, xyz: [f64; 3], rpy: [f64; 3]) {
    let _ = write!(
        text,
        "  <joint name=\"{prefix}{parent}-{child}\" type=\"fixed\">\n    <parent link=\"{prefix}{parent}\"/>\n    \
         <child link=\"{prefix}{child}\"/>\n    {}\n  </joint>\n",
        origin(xyz, rpy)
    );
}

fn origin([x, y, z]: [f64; 3], [r, p, w]: [f64; 3]) -> String {
    format!("<origin xyz=\"{x:.6} {y:.6} {z:.6}\" rpy=\"{r:.6} {p:.6} {w:.6}\"/>")
}

/// Roll, pitch and yaw of a turn about x, and then about the z that it turned.
fn turns(about_x: f64, about_z: f64) -> [f64; 3] {
    let ((sx, cx), (sz, cz)) = (about_x.sin_cos(), about_z.sin_cos());
    // The rows of that rotation are (cz, −sz, 0), (cx·sz, cx·cz, −sx), (sx·sz, sx·cz, cx).
    let pitch = (-sx * sz).atan2((cz * cz + cx * cx * sz * sz).sqrt());
    [(sx * cz).atan2(cx), pitch, (cx * sz).atan2(cz)]
}

/// A stick along z, and one along x from its end.
fn sticks(a: f64, d: f64) -> String {
    let mut text = String::new();
    let mut stick = |length: f64, xyz: [f64; 3], rpy: [f64; 3]| {
        if length.abs() > 1e-3 && length.abs() < LONGEST {
            let _ = writeln!(
                text,
                "    <visual>\n      {}\n      <geometry><cylinder radius=\"{RADIUS}\" length=\"{:.6}\"/></geometry>\n    </visual>",
                origin(xyz, rpy),
                length.abs()
            );
        }
    };
    let d = if d.abs() < LONGEST { d } else { 0.0 };
    stick(d, [0.0, 0.0, d / 2.0], [0.0; 3]);
    stick(a, [a / 2.0, 0.0, d], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
    text
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fields::{FieldVisitor, Value};

    use super::*;
    use outrigger_ros2_messages::endpoint::Names;

    fn told() -> Readings {
        let mut readings = Readings::default();
        let quarter = std::f64::consts::FRAC_PI_2;
        readings.sub_package("kinematics_info", 0, |visitor: &mut dyn FieldVisitor| {
            visitor.field("dh_theta", Value::F64s(&[0.0, 0.001, 0.0, 0.0, 0.0, 0.0]));
            visitor.field("dh_a", Value::F64s(&[0.0, -0.425, -0.3922, 0.0, 0.0, 0.0]));
            visitor.field("dh_d", Value::F64s(&[0.1625, 30.0, -30.0, 0.1333, 0.0997, 0.0996]));
            visitor.field("dh_alpha", Value::F64s(&[quarter, 0.0, 0.0, quarter, -quarter, 0.0]));
        });
        readings
    }

    #[test]
    fn it_has_a_link_behind_each_joint_below_its_prefix_and_nothing_before_the_arm_has_told() {
        assert_eq!(Geometry::of(&Readings::default()), None);
        let geometry = Geometry::of(&told()).expect("it has told");
        let arm = Arm::new(&UR_JOINTS, &Names::new("", "left_").unwrap());
        let text = text(&geometry, &arm, [3.0; 6]);
        assert_eq!(text.matches("type=\"revolute\"").count(), 6);
        assert!(text.contains("<joint name=\"left_elbow_joint\"") && text.contains("<link name=\"left_tool0\"/>"));
        assert!(text.contains("lower=\"-3.141593\" upper=\"3.141593\"") && text.contains("upper=\"6.283185\""));
        assert!(text.contains("xyz=\"-0.425000 0.000000 30.000000\""), "{text}");
        // No stick is 30 m long.
        assert!(!text.contains("length=\"30"), "{text}");
        assert_eq!(text.matches("<link ").count(), text.matches("<joint ").count() + 1);
    }

    #[test]
    fn wrist_3_of_a_small_arm_is_continuous_and_has_no_range() {
        let mut readings = told();
        readings.sub_package("configuration_data", 0, |visitor: &mut dyn FieldVisitor| {
            visitor.field("robot_type", Value::Signed(3));
        });
        let geometry = Geometry::of(&readings).expect("it has told");
        let text = text(&geometry, &Arm::new(&UR_JOINTS, &Names::new("", "").unwrap()), [3.0; 6]);
        let wrist = text.split("<joint ").find(|joint| joint.starts_with("name=\"wrist_3_joint\"")).expect("a joint");
        assert!(wrist.contains("type=\"continuous\"") && wrist.contains("<limit effort="), "{wrist}");
        assert_eq!((text.matches("type=\"revolute\"").count(), text.matches("lower=").count()), (5, 5));
    }

    #[test]
    fn a_turn_about_x_and_then_z_is_the_same_as_roll_pitch_and_yaw() {
        for (x, z) in [(0.0, 0.0), (1.2, 0.0), (0.0, -0.7), (1.5, 0.3), (-0.4, 2.0)] {
            let [r, p, w]: [f64; 3] = turns(x, z);
            let ((sr, cr), (sp, cp), (sw, cw)) = (r.sin_cos(), p.sin_cos(), w.sin_cos());
            // The first column and the last row of yaw · pitch · roll.
            let found = [cw * cp, sw * cp, -sp, cp * sr, cp * cr];
            let ((sx, cx), (sz, cz)) = (f64::sin_cos(x), f64::sin_cos(z));
            let wanted = [cz, cx * sz, sx * sz, sx * cz, cx];
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{x} {z}: {found:?} {wanted:?}");
        }
    }
}
