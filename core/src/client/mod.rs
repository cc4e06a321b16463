//! Conversations with one controller that need no engine, without sockets, clocks or tasks.
//!
//! | module | speaks with | over |
//! |---|---|---|
//! | [`dashboard`] | the dashboard server | TCP port 29999 |
//! | [`robot_api`] | the Robot API of PolyScope X, in place of the dashboard server | HTTP, TCP port 80 |
//! | [`interpreter`] | a program in interpreter mode: statements, and what becomes of them | TCP port 30020 |
//! | [`rtde`] | Real-Time Data Exchange | TCP port 30004 |
//! | [`script`] | the primary interface: a program, and what becomes of it | TCP port 30001 |
//! | [`tool_line`] | the primary interface: the set-up of the tool's serial line, read back | TCP port 30001 |
//!
//! Every machine here has the same verbs as an engine. **One input, then drain `poll_output` and `poll_event` until both
//! are `None`, then sleep until `poll_timeout`.**
//!
//! | verb | meaning |
//! |---|---|
//! | `handle(now, input)` | takes one input at `now`, which never goes back |
//! | `receive_window()`, `commit(count, …)` | where the next bytes received go, and how many were received; also an input |
//! | `poll_output()` | the next thing that the port must do; `None` once all is done |
//! | `poll_event()` | the next event; `None` once all are taken |
//! | `poll_timeout()` | when `Tick` is due at the latest; `None` while nothing is waited for |
//!
//! An output or an event may borrow memory of the machine: it is valid until the next call.
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::dashboard::{Client, Input, Service, Timeouts};
//! use outrigger_wire::time::Instant;
//!
//! let mut memory = [0; 512];
//! let mut client = Client::new(&mut memory, Timeouts::default());
//! client.handle(Instant::ZERO, Input::Start);
//! assert_eq!(client.poll_output(), Some(Output::Open { port: 29_999 }));
//! assert!(client.poll_timeout().is_some(), "connecting has a deadline");
//! ```

pub mod dashboard;
pub mod interpreter;
pub mod robot_api;
pub mod rtde;
pub mod script;
pub mod tool_line;

/// What a machine with one connection asks its port to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// Connect, and report `Opened` or `Refused`. The machine keeps its own deadline.
    Open {
        /// TCP port as the controller numbers it; a port base is applied by the port.
        port: u16,
    },
    /// Write these bytes to the connection, all of them.
    Transmit(&'a [u8]),
    /// Close the connection, or give up opening it: nothing more is reported of it.
    Close,
}
