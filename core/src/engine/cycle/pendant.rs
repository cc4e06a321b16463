//! The rule for a stop at the pendant, as it stands in a session.

use crate::mode::{PeerGate, Pendant, PendantConfig, PendantReading, PendantStop, PendantWatch};
use crate::time::Instant;

/// How a stop at the pendant shows in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::engine) enum PendantSight {
    /// It ends the program that takes the commands.
    Always,
    /// By the program that states tell of, unless it flickers.
    ByStates,
    /// Not at all.
    Never,
}

/// A [`PendantWatch`], its thresholds, and what follows where no stop is seen.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PendantRule {
    pub(super) config: PendantConfig,
    watch: PendantWatch,
    sight: PendantSight,
    /// None is seen now, and the next command overrides one.
    overrides: bool,
    /// The gate of a peer that takes commands and says nothing of its own.
    gate: PeerGate,
}

impl PendantRule {
    /// Returns the rule of a session.
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

    /// Forgets what was seen, because nothing is commanded now.
    pub(super) fn begin(&mut self) {
        self.watch = PendantWatch::default();
        self.set(self.sight == PendantSight::Never);
    }

    /// Takes the newest state, read at `now`, while arming or `commanding`.
    pub(super) fn observe(&mut self, reading: &PendantReading, commanding: bool, now: Instant) -> Pendant {
        let said = self.watch.observe(&self.config, reading, now);
        if self.sight == PendantSight::ByStates {
            // A text that nothing has accepted is no program that could be seen to end.
            self.set(!self.watch.sees_stops(&self.config).unwrap_or(!commanding));
        }
        said
    }

    /// Returns the gate of a peer that takes commands and says nothing of its own.
    pub(super) const fn gate(&self) -> PeerGate {
        self.gate
    }

    pub(super) const fn overrides(&self) -> bool {
        self.overrides
    }
}
