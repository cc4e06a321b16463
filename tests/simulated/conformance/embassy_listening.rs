//! A robot that connects to the board, through the stack of `port-embassy`: acceptance of the connection, messages in
//! pieces, and a move.

use std::time::Duration;

use outrigger_core::command::JointMove;
use outrigger_core::engine::Event;
use outrigger_core::engine::test_peer::{Message, TestConfig, TestEvent, TestOptions};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_emulated::wire::{Conditions, Loss};
use outrigger_tests::board::CallerRig;
use outrigger_wire::robot::JointPositions;

fn rig(chunk: u16, conditions: Conditions, seed: u64) -> CallerRig {
    let peer = TestOptions { chunk, ..TestConfig::default().peer };
    CallerRig::new(TestConfig { peer, ..TestConfig::default() }, conditions, seed)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns a move of the first joint that takes about a second.
fn asked(to: f32) -> JointMove<2> {
    JointMove::new(JointPositions([to, 0.0]), 0.3, 1.0).expect("a move")
}

fn is_start(message: &Message) -> bool {
    matches!(message, Message::Start(..))
}

#[test]
fn a_stranger_is_reset_and_counted_and_the_robot_is_let_in_behind_him() {
    let mut rig = rig(40, Conditions::default(), 1);
    rig.caller().calls = false;
    for count in 1..=3 {
        rig.run_for(millis(20));
        rig.caller().knock();
        rig.wait("the stranger was turned away", |rig| rig.strangers() == count);
        rig.run_for(millis(20));
        assert!(!rig.is_stranger_in(), "{}", rig.story());
    }
    rig.caller().calls = true;
    rig.command();
    assert_eq!(rig.strangers(), 3);
    // While the robot is connected, the board does not listen.
    rig.caller().knock();
    rig.run_for(millis(500));
    assert!(!rig.is_stranger_in());
    assert_eq!((rig.mode(), rig.strangers()), (Mode::Command, 3), "{}", rig.story());
}

#[test]
fn a_move_in_many_chunks_is_executed_and_a_release_cancels_the_next() {
    for chunk in [1, 7, 64, 1460] {
        let mut rig = rig(chunk, Conditions::default(), 1);
        rig.command();
        rig.ask(asked(0.3));
        rig.run_for(millis(2_500));
        assert_eq!(rig.robot().shown().targets, [0.3, 0.0], "{chunk}\n{}", rig.story());
        rig.ask(asked(0.0));
        rig.run_for(millis(500));
        rig.handle().release();
        rig.wait("rest", |rig| rig.mode() == Mode::Monitor);
        assert!((0.1..0.3).contains(&rig.robot().shown().targets[0]), "{}", rig.story());
        let told = &rig.caller().told;
        assert_eq!(told.iter().filter(|(_, message)| is_start(message)).count(), 2);
        assert!(told.iter().any(|(_, message)| *message == Message::Cancel(2)));
        assert_eq!(rig.latch(), None);
    }
}

#[test]
fn a_robot_that_hangs_up_in_a_move_is_let_in_again_and_nothing_resumes() {
    let mut rig = rig(40, Conditions::default(), 1);
    rig.command();
    rig.ask(asked(1.0));
    rig.run_for(millis(1_000));
    rig.caller().hang_up();
    rig.run_for(millis(5_000));
    let found = |event: &Event<TestEvent>| *event == Event::Peer(TestEvent::Found);
    assert_eq!(rig.events().iter().filter(|(_, event)| found(event)).count(), 2, "{}", rig.story());
    assert_eq!((rig.mode(), rig.latch()), (Mode::Monitor, Some(Reason::LinkClosed)), "{}", rig.story());
    assert_eq!(rig.caller().told.iter().filter(|(_, message)| is_start(message)).count(), 1);
    rig.command();
}

#[test]
fn over_a_bad_wire_messages_and_states_stay_whole() {
    let (mut lost, mut told) = (0, 0);
    for seed in 1..=6 {
        let conditions = Conditions { loss: Loss::Share(0.003), ..Conditions::default() };
        let mut rig = rig(11, conditions, seed);
        for _ in 0..20 {
            rig.run_for(millis(1_000));
            rig.handle().acknowledge();
            rig.handle().request(rig.handle().epoch());
        }
        // A broken message would make the robot panic, and a broken state would be a jump of its clock.
        assert!(!rig.events().iter().any(|(_, event)| matches!(event, Event::ClockJump(_))), "{}", rig.story());
        told += rig.caller().told.len();
        lost += rig.up.counts().lost + rig.down.counts().lost;
    }
    assert!(lost > 50 && told > 500, "{lost} frames lost, {told} messages");
}
