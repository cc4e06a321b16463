//! The configuration of a board's network stack: its static IP address.

use embassy_net::{Config, Ipv4Cidr, StaticConfigV4};
use outrigger_core::engine::Device;

/// Returns the network stack's configuration, with the address that the settings name. The address is static: a device
/// that commands an arm must not wait for an address to be assigned, nor get a different one later.
#[must_use]
pub fn network(device: &Device) -> Config {
    Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(device.address, device.prefix),
        gateway: device.gateway,
        dns_servers: Default::default(),
    })
}
