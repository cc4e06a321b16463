//! Checks the network conditions for DDS discovery: interfaces, multicast and ports.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::participant_text::vendor;
use super::{About, Finding, Neighbourhood, Prefix};

/// An announcement received from another DDS participant, on any interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    /// The identifier of the participant that announces itself.
    pub(crate) prefix: Prefix,
    /// The vendor of the announcing participant's DDS implementation.
    pub(crate) vendor: [u8; 2],
    /// The network address from which the announcement was sent.
    pub(crate) from: IpAddr,
    /// The address of this machine's interface that faces the sender of the announcement.
    pub(crate) facing: IpAddr,
}

/// The outcome of a datagram that was sent to the multicast group of discovery through an interface of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Multicast {
    /// The test datagram to the multicast group was received by this machine.
    Returns,
    /// The test datagram to the multicast group was not received by this machine.
    Lost,
    /// The test datagram could not be sent, for this reason.
    Refused(String),
}

/// The network conditions of this machine for DDS discovery.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The interfaces through which this node joins, each with the outcome of a multicast datagram sent through it.
    pub(crate) interfaces: Vec<(IpAddr, Multicast)>,
    /// The number of the DDS domain, `ROS_DOMAIN_ID`.
    pub(crate) domain: u16,
    /// The hosts to which this node announces itself individually, beside multicast.
    pub(crate) peers: Vec<String>,
    /// The reason why the port for announcements of the domain cannot be opened; `None` if it can.
    pub(crate) port: Option<String>,
    /// The announcements received from other participants, one for each.
    pub(crate) heard: Vec<Announcement>,
}

/// Returns the UDP port on which the participants of a domain announce themselves
/// (`core/docs/protocol/ros2-surface.md` 6).
#[must_use]
pub(crate) const fn discovery_port(domain: u16) -> u16 {
    7400_u16.saturating_add(domain.saturating_mul(250))
}

impl Surroundings {
    fn addresses(&self) -> Vec<IpAddr> {
        self.interfaces.iter().map(|(interface, _)| *interface).collect()
    }

    /// Returns the first network interface other than loopback, and a description of the failure of multicast there.
    /// Returns `None` if multicast works on any such interface, or if there is none.
    fn without_multicast(&self) -> Option<(IpAddr, String)> {
        let networks = || self.interfaces.iter().filter(|(interface, _)| !interface.is_loopback());
        if networks().any(|(_, multicast)| *multicast == Multicast::Returns) {
            return None;
        }
        let (interface, multicast) = networks().next()?;
        let what = match multicast {
            Multicast::Refused(why) => format!("a multicast message cannot be sent ({why})"),
            Multicast::Returns | Multicast::Lost => "a multicast message does not return to this computer".to_owned(),
        };
        Some((*interface, what))
    }
}

/// Returns network addresses as a comma-separated list.
pub(crate) fn listed(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the findings about conditions that prevent discovery, and about where to look for other participants.
#[must_use]
pub(crate) fn surroundings(around: &Surroundings, seen: &Neighbourhood) -> Vec<Finding> {
    let Surroundings { interfaces: _, domain, peers, port, heard } = around;
    let addresses = around.addresses();
    let mut found = vec![];
    let number = discovery_port(*domain);
    if let Some(why) = port {
        found.push(Finding::fix(
            About::Discovery,
            format!(
                "ROS 2 programs in domain {domain} discover each other at UDP port {number}, which this computer does not let this program \
                 use ({why}). Find its user with `ss -ulpn sport = :{number}` and stop that program, or \
                 set another domain: --domain here, ROS_DOMAIN_ID elsewhere"
            ),
        ));
    }
    // The loopback interface needs no multicast.
    if let (true, Some((interface, what))) = (peers.is_empty(), around.without_multicast()) {
        found.push(Finding::fix(
            About::Discovery,
            format!(
                "ROS 2 programs discover each other by multicast, but at {interface} {what}. Check that --interface, if given, \
                 is an address of this computer (`ip -4 addr` lists them) and that its firewall permits UDP to 239.255.0.1; or name \
                 each other computer with --peer ADDRESS, and this one there with ROS_STATIC_PEERS={interface}"
            ),
        ));
    }
    let known = seen.prefixes();
    let alone = known.is_empty();
    let others: Vec<_> = heard.iter().filter(|heard| !known.contains(&heard.prefix)).collect();
    let (here, elsewhere): (Vec<_>, Vec<_>) = others.iter().partition(|heard| addresses.contains(&heard.facing));
    if let Some(text) = of_elsewhere(around, &elsewhere) {
        found.push(if alone { Finding::fix(About::Discovery, text) } else { Finding::note(About::Discovery, text) });
    }
    if let Some(first) = here.first() {
        let text = format!(
            "a ROS 2 program ({}{}) sends to {}, but announces no node: it does not receive this computer's messages, or has no \
             endpoints. If it should have some, check the firewalls of both for UDP ports {number} to {}, and that it is not limited to its own \
             computer by ROS_LOCALHOST_ONLY=1 or ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
            vendor(first.vendor),
            and_more(here.len()),
            first.from,
            number.saturating_add(LAST_PORT)
        );
        found.push(Finding::note(About::Discovery, text));
    }
    if alone && others.is_empty() {
        found.push(Finding::note(About::Discovery, nobody(&addresses, *domain)));
    }
    found
}

/// The last port of a domain, relative to the port for announcements. The ports between suffice for more than a
/// hundred participants.
const LAST_PORT: u16 = 249;

fn and_more(of: usize) -> String {
    match of.saturating_sub(1) {
        0 => String::new(),
        more => format!(", and {more} more"),
    }
}

fn of_elsewhere(around: &Surroundings, elsewhere: &[&&Announcement]) -> Option<String> {
    let first = elsewhere.first()?;
    Some(format!(
        "a ROS 2 program in domain {} ({}{}) at {} uses the network interface {} of this computer, but this node uses {}: they do not \
         receive each other's messages. Set --interface {}, and unset ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE here if they are set",
        around.domain,
        vendor(first.vendor),
        and_more(elsewhere.len()),
        first.from,
        first.facing,
        listed(&around.addresses()),
        first.facing
    ))
}

/// Returns the steps to take if no announcement of another participant is received.
fn nobody(addresses: &[IpAddr], domain: u16) -> String {
    let nothing = if domain == 0 { " or nothing" } else { "" };
    let mut steps = vec![format!("same domain? `echo $ROS_DOMAIN_ID` there prints {domain}{nothing}")];
    let at = listed(addresses);
    let network = addresses.iter().find(|address| !address.is_loopback());
    steps.push(match (network, addresses) {
        (None, _) => format!(
            "same network interface? At {at} this node reaches only programs on this computer that use {at} too; for all \
             others set --interface to this computer's address in their network (`ip -4 addr` lists addresses), and unset \
             ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE here if they are set"
        ),
        (Some(_), [only]) => {
            format!("same network? {only} must be this computer's address in the network of the others, and `ping` must reach them")
        }
        (Some(_), _) => format!(
            "same network? One of {at} must be this computer's address in the network of the others, and `ping` must reach them; a network \
             that came later is joined by the next start"
        ),
    });
    steps.push(
        "is the other limited to its own computer? Unset ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE there"
            .into(),
    );
    steps.push(match network {
        None => format!(
            "does the other use Cyclone DDS (RMW_IMPLEMENTATION=rmw_cyclonedds_cpp)? By itself that does not use {at}: docs/ros2.md, \
             'Nothing is heard?', has the setting"
        ),
        Some(_) => format!(
            "does the network block multicast, as many wireless networks do? Set --peer to the address of the other computer here, and \
             set ROS_STATIC_PEERS there to this computer's address in that network ({})",
            listed(&addresses.iter().copied().filter(|address| !address.is_loopback()).collect::<Vec<_>>())
        ),
    });
    let mut text = format!(
        "no other ROS 2 program found in domain {domain} at {at}. That is fine if none runs yet. If one runs, check in this order:"
    );
    for (step, number) in steps.iter().zip(1..) {
        let _ = write!(text, "\n      {number}. {step}");
    }
    text
}
