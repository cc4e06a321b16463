//! Tests answers in the form that scripts read.

use outrigger_core::command::LocateError;
use outrigger_core::link::{Grade, GradeCause, GradeChange, Metric};
use outrigger_remote::request::{FaultKind, Key};
use outrigger_tests::require::committed::hold;
use outrigger_wire::time::{Duration, Instant};

use super::*;
use crate::host::os::INTERRUPT;
use crate::show::Variables;

#[test]
fn a_client_that_gives_its_place_away_is_told_how_many_there_are() {
    let line = gave_way(100, 8);
    let told: serde_json::Value = serde_json::from_str(&line).expect("one object");
    assert!(line.ends_with("}\n") && told["ok"] == false && told["error"]["what"] == "NoPlace", "{line}");
    assert_eq!(told["error"]["expected"], "at most 100 clients, and 8 of one process");
}

#[test]
fn a_status_tells_what_ended_commanding_last_and_who_released_it() {
    let line =
        |left, released| status(None, "status", &Status { left, released, ..Status::default() }, ("arm", false), None);
    let held = Status { held: Some(Reason::ProgramPaused), ..Status::default() };
    let paused = status(None, "status", &held, ("arm", false), None);
    assert!(
        paused.contains(r#""held_by":{"name":"ProgramPaused","text":"paused at the pendant: the arm continues"#),
        "{paused}"
    );
    assert!(line(None, None).contains(r#""held_by":null"#));
    assert!(line(None, None).contains(r#""left":null"#));
    let interrupted = line(Some(Reason::Released), Some(ReleasedBy::Signal(INTERRUPT)));
    assert!(
        interrupted
            .contains(r#""left":{"name":"Released","text":"Ctrl-C","advice":"start again to go on","by":"SIGINT"}"#),
        "{interrupted}"
    );
    let paused = line(Some(Reason::ProgramPaused), Some(ReleasedBy::Pendant(Reason::ProgramPaused)));
    let text = r#""name":"ProgramPaused","text":"the program was paused at the pendant","advice""#;
    assert!(paused.contains(text) && paused.contains(r#""by":"ProgramPaused""#), "{paused}");
    let stopped = line(Some(Reason::ProtectiveStop), None);
    assert!(stopped.contains(r#""left":{"name":"ProtectiveStop""#) && !stopped.contains(r#""by""#), "{stopped}");
}

/// Creates the status of a run with all optional parts.
fn busy() -> Status {
    let mut variables = Variables { bools: 1, ints: [0; 16], reals: [0; 16] };
    (variables.ints[0], variables.reals[0], variables.reals[1]) = (-1, 0.5_f32.to_bits(), f32::NAN.to_bits());
    let standing =
        MotionReport { number: 7, stage: MotionStage::Missed(Reason::GoalTolerance), percent: 42, tenths: 15 };
    let cause = GradeCause { metric: Metric::Misses, grade: Grade::Ok, measured: 12, limit: 5 };
    let fell = GradeChange {
        from: Grade::Perfect,
        to: Grade::Bad,
        cause,
        at: Instant::from_micros(12_340_000),
        late: Duration::ZERO,
    };
    Status {
        epoch: Epoch::from_number(4),
        mode: Mode::Monitor,
        grade: Grade::Bad,
        latch: Some(Reason::StateStale),
        left: Some(Reason::Released),
        released: Some(ReleasedBy::Signal(INTERRUPT)),
        unmet: ReasonSet::EMPTY.with(Reason::GradeLow).with(Reason::Latched),
        low: Some(GradeLow { grade: Grade::Bad, needed: Grade::Ok, fell: Some(fell), next: cause }),
        ending: true,
        variables: Some(variables),
        motion: Some(standing),
        overrides_pendant: true,
        held: Some(Reason::ProgramPaused),
        ..Status::default()
    }
}

#[test]
fn the_lines_are_those_that_are_committed() {
    let busy = busy();
    let motion = |stage| Some(MotionReport { number: 1, stage, percent: 100, tenths: 20 });
    let write = Write::Flag { index: 3, value: true };
    let news =
        [WriteOutcome::Confirmed(Duration::from_micros(12_500)), WriteOutcome::NeverShown, WriteOutcome::NotConfirmed];
    let against = [
        MotionRefusal::Reason(Reason::Latched),
        MotionRefusal::Busy(MotionReport { number: 2, stage: MotionStage::Runs, percent: 5, tenths: 1 }),
        MotionRefusal::Guided,
        MotionRefusal::Law,
        MotionRefusal::Feed(FeedError::Forwarded),
        MotionRefusal::Feed(FeedError::NoMotion),
        MotionRefusal::Elsewhere,
        MotionRefusal::Nothing,
    ];
    let mut verdicts = vec![
        Verdict::Done,
        Verdict::WrongEpoch(Epoch::from_number(3)),
        Verdict::Refused(Reason::GradeLow, busy.unmet),
        Verdict::Ending,
        Verdict::BeginsUnasked,
        Verdict::NoNews,
        Verdict::Full,
        Verdict::Moves,
        Verdict::Reads,
        Verdict::Dashboard(Outcome::Taken),
        Verdict::Dashboard(Outcome::LocalControl),
        Verdict::NotFresh,
        Verdict::Withdrawn,
    ];
    verdicts.extend([Effect::TakenBack, Effect::Released, Effect::Nothing].map(Verdict::Withdrew));
    verdicts.extend(news.map(|news| Verdict::Output(write, news)));
    verdicts.extend(against.map(Verdict::Motion));
    let answers = verdicts.into_iter().map(|verdict| Answer { id: Some(5), word: "word", status: busy, verdict });
    let mut lines: Vec<_> = answers.map(|answer| answer.line(false)).collect();
    let done = Answer { id: None, word: "request", status: Status::default(), verdict: Verdict::Done };
    lines.push(done.line_with(true, Some(Challenge::from_number(u32::MAX))));
    lines.push(status(Some(1), "status", &busy, ("10.0.0.2", false), Some(Challenge::from_number(9))));
    lines.push(status(None, "watch", &Status::default(), ("a \"b\"", true), None));
    let stages =
        [MotionStage::Waits, MotionStage::Refused(Reason::Latched), MotionStage::NotFound(LocateError::OutOfReach)];
    lines.extend(stages.map(|stage| {
        let moving = Status { motion: motion(stage), left: Some(Reason::ProtectiveStop), ..Status::default() };
        status(None, "status", &moving, ("arm", true), None)
    }));
    let (kind, key) = (FaultKind::Syntax, Some(Key::Id));
    let found = b"\"\xffa\x1b".as_slice();
    let wrong = Fault { id: Some(2), kind, at: 12, key, expected: "a number", found };
    lines.push(fault(&wrong, &busy));
    lines.push(fault(&Fault { id: None, key: None, ..wrong }, &busy));
    lines.push(value(None, &busy, "source", "a source of this run", "x"));
    lines.push(unfit(Some(3), &busy, "joint 2 would reach 7.000 rad"));
    lines.push(gave_way(100, 8));
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/requests/golden/answers.jsonl"), &lines.concat());
}

#[test]
fn the_message_of_a_parser_is_not_wrapped_in_its_own_words_again() {
    let said = |expected, found| value(None, &Status::default(), "output", expected, found);
    for (expected, found, text) in [
        ("a source of this run", "x", "output: expected a source of this run, found 'x'"),
        ("expected flag.0 to flag.31", "flag.32=on", "output: expected flag.0 to flag.31, found 'flag.32=on'"),
        ("flag: expected on or off, found 'o'", "flag.1=o", "output: flag: expected on or off, found 'o'"),
    ] {
        assert!(said(expected, found).contains(&format!("\"text\":\"{text}\"")), "{}", said(expected, found));
    }
    assert!(said("expected flag.0 to flag.31", "flag.32=on").contains("\"expected\":\"flag.0 to flag.31\""));
}
