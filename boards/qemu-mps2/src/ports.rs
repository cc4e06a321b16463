//! What sensors can be wired to; the build script refuses settings with any other port, and so does the firmware.

use crate::Ports;

pub(crate) const PORTS: Ports = Ports { serial: 1, analog: 0, i2c: 0, spi: 0 };
