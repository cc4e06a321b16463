//! The faults of [`faults`](super::faults) with states over RTDE: 30004 must fulfil the same requirements as 30003,
//! and each of the two by itself.

use outrigger_core::engine::ur::rtde::Unusable;
use outrigger_core::engine::ur::{DownCause, Next, UrEvent};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_tests::cosim::{Buffers, Command, Rig, Setup};
use outrigger_wire::robot::{Generation, SoftwareVersion};

use super::faults::{DEAFENED, Falls, LATE, Rides, Row, TABLES, always_rides, eight_ms, hold_one, row};
use super::{ms, secs};

/// The oldest software with RTDE, the newest CB3 software, and an e-Series version.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 4), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

/// The faults whose outcome with states over RTDE differs from that with states from 30003.
const OTHERWISE: &[Row] = &[
    // There is a third connection, so other segments are lost.
    row("quick-loss", "1%", |software| if eight_ms(software) { Falls(LATE, ms(3_100)) } else { Rides }),
    // A recipe has a fixed length.
    row("truncated", "8", |_| Falls(LATE, ms(50))),
    row("extended", "4", |_| Falls(LATE, ms(50))),
    row("garbage", "", |_| Falls(LATE, ms(50))),
];

/// Faults on 30004 alone: text has its own connection, and a fault that delays states ends the motion.
const STATES: &[Row] = &[
    row("split/30004", "7", always_rides),
    row("coalesce/30004", "4", always_rides),
    row("nagle/30004", "16ms", always_rides),
    row("unknown/30004", "", always_rides),
    row("oversize/30004", "20000", always_rides),
    row("polluted/30004", "17", always_rides),
    row("skip/30004", "10", always_rides),
    row("repeat/30004", "10", always_rides),
    row("wrong-type/30004", "", always_rides),
    row("wrong-recipe/30004", "10", always_rides),
    row("mute/30004", "", always_rides),
    row("quick-loss/30004", "1%", always_rides),
    row("skip/30004", "2", |software| Falls(&[Reason::GradeLow], ms(if eight_ms(software) { 1_000 } else { 250 }))),
    row("delay/30004", "20ms", |_| Falls(LATE, ms(60))),
    row("jitter/30004", "10ms", |_| Falls(LATE, secs(6))),
    row("loss/30004", "5%", |_| Falls(LATE, secs(3))),
    row("backlog/30004", "300ms", |_| Falls(LATE, ms(50))),
    row("stall/30004/down", "", |_| Falls(LATE, ms(50))),
    row("wrong-recipe/30004", "1", |_| Falls(LATE, ms(50))),
    row("truncated/30004", "8", |_| Falls(LATE, ms(50))),
    row("extended/30004", "4", |_| Falls(LATE, ms(50))),
    row("garbage/30004", "", |_| Falls(LATE, ms(50))),
    row("drop/30004", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
    row("service-off", "rtde", |software| {
        if software.generation() == Generation::ESeries { Falls(&[Reason::LinkClosed], ms(10)) } else { Rides }
    }),
];

/// Faults on 30003 alone, which carries our text: its packets are not read while 30004 delivers states.
const TEXT: &[Row] = &[
    row("delay/30003/down", "20ms", always_rides),
    row("truncated/30003", "8", always_rides),
    row("extended/30003", "4", always_rides),
    row("skip/30003", "2", always_rides),
    row("stall/30003/up", "", |_| Falls(&[Reason::Unacknowledged], ms(50))),
    row("delay/30003/up", "10ms", always_rides),
    row("mute/30003", "", |_| Falls(DEAFENED, ms(120))),
    row("drop/30003", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
];

fn hold(rows: &[Row]) {
    for row in rows {
        SOFTWARE.into_iter().for_each(|software| drop(hold_one(row, software, &mut Buffers::with_rtde())));
    }
}

fn source(rig: &Rig<'_>) -> Option<LinkId> {
    rig.engine().peer().identity().map(|identity| identity.states)
}

#[test]
fn every_fault_has_over_rtde_the_outcome_that_it_has_over_30003() {
    for row in TABLES.into_iter().flatten() {
        let same = |other: &&Row| (other.kind, other.argument) == (row.kind, row.argument);
        hold(std::slice::from_ref(OTHERWISE.iter().find(same).unwrap_or(row)));
    }
}

#[test]
fn what_keeps_states_away_ends_commanding_by_name_though_30003_speaks() {
    hold(STATES);
}

#[test]
fn what_keeps_text_away_ends_commanding_by_name_though_30004_speaks() {
    hold(TEXT);
}

/// Returns the causes for which the RTDE link went down, each with the next step.
fn downs(rig: &Rig<'_>) -> Vec<(DownCause, Next)> {
    let down = |(_, event): &(_, Event<UrEvent>)| match event {
        Event::Peer(UrEvent::Down { link: LinkId::RTDE, cause, next, .. }) => Some((*cause, *next)),
        _ => None,
    };
    rig.record().events.iter().filter_map(down).collect()
}

/// Returns a simulation in the middle of a motion, with states over RTDE.
fn in_motion(software: SoftwareVersion, buffers: &mut Buffers) -> Rig<'_> {
    let mut rig = Rig::new(Setup::sweep(software, 0.5), buffers);
    rig.command();
    rig.run_for(secs(1));
    assert_eq!(source(&rig), Some(LinkId::RTDE));
    rig
}

#[test]
fn a_service_that_comes_back_with_another_type_is_named_and_done_without() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = in_motion(software, &mut buffers);
        rig.controller.inject(Fault { port: Some(Port::Rtde), ..Fault::new(FaultKind::WrongType, rig.now(), None) });
        rig.run_for(ms(500));
        assert_eq!(rig.record().fallbacks(), [], "what is set up stays as it is");
        let moment = rig.now() + ms(1);
        rig.controller.inject(Fault { port: Some(Port::Rtde), ..Fault::new(FaultKind::Drop, moment, Some(ms(1))) });
        rig.run_for(secs(5));
        let story = rig.record().story();
        assert_eq!(rig.record().fallbacks(), [Reason::LinkClosed], "{software}\n{story}");
        let downs = downs(&rig);
        assert!(matches!(downs[0], (DownCause::Closed, Next::NewSession(_))), "{downs:?}");
        let named = |cause| matches!(cause, DownCause::Rtde(Unusable::OtherType(v)) if v.name() == "timestamp");
        assert!(named(downs[1].0) && downs[1].1 == Next::Without && downs.len() == 2, "{downs:?}\n{story}");
        assert_eq!(source(&rig), Some(LinkId::REALTIME));
        assert!(rig.record().motion.last().is_some_and(|motion| motion.speed() == 0.0));
        rig.input(Input::Acknowledge);
        rig.command();
    }
}

#[test]
fn a_service_that_a_boot_starts_twice_gives_states_in_the_end() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = in_motion(software, &mut buffers);
        rig.controller.act(Action::Restart(secs(2)));
        let gone = rig.now() + ms(1);
        rig.run_for(secs(15));
        let story = rig.record().story();
        assert_eq!(rig.record().fallbacks(), [Reason::LinkClosed], "{software}\n{story}");
        let closed = |(cause, _): &&(DownCause, Next)| *cause == DownCause::Closed;
        assert_eq!(downs(&rig).iter().filter(closed).count(), 2, "by the restart, and by the second start\n{story}");
        assert_eq!(source(&rig), Some(LinkId::RTDE), "{software}\n{story}");
        assert!(!rig.record().commands_since(gone).any(Command::moves), "{story}");
        rig.controller.act(Action::ReleaseBrakes);
        rig.run_for(secs(5));
        rig.input(Input::Acknowledge);
        rig.command();
    }
}
