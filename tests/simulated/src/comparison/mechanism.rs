//! What makes an arm late or inexact in the simulation: each can be taken away.

use std::time::Duration;

use outrigger_sim::arm::Drive;
use outrigger_sim::controller::Options;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::time::SimTime;
use outrigger_sim::timing::Compiling;
use outrigger_wire::robot::SoftwareVersion;

/// One mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Text must be there a while before the control cycle that it is to run in.
    Latch,
    /// `servoj` follows its position through a filter.
    Filter,
    /// A program is compiled before it runs, line by line.
    Compiling,
    /// The arm is braked for a cycle where a program replaces one in the middle of `servoj`.
    Halting,
    /// The drives answer a cycle late, and with a lag.
    Drive,
    /// The drives are 0.5 % faster or slower than they are told.
    SpeedError,
    /// A driver of 2015 that uploads a program for each motion takes a while until the controller has it.
    Upload,
    /// A client of 2015 wakes up late.
    Waking,
    /// Segments take their time on the network, and not always the same.
    Network,
    /// Controllers before 3.1 hold data back until what went before is acknowledged.
    Nagle,
}

impl Mechanism {
    /// Every mechanism with the word that options and tables use for it.
    pub const NAMED: [(Self, &'static str); 10] = [
        (Self::Latch, "latch"),
        (Self::Filter, "filter"),
        (Self::Compiling, "compiling"),
        (Self::Halting, "halting"),
        (Self::Drive, "drive"),
        (Self::SpeedError, "speed-error"),
        (Self::Upload, "upload"),
        (Self::Waking, "waking"),
        (Self::Network, "network"),
        (Self::Nagle, "nagle"),
    ];

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }

    /// The mechanism of this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(mechanism, _)| mechanism)
    }

    /// What it is, and the figure that is taken for it.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Latch => {
                "text runs in the next control cycle only if it is there 5 ms before it (8 ms controllers, measured in 2015), \
                 1.25 ms on e-Series (assumed)"
            }
            Self::Filter => {
                "`servoj` follows positions through a critically damped filter of second order: a ramp is followed \
                 `lookahead_time` late at gain 300, less at a higher gain; before 3.1, which takes neither, as with 0.1 s and 300 \
                 (the form, and what holds before 3.1, are assumed)"
            }
            Self::Compiling => {
                "a program starts 100 µs later for each line beyond the tenth (that it does is reported, the figure assumed)"
            }
            Self::Halting => {
                "where a program takes the place of one in `servoj`, the arm is braked for one control cycle with 20 rad/s²: an \
                 aborted `servoj` stops abruptly (reported); that this is to be seen although the next one comes at once, and \
                 how much of it, is assumed: half of the largest acceleration that a controller plans"
            }
            Self::Drive => "the drives answer one control cycle late, with a first-order lag of 10 ms (assumed)",
            Self::SpeedError => {
                "a joint turns 0.5 % faster or slower than it is told, by a sign drawn per run (assumed)"
            }
            Self::Upload => {
                "a driver that uploads its program for each motion begins 70 ms later than one whose program stays (reported): 54 ms \
                 pass before the controller has the text, and what is left is compiling and connecting (the parts are assumed)"
            }
            Self::Waking => "a client that sends by its own clock wakes up to 2 ms late (assumed)",
            Self::Network => "a segment takes 100 µs, and up to a sixteenth of a control cycle more (assumed)",
            Self::Nagle => {
                "the controller uses Nagle's algorithm before 3.1; a client of 2015 acknowledges within 40 ms, or with what it sends \
                 (reported; the time is Linux's), Outrigger as soon as it has read"
            }
        }
    }
}

/// Time until a driver of 2015 has uploaded its program: what the reported 70 ms are more than compiling and connecting take here.
const UPLOAD: Duration = Duration::from_millis(54);
/// Longest time that a client of 2015 wakes up late.
const WAKING: Duration = Duration::from_millis(2);
/// Time a segment takes each way.
const LATENCY: Duration = Duration::from_micros(100);
/// Deceleration while one program in `servoj` takes the place of another \[rad/s²\]: half of what the controller plans at most.
const HALTING: f64 = 20.0;
/// When a client acknowledges what it does not answer, unless it has been told to do so at once.
pub(super) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// When Outrigger's Linux loop does: as soon as it has read.
pub(super) const QUICK_ACK: Duration = LATENCY.saturating_mul(2);

/// The mechanisms that act in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms(u16);

impl Mechanisms {
    /// All of them.
    pub const ALL: Self = Self(u16::MAX);

    /// The same without this one.
    #[must_use]
    pub const fn without(self, mechanism: Mechanism) -> Self {
        Self(self.0 & !(1 << mechanism as u16))
    }

    /// Whether this one acts.
    #[must_use]
    pub const fn has(self, mechanism: Mechanism) -> bool {
        self.0 & (1 << mechanism as u16) != 0
    }

    /// A controller with this software on which they act; `seed` decides what is random. A client that sends nothing
    /// acknowledges after `acknowledges`.
    pub(super) fn controller(self, software: SoftwareVersion, seed: u64, acknowledges: Duration) -> Options {
        let mut options = Options::for_software(software);
        options.seed = seed;
        let Drive { velocity_error, .. } = options.drive;
        if !self.has(Mechanism::Drive) {
            options.drive = Drive { velocity_error, ..Drive::IDEAL };
        }
        if !self.has(Mechanism::SpeedError) {
            options.drive.velocity_error = 0.0;
        }
        if !self.has(Mechanism::Latch) {
            options.intake = Some(Duration::ZERO);
        }
        if !self.has(Mechanism::Compiling) {
            options.compiling = Compiling::NONE;
        }
        options.servoj.filters = self.has(Mechanism::Filter);
        if self.has(Mechanism::Halting) {
            options.servoj.replaced_deceleration = HALTING;
        }
        if self.has(Mechanism::Network) {
            let period = Duration::from_micros(software.generation().period_micros());
            options.faults.push(Fault::new(FaultKind::Jitter(period / 16), SimTime::ZERO, None));
        }
        if self.has(Mechanism::Nagle) && !software.at_least(3, 1) {
            options.faults.push(Fault::new(FaultKind::Nagle(acknowledges), SimTime::ZERO, None));
        }
        options
    }

    /// Time a segment takes each way.
    pub(super) const fn latency(self) -> Duration {
        if self.has(Mechanism::Network) { LATENCY } else { Duration::ZERO }
    }

    /// Returns the time that passes before a program which is uploaded for a motion is at the controller.
    pub(super) const fn upload(self) -> Duration {
        if self.has(Mechanism::Upload) { UPLOAD } else { Duration::ZERO }
    }

    /// Longest time that a client by its own clock wakes up late.
    pub(super) const fn waking(self) -> Duration {
        if self.has(Mechanism::Waking) { WAKING } else { Duration::ZERO }
    }
}
