//! Renders typed statements to program text.
//!
//! Contract of every `render`: either `Ok(n)` and `out[..n]` is one complete text that ends with a newline, or an error
//! and nothing in `out` may be sent. Only finite numbers within a stated range are written, as fixed-point decimals.

pub(crate) mod dialect;
pub(crate) mod error;
pub(crate) mod external_control;
pub(crate) mod message;
pub(crate) mod motion;
pub(crate) mod program;
pub(crate) mod render_error_text;
pub(crate) mod secondary_program;
pub(crate) mod service_line;
pub(crate) mod target_payload;
pub mod templates;
mod text_cursor;
pub(crate) mod tool_communication;
pub(crate) mod version;
