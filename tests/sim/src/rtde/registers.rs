//! The general purpose registers (`core/docs/protocol/ur-rtde.md 6`): clients write the input registers and programs
//! read them; the output registers are the reverse.

/// The number of RTDE registers of each numeric type and direction.
pub const NUMBERS: usize = 48;
/// The number of RTDE bit registers in each direction.
pub const BITS: u8 = 128;
/// The first upper RTDE register of a numeric type. By convention upper registers are for RTDE clients; the lower ones
/// are for a fieldbus.
pub(crate) const UPPER_NUMBERS: u8 = 24;
pub(crate) const UPPER_BITS: u8 = 64;

/// The RTDE registers of one direction: inputs, which clients write, or outputs, which programs write.
#[derive(Clone, Debug, PartialEq)]
pub struct Registers {
    /// Bit registers: bit n of this number is register n.
    pub bits: u128,
    /// Integer RTDE registers by their number.
    pub ints: [i32; NUMBERS],
    /// Floating-point RTDE registers by their number.
    pub doubles: [f64; NUMBERS],
}

impl Default for Registers {
    fn default() -> Self {
        Self { bits: 0, ints: [0; NUMBERS], doubles: [0.0; NUMBERS] }
    }
}

impl Registers {
    /// Returns the bit register `number`; `false` if it does not exist.
    #[must_use]
    pub fn bit(&self, number: u8) -> bool {
        number < BITS && (self.bits >> number) & 1 != 0
    }

    /// Sets the RTDE bit register `number`, if it exists.
    pub fn set_bit(&mut self, number: u8, on: bool) {
        if number < BITS {
            let mask = 1 << number;
            self.bits = if on { self.bits | mask } else { self.bits & !mask };
        }
    }

    /// Returns 32 consecutive bit registers as a number, `first` as its lowest bit.
    pub(crate) fn word(&self, first: u8) -> u32 {
        (self.bits >> first) as u32
    }

    pub(crate) fn set_word(&mut self, first: u8, word: u32) {
        self.bits = (self.bits & !(u128::from(u32::MAX) << first)) | (u128::from(word) << first);
    }
}
