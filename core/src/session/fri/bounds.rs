//! What the target is held to: the arm's limits as `friStart` scales them, the configured ranges, and the arm itself, from
//! which it may not stray.

use super::config::FriConfig;
use super::control::Control;
use crate::math::double::to_f32;
use crate::math::sin_cos;
use crate::robot::BadValue;
use crate::time::Duration;
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

    /// Whether every limit is one.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        let within = |value: f32| value > 0.0 && value <= 1.0;
        let joints = self.joints.is_none_or(|joints| joints.into_iter().all(within));
        BadValue::unless(joints, "tracking.joints", "above 0, at most 1 rad")?;
        BadValue::unless(within(self.linear), "tracking.linear", "above 0, at most 1 m")?;
        BadValue::unless(within(self.angular), "tracking.angular", "above 0, at most 1 rad")
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

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Lowest and highest positions \[rad\], the arm's and the configured ones.
    low: [f32; JOINTS],
    high: [f32; JOINTS],
    /// The arm's, scaled; NaN where the scale is. \[rad/s\], \[rad/s²\]
    pub(super) velocity: [f32; JOINTS],
    pub(super) acceleration: [f32; JOINTS],
    /// Deceleration of the target when it is braked \[rad/s²\].
    pub(super) braking: [f32; JOINTS],
    /// For how long a KRC may go on by itself before it stops \[s\].
    ahead: f32,
}

impl Bounds {
    /// With the `scale` that `friStart` was given, on a KRC that bridges answers for the time `ahead`.
    pub(super) fn new(config: &FriConfig, scale: f32, ahead: Duration) -> Self {
        let FriConfig { arm, limits, .. } = config;
        // A scale that is no number stays one that nothing is within; braking does without.
        let share = if scale > 1.0 { 1.0 } else { scale };
        let brakes = if share > 0.0 { share } else { 1.0 };
        let (mut low, mut high) = (limits.position_min.0, limits.position_max.0);
        for ((low, high), farthest) in low.iter_mut().zip(&mut high).zip(arm.position) {
            *low = low.max(arm.margin - farthest);
            *high = high.min(farthest - arm.margin);
        }
        Self {
            low,
            high,
            velocity: arm.velocity.map(|v| v * share),
            acceleration: arm.acceleration.map(|a| a * share),
            braking: arm.braking.map(|a| a * brakes),
            ahead: ahead.as_secs_f32(),
        }
    }

    /// Whether a joint that is at `at` with this speed comes to rest inside its range: one that leaves it inwards does.
    pub(super) fn has_room(&self, joint: usize, at: f64, speed: f32) -> bool {
        let (Some(low), Some(high), Some(braking)) =
            (self.low.get(joint), self.high.get(joint), self.braking.get(joint))
        else {
            return false;
        };
        let at = to_f32(at);
        let (room, speed) = if speed < 0.0 { (at - low, -speed) } else { (high - at, speed) };
        speed == 0.0 || speed * self.ahead + speed * speed / (2.0 * braking) <= room
    }

    /// The edge that a joint crosses which goes from `from` to `to`, if it does: there braking ends, however hard.
    pub(super) fn edge(&self, joint: usize, from: f64, to: f64) -> Option<f64> {
        let (low, high) = (f64::from(*self.low.get(joint)?), f64::from(*self.high.get(joint)?));
        if from <= high && to > high {
            Some(high)
        } else if from >= low && to < low {
            Some(low)
        } else {
            None
        }
    }
}
