//! The measurement, which the KRC (KUKA's controller) sends in each cycle (`core/docs/protocol/kuka-fri.md A5`).

use zerocopy::little_endian::{F32, U16, U32};

use super::cartesian_values::{FrameField, JacobianField, MassField, VectorField};
use super::header::EnvelopeField;
use super::krl::KrlField;
use super::{ControlScheme, Datagram, FriState, MEASUREMENT_ID, MEASUREMENT_LEN, Quality};
use crate::fields::FieldVisitor;
use crate::layout::{layout, total};
use crate::{Put, Take, WireError};

type MeasurementEnvelope = EnvelopeField<{ MEASUREMENT_LEN as u16 }, MEASUREMENT_ID>;

layout! {
    /// An FRI measurement in place, as received. Numbers pass through unchanged, NaN included.
    view Measurement;
    /// The values of an FRI measurement in host order.
    repr MeasurementRepr;
    size size;

    block header: Header at 0; {
          0 send_seq_count: U16, "–", "Counts the measurements, 65 535 is followed by 0";
          2 refl_seq_count: U16, "–", "The counter of the last command that the KRC received";
          4 envelope: MeasurementEnvelope, "B, –", "Size and number of the datagram";
    }
    block krl: Krl at 8; {
          8 krl: KrlField, "–", "What the KRL program set";
        138 filler: U16, "–", "Unused";
    }
    block interface: Interface at 140; {
        140 timestamp: F32, "s", "Clock of the KRC: too coarse for timing after some hours";
        144 state: U16, "–", "State of the interface";
        146 quality: U16, "–", "Quality of the link as the KRC rates it";
        148 desired_msr_sample_time: F32, "s", "Period of the measurements";
        152 desired_cmd_sample_time: F32, "s", "Period of the commands";
        156 safety_limits: F32, "0…1", "Factor on the robot's limits, as friStart was given it";
        160 stat_answer_rate: F32, "0…1", "Share of answers among the last 100 measurements";
        164 stat_latency: F32, "s", "Mean latency of the answers";
        168 stat_jitter: F32, "s", "Mean jitter of the answers";
        172 stat_miss_rate: F32, "0…1", "Share of missing answers";
        176 stat_miss_counter: U32, "–", "Missing answers so far";
    }
    block robot: Robot at 180; {
        180 power: U16, "–", "Drives that are on, bit 0 the first joint's";
        182 control: U16, "–", "Control scheme that is active";
        184 error: U16, "–", "Drives in error, which leads to power off";
        186 warning: U16, "–", "Drives with a warning";
        188 temperature: [F32; 7], "°C (assumed)", "Temperatures of the drives";
    }
    block data: Values at 216; {
        216 msr_jnt_pos: [F32; 7], "rad", "Measured joint positions";
        244 msr_cart_pos: FrameField, "m", "Measured frame of the tool";
        292 cmd_jnt_pos: [F32; 7], "rad", "Joint positions commanded by the KRC itself";
        320 cmd_jnt_pos_fri_offset: [F32; 7], "rad", "What commands of FRI add to them";
        348 cmd_cart_pos: FrameField, "m", "Frame of the tool commanded by the KRC itself";
        396 cmd_cart_pos_fri_offset: FrameField, "m", "What commands of FRI add to it";
        444 msr_jnt_trq: [F32; 7], "Nm", "Measured joint torques";
        472 est_ext_jnt_trq: [F32; 7], "Nm", "Estimated external joint torques";
        500 est_ext_tcp_ft: VectorField, "N, Nm", "Estimated external force and torque at the tool";
        524 jacobian: JacobianField, "m/rad, rad/rad", "Jacobian in the frame of $STIFFNESS.TASKFRAME";
        692 mass_matrix: MassField, "kg·m²", "Joint-space inertia";
        888 gravity: [F32; 7], "Nm (assumed)", "Joint torques of gravity";
    }
}

total! { 916 = 0 + Header + Krl + Interface + Robot + Values; }

impl<'a> Measurement<'a> {
    /// Returns the FRI measurement in `bytes`, which must be one datagram.
    ///
    /// # Errors
    /// `Truncated` or `BadLength` at 0 if `bytes` is not 916 bytes long; `BadType` at 6 if the header names another
    /// datagram; `BadLength` at 4 if the header names another size.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        Datagram::Measurement.check(bytes)?;
        Self::body(MEASUREMENT_LEN, Take::new(bytes))
    }

    /// Returns the size of the measurement datagram \[B\].
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Calls `visitor` for each field of the measurement, in wire order.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        self.visit_body(visitor);
    }

    /// Returns the state of FRI on the KRC by name.
    #[must_use]
    pub fn named_state(&self) -> FriState {
        FriState::from_raw(self.state())
    }

    /// Returns the KRC's rating of the link to the remote computer, by name.
    #[must_use]
    pub fn named_quality(&self) -> Quality {
        Quality::from_raw(self.quality())
    }

    /// Returns the control scheme that is active on the KRC, by name.
    #[must_use]
    pub fn named_control(&self) -> ControlScheme {
        ControlScheme::from_raw(self.control())
    }

    /// Returns the commanded joint positions, the sum of the KRC's and FRI's parts \[rad\]. A remote computer that does
    /// not want to move the arm sends them back.
    #[must_use]
    pub fn setpoint(&self) -> [f32; 7] {
        let mut sum = self.cmd_jnt_pos();
        for (sum, offset) in sum.iter_mut().zip(self.cmd_jnt_pos_fri_offset()) {
            *sum += offset;
        }
        sum
    }
}

impl MeasurementRepr {
    /// Writes the FRI measurement to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the measurement.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.emit_body(MEASUREMENT_LEN, Put::new(out, MEASUREMENT_LEN)?)?;
        Ok(MEASUREMENT_LEN)
    }
}
