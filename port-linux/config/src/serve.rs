//! The table `[serve]`: states and events for other programs, over TCP.

use std::net::SocketAddr;

use outrigger_core::settings;

use crate::reader::Section;

settings! {
    /// The TCP port for readers of states and events. By default there is none.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ServeSettings in "serve." {
        /// The local address and TCP port at which readers of states and events connect. `None` opens no port.
        pub listen nowhere: Option<SocketAddr> = None,
        /// The maximum number of programs that read states and events at the same time.
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
