//! The sources of states, the evidence that text runs, and the motion of the arm, by software.

use std::time::Duration;

use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::{TextConfig, TextPath, VersionSource};
use outrigger_core::mode::Mode;
use outrigger_tests::cosim::{Buffers, Motion, Rig, Setup};
use outrigger_wire::robot::{Safety, SoftwareVersion};

pub(super) const COLUMNS: [&str; 8] =
    ["packet of 30003", "version by", "states by", "safety by", "accepted by", "text", "stands in", "real traffic"];

pub(super) fn cells(software: SoftwareVersion) -> Vec<String> {
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(Setup::sweep(software, 0.3), &mut buffers);
    rig.command();
    let proof = rig.engine().mode_machine().accepted_by().expect("commanding is never accepted without a proof");
    rig.run_for(Duration::from_secs(2));
    let story = || rig.record().story();
    assert_eq!(rig.engine().mode(), Mode::Command, "{software}: {}", story());
    let fastest = rig.record().motion.iter().map(Motion::speed).fold(0.0, f64::max);
    assert!((fastest - 0.3).abs() < 0.02, "{software}: the arm moved with {fastest} rad/s");

    let identity = rig.engine().peer().identity().expect("connected");
    let known_by = match identity.known_by {
        VersionSource::Message => "its message",
        VersionSource::Configuration => "the configuration",
        VersionSource::Packet => "size of the packet",
    };
    let rate = 1.0 / rig.controller.period().as_secs_f64();
    let states = if identity.states == LinkId::RTDE { "RTDE" } else { "30003" };
    let state = rig.engine().state().expect("a state");
    let safety = match state.safety {
        Safety::Mode(_) => "the state",
        Safety::FromRobotMode(_) => "robot mode",
        Safety::Unknown => "30001, 10 Hz",
    };
    let self_ending = TextPath::new(TextConfig::default(), software).is_self_ending();
    let coast = rig.engine().config().coast_without_us(software).expect("the default form ends by itself");
    vec![
        format!("{} B", identity.packet_size),
        known_by.to_owned(),
        format!("{states}, {rate:.0} Hz"),
        safety.to_owned(),
        proof.name().to_owned(),
        if self_ending { "self-ending" } else { "bare" }.to_owned(),
        format!("{:.2} rad", coast.joints[0]),
        super::recorded(software),
    ]
}
