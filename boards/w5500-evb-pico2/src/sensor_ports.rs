//! The ports for sensors. The build script and the firmware reject settings with any other port.

use crate::Ports;

pub(crate) const PORTS: Ports = Ports { serial: 1, analog: 2, i2c: 1, spi: 1 };
