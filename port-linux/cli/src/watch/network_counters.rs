//! Describes the counters of a board's network controller, and what to check.

use outrigger_remote::telemetry::{NetworkCounts, PortReport};

/// The section of the documentation with more information about network failures.
const PAGE: &str = "boards/README.md, 'When the network fails'";

/// The newest counters of a board's network controller, and the counts already reported to the user.
#[derive(Debug, Default)]
pub(super) struct Network {
    frames: u32,
    counts: NetworkCounts,
    /// The number of restarts of the network controller because nothing was received.
    in_silence: u32,
    told: NetworkCounts,
    told_in_silence: u32,
}

impl Network {
    /// Stores the counters in a report of the board, and returns a line for each counter that is to be reported: when
    /// it is first above zero, and whenever it has doubled.
    pub(super) fn take(&mut self, report: &PortReport<'_>) -> Vec<String> {
        (self.frames, self.counts, self.in_silence) = (report.frames, report.network, report.interface_restarts);
        let NetworkCounts { link_losses, timeouts, bus_errors, .. } = self.counts;
        let told = &mut self.told;
        let mut lines = Vec::new();
        let mut tell = |count: u32, known: &mut u32, words: &dyn Fn(String) -> String| {
            if count > 0 && count >= known.saturating_mul(2) && count != *known {
                *known = count;
                lines.push(words(times(count)));
            }
        };
        tell(link_losses, &mut told.link_losses, &|times| {
            format!(
                "its network link was lost, {times} since it was started: check the cable, its plugs and the switch"
            )
        });
        tell(timeouts, &mut told.timeouts, &|times| {
            format!("its network chip did not execute a command in time, {times} since it was started: {PAGE}")
        });
        tell(bus_errors, &mut told.bus_errors, &|times| {
            format!(
                "its network chip could not be reached or had lost its settings, {times} since it was started: check \
                 the wires to it and its supply: {PAGE}"
            )
        });
        tell(self.in_silence, &mut self.told_in_silence, &|times| {
            format!(
                "it had a network link but received nothing for a long time, and restarted its network chip, {times} \
                 since it was started: is the robot on, and on this network? {PAGE}"
            )
        });
        lines
    }

    /// Returns the number of received frames and the other counters that are not zero, as a text for people.
    pub(super) fn summary(&self) -> String {
        let NetworkCounts { bad, unsent, link_losses, timeouts, bus_errors, restarts } = self.counts;
        let mut text = format!("{} frames received", self.frames);
        for (count, what) in [
            (bad, "unusable"),
            (unsent, "not sent"),
            (link_losses, "link lost"),
            (timeouts, "chip too late"),
            (bus_errors, "chip not reached"),
            (restarts, "chip restarted"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {what} {count}"));
            }
        }
        text
    }

    /// Returns all counters of the network controller with their names, for scripts.
    pub(super) fn counters(&self) -> [(&'static str, u64); 8] {
        let NetworkCounts { bad, unsent, link_losses, timeouts, bus_errors, restarts } = self.counts;
        [
            ("frames", self.frames.into()),
            ("bad_frames", bad.into()),
            ("unsent_frames", unsent.into()),
            ("link_losses", link_losses.into()),
            ("network_timeouts", timeouts.into()),
            ("network_bus_errors", bus_errors.into()),
            ("network_restarts", restarts.into()),
            ("interface_restarts", self.in_silence.into()),
        ]
    }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(network: NetworkCounts, interface_restarts: u32) -> PortReport<'static> {
        PortReport { frames: 1_000, network, interface_restarts, ..PortReport::default() }
    }

    #[test]
    fn each_thing_is_told_in_words_once_and_again_when_its_number_has_doubled() {
        let mut network = Network::default();
        assert_eq!(network.take(&report(NetworkCounts::default(), 0)), [""; 0]);
        let one = NetworkCounts { link_losses: 1, timeouts: 1, bus_errors: 1, ..NetworkCounts::default() };
        let lines = network.take(&report(one, 1));
        let words = [
            "check the cable",
            "did not execute a command in time",
            "had lost its settings",
            "received nothing for a long time",
        ];
        assert_eq!(lines.len(), words.len(), "{lines:?}");
        for (line, words) in lines.iter().zip(words) {
            assert!(line.contains(words) && line.contains(", once since it was started"), "{line}");
        }
        assert_eq!(network.take(&report(one, 1)), [""; 0]);
        let told: Vec<u32> = (2..=40)
            .filter(|link_losses| {
                let lines = network.take(&report(NetworkCounts { link_losses: *link_losses, ..one }, 1));
                assert!(lines.iter().all(|line| line.contains(&format!("{link_losses} times"))), "{lines:?}");
                !lines.is_empty()
            })
            .collect();
        assert_eq!(told, [2, 4, 8, 16, 32]);
    }

    #[test]
    fn what_is_nought_is_not_shown_on_the_terminal_and_told_to_programs() {
        let mut network = Network::default();
        network.take(&report(NetworkCounts { bad: 3, restarts: 2, ..NetworkCounts::default() }, 2));
        assert_eq!(network.summary(), "1000 frames received, unusable 3, chip restarted 2");
        assert_eq!(network.counters().iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1000, 3, 0, 0, 0, 0, 2, 2]);
    }

    #[test]
    fn the_section_to_read_is_there() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/README.md")).unwrap();
        assert!(page.contains("## When the network fails"));
    }
}
