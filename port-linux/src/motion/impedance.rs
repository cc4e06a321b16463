//! Stiffness and damping that are asked for while a session stands: `stiffness=800 damping=0.7`.

use std::fmt;

use outrigger_core::robot::BadValue;

/// Numbers that a value may have: one for each of seven joints.
const MOST: usize = 7;

/// The beginning of what is set: `impedance stiffness=800 damping=0.7`.
pub const WORD: &str = "impedance ";
/// The result of a request that was accepted.
pub(crate) const SET: &str = "in every command from now on";

/// Stiffness and damping; what is not named stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impedance {
    /// Stiffness, in the unit of the scheme in force.
    pub stiffness: Option<Numbers>,
    /// Damping, normalised.
    pub damping: Option<Numbers>,
}

/// One number for all, or one for each joint or axis of the tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    values: [f32; MOST],
    count: usize,
}

/// The reason for which stiffness and damping are not taken.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ImpedanceRefusal {
    /// The controller has none.
    #[error("this controller has neither stiffness nor damping: a KUKA LWR has them")]
    NoImpedance,
    /// The scheme in force has none.
    #[error(
        "the control scheme in force is joint position, which has neither: robot.expert.control = \"joint-impedance\" or \"tool-impedance\" has both"
    )]
    Position,
    /// Another count of numbers than the scheme in force has.
    #[error("{what}: expected {expected} numbers, or one for all, found {found}")]
    Count {
        /// The value.
        what: &'static str,
        /// Numbers of the scheme.
        expected: usize,
        /// Numbers that were sent.
        found: usize,
    },
    /// A field that is not sent to the KRC.
    #[error("{0} is left to the KRL program: robot.expert.left_to_krl names it")]
    LeftToKrl(&'static str),
    /// A number outside its range.
    #[error(transparent)]
    BadValue(#[from] BadValue),
    /// Another scheme is in force than a moment ago.
    #[error("the control scheme is being changed: ask again")]
    Changed,
}

impl Impedance {
    /// Reads what is asked for.
    ///
    /// # Errors
    /// What was expected.
    pub fn of(how: &str) -> Result<Self, String> {
        let mut read = Self::default();
        for word in how.split_whitespace() {
            let value = match word.split_once('=') {
                Some(("stiffness", numbers)) => (&mut read.stiffness, "stiffness", numbers),
                Some(("damping", numbers)) => (&mut read.damping, "damping", numbers),
                _ => return Err(format!("expected stiffness=N[,N...] or damping=N[,N...], found '{word}'")),
            };
            let (place, name, numbers) = value;
            *place = Some(Numbers::of(name, numbers)?);
        }
        match read {
            Self { stiffness: None, damping: None } => {
                Err("expected stiffness=N[,N...], damping=N[,N...] or both".into())
            }
            read => Ok(read),
        }
    }
}

/// Formats what was asked for, in the form of a request: `impedance stiffness=800 damping=0.7`.
impl fmt::Display for Impedance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORD.trim_end())?;
        for (name, numbers) in [("stiffness", &self.stiffness), ("damping", &self.damping)] {
            let values = numbers.iter().flat_map(|numbers| numbers.values.iter().take(numbers.count));
            for (at, value) in values.enumerate() {
                if at == 0 { write!(f, " {name}={value}")? } else { write!(f, ",{value}")? }
            }
        }
        Ok(())
    }
}

impl Numbers {
    fn of(name: &str, text: &str) -> Result<Self, String> {
        let mut read = Self { values: [0.0; MOST], count: 0 };
        for number in text.split(',') {
            let parsed = number.parse::<f32>().ok().filter(|number| number.is_finite());
            let parsed = parsed.ok_or_else(|| format!("{name}: expected a number, found '{number}'"))?;
            let place = read.values.get_mut(read.count);
            *place.ok_or_else(|| format!("{name}: expected {MOST} numbers at most, found more"))? = parsed;
            read.count += 1;
        }
        Ok(read)
    }

    /// Returns a number for each of `N`.
    ///
    /// # Errors
    /// [`ImpedanceRefusal::Count`].
    pub(crate) fn spread<const N: usize>(&self, what: &'static str) -> Result<[f32; N], ImpedanceRefusal> {
        match (self.count, self.values) {
            (1, [all, ..]) => Ok([all; N]),
            (found, _) if found != N => Err(ImpedanceRefusal::Count { what, expected: N, found }),
            (_, values) => Ok(std::array::from_fn(|at| values.get(at).copied().unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_said_in_words() {
        for (how, said) in [
            ("", "expected stiffness=N[,N...], damping=N[,N...] or both"),
            ("stiffness", "expected stiffness=N[,N...] or damping=N[,N...], found 'stiffness'"),
            ("wrench=1", "expected stiffness=N[,N...] or damping=N[,N...], found 'wrench=1'"),
            ("stiffness=hard", "stiffness: expected a number, found 'hard'"),
            ("damping=inf", "damping: expected a number, found 'inf'"),
            ("damping=1,1,1,1,1,1,1,1", "damping: expected 7 numbers at most, found more"),
        ] {
            assert_eq!(Impedance::of(how), Err(said.into()), "{how}");
        }
    }

    #[test]
    fn what_is_asked_for_is_written_as_it_was_read() {
        for how in ["stiffness=800", "damping=0.7,0.7,0.7,0.7,0.7,0.7,0.5", "stiffness=1500,1500,800 damping=1"] {
            let read = Impedance::of(how).expect("understood");
            assert_eq!(read.to_string(), format!("{WORD}{how}"));
        }
    }
}
