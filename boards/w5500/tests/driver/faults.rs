//! Tests with a failing chip, bus or cable: every wait ends, errors are counted, and the driver recovers where it can.

use std::time::Duration;

use outrigger_emulated::w5500::Line;
use outrigger_emulated::{Rng, SimTime};
use outrigger_w5500::{Command, Setting, Trouble};

use crate::floods::flood;
use crate::station::{OWN, Station, frame};

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const S: Duration = Duration::from_secs(1);
pub(crate) const OTHERS: [u8; 6] = [0xff; 6];

/// Checks that a frame passes through the driver in each direction.
pub(crate) fn works(station: &mut Station) {
    let (received, left) = (station.received.len(), station.left.len());
    station.pins.deliver(frame(OWN, 100, 1));
    assert!(station.send(&frame(OTHERS, 100, 2)));
    station.run_for(3 * MS);
    assert_eq!(station.received[received..].iter().map(|(_, frame)| frame).collect::<Vec<_>>(), [&frame(OWN, 100, 1)]);
    assert_eq!(station.left[left..].iter().map(|(_, frame)| frame).collect::<Vec<_>>(), [&frame(OTHERS, 100, 2)]);
}

/// Checks that there is a link again within this time.
pub(crate) fn comes_back(station: &mut Station, within: Duration) {
    let end = station.now() + within;
    assert!(station.run_until(end, Station::link), "{} {:?}", station.now(), station.counts());
}

#[test]
fn a_chip_that_never_answers_is_asked_less_and_less_often_and_found_when_it_does() {
    let mut station = Station::without_link(0);
    station.pins.chip().faults.absent = true;
    for _ in 0..600 {
        // Frames that the stack sends meanwhile are dropped, and the stack never has to wait.
        assert!(station.send(&frame(OTHERS, 60, 1)));
        station.run_for(200 * MS);
    }
    let counts = station.counts();
    assert!(!station.link());
    assert_eq!((counts.resets, counts.not_there), (18, 18), "{counts:?}");
    assert_eq!(counts.last, Some(Trouble::NotThere { version: 0xff }));
    assert!(counts.unsent >= 590 && counts.sent == 0, "{counts:?}");
    assert!(counts.accesses < 120 * 18, "{counts:?}");
    station.pins.chip().faults.absent = false;
    comes_back(&mut station, 9 * S);
    assert_eq!(station.left.len(), 0, "what was for earlier is not sent now");
    works(&mut station);
}

#[test]
fn a_chip_that_forgets_itself_is_set_up_again_whatever_it_was_doing() {
    for busy in [false, true] {
        let mut station = Station::new(7);
        if busy {
            flood(&mut station, 30 * MS, || 900);
            station.run_for(10 * MS);
            assert!(station.send(&frame(OTHERS, 1_514, 3)));
            station.run_for(Duration::from_micros(300));
        }
        station.pins.chip().brown_out();
        let end = station.now() + 200 * MS;
        assert!(station.run_until(end, |station| !station.link()), "it is not noticed: {:?}", station.counts());
        comes_back(&mut station, 1_500 * MS);
        station.run_for(200 * MS);
        let counts = station.counts();
        assert!(counts.forgotten >= 1 && counts.resets == 2, "{counts:?}");
        assert!(matches!(counts.last, Some(Trouble::Forgotten { .. })), "{counts:?}");
        works(&mut station);
    }
}

#[test]
fn one_register_that_changed_is_named() {
    let mut station = Station::new(0);
    // Another device on the bus writes a hardware address.
    let mut chip = station.pins.chip();
    let at = 1_000_000_000;
    chip.select(at);
    for byte in [0x00, 0x0e, 0x04, 0x10] {
        chip.exchange(at, byte);
    }
    drop(chip);
    station.run_for(Duration::from_millis(1_200));
    let trouble = Trouble::Forgotten { setting: Setting::Address, expected: 15, found: 16 };
    assert_eq!(station.counts().last, Some(trouble));
    comes_back(&mut station, 2 * S);
    works(&mut station);
}

#[test]
fn one_access_that_was_read_wrongly_resets_nothing_and_loses_no_link() {
    // Longer than the time between two checks of the settings.
    for number in 0..140 {
        let mut station = Station::new(0x1234);
        station.pins.garble((0..number).map(|_| false).chain([true]));
        station.run_for(150 * MS);
        let counts = station.counts();
        assert_eq!((counts.resets, counts.reopened, counts.link_lost, counts.last), (1, 0, 0, None), "{number}");
        works(&mut station);
    }
}

#[test]
fn a_length_that_cannot_be_empties_the_chip_and_nothing_of_it_goes_up() {
    for length in [0, 1, 2, 15, 103, 600, 2_049, 0x8000, 0xffff] {
        let mut station = Station::new(0x3ff0);
        station.pins.chip().faults.lengths.push_back(length);
        station.pins.deliver(frame(OWN, 100, 1));
        station.run_for(5 * MS);
        let counts = station.counts();
        assert_eq!((counts.lengths, counts.reopened, counts.resets), (1, 1, 1), "{length}: {counts:?}");
        assert_eq!(counts.last, Some(Trouble::Length { frame: length, waiting: 102 }));
        assert_eq!(station.received, []);
        works(&mut station);
    }
}

#[test]
fn a_number_of_bytes_that_cannot_be_does_not_bring_anything_up() {
    let mut station = Station::new(0);
    station.pins.chip().faults.received.extend([0x4001, 0x4001]);
    station.run_for(5 * MS);
    assert_eq!(station.counts().last, Some(Trouble::Length { frame: 0, waiting: 0x4001 }));
    works(&mut station);
    // A number that changes with every reading.
    station.run_for(200 * MS);
    station.pins.chip().faults.received.extend((0..80).map(|number| if number % 2 == 0 { 0x0100 } else { 0x0200 }));
    station.run_for(5 * MS);
    assert_eq!(station.counts().last, Some(Trouble::Unsettled));
    station.pins.chip().faults.received.clear();
    works(&mut station);
}

#[test]
fn a_frame_that_is_too_long_is_passed_over() {
    let mut station = Station::new(0);
    for length in [1_515, 1_518, 2_046] {
        station.pins.deliver(frame(OWN, length, 1));
        station.pins.deliver(frame(OWN, 1_514, 2));
    }
    station.run_for(10 * MS);
    assert_eq!((station.counts().oversized, station.counts().last), (3, None));
    assert_eq!(station.received.len(), 3);
    assert!(station.received.iter().all(|(_, received)| *received == frame(OWN, 1_514, 2)));
}

#[test]
fn lies_without_end_are_answered_at_a_bounded_rate() {
    let mut station = Station::new(0);
    station.pins.chip().faults.lengths.extend([5; 100_000]);
    for _ in 0..20_000 {
        station.pins.deliver(frame(OWN, 60, 1));
        station.run_for(MS);
    }
    let counts = station.counts();
    assert!(counts.resets <= 8 && counts.reopened <= 20, "{counts:?}");
    assert_eq!(station.received, []);
    station.pins.chip().faults.lengths.clear();
    comes_back(&mut station, 9 * S);
    works(&mut station);
}

#[test]
fn commands_that_are_not_taken_end_after_10_ms_and_the_chip_is_reset() {
    let mut station = Station::new(0);
    station.pins.chip().faults.deaf = true;
    assert!(station.send(&frame(OTHERS, 100, 1)));
    let end = station.now() + 40 * MS;
    assert!(station.run_until(end, |station| !station.link()), "{:?}", station.counts());
    let counts = station.counts();
    assert_eq!((counts.not_taken, counts.reopened), (2, 1), "{counts:?}");
    assert_eq!(counts.last, Some(Trouble::NotTaken(Command::Close)));
    station.pins.chip().faults.deaf = false;
    comes_back(&mut station, 2 * S);
    works(&mut station);
}

#[test]
fn while_a_frame_cannot_be_sent_frames_are_received_and_after_100_ms_it_is_given_up() {
    let mut station = Station::new(0);
    station.pins.chip().faults.mute = true;
    for number in 0..5 {
        assert!(station.send(&frame(OTHERS, 1_000, number)));
    }
    let begun = station.now();
    for number in 0..40 {
        station.pins.deliver(frame(OWN, 1_000, number));
        station.run_for(2 * MS);
        assert_eq!(station.received.len() as u32, number + 1, "{:?}", station.counts());
    }
    assert_eq!((station.counts().last, station.counts().sent), (None, 1));
    let end = begun + 103 * MS;
    assert!(station.run_until(end, |station| station.counts().last.is_some()), "{:?}", station.counts());
    assert_eq!(station.counts().last, Some(Trouble::NotSent));
    assert_eq!(station.counts().reopened, 1);
    station.pins.chip().faults.mute = false;
    station.run_for(20 * MS);
    // The frame in the chip is lost, those of the stack are not.
    assert_eq!(station.left.len(), 4);
    works(&mut station);
}

#[test]
fn a_link_that_is_lost_is_seen_while_a_frame_waits_and_nothing_old_goes_out_when_it_is_back() {
    for waiting in [0, 1, 2, 5] {
        let mut station = Station::new(0);
        station.run_for(150 * MS);
        station.pins.plug(false);
        let pulled = station.now();
        for number in 0..waiting {
            assert!(station.send(&frame(OTHERS, 500, number)));
        }
        // Two frames: the first is in the chip, the second waits for it.
        let within = if waiting >= 2 { 13 * MS } else { 102 * MS };
        assert!(station.run_until(pulled + within, |station| !station.link()), "{waiting} {:?}", station.counts());
        // The stack does not know, and continues to send.
        for number in 0..40 {
            assert!(station.send(&frame(OTHERS, 500, 100 + number)), "{:?}", station.counts());
            station.run_for(MS);
        }
        station.pins.plug(true);
        comes_back(&mut station, 200 * MS);
        station.run_for(20 * MS);
        assert_eq!(station.left, [], "{waiting}");
        let counts = station.counts();
        assert_eq!((counts.link_lost, counts.resets, counts.last), (1, 1, None), "{counts:?}");
        works(&mut station);
    }
}

#[test]
fn a_chip_that_sends_without_saying_so_sends() {
    let mut station = Station::new(0);
    station.pins.chip().faults.sends_in_silence = true;
    for number in 0..200 {
        assert!(station.send(&frame(OTHERS, 100, number)));
        station.run_for(Duration::from_micros(150));
    }
    station.run_for(MS);
    assert_eq!((station.left.len(), station.counts().last), (200, None));
    assert_eq!(station.pins.chip().seen().overlapping_sends, 0);
}

#[test]
fn without_its_interrupt_frames_are_found_within_a_millisecond() {
    let mut station = Station::new(0);
    station.pins.set_line(Line::Broken);
    for number in 0..100 {
        station.pins.deliver(frame(OWN, 100, number));
        let arrived = station.now();
        assert!(station.run_until(arrived + Duration::from_micros(1_150), |station| {
            station.received.len() as u32 == number + 1
        }));
        station.run_for(Duration::from_micros(u64::from(number) * 37));
    }
    let counts = station.counts();
    assert!(counts.unannounced >= 90 && counts.last.is_none(), "{counts:?}");
}

#[test]
fn a_shorted_interrupt_takes_no_more_than_a_few_looks_in_a_millisecond() {
    let mut station = Station::new(0);
    station.pins.set_line(Line::Shorted);
    let before = station.counts();
    station.run_for(S);
    let counts = station.counts();
    assert!(counts.accesses - before.accesses < 11_000, "{counts:?}");
    assert!(counts.fruitless - before.fruitless > 3_000, "{counts:?}");
    for _ in 0..20 {
        works(&mut station);
    }
}

#[test]
fn an_error_of_the_bus_at_any_access_is_counted_and_mended() {
    for number in 0..140 {
        // From the start on, over the first frames in each direction.
        let mut station = Station::without_link(11);
        station.pins.fail((0..number).map(|_| false).chain([true]));
        let end = station.now() + 3 * S;
        assert!(station.run_until(end, Station::link), "{number} {:?}", station.counts());
        for number in 0..60 {
            station.pins.deliver(frame(OWN, 200, number));
            station.send(&frame(OTHERS, 200, number));
            station.run_for(4 * MS);
        }
        comes_back(&mut station, 3 * S);
        assert_eq!(station.counts().bus, 1, "{number} {:?}", station.counts());
        works(&mut station);
    }
}

/// Checks that after any sequence of faults the interface works, and that no frame was received that had not arrived.
#[test]
fn after_any_story_of_faults_the_interface_works() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed, 55);
        let mut station = Station::without_link(rng.up_to(0xffff) as u16);
        for number in 0..40 {
            match rng.up_to(16) {
                0 => station.pins.chip().faults.absent = true,
                1 => station.pins.chip().faults.deaf = true,
                2 => station.pins.chip().faults.mute = true,
                3 => station.pins.chip().faults.lengths.push_back(rng.up_to(0xffff) as u16),
                4 => station.pins.chip().faults.received.push_back(rng.up_to(0xffff) as u16),
                5 => station.pins.chip().brown_out(),
                6 => station.pins.plug(false),
                7 => station.pins.plug(true),
                8 => station.pins.set_line(Line::Broken),
                9 => station.pins.set_line(Line::Shorted),
                10 => station.pins.fail([true, false, true]),
                11 => station.restart(),
                12 => station.pins.chip().faults.stuck = Some([0, 0xff][rng.up_to(1) as usize]),
                13 => station.pins.chip().faults.wedged = true,
                _ => {
                    station.pins.chip().faults = Default::default();
                    station.pins.set_line(Line::Works);
                }
            }
            for _ in 0..rng.up_to(6) {
                station.pins.deliver(frame(OWN, 60 + rng.up_to(1_454) as usize, number));
                station.send(&frame(OTHERS, 60 + rng.up_to(1_454) as usize, number));
            }
            station.run_for(Duration::from_micros(rng.up_to(400_000)));
        }
        station.pins.chip().faults = Default::default();
        station.pins.set_line(Line::Works);
        station.pins.plug(true);
        station.pins.fail([]);
        station.run_for(12 * S);
        assert!(station.link(), "seed {seed}: {:?}", station.counts());
        assert!(station.received.iter().all(|(_, frame)| frame.len() >= 14), "seed {seed}");
        let before = station.counts();
        works(&mut station);
        assert!(before.resets <= 2 + (station.now().since(SimTime::ZERO).as_secs() as u32), "seed {seed}: {before:?}");
    }
}
