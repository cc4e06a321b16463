//! Sockets and the clock for a loop of one's own, inside of [`block_on`](crate::host::block_on).
//!
//! ```no_run
//! use outrigger::host::{Clock, block_on};
//! use outrigger::net::Net;
//!
//! let listen = "0.0.0.0:49938".parse()?;
//! block_on(async {
//!     let net = Net::listening(listen, Clock::start(), None).await?;
//!     println!("a KRC may send to {}", net.local()?);
//!     // From here on `maker::krc::run`, or `core::drive` with an engine of one's own: see the examples `two_arms` and `haptic`.
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?
//! # ; Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod datagrams;
pub(crate) mod engine;
mod pace;
mod stream;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use outrigger_config::RobotAddress;
use outrigger_core::drive;
use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::LINKS;
use outrigger_wire::time::{Duration, Instant};

pub(crate) use self::datagrams::Datagrams;
use self::pace::Pace;
pub(crate) use self::stream::Link;
use self::stream::Robot;
pub use self::stream::cannot_connect;
use crate::exit::Failure;
use crate::feed::{Feed, Tap};
use crate::host::clock::Clock;
use crate::host::reactor;

/// The kernel's sockets for one robot.
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

/// What went wrong last on each link, for people: the engine only needs to know that something did.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<[Option<String>; LinkId::MOST]>>);

impl Trouble {
    /// What went wrong last on `link`: address, port and the kernel's words.
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
    /// Sockets that connect to the robot at `address`, which has been resolved to `ip`.
    ///
    /// From `busy_poll_micros` before a state is due the loop does not sleep.
    #[must_use]
    pub fn connecting(address: &RobotAddress, ip: IpAddr, clock: Clock, busy_poll_micros: Option<u32>) -> Self {
        let (trouble, pace) = (Trouble::default(), pace(clock, busy_poll_micros));
        let robot = Robot { address: address.clone(), ip };
        let ids = LINKS.into_iter().chain([LinkId::REVERSE, LinkId::SCRIPT, LinkId::TRAJECTORY, LinkId::COMMAND]);
        let streams = ids.map(|id| Link::new(id, robot.clone(), clock, pace, trouble.clone())).collect();
        Self { clock: PortClock(clock), streams, datagrams: None, trouble }
    }

    /// A socket that listens at `at` for a robot that sends by itself.
    ///
    /// # Errors
    /// [`Failure::Connection`] where the address is taken.
    pub async fn listening(at: SocketAddr, clock: Clock, busy_poll_micros: Option<u32>) -> Result<Self, Failure> {
        let datagrams = Datagrams::listen(at, clock, pace(clock, busy_poll_micros))?;
        let clock = PortClock(clock);
        Ok(Self { clock, streams: vec![], datagrams: Some(datagrams), trouble: Trouble::default() })
    }

    /// From now on everything that crosses the sockets is put into `feed` as well, but for the link `apart`.
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

    /// Where to ask what went wrong, also while the sockets are lent out.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    /// Where datagrams arrive.
    ///
    /// # Errors
    /// What the kernel says; of sockets that connect, that they do not listen.
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

fn pace(clock: Clock, busy_poll_micros: Option<u32>) -> Pace {
    Pace::new(clock, busy_poll_micros.map(|micros| Duration::from_micros(micros.into())))
}

/// The process's clock, with the time-outs of the reactor.
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
