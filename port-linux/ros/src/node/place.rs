//! Where a node joins: by what is said, then by the environment.

use std::net::IpAddr;

use crate::environment;
use outrigger::exit::Failure;

/// A domain, and the way to it.
#[derive(Clone, Debug)]
pub struct Place {
    /// `ROS_DOMAIN_ID`.
    pub domain: u16,
    /// The address of the network interface that it is joined by.
    pub interface: IpAddr,
    /// Hosts that are told one by one.
    pub peers: Vec<String>,
}

impl Place {
    /// Returns `domain` where one is given, joined by `interface`, and `peers` with those of the environment.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an environment that cannot be heeded.
    pub fn find(domain: Option<u16>, interface: IpAddr, mut peers: Vec<String>) -> Result<Self, Failure> {
        let usage = |error: environment::EnvironmentError| Failure::Usage(error.to_string());
        let read = |name: &str| std::env::var(name).ok();
        let domain = match domain {
            Some(domain) => domain,
            None => environment::domain(&read).map_err(usage)?.unwrap_or_default(),
        };
        let (range, by_environment) = environment::discovery(&read).map_err(usage)?;
        peers.extend(by_environment);
        environment::admits(&read, range, interface, &peers).map_err(usage)?;
        Ok(Self { domain, interface, peers })
    }
}
