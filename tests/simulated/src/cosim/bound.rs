//! The longest time until the arm is at rest (`core/docs/mode-machine.md 10`): the reaction time, v/a, two cycles,
//! and the lag of the drives.

use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::firmware::Firmware;

use super::record::REST;

/// Returns the longest time to rest from `speed` \[rad/s\], if a stop with `deceleration` \[rad/s²\] begins after
/// `reaction`.
///
/// Two cycles are added because text waits for the next cycle, and the drives respond one cycle later. A first-order
/// lag leaves the joint at the speed `deceleration`·lag when its target is at rest, and that speed decays to
/// [`REST`].
#[must_use]
pub fn rest_bound(controller: &Controller, speed: f64, deceleration: f64, reaction: Duration) -> Duration {
    let lag = controller.options().drive.lag.as_secs_f64();
    let left = (deceleration * lag / REST).max(1.0);
    reaction + Duration::from_secs_f64(speed / deceleration + lag * left.ln()) + controller.period() * 2
}

/// Returns the deceleration that a `stopj` with the argument `asked` \[rad/s²\] reaches on this controller. Before
/// 3.2 the argument has no influence on it.
#[must_use]
pub fn stop_deceleration(options: &Options, asked: f64) -> f64 {
    if Firmware(options.software).stopj_obeys_deceleration() { asked } else { options.fixed_stop_deceleration }
}
