//! The feed of a run, and the recorder that listens to it.

use std::sync::Arc;

use super::plan::Plan;
use crate::clock::Clock;
use crate::companion::Needs;
use crate::exit::{Failure, Outcome};
use crate::feed::{EVENTS, Feed, Progress, What};
use crate::record::Recorder;
use crate::show::{Format, tell};

/// A remark about a listener at the start: kind, text, fields.
type Remark = (&'static str, String, Vec<(&'static str, String)>);

/// What is put into a feed, where somebody listens to it.
pub(super) struct Listeners {
    feed: Feed,
    /// Whether anybody wants the bytes, too.
    bytes: bool,
    /// For the connection of further variables.
    variables: Option<Feed>,
    recorder: Option<Recorder>,
}

/// What the loop needs of them.
pub(super) struct Listening {
    pub(super) feed: Feed,
    /// Whether anybody wants what arrives and goes out, too.
    pub(super) bytes: bool,
    /// For the connection of further variables, where there are some.
    pub(super) variables: Option<Feed>,
    pub(super) progress: Option<Arc<Progress>>,
    pub(super) remark: Option<Remark>,
}

impl Listeners {
    /// Starts the recorder that `plan` asks for, with a queue of `capacity` entries for it and for companions with these `needs`.
    /// `None` where nobody is to listen.
    ///
    /// # Errors
    /// [`Failure::BadInput`] for a file that cannot be had, and for variables without a file.
    pub(super) fn start<const N: usize>(
        plan: &Plan<N>,
        needs: &Needs,
        capacity: usize,
        clock: Clock,
    ) -> Result<Option<Self>, Failure> {
        let record = plan.run.record.as_deref();
        if record.is_none() && !plan.run.record_variables.is_empty() {
            let what = "run.record_variables is for a recording: say run.record = FILE, or run with --record FILE";
            return Err(Failure::BadInput(what.into()));
        }
        let bytes = record.is_some() || needs.traffic;
        if !bytes && plan.companions.is_empty() {
            return Ok(None);
        }
        let capacity = if bytes { capacity } else { EVENTS };
        let (feed, variables) = if plan.further_variables(needs).is_empty() {
            (Feed::new(capacity), None)
        } else {
            // Of a thread of its own, for which the one that commands does not wait.
            let (feed, variables) = Feed::pair(capacity);
            (feed, Some(variables))
        };
        let recorder = match record {
            Some(path) => Some(Recorder::start(path, feed.reader(), clock, &plan.robot, true)?),
            None => None,
        };
        if recorder.is_some() && !plan.text.is_empty() {
            feed.put(clock.now(), What::Configuration(plan.text.clone()));
        }
        Ok(Some(Self { feed, bytes, variables, recorder }))
    }

    pub(super) fn feed(&self) -> Listening {
        let said = |recorder: &Recorder| format!("recording to {}", recorder.path().display());
        Listening {
            feed: self.feed.clone(),
            bytes: self.bytes,
            variables: self.variables.clone(),
            progress: self.recorder.as_ref().map(Recorder::progress),
            remark: self.recorder.as_ref().map(|recorder| ("record", said(recorder), vec![])),
        }
    }

    /// Ends the feed, and returns the recorder, which has to be finished.
    pub(super) fn end(self) -> Option<Recorder> {
        self.recorder
    }
}

/// Ends the recorder.
///
/// # Errors
/// [`Failure::BadInput`] where the recording is not complete.
pub(super) fn finish(recorder: Option<Recorder>, format: Format) -> Outcome {
    match recorder.map(Recorder::finish).transpose()? {
        Some(said) if matches!(format, Format::View | Format::Lines) => tell(&format!("{said}\n")),
        _ => Ok(()),
    }
}
