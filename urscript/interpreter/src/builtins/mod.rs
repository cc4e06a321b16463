//! The functions a controller provides, by software version (client interfaces 5.5; external control 5.2 and 5.3).

mod methods;
mod named;
mod setup;
mod table;

use std::collections::HashMap;

use super::error::FaultKind;
use super::limits::Limits;
use super::value::Value;
use methods::METHODS;
use named::NAMED;
use outrigger_urscript::Version;
use setup::SETUP;
use table::ALL;

/// The first software with `struct`, assumed.
const STRUCTS: Version = Version::new(5, 11);

/// Returns every function of any software.
fn all() -> impl Iterator<Item = &'static Signature> {
    ALL.iter().chain(SETUP).chain(NAMED.iter())
}

/// Which functions a controller's software has. Made once per controller.
#[derive(Clone, Debug)]
pub struct Builtins {
    version: Version,
    by_name: HashMap<&'static str, &'static Signature>,
    assignable: bool,
    arrays: bool,
    structs: bool,
    joins_texts: bool,
}

impl Builtins {
    /// The functions of this version.
    #[must_use]
    pub fn of(version: Version) -> Self {
        let mut by_name = HashMap::new();
        for signature in all().filter(|signature| signature.is_in(version)) {
            by_name.insert(signature.name, signature);
        }
        let e_series = Version::new(5, 0);
        // With 3.14.3 and 5.9.4; versions have no third number here.
        let arrays = version >= Version::new(5, 9) || (version >= Version::new(3, 14) && version < e_series);
        Self {
            version,
            by_name,
            assignable: version < e_series,
            arrays,
            structs: version >= STRUCTS,
            joins_texts: version >= e_series,
        }
    }

    /// The same, where `digital_out[n] = x` is or is not `set_digital_out(n, x)`. Clients for CB2 and CB3 send it; until
    /// when software took it is not known, and what is assumed is: all of the CB series, and nothing later.
    #[must_use]
    pub fn with_assignable_outputs(self, assignable: bool) -> Self {
        Self { assignable, ..self }
    }

    /// The same, where `+ - * / %` do or do not take lists and matrices. From the versions that clients name: 3.14 and
    /// 5.9.
    #[must_use]
    pub fn with_arrays(self, arrays: bool) -> Self {
        Self { arrays, ..self }
    }

    /// The same with or without the functions of interpreter mode.
    #[must_use]
    pub fn with_interpreter_mode(mut self, available: bool) -> Self {
        for signature in all().filter(|signature| matches!(signature.run, Run::Interpreter(_))) {
            if available {
                self.by_name.insert(signature.name, signature);
            } else {
                self.by_name.remove(signature.name);
            }
        }
        self
    }

    /// The same, where `struct(…)` does or does not make a struct. The manual of 5.19 has it; that it came with 5.11, as
    /// `time` did, which returns one, is assumed.
    #[must_use]
    pub fn with_structs(self, structs: bool) -> Self {
        Self { structs, ..self }
    }

    /// Sets whether `+` joins a text with whatever is on its other side. It does from 5.0 on: one program for an e-Series arm
    /// uses it, and since which software controllers accept it is UNCONFIRMED.
    #[must_use]
    pub fn with_joined_texts(self, joins: bool) -> Self {
        Self { joins_texts: joins, ..self }
    }

    pub(super) fn joins_texts(&self) -> bool {
        self.joins_texts
    }

    pub(super) fn has_structs(&self) -> bool {
        self.structs
    }

    /// Whether operators take lists and matrices.
    pub(super) fn arrays(&self) -> bool {
        self.arrays
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

    /// Names of all functions, in no order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.by_name.keys().copied()
    }

    /// Whether a program may call it: functions that are known and not simulated compile, and end the program that calls
    /// one with an error that names it.
    #[must_use]
    pub fn is_simulated(&self, name: &str) -> bool {
        self.find(name).is_some_and(|signature| !matches!(signature.run, Run::NotSimulated))
    }

    /// Names of the functions a [`Host`](super::Host) is asked for.
    pub fn host_functions(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.by_name.values().filter(|signature| matches!(signature.run, Run::Host)).map(|signature| signature.name)
    }

    pub(super) fn find(&self, name: &str) -> Option<&'static Signature> {
        self.by_name.get(name).copied()
    }

    /// The method of this name, without its dot.
    pub(super) fn method(&self, name: &str) -> Option<&'static Signature> {
        let of_name = METHODS.iter().find(|signature| signature.name.strip_prefix('.') == Some(name));
        of_name.filter(|signature| signature.is_in(self.version))
    }

    /// Returns whether objects have methods in this version at all. Those of [`METHODS`] are the newer ones; what
    /// `rpc_factory` returns has whichever methods its server offers.
    pub(super) fn has_methods(&self) -> bool {
        self.contains("rpc_factory")
    }
}

/// A function with its parameters.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    since: Version,
    /// Since when e-Series software has it, where that is not just all of it.
    e_series_since: Option<Version>,
    /// Likewise PolyScope X.
    polyscope_x_since: Option<Version>,
    params: &'static [Param],
    /// Arguments of any number and name: its parameters are not known.
    takes_any: bool,
    pub(super) run: Run,
}

impl Signature {
    const fn new(name: &'static str, params: &'static [Param], run: Run) -> Self {
        Self { name, since: FIRST, e_series_since: None, polyscope_x_since: None, params, takes_any: false, run }
    }

    const fn since(self, major: u8, minor: u8) -> Self {
        Self { since: Version::new(major, minor), ..self }
    }

    const fn e_series_since(self, minor: u8) -> Self {
        Self { e_series_since: Some(Version::new(5, minor)), ..self }
    }

    const fn polyscope_x_since(self, minor: u8) -> Self {
        Self { polyscope_x_since: Some(Version::new(10, minor)), ..self }
    }

    fn is_in(&self, version: Version) -> bool {
        let since = match version.major {
            0..5 => self.since,
            5..10 => self.e_series_since.unwrap_or(self.since),
            _ => self.polyscope_x_since.or(self.e_series_since).unwrap_or(self.since),
        };
        since <= version
    }

    const fn taking_any(self) -> Self {
        Self { takes_any: true, ..self }
    }

    pub(super) fn takes_any(&self) -> bool {
        self.takes_any
    }

    /// The parameters in this version: later ones come after the older.
    pub(super) fn params(&self, version: Version) -> impl Iterator<Item = &'static Param> {
        self.params.iter().filter(move |param| param.since <= version)
    }

    /// One value per parameter of any version, as a call without arguments would have them.
    pub(super) fn defaults(&self) -> Vec<Value> {
        self.params.iter().map(|param| param.default.value()).collect()
    }
}

/// What the functions of interpreter mode do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Enter,
    End,
    Clear,
}

/// Who computes it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    Host,
    Here(fn(&[Value], &Limits) -> Result<Value, FaultKind>),
    /// The machine, in interpreter mode.
    Interpreter(Order),
    /// Nobody: the program ends.
    NotSimulated,
}

/// The first software there is.
const FIRST: Version = Version::new(1, 0);

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: &'static str,
    default: Default,
    since: Version,
    /// Before this version it must be given, default or not.
    optional_since: Version,
    /// Another name of it; empty where it has none.
    pub(super) alias: &'static str,
}

impl Param {
    pub(super) fn required(&self, version: Version) -> bool {
        matches!(self.default, Default::Required) || version < self.optional_since
    }

    const fn since(self, major: u8, minor: u8) -> Self {
        Self { since: Version::new(major, minor), ..self }
    }

    const fn alias(self, alias: &'static str) -> Self {
        Self { alias, ..self }
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
    Int(i32),
    Float(f64),
    Text(&'static str),
}

impl Default {
    fn value(self) -> Value {
        match self {
            Self::Required | Self::None => Value::None,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(value) => Value::String(value.into()),
        }
    }
}

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
    fn a_generation_may_have_a_function_later_than_the_one_before() {
        let has = |major, minor| Builtins::of(Version::new(major, minor)).contains("get_inverse_kin_has_solution");
        assert_eq!([has(3, 14), has(3, 15), has(5, 9), has(5, 10), has(10, 0)], [false, true, false, true, true]);
        let has = |major, minor| Builtins::of(Version::new(major, minor)).contains("direct_torque");
        assert_eq!([has(3, 15), has(5, 22), has(5, 23), has(10, 10), has(10, 11)], [false, false, true, false, true]);
    }

    #[test]
    fn what_is_not_simulated_is_known() {
        let builtins = Builtins::of(Version::new(5, 15));
        assert!(builtins.contains("rpc_factory") && !builtins.is_simulated("rpc_factory"));
        assert!(builtins.is_simulated("movej") && !builtins.is_simulated("no_such_function"));
    }

    #[test]
    fn no_name_is_declared_twice() {
        assert_eq!(Builtins::of(Version::new(255, 255)).by_name.len(), all().count());
    }
}
