//! The domain that a node joins, and the network interfaces through which it joins, taken from options and then from
//! the environment.

use std::net::{IpAddr, Ipv4Addr};

use crate::environment::{self, Range};
use crate::neighbours::listed;
use outrigger::exit::Failure;

/// The largest number of interfaces joined: Linux lets a socket join 20 groups (`net.ipv4.igmp_max_memberships`).
const MOST: usize = 20;

/// A domain with the interfaces and hosts through which it is joined.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The number of the DDS domain, `ROS_DOMAIN_ID`.
    pub domain: u16,
    /// The addresses of the network interfaces through which the domain is joined.
    pub interfaces: Vec<IpAddr>,
    /// The hosts to which the node announces itself individually, beside multicast.
    pub peers: Vec<String>,
}

impl Domain {
    /// Returns the addresses of the domain's network interfaces as a comma-separated list.
    #[must_use]
    pub fn addresses(&self) -> String {
        listed(&self.interfaces)
    }

    /// Returns the domain to join. `domain` and `interface` take precedence over the environment; the hosts that it
    /// names are added to `peers`. Without `interface`, the environment decides as for any node of ROS 2: all
    /// interfaces, or loopback alone (`ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_LOCALHOST_ONLY`).
    ///
    /// # Errors
    /// [`Failure::Usage`] for environment variables that cannot be followed.
    pub fn find(domain: Option<u16>, interface: Option<IpAddr>, peers: Vec<String>) -> Result<Self, Failure> {
        Self::by(&|name| std::env::var(name).ok(), domain, interface, peers)
    }

    fn by(
        read: environment::Read<'_>,
        domain: Option<u16>,
        interface: Option<IpAddr>,
        mut peers: Vec<String>,
    ) -> Result<Self, Failure> {
        let usage = |error: environment::EnvironmentError| Failure::Usage(error.to_string());
        let domain = match domain {
            Some(domain) => domain,
            None => environment::domain(read).map_err(usage)?.unwrap_or_default(),
        };
        let (range, by_environment) = environment::discovery(read).map_err(usage)?;
        peers.extend(by_environment);
        let interfaces = match (interface, range) {
            (Some(named), _) => vec![named],
            (None, Range::Localhost) => vec![Ipv4Addr::LOCALHOST.into()],
            (None, Range::Subnet) => every_interface(),
        };
        environment::admits(read, range, &interfaces, &peers).map_err(usage)?;
        Ok(Self { domain, interfaces, peers })
    }
}

/// Returns the addresses (IPv4) of all interfaces of this machine that are up: loopback first, then the first address
/// of each, then further ones, by number. Addresses beyond the number that a socket can join are left out.
fn every_interface() -> Vec<IpAddr> {
    let up = netdev::get_interfaces().into_iter().filter(netdev::Interface::is_up);
    let addresses = up.flat_map(|interface| {
        interface.ipv4.into_iter().enumerate().map(|(place, network)| (place > 0, IpAddr::V4(network.addr())))
    });
    let mut found: Vec<_> = addresses.collect();
    found.sort_unstable_by_key(|(further, address)| (!address.is_loopback(), *further, *address));
    let mut found: Vec<_> = found.into_iter().map(|(_, address)| address).collect();
    found.dedup();
    found.truncate(MOST);
    // If no interface can be listed, loopback is used.
    if found.is_empty() {
        found.push(Ipv4Addr::LOCALHOST.into());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_named_or_all() {
        let named = IpAddr::from([127, 0, 0, 1]);
        let all = every_interface();
        let joins = |variable: Option<(&str, &str)>, interface| {
            let read = |name: &str| variable.filter(|(of, _)| *of == name).map(|(_, value)| value.to_owned());
            Domain::by(&read, Some(7), interface, vec![]).map(|place| place.interfaces)
        };
        assert_eq!(joins(None, Some(named)).expect("an interface"), [named]);
        assert_eq!(joins(None, None).expect("every interface"), all);
        for variable in [("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"), ("ROS_LOCALHOST_ONLY", "1")] {
            assert_eq!(joins(Some(variable), None).expect("loopback"), [named]);
            assert!(joins(Some(variable), Some(IpAddr::from([10, 0, 0, 9]))).is_err());
        }
        assert!(all.contains(&named) && all.len() <= MOST && all.iter().all(IpAddr::is_ipv4), "{all:?}");
        assert!(all[0].is_loopback() && all.iter().skip_while(|at| at.is_loopback()).all(|at| !at.is_loopback()));
    }
}
