#![doc = include_str!("../README.md")]
//! # Rules that every format follows
//!
//! * **One table.** A fixed layout is written once: one line per field with offset, type, unit and meaning, as in the
//!   specification (`core/docs/protocol/ur-client-interfaces.md`). The line becomes a `zerocopy` field, a getter, a
//!   field of the `Repr` and a line of the [`fields`] visitor; its offset is checked at compile time.
//! * **Checked once.** `new_checked` validates all lengths; the getters of a view never fail.
//! * **By size.** Controllers append fields between releases. A field exists if its end is within the message; an
//!   absent one is `None`; bytes after the last known field are ignored.
//! * **Measurements are data.** NaN, infinities and unknown enumeration values pass through. The code that computes a
//!   command from them must reject them.
//! * **Emit is separate.** A `Repr` holds host-order values; `emit` writes every byte of what it claims to write and
//!   never reads the buffer.
//!
//! All values are big-endian (`fri`: little-endian) and unpadded; offsets count from the start of the message or
//! sub-package.
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

#[doc(hidden)]
pub mod buffer_compaction;
pub mod checksum;
#[doc(hidden)]
pub mod cobs;
mod cursor;
pub mod dashboard;
pub mod decimal;
mod error;
pub mod external_control;
pub mod fields;
pub mod frame;
pub mod fri;
pub mod interpreter;
mod layout;
pub mod math;
pub mod player_messages;
pub mod primary;
pub mod program_messages;
pub mod realtime;
pub mod robot;
pub mod robot_api;
pub mod rtde;
pub mod sensor;
pub mod time;
pub mod trajectory_messages;

pub(crate) use cursor::{Put, Take};
pub use error::{WireError, WireErrorKind};
