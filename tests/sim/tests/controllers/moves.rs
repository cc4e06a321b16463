//! Moves with an end, and speeds of the tool (external control 5.1, 5.3).

use outrigger_sim::controller::{Action, Options};
use outrigger_sim::port::Port;
use outrigger_sim::robot::Stop;
use outrigger_wire::robot::SoftwareVersion;

use crate::common::{Bench, ideal};

/// Returns a bench whose simulated arm is in a posture from which it can reach positions all around.
fn bench(options: Options) -> Bench {
    let mut bench = Bench::new(Options { q: [0.2, -1.3, -1.7, -1.5, 1.4, 0.3], ..options });
    bench.run(20);
    bench
}

struct Sample {
    q: [f64; 6],
    qd: [f64; 6],
    pose: [f64; 6],
}

/// Runs URScript statements until the program has ended and the arm rests, for at most 30 000 cycles. Returns the arm's
/// target in every cycle, and the texts of the program.
fn follow(bench: &mut Bench, statements: &str) -> (Vec<Sample>, Vec<String>) {
    let primary = bench.connect(Port::Primary);
    bench.run(20);
    bench.told(primary);
    bench.send(primary, &format!("def main():\n{statements}\nend\n"));
    let mut samples = vec![];
    let (mut cycles, mut rested) = (0, 0);
    while !bench.controller.program().0 && cycles < 100 {
        bench.next_cycle();
        cycles += 1;
    }
    while (bench.controller.program().0 || rested < 3) && cycles < 30_000 {
        bench.next_cycle();
        cycles += 1;
        let arm = bench.controller.truth();
        rested = if arm.targets.qd == [0.0; 6] { rested + 1 } else { 0 };
        samples.push(Sample { q: arm.targets.q, qd: arm.targets.qd, pose: arm.tool_target() });
    }
    // The last texts are still in transit.
    bench.cycles(3);
    (samples, bench.told(primary))
}

/// Returns the number of cycles in which the arm was commanded to move.
fn moving(samples: &[Sample]) -> usize {
    samples.iter().filter(|sample| sample.qd != [0.0; 6]).count()
}

fn distance(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Returns the largest distance of the tool from the line through two positions \[m\].
fn off_line(samples: &[Sample], a: &[f64; 6], b: &[f64; 6]) -> f64 {
    let length = distance(a, b);
    let off = |sample: &Sample| {
        let along = (0..3).map(|axis| (sample.pose[axis] - a[axis]) * (b[axis] - a[axis])).sum::<f64>() / length;
        (distance(&sample.pose, a).powi(2) - along * along).max(0.0).sqrt()
    };
    samples.iter().map(off).fold(0.0, f64::max)
}

fn shifted(pose: [f64; 6], by: [f64; 3]) -> [f64; 6] {
    let mut pose = pose;
    (0..3).for_each(|axis| pose[axis] += by[axis]);
    pose
}

fn text(pose: [f64; 6]) -> String {
    format!("p[{}]", pose.map(|value| format!("{value:.9}")).join(","))
}

#[test]
fn a_line_is_straight_and_ends_where_it_should_on_every_generation() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 12)] {
        let mut bench = bench(ideal(major, minor));
        let begin = bench.controller.truth().tool_target();
        let end = shifted(begin, [0.1, -0.15, 0.12]);
        let (samples, told) = follow(&mut bench, &format!(" movel({}, a=1.2, v=0.25)", text(end)));
        assert!(off_line(&samples, &begin, &end) < 1e-4, "{told:?}");
        assert!(distance(&samples.last().unwrap().pose, &end) < 1e-6);
        let period = bench.controller.period().as_secs_f64();
        let speed = samples.windows(2).map(|pair| distance(&pair[1].pose, &pair[0].pose)).fold(0.0, f64::max) / period;
        assert!((speed - 0.25).abs() < 1e-3, "{speed} m/s");
        let lasts = distance(&begin, &end) / 0.25 + 0.25 / 1.2;
        assert!((moving(&samples) as f64 * period - lasts).abs() < 3.0 * period, "{}", moving(&samples));
    }
}

#[test]
fn the_leading_axis_has_the_speed_and_all_arrive_together() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().q;
    let goal: [f64; 6] = std::array::from_fn(|joint| begin[joint] + [0.8, -0.4, 0.2, 0.0, 0.1, -0.6][joint]);
    let (samples, _) = follow(&mut bench, &format!(" movej({goal:?}, a=1.0, v=0.5)"));
    assert!(samples.last().unwrap().q.iter().zip(goal).all(|(a, b)| (a - b).abs() < 1e-9));
    let fastest = samples.iter().map(|sample| sample.qd[0]).fold(0.0, f64::max);
    assert!((fastest - 0.5).abs() < 1e-6, "{fastest}");
    assert!(samples.iter().all(|sample| (sample.qd[1] + 0.5 * sample.qd[0]).abs() < 1e-6));
    assert!((moving(&samples) as f64 * 0.002 - 2.1).abs() < 0.005, "0.8/0.5 + 0.5/1.0: {}", moving(&samples));
}

#[test]
fn a_move_ends_at_its_goal_although_the_drives_are_late_and_inexact() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 12)] {
        let mut bench = bench(Options::for_software(SoftwareVersion::new(major, minor)));
        let goal = [0.5, -1.3, -1.7, -1.5, 1.4, 0.3];
        for statements in [
            format!(" movej({goal:?}, a=2.5, v=1.3)"),
            // Nothing but rest is commanded afterwards.
            format!(" movej({goal:?}, a=2.5, v=1.3)\n speedj([0,0,0,0,0,0], 2, 0.1)"),
            format!(" movej({goal:?}, a=2.5, v=1.3)\n stopj(2)"),
        ] {
            follow(&mut bench, " speedj([0.5,0,0,0,0,0], 2, 0.5)\n stopj(2)");
            follow(&mut bench, &statements);
            bench.run(500);
            let arm = bench.controller.truth();
            assert!(arm.q.iter().zip(goal).all(|(q, goal)| (q - goal).abs() < 1e-4), "{major}.{minor}: {:?}", arm.q);
            assert_eq!(arm.qd, [0.0; 6], "{major}.{minor}");
        }
    }
}

#[test]
fn a_time_that_is_given_is_kept_and_the_slider_stretches_it() {
    for (slider, lasts) in [(1.0, 1.5), (0.5, 3.0)] {
        let mut bench = bench(ideal(5, 15));
        bench.controller.act(Action::Slider(slider));
        bench.run(1000);
        let begin = bench.controller.truth().tool_target();
        let end = text(shifted(begin, [0.0, 0.1, 0.0]));
        let (samples, _) = follow(&mut bench, &format!(" movel({end}, a=9, v=9, t=1.5)"));
        let cycles = moving(&samples) as f64;
        assert!((cycles * 0.002 - lasts).abs() < 0.005, "slider {slider}: {cycles} cycles");
    }
}

#[test]
fn a_blend_rounds_its_corner_without_a_stop() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let (corner, end) = (shifted(begin, [0.1, 0.0, 0.0]), shifted(begin, [0.1, 0.1, 0.0]));
    let two =
        |radius: f64| format!(" movel({}, 1.2, 0.25, 0, {radius})\n movel({}, 1.2, 0.25)", text(corner), text(end));
    let (samples, _) = follow(&mut bench, &two(0.02));
    let nearest = samples.iter().map(|sample| distance(&sample.pose, &corner)).fold(1.0, f64::min);
    assert!((1e-3..0.02).contains(&nearest), "{nearest} m from the corner");
    assert!(distance(&samples.last().unwrap().pose, &end) < 1e-6);
    let first = samples.iter().position(|sample| sample.qd != [0.0; 6]).unwrap();
    let last = samples.iter().rposition(|sample| sample.qd != [0.0; 6]).unwrap();
    assert!(samples[first..=last].iter().all(|sample| sample.qd != [0.0; 6]), "no stop on the way");
    let blended = moving(&samples);
    let mut again = self::bench(ideal(5, 15));
    let (samples, _) = follow(&mut again, &two(0.0));
    assert!(moving(&samples) > blended, "stopping takes longer");
    let nearest = samples.iter().map(|sample| distance(&sample.pose, &corner)).fold(1.0, f64::min);
    assert!(nearest < 1e-6);
}

#[test]
fn an_arc_passes_through_its_point_and_a_mode_turns_the_tool_with_it() {
    for mode in [0, 1] {
        let mut bench = bench(ideal(5, 15));
        let begin = bench.controller.truth().tool_target();
        let (via, to) = (shifted(begin, [0.0, 0.03, 0.01]), shifted(begin, [0.0, 0.06, 0.0]));
        let (samples, told) =
            follow(&mut bench, &format!(" movec({}, {}, a=1.2, v=0.03, mode={mode})", text(via), text(to)));
        let nearest = samples.iter().map(|sample| distance(&sample.pose, &via)).fold(1.0, f64::min);
        let end = &samples.last().unwrap().pose;
        assert!(nearest < 2e-4, "{nearest} {told:?}");
        assert!(distance(end, &to) < 1e-6, "mode {mode}: {end:?} is not {to:?} {told:?}");
        let centre = shifted(begin, [0.0, 0.03, -0.04]);
        assert!(samples.iter().all(|sample| (distance(&sample.pose, &centre) - 0.05).abs() < 1e-5));
        let turned = (3..6).any(|axis| (end[axis] - begin[axis]).abs() > 1e-3);
        assert_eq!(turned, mode == 1);
    }
}

#[test]
fn joints_and_poses_are_goals_of_every_move() {
    for name in ["movej", "movel", "movep", "optimovej", "optimovel"] {
        for as_pose in [false, true] {
            let mut bench = bench(ideal(5, 25));
            let begin = bench.controller.truth().q;
            let goal = begin.map(|angle| angle + 0.1);
            let pose = bench.controller.truth().tool_with(&goal, &[0.0; 6]);
            let target = if as_pose { text(pose) } else { format!("{goal:?}") };
            let (samples, told) = follow(&mut bench, &format!(" {name}({target}, 0.5, 0.5)"));
            let end = samples.last().unwrap();
            assert!(distance(&end.pose, &pose) < 1e-6, "{name} {told:?}");
            assert!(end.q.iter().zip(goal).all(|(a, b)| (a - b).abs() < 1e-5), "{name} {target}");
        }
    }
    let mut bench = bench(ideal(5, 20));
    let (_, told) = follow(&mut bench, " optimovej([0,-1,-1,-1,1,0])");
    assert_eq!(told, ["compile_error_name_not_found:optimovej:"]);
}

#[test]
fn a_pause_holds_the_arm_on_its_way() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let end = shifted(begin, [0.0, 0.2, 0.1]);
    let secondary = bench.connect(Port::Secondary);
    bench.send(secondary, &format!("def main():\n movel({}, 1.2, 0.1)\nend\n", text(end)));
    bench.run(800);
    bench.controller.act(Action::PauseProgram);
    bench.run(500);
    let arm = bench.controller.truth();
    let held = Sample { q: arm.targets.q, qd: arm.targets.qd, pose: arm.tool_target() };
    assert!(held.qd == [0.0; 6] && off_line(&[held], &begin, &end) < 1e-4);
    bench.controller.act(Action::ResumeProgram);
    bench.run(4000);
    assert!(distance(&bench.controller.truth().tool_target(), &end) < 1e-6);
    assert!(!bench.controller.program().0);
}

#[test]
fn after_a_protective_stop_the_arm_goes_back_to_its_way_and_on() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let end = shifted(begin, [0.0, 0.2, 0.1]);
    let secondary = bench.connect(Port::Secondary);
    bench.send(secondary, &format!("def main():\n movel({}, 1.2, 0.1)\nend\n", text(end)));
    bench.run(800);
    bench.controller.act(Action::ProtectiveStop);
    bench.run(6000);
    assert!(bench.controller.truth().at_rest());
    bench.controller.act(Action::UnlockProtectiveStop);
    bench.controller.act(Action::ResumeProgram);
    bench.run(5000);
    assert!(distance(&bench.controller.truth().tool_target(), &end) < 1e-6);
}

#[test]
fn a_stop_in_the_middle_of_a_move_ends_it_there() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().q;
    let goal: [f64; 6] = std::array::from_fn(|joint| begin[joint] + 0.5);
    let (samples, told) = follow(
        &mut bench,
        &format!(
            " thread go():\n  movej({goal:?}, 1, 0.5)\n end\n t = run go()\n sleep(0.6)\n kill t\n stopj(2)\n textmsg(\"rests\")\n movej({begin:?}, 1, 0.5)"
        ),
    );
    assert_eq!(told, ["rests"]);
    let farthest = samples.iter().map(|sample| sample.q[0] - begin[0]).fold(0.0, f64::max);
    assert!((0.1..0.4).contains(&farthest), "{farthest}");
    assert!(samples.last().unwrap().q.iter().zip(begin).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn a_move_may_begin_while_the_arm_has_a_speed() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().q;
    let (samples, _) = follow(&mut bench, &format!(" speedj([0.5,0,0,0,0,0], 2, 0.5)\n movej({begin:?}, 2, 0.5)"));
    let jump = samples.windows(2).map(|pair| (pair[1].qd[0] - pair[0].qd[0]).abs()).fold(0.0, f64::max);
    assert!(jump < 0.02, "{jump} rad/s from one cycle to the next");
    assert!(samples.last().unwrap().q.iter().zip(begin).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn the_tools_speed_is_reached_by_its_acceleration_and_stopped_on_its_line() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let (samples, _) = follow(&mut bench, " speedl([0.05,-0.05,0.02,0,0,0], 0.5, 1)\n stopl(0.5)");
    assert!(off_line(&samples, &begin, &shifted(begin, [0.05, -0.05, 0.02])) < 1e-4);
    let end = samples.last().unwrap();
    let speed = 0.0054_f64.sqrt();
    let way = speed * 1.0 - speed * speed / 2.0 / 0.5 + speed * speed / 2.0 / 0.5;
    assert!((distance(&end.pose, &begin) - way).abs() < 2e-3, "{}", distance(&end.pose, &begin));
    let turned = (3..6).map(|axis| (end.pose[axis] - begin[axis]).abs()).fold(0.0, f64::max);
    assert!(turned < 1e-4, "{turned}");
}

#[test]
fn speedl_without_a_time_returns_when_the_speed_is_reached_and_turns_about_the_tool() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let (samples, told) =
        follow(&mut bench, " speedl([0,0,0,0,0,0.2], 0.5, aRot=0.4)\n textmsg(\"reached\")\n stopl(1, 1)");
    assert_eq!(told, ["reached"]);
    assert!(samples.iter().all(|sample| distance(&sample.pose, &begin) < 1e-4), "the tool stays where it is");
    assert!((moving(&samples) as f64 * 0.002 - 0.7).abs() < 0.02, "0.5 s up, 0.2 s down: {}", moving(&samples));
}

#[test]
fn servoc_goes_to_its_pose_and_stays_there() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    let goal = shifted(begin, [0.03, 0.04, 0.0]);
    let (samples, _) =
        follow(&mut bench, &format!(" n = 0\n while n < 700:\n  servoc({}, 1.2, 0.1)\n  n = n + 1\n end", text(goal)));
    assert!(off_line(&samples, &begin, &goal) < 1e-3);
    assert!(distance(&samples.last().unwrap().pose, &goal) < 1e-4);
    let fastest = samples.windows(2).map(|pair| distance(&pair[1].pose, &pair[0].pose)).fold(0.0, f64::max) / 0.002;
    assert!((0.09..0.105).contains(&fastest), "{fastest} m/s");
}

#[test]
fn a_low_slider_lets_servoj_last_longer() {
    for (slider, lasts) in [(1.0, 0.2), (0.5, 0.4)] {
        let mut bench = bench(ideal(5, 15));
        bench.controller.act(Action::Slider(slider));
        bench.run(1000);
        let (samples, _) = follow(
            &mut bench,
            " q = get_actual_joint_positions()\n n = 0\n while n < 100:\n  servoj(q, t=0.002)\n  n = n + 1\n end\n sleep(0)",
        );
        assert!((samples.len() as f64 * 0.002 - lasts).abs() < 0.03, "slider {slider}: {}", samples.len());
    }
}

#[test]
fn a_time_that_is_too_short_slows_the_move_down_until_no_joint_is_too_fast() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 11)] {
        let mut bench = bench(ideal(major, minor));
        let limits = bench.controller.truth().speed_limits();
        for lines in [
            " q = get_actual_joint_positions()\n q[0] = q[0] + 2\n movej(q, 1.4, 1.05, 0.1)",
            " movel(pose_trans(get_actual_tcp_pose(), p[0.1,0.15,-0.1,0,0,0.5]), 1.4, 1.05, 0.05)",
            " q = get_actual_joint_positions()\n q[0] = q[0] - 2\n movej(q, 40, 20)",
        ] {
            let lines = format!("{lines}\n textmsg(\"over\")");
            let (samples, told) = follow(&mut bench, &lines);
            let fastest = |joint: usize| samples.iter().map(|s| s.qd[joint].abs()).fold(0.0, f64::max) / limits[joint];
            let fastest = (0..6).map(fastest).fold(0.0, f64::max);
            let case = format!("{major}.{minor}, {lines}: {told:?}, {fastest} of the limit");
            assert!(bench.controller.robot().may_move() && told == ["over"], "{case}");
            assert!((0.8..=1.0).contains(&fastest), "{case}");
            assert_eq!(bench.controller.truth().restraint, 1.0, "{case}");
        }
    }
}

#[test]
fn a_servoj_that_its_joints_are_too_slow_for_is_slowed_down_and_lasts_longer() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 11)] {
        let mut bench = bench(ideal(major, minor));
        let limits = bench.controller.truth().speed_limits();
        // 4 rad in a quarter of a second, in steps of 20 ms.
        let lines = " q = get_actual_joint_positions()\n n = 0\n while n < 12:\n  q[5] = q[5] + 0.32\n  servoj(q, t=0.02)\n  n = n + 1\n end\n \
            servoj(q, t=2)\n textmsg(\"over\")";
        let lines = if major == 1 { lines.replace("servoj(q, t=", "servoj(q, 0, 0, ") } else { lines.to_owned() };
        let from = bench.controller.truth().q[5];
        let (samples, told) = follow(&mut bench, &lines);
        let fastest = samples.iter().map(|s| s.qd[5].abs()).fold(0.0, f64::max) / limits[5];
        let case = format!("{major}.{minor}: {told:?}, {fastest} of the limit");
        assert!(bench.controller.robot().may_move() && told == ["over"], "{case}");
        assert!((0.9..=1.0).contains(&fastest), "{case}");
        let off = bench.controller.truth().q[5] - from - 3.84;
        assert!(off.abs() < 0.01, "{case}: {off} rad off the goal");
        // 12 steps of 20 ms, in whole cycles, and two seconds: the duration without slowing down.
        let period = bench.controller.period().as_secs_f64();
        let seconds = samples.len() as f64 * period;
        assert!(seconds > 2.0 + 12.0 * (0.02 / period).ceil() * period + 0.02, "{case}: {seconds} s");
        assert_eq!(bench.controller.truth().restraint, 1.0, "{case}");
    }
}

#[test]
fn a_speedj_that_is_faster_than_a_joint_is_a_protective_stop() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 11)] {
        let mut bench = bench(ideal(major, minor));
        let secondary = bench.connect(Port::Secondary);
        let fast = 1.1 * bench.controller.truth().speed_limits()[5];
        bench.send(secondary, &format!("def fast():\n speedj([0,0,0,0,0,{fast}], 20, 2)\n sleep(2)\nend\n"));
        bench.run(1500);
        assert!(!bench.controller.robot().may_move(), "{major}.{minor}: {:?}", bench.controller.truth().qd);
    }
}

#[test]
fn a_move_that_is_slowed_down_shows_in_the_speed_scaling() {
    let mut bench = bench(ideal(5, 15));
    let primary = bench.connect(Port::Primary);
    bench.run(20);
    bench.send(primary, "movej([1.7,-1.3,-1.7,-1.5,1.4,0.3], 1.4, 1.05, 0.05)\n");
    let mut least: f64 = 1.0;
    for _ in 0..200 {
        bench.next_cycle();
        least = least.min(bench.controller.truth().restraint);
    }
    assert!((0.1..0.9).contains(&least), "{least}");
}

#[test]
fn a_way_out_of_reach_stops_the_arm() {
    let mut bench = bench(ideal(5, 15));
    let begin = bench.controller.truth().tool_target();
    // Straight through the base column to the other side.
    let across = [-begin[0], -begin[1], begin[2], begin[3], begin[4], begin[5]];
    let secondary = bench.connect(Port::Secondary);
    bench.send(secondary, &format!("def main():\n movel({}, 1.2, 0.5)\nend\n", text(across)));
    bench.run(4000);
    assert!(matches!(bench.controller.robot().stop, Stop::Protective { .. }));
}

#[test]
fn two_threads_that_move_the_arm_end_the_program_and_one_after_the_other_do_not() {
    let two = |between: &str| {
        format!(
            " thread one():\n  while True:\n   speedj([0.1,0,0,0,0,0], 1, 0.1)\n  end\n end\n thread two():\n  speedj([0,0.1,0,0,0,0], 1, 0.1)\n  \
             stopj(2)\n end\n a = run one()\n sleep(0.3)\n{between} b = run two()\n join b\n textmsg(\"over\")"
        )
    };
    let mut bench = bench(ideal(5, 15));
    let (_, told) = follow(&mut bench, &two(""));
    assert_eq!(told, ["Another thread is already controlling the robot"]);
    let mut bench = self::bench(ideal(5, 15));
    let (_, told) = follow(&mut bench, &two(" kill a\n"));
    assert_eq!(told, ["over"]);
}
