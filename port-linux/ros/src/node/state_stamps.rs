//! Stamps states with the controller's clock, as the link monitor maps it onto ours.
//!
//! Ten times a second the monitor reports the age of the newest state by its map, which assumes that a state takes no
//! longer than the fastest one did. That map drifts upward, by some 20 µs between two reports, and falls back with
//! the next fast state. The offset computed here follows it slowly, so that stamps have the same intervals as the
//! controller's times.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::time::{Duration, Instant};

use outrigger::config::Stamps;
use outrigger::feed::{Message, VARIABLES};

/// The largest plausible age of a robot state when it is read \[µs\]; beyond it a clock has jumped.
const OLDEST: i64 = 1_000_000;
/// The smallest plausible age of a robot state when it is read \[µs\]; below it a clock has jumped.
const YOUNGEST: i64 = -5_000;

/// The divisor by which a change of the clocks' offset is smoothed: each report of the link corrects the stored offset
/// by the measured change divided by this number.
const SHARE: i64 = 8;
/// The change of the clocks' offset from which on the measured offset is used at once \[µs\].
const AT_ONCE: i64 = 1_000;

/// The mapping from the controller's clock to the process's clock, by their offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControllerClock {
    by: Stamps,
    /// The controller's time in the newest robot state \[µs\]. States of the connection that reads additional variables
    /// do not count.
    newest: Option<u64>,
    /// The offset of the clocks, ours minus the controller's \[µs\]; `None` until it is known.
    offset: Option<i64>,
}

impl ControllerClock {
    /// Creates the mapping from the controller's clock to the process's clock, whose offset is not known yet. `by`
    /// selects whether stamps have the time of arrival or the controller's time.
    pub(super) const fn new(by: Stamps) -> Self {
        Self { by, newest: None, offset: None }
    }

    /// Takes a robot state that arrived over the connection `port` and returns the time of its values. This is the time
    /// of arrival if that is configured, if the state has no time, until the offset is known, and if the two clocks are
    /// inconsistent.
    pub(super) fn state(&mut self, port: u16, message: &Message<'_>, arrival: Instant) -> Instant {
        if self.by == Stamps::Arrival {
            return arrival;
        }
        let mut controller = Time(None);
        message.visit_state(&mut controller);
        controller.0.map_or(arrival, |controller| self.time(port, controller, arrival))
    }

    fn time(&mut self, port: u16, controller: u64, arrival: Instant) -> Instant {
        if port != VARIABLES {
            self.newest = Some(controller);
        }
        let Some(offset) = self.offset else { return arrival };
        let time = signed(controller).saturating_add(offset);
        let age = signed(arrival.as_micros()).saturating_sub(time);
        if !(YOUNGEST..=OLDEST).contains(&age) {
            self.offset = None;
            return arrival;
        }
        u64::try_from(time).map_or(arrival, Instant::from_micros)
    }

    /// Updates the clocks' offset by the age of the newest robot state at `at`, as reported by the link monitor.
    /// Without an age, the offset is unknown afterwards.
    pub(super) fn link(&mut self, at: Instant, age: Option<Duration>) {
        let measured = age.zip(self.newest).map(|(age, newest)| {
            signed(at.as_micros()).saturating_sub(signed(age.as_micros())).saturating_sub(signed(newest))
        });
        self.offset = match (self.offset, measured) {
            (Some(offset), Some(measured)) if offset.abs_diff(measured) < AT_ONCE.unsigned_abs() => {
                Some(offset + (measured - offset) / SHARE)
            }
            (_, measured) => measured,
        };
    }
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

/// A visitor that extracts the controller's time \[µs\] from a robot state.
struct Time(Option<u64>);

impl FieldVisitor for Time {
    fn field(&mut self, name: &str, value: Value<'_>) {
        if let ("timestamp" | "time", Value::F64(seconds)) = (name, value)
            && seconds.is_finite()
            && seconds >= 0.0
        {
            self.0 = Some((seconds * 1e6).round() as u64);
        }
    }

    fn begin(&mut self, _: &str, _: Group) {}

    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 30_004;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn stamps_lie_apart_as_the_controllers_times_do_however_late_states_are_read() {
        let mut clock = ControllerClock::new(Stamps::Controller);
        // The offset is unknown before the first report of the link monitor.
        assert_eq!(clock.time(PORT, 5_000_000, at(100_400)), at(100_400));
        // According to the fastest state, the newest took 400 µs to arrive.
        clock.link(at(100_900), Some(Duration::from_micros(900)));
        for (controller, arrival, expected) in
            [(5_002_000, 102_100, 102_000), (5_004_000, 131_000, 104_000), (5_006_000, 131_001, 106_000)]
        {
            assert_eq!(clock.time(PORT, controller, at(arrival)), at(expected));
        }
        // States of another connection use the same clock, but the monitor has not seen them.
        assert_eq!(clock.time(VARIABLES, 5_007_000, at(132_000)), at(107_000));
        clock.link(at(132_000), Some(Duration::from_micros(26_000)));
        assert_eq!(clock.time(PORT, 5_008_000, at(133_000)), at(108_000));
        // The monitor's map has drifted by 16 µs, and then the clocks are found to be 2 ms farther apart.
        clock.link(at(133_000), Some(Duration::from_micros(24_984)));
        assert_eq!(clock.time(PORT, 5_010_000, at(134_000)), at(110_002));
        clock.link(at(134_000), Some(Duration::from_micros(22_000)));
        assert_eq!(clock.time(PORT, 5_012_000, at(135_000)), at(114_000));
    }

    #[test]
    fn a_clock_that_jumped_and_a_link_that_is_gone_leave_the_time_of_arrival() {
        let mut clock = ControllerClock::new(Stamps::Controller);
        clock.time(PORT, 5_000_000, at(100_000));
        clock.link(at(100_000), Some(Duration::ZERO));
        assert_eq!(clock.time(PORT, 5_002_000, at(102_000)), at(102_000));
        for controller in [0, 900_000_000] {
            let mut jumped = clock;
            assert_eq!(jumped.time(PORT, controller, at(104_000)), at(104_000));
            // The time of arrival is used until the monitor has measured again.
            assert_eq!(jumped.time(PORT, controller + 2_000, at(106_300)), at(106_300));
            jumped.link(at(106_300), Some(Duration::from_micros(300)));
            assert_eq!(jumped.time(PORT, controller + 4_000, at(108_300)), at(108_000));
        }
        clock.link(at(104_000), None);
        assert_eq!(clock.time(PORT, 5_004_000, at(104_700)), at(104_700));
    }
}
