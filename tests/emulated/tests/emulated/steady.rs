//! A while of commanding, with nothing wrong: no fallback, and every state answered once and in order.

use outrigger_core::session::LinkId;
use outrigger_emulated::bench::Answers;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_sim::service::Service;

use super::*;

/// How long.
const MINUTE: Duration = Duration::from_secs(60);
const QUARTER: Duration = Duration::from_secs(15);
/// An emulator that did not get its processor in time says so itself, and proves nothing: so often it is tried.
const ATTEMPTS: u32 = 3;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_minute_at_125_hz_by_rtde_with_the_shipped_thresholds_has_no_fallback", BOARD, || {
            let told = steady(&|| setup(SLOW), MINUTE, ATTEMPTS);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        test("a_minute_at_500_hz_by_rtde_with_the_thresholds_of_its_configuration_has_no_fallback", BOARD, || {
            let told = steady(&|| setup(FAST), MINUTE, ATTEMPTS);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        test("where_rtde_is_switched_off_the_same_board_commands_by_30003", BOARD, || {
            let without = || {
                let mut setup = setup(FAST);
                setup.controller.services_off.push(Service::Rtde);
                setup
            };
            let told = steady(&without, QUARTER, ATTEMPTS);
            assert_eq!(told.states, [LinkId::REALTIME]);
            assert!(told.without.contains("rtde"), "telemetry says that it is refused: {:?}", told.without);
        }),
        test("before_rtde_a_board_that_could_use_it_commands_by_30003", BOARD, || {
            let told = steady(&|| setup(OLD), QUARTER, ATTEMPTS);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::REALTIME][..], 0));
        }),
    ]
}

/// One of so many attempts; what the board told.
fn steady(setup: &dyn Fn() -> Setup, span: Duration, attempts: u32) -> Telemetry {
    let around = setup();
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
    if attempts > 1 && record.said(asked, &["fallback: LocalStall"]).is_some() {
        println!("this machine kept the emulator waiting; once more");
        return steady(setup, span, attempts - 1);
    }
    assert!(record.said(asked, &["fallback", "not armed"]).is_none(), "{story}");

    let answers = Answers::of(&record.commands(asked, until));
    let cycles = usize::try_from(span.as_micros() / bench.controller().period().as_micros()).expect("a count");
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
    let told = Telemetry::of(&record.datagrams);
    never_reset(&mut bench);
    told
}
