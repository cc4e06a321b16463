//! The format in which a board stores the waypoints of a motion in its flash: records one after the other.
//!
//! | bytes, little-endian | content |
//! |---|---|
//! | 8 | time from the start of the motion \[µs\] |
//! | 4 for each joint | position \[rad\], as `f32` |
//! | 4 for each joint | speed \[rad/s\], as `f32` |
//!
//! This is not a wire format: firmware is built with it and reads it.

use super::{Setpoint, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::time::Duration;

impl<const N: usize> Waypoint<N> {
    /// Returns the bytes of the waypoint as a board stores it in its flash, without accelerations.
    pub fn stored(&self) -> impl Iterator<Item = u8> + '_ {
        let Setpoint { positions, velocities } = &self.setpoint;
        let numbers = positions.iter().chain(velocities.iter());
        self.at.as_micros().to_le_bytes().into_iter().chain(numbers.flat_map(f32::to_le_bytes))
    }
}

/// An iterator over the waypoints that a board stores in its flash. Bytes after the last complete record are ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored<'a, const N: usize> {
    bytes: &'a [u8],
}

impl<'a, const N: usize> Stored<'a, N> {
    /// Creates an iterator over the waypoints that are stored in `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns whether no complete stored waypoint is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Self { bytes: self.bytes }.next().is_none()
    }
}

impl<const N: usize> Iterator for Stored<'_, N> {
    type Item = Waypoint<N>;

    fn next(&mut self) -> Option<Waypoint<N>> {
        let (at, mut rest) = self.bytes.split_first_chunk()?;
        let mut joints = || -> Option<[f32; N]> {
            let mut numbers = [0.0; N];
            for number in &mut numbers {
                let (bytes, behind) = rest.split_first_chunk()?;
                (*number, rest) = (f32::from_le_bytes(*bytes), behind);
            }
            Some(numbers)
        };
        let setpoint = Setpoint { positions: JointPositions(joints()?), velocities: JointVelocities(joints()?) };
        self.bytes = rest;
        Some(Waypoint { setpoint, accelerations: None, at: Duration::from_micros(u64::from_le_bytes(*at)) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn angles() -> impl Strategy<Value = [f32; 7]> {
        prop::array::uniform7(-10.0_f32..10.0)
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_as_it_was_and_a_piece_of_a_waypoint_is_none(
            stored in prop::collection::vec((any::<u64>(), angles(), angles()), 0..20),
            short in 0_usize..64,
        ) {
            let waypoints: Vec<Waypoint<7>> = stored
                .into_iter()
                .map(|(at, positions, velocities)| Waypoint {
                    setpoint: Setpoint {
                        positions: JointPositions(positions),
                        velocities: JointVelocities(velocities),
                    },
                    accelerations: None,
                    at: Duration::from_micros(at),
                })
                .collect();
            let mut bytes: Vec<u8> = waypoints.iter().flat_map(Waypoint::stored).collect();
            prop_assert_eq!(bytes.len(), 64 * waypoints.len());
            bytes.extend(core::iter::repeat_n(0xa5, short));
            let read: Vec<Waypoint<7>> = Stored::new(&bytes).collect();
            prop_assert_eq!(&read, &waypoints);
            let mut left = Stored::<7>::new(&bytes);
            for _ in &waypoints {
                prop_assert!(!left.is_empty());
                left.next();
            }
            prop_assert!(left.is_empty());
        }
    }
}
