//! Tests that frames are unchanged in both directions.

use std::time::Duration;

use crate::station::{OWN, Station, frame};

/// Returns all possible lengths, each once, in an order in which neighbours differ much.
fn lengths() -> impl Iterator<Item = usize> {
    (0..1_455).map(|number| 60 + number * 467 % 1_455)
}

#[test]
fn frames_of_every_length_are_received_as_they_came() {
    let mut station = Station::new(0);
    for (number, length) in lengths().enumerate() {
        station.pins.deliver(frame(OWN, length, number as u32));
        station.run_for(Duration::from_micros(700));
    }
    station.run_for(Duration::from_millis(1));
    assert_eq!(station.received.len(), 1_455);
    for ((number, length), (_, received)) in lengths().enumerate().zip(&station.received) {
        assert!(*received == frame(OWN, length, number as u32), "number {number}, {length} bytes");
    }
    assert_eq!((station.counts().received, station.counts().last), (1_455, None));
}

#[test]
fn frames_of_every_length_are_sent_as_they_were_given() {
    let mut station = Station::new(0);
    for (number, length) in lengths().enumerate() {
        assert!(station.send(&frame([0xff; 6], length, number as u32)));
        station.run_for(Duration::from_micros(900));
    }
    assert_eq!(station.left.len(), 1_455);
    for ((number, length), (_, left)) in lengths().enumerate().zip(&station.left) {
        assert!(*left == frame([0xff; 6], length, number as u32), "number {number}, {length} bytes");
    }
    let seen = station.pins.chip().seen();
    assert_eq!((seen.overlapping_sends, seen.odd_sends, seen.early_commands, seen.odd_accesses), (0, 0, 0, 0));
}

/// Chooses the initial pointers so that a frame in each direction ends at, before and behind the end of the chip's
/// buffer, and the overflow of its 16-bit pointer.
#[test]
fn a_frame_wraps_at_every_place_of_the_buffer_and_of_its_pointer() {
    for end in [0x4000_u32, 0x8000, 0x1_0000] {
        for (length, before) in [60_usize, 61, 777, 1_514].into_iter().flat_map(|length| {
            // Two bytes precede a received frame: each position within and around them, and a sample of later ones.
            let step = if length > 100 { 97 } else { 1 };
            (0..8)
                .chain((8..length + 4).step_by(step))
                .chain([length, length + 1, length + 2])
                .map(move |at| (length, at))
        }) {
            let origin = (end - before as u32) as u16;
            let mut station = Station::new(origin);
            let (first, second) = (frame(OWN, length, before as u32), frame(OWN, 64, 7));
            station.pins.deliver(first.clone());
            station.pins.deliver(second.clone());
            assert!(station.send(&first) && station.send(&second));
            station.run_for(Duration::from_millis(3));
            let received: Vec<_> = station.received.iter().map(|(_, frame)| frame).collect();
            let left: Vec<_> = station.left.iter().map(|(_, frame)| frame).collect();
            assert!(received == [&first, &second], "received, {length} bytes from {origin:#06x}");
            assert!(left == [&first, &second], "left, {length} bytes from {origin:#06x}");
        }
    }
}

#[test]
fn a_short_frame_is_filled_up_with_zeros_and_the_next_is_not_that_ones() {
    let mut station = Station::new(123);
    let (long, short) = (frame([0xff; 6], 1_514, 1), frame([0xff; 6], 42, 2));
    for _ in 0..12 {
        assert!(station.send(&long));
        assert!(station.send(&short));
        station.run_for(Duration::from_millis(2));
    }
    assert_eq!(station.left.len(), 24);
    for pair in station.left.chunks(2) {
        assert!(pair[0].1 == long);
        assert_eq!((pair[1].1[..42] == short, &pair[1].1[42..]), (true, &[0; 18][..]));
    }
}

#[test]
fn a_chip_with_nothing_to_say_hands_nothing_up_and_is_looked_at_once_a_millisecond() {
    let mut station = Station::new(0);
    let (before, polls) = (station.counts(), station.polls);
    station.run_for(Duration::from_secs(1));
    let after = station.counts();
    assert_eq!((station.received.len(), station.polls - polls), (0, 0));
    let looks = after.looks - before.looks;
    assert!((900..=1_000).contains(&looks), "{looks} looks");
    // One access for each poll, and the settings ten times.
    let accesses = after.accesses - before.accesses;
    assert!(accesses <= looks + 10 * 7, "{accesses} accesses");
}

#[test]
fn a_frame_is_taken_as_it_arrives_and_leaves_no_interrupt_behind() {
    let mut station = Station::new(0);
    for number in 0..300 {
        station.pins.deliver(frame(OWN, 100, number));
        let arrived = station.now();
        let seen = |station: &mut Station| station.received.len() as u32 == number + 1;
        assert!(station.run_until(arrived + Duration::from_micros(180), seen), "{number} {:?}", station.counts());
        station.run_for(Duration::from_micros(u64::from(number) * 7 % 1_900));
    }
    let before = station.counts();
    assert!(!station.pins.chip().interrupts());
    station.run_for(Duration::from_secs(1));
    let after = station.counts();
    assert_eq!((after.fruitless, after.last), (before.fruitless, None));
    assert!(after.accesses - before.accesses <= 1_000 + 10 * 7, "{after:?}");
}

#[test]
fn what_the_stack_has_no_room_for_waits_in_the_chip_and_commands_still_go_out() {
    let mut station = Station::new(0);
    station.takes = false;
    for number in 0..14 {
        station.pins.deliver(frame(OWN, 1_000, number));
    }
    station.run_for(Duration::from_millis(20));
    let accesses = station.counts().accesses;
    station.run_for(Duration::from_millis(20));
    let idle = station.counts().accesses - accesses;
    assert!(idle <= 2 * 7, "{idle} accesses although nothing could be taken");
    assert!(station.send(&frame([0xff; 6], 100, 99)));
    let asked = station.now();
    assert!(station.run_until(asked + Duration::from_micros(200), |station| !station.left.is_empty()));
    station.takes = true;
    station.run_for(Duration::from_millis(20));
    assert_eq!(station.received.len(), 14);
    for (number, (_, received)) in station.received.iter().enumerate() {
        assert!(*received == frame(OWN, 1_000, number as u32), "number {number}");
    }
}
