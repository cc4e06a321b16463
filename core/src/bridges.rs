//! The conversion of the voltages of a six-axis sensor's six strain-gauge bridges to forces and torques.
//!
//! ```
//! use outrigger_core::bridges::Bridges;
//!
//! let mut matrix = [[0.0; 6]; 6];
//! (0..6).for_each(|axis| matrix[axis][axis] = 200.0);
//! let bridges = Bridges { matrix, unloaded: [0.01; 6] };
//! bridges.check()?;
//! let force = bridges.wrench([0.11, 0.01, 0.01, 0.01, 0.01, 0.01])[0];
//! assert!((force - 20.0).abs() < 1e-4);
//! # Ok::<(), outrigger_core::robot::BadValue>(())
//! ```

use crate::robot::BadValue;

/// The number of bridges of a six-axis force/torque sensor, and of its axes.
const AXES: usize = 6;

/// The calibration that turns six bridge voltages into forces and torques, as measured by the sensor's manufacturer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Bridges {
    /// The calibration matrix \[N/V, N·m/V\]: a row for each of Fx Fy Fz Tx Ty Tz, a column for each bridge.
    pub matrix: [[f32; AXES]; AXES],
    /// The output voltage of each bridge of the sensor without load \[V\].
    pub unloaded: [f32; AXES],
}

impl Bridges {
    /// The largest factor of a calibration matrix that is accepted, of either sign \[N/V, N·m/V\].
    pub const MOST_FACTOR: f32 = 1e9;
    /// The largest magnitude of an unloaded bridge voltage that is accepted \[V\]: the whole range of a converter with
    /// a gain of 1.
    pub const MOST_UNLOADED: f32 = 1.2;
    /// The least [independence](Self::independence) that a calibration matrix needs to be accepted.
    pub const LEAST_INDEPENDENCE: f32 = 0.001;

    /// Returns the forces \[N\] and torques \[N·m\] that these bridge voltages \[V\] stand for.
    #[must_use]
    pub fn wrench(&self, volts: [f32; AXES]) -> [f32; AXES] {
        self.matrix.map(|row| {
            let columns = row.iter().zip(&volts).zip(&self.unloaded);
            columns.fold(0.0, |sum, ((factor, volts), unloaded)| sum + factor * (volts - unloaded))
        })
    }

    /// Returns how linearly independent the rows of the matrix are, 0 … 1: the least sine of the angle between a row
    /// and the span of the rows before it. The result is 1 if all rows are at right angles, and 0 if the matrix is
    /// singular: an axis then repeats what others measure, or measures nothing. The units of the axes do not change the
    /// result. NaN if a factor is not finite.
    #[must_use]
    pub fn independence(&self) -> f32 {
        let mut squared = 1.0_f32;
        // The rows before, made orthogonal to each other (modified Gram-Schmidt).
        let mut before = heapless::Vec::<[f32; AXES], AXES>::new();
        for row in &self.matrix {
            // Divided by its largest factor, so that no square overflows or underflows.
            let largest = row.iter().fold(0.0_f32, |most, factor| most.max(factor.abs()));
            if largest == 0.0 {
                return 0.0;
            }
            let row = row.map(|factor| factor / largest);
            let mut rest = row;
            for other in &before {
                let along = dot(&rest, other) / dot(other, other);
                for (to, factor) in rest.iter_mut().zip(other) {
                    *to -= along * factor;
                }
            }
            let sine_squared = dot(&rest, &rest) / dot(&row, &row);
            if sine_squared.is_nan() || sine_squared < f32::MIN_POSITIVE {
                return if sine_squared.is_nan() { f32::NAN } else { 0.0 };
            }
            squared = squared.min(sine_squared);
            let _ = before.push(rest);
        }
        outrigger_wire::math::sqrt(squared)
    }

    /// Checks that the calibration matrix and the unloaded voltages can belong to a force/torque sensor. Hosts and
    /// boards use the same check.
    ///
    /// # Errors
    /// Returns the first invalid field, named by its key in a board's configuration file.
    pub fn check(&self) -> Result<(), BadValue> {
        let within = |numbers: &[f32], most: f32| numbers.iter().all(|number| number.abs() <= most);
        BadValue::unless(
            within(self.matrix.as_flattened(), Self::MOST_FACTOR),
            "matrix",
            "finite factors of -1e9 to 1e9 N/V and N·m/V",
        )?;
        BadValue::unless(within(&self.unloaded, Self::MOST_UNLOADED), "unloaded", "six voltages of -1.2 to 1.2 V")?;
        BadValue::unless(
            self.independence() >= Self::LEAST_INDEPENDENCE,
            "matrix",
            "six rows that measure six different things: each at an angle of sine 0.001 or more to the rows before it",
        )
    }
}

fn dot(a: &[f32; AXES], b: &[f32; AXES]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// The number of readings per second of a six-channel bridge converter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum BridgeRate {
    /// The bridge converter delivers 250 readings per second.
    Hz250,
    /// The bridge converter delivers 500 readings per second.
    Hz500,
    /// The bridge converter delivers 1 000 readings per second.
    Hz1000,
}

impl BridgeRate {
    /// The list of all supported reading rates of a bridge converter, slowest first.
    pub const ALL: [Self; 3] = [Self::Hz250, Self::Hz500, Self::Hz1000];

    /// Returns the number of readings per second that the bridge converter delivers at this rate.
    #[must_use]
    pub const fn per_second(self) -> u32 {
        match self {
            Self::Hz250 => 250,
            Self::Hz500 => 500,
            Self::Hz1000 => 1000,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robot::wording;

    fn diagonal(factors: [f32; AXES]) -> Bridges {
        let mut matrix = [[0.0; AXES]; AXES];
        for (axis, factor) in factors.into_iter().enumerate() {
            matrix[axis][axis] = factor;
        }
        Bridges { matrix, unloaded: [0.0; AXES] }
    }

    #[test]
    fn units_of_the_axes_do_not_count() {
        assert_eq!(diagonal([30_000.0, 30_000.0, 90_000.0, 400.0, 400.0, 1e-9]).check(), Ok(()));
        assert!((diagonal([1e9, 1.0, 1e-20, 7.0, -3.0, 1e8]).independence() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_axis_that_is_a_combination_of_others_or_nothing_is_refused() {
        let mut twice = diagonal([1.0; AXES]);
        twice.matrix[5] = [1.0, -2.0, 0.5, 3.0, 0.25, 0.0];
        assert!(twice.independence() < 1e-6, "{}", twice.independence());
        assert!(twice.check().is_err_and(|error| error.field == wording("matrix")));
        // At an angle, it is one of its own: 0.005 of a length of 3.8.
        twice.matrix[5][5] = 0.005;
        assert!((twice.independence() - 0.0013).abs() < 1e-4, "{}", twice.independence());
        assert_eq!(twice.check(), Ok(()));
        twice.matrix[5][5] = 0.003;
        assert!(twice.check().is_err());
        assert_eq!(diagonal([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]).independence(), 0.0);
    }

    #[test]
    fn what_is_no_number_or_too_large_is_refused() {
        for wrong in [f32::NAN, f32::INFINITY, -1.1e9] {
            let mut bridges = diagonal([1.0; AXES]);
            bridges.matrix[2][4] = wrong;
            assert!(bridges.check().is_err_and(|error| error.field == wording("matrix")), "{wrong}");
            let bridges = Bridges { unloaded: [0.0, 0.0, wrong, 0.0, 0.0, 0.0], ..diagonal([1.0; AXES]) };
            assert!(bridges.check().is_err_and(|error| error.field == wording("unloaded")), "{wrong}");
        }
    }

    proptest! {
        /// Checks the independence of random matrices against their determinant, computed here in double precision.
        #[test]
        fn no_matrix_has_more_independence_than_its_determinant_allows(matrix in any::<[[i8; AXES]; AXES]>()) {
            let bridges = Bridges { matrix: matrix.map(|row| row.map(f32::from)), unloaded: [0.0; AXES] };
            let lengths = matrix.map(|row| row.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt());
            let volume = determinant(&matrix.map(|row| row.map(f64::from).to_vec())).abs();
            let ratio = volume / lengths.iter().product::<f64>().max(f64::MIN_POSITIVE);
            let independence = f64::from(bridges.independence());
            // The ratio is the product of five such sines, of which this is the least.
            prop_assert!(ratio <= independence + 1e-5, "{ratio} {independence}");
            prop_assert!(independence.powi(5) <= ratio + 1e-5, "{ratio} {independence}");
        }
    }

    fn determinant(rows: &[Vec<f64>]) -> f64 {
        let [first, rest @ ..] = rows else { return 1.0 };
        let minor = |column: usize| {
            let without =
                |row: &Vec<f64>| row.iter().enumerate().filter(|(at, _)| *at != column).map(|(_, n)| *n).collect();
            determinant(&rest.iter().map(without).collect::<Vec<_>>())
        };
        first.iter().enumerate().map(|(at, n)| if at % 2 == 0 { n * minor(at) } else { -n * minor(at) }).sum()
    }
}
