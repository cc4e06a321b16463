//! The units of exported columns, as suffixes of their names: `actual_q_0_rad`.

use outrigger_wire::rtde::registry::{Direction, Variable};

/// The units of the fields of port 30003 and of FRI, as the RTDE variables have theirs. A unit with a comma is that of
/// the first half of a vector's numbers and that of the second half.
const FIELDS: [(&str, &[&str]); 17] = [
    ("s", &["arrival_time", "time", "timestamp", "desired_msr_sample_time"]),
    ("s", &["desired_cmd_sample_time", "stat_latency", "stat_jitter"]),
    ("rad", &["q_target", "q_actual", "msr_jnt_pos", "cmd_jnt_pos", "cmd_jnt_pos_fri_offset"]),
    ("rad/s", &["qd_target", "qd_actual"]),
    ("rad/s²", &["qdd_target"]),
    ("A", &["i_target", "i_actual", "i_control", "i_robot"]),
    ("Nm", &["m_target", "msr_jnt_trq", "est_ext_jnt_trq"]),
    ("m, rad", &["tool_vector", "tool_vector_actual", "tool_vector_target"]),
    ("m/s, rad/s", &["tcp_speed", "tcp_speed_actual", "tcp_speed_target"]),
    ("N, Nm", &["tcp_force", "est_ext_tcp_ft"]),
    ("m/s²", &["tool_accelerometer_values"]),
    ("°C", &["motor_temperatures"]),
    ("kg·m/s", &["linear_momentum_norm"]),
    ("V", &["v_main", "v_robot", "v_actual"]),
    ("kg", &["payload_mass"]),
    ("m", &["elbow_position"]),
    ("m/s", &["elbow_velocity"]),
];

/// The units in the form that names of columns have. Other units, such as `mA or V`, are not in names.
const SUFFIXES: [(&str, &str); 18] = [
    ("s", "s"),
    ("ms", "ms"),
    ("rad", "rad"),
    ("rad/s", "rad_s"),
    ("rad/s²", "rad_s2"),
    ("m", "m"),
    ("m/s", "m_s"),
    ("m/s²", "m_s2"),
    ("N", "N"),
    ("Nm", "Nm"),
    ("A", "A"),
    ("mA", "mA"),
    ("V", "V"),
    ("°C", "degC"),
    ("J", "J"),
    ("kg", "kg"),
    ("kg·m²", "kg_m2"),
    ("kg·m/s", "kg_m_s"),
];

/// Returns the name of a column with its unit as suffix; the name alone if the unit is not known or the numbers have
/// none.
pub(super) fn with_unit(column: &str) -> String {
    unit(column).and_then(suffix).map_or_else(|| column.to_owned(), |suffix| format!("{column}_{suffix}"))
}

/// Returns the form that a unit has in names of columns. `None` if it is in none.
pub(super) fn suffix(unit: &str) -> Option<&'static str> {
    SUFFIXES.iter().find(|(known, _)| *known == unit).map(|(_, suffix)| *suffix)
}

/// Returns the unit of a column: of a field, or of one number of a vector, whose index ends the name.
fn unit(column: &str) -> Option<&'static str> {
    if let Some(unit) = of_field(column) {
        return Some(unit);
    }
    let (field, index) = column.rsplit_once('_')?;
    let index: usize = index.parse().ok()?;
    let unit = of_field(field)?;
    Some(unit.split_once(", ").map_or(unit, |(first, second)| if index < 3 { first } else { second }))
}

/// Returns the unit of a field of an RTDE package, of port 30003 or of FRI.
fn of_field(name: &str) -> Option<&'static str> {
    let listed = FIELDS.iter().find(|(_, names)| names.contains(&name)).map(|(unit, _)| *unit);
    listed.or_else(|| Variable::named(name, Direction::Output).map(Variable::unit))
}

/// Returns the suffixes of units in names of columns.
#[cfg(test)]
pub(super) fn suffixes() -> impl Iterator<Item = &'static str> {
    SUFFIXES.iter().map(|(_, suffix)| *suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_a_vector_has_its_unit_and_masks_have_none() {
        for (column, expected) in [
            ("actual_q_5", "actual_q_5_rad"),
            ("actual_TCP_pose_2", "actual_TCP_pose_2_m"),
            ("actual_TCP_pose_3", "actual_TCP_pose_3_rad"),
            ("tcp_force_3", "tcp_force_3_Nm"),
            ("timestamp", "timestamp_s"),
            ("controller_timer", "controller_timer"),
            ("msr_jnt_pos_6", "msr_jnt_pos_6_rad"),
            ("payload_inertia_0", "payload_inertia_0_kg_m2"),
            ("output_double_register_0", "output_double_register_0"),
            ("standard_analog_input0", "standard_analog_input0"),
            ("robot_mode", "robot_mode"),
            ("no_such_field_1", "no_such_field_1"),
        ] {
            assert_eq!(with_unit(column), expected);
        }
    }

    #[test]
    fn every_unit_of_a_variable_has_a_suffix_or_is_none_of_one_number() {
        let none = ["-", "0…1", "≥ 0", "mA or V", "cycles", ""];
        for variable in Variable::all(Direction::Output) {
            for unit in variable.unit().split(", ") {
                let known = SUFFIXES.iter().any(|(known, _)| *known == unit) || none.contains(&unit);
                assert!(known, "{variable:?}: {unit}");
            }
        }
    }
}
