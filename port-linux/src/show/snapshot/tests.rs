//! Tests a status for people and for scripts.

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::LinkId;
use outrigger_core::law::{self, Unit};
use outrigger_core::link::{
    AnswerFigures, Grade, GradeCause, GradeChange, LinkConfig, LinkMonitor, Metric, SequenceTotals,
};
use outrigger_tests::require::committed::hold;
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::robot::JointPositions;
use serde_json::{Value, json};

use super::*;

/// Creates the snapshot of a session whose link has the grade (quality) `Bad` since 12.34 s, and whose present figures
/// meet the condition of the next grade.
fn low() -> Snapshot {
    let mut figures = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2))).figures(Instant::ZERO);
    let cause = GradeCause { metric: Metric::Misses, grade: Grade::Ok, measured: 12, limit: 5 };
    let (at, late) = (Instant::from_micros(12_340_000), Duration::from_millis(24));
    figures.grade = Grade::Bad;
    figures.fell = Some(GradeChange { from: Grade::Perfect, to: Grade::Bad, cause, at, late });
    figures.next = GradeCause { measured: 0, limit: 4, ..cause };
    let unmet = ReasonSet::EMPTY.with(Reason::GradeLow);
    Snapshot { figures: Some(figures), unmet, ..Snapshot::of(Arm::default()) }
}

#[test]
fn scripts_and_people_are_told_the_fall_and_not_what_is_met_by_now() {
    let json = json::text(&low());
    let expected = concat!(
        r#""grade_text":"link quality Bad, needs Ok: missed 12 cycles in a row (Ok allows 5) while this process was not "#,
        r#"scheduled for 24 ms at 12.340 s; recovering: Ok after 100 clean cycles","grade_fell_at":12.34,"#,
        r#""grade_needed":"Ok","grade_cause":"misses","grade_measured":"12","grade_limit":"5","grade_limit_of":"Ok","#,
        r#""grade_key":"session.expert.grade.ok.misses","grade_late":"24 ms","next_grade":"Ok","next_cause":"misses","#,
        r#""next_measured":"0","next_limit":"4","next_key":"session.expert.grade.ok.misses""#
    );
    assert!(json.contains(expected), "{json}");
    let (why, advice) = low().why(Reason::GradeLow);
    assert_eq!(why, "link quality Bad, needs Ok");
    assert!(advice.starts_with("missed 12 cycles in a row (Ok allows 5) while this process"), "{advice}");
    assert!(advice.ends_with("give the process a core and a real-time priority; see `outrigger doctor`"), "{advice}");
}

#[test]
fn the_largest_number_of_a_law_is_that_of_one_unit() {
    struct Shows;
    impl outrigger_core::Checkpoint for Shows {}
    impl Law<2> for Shows {
        fn step(
            &mut self,
            _: &State<2>,
            _: &outrigger_core::command::Samples<'_>,
            _: Duration,
        ) -> Result<outrigger_wire::robot::JointVelocities<2>, Reason> {
            Err(Reason::Internal)
        }

        fn values(&self) -> law::Values {
            let value =
                |part, unit, value| law::Value { name: "axis_errors", part: Some(part), unit, value: Some(value) };
            let [near, far] = [value("y", Unit::Metre, 1e-3), value("z", Unit::Metre, -2e-3)];
            law::Values::from_iter([near, far, value("rx", Unit::Radian, 0.5)])
        }
    }
    let Some(LawError::Value(largest)) = LawError::of(&Shows, &State::default()) else { panic!("there are numbers") };
    assert_eq!((largest.part, largest.value), (Some("z"), Some(-2e-3)));
}

#[test]
fn a_board_is_told_what_a_board_can_do() {
    let board = Snapshot { observer: Observer::Board, ..low() };
    let (_, advice) = board.why(Reason::GradeLow);
    assert!(advice.contains("while the board was not scheduled") && !advice.contains("outrigger doctor"), "{advice}");
    assert_eq!(board.advice(Reason::LocalStall), Reason::LocalStall.advice());
}

#[test]
fn a_status_has_mode_grade_reasons_joints_and_counters_under_their_keys() {
    let mut figures = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(5))).figures(Instant::ZERO);
    figures.grade = Grade::Ok;
    let state = State::<2> { positions: JointPositions([0.25, -0.5]), ..State::default() };
    let snapshot = Snapshot {
        at: Instant::from_micros(2_000_000),
        robot: "192.0.2.1".into(),
        latch: Some(Reason::StateStale),
        unmet: ReasonSet::EMPTY.with(Reason::Latched),
        figures: Some(figures),
        rate: 500.0,
        counters: vec![("lost_datagrams", 5)],
        ..Snapshot::of(Arm::new(
            &state,
            vec![ReportedState { key: "robot_mode", name: "robot", value: Some("RUNNING"), number: 7 }],
        ))
    };
    let told: Value = serde_json::from_str(&json::text(&snapshot)).expect("one object");
    for (key, expected) in [
        ("type", json!("status")),
        ("time", json!(2.0)),
        ("robot", json!("192.0.2.1")),
        ("identity", Value::Null),
        ("mode", json!("Monitor")),
        ("grade", json!("Ok")),
        ("latch", json!("StateStale")),
        ("last_fallback", Value::Null),
        ("unmet", json!(["Latched"])),
        ("q_actual", json!([0.25, -0.5])),
        ("robot_mode", json!("RUNNING")),
        ("lost_datagrams", json!(5)),
        ("trouble", Value::Null),
    ] {
        assert_eq!(told.get(key), Some(&expected), "{key} in {told}");
    }
    assert!(told.get("q_target").is_none(), "nobody tells of setpoints: {told}");
}

/// Creates the figures of a datagram link on which the controller reflects the counters of commands.
fn answered() -> Figures {
    let mut figures = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(5))).figures(Instant::ZERO);
    let SequenceTotals { accepted, lost, duplicates, reordered, .. } = &mut figures.sequence;
    (*accepted, *lost, *duplicates, *reordered) = (123_456_789_012, 3, 2, 1);
    (figures.grade, figures.epoch, figures.impossible, figures.late) = (Grade::Perfect, 4, 5, 6);
    (figures.consecutive_misses, figures.local_stalls) = (7, 8);
    figures.age = Some(Duration::from_micros(1_234));
    figures.jitter = Duration::from_micros(15);
    figures.answers = Some(AnswerFigures {
        rate: 9_900,
        judged: 100,
        consecutive_misses: 0,
        late: 0,
        round_trip: Some(Duration::from_micros(400)),
        shortest: None,
        latency_variation: None,
    });
    figures
}

/// Creates the snapshot of a session with a controller of Universal Robots that receives states over RTDE.
fn by_rtde() -> Snapshot {
    let state = State::<6> {
        positions: JointPositions([0.1, -1.570_796_4, 1e-5, -0.0, 3.0, 1e20]),
        controller_time: ControllerTime::from_micros(98_765_432_100),
        tcp_pose: Some(Pose { position: [0.1, 0.2, 0.3], rotation: [-3.1, 0.0, 1e-7] }),
        ..State::default()
    };
    let words = vec![
        ReportedState::named("robot_mode", "robot", "RUNNING"),
        ReportedState { key: "safety", name: "safety", value: None, number: -24 },
    ];
    let stream = StreamCounts { messages: 1, malformed: 2, oversize: 3, lost_sync: 4, unknown: 5 };
    let counts = RtdeCounts { stream, data: 10, texts: 11, unexpected: 12, unknown_recipes: 13 };
    let cadence = Cadence { missing: 20, longest_gap: 21, repeated: 22, late: 23, restarts: 24, ..Cadence::default() };
    let states = States {
        by: LinkId::RTDE,
        why: "software 5.15.0 has it".into(),
        stream,
        dropped_bytes: 6,
        rtde: Some((counts, cadence)),
    };
    Snapshot {
        at: Instant::from_micros(61_234_567),
        robot: "ur5e:30000".into(),
        identity: Some("ur5e, software 5.15.0".into()),
        mode: Mode::Command,
        overrides_pendant: true,
        last_fallback: Some(Reason::StateStale),
        states: Some(states),
        figures: Some(answered()),
        rate: 499.876,
        ..Snapshot::of(Arm::new(&state, words))
    }
}

/// Creates the snapshot of a session with a KRC whose KRL program shares variables.
fn with_variables() -> Snapshot {
    let state = State::<7> { positions: JointPositions([0.5; 7]), ..State::default() };
    let mut variables = Variables { bools: 0b1010, ints: [0; 16], reals: [0; 16] };
    (variables.ints[15], variables.reals[0]) = (i32::MIN, 0.1_f32.to_bits());
    (variables.reals[1], variables.reals[2]) = (f32::NAN.to_bits(), f32::NEG_INFINITY.to_bits());
    let arm = Arm::new(&state, vec![ReportedState::named("krc_state", "KRC", "command")]).with_setpoints([0.25; 7]);
    Snapshot {
        at: Instant::from_micros(5),
        figures: Some(Figures { answers: None, age: None, ..answered() }),
        counters: vec![("measurements", u64::MAX), ("commands", 0)],
        variables: Some(variables),
        ..Snapshot::of(arm)
    }
}

/// Creates the snapshot of a session without optional parts, with some unknown joints, and numbers that are NaN.
fn sparse() -> Snapshot {
    let joints = vec![Joint { angle: f32::NAN, speed: Some(f32::INFINITY), ..Joint::default() }; 2];
    let mut arm = Arm { joints, ..Arm::default() };
    arm.joints[1].setpoint = Some(1.0);
    let states = States {
        by: LinkId::REALTIME,
        why: "asked for".into(),
        stream: StreamCounts::NONE,
        dropped_bytes: 0,
        rtde: None,
    };
    let trouble = Some("\"refused\"\t\\ \u{1b}[2J \u{9b}31m \u{7f}\u{8}\u{c}\r\nµ → /".to_owned());
    Snapshot { trouble, states: Some(states), rate: f32::NAN, ..Snapshot::of(arm) }
}

#[test]
fn the_objects_for_scripts_are_those_that_are_committed() {
    let answers = answered().answers.map(|answers| AnswerFigures { round_trip: None, ..answers });
    let unanswered = Figures { answers, ..answered() };
    let unmet = ReasonSet::EMPTY.with(Reason::GradeLow).with(Reason::Latched).with(Reason::ProtectiveStop);
    let snapshots = [
        Snapshot::of(Arm::default()),
        Snapshot { state: None, latch: Some(Reason::StateStale), trouble: Some("refused".into()), ..low() },
        Snapshot { observer: Observer::Board, unmet, figures: Some(unanswered), ..low() },
        Snapshot { observer: Observer::Board, ..low() },
        by_rtde(),
        with_variables(),
        sparse(),
    ];
    let lines = snapshots.iter().map(|snapshot| format!("{}\n", json::text(snapshot)));
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/show/golden/status.jsonl"), &lines.collect::<String>());
}
