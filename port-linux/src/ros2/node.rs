//! The node at work, on a thread of its own: what a session's feed tells goes out, what others ask comes in.
//!
//! It looks a thousand times a second, and nothing that it does, or waits for, costs the thread that speaks with the robot anything
//! but its entries in the feed, which it puts there for a recorder as well.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outrigger_core::time::Instant;
use outrigger_ros::driver::{self, Arm, Driver};
use outrigger_ros::endpoint::{Distro, Names, Topic};
use outrigger_ros::messages::Time;
use outrigger_ros::readings::{Port, Readings};

use super::dds::{Dds, Out, Remark};
use crate::exit::Failure;
use crate::feed::{Entry, Item, Message, Progress, Reader, Streams, VARIABLES, What, stream_memory};
use crate::worker::{Joined, Worker};

/// How often it looks.
const PACE: Duration = Duration::from_millis(1);
/// So long its end is waited for: others are told that it leaves.
const PATIENCE: Duration = Duration::from_secs(2);
/// Name of the node, below its namespace.
const NAME: &str = "outrigger";

/// What a node is to be.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Namespace and prefix.
    pub(crate) names: Names,
    /// Layouts that differ between releases.
    pub(crate) distro: Distro,
    /// `ROS_DOMAIN_ID`.
    pub(crate) domain: u16,
    /// By which it joins.
    pub(crate) interface: IpAddr,
    /// Joints of the arm, in its order.
    pub(crate) joints: &'static [&'static str],
}

/// A node on its thread. Ends with this.
#[derive(Debug)]
pub(crate) struct Node {
    worker: Worker,
    leaves: Arc<AtomicBool>,
    progress: Arc<Progress>,
}

impl Node {
    /// Joins, and publishes what `reader` hears; times are since `origin` \[ns since 1970\].
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the domain cannot be joined.
    pub(crate) fn start(settings: &Settings, reader: Reader, origin: u64) -> Result<Self, Failure> {
        let mut dds = Dds::join(settings.domain, settings.interface, settings.distro)?;
        let mut topics = vec![];
        for topic in driver::TOPICS {
            topics.push((*topic, dds.publishes(&settings.names.of(topic.name), topic.message, topic.qos)?));
        }
        dds.announce(&settings.names.namespace, NAME);
        let driver = Driver::new(Arm::new(settings.joints, &settings.names), settings.distro);
        let (leaves, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(Progress::of("published")));
        let (asked, told) = (Arc::clone(&leaves), Arc::clone(&progress));
        let work = move || {
            let mut memory = stream_memory();
            let Some(streams) = Streams::new(&mut memory) else { return };
            let mut working = Working {
                dds,
                topics,
                driver,
                streams,
                readings: Readings::default(),
                origin,
                messages: 0,
                bytes: 0,
                remarks: 0,
            };
            working.begin();
            working.work(reader, &asked, &told);
        };
        let worker = Worker::start("ros2", work)
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { worker, leaves, progress })
    }

    /// What it has done so far.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Leaves, and says so to the others; whether it did in time.
    pub(crate) fn finish(self) -> bool {
        self.leaves.store(true, Ordering::Release);
        self.worker.join(PATIENCE) == Joined::Ended
    }
}

struct Working<'m> {
    dds: Dds,
    topics: Vec<(&'static Topic, Out)>,
    driver: Driver,
    streams: Streams<'m>,
    readings: Readings,
    origin: u64,
    /// What went out.
    messages: u64,
    bytes: u64,
    /// How many remarks have been told.
    remarks: usize,
}

impl Working<'_> {
    fn work(&mut self, mut reader: Reader, leaves: &AtomicBool, progress: &Progress) {
        while !leaves.load(Ordering::Acquire) {
            let over = reader.is_over();
            while let Some(item) = reader.next_now() {
                match item {
                    Item::Entry(entry) => self.entry(&entry),
                    Item::Lost(_) => self.streams.lost(),
                }
            }
            progress.note(self.messages, self.bytes, reader.lost());
            if over {
                return;
            }
            let _ = self.dds.look();
            self.tell_remarks();
            std::thread::sleep(PACE);
        }
    }

    fn begin(&mut self) {
        let mut out = vec![];
        self.driver.commands(false, &mut |topic, bytes| out.push((topic, bytes)));
        self.publish(out);
    }

    fn publish(&mut self, out: Vec<(&'static Topic, Vec<u8>)>) {
        for (topic, bytes) in out {
            let to = self.topics.iter().find(|(known, _)| std::ptr::eq(*known, topic));
            let length = bytes.len() as u64;
            if to.is_some_and(|(_, to)| self.dds.publish(*to, bytes)) {
                self.messages += 1;
                self.bytes += length;
            }
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match &entry.what {
            What::Opened { port } => self.streams.opened(*port),
            What::Sent { port, bytes } => self.streams.sent(*port, bytes),
            What::Received { port, bytes, first_start } => self.received(entry.at, *port, bytes, *first_start),
            _ => {}
        }
    }

    fn received(&mut self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) {
        let (driver, readings) = (&mut self.driver, &mut self.readings);
        let micros = at.as_micros();
        let stamp = Time::from_unix_nanos(self.origin.saturating_add(micros.saturating_mul(1_000)));
        let mut out = vec![];
        self.streams.received(port, bytes, first_start, |message| {
            let fresh = match &message {
                Message::Realtime(_) => readings.state(Port::Realtime, micros, |to| message.visit_state(to)),
                Message::Rtde(..) => {
                    let port = if port == VARIABLES { Port::Variables } else { Port::Rtde };
                    readings.state(port, micros, |to| message.visit_state(to))
                }
                Message::Fri(_) => readings.state(Port::Fri, micros, |to| message.visit_state(to)),
                Message::SubPackage(package) => {
                    readings.sub_package(package.name(), micros, |to| package.visit(to))
                }
                Message::Primary(_, Some(software)) => {
                    readings.identified(*software);
                    false
                }
                _ => false,
            };
            if fresh {
                driver.state(readings, stamp, &mut |topic, bytes| out.push((topic, bytes)));
            }
        });
        self.publish(out);
    }

    /// What others want that cannot be, each once.
    fn tell_remarks(&mut self) {
        let all = self.dds.remarks();
        for remark in all.iter().skip(self.remarks) {
            let Remark::Incompatible { topic, theirs, ours } = remark;
            crate::show::complain(&format!(
                "{topic}: somebody asks for {theirs}, and it is offered {ours}: they hear nothing of it"
            ));
        }
        self.remarks = all.len();
    }
}
