//! The functions that a controller provides, by software version (client interfaces 5.5; external control 5.2 and 5.3).

mod methods;
mod setup;
mod table;
mod unsimulated_functions;

use std::collections::HashMap;

use super::error::FaultKind;
use super::limits::Limits;
use super::value::Value;
use methods::METHODS;
use outrigger_urscript::Version;
use setup::SETUP;
use table::ALL;
use unsimulated_functions::NAMED;

/// The first controller software with the function `struct` (assumed).
const STRUCTS: Version = Version::new(5, 11);

/// Returns all built-in functions of any controller software.
fn all() -> impl Iterator<Item = &'static Signature> {
    ALL.iter().chain(SETUP).chain(NAMED.iter())
}

/// The built-in URScript functions and language features of one controller software version, for compiling programs.
/// Create it once per simulated controller.
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
    /// Returns the built-in functions of this version of the controller's software.
    #[must_use]
    pub fn of(version: Version) -> Self {
        let mut by_name = HashMap::new();
        for signature in all().filter(|signature| signature.is_in(version)) {
            by_name.insert(signature.name, signature);
        }
        let e_series = Version::new(5, 0);
        // From 3.14.3 and 5.9.4 on; versions have no third number here.
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

    /// Sets whether `digital_out[n] = x` is accepted and means `set_digital_out(n, x)`. Clients for CB2 and CB3 send
    /// it. The last software that accepts it is unknown; the default assumes all of the CB series and no later
    /// software.
    #[must_use]
    pub fn with_assignable_outputs(self, assignable: bool) -> Self {
        Self { assignable, ..self }
    }

    /// Sets whether `+ - * / %` accept lists and matrices. By default they do in the versions that clients state: from
    /// 3.14 and 5.9 on.
    #[must_use]
    pub fn with_arrays(self, arrays: bool) -> Self {
        Self { arrays, ..self }
    }

    /// Adds or removes the functions of interpreter mode.
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

    /// Sets whether `struct(…)` creates a struct. The manual of 5.19 has it. The default assumes 5.11, which added
    /// `time`, a function that returns a struct.
    #[must_use]
    pub fn with_structs(self, structs: bool) -> Self {
        Self { structs, ..self }
    }

    /// Sets whether `+` joins a text with a value of any kind. By default it does from 5.0 on: one program for an
    /// e-Series arm uses it, and the first software that accepts it is UNCONFIRMED.
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

    /// Returns whether operators accept lists and matrices in this software.
    pub(super) fn arrays(&self) -> bool {
        self.arrays
    }

    /// Returns the function that an assignment to an element of `name` calls, if `name` is no variable of the program;
    /// `None` if there is no such function.
    pub(super) fn assigned(&self, name: &str) -> Option<&'static Signature> {
        let known = self.assignable && name == "digital_out";
        known.then(|| self.find("set_digital_out")).flatten()
    }

    /// Returns the version of the controller's software.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns whether the software has a built-in function of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Iterates over the names of all built-in URScript functions of this version of the controller's software, in no
    /// particular order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.by_name.keys().copied()
    }

    /// Returns whether a program can execute the function. A function that is known but not simulated compiles, and
    /// ends the program that calls it with an error that contains its name.
    #[must_use]
    pub fn is_simulated(&self, name: &str) -> bool {
        self.find(name).is_some_and(|signature| !matches!(signature.run, Run::NotSimulated))
    }

    /// Iterates over the names of the functions that a [`Host`](super::Host) must provide.
    pub fn host_functions(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.by_name.values().filter(|signature| matches!(signature.run, Run::Host)).map(|signature| signature.name)
    }

    pub(super) fn find(&self, name: &str) -> Option<&'static Signature> {
        self.by_name.get(name).copied()
    }

    /// Returns the built-in method of this name, which is given without its dot; `None` if there is none.
    pub(super) fn method(&self, name: &str) -> Option<&'static Signature> {
        let of_name = METHODS.iter().find(|signature| signature.name.strip_prefix('.') == Some(name));
        of_name.filter(|signature| signature.is_in(self.version))
    }

    /// Returns whether objects have methods in this version. The methods in [`METHODS`] are from later versions; an
    /// object that `rpc_factory` returns has the methods of its server.
    pub(super) fn has_methods(&self) -> bool {
        self.contains("rpc_factory")
    }
}

/// A built-in function with its parameters.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    since: Version,
    /// The first e-Series software that has the function; `None` if `since` applies to it, too.
    e_series_since: Option<Version>,
    /// The first PolyScope X software that has the function; `None` if the version for the e-Series applies to it, too.
    polyscope_x_since: Option<Version>,
    params: &'static [Param],
    /// `true` if the function accepts any number of arguments with any names, because its parameters are not known.
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

    /// Iterates over the function's parameters in this software version. Parameters that were added later follow the
    /// older ones.
    pub(super) fn params(&self, version: Version) -> impl Iterator<Item = &'static Param> {
        self.params.iter().filter(move |param| param.since <= version)
    }

    /// Returns the default value of each parameter that the function has in any version.
    pub(super) fn defaults(&self) -> Vec<Value> {
        self.params.iter().map(|param| param.default.value()).collect()
    }
}

/// The built-in functions of URScript's interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Enter,
    End,
    Clear,
}

/// The component that executes a built-in function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    Host,
    Here(fn(&[Value], &Limits) -> Result<Value, FaultKind>),
    /// The [`Machine`](super::Machine) executes the function, which belongs to URScript's interpreter mode.
    Interpreter(Order),
    /// No component executes the function: a call ends the program.
    NotSimulated,
}

/// The version number that precedes all controller software.
const FIRST: Version = Version::new(1, 0);

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: &'static str,
    default: Default,
    since: Version,
    /// The first software version in which the argument may be left out; in earlier versions it must be given even if
    /// it has a default.
    optional_since: Version,
    /// An alternative name of the function's parameter; empty if there is none.
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
    /// No default of the parameter in the table: the host chooses the value.
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
