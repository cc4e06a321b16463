//! The table of all RTDE variables: name, type, direction, unit, and the first software that has it
//! (`core/docs/protocol/ur-rtde.md 6–8`).
//!
//! ```
//! use outrigger_wire::robot::SoftwareVersion;
//! use outrigger_wire::rtde::registry::{Direction, Variable};
//!
//! let payload = Variable::named("payload", Direction::Output).expect("a variable of RTDE");
//! assert_eq!(payload.unit(), "kg");
//! assert_eq!(payload.since().reached(SoftwareVersion::new(3, 5)), Some(false));
//! ```

use super::DataType;
use super::DataType::{Bool, Double, Int32, Uint8, Uint32, Uint64, Vector3d, Vector6Int32, Vector6d};
use crate::robot::{Generation, SoftwareVersion};

/// The first software of CB3 that has RTDE.
const FIRST_CB3: SoftwareVersion = SoftwareVersion::new(3, 4);

/// Returns whether controllers with this software have RTDE: from 3.4 on.
#[must_use]
pub fn exists(software: SoftwareVersion) -> bool {
    software >= FIRST_CB3
}

/// The first software of each controller family that has an RTDE variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The variable exists since RTDE exists: 3.4, 5.0, 10.0.
    Rtde,
    /// The variable exists since the listed releases. A controller family without a release never had the variable.
    Release {
        /// The first release of CB3 that has the variable; `None` if CB3 never had it.
        cb3: Option<SoftwareVersion>,
        /// The first release of e-Series that has the variable.
        e_series: SoftwareVersion,
        /// The first release of PolyScope X that has the variable.
        polyscope_x: SoftwareVersion,
    },
    /// The variable exists since a release for which there are not two sources that agree.
    Unconfirmed {
        /// The first e-Series release that has the variable, as one source says or as it is estimated; `None` if it is
        /// not known at all.
        reported: Option<SoftwareVersion>,
    },
}

impl Since {
    /// Returns whether this software has the RTDE variable; `None` if that is not confirmed.
    #[must_use]
    pub fn reached(self, software: SoftwareVersion) -> Option<bool> {
        if !exists(software) {
            return Some(false);
        }
        match self {
            Self::Rtde => Some(true),
            Self::Release { cb3, e_series, polyscope_x } => Some(match software.generation() {
                Generation::Cb2 => false,
                Generation::Cb3 => cb3.is_some_and(|first| software >= first),
                Generation::ESeries => software >= e_series,
                Generation::PolyScopeX => software >= polyscope_x,
            }),
            Self::Unconfirmed { .. } => None,
        }
    }
}

/// The direction in which an RTDE variable is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Direction {
    /// The variable is written by a client.
    Input,
    /// The variable is sent by the controller.
    Output,
}

/// A line of the registry's table: an RTDE variable, or a run of numbered registers.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// The numbers of the first and the last register of the line, which are appended to the name; `None` for a
    /// variable that is no register.
    numbers: Option<(u8, u8)>,
    data_type: DataType,
    input: bool,
    output: bool,
    /// The index of the variable's unit in [`UNITS`].
    unit: u8,
    since: &'static Since,
}

/// An RTDE variable of the registry's table.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    row: &'static Row,
    /// The number of the register; 0 for a variable that is no register.
    number: u8,
}

impl PartialEq for Variable {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.row, other.row) && self.number == other.number
    }
}

impl Eq for Variable {}

impl Variable {
    /// Returns the RTDE variable with this name that is sent in this direction; `None` if there is none.
    #[must_use]
    pub const fn named(name: &str, direction: Direction) -> Option<Self> {
        let mut rows = TABLE;
        while let [row, rest @ ..] = rows {
            let travels = match direction {
                Direction::Input => row.input,
                Direction::Output => row.output,
            };
            if travels && let Some(number) = row.number_in(name) {
                return Some(Self { row, number });
            }
            rows = rest;
        }
        None
    }

    /// Iterates over all variables that are sent in this direction, each register separately.
    pub fn all(direction: Direction) -> impl Iterator<Item = Self> {
        let rows = TABLE.iter().filter(move |row| match direction {
            Direction::Input => row.input,
            Direction::Output => row.output,
        });
        rows.flat_map(|row| {
            let (first, last) = row.numbers.unwrap_or_default();
            (first..=last).map(move |number| Self { row, number })
        })
    }

    /// Returns the type of the variable's values.
    #[must_use]
    pub const fn data_type(self) -> DataType {
        self.row.data_type
    }

    /// Returns the unit of the variable's values; a dash if they have none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        let (mut units, mut place) = (UNITS, self.row.unit);
        while let [unit, rest @ ..] = units {
            let Some(before) = place.checked_sub(1) else { return unit };
            (units, place) = (rest, before);
        }
        ""
    }

    /// Returns the first software of each controller family that has the RTDE variable.
    #[must_use]
    pub const fn since(self) -> Since {
        *self.row.since
    }

    /// Returns the number of the register; `None` if the variable is no register.
    #[must_use]
    pub const fn register(self) -> Option<u8> {
        match self.row.numbers {
            Some(_) => Some(self.number),
            None => None,
        }
    }
}

impl core::fmt::Display for Variable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.row.name)?;
        self.register().map_or(Ok(()), |number| write!(f, "{number}"))
    }
}

impl Row {
    /// Returns 0 if `name` is the name of this line of the table, or the register's number if `name` is one of the
    /// line's registers; `None` otherwise.
    const fn number_in(&self, name: &str) -> Option<u8> {
        let mut rest = name.as_bytes();
        let mut own = self.name.as_bytes();
        while let [wanted, later @ ..] = own {
            let [given, after @ ..] = rest else { return None };
            if *given != *wanted {
                return None;
            }
            own = later;
            rest = after;
        }
        let Some((first, last)) = self.numbers else {
            return if rest.is_empty() { Some(0) } else { None };
        };
        let Some(number) = decimal(rest) else { return None };
        if number < first || number > last { None } else { Some(number) }
    }
}

/// Converts decimal digits without leading zeros into a number; `None` for anything else.
const fn decimal(digits: &[u8]) -> Option<u8> {
    if matches!(digits, [] | [b'0', _, ..]) {
        return None;
    }
    let mut number = 0_u8;
    let mut rest = digits;
    while let [digit, later @ ..] = rest {
        if !digit.is_ascii_digit() {
            return None;
        }
        let Some(tens) = number.checked_mul(10) else { return None };
        let Some(sum) = tens.checked_add(digit.saturating_sub(b'0')) else { return None };
        number = sum;
        rest = later;
    }
    Some(number)
}

const fn version((major, minor, bugfix): (u8, u8, u32)) -> SoftwareVersion {
    SoftwareVersion { major, minor, bugfix }
}

/// Returns the value of [`Since`] for a variable that exists since these releases of 3.x and 5.x, and since the first
/// release of PolyScope X.
const fn both(cb3: (u8, u8, u32), e_series: (u8, u8, u32)) -> Since {
    Since::Release { cb3: Some(version(cb3)), e_series: version(e_series), polyscope_x: SoftwareVersion::new(10, 0) }
}

/// Returns the value of [`Since`] for a variable that exists since this release of 5.x and the first release of
/// PolyScope X, and never on 3.x.
const fn e_series(first: (u8, u8, u32)) -> Since {
    Since::Release { cb3: None, e_series: version(first), polyscope_x: SoftwareVersion::new(10, 0) }
}

/// Returns the value of [`Since`] for a variable that exists since these releases of 5.x and PolyScope X, and never on
/// 3.x.
const fn later(first: (u8, u8, u32), polyscope_x: (u8, u8, u32)) -> Since {
    Since::Release { cb3: None, e_series: version(first), polyscope_x: version(polyscope_x) }
}

const fn unconfirmed(reported: (u8, u8)) -> Since {
    Since::Unconfirmed { reported: Some(SoftwareVersion::new(reported.0, reported.1)) }
}

const UNCONFIRMED: Since = Since::Unconfirmed { reported: None };
const UPPER: Since = both((3, 9, 0), (5, 3, 0));

/// The units of the variables in the registry's table.
const UNITS: &[&str] = &[
    "-",
    "0…1",
    "N, Nm",
    "s",
    "rad",
    "rad/s",
    "rad/s²",
    "A",
    "Nm",
    "m, rad",
    "m/s, rad/s",
    "m/s², rad/s²",
    "°C",
    "ms",
    "m/s²",
    "kg·m/s",
    "V",
    "m",
    "m/s",
    "mA or V",
    "mA",
    "N",
    "≥ 0",
    "kg",
    "kg·m²",
    "J",
    "cycles",
];

/// Returns the index of a unit in [`UNITS`]. A missing unit does not compile.
#[expect(clippy::panic, reason = "it is evaluated by the compiler")]
const fn unit_number(unit: &str) -> u8 {
    let (mut units, mut place) = (UNITS, 0_u8);
    while let [known, rest @ ..] = units {
        if same(known.as_bytes(), unit.as_bytes()) {
            return place;
        }
        (units, place) = (rest, place.saturating_add(1));
    }
    panic!("a unit that UNITS has not")
}

const fn same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, after @ ..], [b, behind @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (after, behind);
    }
    one.is_empty() && other.is_empty()
}

macro_rules! rows {
    ($($name:literal $([$first:literal ..= $last:literal])? $data_type:ident $direction:ident $unit:literal $(since $since:expr)?;)+) => {
        &[$(Row {
            name: $name,
            numbers: rows!(@numbers $($first $last)?),
            data_type: $data_type,
            input: rows!(@input $direction),
            output: rows!(@output $direction),
            unit: const { unit_number($unit) },
            since: const { &rows!(@since $($since)?) },
        }),+]
    };
    (@numbers) => { None };
    (@numbers $first:literal $last:literal) => { Some(($first, $last)) };
    (@input out) => { false };
    (@input $other:ident) => { true };
    (@output input) => { false };
    (@output $other:ident) => { true };
    (@since) => { Since::Rtde };
    (@since $since:expr) => { $since };
}

/// The table of all variables. `input` and `out` are sent in one direction; `both` are inputs that can be read back.
///
/// `external_force_torque` has the right sign of its torques from 3.14.1 and 5.9.1 on.
#[rustfmt::skip]
static TABLE: &[Row] = rows! {
    // core/docs/protocol/ur-rtde.md 7
    "speed_slider_mask" Uint32 input "-";
    "speed_slider_fraction" Double input "0…1";
    "standard_digital_output_mask" Uint8 input "-";
    "standard_digital_output" Uint8 input "-";
    "configurable_digital_output_mask" Uint8 input "-";
    "configurable_digital_output" Uint8 input "-";
    "tool_digital_output_mask" Uint8 input "-" since UNCONFIRMED;
    "tool_digital_output" Uint8 input "-" since UNCONFIRMED;
    "standard_analog_output_mask" Uint8 input "-";
    "standard_analog_output_type" Uint8 input "-";
    "standard_analog_output_0" Double input "0…1";
    "standard_analog_output_1" Double input "0…1";
    "external_force_torque" Vector6d input "N, Nm";
    // core/docs/protocol/ur-rtde.md 6: by convention the lower registers belong to a fieldbus.
    "input_bit_registers0_to_31" Uint32 both "-";
    "input_bit_registers32_to_63" Uint32 both "-";
    "input_bit_register_" [64..=127] Bool both "-" since UPPER;
    "input_int_register_" [0..=23] Int32 both "-";
    "input_int_register_" [24..=47] Int32 both "-" since UPPER;
    "input_double_register_" [0..=23] Double both "-";
    "input_double_register_" [24..=47] Double both "-" since UPPER;
    "output_bit_registers0_to_31" Uint32 out "-";
    "output_bit_registers32_to_63" Uint32 out "-";
    "output_bit_register_" [64..=127] Bool out "-" since UPPER;
    "output_int_register_" [0..=23] Int32 out "-";
    "output_int_register_" [24..=47] Int32 out "-" since UPPER;
    "output_double_register_" [0..=23] Double out "-";
    "output_double_register_" [24..=47] Double out "-" since UPPER;
    // core/docs/protocol/ur-rtde.md 8
    "timestamp" Double out "s";
    "target_q" Vector6d out "rad";
    "target_qd" Vector6d out "rad/s";
    "target_qdd" Vector6d out "rad/s²";
    "target_current" Vector6d out "A";
    "target_moment" Vector6d out "Nm";
    "actual_q" Vector6d out "rad";
    "actual_qd" Vector6d out "rad/s";
    "actual_current" Vector6d out "A";
    "actual_current_window" Vector6d out "A" since UNCONFIRMED;
    "actual_current_as_torque" Vector6d out "Nm" since unconfirmed((5, 23));
    "joint_control_output" Vector6d out "A";
    "actual_TCP_pose" Vector6d out "m, rad";
    "actual_TCP_speed" Vector6d out "m/s, rad/s";
    "actual_TCP_force" Vector6d out "N, Nm";
    "target_TCP_pose" Vector6d out "m, rad";
    "target_TCP_speed" Vector6d out "m/s, rad/s";
    "actual_TCP_acceleration" Vector6d out "m/s², rad/s²" since UNCONFIRMED;
    "target_TCP_acceleration" Vector6d out "m/s², rad/s²" since UNCONFIRMED;
    "tcp_offset" Vector6d out "m, rad" since both((3, 12, 3), (5, 5, 1));
    "actual_digital_input_bits" Uint64 out "-";
    "actual_configurable_digital_input_bits" Uint64 out "-" since UNCONFIRMED;
    "joint_temperatures" Vector6d out "°C";
    "actual_execution_time" Double out "ms";
    "target_execution_time" Double out "ms" since UNCONFIRMED;
    "robot_mode" Int32 out "-";
    "joint_mode" Vector6Int32 out "-";
    "safety_mode" Int32 out "-";
    "safety_status" Int32 out "-" since both((3, 10, 0), (5, 4, 0));
    "actual_tool_accelerometer" Vector3d out "m/s²";
    "speed_scaling" Double out "0…1";
    "target_speed_fraction" Double out "0…1";
    "actual_momentum" Double out "kg·m/s";
    "actual_main_voltage" Double out "V";
    "actual_robot_voltage" Double out "V";
    "actual_robot_current" Double out "A";
    "actual_joint_voltage" Vector6d out "V";
    "actual_digital_output_bits" Uint64 out "-";
    "actual_configurable_digital_output_bits" Uint64 out "-" since UNCONFIRMED;
    "runtime_state" Uint32 out "-";
    "elbow_position" Vector3d out "m" since both((3, 5, 0), (5, 0, 0));
    "elbow_velocity" Vector3d out "m/s" since both((3, 5, 0), (5, 0, 0));
    "robot_status_bits" Uint32 out "-";
    "safety_status_bits" Uint32 out "-";
    "analog_io_types" Uint32 out "-";
    "standard_analog_input0" Double out "mA or V";
    "standard_analog_input1" Double out "mA or V";
    "standard_analog_output0" Double out "mA or V";
    "standard_analog_output1" Double out "mA or V";
    "io_current" Double out "mA";
    "euromap67_input_bits" Uint32 out "-";
    "euromap67_output_bits" Uint32 out "-";
    "euromap67_24V_voltage" Double out "V";
    "euromap67_24V_current" Double out "mA";
    "tool_mode" Uint32 out "-";
    "tool_analog_input_types" Uint32 out "-";
    "tool_analog_input0" Double out "mA or V";
    "tool_analog_input1" Double out "mA or V";
    "tool_output_voltage" Int32 out "V";
    "tool_output_current" Double out "mA";
    "tool_temperature" Double out "°C";
    "tool_output_mode" Uint8 out "-" since e_series((5, 2, 0));
    "tool_digital_output0_mode" Uint8 out "-" since e_series((5, 2, 0));
    "tool_digital_output1_mode" Uint8 out "-" since e_series((5, 2, 0));
    "tcp_force_scalar" Double out "N";
    "joint_position_deviation_ratio" Double out "≥ 0" since unconfirmed((5, 15));
    "collision_detection_ratio" Double out "≥ 0" since unconfirmed((5, 15));
    "time_scale_source" Int32 out "-" since unconfirmed((5, 17));
    "payload" Double out "kg" since both((3, 11, 0), (5, 5, 1));
    "payload_cog" Vector3d out "m" since both((3, 11, 0), (5, 5, 1));
    "payload_inertia" Vector6d out "kg·m²" since both((3, 15, 0), (5, 11, 0));
    "script_control_line" Uint32 out "-" since both((3, 14, 0), (5, 9, 0));
    "ft_raw_wrench" Vector6d out "N, Nm" since e_series((5, 9, 0));
    "wrench_calc_from_currents" Vector6d out "N, Nm" since UNCONFIRMED;
    "actual_robot_energy_consumed" Double out "J" since later((5, 23, 0), (10, 11, 0));
    "actual_robot_braking_energy_dissipated" Double out "J" since unconfirmed((5, 23));
    "encoder0_raw" Int32 out "-" since UNCONFIRMED;
    "encoder1_raw" Int32 out "-" since UNCONFIRMED;
    "target_gravity" Vector3d out "m/s²" since UNCONFIRMED;
    "target_base_acceleration" Vector6d out "m/s², rad/s²" since UNCONFIRMED;
    "target_base_wrench" Vector6d out "N, Nm" since UNCONFIRMED;
    "control_step" Uint64 out "cycles" since UNCONFIRMED;
};
