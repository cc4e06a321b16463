//! A UDP socket that exchanges datagrams with any sender.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::task::Poll;

use outrigger_config::BusyPoll;
use outrigger_core::drive;

use super::state_prediction::Pace;

use crate::exit::Failure;
use crate::feed::Tap;
use crate::host::clock::Clock;
use crate::host::reactor::{self, Readiness};

/// A UDP socket, bound from its creation on, that receives the measurements of a KRC and sends the answers to them.
#[derive(Debug)]
pub struct Datagrams {
    socket: reactor::Datagrams,
    clock: Clock,
    tap: Option<Tap>,
    pace: Pace,
}

impl Datagrams {
    /// Binds the UDP socket at the local address `at`.
    pub(super) fn keep_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    pub(super) fn listen(at: SocketAddr, clock: Clock) -> Result<Self, Failure> {
        let socket = reactor::Datagrams::bind(at).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::AddrInUse => "; is another remote computer running? One alone can answer a KRC",
                ErrorKind::AddrNotAvailable => "; it has to be an address of this machine, or 0.0.0.0",
                _ => "",
            };
            Failure::Connection(format!("cannot listen on {at}: {error}{hint}"))
        })?;
        Ok(Self { socket, clock, tap: None, pace: Pace::new(clock, BusyPoll::Off) })
    }

    pub(super) fn local(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Copies all traffic of the UDP socket to `tap` from now on.
    pub(super) fn tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }
}

impl drive::Datagrams for Datagrams {
    /// Returns `true` (success) without doing anything: the socket receives datagrams since its creation, at the port
    /// chosen then.
    fn listen(&mut self, _: u16) -> bool {
        true
    }

    async fn receive(&mut self, window: &mut [u8]) -> (usize, SocketAddr) {
        let Self { socket, .. } = self;
        let received = poll_fn(|_| match socket.poll_io(Readiness::Reading, |socket| socket.recv_from(window)) {
            Poll::Ready(Ok(received)) => Poll::Ready(received),
            // An error concerns one datagram. If it persists, other tasks still get their turn.
            Poll::Ready(Err(_)) => {
                socket.is_named(Readiness::Reading);
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        })
        .await;
        // Other datagrams may be queued, and the newest one is to be answered.
        socket.again();
        if self.tap.is_some() || self.pace.is_asked_for() {
            let now = self.clock.now();
            self.pace.arrived(now);
            if let Some(tap) = &mut self.tap {
                tap.received(now, window.get(..received.0).unwrap_or_default());
            }
        }
        received
    }

    fn send(&mut self, bytes: &[u8], to: SocketAddr) {
        // A datagram that cannot be sent is lost, as on any network. The peer and the link monitor detect that.
        if self.socket.send_to(bytes, to).is_ok()
            && let Some(tap) = &mut self.tap
        {
            tap.sent(self.clock.now(), bytes);
        }
    }
}
