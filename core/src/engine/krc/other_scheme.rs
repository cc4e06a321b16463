//! Whether the KRC commands in a control scheme that we lead (`core/docs/protocol/kuka-fri.md A8`).

use super::control::Control;
use crate::mode::Mode;
use outrigger_wire::fri::{ControlScheme, FriState};

/// Watches for a KRC that commands in a scheme that [`Control`] does not lead.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SchemeWatch {
    /// The one it was in last, and for how many measurements.
    other: Option<(ControlScheme, u32)>,
}

impl SchemeWatch {
    /// The scheme for which `mode` has to end: while commanding at once; while arming, where a KRC may tell its new
    /// scheme a little late, after `patience` measurements, or when it has left the command state again.
    pub(super) fn ends(
        &mut self,
        mode: Mode,
        state: FriState,
        scheme: ControlScheme,
        control: &Control,
        patience: u32,
    ) -> Option<ControlScheme> {
        let before = self.other.take();
        let bound = match mode {
            Mode::Command => 1,
            Mode::Arming => patience,
            Mode::Offline | Mode::Monitor | Mode::Stopping => return None,
        };
        if !matches!(state, FriState::Command) {
            return before.map(|(scheme, _)| scheme);
        }
        if control.leads_in(scheme) {
            return None;
        }
        let measurements = before.map_or(0, |(_, count)| count).saturating_add(1);
        self.other = Some((scheme, measurements));
        (measurements >= bound).then_some(scheme)
    }
}
