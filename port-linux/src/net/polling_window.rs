//! Chooses when a control loop polls for the next robot state instead of sleeping: the setting `busy_poll = "auto"`.

use outrigger_wire::time::{Duration, Instant};

/// The number of states from which each prediction of the following ones is made.
const BLOCK: usize = 32;
/// The most processor time that polling may take, of the period of the states \[%\].
const MOST: u64 = 5;
/// The processor time above which the window becomes shorter, of the period of the states \[%\].
const AIM: u64 = 4;
/// The least time of polling before the earliest and after the latest usual arrival.
const LEAST: Duration = Duration::from_micros(10);
/// The number of blocks after which it is decided whether polling pays.
const TRIAL: usize = 16;
/// The least share of states that must arrive while the loop polls, so that it goes on polling \[%\].
const PAYS: usize = 50;
/// The shortest and the longest time for which the loop sleeps before it tries again, once polling did not pay. Each is
/// twice as long as the one before, until polling pays again.
const RESTS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(64));

/// The arrival of a robot state, and what the loop did while it waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    /// The expected period of the states.
    pub(super) period: Duration,
    /// The time for which the loop has polled since the state before.
    pub(super) polled: Duration,
    /// The delay with which the loop began to poll.
    pub(super) overslept: Duration,
    /// `true` if the loop was polling when the state arrived.
    pub(super) caught: bool,
}

/// A window of time around each expected state in which the loop polls. It learns from the arrivals when the next state
/// is due and how exact that is, and takes at most [`MOST`] of a processor.
///
/// Everything is learned from the median and the quantiles of [`BLOCK`] states, which a few late ones do not change:
/// states that a loaded processor delays, or that are late by the time that it takes to wake a sleeping thread.
#[derive(Clone, Debug)]
pub(super) struct PollingWindow {
    /// The time at which the first state of this block was due.
    first: Option<Instant>,
    /// The arrival of the newest state.
    newest: Option<Instant>,
    /// The interval between each state of this block and the one before it \[µs\].
    intervals: [i64; BLOCK],
    /// The learned period of the states \[ns\].
    period: i64,
    /// The difference between the actual and the predicted arrival of each state of this block \[µs\].
    late: [i64; BLOCK],
    /// `true` if the last block was predicted, and spread, within the time for which the loop may poll.
    settled: bool,
    /// The number of states in this block.
    states: usize,
    /// The usual arrivals of the last block, relative to their median: the earliest and the latest \[µs\].
    usual: (i64, i64),
    /// The number of states of this block that arrived while the loop polled.
    caught: usize,
    /// The polling time of this block.
    polled: Duration,
    /// The delay with which the loop began to poll, for each state of this block for which it did.
    overslept: [Duration; BLOCK],
    /// The number of these states.
    polled_for: usize,
    /// The time by which the loop is woken early because it oversleeps.
    wakes_early: Duration,
    /// The time of polling before the earliest and after the latest usual arrival: longer after a block of which a
    /// state was missed, and shorter after one that took more than [`AIM`].
    margin: Duration,
    /// The present trial.
    trial: Trial,
    /// The time until which the loop sleeps because polling did not pay, and the length of the next such time.
    rests_until: Option<Instant>,
    next_rest: Duration,
}

/// A trial of whether polling pays.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    blocks: usize,
    /// The number of states that arrived while the loop polled.
    caught: usize,
    polled: Duration,
}

impl Trial {
    /// Adds a block of which so many states were caught, and its polling time. Returns, at the end of a trial, whether
    /// polling has paid: it caught enough states, and took at most `most` for each. The next trial follows.
    fn add(&mut self, caught: usize, polled: Duration, most: Duration) -> Option<bool> {
        self.caught += caught;
        self.polled = self.polled + polled;
        self.blocks += 1;
        if self.blocks < TRIAL {
            return None;
        }
        let states = self.blocks * BLOCK;
        let pays = self.caught * 100 >= PAYS * states && self.polled <= most.times(states as u64);
        *self = Self::default();
        Some(pays)
    }
}

impl PollingWindow {
    pub(super) const fn new() -> Self {
        Self {
            first: None,
            newest: None,
            intervals: [0; BLOCK],
            period: 0,
            late: [0; BLOCK],
            settled: false,
            states: 0,
            usual: (0, 0),
            caught: 0,
            polled: Duration::ZERO,
            overslept: [Duration::ZERO; BLOCK],
            polled_for: 0,
            wakes_early: Duration::from_micros(50),
            margin: LEAST,
            trial: Trial { blocks: 0, caught: 0, polled: Duration::ZERO },
            rests_until: None,
            next_rest: RESTS.0,
        }
    }

    /// Records the arrival of a state, and returns the time from which and until which the loop is to poll for the next
    /// one. Returns `None` if it is to sleep.
    pub(super) fn next(&mut self, arrival: Arrival) -> Option<(Instant, Instant)> {
        let slot = self.record(&arrival);
        let after = if self.states < BLOCK { slot + 1 } else { self.learn(&arrival, slot) };
        if self.rests_until.is_some_and(|until| arrival.at >= until) {
            self.rests_until = None;
        }
        let due = self.due(after).filter(|_| self.polls())?;
        let (early, late) = self.usual;
        let most = arrival.period.percent(MOST);
        Some((due - micros(-early) - self.margin - self.wakes_early, due + (micros(late) + self.margin).min(most)))
    }

    const fn polls(&self) -> bool {
        self.settled && self.rests_until.is_none()
    }

    /// Records when the state arrived, and returns its number in the block, counted in periods.
    fn record(&mut self, arrival: &Arrival) -> i64 {
        let usual = nanos(arrival.period);
        // The expected period is a little short; another rate of states is far from it. After a pause the phase is another.
        let another = self.period * 5 < usual * 4 || self.period * 4 > usual * 5;
        let pause = self.newest.is_some_and(|newest| arrival.at.since(newest) > arrival.period.times(BLOCK as u64));
        if another || pause {
            *self = Self {
                period: if another { usual } else { self.period },
                rests_until: self.rests_until,
                next_rest: self.next_rest,
                ..Self::new()
            };
        }
        let newest = self.newest.replace(arrival.at).unwrap_or(arrival.at - arrival.period);
        let first = *self.first.get_or_insert(arrival.at);
        let since = nanos(arrival.at.since(first)) - nanos(first.since(arrival.at));
        let slot = (since + self.period / 2).div_euclid(self.period);
        self.late[self.states] = (since - slot * self.period) / 1_000;
        self.intervals[self.states] = nanos(arrival.at.since(newest)) / 1_000;
        self.states += 1;
        if arrival.polled > Duration::ZERO {
            self.overslept[self.polled_for] = arrival.overslept;
            self.polled_for += 1;
        }
        self.polled = self.polled + arrival.polled;
        self.caught += usize::from(arrival.caught);
        slot
    }

    /// Returns the time at which the state with this number in the block is due.
    fn due(&self, slot: i64) -> Option<Instant> {
        let after = slot.saturating_mul(self.period) / 1_000;
        Some(self.first? + micros(after) - micros(-after))
    }

    /// Returns the mean period of the states of this block \[ns\].
    fn mean_period(&mut self) -> i64 {
        let since: i64 = self.intervals.iter().sum();
        self.intervals.sort_unstable();
        let median = self.intervals[BLOCK / 2].max(1);
        // The states that did not arrive count, too.
        since * 1_000 / ((since + median / 2) / median).max(1)
    }

    /// Adapts the prediction to the states of this block, and begins the next one. Returns the number of the next state
    /// in it.
    fn learn(&mut self, arrival: &Arrival, slot: i64) -> i64 {
        let most = arrival.period.percent(MOST);
        self.late.sort_unstable();
        let median = self.late[BLOCK / 2];
        self.usual = (self.late[BLOCK / 16] - median, self.late[BLOCK - 1 - BLOCK / 16] - median);
        self.settled = micros(median.abs().max(-self.usual.0)) < most;
        self.first = self.due(slot).map(|due| due + micros(median) - micros(-median));
        self.period = if self.settled {
            // An eighth of the difference: the median of a block differs from that of the next one by chance, too.
            self.period + median * 1_000 / (8 * slot.max(1))
        } else {
            self.mean_period()
        };
        self.wakes_early = self.early_by().min(most);
        let cost = Duration::from_micros(self.polled.as_micros() / BLOCK as u64);
        self.margin = match () {
            () if cost > arrival.period.percent(AIM) => self.margin.percent(75),
            () if self.caught < BLOCK => self.margin.percent(125),
            () => self.margin.percent(90),
        };
        self.margin = self.margin.max(LEAST).min(most);
        let paid = if self.polls() { self.trial.add(self.caught, self.polled, most) } else { None };
        match paid {
            Some(true) => self.next_rest = RESTS.0,
            Some(false) => {
                self.rests_until = Some(arrival.at + self.next_rest);
                self.next_rest = self.next_rest.times(2).min(RESTS.1);
            }
            None => {}
        }
        (self.states, self.polled_for, self.caught, self.polled) = (0, 0, 0, Duration::ZERO);
        1
    }

    /// Returns the time by which the loop is to be woken early, after this block.
    fn early_by(&mut self) -> Duration {
        let (polls, enough) = (self.polls(), self.polled_for > BLOCK / 4);
        match self.overslept.get_mut(..self.polled_for) {
            Some(overslept) if enough => {
                overslept.sort_unstable();
                overslept[overslept.len() * 3 / 4]
            }
            // The states arrived before the loop was awake.
            _ if polls => self.wakes_early.percent(125) + LEAST,
            _ => self.wakes_early,
        }
    }
}

/// Returns a time of so many microseconds; zero for a negative number.
fn micros(number: i64) -> Duration {
    Duration::from_micros(number.max(0).unsigned_abs())
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX).saturating_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop that waits for the states of a controller with the help of a [`PollingWindow`].
    struct Waiting {
        window: PollingWindow,
        awake: Option<(Instant, Instant)>,
        random: u64,
        states: u64,
        caught: u64,
        polled: Duration,
    }

    impl Waiting {
        fn new() -> Self {
            let window = PollingWindow::new();
            Self { window, awake: None, random: 1, states: 0, caught: 0, polled: Duration::ZERO }
        }

        /// Returns a number of microseconds below `below`: usually a small one.
        fn random(&mut self, below: u64) -> Duration {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = |shift: u32| (self.random >> shift & 0xfff) * below / 4_096;
            Duration::from_micros(uniform(52).min(uniform(40)))
        }

        /// Waits for a state that arrives at `at`, and reads it `delay` later if it is not read at once.
        fn state(&mut self, at: Instant, period: Duration, delay: Duration) {
            let woken = self.random(80);
            let (mut polled, mut overslept, mut caught) = (Duration::ZERO, Duration::ZERO, false);
            if let Some((from, until)) = self.awake.filter(|(from, _)| *from + woken < at) {
                overslept = woken;
                caught = at < until && delay == Duration::ZERO;
                polled = if at < until { at } else { until }.since(from + woken);
            }
            let read = at + delay + if caught { Duration::from_micros(1) } else { Duration::from_micros(30) + woken };
            self.states += 1;
            self.caught += u64::from(caught);
            self.polled = self.polled + polled;
            self.awake = self.window.next(Arrival { at: read, period, polled, overslept, caught });
        }

        /// Returns the share of the states that were caught \[%\], and the share of a processor that polling took \[%\].
        /// Begins to count anew.
        fn shares(&mut self, period: Duration) -> (u64, u64) {
            let shares =
                (self.caught * 100 / self.states, self.polled.as_micros() * 100 / (self.states * period.as_micros()));
            (self.states, self.caught, self.polled) = (0, 0, Duration::ZERO);
            shares
        }
    }

    const PERIOD: Duration = Duration::from_micros(2_000);

    /// Sends `states` states whose period differs from that of the host by `drift` ppm, and which arrive up to `spread`
    /// late; one of `rarely` is read late by up to a millisecond.
    fn send(waiting: &mut Waiting, from: Instant, states: u64, drift: u64, spread: u64, rarely: u64) -> Instant {
        for state in 1..=states {
            let at = from + PERIOD.times(state) + Duration::from_micros(PERIOD.as_micros() * state * drift / 1_000_000);
            let at = at + waiting.random(spread);
            let delay = if state % rarely == 0 { waiting.random(1_000) } else { Duration::ZERO };
            waiting.state(at, PERIOD.percent(99), delay);
        }
        from + PERIOD.times(states + 1)
    }

    #[test]
    fn states_are_caught_by_little_polling_whatever_the_clock_of_the_controller() {
        for drift in [0, 30, 1_000] {
            let mut waiting = Waiting::new();
            let then = send(&mut waiting, Instant::from_micros(1_000_000), 1_000, drift, 20, 50);
            waiting.shares(PERIOD);
            send(&mut waiting, then, 10_000, drift, 20, 50);
            let (caught, polled) = waiting.shares(PERIOD);
            assert!(caught >= 95 && polled <= 4, "drift {drift}: {caught} % caught, {polled} % polled");
        }
    }

    #[test]
    fn states_of_an_unsteady_network_are_not_polled_for() {
        let mut waiting = Waiting::new();
        let then = send(&mut waiting, Instant::from_micros(1_000_000), 2_000, 0, 1_900, 50);
        waiting.shares(PERIOD);
        send(&mut waiting, then, 4_000, 0, 1_900, 50);
        assert_eq!(waiting.shares(PERIOD), (0, 0));
    }

    #[test]
    fn another_phase_and_lost_states_are_learned_within_half_a_second() {
        let mut waiting = Waiting::new();
        let mut then = send(&mut waiting, Instant::from_micros(1_000_000), 2_000, 10, 20, 50);
        for jump in [300, 700, 1_000, 1_500, 7_300, 100_000_900] {
            then = send(&mut waiting, then + Duration::from_micros(jump), 250, 10, 20, 50);
            waiting.shares(PERIOD);
            then = send(&mut waiting, then, 1_000, 10, 20, 50);
            let (caught, polled) = waiting.shares(PERIOD);
            assert!(caught >= 95 && polled <= 4, "after {jump} us: {caught} % caught, {polled} % polled");
        }
    }

    #[test]
    fn a_processor_that_is_busy_for_a_second_ends_polling_for_the_rest_alone() {
        let mut waiting = Waiting::new();
        let mut then = Instant::from_micros(1_000_000);
        for _ in 0..3 {
            then = send(&mut waiting, then, 1_000, 0, 20, 50);
            then = send(&mut waiting, then, 500, 0, 20, 1);
        }
        then = send(&mut waiting, then, 5_500, 0, 20, 50);
        waiting.shares(PERIOD);
        send(&mut waiting, then, 1_000, 0, 20, 50);
        let (caught, polled) = waiting.shares(PERIOD);
        assert!(caught >= 95 && polled <= 4, "{caught} % caught, {polled} % polled");
    }
}
