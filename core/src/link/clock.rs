//! The mapping of the controller's clock to ours, which gives the age of a state even if it is read late.

use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant, divided};

/// A map from controller time to our clock by the smallest offset seen, that of the fastest packet.
///
/// States queued during a stall and read later keep their true age: only their arrival is late, not the controller's
/// time stamps. The smallest offset increases slowly (leaks), so that states do not appear ever older if the
/// controller's clock is slower than ours.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ClockMap {
    leak_ppm: u32,
    hold: Duration,
    fit: Option<Fit>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Fit {
    /// Our clock minus the controller's \[µs\] for a packet with the shortest transit time.
    offset: i64,
    /// The accumulated increase of `offset` (leak) below 1 µs \[10⁻¹² s\].
    leaked: u64,
    newest: ControllerTime,
    arrival: Instant,
    late: Option<Late>,
}

/// A run of consecutive late states: when it began, and the range of its offsets \[µs\].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Late {
    since: Instant,
    least: i64,
    most: i64,
}

/// The result of observing the arrival of one state of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The age of the state on arrival.
    Age(Duration),
    /// States have arrived at their normal rate, but late by the same amount for so long that the controller's clock
    /// must have stopped for a while: the mapping of the two clocks starts anew.
    Shifted,
}

impl ClockMap {
    pub(super) const fn new(leak_ppm: u32, hold: Duration) -> Self {
        Self { leak_ppm, hold, fit: None }
    }

    /// Processes the time stamp of an accepted state and returns the state's age, or that the controller's clock has
    /// stopped meanwhile. A state older than `late` counts as late.
    pub(super) fn observe(&mut self, stamp: ControllerTime, arrival: Instant, late: Duration) -> Reading {
        let offset = signed(arrival.as_micros()).saturating_sub(signed(stamp.as_micros()));
        let Some(fit) = &mut self.fit else {
            self.fit = Some(Fit { offset, leaked: 0, newest: stamp, arrival, late: None });
            return Reading::Age(Duration::ZERO);
        };
        fit.leak(arrival, self.leak_ppm);
        fit.offset = fit.offset.min(offset);
        fit.newest = stamp;
        fit.arrival = arrival;
        let age = span(offset.saturating_sub(fit.offset));
        if age <= late {
            fit.late = None;
            return Reading::Age(age);
        }
        let run = fit.late.get_or_insert(Late { since: arrival, least: offset, most: offset });
        run.least = run.least.min(offset);
        run.most = run.most.max(offset);
        if arrival.since(run.since) >= self.hold {
            if span(run.most.saturating_sub(run.least)) <= late {
                self.restart(stamp, arrival);
                return Reading::Shifted;
            }
            // A queue is being drained, or the delay grows: a new run begins here.
            *run = Late { since: arrival, least: offset, most: offset };
        }
        Reading::Age(age)
    }

    pub(super) fn restart(&mut self, stamp: ControllerTime, arrival: Instant) {
        self.fit = None;
        let _ = self.observe(stamp, arrival, Duration::ZERO);
    }

    /// Returns the age of the newest accepted state at `now`; `None` before the first.
    pub(super) fn age(&self, now: Instant) -> Option<Duration> {
        let fit = self.fit.as_ref()?;
        let offset = signed(now.as_micros()).saturating_sub(signed(fit.newest.as_micros()));
        Some(span(offset.saturating_sub(fit.offset)))
    }

    /// Returns the time at which the newest accepted state is `age` old; `None` before the first.
    pub(super) fn when_aged(&self, age: Duration) -> Option<Instant> {
        let fit = self.fit.as_ref()?;
        let measured = signed(fit.newest.as_micros()).saturating_add(fit.offset);
        Some(Instant::from_micros(u64::try_from(measured).unwrap_or(0)) + age)
    }

    pub(super) fn newest(&self) -> Option<(ControllerTime, Instant)> {
        self.fit.as_ref().map(|fit| (fit.newest, fit.arrival))
    }
}

impl Fit {
    fn leak(&mut self, now: Instant, ppm: u32) {
        let picos = now.since(self.arrival).as_micros().saturating_mul(u64::from(ppm));
        let owed = self.leaked.saturating_add(picos);
        // In most cycles less than 1 µs leaks: no division is needed.
        if owed < 1_000_000 {
            self.leaked = owed;
            return;
        }
        let micros = divided(owed, 1_000_000);
        self.offset = self.offset.saturating_add(signed(micros));
        self.leaked = owed.wrapping_sub(micros.wrapping_mul(1_000_000));
    }
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

fn span(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Duration = Duration::from_millis(4);

    fn map() -> ClockMap {
        ClockMap::new(200, Duration::from_secs(2))
    }

    /// Returns the ages \[µs\] of states with these time stamps and arrivals \[µs\].
    fn ages(map: &mut ClockMap, pairs: &[(u64, u64)]) -> Vec<Option<u64>> {
        let mut out = Vec::new();
        for (stamp, arrival) in pairs {
            let at = Instant::from_micros(*arrival);
            out.push(match map.observe(ControllerTime::from_micros(*stamp), at, LATE) {
                Reading::Age(age) => Some(age.as_micros()),
                Reading::Shifted => None,
            });
        }
        out
    }

    #[test]
    fn a_backlog_read_at_once_is_as_old_as_it_is() {
        let pairs = [(0, 1_000), (2_000, 3_000), (4_000, 45_000), (6_000, 45_000), (44_000, 45_000)];
        // 8 µs leaked in the 42 ms of silence.
        assert_eq!(ages(&mut map(), &pairs), [0, 0, 39_992, 37_992, 0].map(Some));
    }

    #[test]
    fn the_fastest_packet_sets_the_mark_for_the_others() {
        let pairs = [(0, 5_000), (2_000, 6_500), (4_000, 9_000)];
        assert_eq!(ages(&mut map(), &pairs), [0, 0, 500].map(Some));
    }

    #[test]
    fn a_controller_clock_slower_by_100_ppm_ages_nothing() {
        let mut map = map();
        for cycle in 0..100_000_u64 {
            let arrival = Instant::from_micros(cycle * 2_000 + cycle / 5);
            let Reading::Age(age) = map.observe(ControllerTime::from_micros(cycle * 2_000), arrival, LATE) else {
                panic!("drift is no shift");
            };
            assert!(age.as_micros() <= 1, "{age:?} in cycle {cycle}");
        }
    }

    #[test]
    fn a_clock_that_stood_still_for_a_second_is_mapped_anew_after_the_hold() {
        let mut map = map();
        let mut shifted = 0;
        for cycle in 0..2_000_u64 {
            let pause = if cycle < 100 { 0 } else { 1_000_000 };
            let reading = ages(&mut map, &[(cycle * 2_000, cycle * 2_000 + pause)]);
            shifted += u32::from(reading == [None]);
            if cycle > 1_200 {
                assert_eq!(reading, [Some(0)]);
            }
        }
        assert_eq!(shifted, 1);
    }

    #[test]
    fn falling_behind_further_and_further_is_never_taken_for_a_shift() {
        let mut map = map();
        for cycle in 0..5_000_u64 {
            // The clock is one percent too slow, like a growing queue.
            let reading = ages(&mut map, &[(cycle * 2_000, cycle * 2_020)]);
            assert_ne!(reading, [None], "cycle {cycle}");
        }
    }

    #[test]
    fn age_goes_on_while_nothing_arrives() {
        let mut map = map();
        assert_eq!(map.age(Instant::ZERO), None);
        let _ = ages(&mut map, &[(0, 1_000), (2_000, 3_500)]);
        assert_eq!(map.age(Instant::from_micros(13_000)), Some(Duration::from_millis(10)));
        assert_eq!(map.when_aged(Duration::from_millis(10)), Some(Instant::from_micros(13_000)));
    }
}
