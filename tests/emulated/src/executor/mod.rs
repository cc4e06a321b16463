//! The executor of a board, and its clock behind `embassy-time`: virtual time, separate for each test thread.

pub mod clock;
mod task;

pub use task::{BUSY, Task, leak, run_all};
