//! Which way motion reaches the controller, and what a program of ours there is told.

use core::fmt;
use core::net::Ipv4Addr;

use crate::robot::{Wording, settings, wording, words};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

/// How motion reaches the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum CommandPath {
    /// A short program in each cycle, each in the place of the one before.
    #[default]
    Text,
    /// A program that stays, connects to us and takes joint speeds for `speedj` (feature `programs`, as the others below).
    ReverseSpeedJ,
    /// The same with joint positions, for `servoj`.
    ReverseServoJ,
    /// The same with joint positions that wait in a ring on the controller, so that a late one does not show.
    Buffered,
    /// A program that speaks the wire of UR's External Control takes joint speeds; it answers nothing (feature `urcap`).
    ExternalControl,
    /// A program that makes whole moves by itself, each known by its number, and takes joint speeds in between.
    Player,
    /// A program that stays, connects to us and takes joint torques for `direct_torque`, from 5.23 and 10.11 on (feature `motions`).
    ReverseTorque,
    /// A program of ours that speaks the wire of External Control takes joint torques (features `urcap` and `motions`).
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

/// How long a target of positions takes from full speed to none where the speed scaling ends it: one that stands still at
/// once would have the arm turn back.
pub(super) const SETTLING: Duration = Duration::from_millis(150);

impl CommandPath {
    /// The longest time-out of a program's read.
    pub(super) const LONGEST_SILENCE: Duration = Duration::from_millis(200);

    /// The name in configurations.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, path)| *path == self).map_or("", |(word, _)| word)
    }

    /// Whether a program of ours on the controller carries the commands: never in a build that has none.
    #[must_use]
    pub const fn is_resident(self) -> bool {
        cfg!(feature = "programs") && !matches!(self, Self::Text)
    }

    /// Whether joint positions are sent: never in a build without programs.
    #[must_use]
    pub const fn is_positions(self) -> bool {
        cfg!(feature = "programs") && matches!(self, Self::ReverseServoJ | Self::Buffered)
    }

    /// Returns `true` where joint torques are sent: never in a build without feature `motions`. The law has to command torques.
    #[must_use]
    pub const fn is_torques(self) -> bool {
        cfg!(feature = "motions") && matches!(self, Self::ReverseTorque | Self::ExternalTorque)
    }

    /// Returns `true` where the program speaks the wire of External Control: never in a build without it.
    #[must_use]
    pub const fn is_external(self) -> bool {
        cfg!(feature = "urcap") && matches!(self, Self::ExternalControl | Self::ExternalTorque)
    }

    /// Whether its program can get its orders in registers.
    #[must_use]
    pub const fn can_use_registers(self) -> bool {
        cfg!(feature = "programs") && matches!(self, Self::ReverseSpeedJ | Self::ReverseServoJ | Self::Buffered)
    }

    /// Whether a controller with this software can be commanded in this way, as far as is known ([`unfit`](Self::unfit)).
    #[must_use]
    pub fn fits(self, software: SoftwareVersion) -> bool {
        self.unfit(software).is_none()
    }

    /// Why a controller with this software cannot be commanded in this way, as far as is known; `None` where it can: a program
    /// of ours needs a read with a time-out, which no source has before 3.0 (unconfirmed when exactly it came), and `servoj` a
    /// filter of our choice, from 3.1 on (`core/docs/protocol/outrigger-programs.md` 8).
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

    /// What goes to the controller, for people.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Text => "a short program in each cycle",
            Self::ReverseSpeedJ => "joint speeds to a program that stays there",
            Self::ReverseServoJ => "joint positions to a program that stays there",
            Self::Buffered => "joint positions that wait in a queue there",
            Self::Player => "whole moves to a program that stays there, and joint speeds in between",
            Self::ExternalControl => "joint speeds, as UR's External Control takes them",
            Self::ReverseTorque => "joint torques to a program that stays there",
            Self::ExternalTorque => "joint torques, as UR's External Control takes them",
        }
    }

    /// Whether this build of the core has it.
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

/// Why a controller cannot be commanded in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// This build of the core does not have it.
    NotBuilt,
    /// The controller's software is older than the first that can.
    Software {
        /// Major number of that first one.
        major: u8,
        /// Its minor number.
        minor: u8,
        /// What older ones have not, as far as is known.
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

/// How a program of ours gets to the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Delivery {
    /// As text over 30003: it takes the place of whatever runs there.
    #[default]
    Text,
    /// The URCap External Control fetches it when a program of the pendant is played that has its node (feature `urcap`).
    UrCap,
    /// Somebody else brings it, as UR's own for the path `external-control`: it is waited for.
    Nobody,
}

words!(Delivery { "text" = Text, "urcap" = UrCap, "nobody" = Nobody });

/// How its orders get to a program of ours, and its answers back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Orders {
    /// Over a connection that it makes to us.
    #[default]
    Socket,
    /// In registers of RTDE, where states come from there too: the robot connects to nobody. Integer input registers 24 … 31
    /// are claimed, and the program answers in output registers 24 and 25 (`core/docs/protocol/outrigger-programs.md` 12).
    Registers,
}

words!(Orders { "socket" = Socket, "registers" = Registers });

impl Orders {
    /// Why software cannot pass them on so: the registers above 23 came with 3.9 and 5.3 (`core/docs/protocol/ur-rtde.md` 6).
    fn unfit(self, software: SoftwareVersion) -> Option<Unfit> {
        let (major, minor) = if software.major >= 5 { (5, 3) } else { (3, 9) };
        let lacks = matches!(self, Self::Registers) && !software.at_least(major, minor);
        lacks.then(|| Unfit::Software { major, minor, lacks: wording("registers for other clients") })
    }
}

settings! {
    /// A program of ours on the controller.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ProgramConfig in "program." {
        /// Port of ours that it connects to. Default 50001.
        pub port: u16 [1 to 65535] = 50_001,
        /// Address of ours that it connects to, where it is not the one that we connect to the controller from. Default: that.
        pub address nowhere: Option<Ipv4Addr> = None,
        /// How it gets there. Default: as text.
        pub by: Delivery = Delivery::Text,
        /// Port of ours at which the URCap asks for it. Default 50002.
        pub script_port: u16 [1 to 65535] = 50_002,
        /// Port of ours that a program of External Control connects to for trajectories; it has to. Default 50003.
        pub trajectory_port: u16 [1 to 65535] = 50_003,
        /// The same for commands that are done once. Default 50004.
        pub command_port: u16 [1 to 65535] = 50_004,
        /// Whether it stays when commanding is over, at rest; one that the URCap has fetched always does. Default no.
        pub resident: bool = false,
        /// Longest wait for it to connect, after which its text is sent again. Default 3 s.
        pub start_timeout: Duration [0.1 to 60.0 "s"] = Duration::from_secs(3),
        /// Orders that it has not answered, at most: of a program that is paused no more wait. Default 8.
        pub unanswered: u8 [1 to 8 "orders"] = 8,
        /// How far a target may be from where a joint is measured \[rad\], where positions are sent: here, and 0.02 rad more in
        /// the program. Default 0.3.
        pub divergence: f32 [0.001 to 3.0 "rad"] = 0.3,
        /// `lookahead_time` of each `servoj`, from 3.1 on. Default 0.03, as UR's own driver has it.
        pub lookahead: Duration [0.03 to 0.2 "s"] = Duration::from_millis(30),
        /// `gain` of each `servoj`, from 3.1 on. Default 2000, as UR's own driver has it.
        pub gain: u16 [100 to 2000] = 2_000,
        /// Time that positions wait in the ring: at least half and at most one and a half of it. Default 0.04.
        pub lag: Duration [0.016 to 1.33 "s"] = Duration::from_millis(40),
        /// Longest wait for its end, once it was told to; then a `stopj` ends whatever program runs. Default 100 ms.
        pub end_timeout: Duration [0.02 to 5.0 "s"] = Duration::from_millis(100),
        /// How its orders get to it. Default: over a connection that it makes.
        pub orders: Orders = Orders::Socket,
    }
}

settings! {
    /// The ring in which positions wait, and the repetition of the last position of a motion until the arm has come to it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct BufferedConfig in "program." {
        /// Places for positions in the ring: at 500 Hz 30 and two more for each 0.04 s of the lag. Default 32.
        pub ring: u16 [32 to 1000 "points"] = ProgramConfig::RING,
        /// The distance within which a joint has come to the last position of a motion \[rad\]. Default 0.002.
        pub convergence: f32 [0.0001 to 0.3 "rad"] = 0.002,
        /// The longest time for which that position is repeated. Default 0.5 s.
        pub convergence_time: Duration [0.0 to 10.0 "s"] = Duration::from_millis(500),
    }
}

impl ProgramConfig {
    /// Places for positions in the ring, where nothing else is configured.
    pub(super) const RING: u16 = 32;
    /// The first of the input registers that orders come in, and of the output registers that are answered in: those that
    /// `core/docs/protocol/ur-rtde.md` 6 leaves to external clients begin here.
    pub(super) const INPUTS: i32 = 24;
    /// The same of the output registers.
    pub(super) const OUTPUTS: i32 = 24;

    /// Whether the program stays when commanding is over.
    #[must_use]
    pub const fn stays(&self, path: CommandPath) -> bool {
        self.resident || !matches!(self.by, Delivery::Text) || path.is_external()
    }

    /// Why a controller with this software cannot be commanded on this path, by a program as it is configured here.
    #[must_use]
    pub fn unfit(&self, path: CommandPath, software: SoftwareVersion) -> Option<Unfit> {
        let orders = if self.by_registers(path) { self.orders } else { Orders::Socket };
        path.unfit(software).or(orders.unfit(software))
    }

    /// Whether a program on this path gets its orders in registers.
    #[must_use]
    pub const fn by_registers(&self, path: CommandPath) -> bool {
        path.can_use_registers() && matches!(self.orders, Orders::Registers)
    }

    /// The longest time that positions wait in the ring by default.
    pub(super) const USUAL_WAIT: Duration = Duration::from_millis(60);

    /// The longest lag that a ring of so many places has room for, where one point is taken out in each 2 ms: one and a half of it wait, and two
    /// are on their way.
    pub(super) fn longest_lag(ring: u16) -> Duration {
        const SHORTEST: Duration = Duration::from_millis(2);
        SHORTEST.times(u64::from(ring.saturating_sub(2))).percent(67)
    }

    /// Time that positions wait in the ring at most; none where there is no ring.
    pub(super) fn waits(&self, path: CommandPath) -> Duration {
        if path == CommandPath::Buffered { self.lag.percent(150) } else { Duration::ZERO }
    }

    /// Returns the largest distance of the newest target from the measured joint \[rad\]: further where more positions wait than in 0.04 s, by
    /// what the `fastest` joint travels meanwhile \[rad/s\].
    pub(super) fn lead(&self, path: CommandPath, fastest: f32) -> f32 {
        self.divergence + fastest * (self.waits(path) - Self::USUAL_WAIT).as_secs_f32()
    }

    /// How many points are to wait in the ring, where one is taken out in each period.
    pub(super) fn fill(&self, period: Duration) -> u16 {
        let points = self.lag.whole(period).unwrap_or_default();
        u16::try_from(points).unwrap_or(u16::MAX).max(1)
    }
}

#[cfg(all(test, feature = "urcap", feature = "motions"))]
mod tests {
    use super::*;

    /// Every version that is told apart, and their neighbours.
    fn versions() -> impl Iterator<Item = SoftwareVersion> {
        (0..=12).flat_map(|major| (0..=30).map(move |minor| SoftwareVersion::new(major, minor)))
    }

    #[test]
    fn a_path_fits_from_one_version_on_and_says_which() {
        for (word, path) in CommandPath::WORDS {
            for software in versions() {
                // Functions come to e-Series and to PolyScope X one by one.
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
