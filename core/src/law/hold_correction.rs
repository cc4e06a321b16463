//! The correction that holds a tool at its pose at arming, along and about the axes that no sensor moves.

use crate::robot::Reason;
use outrigger_wire::math::{Frame, Vector3, add, bounded, cross, dot, scale, sin_cos, subtract};
use outrigger_wire::robot::Twist;

/// The displacement of a tool from its pose at arming, when the law began to command the arm.
pub(super) struct Displacement {
    /// The displacement of the tool along its axes at arming \[m\].
    pub(super) moved: Vector3,
    /// The rotation of the tool back to its orientation at arming: its axis in the base frame times the sine of its
    /// angle.
    pub(super) turn_back: Vector3,
    /// The sum of the cosines between each axis of the tool and the same axis at arming: 1 at a quarter turn.
    agreement: f32,
}

impl Displacement {
    pub(super) fn between(stood: &Frame, now: &Frame) -> Self {
        let moved = subtract(now.position, stood.position);
        let (axes, now) = (&stood.rotation, &now.rotation);
        // Half the sum of the axes' cross products is the axis of the rotation between them times the sine of its
        // angle.
        let turns = [cross(now.x, axes.x), cross(now.y, axes.y), cross(now.z, axes.z)];
        Self {
            moved: [dot(moved, axes.x), dot(moved, axes.y), dot(moved, axes.z)],
            turn_back: scale(turns.into_iter().fold([0.0; 3], add), 0.5),
            // Beyond a quarter turn the sine decreases again; the cosine, half of the trace minus one, distinguishes
            // the two.
            agreement: dot(now.x, axes.x) + dot(now.y, axes.y) + dot(now.z, axes.z),
        }
    }
}

/// The gain and the tolerances of the correction that holds the tool at its pose at arming, when the law began to
/// command the arm.
pub(super) struct Hold {
    /// The speed of the correction per error in position or orientation \[1/s\].
    pub(super) gain: f32,
    /// The error in position, along the axes that are held, at which commanding ends \[m\].
    pub(super) distance: f32,
    /// The error in orientation at which commanding ends \[rad\], less than a quarter turn.
    pub(super) turn: f32,
}

impl Hold {
    /// Returns the twist of the tool \[m/s, rad/s\] that corrects the error in position, `across` \[m\], and in
    /// orientation, `turn` (the axis times the sine of the angle): each in the frame in which it is passed.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] if the error in position exceeds [`distance`](Self::distance), or that in orientation
    /// [`turn`](Self::turn).
    pub(super) fn correct(
        &self,
        displacement: &Displacement,
        across: Vector3,
        turn: Vector3,
        most_feedback: f32,
    ) -> Result<Twist, Reason> {
        // The comparison of squares needs no square root. A sine beyond a quarter turn decreases again.
        let (tolerance, _) = sin_cos(self.turn);
        let turned = dot(turn, turn) > tolerance * tolerance || displacement.agreement < 1.0;
        if turned || dot(across, across) > self.distance * self.distance {
            return Err(Reason::PathTolerance);
        }
        let gain = bounded(self.gain, 0.0, most_feedback);
        Ok(Twist { linear: scale(across, gain), angular: scale(turn, gain) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::math::Rotation;

    #[test]
    fn commanding_ends_at_the_configured_angle_and_at_the_latest_at_a_quarter_turn() {
        let stood = Frame { position: [0.3, -0.2, 0.5], rotation: Rotation::from_vector([0.4, 1.0, -0.7]) };
        let ends = |tolerance: f32, angle: f32| {
            let turned = Rotation::from_vector([0.0, 0.6 * angle, 0.8 * angle]);
            let now = Frame { rotation: stood.rotation.after(&turned), ..stood };
            let displacement = Displacement::between(&stood, &now);
            let hold = Hold { gain: 1.0, distance: 0.1, turn: tolerance };
            hold.correct(&displacement, [0.0; 3], displacement.turn_back, 10.0).is_err()
        };
        for tolerance in [0.01, 0.1, 0.5, 1.0, 1.3, 1.5] {
            assert!(!ends(tolerance, tolerance * 0.99), "{tolerance}");
            assert!(ends(tolerance, tolerance * 1.01), "{tolerance}");
            for angle in [1.6, 2.0, 2.5, 3.0, 3.1] {
                assert!(ends(tolerance, angle), "{tolerance}, {angle}");
            }
        }
    }
}
