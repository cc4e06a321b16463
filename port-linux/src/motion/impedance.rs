//! Parses requests that change stiffness and damping during a session: `stiffness=800 damping=0.7`.

use std::fmt;

use outrigger_core::robot::BadValue;

/// The maximum number of values for stiffness or damping: one for each of seven joints.
const MOST: usize = 7;

/// The word at the beginning of a request that changes stiffness or damping: `impedance stiffness=800 damping=0.7`.
pub const WORD: &str = "impedance ";
/// The text of the answer to an accepted change of stiffness or damping.
pub(crate) const SET: &str = "in every command from now on";

/// The requested new values for the stiffness and damping of the arm. A value that is `None` is not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impedance {
    /// The new stiffness, in the unit of the control scheme in force: \[Nm/rad\] for joints, \[N/m\] and \[Nm/rad\]
    /// along and about the axes of the tool.
    pub stiffness: Option<Numbers>,
    /// The new damping of the arm, as a normalised factor without a unit.
    pub damping: Option<Numbers>,
}

/// A requested stiffness or damping: a single number for all joints or axes of the tool, or a number for each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    values: [f32; MOST],
    count: usize,
}

/// A reason why the arm's stiffness and damping are not changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ImpedanceRefusal {
    /// Neither stiffness nor damping can be set for this kind of controller.
    #[error("this controller has neither stiffness nor damping: a KUKA LWR has them")]
    NoImpedance,
    /// The control scheme in force has neither stiffness nor damping.
    #[error(
        "the control scheme in force is joint position, which has neither: robot.expert.control = \"joint-impedance\" or \"tool-impedance\" has both"
    )]
    Position,
    /// The number of values differs from the number of joints or axes in the control scheme in force.
    #[error("{what}: expected {expected} numbers, or one for all, found {found}")]
    Count {
        /// The name of the wrong value: `stiffness` or `damping`.
        what: &'static str,
        /// The number of stiffness or damping values that the control scheme expects, one per axis or joint.
        expected: usize,
        /// The number of stiffness or damping values in the client's request.
        found: usize,
    },
    /// The value with this name (stiffness or damping) is not sent to the KRC, because the KRL program decides it.
    #[error("{0} is set by the KRL program (robot.expert.left_to_krl)")]
    LeftToKrl(&'static str),
    /// A stiffness or damping value is outside of its range.
    #[error(transparent)]
    BadValue(#[from] BadValue),
    /// The control scheme of the arm is being changed at this moment.
    #[error("the control scheme is changing: try again")]
    Changed,
}

impl Impedance {
    /// Parses the stiffness and damping in a request: `stiffness=800 damping=0.7`.
    ///
    /// # Errors
    /// Returns a description of what was expected.
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

/// Formats stiffness and damping in the form of a request: `impedance stiffness=800 damping=0.7`.
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

    /// Returns the stiffness or damping of each of `N` joints or axes. `what` is the name of the value, for errors.
    ///
    /// # Errors
    /// Returns [`ImpedanceRefusal::Count`] if there are neither one nor `N` numbers.
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
