//! Tests of the view without a terminal.

mod screens;

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::LinkId;
use outrigger_core::link::{
    AnswerFigures, Bin, Figures, Grade, GradeCause, GradeChange, LinkConfig, LinkMonitor, Metric,
};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::robot::{JointPositions, JointVelocities, State};
use outrigger_wire::time::Duration;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::page_state::Turn;

use super::*;
use outrigger::core::law::{Unit, Value};
use outrigger::json::text;
use outrigger::show::{Arm, LawError, ReportedState, States, reason_text};

/// Returns the displayed error of a law that holds a distance \[m\].
fn distance(error: f32) -> LawError {
    LawError::Value(Value { name: "standoff_error", part: None, unit: Unit::Metre, value: Some(error) })
}

fn figures() -> Figures {
    let answers = AnswerFigures {
        rate: 10_000,
        judged: 100,
        consecutive_misses: 0,
        late: 0,
        round_trip: Some(Duration::from_micros(100_030)),
        shortest: None,
        latency_variation: None,
    };
    let mut figures = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(5))).figures(Instant::ZERO);
    (figures.grade, figures.jitter, figures.answers) = (Grade::Ok, Duration::from_micros(290), Some(answers));
    figures.fell = Some(fell(Grade::Perfect, Grade::Ok, (Metric::Jitter, 612, 500)));
    figures.next = GradeCause { metric: Metric::Jitter, grade: Grade::Perfect, measured: 290, limit: 450 };
    (figures.sequence.accepted, figures.sequence.lost) = (123_456, 12);
    figures
}

/// Returns a change of the grade (the quality of a link) to a lower one, 12.34 s after the start.
fn fell(from: Grade, to: Grade, (metric, measured, limit): (Metric, u32, u32)) -> GradeChange {
    let cause = GradeCause { metric, grade: to.better(), measured, limit };
    GradeChange { from, to, cause, at: Instant::from_micros(12_340_000), late: Duration::ZERO }
}

fn snapshot(state: Arm) -> Snapshot {
    Snapshot {
        at: Instant::from_micros(15_000_000),
        robot: "192.168.0.20".into(),
        overrides_pendant: false,
        here: false,
        observer: reason_text::Observer::Process,
        identity: Some("KRC at 192.168.0.20:49938, a measurement every 5 ms".into()),
        mode: Mode::Monitor,
        latch: Some(Reason::StateStale),
        last_fallback: Some(Reason::StateStale),
        unmet: ReasonSet::EMPTY,
        state: Some(state),
        figures: Some(figures()),
        states: None,
        intervals: vec![],
        rate: 200.0,
        trouble: None,
        values: vec![],
        counters: vec![],
        variables: None,
        terminals: None,
        temperatures: None,
        law_error: None,
    }
}

/// Returns an arm with seven joints, each at its number in hundredths of a radian, with a setpoint of the KRC that is
/// a thousandth higher.
fn lwr() -> Arm {
    let q: [f32; 7] = std::array::from_fn(|joint| (joint as f32 + 1.0) / 100.0);
    let state = State::<7> {
        positions: JointPositions(q),
        velocities: JointVelocities([0.1; 7]),
        target_velocities: JointVelocities([0.2; 7]),
        ..State::default()
    };
    let words = vec![
        ReportedState::named("krc_state", "KRC", "MON"),
        ReportedState::named("krc_quality", "quality", "PERFECT"),
    ];
    Arm::new(&state, words).with_setpoints(q.map(|q| q + 0.001))
}

fn beside_ur(rtde: Option<(RtdeCounts, Cadence)>) -> Snapshot {
    let stream = StreamCounts::default();
    let states = States { by: LinkId::RTDE, why: "asked for".into(), stream, dropped_bytes: 0, rtde };
    let state = State::<6> { positions: JointPositions([-3.1; 6]), ..State::default() };
    let words = [("robot_mode", "robot"), ("safety", "safety")];
    let words = words.map(|(key, name)| ReportedState::named(key, name, "UNKNOWN")).to_vec();
    let arm = Arm::new(&state, words);
    Snapshot { states: Some(states), latch: None, ..snapshot(arm) }
}

/// Returns the rows of a screen that shows the first page with `snapshot`.
fn drawn(title: &str, snapshot: Option<Snapshot>, columns: u16, rows: u16) -> Vec<String> {
    drawn_after(title, snapshot, columns, rows, (0..20).map(|number| format!("event {number}")).collect())
}

/// Returns the rows of a screen after events with these texts.
fn drawn_after(title: &str, snapshot: Option<Snapshot>, columns: u16, rows: u16, texts: Vec<String>) -> Vec<String> {
    let mut screen = Screen::new(title);
    if let Some(snapshot) = snapshot {
        screen.look(Box::new(snapshot));
    }
    for text in texts {
        screen.note(Notice { at: Instant::ZERO, kind: "test", text, fields: vec![] });
    }
    rows_of(&screen, &ScrollState::default(), columns, rows)
}

fn rows_of(screen: &Screen<'_>, place: &ScrollState, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("memory");
    terminal.draw(|frame| screen.draw(frame, place)).expect("memory");
    let symbols: Vec<_> = terminal.backend().buffer().content().iter().map(ratatui::buffer::Cell::symbol).collect();
    symbols.chunks(usize::from(columns)).map(<[&str]>::concat).collect()
}

fn shows(rows: &[String], expected: &[&str]) {
    for expected in expected {
        assert!(rows.iter().any(|row| row.contains(expected)), "{expected} in\n{}", rows.join("\n"));
    }
}

#[test]
fn a_number_that_has_no_name_here_is_shown_to_people_and_to_scripts() {
    let mut arm = lwr();
    arm.words = vec![ReportedState { key: "safety", name: "safety", value: None, number: 24 }];
    let mut shown = snapshot(arm);
    let json = text(&shown);
    assert!(json.contains(r#""safety":"UNKNOWN 24""#), "{json}");
    shown.latch = Some(Reason::SafetyNotNormal);
    shows(&drawn("run", Some(shown.clone()), 100, 30), &["safety UNKNOWN 24", "fault: the safety system"]);
    assert!(shown.line().contains("UNKNOWN 24"), "{}", shown.line());
}

#[test]
fn beside_a_krc_the_smallest_screen_shows_grades_answers_setpoints_reason_keys_and_the_newest_event() {
    let rows = drawn("run", Some(snapshot(lwr())), 80, 24);
    shows(
        &rows,
        &[
            "KRC at 192.168.0.20:49938",
            "200 Hz   15 s",
            "Monitor",
            "KRC MON, quality PERFECT",
            "fault: ",
            "! Ok",
            "jitter 0.29 ms",
            "answered 100 %   round trip 100.0 ms",
            "lost 12",
            "own stalls 0",
            "event 19",
            "q quit   r start   c continue   s stop   a reset   ? help   tab next page",
        ],
    );
}

/// Returns a snapshot of a session with a KRC in which this reason is latched, with the values of a run.
fn latched(reason: Reason, unmet: ReasonSet) -> Snapshot {
    let mut arm = lwr();
    arm.words.extend([
        ReportedState::named("krc_scheme", "scheme", "POSITION"),
        ReportedState::named("drives", "drives", "on"),
    ]);
    let values = [("motion", "running"), ("KRC", "100 % answered, 123456 missed, latency 10.35 ms, jitter 12.02 ms")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Snapshot { latch: Some(reason), unmet, values, ..snapshot(arm) }
}

#[test]
fn whatever_is_latched_the_figures_stay_on_the_smallest_screen() {
    for reason in Reason::ALL {
        for more in [ReasonSet::EMPTY, ReasonSet::EMPTY.with(Reason::GradeLow)] {
            let rows = drawn("run", Some(latched(*reason, more.with(Reason::Latched))), 80, 24);
            shows(
                &rows,
                &[
                    "drives on",
                    "fault: ",
                    "motion: running",
                    "KRC: 100 % answered, 123456 missed,",
                    "latency 10.35 ms, jitter 12.02 ms",
                ],
            );
        }
    }
}

#[test]
fn a_reason_is_said_as_fully_as_there_is_room() {
    let unmet = ReasonSet::EMPTY.with(Reason::Latched).with(Reason::GradeLow);
    let said = |columns, lines| drawn("run", Some(latched(Reason::StateStale, unmet)), columns, lines).concat();
    let narrow = said(70, 16);
    assert!(narrow.contains("fault: StateStale, 1 more"), "{narrow}");
    let wide = said(160, 24);
    for expected in
        ["fault: the newest robot state is too old", "Not ready: link quality Ok", "latency 10.35 ms, jitter 12.02 ms"]
    {
        assert!(wide.contains(expected), "{expected} in {wide}");
    }
    assert!(said(240, 50).contains(Reason::StateStale.advice()));
    let unlatched = |unmet| Snapshot { latch: None, ..latched(Reason::StateStale, unmet) };
    let unmet = ReasonSet::EMPTY.with(Reason::GradeLow).with(Reason::NotAtRest);
    shows(&drawn("run", Some(unlatched(unmet)), 70, 16), &["Not ready: GradeLow,", "NotAtRest"]);
    let ready = unlatched(ReasonSet::EMPTY);
    shows(&drawn("run", Some(ready), 70, 16), &["stop reason: StateStale, Ready"]);
}

#[test]
fn a_wider_screen_has_room_for_every_column_and_more_events() {
    let rows = drawn("run", Some(snapshot(lwr())), 120, 40);
    shows(&rows, &["│ E1         1.719      1.776     +5.730    +11.459", "event 8"]);
}

#[test]
fn what_became_of_states_by_rtde_is_not_cut_at_80_columns() {
    let cadence = Cadence { missing: 12, late: 3, repeated: 7, ..Cadence::default() };
    let counts = RtdeCounts { data: 1_234_567, ..RtdeCounts::default() };
    for columns in [80, 100, 110, 120] {
        let rows = drawn("monitor", Some(beside_ur(Some((counts, cadence)))), columns, 24);
        shows(&rows, &["RTDE: skips 12, delays 3, repeats 7", "states 123456", "own stalls 0", "event 19"]);
    }
    // The longest counts are too long even for that, and continue in the next row.
    let cadence = Cadence { missing: 1_234_567, late: 89_012, repeated: 345_678, ..Cadence::default() };
    shows(&drawn("monitor", Some(beside_ur(Some((counts, cadence)))), 80, 24), &["skips 1234567", "repeats 345678"]);
}

#[test]
fn no_two_counts_on_a_page_have_the_same_name() {
    let cadence = Cadence { missing: 12, late: 3, repeated: 7, ..Cadence::default() };
    let counts = RtdeCounts { data: 1_234_567, ..RtdeCounts::default() };
    let text = drawn("monitor", Some(beside_ur(Some((counts, cadence)))), 80, 24).concat();
    let words: Vec<_> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    for name in ["lost", "late", "duplicate", "reordered", "skips", "delays", "repeats"] {
        assert_eq!(words.iter().filter(|word| **word == name).count(), 1, "{name} in {text}");
    }
}

#[test]
fn six_joints_are_shown_with_the_speeds_that_they_are_to_have() {
    let rows = drawn("run", Some(beside_ur(None)), 80, 30);
    shows(&rows, &["joint       angle °  speed °/s", "shoulder   -177.617     +0.000", "by 30003: asked for"]);
    assert!(!rows.iter().any(|row| row.contains("setpoint")), "not reported");
}

#[test]
fn the_last_fallback_stays_on_the_screen_once_it_is_acknowledged() {
    let rows = drawn("run", Some(Snapshot { latch: None, ..snapshot(lwr()) }), 120, 30);
    shows(&rows, &["stop reason: "]);
    assert!(!rows.iter().any(|row| row.contains("latched")));
}

#[test]
fn what_only_listens_offers_no_requests() {
    for title in ["monitor", "record", "watch", "demo", "ros2"] {
        let rows = drawn(title, Some(snapshot(lwr())), 80, 24);
        let keys = "q quit   ? help   tab next page";
        assert_eq!(rows.last().map(|row| row.trim()), Some(keys), "{title}");
    }
}

#[test]
fn an_event_that_is_wider_than_the_screen_keeps_its_remedy() {
    for (columns, rows) in [(80, 24), (80, 20), (200, 60)] {
        for here in [false, true] {
            for reason in Reason::ALL {
                let advice = reason_text::advice(*reason, here);
                let text = format!("refused (request by keys): {} ({}); {advice}", reason.text(), reason.name());
                for arm in [snapshot(lwr()), beside_ur(None)] {
                    let rows = drawn_after("run", Some(arm), columns, rows, vec!["before".into(), text.clone()]);
                    let rows: Vec<_> = rows.iter().map(|row| row.trim_matches([' ', '│'])).collect();
                    assert!(rows.join(" ").contains(advice), "{advice} in\n{}", rows.join("\n"));
                }
            }
        }
    }
}

#[test]
fn on_a_screen_below_24_rows_mode_link_newest_event_and_keys_stay() {
    for rows in [20, 16, 14, 12] {
        let drawn = drawn("monitor", Some(beside_ur(None)), 80, rows);
        shows(&drawn, &["Monitor", "! Ok", "event 19"]);
        assert!(drawn.last().is_some_and(|row| row.contains("q quit")), "{}", drawn.join("\n"));
        assert!(!drawn.iter().any(|row| row.contains("shoulder")), "whole panels go: {}", drawn.join("\n"));
    }
}

#[test]
fn a_low_grade_names_the_figure_that_it_fell_by_and_what_the_next_one_needs_where_there_is_room() {
    let mut arm = snapshot(lwr());
    let figures = arm.figures.as_mut().expect("a link");
    figures.grade = Grade::Bad;
    figures.fell = Some(fell(Grade::Ok, Grade::Bad, (Metric::Misses, 3, 2)));
    // The requirement is met by now, so it is no longer a cause, and was none of the fall's limits.
    figures.next = GradeCause { metric: Metric::Misses, grade: Grade::Ok, measured: 0, limit: 1 };
    let rows = drawn("monitor", Some(arm.clone()), 160, 40);
    let expected = [
        "! Bad   needs Ok",
        "missed 3 cycles in a row (Ok allows 2) at 12.340 s",
        "recovering: Ok after 100 clean cycles",
    ];
    shows(&rows, &expected);
    assert!(!rows.concat().contains("limit 1"), "{}", rows.join("\n"));
    arm.figures.as_mut().expect("a link").grade = Grade::Perfect;
    let rows = drawn("monitor", Some(arm), 160, 40);
    assert!(!rows.concat().contains("missed 3"), "of then: {}", rows.join("\n"));
}

#[test]
fn a_board_is_not_called_this_process() {
    let mut arm = snapshot(lwr());
    let figures = arm.figures.as_mut().expect("a link");
    figures.grade = Grade::Unacceptable;
    figures.fell = Some(fell(Grade::Ok, Grade::Unacceptable, (Metric::LocalStall, 79_000, 40_000)));
    for (observer, who) in
        [(reason_text::Observer::Process, "this process"), (reason_text::Observer::Board, "the board")]
    {
        let rows = drawn("watch", Some(Snapshot { observer, ..arm.clone() }), 160, 40);
        shows(&rows, &[&format!("{who} was not scheduled for 79 ms (limit 40 ms) at 12.340 s")]);
    }
}

#[test]
fn before_the_first_snapshot_it_says_that_it_starts() {
    shows(&drawn("run", None, 80, 24), &["run: starting"]);
}

#[test]
fn the_address_of_the_page_stays_in_the_head_and_in_the_explanation() {
    let mut screen = Screen::new("demo");
    screen.look(Box::new(beside_ur(None)));
    let url = "http://127.0.0.1:8750/";
    let fields = vec![("url", url.to_owned())];
    screen.note(Notice { at: Instant::ZERO, kind: "page", text: "live page".into(), fields });
    for number in 0..200 {
        screen.note(Notice { at: Instant::ZERO, kind: "test", text: format!("event {number}"), fields: vec![] });
    }
    let place = ScrollState::default();
    assert!(rows_of(&screen, &place, 80, 24)[0].contains(url));
    place.turn(Turn::Explain, PAGES);
    let rows = rows_of(&screen, &place, 80, 24);
    assert!(rows[0].contains(url) && rows[1..].iter().any(|row| row.contains(url)), "{}", rows.join("\n"));
}

#[test]
fn the_angles_of_all_joints_are_on_the_first_page_of_the_smallest_usual_screen() {
    let degrees: Vec<_> = (1..=7).map(|number| format!("{:.2}", (number as f32 / 100.0).to_degrees())).collect();
    let degrees: Vec<_> = degrees.iter().map(String::as_str).collect();
    let rows = drawn("run", Some(snapshot(lwr())), 80, 24);
    shows(&rows, &["joints: angle °"]);
    shows(&rows, &degrees);
    // A control error needs rows as well.
    let with_error = Snapshot { law_error: Some(distance(0.0)), ..snapshot(lwr()) };
    shows(&drawn("run", Some(with_error), 80, 24), &degrees);
}
