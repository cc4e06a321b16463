//! Adapters that pass the bytes of messages between DDS and this crate unchanged.

use outrigger_ros2_messages::cdr::ENCAPSULATION;
use rustdds::RepresentationIdentifier;
use rustdds::bytes::Bytes;
use rustdds::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter, SimpleDataReader};

/// The bytes of a message to send, without its encapsulation.
pub(super) struct Payload(pub(super) Bytes);

/// The bytes of a received message with its encapsulation.
pub(super) struct Raw(pub(super) Vec<u8>);

/// An adapter for `rustdds` that passes the bytes of messages through unchanged.
pub(super) struct Through;

/// A decoder for `rustdds` that passes the bytes of messages through unchanged, preceded by their encapsulation.
#[derive(Clone)]
pub(super) struct AsTheyAre;

impl SerializerAdapter<Payload> for Through {
    type Error = std::io::Error;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &Payload) -> Result<Bytes, Self::Error> {
        Ok(value.0.clone())
    }
}

impl DeserializerAdapter<Raw> for Through {
    type Error = std::io::Error;
    type Decoded = Raw;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE, RepresentationIdentifier::CDR_BE]
    }

    fn transform_decoded(decoded: Raw) -> Raw {
        decoded
    }
}

impl DefaultDecoder<Raw> for Through {
    type Decoder = AsTheyAre;
    const DECODER: AsTheyAre = AsTheyAre;
}

impl Decode<'_, Raw> for AsTheyAre {
    type Error = std::io::Error;

    fn decode_bytes(self, bytes: &[u8], encoding: RepresentationIdentifier) -> Result<Raw, Self::Error> {
        let little = encoding == RepresentationIdentifier::CDR_LE;
        let mut whole = if little { ENCAPSULATION.to_vec() } else { vec![0; ENCAPSULATION.len()] };
        whole.extend_from_slice(bytes);
        Ok(Raw(whole))
    }
}

/// A DDS reader that returns messages as bytes with their encapsulation.
pub(super) type Reader = SimpleDataReader<Raw, Through>;
