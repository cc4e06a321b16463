//! Identifies the service that answers on a connection by its first bytes, if it is not the expected one.

use super::MAX_PRIMARY_SIZE;
use crate::realtime::{HEAD_LEN, plausible_head};

/// The kind of service that answers on a connection instead of the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Found {
    /// The service sends real-time packets, where primary messages were expected.
    Realtime,
    /// The service sends primary messages, where real-time packets were expected.
    Primary,
    /// The service sends readable text, as a dashboard server or a web server does.
    Text,
    /// The service sends bytes that fit no known service.
    Unknown,
}

/// Collects the first bytes of a connection, to recognise the service that sends them.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Probe {
    bytes: [u8; HEAD_LEN],
    len: u8,
}

impl Probe {
    /// Takes the next received bytes, as far as they are among the first bytes of the connection.
    pub fn take(&mut self, bytes: &[u8]) {
        let rest = self.bytes.get_mut(usize::from(self.len)..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(bytes) {
            *to = *from;
            self.len = self.len.saturating_add(1);
        }
    }

    /// Returns the service that answers where real-time packets were expected. `None` if it sends real-time packets, or
    /// if there are too few bytes to know.
    #[must_use]
    pub fn instead_of_realtime(&self) -> Option<Found> {
        match self.service()? {
            Service::Realtime => None,
            // In the middle of a polluted stream, a 9-byte message is an intruder between packets and no sign of
            // another service. As the first bytes of a connection it is such a sign.
            Service::Primary => Some(Found::Primary),
            Service::Text => Some(Found::Text),
            Service::Unknown => Some(Found::Unknown),
        }
    }

    /// Returns the service that answers where primary messages were expected. `None` if it sends primary messages, or
    /// if there are too few bytes to know.
    #[must_use]
    pub fn instead_of_primary(&self) -> Option<Found> {
        match self.service()? {
            Service::Realtime => Some(Found::Realtime),
            Service::Primary => None,
            Service::Text => Some(Found::Text),
            Service::Unknown => Some(Found::Unknown),
        }
    }

    /// Returns the service to which the connection's first bytes fit; `None` before there are enough bytes.
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

/// Returns whether controllers send primary messages of this type (`core/docs/protocol/ur-client-interfaces.md 1.1`).
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
