//! Motion statements: `speedj`, `stopj`, `servoj` (client interfaces, 5.4 and 5.5).

use super::dialect::{Dialect, ServoJArguments, TimeArgument};
use super::error::{Argument, Range, RenderError};
use super::text_cursor::{Line, NUMBER_LEN};

/// The length of the longest rendered list of six numbers \[B\].
const LIST_LEN: usize = 6 * (NUMBER_LEN + 1) + 1;

/// The statement `speedj`: accelerates every joint to a velocity and keeps it.
///
/// The behaviour without a further command differs between controllers: some stop after the time has passed, some keep
/// the velocity until a joint limit. See [`SpeedJForm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedJ {
    /// The target joint velocities, base first \[rad/s\]; must be in [`SpeedJ::VELOCITY`].
    pub velocities: [f32; 6],
    /// The acceleration of the leading axis \[rad/s²\]; must be in [`SpeedJ::ACCELERATION`].
    pub acceleration: f32,
    /// The duration of the `speedj` call \[s\], which must be in [`SpeedJ::TIME`]; `None` is [`SpeedJ::DEFAULT_TIME`].
    ///
    /// For software 3.1 and 3.2 it is not written as an argument (see [`TimeArgument::Omitted`]), only as the `sleep`
    /// of [`SpeedJForm::SelfEnding`].
    pub time: Option<f32>,
}

/// The form in which a [`SpeedJ`] is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedJForm {
    /// A single statement `speedj(qd,a,t)`, which is a program of one line.
    Bare,
    /// A program that brings the arm to rest by itself unless it is superseded: `speedj`, then `stopj`. If the time is
    /// not an argument, a `sleep` is written between them.
    SelfEnding {
        /// The deceleration of the closing `stopj` \[rad/s²\]; must be in [`StopJ::DECELERATION`].
        stop_acceleration: f32,
    },
}

impl SpeedJ {
    /// The range of velocities that are rendered \[rad/s\]. It is far above any arm's maximum (2π), because the limits
    /// of an arm and a task are not checked here.
    pub const VELOCITY: Range = Range::symmetric(20.0);
    /// The range of accelerations that are rendered for `speedj` \[rad/s²\].
    pub const ACCELERATION: Range = Range::new(0.001, 150.0);
    /// The range of durations that are rendered for `speedj` \[s\].
    pub const TIME: Range = Range::new(0.001, 60.0);
    /// The duration of a `speedj` call without a given time \[s\]: the usual one on CB2, and at least two control
    /// periods on every controller.
    pub const DEFAULT_TIME: f32 = 0.02;
    /// The length of the longest rendered `speedj`, in either form \[B\].
    pub const MAX_LEN: usize = PROGRAM_LEN + 2 + STATEMENT_LEN + SLEEP_LEN + StopJ::MAX_LEN;

    /// Writes the `speedj` statement for a controller of this dialect (or [`Version`](crate::Version)).
    ///
    /// # Errors
    /// [`RenderError::Number`] if a number is not finite or out of its range; [`RenderError::BufferTooSmall`].
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

/// The statement `stopj`: brings every joint to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopJ {
    /// The deceleration of the leading axis \[rad/s²\]; effective from 3.2 on. It must be in [`StopJ::DECELERATION`].
    pub deceleration: f32,
}

impl StopJ {
    /// The range of decelerations that are rendered for `stopj` \[rad/s²\].
    pub const DECELERATION: Range = Range::new(0.01, 150.0);
    /// The length of the longest rendered `stopj` \[B\].
    pub const MAX_LEN: usize = 6 + NUMBER_LEN + 2;

    /// Writes the `stopj` statement, which is the same for all controllers.
    ///
    /// # Errors
    /// [`RenderError::Number`] if the deceleration is not finite or out of its range; [`RenderError::BufferTooSmall`].
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

/// The statement `servoj`: follows a joint position that is sent again in every period.
///
/// If a one-line program ends without a successor, the arm stops abruptly, without a ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoJ {
    /// The target joint positions, base first \[rad\]; must be in [`ServoJ::POSITION`].
    pub positions: [f32; 6],
    /// The duration of the `servoj` call \[s\]; must be in [`ServoJ::TIME`].
    pub time: f32,
    /// The look-ahead time of `servoj` \[s\], which must be in [`ServoJ::LOOKAHEAD`]; not written before 3.1. The
    /// controller's own default is 0.1.
    pub lookahead: f32,
    /// The gain of `servoj`, 100 to 2000; not written before 3.1. The controller's own default is 300.
    pub gain: u16,
}

impl ServoJ {
    /// The range of joint positions that are rendered for `servoj` \[rad\]. It is wide because some wrists turn without
    /// end.
    pub const POSITION: Range = Range::symmetric(1000.0);
    /// The range of durations that are rendered for `servoj` \[s\].
    pub const TIME: Range = Range::new(0.001, 60.0);
    /// The range of `servoj`'s look-ahead times in the controllers' documents \[s\].
    pub const LOOKAHEAD: Range = Range::new(0.03, 0.2);
    /// The range of `servoj`'s gains in the controllers' documents.
    pub const GAIN: Range = Range::new(100.0, 2000.0);
    /// The length of the longest rendered `servoj` \[B\].
    pub const MAX_LEN: usize = 7 + LIST_LEN + 4 + 2 * (1 + NUMBER_LEN) + 1 + 4 + 2;

    /// Writes the `servoj` statement for a controller of this dialect (or [`Version`](crate::Version)).
    ///
    /// # Errors
    /// [`RenderError::Number`] if a number is not finite or out of its range; [`RenderError::BufferTooSmall`].
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
