//! Whether anybody can be found at all: interfaces, multicast and ports.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::about::vendor;
use super::{About, Finding, Prefix, Seen};

/// An announcement that came by another interface than that of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Whose.
    pub prefix: Prefix,
    /// Of which DDS.
    pub vendor: [u8; 2],
    /// From where.
    pub from: IpAddr,
    /// The address of this machine that faces it.
    pub facing: IpAddr,
}

/// What became of a datagram that was sent to the group of discovery by the interface of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Multicast {
    /// It came back.
    Returns,
    /// It did not.
    Lost,
    /// It could not be sent, or listened to.
    Refused(String),
}

/// How this machine stands in the network.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// By which this node joins.
    pub interface: IpAddr,
    /// Which domain.
    pub domain: u16,
    /// Hosts that are told of this node by name.
    pub peers: Vec<String>,
    /// Of the group of discovery.
    pub multicast: Multicast,
    /// Why the port at which a domain is announced cannot be listened to.
    pub port: Option<String>,
    /// Who is heard elsewhere, each once.
    pub elsewhere: Vec<Heard>,
}

/// UDP port at which those of a domain announce themselves (`core/docs/protocol/ros2-surface.md` 6).
#[must_use]
pub const fn discovery_port(domain: u16) -> u16 {
    7400_u16.saturating_add(domain.saturating_mul(250))
}

/// Whether others can be found, and where they are.
#[must_use]
pub fn surroundings(around: &Surroundings, seen: &Seen) -> Vec<Finding> {
    let Surroundings { interface, domain, peers, multicast, port, elsewhere } = around;
    let mut found = vec![];
    let number = discovery_port(*domain);
    if let Some(why) = port {
        found.push(Finding::fix(
            About::Discovery,
            format!(
                "UDP port {number}, at which domain {domain} is announced, cannot be listened to ({why}): nobody is found by \
                 multicast. Another program has it for itself: `ss -ulpn sport = :{number}` shows which; end it, or take \
                 another --domain"
            ),
        ));
    }
    // On this machine's own interface others are told one by one.
    if !interface.is_loopback() && peers.is_empty() {
        let what = match multicast {
            Multicast::Returns => None,
            Multicast::Lost => Some(format!("multicast to 239.255.0.1 sent by {interface} does not come back")),
            Multicast::Refused(why) => Some(format!("multicast to 239.255.0.1 cannot be sent by {interface} ({why})")),
        };
        if let Some(what) = what {
            let remedy = "look at the firewall of this machine (UDP, 239.255.0.0/16) and at the interface, or name the other \
                          hosts with --peer ADDRESS";
            found.push(Finding::fix(About::Discovery, format!("{what}, and others are found by it: {remedy}")));
        }
    }
    let others: Vec<_> =
        elsewhere.iter().filter(|heard| !seen.participants.iter().any(|known| known.prefix == heard.prefix)).collect();
    if let Some(first) = others.first() {
        let mut text = format!(
            "{} of domain {domain} at {} is heard at {}, and not at {interface}, by which this node joins",
            program(first.vendor),
            first.from,
            first.facing
        );
        if others.len() > 1 {
            let _ = write!(text, " (and {} more)", others.len() - 1);
        }
        let _ = write!(text, ": they do not see it. To be seen there, say --interface {}", first.facing);
        let alone = seen.participants.is_empty();
        found.push(if alone { Finding::fix(About::Discovery, text) } else { Finding::note(About::Discovery, text) });
    } else if seen.participants.is_empty() {
        let mut text = format!(
            "nobody else is in domain {domain} at {interface}. Where a node of ROS 2 runs: has it the same ROS_DOMAIN_ID, and \
             is it on this interface?"
        );
        if interface.is_loopback() {
            text.push_str(
                " This is the machine's own: a node elsewhere does not hear it, nor one here that takes another interface, as \
                 Cyclone DDS does by itself. Say --interface ADDRESS with an address of the network that the others are on",
            );
        } else {
            text.push_str(
                " A switch between them may keep multicast back: name the other hosts with --peer ADDRESS, or ROS_STATIC_PEERS",
            );
        }
        found.push(Finding::note(About::Discovery, text));
    }
    found
}

fn program(of: [u8; 2]) -> String {
    format!("a program ({})", vendor(of))
}
