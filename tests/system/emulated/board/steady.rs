//! A span of commanding without faults. Only a standstill of this machine may cause a fallback, and every state is
//! answered once and in order.

use outrigger_core::engine::LinkId;
use outrigger_emulated::bench::Answers;
use outrigger_emulated::machine_standstills;
use outrigger_emulated::qemu::Line;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_sim::service::Service;

use super::*;

/// The default time for which the board must command without faults. The nightly run sets a minute.
const WHILE: Duration = Duration::from_secs(20);
const QUARTER: Duration = Duration::from_secs(15);
/// The time for which the order of the board's tasks is observed.
const ORDERED: Duration = Duration::from_secs(5);
/// The time that the simulated operator waits after a fallback, and again after acknowledging it.
const LOOK: Duration = Duration::from_millis(500);
/// The highest number of times that a standstill of the computer that runs the test may end commanding during a test.
const EXCUSED: usize = 6;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("a_while_at_125_hz_by_rtde_with_the_shipped_thresholds_has_no_fallback", BOARD, |machine| {
            let told = steady(machine, setup(SLOW), a_while());
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        timed("a_while_at_500_hz_by_rtde_with_the_thresholds_of_its_configuration_has_no_fallback", BOARD, |machine| {
            let told = steady(machine, setup(FAST), a_while());
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::RTDE][..], 0));
        }),
        timed("nothing_begins_before_a_control_loop_that_is_ready", BOARD, |machine| {
            let mut around = setup(FAST);
            around.options.push("order=1".into());
            let mut bench = connected(machine, around);
            armed(&mut bench);
            bench.run_for(ORDERED);
            let told = |end: &str| {
                let lines = bench.record().log.iter().filter(|line| line.text.contains("order: "));
                let counts =
                    lines.filter_map(|line| line.text.split_once("order: ")?.1.strip_suffix(end)?.parse::<u32>().ok());
                counts.max().unwrap_or(0)
            };
            let (control, network) =
                (told(" polls of others began before control"), told(" polls of others began before network"));
            println!("polls of others that began before one that was ready: control loop {control}, network {network}");
            for line in bench.record().log.iter().filter(|line| line.text.contains("longest poll of the rest")) {
                println!("{}", line.text);
            }
            // One task may have been chosen at the moment in which the control loop became ready.
            assert!(control <= 1, "{}", bench.record().story(SimTime::ZERO));
            never_reset(&mut bench);
        }),
        timed("where_rtde_is_switched_off_the_same_board_commands_by_30003", BOARD, |machine| {
            let mut without = setup(FAST);
            without.controller.services_off.push(Service::Rtde);
            let told = steady(machine, without, QUARTER);
            assert_eq!(told.states, [LinkId::REALTIME]);
            assert!(told.without.contains("rtde"), "telemetry says that it is refused: {:?}", told.without);
        }),
        timed("before_rtde_a_board_that_could_use_it_commands_by_30003", BOARD, |machine| {
            let told = steady(machine, setup(OLD), QUARTER);
            assert_eq!((told.states.as_slice(), told.without.len()), (&[LinkId::REALTIME][..], 0));
        }),
    ]
}

fn a_while() -> Duration {
    wanted().unwrap_or(WHILE)
}

/// Returns the time of undisturbed commanding that `OUTRIGGER_STEADY_SECONDS` sets; `None` if it is not set.
pub(super) fn wanted() -> Option<Duration> {
    let said = std::env::var("OUTRIGGER_STEADY_SECONDS").ok()?;
    Some(Duration::from_secs(said.parse().expect("OUTRIGGER_STEADY_SECONDS=N")))
}

/// Lets a board command for `span` in total, checks its answers and returns its telemetry.
fn steady(machine: Machine, around: Setup, span: Duration) -> Telemetry {
    let software = around.controller.software;
    let configuration = std::fs::read_to_string(closed_loop::configuration(software)).expect("a configuration");
    let thresholds = configuration.split_once("[session]").map_or("the shipped ones", |(_, session)| session);
    println!("software {software}, thresholds: {}", thresholds.trim());

    let mut bench = connected(machine, around);
    let (mut left, mut stretches, mut all) = (span, 0, Answers::default());
    while !left.is_zero() {
        let asked = armed(&mut bench).asked;
        let begun = bench.now();
        let fallen = bench.hear(asked, &["fallback"], left);
        let until = fallen.as_ref().map_or(bench.now(), |line| line.at);
        left = left.saturating_sub(until.since(begun));
        stretches += 1;

        let answers = Answers::of(&bench.record().commands(asked, until));
        // The board sends one command per state, never two, and receives every state that it could.
        assert_eq!(answers.unasked, 0, "{answers:?}");
        let mut lost = machine_standstills::seen().total(bench.window(begun, until));
        if let Some(line) = &fallen {
            lost += closed_loop::looked_back(software);
            excused(&mut bench, software, asked, line);
            assert!(stretches <= EXCUSED, "{}", bench.record().story(SimTime::ZERO));
        }
        let period = bench.controller().period().as_micros();
        let cycles = until.since(begun).saturating_sub(lost).as_micros() / period;
        assert!(answers.states as u128 + 5 >= cycles, "{} states in {cycles} cycles", answers.states);
        all.states += answers.states;
        all.commands += answers.commands;
        all.turnarounds.extend(answers.turnarounds);
    }
    assert!(all.commands * 10 >= all.states * 8, "{} of {} answered", all.commands, all.states);
    all.turnarounds.sort_unstable();
    println!(
        "{} states in {stretches} stretches, {} answered, p50 {:?}, p99 {:?}, worst {:?}",
        all.states,
        all.commands,
        all.quantile(0.5),
        all.quantile(0.99),
        all.quantile(1.0)
    );
    let told = Telemetry::of(&bench.record().datagrams);
    never_reset(&mut bench);
    told
}

/// Checks that a fallback was caused by a standstill of the computer that runs the test shortly before it, and that the
/// arm stays at rest until an operator has acknowledged, and afterwards.
fn excused(bench: &mut Bench<'_>, software: SoftwareVersion, asked: SimTime, fallen: &Line) {
    let rested = closed_loop::rested(bench, fallen.at).unwrap_or_else(|| panic!("{}", bench.record().story(asked)));
    bench.run_for(LOOK);
    let story = bench.record().story(asked);
    let verdict = closed_loop::unplanned(bench, software, fallen.at, &fallen.text);
    assert!(verdict.passes(&fallen.text), "a fallback that nobody caused\n{story}");
    bench.acknowledge();
    bench.run_for(LOOK);
    let commands = bench.record().commands(rested, bench.now());
    assert!(!commands.iter().any(|command| command.speeds.is_some()), "by itself\n{story}");
}
