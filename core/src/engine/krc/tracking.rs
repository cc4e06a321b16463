//! How far the target may stray from the arm.

use super::control::Control;
use crate::math::sin_cos;
use crate::robot::{BadValue, Range, range};
use crate::wire::fri::{Frame, JOINTS};

/// How far what is commanded may be from what is measured. Beyond it an arm is held fast, or a soft one is a spring that is
/// being drawn: commanding ends with [`TrackingError`](crate::robot::Reason::TrackingError).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracking {
    /// Of each joint \[rad\]; by the control scheme where there is none: 0.1 in position control, 0.3 in impedance control.
    pub joints: Option<[f32; JOINTS]>,
    /// Of the tool in Cartesian impedance \[m\], unless frames are mirrored as [commanded](super::MirroredFrame::Commanded):
    /// those are not where the tool is. Default 0.1.
    pub linear: f32,
    /// The same as a turn \[rad\]. Default 0.3.
    pub angular: f32,
}

impl Default for Tracking {
    fn default() -> Self {
        Self { joints: None, linear: 0.1, angular: 0.3 }
    }
}

impl Tracking {
    /// Of each joint \[rad\], in this scheme.
    #[must_use]
    pub fn joints_in(&self, control: &Control) -> [f32; JOINTS] {
        self.joints.unwrap_or(match control {
            Control::Position => [0.1; JOINTS],
            Control::JointImpedance(_) | Control::ToolImpedance(_) => [0.3; JOINTS],
        })
    }

    /// Range of [`joints`](Self::joints).
    pub const JOINTS: Range<f32> = range!(0.001, 1.0, " rad");
    /// Range of [`linear`](Self::linear).
    pub const LINEAR: Range<f32> = range!(0.001, 1.0, " m");
    /// Range of [`angular`](Self::angular).
    pub const ANGULAR: Range<f32> = range!(0.001, 1.0, " rad");

    /// Whether every limit is one.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        let joints = self.joints.is_none_or(|joints| Self::JOINTS.contains_all(joints));
        BadValue::unless(joints, "tracking.joints", Self::JOINTS.text)?;
        Self::LINEAR.check(self.linear, "tracking.linear")?;
        Self::ANGULAR.check(self.angular, "tracking.angular")
    }

    /// Whether joints strayed from those measured.
    pub(super) fn strays(&self, control: &Control, joints: &[f32; JOINTS], measured: &[f32; JOINTS]) -> bool {
        let most = self.joints_in(control);
        !joints.iter().zip(measured).zip(most).all(|((at, measured), most)| (at - measured).abs() <= most)
    }

    /// Whether a frame strayed from the one measured.
    pub(super) fn strays_from(&self, frame: &Frame, measured: &Frame) -> bool {
        let dot = |p: &[f32; 3], q: &[f32; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f32>();
        let [x, y, z] = crate::math::subtract(frame.position, measured.position);
        // The trace of one rotation times the other's inverse: 1 + 2·cos of the turn between them.
        let trace: f32 = frame.rotation.iter().zip(&measured.rotation).map(|(p, q)| dot(p, q)).sum();
        let (_, cosine) = sin_cos(self.angular);
        let near = x * x + y * y + z * z <= self.linear * self.linear && trace >= 1.0 + 2.0 * cosine;
        !near
    }
}
