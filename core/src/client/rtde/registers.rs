//! The layout of commands in general purpose registers (`core/docs/protocol/ur-rtde.md 6, 7`).
//!
//! A command consists of eight input registers, which are set up as one recipe and thus always written together: a
//! command word, the command's number, and six speeds. A program on the controller reads them in its cycle, and writes
//! the number it has read into an output register: the mirror. Before the first command the registers are zero, and
//! zero is not the number of any command.

use core::fmt::Write as _;

use heapless::String;

use crate::link::Counter;
use crate::robot::BadValue;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::rtde::{RecipeReader, Value};

/// The number of integer registers of a command: for the command word and the command number.
const INTEGERS: u8 = 2;
/// The number of double registers of a command: for the speed of each joint.
const DOUBLES: u8 = 6;
/// The first general purpose register of the upper range, which by convention fieldbuses do not use; `END` is the
/// number of registers.
const UPPER: u8 = 24;
const END: u8 = 48;

/// The length \[B\] of the longest name of a mirror, the RTDE output register in which the program on the controller
/// repeats the command number; `INPUT_NAMES` is that of the longest comma-separated list of a command's input
/// registers.
const MIRROR_NAME: usize = "output_int_register_47".len();
const INPUT_NAMES: usize = INTEGERS as usize * "input_int_register_47,".len()
    + DOUBLES as usize * "input_double_register_47,".len()
    - ",".len();

/// The general purpose registers of RTDE through which a program on the controller receives joint speeds as commands:
/// either all in the lower range (0 to 23), or all in the upper range (24 to 47).
///
/// By convention the lower range belongs to fieldbuses; the upper range exists from 3.9 and 5.3 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Registers {
    integer: u8,
    double: u8,
    mirror: u8,
}

impl Registers {
    /// The number of registers of one command, and of the fields of its recipe.
    pub const COUNT: usize = INTEGERS as usize + DOUBLES as usize;

    /// The choice of the first registers of the lower range, 0 to 23, for commands and for the mirror, the output
    /// register in which the program on the controller repeats the command number.
    pub const LOWER: Self = Self { integer: 0, double: 0, mirror: 1 };
    /// The choice of the first registers of the upper range, 24 to 47, for commands and for the mirror, the output
    /// register in which the program on the controller repeats the command number.
    pub const UPPER: Self = Self { integer: UPPER, double: UPPER, mirror: UPPER + 1 };

    /// Creates a choice of registers: the command word in integer register `first_integer`, the command number in the
    /// next one, the speeds in double registers from `first_double` on. The mirror, in which the program on the
    /// controller repeats the command number, is the output register with the same index as that of the command
    /// number.
    ///
    /// # Errors
    /// Returns the first argument that is out of range, or not in the same range as the one before it.
    pub const fn new(first_integer: u8, first_double: u8) -> Result<Self, BadValue> {
        let Some(last_integer) = last_of(first_integer, INTEGERS) else {
            return Err(BadValue::new("first_integer", "0 to 22 or 24 to 46", None));
        };
        match last_of(first_double, DOUBLES) {
            Some(last_double) if (last_double < UPPER) == (last_integer < UPPER) => {
                Ok(Self { integer: first_integer, double: first_double, mirror: last_integer })
            }
            Some(_) | None => Err(BadValue::new(
                "first_double",
                "0 to 18 with lower integer registers, 24 to 42 with upper ones",
                None,
            )),
        }
    }

    /// Returns the same registers with another output register as mirror, into which the program writes the command
    /// number.
    ///
    /// # Errors
    /// Returns an error if `register` is not in the range of the others.
    pub const fn with_mirror(self, register: u8) -> Result<Self, BadValue> {
        match last_of(register, 1) {
            Some(_) if (register < UPPER) == (self.integer < UPPER) => Ok(Self { mirror: register, ..self }),
            Some(_) | None => Err(BadValue::new("mirror", "a register in the range of the others", None)),
        }
    }

    /// Returns the first registers of the upper range if the controller's software has them, otherwise those of the
    /// lower range; `None` if it has no RTDE.
    #[must_use]
    pub fn for_software(software: SoftwareVersion) -> Option<Self> {
        let has = |name| Variable::named(name, Direction::Input)?.since().reached(software);
        let upper = has("input_int_register_24").unwrap_or(false);
        let lower = has("input_int_register_0").unwrap_or(false);
        if upper { Some(Self::UPPER) } else { lower.then_some(Self::LOWER) }
    }

    /// Returns the names of the registers, as the recipes of a client need them.
    #[must_use]
    pub fn names(self) -> RegisterNames {
        let mut names = RegisterNames { inputs: String::new(), mirror: String::new() };
        for i in 0..INTEGERS {
            name(&mut names.inputs, "input_int_register_", self.integer.saturating_add(i));
        }
        for i in 0..DOUBLES {
            name(&mut names.inputs, "input_double_register_", self.double.saturating_add(i));
        }
        name(&mut names.mirror, "output_int_register_", self.mirror);
        names
    }
}

/// Returns the number of the last of `count` registers from `first` on; `None` if they are not all in the lower or all
/// in the upper range.
const fn last_of(first: u8, count: u8) -> Option<u8> {
    let last = first.saturating_add(count).saturating_sub(1);
    if last < UPPER || (first >= UPPER && last < END) { Some(last) } else { None }
}

/// Appends the name of a `register` with this `number` to a list joined by commas.
fn name<const N: usize>(list: &mut String<N>, register: &str, number: u8) {
    let comma = if list.is_empty() { "" } else { "," };
    // The list has room for the longest names.
    let _ = write!(list, "{comma}{register}{number}");
}

/// The names that RTDE uses for the registers of commands, [`Registers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterNames {
    inputs: String<INPUT_NAMES>,
    mirror: String<MIRROR_NAME>,
}

impl RegisterNames {
    /// Returns the recipe of inputs, joined by commas. They can be read back as outputs of the same names.
    #[must_use]
    pub fn inputs(&self) -> &str {
        &self.inputs
    }

    /// Returns the name of the RTDE output in which the controller's program repeats the number of the command that it
    /// has read.
    #[must_use]
    pub fn mirror(&self) -> &str {
        &self.mirror
    }
}

/// The number of a command that is sent in registers: 1 to 2³¹ − 1, followed by 1. A register that was never written
/// holds zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CommandNumber(i32);

/// The number of different command numbers before they repeat.
const NUMBERS: u64 = i32::MAX as u64;

impl CommandNumber {
    /// The first command number, which also follows the last one.
    pub const FIRST: Self = Self(1);

    /// Returns the command number that a register holds; `None` if its value is not the number of a command.
    #[must_use]
    pub const fn new(register: i32) -> Option<Self> {
        if register > 0 { Some(Self(register)) } else { None }
    }

    /// Returns the command number as the value of a register.
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl Counter for CommandNumber {
    fn ahead_of(self, base: Self) -> i64 {
        const CIRCLE: i64 = i32::MAX as i64;
        const HALF: i64 = CIRCLE / 2;
        let ahead = i64::from(self.0).saturating_sub(i64::from(base.0));
        if ahead > HALF {
            ahead.saturating_sub(CIRCLE)
        } else if ahead < -HALF {
            ahead.saturating_add(CIRCLE)
        } else {
            ahead
        }
    }

    fn forward(self, steps: u64) -> Self {
        let before = u64::from(self.0.unsigned_abs()).saturating_sub(1);
        Self::low_bits_of(before.saturating_add(steps % NUMBERS))
    }

    fn low_bits_of(extended: u64) -> Self {
        Self(i32::try_from(extended % NUMBERS).unwrap_or(0).saturating_add(1))
    }
}

/// A command to the controller's program in the form in which registers hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RegisterCommand {
    /// The command word, whose meaning is defined by the program that reads it. A register that was never written holds
    /// 0.
    pub word: i32,
    /// The number of the command, which the controller's program repeats in the mirror register once it has read it.
    pub number: CommandNumber,
    /// The commanded joint speeds \[rad/s\].
    pub speeds: JointVelocities<6>,
}

impl RegisterCommand {
    /// Returns the values of a command's registers in the order of the recipe [`RegisterNames::inputs`].
    #[must_use]
    pub fn values(&self) -> [Value; Registers::COUNT] {
        let [base, shoulder, elbow, wrist_1, wrist_2, wrist_3] = self.speeds.0.map(|speed| Value::Double(speed.into()));
        [Value::Int32(self.word), Value::Int32(self.number.get()), base, shoulder, elbow, wrist_1, wrist_2, wrist_3]
    }

    /// Reads a command from the next values of a data package, which must be those of [`RegisterNames::inputs`];
    /// returns `None` if the registers were never written, or the values are of other types.
    #[must_use]
    pub fn read(values: &mut RecipeReader<'_, '_>) -> Option<Self> {
        let word = values.value()?;
        let number = CommandNumber::new(values.value()?);
        let mut speeds = [0.0; 6];
        for speed in &mut speeds {
            *speed = values.value::<f64>()?;
        }
        Some(Self { word, number: number?, speeds: JointVelocities::from_wire(speeds) })
    }
}
