//! The limits of the tracking error: the distance between the target and the arm.

use super::control_schemes::Control;
use crate::robot::settings;
use outrigger_wire::fri::{Frame, JOINTS};
use outrigger_wire::math::sin_cos;

settings! {
    /// The largest permitted distance between the commanded and the measured position. Beyond it an arm is blocked, or
    /// a compliant one is a spring under tension: commanding ends with
    /// [`TrackingError`](crate::robot::Reason::TrackingError). In files these settings are next to the limits.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct Tracking in "tracking." {
        /// The limit of each joint's distance from its target \[rad\]. If not set, it follows from the control scheme:
        /// 0.1 in position control, 0.3 in impedance control.
        pub joints at "tracking_error": Option<[f32; JOINTS]> [0.001 to 1.0 "rad"] = None,
        /// The limit for the tool's position in Cartesian impedance \[m\], unless frames are mirrored as
        /// [commanded](super::MirroredFrame::Commanded), because the tool is elsewhere then. Default 0.1.
        pub linear at "tool_tracking_error": f32 [0.001 to 1.0 "m"] = 0.1,
        /// The limit for the tool's rotation in Cartesian impedance \[rad\], with the same exception as for `linear`.
        /// Default 0.3.
        pub angular at "tool_turn_tracking_error": f32 [0.001 to 1.0 "rad"] = 0.3,
    }
}

impl Tracking {
    /// Returns the largest permitted distance of each joint from its target \[rad\] in this control scheme.
    #[must_use]
    pub fn joints_in(&self, control: &Control) -> [f32; JOINTS] {
        self.joints.unwrap_or(match control {
            Control::Position => [0.1; JOINTS],
            Control::JointImpedance(_) | Control::ToolImpedance(_) => [0.3; JOINTS],
        })
    }

    /// Returns `true` if the joints of the target are too far from the measured ones.
    pub(super) fn strays(&self, control: &Control, joints: &[f32; JOINTS], measured: &[f32; JOINTS]) -> bool {
        let most = self.joints_in(control);
        !joints.iter().zip(measured).zip(most).all(|((at, measured), most)| (at - measured).abs() <= most)
    }

    /// Returns `true` if the frame of the target is too far from the measured one.
    pub(super) fn strays_from(&self, frame: &Frame, measured: &Frame) -> bool {
        let dot = |p: &[f32; 3], q: &[f32; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f32>();
        let [x, y, z] = outrigger_wire::math::subtract(frame.position, measured.position);
        // The trace of one rotation times the inverse of the other: 1 + 2·cos of the angle between them.
        let trace: f32 = frame.rotation.iter().zip(&measured.rotation).map(|(p, q)| dot(p, q)).sum();
        let (_, cosine) = sin_cos(self.angular);
        let near = x * x + y * y + z * z <= self.linear * self.linear && trace >= 1.0 + 2.0 * cosine;
        !near
    }
}
