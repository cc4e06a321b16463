//! Programs at the controller's address that connect to our ports but are not ours. None of them receives a command
//! or is trusted, each is reported, and our own program is served afterwards.

use std::collections::HashSet;

use outrigger_core::engine::ur::{CommandPath, Delivery, ProgramEvent, UrEvent};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::external_control::{ExternalControl, NODE, PROGRAM};
use outrigger_sim::pendant::ProgramFile;
use outrigger_tests::cosim::{Buffers, Rig, Setup};
use outrigger_wire::robot::SoftwareVersion;

use super::{ms, secs};

/// The programs that connect in place of ours: a description, and the statements at each port to which the program
/// connects.
const SAYS: [(&str, &str); 6] = [
    ("silence", ""),
    ("the URCap's question", "socket_send_string(\"request_program\", name)\n  socket_send_byte(10, name)"),
    ("random bytes", "socket_send_string(\"q%8.zL0!k#w,Vd4;\", name)"),
    ("half a token", "socket_send_byte(71, name)\n  socket_send_byte(3, name)"),
    ("the token of another session", "socket_send_int(1073741825, name)"),
    ("a result", "socket_send_int(0, name)"),
];

fn imposter(says: &str, ports: &[u16]) -> String {
    let mut script = "def program():\n".to_owned();
    for port in ports {
        script += &format!("  name = \"s{port}\"\n  socket_open(\"192.168.56.1\", {port}, name)\n");
        if !says.is_empty() {
            script += &format!("  {says}\n");
        }
    }
    script + "  while True:\n    sleep(0.1)\n  end\nend\n"
}

fn other(rig: &Rig<'_>) -> HashSet<LinkId> {
    let of = |(_, event): &(_, Event<UrEvent>)| match event {
        Event::Peer(UrEvent::Program(ProgramEvent::Other { link, .. })) => Some(*link),
        _ => None,
    };
    rig.record().events.iter().filter_map(of).collect()
}

/// Returns a set-up with the External Control URCap and `script` as the program of the pendant.
fn setup(path: CommandPath, script: String) -> Setup {
    let mut setup = Setup::sweep(SoftwareVersion::new(5, 15), 0.5);
    setup.config.peer.path = path;
    setup.config.peer.program.by = Delivery::UrCap;
    setup.config.mode.take_over = true;
    setup.controller.files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
    setup.controller.external_control = Some(ExternalControl { host: "192.168.56.1".into(), port: 50_002 });
    setup
}

#[test]
fn a_program_without_a_proof_is_never_commanded_and_is_named_at_each_port() {
    for (what, says) in SAYS {
        for (path, ports) in [
            (CommandPath::ExternalControl, &[50_003, 50_004, 50_001][..]),
            (CommandPath::ExternalControl, &[50_001]),
            (CommandPath::ReverseSpeedJ, &[50_001]),
        ] {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(setup(path, imposter(says, ports)), &mut buffers);
            rig.run_for(secs(4));
            rig.controller.act(Action::PlayProgram);
            rig.run_for(ms(500));
            rig.request();
            rig.run_for(secs(3));
            let story = rig.record().story();
            assert!(rig.controller.truth().at_rest(), "{path:?} {what}\n{story}");
            let refused = outrigger_tests::refused(Reason::ProgramAway);
            assert!(rig.record().events.iter().any(|(_, event)| *event == refused), "{path:?} {what}\n{story}");
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{path:?} {what}\n{story}");
            let links = ports.iter().map(|port| match port {
                50_003 => LinkId::TRAJECTORY,
                50_004 => LinkId::COMMAND,
                _ => LinkId::REVERSE,
            });
            // The third in a row is counted, and reported with the fourth.
            let missing = links.filter(|link| !other(&rig).contains(link)).count();
            assert!(missing <= ports.len() / 3, "{path:?} {what}: {:?}\n{story}", other(&rig));
            let connected = |event: &Event<UrEvent>| {
                matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Connected | ProgramEvent::Trajectory(_))))
            };
            assert!(!rig.record().events.iter().any(|(_, event)| connected(event)), "{path:?} {what}\n{story}");
        }
    }
}

/// Checks that our program is served although another one connects just before it, and holds each port for as long as
/// it is permitted to.
#[test]
fn our_program_is_served_after_one_that_came_before_it() {
    for path in [CommandPath::ExternalControl, CommandPath::ReverseSpeedJ] {
        let ports = if path == CommandPath::ExternalControl { &[50_003, 50_004, 50_001][..] } else { &[50_001] };
        let early = imposter("", ports).replace("  while True:\n    sleep(0.1)\n  end\n", "");
        let script = format!("{}  sleep(1.2)\n {NODE}\nend\n", early.trim_end().trim_end_matches("end"));
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup(path, script), &mut buffers);
        rig.run_for(secs(4));
        rig.controller.act(Action::PlayProgram);
        rig.run_for(secs(3));
        rig.command();
        rig.run_for(ms(900));
        let (qd, story) = (rig.controller.truth().qd, rig.record().story());
        assert!((qd[0] - 0.5).abs() < 0.015, "{path:?}: {qd:?}\n{story}");
        assert!(!other(&rig).is_empty(), "{path:?}\n{story}");
    }
}
