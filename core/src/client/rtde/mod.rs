//! A client of Real-Time Data Exchange, port 30004 (`core/docs/protocol/ur-rtde.md`), which needs no engine: for
//! recorders, tools and other sessions.
//!
//! | step | requests | continues if | otherwise |
//! |---|---|---|---|
//! | protocol | version 2 | accepted | refused: continues with version 1 |
//! | controller | its software version | replied; its rate follows | |
//! | outputs | by name, with a frequency | each has a type | requested again without optional ones; [`Failure::Outputs`] |
//! | inputs, recipe by recipe | by name | each has a type | in use: requested again later; this recipe is refused |
//! | start | | data flows | refused: [`Failure::NotStarted`] |
//!
//! Each request has a timeout and, except for set-ups, is repeated. Texts and data that arrive before a reply are
//! permitted. A connection begins with [`Input::Opened`], and everything is negotiated anew then. After a [`Failure`]
//! the client ignores the connection and requests to close it; the caller may open another one.
//!
//! Inputs can carry commands, too: [`RegisterCommands`] numbers them, and measures when a program on the controller
//! mirrors the number.
//!
//! **Pass one input, then drain [`Client::poll_output`] and [`Client::poll_event`] until both are `None`, then sleep
//! until [`Client::poll_timeout`].**
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::rtde::{Client, ClientConfig, ClientMemory, Event, Input};
//! use outrigger_wire::time::Instant;
//! use outrigger_wire::rtde::registry::Direction;
//! use outrigger_wire::rtde::{DynamicRecipe, Field};
//!
//! let mut fields = [Field::EMPTY; 3];
//! let outputs =
//!     DynamicRecipe::with_optional("timestamp,actual_q", "payload", Direction::Output, &mut fields)?;
//! let memory = ClientMemory { receive: &mut [0; 4096], transmit: &mut [0; 512] };
//! let mut client = Client::new(ClientConfig::default(), outputs, &mut [], memory)?;
//!
//! // The port has connected. What is to be written now is the first question.
//! let now = Instant::ZERO;
//! client.handle(now, Input::Opened);
//! assert_eq!(client.poll_output(), Some(Output::Transmit(b"\0\x05V\0\x02")));
//! // Bytes have come.
//! client.receive_window()[..4].copy_from_slice(b"\0\x04V\x01");
//! client.commit(4, now, now);
//! while let Some(event) = client.poll_event() {
//!     match event {
//!         Event::Data(data) => println!("{:?}", data.values.get("actual_q")),
//!         other => println!("{other:?}"),
//!     }
//! }
//! assert_eq!(client.poll_output(), Some(Output::Transmit(b"\0\x03v")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod config;
mod conversation;
mod event;
mod inputs;
mod memory;
mod outbox;
mod output_claims;
mod package_monitor;
mod packages;
mod register_commands;
mod registers;
#[cfg(test)]
mod tests;

pub use client::{Client, Input};
pub use config::ClientConfig;
pub use conversation::RtdeCounts;
pub use event::{Data, Event, Failure, SetupStep};
pub use inputs::{Inputs, WriteError};
pub use memory::{ClientError, ClientMemory};
pub use output_claims::{Claim, Claims, RegisterConflict, UnownedInput};
pub use package_monitor::Cadence;
pub use register_commands::{Echo, RegisterCommands, SendError};
pub use registers::{CommandNumber, RegisterCommand, RegisterNames, Registers};
