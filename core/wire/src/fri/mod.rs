//! KUKA's Fast Research Interface 1.0 over UDP (`core/docs/protocol/kuka-fri.md A1–A8`): LWR 4 and 4+ on a KRC2 lr.
//!
//! Each datagram is one message of fixed size. The controller (KRC) sends a [`Measurement`] in each cycle, and the
//! remote computer answers each with a [`Command`]. There is no checksum beyond UDP's, no token, and no version except
//! the number that distinguishes the two datagrams.
//!
//! | datagram | sent by | bytes | id | begins with |
//! |---|---|---|---|---|
//! | measurement | KRC | 916 | `0x2006` | header, KRL variables, then state, link figures, robot, 175 numbers |
//! | command | remote computer | 376 | `0x1005` | header, KRL variables, then flags and 57 numbers |
//!
//! Unlike all interfaces of Universal Robots, it is little-endian, with `f32` numbers and no padding.
//!
//! **Order of rotations.** The six numbers of a Cartesian vector are x, y, z, then rotation about **z, y, x**, and the
//! rows of the Jacobian have the same order. A frame is the upper three rows of a homogeneous matrix, row by row. Users
//! of this module need not know the order: [`CartesianVector`], [`Jacobian`] and [`Frame`] have fields by axis, and
//! only this module converts.
//!
//! NaN and unknown enumeration values in a measurement pass through. A command that contains NaN or an infinite number
//! is rejected when it is written.
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

mod cartesian_values;
mod command;
mod enums;
mod flags;
mod header;
mod krl;
mod measurement;
#[cfg(test)]
mod tests;

pub use cartesian_values::{CartesianVector, Frame, Jacobian, MassMatrix};
pub use command::{Command, CommandRepr};
pub use enums::{ControlScheme, FriState, Quality};
pub use flags::CommandFlags;
pub use header::{CommandEnvelope, Datagram, Envelope, MeasurementEnvelope};
pub use krl::{KrlIndex, KrlVariables};
pub use measurement::{Measurement, MeasurementRepr};

/// The number of joints of an arm with FRI.
pub const JOINTS: usize = 7;

/// The default UDP port that a remote computer listens on (`core/docs/protocol/kuka-fri.md A1`).
pub const DEFAULT_PORT: u16 = 49_938;

/// The size of an FRI measurement \[B\].
pub const MEASUREMENT_LEN: usize = 916;

/// The size of an FRI command \[B\].
pub const COMMAND_LEN: usize = 376;

/// The number that identifies a measurement. It also represents the version of the protocol.
pub const MEASUREMENT_ID: u16 = 0x2006;

/// The number that identifies a command. It also represents the version of the protocol.
pub const COMMAND_ID: u16 = 0x1005;
