//! Limits the rate of a simulator's output lines about its clients, programs and faults, so that a client that
//! reconnects again and again does not flood terminal or disk.

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_sim::controller::EventKind;
use outrigger_sim::tcp::Running;
use outrigger_sim::time::SimTime;

use outrigger::show::Show;

/// The length of the period in which output lines are limited \[s\]. At its end the omitted lines are reported.
const SPAN: u64 = 10;
/// The largest number of output lines in a period of ten seconds, whatever their text.
const LINES: u32 = 30;

/// The limit on the output lines of a simulator. A line that is repeated within ten seconds is counted instead of
/// shown, and so is every line beyond thirty in ten seconds; the counts are reported in one line afterwards.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The end of the present period of ten seconds in which lines are limited.
    until: SimTime,
    shown: u32,
    /// The number of repetitions of each line that was shown in the present period.
    repeated: BTreeMap<String, u64>,
    /// The number of lines that exceeded the limit in the present period.
    left_out: u64,
}

impl Journal {
    /// Returns the output lines to show for `text`: the summary of a period that has ended, and the line itself unless
    /// it exceeds the limit.
    pub(super) fn line(&mut self, at: SimTime, text: String) -> Vec<String> {
        let mut lines = self.due(at);
        if let Some(count) = self.repeated.get_mut(&text) {
            *count += 1;
        } else if self.show(at, &text, &mut lines) {
            self.repeated.insert(text, 0);
        }
        lines
    }

    /// Returns the output lines to show for a change of the simulator's state. Such a line is shown even if it repeats,
    /// because the newest line must describe the present state.
    pub(super) fn change(&mut self, at: SimTime, text: &str) -> Vec<String> {
        let mut lines = self.due(at);
        self.show(at, text, &mut lines);
        lines
    }

    fn show(&mut self, at: SimTime, text: &str, lines: &mut Vec<String>) -> bool {
        let fits = self.shown < LINES;
        if fits {
            self.shown += 1;
            lines.push(format!("{at}: {text}"));
        } else {
            self.left_out += 1;
        }
        fits
    }

    /// Displays the events of a simulated controller since the last call, within the limit on output lines.
    pub(super) fn of_controller(&mut self, running: &Running, show: &mut Show) {
        let (now, (events, lost)) = {
            let mut controller = running.controller();
            (controller.now(), controller.take_events())
        };
        let shown = events.into_iter().filter(|event| !matches!(event.kind, EventKind::Message(_)));
        let lines = shown.flat_map(|event| self.line(event.at, event.kind.to_string()));
        lines.for_each(|line| show.text(line));
        self.lost(lost);
        self.due(now).into_iter().for_each(|line| show.text(line));
    }

    /// Counts output lines as omitted that the simulator dropped before they reached this limiter.
    const fn lost(&mut self, count: u64) {
        self.left_out = self.left_out.saturating_add(count);
    }

    /// Returns the summary of a period of limited output that has ended by `now`. Empty if it has not ended.
    pub(super) fn due(&mut self, now: SimTime) -> Vec<String> {
        if now < self.until { vec![] } else { self.summary(now) }
    }

    /// Ends the present period of limited output, and returns lines that report the numbers of repeated and omitted
    /// lines in it.
    pub(super) fn summary(&mut self, now: SimTime) -> Vec<String> {
        let repeated = std::mem::take(&mut self.repeated).into_iter().filter(|(_, count)| *count > 0);
        let mut lines: Vec<String> =
            repeated.map(|(text, count)| format!("{now}: {text}: {count} more within {SPAN} s")).collect();
        if self.left_out > 0 {
            lines.push(format!("{now}: {} other lines omitted within {SPAN} s", self.left_out));
        }
        *self = Self { until: now + Duration::from_secs(SPAN), ..Self::default() };
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SimTime {
        SimTime::from_millis(millis)
    }

    #[test]
    fn a_client_that_reconnects_in_a_loop_is_two_lines_and_two_counts_in_ten_seconds() {
        let mut journal = Journal::default();
        let mut shown = vec![];
        for turn in 0..1_000 {
            shown.extend(journal.line(at(20 * turn), "client 10.0.0.1 connected to port 30004".into()));
            shown.extend(journal.line(at(20 * turn + 10), "client 10.0.0.1 disconnected from port 30004".into()));
        }
        shown.extend(journal.due(at(20_000)));
        assert_eq!(shown.len(), 8, "{shown:#?}");
        assert_eq!(shown[0], "0.000 s: client 10.0.0.1 connected to port 30004");
        assert_eq!(shown[2], "10.000 s: client 10.0.0.1 connected to port 30004: 499 more within 10 s");
        assert_eq!(shown[4], "10.000 s: client 10.0.0.1 connected to port 30004");
    }

    #[test]
    fn a_state_that_comes_again_is_shown_again() {
        let mut journal = Journal::default();
        let shown: Vec<String> = ["off", "on", "off"].iter().flat_map(|state| journal.change(at(1), state)).collect();
        assert_eq!(shown, ["0.001 s: off", "0.001 s: on", "0.001 s: off"]);
        let shown: usize = (0..100).map(|_| journal.change(at(2), "on").len()).sum();
        assert_eq!(shown, 27);
    }

    #[test]
    fn lines_that_all_differ_are_limited_and_the_rest_is_counted() {
        let mut journal = Journal::default();
        let shown: usize = (0..500).map(|n| journal.line(at(n), format!("program `p{n}` received")).len()).sum();
        assert_eq!(shown, 30);
        journal.lost(7);
        assert_eq!(journal.due(at(9_999)), [""; 0]);
        assert_eq!(journal.due(at(10_000)), ["10.000 s: 477 other lines omitted within 10 s"]);
        assert_eq!(journal.due(at(30_000)), [""; 0], "nothing more was left out");
    }
}
