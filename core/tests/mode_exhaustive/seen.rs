//! What may happen: states with what they show, and everything else that the machine is told.

use outrigger_core::mode::{
    Acceptance, Activity, DelegatedConfig, Evidence, Held, Mirrored, ModeConfig, MoveNumber, PeerGate, Pendant,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{RobotMode, Safety, SafetyMode};
use outrigger_wire::time::{Duration, Instant};

pub(crate) const CYCLE: Duration = Duration::from_millis(8);

/// Small numbers, so that short sequences get everywhere.
pub(crate) fn config() -> ModeConfig {
    let config = ModeConfig {
        good_cycles: 2,
        stop_cycles: 2,
        arming_timeout: CYCLE.times(5),
        state_timeout: CYCLE.times(3),
        stop_timeout: CYCLE.times(9),
        rest_window: CYCLE.times(2),
        evidence_age: CYCLE.times(4),
        offline_after: CYCLE.times(6),
        program_timeout: CYCLE.times(3),
        delegated: DelegatedConfig {
            mirror_age: CYCLE.times(2),
            state_timeout: CYCLE.times(4),
            start_timeout: CYCLE.times(2),
            cancel_timeout: CYCLE.times(2),
            pause_timeout: CYCLE.times(3),
            resident: true,
        },
        ..ModeConfig::new(CYCLE)
    };
    assert_eq!(config.check(), Ok(()));
    config
}

/// What a state shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seen {
    /// At rest, no program.
    Idle,
    /// At rest, our program running.
    Accepted,
    /// Moving as told.
    Moving,
    /// Moving, and after a reconnect it is by our last command.
    MovingByUs,
    /// As `Moving`, but too old to answer with motion.
    Late,
    Protective,
    NotRunning,
    NotFollowing,
    SourceStale,
    LowGrade,
    /// What is commanded is too far from what is measured.
    Strays,
    /// At rest, our program running; perhaps stopped at the pendant.
    PendantWait,
    /// Moving on, although the program was stopped or paused at the pendant.
    PendantStopped,
    PendantPaused,
    TextPaused,
    /// A state from which nothing could be learned.
    Nothing,
    /// At rest, and the program waits for a move.
    Waits,
    /// The program executes our move: slowing down, going on, or still at rest.
    Runs,
    RunsOn,
    RunsResting,
    /// It goes on, and the state is too old to be answered.
    RunsLate,
    /// It executes a move that is not ours.
    RunsOther,
    /// It executes our move, and the arm is where that does not take it.
    OffCourse,
    /// It has ended our move: at rest, or still moving.
    Ended,
    EndedMoving,
    /// Moving on, and the program shows nothing new.
    Mute,
    /// At rest, and the speed scaling holds the program still.
    Paused,
    /// Moving on, and the program is gone.
    Gone,
}

impl Seen {
    /// Where the controller executes nothing.
    pub(crate) const STREAMED: [Self; 16] = [
        Self::Idle,
        Self::Accepted,
        Self::Moving,
        Self::MovingByUs,
        Self::Late,
        Self::Protective,
        Self::NotRunning,
        Self::NotFollowing,
        Self::SourceStale,
        Self::LowGrade,
        Self::Strays,
        Self::PendantWait,
        Self::PendantStopped,
        Self::PendantPaused,
        Self::TextPaused,
        Self::Nothing,
    ];

    /// Where it may: everything of its own, and one of each kind of the others.
    pub(crate) const DELEGATED: [Self; 20] = [
        Self::Idle,
        Self::Accepted,
        Self::MovingByUs,
        Self::Late,
        Self::Protective,
        Self::PendantWait,
        Self::PendantStopped,
        Self::PendantPaused,
        Self::Waits,
        Self::Runs,
        Self::RunsOn,
        Self::RunsResting,
        Self::RunsLate,
        Self::RunsOther,
        Self::OffCourse,
        Self::Ended,
        Self::EndedMoving,
        Self::Mute,
        Self::Paused,
        Self::Gone,
    ];

    /// The evidence of a state that is read at `at`, where `number` is the move that was asked for last.
    pub(crate) fn evidence(self, at: Instant, number: Option<MoveNumber>) -> Evidence {
        if self == Self::Nothing {
            return Evidence::default();
        }
        fn held<T>(value: T, at: Instant) -> Option<Held<T>> {
            Some(Held::new(value, at))
        }
        let program = if matches!(self, Self::Idle | Self::Gone) { Activity::Stopped } else { Activity::Running };
        let safety = if self == Self::Protective { SafetyMode::ProtectiveStop } else { SafetyMode::Normal };
        let mode = if self == Self::NotRunning { RobotMode::Idle } else { RobotMode::Running };
        let pendant = match self {
            Self::PendantWait => Pendant::Wait,
            Self::PendantStopped => Pendant::Stopped,
            Self::PendantPaused => Pendant::Paused,
            Self::TextPaused => Pendant::TextPaused,
            _ => Pendant::Go,
        };
        Evidence {
            timely: self.is_timely(),
            link_entry: held(self != Self::LowGrade, at),
            robot_mode: held(mode, at),
            safety: held(Safety::Mode(safety), at),
            sources: held(if self == Self::SourceStale { Err(Reason::SourceStale) } else { Ok(()) }, at),
            at_rest: held(self.shows_rest(), at),
            strays: self == Self::Strays,
            following: held(!matches!(self, Self::NotFollowing | Self::OffCourse), at),
            moving_by_us: held(self == Self::MovingByUs, at),
            gate: held(PeerGate::Ready, at),
            pendant,
            slowing: self.shows_slowing(),
            mirrored: self.mirrored(number).and_then(|mirrored| held(mirrored, at)),
            paused: self == Self::Paused,
            acceptance: Acceptance { program_running: held(program, at), ..Acceptance::default() },
            ..Evidence::default()
        }
    }

    /// What it mirrors, where `number` is the move that was asked for last.
    pub(crate) fn mirrored(self, number: Option<MoveNumber>) -> Option<Mirrored> {
        let ours = number.or(MoveNumber::new(7))?;
        match self {
            Self::Waits => Some(Mirrored::Idle),
            Self::Runs | Self::RunsOn | Self::RunsResting | Self::OffCourse => Some(Mirrored::Running(ours)),
            Self::RunsOther => Some(Mirrored::Running(MoveNumber::new(1_000_000)?)),
            Self::Ended | Self::EndedMoving => Some(Mirrored::Ended(ours)),
            _ => None,
        }
    }

    /// The program executes a move.
    pub(crate) fn is_running(self) -> bool {
        matches!(self.mirrored(None), Some(Mirrored::Running(_)))
    }

    pub(crate) fn is_timely(self) -> bool {
        !matches!(self, Self::Late | Self::RunsLate | Self::Nothing)
    }

    /// The program is frozen, not gone.
    pub(crate) fn is_paused(self) -> bool {
        self.paused_by().is_some()
    }

    /// Returns the cause for which the program is frozen.
    pub(crate) fn paused_by(self) -> Option<Reason> {
        match self {
            Self::Paused => Some(Reason::HeldByScaling),
            Self::PendantPaused | Self::TextPaused => Some(Reason::ProgramPaused),
            _ => None,
        }
    }

    /// No motion text may go out on this.
    pub(crate) fn forbids_text(self) -> bool {
        matches!(self, Self::Protective | Self::NotRunning)
    }

    pub(crate) fn shows_rest(self) -> bool {
        !matches!(
            self,
            Self::Moving
                | Self::MovingByUs
                | Self::Late
                | Self::NotFollowing
                | Self::PendantStopped
                | Self::PendantPaused
                | Self::TextPaused
                | Self::Nothing
                | Self::Runs
                | Self::RunsOn
                | Self::RunsLate
                | Self::RunsOther
                | Self::OffCourse
                | Self::EndedMoving
                | Self::Mute
                | Self::Gone
        )
    }

    pub(crate) fn shows_slowing(self) -> bool {
        matches!(self, Self::Moving | Self::Runs | Self::EndedMoving) || self.shows_rest()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    Established,
    LinkLost,
    /// A cycle later, a state.
    State(Seen),
    /// A cycle later, nothing.
    Tick,
    /// Nothing for longer than any time-out.
    LongSilence,
    Fault(Reason),
    Request,
    Release,
    Acknowledge,
    /// The controller is to execute a move.
    Delegate,
    /// The law is to go on.
    Stream,
}

/// Everything that may happen, with these states.
pub(crate) fn alphabet(seen: &[Seen]) -> Vec<Event> {
    let mut events: Vec<Event> = seen.iter().copied().map(Event::State).collect();
    events.extend([
        Event::Established,
        Event::LinkLost,
        Event::Tick,
        Event::LongSilence,
        Event::Fault(Reason::VelocityLimit),
        Event::Fault(Reason::EmergencyStop),
        Event::Fault(Reason::ProgramPaused),
        Event::Request,
        Event::Release,
        Event::Acknowledge,
        Event::Delegate,
        Event::Stream,
    ]);
    // What the monitor of a link finds: it ends streaming, and not a move.
    if seen.contains(&Seen::Runs) {
        events.push(Event::Fault(Reason::StatesMissed));
    }
    events
}
