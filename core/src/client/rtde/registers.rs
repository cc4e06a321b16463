//! Commands as they lie in general purpose registers (`core/docs/protocol/ur-rtde.md 6, 7`).
//!
//! A command is eight input registers that are set up as one recipe and so are always written whole: a command word,
//! the command's number, and six speeds. A program on the controller reads them in its cycle, and writes the number it
//! has read into an output register: the mirror. Until it has read a command, registers are zero, and zero is the number
//! of none.

use core::fmt::Write as _;

use heapless::String;

use crate::link::Counter;
use crate::robot::BadValue;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::rtde::{RecipeReader, Value};

/// Integers of a command: the word and the number.
const INTEGERS: u8 = 2;
/// Doubles of a command: a speed per joint.
const DOUBLES: u8 = 6;
/// The first register that by convention is no fieldbus's, and how many there are.
const UPPER: u8 = 24;
const END: u8 = 48;

/// Bytes of the longest names.
const MIRROR_NAME: usize = "output_int_register_47".len();
const INPUT_NAMES: usize = INTEGERS as usize * "input_int_register_47,".len()
    + DOUBLES as usize * "input_double_register_47,".len()
    - ",".len();

/// Which registers commands use. All of them are lower ones (0 to 23), or all are upper ones (24 to 47).
///
/// By convention the lower ones belong to a fieldbus; the upper ones exist from 3.9 and 5.3 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Registers {
    integer: u8,
    double: u8,
    mirror: u8,
}

impl Registers {
    /// Registers of one command, and so room for the fields of its recipe.
    pub const COUNT: usize = INTEGERS as usize + DOUBLES as usize;

    /// The first lower ones.
    pub const LOWER: Self = Self { integer: 0, double: 0, mirror: 1 };
    /// The first upper ones.
    pub const UPPER: Self = Self { integer: UPPER, double: UPPER, mirror: UPPER + 1 };

    /// The word is in integer register `first_integer` and the number in the next one; speeds are in double registers
    /// from `first_double` on. The mirror is the output register with the number's own number.
    ///
    /// # Errors
    /// The first of the two that leaves its range, or is in another range than the one before it.
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
                "0 to 18 beside lower integer registers, 24 to 42 beside upper ones",
                None,
            )),
        }
    }

    /// The same with another output register as mirror.
    ///
    /// # Errors
    /// Where it is not in the range of the others.
    pub const fn with_mirror(self, register: u8) -> Result<Self, BadValue> {
        match last_of(register, 1) {
            Some(_) if (register < UPPER) == (self.integer < UPPER) => Ok(Self { mirror: register, ..self }),
            Some(_) | None => Err(BadValue::new("mirror", "a register in the range of the others", None)),
        }
    }

    /// The first upper ones where this software has them, else the first lower ones; `None` where it has no RTDE.
    #[must_use]
    pub fn for_software(software: SoftwareVersion) -> Option<Self> {
        let has = |name| Variable::named(name, Direction::Input)?.since().reached(software);
        let upper = has("input_int_register_24").unwrap_or(false);
        let lower = has("input_int_register_0").unwrap_or(false);
        if upper { Some(Self::UPPER) } else { lower.then_some(Self::LOWER) }
    }

    /// Their names, for the recipes of a client.
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

/// The last of `count` registers from `first` on, where all of them are in one range.
const fn last_of(first: u8, count: u8) -> Option<u8> {
    let last = first.saturating_add(count).saturating_sub(1);
    if last < UPPER || (first >= UPPER && last < END) { Some(last) } else { None }
}

/// Appends a name to a list.
fn name<const N: usize>(list: &mut String<N>, register: &str, number: u8) {
    let comma = if list.is_empty() { "" } else { "," };
    // The list has room for the longest names.
    let _ = write!(list, "{comma}{register}{number}");
}

/// Names of [`Registers`] on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterNames {
    inputs: String<INPUT_NAMES>,
    mirror: String<MIRROR_NAME>,
}

impl RegisterNames {
    /// The recipe of inputs, joined by commas. As outputs of the same names they can be read back.
    #[must_use]
    pub fn inputs(&self) -> &str {
        &self.inputs
    }

    /// The output in which the controller's program mirrors the number.
    #[must_use]
    pub fn mirror(&self) -> &str {
        &self.mirror
    }
}

/// The number of a command: 1 to 2³¹ − 1, and then 1 again. Zero is what a fresh register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CommandNumber(i32);

/// How many numbers there are.
const NUMBERS: u64 = i32::MAX as u64;

impl CommandNumber {
    /// The number after the last one.
    pub const FIRST: Self = Self(1);

    /// What a register holds; `None` where that is the number of no command.
    #[must_use]
    pub const fn new(register: i32) -> Option<Self> {
        if register > 0 { Some(Self(register)) } else { None }
    }

    /// As a register holds it.
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

/// One command as registers hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RegisterCommand {
    /// What is to be done; its meaning is that of the program that reads it. A fresh register holds 0.
    pub word: i32,
    /// Which command it is.
    pub number: CommandNumber,
    /// Speeds of the joints \[rad/s\].
    pub speeds: JointVelocities<6>,
}

impl RegisterCommand {
    /// The values of the recipe [`RegisterNames::inputs`].
    #[must_use]
    pub fn values(&self) -> [Value; Registers::COUNT] {
        let [base, shoulder, elbow, wrist_1, wrist_2, wrist_3] = self.speeds.0.map(|speed| Value::Double(speed.into()));
        [Value::Int32(self.word), Value::Int32(self.number.get()), base, shoulder, elbow, wrist_1, wrist_2, wrist_3]
    }

    /// The command in the next values of a data package, which are those of [`RegisterNames::inputs`]; `None` where
    /// registers are fresh, or the values are not those.
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
