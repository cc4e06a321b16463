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
    /// Let the law output almost no speed, whatever the distance.
    NoGain,
    /// The law holds a distance to the workpiece that is wrong by 5 mm.
    WrongDistance,
    /// Commanding continues while the link is stalled.
    NoFallback,
    /// Commanding continues with the last reading of a sensor that no longer sends.
    StaleSensor,
    /// Commanding ends for another reason than the one that is reported.
    WrongReason,
    /// No request of the operator to command the arm, except the first one, reaches the engine.
    NoReArming,
    /// After a fallback commanding begins again without a request of the operator.
    ResumesByItself,
    /// The arm continues to move when a command is not followed by another one.
    KeepsMoving,
    /// Another client moves the simulated arm while this program commands it.
    SecondCommander,
    /// The link stalls although the scenario injects no fault.
    SecretStalls,
    /// The operator's release, which ends commanding, does not reach the engine.
    NoRelease,
    /// The operator's acknowledgements of faults do not reach the engine.
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

    /// Returns the reason that is reported for an end of commanding in place of its true `reason`; the same if this
    /// fault does not change it.
    pub(super) fn told(self, reason: Reason) -> Reason {
        if self == Self::WrongReason && !reason.is_release() { Reason::ProgramStopped } else { reason }
    }
}
