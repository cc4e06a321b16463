//! The detection of a KRC that commands in another control scheme than ours (`core/docs/protocol/kuka-fri.md A8`).

use super::control_schemes::Control;
use crate::mode::Mode;
use outrigger_wire::fri::{ControlScheme, FriState};

/// The watch for a KRC that commands in a control scheme in which the arm does not follow commands of our [`Control`].
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SchemeWatch {
    /// The other scheme that the KRC reported last, and the number of measurements with that scheme.
    other: Option<(ControlScheme, u32)>,
}

impl SchemeWatch {
    /// Returns the KRC's other control scheme because of which arming or commanding has to end; `None` if it may
    /// continue. While commanding, it ends at once. While arming, a KRC may report its new scheme a little late, so it
    /// ends after `patience` measurements, or when the KRC has left the command state again.
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
