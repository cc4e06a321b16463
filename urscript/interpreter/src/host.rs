//! What a program runs on: the arm, its outputs, its clock.

use super::error::Position;
use super::value::{ThreadId, Value};

/// One call of a function the host provides.
#[derive(Debug)]
pub struct Call<'a> {
    /// The function's name; that of a method with a dot before it, and the handle is its first argument: `.write`.
    pub name: &'static str,
    /// Its arguments in declared order, as many as [`Builtins`](super::Builtins) declares for it: named ones are in
    /// their place, those not given have their default, or [`Value::None`].
    pub args: &'a [Value],
    /// The thread that calls.
    pub thread: ThreadId,
    /// Where the call stands in the text.
    pub position: Position,
    /// 0 the first time, then one more in every control cycle the call is made again.
    pub repeat: u32,
    /// The host's own: 0 the first time, kept while the call is made again. Time that has passed, for instance, where
    /// that is stretched by the speed slider.
    pub scratch: &'a mut f64,
    /// What is left of the calling thread's control cycle, 1 at its beginning. A call that takes a part of a cycle takes it
    /// from here and returns; where nothing is left, it returns [`CallResult::Again`].
    pub slice: &'a mut f64,
}

impl Call<'_> {
    /// Argument `index`; [`Value::None`] where there is none.
    #[must_use]
    pub fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::None)
    }
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// It returned; the thread goes on within the same control cycle.
    Value(Value),
    /// It takes time: the thread waits and the same call is made again in the next control cycle.
    Again,
    /// The host has no such function, although it is declared.
    Unknown,
    /// A run-time error: the program ends with this text.
    Error(String),
}

/// A host of programs.
///
/// Functions that take time are called again in every control cycle until they return a value. A `sleep`, for example:
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
    /// Makes one call.
    fn call(&mut self, call: Call<'_>) -> CallResult;
}
