//! The variables that a program on the controller shares with this process.

use serde::{Serialize, Serializer};

use crate::json::Number;

/// The values of all variables that a program on the controller sends: sixteen of each kind, the first one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// The values of the boolean variables of a program on the controller. Bit 0 is the first one.
    pub bools: u16,
    /// The values of the integer variables of a program on the controller.
    pub ints: [i32; 16],
    /// The values of the real variables as bits, so that a NaN that does not change compares as equal.
    pub reals: [u32; 16],
}

impl Variables {
    /// Formats the variables of a controller's program that are not zero, numbered like in the program. Returns `None`
    /// if all are zero.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let mut said = vec![];
        said.extend((0..16).filter(|at| self.bools >> at & 1 != 0).map(|at| format!("bool.{}=on", at + 1)));
        let ints = self.ints.iter().enumerate().filter(|(_, int)| **int != 0);
        said.extend(ints.map(|(at, int)| format!("int.{}={int}", at + 1)));
        let reals = self.reals.iter().map(|bits| f32::from_bits(*bits)).enumerate().filter(|(_, real)| *real != 0.0);
        said.extend(reals.map(|(at, real)| format!("real.{}={real}", at + 1)));
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// Returns the variables of a controller's program as three arrays for scripts. `number` converts each real number.
    pub(crate) fn arrays<R: Serialize>(&self, number: impl Fn(f32) -> R) -> Arrays<R> {
        Arrays {
            bools: std::array::from_fn(|at| self.bools >> at & 1 != 0),
            ints: self.ints,
            reals: self.reals.map(|bits| number(f32::from_bits(bits))),
        }
    }
}

/// The variables of a controller's program as a JSON object with an array for each kind.
#[derive(Serialize)]
pub(crate) struct Arrays<R> {
    #[serde(rename = "bool")]
    bools: [bool; 16],
    #[serde(rename = "int")]
    ints: [i32; 16],
    #[serde(rename = "real")]
    reals: [R; 16],
}

impl Serialize for Variables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.arrays(Number).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_told_by_its_number_and_everything_to_scripts() {
        let mut variables = Variables { bools: 0, ints: [0; 16], reals: [0; 16] };
        assert_eq!(variables.text(), None);
        variables.bools = 1 << 15;
        variables.ints[1] = -10;
        variables.reals[0] = 0.25_f32.to_bits();
        assert_eq!(variables.text().as_deref(), Some("bool.16=on int.2=-10 real.1=0.25"));
        let json = crate::json::text(&variables);
        assert!(json.starts_with("{\"bool\":[false,false,"), "{}", json);
        assert!(json.contains("\"int\":[0,-10,0,"), "{}", json);
        assert!(json.contains("\"real\":[0.25,0.0,"), "{}", json);
    }
}
