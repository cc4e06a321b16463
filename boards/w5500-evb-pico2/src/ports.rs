//! What sensors can be wired to; the build script refuses settings with any other port, and so does the firmware.

use crate::Ports;

pub(crate) const PORTS: Ports = Ports { serial: 1, analog: 2, i2c: 1, spi: 1 };
