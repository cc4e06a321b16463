//! Causes of failed connections, as far as the stack knows them.

/// The reason why a link is not connected. The engine only needs to know that it is not connected; the reason is for
/// people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ConnectionFault {
    /// The network interface of this device is not connected.
    NoLink,
    /// This device has no IP address, or no route to the robot's.
    NoRoute,
    /// No device answers at the robot's address.
    NoAnswer,
    /// The controller exists and rejects this device's connection.
    Refused,
    /// The controller closed this device's connection.
    Closed,
    /// The connection to the controller was reset by the controller.
    Reset,
}

impl ConnectionFault {
    /// Returns a description of the connection's fault, as a clause that starts in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoLink => "the network interface has no link",
            Self::NoRoute => "this device has no address, or no route to the robot's",
            Self::NoAnswer => "nobody answers at the robot's address",
            Self::Refused => "the controller refuses the connection",
            Self::Closed => "the controller closed the connection",
            Self::Reset => "the controller reset the connection",
        }
    }

    /// Returns the next step that a person should take to get a connection.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::NoLink => "plug the cable in; is the other end powered?",
            Self::NoRoute => "check the address, prefix and gateway in this device's settings",
            Self::NoAnswer => "is the robot's address right, the controller on, a firewall between?",
            Self::Refused => "is the controller started, and this interface enabled in its security settings?",
            Self::Closed | Self::Reset => "was the controller restarted, or does it have too many clients?",
        }
    }
}
