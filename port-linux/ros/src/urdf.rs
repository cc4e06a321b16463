//! The robot description: links, joints and limits as URDF, from the geometry that the arm reports.
//!
//! Links, joints and frames are those of UR's package `ur_description`, `core/docs/protocol/ros2-surface.md` 12.3.
//! Shapes are sticks as long as the links, or the meshes of that package.

mod meshes;

use std::fmt::Write as _;

use outrigger_wire::robot::RobotModel;

use self::meshes::Meshes;
use crate::arm::{Arm, UR_JOINTS};
use crate::readings::{Readings, Variable};

/// The names of the links that the joints move, in the order of the joints.
const LINKS: [&str; 6] =
    ["shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link"];
/// The name of the link against which the arm's first joint turns.
const BASE: &str = "base_link_inertia";
/// The index of the elbow, whose range is half that of the others.
const ELBOW: usize = 2;
/// The index of the joint that turns without limit on small arms.
const WRIST_3: usize = 5;
/// The length of a link from which on no stick is drawn for it \[m\]: calibration may give links tens of metres.
const LONGEST: f64 = 1.0;
/// The radius of a stick that represents a link \[m\].
const RADIUS: f64 = 0.03;
const HALF: f64 = std::f64::consts::PI;
const QUARTER: f64 = std::f64::consts::FRAC_PI_2;

/// The geometry of an arm: θ \[rad\], a \[m\], d \[m\] and α \[rad\] of each joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    theta: [f64; 6],
    a: [f64; 6],
    d: [f64; 6],
    alpha: [f64; 6],
    /// `true` if wrist 3 turns without limit.
    endless: bool,
    /// The model of the arm; `None` if the arm's type and the controller's generation do not determine it.
    model: Option<RobotModel>,
}

impl Geometry {
    /// Returns the geometry of the arm from its readings; `None` until the arm has reported the geometry and its type.
    #[must_use]
    pub(crate) fn of(readings: &Readings) -> Option<Self> {
        let of = |variable| readings.array(variable).filter(|values: &[f64; 6]| values.iter().all(|v| v.is_finite()));
        Some(Self {
            theta: of(Variable::DhTheta)?,
            a: of(Variable::DhA)?,
            d: of(Variable::DhD)?,
            alpha: of(Variable::DhAlpha)?,
            endless: readings.wrist_turns_without_end()?,
            model: readings.model(),
        })
    }

    /// Returns the distance of each link's frame from that of its joint's Denavit–Hartenberg parameters, along the
    /// joint's axis \[m\].
    ///
    /// The frames of `ur_description` are at the end of the shift d. Upper arm and forearm have no shift: there,
    /// calibration splits a small one into two long ones that cancel out, up to tens of metres. Without the shift the
    /// forearm's frame stays beside the upper arm.
    fn shifts(&self) -> [f64; 6] {
        let [d1, d2, _, d4, d5, d6] = self.d;
        [d1, 0.0, -d2, d4, d5, d6]
    }
}

/// Returns the robot description (URDF) of an arm with these names whose joints are no faster than `velocity`
/// \[rad/s\]. With `meshes`, shapes are the meshes of `ur_description` if the model is known.
#[must_use]
pub(crate) fn text(geometry: &Geometry, arm: &Arm, velocity: [f64; 6], meshes: bool) -> String {
    let prefix = arm.joints.first().map_or("", |first| first.strip_suffix(UR_JOINTS[0]).unwrap_or_default());
    let meshes = geometry.model.filter(|_| meshes).map(Meshes::of);
    let mut text = String::from("<?xml version=\"1.0\"?>\n<robot name=\"ur\">\n");
    let shape = meshes.as_ref().map_or_else(String::new, Meshes::base);
    let _ = writeln!(text, "  <link name=\"{prefix}base_link\"/>\n  <link name=\"{prefix}{BASE}\">\n{shape}  </link>");
    fixed(&mut text, prefix, "base_link-base_link_inertia", ["base_link", BASE], [0.0, 0.0, HALF]);
    let shifts = geometry.shifts();
    let mut parent = BASE;
    let (mut before, mut turned) = ([0.0; 3], 0.0);
    for (number, (name, link)) in arm.joints.iter().zip(LINKS).enumerate() {
        let of = |values: &[f64; 6]| values.get(number).copied().unwrap_or_default();
        let (a, d, shift) = (of(&geometry.a), of(&geometry.d), of(&shifts));
        let (sin, cos) = f64::sin_cos(turned);
        let [x, y, z] = before;
        let most = HALF * if number == ELBOW { 1.0 } else { 2.0 };
        let (kind, range) = if geometry.endless && number == WRIST_3 {
            ("continuous", String::new())
        } else {
            ("revolute", format!("lower=\"-{most:.6}\" upper=\"{most:.6}\" "))
        };
        let _ = write!(
            text,
            "  <joint name=\"{name}\" type=\"{kind}\">\n    <parent link=\"{prefix}{parent}\"/>\n    <child link=\"{prefix}{link}\"/>\n    \
             {}\n    <axis xyz=\"0 0 1\"/>\n    <limit {range}effort=\"0\" velocity=\"{:.6}\"/>\n  \
             </joint>\n  <link name=\"{prefix}{link}\">\n{}  </link>\n",
            origin([x, y - sin * shift, z + cos * shift], turns(turned, of(&geometry.theta))),
            of(&velocity),
            meshes.as_ref().map_or_else(|| sticks(a, d, shift), |meshes| meshes.link(number)),
        );
        (before, turned) = ([a, 0.0, d - shift], of(&geometry.alpha));
        parent = link;
    }
    for (joint, links, rpy) in [
        ("base_link-base_fixed_joint", ["base_link", "base"], [0.0, 0.0, HALF]),
        ("wrist_3_link-ft_frame", [parent, "ft_frame"], [HALF, 0.0, 0.0]),
        ("wrist_3-flange", [parent, "flange"], [0.0, -QUARTER, -QUARTER]),
        ("flange-tool0", ["flange", "tool0"], [QUARTER, 0.0, QUARTER]),
    ] {
        let _ = writeln!(text, "  <link name=\"{prefix}{}\"/>", links[1]);
        fixed(&mut text, prefix, joint, links, rpy);
    }
    text.push_str("</robot>\n");
    text
}

fn fixed(text: &mut String, prefix: &str, name: &str, [parent, child]: [&str; 2], rpy: [f64; 3]) {
    let _ = write!(
        text,
        "  <joint name=\"{prefix}{name}\" type=\"fixed\">\n    <parent link=\"{prefix}{parent}\"/>\n    \
         <child link=\"{prefix}{child}\"/>\n    {}\n  </joint>\n",
        origin([0.0; 3], rpy)
    );
}

fn origin([x, y, z]: [f64; 3], [r, p, w]: [f64; 3]) -> String {
    format!("<origin xyz=\"{x:.9} {y:.9} {z:.9}\" rpy=\"{r:.9} {p:.9} {w:.9}\"/>")
}

/// Returns roll, pitch and yaw \[rad\] of a rotation about x, followed by one about the rotated z axis.
fn turns(about_x: f64, about_z: f64) -> [f64; 3] {
    let ((sx, cx), (sz, cz)) = (about_x.sin_cos(), about_z.sin_cos());
    // The rows of that rotation are (cz, −sz, 0), (cx·sz, cx·cz, −sx), (sx·sz, sx·cz, cx).
    let pitch = (-sx * sz).atan2((cz * cz + cx * cx * sz * sz).sqrt());
    [(sx * cz).atan2(cx), pitch, (cx * sz).atan2(cz)]
}

/// Returns the shape of a link as URDF: a cylinder along z with the Denavit–Hartenberg length `d`, and one along x from
/// its end with the length `a`. The link's frame is `shift` along z from the joint's. All are in \[m\].
fn sticks(a: f64, d: f64, shift: f64) -> String {
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
    let (d, end) = if d.abs() < LONGEST { (d, d - shift) } else { (0.0, 0.0) };
    stick(d, [0.0, 0.0, end - d / 2.0], [0.0; 3]);
    stick(a, [a / 2.0, 0.0, end], [0.0, QUARTER, 0.0]);
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use outrigger_wire::fields::{FieldVisitor, Value};
    use outrigger_wire::robot::SoftwareVersion;

    use super::*;
    use outrigger_ros2_messages::endpoint::Names;

    const UR5E: [[f64; 6]; 4] = [
        [0.0; 6],
        [0.0, -0.425, -0.3922, 0.0, 0.0, 0.0],
        [0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996],
        [QUARTER, 0.0, 0.0, QUARTER, -QUARTER, 0.0],
    ];
    /// The Denavit–Hartenberg parameters θ, a, d and α as calibration writes them for nearly parallel axes: two long
    /// shifts d cancel out.
    const CALIBRATED: [[f64; 6]; 4] = [
        [1e-4, 0.013, -0.012, 1e-3, -2e-4, 3e-4],
        [2e-5, -0.4247, -0.3919, -3e-5, 4e-5, 0.0],
        [0.1627, 30.25, -30.2514, 0.1335, 0.0996, 0.0997],
        [1.5702, 8e-4, -2e-3, 1.5713, -1.5701, 0.0],
    ];

    fn told([theta, a, d, alpha]: [[f64; 6]; 4], robot_type: i64) -> Readings {
        let mut readings = Readings::default();
        readings.identified(SoftwareVersion::new(5, 15));
        readings.sub_package("kinematics_info", 0, |visitor: &mut dyn FieldVisitor| {
            for (name, values) in [("dh_theta", theta), ("dh_a", a), ("dh_d", d), ("dh_alpha", alpha)] {
                visitor.field(name, Value::F64s(&values));
            }
        });
        assert_eq!(Geometry::of(&readings), None, "the type decides on the model and on wrist 3");
        readings.sub_package("configuration_data", 0, |visitor: &mut dyn FieldVisitor| {
            visitor.field("robot_type", Value::Signed(robot_type));
        });
        readings
    }

    fn described(readings: &Readings, prefix: &str, meshes: bool) -> String {
        let geometry = Geometry::of(readings).expect("it has told");
        text(&geometry, &Arm::new(&UR_JOINTS, &Names::new("", prefix).unwrap()), [3.0; 6], meshes)
    }

    /// Returns the robot description (URDF) of a UR5e with its joint names prefixed by `prefix`.
    pub(crate) fn of_an_e_series(prefix: &str, meshes: bool) -> String {
        described(&told(UR5E, 1), prefix, meshes)
    }

    /// Returns the numbers of an attribute of the first origin of a joint or link.
    fn numbers(of: &str, attribute: &str) -> [f64; 3] {
        let (_, rest) = of.split_once(&format!("{attribute}=\"")).expect("an attribute");
        let numbers =
            rest.split('"').next().expect("a value").split(' ').map(|number| number.parse().expect("a number"));
        numbers.collect::<Vec<_>>().try_into().expect("three")
    }

    fn joint<'t>(text: &'t str, name: &str) -> &'t str {
        text.split("<joint ").find(|joint| joint.starts_with(&format!("name=\"{name}\""))).expect("a joint")
    }

    type Transform = [[f64; 4]; 3];

    fn times(a: &Transform, b: &Transform) -> Transform {
        std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let turned: f64 = (0..3).map(|k| a[row][k] * b[k][column]).sum();
                turned + if column == 3 { a[row][3] } else { 0.0 }
            })
        })
    }

    /// Returns the transform of a frame at a position \[m\] that is rotated by yaw · pitch · roll \[rad\], as in URDF.
    fn placed([x, y, z]: [f64; 3], [r, p, w]: [f64; 3]) -> Transform {
        let ((sr, cr), (sp, cp), (sw, cw)) = (r.sin_cos(), p.sin_cos(), w.sin_cos());
        [
            [cw * cp, cw * sp * sr - sw * cr, cw * sp * cr + sw * sr, x],
            [sw * cp, sw * sp * sr + cw * cr, sw * sp * cr - cw * sr, y],
            [-sp, cp * sr, cp * cr, z],
        ]
    }

    #[test]
    fn the_tool_is_where_the_parameters_of_the_arm_have_it_at_any_angles() {
        for of in [UR5E, CALIBRATED] {
            let text = described(&told(of, 1), "", false);
            for q in [[0.0; 6], [0.3, -1.2, 1.4, -2.0, 0.7, 2.9], [-3.0, 0.4, -2.2, 1.0, -1.6, -0.5]] {
                let mut expected = placed([0.0; 3], [0.0; 3]);
                let mut found = placed([0.0; 3], [0.0; 3]);
                for (number, name) in UR_JOINTS.iter().enumerate() {
                    let [theta, a, d, alpha] = of.map(|values| values[number]);
                    expected = times(&expected, &placed([0.0, 0.0, d], [0.0, 0.0, theta + q[number]]));
                    expected = times(&expected, &placed([a, 0.0, 0.0], [alpha, 0.0, 0.0]));
                    let joint = joint(&text, name);
                    found = times(&found, &placed(numbers(joint, "xyz"), numbers(joint, "rpy")));
                    found = times(&found, &placed([0.0; 3], [0.0, 0.0, q[number]]));
                }
                for name in ["wrist_3-flange", "flange-tool0"] {
                    found = times(&found, &placed([0.0; 3], numbers(joint(&text, name), "rpy")));
                }
                let off = expected.as_flattened().iter().zip(found.as_flattened()).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-7, "{q:?}: expected {expected:?}, found {found:?}");
            }
        }
    }

    #[test]
    fn frames_are_those_of_ur_description_and_stay_beside_the_arm_where_calibration_shifts_them() {
        let text = described(&told(UR5E, 1), "left_", false);
        // `core/docs/protocol/ros2-surface.md` 12.3.
        for (name, xyz, rpy) in [
            ("left_shoulder_pan_joint", [0.0, 0.0, 0.1625], [0.0; 3]),
            ("left_shoulder_lift_joint", [0.0; 3], [QUARTER, 0.0, 0.0]),
            ("left_elbow_joint", [-0.425, 0.0, 0.0], [0.0; 3]),
            ("left_wrist_1_joint", [-0.3922, 0.0, 0.1333], [0.0; 3]),
            ("left_wrist_2_joint", [0.0, -0.0997, 0.0], [QUARTER, 0.0, 0.0]),
            ("left_wrist_3_joint", [0.0, 0.0996, 0.0], [-QUARTER, 0.0, 0.0]),
        ] {
            let joint = joint(&text, name);
            let found = [numbers(joint, "xyz"), numbers(joint, "rpy")];
            let expected = [xyz, rpy];
            let off = found.as_flattened().iter().zip(expected.as_flattened()).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-8, "{name}: {found:?}");
        }
        assert_eq!(text.matches("type=\"revolute\"").count(), 6);
        assert!(text.contains("lower=\"-3.141593\" upper=\"3.141593\"") && text.contains("upper=\"6.283185\""));
        assert_eq!(text.matches("<link ").count(), text.matches("<joint ").count() + 1);
        for link in ["base_link", "base_link_inertia", "base", "ft_frame", "flange", "tool0"] {
            assert!(text.contains(&format!("<link name=\"left_{link}\"")), "{link}");
        }
        let text = described(&told(CALIBRATED, 1), "", false);
        let all = UR_JOINTS.map(|name| numbers(joint(&text, name), "xyz"));
        assert!(all.as_flattened().iter().all(|shift| shift.abs() < 0.5), "{all:?}");
        assert!(!text.contains("length=\"30"), "{text}");
    }

    #[test]
    fn wrist_3_of_a_small_arm_is_continuous_and_has_no_range() {
        let text = described(&told(UR5E, 3), "", false);
        let wrist = joint(&text, "wrist_3_joint");
        assert!(wrist.contains("type=\"continuous\"") && wrist.contains("<limit effort="), "{wrist}");
        assert_eq!((text.matches("type=\"revolute\"").count(), text.matches("lower=").count()), (5, 5));
    }

    #[test]
    fn meshes_are_those_of_the_model_and_an_unknown_one_keeps_its_sticks() {
        let text = described(&told(UR5E, 1), "", true);
        assert_eq!((text.matches("<visual>").count(), text.matches("<collision>").count()), (7, 7));
        assert!(!text.contains("<cylinder"));
        assert!(text.contains("\"package://ur_description/meshes/ur5e/visual/base.dae\""), "{text}");
        assert_eq!(described(&told(UR5E, 99), "", true), described(&told(UR5E, 99), "", false));
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
