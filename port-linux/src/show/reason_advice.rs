//! Advice for people about reasons of the control engine (why commanding is rejected or ended) and figures of the link.

use outrigger_core::link::Metric;
use outrigger_core::robot::Reason;

/// The kind of program that observes a link to a robot and judges its grade (quality).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// This process, which has the session itself.
    Process,
    /// A microcontroller board that reports about its session with the robot by telemetry.
    Board,
    /// A process or a board whose recording is analysed.
    Recorded,
}

impl Observer {
    /// Returns the name of the program that judges the link, for use in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "this process",
            Self::Board => "the board",
            Self::Recorded => "the recorded process",
        }
    }
}

const CHECK_NETWORK: &str = "check the network; see `outrigger doctor`";
const CHECK_LOAD: &str = "controller and client share this machine: check its load";
const SCHEDULE: &str = "give the process a core and a real-time priority; see `outrigger doctor`";

/// Returns advice about `reason`, for which commanding is rejected or ended. `here` is `true` if the controller runs on
/// this machine, without a network in between.
#[must_use]
pub const fn advice(reason: Reason, here: bool) -> &'static str {
    match reason {
        Reason::StateStale | Reason::StatesMissed | Reason::Unacknowledged if here => {
            "the controller runs on this machine: check that it still does, and the CPU load"
        }
        Reason::LinkClosed if here => "the controller runs on this machine: check that it still does",
        Reason::GradeLow => if_here(CHECK_NETWORK, CHECK_LOAD, here),
        Reason::LocalStall => SCHEDULE,
        Reason::EvidenceMissing | Reason::ArmingTimeout => "see the unmet preconditions in `outrigger monitor`",
        _ => reason.advice(),
    }
}

/// Returns advice about a low grade (quality) of the link that the figure `metric` keeps low.
#[must_use]
pub const fn of_metric(metric: Metric, here: bool, observer: Observer) -> &'static str {
    match metric {
        Metric::Samples | Metric::Epoch => "wait for 100 cycles",
        Metric::LocalStall => match observer {
            Observer::Process => SCHEDULE,
            Observer::Board | Observer::Recorded => Reason::LocalStall.advice(),
        },
        Metric::Received
        | Metric::Delay
        | Metric::Jitter
        | Metric::Misses
        | Metric::Age
        | Metric::Answered
        | Metric::Unanswered => if_here(CHECK_NETWORK, CHECK_LOAD, here),
    }
}

const fn if_here(away: &'static str, local: &'static str, here: bool) -> &'static str {
    if here { local } else { away }
}
