//! Trajectories that a program of UR's External Control executes by itself: the instructions in its control messages,
//! the points that follow over the trajectory connection, and the result that it reports at the end
//! (`core/docs/protocol/ur-external-control.md 1.3, 1.5`).
//!
//! ```
//! use outrigger_wire::trajectory_messages::{MotionType, SplineKind, TrajectoryPoint, TrajectoryPointRepr, TrajectoryResult};
//!
//! let goal = [1_000_000, -500_000, 0, 0, 0, 0];
//! let point = TrajectoryPointRepr::spline(SplineKind::Cubic, goal, [0; 6], [0; 6], 2_000_000);
//! let mut sent = [0; TrajectoryPoint::LEN];
//! assert_eq!(point.emit(&mut sent), Ok(84));
//! assert_eq!(TrajectoryPoint::new_checked(&sent)?.repr().motion, MotionType::Spline);
//! assert_eq!(TrajectoryResult::from_bytes([0, 0, 0, 0]), TrajectoryResult::Success);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use zerocopy::big_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{WireError, WireErrorKind};
use crate::robot::wire_enum;

wire_enum! {
    /// The instruction for a trajectory: the first value of a control message in mode
    /// [`Forward`](super::external_control::ControlMode::Forward). The second value is a number of points.
    Instruction: i32 {
        Cancel = -1 "CANCEL" "End it; of a stream, the count is that of all points written",
        Noop = 0 "NOOP" "Go on",
        Receive = 1 "RECEIVE" "Begin one of as many points as are counted",
        StreamStart = 2 "STREAM_START" "Begin one whose points are not counted yet",
        StreamEnd = 3 "STREAM_END" "No more come; the count is that of all points written",
    }
}

wire_enum! {
    /// The kind of motion to one point of a trajectory.
    MotionType: i32 {
        MoveJ = 0 "MOVEJ" "Straight in joint space, to joints",
        MoveL = 1 "MOVEL" "Along a line, to a pose",
        MoveP = 2 "MOVEP" "Along a line at a constant speed, to a pose",
        MoveC = 3 "MOVEC" "Along a circle, by a pose to a pose",
        OptimoveJ = 4 "OPTIMOVEJ" "As fast as can be, to joints",
        OptimoveL = 5 "OPTIMOVEL" "As fast as can be along a line, to a pose",
        MoveJPose = 6 "MOVEJ_POSE" "Straight in joint space, to a pose",
        MoveLJoint = 7 "MOVEL_JOINT" "Along a line, to joints",
        MovePJoint = 8 "MOVEP_JOINT" "Along a line at a constant speed, to joints",
        MoveCJoint = 9 "MOVEC_JOINT" "Along a circle, by joints to joints",
        MoveCJointPose = 10 "MOVEC_JOINT_POSE" "Along a circle, by a pose to joints",
        MoveCPoseJoint = 11 "MOVEC_POSE_JOINT" "Along a circle, by joints to a pose",
        OptimoveJPose = 12 "OPTIMOVEJ_POSE" "As fast as can be, to a pose",
        OptimoveLJoint = 13 "OPTIMOVEL_JOINT" "As fast as can be along a line, to joints",
        Spline = 51 "SPLINE" "Along a polynomial of the time in each joint",
    }
}

wire_enum! {
    /// The polynomial of a [`Spline`](MotionType::Spline); transmitted in the field of the blend radius.
    SplineKind: i32 {
        Cubic = 1 "SPLINE_CUBIC" "By the joints' speeds at both ends",
        Quintic = 2 "SPLINE_QUINTIC" "By their accelerations too",
    }
}

wire_enum! {
    /// The result of a trajectory, which the program of External Control reports at the end of the trajectory.
    TrajectoryResult: i32 {
        Success = 0 "TRAJECTORY_RESULT_SUCCESS" "At its last point",
        Canceled = 1 "TRAJECTORY_RESULT_CANCELED" "It was told to end, or a point could not be moved to",
        Failure = 2 "TRAJECTORY_RESULT_FAILURE" "A point did not come in time, or was none",
    }
}

impl TrajectoryResult {
    /// The size of a trajectory result \[B\].
    pub const LEN: usize = 4;

    /// Converts the four bytes of a trajectory result, as received, into the result.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self::from_raw(i32::from_be_bytes(bytes))
    }

    /// Returns the four bytes that transmit the trajectory result.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        self.raw().to_be_bytes()
    }
}

/// A point of a trajectory, as transmitted to the program of External Control.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TrajectoryPoint {
    /// The joint positions at the point \[µrad\], or the pose of the tool there \[µm, µrad\].
    target: [I32; 6],
    /// For a spline: the joint speeds at the point \[µrad/s\]. For a circle: its via point. For other motions to a
    /// pose: joint positions near the ones that reach it \[µrad\].
    second: [I32; 6],
    /// For a quintic spline: the joint accelerations at the point \[µrad/s²\]. For other motions: speed, acceleration,
    /// a flag (the orientation mode of a circle, or 1 if `second` contains joint positions), and zeros.
    third: [I32; 6],
    /// The duration of the motion to the point of the trajectory \[µs\].
    duration: I32,
    /// The blend radius at the point \[µm\]; for a spline the number of its [`SplineKind`].
    blend: I32,
    /// The kind of motion to the point, as the number of a [`MotionType`].
    motion: I32,
}

/// A trajectory point, [`TrajectoryPoint`], with its fields in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrajectoryPointRepr {
    /// The joint positions at the point \[µrad\], or the pose of the tool there \[µm, µrad\].
    pub target: [i32; 6],
    /// For a spline: the joint speeds at the point \[µrad/s\]. For a circle: its via point. For other motions to a
    /// pose: joint positions near the ones that reach it \[µrad\].
    pub second: [i32; 6],
    /// For a quintic spline: the joint accelerations at the point \[µrad/s²\]. For other motions: speed, acceleration,
    /// a flag (the orientation mode of a circle, or 1 if `second` contains joint positions), and zeros.
    pub third: [i32; 6],
    /// The duration of the motion to the point \[µs\], 0 … 2³¹ − 1; 0 for a motion that is given a speed.
    pub duration: u32,
    /// The blend radius at the point \[µm\]; for a spline the number of its [`SplineKind`].
    pub blend: i32,
    /// The kind of motion to the point of the trajectory.
    pub motion: MotionType,
}

impl TrajectoryPoint {
    /// The size of a trajectory point \[B\].
    pub const LEN: usize = size_of::<Self>();

    /// Returns the trajectory point in `bytes`, which must contain nothing else.
    ///
    /// # Errors
    /// `BadLength` at 0 if the size differs; `BadValue` at 72 if the duration is negative.
    pub fn new_checked(bytes: &[u8]) -> Result<&Self, WireError> {
        let point = Self::ref_from_bytes(bytes)
            .map_err(|_| WireError::new(WireErrorKind::BadLength, 0, Self::LEN, bytes.len()))?;
        let sound = point.duration.get() >= 0;
        if sound { Ok(point) } else { Err(WireError::new(WireErrorKind::BadValue, 72, 0, 0)) }
    }

    /// Returns the trajectory point with its fields in host order.
    #[must_use]
    pub fn repr(&self) -> TrajectoryPointRepr {
        let integers = |values: [I32; 6]| values.map(I32::get);
        TrajectoryPointRepr {
            target: integers(self.target),
            second: integers(self.second),
            third: integers(self.third),
            duration: self.duration.get().unsigned_abs(),
            blend: self.blend.get(),
            motion: MotionType::from_raw(self.motion.get()),
        }
    }
}

impl TrajectoryPointRepr {
    /// Returns a trajectory point that is reached after `duration` \[µs\] along a polynomial: joint positions `target`
    /// \[µrad\], with these speeds \[µrad/s\] and, for a quintic polynomial, these accelerations \[µrad/s²\] at the
    /// point.
    #[must_use]
    pub const fn spline(
        kind: SplineKind,
        target: [i32; 6],
        speeds: [i32; 6],
        accelerations: [i32; 6],
        duration: u32,
    ) -> Self {
        Self { target, second: speeds, third: accelerations, duration, blend: kind.raw(), motion: MotionType::Spline }
    }

    /// Returns a trajectory point that is reached by a straight motion in joint space to joint positions `target`
    /// \[µrad\]. The joint with the longest way reaches `speed` \[µrad/s\] with `acceleration` \[µrad/s²\].
    #[must_use]
    pub const fn move_j(target: [i32; 6], speed: i32, acceleration: i32) -> Self {
        let third = [speed, acceleration, 0, 0, 0, 0];
        Self { target, second: [0; 6], third, duration: 0, blend: 0, motion: MotionType::MoveJ }
    }

    /// Writes the trajectory point to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the point.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let point = TrajectoryPoint {
            target: self.target.map(I32::new),
            second: self.second.map(I32::new),
            third: self.third.map(I32::new),
            duration: I32::new(i32::try_from(self.duration).unwrap_or(i32::MAX)),
            blend: I32::new(self.blend),
            motion: I32::new(self.motion.raw()),
        };
        let (need, have) = (TrajectoryPoint::LEN, out.len());
        let written = point.write_to_prefix(out).map(|()| need);
        written.map_err(|_| WireError::new(WireErrorKind::BufferTooSmall, 0, need, have))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(target: [i32; 6], second: [i32; 6], third: [i32; 6], duration in 0_u32..1 << 31, blend: i32, motion: i32, said: [u8; 4]) {
            let motion = MotionType::from_raw(motion);
            let point = TrajectoryPointRepr { target, second, third, duration, blend, motion };
            let mut bytes = [0; TrajectoryPoint::LEN];
            prop_assert_eq!(point.emit(&mut bytes), Ok(TrajectoryPoint::LEN));
            prop_assert_eq!(TrajectoryPoint::new_checked(&bytes).map(TrajectoryPoint::repr), Ok(point));
            prop_assert_eq!(TrajectoryResult::from_bytes(said).to_bytes(), said);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 76..92)) {
            if let Ok(point) = TrajectoryPoint::new_checked(&bytes) {
                let mut again = [0; TrajectoryPoint::LEN];
                prop_assert_eq!(point.repr().emit(&mut again), Ok(TrajectoryPoint::LEN));
                prop_assert_eq!(&again[..], &bytes[..]);
            }
        }
    }

    #[test]
    fn the_words_lie_where_the_page_has_them() {
        let mut bytes = [0; TrajectoryPoint::LEN];
        let (speeds, accelerations) = ([7, 8, 9, 10, 11, 12], [13, 14, 15, 16, 17, 18]);
        let quintic = TrajectoryPointRepr::spline(SplineKind::Quintic, [1, 2, 3, 4, 5, 6], speeds, accelerations, 19);
        let words = |bytes: &[u8]| -> Vec<i32> {
            bytes.chunks(4).map(|word| i32::from_be_bytes(word.try_into().unwrap())).collect()
        };
        assert_eq!(quintic.emit(&mut bytes), Ok(84));
        let all = words(&bytes);
        assert_eq!(all[..19], (1..=19).collect::<Vec<i32>>());
        assert_eq!(all[19..], [2, 51]);
        let straight = TrajectoryPointRepr::move_j([1, 2, 3, 4, 5, 6], 1_050_000, 1_400_000);
        assert_eq!(straight.emit(&mut bytes), Ok(84));
        let all = words(&bytes);
        assert_eq!(all[12..15], [1_050_000, 1_400_000, 0]);
        assert_eq!(all[18..], [0, 0, 0]);
        for (instruction, number) in
            [(Instruction::Cancel, -1), (Instruction::StreamStart, 2), (Instruction::StreamEnd, 3)]
        {
            assert_eq!(instruction.raw(), number);
        }
    }

    #[test]
    fn what_is_no_point_is_named() {
        let error = TrajectoryPoint::new_checked(&[0; 88]).unwrap_err();
        assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BadLength, 84, 88));
        let mut bytes = [0; TrajectoryPoint::LEN];
        bytes[72] = 0x80;
        let error = TrajectoryPoint::new_checked(&bytes).unwrap_err();
        assert_eq!((error.kind, error.at), (WireErrorKind::BadValue, 72));
        let point = TrajectoryPointRepr::move_j([0; 6], 1, 1);
        assert_eq!(point.emit(&mut [0; 83]).unwrap_err().kind, WireErrorKind::BufferTooSmall);
        assert_eq!(TrajectoryResult::from_bytes([0, 0, 0, 9]), TrajectoryResult::Unknown(9));
    }
}
