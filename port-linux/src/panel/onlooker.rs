//! A session that is looked at, and asked for nothing.

use std::sync::Arc;

use outrigger_core::drive::Application;
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Panel, Wish};
use crate::attached::Ends;
use crate::exit::Outcome;
use crate::feed::{Feed, Progress};
use crate::maker::{Maker, Shows};
use crate::released::ReleasedBy;

/// Looks at a session and asks for nothing, until the operator, the time or the disk ends it.
#[derive(Debug)]
pub(crate) struct Onlooker<M> {
    panel: Panel<M>,
    /// Of the recorder, where there is one.
    progress: Option<Arc<Progress>>,
    /// What happens beside the session, in words.
    remarks: Option<UnboundedReceiver<String>>,
    /// What a node of ROS 2 says.
    told: Option<UnboundedReceiver<String>>,
    /// Set where the command ends once nobody reads its output.
    for_a_reader: bool,
}

impl<M: Maker> Onlooker<M> {
    pub(crate) const fn new(panel: Panel<M>) -> Self {
        Self { panel, progress: None, remarks: None, told: None, for_a_reader: false }
    }

    /// Makes one that ends once nobody reads the output.
    pub(crate) fn for_a_reader(panel: Panel<M>) -> Self {
        Self { for_a_reader: true, ..Self::new(panel) }
    }

    /// The same beside a recorder: ends where `progress` has failed, and shows the `remarks` of what is recorded apart.
    pub(crate) fn recorded(
        panel: Panel<M>,
        feed: Feed,
        progress: Arc<Progress>,
        remarks: UnboundedReceiver<String>,
    ) -> Self {
        let (progress, remarks) = (Some(progress), Some(remarks));
        Self { progress, remarks, ..Self::new(panel.with_feed(feed)) }
    }

    /// The same, showing what a node of ROS 2 says.
    #[cfg(feature = "ros2")]
    pub(crate) fn hearing(self, told: UnboundedReceiver<String>) -> Self {
        Self { told: Some(told), ..self }
    }

    pub(crate) fn finish(self) -> Outcome {
        self.panel.finish()
    }
}

impl<const N: usize, P, L: Law<N>, M> Application<N, P, L> for Onlooker<M>
where
    P: Peer<N, Event = M::Event>,
    M: Shows<N, P>,
{
    async fn next(&mut self) -> Input {
        loop {
            let wish = tokio::select! {
                wish = self.panel.next() => wish,
                text = next_of(&mut self.remarks) => {
                    self.panel.say("rtde", text, vec![]);
                    continue;
                }
                text = next_of(&mut self.told) => {
                    self.panel.say("ros2", text, vec![]);
                    continue;
                }
            };
            let failed = self.progress.as_ref().is_some_and(|progress| progress.has_failed());
            let unread = self.for_a_reader && self.panel.is_unread();
            match wish {
                Wish::Look if (failed || unread) && !self.panel.is_ending() => {
                    self.panel.end_now();
                    return Input::Shutdown;
                }
                Wish::End(_) | Wish::Look => return wish.input(),
                Wish::Request(_) | Wish::Resume(_) | Wish::Release(_) | Wish::Acknowledge => {}
            }
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let progress = self.progress.as_deref();
        self.panel.observe(engine, now, || progress.map_or_else(Vec::new, Progress::shown));
    }
}

impl<M: Maker> Ends for Onlooker<M> {
    fn is_ending(&self) -> bool {
        self.panel.is_ending()
    }

    fn released(&self) -> Option<ReleasedBy> {
        None
    }
}

/// What is told next by what happens beside the session, if anything ever is.
pub(crate) async fn next_of(remarks: &mut Option<UnboundedReceiver<String>>) -> String {
    let next = match remarks {
        Some(remarks) => remarks.recv().await,
        None => None,
    };
    match next {
        Some(text) => text,
        None => std::future::pending().await,
    }
}
