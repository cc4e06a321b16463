#![doc = include_str!("../README.md")]
//!
//! [`testing`] starts a controller for a test of another program; the other modules are its parts.
//! [`Controller`](controller::Controller) simulates the controller of Universal Robots, [`krc`] the KRC of KUKA,
//! [`sensor`] a sensor of either. [`tcp`] and [`udp`] drive them with kernel sockets. [`fault`]s, [`net`]work
//! conditions and an operator's [`Action`](controller::Action)s come from options, from a script or from the caller.
//!
//! # What is assumed
//!
//! The following is not documented anywhere; each assumption is a constant or option at the place of its use:
//!
//! * how late in an e-Series cycle text still runs in the next one;
//! * decelerations of stops and of a program's end, and of `stopj` before 3.2;
//! * how long switching on and compiling take; what [`undocumented_delays`] chooses;
//! * read-only ports from 3.10, code 210 from 5.10;
//! * a paused program counts as running; single lines are not announced as programs;
//! * on 29999: what [`dashboard::DashboardOptions`] chooses, and how long operations take;
//! * on 30004: what [`rtde::RtdeOptions`] chooses; registers keep their values after their writer has disconnected;
//!   version 1 sends at the control rate;
//! * of programs: what the options [`dial::SocketOptions`] and [`controller::InterpreterOptions`] choose; a socket
//!   that is opened again is closed first; a popup that blocks pauses the whole program, and play closes it; an
//!   answer to External Control ends with the first cycle in which nothing arrived.
//!
//! # The checklist of a faithful controller (`core/docs/protocol/ur-client-interfaces.md 5.8`)
//!
//! | point | what | where | held by |
//! |---|---|---|---|
//! | 1 | a server per port, several clients, data at once | [`controller`] | `tests/publication.rs` |
//! | 2 | burst after connecting, first and periodic state | `publish::message`, `publish::state`, [`firmware`] | `tests/publication.rs` |
//! | 3 | orders, sizes, unknown types, recorded reserved bytes | [`firmware`], `publish::state` | `tests/publication.rs` |
//! | 4 | 30003 at 125 or 500 Hz with exact times | `publish::realtime` | `tests/publication.rs` |
//! | 5 | modes, clocks, pose and masks agree | [`robot`], [`arm`], [`kinematics`], [`io`] | `tests/publication.rs` |
//! | 6 | programs: assembling, replacing, latency, queue, messages | `program`, `controller::client_input` | `tests/programs.rs` |
//! | 7 | `speedj` by firmware, and what follows its time | [`arm`], `program::host`, [`firmware`] | `tests/programs.rs` |
//! | 8 | nothing without newline; a client that closes early | `controller::client_input`, [`controller`] | `tests/programs.rs` |
//! | `core/docs/protocol/ur-rtde.md 10` | 30004: conversation, recipes, owners, inputs, watchdogs | [`rtde`], `controller::exchange` | `tests/rtde.rs` |
//! | `core/docs/protocol/ur-dashboard.md 1–5` | requests, replies, operations that take time, states behind them | [`dashboard`], [`pendant`], [`robot`] | `tests/dashboard.rs` |
//! | `core/docs/protocol/ur-client-interfaces.md 5.5` | outputs, tool, payload and force, read back | [`io`], [`force`], `program::setting` | `tests/outputs.rs` |
//! | `core/docs/protocol/ur-external-control.md 1.6, 5.3` | moves along joints, lines and arcs; streams; kinematics; states | [`arm`], [`kinematics`], `program::moves`, `program::looking` | `tests/controllers/moves.rs`, `looking.rs`, `buffered.rs` |
//! | `core/docs/protocol/ur-external-control.md 1.7, 5.3` | force mode, hand guiding, contact, direct torque | [`arm`], [`surface`], `program::forces` | `tests/controllers/forces.rs`, `freedrive.rs`, `dynamics.rs`, `insertion.rs` |
//! | `core/docs/protocol/ur-dashboard.md 6` | the Robot API of PolyScope X over HTTP | [`robot_api`], `controller::http` | `tests/robot_api.rs` |
//! | `core/docs/protocol/ur-client-interfaces.md 5.6, 5.7` | services that are off, restarts, local control | [`service`], `controller::operation` | `tests/controllers/services.rs`, `tests/controllers/operator.rs` |
//! | `core/docs/protocol/ur-external-control.md 5.5` | set-up at the head of exported programs | [`io`], `program::installation` | `tests/controllers/installation.rs`, `exports.rs` |
//! | `core/docs/protocol/ur-external-control.md 5.1` | sockets of programs, to servers that the driver reaches | [`dial`], `program::sockets` | `tests/controllers/sockets.rs` |
//! | `core/docs/protocol/ros2-surface.md` 4.1 | PolyScope X scripts that use ROS 2 | [`ros`], `program::ros` | `tests/controllers/ros.rs` |
//! | `core/docs/protocol/ur-external-control.md 1.1` | the URCap that fetches a program when it is played | [`external_control`] | `tests/controllers/external_control.rs` |
//! | `core/docs/protocol/ur-external-control.md 3` | interpreter mode and 30020 | `program::interpreter`, `controller::interpreter` | `tests/controllers/interpreter.rs` |
//! | `core/docs/protocol/ur-external-control.md 5.1, 5.4` | threads that share a control cycle | `outrigger_interpreter::Machine` | `tests/controllers/scheduling.rs` |
//! | `core/docs/protocol/ur-client-interfaces.md 5.6` | every way in, as control gates it | `controller::client_input`, `dashboard` | `tests/controllers/ways_in.rs` |
//! | 9 | faults | [`fault`], [`net`], `controller::publication` | `tests/faults.rs`, `tests/operator.rs` |
#![forbid(unsafe_code)]
// These macros panic if the reader of the output has closed it, which would end a simulator.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arm;
pub mod controller;
pub mod dashboard;
pub mod dial;
pub mod dynamics;
pub mod external_control;
pub mod fault;
pub mod firmware;
pub mod force;
pub mod history;
pub mod io;
pub mod kinematics;
pub mod krc;
mod linear_solver;
pub mod model;
pub mod net;
mod os;
pub mod pendant;
pub mod port;
mod program;
mod program_text_bytes;
mod publish;
pub mod rng;
pub mod robot;
pub mod robot_api;
pub mod ros;
pub mod rtde;
pub mod sensor;
pub mod service;
pub mod simulated_workpiece;
pub mod stop_error_codes;
pub mod surface;
pub mod tcp;
pub mod testing;
pub mod time;
pub mod tool_line;
pub mod udp;
pub mod undocumented_delays;
