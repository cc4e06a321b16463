//! A board beside a simulated KRC. It answers each measurement once, whatever the network loses, and never begins
//! commanding by itself.

use outrigger_core::robot::Reason;
use outrigger_emulated::krc::KrcBench;
use outrigger_emulated::machine_standstills;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_emulated::tries::nobodys_fallback;
use outrigger_sim::krc::{Options, QualityLimits, Rating, Reason as Left};
use outrigger_wire::fri::Quality;

use super::*;

/// The default time for which the board commands before the first loss of packets. `OUTRIGGER_STEADY_SECONDS` replaces
/// it in the nightly run.
const CLEAN: Duration = Duration::from_secs(8);
/// The time that a test takes in addition to the commanding before the first loss of packets: arming three times, two
/// losses, and the checks after each.
const REST_OF_IT: Duration = Duration::from_secs(30);
/// The time for which the board must command after each loss of packets.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// The span in which no packet passes in one direction. It is longer than the time that the KRC and the board bridge.
const CUT: Duration = Duration::from_millis(300);
/// The possible reasons of a fallback after a loss of packets in one direction: the KRC leaves the command state first,
/// or the board notices missing measurements.
const LOSS: [Reason; 3] = [Reason::LeftCommand, Reason::StateStale, Reason::StatesMissed];
/// The highest number of fallbacks that standstills of the computer that runs the test may cause in a span of
/// commanding.
const EXCUSED: usize = 3;
/// The time that the test waits after a fallback, so that a standstill of the computer that runs it has been recorded.
const LOOK: Duration = Duration::from_millis(500);
/// The highest speed of a joint that the board's configuration allows \[rad/s\].
const HIGHEST: f64 = 1.0;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("each_measurement_of_10_ms_has_one_answer_and_losses_end_in_arming_again", BOARD, |machine| {
            with_losses(machine, Options { period: Duration::from_millis(10), max_bridge: 10, ..Options::default() });
        }),
        timed("each_measurement_of_2_ms_has_one_answer_and_losses_end_in_arming_again", BOARD, |machine| {
            with_losses(machine, lenient(Duration::from_millis(2)));
        }),
        timed("at_1_ms_no_measurement_has_two_answers_and_no_step_is_too_long", BOARD, |machine| {
            let options = lenient(Duration::from_millis(1));
            let mut bench = start(machine, options.clone(), 12);
            let armed = bench.arm(Duration::from_secs(8));
            bench.run_until(PATIENCE, |bench| bench.exit().is_some());
            println!("armed: {armed:?}; {}", figures(&bench, SimTime::ZERO, bench.now()));
            holds(&bench, bridged(&options));
        }),
    ]
}

/// Returns a KRC that tolerates an emulator that shares its processor. It rates the link by the share of answers
/// alone, and bridges 25 missing answers. For so long its extrapolation stays within one step of an arm that brakes
/// at 2 rad/s². After more, the KRC itself would report a step that is too long, although no command has one.
fn lenient(period: Duration) -> Options {
    let row = |answer_rate| QualityLimits { answer_rate, latency: 50.0, jitter: 50.0 };
    let mut options = Options { period, max_bridge: 25, ..Options::default() };
    options.rating = Rating { limits: [row(0.5), row(0.6), row(0.8)], ..Rating::default() };
    options.program.waits_for = Quality::Ok;
    options
}

fn start(machine: Machine, options: Options, seconds: u64) -> KrcBench<'static> {
    let firmware = built(machine, "beside a KRC", || {
        let file = require::workspace().join("tests/emulated/boards/krc.toml");
        Firmware::build(machine, Some(&file), false).unwrap_or_else(|error| panic!("{error}"))
    });
    let limit = Duration::from_secs(seconds) + PATIENCE;
    let mut bench = KrcBench::start(firmware, options, vec![format!("seconds={seconds}")], limit).expect("QEMU starts");
    let heard = bench.hear(SimTime::ZERO, &["connected"], PATIENCE);
    assert!(heard.is_some(), "no KRC was found:\n{}", bench.story(SimTime::ZERO));
    bench
}

/// Returns the time for which the simulated KRC continues without an answer of the board.
fn bridged(options: &Options) -> Duration {
    options.period * options.max_bridge
}

fn with_losses(machine: Machine, options: Options) {
    let (bridged, clean) = (bridged(&options), steady::wanted().unwrap_or(CLEAN));
    // After this time the firmware brings the arm to rest and ends.
    let mut bench = start(machine, options, (clean + REST_OF_IT).as_secs());
    plays(&mut bench, clean, bridged);
    holds(&bench, bridged);
}

fn plays(bench: &mut KrcBench<'_>, clean: Duration, bridged: Duration) {
    let begun = armed(bench);
    commands_for(bench, begun, clean, bridged);
    let (asked, now) = (begun, bench.now());
    let (sent, answered) = bench.answers().between(asked, now);
    println!("{}", figures(bench, asked, now));

    // First the commands of the board are lost, then the measurements of the KRC.
    for direction in ["up", "down"] {
        let at = bench.now();
        let wire = if direction == "up" { &mut bench.up } else { &mut bench.down };
        wire.cut(at, at + CUT);
        let line = bench.hear(at, &["fallback"], PATIENCE);
        let line = line.unwrap_or_else(|| panic!("{direction}: no fallback\n{}", bench.story(at)));
        bench.run_for(Duration::from_millis(1_500));
        assert!(bench.said(at, &["arming"]).is_none(), "{direction}: by itself\n{}", bench.story(at));
        let window = bench.window(at, line.at).and_before(bridged);
        falls_back_for(&line.text, &LOSS, window, bridged / 2, || format!("{direction}\n{}", bench.story(at)));
        let asked = bench.now();
        bench.request();
        let refused = bench.hear(asked, &["refused: Latched", "arming"], PATIENCE);
        let refused = refused.unwrap_or_else(|| panic!("{direction}: no answer\n{}", bench.story(at)));
        let latched = refused.text.starts_with("refused");
        assert!(latched, "{direction}: without an acknowledgement\n{}", bench.story(at));
        let begun = armed(bench);
        println!("{direction}: {}; commands again {:?} later", line.text, begun.since(at));
        commands_for(bench, begun, AFTERWARDS, bridged);
    }
    bench.run_until(clean + REST_OF_IT, |bench| bench.exit().is_some());
    assert_eq!(bench.exit(), Some(Exit::Success), "{}", bench.story(now));

    // The second telemetry listener does not exist. The first one must still have received every datagram.
    let span = bench.now().since(SimTime::ZERO).as_secs_f64();
    let heard = bench.datagrams.len() as f64 / span;
    assert!(heard > 18.0, "{heard} datagrams a second, {span} s");
    println!("{heard:.1} datagrams of telemetry a second");

    // A measurement without an answer was overtaken by a newer one on a late board, which counts it.
    let told = Telemetry::of(&bench.datagrams).krc.expect("telemetry");
    let unanswered = (sent - answered) as u64;
    assert!(
        unanswered <= told.peer.counts.overtaken,
        "{unanswered} of {sent} without an answer, {:?}",
        told.peer.counts
    );
    let counts = told.peer.counts;
    // The newest measurement may still wait for its answer.
    let waiting = counts.measurements - (counts.commands + counts.overtaken + counts.unused);
    assert!(waiting <= 1, "{counts:?}");
    assert!(answered * 100 >= sent * 90, "{answered} of {sent} answered: {:?}", told.peer.counts);
}

fn armed(bench: &mut KrcBench<'_>) -> SimTime {
    let armed = bench.arm(ARMING);
    armed.unwrap_or_else(|| panic!("not armed:\n{}", bench.story(SimTime::ZERO)))
}

/// Lets the board command for `span` in total. Only fallbacks caused by standstills of the computer that runs the test
/// are permitted, at most [`EXCUSED`].
fn commands_for(bench: &mut KrcBench<'_>, mut since: SimTime, span: Duration, bridged: Duration) {
    let mut left = span;
    for _ in 0..=EXCUSED {
        let begun = bench.now();
        let Some(line) = bench.hear(since, &["fallback"], left) else { return };
        left = left.saturating_sub(line.at.since(begun));
        // Waits until the standstill has been recorded.
        bench.run_for(LOOK);
        let verdict = nobodys_fallback(&line.text, bench.window_before(line.at, bridged * 3), bridged / 2);
        let story = || bench.story(since);
        assert!(verdict.passes(&line.text), "it fell back without a loss on the wire:\n{}", story());
        assert!(bench.said(line.at, &["arming"]).is_none(), "by itself\n{}", story());
        since = armed(bench);
    }
    panic!("more than {EXCUSED} fallbacks:\n{}", bench.story(SimTime::ZERO));
}

/// Checks the properties that must hold in every run, whatever is lost, repeated or late: at most one answer per
/// measurement, in order, no step too long, and a single start of the board.
fn holds(bench: &KrcBench<'_>, bridged: Duration) {
    let story = || bench.story(SimTime::ZERO);
    assert_eq!(bench.answers().unasked(), 0, "answered twice, or in another order\n{}", story());
    let steps = bench.answers().steps(HIGHEST);
    assert!(steps.longest <= 1.0, "{steps:?}\n{}", story());
    let ours = [Left::NotMirrored, Left::FlagsChanged, Left::FlagsNotUsable];
    let fallbacks = bench.krc().fallbacks();
    assert!(!fallbacks.iter().any(|(_, reason)| ours.contains(reason)), "{}", story());
    println!("{} commands that the KRC followed, the longest step {:.3} of v·dt", steps.looked_at, steps.longest);
    let boots = bench.log.iter().filter(|line| line.text.starts_with("boot")).count();
    assert_eq!(boots, 1, "{}", story());
    // No command has such a step, as checked above. A KRC that extrapolated for longer than permitted may still
    // report one.
    for (at, _) in fallbacks.iter().filter(|(_, reason)| *reason == Left::Limit) {
        let stood = machine_standstills::seen().longest(bench.window_before(*at, bridged * 3));
        let verdict = if stood * 2 >= bridged { Verdict::Excused(stood) } else { Verdict::Fails };
        assert!(verdict.passes("the KRC left for a step of its own"), "{at}: {stood:?}\n{}", story());
    }
}

fn figures(bench: &KrcBench<'_>, from: SimTime, until: SimTime) -> String {
    let (sent, answered) = bench.answers().between(from, until);
    let turnarounds = bench.answers().turnarounds();
    let at = |share: usize| turnarounds.get(turnarounds.len() * share / 1_000).copied().unwrap_or_default();
    let worst = turnarounds.last().copied().unwrap_or_default();
    let counts = bench.krc().counts();
    format!(
        "{sent} measurements, {answered} answered, p50 {:?}, p99 {:?}, worst {worst:?}; KRC: {counts:?}",
        at(500),
        at(990)
    )
}
