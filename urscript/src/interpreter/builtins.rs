//! The functions a controller provides, by software version (client interfaces 5.5; external control 5.2 and 5.3).

use std::collections::HashMap;

use super::error::FaultKind;
use super::limits::Limits;
use super::pure;
use super::value::Value;
use crate::Version;

/// Which functions a controller's software has. Made once per controller.
#[derive(Clone, Debug)]
pub struct Builtins {
    version: Version,
    by_name: HashMap<&'static str, &'static Signature>,
    assignable: bool,
}

impl Builtins {
    /// The functions of this version.
    #[must_use]
    pub fn of(version: Version) -> Self {
        let mut by_name = HashMap::new();
        for signature in ALL.iter().filter(|signature| signature.since <= version) {
            by_name.insert(signature.name, signature);
        }
        Self { version, by_name, assignable: version < Version::new(5, 0) }
    }

    /// The same, where `digital_out[n] = x` is or is not `set_digital_out(n, x)`. Clients for CB2 and CB3 send it; until
    /// when software took it is not known, and what is assumed is: all of the CB series, and nothing later.
    #[must_use]
    pub fn with_assignable_outputs(self, assignable: bool) -> Self {
        Self { assignable, ..self }
    }

    /// What an assignment to an element of `name` calls, where `name` is no variable of the program.
    pub(super) fn assigned(&self, name: &str) -> Option<&'static Signature> {
        let known = self.assignable && name == "digital_out";
        known.then(|| self.find("set_digital_out")).flatten()
    }

    /// The version they are of.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether there is a function of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Names of the functions a [`Host`](super::Host) is asked for.
    pub fn host_functions(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.by_name.values().filter(|signature| matches!(signature.run, Run::Host)).map(|signature| signature.name)
    }

    pub(super) fn find(&self, name: &str) -> Option<&'static Signature> {
        self.by_name.get(name).copied()
    }
}

/// A function with its parameters.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    since: Version,
    params: &'static [Param],
    pub(super) run: Run,
}

impl Signature {
    /// The parameters in this version: later ones come after the older.
    pub(super) fn params(&self, version: Version) -> impl Iterator<Item = &'static Param> {
        self.params.iter().filter(move |param| param.since <= version)
    }

    /// One value per parameter of any version, as a call without arguments would have them.
    pub(super) fn defaults(&self) -> Vec<Value> {
        self.params.iter().map(|param| param.default.value()).collect()
    }
}

/// Who computes it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    Host,
    Here(fn(&[Value], &Limits) -> Result<Value, FaultKind>),
}

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: &'static str,
    default: Default,
    since: Version,
    /// Before this version it must be given, default or not.
    optional_since: Version,
}

impl Param {
    pub(super) fn required(&self, version: Version) -> bool {
        matches!(self.default, Default::Required) || version < self.optional_since
    }

    const fn since(self, major: u8, minor: u8) -> Self {
        Self { since: Version::new(major, minor), ..self }
    }

    const fn optional_since(self, major: u8, minor: u8) -> Self {
        Self { optional_since: Version::new(major, minor), ..self }
    }
}

#[derive(Clone, Copy, Debug)]
enum Default {
    Required,
    /// The host chooses.
    None,
    Bool(bool),
    Float(f64),
    Text(&'static str),
}

impl Default {
    fn value(self) -> Value {
        match self {
            Self::Required | Self::None => Value::None,
            Self::Bool(value) => Value::Bool(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(value) => Value::String(value.into()),
        }
    }
}

const FIRST: Version = Version::new(1, 0);

const fn param(name: &'static str, default: Default) -> Param {
    Param { name, default, since: FIRST, optional_since: FIRST }
}

const fn req(name: &'static str) -> Param {
    param(name, Default::Required)
}

const fn opt(name: &'static str) -> Param {
    param(name, Default::None)
}

const fn float(name: &'static str, default: f64) -> Param {
    param(name, Default::Float(default))
}

const fn boolean(name: &'static str, default: bool) -> Param {
    param(name, Default::Bool(default))
}

const fn host(name: &'static str, params: &'static [Param]) -> Signature {
    Signature { name, since: FIRST, params, run: Run::Host }
}

const fn host_since(major: u8, minor: u8, name: &'static str, params: &'static [Param]) -> Signature {
    Signature { name, since: Version::new(major, minor), params, run: Run::Host }
}

const fn here(
    name: &'static str,
    params: &'static [Param],
    run: fn(&[Value], &Limits) -> Result<Value, FaultKind>,
) -> Signature {
    Signature { name, since: FIRST, params, run: Run::Here(run) }
}

const EXTERNAL_SENSOR: &[Param] =
    &[req("enable"), float("sensor_mass", 0.0), opt("sensor_measuring_offset"), opt("sensor_cog")];

const SOCKET: Param = param("socket_name", Default::Text("socket_0"));

static ALL: &[Signature] = &[
    // Time.
    host("sleep", &[req("t")]),
    host("sync", &[]),
    host("pause", &[]),
    host("get_steptime", &[]),
    // Motion. `t` of speedj became optional with 3.1 or 3.2; the vendor's notes and drivers differ.
    host("speedj", &[req("qd"), req("a"), opt("t").optional_since(3, 1)]),
    host("speedl", &[req("xd"), req("a"), opt("t").optional_since(3, 1), opt("aRot").since(3, 1)]),
    host("stopj", &[req("a")]),
    host("stopl", &[req("a"), opt("aRot").since(3, 1)]),
    host(
        "servoj",
        &[
            req("q"),
            float("a", 0.0),
            float("v", 0.0),
            opt("t"),
            float("lookahead_time", 0.1).since(3, 1),
            float("gain", 300.0).since(3, 1),
        ],
    ),
    host("movej", &[req("q"), float("a", 1.4), float("v", 1.05), float("t", 0.0), float("r", 0.0)]),
    host("movel", &[req("pose"), float("a", 1.2), float("v", 0.25), float("t", 0.0), float("r", 0.0)]),
    // State.
    host("get_joint_positions", &[]),
    host("get_actual_joint_positions", &[]),
    host("get_target_joint_positions", &[]),
    host("get_actual_joint_speeds", &[]),
    host("get_target_joint_speeds", &[]),
    host("get_actual_tcp_pose", &[]),
    host("get_actual_tcp_speed", &[]),
    host("is_steady", &[]),
    // Force. That no CB3 software can zero its estimate is unconfirmed.
    host("get_tcp_force", &[]),
    host("force", &[]),
    host_since(5, 0, "zero_ftsensor", &[]),
    // A sensor of the client's; the newer name came with 3.14.1 and 5.9.1, which the host knows to tell apart.
    host_since(3, 3, "enable_external_ft_sensor", EXTERNAL_SENSOR),
    host_since(3, 14, "ft_rtde_input_enable", EXTERNAL_SENSOR),
    // Inputs and outputs. The numbered forms of CB2 stayed, deprecated.
    host("set_digital_out", &[req("n"), req("b")]),
    host("get_digital_out", &[req("n")]),
    host("get_digital_in", &[req("n")]),
    host("set_analog_out", &[req("n"), req("f")]),
    host("get_analog_in", &[req("n")]),
    host("set_analog_outputdomain", &[req("port"), req("domain")]),
    host("set_analog_inputrange", &[req("port"), req("range")]),
    host("set_tool_voltage", &[req("voltage")]),
    host("set_flag", &[req("n"), req("b")]),
    host("get_flag", &[req("n")]),
    host_since(3, 0, "set_standard_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_configurable_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_tool_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_standard_analog_out", &[req("n"), req("f")]),
    host_since(3, 0, "get_standard_digital_in", &[req("n")]),
    host_since(3, 0, "get_configurable_digital_in", &[req("n")]),
    host_since(3, 0, "get_tool_digital_in", &[req("n")]),
    host_since(3, 0, "get_standard_digital_out", &[req("n")]),
    host_since(3, 0, "get_configurable_digital_out", &[req("n")]),
    host_since(3, 0, "get_tool_digital_out", &[req("n")]),
    host_since(3, 0, "get_standard_analog_in", &[req("n")]),
    // Registers, since RTDE exists (which of them are older is not known).
    host_since(3, 4, "read_input_boolean_register", &[req("address")]),
    host_since(3, 4, "read_input_integer_register", &[req("address")]),
    host_since(3, 4, "read_input_float_register", &[req("address")]),
    host_since(3, 4, "read_output_boolean_register", &[req("address")]),
    host_since(3, 4, "read_output_integer_register", &[req("address")]),
    host_since(3, 4, "read_output_float_register", &[req("address")]),
    host_since(3, 4, "write_output_boolean_register", &[req("address"), req("value")]),
    host_since(3, 4, "write_output_integer_register", &[req("address"), req("value")]),
    host_since(3, 4, "write_output_float_register", &[req("address"), req("value")]),
    host_since(
        3,
        4,
        "rtde_set_watchdog",
        &[req("variable_name"), req("min_frequency"), param("action", Default::Text("pause"))],
    ),
    // Set-up.
    host("set_payload", &[req("m"), opt("cog")]),
    host_since(3, 3, "set_payload_mass", &[req("m")]),
    host_since(3, 3, "set_payload_cog", &[req("cog")]),
    // After 5.10; earlier software takes the payload at once.
    host_since(5, 10, "set_target_payload", &[req("m"), req("cog"), opt("inertia"), float("transition_time", 0.0)]),
    host("set_gravity", &[req("d")]),
    host("set_tcp", &[req("pose")]),
    // Operator.
    host("textmsg", &[req("s1"), param("s2", Default::Text(""))]),
    host(
        "popup",
        &[
            req("s"),
            param("title", Default::Text("Popup")),
            boolean("warning", false),
            boolean("error", false),
            boolean("blocking", false),
        ],
    ),
    // Computed by the machine itself.
    here("norm", &[req("a")], pure::norm),
    here("floor", &[req("f")], pure::floor),
    here("ceil", &[req("f")], pure::ceil),
    here("sqrt", &[req("f")], pure::sqrt),
    here("pow", &[req("base"), req("exponent")], pure::pow),
    here("sin", &[req("f")], pure::sin),
    here("cos", &[req("f")], pure::cos),
    here("tan", &[req("f")], pure::tan),
    here("atan2", &[req("x"), req("y")], pure::atan2),
    here("d2r", &[req("d")], pure::d2r),
    here("r2d", &[req("r")], pure::r2d),
    here("get_list_length", &[req("v")], pure::list_length),
    here("length", &[req("v")], pure::length),
    here("str_cat", &[req("op1"), req("op2")], pure::str_cat),
    here("to_str", &[req("val")], pure::to_str),
    // Sockets. Since when reads have a time-out of their own is not known.
    host("socket_open", &[req("address"), req("port"), SOCKET]),
    host("socket_close", &[SOCKET]),
    host("socket_read_binary_integer", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_byte_list", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_ascii_float", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_line", &[SOCKET, float("timeout", 2.0)]),
    host(
        "socket_read_string",
        &[
            SOCKET,
            param("prefix", Default::Text("")),
            param("suffix", Default::Text("")),
            boolean("interpret_escape", false),
            float("timeout", 2.0),
        ],
    ),
    host("socket_send_byte", &[req("value"), SOCKET]),
    host("socket_send_int", &[req("value"), SOCKET]),
    host("socket_send_string", &[req("str"), SOCKET]),
    host("socket_send_line", &[req("str"), SOCKET]),
    host("socket_get_var", &[req("name"), SOCKET]),
    host("socket_set_var", &[req("name"), req("value"), SOCKET]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str, version: Version) -> Option<Vec<(&'static str, bool)>> {
        let signature = Builtins::of(version).find(name)?;
        Some(signature.params(version).map(|param| (param.name, param.required(version))).collect())
    }

    #[test]
    fn speedj_takes_a_time_everywhere_and_needs_it_before_3_1() {
        let with = |required| Some(vec![("qd", true), ("a", true), ("t", required)]);
        assert_eq!(names("speedj", Version::new(1, 8)), with(true));
        assert_eq!(names("speedj", Version::new(3, 0)), with(true));
        assert_eq!(names("speedj", Version::new(3, 1)), with(false));
        assert_eq!(names("speedj", Version::new(5, 0)), with(false));
    }

    #[test]
    fn functions_appear_with_their_version() {
        assert!(!Builtins::of(Version::new(1, 8)).contains("set_standard_digital_out"));
        assert!(Builtins::of(Version::new(3, 0)).contains("set_standard_digital_out"));
        assert!(Builtins::of(Version::new(5, 15)).contains("set_digital_out"), "deprecated, still there");
        assert_eq!(names("servoj", Version::new(3, 0)).unwrap().len(), 4);
        assert_eq!(names("servoj", Version::new(3, 1)).unwrap().len(), 6);
    }

    #[test]
    fn no_name_is_declared_twice() {
        assert_eq!(Builtins::of(Version::new(255, 255)).by_name.len(), ALL.len());
    }
}
