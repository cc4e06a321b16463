//! URScript, the language of Universal Robots controllers, in two halves.
//!
//! * The **render half** (always there; `no_std`, no dependency, no heap, no reachable panic in release): typed
//!   statements that become program text in the caller's memory. See [`SpeedJ`], [`Sec`], [`ServiceLine`].
//! * The **interpreter half** (feature `std`): runs such text for simulated controllers, as far as
//!   `tests/sim/docs/fidelity.md` says. A simulator feeds received bytes to a line assembler, compiles each program and
//!   steps it one control cycle at a time.
//!
//! Nothing here opens a socket, reads a clock or decides whether an arm may move.
//!
//! ```
//! use outrigger_urscript::{SpeedJ, SpeedJForm, Version};
//!
//! let command = SpeedJ { velocities: [0.1, 0.0, 0.0, 0.0, 0.0, -0.25], acceleration: 1.4, time: Some(0.02) };
//! let mut text = [0; SpeedJ::MAX_LEN];
//! let len = command.render(SpeedJForm::Bare, Version::new(5, 15), &mut text).unwrap();
//! assert_eq!(
//!     &text[..len],
//!     b"speedj([0.100000,0.000000,0.000000,0.000000,0.000000,-0.250000],1.400000,0.020000)\n"
//! );
//! ```
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::std_instead_of_core,
        clippy::alloc_instead_of_core,
        clippy::float_cmp
    )
)]

#[cfg(feature = "std")]
mod interpreter;
mod render;

pub use render::dialect::{Boundaries, Dialect, OutputNames, ServoJArguments, TimeArgument};
pub use render::error::{Argument, Range, RenderError};
pub use render::external_control::{ExternalControlProgram, ExternalControlValues};
pub use render::message::{MAX_TEXT, Popup, TextMsg};
pub use render::motion::{ServoJ, SpeedJ, SpeedJForm, StopJ};
pub use render::output::{AnalogDomain, DigitalOutput, Output, Sec, ToolVoltage};
pub use render::program::{ScriptError, ScriptText, ScriptValue};
pub use render::refusal::Decimal;
pub use render::service::{ServiceLine, SpeedSlider};
pub use render::templates as programs;
pub use render::version::Version;

#[cfg(feature = "std")]
pub use interpreter::{
    ArgumentsError, Assembled, Builtins, Call, CallResult, CompileError, CompileErrorKind, Discard, Fault, FaultKind,
    Host, Limits, LineAssembler, Machine, Position, Program, ProgramKind, Service, Statements, Step, ThreadId, Value,
};
