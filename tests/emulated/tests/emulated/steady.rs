//! A while of commanding, with nothing wrong: no fallback, and every state answered once and in order.

use outrigger_core::session::LinkId;
use outrigger_emulated::bench::Answers;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_sim::service::Service;

use super::*;

/// How long.
const MINUTE: Duration = Duration::from_secs(60);
const QUARTER: Duration = Duration::from_secs(15);

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        timed("a_minute_at_125_hz_by_rtde_with_the_shipped_thresholds_has_no_fallback", BOARD, || {
            let told = steady(setup(SLOW), MINUTE);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        timed("a_minute_at_500_hz_by_rtde_with_the_thresholds_of_its_configuration_has_no_fallback", BOARD, || {
            let told = steady(setup(FAST), MINUTE);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        timed("where_rtde_is_switched_off_the_same_board_commands_by_30003", BOARD, || {
            let mut without = setup(FAST);
            without.controller.services_off.push(Service::Rtde);
            let told = steady(without, QUARTER);
            assert_eq!(told.states, [LinkId::REALTIME]);
            assert!(told.without.contains("rtde"), "telemetry says that it is refused: {:?}", told.without);
        }),
        timed("before_rtde_a_board_that_could_use_it_commands_by_30003", BOARD, || {
            let told = steady(setup(OLD), QUARTER);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::REALTIME][..], 0));
        }),
    ]
}

/// What the board told.
fn steady(around: Setup, span: Duration) -> Telemetry {
    let software = around.controller.software;
    let configuration = std::fs::read_to_string(closed_loop::configuration(software)).expect("a configuration");
    let thresholds = configuration.split_once("[session]").map_or("the shipped ones", |(_, session)| session);
    println!("software {software}, thresholds: {}", thresholds.trim());

    let mut bench = connected(around);
    let asked = armed(&mut bench).asked;
    bench.run_for(span);
    let until = bench.now();
    let record = bench.record();
    let story = record.story(asked);
    let answers = Answers::of(&record.commands(asked, until));
    let cycles = usize::try_from(span.as_micros() / bench.controller().period().as_micros()).expect("a count");
    // Strict: one command per state and never two. Loose: how many states a busy machine may be too late for.
    assert_eq!(answers.unasked, 0, "{answers:?}");
    in_time(record.said(asked, &["fallback", "not armed"]).is_none(), || story);
    in_time(answers.states >= cycles - 5, || format!("{} states in {cycles} cycles", answers.states));
    let enough = answers.commands * 10 >= answers.states * 8;
    in_time(enough, || format!("{} of {} answered", answers.commands, answers.states));
    println!(
        "{} states, {} answered, p50 {:?}, p99 {:?}, worst {:?}",
        answers.states,
        answers.commands,
        answers.quantile(0.5),
        answers.quantile(0.99),
        answers.quantile(1.0)
    );
    let told = Telemetry::of(&record.datagrams);
    never_reset(&mut bench);
    told
}
