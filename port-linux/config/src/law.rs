//! The table `[law]`: the control law that computes joint speeds from the arm's state and its sensors.

use outrigger_core::command::Limits;
use outrigger_core::law::{
    AnyLaw, AxisConfig, CartesianTwistConfig, Excess, JointServoConfig, LawConfig, LawKind, PerAxis, Quantity,
    Reference, SensorAdds, SensorFeedForward, StandoffConfig, ToolAxesConfig, ToolAxis, ToolSpaceConfig, TwistFrame,
    TwistInput, survey,
};
use outrigger_core::trajectory::{Leg, MAX_WAYPOINTS, Setpoint, Trajectory, TrajectoryError, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities, Twist};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

use crate::reader::Section;
use crate::sources::Named;

/// The settings that the reader of the control law needs from elsewhere in the file: the sources (sensors) that the law
/// can use, and the limits of the joints.
pub(crate) struct Surroundings<'a, const N: usize> {
    pub(crate) sources: &'a [Option<Named<'a>>],
    pub(crate) limits: &'a Limits<N>,
    /// The index of the joint whose mechanics permit any number of turns, if the arm has one.
    pub(crate) endless: Option<usize>,
}

/// A control law, and the waypoints of its motion beyond those that fit into the engine's memory. They are fed to the
/// engine while the motion runs.
pub(crate) type Read<const N: usize> = (LawConfig<N>, Vec<Waypoint<N>>);

/// Reads the table `[law]`. Returns `None` and records a problem if a key without a default is missing or wrong.
pub(crate) fn read<const N: usize>(mut section: Section<'_, '_>, around: &Surroundings<'_, N>) -> Option<Read<N>> {
    let mut rest = Vec::new();
    let kinds: Vec<_> = LawKind::ALL.iter().map(|kind| (kind.name(), Some(*kind))).collect();
    let Some(kind) = section.choice("kind", &kinds, None) else {
        if !section.has("kind") {
            section.complain("kind", format!("the law: {}", names()));
        }
        // The keys of an unknown law cannot be checked.
        return None;
    };
    let law = match kind {
        LawKind::JointServo => joint_servo(&mut section, around, &mut rest),
        LawKind::CartesianTwist => twist(&mut section, around),
        LawKind::Standoff => standoff(&mut section, around),
        LawKind::ToolAxes => axes(&mut section, around),
    };
    if let Some(Err(error)) = law.clone().map(AnyLaw::new) {
        section.complain(error.field, error.expected);
    }
    section.finish();
    law.map(|law| (law, rest))
}

/// Returns the names of all kinds of control laws for an error message: `"joint-servo", … or "axes"`.
fn names() -> String {
    let names: Vec<_> = LawKind::ALL.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        all => all.concat(),
    }
}

/// Rejects the setting `law.expert.sensor_adds` of a joint servo unless it is "speeds" or `adds`, because this kind of
/// session cannot add another quantity to its commands. `expected` is the text of the problem.
pub(crate) fn refuse_added<const N: usize>(
    root: &mut Section<'_, '_>,
    law: &LawConfig<N>,
    adds: SensorAdds,
    expected: &str,
) {
    let LawConfig::JointServo { config: JointServoConfig { sensor_adds, .. }, .. } = law else { return };
    if *sensor_adds != SensorAdds::Speeds && *sensor_adds != adds {
        root.complain_at("law.sensor_adds", expected);
    }
}

/// Rejects a motion in a host's file with more waypoints than the engine holds. `outrigger move` follows longer
/// motions from files of their own.
pub(crate) fn refuse_long_motion<const N: usize>(root: &mut Section<'_, '_>, rest: &[Waypoint<N>]) {
    if !rest.is_empty() {
        let most = format!("at most {MAX_WAYPOINTS} waypoints: `outrigger move` follows a longer motion from a file");
        root.complain_at("law.waypoint", most);
    }
}

fn joint_servo<const N: usize>(
    section: &mut Section<'_, '_>,
    around: &Surroundings<'_, N>,
    rest: &mut Vec<Waypoint<N>>,
) -> Option<LawConfig<N>> {
    let feedback = section.flag("feedback", true);
    // Half of the joints' acceleration limit. The other half is for the reference's own acceleration.
    let braked = 0.5 * around.limits.acceleration.iter().fold(f32::INFINITY, f32::min);
    let mut config = JointServoConfig {
        correction_deceleration: braked,
        joint_speed: slowest(around.limits),
        ..JointServoConfig::default()
    };
    config.read(section);
    if !feedback {
        (config.proportional, config.derivative) = (0.0, 0.0);
    }
    config.sensor_adds = section.choice("sensor_adds", SensorAdds::WORDS, SensorAdds::Speeds);
    config.sensor = sensor(section, around);
    let (reference, behind) = reference(section, around.endless)?;
    *rest = behind;
    if let Err((to, excess)) = reference.check(around.limits).and_then(|()| check_rest(&reference, rest, around.limits))
    {
        let (within, instead) = match excess.quantity {
            Quantity::Velocity => ("velocity", "; take more time, or raise limits.velocity"),
            Quantity::Acceleration => ("acceleration", "; take more time, or raise limits.acceleration"),
            Quantity::Position => ("position", ""),
        };
        let problem = format!("a motion within the {within} limits: {excess} on the way to waypoint {to}{instead}");
        section.complain("waypoint", problem);
    }
    Some(LawConfig::JointServo { reference, config })
}

fn twist<const N: usize>(section: &mut Section<'_, '_>, around: &Surroundings<'_, N>) -> Option<LawConfig<N>> {
    let default = CartesianTwistConfig::new(TwistFrame::Tool, TwistInput::Constant(Twist::default()));
    let mut config = CartesianTwistConfig { tool_space: tool_space(around), ..default };
    config.read(section);
    let constant = section.numbers::<6>("twist", CartesianTwistConfig::TWIST);
    let sensor = source(section, "source", 6, around);
    config.input = match (section.has("twist"), section.has("source")) {
        (true, false) => {
            let [vx, vy, vz, wx, wy, wz] = constant?;
            TwistInput::Constant(Twist { linear: [vx, vy, vz], angular: [wx, wy, wz] })
        }
        (false, true) => TwistInput::Source(sensor?),
        (true, true) => {
            section.complain("twist", "no value: `source` gives the twist");
            return None;
        }
        (false, false) => {
            section.complain("source", "a source of six values, or a constant `twist`");
            return None;
        }
    };
    Some(LawConfig::CartesianTwist(config))
}

fn standoff<const N: usize>(section: &mut Section<'_, '_>, around: &Surroundings<'_, N>) -> Option<LawConfig<N>> {
    let sensor = source(section, "source", 1, around);
    if !section.has("source") {
        section.complain("source", "the name of the [[source]] that measures the distance");
    }
    let distance = section.number("distance", StandoffConfig::DISTANCE);
    if !section.has("distance") {
        section.complain("distance", "the distance to hold [m]");
    }
    let default = StandoffConfig::new(SourceId::default(), distance.unwrap_or(1.0));
    let range = section.span("range", StandoffConfig::RANGE);
    let range = range.unwrap_or(default.range);
    let mut config = StandoffConfig { range, tool_space: tool_space(around), ..default };
    config.read(section);
    Some(LawConfig::Standoff(StandoffConfig { source: sensor?, distance: distance?, ..config }))
}

fn axes<const N: usize>(section: &mut Section<'_, '_>, around: &Surroundings<'_, N>) -> Option<LawConfig<N>> {
    let mut config = ToolAxesConfig { tool_space: tool_space(around), ..ToolAxesConfig::default() };
    config.read(section);
    let tables = section.sections("axis");
    if tables.is_empty() {
        if !section.has("axis") {
            section.complain("axis", "an [[law.axis]] for each axis of the tool that a sensor moves");
        }
        return None;
    }
    let mut whole = true;
    for table in tables {
        match axis(table, around, &config.axes) {
            Some((along, axis)) => {
                for ((_, name), place) in ToolAxis::WORDS.iter().zip(&mut config.axes) {
                    *place = if *name == along { Some(axis) } else { *place };
                }
            }
            None => whole = false,
        }
    }
    whole.then_some(LawConfig::ToolAxes(config))
}

/// Reads one axis of the tool, with the sensor that controls it. Returns `None` and records a problem for a missing or
/// wrong setting, and for an axis that another entry has already `taken`.
fn axis<const N: usize>(
    mut section: Section<'_, '_>,
    around: &Surroundings<'_, N>,
    taken: &PerAxis<Option<AxisConfig>>,
) -> Option<(ToolAxis, AxisConfig)> {
    let words: Vec<_> = ToolAxis::WORDS.iter().map(|(word, axis)| (*word, Some(*axis))).collect();
    let along = section.choice("along", &words, None);
    if !section.has("along") {
        section.complain("along", "the axis of the tool: \"x\", \"y\", \"z\", \"rx\", \"ry\" or \"rz\"");
    }
    let mut others = ToolAxis::WORDS.iter().zip(taken);
    let free = !others.any(|((_, name), axis)| along == Some(*name) && axis.is_some());
    if !free {
        section.complain("along", "an axis that no other [[law.axis]] has");
    }
    let sensor = any_source(&mut section, "source", around);
    let target = section.number("target", AxisConfig::READING);
    let slope = section.number("slope", AxisConfig::READING);
    for (key, expected) in [
        ("source", "the name of the [[source]] that moves this axis"),
        ("target", "the reading that the axis is moved to"),
        (
            "slope",
            "how the reading changes when the tool moves by one metre along the axis, or turns by one radian about it",
        ),
    ] {
        if !section.has(key) {
            section.complain(key, expected);
        }
    }
    let range = section.span("range", AxisConfig::READING);
    let default = AxisConfig::new(SourceId::default(), target.unwrap_or_default(), slope.unwrap_or(1.0));
    let mut config = AxisConfig { range, ..default };
    config.read(&mut section);
    let has = sensor.map(|(_, values)| values).filter(|values| *values < usize::from(config.value));
    if let Some(values) = has {
        section.complain("value", format!("1 to {values}, the number of values in a reading of this source"));
    }
    let read = along.zip(sensor).zip(target.zip(slope)).map(|((along, (source, _)), _)| (along, source));
    let judged = read.map(|(along, source)| (along, AxisConfig { source, ..config }));
    let judged = judged.filter(|(along, config)| match config.check(*along) {
        Ok(()) => true,
        Err(error) => {
            section.complain(error.field, error.expected);
            false
        }
    });
    section.finish();
    judged.filter(|_| free && has.is_none())
}

/// Returns the default settings of a control law that moves the tool. Their limit for all joints is the velocity limit
/// of the slowest joint.
fn tool_space<const N: usize>(around: &Surroundings<'_, N>) -> ToolSpaceConfig {
    ToolSpaceConfig { joint_speed: slowest(around.limits), ..ToolSpaceConfig::default() }
}

/// Returns the lowest velocity limit of all joints \[rad/s\].
fn slowest<const N: usize>(limits: &Limits<N>) -> f32 {
    limits.velocity.iter().fold(f32::INFINITY, f32::min)
}

fn sensor<const N: usize>(section: &mut Section<'_, '_>, around: &Surroundings<'_, N>) -> Option<SensorFeedForward> {
    let gain = section.number("sensor_gain", SensorFeedForward::GAIN);
    // No reading has more numbers: the last of seven joints has none.
    let source = source(section, "sensor", N.min(6), around);
    for key in ["sensor_gain", "sensor_adds"] {
        if section.has(key) && !section.has("sensor") {
            section.complain(key, "sensor = \"NAME\" with it");
        }
    }
    Some(SensorFeedForward { source: source?, gain: gain.unwrap_or(1.0) })
}

/// Returns the engine's number of the sensor (source) that is named at `key`. `None` if the key is absent; if no source
/// has this name, or its readings do not have `values` values, a problem is recorded as well.
pub(crate) fn source<const N: usize>(
    section: &mut Section<'_, '_>,
    key: &'static str,
    values: usize,
    around: &Surroundings<'_, N>,
) -> Option<SourceId> {
    let (id, has) = any_source(section, key, around)?;
    if has != values {
        section.complain(key, format!("a source with values = {values}"));
        return None;
    }
    Some(id)
}

/// Returns the engine's number of the sensor (source) that is named at `key`, and the number of values in its readings.
/// `None` if the key is absent, or if no source has this name, which is recorded as a problem.
fn any_source<const N: usize>(
    section: &mut Section<'_, '_>,
    key: &'static str,
    around: &Surroundings<'_, N>,
) -> Option<(SourceId, usize)> {
    let known: Vec<_> = around.sources.iter().flatten().collect();
    let names = || known.iter().map(|source| source.name);
    let name = section.text(key, "the name of a [[source]]")?;
    let Some(index) = names().position(|known| known == name) else {
        let expected = if known.is_empty() {
            "a [[source]] with this name in the file".into()
        } else {
            let names: Vec<_> = names().map(|name| format!("\"{name}\"")).collect();
            format!("the name of a [[source]]: {}", names.join(", "))
        };
        section.complain(key, expected);
        return None;
    };
    Some((SourceId(u8::try_from(index).ok()?), known.get(index)?.values))
}

/// Checks that an arm with these limits can follow the waypoints `rest`, which continue the motion `reference`. The
/// error is the number of the first waypoint that it cannot reach, and the exceeded limit.
fn check_rest<const N: usize>(
    reference: &Reference<N>,
    rest: &[Waypoint<N>],
    limits: &Limits<N>,
) -> Result<(), (u32, Excess)> {
    let (known, origin) = match reference {
        Reference::Hold => return Ok(()),
        Reference::Absolute(trajectory) => (trajectory, Some(&JointPositions::ZERO)),
        Reference::Relative(trajectory) => (trajectory, None),
    };
    let from = known.last().into_iter().chain(rest);
    let legs = from.zip(rest).map(|(from, to)| survey(&Leg::between(from, to), limits, origin));
    (MAX_WAYPOINTS as u32..).zip(legs).try_for_each(|(to, held)| held.map_err(|excess| (to, excess)))
}

fn reference<const N: usize>(
    section: &mut Section<'_, '_>,
    endless: Option<usize>,
) -> Option<(Reference<N>, Vec<Waypoint<N>>)> {
    let relative = section.flag("relative", false);
    let waypoints = section.sections("waypoint");
    if waypoints.is_empty() {
        if section.has("relative") {
            section.complain("relative", "[[law.waypoint]] tables with it");
        }
        return Some((Reference::Hold, vec![]));
    }
    let waypoints: Vec<_> = waypoints.into_iter().map(|table| waypoint(table, endless)).collect();
    let mut waypoints: Vec<_> = waypoints.into_iter().collect::<Option<_>>()?;
    let rest = waypoints.split_off(waypoints.len().min(MAX_WAYPOINTS));
    let begun = if rest.is_empty() { Trajectory::through(&waypoints) } else { Trajectory::beginning(&waypoints) };
    match begun.and_then(|begun| follows(&begun, &rest).map(|()| begun)) {
        Ok(trajectory) if relative => Some((Reference::Relative(trajectory), rest)),
        Ok(trajectory) => Some((Reference::Absolute(trajectory), rest)),
        Err(error) => {
            section.complain("waypoint", format!("a motion from rest to rest: {error}"));
            None
        }
    }
}

/// Checks that the times of the waypoints `rest` increase and follow those of the motion `begun`, and that the motion
/// ends at rest.
fn follows<const N: usize>(begun: &Trajectory<N>, rest: &[Waypoint<N>]) -> Result<(), TrajectoryError> {
    let mut before = begun.duration();
    for (number, waypoint) in (MAX_WAYPOINTS as u32..).zip(rest) {
        if waypoint.at <= before {
            return Err(TrajectoryError::Order(number));
        }
        before = waypoint.at;
    }
    let end = (MAX_WAYPOINTS + rest.len()).saturating_sub(1) as u32;
    rest.last().map_or(Ok(()), |last| last.at_rest(end).map(|_| ()))
}

fn waypoint<const N: usize>(mut section: Section<'_, '_>, endless: Option<usize>) -> Option<Waypoint<N>> {
    let at = section.number("at", (0.0..=86_400.0, "s"));
    if at.is_none() && !section.has("at") {
        section.complain("at", "the time from the start of the motion [s]");
    }
    let most = |most: f32| endless.map(|joint| (joint, most));
    let radians = section.angles("joints", (-13.0..=13.0, "rad"), most(Limits::<N>::NONE));
    let degrees = section.angles("degrees", (-720.0..=720.0, "°"), most(Limits::<N>::NONE.to_degrees()));
    match (section.has("joints"), section.has("degrees")) {
        (true, true) => section.complain("degrees", "no value: `joints` gives the angles"),
        (false, false) => section.complain("joints", format!("{N} angles as `joints` [rad] or `degrees`")),
        _ => {}
    }
    let velocities = section.numbers("velocities", (-6.3..=6.3, "rad/s")).unwrap_or([0.0; N]);
    section.finish();
    let positions = radians.or(degrees.map(|angles: [f32; N]| angles.map(f32::to_radians)))?;
    let setpoint = Setpoint { positions: JointPositions(positions), velocities: JointVelocities(velocities) };
    Some(Waypoint { setpoint, accelerations: None, at: Duration::from_micros((f64::from(at?) * 1e6).round() as u64) })
}
