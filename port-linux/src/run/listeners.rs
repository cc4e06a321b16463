//! Who listens to a run beside its operator: the recorder and the readers of `[serve]`, each on a thread of its own.

use std::path::Path;
use std::sync::Arc;

use outrigger_config::ServeSettings;

use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::feed::{Feed, Progress};
use crate::page::ENTRIES;
use crate::record::Recorder;
use crate::serve::Server;
use crate::show::{Format, tell};

/// A remark about a listener at the start: kind, text, fields.
type Remark = (&'static str, String, Vec<(&'static str, String)>);

/// Those that were asked for.
pub(super) struct Listeners {
    feed: Feed,
    /// Whether anybody wants the bytes, too.
    bytes: bool,
    /// For the connection of further variables.
    variables: Option<Feed>,
    recorder: Option<Recorder>,
    server: Option<Server>,
}

/// What the loop needs of them.
pub(super) struct Listening {
    pub(super) feed: Feed,
    /// Whether anybody wants what arrives and goes out, too: a page wants events alone.
    pub(super) bytes: bool,
    /// For the connection of further variables, where there are some.
    pub(super) variables: Option<Feed>,
    pub(super) progress: Option<Arc<Progress>>,
    pub(super) remarks: Vec<Remark>,
}

/// Who else hears of a run.
pub(super) struct Further {
    /// A node of ROS 2.
    pub(super) node: bool,
    /// A page in a browser, which hears of events alone.
    pub(super) page: bool,
}

impl Listeners {
    /// Starts those that the configuration of a run beside `robot` asks for, with a queue of `capacity` entries, and another one
    /// for `variables`, or for a `node` of ROS 2. A `page` hears events alone. `None` where
    /// nobody is to listen.
    ///
    /// # Errors
    /// [`Failure::BadInput`] for a file or an address that cannot be had, and for variables without a file.
    pub(super) fn start(
        robot: &str,
        record: Option<&Path>,
        variables: &[String],
        serve: &ServeSettings,
        Further { node, page }: Further,
        capacity: usize,
        clock: Clock,
    ) -> Result<Option<Self>, Failure> {
        if record.is_none() && !variables.is_empty() {
            let what = "run.record_variables is for a recording: say run.record = FILE, or run with --record FILE";
            return Err(Failure::BadInput(what.into()));
        }
        let bytes = record.is_some() || serve.listen.is_some() || node;
        if !bytes && !page {
            return Ok(None);
        }
        let capacity = if bytes { capacity } else { ENTRIES };
        let (feed, variables) = if variables.is_empty() && !node {
            (Feed::new(capacity), None)
        } else {
            // Of a thread of its own, for which the one that commands does not wait.
            let (feed, variables) = Feed::pair(capacity);
            (feed, Some(variables))
        };
        let recorder = match record {
            Some(path) => Some(Recorder::start(path, feed.reader(), clock, robot, true)?),
            None => None,
        };
        let server = match serve.listen {
            Some(listen) => Some(Server::start(listen, serve.readers, feed.reader(), clock.origin_unix_nanos())?),
            None => None,
        };
        Ok(Some(Self { feed, bytes, variables, recorder, server }))
    }

    pub(super) fn feed(&self) -> Listening {
        let recording = self
            .recorder
            .as_ref()
            .map(|recorder| ("record", format!("recording to {}", recorder.path().display()), vec![]));
        let serving = self.server.as_ref().map(|server| {
            let address = server.address().to_string();
            ("serve", format!("states and events for readers at {address}"), vec![("address", address)])
        });
        Listening {
            feed: self.feed.clone(),
            bytes: self.bytes,
            variables: self.variables.clone(),
            progress: self.recorder.as_ref().map(Recorder::progress),
            remarks: recording.into_iter().chain(serving).collect(),
        }
    }

    /// Ends them.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the recording is not complete.
    pub(super) fn finish(self, format: Format) -> Outcome {
        let Self { feed, bytes: _, variables, recorder, server } = self;
        drop((feed, variables));
        let recorded = recorder.map(Recorder::finish).transpose();
        if let Some(server) = server {
            server.finish();
        }
        match recorded? {
            Some(said) if matches!(format, Format::View | Format::Lines) => tell(&format!("{said}\n")),
            _ => Ok(()),
        }
    }
}
