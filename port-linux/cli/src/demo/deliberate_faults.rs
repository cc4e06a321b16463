//! Deliberate faults that each make a check fail, however busy the machine is: `outrigger demo --break NAME` causes
//! one of them. They show that bounds are never so wide that a fault passes, and are not part of the demo that users
//! see.

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::StandoffConfig;
use outrigger_core::robot::Reason;
use outrigger_sim::firmware::AfterT;
use outrigger_wire::time::Duration;

use super::pause_allowance::Allowance;

/// A deliberate fault of the demo, each of which makes a check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Broken {
    /// A deliberate fault: the control law outputs almost no speed, whatever the distance.
    NoGain,
    /// A deliberate fault: the control law holds a distance to the workpiece that is wrong by 5 mm.
    WrongDistance,
    /// A deliberate fault: commanding continues while the link is stalled, instead of ending in a fallback.
    NoFallback,
    /// A deliberate fault: commanding continues with the last reading of a sensor that no longer sends.
    StaleSensor,
    /// A deliberate fault: commanding ends for another reason than the one that is reported.
    WrongReason,
    /// A deliberate fault: no request of the operator to command the arm, except the first one, reaches the engine.
    NoReArming,
    /// A deliberate fault: after a fallback commanding begins again without a request of the operator.
    ResumesByItself,
    /// A deliberate fault: the simulated arm continues to move when a command is not followed by another one.
    KeepsMoving,
    /// A deliberate fault: another client moves the simulated arm while this program commands it.
    SecondCommander,
    /// A deliberate fault: the link stalls at times at which the demo's scenario injects no fault.
    SecretStalls,
    /// A deliberate fault: the operator's release, which ends commanding, does not reach the engine.
    NoRelease,
    /// A deliberate fault: the operator's acknowledgements of faults do not reach the engine.
    NoAcknowledgement,
}

impl Broken {
    /// Returns the behaviour of the simulated arm after the time of its last speed command, if this fault changes it;
    /// `None` otherwise.
    pub(super) const fn after_t(self) -> Option<AfterT> {
        match self {
            Self::KeepsMoving => Some(AfterT::KeepsMoving),
            _ => None,
        }
    }

    /// Applies the deliberate fault to the law that holds the distance, if it is a fault of the law.
    pub(super) fn spoil_law(self, law: &mut StandoffConfig) {
        match self {
            Self::NoGain => (law.proportional, law.integral) = (0.01, 0.0),
            Self::WrongDistance => law.distance += 0.005,
            _ => {}
        }
    }

    /// Applies the deliberate fault to the engine's configuration, if it is a fault of the configuration.
    pub(super) fn spoil_config(self, config: &mut UrConfig) {
        match self {
            Self::NoFallback => *config = Allowance::without_fallback(),
            Self::StaleSensor => {
                for source in config.sources.iter_mut().flatten() {
                    source.max_age = Duration::from_secs(10);
                    source.stuck_after = None;
                }
            }
            _ => {}
        }
    }

    /// Returns `true` if this fault drops `input`, an input of the simulated operator, who has made `requests` requests
    /// to command before.
    pub(super) const fn loses(self, input: &Input, requests: usize) -> bool {
        match (self, input) {
            (Self::NoReArming, Input::Request(_)) => requests > 0,
            (Self::NoRelease, Input::Release) | (Self::NoAcknowledgement, Input::Acknowledge) => true,
            _ => false,
        }
    }

    /// Returns the reason that is reported for an end of commanding in place of its true `reason`; `reason` itself if
    /// this fault does not change it.
    pub(super) fn told(self, reason: Reason) -> Reason {
        if self == Self::WrongReason && !reason.is_release() { Reason::ProgramStopped } else { reason }
    }
}
