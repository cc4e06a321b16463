//! A session at one instant, from the point of view of a companion.

use outrigger_core::command::{MAX_SOURCES, SourceConfig};
use outrigger_core::kinematics::KinematicChain;
use outrigger_core::law::{PerAxis, ToolAxis, Values};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Duration;
use serde::{Serialize, Serializer};

use crate::show::Snapshot;
use crate::show::law_values::{ScriptValue, named};

/// A session at one instant: the values that are displayed everywhere, and those that only a picture of the arm
/// needs.
///
/// As JSON it is the object of `--json` with two additional members, `frame` and `settled`. Times and durations in
/// these are in µs, and a number without a JSON form is `null`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionView<const N: usize> {
    /// The values that every display shows: the session's mode, the reasons that prevent commanding, the figures of
    /// the link, and the newest values of arm and terminals.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The values of the session that change with each robot state.
    pub frame: Frame<N>,
    /// The values of the session that rarely change: kinematics, settings of sensors, limits.
    pub settled: Settled<N>,
}

/// The values of a session that change with each robot state: commanded speeds, setpoint, values of the control law,
/// sensor samples.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Frame<const N: usize> {
    /// The joint speeds that were commanded to the arm last \[rad/s\].
    pub commanded: JointVelocities<N>,
    /// The joint positions of the control law's setpoint \[rad\]. `None` without a setpoint, and while the arm is not
    /// commanded.
    pub wanted: Option<JointPositions<N>>,
    /// The named values that the control law shows, while it commands. In JSON they are `values`; those of laws that
    /// hold a distance or move axes of the tool are also `standoff_error` and `axis_errors`.
    #[serde(flatten, serialize_with = "law_values")]
    pub values: Values,
    /// The newest sample of each sensor, by the number of its source.
    pub samples: [Option<Sample>; MAX_SOURCES],
    /// The reason why the motion is held (paused, e.g. by the speed slider) while the arm is still commanded. `None` if
    /// it is not held.
    pub held_by: Option<Reason>,
}

/// The values of a session that rarely change: kinematics, settings of sensors, age limit of states, joint speed
/// limits.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Settled<const N: usize> {
    /// The kinematic chain from the base to the tool, if the model is known.
    pub chain: Option<KinematicChain<N>>,
    /// The settings of the sensors, by the numbers of their sources.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// The age of the newest robot state at which commanding ends.
    pub oldest_state: Duration,
    /// The highest permitted speed of each joint \[rad/s\].
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
