//! A network that loses FRI datagrams: the link grades at both ends, the number of bridged measurements, and the
//! number of times that commanding ends.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{KrcConfig, KrlConvention};
use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::krc::{self, Options};
use outrigger_sim::time::SimTime;
use outrigger_tests::fri::{Rig, Swing};
use outrigger_wire::fri::Quality;
use outrigger_wire::time::Instant;

use super::text::{hold, in_parallel, markdown};

/// The periods of the measurements \[ms\].
const PERIODS: [u64; 4] = [1, 2, 5, 12];
/// The faults of the network, in both directions unless a direction is given.
const NETWORKS: [(&str, &[&str]); 7] = [
    ("nothing", &[]),
    ("loses 1 %", &["drop@0::1%"]),
    ("loses 5 %", &["drop@0::5%"]),
    ("loses 1 % of the commands", &["drop/up@0::1%"]),
    ("loses 1 % in bursts", &["burst@0::1%"]),
    ("loses 5 % in bursts", &["burst@0::5%"]),
    ("repeats 10 %, lets 1 % be overtaken", &["duplicate@0::10%", "reorder@0::1%"]),
];
/// The length of each run.
const LENGTH: Duration = Duration::from_secs(30);
/// The interval at which the link grades and the engine's mode are sampled.
const LOOK: Duration = Duration::from_millis(10);

struct Figures {
    /// The number of samples with each link grade at our end; `theirs` has those with each grade at the KRC.
    ours: [u32; 4],
    theirs: [u32; 4],
    commanding: u32,
    samples: u32,
    answered: f64,
    bridged: u64,
    /// The number of times that commanding ended, by reason.
    fallbacks: Vec<(Reason, u32)>,
}

fn run(period: u64, faults: &[&str]) -> Figures {
    let faults = faults.iter().map(|spec| spec.parse().expect("a fault")).collect();
    let options = Options { period: Duration::from_millis(period), faults, ..Options::default() };
    let mut rig = Rig::new(options, KrcConfig::default(), Swing::new(0.5, 4.0), KrlConvention::RosControl);
    // By then, windows of 100 cycles are full, and grades have risen if they rise at all.
    rig.advance(period * 600);
    let begun = rig.krc.now();
    let before = rig.krc.counts();
    let end = begun + LENGTH;
    let mut figures = Figures {
        ours: [0; 4],
        theirs: [0; 4],
        commanding: 0,
        samples: 0,
        answered: 0.0,
        bridged: 0,
        fallbacks: vec![],
    };
    while rig.krc.now() < end {
        rig.advance_to(rig.krc.now() + LOOK);
        figures.look(&rig);
        let unmet = rig.session.unmet(now(&rig));
        if rig.session.mode() == Mode::Monitor && unmet.iter().all(|reason| reason == Reason::Latched) {
            rig.input(Input::Acknowledge);
            rig.request();
        }
    }
    let after = rig.krc.counts();
    figures.answered = (after.answered - before.answered) as f64 / (after.sent - before.sent) as f64;
    figures.bridged = after.bridged - before.bridged;
    let began = Instant::from_micros(begun.as_micros());
    for transition in rig.transitions().filter(|t| t.from == Mode::Command && t.at >= began) {
        let reason = transition.reason.expect("a way down has one");
        match figures.fallbacks.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => figures.fallbacks.push((reason, 1)),
        }
    }
    assert!(rig.longest_step <= 1.0, "a step of {} of the longest", rig.longest_step);
    let complained =
        |reason| matches!(reason, krc::Reason::Limit | krc::Reason::NotMirrored | krc::Reason::FlagsChanged);
    assert!(!rig.krc.fallbacks().iter().any(|(_, reason)| complained(*reason)), "{:?}", rig.krc.fallbacks());
    figures
}

fn now(rig: &Rig<Swing>) -> Instant {
    let now: SimTime = rig.krc.now();
    Instant::from_micros(now.as_micros())
}

impl Figures {
    fn look(&mut self, rig: &Rig<Swing>) {
        self.samples += 1;
        let grade = rig.session.figures(now(rig)).grade;
        let ours = Grade::ALL.iter().position(|known| *known == grade).unwrap_or(0);
        let theirs = match rig.krc.quality() {
            Quality::Perfect => 3,
            Quality::Ok => 2,
            Quality::Bad => 1,
            Quality::Unacceptable | Quality::Unknown(_) => 0,
        };
        self.ours[ours] += 1;
        self.theirs[theirs] += 1;
        self.commanding += u32::from(rig.session.mode() == Mode::Command);
    }

    /// Returns the shares of samples with the grades Perfect, Ok, Bad and Unacceptable \[%\], as text.
    fn shares(&self, counts: [u32; 4]) -> String {
        let [unacceptable, bad, ok, perfect] = counts.map(|count| 100.0 * f64::from(count) / f64::from(self.samples));
        format!("{perfect:.0} / {ok:.0} / {bad:.0} / {unacceptable:.0}")
    }

    fn row(&self, network: &str) -> Vec<String> {
        let fallbacks: Vec<_> =
            self.fallbacks.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        vec![
            network.to_owned(),
            self.shares(self.ours),
            self.shares(self.theirs),
            format!("{:.1} %", 100.0 * self.answered),
            self.bridged.to_string(),
            if fallbacks.is_empty() { "–".into() } else { fallbacks.join(", ") },
            format!("{:.0} %", 100.0 * f64::from(self.commanding) / f64::from(self.samples)),
        ]
    }
}

#[test]
fn lost_datagrams_of_fri_cost_quality_and_fallbacks_and_never_a_step() {
    let mut text = HEAD.to_owned();
    for period in PERIODS {
        let rows = in_parallel(&NETWORKS, |(name, faults)| run(period, faults).row(name));
        let columns = ["network", "our grade", "the KRC's", "answered", "bridged", "fallbacks", "commanding"];
        text += &format!("\n## {period} ms\n\n{}", markdown(&columns, &rows));
    }
    hold("fri-loss.md", &text);
}

const HEAD: &str = "# FRI over a network that loses

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::fri`: 30 s of virtual time for each row, seed 1,
after the grades had 600 cycles to rise.

Every joint swings at up to 0.5 rad/s, with all thresholds at their defaults; after each fallback an operator acknowledges
and requests again as soon as nothing else speaks against it. Grades are shares of the time in Perfect / Ok / Bad /
Unacceptable \\[%\\]: ours of the link, and the simulated KRC's own. *Answered*: measurements whose answer came within their
cycle. *Bridged*: cycles without an answer in which the KRC went on by itself. Asserted for each row: no step of a joint
above its highest speed times the time since the command before, and nothing that the KRC refuses.

KUKA's rating, the number of bridged answers (3) and their extrapolation are not public: the KRC's columns say what
`outrigger_sim::krc::Options` assumes. Ours are `LinkConfig::datagram`: three cycles without a measurement end commanding, and
arming takes 100 good cycles in a row without a grade below Ok.
";
