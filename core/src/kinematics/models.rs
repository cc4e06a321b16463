//! The nominal link lengths of the UR models, from the vendor's public robot descriptions.

use outrigger_wire::robot::RobotModel;

/// Returns the lengths d₁ a₂ a₃ d₄ d₅ d₆ of a model's links \[m\]: the shifts that are not zero. Upper arm (a₂) and
/// forearm (a₃) are negative because of the vendor's choice of axes.
///
/// Origin: the `default_kinematics.yaml` of each model (shoulder z, forearm x, wrist 1 x and z, wrist 2 −y, wrist 3 y)
/// in UniversalRobots/Universal_Robots_ROS2_Description at 2221ec0f; ur15 at 499e728e, ur18 at 34b13710, ur8long at
/// 31e22940 and ur7e, ur12e (there links to ur5e, ur10e) at 3be81362 of ros-industrial/universal_robot. ur5e agrees
/// with a recorded kinematics-info sub-package, ur5 and ur5e reproduce recorded poses.
pub(super) const fn lengths(model: RobotModel) -> [f32; 6] {
    match model {
        RobotModel::Ur3 => [0.1519, -0.24365, -0.21325, 0.11235, 0.08535, 0.0819],
        RobotModel::Ur5 => [0.089_159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823],
        RobotModel::Ur10 => [0.1273, -0.612, -0.5723, 0.163_941, 0.1157, 0.0922],
        RobotModel::Ur3e => [0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921],
        RobotModel::Ur5e | RobotModel::Ur7e => [0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996],
        RobotModel::Ur10e | RobotModel::Ur12e => [0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655],
        RobotModel::Ur16e => [0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655],
        RobotModel::Ur8Long => [0.2186, -0.8989, -0.7149, 0.1824, 0.1361, 0.1434],
        RobotModel::Ur15 => [0.2186, -0.6475, -0.5164, 0.1824, 0.1361, 0.1434],
        RobotModel::Ur18 => [0.2186, -0.475, -0.3389, 0.1824, 0.1361, 0.1434],
        RobotModel::Ur20 => [0.2363, -0.862, -0.7287, 0.201, 0.1593, 0.1543],
        RobotModel::Ur30 => [0.2363, -0.637, -0.5037, 0.201, 0.1593, 0.1543],
    }
}
