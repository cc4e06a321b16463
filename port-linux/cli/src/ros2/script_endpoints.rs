//! The DDS endpoints by which scripts of a simulated PolyScope X use ROS 2: publishers, subscribers and clients.
//!
//! They are handled on a thread of its own beside the controller's, as on the real controller, where they are not
//! part of the control loop either.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use outrigger_ros2::node::dds::{Dds, Domain, Remark, ServiceClient, TopicPublisher, TopicSubscriber};
use outrigger_ros2_messages::Gid;
use outrigger_ros2_messages::endpoint::Distro;
use outrigger_sim::ros::{End, RosOutput};
use outrigger_sim::tcp::Running;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{self, Instant};

use outrigger::exit::Failure;
use outrigger::host::clock::Clock;
use outrigger::host::worker::{Joined, Worker};
use outrigger::show::say;

/// The interval at which the thread that connects scripts to ROS 2 wakes.
const PACE: Duration = Duration::from_millis(1);
/// The longest wait, at the end, for the thread that serves the scripts' ROS 2 endpoints.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time for which a ROS 2 endpoint is kept after a script has closed it, because its last message may not have
/// arrived yet.
const LINGERS: time::Duration = time::Duration::from_millis(500);
/// The interval at which announcements of other ROS 2 nodes are read.
const NEIGHBOURS: time::Duration = time::Duration::from_secs(1);
/// The first controller software whose scripts use ROS 2 (`core/docs/protocol/ros2-surface.md` 4.1).
const SINCE: SoftwareVersion = SoftwareVersion::new(10, 7);
/// The name of the ROS 2 node of the simulated controller. The name that a real controller uses is unknown.
const NAME: &str = "controller";

/// The options by which the scripts of a simulated controller use ROS 2.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ScriptsArgs {
    /// Connect scripts to ROS 2: ros_publisher_factory, ros_subscriber_factory, ros_service_client_factory (PolyScope
    /// X, 10.7 on); without it they run, but reach no other node
    #[arg(long)]
    pub ros: bool,
    /// Domain of ROS 2, 0 to 232 (a real controller: 0 to 5); default: ROS_DOMAIN_ID, or 0
    #[arg(long, value_name = "N", requires = "ros", value_parser = clap::value_parser!(u16).range(0..=232))]
    pub domain: Option<u16>,
    /// Address of the network interface to join ROS 2 by; default: every one, or according to
    /// ROS_AUTOMATIC_DISCOVERY_RANGE
    #[arg(long, value_name = "ADDR", requires = "ros")]
    pub interface: Option<IpAddr>,
    /// Host to announce the scripts to individually, if multicast does not reach it; repeat for each host; also:
    /// ROS_STATIC_PEERS
    #[arg(long = "peer", value_name = "HOST", requires = "ros")]
    pub peers: Vec<String>,
}

impl ScriptsArgs {
    /// Checks that scripts of this software can use ROS 2, if that is requested.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the software has no such functions.
    pub(crate) fn check(&self, software: SoftwareVersion) -> Result<(), Failure> {
        if self.ros && software < SINCE {
            return Err(Failure::Usage(format!(
                "--ros: scripts speak ROS 2 from software {SINCE} on, found {software}: say --polyscope 10.12"
            )));
        }
        Ok(())
    }
}

/// The ROS 2 endpoints of a simulated controller's scripts. Dropping this leaves the ROS 2 domain.
#[derive(Debug)]
pub(crate) struct Scripts {
    worker: Option<Worker>,
    leaves: Arc<AtomicBool>,
}

impl Scripts {
    /// Joins the ROS 2 domain for the scripts of a simulated controller.
    ///
    /// # Errors
    /// [`Failure::Usage`] for environment variables that cannot be followed, [`Failure::BadInput`] if the domain
    /// cannot be joined, [`Failure::Connection`] for a peer without an address.
    pub(crate) fn join(args: &ScriptsArgs, controller: Arc<Running>) -> Result<Self, Failure> {
        let place = Domain::find(args.domain, args.interface, args.peers.clone())?;
        let at = place.addresses();
        let Domain { domain, interfaces, peers } = place;
        let clock = Clock::start();
        // The layouts of Humble are those of the real controller.
        let dds = Dds::join(domain, &interfaces, &peers, Distro::Humble, clock)?;
        say!("ROS 2: scripts speak at {at}, domain {domain}");
        let leaves = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&leaves);
        let work = move || {
            let mut speaking = ScriptEndpoints {
                dds,
                controller,
                ends: BTreeMap::new(),
                served: BTreeSet::new(),
                closed: vec![],
                neighbours_at: clock.now(),
                remarks: 0,
            };
            speaking.announce();
            while !asked.load(Ordering::Acquire) {
                speaking.attend(clock.now());
                std::thread::sleep(PACE);
            }
        };
        let worker = Worker::start("ros2", work)
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { worker: Some(worker), leaves })
    }

    /// Leaves the ROS 2 domain and announces that. Returns `false` if that takes longer than [`PATIENCE`].
    pub(crate) fn finish(mut self) -> bool {
        self.leaves.store(true, Ordering::Release);
        self.worker.take().is_some_and(|worker| worker.join(PATIENCE) == Joined::Ended)
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        self.leaves.store(true, Ordering::Release);
    }
}

/// A ROS 2 endpoint that a script of the simulated controller has opened: of a topic to send or to receive, or of a
/// service to call.
enum Opened {
    Publishing(TopicPublisher),
    Hearing(TopicSubscriber),
    Asking(Box<ServiceClient>),
}

struct ScriptEndpoints {
    dds: Dds,
    controller: Arc<Running>,
    ends: BTreeMap<End, Opened>,
    /// The scripts' service clients for which a server of the service was present when that was last checked.
    served: BTreeSet<End>,
    /// The endpoints that scripts have closed, with the time until which each is kept.
    closed: Vec<(Instant, Opened)>,
    /// The time at which announcements of other ROS 2 nodes are read next.
    neighbours_at: Instant,
    /// The number of topics that have been reported because their quality of service does not match that of another
    /// node.
    remarks: usize,
}

impl ScriptEndpoints {
    /// Executes the scripts' requests to ROS 2 endpoints, and passes received data to the scripts.
    fn attend(&mut self, now: Instant) {
        self.take_outputs(now);
        let (over, staying) = std::mem::take(&mut self.closed).into_iter().partition(|(until, _)| *until <= now);
        self.closed = staying;
        for (_, opened) in over {
            self.close(opened);
        }
        if self.dds.rejoin_if_needed() {
            self.open_again();
        }
        self.dds.learn_all();
        if now >= self.neighbours_at {
            self.neighbours_at = now + NEIGHBOURS;
            self.dds.ignore_others();
        }
        self.hand_in();
        self.tell();
    }

    fn take_outputs(&mut self, now: Instant) {
        let outputs: Vec<RosOutput> = {
            let mut controller = self.controller.controller();
            std::iter::from_fn(|| controller.poll_ros()).collect()
        };
        let sends = |output: &RosOutput| matches!(output, RosOutput::Message { .. } | RosOutput::Request { .. });
        let changes = outputs.iter().any(|output| !sends(output));
        for output in outputs {
            if let Err(failure) = self.output(output, now) {
                say!("{failure}");
            }
        }
        if changes {
            self.announce();
        }
    }

    fn output(&mut self, output: RosOutput, now: Instant) -> Result<(), Failure> {
        match output {
            RosOutput::Publishes { end, topic, message, qos } => {
                self.ends.insert(end, Opened::Publishing(self.dds.opens(&topic, message, qos)?));
            }
            RosOutput::Listens { end, topic, message, qos } => {
                self.ends.insert(end, Opened::Hearing(self.dds.hears(&topic, message, qos)?));
            }
            RosOutput::Asks { end, service, kind } => {
                self.ends.insert(end, Opened::Asking(Box::new(self.dds.asks(&service, kind)?)));
            }
            RosOutput::Message { end, bytes } => {
                if let Some(Opened::Publishing(publishing)) = self.ends.get(&end) {
                    // A message that finds no free buffer is dropped.
                    let _ = publishing.publish(bytes);
                }
            }
            RosOutput::Request { end, number, bytes } => {
                if let Some(Opened::Asking(asking)) = self.ends.get_mut(&end) {
                    asking.ask(number, bytes);
                }
            }
            RosOutput::Closed { end } => {
                self.closed.extend(self.ends.remove(&end).map(|opened| (now + LINGERS, opened)));
            }
        }
        Ok(())
    }

    /// Opens the scripts' endpoints again, after the ROS 2 domain was joined again.
    fn open_again(&mut self) {
        self.closed.clear();
        for opened in self.ends.values_mut() {
            let opened = match opened {
                Opened::Publishing(publishing) => publishing.open_again(&mut self.dds),
                Opened::Hearing(hearing) => hearing.open_again(&mut self.dds),
                Opened::Asking(asking) => asking.open_again(&mut self.dds),
            };
            if let Err(failure) = opened {
                say!("{failure}");
            }
        }
        self.announce();
    }

    fn close(&mut self, opened: Opened) {
        match opened {
            Opened::Publishing(publishing) => publishing.close(&mut self.dds),
            Opened::Hearing(hearing) => hearing.close(&mut self.dds),
            Opened::Asking(asking) => asking.close(&mut self.dds),
        }
    }

    /// Passes the data received from other ROS 2 nodes to the scripts of the simulated controller.
    fn hand_in(&mut self) {
        let (mut messages, mut answers) = (vec![], vec![]);
        let mut served = BTreeSet::new();
        for (end, opened) in &mut self.ends {
            match opened {
                Opened::Publishing(_) => {}
                Opened::Hearing(hearing) => messages.extend(hearing.take().into_iter().map(|bytes| (*end, bytes))),
                Opened::Asking(asking) => {
                    let came = asking.attend(&self.dds);
                    answers.extend(came.into_iter().map(|(number, bytes)| (*end, number, bytes)));
                    served.extend(asking.is_served(&self.dds).then_some(*end));
                }
            }
        }
        if messages.is_empty() && answers.is_empty() && served == self.served {
            return;
        }
        // The controller drops bytes that are not a message of the expected type.
        let mut controller = self.controller.controller();
        for end in self.served.symmetric_difference(&served) {
            controller.ros_served(*end, served.contains(end));
        }
        self.served = served;
        for (end, bytes) in messages {
            let _ = controller.ros_message(end, &bytes);
        }
        for (end, number, bytes) in answers {
            let _ = controller.ros_answer(end, number, &bytes);
        }
    }

    /// Announces the ROS 2 node to which all endpoints of the scripts belong.
    fn announce(&self) {
        let (mut readers, mut writers): (Vec<Gid>, Vec<Gid>) = (vec![], vec![]);
        for opened in self.ends.values() {
            match opened {
                Opened::Publishing(publishing) => writers.extend(publishing.writers()),
                Opened::Hearing(hearing) => readers.extend(hearing.readers()),
                Opened::Asking(asking) => {
                    readers.extend(asking.readers());
                    writers.extend(asking.writers());
                }
            }
        }
        self.dds.announce_all("", NAME, readers, writers);
    }

    /// Reports topics whose quality of service does not match that of another node, each once, and messages of the DDS
    /// transport.
    fn tell(&mut self) {
        let all = self.dds.remarks();
        for Remark::Incompatible { topic, theirs, ours } in all.iter().skip(self.remarks) {
            say!("ROS 2: {topic}: others have {theirs}, and the script {ours}: they do not hear each other");
        }
        self.remarks = all.len();
        for news in self.dds.news() {
            say!("ROS 2: {news}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_whose_scripts_do_not_speak_ros_is_refused_with_one_whose_do() {
        let ros = ScriptsArgs { ros: true, ..ScriptsArgs::default() };
        assert!(ros.check(SINCE).is_ok() && ScriptsArgs::default().check(SoftwareVersion::new(1, 8)).is_ok());
        for old in [SoftwareVersion::new(1, 8), SoftwareVersion::new(5, 25), SoftwareVersion::new(10, 6)] {
            let error = ros.check(old).expect_err("it has no such functions").to_string();
            assert!(error.contains("--polyscope 10.12") && error.contains(&old.to_string()), "{error}");
        }
    }
}
