//! What a peer is made from.

use std::net::Ipv4Addr;
use std::time::Duration;

/// The robot's end of the network. The default is what the emulated board expects opposite it.
#[derive(Clone, Debug)]
pub struct PeerOptions {
    /// Its address; default 10.0.2.2.
    pub address: Ipv4Addr,
    /// Length of the network's prefix; default 24.
    pub prefix: u8,
    /// Its Ethernet address; default 52:55:0a:00:02:02.
    pub mac: [u8; 6],
    /// The UDP port where datagrams are collected; default 47000.
    pub telemetry_port: u16,
    /// How long an acknowledgement waits for data to travel with; `None`, the default, waits for nothing.
    pub ack_delay: Option<Duration>,
    /// Whether small segments wait until what went before is acknowledged, as old controllers make them; default no.
    pub nagle: bool,
    /// Bytes of a client's text that wait to be taken by the controller; default 8 KiB.
    pub receive_buffer: usize,
    /// Bytes that wait for a client's acknowledgement; default 64 KiB.
    pub send_buffer: usize,
    /// Clients of one port at the same time; more are refused. Default 8.
    pub clients_per_port: usize,
    /// Whether [`Peer::take_passages`](super::Peer::take_passages) has something to give; default no.
    pub keep_passages: bool,
    /// Where initial sequence numbers come from; default 1.
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
