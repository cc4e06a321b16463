//! The common configuration of the explorations: small numbers, so that short sequences reach every mode.

use outrigger_core::mode::ModeConfig;
use outrigger_wire::time::Duration;

pub(crate) const CYCLE: Duration = Duration::from_millis(8);

/// Returns a configuration of the mode machine with small thresholds, and with the defaults for moves by the
/// controller.
pub(crate) fn mode_config() -> ModeConfig {
    let config = ModeConfig {
        good_cycles: 1,
        stop_cycles: 1,
        arming_timeout: CYCLE.times(8),
        state_timeout: CYCLE.times(3),
        stop_timeout: CYCLE.times(9),
        rest_window: CYCLE.times(2),
        evidence_age: CYCLE.times(4),
        offline_after: CYCLE.times(6),
        program_timeout: CYCLE.times(3),
        ..ModeConfig::new(CYCLE)
    };
    assert_eq!(config.check(), Ok(()));
    config
}
