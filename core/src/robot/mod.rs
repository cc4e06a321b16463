//! The reasons for not moving an arm, the permission to move it, and settings.
//!
//! ```
//! use outrigger_core::robot::Reason;
//!
//! println!("{}: {}", Reason::NotRemote.text(), Reason::NotRemote.advice());
//! ```

mod authority;
mod bad_value;
mod feature_gated_types;
mod range;
mod reason;
mod settings;

pub use authority::Authority;
pub(crate) use bad_value::wording;
pub use bad_value::{BadValue, NoText, Wording};
pub use feature_gated_types::{OfMotions, Unused};
pub use range::Range;
#[doc(hidden)]
pub use range::time;
pub use reason::{Reason, ReasonSet};
pub use settings::{Key, Outside, Setting, Table, Tuning};
pub(crate) use settings::{range_of, settings, words};
