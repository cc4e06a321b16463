//! Sockets and the clock for an application's own loop, inside of [`block_on`](crate::host::block_on).
//!
//! ```no_run
//! use outrigger::host::{Clock, block_on};
//! use outrigger::net::Net;
//!
//! let listen = "0.0.0.0:49938".parse()?;
//! block_on(async {
//!     let net = Net::listening(listen, Clock::start()).await?;
//!     println!("a KRC may send to {}", net.local()?);
//!     // From here on `vendor::krc::run`, or `core::drive` with an engine of one's own: see the examples `two_arms` and `haptic`.
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?
//! # ; Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod datagrams;
pub(crate) mod engine_runner;
mod polling_window;
mod state_prediction;
mod tcp_links;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use outrigger_config::{BusyPoll, RobotAddress};
use outrigger_core::drive;
use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::LINKS;
use outrigger_wire::time::Instant;

pub(crate) use self::datagrams::Datagrams;
use self::state_prediction::Pace;
pub(crate) use self::tcp_links::Link;
use self::tcp_links::Robot;
pub use self::tcp_links::cannot_connect;
use crate::exit::Failure;
use crate::feed::{Feed, Tap};
use crate::host::clock::Clock;
use crate::host::reactor;

/// The operating system's sockets for the links to one robot.
pub struct Net {
    clock: PortClock,
    streams: Vec<Link>,
    datagrams: Option<Datagrams>,
    trouble: Trouble,
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").finish_non_exhaustive()
    }
}

/// The last error of each link, for people. The engine only learns that an error occurred.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<[Option<String>; LinkId::MOST]>>);

impl Trouble {
    /// Returns the last error of `link`: address, port and the text of the operating system.
    #[must_use]
    pub fn of(&self, link: LinkId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(link.index()).cloned().flatten()
    }

    fn note(&self, link: LinkId, text: String) {
        if let Some(slot) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(link.index()) {
            *slot = Some(text);
        }
    }
}

impl Net {
    /// Creates sockets that connect to the robot at `address`, which was resolved to `ip`.
    #[must_use]
    pub fn connecting(address: &RobotAddress, ip: IpAddr, clock: Clock) -> Self {
        let trouble = Trouble::default();
        let robot = Robot { address: address.clone(), ip };
        let ids = LINKS.into_iter().chain([LinkId::REVERSE, LinkId::SCRIPT, LinkId::TRAJECTORY, LinkId::COMMAND]);
        let streams = ids.map(|id| Link::new(id, robot.clone(), clock, trouble.clone())).collect();
        Self { clock: PortClock(clock), streams, datagrams: None, trouble }
    }

    /// Creates a UDP socket at the local address `at`, for a robot that sends datagrams (a KRC).
    ///
    /// # Errors
    /// Returns [`Failure::Connection`] if the socket cannot be bound, e.g. because the address is in use.
    pub async fn listening(at: SocketAddr, clock: Clock) -> Result<Self, Failure> {
        let datagrams = Datagrams::listen(at, clock)?;
        let clock = PortClock(clock);
        Ok(Self { clock, streams: vec![], datagrams: Some(datagrams), trouble: Trouble::default() })
    }

    /// Lets the loop poll for the robot's states, as `busy_poll` says, instead of sleeping.
    #[must_use]
    pub fn with_polling(mut self, busy_poll: BusyPoll) -> Self {
        let pace = Pace::new(self.clock.0, busy_poll);
        for link in self.streams.iter_mut().filter(|link| matches!(link.id(), LinkId::REALTIME | LinkId::RTDE)) {
            link.keep_pace(pace.clone());
        }
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.keep_pace(pace);
        }
        self
    }

    /// Copies all traffic of the sockets into `feed` (a queue of traffic and events to many readers, e.g. a recording),
    /// except that of the link `apart`.
    #[must_use]
    pub fn with_feed(mut self, feed: &Feed, apart: Option<LinkId>) -> Self {
        for link in self.streams.iter_mut().filter(|link| Some(link.id()) != apart) {
            link.tap(Tap::new(feed.clone()));
        }
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.tap(Tap::of_datagrams(feed.clone()));
        }
        self
    }

    /// Returns a handle to the last error of each link. It can be used while the sockets are in use elsewhere.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    /// Returns the local address that receives datagrams.
    ///
    /// # Errors
    /// Returns the error of the operating system; `Unsupported` for sockets that connect, because they receive no
    /// datagrams.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.datagrams.as_ref().map_or_else(|| Err(io::ErrorKind::Unsupported.into()), Datagrams::local)
    }
}

impl drive::Net for Net {
    type Clock = PortClock;
    type Socket = Link;
    type Datagrams = Datagrams;

    fn split(&mut self) -> (&PortClock, drive::Sockets<'_, Link, Datagrams>) {
        (&self.clock, drive::Sockets { streams: &mut self.streams, datagrams: self.datagrams.as_mut() })
    }
}

/// The process's clock, with the timers of the reactor.
#[derive(Clone, Copy, Debug)]
pub struct PortClock(Clock);

impl drive::Clock for PortClock {
    fn now(&self) -> Instant {
        self.0.now()
    }

    async fn sleep_until(&self, at: Instant) {
        reactor::sleep_until(self.0, at).await;
    }
}
