//! Services of the controller that the operator can switch off (`core/docs/protocol/ur-client-interfaces.md 5.6`):
//! from 5.10 on and on PolyScope X.

use crate::port::Port;

/// A service of the controller with a switch in the security settings. A read-only port is assumed to be switched
/// together with its writable twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// The dashboard server, port 29999.
    Dashboard,
    /// The primary interface, ports 30001 and 30011.
    Primary,
    /// The secondary interface, ports 30002 and 30012.
    Secondary,
    /// The real-time interface, ports 30003 and 30013.
    Realtime,
    /// The RTDE interface, port 30004.
    Rtde,
    /// Interpreter mode, port 30020.
    Interpreter,
    /// The Robot API, port 80 on PolyScope X.
    RobotApi,
}

impl Service {
    /// Every network service of the controller with its name in command-line options.
    pub const NAMED: [(Self, &'static str); 7] = [
        (Self::Dashboard, "dashboard"),
        (Self::Primary, "primary"),
        (Self::Secondary, "secondary"),
        (Self::Realtime, "realtime"),
        (Self::Rtde, "rtde"),
        (Self::Interpreter, "interpreter"),
        (Self::RobotApi, "robot-api"),
    ];

    /// Returns the network service that has this name in command-line options.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(service, _)| service)
    }

    /// Returns the service that a port belongs to; `None` if the port has no switch.
    #[must_use]
    pub fn of(port: Port) -> Option<Self> {
        Some(match port {
            Port::Dashboard => Self::Dashboard,
            Port::Primary | Port::PrimaryReadOnly => Self::Primary,
            Port::Secondary | Port::SecondaryReadOnly => Self::Secondary,
            Port::Realtime | Port::RealtimeReadOnly => Self::Realtime,
            Port::Rtde => Self::Rtde,
            Port::Interpreter => Self::Interpreter,
            Port::RobotApi => Self::RobotApi,
            Port::ToolLine => return None,
        })
    }
}
