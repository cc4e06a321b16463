//! The bounds of the commanded position: the arm's limits as scaled by `friStart`, and the configured ranges.

use super::config::KrcConfig;
use outrigger_wire::fri::JOINTS;
use outrigger_wire::math::double_conversion::to_f32;
use outrigger_wire::time::Duration;

/// The ranges, speeds and accelerations that the commanded position respects, joint by joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The lowest position of each joint \[rad\]: the higher one of the arm's, with its margin, and the configured one.
    low: [f32; JOINTS],
    /// The highest position of each joint \[rad\]: the lower one of the arm's, with its margin, and the configured one.
    high: [f32; JOINTS],
    /// The arm's highest speed of each joint \[rad/s\], multiplied by the scale in `friStart`, at most by 1; NaN if the
    /// scale is.
    pub(super) velocity: [f32; JOINTS],
    /// The arm's highest acceleration of each joint \[rad/s²\], multiplied like `velocity`.
    pub(super) acceleration: [f32; JOINTS],
    /// The deceleration of each joint's commanded position when it is braked \[rad/s²\].
    pub(super) braking: [f32; JOINTS],
    /// The time for which a KRC may continue by itself before it stops \[s\].
    ahead: f32,
}

impl Bounds {
    /// Creates the bounds for the `scale` in `friStart`, on a KRC that bridges missing answers for the time `ahead`.
    pub(super) fn new(config: &KrcConfig, scale: f32, ahead: Duration) -> Self {
        let (limits, arm) = (&config.limits, &config.peer.arm);
        // With a scale of NaN no speed is within the limits; braking then uses the full limit.
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

    /// Returns `true` if a joint at the angle `at` \[rad\] with this speed \[rad/s\] comes to rest inside its range. A
    /// joint outside of the range has room if it moves inwards.
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

    /// Returns the edge of the range \[rad\] that a joint crosses between the angles `from` and `to`; `None` if it
    /// crosses none. Braking ends there, at any deceleration.
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
