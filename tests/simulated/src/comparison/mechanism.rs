//! The mechanisms that make an arm late or inexact in the simulation. Each can be switched off.

use std::time::Duration;

use outrigger_sim::arm::Drive;
use outrigger_sim::controller::Options;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::time::SimTime;
use outrigger_sim::undocumented_delays::Compiling;
use outrigger_wire::robot::SoftwareVersion;

/// A mechanism that makes an arm late or inexact in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Text must arrive a certain time before the control cycle in which it is to run.
    Latch,
    /// `servoj` follows its position through a filter.
    Filter,
    /// A program is compiled before it runs, line by line.
    Compiling,
    /// The arm is braked for one cycle when a program replaces another in the middle of a `servoj`.
    Halting,
    /// The drives respond one cycle late, and with a lag.
    Drive,
    /// The drives are 0.5 % faster or slower than commanded.
    SpeedError,
    /// A driver of 2015 that uploads a program for each motion needs time until the controller has it.
    Upload,
    /// A client of 2015 wakes up late.
    Waking,
    /// Segments take time on the network, and not always the same.
    Network,
    /// Controllers before 3.1 hold data back until the data before are acknowledged (Nagle's algorithm).
    Nagle,
}

impl Mechanism {
    /// All mechanisms, each with its name in options and tables.
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

    /// Returns the mechanism's name in options and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }

    /// Returns the mechanism with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(mechanism, _)| mechanism)
    }

    /// Returns a description of the mechanism, with the figure that the simulation uses.
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

/// The time until a driver of 2015 has uploaded its program: the reported 70 ms minus the time that compiling and
/// connecting take here.
const UPLOAD: Duration = Duration::from_millis(54);
/// The longest delay of a wake-up of a client of 2015.
const WAKING: Duration = Duration::from_millis(2);
/// The transit time of a segment in each direction.
const LATENCY: Duration = Duration::from_micros(100);
/// The deceleration while one program in `servoj` replaces another \[rad/s²\]: half of the largest that the
/// controller plans.
const HALTING: f64 = 20.0;
/// The time after which a client's TCP acknowledges data that it does not answer, unless it is set to acknowledge at
/// once.
pub(super) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// The time after which Outrigger's Linux loop acknowledges: as soon as it has read.
pub(super) const QUICK_ACK: Duration = LATENCY.saturating_mul(2);

/// The mechanisms that act in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms(u16);

impl Mechanisms {
    /// The set of all mechanisms.
    pub const ALL: Self = Self(u16::MAX);

    /// Returns the set without this mechanism.
    #[must_use]
    pub const fn without(self, mechanism: Mechanism) -> Self {
        Self(self.0 & !(1 << mechanism as u16))
    }

    /// Returns whether this mechanism is in the set and so acts.
    #[must_use]
    pub const fn has(self, mechanism: Mechanism) -> bool {
        self.0 & (1 << mechanism as u16) != 0
    }

    /// Returns the options of a controller with this software, on which the mechanisms act. `seed` decides the random
    /// events. A client that sends no data acknowledges after `acknowledges`.
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

    /// Returns the transit time of a segment in each direction.
    pub(super) const fn latency(self) -> Duration {
        if self.has(Mechanism::Network) { LATENCY } else { Duration::ZERO }
    }

    /// Returns the time until the controller has a program that is uploaded for a motion.
    pub(super) const fn upload(self) -> Duration {
        if self.has(Mechanism::Upload) { UPLOAD } else { Duration::ZERO }
    }

    /// Returns the longest delay of a wake-up of a client with a clock of its own.
    pub(super) const fn waking(self) -> Duration {
        if self.has(Mechanism::Waking) { WAKING } else { Duration::ZERO }
    }
}
