//! The interface to the operating system: clock, threads, signals, scheduling, and the single system call in which a
//! loop waits.

pub mod clock;
pub(crate) mod lock;
pub mod os;
pub mod process_scheduling;
pub mod rate_limit;
pub mod reactor;
pub mod runtime;
pub mod signals;
pub mod target;
pub mod worker;

pub use self::clock::Clock;
pub use self::os::set_fifo;
pub use self::process_scheduling::{InForce, apply, describe, in_force};
pub use self::reactor::{Datagrams, block_on, sleep_until};
pub use self::signals::{OnSignal, Signals};
pub use self::target::Target;
