//! The ports for sensors. The build script and the firmware reject settings with any other port.

use crate::Ports;

pub(crate) const PORTS: Ports = Ports { serial: 1, analog: 0, i2c: 0, spi: 0 };
