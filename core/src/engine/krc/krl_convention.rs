//! The requests to a KRL program to start and stop commanding, by variables whose meaning is a convention
//! (`core/docs/protocol/kuka-fri.md A12`).

use crate::robot::words;
use outrigger_wire::fri::{ControlScheme, KrlIndex, KrlVariables};

/// The present request to the KRL program: whether to command, and the control scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Wanted {
    /// `true` if the program is requested to be in command state.
    pub command: bool,
    /// The control scheme in which the program is to start commanding.
    pub scheme: ControlScheme,
}

/// The conventions of published KRL programs for variables that start and stop commanding. While nothing is requested,
/// the variables have their values for stop, so that a start is always a change of value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum KrlConvention {
    /// `ros_control.src`: INT\[1\] strategy, INT\[2\] 1 to start, 0 to stop.
    #[default]
    RosControl,
    /// `FRIControl.src`: INT\[15\] strategy, INT\[16\] 10 to start, 20 to stop.
    FriControl,
    /// `friISIR.src`: INT\[1\] 1 to command, 2 to monitor, INT\[2\] strategy.
    Isir,
    /// KUKA's sample application: INT\[1\] 10 to start, 1 otherwise.
    SampleApp,
    /// No variables are used: the KRL program decides by itself when to command.
    None,
}

words!(KrlConvention {
    "ros-control" = RosControl,
    "fri-control" = FriControl,
    "isir" = Isir,
    "sample-app" = SampleApp,
    "none" = None,
});

impl KrlConvention {
    /// Returns the name that configurations use for the convention.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// Returns `true` if the convention writes the KRL integer at this index.
    #[must_use]
    pub const fn writes(self, at: KrlIndex) -> bool {
        match self {
            Self::RosControl | Self::Isir => at.krl() <= 2,
            Self::FriControl => at.krl() >= 15,
            Self::SampleApp => at.krl() == 1,
            Self::None => false,
        }
    }

    /// Writes the variables that request `wanted` from the KRL program to `out`. A program reads variables every 12 ms
    /// to 50 ms, so a request has to remain in the variables until it is withdrawn.
    pub(super) fn write(self, wanted: Wanted, out: &mut KrlVariables) {
        let strategy = wanted.scheme.strategy().unwrap_or(0);
        let mut set = |krl: u8, value| {
            if let Some(at) = KrlIndex::from_krl(krl) {
                out.set_int(at, value);
            }
        };
        match self {
            Self::RosControl => {
                set(1, strategy);
                set(2, i32::from(wanted.command));
            }
            Self::FriControl => {
                set(15, strategy);
                set(16, if wanted.command { 10 } else { 20 });
            }
            Self::Isir => {
                set(1, if wanted.command { 1 } else { 2 });
                set(2, strategy);
            }
            Self::SampleApp => set(1, if wanted.command { 10 } else { 1 }),
            Self::None => {}
        }
    }
}
