//! The inputs and outputs of the controller and the tool, and the payload.

use outrigger_wire::robot::Generation;

use crate::tool_line::ToolCommunication;

/// The acceleration of gravity that controllers use \[m/s²\].
const GRAVITY: f64 = 9.82;
/// The least current of an analogue output in current mode: 4 mA, in \[A\].
const LIVE_ZERO: f64 = 0.004;
/// The range of the current of an analogue output above its least value: 16 mA, in \[A\].
const CURRENT_SPAN: f64 = 0.016;
/// The highest voltage of an analogue output in voltage mode \[V\].
const FULL_VOLTAGE: f64 = 10.0;

/// A digital output by its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigitalOutput {
    /// A standard output of the controller box, 0 … 7.
    Standard(u8),
    /// A configurable output of the controller box, 0 … 7 (3.0 on).
    Configurable(u8),
    /// An output of the tool connector, 0 … 1.
    Tool(u8),
}

/// The state of the controller's inputs and outputs, the tool connector and the payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Io {
    generation: Generation,
    /// States of the digital inputs, one bit each (CB3 on: 0–7 standard, 8–15 configurable, 16–17 tool; CB2: 0–7 box,
    /// 8–9 tool).
    pub digital_in: u32,
    /// States of the digital outputs, with the same bits as the digital inputs (CB3 on: 0–7 standard, 8–15
    /// configurable, 16–17 tool; CB2: 0–7 box, 8–9 tool).
    pub digital_out: u32,
    /// Values of the analogue inputs of the controller box \[V or A\].
    pub analog_in: [f64; 2],
    /// Domain of each analogue input of the controller box: 0 current, 1 voltage; `set_analog_inputrange` can store
    /// other range codes.
    pub analog_in_range: [u8; 2],
    /// Values of the analogue outputs of the controller box \[V or A\].
    pub analog_out: [f64; 2],
    /// Domain of each analogue output: 0 current, 1 voltage.
    pub analog_out_domain: [u8; 2],
    /// Values of the analogue inputs of the tool \[V or A\].
    pub tool_analog_in: [f64; 2],
    /// Domain of each analogue input of the tool: 0 current, 1 voltage; `set_analog_inputrange` can store other range
    /// codes.
    pub tool_analog_in_range: [u8; 2],
    /// Supply voltage at the tool connector \[V\]: 0, 12 or 24.
    pub tool_voltage: u8,
    /// Settings of the tool's serial line at the controller's end.
    pub tool_communication: ToolCommunication,
    /// Mode of the tool's outputs: 0 two digital outputs, 1 both supply power.
    pub tool_output_mode: u8,
    /// Mode of each digital output of the tool: 1 sinking, 2 sourcing, 3 both.
    pub tool_digital_out_modes: [u8; 2],
    /// The gravity vector that a program has set \[m/s²\]. The arm's own weight does not depend on it.
    pub gravity: [f64; 3],
    /// The 32 flags of the controller that programs set and read.
    pub flags: u32,
    /// `true` if the controller box has the interface for injection moulding machines (Euromap 67).
    pub euromap67: bool,
    /// Mass of the payload on the flange \[kg\].
    pub payload: f64,
    /// The payload's centre of gravity in the frame of the flange \[m\].
    pub payload_cog: [f64; 3],
    /// The payload's moments of inertia \[kg·m²\]: xx, yy, zz, xy, xz, yz.
    pub payload_inertia: [f64; 6],
}

impl Io {
    /// Returns the state with all inputs and outputs off and the analogue terminals in voltage ranges.
    #[must_use]
    pub fn new(generation: Generation, euromap67: bool) -> Self {
        Self {
            generation,
            digital_in: 0,
            digital_out: 0,
            analog_in: [0.0; 2],
            analog_in_range: [1; 2],
            analog_out: [0.0; 2],
            analog_out_domain: [1; 2],
            tool_analog_in: [0.0; 2],
            tool_analog_in_range: [1; 2],
            tool_voltage: 0,
            tool_communication: ToolCommunication::default(),
            tool_output_mode: 0,
            tool_digital_out_modes: [1; 2],
            gravity: [0.0, 0.0, GRAVITY],
            flags: 0,
            euromap67,
            payload: 0.0,
            payload_cog: [0.0; 3],
            payload_inertia: [0.0; 6],
        }
    }

    /// Returns the bit that a digital output has on this controller generation; `None` if the output does not exist.
    pub(crate) fn bit(&self, output: DigitalOutput) -> Option<u32> {
        let cb2 = self.generation == Generation::Cb2;
        match output {
            DigitalOutput::Standard(n @ 0..8) => Some(u32::from(n)),
            DigitalOutput::Configurable(n @ 0..8) if !cb2 => Some(8 + u32::from(n)),
            DigitalOutput::Tool(n @ 0..2) => Some(if cb2 { 8 } else { 16 } + u32::from(n)),
            _ => None,
        }
    }

    /// Switches one digital output on or off. Returns `false` if the output does not exist.
    pub fn set_digital(&mut self, output: DigitalOutput, on: bool) -> bool {
        let Some(bit) = self.bit(output) else { return false };
        let mask = 1 << bit;
        self.digital_out = if on { self.digital_out | mask } else { self.digital_out & !mask };
        true
    }

    /// Returns the state of one digital output; `None` if the output does not exist.
    #[must_use]
    pub fn digital(&self, output: DigitalOutput) -> Option<bool> {
        self.bit(output).map(|bit| self.digital_out & (1 << bit) != 0)
    }

    /// Sets an analogue output to a share of its range, 0 … 1: of 10 V, or of 4 … 20 mA. Returns `false` if the
    /// output does not exist or the share is out of range.
    pub fn set_analog(&mut self, port: usize, share: f64) -> bool {
        let (Some(value), Some(domain)) = (self.analog_out.get_mut(port), self.analog_out_domain.get(port)) else {
            return false;
        };
        if !(0.0..=1.0).contains(&share) {
            return false;
        }
        *value = if *domain == 0 { LIVE_ZERO + CURRENT_SPAN * share } else { FULL_VOLTAGE * share };
        true
    }

    /// Makes an analogue output supply a current (0) or a voltage (1); its share of the range stays. Returns `false`
    /// if the output or the domain does not exist.
    pub fn set_analog_domain(&mut self, port: usize, domain: u8) -> bool {
        let (Some(value), Some(old)) = (self.analog_out.get(port), self.analog_out_domain.get(port)) else {
            return false;
        };
        if domain > 1 {
            return false;
        }
        // An output that was never set is at zero, below the live zero of a current.
        let share = if *old == 0 { ((value - LIVE_ZERO) / CURRENT_SPAN).max(0.0) } else { value / FULL_VOLTAGE };
        if let Some(slot) = self.analog_out_domain.get_mut(port) {
            *slot = domain;
        }
        self.set_analog(port, share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_outputs_are_bits_8_and_9_on_cb2_and_16_and_17_later() {
        for (generation, mask) in
            [(Generation::Cb2, 1 << 9), (Generation::Cb3, 1 << 17), (Generation::ESeries, 1 << 17)]
        {
            let mut io = Io::new(generation, false);
            assert!(io.set_digital(DigitalOutput::Tool(1), true));
            assert_eq!(io.digital_out, mask);
        }
        assert!(!Io::new(Generation::Cb2, false).set_digital(DigitalOutput::Configurable(0), true));
    }

    #[test]
    fn half_an_analogue_output_is_5_volts_or_12_milliamperes() {
        let mut io = Io::new(Generation::Cb3, false);
        assert!(io.set_analog(0, 0.5));
        io.analog_out_domain[1] = 0;
        assert!(io.set_analog(1, 0.5));
        assert_eq!(io.analog_out, [5.0, 0.012]);
        assert!(!io.set_analog(2, 0.5));
    }

    #[test]
    fn an_analogue_output_keeps_its_share_when_its_domain_changes_and_its_value_when_a_share_is_senseless() {
        let mut io = Io::new(Generation::Cb3, false);
        assert!(io.set_analog(0, 0.5) && io.set_analog_domain(0, 0));
        assert!((io.analog_out[0] - 0.012).abs() < 1e-12);
        assert!(io.set_analog_domain(0, 1) && !io.set_analog_domain(0, 2) && !io.set_analog_domain(2, 0));
        assert!(!io.set_analog(0, 1.5) && !io.set_analog(0, f64::NAN));
        assert!((io.analog_out[0] - 5.0).abs() < 1e-12);
    }
}
