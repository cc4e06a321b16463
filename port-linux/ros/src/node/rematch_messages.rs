//! Makes messages by which `rustdds` matches its endpoints again with those of a participant that was lost and has
//! come back.
//!
//! `rustdds` 0.15 keeps the endpoints of a participant that it gave up, and restores them when that participant
//! announces itself, but does not match its own endpoints with them. It matches the endpoints of a topic when the
//! participant announces that topic in the discovery of topics (`DCPSTopic`), which the middlewares of ROS 2 do not
//! use. The messages made here announce the topics in the name of the participant.

use super::discovery_probe::header;
use crate::neighbours::Prefix;

/// The length of the header of an RTPS submessage \[bytes\] (RTPS 2.5, 9.4.5.1).
const SUBMESSAGE: usize = 4;
/// The kind and flags of the submessage DATA: little-endian with a sample.
const DATA: [u8; 2] = [0x15, 0x05];
/// The kind and flags of the submessage HEARTBEAT: little-endian without a request for a response.
const HEARTBEAT: [u8; 2] = [0x07, 0x03];
/// The identifiers of the reader and the writer of announcements of topics (RTPS 2.5, 9.3.1.5).
const BETWEEN: [u8; 8] = [0, 0, 0x02, 0xc7, 0, 0, 0x02, 0xc2];
/// The number of the parameter that ends a list; it and the following ones identify parameters in RTPS (RTPS 2.5,
/// 9.6.3).
const PID_SENTINEL: u16 = 0x0001;
const PID_TOPIC_NAME: u16 = 0x0005;
const PID_TYPE_NAME: u16 = 0x0007;
const PID_BUILTIN_ENDPOINT_SET: u16 = 0x0058;
const PID_ENDPOINT_GUID: u16 = 0x005a;
/// The bit in a participant's set of endpoints by which `rustdds` recognizes that the participant announces topics.
const TELLS_OF_TOPICS: u32 = 0x0800_0000;
/// The encoding of a parameter list in little-endian order (RTPS 2.5, 10.2).
const LITTLE_ENDIAN: [u8; 2] = [0, 3];
/// The encoding of a parameter list in big-endian order (RTPS 2.5, 10.2).
const BIG_ENDIAN: [u8; 2] = [0, 2];

/// A topic that is announced, by its name and its type on DDS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) kind: String,
}

/// Returns the sequence number of an announcement of a topic, with `low` as its lower half. The upper half, which comes
/// first, is 1, so that no participant reaches this number by counting.
fn number(low: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&1_u32.to_le_bytes());
    bytes[4..].copy_from_slice(&low.to_le_bytes());
    bytes
}

fn parameter(to: &mut Vec<u8>, id: u16, value: &[u8]) {
    let padded = value.len().next_multiple_of(4);
    to.extend(id.to_le_bytes());
    to.extend(u16::try_from(padded).unwrap_or_default().to_le_bytes());
    to.extend(value);
    to.resize(to.len() + padded - value.len(), 0);
}

fn text(of: &str) -> Vec<u8> {
    let length = u32::try_from(of.len() + 1).unwrap_or_default();
    [&length.to_le_bytes(), of.as_bytes(), &[0]].concat()
}

fn submessage(to: &mut Vec<u8>, [kind, flags]: [u8; 2], content: &[u8]) {
    to.extend([kind, flags]);
    to.extend(u16::try_from(content.len()).unwrap_or_default().to_le_bytes());
    to.extend(content);
}

/// Returns a message in the name of `participant` that announces these topics. The samples are numbered from `first`
/// on.
pub(super) fn about(participant: Prefix, topics: &[Topic], first: u32) -> Vec<u8> {
    let mut message = header(participant);
    let mut last = first;
    for (index, Topic { name, kind }) in topics.iter().enumerate() {
        last = first.wrapping_add(u32::try_from(index).unwrap_or_default());
        // The four bytes: no extra flags, and 16 bytes from here to the sample for the reader, the writer and the
        // number.
        let mut content = vec![0, 0, 16, 0];
        content.extend(BETWEEN);
        content.extend(number(last));
        content.extend([LITTLE_ENDIAN, [0, 0]].concat());
        // Each topic is a separate sample with its own key.
        let key = [&participant[..], &last.to_be_bytes()].concat();
        parameter(&mut content, PID_ENDPOINT_GUID, &key);
        parameter(&mut content, PID_TOPIC_NAME, &text(name));
        parameter(&mut content, PID_TYPE_NAME, &text(kind));
        parameter(&mut content, PID_SENTINEL, &[]);
        submessage(&mut message, DATA, &content);
    }
    // The heartbeat announces that there are no others, so they are complete. Its count rises with the sample
    // numbers.
    let content = [&BETWEEN[..], &number(first), &number(last), &last.to_le_bytes()].concat();
    submessage(&mut message, HEARTBEAT, &content);
    message
}

/// Adds to an announcement, whose DATA submessage starts at `begin`, that its participant announces topics. Returns
/// `false` if it could not be added.
pub(super) fn tells_of_topics(message: &mut [u8], begin: usize) -> bool {
    set_of_endpoints(message, begin)
        .and_then(|(at, is_little)| {
            let bytes: &mut [u8; 4] = message.get_mut(at..at + 4)?.try_into().ok()?;
            *bytes = if is_little {
                (u32::from_le_bytes(*bytes) | TELLS_OF_TOPICS).to_le_bytes()
            } else {
                (u32::from_be_bytes(*bytes) | TELLS_OF_TOPICS).to_be_bytes()
            };
            Some(())
        })
        .is_some()
}

/// Returns the position of the set of endpoints in an announcement, and `true` if it is little-endian. Returns `None`
/// if the announcement has none, has an unknown encoding, or has parameters before the sample.
fn set_of_endpoints(message: &[u8], begin: usize) -> Option<(usize, bool)> {
    let two = |at: usize| message.get(at..at + 2)?.try_into().ok();
    let number = |at, is_little| {
        two(at).map(|bytes| if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let flags = *message.get(begin + 1)?;
    if flags & 0x02 != 0 {
        return None;
    }
    let to_sample = number(begin + SUBMESSAGE + 2, flags & 0x01 != 0)?;
    let sample = begin + SUBMESSAGE + 4 + usize::from(to_sample);
    let is_little = match two(sample)? {
        LITTLE_ENDIAN => true,
        BIG_ENDIAN => false,
        _ => return None,
    };
    let mut at = sample + 4;
    loop {
        let (id, length) = (number(at, is_little)?, number(at + 2, is_little)?);
        match (id, length) {
            (PID_BUILTIN_ENDPOINT_SET, 4) => return Some((at + 4, is_little)),
            (PID_SENTINEL, _) => return None,
            _ => at += 4 + usize::from(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_participant_is_said_to_tell_of_topics_in_either_order() {
        for (flags, encoding, set) in
            [(0x05, LITTLE_ENDIAN, [0x3f, 0x0c, 0, 0x08]), (0x05, BIG_ENDIAN, [0x3f, 0x0c, 0, 0])]
        {
            let mut message = vec![0x15, flags, 0, 0, 0, 0, 16, 0];
            message.resize(24, 0);
            message.extend([encoding, [0, 0]].concat());
            let word = |value: u16| if encoding == LITTLE_ENDIAN { value.to_le_bytes() } else { value.to_be_bytes() };
            message.extend([word(0x50), word(4), [1, 2], [3, 4]].concat());
            message.extend([word(PID_BUILTIN_ENDPOINT_SET), word(4), [0x3f, 0x0c], [0, 0]].concat());
            assert!(tells_of_topics(&mut message, 0));
            let expected = if encoding == LITTLE_ENDIAN { set } else { [0x37 | 0x08, 0x0c, 0, 0] };
            assert_eq!(message[40..], expected);
        }
    }

    #[test]
    fn topics_are_told_in_whole_words_and_the_heartbeat_covers_them() {
        let topics = ["rt/a", "rt/bcd"].map(|name| Topic { name: name.into(), kind: "x".into() });
        let message = about([7; 12], &topics, 5);
        let mut begin = 20;
        let mut kinds = vec![];
        while begin < message.len() {
            let length = usize::from(u16::from_le_bytes([message[begin + 2], message[begin + 3]]));
            assert_eq!(length % 4, 0);
            kinds.push(message[begin]);
            begin += 4 + length;
        }
        assert_eq!((begin, kinds), (message.len(), vec![0x15, 0x15, 0x07]));
        assert_eq!(message[message.len() - 20..], [1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 6, 0, 0, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_comes_is_parsed_without_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..100), begin in 0_usize..120) {
            let _ = tells_of_topics(&mut bytes, begin);
        }
    }
}
