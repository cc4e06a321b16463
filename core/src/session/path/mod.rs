//! Command paths: how a decision of the mode machine becomes bytes.

mod takeover;
mod text;

pub(super) use takeover::{Opening, TakeOver};
pub use text::{FormChoice, TextConfig, TextPath};
