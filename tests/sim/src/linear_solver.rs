//! A solver for small dense systems of linear equations.

/// Solves the linear system `a` · x = `b` by elimination with pivots. Returns `None` if `a` is singular.
pub(crate) fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> Option<[f64; N]> {
    for column in 0..N {
        let pivot = (column..N).max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))?;
        a.swap(column, pivot);
        b.swap(column, pivot);
        if a[column][column].abs() < 1e-12 {
            return None;
        }
        for row in column + 1..N {
            let factor = a[row][column] / a[column][column];
            let pivot = a[column];
            a[row].iter_mut().zip(pivot).skip(column).for_each(|(value, pivot)| *value -= factor * pivot);
            b[row] -= factor * b[column];
        }
    }
    let mut x = [0.0; N];
    for row in (0..N).rev() {
        let known: f64 = (row + 1..N).map(|k| a[row][k] * x[k]).sum();
        x[row] = (b[row] - known) / a[row][row];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_solution_fulfils_its_equations_and_a_singular_system_has_none() {
        let a = [[0.0, 2.0, 1.0], [1.0, 0.0, -1.0], [3.0, 1.0, 4.0]];
        let x = solve(a, [5.0, -2.0, 20.0]).unwrap();
        for (row, right) in a.iter().zip([5.0, -2.0, 20.0]) {
            let left: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
            assert!((left - right).abs() < 1e-9, "{left} is not {right}");
        }
        assert_eq!(solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0]), None);
    }
}
