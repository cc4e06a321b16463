//! The configuration of the network stack.

use embassy_net::{Config, Ipv4Cidr, StaticConfigV4};
use outrigger_core::engine::Device;

/// Returns a configuration with the address that the settings name. It is fixed: a device that commands an arm must not wait for
/// somebody to give it one, nor get another one tomorrow.
#[must_use]
pub fn network(device: &Device) -> Config {
    Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(device.address, device.prefix),
        gateway: device.gateway,
        dns_servers: Default::default(),
    })
}
