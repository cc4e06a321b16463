use super::*;
use crate::realtime::{Packet, Repr};

fn packet(size: usize, time: f64) -> Vec<u8> {
    let mut bytes = vec![0xa5; size];
    Repr { time, ..Repr::default() }.emit(size, &mut bytes).unwrap();
    bytes
}

fn message(kind: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0x5a; size];
    bytes[..4].copy_from_slice(&u32::try_from(size).unwrap().to_be_bytes());
    bytes[4] = kind;
    bytes
}

#[derive(Debug, PartialEq)]
enum Seen {
    Message(Vec<u8>),
    Trouble(FrameError),
}

/// Feeds `stream` in pieces of the given lengths (repeated) and returns all frames and errors.
fn assemble(assembler: &mut Assembler<'_>, stream: &[u8], pieces: &[usize]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut rest = stream;
    let mut piece = pieces.iter().cycle();
    while !rest.is_empty() {
        let window = assembler.window();
        let count = window.len().min(rest.len()).min(*piece.next().unwrap());
        assert!(count > 0, "a drained assembler always has a window");
        window[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        assembler.commit(count);
        while let Some(frame) = assembler.next_frame() {
            seen.push(match frame {
                Ok(bytes) => Seen::Message(bytes.to_vec()),
                Err(error) => Seen::Trouble(error),
            });
        }
    }
    seen
}

#[test]
fn a_stream_cut_anywhere_gives_the_same_messages() {
    let messages = [message(16, 682), message(20, 55), message(25, 5), message(99, 24)];
    let stream = messages.concat();
    let expected: Vec<_> = messages.into_iter().map(Seen::Message).collect();
    for pieces in [&[1][..], &[3, 1, 700], &[682], &[4, 1], &[2048]] {
        let mut memory = [0; 1024];
        let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
        assert_eq!(assemble(&mut assembler, &stream, pieces), expected);
        assert_eq!((assembler.buffered(), assembler.dropped()), (0, 0));
    }
}

#[test]
fn coalesced_packets_are_taken_one_by_one() {
    let packets: Vec<_> = (1..=7).map(|n| packet(1220, f64::from(n) * 0.002)).collect();
    let mut memory = [0; 8192 + 1220];
    let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
    let seen = assemble(&mut assembler, &packets.concat(), &[4096, 4444]);
    assert_eq!(seen, packets.into_iter().map(Seen::Message).collect::<Vec<_>>());
}

#[test]
fn a_message_longer_than_the_memory_is_skipped_by_counting() {
    let stream = [message(16, 682), message(25, 70_000), message(16, 682)].concat();
    let mut memory = [0; 1024];
    let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
    assert_eq!(
        assemble(&mut assembler, &stream, &[1000, 7]),
        [
            Seen::Message(message(16, 682)),
            Seen::Trouble(FrameError::Oversize { size: 70_000 }),
            Seen::Message(message(16, 682)),
        ]
    );
    assert_eq!(assembler.dropped(), 70_000);
}

#[test]
fn a_primary_stream_that_is_none_says_so_once_and_never_stalls() {
    let mut memory = [0; 64];
    let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
    let greeting = b"Connected: Universal Robots Dashboard Server\n".repeat(10);
    let declared = i32::from_be_bytes(*b"Conn");
    assert_eq!(assemble(&mut assembler, &greeting, &[13]), [Seen::Trouble(FrameError::LostSync { declared })]);
    assert_eq!(assembler.dropped(), greeting.len() as u64);
    assembler.reset();
    assert_eq!(assemble(&mut assembler, &message(20, 24), &[24]), [Seen::Message(message(20, 24))]);
}

#[test]
fn an_rtde_stream_cut_anywhere_gives_the_same_packages() {
    let packages: Vec<&[u8]> = vec![b"\0\x04V\x01", b"\0\x03S", b"\0\x0bU\x01\0\0\0\0\0\0\x07"];
    let expected: Vec<_> = packages.iter().map(|bytes| Seen::Message(bytes.to_vec())).collect();
    for pieces in [&[1][..], &[2], &[3, 5], &[100]] {
        let mut memory = [0; 16];
        let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
        assert_eq!(assemble(&mut assembler, &packages.concat(), pieces), expected);
    }
}

#[test]
fn an_rtde_package_longer_than_the_memory_is_skipped_by_counting() {
    let mut long = vec![0xff, 0xff, b'U'];
    long.resize(65_535, 0);
    let stream = [b"\0\x03S", &long[..], b"\0\x03P"].concat();
    let mut memory = [0; 64];
    let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
    let expected = [
        Seen::Message(b"\0\x03S".to_vec()),
        Seen::Trouble(FrameError::Oversize { size: 65_535 }),
        Seen::Message(b"\0\x03P".to_vec()),
    ];
    assert_eq!(assemble(&mut assembler, &stream, &[50, 3]), expected);
    assert_eq!(assembler.dropped(), 65_535);
}

#[test]
fn an_rtde_length_below_its_header_ends_the_stream() {
    for declared in 0..3 {
        let mut memory = [0; 64];
        let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
        let stream = [&[0, declared, b'S'][..], b"\0\x03S\0\x03S"].concat();
        let lost = Seen::Trouble(FrameError::LostSync { declared: declared.into() });
        assert_eq!(assemble(&mut assembler, &stream, &[4]), [lost]);
        assembler.reset();
        assert_eq!(assemble(&mut assembler, b"\0\x03S", &[4]), [Seen::Message(b"\0\x03S".to_vec())]);
    }
}

#[test]
fn datagrams_of_fri_in_a_recording_are_told_apart_by_their_size() {
    let (mut measurement, mut command) = ([0; 916], [0; 376]);
    fri::MeasurementRepr::default().emit(&mut measurement).unwrap();
    fri::CommandRepr::default().emit(&mut command).unwrap();
    let stream = [&measurement[..], &command, &command, &measurement].concat();
    let expected = [&measurement[..], &command, &command, &measurement].map(|bytes| Seen::Message(bytes.to_vec()));
    for pieces in [&[1][..], &[7, 8], &[1000]] {
        let mut memory = [0; 1024];
        let mut assembler = Assembler::new(Framing::Fri, &mut memory).unwrap();
        assert_eq!(assemble(&mut assembler, &stream, pieces), expected);
    }
    command[4] = 0x79;
    let mut memory = [0; 1024];
    let mut assembler = Assembler::new(Framing::Fri, &mut memory).unwrap();
    let lost = Seen::Trouble(FrameError::LostSync { declared: 377 });
    assert_eq!(assemble(&mut assembler, &[command, command].concat(), &[64]), [lost]);
}

#[test]
fn a_polluted_real_time_stream_resynchronises_and_counts_what_it_skipped() {
    let packets: Vec<_> = (0..3).map(|n| packet(812, 7.0 + f64::from(n) * 0.008)).collect();
    let [first, second, third] = [0, 1, 2].map(|n| packets[n].clone());
    let stream = [first.clone(), message(16, 560), message(20, 9), second.clone(), third.clone()].concat();
    for pieces in [&[1][..], &[2048], &[5, 811]] {
        let mut memory = [0; 2048];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        assert_eq!(
            assemble(&mut assembler, &stream, pieces),
            [
                Seen::Message(first.clone()),
                Seen::Trouble(FrameError::LostSync { declared: 560 }),
                Seen::Trouble(FrameError::Resynchronised { skipped: 569 }),
                Seen::Message(second.clone()),
                Seen::Message(third.clone()),
            ]
        );
        assert_eq!(assembler.dropped(), 569);
    }
}

#[test]
fn a_first_state_message_with_a_packets_length_is_no_packet() {
    // 1386 is a length that a packet could have, but the type byte and the timestamp are not a valid time.
    let mut state = message(16, 1386);
    state[5..9].copy_from_slice(&47_u32.to_be_bytes());
    let stream = [packet(1220, 3.0), state, packet(1220, 3.002)].concat();
    let mut memory = [0; 2048];
    let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
    assert_eq!(
        assemble(&mut assembler, &stream, &[333]),
        [
            Seen::Message(packet(1220, 3.0)),
            Seen::Trouble(FrameError::LostSync { declared: 1386 }),
            Seen::Trouble(FrameError::Resynchronised { skipped: 1386 }),
            Seen::Message(packet(1220, 3.002)),
        ]
    );
}

#[test]
fn a_clock_that_jumps_does_not_break_the_framing() {
    let packets = [packet(1220, 500.0), packet(1220, 0.002), packet(1220, 90_000.0)];
    let mut memory = [0; 2048];
    let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
    let seen = assemble(&mut assembler, &packets.concat(), &[100]);
    assert_eq!(seen, packets.into_iter().map(Seen::Message).collect::<Vec<_>>());
}

#[test]
fn a_shorter_layout_in_mid_stream_is_believed_while_the_clock_goes_on() {
    let packets = [packet(1220, 5.0), packet(1060, 5.002), packet(1220, 5.004)];
    let mut memory = [0; 2048];
    let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
    for bytes in &packets {
        assert_eq!(assemble(&mut assembler, bytes, &[64]), [Seen::Message(bytes.clone())]);
        assert!(Packet::new_checked(bytes).is_ok());
    }
}

#[test]
fn a_search_that_finds_nothing_familiar_takes_any_packet() {
    let noise = vec![0xff; SEARCH_LENGTH as usize];
    let stream = [packet(1220, 5.0), noise, packet(1060, 1.0)].concat();
    let mut memory = [0; 2048];
    let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
    assert_eq!(
        assemble(&mut assembler, &stream, &[500]),
        [
            Seen::Message(packet(1220, 5.0)),
            Seen::Trouble(FrameError::LostSync { declared: -1 }),
            Seen::Trouble(FrameError::Resynchronised { skipped: SEARCH_LENGTH }),
            Seen::Message(packet(1060, 1.0)),
        ]
    );
}

#[test]
fn memory_too_small_for_a_head_is_refused() {
    let error = Assembler::new(Framing::Realtime, &mut [0; 15]).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BufferTooSmall, 16, 15));
}
