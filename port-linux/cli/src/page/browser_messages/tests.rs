//! Tests the lines that a page in a browser receives.

use outrigger_core::command::SourceConfig;
use outrigger_core::kinematics::DhParameters;
use outrigger_core::law::{Unit, Value, Values};
use outrigger_core::robot::ReasonSet;
use outrigger_emulated::require::committed::hold;
use outrigger_wire::robot::{Payload, Pose, ProgramState, RobotModel, State, Wrench};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use super::*;
use outrigger::show::reason_text::Observer;

fn snapshot(mode: Mode, state: Option<Arm>) -> Snapshot {
    Snapshot {
        at: Instant::from_micros(61_234_567),
        robot: "192.0.2.1".into(),
        here: false,
        observer: Observer::Process,
        identity: None,
        mode,
        overrides_pendant: false,
        latch: None,
        last_fallback: None,
        unmet: ReasonSet::EMPTY,
        state,
        figures: None,
        states: None,
        intervals: vec![],
        rate: 500.0,
        trouble: None,
        values: vec![],
        counters: vec![],
        variables: None,
        terminals: None,
        temperatures: None,
        law_error: None,
    }
}

/// Returns the values of a control cycle, and those that rarely change, as a browser is shown them: of a law that holds
/// a distance and two axes, with two sources.
fn numbers<const N: usize>(chain: Option<KinematicChain<N>>) -> (Frame<N>, Settled<N>) {
    let (mut frame, mut settled) = (Frame::default(), Settled::default());
    frame.commanded.0 = [0.125; N];
    frame.wanted = Some(JointPositions([0.5; N]));
    frame.held_by = Some(Reason::ProgramPaused);
    let value = |name, part, unit, value| Value { name, part, unit, value: Some(value) };
    frame.values = Values::from_iter([
        value("standoff_error", None, Unit::Metre, -1e-5),
        value("axis_errors", Some("y"), Unit::Metre, 0.1),
        value("axis_errors", Some("ry"), Unit::Radian, f32::NAN),
    ]);
    let config = |number, most| SourceConfig::new(SourceId(number), 1, -0.5, most);
    settled.sources[0] = Some(config(0, 1.0));
    settled.sources[1] = Some(SourceConfig { max_age: Duration::from_micros(12_500), ..config(1, f32::INFINITY) });
    let value = SampleValue::new(&[0.25, f32::NAN, 1e20]).expect("three numbers");
    frame.samples[1] = Some(Sample { source: SourceId(1), value, seq: 3, taken_at: Instant::from_micros(61_230_000) });
    settled.chain = chain;
    (settled.oldest_state, settled.fastest.0) = (Duration::from_micros(8_500), [2.0; N]);
    (frame, settled)
}

fn line<const N: usize>(
    (frame, settled): (&Frame<N>, &Settled<N>),
    snapshot: &Snapshot,
    sources: &[String],
    workpiece: Option<&Workpiece>,
) -> String {
    format!("{}\n", json::text(&Live::of((frame, settled), snapshot, sources, workpiece)))
}

#[test]
fn the_lines_of_pictures_and_events_are_those_that_are_committed() {
    let nothing = (Frame::<6>::default(), Settled::default());
    let state = State::<6> {
        positions: JointPositions([0.1, -1.2, 1.3, 0.0, 0.4, -0.5]),
        tcp_force: Some(Wrench { force: [1.0, -2.5, 1e-6], torque: [0.0, 0.1, f32::NAN] }),
        speed_slider: Some(0.75),
        speed_scaling: Some(0.5),
        program_state: Some(ProgramState::Playing),
        payload: Some(Payload::default()),
        ..State::default()
    };
    let arm = Arm::new(&state, vec![]);
    let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
    let whole = numbers(Some(chain));
    let workpiece = Workpiece {
        origin: [0.123_456, 0.0, -1.0],
        axes: [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, -0.8, 0.6]],
        side: 0.1,
        heights: [[0.000_04; SIDE]; SIDE],
    };
    let seven = numbers::<7>(None);
    let of_krc = Arm::new(&State { positions: JointPositions([0.25; 7]), ..State::default() }, vec![]);
    let latched = Snapshot {
        latch: Some(Reason::StateStale),
        unmet: ReasonSet::EMPTY.with(Reason::Latched).with(Reason::GradeLow),
        ..snapshot(Mode::Monitor, None)
    };
    let names = ["a \"sensor\"".to_owned()];
    let commanding = snapshot(Mode::Command, Some(arm));
    let mut text = [
        line((&nothing.0, &nothing.1), &snapshot(Mode::Offline, None), &[], None),
        line((&nothing.0, &nothing.1), &latched, &[], None),
        line((&whole.0, &whole.1), &commanding, &names, Some(&workpiece)),
        line((&seven.0, &seven.1), &snapshot(Mode::Command, Some(of_krc)), &names, None),
    ]
    .concat();
    let words = |reason: Reason| vec![("from", "Command".to_owned()), ("reason", reason.name().to_owned())];
    for (kind, fields) in [
        ("transition", words(Reason::StateStale)),
        ("transition", words(Reason::Released)),
        ("refused", words(Reason::Latched)),
        ("held", vec![]),
    ] {
        let notice = Notice { at: Instant::from_micros(1_500_000), kind, text: "a\u{1b} text".into(), fields };
        text += &format!("{}\n", json::text(&event(notice, false)));
    }
    for robot in [
        Robot { serial: None, shape: ArmShape::of::<6>(None) },
        Robot { serial: Some("20205500001"), shape: ArmShape::of(Some(&chain)) },
        Robot { serial: None, shape: ArmShape::of::<7>(None) },
    ] {
        text += &format!("{}\n", json::text(&robot));
    }
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/page/golden/lines.jsonl"), &text);
}

#[test]
fn an_arm_with_a_tool_that_is_not_a_number_has_no_picture() {
    let chain = |x| {
        KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose { position: [x, 0.0, 0.0], ..Pose::default() })
    };
    assert!(is_finite(&chain(0.1)));
    // It differs from itself, so that each state would look like one with another tool.
    assert_ne!(chain(f32::NAN), chain(f32::NAN));
    assert!(!is_finite(&chain(f32::NAN)) && !is_finite(&chain(f32::INFINITY)));
}

#[test]
fn software_tells_whether_the_controller_reports_a_serial_number() {
    let reports = |major, minor| is_reported(SoftwareVersion::new(major, minor));
    assert!(reports(3, 12) && reports(5, 6) && reports(5, 15));
    assert!(!reports(3, 11) && !reports(5, 5) && !reports(10, 7) && !reports(10, 12));
}
