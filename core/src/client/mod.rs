//! Clients for the services of a controller that need no engine; they use no sockets, clocks or tasks.
//!
//! | module | service | transport |
//! |---|---|---|
//! | [`dashboard`] | the dashboard server | TCP port 29999 |
//! | [`robot_api`] | the Robot API of PolyScope X, in place of the dashboard server | HTTP, TCP port 80 |
//! | [`interpreter`] | a program in interpreter mode: statements, and their outcomes | TCP port 30020 |
//! | [`rtde`] | Real-Time Data Exchange | TCP port 30004 |
//! | [`script`] | the primary interface: upload of a program, and its outcome | TCP port 30001 |
//!
//! Every client has the same methods as an engine. **Pass one input, then drain `poll_output` and `poll_event` until
//! both are `None`, then sleep until `poll_timeout`.**
//!
//! | method | meaning |
//! |---|---|
//! | `handle(now, input)` | processes one input at `now`, which must never decrease |
//! | `receive_window()`, `commit(count, …)` | the buffer for received bytes, and how many were received: an input |
//! | `poll_output()` | returns the next action for the port; `None` if there is none |
//! | `poll_event()` | returns the next event; `None` if there is none |
//! | `poll_timeout()` | returns the latest time of the next `Tick`; `None` while no deadline runs |
//!
//! An output or an event may borrow memory of the client: it is valid until the next call.
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

/// An action on the one connection of a client, such as that of the dashboard server, that the client requests from its
/// caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// The order to connect to the controller's `port`, and to report `Opened` or `Refused`. The client observes the
    /// deadline itself.
    Open {
        /// The TCP port on a real controller; the ports of a simulated one may be offset, which the caller takes into
        /// account.
        port: u16,
    },
    /// The order to write all of these bytes to the client's connection.
    Transmit(&'a [u8]),
    /// The order to close the client's connection, or to give up opening it. No event of it is to be reported
    /// afterwards.
    Close,
}
