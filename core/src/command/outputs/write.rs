//! One thing to set on the controller, and what became of it.

#[cfg(feature = "motions")]
use outrigger_urscript::TargetPayload;
use outrigger_urscript::{
    AnalogDomain, Argument, DigitalOutput, Output, RenderError, SpeedSlider, ToolVoltage, Version,
};

use super::variable::VariableValue;
use outrigger_wire::robot::Pose;
use outrigger_wire::time::Duration;

/// One thing to set. None of them moves the arm or ends a program.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Write {
    /// Level of a digital output.
    Digital {
        /// Which one.
        output: DigitalOutput,
        /// High or low.
        high: bool,
    },
    /// Level of an analog output, and what it puts out.
    Analog {
        /// 0 or 1.
        index: u8,
        /// `None` leaves it as it is.
        domain: Option<AnalogDomain>,
        /// 0 to 1: of 10 V, or of the span from 4 to 20 mA.
        level: f32,
    },
    /// Supply of the tool.
    ToolVoltage(ToolVoltage),
    /// An internal flag, 0 to 31. No interface shows it.
    Flag {
        /// 0 to 31.
        index: u8,
        /// Its value.
        value: bool,
    },
    /// Mass at the flange.
    Payload {
        /// \[kg\], up to what the arm is rated for.
        mass: f32,
        /// In the flange's frame \[m\]; `None` keeps the one in force from 3.3 on, and before leaves it to the controller.
        center_of_gravity: Option<[f32; 3]>,
    },
    /// The speed slider, 0 (stands still) to 1. An abrupt change while the arm moves can trip a fault on the controller.
    SpeedSlider(f32),
    /// What the force-torque sensor reads now becomes zero. No interface shows that it did.
    ZeroForceTorqueSensor,
    /// The tool centre point in the flange's frame. Not while commanding: see [`needs_rest`](Self::needs_rest).
    Tcp(Pose),
    /// Acceleration that the base feels, in its own frame \[m/s²\]; an arm that stands upright: `[0, 0, 9.82]`. Not while
    /// commanding; older software shows nothing of it.
    Gravity([f32; 3]),
    /// A variable that a program on the controller reads, where the controller shares some. It is repeated until another
    /// value takes its place.
    Variable {
        /// 1 to [`VARIABLES`](super::VARIABLES), as the program counts.
        index: u8,
        /// Its value, which says of which kind it is.
        value: VariableValue,
    },
    /// Mass at the flange with its inertia. Software before 5.10 takes an inertia of 0 alone, and no transition time.
    #[cfg(feature = "motions")]
    TargetPayload {
        /// \[kg\], up to what the arm is rated for.
        mass: f32,
        /// In the flange's frame \[m\].
        center_of_gravity: [f32; 3],
        /// About the centre of gravity, in the axes of the flange: xx, yy, zz, xy, xz, yz \[kg·m²\]. What a controller
        /// shows by default has no inertia: mass and centre of gravity alone confirm it.
        inertia: [f32; 6],
        /// Time within which the controller passes from the payload before to this one, up to 5 s: who asks waits 10 s for its confirmation.
        transition_time: Duration,
    },
}

/// Outputs beside the digital ones that have one setting each and are shown.
pub(super) const SLOTS: usize = if cfg!(feature = "outputs") { 6 } else { 0 };

impl Write {
    /// As a statement of a secondary program, on an arm rated for `max_mass` \[kg\]; `None` for the speed slider and a payload
    /// with its inertia, which have texts of their own, and for variables.
    #[must_use]
    pub fn statement(&self, max_mass: f32) -> Option<Output> {
        Some(match *self {
            Self::Digital { output, high } => Output::Digital { output, high },
            Self::Analog { index, domain, level } => Output::Analog { index, domain, level },
            Self::ToolVoltage(voltage) => Output::ToolVoltage(voltage),
            Self::Flag { index, value } => Output::Flag { index, value },
            Self::Payload { mass, center_of_gravity } => Output::Payload { mass, center_of_gravity, max_mass },
            #[cfg(feature = "motions")]
            Self::TargetPayload { .. } => return None,
            Self::SpeedSlider(_) | Self::Variable { .. } => return None,
            Self::ZeroForceTorqueSensor => Output::ZeroForceTorqueSensor,
            Self::Tcp(Pose { position: [x, y, z], rotation: [rx, ry, rz] }) => Output::Tcp([x, y, z, rx, ry, rz]),
            Self::Gravity(gravity) => Output::Gravity(gravity),
        })
    }

    /// Returns the secondary program that sets a payload with its inertia, on an arm rated for `max_mass` \[kg\]; `None` for all else.
    #[cfg(feature = "motions")]
    #[must_use]
    pub const fn target_payload(&self, max_mass: f32) -> Option<TargetPayload> {
        let Self::TargetPayload { mass, center_of_gravity, inertia, transition_time } = *self else { return None };
        let transition_time = transition_time.as_secs_f32();
        Some(TargetPayload { mass, center_of_gravity, inertia, transition_time, max_mass })
    }

    /// Returns `true` for what does not stand in one text with others.
    #[must_use]
    pub const fn goes_alone(&self) -> bool {
        match self {
            Self::SpeedSlider(_) => true,
            #[cfg(feature = "motions")]
            Self::TargetPayload { .. } => true,
            _ => false,
        }
    }

    /// Whether it is refused while commanding, and while the arm is stopped. A law that moves the tool and motion of the
    /// controller's own reckon with the tool centre point; another gravity changes every joint's torque at once. A payload
    /// changes with what a gripper takes, and may be set in motion.
    #[must_use]
    pub const fn needs_rest(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Gravity(_))
    }

    /// Whether a controller with this software takes it, on an arm rated for `max_mass` \[kg\].
    ///
    /// # Errors
    /// The number that is out of its range, or the software that it needs.
    pub fn check(&self, max_mass: f32, version: Version) -> Result<(), RenderError> {
        #[cfg(feature = "motions")]
        if let Some(payload) = self.target_payload(max_mass) {
            return payload.check(version);
        }
        match (self.statement(max_mass), *self) {
            (Some(statement), _) => statement.check(version),
            (None, Self::SpeedSlider(found)) => {
                let allowed = SpeedSlider::POSITION;
                let within = found >= allowed.min && found <= allowed.max;
                let argument = Argument::SpeedSlider;
                if within { Ok(()) } else { Err(RenderError::Number { argument, found, allowed }) }
            }
            (None, _) => Ok(()),
        }
    }

    /// Whether both set the same thing.
    #[must_use]
    pub fn sets_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Digital { output: a, .. }, Self::Digital { output: b, .. }) => a == b,
            (Self::Flag { index: a, .. }, Self::Flag { index: b, .. }) => a == b,
            (Self::ZeroForceTorqueSensor, Self::ZeroForceTorqueSensor) | (Self::Gravity(_), Self::Gravity(_)) => true,
            (Self::Variable { index: a, value: of }, Self::Variable { index: b, value: other }) => {
                a == b && of.kind() == other.kind()
            }
            (a, b) => a.slot().is_some() && a.slot() == b.slot(),
        }
    }

    /// The time after which the controller is to show it at the earliest.
    pub(super) fn takes(&self) -> Duration {
        match self {
            #[cfg(feature = "motions")]
            Self::TargetPayload { transition_time, .. } => (*transition_time).min(Duration::from_secs(5)),
            _ => Duration::ZERO,
        }
    }

    /// Where its setting is kept, for what is neither digital nor never shown.
    pub(super) const fn slot(&self) -> Option<usize> {
        match self {
            Self::Digital { .. }
            | Self::Flag { .. }
            | Self::ZeroForceTorqueSensor
            | Self::Gravity(_)
            | Self::Variable { .. } => None,
            Self::Analog { index: 0, .. } => Some(0),
            Self::Analog { .. } => Some(1),
            Self::ToolVoltage(_) => Some(2),
            Self::Payload { .. } => Some(3),
            #[cfg(feature = "motions")]
            Self::TargetPayload { .. } => Some(3),
            Self::SpeedSlider(_) => Some(4),
            Self::Tcp(_) => Some(5),
        }
    }
}

/// What became of a [`Write`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteNews {
    /// It is on its way.
    Sent,
    /// The controller shows it, so long after it was sent.
    Confirmed(Duration),
    /// It was sent, and nothing that this controller publishes shows it.
    NeverShown,
    /// It was sent, and the controller shows something else after the time allowed.
    NotConfirmed,
    /// A later one for the same output took its place.
    Superseded,
    /// It was confirmed, and now somebody else has changed it.
    Overwritten,
    /// It was not sent, or was not taken.
    Refused(WriteRefusal),
}

/// Why a [`Write`] has no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WriteRefusal {
    /// There is no session with a controller, or there no longer is one.
    NotConnected,
    /// Too many wait already.
    Full,
    /// This arm, or this software, has no such thing, or a number is out of its range.
    Impossible(RenderError),
    /// The controller is in local control and takes no text.
    LocalControl,
    /// Outputs are only to be set by RTDE, and RTDE has no input for it that is ours.
    NoInput,
    /// Outputs are not to be set.
    Off,
    /// The link was stale, or did not take text, for too long.
    LinkStale,
    /// It would change motion, and the arm is commanded or not at rest: see [`Write::needs_rest`].
    Commanding,
    /// This kind of controller has no such output.
    NoSuchOutput,
    /// The variable is one of those by which the program is asked to start and to stop.
    Reserved,
    /// The value is NaN or infinite.
    NotFinite,
}

impl core::fmt::Display for WriteRefusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotConnected => f.write_str("there is no session with a controller"),
            Self::Full => f.write_str("too many wait to be sent or confirmed"),
            Self::Impossible(error) => error.fmt(f),
            Self::LocalControl => {
                f.write_str("the controller is in local control: switch it to remote control on its pendant")
            }
            Self::NoInput => f.write_str("RTDE has no input for it, or it is not ours: set it by text"),
            Self::Off => f.write_str("outputs are switched off in the configuration"),
            Self::LinkStale => f.write_str("the link was stale for too long to send it"),
            Self::Commanding => f.write_str("it would change motion: release first, and set it with the arm at rest"),
            Self::NoSuchOutput => f.write_str("this kind of controller has no such output"),
            Self::Reserved => f.write_str("the handshake with the program on the controller sets this variable"),
            Self::NotFinite => f.write_str("the value is no finite number"),
        }
    }
}

impl core::error::Error for WriteRefusal {}
