//! The behaviour of the simulated KRC against the table of the specification, row by row.

use std::time::Duration;

use crate::remote::{Remote, Run};
use outrigger_sim::krc::{Bridging, Convention, Fault, Krc, Move, OperationMode, Options, Reason};
use outrigger_sim::time::SimTime;
use outrigger_wire::fri::{ControlScheme, FriState, Quality};

fn fault(spec: &str) -> Fault {
    spec.parse().expect("a fault")
}

fn with_faults(specs: &[&str]) -> Options {
    Options { faults: specs.iter().map(|spec| fault(spec)).collect(), ..Options::default() }
}

fn commanding(options: Options) -> Run {
    let mut run = Run::new(options, Remote::default());
    run.until(|run| run.krc.state() == FriState::Command, Duration::from_secs(60));
    run
}

#[test]
fn measurements_come_once_a_period_with_rising_counters_across_the_wrap() {
    let mut krc = Krc::new(Options { first_counter: 65_530, ..Options::default() }).unwrap();
    krc.advance_to(SimTime::from_millis(19));
    let mut counters = vec![];
    while let Some(transmit) = krc.poll_transmit() {
        counters.push(u16::from_le_bytes([transmit.bytes[0], transmit.bytes[1]]));
    }
    let expected: Vec<u16> = (0..20).map(|i| 65_530_u16.wrapping_add(i)).collect();
    assert_eq!(counters, expected);
}

#[test]
fn every_period_there_is_reaches_command_and_moves_the_arm() {
    for millis in [1, 2, 5, 12, 50, 100] {
        let mut run = commanding(Options { period: Duration::from_millis(millis), ..Options::default() });
        run.remote.speed[0] = 0.2;
        let from = run.krc.truth().q[0];
        run.advance(Duration::from_secs(2));
        let moved = run.krc.truth().q[0] - from;
        assert!((moved - 0.4).abs() < 0.06, "{millis} ms: moved {moved} rad");
        assert_eq!(run.krc.fallbacks(), [], "{millis} ms");
        assert!(run.smoothest() < 0.25, "{millis} ms: the arm moved at {} rad/s", run.smoothest());
    }
}

#[test]
fn without_answers_the_quality_stays_unacceptable_and_a_start_never_comes() {
    let mut run = Run::new(with_faults(&["silence/up@0"]), Remote::default());
    run.advance(Duration::from_secs(2));
    assert_eq!((run.krc.state(), run.krc.quality()), (FriState::Monitor, Quality::Unacceptable));
    assert_eq!(run.krc.statistics().missed, 2000);
}

#[test]
fn a_start_below_the_required_quality_is_refused() {
    let mut options = with_faults(&["delay/up@0::700us"]);
    options.program.convention = Convention::Alone;
    options.program.waits_for = Quality::Bad;
    let mut run = Run::new(options, Remote::default());
    run.advance(Duration::from_secs(2));
    assert_eq!((run.krc.state(), run.krc.quality()), (FriState::Monitor, Quality::Bad));
    assert!(run.krc.counts().refused > 0);
}

#[test]
fn a_remote_that_does_not_mirror_is_thrown_out() {
    let mut run = Run::new(Options::default(), Remote { mirror_error: 0.01, ..Remote::default() });
    run.advance(Duration::from_secs(3));
    assert_eq!(run.krc.fallbacks().first().map(|(_, reason)| *reason), Some(Reason::NotMirrored));
}

#[test]
fn flags_may_not_change_and_must_suit_the_scheme() {
    let mut run = commanding(Options::default());
    run.remote.flags = 0x0035;
    run.advance(Duration::from_millis(5));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::FlagsChanged));
    let mut run = Run::new(Options::default(), Remote { flags: 0x3500, ..Remote::default() });
    run.advance(Duration::from_secs(2));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::FlagsNotUsable));
}

#[test]
fn a_step_faster_than_allowed_ends_commanding_and_the_arm_brakes() {
    let mut run = commanding(Options::default());
    run.remote.speed[2] = 1.0;
    run.advance(Duration::from_millis(300));
    run.remote.speed[2] = 3.0;
    run.advance(Duration::from_millis(5));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Limit));
    run.advance(Duration::from_millis(400));
    assert!(run.krc.truth().qd.iter().all(|qd| qd.abs() < 1e-6), "{:?}", run.krc.truth().qd);
    assert!(run.smoothest() < 1.2, "{}", run.smoothest());
}

#[test]
fn the_scale_of_the_start_shrinks_the_limits() {
    let mut options = Options::default();
    options.program.scale = 0.1;
    let mut run = commanding(options);
    run.remote.speed[0] = 0.3;
    run.advance(Duration::from_millis(100));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Limit));
}

#[test]
fn single_missing_answers_are_bridged_and_a_run_of_them_is_not() {
    let mut options = with_faults(&["silence/up@2s:2ms", "silence/up@3s:20ms"]);
    options.program.convention = Convention::RosControl;
    let mut run = commanding(options);
    run.remote.speed[0] = 0.3;
    run.advance_to(SimTime::from_millis(2_500));
    assert_eq!((run.krc.counts().bridged, run.krc.state()), (2, FriState::Command));
    assert!(run.smoothest() < 0.301, "the setpoint went on as it was: {}", run.smoothest());
    run.advance_to(SimTime::from_millis(3_100));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Communication));
}

#[test]
fn a_quality_that_falls_to_unacceptable_ends_commanding() {
    let mut run = commanding(with_faults(&["drop/up@2s::30%"]));
    run.advance_to(SimTime::from_secs(4));
    let reason = run.krc.fallbacks().last().map(|(_, reason)| *reason);
    assert!(matches!(reason, Some(Reason::Quality | Reason::Communication)), "{reason:?}");
    let mut options = with_faults(&["drop/up@2s::30%"]);
    options.max_bridge = 50;
    let mut run = commanding(options);
    run.advance_to(SimTime::from_secs(4));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Quality));
}

#[test]
fn released_drives_freeze_the_setpoint_and_come_back_without_a_jump() {
    let options = Options { operation: OperationMode::T2, enabled: true, ..Options::default() };
    let mut run = commanding(options);
    run.remote.speed[0] = 0.3;
    run.advance(Duration::from_millis(500));
    run.krc.set_enabled(false);
    run.advance(Duration::from_millis(500));
    assert_eq!(run.krc.state(), FriState::Command, "the state stays");
    let held = run.krc.truth();
    assert!(held.qd == [0.0; 7] && !run.remote.powered);
    run.krc.set_enabled(true);
    run.advance(Duration::from_millis(200));
    assert!(run.krc.truth().q[0] > held.q[0] + 0.03, "it moves on");
    assert!(run.smoothest() < 0.9, "without a jump: {}", run.smoothest());
    assert_eq!(run.krc.fallbacks(), []);
}

#[test]
fn datagrams_that_are_none_are_counted_and_dropped() {
    let mut run = commanding(with_faults(&["garbage/up@2s::50%"]));
    run.advance_to(SimTime::from_secs(3));
    assert!(run.krc.counts().malformed > 300, "{:?}", run.krc.counts());
    assert_eq!((run.krc.state(), run.krc.quality()), (FriState::Command, Quality::Perfect));
}

#[test]
fn repeated_and_overtaken_commands_change_nothing() {
    let mut run = commanding(with_faults(&["duplicate/up@1s::30%", "reorder/up@1s::2%"]));
    run.remote.speed[1] = 0.2;
    run.advance_to(SimTime::from_secs(4));
    assert_eq!(run.krc.fallbacks(), []);
    assert!(run.krc.counts().old > 500);
    assert!(run.smoothest() < 0.201, "{}", run.smoothest());
}

#[test]
fn a_remote_that_is_started_anew_is_believed_again_after_a_few_cycles() {
    let mut run = Run::new(Options::default(), Remote::default());
    run.advance(Duration::from_millis(500));
    run.remote.counter -= 490;
    run.advance(Duration::from_millis(300));
    assert_eq!((run.krc.statistics().answer_rate, run.krc.counts().old), (1.0, 24));
}

#[test]
fn a_restart_and_another_period_begin_anew_in_monitor() {
    let mut run = commanding(with_faults(&["restart@2s", "period@5s::4ms"]));
    run.advance_to(SimTime::from_millis(2_050));
    assert_eq!((run.krc.state(), run.krc.fallbacks()[0].1), (FriState::Monitor, Reason::Closed));
    assert!(run.remote.measured().send_seq_count < 100);
    run.advance_to(SimTime::from_millis(5_050));
    assert_eq!(run.remote.measured().desired_msr_sample_time, 0.004);
}

#[test]
fn motion_of_the_program_is_seen_altered_and_replaced() {
    let mut there = Options::default().start;
    there[0] = 0.5;
    let mut options =
        Options { motion: vec![Move::Ptp { to: there, speed: 0.2 }, Move::Wait(1e6)], ..Options::default() };
    options.program.waits_for = Quality::Ok;
    let mut run = commanding(options.clone());
    // Without an added offset: the remote replaces the motion by a standstill.
    run.advance_to(SimTime::from_secs(4));
    let truth = run.krc.truth();
    let own = run.remote.measured().cmd_jnt_pos[0];
    assert!((own - 0.5).abs() < 1e-3, "the program went on by itself: {own}");
    assert!(truth.qd[0].abs() < 1e-6 && (truth.q[0] - 0.5).abs() > 0.05, "the arm stood: {truth:?}");
    assert_eq!(run.krc.fallbacks(), []);
    // With an offset added to the program's motion: the arm is beside the position of the program.
    let mut run = commanding(options);
    run.remote.follows_program = true;
    run.remote.speed[1] = 0.1;
    run.advance_to(SimTime::from_secs(4));
    let (truth, own) = (run.krc.truth(), run.remote.measured().cmd_jnt_pos);
    assert!((truth.q[0] - 0.5).abs() < 1e-3, "{truth:?}");
    assert!((truth.q[1] - f64::from(own[1])).abs() > 0.1, "{truth:?} {own:?}");
    assert_eq!(run.krc.fallbacks(), []);
}

#[test]
fn schemes_are_chosen_by_the_handshake_and_a_hand_is_felt() {
    let remote = Remote { strategy: 30, flags: 0x0035, ..Remote::default() };
    let mut run = Run::new(Options::default(), remote);
    run.until(|run| run.krc.state() == FriState::Command, Duration::from_secs(5));
    assert_eq!(run.krc.scheme(), ControlScheme::JointImpedance);
    run.krc.push([0.0, 20.0, 0.0, 0.0, 0.0, 0.0]);
    run.advance(Duration::from_secs(2));
    let measured = run.remote.measured();
    assert!((measured.est_ext_tcp_ft.linear[1] - 20.0).abs() < 0.5, "{:?}", measured.est_ext_tcp_ft);
    let gave_way = f64::from(measured.msr_jnt_pos[0]) - run.krc.truth().setpoint[0];
    assert!(gave_way.abs() > 1e-3, "{gave_way}");
    // The estimated force is consistent with Jacobian and joint torques.
    let by_hand = measured.jacobian.linear[1][0] * measured.est_ext_tcp_ft.linear[1];
    assert!((by_hand - measured.est_ext_jnt_trq[0]).abs() < 0.2, "{by_hand}");
}

#[test]
fn a_commanded_frame_leads_the_tool() {
    let remote = Remote { strategy: 20, flags: 0x3500, ..Remote::default() };
    let mut run = Run::new(Options::default(), remote);
    run.until(|run| run.krc.state() == FriState::Command, Duration::from_secs(5));
    assert_eq!(run.krc.scheme(), ControlScheme::CartesianImpedance);
    let before = run.remote.measured().msr_cart_pos.position;
    run.remote.tool_speed = [0.0, 0.0, -0.05];
    run.advance(Duration::from_secs(1));
    run.remote.tool_speed = [0.0; 3];
    run.advance(Duration::from_secs(1));
    let after = run.remote.measured().msr_cart_pos.position;
    assert!((after[2] - before[2] + 0.05).abs() < 3e-3 && (after[0] - before[0]).abs() < 3e-3, "{before:?} {after:?}");
    assert_eq!(run.krc.fallbacks(), []);
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let options = Options { seed, ..with_faults(&["drop@0::3%", "jitter@0::700us", "burst@1s::2%"]) };
        let mut run = Run::new(options, Remote::default());
        run.remote.speed[0] = 0.1;
        run.advance(Duration::from_secs(3));
        (run.krc.counts(), run.krc.truth(), run.krc.lost_on_the_way())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn what_is_assumed_can_be_assumed_otherwise() {
    // Two missing answers, of which only one is bridged.
    let mut strict = commanding(Options { max_bridge: 1, ..with_faults(&["silence/up@2s:2ms"]) });
    strict.advance_to(SimTime::from_millis(2_100));
    assert_eq!(strict.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Communication));
    // Held instead of extrapolated: one cycle moves the missed distance as well, at twice the speed.
    let mut options = Options { bridging: Bridging::Hold, ..with_faults(&["silence/up@2s:1ms"]) };
    options.arm.lag = Duration::ZERO;
    let mut held = commanding(options);
    held.remote.speed[0] = 0.3;
    held.advance_to(SimTime::from_millis(2_100));
    assert_eq!((held.krc.counts().bridged, held.krc.fallbacks()), (1, &[][..]));
    assert!(held.smoothest() > 0.55, "{}", held.smoothest());
    // A lower speed limit of the tool.
    let mut options = Options::default();
    options.limits.tool_speed = 0.03;
    let mut run = Run::new(options, Remote { strategy: 20, flags: 0x3500, ..Remote::default() });
    run.until(|run| run.krc.state() == FriState::Command, Duration::from_secs(5));
    run.remote.tool_speed = [0.0, 0.0, -0.05];
    run.advance(Duration::from_millis(100));
    assert_eq!(run.krc.fallbacks().last().map(|(_, reason)| *reason), Some(Reason::Limit));
}
