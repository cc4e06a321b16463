//! The interface between a program and its host: the arm, its outputs and its clock.

use super::error::Position;
use super::value::{ThreadId, Value};

/// A call that a program makes of a function of the host.
#[derive(Debug)]
pub struct Call<'a> {
    /// The function's name. A method's name begins with a dot (`.write`), and its object is the first argument.
    pub name: &'static str,
    /// The arguments in declared order, as many as [`Builtins`](super::Builtins) declares for the function. Named
    /// arguments are in the places of their parameters; arguments that were not given have their default, or
    /// [`Value::None`].
    pub args: &'a [Value],
    /// The program's thread that makes the call.
    pub thread: ThreadId,
    /// The position of the call in the program's text.
    pub position: Position,
    /// The number of repetitions of this call: 0 the first time, then one more in every control cycle in which the
    /// call is repeated.
    pub repeat: u32,
    /// Memory of the host for this call: 0 the first time, preserved while the call is repeated. The host may store
    /// for instance the elapsed time, if the speed slider stretches it.
    pub scratch: &'a mut f64,
    /// The remaining part of the calling thread's control cycle, 1 at its beginning. A call that takes a part of a
    /// cycle subtracts it here and returns; if nothing remains, it returns [`CallResult::Again`].
    pub slice: &'a mut f64,
}

impl Call<'_> {
    /// Returns the call's argument `index`, from 0; [`Value::None`] if it does not exist.
    #[must_use]
    pub fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::None)
    }
}

/// The result of one call of a host's function.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// The call of the host's function has returned; the thread continues within the same control cycle.
    Value(Value),
    /// The call of the host's function takes time: the thread waits, and the call is repeated in the next control
    /// cycle.
    Again,
    /// The host does not have the called function, although it is declared.
    Unknown,
    /// A run-time error in the host's function, with which the program ends.
    Error(String),
}

/// The provider of the functions that a program can call: the arm, its outputs and its clock.
///
/// Functions that take time are called again in every control cycle until they return a value. An example is `sleep`:
///
/// ```
/// use outrigger_interpreter::{Builtins, Call, CallResult, Host, Machine, Program, Step, Value};
/// use outrigger_urscript::Version;
///
/// struct Sleeper;
///
/// impl Host for Sleeper {
///     fn call(&mut self, call: Call<'_>) -> CallResult {
///         match call.name {
///             "sleep" => {
///                 let Some(time) = call.arg(0).number() else { return CallResult::Error("type_error:sleep:".into()) };
///                 if call.repeat > 0 {
///                     *call.scratch += 0.008;
///                 }
///                 if *call.scratch < time { CallResult::Again } else { CallResult::Value(Value::None) }
///             }
///             _ => CallResult::Unknown,
///         }
///     }
/// }
///
/// let builtins = Builtins::of(Version::new(3, 15));
/// let program = Program::compile("def wait():\n sleep(0.016)\nend\n", &builtins).unwrap();
/// let mut machine = Machine::new(program);
/// assert_eq!(machine.step(&mut Sleeper, 1000), Step::Frame);
/// assert_eq!(machine.step(&mut Sleeper, 1000), Step::Frame);
/// assert_eq!(machine.step(&mut Sleeper, 1000), Step::Done);
/// ```
pub trait Host {
    /// Executes one call of a host's function, or one repetition of it, and returns its result.
    fn call(&mut self, call: Call<'_>) -> CallResult;
}
