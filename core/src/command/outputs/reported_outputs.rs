//! The values of a controller's outputs as it publishes them.

use outrigger_urscript::{AnalogDomain, DigitalOutput, ToolVoltage};

use super::write::Write;
use outrigger_wire::math::{add, norm, scale, subtract};
use outrigger_wire::robot::{Generation, Payload, Pose};

/// The state of one analog output as the controller publishes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownAnalog {
    /// The kind of signal of the analog output: voltage or current.
    pub domain: AnalogDomain,
    /// The level of the analog output, 0 to 1: of 10 V, or of the span from 4 to 20 mA; negative below 4 mA, and not a
    /// number if the kind of signal is unknown.
    pub level: f32,
}

/// The output values in one message of the controller; `None` for those that it does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportedOutputs {
    /// The published levels of the digital outputs, each in its bit by [`digital_bit`].
    pub digital: Option<u32>,
    /// The published signals and levels of the two analog outputs.
    pub analog: Option<[ShownAnalog; 2]>,
    /// The published supply voltage of the tool \[V\]; `None` if the message does not contain it.
    pub tool_voltage: Option<u8>,
    /// The published position of the speed slider, 0 to 1.
    pub speed_slider: Option<f32>,
    /// The payload that the controller publishes as in force.
    pub payload: Option<Payload>,
    /// The tool centre point in force on the controller, in the flange's frame \[m, rad\].
    pub tcp: Option<Pose>,
}

/// Returns the mask with the bit of a digital output: bits 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the
/// tool.
#[must_use]
pub const fn digital_bit(output: DigitalOutput) -> u32 {
    match output {
        DigitalOutput::Standard(index) => 1_u32.wrapping_shl(index as u32),
        DigitalOutput::Configurable(index) => 0x100_u32.wrapping_shl(index as u32),
        DigitalOutput::Tool(index) => 0x1_0000_u32.wrapping_shl(index as u32),
    }
}

/// Converts the levels of digital outputs, as published by a controller of this generation, to the bits of
/// [`digital_bit`]: on CB2, bits 8 and 9 are at the tool.
#[must_use]
pub const fn digital_levels(published: u32, generation: Generation) -> u32 {
    match generation {
        Generation::Cb2 => (published & 0xff) | ((published & 0x300) << 8),
        Generation::Cb3 | Generation::ESeries | Generation::PolyScopeX => published & 0x3_ffff,
    }
}

/// The difference of positions, 0 to 1, up to which a published speed slider counts as set: it is published with more
/// digits than it is sent with.
const SLIDER: f32 = 0.005;
/// The tolerances of a payload's mass \[kg\] and centre of gravity \[m\]: those of other drivers, with a reserve for
/// the rounding of the numbers in the sent text.
const MASS: f32 = 1.5e-3;
const CENTER_OF_GRAVITY: f32 = 1.5e-4;
/// The distance \[m\], and the length of the difference of rotation vectors \[rad\], up to which a published tool
/// centre point counts as the one that was set.
const TCP: f32 = 1.5e-4;

impl ReportedOutputs {
    /// Returns whether this message of the controller shows the value that `write` sets, analog levels within
    /// `tolerance`; `None` if the message does not contain the output, or this driver reads no published value of it.
    #[must_use]
    pub fn shows(&self, write: &Write, tolerance: f32) -> Option<bool> {
        match *write {
            Write::Digital { output, high } => self.digital.map(|levels| (levels & digital_bit(output) != 0) == high),
            Write::Analog { index, domain, level } => {
                let shown = self.analog?.get(usize::from(index)).copied()?;
                let same_domain = domain.is_none_or(|domain| domain == shown.domain);
                Some(same_domain && (shown.level - level).abs() <= tolerance)
            }
            Write::ToolVoltage(voltage) => self.tool_voltage.map(|volts| {
                volts
                    == match voltage {
                        ToolVoltage::Off => 0,
                        ToolVoltage::V12 => 12,
                        ToolVoltage::V24 => 24,
                    }
            }),
            Write::Payload { mass, center_of_gravity } => Some(is_payload(self.payload?, mass, center_of_gravity)),
            #[cfg(feature = "motions")]
            Write::TargetPayload { mass, center_of_gravity, .. } => {
                Some(is_payload(self.payload?, mass, Some(center_of_gravity)))
            }
            Write::SpeedSlider(position) => self.speed_slider.map(|shown| (shown - position).abs() <= SLIDER),
            Write::Tcp(wanted) => self.tcp.map(|shown| {
                let position = norm(subtract(shown.position, wanted.position)) <= TCP;
                position && turns_alike(shown.rotation, wanted.rotation)
            }),
            Write::Flag { .. } | Write::ZeroForceTorqueSensor | Write::Gravity(_) | Write::Variable { .. } => None,
        }
    }
}

/// Returns whether a published payload has this mass, and this centre of gravity if one was set.
fn is_payload(shown: Payload, mass: f32, center_of_gravity: Option<[f32; 3]>) -> bool {
    let near = |(shown, wanted): (&f32, &f32)| (shown - wanted).abs() <= CENTER_OF_GRAVITY;
    let centered = center_of_gravity.is_none_or(|center| shown.center_of_gravity.iter().zip(&center).all(near));
    (shown.mass - mass).abs() <= MASS && centered
}

/// Returns whether both rotation vectors \[rad\] describe the same rotation: they are equal, or opposite with angles
/// that add up to a full turn.
fn turns_alike(shown: [f32; 3], wanted: [f32; 3]) -> bool {
    let angle = norm(wanted);
    let turn = if angle > 0.0 { scale(wanted, -core::f32::consts::TAU / angle) } else { [0.0; 3] };
    let near = |other| norm(subtract(shown, other)) <= TCP;
    near(wanted) || near(add(wanted, turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_outputs_are_bits_8_and_9_on_cb2_and_16_and_17_later() {
        let tool = digital_bit(DigitalOutput::Tool(1));
        assert_eq!(digital_levels(1 << 9, Generation::Cb2), tool);
        assert_eq!(digital_levels(1 << 17, Generation::Cb3), tool);
        assert_eq!(digital_levels(1 << 9, Generation::ESeries), digital_bit(DigitalOutput::Configurable(1)));
    }

    #[test]
    fn a_message_says_nothing_of_what_is_not_in_it() {
        let write = Write::Digital { output: DigitalOutput::Standard(3), high: true };
        assert_eq!(ReportedOutputs::default().shows(&write, 0.01), None);
        let shown = ReportedOutputs { digital: Some(8), ..ReportedOutputs::default() };
        assert_eq!(shown.shows(&write, 0.01), Some(true));
        assert_eq!(shown.shows(&Write::SpeedSlider(1.0), 0.01), None);
    }

    #[test]
    fn a_tool_centre_point_is_shown_by_either_of_the_vectors_of_its_rotation() {
        let pose = |rotation| Pose { position: [0.0, 0.0, 0.1], rotation };
        let shows = |shown, wanted| {
            ReportedOutputs { tcp: Some(pose(shown)), ..ReportedOutputs::default() }
                .shows(&Write::Tcp(pose(wanted)), 0.0)
        };
        assert_eq!(shows([0.0; 3], [0.0; 3]), Some(true));
        assert_eq!(shows([3.1, 0.0, 0.0], [3.1, 0.0, 0.0]), Some(true));
        assert_eq!(shows([3.1, 0.0, 0.0], [3.1 - core::f32::consts::TAU, 0.0, 0.0]), Some(true));
        assert_eq!(shows([3.1, 0.0, 0.0], [-3.1, 0.0, 0.0]), Some(false));
        assert_eq!(shows([0.0, 0.0, 0.001], [0.0; 3]), Some(false));
        assert_eq!(shows([f32::NAN, 0.0, 0.0], [0.0; 3]), Some(false));
        let elsewhere = Pose { position: [0.0, 0.001, 0.1], rotation: [0.0; 3] };
        let shown = ReportedOutputs { tcp: Some(elsewhere), ..ReportedOutputs::default() };
        assert_eq!(shown.shows(&Write::Tcp(pose([0.0; 3])), 0.0), Some(false));
        assert_eq!(ReportedOutputs::default().shows(&Write::Tcp(elsewhere), 0.0), None);
    }

    #[test]
    fn a_level_in_the_other_domain_is_not_what_was_asked_for() {
        let shown = ShownAnalog { domain: AnalogDomain::Current, level: 0.501 };
        let shown = ReportedOutputs { analog: Some([shown; 2]), ..ReportedOutputs::default() };
        let asked = |domain, level| shown.shows(&Write::Analog { index: 1, domain, level }, 0.01);
        assert_eq!(asked(None, 0.5), Some(true));
        assert_eq!(asked(Some(AnalogDomain::Current), 0.5), Some(true));
        assert_eq!(asked(Some(AnalogDomain::Voltage), 0.5), Some(false));
        assert_eq!(asked(None, 0.52), Some(false));
    }
}
