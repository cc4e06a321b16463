//! The frame that leads the tool in Cartesian impedance: moved as the joints' target moves it, by the measured Jacobian.

use crate::math::double::to_f32;
use crate::robot::Twist;
use crate::wire::fri::Frame;

/// A frame that is moved in small steps, in `f64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    position: [f64; 3],
    /// Row by row.
    rotation: [[f64; 3]; 3],
}

impl Tool {
    pub(super) fn new(frame: &Frame) -> Self {
        Self { position: frame.position.map(f64::from), rotation: frame.rotation.map(|row| row.map(f64::from)) }
    }

    pub(super) fn frame(&self) -> Frame {
        Frame { rotation: self.rotation.map(|row| row.map(to_f32)), position: self.position.map(to_f32) }
    }

    /// Moves by `twist`, given along the base's axes, for so long \[s\].
    pub(super) fn step(&mut self, twist: &Twist, seconds: f32) {
        let moved = |speed: f32| f64::from(speed) * f64::from(seconds);
        for (position, speed) in self.position.iter_mut().zip(twist.linear) {
            *position += moved(speed);
        }
        let [x, y, z] = twist.angular.map(moved);
        // Turned about the base's axes: each column of the matrix, a vector, goes on by ω × it.
        let [a, b, c] = self.rotation;
        let mixed = |p: [f64; 3], f: f64, q: [f64; 3], g: f64, own: [f64; 3]| {
            let mut row = own;
            for ((row, p), q) in row.iter_mut().zip(p).zip(q) {
                *row += f * p + g * q;
            }
            row
        };
        let turned = [mixed(c, y, b, -z, a), mixed(a, z, c, -x, b), mixed(b, x, a, -y, c)];
        self.rotation = orthonormal(turned);
    }
}

/// Rows that are nearly of length 1 and at right angles, made so to the second order; no square root is needed.
fn orthonormal([a, b, _]: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let dot = |p: [f64; 3], q: [f64; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
    let unit = |p: [f64; 3]| p.map(|v| v * (1.5 - 0.5 * dot(p, p)));
    let a = unit(a);
    let lean = dot(a, b);
    let mut upright = b;
    for (value, a) in upright.iter_mut().zip(a) {
        *value -= lean * a;
    }
    let b = unit(upright);
    let ([ax, ay, az], [bx, by, bz]) = (a, b);
    [a, b, [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_steps_make_a_turn_and_the_matrix_stays_a_rotation() {
        let twist = Twist { linear: [0.05 / core::f32::consts::FRAC_PI_2, 0.0, 0.0], angular: [0.0, 0.0, 1.0] };
        let mut tool = Tool::new(&Frame::IDENTITY);
        let steps = 10_000;
        let quarter = core::f32::consts::FRAC_PI_2 / steps as f32;
        for _ in 0..steps {
            tool.step(&twist, quarter);
        }
        let Frame { rotation, position } = tool.frame();
        let expected = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        for (row, expected) in rotation.iter().flatten().zip(expected.iter().flatten()) {
            assert!((row - expected).abs() < 1e-3, "{rotation:?}");
        }
        let length: f32 = rotation[0].iter().map(|v| v * v).sum();
        assert!((length - 1.0).abs() < 1e-6 && (position[0] - 0.05).abs() < 1e-6, "{rotation:?} {position:?}");
    }
}
