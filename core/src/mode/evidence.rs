//! The evidence for and against commanding, and the reasons that follow from it.

use super::PeerGate;
use super::acceptance::Acceptance;
use super::mode_machine_config::ModeConfig;
use super::move_types::Mirrored;
use super::pendant_watch::Pendant;
use super::timed_fact::TimedFact;
use crate::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{MasterSafetyState, RobotMode, Safety};
use outrigger_wire::time::{Duration, Instant};

/// The facts about robot, link and program by which the mode machine permits commanding or ends it. `None` means that a
/// fact was never learned; the default contains nothing and permits nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// `true` if this cycle's state is the newest, in order, and young enough for a moving command.
    pub timely: bool,
    /// `true` if the link's grade permits commanding to begin.
    pub link_entry: Option<TimedFact<bool>>,
    /// The robot mode that the controller reports.
    pub robot_mode: Option<TimedFact<RobotMode>>,
    /// The safety state that the safety system reports.
    pub safety: Option<TimedFact<Safety>>,
    /// The masterboard's safety state, on CB2 only, which must be `Ok` if it is known.
    pub master_safety: Option<TimedFact<MasterSafetyState>>,
    /// `true` if the controller is in remote control; may stay `None` unless [`ModeConfig::require_remote`].
    pub remote: Option<TimedFact<bool>>,
    /// `Ok` if every source of the control law (a sensor that the law reads) has a fresh sample, or the fault of the
    /// first one.
    pub sources: Option<TimedFact<Result<(), Reason>>>,
    /// `true` if the arm is at standstill, as measured by [`Standstill`](super::Standstill).
    pub at_rest: Option<TimedFact<bool>>,
    /// `true` if the controller's target follows the commands ([`Following`](super::Following)) or, while the
    /// controller executes a move, is within the course of the move ([`Course`](super::Course)).
    pub following: Option<TimedFact<bool>>,
    /// `true` if the commanded position, or the one that commanding would start from, is too far from the measured one;
    /// `false` if no position is commanded.
    pub strays: bool,
    /// `true` if the arm moves as our own last command would have it; set only while its motion is unknown, for
    /// instance after a reconnect.
    pub moving_by_us: Option<TimedFact<bool>>,
    /// The readiness of the controller, and of the command path to it, to be commanded.
    pub gate: Option<TimedFact<PeerGate>>,
    /// The effect of a stop or a pause at the pendant on the program.
    pub pendant: Pendant,
    /// `true` if the controller's target is slower than in the state before, or at rest.
    pub slowing: bool,
    /// The report of the program that executes moves, with the time when it last showed that it is running. A register
    /// keeps its value when a program is gone or paused, so the report is as old as its last change.
    pub mirrored: Option<TimedFact<Mirrored>>,
    /// `true` if a speed slider at 0 holds the program that executes moves, or the program is known to be paused. A
    /// pause that is seen at the pendant is in [`pendant`](Self::pendant).
    pub paused: bool,
    /// The facts that show whether our commands are accepted, or a foreign program runs.
    pub acceptance: Acceptance,
}

/// The unmet preconditions of a stage of commanding: the first one, which explains the others, and all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unmet {
    /// The first unmet precondition of commanding; `EvidenceMissing` only if there is no other.
    pub(super) first: Option<Reason>,
    pub(super) all: ReasonSet,
}

impl Unmet {
    pub(super) fn add(&mut self, reason: Option<Reason>) {
        let Some(reason) = reason else { return };
        self.all.insert(reason);
        if self.first.is_none() || self.first == Some(Reason::EvidenceMissing) {
            self.first = Some(reason);
        }
    }
}

/// A stage of commanding: entry, arming or command. Each has its own preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandStage {
    /// The stage in which a request is granted and arming begins.
    Entry,
    /// The stage of arming after its beginning, in which no command moves the arm.
    Arming,
    /// The stage in which the arm is commanded.
    Command,
}

impl Evidence {
    /// Returns the reasons against entering the `stage` of commanding, or staying in it.
    pub(super) fn against(&self, stage: CommandStage, config: &ModeConfig, now: Instant) -> Unmet {
        let age = config.evidence_age;
        let mut against = Unmet::default();
        // A cause that stops the arm is judged first: a protective stop also ends the program and the motion, and the
        // latched reason must be the one to act on.
        against.add(missing_or(self.safety, now, age, Reason::of_safety));
        against.add(self.master_safety.and_then(|held| master_obstacle(held.value)));
        against.add(missing_or(self.robot_mode, now, age, mode_obstacle));
        against.add(match self.remote.and_then(|held| held.fresh(now, config.remote_evidence_age)) {
            Some(false) => Some(Reason::NotRemote),
            None if config.require_remote => Some(Reason::EvidenceMissing),
            Some(true) | None => None,
        });
        against.add(missing_or(self.gate, now, age, |gate| match gate {
            PeerGate::No => Some(Reason::NotGranted),
            PeerGate::Unfit => Some(Reason::PathUnfit),
            PeerGate::Other => Some(Reason::OtherController),
            PeerGate::Unseen => Some(Reason::PendantUnseen),
            PeerGate::Away => Some(Reason::ProgramAway),
            PeerGate::Ready | PeerGate::Granted => None,
        }));
        if self.strays {
            against.add(Some(Reason::TrackingError));
        }
        against.add(missing_or(self.sources, now, age, Result::err));
        match stage {
            CommandStage::Entry => {
                against.add(self.shows_running().then_some(Reason::OtherMove));
                against.add(missing_or(self.link_entry, now, age, |ok| (!ok).then_some(Reason::GradeLow)));
                against.add(self.foreign_program(config, now));
                against.add(missing_or(self.at_rest, now, age, |ok| (!ok).then_some(Reason::NotAtRest)));
            }
            CommandStage::Arming => {
                against.add(self.shows_running().then_some(Reason::OtherMove));
                against.add(missing_or(self.link_entry, now, age, |ok| (!ok).then_some(Reason::GradeLow)));
                against.add(missing_or(self.following, now, age, |ok| (!ok).then_some(Reason::ForeignMotion)));
                against.add(missing_or(self.at_rest, now, age, |ok| (!ok).then_some(Reason::NotAtRest)));
            }
            CommandStage::Command => {
                against.add(missing_or(self.following, now, age, |ok| (!ok).then_some(Reason::NotFollowing)));
            }
        }
        against
    }

    /// Returns `true` if a fact about the robot forbids motion text (URScript that moves the arm), however old it is:
    /// only a newer fact may lift it.
    pub(super) fn forbids_text(&self) -> bool {
        let safety = self.safety.and_then(|held| Reason::of_safety(held.value));
        safety.is_some_and(|reason| reason != Reason::EvidenceMissing)
            || self.master_safety.is_some_and(|held| master_obstacle(held.value).is_some())
            || self.robot_mode.is_some_and(|held| mode_obstacle(held.value).is_some())
    }

    /// Returns `true` if the robot is known to permit motion text (URScript that moves the arm), by facts at most `age`
    /// old.
    pub(super) fn permits_text(&self, now: Instant, age: Duration) -> bool {
        missing_or(self.safety, now, age, Reason::of_safety).is_none()
            && missing_or(self.robot_mode, now, age, mode_obstacle).is_none()
            && !self.forbids_text()
    }

    /// Returns `true` if standstill was measured entirely after `since`: before, the arm may only just have been
    /// commanded to move.
    pub(super) fn rests_since(&self, since: Instant, config: &ModeConfig) -> bool {
        self.at_rest.is_some_and(|held| held.value && held.at.since(since) >= config.rest_window)
    }

    fn foreign_program(&self, config: &ModeConfig, now: Instant) -> Option<Reason> {
        // A controller that reports its own state needs no proof by programs.
        if config.mirrors {
            return None;
        }
        // A program that mirrors our commands is ours.
        let ours = self.acceptance.mirrored_counter.and_then(|held| held.fresh(now, config.evidence_age));
        if cfg!(feature = "programs") && ours == Some(true) {
            return None;
        }
        match self.acceptance.program(now, config.evidence_age) {
            Some(true) if !config.take_over => Some(Reason::ForeignProgram),
            _ if config.acceptance_unknown => None,
            // No proof exists, or the foreign program occupies it.
            _ if !self.acceptance.can_prove(config.take_over) => Some(Reason::AcceptanceUnknown),
            Some(_) => None,
            None => Some(Reason::EvidenceMissing),
        }
    }
}

/// Returns `true` if this reason, a state of the robot itself, alone forbids motion text (URScript that moves the arm).
pub(super) const fn stops_the_robot(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::RobotNotRunning
            | Reason::ProtectiveStop
            | Reason::SafeguardStop
            | Reason::EmergencyStop
            | Reason::SafetyFault
            | Reason::SafetyNotNormal
    )
}

pub(super) fn missing_or<T>(
    held: Option<TimedFact<T>>,
    now: Instant,
    max_age: Duration,
    obstacle: impl FnOnce(T) -> Option<Reason>,
) -> Option<Reason> {
    match held.and_then(|held| held.fresh(now, max_age)) {
        Some(value) => obstacle(value),
        None => Some(Reason::EvidenceMissing),
    }
}

fn mode_obstacle(mode: RobotMode) -> Option<Reason> {
    (mode != RobotMode::Running).then_some(Reason::RobotNotRunning)
}

const fn master_obstacle(state: MasterSafetyState) -> Option<Reason> {
    match state {
        MasterSafetyState::Ok => None,
        MasterSafetyState::RobotEmergencyStop | MasterSafetyState::ExternalEmergencyStop => Some(Reason::EmergencyStop),
        MasterSafetyState::SafeguardStop => Some(Reason::SafeguardStop),
        MasterSafetyState::Fault => Some(Reason::SafetyFault),
        MasterSafetyState::Undefined
        | MasterSafetyState::Bootloader
        | MasterSafetyState::Booting
        | MasterSafetyState::Initializing
        | MasterSafetyState::Unknown(_) => Some(Reason::SafetyNotNormal),
    }
}
