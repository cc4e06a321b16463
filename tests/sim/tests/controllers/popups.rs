//! Popups of programs: shown on 30001 and at the pendant; those that block suspend the program (external control 5.3).

use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::port::Port;

use crate::common::Bench;

const BLOCKS: &str = "def main():\n thread beside():\n  while True:\n   write_output_integer_register(0, \
                      read_output_integer_register(0) + 1)\n   sync()\n  end\n end\n h = run beside()\n sleep(0.1)\n \
                      popup(\"Place the part\", \"Wait\", blocking=True)\n textmsg(\"placed\")\n sleep(100)\nend\n";

/// Returns a program that waits at its popup, a client of the dashboard and one of 30001.
fn waiting(program: &str) -> (Bench, Conn, Conn) {
    let mut bench = Bench::software(5, 15);
    let (desk, primary) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
    bench.send(primary, program);
    bench.run(500);
    (bench, desk, primary)
}

#[test]
fn a_popup_that_blocks_is_shown_and_suspends_the_whole_program_until_it_is_closed() {
    for by_dashboard in [true, false] {
        let (mut bench, desk, primary) = waiting(BLOCKS);
        assert_eq!(bench.controller.program(), (true, true));
        assert_eq!(bench.controller.pendant().popup.as_deref(), Some("Place the part"));
        let messages = bench.messages(primary);
        assert!(messages.iter().any(|message| message[4] == 20 && message.ends_with(b"Place the part")));
        let counted = bench.controller.registers().1.ints[0];
        bench.run(60_000);
        assert_eq!(bench.controller.registers().1.ints[0], counted, "threads wait, too");
        if by_dashboard {
            assert_eq!(bench.ask(desk, "close popup"), "closing popup");
        } else {
            bench.controller.act(Action::ClosePopup);
        }
        bench.run(20);
        assert_eq!((bench.told(primary), bench.controller.program()), (vec!["placed".to_owned()], (true, false)));
        assert!(bench.controller.registers().1.ints[0] > counted);
        assert_eq!(bench.controller.pendant().popup, None);
    }
}

#[test]
fn a_popup_that_does_not_block_stays_while_the_program_goes_on() {
    let (bench, ..) = waiting("def main():\n popup(\"Note\")\n sleep(100)\nend\n");
    assert_eq!(
        (bench.controller.program(), bench.controller.pendant().popup.as_deref()),
        ((true, false), Some("Note"))
    );
}

#[test]
fn the_arm_rests_while_a_popup_waits_and_goes_on_afterwards() {
    let (mut bench, ..) = waiting(
        "def main():\n thread move():\n  while True:\n   speedj([0.2,0,0,0,0,0], 10, 0.1)\n  end\n end\n run move()\n \
         sleep(0.3)\n popup(\"Look\", blocking=True)\n sleep(100)\nend\n",
    );
    assert_eq!(bench.qd_target(), [0.0; 6]);
    bench.controller.act(Action::ClosePopup);
    bench.run(200);
    assert!((bench.qd_target()[0] - 0.2).abs() < 1e-9);
}

#[test]
fn closing_a_popup_in_a_protective_stop_moves_nothing() {
    let (mut bench, ..) = waiting(BLOCKS);
    bench.controller.act(Action::ProtectiveStop);
    bench.controller.act(Action::ClosePopup);
    bench.run(6000);
    assert_eq!(bench.controller.program(), (true, true));
    bench.controller.act(Action::UnlockProtectiveStop);
    bench.run(100);
    assert_eq!(bench.controller.program(), (true, true), "nothing resumes by itself");
    bench.controller.act(Action::ResumeProgram);
    bench.run(100);
    assert_eq!(bench.controller.program(), (true, false));
}

#[test]
fn play_closes_the_popup_it_resumes_from_and_a_stopped_program_waits_for_none() {
    let (mut bench, desk, _) = waiting(BLOCKS);
    assert_eq!(bench.ask(desk, "play"), "Starting program");
    assert_eq!((bench.controller.program(), bench.controller.pendant().popup.clone()), ((true, false), None));
    let (mut bench, desk, _) = waiting(BLOCKS);
    assert_eq!(bench.ask(desk, "stop"), "Stopped");
    bench.controller.act(Action::ClosePopup);
    bench.run(100);
    assert_eq!(bench.controller.program(), (false, false));
}
