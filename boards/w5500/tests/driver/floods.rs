//! Tests with more arriving frames than can be taken: commands are still sent.

use std::time::Duration;

use outrigger_emulated::{Rng, SimTime};

use crate::station::{OWN, Station, frame};

/// Returns the time of a frame on the wire \[ns\].
pub(crate) fn wire(length: usize) -> u64 {
    (length as u64 + 24) * 80
}

/// Delivers frames without a gap for `span`, with lengths from `length`; returns the number of frames.
pub(crate) fn flood(station: &mut Station, span: Duration, length: impl FnMut() -> usize) -> usize {
    paced(station, span, 0, length)
}

/// Delivers frames for `span` with a period of `pace` \[ns\], or of their time on the wire if that is longer; returns
/// their number.
pub(crate) fn paced(station: &mut Station, span: Duration, pace: u64, mut length: impl FnMut() -> usize) -> usize {
    let (mut at, mut number) = (station.nanos(), 0);
    let end = at + span.as_nanos() as u64;
    while at < end {
        let length = length();
        at += wire(length).max(pace);
        station.pins.chip().arrive(at, frame(OWN, length, number as u32));
        number += 1;
    }
    number
}

/// Sends a frame ("command") from the stack every `every` until `end`. Returns for each frame that left the chip in
/// time when it was sent and how long it took to leave.
pub(crate) fn commands(
    station: &mut Station,
    end: SimTime,
    every: Duration,
    length: usize,
) -> Vec<(SimTime, Duration)> {
    let mut took = vec![];
    let mut number = 0;
    while station.now() < end {
        let before = station.left.len();
        let asked = station.now();
        assert!(station.send(&frame([0xff; 6], length, number)), "no room at {asked}: {:?}", station.counts());
        station.run_until(asked + every, |station| station.left.len() > before);
        if let Some((left, sent)) = station.left.get(before) {
            assert!(*sent == frame([0xff; 6], length, number), "command {number}");
            took.push((asked, left.since(asked)));
        }
        let next = asked + every;
        station.run_until(next, |_| false);
        number += 1;
    }
    took
}

/// Returns the bound of a command's delay on this bus: the transfer of one received frame, which takes at most seven
/// operations besides its bytes and some readings of the number of received bytes; the command's transfer; and its time
/// on the wire.
fn bound(longest: usize, command: usize) -> Duration {
    let operation = 4_000 + 320 * 9;
    let received = 24 * operation + longest as u64 * 320;
    let sent = 12 * operation + command as u64 * 320 + wire(command);
    Duration::from_nanos(received + sent)
}

#[test]
fn under_a_flood_a_command_waits_for_one_received_frame_at_most() {
    for (longest, seed) in [(60, 1), (100, 2), (400, 3), (1_514, 4), (1_514, 5)] {
        let mut station = Station::new(0x3f00);
        let mut rng = Rng::new(seed, 18);
        let flooded = Duration::from_millis(300);
        let arrived = flood(&mut station, flooded, || {
            if seed == 4 { longest } else { 60 + rng.up_to(longest as u64 - 60) as usize }
        });
        let end = station.now() + flooded;
        let took = commands(&mut station, end, Duration::from_micros(1_970), 150);
        let most = took.iter().map(|(_, took)| *took).max().unwrap_or_default();
        assert_eq!(took.len(), 153, "{seed}: {:?}", station.counts());
        assert!(most <= bound(longest, 150), "{seed}: {most:?} of {:?}", bound(longest, 150));
        // The received frames are some of the sent ones, in order and complete.
        station.run_for(Duration::from_millis(30));
        let seen = station.pins.chip().seen();
        assert_eq!(seen.taken + seen.dropped, arrived as u64);
        assert_eq!((station.received.len() as u64, station.counts().last), (seen.taken, None), "{seed}");
        assert!(station.received.iter().all(|(_, frame)| !frame.is_empty()));
        assert_eq!((seen.overlapping_sends, seen.odd_sends, seen.early_commands), (0, 0, 0));
    }
}

/// Checks random bursts that fit into the chip's receive buffer, with random frames sent meanwhile ("commands"): no
/// received frame is lost or changed, and every sent frame leaves the chip.
#[test]
fn bursts_are_received_whole_among_commands() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed, 1);
        let mut station = Station::new(rng.up_to(0xffff) as u16);
        let (mut sent, mut number) = (vec![], 0);
        for _ in 0..60 {
            let mut room = 16_384 - 2_000;
            for _ in 0..rng.up_to(12) {
                let length = 60 + rng.up_to(1_454) as usize;
                if room < length + 2 {
                    break;
                }
                room -= length + 2;
                station.pins.deliver(frame(OWN, length, number));
                sent.push((length, number));
                number += 1;
            }
            for _ in 0..rng.up_to(4) {
                assert!(station.send(&frame([0xff; 6], 60 + rng.up_to(200) as usize, number)));
                station.run_for(Duration::from_micros(rng.up_to(3_000)));
            }
            station.run_for(Duration::from_millis(10));
        }
        let seen = station.pins.chip().seen();
        assert_eq!((seen.dropped, station.counts().last), (0, None), "seed {seed}");
        assert_eq!(station.received.len(), sent.len(), "seed {seed}");
        for ((length, number), (_, received)) in sent.iter().zip(&station.received) {
            assert!(*received == frame(OWN, *length, *number), "seed {seed}, number {number}");
        }
        assert_eq!(station.counts().sent as usize, station.left.len());
    }
}

/// Checks that frames are received while the stack sends as much as it can.
#[test]
fn a_flood_of_our_own_does_not_keep_frames_from_being_received() {
    let mut station = Station::new(9);
    let end = station.now() + Duration::from_millis(200);
    let mut number = 0;
    let mut next = station.now();
    while station.now() < end {
        while station.send(&frame([0xff; 6], 1_514, 0)) {}
        if station.now() >= next {
            station.pins.deliver(frame(OWN, 300, number));
            (number, next) = (number + 1, next + Duration::from_millis(8));
        }
        station.run_for(Duration::from_micros(100));
    }
    station.run_for(Duration::from_millis(10));
    assert_eq!(station.received.len() as u32, number);
    assert!(station.left.len() > 280, "{} left in 200 ms", station.left.len());
    assert_eq!(station.pins.chip().seen().overlapping_sends, 0);
}
