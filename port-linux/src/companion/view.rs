//! A session at one instant, as a companion sees it.

use outrigger_core::command::{MAX_SOURCES, SourceConfig};
use outrigger_core::kinematics::KinematicChain;
use outrigger_core::law::{PerAxis, ToolAxis, Values};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Duration;
use serde::{Serialize, Serializer};

use crate::show::Snapshot;
use crate::show::values::{ScriptValue, named};

/// A session at one instant: what is shown of it everywhere, and what only a picture of the arm needs.
///
/// As JSON, it is the object of `--json` with two more members, `frame` and `settled`. Times and spans in these are in µs, and a number
/// that JSON has no form for is `null`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionView<const N: usize> {
    /// The values that are shown everywhere.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The newest numbers.
    pub frame: Frame<N>,
    /// The values that hardly change.
    pub settled: Settled<N>,
}

/// The newest numbers of a session.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Frame<const N: usize> {
    /// Joint speeds that were commanded last \[rad/s\].
    pub commanded: JointVelocities<N>,
    /// The joint positions that the law wants \[rad\], while it commands.
    pub wanted: Option<JointPositions<N>>,
    /// The numbers that the law shows, while it commands. In JSON they are `values`, and those of the laws that hold a distance
    /// or move axes of the tool are `standoff_error` and `axis_errors` as well.
    #[serde(flatten, serialize_with = "law_values")]
    pub values: Values,
    /// The newest sample of each source, by its number.
    pub samples: [Option<Sample>; MAX_SOURCES],
    /// The reason that holds the motion while commanding lasts.
    pub held_by: Option<Reason>,
}

/// The values that a session hardly changes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Settled<const N: usize> {
    /// The chain from the base to the tool, where the model is known.
    pub chain: Option<KinematicChain<N>>,
    /// The sources, by their numbers.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// The age of a state that ends commanding.
    pub oldest_state: Duration,
    /// The limit of each joint's speed \[rad/s\].
    pub fastest: JointVelocities<N>,
}

fn law_values<S: Serializer>(values: &Values, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct OfLaw {
        standoff_error: Option<f32>,
        axis_errors: PerAxis<Option<f32>>,
        values: Vec<ScriptValue>,
    }
    let mut axis_errors = [None; 6];
    for (error, (axis, _)) in axis_errors.iter_mut().zip(ToolAxis::WORDS) {
        *error = named(values, "axis_errors").find(|(part, _)| *part == Some(*axis)).map(|(_, error)| error);
    }
    let standoff_error = named(values, "standoff_error").next().map(|(_, error)| error);
    OfLaw { standoff_error, axis_errors, values: ScriptValue::all(values) }.serialize(serializer)
}
