//! Push buttons and contacts: edges out of levels.

use embassy_time::{Duration, Ticker};

/// How often a contact is looked at. Looking costs the same however much it bounces; interrupts of a long cable beside a
/// welding torch would cost the control loop its time.
const PERIOD: Duration = Duration::from_millis(5);
/// Looks in a row, 20 ms, that must find the same level before it counts.
const LOOKS: u8 = 4;

/// Calls `pressed` each time the contact closes, for ever. One that is closed at boot, or stays closed, says nothing.
pub async fn watch(mut is_closed: impl FnMut() -> bool, mut pressed: impl FnMut()) -> ! {
    let mut contact = Contact::UNKNOWN;
    let mut ticker = Ticker::every(PERIOD);
    loop {
        ticker.next().await;
        if contact.look(is_closed()) {
            pressed();
        }
    }
}

/// A contact, and what the last looks at it found.
#[derive(Debug)]
struct Contact {
    /// It has been seen open for long enough since it was last closed.
    opened: bool,
    /// The newest level, and how many looks in a row have found it.
    level: bool,
    looks: u8,
}

impl Contact {
    const UNKNOWN: Self = Self { opened: false, level: false, looks: 0 };

    /// Takes in a level; whether this look makes it an edge.
    fn look(&mut self, closed: bool) -> bool {
        self.looks = if closed == self.level { self.looks.saturating_add(1) } else { 1 };
        self.level = closed;
        if self.looks < LOOKS {
            return false;
        }
        let edge = closed && self.opened;
        self.opened = !closed;
        edge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges in a drawing of levels: `#` is closed, `.` is open.
    fn edges(levels: &str) -> usize {
        let mut contact = Contact::UNKNOWN;
        levels.chars().filter(|level| contact.look(*level == '#')).count()
    }

    #[test]
    fn each_press_is_one_edge_however_long_it_lasts() {
        assert_eq!(edges("....####....##########...."), 2);
        assert_eq!(edges(&("....####".repeat(10) + &"#".repeat(1_000))), 10);
    }

    #[test]
    fn a_contact_that_is_closed_at_boot_says_nothing_until_it_was_open() {
        assert_eq!(edges("############"), 0);
        assert_eq!(edges("#.####.#..####"), 0);
        assert_eq!(edges("####....####"), 1);
    }

    #[test]
    fn bouncing_is_one_edge_and_spikes_are_none() {
        assert_eq!(edges("....#.##.#.######.#.#....#.#...."), 1);
        assert_eq!(edges("....#...##...###...#.#.#"), 0);
        assert_eq!(edges("....######.####..####...####"), 1);
    }
}
