//! Conversations with one controller that need no engine: sans-IO, without sockets, clocks or tasks.
//!
//! | module | speaks with |
//! |---|---|
//! | [`rtde`] | Real-Time Data Exchange, port 30004 |
//! | [`dashboard`] | the dashboard server, port 29999 |
//! | [`script`] | the primary interface, port 30001: a program, and what becomes of it |

pub mod dashboard;
pub mod rtde;
pub mod script;
