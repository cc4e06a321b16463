//! Stores the selected page of the full-screen view, and whether the words on it are being explained.
//!
//! The thread that reads keys changes these, and the thread that draws reads them; neither waits for the other.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

/// The state of the full-screen view that keys change: the selected page, and the explanation of its words, shown or
/// not, with its scroll position. The threads for keys and for drawing share it.
#[derive(Debug, Default)]
pub(super) struct ScrollState {
    page: AtomicU16,
    explains: AtomicBool,
    /// The number of rows by which the explanation of the words is scrolled down.
    scrolled: AtomicU16,
}

/// The effect of a key that only changes what the full-screen view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Show the page with this number, which is 0 for the first one.
    To(u16),
    /// Show the next page of the view.
    Next,
    /// Show the previous page of the view.
    Previous,
    /// Show or hide the explanation of the words on the page.
    Explain,
    /// Scroll the explanation of the words by this many rows, up (negative) or down.
    Scroll(i16),
}

impl ScrollState {
    /// Changes the view by the effect of a key. `pages` is the number of pages of the view.
    pub(super) fn turn(&self, turn: Turn, pages: u16) {
        let page = self.page.load(Ordering::Relaxed);
        let to = match turn {
            Turn::To(page) if page < pages => page,
            Turn::Next => (page + 1) % pages,
            Turn::Previous => page.checked_sub(1).unwrap_or(pages - 1),
            Turn::Explain => {
                self.scrolled.store(0, Ordering::Relaxed);
                self.explains.fetch_xor(true, Ordering::Relaxed);
                return;
            }
            Turn::Scroll(rows) => {
                let scrolled = self.scrolled.load(Ordering::Relaxed).saturating_add_signed(rows);
                self.scrolled.store(scrolled, Ordering::Relaxed);
                return;
            }
            Turn::To(_) => return,
        };
        self.page.store(to, Ordering::Relaxed);
        self.scrolled.store(0, Ordering::Relaxed);
    }

    /// Hides the explanation of the words. Returns `false` if it was not shown.
    pub(super) fn close(&self) -> bool {
        self.explains.swap(false, Ordering::Relaxed)
    }

    /// Returns the number of the selected page, which is 0 for the first one.
    pub(super) fn page(&self) -> u16 {
        self.page.load(Ordering::Relaxed)
    }

    /// Returns `true` if the explanation of the words on the page is shown.
    pub(super) fn explains(&self) -> bool {
        self.explains.load(Ordering::Relaxed)
    }

    /// Returns the number of rows by which the explanation is scrolled down, and limits it to `most` from now on.
    pub(super) fn scrolled(&self, most: u16) -> u16 {
        self.scrolled.fetch_min(most, Ordering::Relaxed).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_go_round_and_a_number_without_a_page_turns_nowhere() {
        let place = ScrollState::default();
        let seen = |turn| {
            place.turn(turn, 9);
            place.page()
        };
        assert_eq!([Turn::Previous, Turn::Next, Turn::To(4), Turn::To(9), Turn::Next].map(seen), [8, 0, 4, 4, 5]);
    }

    #[test]
    fn an_explanation_is_scrolled_no_further_than_its_end_and_begins_anew_on_each_page() {
        let place = ScrollState::default();
        place.turn(Turn::Explain, 9);
        place.turn(Turn::Scroll(-3), 9);
        assert_eq!(place.scrolled(5), 0);
        place.turn(Turn::Scroll(100), 9);
        assert_eq!(place.scrolled(5), 5);
        place.turn(Turn::Scroll(-1), 9);
        assert_eq!(place.scrolled(5), 4, "not from a hundred");
        place.turn(Turn::Next, 9);
        assert_eq!((place.scrolled(5), place.explains()), (0, true));
        assert_eq!((place.close(), place.close(), place.explains()), (true, false, false));
    }
}
