//! What the controller has not acknowledged, and what that means.

use super::links::LINKS;
use crate::engine::io::LinkId;
use crate::time::{Duration, Instant};

/// The newest report about one link.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
struct Report {
    bytes: u32,
    since: Instant,
}

/// The newest reports about each link.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Unacked {
    links: [Report; LINKS.len()],
}

impl Unacked {
    /// So many bytes wait, the oldest for so long.
    pub(super) fn report(&mut self, link: LinkId, bytes: u32, age: Duration, now: Instant) {
        if let Some(report) = self.links.get_mut(link.index()) {
            *report = Report { bytes, since: now - age };
        }
    }

    /// Nothing waits on the link, or it has another connection.
    pub(super) fn clear(&mut self, link: LinkId) {
        self.report(link, 0, Duration::ZERO, Instant::ZERO);
    }

    /// Since when bytes wait on the link; `None` where none do.
    pub(super) fn since(&self, link: LinkId) -> Option<Instant> {
        self.links.get(link.index()).filter(|report| report.bytes > 0).map(|report| report.since)
    }

    /// For how long the oldest waits; zero where nothing does.
    pub(super) fn age(&self, link: LinkId, now: Instant) -> Duration {
        self.since(link).map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Whether bytes wait on any link; mostly none do.
    pub(super) fn is_waiting(&self) -> bool {
        self.links.iter().any(|report| report.bytes > 0)
    }

    /// Links on which bytes wait, with since when.
    pub(super) fn waiting(self) -> impl Iterator<Item = (LinkId, Instant)> {
        LINKS.into_iter().filter_map(move |link| Some((link, self.since(link)?)))
    }
}
