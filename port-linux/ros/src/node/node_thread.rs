//! The running node, on a thread of its own: it publishes the contents of a session's feed, which has all data
//! exchanged with the robot, and handles the calls and goals of clients.
//!
//! The thread wakes a thousand times a second. The thread that exchanges data with the robot only writes entries into
//! the feed, as it does for a recorder, and never waits for the node.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outrigger_core::mode::Mode;
use outrigger_ros2_messages::Time;
use outrigger_ros2_messages::endpoint::{Qos, Topic};
use outrigger_wire::time::Instant;

use super::dashboard::Dashboard;
use super::dashboard_services::{self, Pendant};
use super::dds::{Dds, Offers as _, Out, Remark};
use super::discovery_wait::DiscoveryWait;
use super::domain_selection::Domain;
use super::health::Health;
use super::log_limiter::LogLimiter;
use super::parameters::{self, Stated};
use super::requests::ClientRequests;
use super::settings::{Remarks, Settings};
use super::stamp_clock::StampClock;
use super::state_stamps::ControllerClock;
use super::{feed_readings, offered_endpoints};
use crate::arm::Arm;
use crate::driver::Driver;
use crate::health;
use crate::native::Native;
use crate::neighbours::{self, Offered};
use crate::readings::Readings;
use crate::rosout::{self, ROSOUT};
use crate::rtde_topics::Variables;
use outrigger::companion::{self, Companion, Ended, Needs, Session, Started};
use outrigger::exit::Failure;
use outrigger::feed::{Entry, EntryContent, Item, Message, Progress, Reader, Streams, stream_memory};
use outrigger::host::clock::Clock;
use outrigger::host::worker::{Joined, Worker};
use outrigger::json;

/// The interval at which the node's thread wakes.
const PACE: Duration = Duration::from_millis(1);
/// The largest number of entries of the session's feed, which has all data exchanged with the robot, that are published
/// before requests of clients are served again.
const ENTRIES: usize = 64;
/// The longest wait for the node to leave the domain and to announce that it leaves.
const PATIENCE: Duration = Duration::from_secs(2);
/// The largest speed that the robot description states for a UR's joints \[rad/s\].
const FASTEST: [f64; 6] = [std::f64::consts::PI; 6];
/// The largest number of findings about other nodes that are reported in all.
const MOST_FOUND: usize = 64;
/// The interval at which the other nodes of the domain are examined.
const NEIGHBOURS: outrigger_wire::time::Duration = outrigger_wire::time::Duration::from_secs(1);

/// A node of ROS 2 that runs as a companion of a session: on a thread of its own beside the control loop.
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    /// `true` if clients of the node may command the arm; otherwise the node is read-only.
    commands: bool,
    /// `true` if the process runs for the node alone, which then prints a summary at its end.
    alone: bool,
}

impl Node {
    /// Creates a node beside a session; `commands` permits it to command the arm.
    #[must_use]
    pub const fn new(settings: Settings, commands: bool) -> Self {
        Self { settings, commands, alone: false }
    }

    /// Creates a node that does not command, in a process that runs for it alone.
    #[must_use]
    pub const fn onlooker(settings: Settings) -> Self {
        Self { settings, commands: false, alone: true }
    }
}

impl<const N: usize> Companion<N> for Node {
    fn needs(&self) -> Needs {
        let variables = super::variables(&self.settings.variables);
        Needs { traffic: true, variables, commands: self.commands, ..Needs::default() }
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let Self { settings, alone, .. } = self;
        let may = if session.client.is_some() { "commands the arm on calls and goals" } else { "read-only" };
        let node = Running::start(settings, session)?;
        let started = if *alone {
            Started::default()
        } else {
            let interfaces = neighbours::listed(&settings.interfaces);
            let text = format!("ROS 2 node in domain {}, at {interfaces}: {may}", settings.domain);
            Started::saying("ros2", text, vec![])
        };
        let (alone, progress) = (*alone, node.progress());
        Ok(started.counting("the node", Arc::clone(&progress)).ending(move |_| {
            let met = Arc::clone(&node.met);
            let left = node.finish();
            let met = if met.load(Ordering::Acquire) { "" } else { "; no other ROS 2 program was found" };
            let goodbye = if left { "" } else { "; others list it until its lease expires" };
            let (messages, lost) = (progress.messages(), progress.lost());
            let text = format!("ROS 2: {messages} messages published, {lost} entries lost{met}{goodbye}");
            Ok(alone.then(|| Ended { text, json: String::new() }))
        }))
    }
}

/// A running node with its thread. Dropping this value makes the node leave the domain.
#[derive(Debug)]
struct Running {
    worker: Option<Worker>,
    leaves: Arc<AtomicBool>,
    /// `true` once another ROS 2 program in the domain has announced a reader, a writer or a node.
    met: Arc<AtomicBool>,
    progress: Arc<Progress>,
}

impl Running {
    /// Joins the domain, publishes the data that the session exchanges with the robot, and becomes a client of the
    /// session if the node may command. Rejected calls and goals are logged.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the domain cannot be joined.
    fn start<const N: usize>(settings: &Settings, session: Session<N>) -> Result<Self, Failure> {
        let Session { robot, clock, feed: reader, client, remarks: told, target, .. } = session;
        let told = told.of_kind("ros2");
        let Settings { domain, ref interfaces, ref peers, distro, .. } = *settings;
        let mut dds = Dds::join(domain, interfaces, peers, distro, clock)?;
        let mut topics = vec![];
        let arm = Arm::new(settings.joints, &settings.names);
        let driver = || Driver::new(arm.clone(), settings.distro).with_legacy_names(settings.legacy_names);
        let driver = settings.surface.has_driver().then(|| driver().with_meshes(settings.meshes));
        let native = settings.surface.has_native().then(|| Native::new(arm.clone(), settings.terminals));
        for (topic, name, qos) in offered_endpoints::topics(settings) {
            topics.push((topic, dds.publishes(&name, topic.message, qos)?));
        }
        let variables = Variables::new(&settings.variables);
        let mut of_variables = vec![];
        for of in variables.iter() {
            of_variables.push(dds.publishes(&settings.names.of(&of.topic), of.message, Qos::SYSTEM)?);
        }
        let controller_clock = ControllerClock::new(settings.stamps);
        let dashboard = target.as_ref().filter(|_| settings.surface.has_driver());
        let dashboard = dashboard.map(|target| Dashboard::start(target, clock)).transpose()?;
        let commands = client.is_some();
        let pendant = match dashboard {
            Some(dashboard) => {
                Some(Pendant::new(dashboard_services::offer(&mut dds, &settings.names)?, dashboard, commands))
            }
            None => None,
        };
        let face = ClientRequests::offer(&mut dds, settings, (arm, target.as_ref()), client)?;
        let health = Health::new(robot);
        let stated = parameters::offer(&mut dds, settings)?;
        let offered = offered_endpoints::offered(settings, target.as_ref())?;
        dds.announce(&settings.names.namespace, offered_endpoints::NAME);
        let (leaves, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(Progress::of("published")));
        let (asked, noted) = (Arc::clone(&leaves), Arc::clone(&progress));
        let met = Arc::new(AtomicBool::new(false));
        let has_met = Arc::clone(&met);
        let place = Domain { domain, interfaces: interfaces.clone(), peers: peers.clone() };
        let waits = Some(DiscoveryWait::new(place, dds.prefix(), clock.now()));
        let work = move || {
            let mut memory = stream_memory();
            let Some(streams) = Streams::new(&mut memory) else { return };
            let mut working = Working {
                dds,
                offered,
                stated,
                waits,
                met: has_met,
                neighbours_at: clock.now(),
                found: BTreeSet::new(),
                topics,
                variables,
                of_variables,
                controller_clock,
                driver,
                native,
                face,
                health,
                pendant,
                streams,
                readings: Readings::default(),
                clock,
                origin: StampClock::new(clock.origin_unix_nanos()),
                messages: 0,
                bytes: 0,
                remarks: 0,
                told,
                remarked: LogLimiter::new(clock.now()),
                last_stamp: 0,
            };
            working.work(reader, &asked, &noted);
        };
        let worker = Worker::start("ros2", work)
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { worker: Some(worker), leaves, met, progress })
    }

    /// Returns the counters of the node's published messages.
    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Makes the node leave the domain and announce that it leaves. Returns `false` if this takes too long.
    fn finish(mut self) -> bool {
        self.leaves.store(true, Ordering::Release);
        self.worker.take().is_some_and(|worker| worker.join(PATIENCE) == Joined::Ended)
    }
}

struct Working<'m, const N: usize> {
    dds: Dds,
    /// The name, release and endpoints of this node, compared with those of other nodes.
    offered: Offered,
    stated: Stated,
    /// The wait for the discovery of another ROS 2 program; `None` once one has been discovered.
    waits: Option<DiscoveryWait>,
    met: Arc<AtomicBool>,
    /// The time at which the other nodes of the domain are examined next.
    neighbours_at: Instant,
    /// The findings about other nodes that have been reported, so that each is reported once.
    found: BTreeSet<String>,
    topics: Vec<(&'static Topic, Out)>,
    variables: Variables,
    /// The handles of the topics that publish one RTDE variable each, in the order of `variables`.
    of_variables: Vec<Out>,
    controller_clock: ControllerClock,
    driver: Option<Driver>,
    native: Option<Native>,
    face: ClientRequests<N>,
    health: Health,
    pendant: Option<Pendant>,
    streams: Streams<'m>,
    readings: Readings,
    clock: Clock,
    origin: StampClock,
    /// The number of messages that the node has published.
    messages: u64,
    /// The number of bytes of the messages that the node has published.
    bytes: u64,
    /// The number of the DDS transport's remarks about other participants that have been written to the log.
    remarks: usize,
    told: companion::Remarks,
    remarked: LogLimiter,
    /// The stamp of the newest robot state \[ns since 1970\].
    last_stamp: u64,
}

impl<const N: usize> Working<'_, N> {
    fn work(&mut self, mut reader: Reader, leaves: &AtomicBool, progress: &Progress) {
        loop {
            // The end is checked first, so that everything before it is published.
            let over = leaves.load(Ordering::Acquire) || reader.is_over();
            let mut published = 0;
            for item in reader.up_to(if over { usize::MAX } else { ENTRIES }) {
                published += 1;
                match item {
                    Item::Entry(entry) => self.entry(&entry),
                    Item::Lost(_) => self.streams.lost(),
                }
            }
            progress.note(self.messages, self.bytes, reader.lost());
            if over {
                break;
            }
            self.attend();
            if published < ENTRIES {
                std::thread::sleep(PACE);
            }
        }
        let stamp = self.stamp(self.clock.now());
        self.face.leave(&mut self.dds, stamp);
    }

    /// Handles the requests of clients that have arrived and sends the results that are ready.
    fn attend(&mut self) {
        let now = self.clock.now();
        self.origin.follow(now, || self.clock.origin_unix_nanos());
        let (when, nanos) = ((now, self.stamp(now)), self.nanos(now));
        let mut remarks = Remarks::default();
        if self.dds.rejoin_if_needed() {
            self.face.discard(&mut self.dds, &mut remarks);
        }
        for arrival in self.dds.look() {
            let arrival = match &mut self.pendant {
                Some(pendant) => pendant.arrival(arrival, &mut self.dds, when.1, &mut remarks),
                None => Some(arrival),
            };
            let arrival = arrival.and_then(|arrival| self.stated.arrival(arrival, &mut self.dds, &mut remarks));
            let Some(arrival) = arrival else { continue };
            self.face.arrival(arrival, &self.readings, &mut self.dds, when, &mut remarks);
        }
        if let Some(pendant) = &mut self.pendant {
            pendant.step(&mut self.dds, nanos);
        }
        self.face.step(&mut self.dds, when, &mut remarks);
        let mut out = vec![];
        if let Some(driver) = &mut self.driver {
            driver.commands(self.face.commands(), &mut |topic, bytes| out.push((topic, bytes)));
        }
        if let Some(bytes) = self.health.due(now, when.1, self.face.status().as_ref()) {
            out.push((&health::DIAGNOSTICS, bytes));
        }
        self.publish(out);
        self.look_around(now, &mut remarks);
        self.tell(remarks);
    }

    /// Checks whether another node has the same name or publishes and serves the same endpoints, and whether any
    /// other ROS 2 program is present.
    fn look_around(&mut self, now: Instant, remarks: &mut Remarks) {
        if now < self.neighbours_at {
            return;
        }
        self.neighbours_at = now + NEIGHBOURS;
        let seen = self.dds.others();
        for finding in seen.iter().flat_map(|seen| neighbours::providers(&self.offered, seen)) {
            // The number of reports is bounded, because other nodes may have many names.
            if self.found.len() < MOST_FOUND && self.found.insert(finding.text.clone()) {
                remarks.extend([finding.text]);
            }
        }
        let Some(waits) = &mut self.waits else { return };
        if waits.meets(seen) {
            self.met.store(true, Ordering::Release);
            self.waits = None;
        } else {
            remarks.extend(waits.look(self.dds.prefix(), now));
        }
    }

    /// Returns the instant `at` of the process's clock in nanoseconds since 1970.
    fn nanos(&self, at: Instant) -> u64 {
        self.origin.nanos(at)
    }

    /// Returns the instant `at` of the process's clock as a stamp for messages.
    fn stamp(&self, at: Instant) -> Time {
        Time::from_unix_nanos(self.nanos(at))
    }

    fn publish(&mut self, out: Vec<(&'static Topic, Vec<u8>)>) {
        for (topic, bytes) in out {
            let to = self.topics.iter().find(|(known, _)| std::ptr::eq(*known, topic));
            if let Some(to) = to.map(|(_, to)| *to) {
                self.send(to, bytes);
            }
        }
    }

    fn send(&mut self, to: Out, bytes: Vec<u8>) {
        let length = bytes.len() as u64;
        if self.dds.publish(to, bytes) {
            self.messages += 1;
            self.bytes += length;
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match &entry.what {
            EntryContent::Opened { port } => self.streams.opened(*port),
            EntryContent::Sent { port, bytes } => self.streams.sent(*port, bytes),
            EntryContent::Received { port, bytes, first_start } => self.received(entry.at, *port, bytes, *first_start),
            EntryContent::Link { mode, figures } => {
                self.controller_clock.link(entry.at, figures.age);
                self.health.link(entry.at, *mode, figures);
            }
            EntryContent::Notice(notice) => {
                if notice.kind == "coast" {
                    self.health.coast(&notice.text);
                }
                if notice.kind == "transition" && notice.fields.contains(&("to", Mode::Offline.name().to_owned())) {
                    self.health.over();
                }
                self.publish(vec![(&health::EVENTS, health::event(json::text(notice)))]);
            }
            _ => {}
        }
    }

    fn received(&mut self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) {
        let micros = at.as_micros();
        let (origin, mut last) = (self.origin, self.last_stamp);
        let (variables, controller_clock) = (&mut self.variables, &mut self.controller_clock);
        let (driver, native, readings) = (&mut self.driver, &mut self.native, &mut self.readings);
        let (mut out, mut values) = (vec![], vec![]);
        self.streams.received(port, bytes, first_start, |message| {
            let time = controller_clock.state(port, &message, at);
            if let Message::Rtde(..) = &message {
                let mut emit = |index, bytes| values.push((index, bytes));
                variables.take((port, micros), |visitor| message.visit_state(visitor), &mut emit);
            }
            let fresh = feed_readings::take(readings, port, micros, &message);
            if let (Message::SubPackage(_), Some(driver)) = (&message, driver.as_mut()) {
                driver.describe(readings, FASTEST, &mut |topic, bytes| out.push((topic, bytes)));
            }
            if fresh {
                // Of two states that were read together, the second gets the later stamp.
                last = origin.nanos(time).max(last.saturating_add(1_000));
                let stamp = Time::from_unix_nanos(last);
                let mut emit = |topic, bytes| out.push((topic, bytes));
                if let Some(driver) = driver.as_mut() {
                    driver.state(readings, stamp, &mut emit);
                }
                if let Some(native) = native {
                    native.state(readings, stamp, &mut emit);
                }
            }
        });
        self.last_stamp = last;
        self.publish(out);
        for (index, bytes) in values {
            if let Some(to) = self.of_variables.get(index).copied() {
                self.send(to, bytes);
            }
        }
    }

    /// Writes the log lines of this step to the session's log and to `/rosout`, with a line for each topic whose
    /// subscriber requires a quality of service that the node does not offer.
    fn tell(&mut self, mut remarks: Remarks) {
        let all = self.dds.remarks();
        for Remark::Incompatible { topic, theirs, ours } in all.iter().skip(self.remarks) {
            remarks.push(format!(
                "{topic}: a subscriber requires {theirs}, but this node offers {ours}: it receives no messages"
            ));
        }
        self.remarks = all.len();
        remarks.extend(self.dds.news());
        let now = self.clock.now();
        let mut shown: Vec<_> = remarks.0.into_iter().filter_map(|line| self.remarked.line(line, now)).collect();
        shown.extend(self.remarked.due(now));
        for remark in shown {
            self.publish(vec![(&ROSOUT, rosout::log(self.stamp(now), &self.offered.node, remark.clone()))]);
            // Sending fails at the end, when nothing receives any more.
            self.told.say(format!("ROS 2: {remark}"));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.leaves.store(true, Ordering::Release);
    }
}
