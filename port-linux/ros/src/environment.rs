//! Reads the environment variables that configure a node (`core/docs/protocol/ros2-surface.md` 6, and the
//! documentation of ROS 2 on `ROS_AUTOMATIC_DISCOVERY_RANGE`).

use std::net::IpAddr;

use outrigger_ros2_messages::endpoint::Distro;

/// A function that returns the value of a variable by name. An empty value counts as unset.
pub(crate) type Read<'r> = &'r dyn Fn(&str) -> Option<String>;

/// The reason why the environment cannot be used for this node, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct EnvironmentError(String);

fn refused<T>(text: String) -> Result<T, EnvironmentError> {
    Err(EnvironmentError(text))
}

fn said(read: Read<'_>, name: &str) -> Option<String> {
    read(name).filter(|text| !text.is_empty())
}

/// Reads `ROS_DOMAIN_ID`. Returns `None` if it is unset.
///
/// # Errors
/// A value that is not a number from 0 to 232.
pub(crate) fn domain(read: Read<'_>) -> Result<Option<u16>, EnvironmentError> {
    let Some(text) = said(read, "ROS_DOMAIN_ID") else { return Ok(None) };
    match text.parse() {
        Ok(domain @ 0..=232) => Ok(Some(domain)),
        _ => refused(format!("ROS_DOMAIN_ID: expected 0 to 232, found '{text}'; or set --domain")),
    }
}

/// Reads `ROS_DISTRO`. Returns `None` if it is unset.
///
/// # Errors
/// A release that this crate does not support.
pub(crate) fn distro(read: Read<'_>) -> Result<Option<Distro>, EnvironmentError> {
    let Some(text) = said(read, "ROS_DISTRO") else { return Ok(None) };
    match Distro::from_name(&text) {
        Some(distro) => Ok(Some(distro)),
        None => refused(format!(
            "ROS_DISTRO: found '{text}', which this version does not know; set --distro to the nearest one"
        )),
    }
}

/// The range of the network in which other nodes of ROS 2 are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Range {
    /// Only nodes on this machine are searched for.
    Localhost,
    /// Nodes are searched for on every network that multicast reaches; also used for `SYSTEM_DEFAULT`.
    #[default]
    Subnet,
}

/// Reads the search range and the named hosts from `ROS_LOCALHOST_ONLY`, which takes precedence,
/// `ROS_AUTOMATIC_DISCOVERY_RANGE`, and `ROS_STATIC_PEERS`, addresses separated by `;`.
///
/// # Errors
/// An unknown range, or `OFF`, because no other node would find this one.
pub(crate) fn discovery(read: Read<'_>) -> Result<(Range, Vec<String>), EnvironmentError> {
    if said(read, "ROS_LOCALHOST_ONLY").is_some_and(|only| only == "1") {
        return Ok((Range::Localhost, vec![]));
    }
    let peers = said(read, "ROS_STATIC_PEERS").unwrap_or_default();
    let peers = peers.split(';').map(str::trim).filter(|peer| !peer.is_empty()).map(str::to_owned).collect();
    let range = match said(read, "ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref() {
        None | Some("SUBNET" | "SYSTEM_DEFAULT") => Range::Subnet,
        Some("LOCALHOST") => Range::Localhost,
        Some("OFF") => {
            return refused(
                "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF: no program could discover this node; set LOCALHOST or SUBNET"
                    .into(),
            );
        }
        Some(other) => {
            return refused(format!(
                "ROS_AUTOMATIC_DISCOVERY_RANGE: expected SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT, found '{other}'"
            ));
        }
    };
    Ok((range, peers))
}

/// Checks that the node may join through the interfaces with these addresses and announce itself to these hosts.
///
/// # Errors
/// An error is returned for a network interface if the range is limited to this machine, because a node that joins
/// there is announced there; and for remote hosts if the node joins through this machine's loopback interface alone,
/// because they cannot reach it.
pub(crate) fn admits(
    read: Read<'_>,
    range: Range,
    interfaces: &[IpAddr],
    peers: &[String],
) -> Result<(), EnvironmentError> {
    let network = interfaces.iter().find(|interface| !interface.is_loopback());
    if let (Range::Localhost, Some(interface)) = (range, network) {
        let (by, remedy) = match said(read, "ROS_LOCALHOST_ONLY") {
            Some(only) if only == "1" => ("ROS_LOCALHOST_ONLY=1", "Unset ROS_LOCALHOST_ONLY"),
            _ => ("ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST", "Set ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET"),
        };
        return refused(format!(
            "{by}, and {interface} is not this machine's own: a node there is announced to its network. {remedy}, or omit --interface \
             (ros.expert.interface)"
        ));
    }
    let elsewhere = peers.iter().find(|peer| !is_here(peer));
    match elsewhere {
        Some(peer) if network.is_none() => {
            let remedy = match range {
                Range::Localhost => "set ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET",
                Range::Subnet => {
                    "set --interface (ros.expert.interface) to this machine's address in that host's network"
                }
            };
            refused(format!(
                "{peer} is named as a peer, but a node on the loopback interface alone cannot be reached from another machine: {remedy}, or \
                 remove it from --peer, ros.expert.peers or ROS_STATIC_PEERS"
            ))
        }
        _ => Ok(()),
    }
}

fn is_here(peer: &str) -> bool {
    peer == "localhost" || peer.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a reader of variables written as `NAME=value`, separated by spaces.
    fn environment(text: &str) -> impl Fn(&str) -> Option<String> {
        let said: Vec<(String, String)> =
            text.split_whitespace().filter_map(|one| one.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect();
        move |name| said.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn domain_and_release_are_read_or_refused_with_what_to_say() {
        assert_eq!(domain(&environment("")), Ok(None));
        assert_eq!(domain(&environment("ROS_DOMAIN_ID=")), Ok(None));
        assert_eq!(domain(&environment("ROS_DOMAIN_ID=232")), Ok(Some(232)));
        for text in ["233", "-1", "x", "70000"] {
            let error = domain(&environment(&format!("ROS_DOMAIN_ID={text}"))).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("--domain"), "{error}");
        }
        assert_eq!(distro(&environment("ROS_DISTRO=humble")), Ok(Some(Distro::Humble)));
        assert!(distro(&environment("ROS_DISTRO=foxy")).unwrap_err().to_string().contains("--distro"));
    }

    #[test]
    fn ranges_are_as_ros_has_them() {
        let of = |text: &str| discovery(&environment(text));
        assert_eq!(of(""), Ok((Range::Subnet, vec![])));
        for subnet in ["SUBNET", "SYSTEM_DEFAULT"] {
            assert_eq!(of(&format!("ROS_AUTOMATIC_DISCOVERY_RANGE={subnet}")), Ok((Range::Subnet, vec![])));
        }
        let peers = "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_STATIC_PEERS=10.0.0.1;;b.local;";
        assert_eq!(of(peers), Ok((Range::Localhost, vec!["10.0.0.1".into(), "b.local".into()])));
        // The old variable takes precedence over the new ones.
        assert_eq!(of(&format!("{peers} ROS_LOCALHOST_ONLY=1")), Ok((Range::Localhost, vec![])));
        assert_eq!(of("ROS_LOCALHOST_ONLY=0"), Ok((Range::Subnet, vec![])));
        for none in ["OFF", "off", "subnet"] {
            assert!(of(&format!("ROS_AUTOMATIC_DISCOVERY_RANGE={none}")).is_err(), "{none}");
        }
    }

    #[test]
    fn an_interface_is_admitted_where_its_range_and_peers_are() {
        let (here, network) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([10, 0, 0, 9]));
        let of = |range, at, peers: &[&str]| {
            let peers: Vec<String> = peers.iter().map(|peer| (*peer).to_owned()).collect();
            admits(&environment(""), range, &[at], &peers)
        };
        assert_eq!(of(Range::Localhost, here, &["127.0.0.1", "localhost"]), Ok(()));
        assert_eq!(of(Range::Subnet, network, &["10.0.0.1", "127.0.0.1"]), Ok(()));
        assert!(of(Range::Localhost, network, &[]).unwrap_err().to_string().contains("LOCALHOST, and 10.0.0.9"));
        for (range, remedy) in [(Range::Subnet, "set --interface"), (Range::Localhost, "RANGE=SUBNET")] {
            let error = of(range, here, &["10.0.0.1"]).unwrap_err().to_string();
            assert!(error.contains("10.0.0.1 is named") && error.contains(remedy), "{error}");
        }
        let old = environment("ROS_LOCALHOST_ONLY=1");
        assert!(
            admits(&old, Range::Localhost, &[here, network], &[])
                .unwrap_err()
                .to_string()
                .starts_with("ROS_LOCALHOST_ONLY=1")
        );
    }
}
