//! The options of a peer.

use std::net::Ipv4Addr;
use std::time::Duration;

/// The options of the robot's end of the network. The default is what the emulated board expects at the other end.
#[derive(Clone, Debug)]
pub struct PeerOptions {
    /// The IP address of the peer; default 10.0.2.2.
    pub address: Ipv4Addr,
    /// The length of the network's prefix; default 24.
    pub prefix: u8,
    /// The Ethernet address of the peer; default 52:55:0a:00:02:02.
    pub mac: [u8; 6],
    /// The UDP port on which datagrams are collected; default 47000.
    pub telemetry_port: u16,
    /// The longest time that an acknowledgement waits for data to accompany; `None`, the default, sends it at once.
    pub ack_delay: Option<Duration>,
    /// If `true`, small segments wait until earlier ones are acknowledged, as in old controllers; default `false`.
    pub nagle: bool,
    /// The number of received bytes that can wait for the controller on a connection; default 8 KiB.
    pub receive_buffer: usize,
    /// The number of sent bytes that can wait for a client's acknowledgement; default 64 KiB.
    pub send_buffer: usize,
    /// The number of clients of one port at the same time; more are rejected. Default 8.
    pub clients_per_port: usize,
    /// `true` if the traffic is recorded, so that [`Peer::take_passages`](super::Peer::take_passages) returns it;
    /// default `false`.
    pub keep_passages: bool,
    /// The seed of initial sequence numbers; default 1.
    pub seed: u64,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::new(10, 0, 2, 2),
            prefix: 24,
            mac: [0x52, 0x55, 0x0a, 0x00, 0x02, 0x02],
            telemetry_port: 47_000,
            ack_delay: None,
            nagle: false,
            receive_buffer: 8 * 1024,
            send_buffer: 64 * 1024,
            clients_per_port: 8,
            keep_passages: false,
            seed: 1,
        }
    }
}
