//! The channels by which motion commands reach a controller of Universal Robots.

use outrigger_core::engine::ur::{CommandPath, Orders, UrConfig};
use outrigger_wire::robot::SoftwareVersion;

/// A command path, and the channel by which the program on the controller receives orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The command path, which decides on the program, if any.
    pub path: CommandPath,
    /// The channel by which orders reach the program.
    pub orders: Orders,
}

impl Way {
    /// All channels except the player and those with torques.
    pub const ALL: [Self; 8] = {
        let [speed, position, buffered, speed_in, position_in, buffered_in] = Self::OURS;
        let [text, foreign] = [Self::by_socket(CommandPath::Text), Self::by_socket(CommandPath::ExternalControl)];
        [text, speed, position, buffered, speed_in, position_in, buffered_in, foreign]
    };

    /// The channels with one of our programs on the controller that answers.
    pub const OURS: [Self; 6] = [
        Self::by_socket(CommandPath::ReverseSpeedJ),
        Self::by_socket(CommandPath::ReverseServoJ),
        Self::by_socket(CommandPath::Buffered),
        Self::in_registers(CommandPath::ReverseSpeedJ),
        Self::in_registers(CommandPath::ReverseServoJ),
        Self::in_registers(CommandPath::Buffered),
    ];

    /// The player: whole moves that the controller executes, and joint speeds in between.
    pub const PLAYER: Self = Self::by_socket(CommandPath::Player);

    /// The channels with joint torques, to either program that accepts them.
    pub const TORQUES: [Self; 2] =
        [Self::by_socket(CommandPath::ReverseTorque), Self::by_socket(CommandPath::ExternalTorque)];

    const fn by_socket(path: CommandPath) -> Self {
        Self { path, orders: Orders::Socket }
    }

    const fn in_registers(path: CommandPath) -> Self {
        Self { path, orders: Orders::Registers }
    }

    /// Returns whether orders are sent in RTDE registers.
    #[must_use]
    pub fn is_in_registers(self) -> bool {
        self.orders == Orders::Registers
    }

    /// Returns the name of the channel in tables.
    #[must_use]
    pub fn name(self) -> String {
        self.path.name().to_owned() + if self.is_in_registers() { ", registers" } else { "" }
    }

    /// Returns whether this software can be commanded by this channel.
    #[must_use]
    pub fn fits(self, software: SoftwareVersion) -> bool {
        let mut config = UrConfig::default();
        self.choose(&mut config);
        config.peer.unfit(software).is_none()
    }

    /// Returns whether the channel sends joint positions, not speeds.
    #[must_use]
    pub const fn is_positions(self) -> bool {
        self.path.is_positions()
    }

    /// Changes a configuration so that it commands by this channel.
    pub const fn choose(self, config: &mut UrConfig) {
        (config.peer.path, config.peer.program.orders) = (self.path, self.orders);
    }
}
