//! The possible events: states with their content, and all other inputs of the machine.

use outrigger_core::mode::{
    Acceptance, Activity, DelegatedConfig, Evidence, Mirrored, ModeConfig, MoveNumber, PeerGate, Pendant, TimedFact,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{RobotMode, Safety, SafetyMode};
use outrigger_wire::time::{Duration, Instant};

pub(crate) const CYCLE: Duration = Duration::from_millis(8);

/// Returns a configuration with small numbers, so that short sequences reach every mode.
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

/// The content of a robot state in the explored sequences: arm, program and controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seen {
    /// The arm is at rest, and no program runs.
    Idle,
    /// The arm is at rest, and our program runs.
    Accepted,
    /// The arm moves as commanded.
    Moving,
    /// The arm moves; after a reconnect, by our last command.
    MovingByUs,
    /// The arm moves as commanded, but the state is too old to be answered with motion.
    Late,
    Protective,
    NotRunning,
    NotFollowing,
    SourceStale,
    LowGrade,
    /// The commanded positions are too far from the measured ones.
    Strays,
    /// At rest, our program running; possibly stopped at the pendant.
    PendantWait,
    /// Still moving, although the program was stopped or paused at the pendant.
    PendantStopped,
    PendantPaused,
    TextPaused,
    /// A state from which nothing can be learned.
    Nothing,
    /// At rest, and the program waits for a move.
    Waits,
    /// The program executes our move: slowing down, moving on, or still at rest.
    Runs,
    RunsOn,
    RunsResting,
    /// The move continues, and the state is too old to be answered.
    RunsLate,
    /// The program executes a move that is not ours.
    RunsOther,
    /// The program executes our move, and the arm is off its course.
    OffCourse,
    /// The program has ended our move: at rest, or still moving.
    Ended,
    EndedMoving,
    /// Still moving, and the program shows nothing new.
    Mute,
    /// At rest, and the speed scaling holds the program.
    Paused,
    /// Still moving, and the program has ended.
    Gone,
}

impl Seen {
    /// The states that occur while the controller executes no move.
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

    /// The contents of robot states in the exploration with moves that the controller executes: all that concern moves,
    /// and a selection of the others, because the number of sequences grows with that of the contents.
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

    /// Returns the evidence that the mode machine gets from a state with this content, read at `at`; `number` is that
    /// of the newest accepted move.
    pub(crate) fn evidence(self, at: Instant, number: Option<MoveNumber>) -> Evidence {
        if self == Self::Nothing {
            return Evidence::default();
        }
        fn held<T>(value: T, at: Instant) -> Option<TimedFact<T>> {
            Some(TimedFact::new(value, at))
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

    /// Returns the status of moves that the program reports in this state; `number` is that of the newest accepted
    /// move.
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

    /// Returns whether the program executes a move.
    pub(crate) fn is_running(self) -> bool {
        matches!(self.mirrored(None), Some(Mirrored::Running(_)))
    }

    pub(crate) fn is_timely(self) -> bool {
        !matches!(self, Self::Late | Self::RunsLate | Self::Nothing)
    }

    /// Returns whether the program is paused, but has not ended.
    pub(crate) fn is_paused(self) -> bool {
        self.paused_by().is_some()
    }

    /// Returns the reason for which the program is paused; `None` if it is not paused.
    pub(crate) fn paused_by(self) -> Option<Reason> {
        match self {
            Self::Paused => Some(Reason::HeldByScaling),
            Self::PendantPaused | Self::TextPaused => Some(Reason::ProgramPaused),
            _ => None,
        }
    }

    /// Returns whether no motion text may be sent in answer to this state.
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
    /// A robot state with this content arrives one cycle later.
    State(Seen),
    /// One cycle without a state.
    Tick,
    /// No state for longer than any timeout.
    LongSilence,
    Fault(Reason),
    Request,
    Release,
    Acknowledge,
    /// A client requests that the controller executes a move.
    Delegate,
    /// A client requests that the law moves the arm again.
    Stream,
}

/// Returns all events of an exploration in which robot states have these contents.
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
    // A fault found by the monitor of a link ends streaming, but not a move.
    if seen.contains(&Seen::Runs) {
        events.push(Event::Fault(Reason::StatesMissed));
    }
    events
}
