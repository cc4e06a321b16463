//! Requests over the network, from clients with the key: `core/docs/protocol/outrigger-requests.md`.
//!
//! No port is opened without a key. The task that answers shares the executor with the control loop and never occupies
//! it for longer than the check of one datagram takes. After a dropped datagram it waits, so that a flood uses a
//! limited share of the time.

pub(crate) mod control_loop_interface;
mod server;
mod settable_outputs;

use embassy_futures::select::{Either, Either3, select, select3};
use embassy_net::udp::{PacketMetadata, UdpMetadata, UdpSocket};
use embassy_net::{IpEndpoint, Stack};
use embassy_time::{Duration, Timer};
use outrigger_core::engine::Controller;
use outrigger_embassy::{Handle, now};
use outrigger_remote::request::keyed::{ANSWER_LEN, DATAGRAM_MAX, Key, Service};

use self::server::RequestServer;
use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The wait after a received datagram was dropped, before the next one is read.
const AFTER_DROPPED: Duration = Duration::from_millis(2);

/// The UDP port and the key of the request service, which the image of settings contains.
#[derive(Clone, Debug)]
pub struct Port {
    number: u16,
    key: Key,
}

impl Port {
    /// Reads the UDP port and the key of the request service from `bytes`, their part of the image of settings; `None`
    /// if no port is to be opened.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (number, key) = bytes.split_first_chunk()?;
        let number = u16::from_be_bytes(*number);
        Some(Self { number, key: Key::new(key.try_into().ok()?) }).filter(|port| port.number != 0)
    }
}

/// The memory for receiving requests and sending answers. It is all zeros and takes no flash.
pub struct Memory {
    received: [u8; 4 * DATAGRAM_MAX],
    sent: [u8; 2 * ANSWER_LEN],
}

impl Memory {
    /// Creates unused memory for receiving requests and sending answers.
    #[must_use]
    pub const fn new() -> Self {
        Self { received: [0; 4 * DATAGRAM_MAX], sent: [0; 2 * ANSWER_LEN] }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Answers clients that have the key of `port`; never returns. Commands to the controller's dashboard server are
/// executed by [another task](crate::dashboard::carry_out). `seed` is 32 bytes of random numbers, different at each
/// boot. Uses a socket of `stack`.
pub async fn serve<const N: usize, P: Controller<N, Event: PeerEvent>>(
    shared: &Shared<N, P>,
    robot: Handle<'_>,
    stack: Stack<'_>,
    port: Port,
    seed: [u8; 32],
    memory: &mut Memory,
) {
    let Memory { received, sent } = memory;
    let (mut of_received, mut of_sent) = ([PacketMetadata::EMPTY; 8], [PacketMetadata::EMPTY; 2]);
    let mut socket = UdpSocket::new(stack, &mut of_received, received, &mut of_sent, sent);
    if socket.bind(port.number).is_err() {
        return;
    }
    let mut service = Service::<IpEndpoint>::new(port.key, seed);
    let mut server = RequestServer::new(robot, shared.inquiry(), shared.service_commands());
    loop {
        let timer = async {
            match server.poll_timeout() {
                Some(at) => Timer::at(embassy_time::Instant::from_micros(at.as_micros())).await,
                None => core::future::pending().await,
            }
        };
        // Decisions of the loop are processed before new requests, because they belong to earlier ones.
        let decided = select(shared.inquiry().observed(), shared.service_commands().outcome());
        match select3(decided, timer, socket.recv_from(service.receive_window())).await {
            Either3::First(Either::First(())) => server.decide(now()),
            Either3::First(Either::Second(outcome)) => server.complete_dashboard(outcome),
            Either3::Second(()) => server.give_up(now()),
            Either3::Third(Ok((length, UdpMetadata { endpoint, .. }))) => {
                let before = service.counts();
                service.commit(now(), length, endpoint, robot.epoch());
                let counts = service.counts();
                if counts.outdated != before.outdated && counts.outdated.is_power_of_two() {
                    info!("requests: an earlier layout, without challenges, is not answered ({=u32})", counts.outdated);
                }
                if counts != before {
                    Timer::after(AFTER_DROPPED).await;
                }
                server.take(&mut service, now());
            }
            // Longer than any valid datagram: the stack has dropped it.
            Either3::Third(Err(_)) => Timer::after(AFTER_DROPPED).await,
        }
        loop {
            while let Some((to, bytes)) = service.poll_output() {
                // A datagram that cannot be sent is treated like one that was lost.
                let _ = socket.send_to(bytes, to).await;
            }
            if !server.answer_next(&mut service, now()) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_a_number_and_a_key_and_nothing_behind_it() {
        let bytes = [&47_001_u16.to_be_bytes()[..], &[7; 32]].concat();
        assert_eq!(Port::of(&bytes).map(|port| port.number), Some(47_001));
        for wrong in [&[][..], &bytes[..33], &[&bytes[..], &[0]].concat(), &[&[0, 0], &bytes[2..]].concat()] {
            assert!(Port::of(wrong).is_none());
        }
    }
}
