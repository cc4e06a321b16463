//! The address of a robot, as given and as resolved.

use std::net::{IpAddr, SocketAddr};

use outrigger_config::RobotAddress;

use crate::exit::Failure;

/// A robot's address, as given and as resolved.
#[derive(Clone, Debug)]
pub struct Target {
    /// The robot's address as the user gave it.
    pub address: RobotAddress,
    /// The IP address to which the robot's name was resolved.
    pub ip: IpAddr,
}

impl Target {
    /// Resolves the robot's name.
    ///
    /// # Errors
    /// Returns [`Failure::Connection`] if it has no address.
    pub fn resolve(address: &RobotAddress) -> Result<Self, Failure> {
        let found = address.resolve(outrigger_config::FIRST_PORT).map_err(|error| {
            Failure::Connection(format!(
                "cannot find the host '{}': {error}; check the name, or give the address",
                address.host()
            ))
        })?;
        Ok(Self { address: address.clone(), ip: found.ip() })
    }

    /// Returns the socket address of one of the controller's ports.
    #[must_use]
    pub fn socket(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, self.address.port(port))
    }
}
