//! Companions at work: how they are started beside a session, and ended after it.

use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, channel};

use super::lane::Tap;
use super::{Companions, End, Ended, Needs, Notice, Remark, Remarks, Session, Started};
use crate::exit::{Failure, Outcome};
use crate::feed::{Feed, Progress};
use crate::host::clock::Clock;
use crate::maker::Controller;
use crate::requests::Client;

/// Remarks that wait to be shown, of all companions together.
const WAITING: usize = 256;

/// The companions of a session, for the thread that commands.
#[derive(Debug)]
pub struct Beside<C: Controller<N>, const N: usize> {
    /// Lanes of those that want pictures.
    pub taps: Vec<Tap<C, N>>,
    /// The events that they show at the start, in their order.
    pub notices: Vec<Notice>,
    /// The counts of what they have done so far.
    pub(crate) progress: Vec<Arc<Progress>>,
    /// The events that they show later.
    pub(crate) remarks: Receiver<Remark>,
}

/// The ends of those that have started, in their order.
#[derive(Default)]
pub struct Ends(Vec<End>);

impl Ends {
    /// Ends them, once nothing is put into their feed any more: what they return, and the first failure. `heard` is `false` where
    /// there never was a session.
    pub fn finish(self, heard: bool) -> (Vec<Ended>, Outcome) {
        let (mut ended, mut outcome) = (vec![], Ok(()));
        for end in self.0 {
            match end(heard) {
                Ok(one) => ended.extend(one),
                Err(failure) => outcome = outcome.and(Err(failure)),
            }
        }
        (ended, outcome)
    }
}

impl Needs {
    /// Returns what all of `companions` need together.
    pub(crate) fn of<const N: usize>(companions: &Companions<N>) -> Self {
        let mut all = Self::default();
        for Self { traffic, everything, engine, variables, views, commands } in
            companions.iter().map(|companion| companion.needs())
        {
            all.traffic |= traffic;
            all.everything |= everything;
            all.engine |= engine;
            all.views |= views;
            all.commands |= commands;
            for name in variables {
                if !all.variables.contains(&name) {
                    all.variables.push(name);
                }
            }
        }
        all
    }
}

impl<C: Controller<N>, const N: usize> Beside<C, N> {
    /// Starts `companions` beside `controller`, each with a reader of `feed`. Those that have started are in `ends`, whatever
    /// comes of the others.
    ///
    /// # Errors
    /// The failure of the first that cannot start.
    pub fn start(
        companions: &Companions<N>,
        controller: &C,
        sources: &[String],
        clock: Clock,
        feed: &Feed,
        client: impl Fn() -> Option<Client<N>>,
        ends: &mut Ends,
    ) -> Result<Self, Failure> {
        let (lane, remarks) = channel(WAITING);
        let mut beside = Self { taps: vec![], notices: vec![], progress: vec![], remarks };
        for companion in companions {
            let needs = companion.needs();
            let views = needs.views.then(|| {
                let (tap, views) = Tap::pair(controller.clone());
                beside.taps.push(tap);
                views
            });
            let Started { notice, progress, end } = companion.start(Session {
                robot: controller.robot(),
                sources: sources.to_vec(),
                clock,
                feed: feed.reader(),
                views,
                client: if needs.commands { client() } else { None },
                remarks: Remarks { kind: "companion", lane: lane.clone() },
                target: controller.target(),
            })?;
            beside.notices.extend(notice);
            beside.progress.extend(progress);
            ends.0.extend(end);
        }
        Ok(beside)
    }
}

/// Returns the next remark of a companion, if there ever is one.
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
