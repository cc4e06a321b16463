//! The set-up of the tool's serial line, as a secondary program of its own (client interfaces, 10.1).

use super::dialect::Dialect;
use super::error::{Argument, Range, RenderError};
use super::secondary_program::{END, HEAD, Output, ToolVoltage};
use super::text_cursor::{Line, NUMBER_LEN};

/// The parity bit of each character on the tool's serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Characters on the serial line have no parity bit.
    None,
    /// The parity bit makes the number of ones odd.
    Odd,
    /// The parity bit makes the number of ones even.
    Even,
}

impl Parity {
    /// Returns the parity's number in `set_tool_communication` and in a controller's robot state: 0 none, 1 odd, 2
    /// even.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Odd => 1,
            Self::Even => 2,
        }
    }
}

/// A secondary program that enables the tool's RS-485 line with these settings, by `set_tool_communication`.
/// Software before 5.0 has no such line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCommunication {
    /// The baud rate of the tool's serial line, one of [`Self::BAUD_RATES`] \[baud\].
    pub baud_rate: u32,
    /// The parity bit of each character on the tool's serial line.
    pub parity: Parity,
    /// The number of stop bits of each character, 1 or 2.
    pub stop_bits: u8,
    /// The silence after which received characters are passed on, in characters.
    pub rx_idle_chars: f32,
    /// The silence between two transmissions on the serial line, in characters.
    pub tx_idle_chars: f32,
    /// The supply voltage of the tool, which is set before the line is enabled; `None` leaves the voltage as it is.
    pub voltage: Option<ToolVoltage>,
}

impl ToolCommunication {
    /// The baud rates of the tool's serial line that a controller accepts \[baud\].
    pub const BAUD_RATES: [u32; 8] = [9_600, 19_200, 38_400, 57_600, 115_200, 1_000_000, 2_000_000, 5_000_000];
    /// The range of the number of stop bits of a character.
    pub const STOP_BITS: Range = Range::new(1.0, 2.0);
    /// The range of the silence after which received characters are passed on, in characters.
    pub const RX_IDLE_CHARS: Range = Range::new(1.0, 40.0);
    /// The range of the silence between two transmissions, in characters.
    pub const TX_IDLE_CHARS: Range = Range::new(0.0, 40.0);
    /// The length of the longest rendered program \[B\]: both calls, a rate of seven digits, two whole numbers, and
    /// two numbers with two digits, a point and the decimals.
    pub const MAX_LEN: usize = HEAD.len() + Output::MAX_LEN + 30 + 7 + 2 + 2 * (NUMBER_LEN - 2) + 4 + 2 + END.len();

    /// Checks that a controller of this dialect (or [`Version`](crate::Version)) accepts these settings of the serial
    /// line.
    ///
    /// # Errors
    /// A number outside its range, or software for which the tool has no serial line.
    pub fn check(&self, dialect: impl Into<Dialect>) -> Result<(), RenderError> {
        let dialect = dialect.into();
        dialect.has(dialect.tool_communication)?;
        if !Self::BAUD_RATES.contains(&self.baud_rate) {
            return Err(RenderError::BaudRate { found: self.baud_rate });
        }
        Self::STOP_BITS.check(Argument::StopBits, f32::from(self.stop_bits))?;
        Self::RX_IDLE_CHARS.check(Argument::RxIdleChars, self.rx_idle_chars)?;
        Self::TX_IDLE_CHARS.check(Argument::TxIdleChars, self.tx_idle_chars)
    }

    /// Writes the secondary program that sets up the serial line, for a controller of this dialect (or
    /// [`Version`](crate::Version)).
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), or a buffer that is too short.
    pub fn render(&self, dialect: impl Into<Dialect>, out: &mut [u8]) -> Result<usize, RenderError> {
        let dialect = dialect.into();
        self.check(dialect)?;
        let mut line = Line::new(out);
        line.put(HEAD);
        if let Some(voltage) = self.voltage {
            Output::ToolVoltage(voltage).write(&dialect, &mut line);
        }
        line.put(b" set_tool_communication(True,");
        line.integer(self.baud_rate);
        line.put(b",");
        line.integer(u32::from(self.parity.number()));
        line.put(b",");
        line.integer(u32::from(self.stop_bits));
        line.put(b",");
        line.number(self.rx_idle_chars);
        line.put(b",");
        line.number(self.tx_idle_chars);
        line.put(b")\n");
        line.put(END);
        line.finish()
    }
}
