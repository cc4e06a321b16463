//! The assembly of the evidence for and against commanding from one state of the arm. It makes no decision and stores
//! nothing.

use super::pendant_stop_rule::PendantRule;
use super::side_facts::{MotionProgress, SideFacts};
use super::state_watchers::Watched;
use crate::mode::{Acceptance, Activity, Evidence, PeerGate, TimedFact};
use outrigger_wire::robot::{ProgramState, Safety, State};
use outrigger_wire::time::Instant;

/// Writes the evidence for and against commanding, as of `state`, field by field, in place: a copy of the whole takes 57
/// more instructions in each cycle. The robot mode and the safety mode in the state take precedence over those in `facts`,
/// which other messages delivered. The other fields are those facts, the findings in `watched`, the progress of a motion
/// that the controller executes (`executed`), the readiness by the pendant `rule`, and the link's fitness (`entry`).
#[inline(always)]
pub(super) fn gather<const N: usize>(
    evidence: &mut Evidence,
    state: &State<N>,
    facts: &SideFacts,
    executed: Option<&MotionProgress>,
    watched: &Watched,
    (rule, entry, zero_below): (&PendantRule, bool, f32),
    now: Instant,
) {
    let known = match facts.gate {
        Some(gate) => gate,
        None if facts.path_open => rule.gate(),
        None => PeerGate::No,
    };
    let slider_down = state.speed_slider.is_some_and(|slider| slider < zero_below);
    let from_packet = state.program_state.filter(|_| watched.speaks).and_then(activity);
    let Evidence {
        timely,
        link_entry,
        robot_mode,
        safety,
        master_safety,
        remote,
        sources,
        at_rest,
        following,
        strays,
        moving_by_us,
        gate,
        pendant,
        slowing,
        mirrored,
        paused,
        acceptance: Acceptance { mirrored_counter, program_state, program_running },
    } = evidence;
    *timely = watched.timely;
    *link_entry = Some(TimedFact::new(entry, now));
    *robot_mode = state.robot_mode.map(|mode| TimedFact::new(mode, now)).or(facts.robot_mode);
    *safety = if state.safety == Safety::Unknown { facts.safety } else { Some(TimedFact::new(state.safety, now)) };
    *master_safety = facts.master_safety;
    *remote = facts.remote;
    *sources = Some(TimedFact::new(watched.sources, now));
    *at_rest = Some(watched.at_rest);
    *following = Some(TimedFact::new(watched.follows, now));
    *strays = facts.strays;
    *moving_by_us = watched.moving_by_us.map(|moving| TimedFact::new(moving, now));
    *gate = Some(TimedFact::new(known, now));
    *pendant = watched.pendant;
    *slowing = watched.slowing;
    *mirrored = executed.and_then(|executed| executed.mirrored);
    *paused = executed.is_some_and(|executed| executed.paused || slider_down);
    #[cfg(feature = "programs")]
    {
        *mirrored_counter = facts.resident.map(|resident| resident.mirrors);
    }
    #[cfg(not(feature = "programs"))]
    {
        *mirrored_counter = None;
    }
    *program_state = from_packet.map(|activity| TimedFact::new(activity, now));
    *program_running = facts.program;
}

/// Returns the activity of the program interpreter for the program state in the packet; `None` for an unknown number.
const fn activity(state: ProgramState) -> Option<Activity> {
    match state {
        ProgramState::Playing | ProgramState::Resuming => Some(Activity::Running),
        ProgramState::Pausing | ProgramState::Paused => Some(Activity::Paused),
        ProgramState::Stopping | ProgramState::Stopped => Some(Activity::Stopped),
        ProgramState::Unknown(_) => None,
    }
}
