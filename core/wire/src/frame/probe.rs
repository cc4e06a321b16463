//! What a connection begins with: the first bytes tell which service answers, if not the expected one.

use super::MAX_PRIMARY_SIZE;
use crate::realtime::{HEAD_LEN, plausible_head};

/// What came instead of the expected service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Found {
    /// Real-time packets, where primary messages were expected.
    Realtime,
    /// Primary messages, where real-time packets were expected.
    Primary,
    /// Readable text: a dashboard server, a web server.
    Text,
    /// Bytes that fit no known service.
    Unknown,
}

/// The first bytes of a connection.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Probe {
    bytes: [u8; HEAD_LEN],
    len: u8,
}

impl Probe {
    /// Takes what came next, as far as it is among the first bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let rest = self.bytes.get_mut(usize::from(self.len)..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(bytes) {
            *to = *from;
            self.len = self.len.saturating_add(1);
        }
    }

    /// What answers where real-time packets were expected; `None` as long as it may be them.
    #[must_use]
    pub fn instead_of_realtime(&self) -> Option<Found> {
        match self.service()? {
            Service::Realtime => None,
            // A 9-byte message in a polluted stream is a packet's neighbour, not another service; as the first thing
            // on a connection it is.
            Service::Primary => Some(Found::Primary),
            Service::Text => Some(Found::Text),
            Service::Unknown => Some(Found::Unknown),
        }
    }

    /// What answers where primary messages were expected; `None` as long as it may be them.
    #[must_use]
    pub fn instead_of_primary(&self) -> Option<Found> {
        match self.service()? {
            Service::Realtime => Some(Found::Realtime),
            Service::Primary => None,
            Service::Text => Some(Found::Text),
            Service::Unknown => Some(Found::Unknown),
        }
    }

    /// `None` before enough bytes are there.
    fn service(&self) -> Option<Service> {
        let bytes = self.bytes.get(..usize::from(self.len))?;
        let (size, rest) = bytes.split_first_chunk::<4>()?;
        if bytes.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
            return Some(Service::Text);
        }
        if usize::from(self.len) == HEAD_LEN && plausible_head(&self.bytes).is_some() {
            return Some(Service::Realtime);
        }
        let size = usize::try_from(i32::from_be_bytes(*size)).ok();
        match (size, rest.first()) {
            (Some(size), Some(kind)) if (5..=MAX_PRIMARY_SIZE).contains(&size) && is_primary(*kind) => {
                Some(Service::Primary)
            }
            (Some(5..=MAX_PRIMARY_SIZE), _) if usize::from(self.len) < HEAD_LEN => None,
            _ => Some(Service::Unknown),
        }
    }
}

enum Service {
    Realtime,
    Primary,
    Text,
    Unknown,
}

/// The message types that controllers send (`core/docs/protocol/ur-client-interfaces.md 1.1`).
fn is_primary(kind: u8) -> bool {
    matches!(kind, 0xff | 5 | 16 | 20 | 22..=25)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(bytes: &[u8]) -> Probe {
        let mut probe = Probe::default();
        bytes.iter().for_each(|byte| probe.take(&[*byte]));
        probe
    }

    fn realtime_head() -> Vec<u8> {
        [1220_i32.to_be_bytes().as_slice(), &1504.0_f64.to_be_bytes()].concat()
    }

    #[test]
    fn each_service_is_known_by_its_first_bytes() {
        let version = [0, 0, 0, 55, 20, 255, 255, 255, 255, 255, 255, 255, 255, 254, 3];
        let dashboard = b"Connected: Universal Robots Dashboard Server\n";
        assert_eq!(probe(&version).instead_of_primary(), None);
        assert_eq!(probe(&version).instead_of_realtime(), Some(Found::Primary));
        assert_eq!(probe(&realtime_head()).instead_of_realtime(), None);
        assert_eq!(probe(&realtime_head()).instead_of_primary(), Some(Found::Realtime));
        assert_eq!(probe(dashboard).instead_of_realtime(), Some(Found::Text));
        assert_eq!(probe(dashboard).instead_of_primary(), Some(Found::Text));
        assert_eq!(probe(&[0xff; 12]).instead_of_primary(), Some(Found::Unknown));
    }

    #[test]
    fn too_few_bytes_are_no_verdict() {
        for len in 0..HEAD_LEN {
            assert_eq!(probe(&realtime_head()[..len]).instead_of_realtime(), None, "{len} bytes");
        }
        assert_eq!(probe(&[0, 0]).instead_of_primary(), None);
    }
}
