//! Tests of single datagrams, or a handful. Whole runs are in the integration tests.

#[cfg(feature = "motions")]
mod added;
#[cfg(feature = "record")]
mod recorded;

use crate::engine::krc::{KrcEvent, KrcOptions};
use core::net::SocketAddr;

use super::config::ArmLimits;
use super::position_target::Target;
use super::state_conversion::{Readings, posture};
use super::target_bounds::Bounds;
use super::*;
use crate::command::{Governor, Limits, Samples};
use crate::engine::{Event, Input, LinkId, Output};
use crate::kinematics::Jacobian;
use crate::law::Law;
use crate::mode::Mode;
use crate::recorder::Checkpoint;
use crate::robot::{Authority, Reason};
use outrigger_wire::WireErrorKind;
use outrigger_wire::fri::{Command, Frame, Measurement, MeasurementRepr};
use outrigger_wire::robot::{ControllerTime, JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

struct Still;

impl Checkpoint for Still {}

impl Law<7> for Still {
    fn step(&mut self, _: &State<7>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
        Ok(JointVelocities::ZERO)
    }
}

struct Bench {
    session: KrcEngine<'static, Still>,
    now: Instant,
    events: Vec<Event<KrcEvent>>,
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

impl Bench {
    fn new(config: KrcConfig) -> Self {
        let session = KrcEngine::new(config, Still, ()).unwrap();
        Self { session, now: Instant::from_micros(5_000_000), events: vec![] }
    }

    /// Receives a datagram now, which is not answered yet.
    fn receive(&mut self, from: &str, bytes: &[u8]) {
        let (link, now) = (LinkId::FRI, self.now);
        let window = self.session.receive_window(link);
        let length = bytes.len().min(window.len());
        window[..length].copy_from_slice(&bytes[..length]);
        self.session.commit_datagram(link, length, address(from), now, now);
    }

    /// Ends the reception of datagrams. Returns the engine's answer and its receiver, or `None` if it does not answer.
    fn answer(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.session.handle(self.now, Input::Tick);
        match self.session.poll_output()? {
            Output::Transmit { to: Some(to), bytes, .. } => Some((to, bytes.to_vec())),
            other => panic!("{other:?}"),
        }
    }

    /// Receives a datagram a millisecond later. Returns the counters of the answer, if there is one.
    fn give(&mut self, from: &str, bytes: &[u8]) -> Option<(u16, u16)> {
        self.now = self.now + Duration::from_millis(1);
        self.receive(from, bytes);
        let answer = self.answer();
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
        }
        let (to, bytes) = answer?;
        assert_eq!(to, address(from));
        let command = Command::new_checked(&bytes).unwrap();
        Some((command.send_seq_count(), command.refl_seq_count()))
    }
}

fn measurement(counter: u16) -> MeasurementRepr {
    MeasurementRepr {
        send_seq_count: counter,
        state: 1,
        quality: 3,
        power: 0x7f,
        control: 1,
        desired_cmd_sample_time: 0.001,
        safety_limits: 1.0,
        cmd_jnt_pos: [0.25; 7],
        cmd_jnt_pos_fri_offset: [0.5; 7],
        ..MeasurementRepr::default()
    }
}

fn bytes(repr: &MeasurementRepr) -> [u8; 916] {
    let mut bytes = [0; 916];
    repr.emit(&mut bytes).unwrap();
    bytes
}

const A: &str = "192.0.2.1:49938";
const B: &str = "192.0.2.2:49938";

#[test]
fn the_first_counter_may_be_anything_and_each_measurement_is_answered_once() {
    for first in [0_u16, 1, 32_768, 65_535] {
        let mut bench = Bench::new(KrcConfig {
            peer: KrcOptions { first_counter: 65_535, ..KrcOptions::default() },
            ..KrcConfig::default()
        });
        let answers: Vec<_> = (0..4).map(|i| bench.give(A, &bytes(&measurement(first.wrapping_add(i))))).collect();
        let expected = (0..4_u16).map(|i| Some((65_535_u16.wrapping_add(i), first.wrapping_add(i))));
        assert_eq!(answers, expected.collect::<Vec<_>>());
        assert_eq!(bench.give(A, &bytes(&measurement(first.wrapping_add(3)))), None, "a repeated one is not");
        assert_eq!(bench.give(A, &bytes(&measurement(first.wrapping_add(1)))), None, "an overtaken one is not");
        assert_eq!(bench.session.peer().counts().unused, 2);
    }
}

/// Tests every sequence of six of: the next measurement, the same again, one after a gap, an answer, a silence.
#[test]
fn every_measurement_is_counted_once_more_by_what_became_of_it() {
    const ACTIONS: u32 = 5;
    for sequence in 0..ACTIONS.pow(6) {
        let mut bench = Bench::new(KrcConfig::default());
        let mut counter = 7_u16;
        for digit in 0..6 {
            let action = sequence / ACTIONS.pow(digit) % ACTIONS;
            bench.now = bench.now + Duration::from_millis(if action == 4 { 60_000 } else { 1 });
            counter += [1, 0, 3, 0, 0][action as usize];
            if action < 3 {
                bench.receive(A, &bytes(&measurement(counter)));
            } else {
                let _ = bench.answer();
            }
            while bench.session.poll_event().is_some() {}
            let counts = bench.session.peer().counts();
            let waiting = counts.measurements - (counts.commands + counts.overtaken + counts.unused);
            assert!(waiting <= u64::from(action < 3), "{sequence}: {counts:?}");
        }
    }
}

#[test]
fn a_counter_that_starts_anew_is_believed_at_its_second_datagram() {
    let mut bench = Bench::new(KrcConfig::default());
    for counter in 5_000..5_010 {
        assert!(bench.give(A, &bytes(&measurement(counter))).is_some());
    }
    assert_eq!(bench.give(A, &bytes(&measurement(1))), None);
    assert_eq!(bench.give(A, &bytes(&measurement(2))).map(|(_, reflected)| reflected), Some(2));
    assert!(bench.events.iter().any(|event| matches!(event, Event::ClockJump(_))));
}

#[test]
fn the_setpoint_of_the_krc_is_given_back_with_what_was_added_to_it() {
    let mut bench = Bench::new(KrcConfig::default());
    bench.receive(A, &bytes(&measurement(7)));
    assert_eq!(bench.session.poll_timeout(), Some(Instant::ZERO), "an answer is owed");
    let (_, sent) = bench.answer().unwrap();
    let command = Command::new_checked(&sent).unwrap();
    assert_eq!((command.jnt_pos(), command.cmd_flags()), ([0.75; 7], 1));
    assert_eq!(command.krl().ints[..2], [10, 0], "the strategy, and no start");
    assert_eq!(bench.session.mode(), Mode::Monitor);
}

#[test]
fn only_the_first_sender_is_listened_to_until_it_falls_silent() {
    let mut bench = Bench::new(KrcConfig::default());
    assert!(bench.give(A, &bytes(&measurement(1))).is_some());
    assert_eq!(bench.give(B, &bytes(&measurement(900))), None);
    assert_eq!(bench.give("192.0.2.1:5", &bytes(&measurement(900))), None, "another port is another sender");
    assert_eq!((bench.session.peer().counts().foreign, bench.session.peer().address()), (2, Some(address(A))));
    bench.now = bench.now + Duration::from_millis(150);
    assert!(bench.give(B, &bytes(&measurement(900))).is_some());
    assert!(bench.events.contains(&Event::Peer(KrcEvent::Silent)));
}

#[test]
fn with_a_configured_address_nobody_else_is_listened_to_at_all() {
    let mut bench = Bench::new(KrcConfig {
        peer: KrcOptions { address: Some(address(B).ip()), ..KrcOptions::default() },
        ..KrcConfig::default()
    });
    assert_eq!(bench.give(A, &bytes(&measurement(1))), None);
    assert!(bench.give("192.0.2.2:1234", &bytes(&measurement(1))).is_some(), "from whichever port");
}

#[test]
fn the_krcs_own_quality_permits_a_request_or_does_not() {
    let mut bench = Bench::new(KrcConfig::default());
    let _ = bench.give(A, &bytes(&measurement(0)));
    for (counter, quality, permitted) in [(1, 0, false), (2, 1, true), (3, 2, true), (4, 3, true), (5, 7, false)] {
        let rated = MeasurementRepr { quality, ..measurement(counter) };
        assert!(bench.give(A, &bytes(&rated)).is_some());
        let refused = bench.session.unmet(bench.now).iter().any(|reason| reason == Reason::NotGranted);
        assert_eq!(!refused, permitted, "quality {quality}");
    }
}

#[test]
fn a_number_without_a_name_permits_nothing() {
    let mut bench = Bench::new(KrcConfig::default());
    let (monitor, command) = (1, 2);
    // The first is used only to compare the next with.
    let _ = bench.give(A, &bytes(&measurement(1)));
    for (counter, (state, quality)) in (2..).zip([(command, 7), (monitor, 4), (9, 3), (u16::MAX, u16::MAX)]) {
        let newer = MeasurementRepr { state, quality, ..measurement(counter) };
        let _ = bench.give(A, &bytes(&newer));
        let unmet: Vec<_> = bench.session.unmet(bench.now).iter().collect();
        assert!(unmet.contains(&Reason::NotGranted), "state {state}, quality {quality}: {unmet:?}");
    }
}

#[test]
fn what_is_no_measurement_is_counted_and_says_why() {
    let mut bench = Bench::new(KrcConfig::default());
    assert_eq!(bench.give(A, &[0; 915]), None);
    let mut strange = measurement(1);
    strange.desired_cmd_sample_time = f32::NAN;
    assert_eq!(bench.give(A, &bytes(&strange)), None, "a period that FRI does not have");
    assert_eq!((bench.session.peer().counts().malformed, bench.session.peer().address()), (2, None));
    let told = bench.events.iter().find_map(|event| match event {
        Event::Peer(KrcEvent::Malformed { count, error }) => Some((*count, error.kind)),
        _ => None,
    });
    assert_eq!(told, Some((1, WireErrorKind::Truncated)));
}

#[test]
fn nothing_is_sent_before_a_setpoint_is_known() {
    let mut bench = Bench::new(KrcConfig::default());
    let mut strange = measurement(1);
    strange.cmd_jnt_pos[3] = f32::NAN;
    assert_eq!(bench.give(A, &bytes(&strange)), None);
    assert!(bench.give(A, &bytes(&measurement(2))).is_some());
    strange.send_seq_count = 3;
    assert_eq!(bench.give(A, &bytes(&strange)), None, "it is as good as lost");
}

#[test]
fn a_variable_that_is_no_number_is_not_sent() {
    let mut bench = Bench::new(KrcConfig::default());
    bench.session.krl_mut().reals[0] = f32::NAN;
    assert_eq!(bench.give(A, &bytes(&measurement(1))), None);
    bench.session.krl_mut().reals[0] = 1.0;
    assert!(bench.give(A, &bytes(&measurement(2))).is_some());
}

/// Returns the bounds for a KRC that bridges no missing answer.
fn bounds(limits: &Limits<7>, scale: f32) -> Bounds {
    Bounds::new(&KrcConfig { limits: *limits, ..KrcConfig::default() }, scale, Duration::ZERO)
}

/// Returns the setpoint of the KRC after it was moved from 0.75 rad at `speed` \[rad/s\] for `cycles` of 2 ms, or until
/// a cycle was refused; and the outcome.
fn moved(speed: f32, cycles: u32, limits: &Limits<7>, scale: f32) -> (Target, Result<(), Reason>) {
    let mut target = Target::UNKNOWN;
    target.mirror(&[0.75; 7], &Frame::IDENTITY);
    let dt = Duration::from_millis(2);
    let wide = Limits {
        velocity: JointVelocities([10.0; 7]),
        acceleration: outrigger_wire::robot::JointAccelerations([1e6; 7]),
        braking: outrigger_wire::robot::JointAccelerations([1e6; 7]),
        ..Limits::default()
    };
    let mut governor = Governor::new(wide);
    for _ in 0..cycles {
        let mut machine = ();
        let authority = Authority::granted_by(&mut machine);
        let approved = governor.approve(authority, JointVelocities([speed; 7]), &State::default(), dt).unwrap();
        let outcome = target.advance(approved, dt, &[0.0; 7], &bounds(limits, scale), None);
        if outcome.is_err() {
            return (target, outcome);
        }
    }
    (target, Ok(()))
}

#[test]
fn approved_speeds_become_positions_however_slow() {
    let limits = KrcConfig::default().limits;
    let (target, outcome) = moved(1e-5, 50_000, &limits, 1.0);
    assert_eq!(outcome, Ok(()));
    // 10⁻⁵ rad/s for 100 s; each step is a twentieth of the last digit of an `f32`.
    assert!((target.wanted().unwrap().0[0] - 0.751).abs() < 2e-7);
}

#[test]
fn the_arms_own_limits_hold_whatever_was_approved() {
    let limits = KrcConfig::default().limits;
    assert_eq!(moved(2.0, 5, &limits, 1.0).1, Err(Reason::VelocityLimit), "110°/s are 1.92 rad/s");
    assert_eq!(moved(0.5, 5, &limits, 0.2).1, Err(Reason::VelocityLimit), "as friStart scaled them");
    let (target, outcome) = moved(1.0, 5_000, &limits, 1.0);
    assert_eq!(outcome, Err(Reason::PositionLimit));
    // The fastest-accelerating one of the joints with a range of 120°.
    let reached = f64::from(target.wanted().unwrap().0[5]);
    // 120° minus the margin and the braking distance from 1 rad/s.
    assert!((reached - (120_f64.to_radians() - 0.5_f64.to_radians() - 0.1)).abs() < 0.005, "{reached}");
}

#[test]
fn the_target_speeds_up_no_faster_than_the_arm_can() {
    let limits = KrcConfig::default().limits;
    for (scale, cycles) in [(1.0, 10_u8), (1.0, 20), (0.5, 20)] {
        let (target, outcome) = moved(0.9, cycles.into(), &limits, scale);
        assert_eq!(outcome, Ok(()));
        let seconds = f32::from(cycles) * 0.002;
        for (speed, acceleration) in target.speed().iter().zip(ArmLimits::default().acceleration) {
            let reached = (acceleration * scale * seconds).min(0.9);
            assert!((speed - reached).abs() < 1e-4, "{speed} rad/s, not {reached}, at scale {scale} after {seconds} s");
        }
    }
}

#[test]
fn what_is_mirrored_is_where_the_target_begins_again_at_rest() {
    let (mut target, _) = moved(1.0, 100, &KrcConfig::default().limits, 1.0);
    assert!(!target.rests());
    target.mirror(&[0.2; 7], &Frame::IDENTITY);
    assert_eq!((target.wanted(), target.rests()), (Some(([0.2; 7], Frame::IDENTITY)), true));
    target.mirror(&[f32::NAN; 7], &Frame::IDENTITY);
    assert_eq!(target.wanted(), Some(([0.2; 7], Frame::IDENTITY)), "what is no number is not mirrored");
}

#[test]
fn braking_ends_at_rest_within_its_distance_which_fri_start_makes_longer() {
    let limits = KrcConfig::default().limits;
    for (scale, speed, expected) in [(1.0, 1.0, 100_u32), (0.5, 0.8, 160)] {
        let (mut target, outcome) = moved(speed, 100, &limits, scale);
        assert_eq!(outcome, Ok(()));
        let from = target.wanted().unwrap().0[0];
        let mut cycles = 0;
        while !target.rests() {
            target.brake(Duration::from_millis(2), &bounds(&limits, scale), None);
            cycles += 1;
        }
        let travelled = target.wanted().unwrap().0[0] - from;
        let distance = speed * speed / (2.0 * 5.0 * scale);
        assert!((expected..=expected + 1).contains(&cycles), "{cycles} cycles at scale {scale}");
        assert!((travelled - distance).abs() < 0.002, "{travelled} rad at scale {scale}");
    }
}

#[test]
fn the_target_comes_to_rest_inside_the_configured_range_whatever_is_measured() {
    let mut limits = KrcConfig::default().limits;
    limits.position_max.0[2] = 1.2;
    for scale in [1.0, 0.4] {
        let (mut target, outcome) = moved(0.7, 5_000, &limits, scale);
        assert_eq!(outcome, Err(Reason::PositionLimit), "the governor was shown an arm that stands still at 0");
        while !target.rests() {
            target.brake(Duration::from_millis(2), &bounds(&limits, scale), None);
        }
        let reached = target.wanted().unwrap().0[2];
        assert!((1.19..=1.2).contains(&reached), "{reached} rad at scale {scale}");
    }
}

#[test]
fn a_scale_that_falls_while_the_target_moves_does_not_take_it_out_of_its_range() {
    let mut limits = KrcConfig::default().limits;
    limits.position_max.0[2] = 1.2;
    let (mut target, _) = moved(0.7, 5_000, &limits, 1.0);
    for _ in 0..100_000 {
        target.brake(Duration::from_millis(2), &bounds(&limits, 0.01), None);
    }
    assert!(target.rests() && target.wanted().unwrap().0[2] <= 1.2);
}

#[test]
fn speeds_are_differences_of_positions_over_eight_milliseconds() {
    let mut readings = Readings::default();
    let mut state = State::default();
    for millis in 0..20_u64 {
        let mut repr = measurement(millis as u16);
        repr.msr_jnt_pos = [0.001 * millis as f32; 7];
        let bytes = bytes(&repr);
        let at = ControllerTime::from_micros(4_000_000_000 + 1_000 * millis);
        state = readings.take(&Measurement::new_checked(&bytes).unwrap(), at, TaskFrame::Base, false);
    }
    assert!(state.velocities.iter().all(|v| (v - 1.0).abs() < 1e-3), "{:?}", state.velocities);
    assert_eq!(state.target_velocities, JointVelocities::ZERO);
    assert_eq!(state.target_positions.0, [0.75; 7]);
}

#[test]
fn a_frame_becomes_a_pose_with_a_rotation_vector() {
    let mut repr = measurement(1);
    // A quarter turn about z.
    repr.msr_cart_pos =
        Frame { rotation: [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], position: [0.1, 0.2, 0.3] };
    let bytes = bytes(&repr);
    let mut readings = Readings::default();
    let state = readings.take(
        &Measurement::new_checked(&bytes).unwrap(),
        ControllerTime::from_micros(1),
        TaskFrame::Base,
        false,
    );
    let pose = state.tcp_pose.unwrap();
    assert_eq!(pose.position, [0.1, 0.2, 0.3]);
    assert!((pose.rotation[2] - core::f32::consts::FRAC_PI_2).abs() < 1e-6 && pose.rotation[0].abs() < 1e-6);
}

#[cfg(feature = "texts")]
#[test]
fn a_wrong_value_of_the_configuration_is_named() {
    let check = |change: fn(&mut KrcConfig)| {
        let mut config = KrcConfig::default();
        change(&mut config);
        config.check().map_err(|error| error.to_string())
    };
    assert_eq!(check(|_| ()), Ok(()));
    assert_eq!(check(|c| c.peer.silence = Duration::ZERO), Err("fri.silence: expected 0.01 to 10.0 s".into()));
    assert!(check(|c| c.peer.arm.velocity[3] = -1.0).is_err_and(|e| e.starts_with("fri.arm.velocity")));
    let soft = JointImpedance { damping: [f32::NAN; 7], ..JointImpedance::default() };
    let mut config = KrcConfig {
        peer: KrcOptions { control: Control::JointImpedance(soft), ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    assert!(config.check().is_err());
    config.peer.control = Control::Position;
    assert_eq!(config.check(), Ok(()));
}

#[test]
fn tool_and_force_are_told_along_the_axes_of_the_base_whatever_the_task_frame_is() {
    // The tool is turned by a quarter about z: its x points along the base's y.
    let mut repr = measurement(1);
    repr.msr_cart_pos =
        Frame { rotation: [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], position: [0.1, 0.2, 0.3] };
    repr.est_ext_tcp_ft.linear = [5.0, 0.0, 0.0];
    repr.jacobian.linear[0][2] = 0.5;
    repr.jacobian.angular[2][6] = 1.0;
    let bytes = bytes(&repr);
    let measurement = Measurement::new_checked(&bytes).unwrap();
    for (task, along) in [(TaskFrame::Base, [1.0, 0.0, 0.0]), (TaskFrame::Tool, [0.0, 1.0, 0.0])] {
        let state = Readings::default().take(&measurement, ControllerTime::from_micros(1), task, false);
        let pose = state.tcp_pose.unwrap();
        assert_eq!(pose.position, [0.1, 0.2, 0.3]);
        assert!((pose.rotation[2] - core::f32::consts::FRAC_PI_2).abs() < 1e-6, "{pose:?}");
        assert_eq!(state.tcp_force.unwrap().force, along.map(|share| 5.0 * share), "{task:?}");
        let Jacobian(columns) = posture(&measurement, task).jacobian;
        assert_eq!(columns[2].linear, along.map(|share| 0.5 * share), "{task:?}");
        assert_eq!(columns[6].angular, [0.0, 0.0, 1.0], "{task:?}");
    }
}

#[test]
fn torque_is_added_only_while_the_arm_is_commanded() {
    let impedance = JointImpedance { torque: [3.0; 7], ..JointImpedance::default() };
    let mut bench = Bench::new(KrcConfig {
        peer: KrcOptions { control: Control::JointImpedance(impedance), ..KrcOptions::default() },
        ..KrcConfig::default()
    });
    assert!(bench.give(A, &bytes(&measurement(1))).is_some());
    let follows = MeasurementRepr { state: 2, control: 3, ..measurement(2) };
    bench.receive(A, &bytes(&follows));
    let (_, sent) = bench.answer().unwrap();
    let command = Command::new_checked(&sent).unwrap();
    assert_eq!((command.add_jnt_trq(), command.jnt_stiffness()), ([0.0; 7], [1000.0; 7]), "nobody asked for motion");
}

/// Requests commanding with the setpoint `away` \[rad\] from the measured position of the fifth joint. Returns the
/// event that answers it, and the preconditions that were not met.
fn requested(control: Control, away: f32) -> (Option<Event<KrcEvent>>, Vec<Reason>) {
    let mut bench =
        Bench::new(KrcConfig { peer: KrcOptions { control, ..KrcOptions::default() }, ..KrcConfig::default() });
    for counter in 1..400 {
        let mut repr = measurement(counter);
        repr.msr_jnt_pos = [0.75; 7];
        repr.msr_jnt_pos[4] += away;
        assert!(bench.give(A, &bytes(&repr)).is_some());
    }
    let unmet = bench.session.unmet(bench.now).iter().collect();
    bench.events.clear();
    let epoch = bench.session.mode_machine().epoch();
    bench.session.handle(bench.now, Input::Request(epoch));
    (bench.session.poll_event(), unmet)
}

#[test]
fn a_setpoint_far_from_the_measured_position_is_not_begun_with() {
    let soft = Control::JointImpedance(JointImpedance::default());
    for (control, away, begins) in [
        (Control::Position, 1.0, false),
        (Control::Position, -0.11, false),
        (Control::Position, 0.09, true),
        (soft, 0.2, true),
        (soft, 0.31, false),
    ] {
        let (told, unmet) = requested(control, away);
        let refused = matches!(&told, Some(Event::Refused(refusal)) if refusal.reason == Reason::TrackingError);
        assert_eq!((refused, unmet.contains(&Reason::TrackingError)), (!begins, !begins), "{away} rad: {told:?}");
    }
}

#[test]
fn a_tool_that_strays_is_told_by_its_place_and_by_its_turn() {
    let tracking = Tracking::default();
    let here = Frame { rotation: [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], position: [0.5, 0.0, 1.0] };
    let aside = |metres: f32| Frame { position: [0.5, metres, 1.0], ..here };
    let turned = |angle: f32| {
        let (s, c) = angle.sin_cos();
        Frame { rotation: [[s, -c, 0.0], [c, s, 0.0], [0.0, 0.0, 1.0]], ..here }
    };
    assert!(!tracking.strays_from(&here, &here));
    assert!(!tracking.strays_from(&aside(0.09), &here) && tracking.strays_from(&aside(-0.11), &here));
    assert!(!tracking.strays_from(&turned(0.29), &here) && tracking.strays_from(&turned(-0.31), &here));
    assert!(tracking.strays_from(&aside(f32::NAN), &here));
}
