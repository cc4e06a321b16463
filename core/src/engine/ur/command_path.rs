//! The path on which motion reaches the controller, and the settings of a program of ours on it.

use core::fmt;
use core::net::Ipv4Addr;

use crate::robot::{Wording, settings, wording, words};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

/// The path on which motion reaches the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum CommandPath {
    /// A short program as text in each cycle, each replacing the one before.
    #[default]
    Text,
    /// A resident program connects to us and takes joint speeds for `speedj` (feature `programs`, as the others below).
    ReverseSpeedJ,
    /// A resident program takes joint positions for `servoj`, otherwise like `ReverseSpeedJ`.
    ReverseServoJ,
    /// Like `ReverseServoJ`, with joint positions that wait in a ring on the controller, so that a late one has no
    /// effect.
    Buffered,
    /// A program with the wire protocol of UR's External Control takes joint speeds; it sends no answers (feature
    /// `urcap`).
    ExternalControl,
    /// A program executes whole moves by itself, each identified by its number, and takes joint speeds in between.
    Player,
    /// A resident program connects to us and takes joint torques for `direct_torque`, from 5.23 and 10.11 on (feature
    /// `motions`).
    ReverseTorque,
    /// A program of ours with the wire protocol of External Control takes joint torques (features `urcap` and
    /// `motions`).
    ExternalTorque,
}

words!(CommandPath {
    "text" = Text,
    "reverse-speedj" = ReverseSpeedJ,
    "reverse-servoj" = ReverseServoJ,
    "buffered" = Buffered,
    "player" = Player,
    "external-control" = ExternalControl,
    "reverse-torque" = ReverseTorque,
    "external-torque" = ExternalTorque,
});

/// The time that the commanded positions take from full speed to zero when the speed scaling stops them. If they
/// stopped at once, the arm would turn back.
pub(super) const SETTLING: Duration = Duration::from_millis(150);

impl CommandPath {
    /// The longest timeout with which a program of ours waits for its next order.
    pub(super) const LONGEST_SILENCE: Duration = Duration::from_millis(200);

    /// Returns the name that configurations use for the path.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, path)| *path == self).map_or("", |(word, _)| word)
    }

    /// Returns `true` if a program of ours on the controller carries the commands; never in a build without programs.
    #[must_use]
    pub const fn is_resident(self) -> bool {
        cfg!(feature = "programs") && !matches!(self, Self::Text)
    }

    /// Returns `true` if joint positions are sent; never in a build without programs.
    #[must_use]
    pub const fn is_positions(self) -> bool {
        cfg!(feature = "programs") && matches!(self, Self::ReverseServoJ | Self::Buffered)
    }

    /// Returns `true` if joint torques are sent; never in a build without the feature `motions`. The control law has to
    /// command torques.
    #[must_use]
    pub const fn is_torques(self) -> bool {
        cfg!(feature = "motions") && matches!(self, Self::ReverseTorque | Self::ExternalTorque)
    }

    /// Returns `true` if the program has the wire protocol of External Control; never in a build without the feature
    /// `urcap`.
    #[must_use]
    pub const fn is_external(self) -> bool {
        cfg!(feature = "urcap") && matches!(self, Self::ExternalControl | Self::ExternalTorque)
    }

    /// Returns `true` if the program of this path can receive its orders in registers.
    #[must_use]
    pub const fn can_use_registers(self) -> bool {
        cfg!(feature = "programs") && matches!(self, Self::ReverseSpeedJ | Self::ReverseServoJ | Self::Buffered)
    }

    /// Returns `true` if a controller with this software can be commanded on this path, as far as is known
    /// ([`unfit`](Self::unfit)).
    #[must_use]
    pub fn fits(self, software: SoftwareVersion) -> bool {
        self.unfit(software).is_none()
    }

    /// Returns the reason for which a controller with this software cannot be commanded on this path, as far as is
    /// known; `None` if it can. A program of ours needs a read with a timeout, which no source mentions before 3.0 (the
    /// exact version is unconfirmed), and `servoj` needs a configurable filter, from 3.1 on
    /// (`core/docs/protocol/outrigger-programs.md` 8).
    #[must_use]
    pub fn unfit(self, software: SoftwareVersion) -> Option<Unfit> {
        if !self.is_built() {
            return Some(Unfit::NotBuilt);
        }
        let (major, minor, lacks) = match self {
            Self::Text => return None,
            Self::ReverseServoJ | Self::Buffered => (3, 1, "servoj with a look-ahead and a gain"),
            Self::ReverseSpeedJ | Self::Player | Self::ExternalControl => (3, 0, "reads of a program with a time-out"),
            Self::ReverseTorque | Self::ExternalTorque if software.major >= 10 => (10, 11, "direct_torque"),
            Self::ReverseTorque | Self::ExternalTorque => (5, 23, "direct_torque"),
        };
        (!software.at_least(major, minor)).then(|| Unfit::Software { major, minor, lacks: wording(lacks) })
    }

    /// Returns a description, for people, of what is sent to the controller on this command path.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Text => "a short program in each cycle",
            Self::ReverseSpeedJ => "joint speeds to a resident program",
            Self::ReverseServoJ => "joint positions to a resident program",
            Self::Buffered => "joint positions queued on the controller",
            Self::Player => "whole moves to a resident program, and joint speeds in between",
            Self::ExternalControl => "joint speeds, as UR's External Control takes them",
            Self::ReverseTorque => "joint torques to a resident program",
            Self::ExternalTorque => "joint torques, as UR's External Control takes them",
        }
    }

    /// Returns `true` if this build of the core can command on the path.
    #[must_use]
    pub const fn is_built(self) -> bool {
        match self {
            Self::Text => true,
            Self::ExternalControl => cfg!(feature = "urcap"),
            Self::ExternalTorque => cfg!(all(feature = "urcap", feature = "motions")),
            Self::ReverseTorque => cfg!(feature = "motions"),
            Self::ReverseSpeedJ | Self::ReverseServoJ | Self::Buffered | Self::Player => {
                cfg!(feature = "programs")
            }
        }
    }
}

/// The reason for which a controller cannot be commanded on a [command path](CommandPath).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// This build of the core was made without the command path.
    NotBuilt,
    /// The controller's software is older than the first version that supports the command path, or the registers by which
    /// orders are to reach its program.
    Software {
        /// The major number of the first controller software that supports the command path, or the registers for its orders.
        major: u8,
        /// The minor number of the first controller software that supports the command path, or the registers for its orders.
        minor: u8,
        /// The function of the controller that older software versions lack, as far as is known.
        lacks: Wording,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => f.write_str("not in this build"),
            Self::Software { major, minor, lacks } => write!(f, "needs software {major}.{minor} for {lacks}"),
        }
    }
}

/// The way in which a program of ours is transferred to the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Delivery {
    /// The program is sent as text over 30003, which replaces any program that runs there.
    #[default]
    Text,
    /// The URCap External Control fetches the program when a pendant program with the URCap's node is played (feature
    /// `urcap`).
    UrCap,
    /// This driver transfers no program, and awaits the connection of one that is transferred by other means, such as
    /// UR's own program for the path `external-control`.
    Nobody,
}

words!(Delivery { "text" = Text, "urcap" = UrCap, "nobody" = Nobody });

/// The way in which a program of ours receives its orders and sends its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Orders {
    /// The program exchanges orders and answers over a connection that it makes to us.
    #[default]
    Socket,
    /// The program exchanges orders and answers in registers of RTDE, if states come by RTDE too: the robot connects to
    /// no other host. Integer input registers 24 … 31 are claimed, and the program answers in output registers 24 and
    /// 25 (`core/docs/protocol/outrigger-programs.md` 12).
    Registers,
}

words!(Orders { "socket" = Socket, "registers" = Registers });

impl Orders {
    /// Returns the reason for which a controller with this software cannot pass orders to a program of ours in this way;
    /// `None` if it can. The registers above 23 were added in 3.9 and 5.3 (`core/docs/protocol/ur-rtde.md` 6).
    fn unfit(self, software: SoftwareVersion) -> Option<Unfit> {
        let (major, minor) = if software.major >= 5 { (5, 3) } else { (3, 9) };
        let lacks = matches!(self, Self::Registers) && !software.at_least(major, minor);
        lacks.then(|| Unfit::Software { major, minor, lacks: wording("registers for other clients") })
    }
}

settings! {
    /// The settings of a program of ours on the controller.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ProgramConfig in "program." {
        /// The port of this device that the program connects to. Default 50001.
        pub port: u16 [1 to 65535] = 50_001,
        /// The address of this device that the program connects to. Default: the address from which this device
        /// connects to the controller.
        pub address nowhere: Option<Ipv4Addr> = None,
        /// The way in which the program is transferred to the controller. Default: as text.
        pub by: Delivery = Delivery::Text,
        /// The port of this device at which the URCap requests the program. Default 50002.
        pub script_port: u16 [1 to 65535] = 50_002,
        /// The port of this device that a program of External Control connects to for trajectories; the connection is
        /// mandatory. Default 50003.
        pub trajectory_port: u16 [1 to 65535] = 50_003,
        /// The port of this device that a program of External Control connects to for commands that are executed
        /// once. Default 50004.
        pub command_port: u16 [1 to 65535] = 50_004,
        /// Keep the program running at rest when commanding is over; a program of External Control, or one that is not
        /// transferred as text, always keeps running. Default no.
        pub resident: bool = false,
        /// The longest wait for the program's connection; then its text is sent again. Default 3 s.
        pub start_timeout: Duration [0.1 to 60.0 "s"] = Duration::from_secs(3),
        /// The highest number of unanswered orders; a program that is paused is sent no more. Default 8.
        pub unanswered: u8 [1 to 8 "orders"] = 8,
        /// The largest distance of a target from the measured joint \[rad\], if positions are sent. The program
        /// itself permits 0.02 rad more. Default 0.3.
        pub divergence: f32 [0.001 to 3.0 "rad"] = 0.3,
        /// The `lookahead_time` of each `servoj`, from 3.1 on. Default 30 ms, like UR's own driver.
        pub lookahead: Duration [0.03 to 0.2 "s"] = Duration::from_millis(30),
        /// The `gain` of each `servoj`, from 3.1 on. Default 2000, like UR's own driver.
        pub gain: u16 [100 to 2000] = 2_000,
        /// The time for which positions wait in the ring. The real time is at least half of this and at most one and a
        /// half times this. Default 40 ms.
        pub lag: Duration [0.016 to 1.33 "s"] = Duration::from_millis(40),
        /// The longest wait for the end of the program after it was ordered to end; then a `stopj` ends any program
        /// that runs. Default 100 ms.
        pub end_timeout: Duration [0.02 to 0.9 "s"] = Duration::from_millis(100),
        /// The way in which the program receives its orders. Default: over a connection that it makes to this device.
        pub orders: Orders = Orders::Socket,
    }
}

settings! {
    /// The settings of the ring buffer on the controller in which positions wait, and of the repetition of a motion's
    /// last position until the arm has reached it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct BufferedConfig in "program." {
        /// The number of places for positions in the ring: at 500 Hz 30 places for each 0.04 s of the lag, and two
        /// more. Default 32.
        pub ring: u16 [32 to 1000 "points"] = ProgramConfig::RING,
        /// The distance within which a joint has reached the last position of a motion \[rad\]. Default 0.002.
        pub convergence: f32 [0.0001 to 0.3 "rad"] = 0.002,
        /// The longest time for which the last position of a motion is repeated. Default 0.5 s.
        pub convergence_time: Duration [0.0 to 10.0 "s"] = Duration::from_millis(500),
    }
}

impl ProgramConfig {
    /// The default number of places for positions in the ring buffer on the controller.
    pub(super) const RING: u16 = 32;
    /// The first of the input registers for orders: the registers that are reserved for external clients begin here
    /// (`core/docs/protocol/ur-rtde.md` 6).
    pub(super) const INPUTS: i32 = 24;
    /// The first of the output registers in which a program answers.
    pub(super) const OUTPUTS: i32 = 24;

    /// Returns `true` if the program on `path` keeps running when commanding is over.
    #[must_use]
    pub const fn stays(&self, path: CommandPath) -> bool {
        self.resident || !matches!(self.by, Delivery::Text) || path.is_external()
    }

    /// Returns the reason for which a controller with this software cannot be commanded on this path, by a program with
    /// this configuration; `None` if it can.
    #[must_use]
    pub fn unfit(&self, path: CommandPath, software: SoftwareVersion) -> Option<Unfit> {
        let orders = if self.by_registers(path) { self.orders } else { Orders::Socket };
        path.unfit(software).or(orders.unfit(software))
    }

    /// Returns `true` if a program on this path receives its orders in registers.
    #[must_use]
    pub const fn by_registers(&self, path: CommandPath) -> bool {
        path.can_use_registers() && matches!(self.orders, Orders::Registers)
    }

    /// The longest time for which positions wait in the ring buffer on the controller by default.
    pub(super) const USUAL_WAIT: Duration = Duration::from_millis(60);

    /// Returns the longest lag for a ring buffer of `ring` places on the controller, with one point taken out in each 2
    /// ms: one and a half of the lag waits, and two points are on their way.
    pub(super) fn longest_lag(ring: u16) -> Duration {
        const SHORTEST: Duration = Duration::from_millis(2);
        SHORTEST.times(u64::from(ring.saturating_sub(2))).percent(67)
    }

    /// Returns the longest time for which positions wait in the ring buffer on the controller; zero on a path without
    /// one.
    pub(super) fn waits(&self, path: CommandPath) -> Duration {
        if path == CommandPath::Buffered { self.lag.percent(150) } else { Duration::ZERO }
    }

    /// Returns the largest permitted distance of the newest target from the measured joint \[rad\]: the configured
    /// divergence and, if the lag is configured longer than 0.04 s, the travel of the `fastest` joint \[rad/s\] in the
    /// longer wait.
    pub(super) fn lead(&self, path: CommandPath, fastest: f32) -> f32 {
        self.divergence + fastest * (self.waits(path) - Self::USUAL_WAIT).as_secs_f32()
    }

    /// Returns the number of points that are to wait in the ring buffer on the controller, with one taken out in each
    /// period.
    pub(super) fn fill(&self, period: Duration) -> u16 {
        let points = self.lag.whole(period).unwrap_or_default();
        u16::try_from(points).unwrap_or(u16::MAX).max(1)
    }
}

#[cfg(all(test, feature = "urcap", feature = "motions"))]
mod tests {
    use super::*;

    /// Returns every software version that is distinguished, and its neighbours.
    fn versions() -> impl Iterator<Item = SoftwareVersion> {
        (0..=12).flat_map(|major| (0..=30).map(move |minor| SoftwareVersion::new(major, minor)))
    }

    #[test]
    fn a_path_fits_from_one_version_on_and_says_which() {
        for (word, path) in CommandPath::WORDS {
            for software in versions() {
                // Functions were added to e-Series and to PolyScope X separately.
                let alike = |other: &SoftwareVersion| !path.is_torques() || (other.major < 10) == (software.major < 10);
                let first = versions().filter(alike).find(|software| path.fits(*software)).unwrap();
                let beyond = (software.major, software.minor) >= (first.major, first.minor);
                assert_eq!(path.fits(software), beyond, "{word}, {software}");
                match path.unfit(software) {
                    None => assert!(beyond, "{word}, {software}"),
                    Some(Unfit::Software { major, minor, .. }) => {
                        assert_eq!((major, minor), (first.major, first.minor), "{word}, {software}");
                    }
                    Some(Unfit::NotBuilt) => panic!("{word}, {software}: all are built"),
                }
            }
        }
        let first = |path: CommandPath| versions().find(|software| path.fits(*software));
        assert_eq!(first(CommandPath::Text), Some(SoftwareVersion::new(0, 0)));
        assert_eq!(first(CommandPath::ReverseSpeedJ), Some(SoftwareVersion::new(3, 0)));
        assert_eq!(first(CommandPath::ReverseServoJ), Some(SoftwareVersion::new(3, 1)));
        assert_eq!(first(CommandPath::Buffered), Some(SoftwareVersion::new(3, 1)));
        assert_eq!(first(CommandPath::Player), Some(SoftwareVersion::new(3, 0)));
        assert_eq!(first(CommandPath::ExternalControl), Some(SoftwareVersion::new(3, 0)));
        for path in [CommandPath::ReverseTorque, CommandPath::ExternalTorque] {
            assert_eq!(first(path), Some(SoftwareVersion::new(5, 23)));
            let fits = |minor| path.fits(SoftwareVersion::new(10, minor));
            assert!(!fits(10) && fits(11));
        }
    }

    #[cfg(feature = "texts")]
    #[test]
    fn what_does_not_fit_is_told_with_the_version_that_does() {
        let told = CommandPath::Buffered.unfit(SoftwareVersion::new(3, 0)).map(|unfit| unfit.to_string());
        assert_eq!(told.as_deref(), Some("needs software 3.1 for servoj with a look-ahead and a gain"));
    }
}
