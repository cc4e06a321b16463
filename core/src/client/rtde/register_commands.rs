//! Commands sent through registers, with a measurement of when the controller's program mirrors their numbers
//! (`core/docs/protocol/ur-rtde.md 6, 7`).
//!
//! A command is sent by [`RegisterCommands::send`] through a [`Client`] that has the registers as one of its recipes of
//! inputs and the mirror among its outputs; each data package of the client is passed to [`RegisterCommands::take`]:
//!
//! ```
//! use outrigger_core::client::rtde::{Client, ClientConfig, ClientMemory, Event, Input, Inputs};
//! use outrigger_core::client::rtde::{RegisterCommands, Registers, SendError};
//! use outrigger_wire::robot::JointVelocities;
//! use outrigger_wire::time::{Duration, Instant};
//! use outrigger_wire::rtde::registry::Direction;
//! use outrigger_wire::rtde::{DynamicRecipe, Field};
//!
//! let names = Registers::UPPER.names();
//! assert!(names.inputs().starts_with("input_int_register_24,input_int_register_25,input_double_register_24,"));
//! assert_eq!(names.mirror(), "output_int_register_25");
//!
//! let (mut inputs, mut outputs) = ([Field::EMPTY; Registers::COUNT], [Field::EMPTY; 2]);
//! let inputs = DynamicRecipe::new(names.inputs(), Direction::Input, &mut inputs).expect("room");
//! let outputs = DynamicRecipe::with_optional("timestamp", names.mirror(), Direction::Output, &mut outputs);
//! let (mut inputs, outputs) = ([Inputs::new(inputs)], outputs.expect("room"));
//! let memory = ClientMemory { receive: &mut [0; 1024], transmit: &mut [0; 256] };
//! let mut client = Client::new(ClientConfig::default(), outputs, &mut inputs, memory)?;
//! let mut commands = RegisterCommands::new(Registers::UPPER, Duration::from_millis(6));
//!
//! let now = Instant::ZERO;
//! client.handle(now, Input::Opened);
//! commands.opened();
//! // Whenever bytes have come:
//! client.commit(0, now, now);
//! while let Some(event) = client.poll_event() {
//!     if let Event::Data(data) = event
//!         && let Some(echo) = commands.take(&data.values, now)
//!     {
//!         println!("{} took {:?}", echo.number.get(), echo.round_trip);
//!     }
//! }
//! // Nothing is sent before the mirror was seen.
//! assert_eq!(commands.send(&mut client, 0, 1, JointVelocities::ZERO, now), Err(SendError::NoMirror));
//! # Ok::<(), outrigger_core::client::rtde::ClientError>(())
//! ```

use super::client::Client;
use super::inputs::WriteError;
use super::registers::{CommandNumber, RegisterCommand, RegisterNames, Registers};
use crate::link::{AnswerFigures, Answers, Counter, Histogram};
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::rtde::{RecipeData, Value};
use outrigger_wire::time::{Duration, Instant};

/// A sender that numbers commands in registers and measures when the controller's program acknowledges each, by writing
/// its number into an output register, the mirror.
#[derive(Clone, Debug)]
pub struct RegisterCommands {
    names: RegisterNames,
    /// The newest command number: sent by this client, or found at the start in the mirror, the register in which the
    /// controller's program repeats command numbers; `None` before either.
    newest: Option<CommandNumber>,
    /// `true` once data of this connection has contained the mirror, the register with the last command number that was
    /// read.
    seen: bool,
    answers: Answers<CommandNumber>,
    round_trips: Histogram,
}

/// The acknowledgement of a command: the controller's program has written its number into the mirror register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Echo {
    /// The number of the acknowledged command.
    pub number: CommandNumber,
    /// The time from sending the command until the arrival of the first data that contains its number.
    pub round_trip: Duration,
}

/// The reason for which a command was not sent in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SendError {
    /// A joint speed of the command is NaN or infinite.
    NotFinite,
    /// No data of this connection has contained the mirror register, whose command number determines the next one.
    NoMirror,
    /// The recipe of inputs with the command's registers cannot be written.
    Write(WriteError),
}

impl core::fmt::Display for SendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a speed is not a finite number"),
            Self::NoMirror => f.write_str("no data has shown the register that mirrors commands"),
            Self::Write(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for SendError {}

impl RegisterCommands {
    /// Creates a sender with these registers; a command whose number the program mirrors within `deadline` counts as
    /// answered in time. A program reads a command in the cycle after its arrival, and the data after that contains it:
    /// two cycles and the network's delay.
    #[must_use]
    pub fn new(registers: Registers, deadline: Duration) -> Self {
        Self {
            names: registers.names(),
            newest: None,
            seen: false,
            answers: Answers::new(deadline),
            round_trips: Histogram::default(),
        }
    }

    /// Prepares for a new connection, for each of which it must be called: commands sent on the previous one are no
    /// longer awaited. The command numbers continue.
    pub fn opened(&mut self) {
        self.seen = false;
        self.answers.clear();
    }

    /// Sends a command as the client's `recipe` of inputs, and returns its number. `word` is the command word, as
    /// defined by the program that reads it.
    ///
    /// If commands are sent faster than the program reads them, it mirrors only the newest: the others count as not
    /// answered.
    ///
    /// # Errors
    /// [`SendError`]; nothing is written then, and no number is used.
    pub fn send(
        &mut self,
        client: &mut Client<'_, '_>,
        recipe: usize,
        word: i32,
        speeds: JointVelocities<6>,
        now: Instant,
    ) -> Result<CommandNumber, SendError> {
        if !speeds.is_finite() {
            return Err(SendError::NotFinite);
        }
        if !self.seen {
            return Err(SendError::NoMirror);
        }
        let number = self.newest.map_or(CommandNumber::FIRST, |newest| newest.forward(1));
        let command = RegisterCommand { word, number, speeds };
        client.write(recipe, &command.values()).map_err(SendError::Write)?;
        self.answers.sent(number, now);
        self.newest = Some(number);
        Ok(number)
    }

    /// Processes data read at `arrival`. Returns the acknowledgement of the command whose number appears in this data
    /// for the first time, if any.
    pub fn take(&mut self, data: &RecipeData<'_, '_>, arrival: Instant) -> Option<Echo> {
        let Value::Int32(register) = data.get(self.names.mirror())? else { return None };
        let number = CommandNumber::new(register);
        if !self.seen {
            self.seen = true;
            // Registers outlive connections: the present value of the mirror must never be taken for an
            // acknowledgement.
            let own = self.newest;
            self.newest = number.filter(|old| own.is_none_or(|own| old.ahead_of(own) > 0)).or(own);
            return None;
        }
        let number = number?;
        let round_trip = self.answers.reflected(number, arrival)?;
        self.round_trips.record(round_trip);
        Some(Echo { number, round_trip })
    }

    /// Returns the counts of answered, late and missing commands on this connection at `now`.
    #[must_use]
    pub fn figures(&self, now: Instant) -> AnswerFigures {
        self.answers.figures(now)
    }

    /// Returns the round trips of all commands that the controller's program has acknowledged, over all connections.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        &self.round_trips
    }
}
