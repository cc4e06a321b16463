//! What the programs for KUKA arms have in common: an arm with a name, real or simulated.
#![allow(dead_code, reason = "each program uses its part")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use outrigger_core::engine::Event;
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::time::Duration as Span;
use outrigger_linux::clock::Clock;
use outrigger_linux::exit::Failure;
use outrigger_linux::krc::Remote;
use outrigger_sim::krc::{Krc, Options, Truth};
use outrigger_sim::udp::{Running, Server};

/// What goes wrong in these programs, in words.
pub(crate) type Trouble = Box<dyn std::error::Error>;

/// Period of simulated KRCs: what they demand is met by a machine that does other things as well.
pub(crate) const PERIOD: Duration = Duration::from_millis(20);

/// Longest wait in which nothing happens.
const IDLE: Span = Span::from_secs(1);

/// One arm.
pub(crate) struct Arm<L> {
    pub(crate) name: &'static str,
    pub(crate) remote: Remote<L>,
    /// Why commanding ended last, where nobody asked for it.
    pub(crate) fell_back: Option<Reason>,
    clock: Clock,
    simulated: Option<Running>,
}

impl<L: Law<7>> Arm<L> {
    /// Listens at `listen` for a real KRC; without it, beside a simulated one of its own.
    pub(crate) async fn open(
        name: &'static str,
        listen: Option<SocketAddr>,
        simulated: Options,
        config: KrcConfig,
        law: L,
        clock: Clock,
    ) -> Result<Self, Trouble> {
        let session = KrcEngine::new(config, law, ())?;
        let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let remote = Remote::open(listen.unwrap_or(loopback), session, clock, None).await?;
        let simulated = match listen {
            Some(_) => None,
            None => {
                let krc = Krc::new(Options { period: PERIOD, ..simulated })?;
                Some(Server::bind(krc, loopback, remote.local()?)?.spawn()?)
            }
        };
        println!(
            "{name}: {}",
            match listen {
                Some(listen) => format!("waiting for a KRC at {listen}"),
                None => "a simulated KRC".into(),
            }
        );
        Ok(Self { name, remote, clock, fell_back: None, simulated })
    }

    pub(crate) fn mode(&self) -> Mode {
        self.remote.session().mode()
    }

    /// Waits for the KRC and answers it.
    pub(crate) async fn turn(&mut self) -> Result<(), Failure> {
        let latest = self.clock.now() + IDLE;
        self.remote.turn(latest).await
    }

    /// Asks to command as soon as a request would not be refused.
    pub(crate) fn request_when_ready(&mut self) {
        if self.mode() == Mode::Monitor && self.remote.session().unmet(self.clock.now()).is_empty() {
            let epoch = self.remote.session().mode_machine().epoch();
            self.remote.give(Input::Request(epoch));
        }
    }

    /// Tells what has happened.
    pub(crate) fn tell(&mut self) {
        while let Some(event) = self.remote.next_event() {
            let Event::Transition(transition) = event else { continue };
            let reason = transition.reason.filter(|reason| !reason.is_release());
            let why = reason.map_or_else(String::new, |reason| format!(": {}", reason.text()));
            println!("{}: {} -> {}{why}", self.name, transition.from.name(), transition.to.name());
            // A KRC that was late before anything was asked of it has ended nothing.
            let commanding = matches!(transition.from, Mode::Arming | Mode::Command | Mode::Stopping);
            self.fell_back = reason.filter(|_| commanding).or(self.fell_back);
        }
    }

    /// The simulated arm, where it is one.
    pub(crate) fn truth(&self) -> Option<Truth> {
        self.simulated.as_ref().map(|running| running.krc().truth())
    }

    /// Somebody pushes the flange of a simulated arm \[N\], along the base's axes.
    pub(crate) fn push(&self, [x, y, z]: [f64; 3]) {
        if let Some(running) = &self.simulated {
            running.krc().push([x, y, z, 0.0, 0.0, 0.0]);
        }
    }
}
