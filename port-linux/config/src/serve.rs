//! `[serve]`: states and events for others, over TCP.

use std::net::SocketAddr;

use crate::reader::Section;

/// Who may read what this process reads. Nobody by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeSettings {
    /// Where readers connect to; `None` listens nowhere.
    pub listen: Option<SocketAddr>,
    /// How many may read at the same time.
    pub readers: usize,
}

/// Readers at the same time, where nothing is said.
const READERS: i64 = 32;

impl ServeSettings {
    pub(crate) fn read(mut section: Section<'_, '_>) -> Self {
        let what = "an address and port to listen on, e.g. \"127.0.0.1:5555\"";
        let listen = section.text("listen", what).and_then(|text| {
            let parsed = text.parse().ok();
            if parsed.is_none() {
                section.complain("listen", what);
            }
            parsed
        });
        let readers = section.integer("readers", Some(READERS), 1..=1_000);
        section.finish();
        Self { listen, readers: readers.and_then(|n| usize::try_from(n).ok()).unwrap_or_default() }
    }
}
