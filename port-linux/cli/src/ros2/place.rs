//! Where a node joins: by what is said, then by the environment.

use std::net::IpAddr;

use outrigger_ros2::environment;

use outrigger::exit::Failure;

/// A domain, and how it is reached.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// `ROS_DOMAIN_ID`.
    pub(super) domain: u16,
    /// By which it is joined.
    pub(super) interface: IpAddr,
    /// Hosts that are told one by one.
    pub(super) peers: Vec<String>,
}

impl Place {
    /// `domain` where one is given, joined by `interface`, and `peers` with those of the environment.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an environment that cannot be heeded.
    pub(super) fn find(domain: Option<u16>, interface: IpAddr, mut peers: Vec<String>) -> Result<Self, Failure> {
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
