//! The state of an operator's electrical line, at an input of the robot or a pin: its level, and the time since which
//! it has that level.

use outrigger_wire::time::{Duration, Instant};

/// The level of an operator's electrical line, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Line {
    /// The level of the operator's line is not known: no state since the start of this device has shown it, or the
    /// latest states were too old or missing.
    Unknown,
    /// The operator's line has been low since that time, in this number of states.
    Low { since: Instant, states: u8 },
    /// The operator's line is high.
    High,
}

/// A rising edge of an operator's electrical line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rise {
    /// The time since which the operator's line had been low before it rose.
    pub(super) low_since: Instant,
}

impl Line {
    /// Updates the level of the operator's line by one more state, and returns its rise, if any. A line that was not
    /// seen low before does not rise.
    pub(super) fn see(&mut self, high: bool, now: Instant) -> Option<Rise> {
        self.take(high, now, 1)
    }

    /// Updates the level of the operator's line by a level that has settled, so that a single reading is enough;
    /// returns its rise, if any.
    pub(super) fn see_settled(&mut self, high: bool, now: Instant) -> Option<Rise> {
        self.take(high, now, u8::MAX)
    }

    /// Updates the level of the operator's line by a state that is too old to count: a high level ends a known low one,
    /// and the level is then unknown.
    pub(super) const fn see_old(&mut self, high: bool) {
        if high && matches!(self, Self::Low { .. }) {
            *self = Self::Unknown;
        }
    }

    pub(super) const fn is_high(self) -> bool {
        matches!(self, Self::High)
    }

    /// Returns `true` if the operator's line was low in at least `least` states in a row.
    pub(super) const fn is_low_in(self, least: u8) -> bool {
        matches!(self, Self::Low { states, .. } if states >= least)
    }

    fn take(&mut self, high: bool, now: Instant, looks: u8) -> Option<Rise> {
        let before = *self;
        *self = match (before, high) {
            (_, true) => Self::High,
            (Self::Low { since, states }, false) => Self::Low { since, states: states.saturating_add(looks) },
            (Self::Unknown | Self::High, false) => Self::Low { since: now, states: looks },
        };
        match before {
            Self::Low { since, .. } if high => Some(Rise { low_since: since }),
            Self::Unknown | Self::Low { .. } | Self::High => None,
        }
    }
}

/// The filter that derives a settled level from readings of a contact that bounces.
#[derive(Clone, Copy, Debug)]
pub struct Debounce {
    filter: Duration,
    /// The newest reading of the contact, and the time since which all readings were equal.
    newest: Option<(bool, Instant)>,
    settled: Option<bool>,
}

impl Debounce {
    /// Creates a debouncer of a contact: a level counts once every reading for `filter` has shown it.
    #[must_use]
    pub const fn new(filter: Duration) -> Self {
        Self { filter, newest: None, settled: None }
    }

    /// Takes a reading of the contact. Returns the level when it has settled to another value, or for the first time;
    /// otherwise `None`.
    pub fn look(&mut self, high: bool, now: Instant) -> Option<bool> {
        let since = self.newest.filter(|(level, _)| *level == high).map_or(now, |(_, since)| since);
        self.newest = Some((high, since));
        if self.settled == Some(high) || now.since(since) < self.filter {
            return None;
        }
        self.settled = Some(high);
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(5);

    fn at(number: u64) -> Instant {
        Instant::ZERO + LOOK.times(number)
    }

    /// Returns the settled levels for a drawing of readings every 5 ms: `#` is high, `.` is low.
    fn settled(looks: &str) -> String {
        let mut contact = Debounce::new(Duration::from_millis(20));
        let looks = (0..).zip(looks.chars());
        let settled = looks.filter_map(|(number, look)| contact.look(look == '#', at(number)));
        settled.map(|high| if high { '#' } else { '.' }).collect()
    }

    #[test]
    fn a_contact_that_bounces_settles_once() {
        assert_eq!(settled(".....######.#.##.#####....."), ".#.");
        assert_eq!(settled("#.#.#.#.#.####"), "");
        assert_eq!(settled("#####"), "#");
        assert_eq!(settled("#####.##.#..#"), "#", "a spike is none");
        assert_eq!(settled("#####....#"), "#", "15 ms are too few");
    }

    #[test]
    fn a_line_that_was_not_seen_low_does_not_rise() {
        let mut line = Line::Unknown;
        assert_eq!([true, true, false, false].map(|high| line.see(high, at(1))), [None; 4]);
        assert_eq!(line.see(true, at(2)), Some(Rise { low_since: at(1) }));
    }

    #[test]
    fn an_old_state_spends_a_rise_and_shows_no_low() {
        let mut line = Line::Unknown;
        line.see(false, at(1));
        line.see_old(true);
        assert_eq!(line.see(true, at(2)), None);
        line.see_old(false);
        assert!(line.is_high());
    }

    #[test]
    fn low_counts_in_states_and_settled_at_once() {
        let mut line = Line::High;
        line.see(false, at(1));
        assert_eq!([1, 2].map(|least| line.is_low_in(least)), [true, false]);
        line.see(false, at(2));
        assert!(line.is_low_in(2));
        line.see_settled(true, at(3));
        line.see_settled(false, at(4));
        assert!(line.is_low_in(10));
    }
}
