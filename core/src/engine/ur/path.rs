//! Which way motion reaches the controller, and what a program of ours there is told.

use core::net::Ipv4Addr;

use crate::robot::{SoftwareVersion, settings, words};
use crate::time::Duration;

/// How motion reaches the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum CommandPath {
    /// A short program in each cycle, each in the place of the one before.
    #[default]
    Text,
    /// A program that stays, connects to us and takes joint speeds (feature `reverse`).
    ReverseSpeedJ,
}

words!(CommandPath { "text" = Text, "reverse-speedj" = ReverseSpeedJ });

impl CommandPath {
    /// The longest time-out of a program's read.
    pub(super) const LONGEST_SILENCE: Duration = Duration::from_millis(200);

    /// The name in configurations.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, path)| *path == self).map_or("", |(word, _)| word)
    }

    /// Whether a program of ours on the controller carries the commands.
    #[must_use]
    pub const fn is_resident(self) -> bool {
        !matches!(self, Self::Text)
    }

    /// Whether a controller with this software can be commanded in this way, as far as is known: a program of ours needs a read
    /// with a time-out, which no source has before 3.0 (unconfirmed when exactly it came).
    #[must_use]
    pub fn fits(self, software: SoftwareVersion) -> bool {
        !self.is_resident() || (cfg!(feature = "reverse") && software.at_least(3, 0))
    }
}

settings! {
    /// A program of ours on the controller.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
    pub struct ProgramConfig in "program." {
        /// Port of ours that it connects to. Default 50001.
        pub port: u16 [1 to 65535] = 50_001,
        /// Address of ours that it connects to, where it is not the one that we connect to the controller from. Default: that.
        pub address nowhere: Option<Ipv4Addr> = None,
        /// Longest wait for it to connect, after which its text is sent again. Default 3 s.
        pub start_timeout: Duration [0.1 to 60.0 "s"] = Duration::from_secs(3),
        /// Orders that it has not answered, at most: of a program that is paused no more wait. Default 8.
        pub unanswered: u8 [1 to 8 "orders"] = 8,
        /// Longest wait for its end, once it was told to; then a `stopj` ends whatever program runs. Default 100 ms.
        pub end_timeout: Duration [0.02 to 5.0 "s"] = Duration::from_millis(100),
    }
}
