//! A restart that the application requests.

use crate::faults::{MS, S, comes_back, works};
use crate::station::Station;

#[test]
fn a_restart_that_is_requested_while_the_cable_is_out_is_not_lost() {
    let mut station = Station::new(0);
    station.restart();
    station.pins.plug(false);
    station.run_for(5 * S);
    assert!(!station.link());
    station.pins.plug(true);
    comes_back(&mut station, 5 * S);
    assert_eq!(station.counts().silent, 1);
    works(&mut station);
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
    let end = station.now() + 20 * S;
    assert!(station.run_until(end, Station::link), "{:?}", station.counts());
    works(&mut station);
}
