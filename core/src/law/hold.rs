//! Holds a tool where it stood at arming, along and about the axes that nothing else moves.

use crate::robot::Reason;
use outrigger_wire::math::{Frame, Vector3, add, bounded, cross, dot, scale, subtract};
use outrigger_wire::robot::Twist;

/// Where a tool is, seen from where it stood.
pub(super) struct Displacement {
    /// How far it moved along the axes that it had \[m\].
    pub(super) moved: Vector3,
    /// The turn back to how it stood: its axis, seen from the base, times the sine of its angle.
    pub(super) turn_back: Vector3,
    /// Sum of the cosines between each axis and the same as it stood: 1 at a quarter turn.
    agreement: f32,
}

impl Displacement {
    pub(super) fn between(stood: &Frame, now: &Frame) -> Self {
        let moved = subtract(now.position, stood.position);
        let (axes, now) = (&stood.rotation, &now.rotation);
        // Half the sum of the axes' cross products is the sine of the turn between them, about its axis.
        let turns = [cross(now.x, axes.x), cross(now.y, axes.y), cross(now.z, axes.z)];
        Self {
            moved: [dot(moved, axes.x), dot(moved, axes.y), dot(moved, axes.z)],
            turn_back: scale(turns.into_iter().fold([0.0; 3], add), 0.5),
            // Beyond a quarter turn the sine falls again; the cosine, half the trace less one, tells.
            agreement: dot(now.x, axes.x) + dot(now.y, axes.y) + dot(now.z, axes.z),
        }
    }
}

/// How a tool is held.
pub(super) struct Hold {
    /// Speed for each error \[1/s\].
    pub(super) gain: f32,
    /// Distance that ends commanding \[m\].
    pub(super) distance: f32,
    /// Turn that ends commanding \[rad\].
    pub(super) turn: f32,
}

impl Hold {
    /// The twist that closes what is off in position, `across` \[m\], and in orientation, `turn`: each in the frame in which it
    /// is given.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] where it is too far off.
    pub(super) fn correct(
        &self,
        displacement: &Displacement,
        across: Vector3,
        turn: Vector3,
        most_feedback: f32,
    ) -> Result<Twist, Reason> {
        // Squares tell the same as lengths, without a root.
        let turned = dot(turn, turn) > self.turn * self.turn || displacement.agreement < 1.0;
        if turned || dot(across, across) > self.distance * self.distance {
            return Err(Reason::PathTolerance);
        }
        let gain = bounded(self.gain, 0.0, most_feedback);
        Ok(Twist { linear: scale(across, gain), angular: scale(turn, gain) })
    }
}
