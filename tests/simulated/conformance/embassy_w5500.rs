//! `port-embassy` over a W5500, with its driver and the transfer times of its bus, opposite the simulated controller.

use std::time::Duration;

use outrigger_core::mode::Mode;
use outrigger_tests::board::{Interface, Network, UrRig};
use outrigger_tests::cosim::Setup;
use outrigger_wire::robot::SoftwareVersion;

use crate::bench::E_SERIES;

fn rig(software: SoftwareVersion) -> UrRig {
    UrRig::new(Setup::to_and_fro(software, 0.5), &Network { interface: Interface::W5500, ..Network::default() })
}

/// Returns a broadcast of an unknown protocol.
fn noise(length: usize) -> Vec<u8> {
    let mut frame = vec![0x55; length];
    frame[..6].fill(0xff);
    frame
}

#[test]
fn every_state_is_answered_by_one_command_through_the_chip() {
    for software in [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 15), E_SERIES] {
        let mut rig = rig(software);
        rig.command();
        let (states, texts) = (rig.commanded(), rig.record().commands.len());
        rig.run_for(Duration::from_secs(10));
        let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
        let cycles = 10_000_000 / rig.controller().period().as_micros() as u64;
        assert!(
            states.abs_diff(cycles) <= 1 && states.abs_diff(texts as u64) <= 1,
            "{software}: {cycles} {states} {texts}"
        );
        assert_eq!(rig.record().fallbacks(), []);
        let seen = rig.pins().expect("a chip").chip().seen();
        assert_eq!((seen.dropped, seen.overlapping_sends, seen.odd_accesses), (0, 0, 0));
    }
}

/// Sends a broadcast of 300 bytes every 250 µs, and four long ones at once every 10 ms: as much as the bus carries,
/// and less than the chip's memory holds. Two states that had to wait behind long frames arrive together and are
/// answered by one command.
#[test]
fn an_arm_is_commanded_through_the_chip_while_others_flood_the_network() {
    let mut rig = rig(E_SERIES);
    rig.command();
    let (states, texts) = (rig.commanded(), rig.record().commands.len());
    let begin = rig.now().as_micros() * 1_000;
    let chip = || rig.pins().expect("a chip").chip();
    (0..8_000).for_each(|number| chip().arrive(begin + number * 250_000, noise(300)));
    (0..800).for_each(|number| chip().arrive(begin + number / 4 * 10_000_000 + number % 4 * 125_000, noise(1_514)));
    rig.run_for(Duration::from_secs(2));
    let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
    assert_eq!((rig.mode(), rig.record().fallbacks()), (Mode::Command, vec![]));
    assert_eq!(rig.pins().expect("a chip").chip().seen().dropped, 0);
    assert!(states >= 990 && texts >= 800, "{states} {texts}");
}

#[test]
fn a_chip_that_forgets_ends_commanding_and_is_there_again_for_the_next_request() {
    let mut rig = rig(E_SERIES);
    rig.command();
    rig.run_for(Duration::from_secs(1));
    rig.pins().expect("a chip").chip().brown_out();
    rig.run_for(Duration::from_secs(1));
    assert_ne!(rig.mode(), Mode::Command);
    assert_eq!(rig.record().fallbacks().len(), 1);
    rig.command();
    rig.run_for(Duration::from_secs(1));
    assert_eq!((rig.mode(), rig.record().fallbacks().len()), (Mode::Command, 1));
}
