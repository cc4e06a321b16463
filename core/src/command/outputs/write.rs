//! A single value of an output or setting to set on the controller, and its outcome.

#[cfg(feature = "motions")]
use outrigger_urscript::TargetPayload;
use outrigger_urscript::{
    AnalogDomain, Argument, DigitalOutput, Output, RenderError, SpeedSlider, ToolVoltage, Version,
};

use super::variable::VariableValue;
use outrigger_wire::robot::Pose;
use outrigger_wire::time::Duration;

/// A single output value or setting to set on the controller. No write moves the arm or ends a program.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Write {
    /// The level to set at a digital output.
    Digital {
        /// The digital output to set.
        output: DigitalOutput,
        /// The level to set: `true` for high, `false` for low.
        high: bool,
    },
    /// The level to set at an analog output, and the kind of its signal.
    Analog {
        /// The number of the analog output, 0 or 1.
        index: u8,
        /// The kind of signal, voltage or current; `None` leaves the present one unchanged.
        domain: Option<AnalogDomain>,
        /// The level of the analog output, 0 to 1: of 10 V, or of the span from 4 to 20 mA.
        level: f32,
    },
    /// The supply voltage to set at the tool's connector.
    ToolVoltage(ToolVoltage),
    /// An internal flag of the controller to set. No interface publishes it.
    Flag {
        /// The number of the controller's flag, 0 to 31.
        index: u8,
        /// The value to set the controller's flag to.
        value: bool,
    },
    /// The payload to set: the mass at the flange, and its centre of gravity.
    Payload {
        /// The mass of the payload \[kg\], up to what the arm is rated for.
        mass: f32,
        /// The centre of gravity in the flange's frame \[m\]. `None` keeps the one in force from 3.3 on; older software
        /// chooses one itself.
        center_of_gravity: Option<[f32; 3]>,
    },
    /// The position of the speed slider, 0 (no motion) to 1. An abrupt change while the arm moves can trip a fault on
    /// the controller.
    SpeedSlider(f32),
    /// Sets the present reading of the force-torque sensor to zero. No interface confirms it.
    ZeroForceTorqueSensor,
    /// The tool centre point to set, in the flange's frame \[m, rad\]. Not while commanding: see
    /// [`needs_rest`](Self::needs_rest).
    Tcp(Pose),
    /// The acceleration of gravity acting on the base, in the base's own frame \[m/s²\]; for an upright arm `[0, 0,
    /// 9.82]`. Not while commanding. The write is never reported as confirmed: this driver reads no published value of
    /// it.
    Gravity([f32; 3]),
    /// A variable that a program on the controller reads, if the controller has shared variables. Its value is sent
    /// repeatedly until another one replaces it.
    Variable {
        /// The number of the variable, 1 to [`VARIABLES`](super::VARIABLES), as in the program.
        index: u8,
        /// The value of the shared variable, which also determines its type.
        value: VariableValue,
    },
    /// The payload to set: the mass at the flange, its centre of gravity and its inertia. Software before 5.10 accepts
    /// only an inertia of 0 and no transition time.
    #[cfg(feature = "motions")]
    TargetPayload {
        /// The mass of the payload \[kg\], up to what the arm is rated for.
        mass: f32,
        /// The payload's centre of gravity in the flange's frame \[m\].
        center_of_gravity: [f32; 3],
        /// The inertia about the centre of gravity, in the axes of the flange: xx, yy, zz, xy, xz, yz \[kg·m²\].
        /// Controllers do not publish an inertia by default: mass and centre of gravity alone confirm the write.
        inertia: [f32; 6],
        /// The time in which the controller changes from the previous payload to this one, up to 5 s: clients wait 10 s
        /// for the confirmation.
        transition_time: Duration,
    },
}

/// The number of stored values of outputs other than digital ones: two analog outputs, and four settings that
/// controllers publish.
pub(super) const SLOTS: usize = if cfg!(feature = "outputs") { 6 } else { 0 };

impl Write {
    /// Returns the statement of a secondary program that sets this output, on an arm rated for `max_mass` \[kg\];
    /// `None` for the speed slider and a payload with its inertia, which have texts of their own, and for variables.
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

    /// Returns the secondary program that sets a payload with its inertia, on an arm rated for `max_mass` \[kg\];
    /// `None` for all other writes.
    #[cfg(feature = "motions")]
    #[must_use]
    pub const fn target_payload(&self, max_mass: f32) -> Option<TargetPayload> {
        let Self::TargetPayload { mass, center_of_gravity, inertia, transition_time } = *self else { return None };
        let transition_time = transition_time.as_secs_f32();
        Some(TargetPayload { mass, center_of_gravity, inertia, transition_time, max_mass })
    }

    /// Returns `true` if the write of an output cannot be combined with other writes in one text to the controller.
    #[must_use]
    pub const fn goes_alone(&self) -> bool {
        match self {
            Self::SpeedSlider(_) => true,
            #[cfg(feature = "motions")]
            Self::TargetPayload { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the write is refused while the arm is commanded or being stopped. Laws that move the tool and
    /// motions executed by the controller depend on the tool centre point; another gravity changes every joint's torque
    /// at once. A payload changes with each part that a gripper takes, and may be set during motion.
    #[must_use]
    pub const fn needs_rest(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Gravity(_))
    }

    /// Checks that a controller with this software accepts the write of an output, on an arm rated for `max_mass`
    /// \[kg\].
    ///
    /// # Errors
    /// Returns the number that is out of its range, or the software that is required.
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

    /// Returns whether both writes set the same output of the controller.
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

    /// Returns the shortest time from sending the write until the controller can show the output's new value.
    pub(super) fn takes(&self) -> Duration {
        match self {
            #[cfg(feature = "motions")]
            Self::TargetPayload { transition_time, .. } => (*transition_time).min(Duration::from_secs(5)),
            _ => Duration::ZERO,
        }
    }

    /// Returns the index at which [`Image`](super::Image) stores the last value of the output; `None` for digital
    /// outputs and for values that are never published.
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

/// The outcome of a [`Write`], which sets an output or setting of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteOutcome {
    /// The write of an output was sent to the controller.
    Sent,
    /// The controller shows the output's new value, this long after the write was sent.
    Confirmed(Duration),
    /// The write was sent, but this controller does not publish the output, or this driver reads no published value of
    /// it.
    NeverShown,
    /// The write was sent, but the controller, which publishes the output, did not show the new value in the time
    /// allowed.
    NotConfirmed,
    /// A later write for the same output replaced this one before it was confirmed.
    Superseded,
    /// The write of the output was confirmed, and another writer has changed the output since.
    Overwritten,
    /// The write of the output was not sent, or was not accepted, for this reason.
    Refused(WriteRefusal),
}

/// The reason for which a [`Write`] of an output or setting has no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WriteRefusal {
    /// No session with a controller is established, so that nothing can be sent.
    NotConnected,
    /// Too many other writes of outputs are waiting to be sent or confirmed.
    Full,
    /// This arm or its software has no such output, or a number of the write is out of its range.
    Impossible(RenderError),
    /// The controller is in local control and accepts no URScript text that sets outputs.
    LocalControl,
    /// Outputs may only be set by RTDE, and this session owns no RTDE input for this output.
    NoInput,
    /// Setting outputs is disabled in the configuration.
    Off,
    /// The write could not be sent in time: no fresh robot state arrived, or the connection did not accept text, for
    /// too long.
    LinkStale,
    /// The write would change motion, and the arm is commanded or not at rest: see [`Write::needs_rest`].
    Commanding,
    /// This kind of controller has no such output as the write sets.
    NoSuchOutput,
    /// The variable to write is one of those by which the controller's program is started and stopped.
    Reserved,
    /// The value that the write sets is NaN or infinite.
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
            Self::Commanding => f.write_str("it would change motion: stop first, and set it at standstill"),
            Self::NoSuchOutput => f.write_str("this kind of controller has no such output"),
            Self::Reserved => f.write_str("the handshake with the program on the controller sets this variable"),
            Self::NotFinite => f.write_str("the value is not finite"),
        }
    }
}

impl core::error::Error for WriteRefusal {}
