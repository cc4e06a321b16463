//! Sends telemetry of the device to the configured listener over UDP.

use core::future::poll_fn;
use core::task::Poll;

use embassy_net::Stack;
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_time::{Duration, Ticker};
use outrigger_core::engine::Controller;
use outrigger_core::engine::TelemetryTarget;
use outrigger_embassy::now;
use outrigger_remote::telemetry::DATAGRAM_MAX;
pub use outrigger_remote::telemetry::Device;

use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The period in which the task checks whether a datagram of telemetry is due.
const LOOK: Duration = Duration::from_millis(5);

/// The memory for transmission: for each listener two datagrams that wait for the wire, and one that is being written.
/// It is all zeros and takes no flash.
pub struct Outgoing {
    socket: [u8; 2 * DATAGRAM_MAX],
    also: [u8; 2 * DATAGRAM_MAX],
    datagram: [u8; DATAGRAM_MAX],
}

impl Outgoing {
    /// Creates unused memory for sending telemetry.
    #[must_use]
    pub const fn new() -> Self {
        Self { socket: [0; 2 * DATAGRAM_MAX], also: [0; 2 * DATAGRAM_MAX], datagram: [0; DATAGRAM_MAX] }
    }
}

impl Default for Outgoing {
    fn default() -> Self {
        Self::new()
    }
}

/// Sends the telemetry of `shared` to the one or two listeners of `target`; never returns and receives nothing. While
/// the first listener cannot be reached it waits, and data that becomes old meanwhile is dropped. It never waits for
/// the second listener.
pub async fn send<const N: usize, P: Controller<N, Event: PeerEvent>>(
    shared: &Shared<N, P>,
    stack: Stack<'_>,
    target: TelemetryTarget,
    memory: &mut Outgoing,
) -> ! {
    let Outgoing { socket, also, datagram } = memory;
    let (mut metadata, mut also_metadata) = ([PacketMetadata::EMPTY; 2], [PacketMetadata::EMPTY; 2]);
    let mut socket = UdpSocket::new(stack, &mut [], &mut [], &mut metadata, socket);
    // A separate socket: if its listener does not answer ARP, a socket holds its datagrams and all behind them.
    let mut also =
        target.also.map(|listener| (UdpSocket::new(stack, &mut [], &mut [], &mut also_metadata, also), listener));
    // For port 0 the stack chooses a port. Datagrams of an unbound socket would be lost without an error.
    let mut bound = socket.bind(0).is_ok();
    if let Some((also, _)) = &mut also {
        bound &= also.bind(0).is_ok();
    }
    if !bound {
        shared.count_unsent();
    }
    let mut ticker = Ticker::every(LOOK);
    loop {
        ticker.next().await;
        while let Some(length) = shared.next_datagram(now(), datagram) {
            let written = datagram.get(..length).unwrap_or_default();
            if let Some((also, listener)) = &mut also {
                let to = (*listener.ip(), listener.port());
                let sent = poll_fn(|context| Poll::Ready(also.poll_send_to(written, to, context))).await;
                if !matches!(sent, Poll::Ready(Ok(()))) {
                    shared.count_unsent();
                }
            }
            if socket.send_to(written, (target.address, target.port)).await.is_err() {
                shared.count_unsent();
            }
        }
    }
}
