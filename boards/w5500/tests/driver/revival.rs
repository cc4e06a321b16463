//! A chip that seems well and hears nothing: started anew as every board does it, and no more often.

use outrigger_core::mode::Mode;
use outrigger_embassy::revival::{Revival, Revive, Sight};
use outrigger_sim::time::SimTime;
use outrigger_w5500::Trouble;
use outrigger_wire::time::Instant;

use crate::faults::{MS, OTHERS, S, comes_back, works};
use crate::station::{OWN, Station, frame};

/// A board without a session, whose robot sends a frame every half second.
struct Board {
    station: Station,
    revival: Revival,
    /// Whether its robot sends.
    spoken_to: bool,
    /// When which was started anew.
    restarts: Vec<(u64, Revive)>,
}

impl Board {
    fn new(station: Station) -> Self {
        Self { station, revival: Revival::new(), spoken_to: true, restarts: vec![] }
    }

    /// Lives on for so many seconds, or until the board is to be started anew.
    fn live(&mut self, seconds: u64) {
        for _ in 0..seconds {
            for _ in 0..2 {
                if self.spoken_to {
                    self.station.pins.deliver(frame(OWN, 100, 1));
                }
                assert!(self.station.send(&frame(OTHERS, 60, 2)), "{:?}", self.station.counts());
                self.station.run_for(500 * MS);
            }
            let now = self.station.now().as_micros();
            let (linked, frames) = (self.station.link(), self.station.counts().received);
            let sight = Sight { linked, frames, mode: Mode::Offline };
            let Some(what) = self.revival.handle(Instant::from_micros(now), sight) else { continue };
            self.restarts.push((now / 1_000_000, what));
            match what {
                Revive::Interface => self.station.restart(),
                Revive::Board => return,
            }
        }
    }
}

#[test]
fn a_chip_that_hears_nothing_any_more_is_reset_after_ten_seconds_and_hears_again() {
    let mut board = Board::new(Station::new(0x0c0c));
    board.live(30);
    assert_eq!(board.restarts, []);
    board.station.pins.chip().faults.wedged = true;
    let (begun, heard) = (board.station.now(), board.station.counts().received);
    board.live(20);
    let [(at, Revive::Interface)] = board.restarts[..] else { panic!("{:?}", board.restarts) };
    assert!((10..=12).contains(&(at - begun.as_micros() / 1_000_000)), "after {at} s");
    let counts = board.station.counts();
    assert_eq!((counts.silent, counts.resets, counts.reopened), (1, 2, 0), "{counts:?}");
    assert_eq!(counts.last, Some(Trouble::Silent));
    assert!(counts.received >= heard + 5, "{counts:?}");
    works(&mut board.station);
}

#[test]
fn where_no_reset_of_the_chip_brings_a_frame_the_board_is_started_anew() {
    let mut board = Board::new(Station::new(0));
    board.live(2);
    board.spoken_to = false;
    board.live(600);
    let mut restarts = board.restarts.iter();
    let last = restarts.next_back();
    assert!(matches!(last, Some((300..=320, Revive::Board))), "{:?}", board.restarts);
    // At 10, 30, 70 and 150 s of silence.
    assert!(restarts.len() <= 4 && board.station.counts().resets <= 5, "{:?}", board.station.counts());
}

#[test]
fn a_bus_that_reads_nothing_but_ones_or_zeros_is_no_silence_and_the_chip_is_found_when_it_answers() {
    for level in [0x00, 0xff] {
        let mut board = Board::new(Station::new(0));
        board.live(2);
        board.station.pins.chip().faults.stuck = Some(level);
        board.live(120);
        let counts = board.station.counts();
        // Without a chip there is no link; its driver resets it by itself, at most every 8 s.
        assert_eq!((board.restarts.len(), board.station.link()), (0, false), "{level:#x}: {counts:?}");
        assert!((14..=18).contains(&counts.resets) && counts.silent == 0, "{level:#x}: {counts:?}");
        assert!(matches!(counts.last, Some(Trouble::NotThere { version }) if version == level), "{counts:?}");
        board.station.pins.chip().faults.stuck = None;
        comes_back(&mut board.station, 10 * S);
        works(&mut board.station);
    }
}

#[test]
fn a_cable_that_is_pulled_meanwhile_neither_counts_as_silence_nor_is_what_is_asked_lost() {
    let mut board = Board::new(Station::new(0));
    board.live(2);
    board.station.pins.chip().faults.wedged = true;
    board.live(8);
    board.station.pins.plug(false);
    board.live(60);
    assert_eq!(board.restarts, [], "there is no link");
    board.station.pins.plug(true);
    board.live(12);
    assert!(matches!(board.restarts[..], [(72..=76, Revive::Interface)]), "{:?}", board.restarts);
    works(&mut board.station);
    // And pulled at the moment at which it is asked.
    board.station.restart();
    board.station.pins.plug(false);
    board.station.run_for(5 * S);
    assert!(!board.station.link());
    board.station.pins.plug(true);
    comes_back(&mut board.station, 5 * S);
    assert_eq!(board.station.counts().silent, 2);
    works(&mut board.station);
}

#[test]
fn however_often_it_is_asked_the_chip_has_time_for_a_link_and_every_wait_ends() {
    let mut station = Station::new(0);
    let before = station.counts().resets;
    for _ in 0..60_000 {
        station.restart();
        station.run_for(MS);
    }
    let resets = station.counts().resets - before;
    assert!((8..=12).contains(&resets), "{:?}", station.counts());
    let end: SimTime = station.now() + 20 * S;
    assert!(station.run_until(end, Station::link), "{:?}", station.counts());
    works(&mut station);
}
