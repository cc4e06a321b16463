//! The numbers of a sensor that a [`JointServo`](super::JointServo) adds to its joint speeds, or has added to the
//! controller's own control law.

#[cfg(feature = "motions")]
use crate::command::Samples;
#[cfg(feature = "motions")]
use crate::robot::Reason;
use crate::robot::{Range, range_of, words};
#[cfg(feature = "motions")]
use outrigger_wire::robot::{JointTorques, Wrench};
use outrigger_wire::sensor::SourceId;

/// Joint speeds \[rad/s\] from a sensor, added to the servo's: number i of the sample moves joint i. They may be
/// [torques or a wrench](SensorAdds) instead.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SensorFeedForward {
    /// The sensor whose numbers are added to the joint speeds, or to the torques or the wrench.
    pub source: SourceId,
    /// The factor by which the sensor's numbers are multiplied before they are added.
    pub gain: f32,
}

impl SensorFeedForward {
    /// The range of the factor on the sensor's numbers, [`gain`](Self::gain).
    pub const GAIN: Range<f32> = range_of!(-1000.0 to 1000.0);
}

/// The quantity that the numbers of a [`SensorFeedForward`] are added to: joint speeds, joint torques or a wrench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum SensorAdds {
    /// The joint speeds that the servo commands \[rad/s\].
    #[default]
    Speeds,
    /// The joint torques of the controller's own control law \[Nm\], if the controller adds torques
    /// ([`Samples::add_torques`](crate::Samples::add_torques)). Joints that the sensor has no number for get no
    /// additional torque.
    Torques,
    /// The force and the torque at the tool in the controller's own control law \[N, Nm\]
    /// ([`Samples::add_wrench`](crate::Samples::add_wrench)).
    Wrench,
}

words!(SensorAdds { "speeds" = Speeds, "torques" = Torques, "wrench" = Wrench });

/// Adds `gain` times these numbers of a sensor, as torques or wrench, to the controller's own control law. Does nothing
/// for speeds, which the servo itself adds.
#[cfg(feature = "motions")]
pub(super) fn add(adds: SensorAdds, gain: f32, numbers: &[f32], samples: &Samples<'_>) -> Result<(), Reason> {
    let mut torques = JointTorques::<7>::ZERO;
    torques.0.iter_mut().zip(numbers).for_each(|(torque, number)| *torque = gain * number);
    let JointTorques([x, y, z, rx, ry, rz, _]) = torques;
    match adds {
        SensorAdds::Speeds => Ok(()),
        SensorAdds::Torques => samples.add_torques(&torques),
        SensorAdds::Wrench => samples.add_wrench(&Wrench { force: [x, y, z], torque: [rx, ry, rz] }),
    }
}
