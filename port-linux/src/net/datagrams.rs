//! A flow of datagrams, to and from whoever sends them.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;

use outrigger_core::drive;
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

use crate::clock::Clock;
use crate::exit::Failure;
use crate::feed::Tap;
use crate::syscalls;

/// A socket that listens since it was made.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
    clock: Clock,
    tap: Option<Tap>,
}

impl Datagrams {
    /// Listens at `at`; reads poll the network device for `busy_poll_micros` where that is given.
    pub(super) async fn listen(at: SocketAddr, clock: Clock, busy_poll_micros: Option<u32>) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(at).await.map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::AddrInUse => "; is another remote computer running? One alone can answer a KRC",
                ErrorKind::AddrNotAvailable => "; it has to be an address of this machine, or 0.0.0.0",
                _ => "",
            };
            Failure::Connection(format!("cannot listen on {at}: {error}{hint}"))
        })?;
        if let Some(micros) = busy_poll_micros {
            syscalls::set_busy_poll(&socket, micros).map_err(|error| {
                Failure::BadInput(format!("host.busy_poll: the kernel refuses ({error}); grant CAP_NET_ADMIN"))
            })?;
        }
        Ok(Self { socket, clock, tap: None })
    }

    pub(super) fn local(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// From now on everything that crosses the socket goes there as well.
    pub(super) fn tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }
}

impl drive::Datagrams for Datagrams {
    /// Where it listens was decided when it was made.
    fn listen(&mut self, _: u16) -> bool {
        true
    }

    async fn receive(&mut self, window: &mut [u8]) -> (usize, SocketAddr) {
        loop {
            let mut room = ReadBuf::new(window);
            // By polling: who waits for it stays known to the socket where this future is dropped.
            if let Ok(from) = poll_fn(|context| self.socket.poll_recv_from(context, &mut room)).await {
                let bytes = room.filled();
                if let Some(tap) = &mut self.tap {
                    tap.received(self.clock.now(), bytes);
                }
                return (bytes.len(), from);
            }
            // An error is of one datagram; where it stays, others have their turn.
            tokio::task::yield_now().await;
        }
    }

    fn send(&mut self, bytes: &[u8], to: SocketAddr) {
        // What cannot be sent is lost, as on any network; the peer and the link monitor notice.
        if self.socket.try_send_to(bytes, to).is_ok()
            && let Some(tap) = &mut self.tap
        {
            tap.sent(self.clock.now(), bytes);
        }
    }
}
