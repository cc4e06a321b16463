//! Where a board says that its session stands, beside either kind of robot, as it is shown.

use outrigger_core::command::Sample;
use outrigger_core::engine::LinkId;
use outrigger_core::engine::krc::KrcStatus;
use outrigger_core::engine::ur::UrStatus;
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet, Safety, State};
use outrigger_core::telemetry::{Motion, Status};

use crate::maker::krc::words;
use crate::show::{Arm, Joint, Snapshot};

/// The newest status.
#[derive(Debug)]
pub(super) enum Standing {
    Ur(Box<Status<UrStatus>>),
    Krc(Box<Status<KrcStatus>>),
}

/// The newest motion.
#[derive(Debug)]
pub(super) enum Moving {
    Ur(Motion<6>),
    Krc(Motion<7>),
}

impl Moving {
    /// The newest reading of the first sensor.
    pub(super) fn sample(&self) -> Option<&Sample> {
        match self {
            Self::Ur(motion) => motion.samples.first(),
            Self::Krc(motion) => motion.samples.first(),
        }
    }
}

impl Standing {
    /// Figures of the link that brings states.
    pub(super) const fn link(&self) -> &Figures {
        match self {
            Self::Ur(status) => &status.link,
            Self::Krc(status) => &status.link,
        }
    }

    /// The reason that nobody has acknowledged.
    pub(super) const fn latch(&self) -> Option<Reason> {
        match self {
            Self::Ur(status) => status.latch,
            Self::Krc(status) => status.latch,
        }
    }

    /// As it is shown: `board` is what is known of the board, `told_by` its name, `motion` the arm's.
    pub(super) fn snapshot(&self, board: Snapshot, told_by: &str, motion: Option<&Moving>) -> Snapshot {
        match (self, motion) {
            (Self::Ur(status), Some(Moving::Ur(motion))) => beside_ur(status, board, told_by, Some(motion)),
            (Self::Ur(status), _) => beside_ur(status, board, told_by, None),
            (Self::Krc(status), Some(Moving::Krc(motion))) => beside_krc(status, board, told_by, Some(motion)),
            (Self::Krc(status), _) => beside_krc(status, board, told_by, None),
        }
    }
}

/// What a request would be refused for is of interest while nothing is commanded.
const fn unmet(mode: Mode, unmet: ReasonSet) -> ReasonSet {
    if matches!(mode, Mode::Offline | Mode::Monitor) { unmet } else { ReasonSet::EMPTY }
}

fn beside_ur(status: &Status<UrStatus>, mut board: Snapshot, told_by: &str, motion: Option<&Motion<6>>) -> Snapshot {
    let up = status.peer.up.get(LinkId::REALTIME.index()) == Some(&true);
    let evidence = &status.evidence;
    let state = motion.filter(|_| up).map(|motion| State {
        controller_time: motion.controller_time,
        positions: motion.positions,
        velocities: motion.velocities,
        target_velocities: motion.target_velocities,
        tcp_pose: motion.tcp_pose,
        robot_mode: evidence.robot_mode.map(|held| held.value),
        safety: evidence.safety.map_or(Safety::Unknown, |held| held.value),
        speed_scaling: motion.speed_scaling,
        digital_inputs: motion.digital_inputs,
        ..State::default()
    });
    board.counters.extend([
        ("malformed", status.peer.streams.iter().map(|counts| u64::from(counts.malformed)).sum()),
        ("dropped_bytes", status.peer.dropped.iter().sum()),
        ("events_lost", status.events_lost.into()),
    ]);
    Snapshot {
        identity: status.peer.controller.map(|controller| {
            let states = if controller.states == LinkId::RTDE { "states by RTDE" } else { "states by 30003" };
            format!("software {}, {states}, {told_by}", controller.software)
        }),
        mode: status.mode,
        unmet: unmet(status.mode, status.unmet),
        state: state.as_ref().map(Into::into),
        figures: up.then_some(status.link),
        // While a session stands it does without what is down; notices have told of that.
        trouble: board.trouble.filter(|_| status.peer.controller.is_none()),
        ..board
    }
}

fn beside_krc(status: &Status<KrcStatus>, mut board: Snapshot, told_by: &str, motion: Option<&Motion<7>>) -> Snapshot {
    let heard = status.peer.period.is_some();
    board.counters.extend(words::counters(status.peer.counts));
    board.counters.push(("events_lost", status.events_lost.into()));
    let arm = motion.filter(|_| heard).map(|motion| Arm {
        controller_time: None,
        joints: motion
            .positions
            .iter()
            .zip(motion.commanded.iter())
            .map(|(angle, speed)| Joint { angle, target_speed: Some(speed), ..Joint::default() })
            .collect(),
        tcp_pose: None,
        words: words::rating(status.peer.state, status.peer.quality),
    });
    let trouble = board.trouble.take().unwrap_or_else(|| "no measurement of the KRC comes to the board".into());
    Snapshot {
        identity: status.peer.period.map(|period| format!("KRC, {}, {told_by}", words::every(period))),
        mode: status.mode,
        unmet: unmet(status.mode, status.unmet),
        state: arm,
        figures: heard.then_some(status.link),
        trouble: (!heard).then_some(trouble),
        ..board
    }
}
