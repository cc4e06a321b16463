//! The output for a trajectory, the effect of its results, and the permitted delay of an arm.

use proptest::prelude::*;

use super::*;
use crate::engine::ur::command_path::CommandPath;
use crate::engine::ur::config::{UrConfig, UrOptions};
use crate::engine::ur::reverse::ProgramStage;
use crate::mode::Mode;
use crate::trajectory::Setpoint;
use outrigger_wire::external_control::Control;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};

const NOW: Instant = Instant::from_micros(5_000_000);

/// Returns a program with this move, half a second per waypoint, of which nothing was sent yet.
fn asked(waypoints: u64) -> (Reverse, MoveNumber) {
    let peer = UrOptions { path: CommandPath::ExternalControl, ..UrOptions::default() };
    let config = UrConfig { peer, ..UrConfig::default() };
    let mut reverse = Reverse::new(&config.peer, config.limits);
    (reverse.stage, reverse.period) = (ProgramStage::Ready, Duration::from_millis(8));
    let number = MoveNumber::new(1).unwrap();
    let begin = JointMove::along(JointPositions::ZERO, 1.0).unwrap();
    reverse.delegated(number, begin, &State::default());
    for i in 1..=waypoints {
        let setpoint = Setpoint { positions: JointPositions([0.01 * i as f32; 6]), ..Setpoint::default() };
        let accelerations = Some(JointAccelerations::ZERO);
        let to = Waypoint { setpoint, accelerations, at: Duration::from_millis(500 * i) };
        reverse.lead_on(&to, i == waypoints);
    }
    (reverse.forward.account.phase, reverse.forward.account.newest_move) = (Phase::Asked(number), Some(number));
    at(&mut reverse, NOW);
    (reverse, number)
}

fn at(reverse: &mut Reverse, now: Instant) {
    reverse.prepare(now, Mode::Command, None, Pause::default());
}

/// Returns the trajectory instruction that is sent to the program for a verdict, with its number, and the number of
/// points sent with it.
fn says(reverse: &mut Reverse, verdict: Verdict<'_, 6>) -> (Option<(Instruction, i32)>, usize) {
    assert!(reverse.write(verdict).is_ok());
    let order = reverse.order.take();
    let said = (!order.is_empty()).then(|| {
        let control = Control::new_checked(order).unwrap().repr();
        assert_eq!((control.mode, control.timeout), (ControlMode::Forward, 200));
        (Instruction::from_raw(control.values[0]), control.values[1])
    });
    (said, reverse.forward.points.take().len() / TrajectoryPoint::LEN)
}

fn told(reverse: &mut Reverse, result: TrajectoryResult) {
    reverse.result_window().copy_from_slice(&result.to_bytes());
    assert_eq!(reverse.commit_result(4), Some(ProgramEvent::Trajectory(result)));
}

fn shown(reverse: &Reverse) -> Mirrored {
    reverse.forward.account.shown
}

#[test]
fn a_stream_is_begun_with_its_points_counted_at_its_end_and_over_when_the_program_says_so() {
    let (mut reverse, number) = asked(6);
    assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::StreamStart, 0)), AT_ONCE));
    assert_eq!(shown(&reverse), Mirrored::Running(number));
    assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::StreamEnd, 6)), 2));
    assert_eq!(says(&mut reverse, Verdict::Keep), (None, 0), "it has just been told something");
    at(&mut reverse, NOW + ALIVE);
    assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::Noop, 0)), 0));
    told(&mut reverse, TrajectoryResult::Success);
    assert_eq!((shown(&reverse), reverse.led()), (Mirrored::Ended(number), Some(Duration::from_secs(3))));
}

#[test]
fn what_ends_without_success_is_shown_as_ended_when_its_points_are_read_away() {
    for result in [TrajectoryResult::Failure, TrajectoryResult::Canceled, TrajectoryResult::Unknown(9)] {
        let (mut reverse, number) = asked(3);
        says(&mut reverse, Verdict::Keep);
        told(&mut reverse, result);
        assert_eq!(shown(&reverse), Mirrored::Running(number));
        assert_eq!(says(&mut reverse, Verdict::Keep).0, Some((Instruction::Cancel, 3)));
        // Results that were on their way when it was cancelled.
        told(&mut reverse, TrajectoryResult::Failure);
        told(&mut reverse, TrajectoryResult::Success);
        assert_eq!(shown(&reverse), Mirrored::Running(number));
        at(&mut reverse, NOW + AGAIN + ALIVE);
        assert_eq!(says(&mut reverse, Verdict::Keep).0, Some((Instruction::Cancel, 3)), "it is not answered");
        told(&mut reverse, TrajectoryResult::Canceled);
        assert_eq!(shown(&reverse), Mirrored::Ended(number));
    }
}

#[test]
fn a_cancelled_one_is_cancelled_once_and_one_that_has_not_begun_not_at_all() {
    let (mut reverse, number) = asked(3);
    assert_eq!(says(&mut reverse, Verdict::Cancel(number)), (Some((Instruction::Noop, 0)), 0));
    assert_eq!(shown(&reverse), Mirrored::Ended(number));
    let (mut reverse, number) = asked(3);
    says(&mut reverse, Verdict::Keep);
    assert_eq!(says(&mut reverse, Verdict::Cancel(number)).0, Some((Instruction::Cancel, 3)));
    assert_eq!(says(&mut reverse, Verdict::Cancel(number)), (None, 0));
    told(&mut reverse, TrajectoryResult::Canceled);
    assert_eq!(shown(&reverse), Mirrored::Ended(number));
}

#[test]
fn an_arm_that_does_not_set_out_is_late_once_and_then_not_on_its_course() {
    let (mut reverse, _) = asked(6);
    says(&mut reverse, Verdict::Keep);
    let mut late = vec![];
    let lost = (0..1_000_u64).position(|cycle| {
        let controller_time = ControllerTime::from_micros(7_000_000 + 8_000 * cycle);
        let state = State { controller_time, ..State::default() };
        let executed = reverse.executed(&state, NOW);
        assert_eq!(executed.mirrored, None, "there is no connection for trajectories");
        late.extend(reverse.lateness());
        !executed.on_course
    });
    // 0.1 s and 0.4 s, 5 and 20 % of what has passed, a period and two for each of four points; and the plan's own
    // first 0.1 mrad.
    let lost = lost.map(|cycles| cycles * 8);
    assert!(lost.is_some_and(|millis| (620..700).contains(&millis)), "{lost:?}");
    assert!(matches!(late[..], [ProgramEvent::Late(by)] if by.as_millis().abs_diff(140) <= 12), "{late:?}");
}

#[test]
fn a_leg_is_quintic_for_as_long_as_all_before_it_were() {
    let (mut reverse, _) = asked(1);
    reverse.player.legs.begin(JointPositions::ZERO);
    reverse.player.legs.begin_with_accelerations();
    for (i, known) in (1..).zip([true, true, false, true]) {
        let setpoint = Setpoint { velocities: JointVelocities([0.1; 6]), ..Setpoint::default() };
        let accelerations = known.then_some(JointAccelerations([0.5; 6]));
        reverse.lead_on(&Waypoint { setpoint, accelerations, at: Duration::from_millis(50 * i) }, false);
    }
    let mut kinds = vec![];
    while let Some((from, to, _)) = reverse.player.legs.next_leg() {
        let point = spline(from, to);
        assert_eq!((point.second, point.duration), ([100_000; 6], 50_000));
        kinds.push((point.blend, point.third[0]));
        reverse.player.legs.went();
    }
    assert_eq!(kinds, [(2, 500_000), (2, 500_000), (1, 0), (1, 0)]);
}

proptest! {
    #[test]
    fn results_in_any_pieces_are_the_same(results in prop::collection::vec(-1..4_i32, 1..8), cuts in prop::collection::vec(1..5_usize, 1..40)) {
        let bytes: Vec<u8> = results.iter().flat_map(|raw| raw.to_be_bytes()).collect();
        let (mut reverse, _) = asked(1);
        let (mut told, mut rest, mut cuts) = (vec![], &bytes[..], cuts.into_iter().cycle());
        while !rest.is_empty() {
            let window = reverse.result_window();
            let count = cuts.next().unwrap_or(1).min(window.len()).min(rest.len());
            window[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            told.extend(reverse.commit_result(count));
        }
        let expected = results.iter().map(|raw| ProgramEvent::Trajectory(TrajectoryResult::from_raw(*raw)));
        prop_assert_eq!(told, expected.collect::<Vec<_>>());
    }
}
