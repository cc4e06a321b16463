//! The messages between the player and the computer it serves (`core/docs/protocol/outrigger-programs.md` 13): whole
//! numbers of four bytes. The player is Outrigger's program on the controller that executes moves by itself.
//!
//! ```
//! use outrigger_wire::player_messages::{PlayerOrder, PlayerOrderRepr, PlayerReport};
//! use outrigger_wire::program_messages::What;
//!
//! let mut sent = [0; PlayerOrder::LEN];
//! let goal = [1_000_000, -500_000, 0, 0, 0, 0];
//! PlayerOrderRepr { what: What::Move, number: 3, positions: goal, ..PlayerOrderRepr::keep(7) }.emit(&mut sent)?;
//! assert_eq!(PlayerOrder::new_checked(&sent)?.repr().positions, goal);
//!
//! let mut said = PlayerReport::from_bytes([0; PlayerReport::LEN]);
//! said.shown = -3;
//! assert_eq!(said.mirrored().map(|(number, runs)| (number, runs)), Some((3, false)), "move 3 has ended");
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use zerocopy::big_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::program_messages::{Report, What};
use super::{WireError, WireErrorKind};

/// An order, which the computer sends to the player, Outrigger's program on the controller that executes moves by
/// itself. One is sent in each cycle.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlayerOrder {
    /// The counter of the orders: increases by one with each order; 65 535 is followed by 0.
    counter: I32,
    /// The kind of order to the player, as the number of a [`What`].
    what: I32,
    /// The number of the move that the order concerns; 0 for none.
    number: I32,
    /// The duration of a leg, the part of a trajectory between two points \[µs\]; other kinds of order use it as
    /// [`PlayerOrderRepr::time`] describes.
    time: I32,
    positions: [I32; 6],
    velocities: [I32; 6],
    accelerations: [I32; 6],
    begin: [I32; 6],
}

/// An order to the player, [`PlayerOrder`], with its fields in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerOrderRepr {
    /// The counter of the orders: increases by one with each order; 65 535 is followed by 0.
    pub counter: u16,
    /// The kind of order to the player.
    pub what: What,
    /// The number of the move that the order concerns, 1 … 2³¹ − 1; 0 for none.
    pub number: u32,
    /// The duration of a leg, the part of a trajectory between two points \[µs\], 0 … 2³¹ − 1. With [`What::Keep`]:
    /// 1 if a contact of the tool ends the motion. With [`What::Force`]: [`force_settings`](Self::force_settings).
    pub time: u32,
    /// The joint positions at the end of a motion or leg, or at the beginning of a trajectory \[µrad\]. With
    /// [`What::Values`]: joint speeds \[µrad/s\].
    pub positions: [i32; 6],
    /// The joint speeds at the end of a leg \[µrad/s\]. With [`What::Move`]: the speed of the joint with the longest
    /// way, then zeros. With [`What::Line`]: the speed of the tool \[µm/s\], then zeros. In an order with a question
    /// ([`asking`](Self::asking)): the pose or the joint positions to be converted.
    pub velocities: [i32; 6],
    /// The joint accelerations at the end of a leg \[µrad/s²\]. With [`What::Move`]: the acceleration of the joint with
    /// the longest way, then zeros. With [`What::Line`]: the acceleration of the tool \[µm/s²\], then zeros.
    pub accelerations: [i32; 6],
    /// The joint accelerations at the beginning of a leg \[µrad/s²\]; positions and speeds there are those at the end
    /// of the previous leg. With [`What::Line`]: the pose at the end of the line \[µm, µrad\]. In an order with a
    /// question ([`asking`](Self::asking)): the index of the requested value, then zeros.
    pub begin: [i32; 6],
}

impl PlayerOrder {
    /// The size of an order to the player \[B\].
    pub const LEN: usize = size_of::<Self>();

    /// Returns the order to the player in `bytes`, which must contain nothing else.
    ///
    /// # Errors
    /// `BadLength` at 0 if the size differs. `BadValue` at 0 if the counter does not fit 16 bits, at 4 if the kind of
    /// order does not, at 8 if the number of the move is negative, at 12 if the time is negative.
    pub fn new_checked(bytes: &[u8]) -> Result<&Self, WireError> {
        let order = Self::ref_from_bytes(bytes)
            .map_err(|_| WireError::new(WireErrorKind::BadLength, 0, Self::LEN, bytes.len()))?;
        let word = |value: I32| u16::try_from(value.get()).is_ok();
        let sound = [word(order.counter), word(order.what), order.number.get() >= 0, order.time.get() >= 0];
        match sound.iter().position(|sound| !sound) {
            Some(field) => Err(WireError::new(WireErrorKind::BadValue, field.saturating_mul(4), 0, 0)),
            None => Ok(order),
        }
    }

    /// Returns the order to the player with its fields in host order.
    #[must_use]
    pub fn repr(&self) -> PlayerOrderRepr {
        let integers = |values: [I32; 6]| values.map(I32::get);
        PlayerOrderRepr {
            counter: u16::try_from(self.counter.get()).unwrap_or_default(),
            what: What::from_raw(self.what.get()),
            number: self.number.get().unsigned_abs(),
            time: self.time.get().unsigned_abs(),
            positions: integers(self.positions),
            velocities: integers(self.velocities),
            accelerations: integers(self.accelerations),
            begin: integers(self.begin),
        }
    }
}

impl PlayerOrderRepr {
    /// Returns an order to the player with this counter that changes nothing: the player continues its motion.
    #[must_use]
    pub const fn keep(counter: u16) -> Self {
        let none = [0; 6];
        Self {
            counter,
            what: What::Keep,
            number: 0,
            time: 0,
            positions: none,
            velocities: none,
            accelerations: none,
            begin: none,
        }
    }

    /// Returns the value of the order's field `time` for [`What::Force`]. It contains the type of `force_mode`, 1 to 3,
    /// the damping, 0 … 1000, and the gain scaling, 0 … 2000, both in thousandths.
    #[must_use]
    pub const fn force_settings(kind: u8, damping: u16, gain_scaling: u16) -> u32 {
        let (kind, damping, gain) = (kind as u32 & 3, damping as u32, gain_scaling as u32);
        let damping = if damping > 1000 { 1000 } else { damping };
        kind.saturating_add(damping.saturating_add(gain.saturating_mul(1001)).saturating_mul(4))
    }

    /// Adds a question to this order, which must be a [`What::Values`] or a [`What::Keep`]. If `angles` is `false`, the
    /// program converts the pose `place` \[µm, µrad\] to joint positions; if it is `true`, the joint positions `place`
    /// \[µrad\] to a pose. The [progress](PlayerReport::progress) of the order's report is the result's component
    /// `index`, 0 to 5. Request index 0 first, because the program computes all six values with it.
    #[must_use]
    pub fn asking(self, place: [i32; 6], angles: bool, index: u8) -> Self {
        let first = if angles { Self::POSE } else { Self::JOINTS };
        Self { velocities: place, begin: [first.saturating_add(index.min(5).into()), 0, 0, 0, 0, 0], ..self }
    }

    /// The number in the field `begin` of an order by which the program is asked for the first joint's position at a
    /// pose. The five numbers after it ask for the positions of the other joints.
    const JOINTS: i32 = 1;
    /// The number in the field `begin` of an order by which the program is asked for the x coordinate of the pose at
    /// some joint positions. The five numbers after it ask for the pose's components y, z, rx, ry, rz.
    const POSE: i32 = 7;

    /// Writes the order to the player to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the order.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let most = |value: u32| I32::new(i32::try_from(value).unwrap_or(i32::MAX));
        let order = PlayerOrder {
            counter: I32::new(self.counter.into()),
            what: I32::new(self.what.raw() & 0xFFFF),
            number: most(self.number),
            time: most(self.time),
            positions: self.positions.map(I32::new),
            velocities: self.velocities.map(I32::new),
            accelerations: self.accelerations.map(I32::new),
            begin: self.begin.map(I32::new),
        };
        let (need, have) = (PlayerOrder::LEN, out.len());
        let written = order.write_to_prefix(out).map(|()| need);
        written.map_err(|_| WireError::new(WireErrorKind::BufferTooSmall, 0, need, have))
    }
}

/// A report, which the player (Outrigger's program on the controller that executes moves) sends after each order and
/// when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerReport {
    /// The part of the report that the reports of all Outrigger programs have: the order's counter, the reason for the
    /// program's end, and the lag. The player's lag is the number of trajectory legs that wait in its ring buffer.
    pub report: Report,
    /// The number of the move in execution. The negative number of the last move if that has ended or was cancelled; 0
    /// before the first move.
    pub shown: i32,
    /// The progress of the move: for a motion to one place the completed share of its way \[1e-6\], for a trajectory
    /// its time \[µs\]. If a contact of the tool has ended the motion: minus the number of control cycles between the
    /// beginning of the contact and its detection. For an order with a question ([`asking`](PlayerOrderRepr::asking)):
    /// the requested value, or [`OUT_OF_REACH`](Self::OUT_OF_REACH).
    pub progress: i32,
}

impl PlayerReport {
    /// The size of a report of the player \[B\].
    pub const LEN: usize = 12;
    /// The number that a report contains, as the answer to an order that asks for joint positions, if the arm cannot
    /// reach the pose.
    pub const OUT_OF_REACH: i32 = i32::MAX;

    /// Converts the bytes of a report of the player, as received, into the report.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d, shown @ .., e, f, g, h] = bytes;
        Self {
            report: Report::from_bytes([a, b, c, d]),
            shown: i32::from_be_bytes(shown),
            progress: i32::from_be_bytes([e, f, g, h]),
        }
    }

    /// Returns the bytes that transmit the player's report.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let ([a, b, c, d], [e, f, g, h]) = (self.report.to_bytes(), self.shown.to_be_bytes());
        let [i, j, k, l] = self.progress.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Returns the number of the move that the player sends back in this report, and `true` if the move is in
    /// execution; `None` before the first move.
    #[must_use]
    pub const fn mirrored(&self) -> Option<(u32, bool)> {
        match self.shown {
            0 => None,
            number => Some((number.unsigned_abs(), number > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(counter: u16, what: u16, number in 0_u32..1 << 31, time in 0_u32..1 << 31, positions: [i32; 6], velocities: [i32; 6], accelerations: [i32; 6], begin: [i32; 6], said: [u8; 12]) {
            let what = What::from_raw(what.into());
            let order = PlayerOrderRepr { counter, what, number, time, positions, velocities, accelerations, begin };
            let mut bytes = [0; PlayerOrder::LEN];
            prop_assert_eq!(order.emit(&mut bytes), Ok(PlayerOrder::LEN));
            prop_assert_eq!(PlayerOrder::new_checked(&bytes).map(PlayerOrder::repr), Ok(order));
            prop_assert_eq!(PlayerReport::from_bytes(said).to_bytes(), said);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 104..120)) {
            if let Ok(order) = PlayerOrder::new_checked(&bytes) {
                let mut again = [0; PlayerOrder::LEN];
                prop_assert_eq!(order.repr().emit(&mut again), Ok(PlayerOrder::LEN));
                prop_assert_eq!(&again[..], &bytes[..]);
            }
        }
    }

    #[test]
    fn what_is_no_order_is_named() {
        let error = PlayerOrder::new_checked(&[0; 111]).unwrap_err();
        assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BadLength, 112, 111));
        for field in 0..4 {
            let mut bytes = [0; PlayerOrder::LEN];
            bytes[4 * field] = 0x80;
            let error = PlayerOrder::new_checked(&bytes).unwrap_err();
            assert_eq!((error.kind, usize::from(error.at)), (WireErrorKind::BadValue, 4 * field));
        }
        let keep = PlayerOrderRepr::keep(1);
        assert_eq!(keep.emit(&mut [0; 111]).unwrap_err().kind, WireErrorKind::BufferTooSmall);
    }

    #[test]
    fn settings_of_force_mode_come_apart_again() {
        for (kind, damping, gain) in [(1, 0, 0), (2, 25, 500), (3, 1000, 2000)] {
            let time = PlayerOrderRepr::force_settings(kind, damping, gain);
            let rest = time / 4;
            assert_eq!((time % 4, rest % 1001, rest / 1001), (kind.into(), damping.into(), gain.into()));
            assert!(i32::try_from(time).is_ok());
        }
    }

    #[test]
    fn a_question_is_beside_an_order_and_changes_nothing_else_of_it() {
        let place = [1, 2, 3, 4, 5, 6];
        let values = PlayerOrderRepr { what: What::Values, positions: [7; 6], ..PlayerOrderRepr::keep(9) };
        for (angles, index, first) in [(false, 0, 1), (false, 5, 6), (true, 0, 7), (true, 5, 12), (true, 200, 12)] {
            let asking = values.asking(place, angles, index);
            assert_eq!((asking.velocities, asking.begin), (place, [first, 0, 0, 0, 0, 0]));
            assert_eq!(PlayerOrderRepr { velocities: [0; 6], begin: [0; 6], ..asking }, values);
        }
    }

    #[test]
    fn what_is_shown_says_which_move_and_whether_it_runs() {
        let report = |shown| PlayerReport { report: Report::from_bytes([0; 4]), shown, progress: 0 }.mirrored();
        assert_eq!(report(0), None);
        assert_eq!(report(5), Some((5, true)));
        assert_eq!(report(-5), Some((5, false)));
        assert_eq!(report(i32::MIN), Some((1 << 31, false)), "no move has this number");
    }
}
