//! A network that loses and delays segments: the number of times that commanding ends, the share of states answered,
//! and the time to rest of the arm.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::fault::FaultKind;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, REST, Rig, Setup, core_time, rest_bound, sim_time};
use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown, millis};

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
/// The jitter of each segment in each direction \[ms\].
const JITTER: [u64; 5] = [0, 1, 2, 5, 10];
/// The share of segments lost \[%\], and the way in which TCP repairs a loss.
const LOSS: [(f64, Repair); 5] =
    [(0.0, Repair::Quick), (0.1, Repair::Quick), (1.0, Repair::Quick), (0.1, Repair::TimeOut), (1.0, Repair::TimeOut)];
/// The length of each run.
const LENGTH: Duration = Duration::from_secs(60);
/// The speed of the base joint \[rad/s\].
const SPEED: f32 = 0.5;

/// The way in which TCP repairs a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    /// TCP retransmits quickly, after three later segments have arrived.
    Quick,
    /// TCP retransmits after a timeout.
    TimeOut,
}

#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    fallbacks: u32,
    /// The fraction of the run spent in `Command`.
    commanding: f64,
    /// The number of moving commands per control cycle in `Command`; `None` if it was never reached.
    answered: Option<f64>,
    /// The longest time from a fallback until the joint was first at rest.
    rest: Option<Duration>,
}

fn run(software: SoftwareVersion, loss: f64, repair: Repair, jitter: u64) -> Figures {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(Setup::to_and_fro(software, SPEED), &mut buffers);
    rig.command();
    if loss > 0.0 {
        let share = loss / 100.0;
        rig.fault(if repair == Repair::Quick { FaultKind::QuickLoss(share) } else { FaultKind::Loss(share) }, None);
    }
    if jitter > 0 {
        rig.fault(FaultKind::Jitter(Duration::from_millis(jitter)), None);
    }
    let before = rig.record().cycles;
    let begun = rig.now();
    while rig.now() < begun + LENGTH {
        let rest = (begun + LENGTH).since(rig.now());
        let able = |rig: &Rig<'_>| {
            let mut unmet = rig.engine().unmet(core_time(rig.now())).iter();
            rig.engine().mode() == Mode::Monitor && unmet.all(|reason| reason == Reason::Latched)
        };
        if rig.run_until(rest, able) {
            rig.input(Input::Acknowledge);
            rig.request();
        }
    }
    let spent = rig.record().cycles;
    let (commanded, answered) = (spent.commanded - before.commanded, spent.answered - before.answered);
    let falls: Vec<SimTime> = rig
        .record()
        .transitions()
        .filter(|t| t.from == Mode::Command)
        .map(|t| sim_time(t.at))
        .filter(|at| *at >= begun)
        .collect();
    let rests = falls.iter().filter_map(|fell| first_rest(&rig, *fell));
    let rest = rests.max();
    let hold = Duration::from_micros(rig.engine().config().peer.text.hold.as_micros());
    let deceleration = f64::from(rig.engine().config().peer.text.stop_acceleration);
    assert!(rest <= Some(rest_bound(&rig.controller, f64::from(SPEED), deceleration, hold)), "{rest:?}");
    Figures {
        fallbacks: falls.len() as u32,
        commanding: commanded as f64 * rig.controller.period().as_secs_f64() / LENGTH.as_secs_f64(),
        answered: (commanded > 0).then(|| answered as f64 / commanded as f64),
        rest,
    }
}

/// Returns the time from `fell` until the joint was at rest for the first time; `None` if the run ends before.
fn first_rest(rig: &Rig<'_>, fell: SimTime) -> Option<Duration> {
    let mut after = rig.record().motion.iter().skip_while(|motion| motion.at < fell);
    after.find(|motion| motion.speed() <= REST).map(|motion| motion.at.since(fell))
}

#[test]
fn a_lossy_network_costs_fallbacks_but_no_late_stop() {
    let mut text = HEAD.to_owned();
    for software in SOFTWARE {
        let rows = in_parallel(&LOSS, |(loss, repair)| {
            let name = match (loss, repair) {
                (0.0, _) => "none".to_owned(),
                (loss, Repair::Quick) => format!("{loss} %, quick"),
                (loss, Repair::TimeOut) => format!("{loss} %, time-out"),
            };
            let mut row = vec![name];
            row.extend(JITTER.map(|jitter| cell(run(software, loss, repair, jitter))));
            row
        });
        let columns = ["loss", "no jitter", "1 ms", "2 ms", "5 ms", "10 ms"];
        text += &format!("\n## {}.{}\n\n{}", software.major, software.minor, markdown(&columns, &rows));
    }
    hold("loss-jitter.md", &text);
}

fn cell(figures: Figures) -> String {
    let Figures { fallbacks, commanding, answered, rest } = figures;
    let answered = answered.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let rest = rest.map_or("–".to_owned(), |rest| format!("{} ms", millis(rest)));
    format!("{fallbacks} · {:.0} % · {answered} · {rest}", commanding * 100.0)
}

const HEAD: &str = "# Loss and jitter

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::lossy`: 60 s of virtual time for each cell, seed 1.

The base joint goes to and fro at 0.5 rad/s, with all thresholds at their defaults; after each fallback an operator
acknowledges and requests again as soon as nothing else speaks against it. Each cell:

fallbacks in 60 s · part of the 60 s spent commanding · cycles of that which got a command of their own · longest time
from a fallback until the joint first stood (asserted: at most 40 ms, the `t` of the last command, and v/a, 2 cycles and
the drives' lag; text that a loss held back may move it once more for a cycle, as `faults.md` says).

What the simulation assumes: each segment of each connection, each way, is delayed by 0 up to the jitter, and lost with
the given probability; what follows a lost segment waits for it. *Quick*: it comes again after 4 cycles, because three
later ones tell of it. *Time-out*: it comes again after 200 ms. Text that comes in a burst is queued by the controller
and executed one program per cycle, so that after a burst it stays late; that ends commanding as `NotFollowing`.
Little time commanding with few fallbacks means that the link's grade does not let it begin again.
";
