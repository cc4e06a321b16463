//! The share of states that a link monitor rejects if this device's clock is fast or slow, for several leak rates of
//! the mapped clock.

use outrigger_core::link::{Answer, LinkConfig, LinkMonitor};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

use super::text::{hold, markdown};

/// The periods of the controllers: e-Series, and CB3.
const PERIODS: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(8)];
/// The errors of this device's clock, positive if it is fast \[ppm\].
const ERRORS: [i64; 13] = [-10_000, -3_000, -500, -200, 0, 100, 200, 300, 500, 1_000, 3_000, 5_000, 10_000];
/// The leak rates of the mapped clock, by which it forgets a fast packet \[ppm\]; the default is the first.
const LEAKS: [u32; 4] = [200, 1_000, 3_000, 10_000];
/// The length of each run.
const LENGTH: Duration = Duration::from_secs(120);
/// The longest delay of a packet in addition to that of the fastest \[µs\].
const JITTER: u64 = 100;

/// The counts of the states of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    states: u32,
    /// The number of states that no moving command answers.
    rejected: u32,
    /// The number of times that the clock was mapped anew, which ends commanding.
    epochs: u32,
}

impl Figures {
    fn cell(self) -> String {
        let share = f64::from(self.rejected) / f64::from(self.states) * 100.0;
        if self.epochs == 0 { format!("{share:.2}") } else { format!("{share:.2}, {} ends", self.epochs) }
    }
}

/// Runs a link monitor on a quiet network, on which every state arrives, in order.
fn run(period: Duration, error: i64, leak_ppm: u32) -> Figures {
    let mut monitor = LinkMonitor::new(LinkConfig { leak_ppm, ..LinkConfig::stream(period) });
    let (mut figures, mut random) = (Figures::default(), 1_u32);
    for cycle in 0..LENGTH.as_micros() / period.as_micros() {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let sent = cycle * period.as_micros();
        let arrived = 1_000_000 + sent + u64::from(random >> 16) % JITTER;
        // The time of arrival in this device's clock.
        let read =
            Instant::from_micros(arrived.saturating_add_signed(i64::try_from(arrived).unwrap() * error / 1_000_000));
        let _ = monitor.tick(read);
        let _ = monitor.observe(ControllerTime::from_micros(sent), read, read);
        figures.states += 1;
        figures.rejected += u32::from(monitor.answer(read) != Answer::Moving);
        let _ = monitor.answered();
    }
    figures.epochs = monitor.epoch();
    figures
}

#[test]
fn a_clock_that_is_fast_by_more_than_the_leak_rejects_states_as_committed() {
    let mut text = String::from(
        "# A clock that is fast or slow\n\n\
         Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs clock`: a link monitor alone, its thresholds the defaults \
         for the period,\nfor 120 s of states that all come, up to 0.1 ms late.\n\n\
         Ages of states are judged by this device's clock. Where it is fast, every state seems older than the one before; the map of the\n\
         controller's clock leaks to make up for that, by 200 ppm as delivered (`leak_ppm`): enough for two crystals, and not for the\n\
         oscillator of a chip. A cell is the share of states that no moving command answers [%]; *ends* are the times that the clock was\n\
         mapped anew, each of which ends commanding.\n\n\
         A larger leak is no remedy: by as much as it leaks, a queue on the way to this device may grow unseen. With 10 000 ppm states \
         may be\n0.1 s old after 10 s, and seem new. So a board that runs by its chip's own oscillator is not asked to command \
         (`boards/README.md`).\n",
    );
    for period in PERIODS {
        text += &format!("\n## A state every {} ms\n\n", period.as_micros() / 1_000);
        let columns = ["clock [ppm]", "leak 200", "leak 1000", "leak 3000", "leak 10000"];
        let rows: Vec<_> = ERRORS
            .into_iter()
            .map(|error| {
                let figures = LEAKS.map(|leak| run(period, error, leak));
                for (leak, figures) in LEAKS.into_iter().zip(figures) {
                    if error <= i64::from(leak) {
                        assert_eq!((figures.rejected, figures.epochs), (0, 0), "{error} ppm, leak {leak}");
                    }
                }
                std::iter::once(format!("{error:+}")).chain(figures.map(Figures::cell)).collect()
            })
            .collect();
        text += &markdown(&columns, &rows);
    }
    // At the largest error that an oscillator may have, commanding cannot continue; therefore boards need a better
    // clock.
    for period in PERIODS {
        let figures = run(period, 10_000, LEAKS[0]);
        assert!(figures.rejected * 2 > figures.states || figures.epochs > 0, "{figures:?}");
    }
    hold("clock.md", &text);
}
