//! The check of `outrigger doctor --ros2`: the conflicts that a node would have in its domain, and the topics that
//! the robot cannot fill. The check joins the domain to examine it, and offers nothing there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use outrigger_core::engine::Config;
use outrigger_ros2_messages::Gid;
use outrigger_wire::time::{self, Instant};
use rustdds::{DomainParticipant, DomainParticipantBuilder, RTPSEntity as _, StatusEvented as _};

use super::discovery_probe::Probe;
use super::participant_registry::{Census, GRAPH, graph_topic};
use super::qos_policies::policies;
use super::settings::Settings;
use super::unicast_peers::{Listening, Peers};
use super::{feed_readings, offered_endpoints, variables};
use crate::driver;
use crate::legacy;
use crate::native;
use crate::neighbours::{self, Finding, Neighbourhood, Surroundings, listed};
use crate::readings::Readings;
use outrigger::exit::Failure;
use outrigger::feed::{Feed, Reader, Streams, stream_memory};
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger::host::worker::Worker;
use outrigger::net::Net;
use outrigger::show::examination_result::Sheet;
use outrigger::vendor::extra_reception::Apart;
use outrigger::vendor::{Vendor, Wanted};

/// The interval at which the thread that checks the domain wakes.
const PACE: Duration = Duration::from_millis(5);
/// The largest number of entries of the session's feed, which has all data exchanged with the robot, that are read
/// before the thread checks again whether it is to end.
const ENTRIES: usize = 64;
/// The shortest duration of the check, however soon the robot has answered. Others announce themselves every 3 s
/// (Fast DDS), 8 s (Cyclone DDS) or 10 s (RustDDS), and not all answer a new participant at once.
const LEAST: time::Duration = time::Duration::from_secs(11);
/// The longest wait for the end of the thread that checks the domain.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest number of other ROS 2 programs that are named in the report.
const NAMED: usize = 8;

/// A check of a DDS domain for conflicts and network faults, on a thread of its own.
#[derive(Debug)]
pub struct Watching {
    settings: Settings,
    target: Option<Target>,
    clock: Clock,
    until: Instant,
    leaves: Arc<AtomicBool>,
    readers: Sender<Reader>,
    came: Receiver<(Neighbourhood, Surroundings, Readings)>,
    worker: Worker,
}

/// The findings of the check of a DDS domain as text.
#[derive(Debug)]
pub struct Report {
    findings: Vec<Finding>,
    lines: Vec<String>,
}

impl Watching {
    /// Joins the domain according to `settings` without offering anything. `target` is the address of the node's
    /// robot.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the domain cannot be joined, [`Failure::Connection`] for a peer without an address.
    pub fn start(settings: Settings, target: Option<Target>, clock: Clock) -> Result<Self, Failure> {
        let domain = settings.domain;
        let interfaces = &settings.interfaces;
        let refused = |error: &dyn std::fmt::Display| {
            Failure::BadInput(format!(
                "ROS 2: cannot join domain {domain} at {}: {error}. --interface must be an address of this computer (`ip -4 \
                 addr` lists them)",
                listed(interfaces)
            ))
        };
        // Started first, so that it receives the first messages of the participant.
        let peers = Listening::start(domain, &settings.peers)?;
        let participant = DomainParticipantBuilder::new(domain).with_only_networks(interfaces.iter().copied()).build();
        let participant = participant.map_err(|error| refused(&error))?;
        let own = neighbours::prefix(Gid(participant.guid().to_bytes()));
        let peers = peers.map(|peers| peers.tell(own, clock)).transpose()?;
        let topic = graph_topic(&participant).map_err(|error| refused(&format!("{GRAPH}: {error}")))?;
        let qos = policies(outrigger_ros2_messages::endpoint::Qos::LATCHED);
        let subscriber = participant.create_subscriber(&qos).map_err(|error| refused(&error))?;
        let census = Census::listening(&subscriber, &topic, qos).map_err(|error| refused(&error))?;
        let probe = Probe::start(domain, interfaces, own);
        let leaves = Arc::new(AtomicBool::new(false));
        let ((readers, given), (tell, came)) = (channel(), channel());
        let watch = Watch { participant, _peers: peers, census, probe, given, around: settings.clone() };
        let asked = Arc::clone(&leaves);
        let work = move || {
            // The receiver waits for the result, or is gone and needs it no more.
            let _ = tell.send(watch.until(&asked));
        };
        let worker = Worker::start("neighbours", work)
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { settings, target, clock, until: clock.now() + LEAST, leaves, readers, came, worker })
    }

    /// Lets the check read the data that `controller` sends over the returned [`Net`] and, as long as the returned
    /// [`Apart`] is kept, on additional connections. The check reports the topics that this data does not fill.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the operating system provides no thread.
    pub fn hear<const N: usize, C: Vendor<N>>(
        &self,
        controller: &mut C,
        config: &Config<N, C::Options>,
        clock: Clock,
        net: Net,
    ) -> Result<(Net, Apart), Failure> {
        let (feed, apart) = Feed::pair(C::ENTRIES);
        let _ = self.readers.send(feed.reader());
        let wanted = Wanted::Variables(variables(&[]));
        let (apart, _) = Apart::start(controller, config, wanted, clock, apart)?;
        Ok((net.with_feed(&feed, None), apart))
    }

    /// Returns the findings of the check of the DDS domain, 11 s after [`start`](Self::start) at the earliest.
    ///
    /// # Errors
    /// [`Failure::Fault`] if the thread of the check has ended.
    pub fn finish(self) -> Result<Report, Failure> {
        while self.clock.now() < self.until {
            std::thread::sleep(PACE);
        }
        self.leaves.store(true, Ordering::Release);
        let came = self.came.recv_timeout(PATIENCE);
        let _ = self.worker.join(PATIENCE);
        let (seen, around, readings) =
            came.map_err(|_| Failure::Fault("ROS 2: the check of the domain did not finish".into()))?;
        let offered = offered_endpoints::offered(&self.settings, self.target.as_ref())?;
        let mut findings = neighbours::findings(&offered, &seen);
        findings.extend(neighbours::surroundings(&around, &seen));
        let Settings { domain, ref interfaces, distro, .. } = self.settings;
        let mut lines = vec![
            format!(
                "ROS 2: `outrigger ros2` would be node {} in domain {domain} at {}, for ROS 2 {}",
                offered.node,
                listed(interfaces),
                distro.name()
            ),
            others(&seen.programs()),
        ];
        lines.extend(absent(&self.settings, &readings));
        Ok(Report { findings, lines })
    }
}

/// The state of the thread that checks a DDS domain.
struct Watch {
    participant: DomainParticipant,
    /// The forwarder of announcements to hosts. Dropped after `participant`, because it forwards that participant's
    /// farewell.
    _peers: Option<Peers>,
    census: Census,
    probe: Probe,
    given: Receiver<Reader>,
    around: Settings,
}

impl Watch {
    fn until(mut self, leaves: &AtomicBool) -> (Neighbourhood, Surroundings, Readings) {
        let status = self.participant.status_listener();
        let mut memory = stream_memory();
        let (mut streams, mut readings) = (Streams::new(&mut memory), Readings::default());
        let mut reader: Option<Reader> = None;
        loop {
            let last = leaves.load(Ordering::Acquire);
            if let Ok(given) = self.given.try_recv() {
                reader = Some(given);
            }
            while let Some(event) = status.try_recv_status() {
                self.census.learn(&event);
            }
            self.census.look();
            self.probe.look();
            if let (Some(reader), Some(streams)) = (&mut reader, &mut streams) {
                for item in reader.up_to(ENTRIES) {
                    feed_readings::hear(&mut readings, streams, &item);
                }
            }
            if last {
                break;
            }
            std::thread::sleep(PACE);
        }
        let around = self.probe.surroundings(&self.around.peers);
        (self.census.seen(&self.participant), around, readings)
    }
}

fn others(programs: &[String]) -> String {
    if programs.is_empty() {
        return "  other ROS 2 programs: none found".into();
    }
    let named = programs.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match programs.len().saturating_sub(NAMED) {
        0 => format!("  other ROS 2 programs: {named}"),
        more => format!("  other ROS 2 programs: {named} and {more} more"),
    }
}

/// Returns lines of text that name the topics without data for this robot, by their absolute names, or state that the
/// robot is not connected.
fn absent(settings: &Settings, readings: &Readings) -> Vec<String> {
    if readings.is_empty() {
        return vec!["  topics without data: unknown until the robot is connected".into()];
    }
    let mut unfilled = vec![];
    if settings.surface.has_driver() {
        unfilled.extend(driver::absent(readings, settings.distro));
        unfilled.extend(legacy::absent(readings));
    }
    if settings.surface.has_native() {
        unfilled.extend(native::absent(readings, settings.terminals));
    }
    let is_absent = |topic| unfilled.iter().any(|of| std::ptr::eq(*of, topic));
    let published = offered_endpoints::topics(settings);
    let missing: Vec<_> =
        published.into_iter().filter(|(topic, ..)| is_absent(*topic)).map(|(_, name, _)| name).collect();
    let mut lines = vec![];
    if missing.is_empty() {
        lines.push("  topics without data: none".into());
    } else {
        lines.push(format!(
            "  topics without data, because this robot{} does not report it: {}. Do not wait for them; \
             see port-linux/docs/ros2-topics.md for the software that reports it",
            readings.software().map_or_else(String::new, |software| format!(", with software {software},")),
            missing.join(", ")
        ));
    }
    if settings.surface.has_native() {
        let names: Vec<_> = native::NEVER.iter().map(|topic| settings.names.of(topic.name)).collect();
        lines.push(format!(
            "  topics of PolyScope X without data on any robot, because no controller port reports it: {}",
            names.join(", ")
        ));
    }
    lines
}

impl Report {
    /// Adds the findings of the check to the printed page `sheet`.
    pub fn tell(self, sheet: &mut Sheet) {
        for line in self.lines {
            sheet.line(line);
        }
        let (fixes, notes): (Vec<_>, Vec<_>) = self.findings.into_iter().partition(|finding| finding.fix);
        if fixes.is_empty() && notes.is_empty() {
            sheet.line("  no conflicts found");
        }
        for note in notes {
            sheet.line(format!("  note: {}", note.text));
        }
        for finding in fixes {
            sheet.fix(format!("ROS 2: {}", finding.text));
        }
    }
}
