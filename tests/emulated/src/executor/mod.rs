//! A board's executor, and its clock behind `embassy-time`: virtual, and each test thread's own.

pub mod clock;
mod task;

pub use task::{BUSY, Task, leak, run_all};
