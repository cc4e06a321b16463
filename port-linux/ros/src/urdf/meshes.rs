//! The meshes of UR's package `ur_description`, by the paths at which it installs them.

use outrigger_wire::robot::RobotModel as Model;

use super::{HALF, QUARTER, origin};

/// The meshes of an arm, and their positions in the frames of the links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meshes {
    /// The folder with the meshes of the arm's base, shoulder and wrists.
    folder: &'static str,
    /// The folder of the meshes of upper arm and forearm; models of one size share the folder of the other parts.
    arms: &'static str,
    /// The positions of upper arm, forearm, wrist 1 and wrist 2 along z, and of wrist 3 along y and z \[m\].
    offsets: [f64; 6],
}

impl Meshes {
    /// Returns the meshes of a model.
    ///
    /// The numbers are from `config/<model>/visual_parameters.yaml` of
    /// UniversalRobots/Universal_Robots_ROS2_Description, release 4.3.1 (`core/docs/protocol/ros2-surface.md` 12.3).
    /// There, ur7e and ur12e have those of ur5e and ur10e.
    pub(super) const fn of(model: Model) -> Self {
        let (folder, arms, offsets) = match model {
            Model::Ur3 => ("ur3", "ur3", [0.1198, 0.0275, -0.085, -0.083, -0.002, -0.082]),
            Model::Ur5 => ("ur5", "ur5", [0.13585, 0.0165, -0.093, -0.095, 0.0, -0.0818]),
            Model::Ur10 => ("ur10", "ur10", [0.220_941, 0.049_042, -0.1149, -0.1158, 0.001, -0.0922]),
            Model::Ur3e => ("ur3e", "ur3e", [0.12, 0.027, -0.104, -0.08535, 0.0, -0.0921]),
            Model::Ur5e | Model::Ur7e => ("ur5e", "ur5e", [0.138, 0.007, -0.127, -0.0997, -0.0005, -0.0989]),
            Model::Ur10e | Model::Ur12e => ("ur10e", "ur10e", [0.1762, 0.0393, -0.135, -0.12, -0.0005, -0.1168]),
            Model::Ur16e => ("ur10e", "ur16e", [0.1762, 0.0393, -0.135, -0.12, -0.0005, -0.1168]),
            Model::Ur8Long => ("ur15", "ur8long", [0.109, 0.13425, -0.0502, -0.064, 0.0, -0.0715]),
            Model::Ur15 => ("ur15", "ur15", [0.1, 0.125, -0.0502, -0.064, 0.0, -0.0715]),
            Model::Ur18 => ("ur15", "ur18", [0.109, 0.13425, -0.0502, -0.064, 0.0, -0.0715]),
            Model::Ur20 => ("ur20", "ur20", [0.26, 0.043, -0.0775, -0.0749, 0.0, -0.07]),
            Model::Ur30 => ("ur20", "ur30", [0.26, 0.043, -0.0775, -0.0749, 0.0, -0.07]),
        };
        Self { folder, arms, offsets }
    }

    /// Returns the shape of the arm's base as URDF.
    pub(super) fn base(&self) -> String {
        shape(self.folder, "base", [0.0; 3], [0.0, 0.0, HALF])
    }

    /// Returns the shape of the link behind a joint as URDF; the joint is counted from 0. Empty behind the last
    /// joint.
    pub(super) fn link(&self, joint: usize) -> String {
        let Self { folder, arms, offsets: [upper_arm, forearm, wrist_1, wrist_2, wrist_3_y, wrist_3_z] } = *self;
        let (arm, wrist) = ([QUARTER, 0.0, -QUARTER], [QUARTER, 0.0, 0.0]);
        match joint {
            0 => shape(folder, "shoulder", [0.0; 3], [0.0, 0.0, HALF]),
            1 => shape(arms, "upperarm", [0.0, 0.0, upper_arm], arm),
            2 => shape(arms, "forearm", [0.0, 0.0, forearm], arm),
            3 => shape(folder, "wrist1", [0.0, 0.0, wrist_1], wrist),
            4 => shape(folder, "wrist2", [0.0, 0.0, wrist_2], [0.0; 3]),
            5 => shape(folder, "wrist3", [0.0, wrist_3_y, wrist_3_z], wrist),
            _ => String::new(),
        }
    }
}

/// Returns the visual and the collision shape of a link as URDF, at the same position.
fn shape(folder: &str, part: &str, xyz: [f64; 3], rpy: [f64; 3]) -> String {
    let origin = origin(xyz, rpy);
    [("visual", "dae"), ("collision", "stl")]
        .iter()
        .map(|(tag, kind)| {
            format!(
                "    <{tag}>\n      {origin}\n      <geometry><mesh \
                 filename=\"package://ur_description/meshes/{folder}/{tag}/{part}.{kind}\"/></geometry>\n    </{tag}>\n"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_every_model_have_a_mesh_to_look_at_and_one_to_touch() {
        let of = |model| (0..6).map(|joint| Meshes::of(model).link(joint)).collect::<Vec<_>>();
        for model in Model::ALL {
            let parts = ["shoulder", "upperarm", "forearm", "wrist1", "wrist2", "wrist3"];
            for (link, part) in of(*model).iter().zip(parts) {
                assert!(
                    link.contains(&format!("/visual/{part}.dae")) && link.contains(&format!("/collision/{part}.stl"))
                );
            }
            assert_eq!(Meshes::of(*model).link(6), "");
        }
        let ur16e = of(Model::Ur16e);
        assert!(
            ur16e[1].contains("/meshes/ur16e/visual/upperarm.dae") && ur16e[3].contains("/meshes/ur10e/"),
            "{ur16e:?}"
        );
        assert!(
            ur16e[2]
                .contains("xyz=\"0.000000000 0.000000000 0.039300000\" rpy=\"1.570796327 0.000000000 -1.570796327\"")
        );
    }
}
