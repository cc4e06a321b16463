//! The result of `outrigger move`: a line or an object on standard output, and the failure behind it.

use std::path::Path;

use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Tolerances;
use outrigger_wire::robot::JointPositions;
use serde::Serialize;

use outrigger::exit::{Failure, Outcome};
use outrigger::json::{self, Number};
use outrigger::released::ReleasedBy;
use outrigger::robot::{Arrival, Ended, Followed};
use outrigger::show::reason_text;

/// Returns the result line of a motion from a file, for people: its tracking error, and its error at the end.
pub(super) fn of_motion<const N: usize>(followed: &Followed<N>) -> String {
    let (worst, end) = (followed.worst.max_abs() * 1e3, followed.end_error.max_abs() * 1e3);
    match (followed.is_done, followed.has_begun()) {
        (true, true) => format!("Done. Max. tracking error {worst:.2} mrad, final error {end:.2} mrad\n"),
        (true, false) => format!("Done. The arm is there already, final error {end:.2} mrad\n"),
        (false, true) => {
            format!("Not done. Max. tracking error {worst:.2} mrad; {}\n", from_goal(&followed.end_error))
        }
        (false, false) => format!("Not started: {}\n", from_goal(&followed.end_error)),
    }
}

/// The result of a motion from a file, or of a move to one target, as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "moved")]
struct Moved {
    done: bool,
    begun: bool,
    fallback: Option<&'static str>,
    ended_by: &'static str,
    /// The largest tracking error of a joint \[rad\]. `null` if the motion did not begin, and absent for a move to one
    /// target.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_error: Option<Option<Number<f32>>>,
    end_error: Option<Number<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_distance: Option<Number<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_turn: Option<Number<f32>>,
    elapsed: f64,
}

/// Returns the JSON object with the result of a motion from a file.
pub(super) fn json_of_motion<const N: usize>(followed: &Followed<N>) -> String {
    let (fallback, ended_by) = end(followed.ended);
    let begun = followed.has_begun();
    let moved = Moved {
        done: followed.is_done,
        begun,
        fallback,
        ended_by,
        worst_error: Some(begun.then(|| Number(followed.worst.max_abs()))),
        end_error: Some(Number(followed.end_error.max_abs())),
        end_distance: None,
        end_turn: None,
        elapsed: followed.elapsed.as_secs_f64(),
    };
    format!("{}\n", json::text(&moved))
}

/// Formats the progress of a motion that takes `total` seconds at full speed, of which `seconds` are completed.
pub(super) fn progress(seconds: f64, total: f64) -> String {
    let share = 100.0 * (seconds / total).min(1.0);
    format!("{share:3.0} %  {}", position(seconds, total))
}

/// Returns the end of a progress line, for a motion that is held for this reason, such as the robot's speed slider or a
/// paused program. Empty if it is not held.
pub(super) fn held(held: Option<Reason>) -> String {
    held.map_or_else(String::new, |reason| format!(", {}", reason_text::of_hold(reason)))
}

/// Returns the final progress of a motion that takes `total` seconds at full speed; `None` if it has not begun.
pub(super) fn progress_at_end<const N: usize>(followed: &Followed<N>, total: f64) -> Option<String> {
    let seconds = if followed.is_done { total } else { followed.elapsed.as_secs_f64() };
    followed.has_begun().then(|| progress(seconds, total))
}

/// Formats the completed part of a motion, `seconds` of `total`, both at full speed.
fn position(seconds: f64, total: f64) -> String {
    format!("{seconds:.1} of {total:.1} s")
}

/// Returns the command's outcome for a motion that takes `total` seconds at full speed and has these `tolerances`.
pub(super) fn outcome_of_motion<const N: usize>(
    followed: &Followed<N>,
    tolerances: &Tolerances<N>,
    total: f64,
) -> Outcome {
    if followed.is_done {
        return Ok(());
    }
    let at = followed.elapsed.as_secs_f64();
    let stands = if followed.has_begun() {
        format!("the motion is stopped at {}, and will not continue", position(at, total))
    } else {
        "the motion did not start".into()
    };
    let missed = (1..).zip(followed.end_error.iter().zip(tolerances.goal.iter())).find(|(_, (off, most))| off > most);
    match (followed.ended, missed) {
        (Ended::Released(ReleasedBy::Finished), Some((joint, (off, most)))) => Err(Failure::Fault(format!(
            "the motion ended, but joint {joint} is {:.2} mrad from the goal, and {:.2} mrad are allowed \
             (GoalTolerance)",
            off * 1e3,
            most * 1e3
        ))),
        (ended, _) => Err(unfinished(ended, &stands)),
    }
}

/// Returns the result line of a move to one target, for people.
pub(super) fn of_move(arrival: &Arrival) -> String {
    let what = match (arrival.is_done, arrival.has_begun) {
        (true, true) => "Done. ",
        (true, false) => "Done. The arm is there already: ",
        (false, true) => "Not done: ",
        (false, false) => "Not started: ",
    };
    let off = match (arrival.tool_error, &arrival.end_error) {
        (Some([off, turned]), _) => {
            format!("the tool is {:.2} mm from the goal, turned {:.2} mrad", off * 1e3, turned * 1e3)
        }
        (None, Some(joints)) if arrival.is_done => format!("final error {:.2} mrad", joints.max_abs() * 1e3),
        (None, Some(joints)) => from_goal(joints),
        (None, None) => "the distance from the goal is not known".into(),
    };
    let off = if arrival.is_done && arrival.has_begun { capital(&off) } else { off };
    format!("{what}{off}, after {:.1} s\n", arrival.elapsed.as_secs_f32())
}

/// Returns the JSON object with the result of a move to one target.
pub(super) fn json_of_move(arrival: &Arrival) -> String {
    let (fallback, ended_by) = end(arrival.ended);
    let moved = Moved {
        done: arrival.is_done,
        begun: arrival.has_begun,
        fallback,
        ended_by,
        worst_error: None,
        end_error: arrival.end_error.map(|joints| Number(joints.max_abs())),
        end_distance: arrival.tool_error.map(|[off, _]| Number(off)),
        end_turn: arrival.tool_error.map(|[_, turned]| Number(turned)),
        elapsed: arrival.elapsed.as_secs_f64(),
    };
    format!("{}\n", json::text(&moved))
}

/// Returns the outcome of `outrigger move` for a move to one target.
pub(super) fn outcome_of_move(arrival: &Arrival) -> Outcome {
    match (arrival.is_done, arrival.has_begun, arrival.ended) {
        (true, ..) => Ok(()),
        (_, true, Ended::Released(ReleasedBy::Finished)) => {
            Err(Failure::Fault("the controller ended the move, but the arm is not at its goal".into()))
        }
        (_, true, ended) => Err(unfinished(ended, "the move will not continue")),
        (_, false, ended) => Err(unfinished(ended, "the move did not start")),
    }
}

/// Returns the remark that no recording was written to `path`, because the arm was at the goal already and no session
/// took place. `None` if there was a session.
pub(super) fn of_no_recording(path: &Path, is_done: bool, has_begun: bool) -> Option<String> {
    (is_done && !has_begun)
        .then(|| format!("{} is not written: nothing moved, so nothing was recorded", path.display()))
}

/// Returns the failure for a motion that was stopped before its end, for the cause `ended`. The text `stands` describes
/// how far it came.
fn unfinished(ended: Ended, stands: &str) -> Failure {
    let why = format!("{ended}; {stands}");
    match ended {
        Ended::Released(by) if by.is_interrupt() => Failure::Interrupted(why),
        Ended::Released(_) | Ended::Fallback(_) => Failure::Fault(why),
    }
}

/// Returns the name of the reason if commanding ended by a fault (a fallback), and the name of the cause of the end in
/// any case.
const fn end(ended: Ended) -> (Option<&'static str>, &'static str) {
    match ended {
        Ended::Fallback(reason) => (Some(reason.name()), reason.name()),
        Ended::Released(by) => (None, by.name()),
    }
}

/// Describes the joint that is farthest from its goal, and its distance to the goal \[mrad\].
fn from_goal<const N: usize>(error: &JointPositions<N>) -> String {
    let (joint, off) = (1..).zip(error.iter()).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, 0.0));
    format!("joint {joint} is {:.2} mrad from the goal", off * 1e3)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use outrigger::host::os::INTERRUPT;
    use outrigger::motion::Moment;
    use outrigger_emulated::require::committed::hold;

    fn followed(ended: Ended, is_done: bool, off: [f32; 2], has_begun: bool) -> Followed<2> {
        let actual = JointPositions(off);
        let moment = Moment { seconds: 0.0, wanted: JointPositions::ZERO, actual, scaling: 1.0 };
        let (worst, elapsed) = (JointPositions([0.00155, 0.0]), Duration::from_millis(1_500));
        let moments = if has_begun { vec![moment] } else { vec![] };
        Followed { ended, is_done, elapsed, worst, end_error: actual, moments }
    }

    fn arrival(ended: Ended, has_begun: bool, is_done: bool, off: f32) -> Arrival {
        let end_error = Some(JointPositions([off, 0.0, 0.0, 0.0, 0.0, 0.0]));
        let elapsed = Duration::from_millis(2_100);
        Arrival { ended, has_begun, is_done, elapsed, end_error, tool_error: None }
    }

    const FINISHED: Ended = Ended::Released(ReleasedBy::Finished);
    const CTRL_C: Ended = Ended::Released(ReleasedBy::Signal(INTERRUPT));

    #[test]
    fn a_motion_that_was_refused_before_it_began_is_told_with_where_the_arm_is() {
        let refused = followed(Ended::Fallback(Reason::GradeLow), false, [0.0, 0.3], false);
        assert_eq!(of_motion(&refused), "Not started: joint 2 is 300.00 mrad from the goal\n");
        let json = json_of_motion(&refused);
        assert!(json.contains(r#""done":false,"begun":false,"fallback":"GradeLow","ended_by":"GradeLow""#), "{json}");
        assert!(json.contains(r#""worst_error":null,"end_error":0.3,"#), "{json}");
        let failure = outcome_of_motion(&refused, &Tolerances::DEFAULT, 4.0).expect_err("refused");
        assert!(failure.code() == 4 && failure.to_string().ends_with("; the motion did not start"), "{failure}");

        let refused = arrival(Ended::Fallback(Reason::GradeLow), false, false, 0.3);
        assert_eq!(of_move(&refused), "Not started: joint 1 is 300.00 mrad from the goal, after 2.1 s\n");
        assert!(json_of_move(&refused).contains(r#""begun":false"#));
        let unknown = Arrival { end_error: None, ..refused };
        assert!(json_of_move(&unknown).contains(r#""end_error":null"#), "{}", json_of_move(&unknown));
        assert!(outcome_of_move(&refused).is_err_and(|failure| failure.code() == 4));
    }

    #[test]
    fn a_motion_that_is_done_is_told_with_both_errors_and_one_off_its_goal_is_not_done() {
        let done = followed(FINISHED, true, [0.0001, 0.0], true);
        assert_eq!(of_motion(&done), "Done. Max. tracking error 1.55 mrad, final error 0.10 mrad\n");
        assert!(outcome_of_motion(&done, &Tolerances::DEFAULT, 4.0).is_ok());
        let off = followed(FINISHED, false, [0.0, 0.12], true);
        let failure = outcome_of_motion(&off, &Tolerances::DEFAULT, 4.0).expect_err("off its goal");
        assert!(failure.to_string().contains("joint 2 is 120.00 mrad from the goal, and 100.00 mrad are allowed"));
        let done = arrival(FINISHED, true, true, 0.0004);
        assert_eq!(of_move(&done), "Done. Final error 0.40 mrad, after 2.1 s\n");
    }

    #[test]
    fn the_last_progress_is_where_the_motion_stands_at_rest() {
        let interrupted = followed(CTRL_C, false, [0.2, 0.0], true);
        assert_eq!(progress_at_end(&interrupted, 4.0).as_deref(), Some(" 38 %  1.5 of 4.0 s"));
        let failure = outcome_of_motion(&interrupted, &Tolerances::DEFAULT, 4.0).expect_err("interrupted");
        assert!(failure.to_string().contains("stopped at 1.5 of 4.0 s"), "{failure}");
        let done = followed(FINISHED, true, [0.0, 0.0], true);
        assert_eq!(progress_at_end(&done, 1.6).as_deref(), Some("100 %  1.6 of 1.6 s"));
        assert_eq!(progress_at_end(&followed(CTRL_C, false, [0.2, 0.0], false), 4.0), None);
    }

    #[test]
    fn a_recording_is_missing_only_where_nothing_moved() {
        let of = |is_done, has_begun| of_no_recording(Path::new("there.mcap"), is_done, has_begun);
        let said = "there.mcap is not written: nothing moved, so nothing was recorded";
        assert_eq!(of(true, false).as_deref(), Some(said));
        // A request that was rejected has a recording.
        assert_eq!((of(true, true), of(false, true), of(false, false)), (None, None, None));
    }

    #[test]
    fn an_interrupted_motion_has_an_exit_code_of_its_own_and_other_releases_tell_theirs() {
        let interrupted = followed(CTRL_C, false, [0.2, 0.0], true);
        let failure = outcome_of_motion(&interrupted, &Tolerances::DEFAULT, 4.0).expect_err("interrupted");
        let stands = "the motion is stopped at 1.5 of 4.0 s, and will not continue";
        assert_eq!((failure.code(), failure.to_string()), (130, format!("Ctrl-C; {stands}")));
        assert!(json_of_motion(&interrupted).contains(r#""fallback":null,"ended_by":"SIGINT""#));
        let failure = outcome_of_move(&arrival(CTRL_C, true, false, 0.2)).expect_err("interrupted");
        assert_eq!((failure.code(), failure.to_string()), (130, "Ctrl-C; the move will not continue".into()));
        for (by, words) in [
            (ReleasedBy::Request, "released by another process"),
            (ReleasedBy::Pendant(Reason::ProgramPaused), "the program was paused at the pendant (ProgramPaused)"),
            (ReleasedBy::Contact, "the tool touched something, which ended the motion"),
        ] {
            let ended = followed(Ended::Released(by), false, [0.2, 0.0], true);
            let failure = outcome_of_motion(&ended, &Tolerances::DEFAULT, 4.0).expect_err("ended early");
            assert_eq!((failure.code(), failure.to_string()), (4, format!("{words}; {stands}")));
        }
    }

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let motions = [
            followed(FINISHED, true, [0.0001, 0.0], true),
            followed(CTRL_C, false, [0.2, f32::NAN], true),
            followed(Ended::Fallback(Reason::GradeLow), false, [0.0, 0.3], false),
        ];
        let at_pose = Arrival { tool_error: Some([0.0015, 0.25]), ..arrival(FINISHED, true, true, 0.0) };
        let unknown = Arrival { end_error: None, ..arrival(CTRL_C, true, false, 0.1) };
        let moves = [at_pose, unknown, arrival(Ended::Fallback(Reason::Latched), false, false, 1e-6)];
        let text: String = motions.iter().map(json_of_motion).chain(moves.iter().map(json_of_move)).collect();
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/moves/golden/moved.jsonl"), &text);
    }
}
