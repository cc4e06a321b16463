#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
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

mod render;

pub use render::dialect::{Boundaries, Dialect, OutputNames, ServoJArguments, TimeArgument};
pub use render::error::{Argument, Range, RenderError};
pub use render::external_control::{ExternalControlProgram, ExternalControlValues, TorqueBounds};
pub use render::message::{MAX_TEXT, Popup, TextMsg};
pub use render::motion::{ServoJ, SpeedJ, SpeedJForm, StopJ};
pub use render::program::{ScriptError, ScriptText, ScriptValue};
pub use render::render_error_text::Decimal;
pub use render::secondary_program::{AnalogDomain, DigitalOutput, Output, Sec, ToolVoltage};
pub use render::service_line::{ServiceLine, SpeedSlider};
pub use render::target_payload::TargetPayload;
pub use render::templates as programs;
pub use render::tool_communication::{Parity, ToolCommunication};
pub use render::version::Version;
