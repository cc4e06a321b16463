//! Service lines: text that is not URScript and that the controllers accept on the same ports (client interfaces, 5.1
//! and 5.5).
//!
//! The vendor calls them internal; they are in common use, but no release guarantees them.

use super::error::{Argument, Range, RenderError};
use super::text_cursor::{Line, NUMBER_LEN};

/// A service line without arguments: a line that is not URScript, and that a controller executes as a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceLine {
    /// The line `power on`: powers on the arm.
    PowerOn,
    /// The line `power off`: powers off the arm.
    PowerOff,
    /// The line `brake release`: releases the arm's brakes; seen on CB2.
    BrakeRelease,
    /// The line `set robotmode run`: requests robot mode `RUNNING`; seen on CB2.
    RobotModeRun,
    /// The line `set robotmode freedrive`: requests freedrive; seen on CB2.
    RobotModeFreedrive,
    /// The line `set unlock protective stop`: unlocks a protective stop.
    UnlockProtectiveStop,
    /// The line `stop program`: stops the running program.
    StopProgram,
}

impl ServiceLine {
    /// All service lines without arguments, such as `power on`.
    pub const ALL: [Self; 7] = [
        Self::PowerOn,
        Self::PowerOff,
        Self::BrakeRelease,
        Self::RobotModeRun,
        Self::RobotModeFreedrive,
        Self::UnlockProtectiveStop,
        Self::StopProgram,
    ];
    /// The length of the longest service line \[B\].
    pub const MAX_LEN: usize = 27;

    /// Returns the words of the service line, without the newline.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::PowerOn => "power on",
            Self::PowerOff => "power off",
            Self::BrakeRelease => "brake release",
            Self::RobotModeRun => "set robotmode run",
            Self::RobotModeFreedrive => "set robotmode freedrive",
            Self::UnlockProtectiveStop => "set unlock protective stop",
            Self::StopProgram => "stop program",
        }
    }

    /// Writes the service line with its newline.
    ///
    /// # Errors
    /// [`RenderError::BufferTooSmall`] if the line does not fit.
    pub fn render(self, out: &mut [u8]) -> Result<usize, RenderError> {
        let mut line = Line::new(out);
        line.text(self.words());
        line.put(b"\n");
        line.finish()
    }
}

/// The service line `set speed`: moves the speed slider. An abrupt change during motion can trip a fault on the
/// controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedSlider(
    /// The position of the slider, from 0 (standstill) to 1 (programmed speed).
    pub f32,
);

impl SpeedSlider {
    /// The range of the speed slider's position.
    pub const POSITION: Range = Range::new(0.0, 1.0);
    /// The length of the longest rendered speed slider line \[B\].
    pub const MAX_LEN: usize = 10 + NUMBER_LEN + 1;

    /// Writes the service line `set speed` with its newline.
    ///
    /// # Errors
    /// [`RenderError::Number`] if the position is not finite or out of range; [`RenderError::BufferTooSmall`].
    pub fn render(self, out: &mut [u8]) -> Result<usize, RenderError> {
        Self::POSITION.check(Argument::SpeedSlider, self.0)?;
        let mut line = Line::new(out);
        line.put(b"set speed ");
        line.number(self.0);
        line.put(b"\n");
        line.finish()
    }
}
