//! Reconnects after a participant was silent for longer than its lease, and after this program was stopped.

use std::collections::BTreeSet;

use outrigger_wire::time::{Duration, Instant};
use rustdds::{DomainParticipantStatusEvent, LostReason, RTPSEntity as _, Timestamp};

use super::super::farewell;
use super::super::participant_registry::{self, GRAPH, GRAPH_TYPE};
use super::super::raw_messages::Payload;
use super::super::rematch_messages::Topic;
use super::{Dds, Domain, NEWS};
use crate::neighbours::Prefix;
use outrigger::exit::Failure;

/// The shorter of the default leases of participants in the implementations of ROS 2: Cyclone DDS 10 s, Fast DDS 20
/// s.
const LEASE: Duration = Duration::from_secs(10);
/// The shortest interruption of this process whose length is reported.
const NOTED: Duration = Duration::from_millis(100);
/// The longest time between a pause of this thread and the report that the process was interrupted, for which the pause
/// is taken as the length of the interruption.
const RECENT: Duration = Duration::from_secs(1);
/// The time that the thread of the `InterruptionDetector` needs to report an interruption of this process.
const TELLS: std::time::Duration = std::time::Duration::from_millis(5);
/// The delay after which endpoints are matched again with those of a participant that came back. The delay is needed
/// because the participant's first message only makes it known.
const MATCHED_AFTER: Duration = Duration::from_millis(100);
/// The number of attempts to match endpoints again with those of a participant that came back.
const TIMES: u8 = 4;
/// The interval of the attempts to join the DDS domain again.
const AGAIN: Duration = Duration::from_secs(1);

/// A DDS participant that was lost and has been discovered again.
pub(super) struct Back {
    prefix: Prefix,
    at: Instant,
    /// The delay before the next attempt to match its endpoints, doubled each time.
    wait: Duration,
    left: u8,
}

/// Returns the names of a DDS participant's nodes as text, separated by commas, or a general term if none is known.
fn named(names: &[&str]) -> String {
    match names {
        [] => "a participant".into(),
        names => names.join(", "),
    }
}

impl Dds {
    fn tell_news(&mut self, text: String) {
        if self.news.len() < NEWS {
            self.news.push(text);
        }
    }

    /// Adds a text to the news if the event is the loss of a participant that was silent for longer than its lease.
    /// Must be called while the participant's nodes are known.
    pub(super) fn report_loss(&mut self, event: &DomainParticipantStatusEvent) {
        let DomainParticipantStatusEvent::ParticipantLost { id, reason: LostReason::Timeout { lease, elapsed } } =
            event
        else {
            return;
        };
        let Ok(prefix) = Prefix::try_from(AsRef::<[u8]>::as_ref(id)) else { return };
        let (who, lease, silent) =
            (named(&self.census.names(&prefix)), lease.to_std().as_secs_f64(), elapsed.to_std().as_secs_f64());
        self.tell_news(format!(
            "no messages from {who} for {silent:.1} s, longer than its lease of {lease:.0} s: messages to it are \
             paused until it sends again"
        ));
    }

    /// Starts to match the endpoints again with those of a participant that came back; several attempts follow in the
    /// next seconds.
    pub(super) fn reconnect(&mut self, prefix: Prefix, now: Instant) {
        self.back.retain(|back| back.prefix != prefix);
        self.back.push(Back { prefix, at: now + MATCHED_AFTER, wait: MATCHED_AFTER, left: TIMES });
        let who = named(&self.census.names(&prefix));
        self.tell_news(format!("{who} sends again: its topics and services are connected again"));
    }

    /// Matches the endpoints of this participant with those of participants that came back.
    pub(super) fn match_again(&mut self, now: Instant) {
        if self.back.iter().all(|back| now < back.at) {
            return;
        }
        for mut back in std::mem::take(&mut self.back) {
            if now >= back.at {
                let topics = self.shared_with(back.prefix);
                self.returning.match_again(back.prefix, &topics);
                back.wait = back.wait + back.wait;
                back.at = now + back.wait;
                back.left -= 1;
            }
            if back.left > 0 {
                self.back.push(back);
            }
        }
    }

    /// Returns the topics on which both this participant and the participant `prefix` have endpoints.
    fn shared_with(&self, prefix: Prefix) -> Vec<Topic> {
        let readers = self.participant.discovered_readers().into_iter();
        let readers = readers.filter(|of| participant_registry::prefix(of.reader_proxy.remote_reader_guid) == prefix);
        let writers = self.participant.discovered_writers().into_iter();
        let writers = writers.filter(|of| participant_registry::prefix(of.writer_proxy.remote_writer_guid) == prefix);
        let theirs: BTreeSet<String> = readers
            .map(|of| of.subscription_topic_data.topic_name().clone())
            .chain(writers.map(|of| of.publication_topic_data.topic_name))
            .collect();
        let graph = Topic { name: GRAPH.into(), kind: GRAPH_TYPE.into() };
        let ours = self.ours.values().map(|of| Topic { name: of.topic.clone(), kind: of.kind.clone() });
        let ours: BTreeSet<Topic> = ours.chain([graph]).collect();
        ours.into_iter().filter(|topic| theirs.contains(&topic.name)).collect()
    }

    /// Joins the domain again after this program was stopped, or was not scheduled for longer than the lease of
    /// other participants. Pending requests of others are dropped. Returns `true` if it joined again: endpoints
    /// opened by [`opens`](Self::opens) and similar functions must then be opened again.
    pub fn rejoin_if_needed(&mut self) -> bool {
        let now = self.clock.now();
        let stood = now.since(std::mem::replace(&mut self.looked_at, now));
        if stood >= NOTED {
            self.stood = Some((now, stood));
            // Gives the thread that reports interruptions the time to do so.
            std::thread::sleep(TELLS);
        }
        if self.interrupted.take() {
            let why = match self.stood.take().filter(|(at, _)| now.since(*at) < RECENT) {
                Some((_, stood)) => format!("the node was stopped for {:.1} s", stood.as_secs_f64()),
                None => "the node was stopped".to_owned(),
            };
            self.rejoins = Some((why, now));
        } else if stood >= LEASE {
            let (stood, lease) = (stood.as_secs_f64(), LEASE.as_secs_f64());
            let why =
                format!("the node was not scheduled for {stood:.1} s, longer than its peers' lease ({lease:.0} s)");
            self.rejoins = Some((why, now));
        }
        let Some((why, _)) = self.rejoins.take_if(|(_, at)| *at <= now) else { return false };
        let joined = self.join_again();
        // The time for joining does not count as an interruption.
        self.looked_at = self.clock.now();
        match joined {
            Ok(()) => {
                let dropped = "requests and goals from that time were discarded; send them again";
                self.tell_news(format!("{why}: joined the domain again; {dropped}"));
                true
            }
            Err(failure) => {
                self.tell_news(format!("{why}; cannot join the domain again: {failure}"));
                self.rejoins = Some((why, self.looked_at + AGAIN));
                false
            }
        }
    }

    fn join_again(&mut self) -> Result<(), Failure> {
        let Domain { domain, interfaces, peers } = &self.place;
        let mut fresh = Self::join(*domain, interfaces, peers, self.distro, self.clock)?;
        let of = |guid| self.ours.get(&guid).cloned();
        for published in &self.published {
            if let Some(of) = of(published.writer.guid()) {
                fresh.publishes_to(of)?;
            }
        }
        for listening in &self.listening {
            let answers = listening.answers.as_ref().and_then(|writer| of(writer.guid()));
            if let Some(of) = of(listening.reader.guid()) {
                fresh.listens_to(of, answers)?;
            }
        }
        for (to, from) in fresh.published.iter_mut().zip(&self.published) {
            to.newest.clone_from(&from.newest);
            for bytes in to.newest.iter().rev() {
                let _ = to.writer.write(Payload(bytes.clone()), Some(Timestamp::now()));
            }
        }
        fresh.waits = std::mem::take(&mut self.waits);
        fresh.remarks = std::mem::take(&mut self.remarks);
        fresh.news = std::mem::take(&mut self.news);
        if let Some((namespace, name)) = self.node.take() {
            fresh.announce(&namespace, &name);
        }
        let (own, place) = (participant_registry::prefix(self.participant.guid()), self.place.clone());
        *self = fresh;
        farewell::say(own, &place);
        Ok(())
    }
}
