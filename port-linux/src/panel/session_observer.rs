//! A session that is only observed, without any request.

use std::sync::Arc;

use outrigger_core::drive::Application;
use outrigger_core::engine::{Controller, Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

use super::Ends;
use super::{OperatorInput, Panel};
use crate::exit::Outcome;
use crate::feed::Progress;
use crate::feed::notice::Remark;
use crate::host::reactor::yield_once;
use crate::released::ReleasedBy;
use crate::vendor::{VendorObserve, VendorUi};

/// An observer of a session that requests nothing, until the operator, the time or the disk ends it.
#[derive(Debug)]
pub(crate) struct SessionObserver<M> {
    panel: Panel<M>,
    /// The progress of those companions (components that run beside the session, e.g. a recording) that report it.
    progress: Vec<Arc<Progress>>,
    /// The messages about the connection for additional RTDE variables.
    remarks: Option<UnboundedReceiver<String>>,
    /// The receiver of the messages to the operator from companions (components that run beside the session, e.g. a
    /// recording). `None` without companions.
    companions: Option<Receiver<Remark>>,
    /// `true` if the session ends as soon as the reader of this process's output has closed it (`| head`).
    for_a_reader: bool,
}

impl<M: VendorUi> SessionObserver<M> {
    pub(crate) const fn new(panel: Panel<M>) -> Self {
        Self { panel, progress: vec![], remarks: None, companions: None, for_a_reader: false }
    }

    /// Makes the session end as soon as the reader of the output has closed it.
    pub(crate) fn for_a_reader(self) -> Self {
        Self { for_a_reader: true, ..self }
    }

    /// Adds companions (components that run beside the session, e.g. a recording): their `progress`, the events of the
    /// connection for their `variables`, and their remarks are displayed.
    pub(crate) fn beside(
        self,
        progress: Vec<Arc<Progress>>,
        variables: Option<UnboundedReceiver<String>>,
        companions: Option<Receiver<Remark>>,
    ) -> Self {
        Self { progress, remarks: variables, companions, ..self }
    }

    /// Returns `true` if there was a session with the controller.
    pub(crate) const fn has_begun(&self) -> bool {
        self.panel.has_begun()
    }

    /// Ends the display of the observed session.
    ///
    /// # Errors
    /// Returns [`Failure::Connection`](crate::exit::Failure::Connection) if there never was a session.
    pub(crate) fn finish(mut self) -> Outcome {
        while let Some(Ok((kind, text))) = self.companions.as_mut().map(Receiver::try_recv) {
            self.panel.say(kind, text, vec![]);
        }
        self.panel.finish()
    }
}

impl<const N: usize, P, L: Law<N>, M> Application<N, P, L> for SessionObserver<M>
where
    P: Controller<N, Event = M::Event>,
    M: VendorObserve<N, P>,
{
    async fn next(&mut self) -> Input {
        loop {
            let wish = tokio::select! {
                wish = self.panel.next() => wish,
                text = next_of(&mut self.remarks) => {
                    self.panel.say("rtde", text, vec![]);
                    yield_once().await;
                    continue;
                }
                (kind, text) = next_remark(&mut self.companions) => {
                    self.panel.say(kind, text, vec![]);
                    yield_once().await;
                    continue;
                }
            };
            let failed = self.progress.iter().any(|progress| progress.has_failed());
            let unread = self.for_a_reader && self.panel.is_unread();
            match wish {
                OperatorInput::Look if (failed || unread) && !self.panel.is_ending() => {
                    self.panel.end_now();
                    return Input::Shutdown;
                }
                OperatorInput::End(_) | OperatorInput::Look => return wish.input(),
                OperatorInput::Request(_)
                | OperatorInput::Resume(_)
                | OperatorInput::Release(_)
                | OperatorInput::Acknowledge => {}
            }
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let progress = &self.progress;
        self.panel.observe(engine, now, || progress.iter().flat_map(|progress| progress.shown()).collect());
    }
}

impl<M: VendorUi> Ends for SessionObserver<M> {
    fn is_ending(&self) -> bool {
        self.panel.is_ending()
    }

    fn released(&self) -> Option<ReleasedBy> {
        None
    }
}

/// Waits for the next message about the connection for additional RTDE variables, from the task that uses it. Never
/// returns if `remarks`, the receiver of these messages, is `None`, or if the task has ended.
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

/// Waits for the next message to the operator from a companion (a component that runs beside a session, e.g. a
/// recording). Never returns if `remarks`, the receiver of these messages, is `None`, or if all their senders have
/// been dropped.
pub(crate) async fn next_remark(remarks: &mut Option<Receiver<Remark>>) -> Remark {
    let next = match remarks {
        Some(remarks) => remarks.recv().await,
        None => None,
    };
    match next {
        Some(remark) => remark,
        None => std::future::pending().await,
    }
}
