//! `[serve]`: states and events for others, over TCP.

use std::net::SocketAddr;

use outrigger_core::settings;

use crate::reader::Section;

settings! {
    /// Who may read what this process reads. Nobody by default.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ServeSettings in "serve." {
        /// Where readers connect to; `None` listens nowhere.
        pub listen nowhere: Option<SocketAddr> = None,
        /// How many may read at the same time.
        pub readers: usize [1 to 1000] = 32,
    }
}

impl ServeSettings {
    pub(crate) fn of(section: Section<'_, '_>) -> Self {
        section.settings(|serve: &mut Self, section| {
            let what = "an address and port to listen on, e.g. \"127.0.0.1:5555\"";
            serve.listen = section.text("listen", what).and_then(|text| {
                let parsed = text.parse().ok();
                if parsed.is_none() {
                    section.complain("listen", what);
                }
                parsed
            });
            serve.read(section);
        })
    }
}
