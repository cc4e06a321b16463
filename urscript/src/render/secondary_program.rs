//! Outputs, flags, payload, tool centre point and gravity as secondary programs (client interfaces, 5.3 and 5.5).
//! Secondary programs run in one control step, in parallel to the program that moves the arm.

use super::dialect::{Dialect, OutputNames};
use super::error::{Argument, Range, RenderError};
use super::text_cursor::{Line, NUMBER_LEN};

/// A digital output of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DigitalOutput {
    /// A standard output of the control box, 0 to 7.
    Standard(u8),
    /// A configurable output of the control box, 0 to 7; not on CB2.
    Configurable(u8),
    /// An output at the tool, 0 or 1.
    Tool(u8),
}

/// The quantity of an analog output: current or voltage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnalogDomain {
    /// An analog current of 4 to 20 mA.
    Current,
    /// An analog voltage of 0 to 10 V.
    Voltage,
}

/// The supply voltage of the tool connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ToolVoltage {
    /// No supply of the tool connector: 0 V.
    Off,
    /// A supply of the tool connector of 12 V.
    V12,
    /// A supply of the tool connector of 24 V.
    V24,
}

impl ToolVoltage {
    /// Returns the voltage \[V\], which is also the number for it in URScript and in a controller's state.
    #[must_use]
    pub const fn volts(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::V12 => 12,
            Self::V24 => 24,
        }
    }
}

/// A setting of the controller, such as the level of an output. Several of them make a [`Sec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// The new level of a digital output.
    Digital {
        /// The digital output whose level is set.
        output: DigitalOutput,
        /// `true` for high, `false` for low.
        high: bool,
    },
    /// The new level of an analog output, and its quantity.
    Analog {
        /// The number of the analog output, 0 or 1.
        index: u8,
        /// The quantity of the output, which is set before the level; `None` leaves the present quantity unchanged.
        domain: Option<AnalogDomain>,
        /// The level of the analog output, 0 to 1: relative to 10 V, or to the range of the current (0 is 4 mA).
        level: f32,
    },
    /// The supply voltage of the tool connector.
    ToolVoltage(ToolVoltage),
    /// The new value of an internal flag of the controller.
    Flag {
        /// The number of the flag, 0 to 31.
        index: u8,
        /// The new value of the flag.
        value: bool,
    },
    /// The payload at the tool flange.
    Payload {
        /// The mass of the payload \[kg\], from 0 to `max_mass`.
        mass: f32,
        /// The centre of gravity of the payload in the flange's frame \[m\]. `None` keeps the present one from 3.3
        /// on; before, the controller chooses it.
        center_of_gravity: Option<[f32; 3]>,
        /// The arm's rated payload \[kg\], at most [`Output::MASS`]`.max`.
        max_mass: f32,
    },
    /// The centre of gravity of the payload in the flange's frame \[m\], without a change of its mass; 3.3 and later.
    CenterOfGravity([f32; 3]),
    /// The acceleration that the base measures, in its own frame \[m/s²\]: `[0, 0, 9.82]` for an upright base.
    Gravity([f32; 3]),
    /// Sets the present reading of the force-torque sensor to zero; only on arms that have one.
    ZeroForceTorqueSensor,
    /// The pose of the tool centre point in the flange's frame: x, y, z \[m\], rotation vector \[rad\].
    Tcp([f32; 6]),
}

impl Output {
    /// The range of payload masses \[kg\], beyond the rated payload of any present arm.
    pub const MASS: Range = Range::new(0.0, 100.0);
    /// The range of coordinates of a payload's centre of gravity \[m\].
    pub const CENTER_OF_GRAVITY: Range = Range::symmetric(10.0);
    /// The range of components of the gravity vector \[m/s²\].
    pub const GRAVITY: Range = Range::symmetric(30.0);
    /// The range of coordinates of a tool centre point \[m\].
    pub const TCP_POSITION: Range = Range::symmetric(10.0);
    /// The range of components of a tool centre point's rotation vector \[rad\]: a whole turn.
    pub const TCP_ROTATION: Range = Range::symmetric(6.283_186);
    /// The range of levels of an analog output, relative to its full range.
    pub const LEVEL: Range = Range::new(0.0, 1.0);
    /// The length of the longest text of one output within a program \[B\]: that of a tool centre point, whose numbers
    /// have a sign, two digits, a point and the decimals at most.
    pub const MAX_LEN: usize = 12 + 6 * (NUMBER_LEN - 2 + 1) + 2;

    /// Checks that a controller of this dialect (or [`Version`](crate::Version)) accepts this setting, for instance the
    /// level of an output or a payload.
    ///
    /// # Errors
    /// The errors of [`Sec::render`] for this setting.
    pub fn check(&self, dialect: impl Into<Dialect>) -> Result<(), RenderError> {
        self.check_in(&dialect.into())
    }

    fn check_in(&self, dialect: &Dialect) -> Result<(), RenderError> {
        match *self {
            Self::Digital { output: DigitalOutput::Standard(index), .. } => check_index(index, 7),
            Self::Digital { output: DigitalOutput::Configurable(index), .. } => {
                dialect.has(dialect.named_outputs)?;
                check_index(index, 7)
            }
            Self::Digital { output: DigitalOutput::Tool(index), .. } => check_index(index, 1),
            Self::Analog { index, level, .. } => {
                check_index(index, 1)?;
                Self::LEVEL.check(Argument::Level, level)
            }
            Self::ToolVoltage(_) => Ok(()),
            Self::Flag { index, .. } => check_index(index, 31),
            Self::Payload { mass, center_of_gravity, max_mass } => {
                check_payload(mass, &center_of_gravity.unwrap_or_default(), max_mass)
            }
            Self::CenterOfGravity(center) => {
                dialect.has(dialect.payload_parts)?;
                Self::CENTER_OF_GRAVITY.check_each(Argument::CenterOfGravity, &center)
            }
            Self::Gravity(gravity) => Self::GRAVITY.check_each(Argument::Gravity, &gravity),
            Self::ZeroForceTorqueSensor => dialect.has(dialect.zero_ftsensor),
            Self::Tcp([x, y, z, rx, ry, rz]) => {
                Self::TCP_POSITION.check_each(Argument::Tcp, &[x, y, z])?;
                Self::TCP_ROTATION.check_each(|axis| Argument::Tcp(axis.saturating_add(3)), &[rx, ry, rz])
            }
        }
    }

    pub(super) fn write(&self, dialect: &Dialect, line: &mut Line<'_>) {
        let names = dialect.outputs();
        match *self {
            Self::Digital { output, high } => {
                let index = match (output, names) {
                    (DigitalOutput::Standard(index), OutputNames::Numbered) => {
                        line.put(b" set_digital_out(");
                        index
                    }
                    (DigitalOutput::Tool(index), OutputNames::Numbered) => {
                        line.put(b" set_digital_out(");
                        index.saturating_add(8)
                    }
                    (DigitalOutput::Standard(index), OutputNames::Named) => {
                        line.put(b" set_standard_digital_out(");
                        index
                    }
                    (DigitalOutput::Tool(index), OutputNames::Named) => {
                        line.put(b" set_tool_digital_out(");
                        index
                    }
                    // Rejected by `check` if outputs are numbered.
                    (DigitalOutput::Configurable(index), _) => {
                        line.put(b" set_configurable_digital_out(");
                        index
                    }
                };
                line.integer(u32::from(index));
                line.put(b",");
                line.boolean(high);
            }
            Self::Analog { index, domain, level } => {
                if let Some(domain) = domain {
                    line.put(b" set_analog_outputdomain(");
                    line.integer(u32::from(index));
                    line.put(b",");
                    line.integer(match domain {
                        AnalogDomain::Current => 0,
                        AnalogDomain::Voltage => 1,
                    });
                    line.put(b")\n");
                }
                match names {
                    OutputNames::Numbered => line.put(b" set_analog_out("),
                    OutputNames::Named => line.put(b" set_standard_analog_out("),
                }
                line.integer(u32::from(index));
                line.put(b",");
                line.number(level);
            }
            Self::ToolVoltage(voltage) => {
                line.put(b" set_tool_voltage(");
                line.integer(u32::from(voltage.volts()));
            }
            Self::Flag { index, value } => {
                line.put(b" set_flag(");
                line.integer(u32::from(index));
                line.put(b",");
                line.boolean(value);
            }
            Self::Payload { mass, center_of_gravity: Some(center), .. } => {
                line.put(b" set_payload(");
                line.number(mass);
                line.put(b",");
                line.list(&center);
            }
            Self::Payload { mass, center_of_gravity: None, .. } => {
                // Alone, `set_payload(m)` moves the centre of gravity as well.
                if dialect.has(dialect.payload_parts).is_ok() {
                    line.put(b" set_payload_mass(");
                } else {
                    line.put(b" set_payload(");
                }
                line.number(mass);
            }
            Self::CenterOfGravity(center) => {
                line.put(b" set_payload_cog(");
                line.list(&center);
            }
            Self::Gravity(gravity) => {
                line.put(b" set_gravity(");
                line.list(&gravity);
            }
            Self::ZeroForceTorqueSensor => line.put(b" zero_ftsensor("),
            Self::Tcp(pose) => {
                line.put(b" set_tcp(p");
                line.list(&pose);
            }
        }
        line.put(b")\n");
    }
}

pub(super) fn check_payload(mass: f32, center_of_gravity: &[f32; 3], max_mass: f32) -> Result<(), RenderError> {
    Output::MASS.check(Argument::Mass, max_mass)?;
    Range::new(0.0, max_mass).check(Argument::Mass, mass)?;
    Output::CENTER_OF_GRAVITY.check_each(Argument::CenterOfGravity, center_of_gravity)
}

fn check_index(found: u8, max: u8) -> Result<(), RenderError> {
    Range::new(0.0, f32::from(max)).check(Argument::Index, f32::from(found))
}

/// A secondary program that applies settings, all in the same control step. Controllers send no reply to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sec<'a>(
    /// The settings of the controller, in the order in which they are applied.
    pub &'a [Output],
);

impl Sec<'_> {
    /// Returns the length of the longest text with `outputs` settings \[B\].
    #[must_use]
    pub const fn max_len(outputs: usize) -> usize {
        HEAD.len().saturating_add(outputs.saturating_mul(Output::MAX_LEN)).saturating_add(END.len())
    }

    /// Writes the secondary program for a controller of this dialect (or [`Version`](crate::Version)).
    ///
    /// # Errors
    /// [`RenderError::Number`] if a number is out of its range; [`RenderError::Unsupported`] if the controller does not
    /// have an output or a function for a setting; [`RenderError::BufferTooSmall`].
    pub fn render(&self, dialect: impl Into<Dialect>, out: &mut [u8]) -> Result<usize, RenderError> {
        let dialect = dialect.into();
        let mut line = Line::new(out);
        line.put(HEAD);
        for output in self.0 {
            output.check_in(&dialect)?;
            output.write(&dialect, &mut line);
        }
        line.put(END);
        line.finish()
    }
}

pub(super) const HEAD: &[u8; 20] = b"sec outrigger_io():\n";
pub(super) const END: &[u8; 4] = b"end\n";
