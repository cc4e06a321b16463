//! States by RTDE through the stack of `port-embassy`, to the frame.

use std::time::Duration;

use outrigger_core::robot::SoftwareVersion;
use outrigger_core::session::{Event, LinkId};
use outrigger_embassy::Buffers;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_tests::board::{Network, Rig, Segment, Way};
use outrigger_tests::cosim::Setup;

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
/// The least that RTDE may be given: what is asked, and four states.
const LEAST: usize = 512 + 4 * 432;

/// A board in motion, with states by RTDE.
fn in_motion<const RTDE: usize>(software: SoftwareVersion, buffers: Buffers<8192, RTDE>) -> Rig {
    let mut rig = Rig::with_buffers(Setup::to_and_fro(software, 0.5), &Network::default(), buffers);
    rig.command();
    let source = |(_, event): &(SimTime, Event)| match event {
        Event::Established(identity) => Some(identity.states),
        _ => None,
    };
    assert_eq!(rig.record().events.iter().find_map(source), Some(LinkId::RTDE), "{software}");
    rig
}

#[test]
fn every_state_by_rtde_is_answered_by_one_command_for_half_a_minute() {
    for software in SOFTWARE {
        let mut rig = in_motion(software, Buffers::with_rtde());
        let (states, texts) = (rig.commanded(), rig.record().commands.len());
        rig.run_for(Duration::from_secs(30));
        let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
        let cycles = 30_000_000 / rig.controller().period().as_micros() as u64;
        assert_eq!((states, texts as u64), (cycles, cycles), "{software}");
        assert_eq!(rig.record().fallbacks(), []);
    }
}

#[test]
fn a_state_by_rtde_that_is_lost_is_sent_again_behind_three_more_and_commanding_goes_on() {
    for software in SOFTWARE {
        one_is_lost(in_motion(software, Buffers::with_rtde()));
        one_is_lost(in_motion(software, Buffers::<8192, LEAST>::of_size()));
    }
}

/// What this costs: four periods between two states.
fn one_is_lost(mut rig: Rig) {
    let (at, period) = (rig.now() + Duration::from_millis(500), rig.controller().period());
    let mut lost = false;
    rig.lose(move |way, now, frame| {
        let rtde = |segment: Segment<'_>| segment.from == Port::Rtde.number() && !segment.payload.is_empty();
        let hit = !lost && way == Way::Down && now >= at && Segment::of(frame).is_some_and(rtde);
        lost |= hit;
        hit
    });
    rig.run_for(Duration::from_secs(1));
    let gaps = rig.states().windows(2).map(|pair| pair[1].since(pair[0])).filter(|gap| *gap > period * 2).collect();
    let [gap]: [Duration; 1] = Vec::try_into(gaps).expect("one gap");
    assert!(gap <= period * 4 + Duration::from_millis(1), "{gap:?}");
    assert_eq!(rig.record().fallbacks(), []);
}
