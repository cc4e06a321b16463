//! A polynomial of one variable over 0 … 1, with its extreme values there.

/// The polynomial c₀ + c₁·u + … + c₅·u⁵.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Polynomial(pub(super) [f32; 6]);

/// The number of bisections of 0 … 1 until the precision of an `f32` is exhausted.
const HALVINGS: u8 = 24;

impl Polynomial {
    pub(super) fn at(&self, u: f32) -> f32 {
        self.0.iter().rev().fold(0.0, |value, c| value * u + c)
    }

    pub(super) fn derivative(&self) -> Self {
        let mut slope = [0.0; 6];
        let powers = [1.0, 2.0, 3.0, 4.0, 5.0];
        for ((slope, c), power) in slope.iter_mut().zip(self.0.iter().skip(1)).zip(powers) {
            *slope = c * power;
        }
        Self(slope)
    }

    /// Returns the least and the greatest value of the polynomial over 0 … 1.
    pub(super) fn extremes(&self) -> (f32, f32) {
        let d1 = self.derivative();
        let d2 = d1.derivative();
        let d3 = d2.derivative();
        let d4 = d3.derivative();
        // Between the roots of its derivative a polynomial is monotonic, so it has at most one root there.
        let mut roots = [1.0; 6];
        for slope in [d4.derivative(), d4, d3, d2, d1] {
            roots = slope.roots(&roots);
        }
        let (first, last) = (self.at(0.0), self.at(1.0));
        let ends = (first.min(last), first.max(last));
        roots.iter().map(|u| self.at(*u)).fold(ends, |(least, most), value| (least.min(value), most.max(value)))
    }

    /// Returns the roots of the polynomial in 0 … 1, at most one between two of `marks` (in rising order, the last ones
    /// 1). Unused elements of the result are 1.
    fn roots(&self, marks: &[f32; 6]) -> [f32; 6] {
        let mut roots = [1.0; 6];
        let mut free = roots.iter_mut();
        let mut from = 0.0;
        for &to in marks {
            let (at_from, at_to) = (self.at(from), self.at(to));
            if at_from * at_to < 0.0 || (at_to == 0.0 && to < 1.0) {
                let (mut low, mut high) = (from, to);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    if self.at(middle) * at_from > 0.0 { low = middle } else { high = middle }
                }
                if let Some(root) = free.next() {
                    *root = high;
                }
            }
            from = to;
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_polynomials_whose_turns_are_known() {
        let close = |(a, b): (f32, f32), (c, d): (f32, f32)| (a - c).abs() < 1e-3 && (b - d).abs() < 1e-3;
        assert_eq!(Polynomial::default().extremes(), (0.0, 0.0));
        assert_eq!(Polynomial([2.0, -1.0, 0.0, 0.0, 0.0, 0.0]).extremes(), (1.0, 2.0));
        // 4u(1 − u)
        assert!(close(Polynomial([0.0, 4.0, -4.0, 0.0, 0.0, 0.0]).extremes(), (0.0, 1.0)));
        // T₅(2u − 1), which oscillates between −1 and 1 four times.
        let chebyshev = Polynomial([-1.0, 50.0, -400.0, 1120.0, -1280.0, 512.0]);
        assert!(close(chebyshev.extremes(), (-1.0, 1.0)), "{:?}", chebyshev.extremes());
    }
}
