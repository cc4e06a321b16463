//! Tests the start and the end of companions, without a session.

use std::sync::{Arc, Mutex};

use outrigger_core::command::SourceConfig;
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::law::{Unit, Value, Values};
use outrigger_core::robot::Reason;
use outrigger_tests::require::committed::hold;
use outrigger_wire::robot::{JointPositions, Pose, RobotModel, State};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::channel;

use super::{
    Companion, Companions, Ended, Ends, Frame, LONGEST, Needs, Remarks, RunningCompanions, Session, SessionView,
    Settled, Started,
};
use crate::exit::Failure;
use crate::feed::{EVENTS, Feed};
use crate::host::Target;
use crate::host::clock::Clock;
use crate::json::text;
use crate::show::{Arm, Snapshot};
use crate::vendor::ur::UrController;

/// A shared list of events, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// A companion (a component that runs beside a session, e.g. a recording) for tests, which logs its calls.
struct Noting {
    name: &'static str,
    log: Log,
    needs: Needs,
    /// `true` if the companion (a component that runs beside a session) fails to start.
    refuses: bool,
    /// A function that returns the result of ending the companion (a component that runs beside a session).
    end: fn() -> Result<Option<Ended>, Failure>,
}

fn well() -> Result<Option<Ended>, Failure> {
    Ok(Some(Ended { text: "well".into(), json: "{}".into() }))
}

impl Noting {
    fn new(name: &'static str, log: &Log) -> Self {
        Self { name, log: Arc::clone(log), needs: Needs::default(), refuses: false, end: well }
    }
}

impl Companion<6> for Noting {
    fn needs(&self) -> Needs {
        self.needs.clone()
    }

    fn start(&self, session: Session<6>) -> Result<Started, Failure> {
        let note = |log: &Log, text: String| log.lock().expect("no panic holds it").push(text);
        note(&self.log, format!("{} starts, views {}", self.name, session.views.is_some()));
        if self.refuses {
            return Err(Failure::BadInput(format!("{} cannot start", self.name)));
        }
        let (name, log, end) = (self.name, Arc::clone(&self.log), self.end);
        Ok(Started::saying("test", name.into(), vec![]).ending(move |heard| {
            note(&log, format!("{name} ends, heard {heard}"));
            end()
        }))
    }
}

/// Starts these companions (components that run beside a session). Returns the events that they display at the start.
fn start(companions: &Companions<6>, ends: &mut Ends) -> Result<Vec<String>, Failure> {
    let target = Target::resolve(&"127.0.0.1".parse().map_err(Failure::Usage)?)?;
    let feed = Feed::new(EVENTS);
    let beside =
        RunningCompanions::start(companions, &UrController::new(target), &[], Clock::start(), &feed, || None, ends)?;
    Ok(beside.notices.into_iter().map(|(_, text, _)| text).collect())
}

fn log_of(log: &Log) -> Vec<String> {
    log.lock().expect("no panic holds it").clone()
}

#[test]
fn companions_start_and_end_in_their_order_and_get_what_they_need() {
    let log = Log::default();
    let second = Noting { needs: Needs { views: true, ..Needs::default() }, ..Noting::new("second", &log) };
    let companions: Companions<6> = vec![Arc::new(Noting::new("first", &log)), Arc::new(second)];
    let mut ends = Ends::default();
    assert_eq!(start(&companions, &mut ends).expect("both start"), ["first", "second"]);
    ends.heard();
    let (ended, failures) = ends.finish();
    assert_eq!((ended.len(), failures.len()), (2, 0));
    let expected =
        ["first starts, views false", "second starts, views true", "first ends, heard true", "second ends, heard true"];
    assert_eq!(log_of(&log), expected);
}

#[test]
fn one_that_cannot_start_ends_those_before_it_which_are_told_that_there_was_no_session() {
    let log = Log::default();
    let refuses = Noting { refuses: true, ..Noting::new("second", &log) };
    let companions: Companions<6> =
        vec![Arc::new(Noting::new("first", &log)), Arc::new(refuses), Arc::new(Noting::new("third", &log))];
    let mut ends = Ends::default();
    let failure = start(&companions, &mut ends).expect_err("the second refuses");
    assert_eq!(failure.to_string(), "second cannot start");
    drop(ends);
    let expected = ["first starts, views false", "second starts, views false", "first ends, heard false"];
    assert_eq!(log_of(&log), expected);
}

#[test]
fn a_failure_and_a_panic_at_the_end_are_reported_and_the_others_end_all_the_same() {
    let log = Log::default();
    let fails = Noting { end: || Err(Failure::BadInput("the disk is full".into())), ..Noting::new("fails", &log) };
    let panics = Noting { end: || panic!("meant"), ..Noting::new("panics", &log) };
    let companions: Companions<6> = vec![Arc::new(fails), Arc::new(panics), Arc::new(Noting::new("last", &log))];
    let mut ends = Ends::default();
    start(&companions, &mut ends).expect("all start");
    let (ended, failures) = ends.finish();
    assert_eq!(ended, well().expect("it is").into_iter().collect::<Vec<_>>());
    let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["the disk is full", "a companion panicked at its end"]);
    assert_eq!(log_of(&log).last().map(String::as_str), Some("last ends, heard false"));
}

#[test]
fn needs_are_those_of_all_of_them_with_each_variable_once() {
    let log = Log::default();
    let named = |name: &str, traffic| {
        let variables = vec!["actual_current".to_owned(), name.to_owned()];
        let needs = Needs { traffic, variables, ..Needs::default() };
        Arc::new(Noting { needs, ..Noting::new("", &log) })
    };
    let companions: Companions<6> = vec![named("tool_mode", false), named("target_moment", true)];
    let needs = Needs::of(&companions);
    assert_eq!(needs.variables, ["actual_current", "tool_mode", "target_moment"]);
    assert!(needs.traffic && !needs.views && !needs.commands && !needs.engine && !needs.everything);
}

#[test]
fn remarks_are_few_and_short_whatever_a_companion_says() {
    let (lane, mut shown) = channel(1_000);
    let remarks = Remarks::new(lane, Clock::start()).of_kind("flood");
    let said = (0..10_000).filter(|_| remarks.say("ä".repeat(5_000))).count();
    let mut texts = vec![];
    while let Ok((kind, text)) = shown.try_recv() {
        assert_eq!((kind, text.chars().count()), ("flood", LONGEST));
        texts.push(text);
    }
    // Those of the initial burst, and those that pass on a slow machine in the meantime.
    assert!(texts.len() == said && (50..1_000).contains(&said), "{said}");
    drop(shown);
    assert!(!remarks.say("nobody is there"));
}

#[test]
fn the_objects_of_a_session_are_those_that_are_committed() {
    let state = State::<6> { positions: JointPositions([0.5; 6]), ..State::default() };
    let snapshot = Snapshot::of(Arm::new(&state, vec![]));
    let nothing = SessionView::<7> { snapshot: snapshot.clone(), frame: Frame::default(), settled: Settled::default() };
    let (mut frame, mut settled) = (Frame::<6>::default(), Settled::default());
    let value = |name, part, value| Value { name, part, unit: Unit::Metre, value: Some(value) };
    frame.wanted = Some(JointPositions([0.25; 6]));
    frame.values = Values::from_iter([value("standoff_error", None, f32::NAN), value("axis_errors", Some("z"), -1e-5)]);
    frame.held_by = Some(Reason::ProgramPaused);
    let value = SampleValue::new(&[0.1, 0.2]).expect("two numbers");
    frame.samples[0] = Some(Sample { source: SourceId(0), value, seq: 3, taken_at: Instant::from_micros(1_500) });
    settled.chain = Some(KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default()));
    settled.sources[0] = Some(SourceConfig::new(SourceId(0), 2, -0.5, 1.0));
    (settled.oldest_state, settled.fastest.0) = (Duration::from_millis(8), [2.0; 6]);
    let whole = SessionView { snapshot, frame, settled };
    let text = format!("{}\n{}\n", text(&nothing), text(&whole));
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/companion/golden/view.jsonl"), &text);
}
