//! RTDE inputs that set outputs: the groups to claim on a connection, and the input values for a write
//! (`core/docs/protocol/ur-rtde.md 7`).
//!
//! An input has one owner. Only claimed inputs are requested, each group in a recipe of its own: if one is in use, or
//! does not exist in this software, the others are not affected.

use heapless::Vec;

use crate::command::outputs::{AnalogDomain, BATCH, DigitalOutput, Image, Write};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DataType, Value, names, types_of};

/// A group of RTDE inputs that a client claims together: to set outputs or the speed slider, to pass a force, or to
/// command a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Claim {
    /// The inputs that set the standard digital outputs.
    Standard,
    /// The inputs that set the configurable digital outputs.
    Configurable,
    /// The inputs that set the tool's digital outputs; it is unconfirmed that controllers have them.
    Tool,
    /// The inputs that set the analog outputs.
    Analog,
    /// The inputs that set the speed slider.
    SpeedSlider,
    /// The inputs for the external force that a program reads after `ft_rtde_input_enable`.
    Force,
    /// The registers through which one of this project's programs on the controller receives commands: claimed
    /// automatically if commands are configured to be sent in registers.
    Program,
}

impl Claim {
    /// The list of all groups of RTDE inputs that can be claimed.
    pub const ALL: [Self; 7] =
        [Self::Program, Self::Standard, Self::Configurable, Self::Tool, Self::Analog, Self::SpeedSlider, Self::Force];

    /// Returns the names of the group's inputs in RTDE, joined by commas.
    #[must_use]
    pub const fn inputs(self) -> &'static str {
        match self {
            Self::Standard => "standard_digital_output_mask,standard_digital_output",
            Self::Configurable => "configurable_digital_output_mask,configurable_digital_output",
            Self::Tool => "tool_digital_output_mask,tool_digital_output",
            Self::Analog => {
                "standard_analog_output_mask,standard_analog_output_type,standard_analog_output_0,\
                 standard_analog_output_1"
            }
            Self::SpeedSlider => "speed_slider_mask,speed_slider_fraction",
            Self::Force => "external_force_torque",
            Self::Program => {
                "input_int_register_24,input_int_register_25,input_int_register_26,input_int_register_27,\
                 input_int_register_28,input_int_register_29,input_int_register_30,input_int_register_31"
            }
        }
    }

    /// Returns the RTDE type of each of the group's [inputs](Self::inputs).
    #[must_use]
    pub const fn types(self) -> &'static [DataType] {
        macro_rules! of {
            ($claim:ident, $count:literal) => {
                const { &types_of::<$count>(Self::$claim.inputs(), Direction::Input) }
            };
        }
        match self {
            Self::Standard => of!(Standard, 2),
            Self::Configurable => of!(Configurable, 2),
            Self::Tool => of!(Tool, 2),
            Self::Analog => of!(Analog, 4),
            Self::SpeedSlider => of!(SpeedSlider, 2),
            Self::Force => of!(Force, 1),
            Self::Program => of!(Program, 8),
        }
    }

    /// Returns the name of the group of inputs used in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "digital-out",
            Self::Configurable => "configurable-out",
            Self::Tool => "tool-out",
            Self::Analog => "analog-out",
            Self::SpeedSlider => "speed-slider",
            Self::Force => "force",
            Self::Program => "program",
        }
    }

    /// Returns the group of RTDE inputs that carries out `write`; `None` if there is none. Analog writes of a current,
    /// or without a kind of signal, have no group: how RTDE scales a current is not documented clearly, and the input
    /// always sets a kind of signal.
    #[must_use]
    pub const fn of(write: &Write) -> Option<Self> {
        match write {
            Write::Digital { output: DigitalOutput::Standard(_), .. } => Some(Self::Standard),
            Write::Digital { output: DigitalOutput::Configurable(_), .. } => Some(Self::Configurable),
            Write::Digital { output: DigitalOutput::Tool(_), .. } => Some(Self::Tool),
            Write::Analog { domain: Some(AnalogDomain::Voltage), .. } => Some(Self::Analog),
            Write::SpeedSlider(_) => Some(Self::SpeedSlider),
            Write::Analog { .. }
            | Write::ToolVoltage(_)
            | Write::Flag { .. }
            | Write::Payload { .. }
            | Write::ZeroForceTorqueSensor
            | Write::Tcp(_)
            | Write::Gravity(_)
            | Write::Variable { .. } => None,
            #[cfg(feature = "motions")]
            Write::TargetPayload { .. } => None,
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the values of this group's RTDE inputs that carry out those of `writes` that belong to the group; `None`
    /// if none does. The levels come from `image`, the values written in this session, in which these writes must be
    /// recorded already; a mask limits the change to their outputs.
    pub(crate) fn values(self, writes: &[Write], image: &Image) -> Option<Vec<Value, 4>> {
        let mut ours = writes.iter().filter(|write| Self::of(write) == Some(self)).peekable();
        ours.peek()?;
        let digital = |mask: u8, first: u32| {
            let (levels, _) = image.digital();
            let [levels, ..] = levels.wrapping_shr(first).to_le_bytes();
            Vec::from_slice(&[Value::Uint8(mask), Value::Uint8(levels)]).ok()
        };
        let mask = ours.clone().fold(0, |mask, write| match write {
            Write::Digital {
                output: DigitalOutput::Standard(i) | DigitalOutput::Configurable(i) | DigitalOutput::Tool(i),
                ..
            }
            | Write::Analog { index: i, .. } => mask | 1_u8.wrapping_shl((*i).into()),
            _ => mask,
        });
        match self {
            Self::Standard => digital(mask, 0),
            Self::Configurable => digital(mask, 8),
            Self::Tool => digital(mask, 16),
            Self::Analog => {
                let [first, second] = image.analog().map(Value::Double);
                Vec::from_slice(&[Value::Uint8(mask), Value::Uint8(mask), first, second]).ok()
            }
            Self::SpeedSlider => ours.find_map(|write| match write {
                Write::SpeedSlider(position) => {
                    Vec::from_slice(&[Value::Uint32(1), Value::Double((*position).into())]).ok()
                }
                _ => None,
            }),
            Self::Force | Self::Program => None,
        }
    }
}

const _: () = assert!(BATCH <= 8, "a mask has room for a batch");

/// A set of [`Claim`]s: the groups of RTDE inputs that a client claims. Default: empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Claims(u8);

impl Claims {
    /// The empty set of groups of RTDE inputs.
    pub const NONE: Self = Self(0);

    /// Returns the set with the group `claim` added.
    #[must_use]
    pub const fn with(self, claim: Claim) -> Self {
        Self(self.0 | claim.bit())
    }

    /// Returns whether the group `claim` is in the set.
    #[must_use]
    pub const fn has(self, claim: Claim) -> bool {
        self.0 & claim.bit() != 0
    }
}

impl core::str::FromStr for Claims {
    type Err = &'static str;

    /// Parses the names of groups of RTDE inputs joined by commas: `digital-out,speed-slider`. The group `program` is
    /// not accepted: it is claimed automatically.
    fn from_str(list: &str) -> Result<Self, Self::Err> {
        names(list).try_fold(Self::NONE, |claims, name| {
            let claim = Claim::ALL.into_iter().find(|claim| *claim != Claim::Program && claim.name() == name.trim());
            let expected = "digital-out, configurable-out, tool-out, analog-out, speed-slider, force, joined by commas";
            claim.map(|claim| claims.with(claim)).ok_or(expected)
        })
    }
}

/// An RTDE input that was claimed but that this client does not own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct UnownedInput {
    /// The group of RTDE inputs that the input belongs to.
    pub claim: Claim,
    /// The index, from 0, of the input among the RTDE inputs of its group `claim`; this client does not own it.
    pub place: u8,
    /// The cause for which this client does not own the input.
    pub why: RegisterConflict,
}

/// The reason for which this client does not own a claimed RTDE input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum RegisterConflict {
    /// Another RTDE client, or a fieldbus, owns the input.
    InUse,
    /// The controller's software has no such input.
    NotFound,
    /// The controller refused the input for another cause, or its reply to the request for the input was invalid.
    Refused,
}

impl UnownedInput {
    /// Returns the input's name in RTDE.
    #[must_use]
    pub fn input(&self) -> &'static str {
        names(self.claim.inputs()).nth(self.place.into()).unwrap_or_default()
    }
}

impl core::fmt::Display for UnownedInput {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let input = self.input();
        match self.why {
            RegisterConflict::InUse => write!(f, "{input} is in use by another RTDE client or a fieldbus"),
            RegisterConflict::NotFound => write!(f, "this software has no RTDE input {input}"),
            RegisterConflict::Refused => write!(f, "the controller refuses the RTDE input {input}"),
        }
    }
}
