//! Motion statements: `speedj`, `stopj`, `servoj` (client interfaces, 5.4 and 5.5).

use super::dialect::{Dialect, ServoJArguments, TimeArgument};
use super::error::{Argument, Range, RenderError};
use super::line::{Line, NUMBER_LEN};

/// Six numbers between brackets.
const LIST_LEN: usize = 6 * (NUMBER_LEN + 1) + 1;

/// `speedj`: accelerate every joint to a velocity and hold it.
///
/// What the arm does when no further command comes differs between controllers: some stop when the time is over, some
/// keep the velocity until a joint limit. See [`SpeedJForm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedJ {
    /// Target velocities, base first \[rad/s\]; [`SpeedJ::VELOCITY`].
    pub velocities: [f32; 6],
    /// Acceleration of the leading axis \[rad/s²\]; [`SpeedJ::ACCELERATION`].
    pub acceleration: f32,
    /// How long the call lasts \[s\], [`SpeedJ::TIME`]; `None` is [`SpeedJ::DEFAULT_TIME`].
    ///
    /// Software 3.1 and 3.2 is not told (see [`TimeArgument::Omitted`]), except by the `sleep` of the self-ending form.
    pub time: Option<f32>,
}

/// How a [`SpeedJ`] stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedJForm {
    /// One statement, a one-line program: `speedj(qd,a,t)`.
    Bare,
    /// A program that brings the arm to rest by itself when it is not superseded: `speedj`, then `stopj`. Where the time
    /// is not an argument a `sleep` stands between them.
    SelfEnding {
        /// Deceleration of the closing `stopj` \[rad/s²\]; [`StopJ::DECELERATION`].
        stop_acceleration: f32,
    },
}

impl SpeedJ {
    /// Velocities that are rendered \[rad/s\]: far above any arm's maximum (2π); the limits of an arm and a task are
    /// not decided here.
    pub const VELOCITY: Range = Range::symmetric(20.0);
    /// Accelerations that are rendered \[rad/s²\].
    pub const ACCELERATION: Range = Range::new(0.001, 150.0);
    /// Times that are rendered \[s\].
    pub const TIME: Range = Range::new(0.001, 60.0);
    /// Time when none is given \[s\]: what the field uses on CB2, and at least two control periods everywhere.
    pub const DEFAULT_TIME: f32 = 0.02;
    /// Bytes of the longest text, of either form.
    pub const MAX_LEN: usize = PROGRAM_LEN + 2 + STATEMENT_LEN + SLEEP_LEN + StopJ::MAX_LEN;

    /// Writes the text for a controller of this dialect (or [`Version`](crate::Version)).
    ///
    /// # Errors
    /// A number that is not finite or out of its range, or too little room.
    pub fn render(&self, form: SpeedJForm, dialect: impl Into<Dialect>, out: &mut [u8]) -> Result<usize, RenderError> {
        let omitted = dialect.into().speedj_time == TimeArgument::Omitted;
        let time = self.time.unwrap_or(Self::DEFAULT_TIME);
        Self::VELOCITY.check_each(Argument::Velocity, &self.velocities)?;
        Self::ACCELERATION.check(Argument::Acceleration, self.acceleration)?;
        Self::TIME.check(Argument::Time, time)?;

        let mut line = Line::new(out);
        match form {
            SpeedJForm::Bare => self.statement(&mut line, (!omitted).then_some(time)),
            SpeedJForm::SelfEnding { stop_acceleration } => {
                StopJ::DECELERATION.check(Argument::StopAcceleration, stop_acceleration)?;
                line.put(PROGRAM);
                line.put(b" ");
                self.statement(&mut line, (!omitted).then_some(time));
                if omitted {
                    line.put(b" sleep(");
                    line.number(time);
                    line.put(b")\n");
                }
                line.put(b" ");
                StopJ { deceleration: stop_acceleration }.statement(&mut line);
                line.put(END);
            }
        }
        line.finish()
    }

    fn statement(&self, line: &mut Line<'_>, time: Option<f32>) {
        line.put(b"speedj(");
        line.list(&self.velocities);
        line.put(b",");
        line.number(self.acceleration);
        if let Some(time) = time {
            line.put(b",");
            line.number(time);
        }
        line.put(b")\n");
    }
}

const PROGRAM: &[u8; 17] = b"def outrigger():\n";
const END: &[u8; 4] = b"end\n";
const PROGRAM_LEN: usize = PROGRAM.len() + END.len();
const STATEMENT_LEN: usize = 7 + LIST_LEN + 2 * (1 + NUMBER_LEN) + 2;
const SLEEP_LEN: usize = 7 + NUMBER_LEN + 2;

/// `stopj`: bring every joint to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopJ {
    /// Deceleration of the leading axis \[rad/s²\]; obeyed from 3.2 on. [`StopJ::DECELERATION`].
    pub deceleration: f32,
}

impl StopJ {
    /// Decelerations that are rendered \[rad/s²\].
    pub const DECELERATION: Range = Range::new(0.01, 150.0);
    /// Bytes of the longest text.
    pub const MAX_LEN: usize = 6 + NUMBER_LEN + 2;

    /// Writes the text; it is the same for every controller.
    ///
    /// # Errors
    /// A deceleration that is not finite or out of its range, or too little room.
    pub fn render(&self, out: &mut [u8]) -> Result<usize, RenderError> {
        Self::DECELERATION.check(Argument::StopAcceleration, self.deceleration)?;
        let mut line = Line::new(out);
        self.statement(&mut line);
        line.finish()
    }

    fn statement(self, line: &mut Line<'_>) {
        line.put(b"stopj(");
        line.number(self.deceleration);
        line.put(b")\n");
    }
}

/// `servoj`: follow a joint position that is sent anew every period.
///
/// A one-line program that ends without a successor stops the arm abruptly, without a ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoJ {
    /// Target positions, base first \[rad\]; [`ServoJ::POSITION`].
    pub positions: [f32; 6],
    /// How long the call lasts \[s\]; [`ServoJ::TIME`].
    pub time: f32,
    /// Look-ahead time \[s\], [`ServoJ::LOOKAHEAD`]; not written before 3.1. The controller's own default is 0.1.
    pub lookahead: f32,
    /// Gain, 100 to 2000; not written before 3.1. The controller's own default is 300.
    pub gain: u16,
}

impl ServoJ {
    /// Positions that are rendered \[rad\]; wrists that turn without end exist.
    pub const POSITION: Range = Range::symmetric(1000.0);
    /// Times that are rendered \[s\].
    pub const TIME: Range = Range::new(0.001, 60.0);
    /// Look-ahead times the controllers document \[s\].
    pub const LOOKAHEAD: Range = Range::new(0.03, 0.2);
    /// Gains the controllers document.
    pub const GAIN: Range = Range::new(100.0, 2000.0);
    /// Bytes of the longest text.
    pub const MAX_LEN: usize = 7 + LIST_LEN + 4 + 2 * (1 + NUMBER_LEN) + 1 + 4 + 2;

    /// Writes the text for a controller of this dialect (or [`Version`](crate::Version)).
    ///
    /// # Errors
    /// A number that is not finite or out of its range, or too little room.
    pub fn render(&self, dialect: impl Into<Dialect>, out: &mut [u8]) -> Result<usize, RenderError> {
        Self::POSITION.check_each(Argument::Position, &self.positions)?;
        Self::TIME.check(Argument::Time, self.time)?;
        Self::LOOKAHEAD.check(Argument::Lookahead, self.lookahead)?;
        Self::GAIN.check(Argument::Gain, f32::from(self.gain))?;
        let mut line = Line::new(out);
        line.put(b"servoj(");
        line.list(&self.positions);
        line.put(b",0,0,");
        line.number(self.time);
        if dialect.into().servoj == ServoJArguments::TimeLookaheadGain {
            line.put(b",");
            line.number(self.lookahead);
            line.put(b",");
            line.integer(u32::from(self.gain));
        }
        line.put(b")\n");
        line.finish()
    }
}
