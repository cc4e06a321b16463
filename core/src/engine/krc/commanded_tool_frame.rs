//! The frame that leads the tool in Cartesian impedance. It moves with the joints' target, by the measured Jacobian.

use outrigger_wire::fri::Frame;
use outrigger_wire::math::double_conversion::to_f32;
use outrigger_wire::robot::Twist;

/// The commanded frame of the tool, which moves in small steps and is stored in `f64`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Tool {
    position: [f64; 3],
    /// The rotation matrix of the tool's frame, by rows.
    rotation: [[f64; 3]; 3],
}

impl Tool {
    pub(super) fn new(frame: &Frame) -> Self {
        Self { position: frame.position.map(f64::from), rotation: frame.rotation.map(|row| row.map(f64::from)) }
    }

    pub(super) fn frame(&self) -> Frame {
        Frame { rotation: self.rotation.map(|row| row.map(to_f32)), position: self.position.map(to_f32) }
    }

    /// Moves the tool's frame by `twist` \[m/s, rad/s\], along the base's axes, for a time \[s\].
    pub(super) fn step(&mut self, twist: &Twist, seconds: f32) {
        let moved = |speed: f32| f64::from(speed) * f64::from(seconds);
        for (position, speed) in self.position.iter_mut().zip(twist.linear) {
            *position += moved(speed);
        }
        let [x, y, z] = twist.angular.map(moved);
        // Turned about the base's axes: each column of the matrix, a vector, changes by ω × itself.
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

/// Returns `frame` with the offset that FRI has added: positions are added, and the offset's rotation comes first.
/// `None` if the offset's matrix is no rotation, as in a frame that was never set.
pub(super) fn offset_by(frame: &Frame, offset: &Frame) -> Option<Frame> {
    let [a, b, c] = offset.rotation;
    let dot = |p: [f32; 3], q: [f32; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f32>();
    let is = |value: f32, expected: f32| (value - expected).abs() < 1e-3;
    let upright = is(dot(a, b), 0.0) && is(dot(b, c), 0.0) && is(dot(c, a), 0.0);
    if !(upright && [a, b, c].iter().all(|row| is(dot(*row, *row), 1.0))) {
        return None;
    }
    // A row times the offset's matrix: the sum of its weighted rows.
    let rotation = frame.rotation.map(|[x, y, z]| {
        let mut row = [0.0; 3];
        for (value, ((a, b), c)) in row.iter_mut().zip(a.iter().zip(b).zip(c)) {
            *value = x * a + y * b + z * c;
        }
        row
    });
    let mut position = frame.position;
    position.iter_mut().zip(offset.position).for_each(|(at, added)| *at += added);
    Some(Frame { rotation, position })
}

/// Makes rows of almost length 1 and almost at right angles orthonormal, to the second order, without a square root.
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
    fn an_offset_is_added_and_one_that_is_no_frame_is_none() {
        // A quarter turn about z, and the same about x in the turned frame.
        let frame = Frame { rotation: [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], position: [0.5, 0.0, 1.0] };
        let offset =
            Frame { rotation: [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]], position: [0.1, 0.2, 0.3] };
        let Frame { rotation, position } = offset_by(&frame, &offset).unwrap();
        assert_eq!(rotation, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(position, [0.6, 0.2, 1.3]);
        assert_eq!(offset_by(&frame, &Frame::IDENTITY), Some(frame));
        let unset = Frame { rotation: [[0.0; 3]; 3], ..offset };
        assert_eq!(offset_by(&frame, &unset), None);
        let mut broken = offset;
        broken.rotation[0][0] = f32::NAN;
        assert_eq!(offset_by(&frame, &broken), None);
    }

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
