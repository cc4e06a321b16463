//! The fuzz target of `outrigger watch`, which reads telemetry; see [`crate::fuzzing`].

use std::net::{IpAddr, Ipv4Addr};

use outrigger_core::engine::ur::{UrEvent, UrStatus};
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{CHUNK_MAX, Chunk, DATAGRAM_MAX, Datagram, MAGIC, Message, Recording};
use outrigger_wire::time::{Duration, Instant};

use super::board_state::Device;
use super::chunk_reassembly::Pieces;
use crate::fuzzing::{Bytes, assert_line};
use outrigger::json::text;
use outrigger::show::Notice;

/// The address of the board whose telemetry is fuzzed.
const BOARD: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 60));

/// The largest number of lines for one datagram: as many as the limit permits at once, and a report of each limit.
const MOST_LINES: usize = 500 + 4;

/// Reads the fuzz input as telemetry, as `outrigger watch` does: datagrams of a board, of other addresses, and pieces
/// of longer data that are reassembled.
///
/// Asserts that displayed text does not control a terminal and is valid JSON; that recordings are no longer than the
/// limit and have a name that is one part of a path; and that pieces are reassembled to the original data, in any
/// order and mixed with other pieces.
pub fn watch(bytes: &[u8]) {
    match bytes.split_first() {
        Some((how, rest)) if how % 2 == 0 => watch_board(rest),
        Some((_, rest)) => put_together(rest),
        None => {}
    }
}

fn watch_board(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let (mut device, mut now, mut sequence) = (Device::new(BOARD, true), Instant::ZERO, 0_u32);
    let mut kept = 0;
    while let Some([what, wait]) = input.array() {
        // The wait is up to half an hour.
        now = now + Duration::from_micros(1 << (wait % 32));
        let notices = match what % 8 {
            0 => input.counted().map(|datagram| device.take(BOARD, datagram, now)),
            1 => input.counted().map(|content| device.take(BOARD, &[MAGIC, &b"U"[..], content].concat(), now)),
            2 => input.counted().map(|content| device.take(BOARD, &[MAGIC, &b"K"[..], content].concat(), now)),
            3 => input.counted().map(|datagram| device.take(Ipv4Addr::LOCALHOST.into(), datagram, now)),
            4 | 5 => piece_of(&mut input, what, &mut sequence).map(|datagram| device.take(BOARD, &datagram, now)),
            6 if device.is_talking() => Some(vec![device.fallen_silent(now)]),
            6 => Some(device.episode(now, wait % 2 == 0).into_iter().collect()),
            _ => {
                shown(&mut device, now);
                Some(vec![])
            }
        };
        let Some(notices) = notices else { break };
        assert!(notices.len() <= MOST_LINES, "{} lines", notices.len());
        notices.iter().for_each(assert_notice);
        if let Some(dump) = device.dump() {
            kept += 1;
            assert!(dump.bytes.len() <= 1 << 20, "{} bytes", dump.bytes.len());
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
            assert!(
                dump.stem.starts_with(|c: char| c.is_ascii_digit()) && dump.stem.chars().all(is_plain),
                "{}",
                dump.stem
            );
            assert_line(&dump.of);
        }
    }
    // At most 16 at once, and then one in ten seconds.
    assert!(kept <= 16 + 1 + now.since(Instant::ZERO).as_micros() / 10_000_000, "{kept} recordings");
    shown(&mut device, now);
}

/// Takes from the fuzz input a piece of a recording or of the settings, and returns it as a datagram of telemetry.
/// `None` if the input is too short.
fn piece_of(input: &mut Bytes<'_>, what: u8, sequence: &mut u32) -> Option<Vec<u8>> {
    let [boot, number, reason, pass] = input.array()?;
    let [length, offset] = [input.array()?, input.array()?].map(u32::from_le_bytes);
    let bytes = input.counted()?;
    let chunk = Chunk { length, offset, bytes: bytes.get(..CHUNK_MAX).unwrap_or(bytes) };
    let message = if what % 2 == 0 {
        let reason = Reason::ALL.get(usize::from(reason)).copied();
        Message::Recording(Recording { number: number.into(), reason, pass, chunk })
    } else {
        Message::Settings(chunk)
    };
    *sequence = sequence.wrapping_add(1);
    let (boot, sequence) = (boot.into(), *sequence);
    let mut out = [0; DATAGRAM_MAX];
    let length = Datagram::<6, UrStatus, UrEvent> { boot, sequence, at: Instant::ZERO, message }.encode(&mut out)?;
    Some(out[..length].to_vec())
}

fn assert_notice(notice: &Notice) {
    assert_line(&notice.text);
    assert_json(&text(notice));
}

/// Asserts that the displayed line about a board does not control a terminal, and that its JSON form is one object on
/// one line.
fn shown(device: &mut Device, now: Instant) {
    let Some(snapshot) = device.snapshot(now) else { return };
    assert_line(&snapshot.line());
    assert_json(&text(&snapshot));
}

fn assert_json(text: &str) {
    let read: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(text);
    assert!(read.is_ok() && !text.contains(['\n', '\u{1b}']), "{read:?}: {text}");
}

/// Cuts data into pieces that overlap, and passes them to the reassembly of a board's recordings; then pieces that do
/// not overlap, until they give the original data, because the first of them may be dropped together with others that
/// overlap them.
fn put_together(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let (Some([count, size]), mut now) = (input.array(), Instant::ZERO) else { return };
    let cuts: Vec<[u8; 5]> = (0..count).map_while(|_| input.array()).collect();
    let whole = input.0;
    let Ok(length) = u32::try_from(whole.len()) else { return };
    let mut put = Pieces::new(length);
    let mut take = |offset: usize, end: usize, wait: u8| {
        now = now + Duration::from_micros(1 << (wait % 32));
        let bytes = whole.get(offset..end.min(whole.len())).unwrap_or_default();
        let offset = u32::try_from(offset).expect("as long as the whole");
        let taken = put.take(&Chunk { length, offset, bytes }, now).whole;
        assert!(taken.as_ref().is_none_or(|taken| taken == whole), "another whole");
        let (have, of) = put.progress();
        assert!(have <= u64::from(of), "{have} of {of} bytes");
        taken.is_some()
    };
    for [offset, high, length, more, wait] in cuts {
        let offset = usize::from(u16::from_le_bytes([offset, high]));
        take(offset, offset + usize::from(u16::from_le_bytes([length, more])), wait);
    }
    let size = usize::from(size).max(64);
    let mut pass = || (0..whole.len()).step_by(size).any(|offset| take(offset, offset + size, 0));
    // The first pieces may have waited for too long.
    let is_put = whole.is_empty() || (0..3).any(|_| pass());
    assert!(is_put, "no whole");
}
