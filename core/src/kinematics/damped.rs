//! The conversion of a desired twist of the tool to joint speeds, which are bounded near singular poses.
//!
//! Damped least squares: the joint speeds that minimise |J·v − twist|² + λ²·|v|², lengths counted in units of
//! [`length`](DampedLeastSquares::length) so that metres and radians have the same weight. Far from a singular pose the
//! damping has no noticeable effect. Close to one the speeds stay below |twist| / 2λ and part of the twist is not
//! reached; [`Solution::unreached`] reports how much.
//!
//! The 6 × 6 system is solved by an elimination written here, without pivoting: the matrix is symmetric and, by the
//! damping, positive definite. A linear-algebra crate was measured as an alternative (nalgebra 0.35 on
//! `thumbv7em-none-eabihf`, release, fat link-time optimisation): its LU decomposition has 6 reachable panics, its
//! singular value decomposition 12, its Cholesky decomposition none at optimisation levels 3 and `s` but some at `z`.
//! Its Cholesky decomposition takes 1 415 instructions; this code takes 683.

use super::Jacobian;
use crate::robot::settings;
use outrigger_wire::math::{scale, sqrt};
use outrigger_wire::robot::{JointVelocities, Twist};

settings! {
    /// Settings of the conversion from twists of the tool to joint speeds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct DampedLeastSquares in "" {
        /// The damping λ of the least squares, in units of a singular value of the Jacobian.
        pub damping: f32 [0.000001 to 10.0] = 0.02,
        /// The length that has the same weight as one radian \[m\]: about the length of the arm's forearm.
        pub length: f32 [0.001 to 10.0 "m"] = 0.5,
    }
}

/// The joint speeds computed for a twist of the tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution<const N: usize> {
    /// The joint speeds computed for the twist \[rad/s\].
    pub velocities: JointVelocities<N>,
    /// The part of the desired twist that the joint speeds do not achieve, 0 … 1; 0 for a zero twist.
    pub unreached: f32,
}

/// A row of the system of six linear equations: six coefficients and the right-hand side.
type Row = [f32; 7];

impl DampedLeastSquares {
    /// Computes the joint speeds \[rad/s\] that move the tool by `twist` \[m/s, rad/s\] in the base frame. NaN in the
    /// input gives NaN in the result.
    #[must_use]
    pub fn solve<const N: usize>(&self, jacobian: &Jacobian<N>, twist: &Twist) -> Solution<N> {
        let per_length = 1.0 / self.length;
        let weighted = |t: &Twist| {
            let ([x, y, z], [rx, ry, rz]) = (scale(t.linear, per_length), t.angular);
            [x, y, z, rx, ry, rz]
        };
        let columns = jacobian.0.each_ref().map(weighted);
        let wanted = weighted(twist);
        let damping = self.damping * self.damping;

        let mut rows: [Row; 6] = [[0.0; 7]; 6];
        for (row, right) in rows.iter_mut().zip(wanted) {
            let [.., last] = row;
            *last = right;
        }
        // The matrix is symmetric: only the diagonal and the elements to its right are computed and used.
        for column in &columns {
            let mut rest = column.as_slice();
            for (i, row) in rows.iter_mut().enumerate() {
                let (Some((a, right)), Some(sums)) = (rest.split_first(), row.get_mut(i..6)) else { break };
                for (sum, b) in sums.iter_mut().zip(rest) {
                    *sum += a * b;
                }
                rest = right;
            }
        }
        for (i, row) in rows.iter_mut().enumerate() {
            if let Some(diagonal) = row.get_mut(i) {
                *diagonal += damping;
            }
        }
        let multipliers = solve_positive_definite(rows);

        let dot = |a: &[f32; 6], b: &[f32; 6]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let velocities = JointVelocities(columns.each_ref().map(|column| dot(column, &multipliers)));
        // The residual of the twist is λ² times the multipliers, so no product needs to be computed again.
        let size = sqrt(dot(&wanted, &wanted));
        let left = damping * sqrt(dot(&multipliers, &multipliers));
        Solution { velocities, unreached: if size > 0.0 { left / size } else { 0.0 } }
    }
}

/// Solves six linear equations whose matrix is symmetric and positive definite; of each row only the elements from the
/// diagonal on are used.
fn solve_positive_definite(mut rows: [Row; 6]) -> [f32; 6] {
    let mut rest = rows.as_mut_slice();
    let mut column = 0_usize;
    while let Some((pivot, below)) = rest.split_first_mut() {
        let Some((diagonal, mut right)) = pivot.get(column..).and_then(<[f32]>::split_first) else { break };
        let inverse = 1.0 / diagonal;
        for (i, row) in (column.saturating_add(1)..).zip(below.iter_mut()) {
            let (Some((first, after)), Some(values)) = (right.split_first(), row.get_mut(i..)) else { break };
            let factor = first * inverse;
            for (value, above) in values.iter_mut().zip(right) {
                *value -= factor * above;
            }
            right = after;
        }
        rest = below;
        column = column.saturating_add(1);
    }
    // Unknowns still at zero add nothing to the sums: each row needs only those solved after it.
    let mut solved = [0.0; 6];
    for (i, row) in rows.iter().enumerate().rev() {
        let known: f32 = row.iter().zip(&solved).map(|(c, s)| c * s).sum();
        let [.., right] = row;
        if let (Some(unknown), Some(diagonal)) = (solved.get_mut(i), row.get(i)) {
            *unknown = (right - known) / diagonal;
        }
    }
    solved
}

#[cfg(test)]
mod tests;
