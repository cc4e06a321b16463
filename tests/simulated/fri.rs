//! Tests of the FRI engine with the simulated KRC, in virtual time.

mod added;
mod motions;

use outrigger_core::engine::krc::KrcOptions;
use std::time::Duration as StdDuration;

use outrigger_core::command::outputs::{VariableKind, VariableValue, Write, WriteOutcome, WriteRefusal};
use outrigger_core::engine::krc::{
    Control, JointImpedance, KrcConfig, KrcEvent, KrlConvention, MirroredFrame, ToolImpedance,
};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{AnyLaw, Law};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::Reason;
use outrigger_sim::krc::{Convention, MirroredFrame as Wanted, OffsetAfterStop, Options, Reason as Left};
use outrigger_sim::time::SimTime;
use outrigger_tests::fri::{Restless, Rig, Swing};
use outrigger_wire::fri::{ControlScheme, FriState, KrlIndex};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};

fn options(faults: &[&str]) -> Options {
    Options { faults: faults.iter().map(|spec| spec.parse().expect("a fault")).collect(), ..Options::default() }
}

fn rig(options: Options) -> Rig<Swing> {
    Rig::new(options, KrcConfig::default(), Swing::new(0.3, 2.0), KrlConvention::RosControl)
}

/// Checks that the KRC never left the command state because of a wrong command, and that no limit was exceeded.
fn assert_clean<L: Law<7>>(rig: &Rig<L>, what: &str) {
    assert_clean_but(rig, what, None);
}

/// Checks that no limit was exceeded, and that no wrong command but `excused` made the KRC leave the command state.
fn assert_clean_but<L: Law<7>>(rig: &Rig<L>, what: &str, excused: Option<Left>) {
    let complaints: Vec<_> = rig
        .krc
        .fallbacks()
        .iter()
        .filter(|(_, reason)| {
            matches!(reason, Left::NotMirrored | Left::FlagsChanged | Left::FlagsNotUsable | Left::Limit)
                && Some(*reason) != excused
        })
        .collect();
    assert!(complaints.is_empty(), "{what}: {complaints:?}");
    assert!(rig.longest_step <= 1.0, "{what}: a step of {} of the longest", rig.longest_step);
}

#[test]
fn every_period_is_answered_armed_and_commanded() {
    for millis in [1, 2, 5, 12, 50, 100] {
        let mut rig = rig(Options { period: StdDuration::from_millis(millis), first_counter: 65_500, ..options(&[]) });
        rig.command(120_000);
        let before = rig.krc.truth().q[0];
        rig.advance(700);
        assert!(rig.krc.truth().q[0] - before > 0.05, "{millis} ms: it moves");
        rig.advance(2_000);
        assert_eq!(rig.session.mode(), Mode::Command, "{millis} ms: {:?}", rig.session.latch());
        let counts = rig.krc.counts();
        assert!(counts.sent - counts.answered <= 2, "{millis} ms: {counts:?}");
        assert_eq!(rig.commands, rig.session.peer().counts().commands);
        rig.input(Input::Release);
        rig.until(5_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
        rig.until(1_000, "monitor state", |rig| rig.krc.state() == FriState::Monitor);
        assert_eq!(rig.krc.fallbacks().iter().map(|(_, reason)| *reason).collect::<Vec<_>>(), [Left::Stopped]);
        assert_clean(&rig, &format!("{millis} ms"));
    }
}

#[test]
fn a_shutdown_stops_the_arm_waits_for_the_program_and_ends_requests() {
    let mut rig = rig(options(&[]));
    rig.command(5_000);
    rig.advance(700);
    rig.input(Input::Shutdown);
    assert!(!rig.session.is_finished(), "the arm moves");
    rig.until(5_000, "the end", |rig| rig.session.is_finished());
    assert_eq!((rig.session.mode(), rig.krc.state()), (Mode::Monitor, FriState::Monitor));
    rig.request();
    rig.advance(100);
    assert_eq!(rig.session.mode(), Mode::Monitor, "no request is heard any more");
    assert_clean(&rig, "shutdown");
}

#[test]
fn a_shutdown_does_not_wait_for_ever_for_a_program_that_decides_alone() {
    let mut options = options(&[]);
    options.program.convention = Convention::Alone;
    let mut rig = Rig::new(options, KrcConfig::default(), Swing::new(0.3, 2.0), KrlConvention::None);
    rig.command(5_000);
    rig.advance(700);
    rig.input(Input::Shutdown);
    rig.until(5_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
    assert_eq!((rig.session.is_finished(), rig.krc.state()), (false, FriState::Command));
    rig.until(2_100, "the end", |rig| rig.session.is_finished());
    assert_clean(&rig, "shutdown");
}

#[test]
fn outputs_of_other_controllers_are_refused() {
    let mut rig = rig(options(&[]));
    let write = Write::Flag { index: 0, value: true };
    rig.input(Input::Set(write));
    assert!(rig.events.contains(&Event::Output { write, news: WriteOutcome::Refused(WriteRefusal::NoSuchOutput) }));
}

/// Returns the reports about the output write `write`, in order.
fn news_of(rig: &Rig<Swing>, write: Write) -> Vec<WriteOutcome> {
    let of = |event: &Event<_>| match event {
        Event::Output { write: of, news } if *of == write => Some(*news),
        _ => None,
    };
    rig.events.iter().filter_map(of).collect()
}

#[test]
fn variables_are_set_in_every_mode_and_confirmed_once_the_krc_has_them() {
    let mut rig = rig(options(&[]));
    rig.advance(100);
    let grip = Write::Variable { index: 16, value: VariableValue::Bool(true) };
    rig.input(Input::Set(grip));
    rig.advance(100);
    assert!(matches!(news_of(&rig, grip)[..], [WriteOutcome::Sent, WriteOutcome::Confirmed(_)]), "{:?}", rig.events);
    rig.advance(2_000);
    assert_eq!(rig.krc.truth().opening, 0.0, "the gripper has closed, as every command says so");
    rig.command(5_000);
    rig.advance(300);
    let open = Write::Variable { index: 16, value: VariableValue::Bool(false) };
    let mode = Write::Variable { index: 2, value: VariableValue::Int(7) };
    rig.input(Input::Set(open));
    rig.input(Input::Set(mode));
    rig.advance(1_500);
    assert_eq!(rig.session.mode(), Mode::Command, "the motion goes on");
    assert!(rig.krc.truth().opening > 0.07);
    assert!(matches!(news_of(&rig, open)[..], [WriteOutcome::Sent, WriteOutcome::Confirmed(_)]));
    assert_eq!(news_of(&rig, mode), [WriteOutcome::Refused(WriteRefusal::Reserved)], "the handshake's");
    assert_clean(&rig, "variables");
}

#[test]
fn a_variable_that_the_program_copies_is_confirmed_by_the_copy_alone() {
    let at = |krl| KrlIndex::from_krl(krl).expect("one of sixteen");
    let set = Write::Variable { index: 3, value: VariableValue::Real(0.25) };
    for echoes in [true, false] {
        let mut options = options(&[]);
        options.program.echoes = echoes;
        let mut config = KrcConfig::default();
        config.peer.variables.set_int(at(5), -8);
        config.peer.echoed = config.peer.echoed.with(VariableKind::Real, at(3));
        let mut rig = Rig::new(options, config, Swing::new(0.3, 2.0), KrlConvention::RosControl);
        rig.advance(100);
        rig.input(Input::Set(set));
        rig.advance(1_500);
        let news = news_of(&rig, set);
        match (echoes, &news[..]) {
            (true, [WriteOutcome::Sent, WriteOutcome::Confirmed(after)]) => {
                // One cycle of the KRL program, which takes 12 ms, and the cycles to it and back.
                assert!(after.as_micros() <= 15_000, "{after:?}");
            }
            (false, [WriteOutcome::Sent, WriteOutcome::NotConfirmed]) => {}
            other => panic!("{other:?}"),
        }
        let heard = rig.session.peer().krl().map(|krl| (krl.int(at(5)), krl.real(at(3))));
        assert_eq!(heard, Some(if echoes { (-8, 0.25) } else { (0, 0.0) }), "what it began with is there, too");
    }
}

#[test]
fn variables_beside_a_silent_krc_are_refused_or_not_confirmed_and_stay() {
    let mut rig = rig(options(&["silence@500ms:2s"]));
    rig.advance(499);
    let grip = Write::Variable { index: 16, value: VariableValue::Bool(true) };
    let other = Write::Variable { index: 9, value: VariableValue::Bool(true) };
    rig.input(Input::Set(grip));
    rig.advance(1_700);
    rig.input(Input::Set(other));
    assert_eq!(news_of(&rig, other), [WriteOutcome::Refused(WriteRefusal::NotConnected)]);
    let news = news_of(&rig, grip);
    let [.., last] = news[..] else { panic!("{news:?}") };
    assert!(matches!(last, WriteOutcome::NotConfirmed | WriteOutcome::Refused(WriteRefusal::NotConnected)), "{news:?}");
    let was_sent = news[0] == WriteOutcome::Sent;
    rig.advance(3_000);
    assert_eq!(rig.krc.truth().opening == 0.0, was_sent, "what was sent is sent again to a KRC that is back");
}

#[test]
fn at_the_longest_period_a_measurement_that_is_a_little_late_is_no_motion() {
    let mut rig = rig(Options { period: StdDuration::from_millis(100), ..options(&["jitter/down@0::3ms"]) });
    rig.command(120_000);
    assert_clean(&rig, "100 ms, late");
}

#[test]
fn each_convention_starts_and_stops_the_program() {
    for (ours, theirs) in [
        (KrlConvention::RosControl, Convention::RosControl),
        (KrlConvention::FriControl, Convention::FriControl),
        (KrlConvention::Isir, Convention::Isir),
        (KrlConvention::SampleApp, Convention::SampleApp),
    ] {
        let mut options = options(&[]);
        options.program.convention = theirs;
        let mut rig = Rig::new(options, KrcConfig::default(), Swing::new(0.3, 2.0), ours);
        rig.command(5_000);
        rig.advance(500);
        rig.input(Input::Release);
        rig.until(5_000, "monitor state", |rig| rig.krc.state() == FriState::Monitor);
        rig.until(2_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
        rig.command(5_000);
        assert_eq!(rig.krc.counts().started, 2, "{ours:?}");
        assert_clean(&rig, "conventions");
    }
}

#[test]
fn single_losses_are_bridged_and_go_unnoticed_by_the_arm() {
    let mut rig = rig(options(&["drop/up@3s::1%"]));
    rig.command(2_900);
    rig.advance_to(SimTime::from_secs(10));
    assert!(rig.krc.counts().bridged > 20, "{:?}", rig.krc.counts());
    assert_eq!(rig.session.mode(), Mode::Command, "{:?}", rig.session.latch());
    assert_clean(&rig, "1 % up");
}

#[test]
fn silence_of_the_krc_ends_commanding_and_is_found_again_without_a_step() {
    let mut rig = rig(options(&["silence/down@3s:10ms", "silence@5s:300ms"]));
    rig.command(2_900);
    rig.advance_to(SimTime::from_millis(3_020));
    assert_eq!(rig.session.latch(), Some(Reason::StateStale));
    rig.until(1_000, "monitor", |rig| rig.session.mode() == Mode::Monitor);
    rig.request();
    assert_eq!(rig.session.mode(), Mode::Monitor, "not before an acknowledge");
    rig.command(1_900);
    rig.advance_to(SimTime::from_millis(5_250));
    assert_eq!(rig.session.mode(), Mode::Offline);
    assert!(rig.events.contains(&Event::Peer(KrcEvent::Silent)));
    rig.advance(500);
    assert_eq!(rig.session.mode(), Mode::Monitor);
    rig.command(5_000);
    assert_clean(&rig, "silence");
}

#[test]
fn after_every_fallback_it_begins_again_where_the_arm_is() {
    let faults =
        ["silence/up@3s:20ms", "power-off@6s:500ms", "stop@9s", "restart@12s", "period@15s::2ms", "close@18s:200ms"];
    let mut rig = rig(options(&faults));
    for second in [2_900_u64, 5_900, 8_900, 11_900, 14_900, 17_900, 20_900] {
        rig.command(3_000);
        rig.advance_to(SimTime::from_millis(second));
        assert_eq!(rig.session.mode(), Mode::Command, "before {second} ms: {:?}", rig.session.latch());
        if second < 20_900 {
            rig.until(200, "a fallback", |rig| rig.session.mode() != Mode::Command);
            let latch = rig.session.latch();
            assert!(latch.is_some(), "{second}");
            rig.advance(100);
            assert_ne!(rig.session.mode(), Mode::Command, "nothing resumes by itself");
        }
    }
    assert_clean(&rig, "fallbacks");
}

#[test]
fn power_that_goes_is_told_as_such_and_mirrored() {
    let mut rig = rig(options(&["power-off@3s:300ms"]));
    rig.command(2_900);
    rig.advance_to(SimTime::from_millis(3_100));
    assert_eq!(rig.session.latch(), Some(Reason::RobotNotRunning));
    rig.advance_to(SimTime::from_millis(3_600));
    assert_clean(&rig, "power");
}

#[test]
fn a_second_sender_is_ignored_and_named() {
    let mut rig = rig(options(&["second-sender@1s:5s"]));
    rig.command(3_000);
    rig.advance_to(SimTime::from_secs(7));
    assert_eq!(rig.session.mode(), Mode::Command, "{:?}", rig.session.latch());
    assert_eq!(rig.session.peer().counts().foreign, 5_000);
    let told = rig.events.iter().filter(|event| matches!(event, Event::Peer(KrcEvent::Foreign(_)))).count();
    assert_eq!(told, 4, "at 1, 10, 100 and 1000");
    assert_clean(&rig, "second sender");
}

#[test]
fn datagrams_that_are_no_measurements_are_counted_and_change_nothing() {
    let mut rig = rig(options(&["garbage/down@1s:5s:50%"]));
    rig.command(3_000);
    rig.advance_to(SimTime::from_secs(7));
    assert_eq!(rig.session.mode(), Mode::Command, "{:?}", rig.session.latch());
    assert!(rig.session.peer().counts().malformed > 2_000);
    assert_clean(&rig, "garbage");
}

#[test]
fn measured_positions_that_are_no_numbers_are_as_good_as_lost() {
    let mut rig = rig(options(&["nan@3s:100ms"]));
    rig.command(2_900);
    rig.advance_to(SimTime::from_millis(3_050));
    assert_eq!(rig.session.latch(), Some(Reason::ImpossibleState));
    let answered = rig.krc.counts().answered;
    rig.advance(40);
    assert_eq!(rig.krc.counts().answered, answered);
    rig.advance(50);
    assert!(rig.events.iter().any(|event| matches!(event, Event::Impossible(100))));
    rig.command(5_000);
    assert_clean(&rig, "nan");
}

#[test]
fn a_stale_reflection_lowers_our_own_grade() {
    let mut rig = rig(options(&["stale@3s"]));
    rig.command(2_900);
    rig.advance_to(SimTime::from_secs(3));
    rig.until(1_000, "a fallback", |rig| rig.session.mode() != Mode::Command);
    assert_eq!(rig.session.latch(), Some(Reason::GradeLow));
}

#[test]
fn a_request_beside_a_low_grade_of_ours_is_refused() {
    let mut rig = rig(options(&["stale@3s"]));
    rig.advance(2_900);
    let now = outrigger_wire::time::Instant::from_micros(rig.krc.now().as_micros());
    assert!(rig.session.unmet(now).is_empty(), "before the fault");
    rig.advance(1_100);
    rig.request();
    let refused = outrigger_tests::refused(Reason::GradeLow);
    assert!(rig.events.contains(&refused), "{:?}", rig.events);
    assert_eq!((rig.session.mode(), rig.krc.state()), (Mode::Monitor, FriState::Monitor));
}

#[test]
fn a_krc_that_leaves_the_command_state_by_itself_is_told_as_such() {
    let mut rig = rig(options(&["stop@3s", "silence/up@6s:20ms"]));
    for (second, why) in [(3, Left::Stopped), (6, Left::Communication)] {
        rig.command(2_900);
        rig.advance_to(SimTime::from_millis(1_000 * second + 50));
        assert_eq!(rig.session.latch(), Some(Reason::LeftCommand), "{why:?}");
        assert_eq!(rig.krc.fallbacks().last().map(|(_, reason)| *reason), Some(why));
        rig.until(2_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
    }
    assert_clean(&rig, "left");
}

#[test]
fn what_fri_start_scales_down_is_not_exceeded() {
    // A fifth of 110°/s is 0.384 rad/s, and of 1200°/s² 4.19 rad/s²: slightly more is limited, much more is rejected.
    for (speed, holds) in [(0.39, true), (0.6, false)] {
        let mut options = options(&[]);
        options.program.scale = 0.2;
        let mut rig = Rig::new(options, KrcConfig::default(), Swing::new(speed, 4.0), KrlConvention::RosControl);
        rig.command(5_000);
        rig.advance(1_500);
        let latch = rig.session.latch();
        assert_eq!(latch, (!holds).then_some(Reason::VelocityLimit), "{speed} rad/s");
        // The simulated KRC permits the higher one of the published speeds.
        let longest = rig.krc.longest_step();
        assert!(longest <= 1.0 && (longest > 0.85 || !holds), "{speed} rad/s: {longest}");
        assert_clean(&rig, "scale");
    }
}

#[test]
fn a_backlog_is_answered_once() {
    let mut rig = rig(options(&["delay/down@2s:5ms:5ms"]));
    rig.advance_to(SimTime::from_secs(3));
    let counts = rig.session.peer().counts();
    assert!(counts.overtaken > 0, "{counts:?}");
    assert_eq!(counts.commands + counts.overtaken + counts.unused, counts.measurements);
}

#[test]
fn schemes_are_asked_for_and_changed_only_in_monitor_state() {
    let config = KrcConfig {
        peer: KrcOptions { control: Control::JointImpedance(JointImpedance::default()), ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    let mut rig = Rig::new(options(&[]), config, Swing::new(0.2, 2.0), KrlConvention::RosControl);
    rig.command(5_000);
    assert_eq!(rig.krc.scheme(), ControlScheme::JointImpedance);
    assert!(rig.session.monitoring().is_none(), "not while commanding");
    let softer = JointImpedance { stiffness: [300.0; 7], ..JointImpedance::default() };
    assert_eq!(rig.session.set_joint_impedance(softer), Ok(()), "numbers may change");
    assert!(rig.session.set_tool_impedance(ToolImpedance::default()).is_err(), "the scheme may not");
    rig.advance(500);
    rig.input(Input::Release);
    rig.until(5_000, "monitor state", |rig| rig.krc.state() == FriState::Monitor);
    rig.until(2_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
    // Commanding has left an offset, and the mirrored frame has it too.
    let monitoring = rig.session.monitoring().expect("monitor state");
    assert_eq!(monitoring.set(Control::ToolImpedance(ToolImpedance::default())), Ok(()));
    rig.command(5_000);
    assert_eq!(rig.krc.scheme(), ControlScheme::CartesianImpedance);
    rig.advance(3_000);
    assert_eq!(rig.session.mode(), Mode::Command, "{:?} {:?}", rig.session.latch(), rig.krc.fallbacks());
    assert_clean(&rig, "schemes");
}

/// Creates a run whose KRL program receives no control scheme from the driver and starts in `scheme`.
fn unasked(control: Control, scheme: ControlScheme) -> Rig<Swing> {
    let mut options = options(&[]);
    (options.program.convention, options.program.scheme) = (Convention::SampleApp, scheme);
    let config = KrcConfig { peer: KrcOptions { control, ..KrcOptions::default() }, ..KrcConfig::default() };
    Rig::new(options, config, Swing::new(0.2, 2.0), KrlConvention::SampleApp)
}

fn ready<L: Law<7>>(rig: &mut Rig<L>) {
    rig.until(5_000, "ready", |rig| {
        let now = outrigger_wire::time::Instant::from_micros(rig.krc.now().as_micros());
        rig.session.unmet(now).is_empty()
    });
}

#[test]
fn a_krc_that_starts_in_another_scheme_is_told_with_both_and_moves_nothing() {
    let (joints, tool) = (JointImpedance::default(), ToolImpedance::default());
    for (control, krc) in [
        (Control::JointImpedance(joints), ControlScheme::Position),
        (Control::ToolImpedance(tool), ControlScheme::Position),
        (Control::ToolImpedance(tool), ControlScheme::JointImpedance),
        // The joint positions are the posture of the null space in that scheme: the KRC has no reason to complain.
        (Control::Position, ControlScheme::CartesianImpedance),
    ] {
        let mut rig = unasked(control, krc);
        ready(&mut rig);
        rig.request();
        let before = rig.krc.truth().q;
        rig.until(1_000, "the end of arming", |rig| rig.session.mode() == Mode::Monitor);
        let what = format!("{control:?} in {krc:?}");
        assert_eq!(rig.session.latch(), Some(Reason::OtherScheme), "{what}");
        let ours = control.scheme();
        assert!(rig.events.contains(&Event::Peer(KrcEvent::OtherScheme { krc, ours })), "{what}");
        assert!(rig.transitions().all(|transition| transition.to != Mode::Command), "{what}");
        rig.until(1_000, "monitor state", |rig| rig.krc.state() == FriState::Monitor);
        let moved = rig.krc.truth().q.iter().zip(before).map(|(q, before)| (q - before).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-4, "{what}: {moved} rad");
    }
}

#[test]
fn joint_positions_lead_in_joint_impedance_too() {
    let mut rig = unasked(Control::Position, ControlScheme::JointImpedance);
    rig.command(5_000);
    let before = rig.krc.truth().q[0];
    rig.advance(700);
    assert_eq!(rig.session.mode(), Mode::Command, "{:?}", rig.session.latch());
    assert!(rig.krc.truth().q[0] - before > 0.05, "it moves");
    assert_clean(&rig, "position in joint impedance");
}

#[test]
fn a_scheme_that_is_told_a_little_late_is_waited_for_while_arming_and_one_that_changes_ends_commanding() {
    let mut rig = rig(options(&[]));
    ready(&mut rig);
    rig.told_scheme = Some(ControlScheme::Other);
    rig.request();
    rig.until(1_000, "command state", |rig| rig.krc.state() == FriState::Command);
    rig.advance(90);
    assert_eq!(rig.session.mode(), Mode::Arming, "good cycles enough, but nothing to command");
    rig.told_scheme = None;
    rig.until(20, "command", |rig| rig.session.mode() == Mode::Command);
    rig.told_scheme = Some(ControlScheme::Unknown(9));
    rig.advance(3);
    assert_eq!(rig.session.latch(), Some(Reason::OtherScheme));
    let told = KrcEvent::OtherScheme { krc: ControlScheme::Unknown(9), ours: ControlScheme::Position };
    assert!(rig.events.contains(&Event::Peer(told)), "{:?}", rig.events);
    rig.told_scheme = None;
    rig.until(2_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
    rig.command(5_000);
    assert_clean(&rig, "schemes told");
}

/// Runs a KRC that expects one frame to be mirrored and receives another. Returns whether it can be commanded a
/// second time, with an offset left from the first time and a hand that pushes the arm away from its setpoint.
fn mirrors(theirs: Wanted, ours: MirroredFrame) -> (bool, Rig<Swing>) {
    let control = Control::ToolImpedance(ToolImpedance { mirrors: ours, ..ToolImpedance::default() });
    let config = KrcConfig { peer: KrcOptions { control, ..KrcOptions::default() }, ..KrcConfig::default() };
    let options = Options { mirrored_frame: theirs, ..options(&["hand@5s::60"]) };
    let mut rig = Rig::new(options, config, Swing::new(0.2, 2.0), KrlConvention::RosControl);
    rig.command(2_500);
    rig.advance(700);
    rig.input(Input::Release);
    rig.until(1_500, "rest", |rig| rig.session.mode() == Mode::Monitor && rig.krc.state() == FriState::Monitor);
    rig.advance_to(SimTime::from_secs(7));
    ready(&mut rig);
    rig.request();
    let started = rig.krc.counts().started;
    rig.until(1_000, "a start", |rig| rig.krc.counts().started > started);
    rig.advance(500);
    (rig.session.mode() == Mode::Command, rig)
}

#[test]
fn whichever_frame_a_krc_wants_mirrored_it_is_commanded_by_whom_mirrors_that_one_alone() {
    let pairs = [
        (Wanted::Setpoint, MirroredFrame::Setpoint),
        (Wanted::Commanded, MirroredFrame::Commanded),
        (Wanted::Measured, MirroredFrame::Measured),
    ];
    for (at, (theirs, _)) in pairs.into_iter().enumerate() {
        for (other, (_, ours)) in pairs.into_iter().enumerate() {
            let (commands, rig) = mirrors(theirs, ours);
            let what = format!("wants {theirs:?}, is given {ours:?}: {:?}", rig.krc.fallbacks());
            assert_eq!(commands, at == other, "{what}");
            let complains = rig.krc.fallbacks().iter().any(|(_, reason)| *reason == Left::NotMirrored);
            assert_eq!(complains, at != other, "{what}");
        }
    }
}

#[test]
fn variables_of_the_program_reach_both_sides() {
    let mut options = options(&[]);
    options.program.inputs = 0b10;
    let mut rig = rig(options);
    rig.advance(100);
    let at = |krl| KrlIndex::from_krl(krl).expect("one of sixteen");
    assert_eq!(rig.session.peer().krl().map(|krl| krl.bool(at(2))), Some(true));
    rig.session.krl_mut().set_bool(at(16), true);
    rig.advance(2_000);
    assert_eq!(rig.krc.truth().opening, 0.0, "the gripper has closed");
    assert_eq!(rig.session.peer().krl().map(|krl| krl.bool(at(16))), Some(true));
}

#[test]
fn a_foreign_motion_underneath_is_refused() {
    use outrigger_sim::krc::Move;
    let mut there = Options::default().start;
    there[0] = 0.5;
    let motion = vec![Move::Ptp { to: there, speed: 0.2 }, Move::Ptp { to: Options::default().start, speed: 0.2 }];
    let mut rig = rig(Options { motion, ..options(&[]) });
    rig.advance(2_000);
    rig.request();
    assert!(rig.events.contains(&outrigger_tests::refused(Reason::NotAtRest)), "{:?}", rig.events);
    assert_eq!(rig.session.mode(), Mode::Monitor);
}

/// Creates a run with the configuration that `outrigger run` passes to the engine for a file with this law and a
/// request at the start. No other setting of the file decides on requests.
fn of_a_file(law: &str, faults: &[&str]) -> Rig<AnyLaw<7>> {
    let file = format!(
        "[robot]\nkind = \"krc\"\n[run]\nrequest = \"start\"\n[law]\n{law}\n\
         [[source]]\nname = \"s\"\ninput = \"stdin\"\nrange = [0, 1]\n"
    );
    let read = outrigger_config::KrcConfiguration::parse(&file).expect("a configuration");
    Rig::new(options(faults), read.engine, AnyLaw::new(read.law).expect("a law"), KrlConvention::RosControl)
}

/// Runs for `millis`, or until `until` returns `true`, with a sensor that sends a reading every 10 ms.
fn sensed(rig: &mut Rig<AnyLaw<7>>, millis: u64, until: impl Fn(&Rig<AnyLaw<7>>) -> bool) {
    for seq in 0..millis / 10 {
        if until(rig) {
            return;
        }
        let taken_at = outrigger_wire::time::Instant::from_micros(rig.krc.now().as_micros());
        let value = SampleValue::scalar(0.1 + (seq % 7) as f32 * 1e-5);
        let seq = u32::try_from(taken_at.as_micros() / 10_000).expect("a short run");
        rig.input(Input::Sample(Sample { source: SourceId(0), value, seq, taken_at }));
        rig.advance(10);
    }
}

#[test]
fn after_a_release_or_a_refusal_and_an_acknowledge_nothing_arms_whatever_the_law() {
    const OLD_REQUEST: Input = Input::Request(Epoch::from_number(999));
    let laws = [
        "kind = \"joint-servo\"",
        "kind = \"twist\"\nexpert.twist = [0, 0, 0.005, 0, 0, 0]",
        "kind = \"standoff\"\nsource = \"s\"\ndistance = 0.1",
        "kind = \"axes\"\n[[law.axis]]\nalong = \"z\"\nsource = \"s\"\ntarget = 0.1\nslope = -1",
    ];
    let stories: [&[Input]; 4] = [
        &[Input::Release, Input::Acknowledge],
        &[Input::Release, OLD_REQUEST, Input::Acknowledge],
        &[OLD_REQUEST, Input::Release, Input::Acknowledge, Input::Acknowledge],
        // The KRC stops by itself, which is latched.
        &[Input::Tick, Input::Acknowledge, OLD_REQUEST, Input::Acknowledge],
    ];
    for law in laws {
        for (number, story) in stories.iter().enumerate() {
            let mut rig = of_a_file(law, if number == 3 { &["stop@12s"] } else { &[] });
            sensed(&mut rig, 10_000, |rig| rig.session.mode() == Mode::Command);
            assert_eq!(rig.session.mode(), Mode::Command, "{law}: {:?}", rig.events);
            sensed(&mut rig, 500, |_| false);
            if number == 3 {
                sensed(&mut rig, 20_000, |rig| rig.session.latch().is_some());
            }
            for word in *story {
                rig.input(*word);
                sensed(&mut rig, 3_000, |_| false);
            }
            sensed(&mut rig, 5_000, |_| false);
            let arms = rig.transitions().filter(|transition| transition.to == Mode::Arming).count();
            assert_eq!((arms, rig.session.mode()), (1, Mode::Monitor), "{law}, story {number}: {:?}", rig.events);
        }
    }
}

/// The faults of each run: disturbances of the network, and in the last rows also faults of the KRC and a push.
const NETWORKS: [&[&str]; 9] = [
    &["drop@1500ms::1%"],
    &["drop@1500ms::5%"],
    &["burst@1500ms::5%"],
    &["duplicate@1500ms::10%", "reorder@1500ms::5%"],
    &["jitter@1500ms::1400us"],
    &["burst/up@1500ms::10%", "drop/down@1500ms::10%", "reorder/down@1500ms::5%"],
    &["stale@2s:200ms", "restart@3s", "power-off@4s:100ms", "period@5s::4ms", "drop@1500ms::3%"],
    &["delay/up@2s::700us", "garbage@2s::20%", "second-sender@3s:1s", "stop@4s", "close@5s:300ms", "period@7s::3ms"],
    &["silence@2s:4ms", "nan@3s:5ms", "release@4s:40ms", "drop@5s:1s:30%", "hand@2s:3s:40", "restart@7s"],
];

/// Runs an engine with a KRC for eight seconds, while an operator acknowledges and requests motion repeatedly. Returns
/// the run, and the reason, if any, for which the KRC may leave the command state.
fn restless(seed: u64, network: &[&str]) -> (Rig<Restless>, Option<Left>) {
    let controls = [
        Control::Position,
        Control::JointImpedance(JointImpedance::default()),
        Control::ToolImpedance(ToolImpedance::default()),
    ];
    let pick = |count: u64, salt: u64| (seed.wrapping_mul(0x9e37_79b9).wrapping_add(salt) >> 7) % count;
    let control = controls[(seed % 3) as usize];
    let options = Options {
        seed,
        first_counter: 65_536_u64.wrapping_sub(seed * 400) as u16,
        period: StdDuration::from_millis([1, 2, 4, 5][(seed / 3 % 4) as usize]),
        uses_late_answers: pick(2, 0) == 1,
        offset_after_stop: [OffsetAfterStop::Kept, OffsetAfterStop::TakenOver][pick(2, 500) as usize],
        ..options(network)
    };
    // Setpoints that arrive a cycle late and then two at once cause steps in the KRC itself.
    let excused = options.uses_late_answers.then_some(Left::Limit);
    let config = KrcConfig {
        peer: KrcOptions { control, first_counter: (seed * 977) as u16, ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    let mut rig = Rig::new(options, config, Restless::new(0.99, seed), KrlConvention::RosControl);
    for _ in 0..80 {
        rig.advance(100);
        rig.input(Input::Acknowledge);
        rig.request();
    }
    (rig, excused)
}

/// Checks, for each set of faults and each control scheme, that no commanded step is above v_max·dt, no commanded frame
/// is away from the frame of the joints, and the KRC has no reason to complain. `OUTRIGGER_FRI_SEEDS=FROM..TO` sets the
/// seeds.
#[test]
fn no_commanded_step_is_too_long_whatever_the_network_does() {
    let asked = std::env::var("OUTRIGGER_FRI_SEEDS").ok();
    let seeds = asked.as_deref().map_or(1..13, |text| {
        let (from, to) = text.split_once("..").expect("FROM..TO");
        from.parse().expect("a number")..to.parse().expect("a number")
    });
    let (mut longest, mut moving) = (0.0_f64, [0_u64; 3]);
    for seed in seeds {
        for network in NETWORKS {
            let (rig, excused) = restless(seed, network);
            let what = format!("{network:?}, seed {seed}");
            assert_clean_but(&rig, &what, excused);
            assert!(rig.farthest_frame < 1e-5, "{what}: a frame {} away", rig.farthest_frame);
            longest = longest.max(rig.longest_step);
            moving[(seed % 3) as usize] += rig.krc.counts().commanding;
        }
    }
    assert!(longest > 0.9, "some of them came close: {longest}");
    if asked.is_some() {
        return;
    }
    assert!(moving.iter().all(|cycles| *cycles > 10_000), "each scheme commanded: {moving:?} cycles");
}

#[test]
fn laws_of_the_tool_work_by_what_the_krc_measures() {
    use outrigger_core::law::{CartesianTwist, CartesianTwistConfig, TwistFrame, TwistInput};
    use outrigger_wire::robot::Twist;

    let twist = Twist { linear: [0.0, 0.03, -0.04], angular: [0.0; 3] };
    let law = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(twist));
    for control in [Control::Position, Control::ToolImpedance(ToolImpedance::default())] {
        let config = KrcConfig { peer: KrcOptions { control, ..KrcOptions::default() }, ..KrcConfig::default() };
        let mut rig = Rig::new(options(&[]), config, CartesianTwist::new(law), KrlConvention::RosControl);
        rig.command(5_000);
        rig.advance(500);
        let before = rig.session.state().and_then(|state| state.tcp_pose).expect("a pose");
        rig.advance(1_000);
        let after = rig.session.state().and_then(|state| state.tcp_pose).expect("a pose");
        assert_eq!(rig.session.mode(), Mode::Command, "{:?}", rig.session.latch());
        for (axis, wanted) in twist.linear.into_iter().enumerate() {
            let moved = after.position[axis] - before.position[axis];
            assert!((moved - wanted).abs() < 2e-3, "{control:?}: axis {axis} by {moved} m instead of {wanted}");
        }
        let turned = after.rotation.iter().zip(before.rotation).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(turned < 5e-3, "{control:?}: it does not turn: {turned} rad");
    }
}
