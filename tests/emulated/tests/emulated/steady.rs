//! A minute of commanding, with nothing wrong: no fallback, and every state answered once and in order.

use outrigger_emulated::bench::Answers;

use super::*;

/// How long.
const SPAN: Duration = Duration::from_secs(60);

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_minute_at_125_hz_with_the_shipped_thresholds_has_no_fallback", BOARD, || steady(SLOW, 3)),
        test("a_minute_at_500_hz_with_the_thresholds_of_its_configuration_has_no_fallback", BOARD, || steady(FAST, 3)),
    ]
}

/// One of so many attempts: an emulator that did not get its processor in time says so itself, and proves nothing.
fn steady(software: SoftwareVersion, attempts: u32) {
    let configuration = std::fs::read_to_string(closed_loop::configuration(software)).expect("a configuration");
    let thresholds = configuration.split_once("[session]").map_or("the shipped ones", |(_, session)| session);
    println!("software {software}, thresholds: {}", thresholds.trim());

    let mut bench = connected(setup(software));
    let asked = armed(&mut bench).asked;
    bench.run_for(SPAN);
    let until = bench.now();
    let record = bench.record();
    let story = record.story(asked);
    if attempts > 1 && record.said(asked, &["fallback: LocalStall"]).is_some() {
        println!("this machine kept the emulator waiting; once more");
        return steady(software, attempts - 1);
    }
    assert!(record.said(asked, &["fallback", "not armed"]).is_none(), "{story}");

    let answers = Answers::of(&record.commands(asked, until));
    let cycles = usize::try_from(SPAN.as_micros() / bench.controller().period().as_micros()).expect("a count");
    // Strict: one command per state and never two. Loose: how many states a busy machine may be too late for.
    assert_eq!(answers.unasked, 0, "{answers:?}");
    assert!(answers.states >= cycles - 5, "{} states in {cycles} cycles", answers.states);
    assert!(answers.commands * 10 >= answers.states * 8, "{} of {} answered", answers.commands, answers.states);
    println!(
        "{} states, {} answered, p50 {:?}, p99 {:?}, worst {:?}",
        answers.states,
        answers.commands,
        answers.quantile(0.5),
        answers.quantile(0.99),
        answers.quantile(1.0)
    );
    never_reset(&mut bench);
}
