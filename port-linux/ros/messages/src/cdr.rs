//! Encodes and decodes messages as CDR, preceded by the four bytes that name the encoding
//! (`core/docs/protocol/ros2-surface.md` 6).

use byteorder::{BigEndian, LittleEndian};

use crate::Message;

/// The four bytes that precede every message: plain CDR of the first version, little-endian.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];
/// The first two bytes of a message in big-endian order, which other implementations may send.
const BIG_ENDIAN: [u8; 2] = [0, 0];
/// The first two bytes of a message in little-endian order.
const LITTLE_ENDIAN: [u8; 2] = [0, 1];

/// The reason why bytes cannot be decoded as a message of the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdrError {
    /// The encoding that the first bytes state is not supported: it is not plain CDR.
    #[error("{name}: expected CDR (00 01 or 00 00), found {} bytes that begin with {found:02x?}", .length)]
    Encoding {
        /// The name of the message type as which the bytes were to be decoded.
        name: &'static str,
        /// The first bytes of the undecodable message, at most four.
        found: Vec<u8>,
        /// The number of bytes of the undecodable message.
        length: usize,
    },
    /// The bytes end early, contain a length that exceeds them, or are not valid text where text is expected.
    #[error("{name}: {what}, in {length} bytes")]
    Content {
        /// The name of the message type as which the bytes were to be decoded.
        name: &'static str,
        /// A description of why the bytes are not a message of the expected type.
        what: String,
        /// The number of bytes of the undecodable message, without the encapsulation.
        length: usize,
    },
}

/// Returns the bytes of a message in CDR, little-endian, preceded by their encapsulation.
#[must_use]
pub fn encode<M: Message>(message: &M) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(&ENCAPSULATION);
    // Writing to a vector cannot fail, and neither can a message of fixed shape.
    let _ = cdr_encoding::to_writer::<M, LittleEndian, _>(&mut bytes, message);
    bytes
}

/// Decodes a message from `bytes`, which begin with their encapsulation.
///
/// # Errors
/// A [`CdrError`] that names the fault. No memory is allocated for a length that exceeds the bytes.
pub fn decode<M: Message>(bytes: &[u8]) -> Result<M, CdrError> {
    let (order, body) = order_of(bytes).ok_or_else(|| not_encoded(M::TYPE, bytes))?;
    let decoded = match order {
        LITTLE_ENDIAN => cdr_encoding::from_bytes::<M, LittleEndian>(body),
        _ => cdr_encoding::from_bytes::<M, BigEndian>(body),
    };
    decoded.map(|(message, _)| message).map_err(|error| not_that_message(M::TYPE, &error, body))
}

/// Returns the byte order and the bytes after the encapsulation; `None` for any other encoding.
fn order_of(bytes: &[u8]) -> Option<([u8; 2], &[u8])> {
    let ([first, second, _, _], body) = bytes.split_first_chunk::<4>()?;
    let order = [*first, *second];
    (order == LITTLE_ENDIAN || order == BIG_ENDIAN).then_some((order, body))
}

#[cold]
fn not_encoded(name: &'static str, bytes: &[u8]) -> CdrError {
    CdrError::Encoding { name, found: bytes.iter().take(4).copied().collect(), length: bytes.len() }
}

#[cold]
fn not_that_message(name: &'static str, error: &cdr_encoding::Error, body: &[u8]) -> CdrError {
    CdrError::Content { name, what: error.to_string(), length: body.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, JointState, Text, Time};

    /// The bytes of a message on which two independent encoders agree: `core/docs/protocol/ros2-surface.md` 6.
    const MEASURED: &str = "000100000100000002000000020000006200000001000000020000006100000001000000000000000000f03f\
                            0000000000000000";

    fn state() -> JointState {
        JointState {
            header: Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: "b".into() },
            name: vec!["a".into()],
            position: vec![1.0],
            ..JointState::default()
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    #[test]
    fn a_message_has_the_bytes_that_others_write() {
        let measured = bytes(MEASURED);
        assert_eq!(encode(&state()), measured);
        assert_eq!(decode::<JointState>(&measured), Ok(state()));
    }

    #[test]
    fn big_endian_bytes_are_read_too() {
        assert_eq!(decode::<Text>(&[0, 0, 0, 0, 0, 0, 0, 3, b'h', b'i', 0]), Ok(Text { data: "hi".into() }));
    }

    #[test]
    fn bytes_that_end_anywhere_are_refused_by_name_and_cost_no_memory() {
        let whole = bytes(MEASURED);
        for length in 0..whole.len() {
            let error = decode::<JointState>(&whole[..length]).expect_err("it ends early");
            assert!(error.to_string().starts_with("sensor_msgs/msg/JointState: "), "{error}");
        }
        // A count of 4 294 967 295 names, and a name of that length.
        for at in [18, 22] {
            let mut absurd = whole.clone();
            absurd[at..at + 4].fill(0xff);
            assert!(matches!(decode::<JointState>(&absurd), Err(CdrError::Content { .. })), "at {at}");
        }
        let error = decode::<JointState>(&[0, 7, 0, 0, 1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sensor_msgs/msg/JointState: expected CDR (00 01 or 00 00), found 5 bytes that begin with [00, 07, 00, 00]"
        );
    }
}
