//! When the arm must be at rest (`core/docs/mode-machine.md 10`): the reaction, then v/a, then two cycles, and what the drives lag behind.

use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::firmware::Firmware;

use super::record::REST;

/// Longest time to rest from `speed` \[rad/s\], where a stop of `deceleration` \[rad/s²\] begins after `reaction`.
///
/// Two cycles: text waits for the next cycle, and the drives answer one cycle later. A first-order lag leaves the
/// joint at `deceleration`·lag when its target stands, and that decays to [`REST`].
#[must_use]
pub fn rest_bound(controller: &Controller, speed: f64, deceleration: f64, reaction: Duration) -> Duration {
    let lag = controller.options().drive.lag.as_secs_f64();
    let left = (deceleration * lag / REST).max(1.0);
    reaction + Duration::from_secs_f64(speed / deceleration + lag * left.ln()) + controller.period() * 2
}

/// The deceleration that a `stopj` asking for `asked` \[rad/s²\] reaches on this controller: before 3.2 it takes no
/// part in it.
#[must_use]
pub fn stop_deceleration(options: &Options, asked: f64) -> f64 {
    if Firmware(options.software).stopj_obeys_deceleration() { asked } else { options.fixed_stop_deceleration }
}
