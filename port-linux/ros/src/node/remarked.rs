//! Lines about what others on the domain do, limited in time: whoever does many things wrong fills no log.

use std::collections::VecDeque;

use outrigger_wire::time::{Duration, Instant};

use outrigger::host::pace::Pace;

/// A line that is repeated is shown again after this time.
const AGAIN: Duration = Duration::from_secs(5);
/// Lines that are known again.
const KNOWN: usize = 16;
/// Other lines: so many at once, and so many per second after them.
const AT_ONCE: f32 = 64.0;
const PER_SECOND: f32 = 1.0;

/// The limit on lines.
#[derive(Debug)]
pub(super) struct Remarked {
    /// The newest lines that were shown, with the time.
    known: VecDeque<(String, Instant)>,
    pace: Pace,
    left_out: u64,
}

impl Remarked {
    pub(super) fn new(now: Instant) -> Self {
        Self { known: VecDeque::with_capacity(KNOWN), pace: Pace::new(PER_SECOND, AT_ONCE, now), left_out: 0 }
    }

    /// Returns the line to show for `remark`, if there is one.
    pub(super) fn line(&mut self, remark: String, now: Instant) -> Option<String> {
        if self.known.iter().any(|(known, at)| *known == remark && now.since(*at) < AGAIN) {
            return None;
        }
        if !self.pace.take_now(now) {
            self.left_out = self.left_out.saturating_add(1);
            let is_shown = self.left_out.is_power_of_two();
            return is_shown.then(|| format!("lines about what others do that are left out: {} so far", self.left_out));
        }
        if self.known.len() == KNOWN {
            self.known.pop_front();
        }
        self.known.push_back((remark.clone(), now));
        Some(remark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_line_comes_again_after_a_while_also_where_another_is_between() {
        let mut remarked = Remarked::new(at(0));
        let mut shown = vec![];
        for millis in 0..10_001 {
            let remark = if millis % 2 == 0 { "one" } else { "other" };
            shown.extend(remarked.line(remark.to_owned(), at(millis)).map(|line| (millis, line)));
        }
        let expected = [(0, "one"), (1, "other"), (5_000, "one"), (5_001, "other"), (10_000, "one")];
        assert_eq!(shown, expected.map(|(millis, line)| (millis, line.to_owned())));
    }

    #[test]
    fn any_number_of_different_lines_is_bounded_in_time_and_memory() {
        let mut remarked = Remarked::new(at(0));
        let shown =
            (0..100_000).filter_map(|number| remarked.line(format!("{number}"), at(number))).collect::<Vec<_>>();
        assert!((160..=64 + 100 + 18).contains(&shown.len()), "{}", shown.len());
        assert!(shown.iter().any(|line| line.ends_with("left out: 65536 so far")));
        assert_eq!(remarked.known.len(), KNOWN);
    }
}
