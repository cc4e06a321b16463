//! The real-time packet of ports 30003 and 30013 (`core/docs/protocol/ur-client-interfaces.md 2`).
//!
//! The controller sends one packet per control cycle, 125 Hz up to CB3 and 500 Hz after. A packet is a length and
//! doubles, without type byte, version or checksum. Only the length identifies the layout:
//!
//! | size \[B\] | software | adds |
//! |---|---|---|
//! | 756 | 1.5, 1.6 | the base of CB2 |
//! | 764 | 1.7 | robot mode |
//! | 812 | 1.8 | joint modes |
//! | 1044 | 3.0, 3.1 | a new layout from offset 396 on |
//! | 1060 | 3.2–3.4 | digital outputs, program state |
//! | 1108 | 3.5–3.9, 5.0–5.3 | elbow |
//! | 1116 | 3.10–3.13, 5.4–5.8 | safety status |
//! | 1140 | 3.14, 3.15, 5.9 | three reserved |
//! | 1220 | 5.10 and later | payload |
//!
//! A packet of up to 812 bytes has CB2's layout, one of at least 1044 bytes that of CB3 and later; a length between
//! is rejected. Within a layout any length is accepted: a field exists if its end is within the packet.
//!
//! ```
//! # const PACKET: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/realtime-5.15.bin"));
//! use outrigger_wire::realtime::Packet;
//!
//! // One packet of software 5.15.
//! let packet = Packet::new_checked(PACKET)?;
//! assert_eq!(packet.size(), 1220);
//! println!("{} s: {:?} rad, safety {:?}", packet.time(), packet.q_actual(), packet.named_safety_mode());
//! let state = packet.to_state()?; // what laws and engines work with, the same from every interface
//! assert_eq!(state.positions.0[4], core::f32::consts::FRAC_PI_2);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use super::fields::FieldVisitor;
use super::layout::{Mask, layout, total};
use super::{Put, Take, WireError, WireErrorKind};
use crate::math::double_conversion::{is_nan, scaled, to_f32};
use crate::robot::{
    ControllerTime, Generation, JointMode, JointPositions, JointVelocities, Payload, Pose, ProgramState, RobotMode,
    Safety, SafetyMode, SoftwareVersion, State, Twist, Wrench,
};
use zerocopy::big_endian::{F64, I32};

/// The sizes of a real-time packet that known software sends \[B\].
pub const SIZES: [usize; 9] = [756, 764, 812, 1044, 1060, 1108, 1116, 1140, 1220];

/// The size of the shortest real-time packet \[B\].
pub const MIN_SIZE: usize = 756;

/// The size of the longest real-time packet that is accepted \[B\]; the longest known packet has 1220 bytes.
pub const MAX_SIZE: usize = 2048;

/// The two layouts of a real-time packet, by controller generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Layout {
    /// The real-time packet of CB2: 756 … 812 bytes, software 1.x.
    Cb2,
    /// The real-time packet of CB3, e-Series and PolyScope X: 1044 bytes and more.
    Cb3,
}

impl Layout {
    /// Returns the layout of a real-time packet of `size` bytes; `None` if that size is within the range of neither layout.
    #[must_use]
    pub const fn of(size: usize) -> Option<Self> {
        match size {
            756..=812 => Some(Self::Cb2),
            1044..=MAX_SIZE => Some(Self::Cb3),
            _ => None,
        }
    }
}

layout! {
    /// A real-time packet in place, as received. Doubles pass through unchanged, NaN included.
    view Packet;
    /// The values of a real-time packet in host order. `emit` writes only those fields that exist in a packet of the
    /// requested size.
    repr Repr;
    size size;

    block joints: Joints at 4; {
          4 time: F64, "s", "Time since the controller was started";
         12 q_target: [F64; 6], "rad", "Target joint positions";
         60 qd_target: [F64; 6], "rad/s", "Target joint velocities";
        108 qdd_target: [F64; 6], "rad/s²", "Target joint accelerations";
        156 i_target: [F64; 6], "A", "Target joint currents";
        204 m_target: [F64; 6], "Nm", "Target joint torques";
        252 q_actual: [F64; 6], "rad", "Actual joint positions";
        300 qd_actual: [F64; 6], "rad/s", "Actual joint velocities";
        348 i_actual: [F64; 6], "A", "Actual joint currents";
    }
    // CB2 has the accelerometer at the offset of CB3's control currents.
    block accelerometer: Accelerometer at 396 when size <= 812; {
        396 cb2_tool_accelerometer_values as "tool_accelerometer_values": [F64; 3], "m/s²", "CB2: tool accelerometer x, y, z";
        420 unused: [F64; 15], "–", "CB2: unused";
    }
    block actual: Actual at 396 when size >= 1044; {
        396 i_control: [F64; 6], "A", "Joint control currents";
        444 tool_vector_actual: [F64; 6], "m, rad", "Actual TCP pose, rotation vector";
        492 tcp_speed_actual: [F64; 6], "m/s, rad/s", "Actual TCP speed";
    }
    block force: Force at 540; {
        540 tcp_force: [F64; 6], "N, Nm", "Generalised force at the TCP";
    }
    // CB2 has the actual pose at the offset of CB3's target pose.
    block pose: ToolPose at 588 when size <= 812; {
        588 tool_vector: [F64; 6], "m, rad", "CB2: actual TCP pose, rotation vector";
        636 tcp_speed: [F64; 6], "m/s, rad/s", "CB2: TCP speed";
    }
    block target: Target at 588 when size >= 1044; {
        588 tool_vector_target: [F64; 6], "m, rad", "Target TCP pose, rotation vector";
        636 tcp_speed_target: [F64; 6], "m/s, rad/s", "Target TCP speed";
    }
    block inputs: Inputs at 684; {
        684 digital_input_bits: Mask, "–", "Digital inputs, bit 0 the first";
        692 motor_temperatures: [F64; 6], "°C", "Motor temperatures";
        740 controller_timer: F64, "s", "Execution time of the controller's real-time thread (unit unconfirmed)";
        748 test_value: F64, "–", "Internal to the vendor";
    }
    tail Tail at 756; {
        756 robot_mode: F64, "–", "Robot mode, numbered by generation";
        764 joint_modes: [F64; 6], "–", "Joint modes";
        812 safety_mode: F64, "–", "Safety mode";
        820 reserved_820: [F64; 6], "–", "Internal to the vendor, may be NaN";
        868 tool_accelerometer_values: [F64; 3], "m/s²", "Tool accelerometer x, y, z";
        892 reserved_892: [F64; 6], "–", "Internal to the vendor, may be NaN";
        940 speed_scaling: F64, "0…1", "Speed scaling of the trajectory limiter";
        948 linear_momentum_norm: F64, "kg·m/s", "Norm of the linear momentum";
        956 reserved_956: F64, "–", "Internal to the vendor, may be NaN";
        964 reserved_964: F64, "–", "Internal to the vendor, may be NaN";
        972 v_main: F64, "V", "Main voltage of the masterboard";
        980 v_robot: F64, "V", "Voltage of the robot's 48 V rail";
        988 i_robot: F64, "A", "Robot current";
        996 v_actual: [F64; 6], "V", "Joint voltages";
        1044 digital_outputs: Mask, "–", "Digital outputs, bit 0 the first";
        1052 program_state: F64, "–", "Program state (numbering unconfirmed)";
        1060 elbow_position: [F64; 3], "m", "Elbow position";
        1084 elbow_velocity: [F64; 3], "m/s", "Elbow velocity";
        1108 safety_status: F64, "–", "Safety status";
        1116 reserved_1116: F64, "–", "Internal to the vendor, may be NaN";
        1124 reserved_1124: F64, "–", "Internal to the vendor, may be NaN";
        1132 reserved_1132: F64, "–", "Internal to the vendor, may be NaN";
        1140 payload_mass: F64, "kg", "Payload mass";
        1148 payload_cog: [F64; 3], "m", "Payload centre of gravity";
        1172 payload_inertia: [F64; 6], "kg·m²", "Payload inertia Ixx, Iyy, Izz, Ixy, Ixz, Iyz";
    }
}

total! {
    756 = 4 + Joints + Accelerometer + Force + ToolPose + Inputs;
    756 = 4 + Joints + Actual + Force + Target + Inputs;
    1220 = 756 + Tail;
}

impl<'a> Packet<'a> {
    /// Returns the real-time packet that fills `bytes` to the end.
    ///
    /// # Errors
    /// `Truncated` if bytes are missing; `BadLength` if the length field is no packet's or not that of `bytes`.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut body = Take::new(bytes);
        let declared = body.layout::<I32>()?.get();
        let size = usize::try_from(declared).unwrap_or(0);
        if Layout::of(size).is_none() {
            let need = if size < MIN_SIZE { MIN_SIZE } else { 1044 };
            return Err(WireError::new(WireErrorKind::BadLength, 0, need, size));
        }
        if bytes.len() < size {
            return Err(WireError::new(WireErrorKind::Truncated, 0, size, bytes.len()));
        }
        if bytes.len() > size {
            return Err(WireError::new(WireErrorKind::BadLength, 0, bytes.len(), size));
        }
        Self::body(size, body)
    }

    /// Returns the length of the real-time packet \[B\].
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns the layout of the real-time packet.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        if self.size <= 812 { Layout::Cb2 } else { Layout::Cb3 }
    }

    /// Returns the time on the controller's clock in the packet; `None` if the field is not a valid time.
    #[must_use]
    pub fn controller_time(&self) -> Option<ControllerTime> {
        ControllerTime::from_secs(self.time())
    }

    /// Returns the measured TCP pose x, y, z \[m\], rx, ry, rz \[rad\], from the field that the packet's layout has for
    /// it; `None` if it has none.
    #[must_use]
    pub fn measured_pose(&self) -> Option<[f64; 6]> {
        self.tool_vector_actual().or_else(|| self.tool_vector())
    }

    /// Returns the TCP speed \[m/s, rad/s\], from the field that the packet's layout has for it; `None` if it has none.
    #[must_use]
    pub fn measured_speed(&self) -> Option<[f64; 6]> {
        self.tcp_speed_actual().or_else(|| self.tcp_speed())
    }

    /// Returns the tool acceleration x, y, z \[m/s²\], from the field that the packet's layout has for it; `None` if it
    /// has none.
    #[must_use]
    pub fn tool_acceleration(&self) -> Option<[f64; 3]> {
        self.tool_accelerometer_values().or_else(|| self.cb2_tool_accelerometer_values())
    }

    /// Returns the robot mode by name; `None` if the packet has none. The layout selects the list of names, because
    /// only CB2 sends the layout of CB2.
    #[must_use]
    pub fn named_robot_mode(&self) -> Option<RobotMode> {
        let generation = match self.layout() {
            Layout::Cb2 => Generation::Cb2,
            Layout::Cb3 => Generation::Cb3,
        };
        self.robot_mode().map(|value| RobotMode::from_raw(generation, rounded(value)))
    }

    /// Returns the modes of the six joints by name; `None` if the packet has none.
    #[must_use]
    pub fn named_joint_modes(&self) -> Option<[JointMode; 6]> {
        self.joint_modes().map(|modes| modes.map(|value| JointMode::from_raw(rounded(value))))
    }

    /// Returns the controller's safety mode by name; `None` if the packet has none.
    #[must_use]
    pub fn named_safety_mode(&self) -> Option<SafetyMode> {
        self.safety_mode().map(|value| SafetyMode::from_raw(rounded(value)))
    }

    /// Returns the controller's safety status by name; `None` if the packet has none.
    #[must_use]
    pub fn named_safety_status(&self) -> Option<SafetyMode> {
        self.safety_status().map(|value| SafetyMode::from_raw(rounded(value)))
    }

    /// Returns the state of the controller's program by name (numbering unconfirmed); `None` if the packet has none.
    #[must_use]
    pub fn named_program_state(&self) -> Option<ProgramState> {
        self.program_state().map(|value| ProgramState::from_raw(rounded(value)))
    }

    /// Converts the real-time packet to a [`State`], the form of the arm's state that all interfaces share.
    ///
    /// # Errors
    /// `BadValue` if the time is invalid. All other values are measurements and pass through, NaN included.
    pub fn to_state(&self) -> Result<State<6>, WireError> {
        let Some(controller_time) = self.controller_time() else {
            return Err(WireError::new(WireErrorKind::BadValue, 4, 0, 0));
        };
        let robot_mode = self.named_robot_mode();
        let safety = match (self.named_safety_mode(), robot_mode) {
            (Some(mode), _) => Safety::Mode(mode),
            (None, Some(mode)) => Safety::FromRobotMode(mode),
            (None, None) => Safety::Unknown,
        };
        Ok(State {
            controller_time,
            positions: JointPositions::from_wire(self.q_actual()),
            velocities: JointVelocities::from_wire(self.qd_actual()),
            target_positions: JointPositions::from_wire(self.q_target()),
            target_velocities: JointVelocities::from_wire(self.qd_target()),
            tcp_pose: self.measured_pose().map(Pose::from_wire),
            tcp_speed: self.measured_speed().map(Twist::from_wire),
            tcp_force: Some(Wrench::from_wire(self.tcp_force())),
            robot_mode,
            safety,
            program_state: self.named_program_state(),
            speed_scaling: self.speed_scaling().map(to_f32),
            speed_slider: None,
            digital_inputs: self.digital_input_bits(),
            digital_outputs: self.digital_outputs(),
            payload: self
                .payload_mass()
                .zip(self.payload_cog())
                .map(|(mass, center)| Payload { mass: to_f32(mass), center_of_gravity: center.map(to_f32) }),
        })
    }

    /// Calls `visitor` for each field that exists in the real-time packet, in wire order, `message_size` first.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        visitor.field("message_size", super::fields::Value::Signed(i64::try_from(self.size).unwrap_or(i64::MAX)));
        self.visit_body(visitor);
    }
}

impl Repr {
    /// Returns the size of the real-time packets that controllers with this software send \[B\].
    #[must_use]
    pub const fn size_for(software: SoftwareVersion) -> usize {
        match (software.major, software.minor) {
            (0, _) | (1, 0..=6) => 756,
            (1, 7) => 764,
            (1 | 2, _) => 812,
            (3, 0..=1) => 1044,
            (3, 2..=4) => 1060,
            (3, 5..=9) | (5, 0..=3) => 1108,
            (3, 10..=13) | (5, 4..=8) => 1116,
            (3 | 4, _) | (5, 9) => 1140,
            (5.., _) => 1220,
        }
    }

    /// Writes a real-time packet of `size` bytes to the start of `out` and returns `size`.
    ///
    /// # Errors
    /// `BadLength` if `size` is within the range of neither [`Layout`]; `BufferTooSmall` if `out` is shorter.
    pub fn emit(&self, size: usize, out: &mut [u8]) -> Result<usize, WireError> {
        if Layout::of(size).is_none() {
            return Err(WireError::new(WireErrorKind::BadLength, 0, MIN_SIZE, size));
        }
        let mut put = Put::new(out, size)?;
        put.layout(&I32::new(i32::try_from(size).unwrap_or(0)))?;
        self.emit_body(size, put)?;
        Ok(size)
    }
}

/// Returns the size and time of a real-time packet if a stream could hold one that begins with `head`: the length must
/// be that of a packet and the time valid; otherwise `None`.
///
/// A polluted stream has no other sign of where a packet begins (`core/docs/protocol/ur-client-interfaces.md 1.2`). A
/// positive time below a microsecond is the pattern of integers read as a double; no controller runs for 10⁹ s.
#[must_use]
pub fn plausible_head(head: &[u8; HEAD_LEN]) -> Option<Head> {
    let (size, time) = head.split_first_chunk::<4>()?;
    let size = usize::try_from(i32::from_be_bytes(*size)).ok()?;
    let time = f64::from_be_bytes(*time.first_chunk::<8>()?);
    // Non-negative doubles have the order of their bits, and comparing bits needs no routine.
    let uptime = 1e-6_f64.to_bits()..1e9_f64.to_bits();
    let counts = time.to_bits() << 1 == 0 || uptime.contains(&time.to_bits());
    let time = ControllerTime::inlined_from_secs(time).filter(|_| counts)?;
    Layout::of(size).map(|_| Head { size, time })
}

/// The number of bytes at the start of a real-time packet that [`plausible_head`] examines.
pub const HEAD_LEN: usize = 12;

/// The size and time at the start of a real-time packet, by which it is recognised in a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Head {
    /// The length of the real-time packet \[B\].
    pub size: usize,
    /// The time on the controller's clock in the packet, since the controller was started.
    pub time: ControllerTime,
}

/// Returns the integer nearest to a double; `i32::MIN`, which is in no list of names, for NaN.
fn rounded(value: f64) -> i32 {
    // NaN must not become 0, which is RUNNING on CB2.
    let magnitude = scaled(value, 1).min(i32::MAX as u64) as i32;
    if is_nan(value) {
        i32::MIN
    } else if value.is_sign_negative() {
        0_i32.wrapping_sub(magnitude)
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests;
