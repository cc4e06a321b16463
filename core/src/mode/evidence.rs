//! What the known facts say for and against commanding.

use super::PeerGate;
use super::acceptance::Acceptance;
use super::config::ModeConfig;
use super::held::Held;
use super::moves::Mirrored;
use super::pendant::Pendant;
use crate::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{MasterSafetyState, RobotMode, Safety};
use outrigger_wire::time::{Duration, Instant};

/// Everything the machine decides by. `None` is "never learned"; the default holds nothing and permits nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// This cycle's state is the newest, in order, and young enough for a moving command.
    pub timely: bool,
    /// The link's grade lets commanding begin.
    pub link_entry: Option<Held<bool>>,
    /// Robot mode.
    pub robot_mode: Option<Held<RobotMode>>,
    /// What the safety system says.
    pub safety: Option<Held<Safety>>,
    /// CB2 only: the masterboard's safety state, which must be `Ok` where it is known.
    pub master_safety: Option<Held<MasterSafetyState>>,
    /// Remote control; may stay `None` unless [`ModeConfig::require_remote`].
    pub remote: Option<Held<bool>>,
    /// A fresh sample from every source of the law, or what is wrong with the first.
    pub sources: Option<Held<Result<(), Reason>>>,
    /// Standstill was measured ([`Standstill`](super::Standstill)).
    pub at_rest: Option<Held<bool>>,
    /// The controller's target follows what was sent ([`Following`](super::Following)); while the controller executes a
    /// move, it is where that may take it ([`Course`](super::Course)).
    pub following: Option<Held<bool>>,
    /// What is commanded, or would be at the beginning, is too far from what is measured; `false` where no position is
    /// commanded.
    pub strays: bool,
    /// The arm moves, and as our own last command would have it: asked only after a reconnect.
    pub moving_by_us: Option<Held<bool>>,
    /// What the peer says of itself.
    pub gate: Option<Held<PeerGate>>,
    /// What the pendant did to the program.
    pub pendant: Pendant,
    /// The controller's target is slower than in the state before, or at rest.
    pub slowing: bool,
    /// What the program that executes moves shows of itself, and when it last showed that it lives: what stays in a
    /// register when a program is gone, or paused, is as old as its last change.
    pub mirrored: Option<Held<Mirrored>>,
    /// The robot's speed scaling, or a pause at the pendant, holds the program that executes moves still.
    pub paused: bool,
    /// What shows that our commands are accepted, or that somebody else's program runs.
    pub acceptance: Acceptance,
}

/// Reasons against, in the order in which they explain one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Against {
    /// The first that says something; `EvidenceMissing` only where nothing else does.
    pub(super) first: Option<Reason>,
    pub(super) all: ReasonSet,
}

impl Against {
    pub(super) fn add(&mut self, reason: Option<Reason>) {
        let Some(reason) = reason else { return };
        self.all.insert(reason);
        if self.first.is_none() || self.first == Some(Reason::EvidenceMissing) {
            self.first = Some(reason);
        }
    }
}

/// What a mode asks of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// To begin arming.
    Entry,
    /// To go on arming.
    Arming,
    /// To go on commanding.
    Command,
}

impl Evidence {
    /// What speaks against `stage`.
    pub(super) fn against(&self, stage: Stage, config: &ModeConfig, now: Instant) -> Against {
        let age = config.evidence_age;
        let mut against = Against::default();
        // What stops the arm comes first: a protective stop also ends the program and the motion, and the
        // reason latched must be the one to act on.
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
            Stage::Entry => {
                against.add(self.shows_running().then_some(Reason::OtherMove));
                against.add(missing_or(self.link_entry, now, age, |ok| (!ok).then_some(Reason::GradeLow)));
                against.add(self.foreign_program(config, now));
                against.add(missing_or(self.at_rest, now, age, |ok| (!ok).then_some(Reason::NotAtRest)));
            }
            Stage::Arming => {
                against.add(self.shows_running().then_some(Reason::OtherMove));
                against.add(missing_or(self.link_entry, now, age, |ok| (!ok).then_some(Reason::GradeLow)));
                against.add(missing_or(self.following, now, age, |ok| (!ok).then_some(Reason::ForeignMotion)));
                against.add(missing_or(self.at_rest, now, age, |ok| (!ok).then_some(Reason::NotAtRest)));
            }
            Stage::Command => {
                against.add(missing_or(self.following, now, age, |ok| (!ok).then_some(Reason::NotFollowing)));
            }
        }
        against
    }

    /// What is known to forbid motion text, however old: only a newer fact may lift it.
    pub(super) fn forbids_text(&self) -> bool {
        let safety = self.safety.and_then(|held| Reason::of_safety(held.value));
        safety.is_some_and(|reason| reason != Reason::EvidenceMissing)
            || self.master_safety.is_some_and(|held| master_obstacle(held.value).is_some())
            || self.robot_mode.is_some_and(|held| mode_obstacle(held.value).is_some())
    }

    /// Whether motion text is positively known to be allowed.
    pub(super) fn permits_text(&self, now: Instant, age: Duration) -> bool {
        missing_or(self.safety, now, age, Reason::of_safety).is_none()
            && missing_or(self.robot_mode, now, age, mode_obstacle).is_none()
            && !self.forbids_text()
    }

    /// Rest measured entirely after `since`: before, the arm may only just have been told to move.
    pub(super) fn rests_since(&self, since: Instant, config: &ModeConfig) -> bool {
        self.at_rest.is_some_and(|held| held.value && held.at.since(since) >= config.rest_window)
    }

    fn foreign_program(&self, config: &ModeConfig, now: Instant) -> Option<Reason> {
        // A peer that reports its own state needs no proof by programs.
        if config.mirrors {
            return None;
        }
        // The one that mirrors what it is sent is ours.
        let ours = self.acceptance.mirrored_counter.and_then(|held| held.fresh(now, config.evidence_age));
        if cfg!(feature = "programs") && ours == Some(true) {
            return None;
        }
        match self.acceptance.program(now, config.evidence_age) {
            Some(true) if !config.take_over => Some(Reason::ForeignProgram),
            _ if config.acceptance_unknown => None,
            // Nothing there is, or what there is is busy with the other program.
            _ if !self.acceptance.can_prove(config.take_over) => Some(Reason::AcceptanceUnknown),
            Some(_) => None,
            None => Some(Reason::EvidenceMissing),
        }
    }
}

/// Whether these reasons forbid motion text by themselves.
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
    held: Option<Held<T>>,
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
