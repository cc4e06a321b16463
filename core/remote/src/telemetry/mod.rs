//! Datagrams with state, events, histograms and recordings of a device, for a listener on the network (feature `record`).
//!
//! The wire format is described in `core/remote/docs/telemetry.md`, for any language. Nothing is ever read from the
//! network: a device behaves the same whether or not anybody listens.
//!
//! A [`Sampler`] is passed every event, and the engine after each input. It copies the data that is due, and encodes it
//! in a datagram when its port asks for one: the control path costs only an occasional copy.
//!
//! ```
//! use outrigger_core::engine::krc::Krc;
//! use outrigger_remote::telemetry::{DATAGRAM_MAX, Device, Pace, PeerDatagram, Sampler};
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let device = Device { boot: 300, board: "b", build: "1", settings: &[] };
//! let mut sampler = Sampler::<7, Krc>::new(device, Pace::every(Duration::from_millis(100)));
//! let mut out = [0; DATAGRAM_MAX];
//! let size = sampler.poll(Instant::from_micros(1_500_000), &mut out).expect("a greeting is due");
//! let datagram = PeerDatagram::<7, Krc>::decode(&out[..size]).expect("what was encoded");
//! assert_eq!(datagram.boot, 300);
//! ```

mod message;
mod sampler;
#[cfg(test)]
mod tests;

pub use message::{
    Boot, CHUNK_MAX, Chunk, CodeAddress, CrashReport, Hello, HistogramKind, HistogramReport, LinkActivity, Message,
    Motion, NetworkCounts, PortReport, Recording, ResetCause, StartStage, Status,
};
pub use sampler::{Device, Pace, Sampler};

use outrigger_core::engine::{ControllerKind, ControllerStatus, Data};
use outrigger_core::postcard;
use outrigger_wire::time::Instant;

/// The length of the longest telemetry datagram \[B\]: not fragmented on any Ethernet, with a reserve for tunnels.
pub const DATAGRAM_MAX: usize = 1200;

/// The first bytes of every telemetry datagram; the last byte is the version of the format. A letter for the kind of
/// controller follows.
pub const MAGIC: &[u8; 5] = b"ORTM\x0c";

/// A telemetry datagram of a device whose engine is for an arm with `N` joints and the kind of controller `P`.
pub type PeerDatagram<'a, const N: usize, P> =
    Datagram<'a, N, <P as ControllerKind>::Status, <P as ControllerKind>::Event>;

/// A datagram of a device's telemetry.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Datagram<'a, const N: usize, S, E> {
    /// A number that differs after each start of the device.
    pub boot: u32,
    /// The number of telemetry datagrams sent before this one since the start: gaps show lost datagrams.
    pub sequence: u32,
    /// The time of the message's content, since the start of the device's clock.
    pub at: Instant,
    /// The message that the telemetry datagram carries.
    #[serde(borrow)]
    pub message: Message<'a, N, S, E>,
}

/// The error for bytes that are not a datagram of the expected telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TelemetryError {
    /// The bytes are not a telemetry datagram.
    NotTelemetry,
    /// The datagram is telemetry in another format, with this version.
    OtherFormat(u8),
    /// The datagram is telemetry of a device with another kind of controller.
    OtherKind,
    /// The bytes end too early, continue after the message, or have unknown values.
    Malformed,
}

impl core::fmt::Display for TelemetryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotTelemetry => f.write_str("not telemetry"),
            Self::OtherFormat(found) => {
                let [.., expected] = MAGIC;
                write!(f, "telemetry of format {found}, expected {expected}: device and listener differ in version")
            }
            Self::OtherKind => f.write_str("telemetry of a device for another kind of controller"),
            Self::Malformed => f.write_str("malformed telemetry"),
        }
    }
}

impl core::error::Error for TelemetryError {}

impl<'a, const N: usize, S: ControllerStatus, E: Data> Datagram<'a, N, S, E> {
    /// Writes the telemetry datagram to `out` and returns its length \[B\]; `None` if `out` is too small
    /// ([`DATAGRAM_MAX`] is enough).
    #[must_use]
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let (magic, room) = out.split_first_chunk_mut()?;
        *magic = *MAGIC;
        let (kind, room) = room.split_first_mut()?;
        *kind = S::KIND;
        let content = postcard::to_slice(self, room)?;
        content.len().checked_add(MAGIC.len())?.checked_add(1)
    }

    /// Reads a telemetry datagram that occupies all of `bytes`.
    ///
    /// # Errors
    /// [`TelemetryError`] if it is not valid.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, TelemetryError> {
        let (magic, rest) = bytes.split_first_chunk().ok_or(TelemetryError::NotTelemetry)?;
        if magic != MAGIC {
            let [same @ .., format] = magic;
            let [expected @ .., _] = MAGIC;
            return Err(if same == expected {
                TelemetryError::OtherFormat(*format)
            } else {
                TelemetryError::NotTelemetry
            });
        }
        let (kind, content) = rest.split_first().ok_or(TelemetryError::Malformed)?;
        if *kind != S::KIND {
            return Err(TelemetryError::OtherKind);
        }
        postcard::from_bytes(content).ok_or(TelemetryError::Malformed)
    }
}
