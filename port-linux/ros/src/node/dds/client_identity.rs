//! The client of a request, as its implementation of DDS names it (`core/docs/protocol/ros2-surface.md` 6).
//!
//! | implementation | names the client and the request | the answer carries |
//! |---|---|---|
//! | Fast DDS | beside the message, by the related identity | the same as its related identity |
//! | RustDDS, *enhanced* mapping (`ros2-client`) | nowhere: its own identity counts | it, as the related identity |
//! | Cyclone DDS | in 16 bytes before the message, and nothing beside it | these 16 bytes |
//! | RustDDS, mapping of Cyclone DDS (`ros2-client`) | in both places | these 16 bytes |

use outrigger_ros2_messages::cdr::ENCAPSULATION;
use rustdds::rpc::SampleIdentity;
use rustdds::{GUID, SequenceNumber};

use super::In;

/// The length of the header of a request of Cyclone DDS \[bytes\]: half of the client's GUID, and the number of the
/// request.
pub(super) const HEADER: usize = 16;
/// The registered number of Cyclone DDS, with which the GUIDs of its participants begin (RTPS 2.5, 9.3.1.5).
pub(super) const CYCLONE_DDS: [u8; 2] = [0x01, 0x10];
/// The registered number of RustDDS, with which the GUIDs of its participants begin.
const RUST_DDS: [u8; 2] = [0x01, 0x12];

/// The client of a service request, to which the answer is sent.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Asker {
    pub(super) at: In,
    /// The identifier of the client's writer that sent the request.
    pub(super) from: GUID,
    pub(super) style: Style,
}

/// The place where a service request names its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The request names its client in the related identity beside the message.
    Beside(SampleIdentity),
    /// The request names its client in a header before the message.
    Before([u8; HEADER]),
}

impl Style {
    /// Returns the place where a request names its client, and removes the header from its `bytes` if it has one. `own`
    /// is the identity of the request itself, `related` the one sent beside it. Returns `None` for a request of Cyclone
    /// DDS that is shorter than its header.
    pub(super) fn of_request(
        own: SampleIdentity,
        related: Option<SampleIdentity>,
        bytes: &mut Vec<u8>,
    ) -> Option<Self> {
        let client = own.writer_guid.to_bytes();
        let header: Option<[u8; HEADER]> =
            bytes.get(ENCAPSULATION.len()..ENCAPSULATION.len() + HEADER).and_then(|header| header.try_into().ok());
        let names_client = || header.is_some_and(|header| header.first_chunk::<8>() == client.last_chunk::<8>());
        let is_before = match related {
            None => client.starts_with(&CYCLONE_DDS),
            Some(_) => client.starts_with(&RUST_DDS) && names_client(),
        };
        if is_before {
            let header = header?;
            bytes.drain(ENCAPSULATION.len()..ENCAPSULATION.len() + HEADER);
            return Some(Self::Before(header));
        }
        let identity = related.unwrap_or(own);
        // Fast DDS names the reader of the answers, and may leave out the number, which is then the request's own.
        let unknown = identity.sequence_number == SequenceNumber::UNKNOWN;
        let sequence_number = if unknown { own.sequence_number } else { identity.sequence_number };
        Some(Self::Beside(SampleIdentity { sequence_number, ..identity }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST_DDS: [u8; 2] = [0x01, 0x0f];

    fn guid(vendor: [u8; 2], last: u8) -> GUID {
        let mut bytes = [7; 16];
        bytes[..2].copy_from_slice(&vendor);
        bytes[15] = last;
        GUID::from_bytes(bytes)
    }

    fn identity(writer_guid: GUID, number: i64) -> SampleIdentity {
        SampleIdentity { writer_guid, sequence_number: SequenceNumber::from(number) }
    }

    /// Returns a request of four bytes, preceded by a header that names the client.
    fn with_header(client: GUID) -> Vec<u8> {
        let mut bytes = ENCAPSULATION.to_vec();
        bytes.extend_from_slice(&client.to_bytes()[8..]);
        bytes.extend_from_slice(&[0, 0, 0, 0, 9, 0, 0, 0]);
        bytes.extend_from_slice(&[1, 2, 3, 4]);
        bytes
    }

    fn without_header() -> Vec<u8> {
        [&ENCAPSULATION[..], &[1, 2, 3, 4]].concat()
    }

    #[test]
    fn cyclone_dds_names_the_client_before_the_message_alone() {
        let client = guid(CYCLONE_DDS, 3);
        let mut bytes = with_header(client);
        let header = bytes[ENCAPSULATION.len()..][..HEADER].try_into().unwrap();
        assert_eq!(Style::of_request(identity(client, 5), None, &mut bytes), Some(Style::Before(header)));
        assert_eq!(bytes, without_header());
        assert_eq!(Style::of_request(identity(client, 5), None, &mut without_header()), None, "no room for the header");
    }

    #[test]
    fn fast_dds_names_the_client_beside_the_message_and_may_leave_the_number_out() {
        let (client, answers) = (guid(FAST_DDS, 3), guid(FAST_DDS, 4));
        for (given, number) in [(Some(6), 6), (None, 5)] {
            let mut bytes = without_header();
            let sequence_number = given.map_or(SequenceNumber::UNKNOWN, SequenceNumber::from);
            let related = SampleIdentity { writer_guid: answers, sequence_number };
            let style = Style::of_request(identity(client, 5), Some(related), &mut bytes);
            assert_eq!(style, Some(Style::Beside(identity(answers, number))));
            assert_eq!(bytes, without_header());
        }
    }

    #[test]
    fn ros2_client_is_answered_in_both_of_its_mappings() {
        let client = guid(RUST_DDS, 3);
        // The enhanced mapping names no client: the request's own identity is meant.
        let mut bytes = without_header();
        let style = Style::of_request(identity(client, 5), None, &mut bytes);
        assert_eq!((style, bytes), (Some(Style::Beside(identity(client, 5))), without_header()));
        // The mapping of Cyclone DDS names the client twice.
        let mut bytes = with_header(client);
        let header = bytes[ENCAPSULATION.len()..][..HEADER].try_into().unwrap();
        let style = Style::of_request(identity(client, 5), Some(identity(client, 9)), &mut bytes);
        assert_eq!((style, bytes), (Some(Style::Before(header)), without_header()));
    }

    #[test]
    fn a_message_that_begins_like_a_header_stays_whole_where_no_header_is_sent() {
        let client = guid(FAST_DDS, 3);
        let mut bytes = with_header(client);
        let style = Style::of_request(identity(client, 5), Some(identity(client, 5)), &mut bytes);
        assert_eq!((style, bytes), (Some(Style::Beside(identity(client, 5))), with_header(client)));
    }
}
