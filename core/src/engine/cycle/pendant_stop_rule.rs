//! The rule for a stop at the pendant in the present session.

use crate::mode::{PeerGate, Pendant, PendantConfig, PendantReading, PendantStop, PendantWatch};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::time::Instant;

/// The way in which a stop at the pendant shows in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum PendantSight {
    /// A stop at the pendant always shows, because it ends the program that takes the commands.
    Always,
    /// A stop shows in the program state of the packets, unless that state also changes between two URScript texts of
    /// this driver.
    ByStates,
    /// A stop at the pendant never shows.
    Never,
}

/// The rule for a stop at the pendant: the [`PendantWatch`] that detects it, its thresholds, and the consequence if a
/// stop cannot be seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendantRule {
    pub(super) config: PendantConfig,
    watch: PendantWatch,
    sight: PendantSight,
    /// `true` if a stop at the pendant cannot be seen now, so that the next command would override it.
    overrides: bool,
    /// The readiness of a controller to be commanded, for one that reports no readiness of its own.
    gate: PeerGate,
}

impl PendantRule {
    /// Creates the rule of a session for a stop at the pendant.
    pub(super) fn new(config: PendantConfig, sight: PendantSight) -> Self {
        let watch = PendantWatch::default();
        let mut rule = Self { config, watch, sight, overrides: false, gate: PeerGate::Ready };
        rule.begin();
        rule
    }

    fn set(&mut self, overrides: bool) {
        self.overrides = overrides;
        self.gate = if overrides && self.config.stop == PendantStop::Seen { PeerGate::Unseen } else { PeerGate::Ready };
    }

    /// Discards what earlier states showed of a stop or a pause at the pendant, because nothing is commanded now.
    pub(super) fn begin(&mut self) {
        self.watch = PendantWatch::default();
        self.set(self.sight == PendantSight::Never);
    }

    /// Evaluates the newest state, read at `now`, while arming or `commanding`. Returns the effect of a stop or a pause
    /// at the pendant that it shows.
    pub(super) fn observe(&mut self, reading: &PendantReading, commanding: bool, now: Instant) -> Pendant {
        let said = self.watch.observe(&self.config, reading, now);
        if self.sight == PendantSight::ByStates {
            // The end of a text that was never accepted could not be seen.
            let sees = self.watch.sees_stops(&self.config).unwrap_or(!commanding);
            self.set(!sees);
        }
        said
    }

    /// Returns the readiness of the controller to be commanded, for one that reports no readiness of its own.
    pub(super) const fn gate(&self) -> PeerGate {
        self.gate
    }

    pub(super) const fn overrides(&self) -> bool {
        self.overrides
    }

    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // The thresholds are those of the configuration, and the gate follows from `overrides`.
        let Self { config: _, watch, sight, overrides, gate: _ } = self;
        let (by_states, never) = (*sight == PendantSight::ByStates, *sight == PendantSight::Never);
        to.put(&(watch, by_states, never, overrides))
    }

    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        let (watch, by_states, never, overrides) = from.take()?;
        self.watch = watch;
        self.sight = match (by_states, never) {
            (true, _) => PendantSight::ByStates,
            (false, true) => PendantSight::Never,
            (false, false) => PendantSight::Always,
        };
        self.set(overrides);
        Some(())
    }
}
