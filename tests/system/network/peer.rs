//! The simulated controller that the program runs beside, and observations of its arm.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::namespace::Namespace;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::time::SimTime;
use outrigger_sim::{krc, tcp, udp};
use outrigger_wire::robot::SoftwareVersion;

use super::relay::CONTROLLER;

/// The time between two observations of the simulated arm.
const GLANCE: Duration = Duration::from_millis(1);
/// The UDP port that `outrigger run` listens on beside a KRC.
const FRI: u16 = 49_938;

/// The kind of simulated controller that `outrigger run` is tested with, and the source of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Beside {
    /// A UR controller with RTDE at 500 Hz.
    Rtde,
    /// A UR controller with port 30003 at 125 Hz.
    Realtime,
    /// A KRC with FRI datagrams at 200 Hz.
    Krc,
}

impl Beside {
    pub(super) const ALL: [Self; 3] = [Self::Rtde, Self::Realtime, Self::Krc];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rtde => "UR 5.15, RTDE at 500 Hz",
            Self::Realtime => "UR 3.15, port 30003 at 125 Hz",
            Self::Krc => "KRC, FRI at 200 Hz",
        }
    }

    /// Returns the shortest standstill of the computer that runs the test that may end commanding. It is half of
    /// `stale_after`, which is 40 ms on a stream and three periods beside a KRC. The other half is the largest age of a
    /// state when the standstill begins.
    pub(super) const fn ending(self) -> Duration {
        Duration::from_micros(match self {
            Self::Rtde | Self::Realtime => 20_000,
            Self::Krc => 7_500,
        })
    }

    pub(super) const fn period(self) -> Duration {
        Duration::from_millis(match self {
            Self::Rtde => 2,
            Self::Realtime => 8,
            Self::Krc => 5,
        })
    }

    /// Returns the amplitude of the base joint's motion \[°\], whose speed is near the limits, and the text of a
    /// seventh joint if the arm has one.
    const fn swing(self) -> (f64, &'static str) {
        match self {
            Self::Rtde | Self::Realtime => (80.0, ""),
            Self::Krc => (35.0, ", 0"),
        }
    }

    /// Returns the configuration of `outrigger run` beside this controller.
    pub(super) fn configuration(self, here: Ipv4Addr, there: Ipv4Addr) -> String {
        let robot = match self {
            Self::Rtde => format!("address = \"{there}\""),
            Self::Realtime => format!(
                "address = \"{there}\"\n\n[session]\nexpert.pendant_stop = \"overridden\"\n\n[connect]\nexpert.states = \"realtime\""
            ),
            Self::Krc => format!(
                "kind = \"krc\"\nlisten = \"{here}:{FRI}\"\npeer = \"{there}\"\nhandshake = \"ros-control\"\n\n\
                 [limits]\nvelocity = 0.5"
            ),
        };
        let (far, seventh) = self.swing();
        let waypoint = |number: u32| {
            let (at, to) = (f64::from(number) * 3.0, if number % 2 == 1 { far } else { 0.0 });
            format!("[[law.waypoint]]\nat = {at:.1}\ndegrees = [{to:.1}, 0, 0, 0, 0, 0{seventh}]\n")
        };
        let law: String = (0..16).map(waypoint).collect();
        format!(
            "[robot]\n{robot}\n\n[run]\nrequest = \"start\"\nend = \"never\"\n\n\
             [law]\nkind = \"joint-servo\"\nrelative = true\n\n{law}"
        )
    }
}

/// An observation of the arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance {
    pub(super) at: SimTime,
    pub(super) q: [f64; 7],
    pub(super) qd: [f64; 7],
}

impl Glance {
    /// Returns the speed of the fastest joint \[rad/s\].
    pub(super) fn speed(&self) -> f64 {
        self.qd.iter().fold(0.0, |most, speed| speed.abs().max(most))
    }

    /// Returns the largest difference of a joint between two observations \[rad\].
    pub(super) fn distance(&self, other: &Self) -> f64 {
        self.q.iter().zip(other.q).fold(0.0, |most, (q, other)| (q - other).abs().max(most))
    }
}

/// Counts of states and commands at the controller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Came {
    /// The number of states that a UR controller has sent, counted as its cycles, or of measurements that a KRC has
    /// sent.
    pub(super) states: u64,
    /// The number of motion commands that a UR controller has received, or of answers that a KRC has accepted.
    pub(super) commands: u64,
}

enum Running {
    Ur(tcp::Running),
    Krc(udp::Running),
}

impl Running {
    fn glance(&self, clock: Clock) -> Glance {
        let (mut q, mut qd) = ([0.0; 7], [0.0; 7]);
        match self {
            Self::Ur(ur) => {
                let controller = ur.controller();
                let arm = controller.truth();
                q[..6].copy_from_slice(&arm.q);
                qd[..6].copy_from_slice(&arm.qd);
            }
            Self::Krc(krc) => {
                let truth = krc.krc().truth();
                (q, qd) = (truth.q, truth.qd);
            }
        }
        Glance { at: clock.now(), q, qd }
    }

    fn came(&self) -> Came {
        match self {
            Self::Ur(ur) => {
                let controller = ur.controller();
                let commands = controller.texts().iter().filter(|text| text.text.contains("speedj("));
                Came { states: controller.cycles(), commands: commands.count() as u64 }
            }
            Self::Krc(krc) => {
                let counts = krc.krc().counts();
                Came { states: counts.sent, commands: counts.answered }
            }
        }
    }
}

/// A running controller, and a thread that observes its arm.
pub(super) struct Peer {
    running: Arc<Running>,
    seen: Arc<Mutex<Vec<Glance>>>,
    end: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl Peer {
    pub(super) fn start(beside: Beside, namespace: &Namespace, here: Ipv4Addr, there: Ipv4Addr, clock: Clock) -> Self {
        let running = namespace.inside(|| {
            Ok(match beside {
                Beside::Rtde | Beside::Realtime => {
                    let software = if beside == Beside::Rtde { (5, 15) } else { (3, 15) };
                    let options = Options::for_software(SoftwareVersion::new(software.0, software.1));
                    let mut controller = Controller::new(options).expect("an arm that can be");
                    controller.keep_texts();
                    let server = tcp::Server::bind(controller, here.into(), tcp::REAL_PORTS).expect("free ports");
                    Running::Ur(server.spawn()?)
                }
                Beside::Krc => {
                    let options = krc::Options { period: beside.period(), ..krc::Options::default() };
                    let krc = krc::Krc::new(options).expect("a KRC that can be");
                    let local = SocketAddr::from((here, *CONTROLLER.start()));
                    let remote = SocketAddr::from((there, FRI));
                    Running::Krc(udp::Server::bind(krc, local, remote)?.spawn()?)
                }
            })
        });
        let running = Arc::new(running.expect("a controller"));
        let (seen, end) = (Arc::<Mutex<Vec<Glance>>>::default(), Arc::<AtomicBool>::default());
        let (theirs, into, until) = (Arc::clone(&running), Arc::clone(&seen), Arc::clone(&end));
        let watcher = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                let glance = theirs.glance(clock);
                into.lock().unwrap_or_else(PoisonError::into_inner).push(glance);
                std::thread::sleep(GLANCE);
            }
        });
        Self { running, seen, end, watcher: Some(watcher) }
    }

    pub(super) fn came(&self) -> Came {
        self.running.came()
    }

    /// Returns the newest observation of the arm. `None` before the first.
    pub(super) fn now(&self) -> Option<Glance> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).last().copied()
    }

    /// Ends the observation and returns all of it.
    pub(super) fn end(mut self) -> Vec<Glance> {
        self.stop();
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn stop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            // The thread has nothing that could panic.
            let _ = watcher.join();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}
