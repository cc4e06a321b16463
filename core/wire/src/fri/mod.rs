//! KUKA's Fast Research Interface 1.0 over UDP (`core/docs/protocol/kuka-fri.md A1–A8`): LWR 4 and 4+ on a KRC2 lr.
//!
//! One datagram is one message of a fixed size. The controller (KRC) sends a [`Measurement`] in each cycle, the remote
//! computer answers each with a [`Command`]. There is no checksum beyond UDP's, no token and no version but the
//! number that tells the two datagrams apart.
//!
//! | datagram | sent by | bytes | id | begins with |
//! |---|---|---|---|---|
//! | measurement | KRC | 916 | `0x2006` | header, KRL variables, then state, link figures, robot, 175 numbers |
//! | command | remote computer | 376 | `0x1005` | header, KRL variables, then flags and 57 numbers |
//!
//! Unlike everything of Universal Robots it is little-endian, with `f32` numbers and no padding.
//!
//! **Order of rotations.** The six numbers of a Cartesian vector are x, y, z, then rotation about **z, y, x**, and the
//! rows of the Jacobian likewise; a frame is the upper three rows of a homogeneous matrix, row by row. Nobody needs to
//! remember it: [`CartesianVector`], [`Jacobian`] and [`Frame`] have fields by axis, and only here is the order known.
//!
//! A measurement is data: NaN and unknown enumeration values pass through. A command with a number that is not finite
//! is not written.
//!
//! ```
//! use outrigger_wire::fri::{CommandFlags, CommandRepr, Measurement, MeasurementRepr};
//!
//! // What a KRC sends, and the answer: the setpoint, mirrored.
//! let mut sent = [0; 916];
//! MeasurementRepr { send_seq_count: 7, cmd_jnt_pos: [0.5; 7], ..MeasurementRepr::default() }.emit(&mut sent)?;
//! let measurement = Measurement::new_checked(&sent)?;
//! let answer = CommandRepr {
//!     refl_seq_count: measurement.send_seq_count(),
//!     cmd_flags: CommandFlags::JOINT_POSITION.bits(),
//!     jnt_pos: measurement.setpoint(),
//!     ..CommandRepr::default()
//! };
//! assert_eq!(answer.emit(&mut [0; 376])?, 376);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

mod command;
mod enums;
mod flags;
mod geometry;
mod header;
mod krl;
mod measurement;
#[cfg(test)]
mod tests;

pub use command::{Command, CommandRepr};
pub use enums::{ControlScheme, FriState, Quality};
pub use flags::CommandFlags;
pub use geometry::{CartesianVector, Frame, Jacobian, MassMatrix};
pub use header::{CommandEnvelope, Datagram, Envelope, MeasurementEnvelope};
pub use krl::{KrlIndex, KrlVariables};
pub use measurement::{Measurement, MeasurementRepr};

/// Joints of the arm.
pub const JOINTS: usize = 7;

/// The UDP port that a remote computer listens on where nothing else was agreed (`core/docs/protocol/kuka-fri.md A1`).
pub const DEFAULT_PORT: u16 = 49_938;

/// Size of a measurement \[B\].
pub const MEASUREMENT_LEN: usize = 916;

/// Size of a command \[B\].
pub const COMMAND_LEN: usize = 376;

/// What tells a measurement from other datagrams, and stands for the version of the protocol.
pub const MEASUREMENT_ID: u16 = 0x2006;

/// What tells a command from other datagrams, and stands for the version of the protocol.
pub const COMMAND_ID: u16 = 0x1005;
