//! Prepares a motion that another process requests: it is checked as a whole and thinned before the control loop
//! receives it.

use std::sync::Arc;

use outrigger_core::command::{Limits, MoveTarget};
use outrigger_core::law::{Forward, ForwardError, Forwarded, JointServoConfig, Law};
use outrigger_core::trajectory::{Setpoint, Spacing, Tolerances, Waypoint};
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities, Pose, State};
use outrigger_wire::time::Duration;

use super::controller_move::{MoveExecutor, MoveRequest};
use super::motion_thinning::thinned;
use super::playback::PlaybackExecutor;
use super::timed_move::seconds;
use super::{Motion, SAME, Start, begins_beside, rests};

/// The description of accepted requests for a move, for error messages.
const EXPECTED: &str = "q=Q0,... or pose=X,Y,Z,RX,RY,RZ, optionally with linear, speed= and acceleration=, or time= \
                        with q=; or a motion in pieces, begin=, rows= and end";
/// The error text for clients that name a motion file instead of sending its waypoints.
const NO_FILE: &str = "a motion in pieces, begin=, rows= and end, as `outrigger ctl ROBOT move FILE` of this version \
                       sends it: a run opens no file";

/// The component that executes the motions which clients request in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotionExecutor {
    /// The control law follows the motions, cycle by cycle.
    Law,
    /// The controller executes the requested motions by itself.
    Controller,
}

/// The kinds of client motions that a control law never accepts. The default is that of a law that accepts all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RejectedMotions {
    /// `true` if the control law follows no trajectory.
    pub trajectories: bool,
    /// The reason why the control law rejects every stream of joint speeds. `None` if it accepts them.
    pub speeds: Option<ForwardError>,
    /// The reason why the control law rejects every stream of joint positions. `None` if it accepts them.
    pub positions: Option<ForwardError>,
    /// The reason why every stream of joint torques is rejected. `None` if they are accepted.
    pub torques: Option<ForwardError>,
}

impl RejectedMotions {
    /// Determines which client motions are rejected by a control law that is not armed yet. To find out, streams with
    /// a validity of zero are passed to the law, which do not change it. `takes_torques` is `true` if torques can be
    /// sent to the controller.
    pub(crate) fn of<const N: usize>(law: &mut impl Law<N>, limits: &Limits<N>, takes_torques: bool) -> Self {
        let path = if takes_torques { None } else { Some(ForwardError::NoTorques) };
        let Some(motion) = law.motion_mut() else {
            let none = Some(ForwardError::NoJointLaw);
            return Self { trajectories: true, speeds: none, positions: none, torques: path.or(none) };
        };
        let state = State::default();
        let mut refuses = |what| match motion.forward(&Forward { what, holds: Duration::ZERO }, &state, limits) {
            Err(error @ (ForwardError::NoJointLaw | ForwardError::Sensor | ForwardError::NoFeedback)) => Some(error),
            Ok(()) | Err(_) => None,
        };
        let speeds = refuses(Forwarded::Speeds(JointVelocities::ZERO));
        let positions = refuses(Forwarded::Positions(state.positions));
        let torques = path.or_else(|| refuses(Forwarded::Torques(JointTorques::ZERO)));
        Self { trajectories: motion.setpoint().is_none(), speeds, positions, torques }
    }
}

/// The facts about a session that are needed to prepare a motion for it: limits of the arm, executor, rejected kinds.
#[derive(Clone, Debug)]
pub struct Moving<const N: usize> {
    /// The limits of the arm's joint positions, speeds and accelerations.
    pub limits: Limits<N>,
    /// The component that executes the requested motions: the control law or the controller.
    pub by: MotionExecutor,
    /// The kinds of motions that the control law rejects.
    pub refuses: RejectedMotions,
}

/// The measured joint positions and speeds of the arm, the setpoint of the active motion, and the period of robot
/// states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmMotionState<const N: usize> {
    /// The newest measured joint positions \[rad\]. `None` without a robot state.
    pub at: Option<JointPositions<N>>,
    /// The newest measured joint speeds of the arm \[rad/s\].
    pub speed: JointVelocities<N>,
    /// The setpoint (joint positions and speeds) of the active motion, if there is one.
    pub wanted: Option<Setpoint<N>>,
    /// The time between two robot states. `None` if it is unknown.
    pub cycle: Option<Duration>,
}

impl<const N: usize> Default for ArmMotionState<N> {
    fn default() -> Self {
        Self { at: None, speed: JointVelocities::ZERO, wanted: None, cycle: None }
    }
}

/// A motion that is checked and ready to start.
#[derive(Debug)]
pub struct Ready<const N: usize> {
    pub(super) how: PreparedExecution<N>,
    /// `true` if the motion may replace another one that the control law is following.
    pub replaces: bool,
    /// The duration of the motion at full speed. Zero if it is unknown.
    pub(super) whole: Duration,
}

#[derive(Debug)]
pub(super) enum PreparedExecution<const N: usize> {
    /// The control law follows the motion: the waypoints that are due after 0 s; the required start position, if there
    /// is one; and the motion's own tolerances, if it has some.
    Follow { waypoints: Vec<Waypoint<N>>, begins: Option<JointPositions<N>>, tolerances: Option<Tolerances<N>> },
    /// The controller executes the requested motion waypoint by waypoint.
    Play(Box<PlaybackExecutor<N>>),
    /// The controller executes the requested motion as a single move to one goal.
    Give { giving: MoveExecutor<N>, from: JointPositions<N> },
    /// The motion has no length and the arm is already at its position, so that nothing is sent.
    Stay,
}

impl<const N: usize> Ready<N> {
    /// The prepared motion for an arm that is already at the goal: nothing is sent.
    const STAY: Self = Self { how: PreparedExecution::Stay, whole: Duration::ZERO, replaces: false };

    /// Returns `true` if the arm is already at the goal, so that nothing is sent.
    pub const fn stays(&self) -> bool {
        matches!(self.how, PreparedExecution::Stay)
    }
}

/// The content of a client's request for a motion.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionRequest<const N: usize> {
    /// A requested motion with all its waypoints.
    Motion(Box<Motion<N>>),
    /// A requested move to one goal, without intermediate waypoints.
    Place(MoveRequest<N>),
}

impl<const N: usize> MotionRequest<N> {
    /// Parses a client's request for a move to one goal. A file named in it is never opened.
    ///
    /// # Errors
    /// Returns what was expected.
    pub(crate) fn of(how: &str) -> Result<Self, String> {
        if how.trim_start().starts_with("file=") {
            return Err(NO_FILE.into());
        }
        let (mut goal, mut linear, mut speed, mut acceleration, mut time) = (None, false, None, None, None);
        for word in how.split_whitespace() {
            match word.split_once('=') {
                Some((name @ "q", value)) => goal = Some(MoveTarget::joints(angles(name, value)?)),
                Some((name @ "pose", value)) => goal = Some(MoveTarget::pose(pose(name, value)?)),
                Some((name @ "speed", value)) => speed = Some(above_zero(name, value)?),
                Some((name @ "acceleration", value)) => acceleration = Some(above_zero(name, value)?),
                Some((name @ "time", value)) => {
                    time = Some(seconds(value).map_err(|expected| format!("{name}: {expected}"))?);
                }
                None if word == "linear" => linear = true,
                _ => return Err(format!("expected {EXPECTED}, found '{word}'")),
            }
        }
        let target = goal.ok_or_else(|| format!("expected {EXPECTED}, found '{how}'"))?;
        if time.is_some() && (speed.is_some() || acceleration.is_some()) {
            return Err("time: expected no speed= and no acceleration= with it".into());
        }
        Ok(Self::Place(
            MoveRequest::new(if linear { target.linear() } else { target }, speed, acceleration).lasting(time),
        ))
    }
}

fn numbers<const N: usize>(value: &str) -> Option<[f32; N]> {
    let each = value.split(',').map(|number| number.trim().parse().ok().filter(|number: &f32| number.is_finite()));
    each.collect::<Option<Vec<f32>>>()?.try_into().ok()
}

fn angles<const N: usize>(name: &str, value: &str) -> Result<JointPositions<N>, String> {
    numbers(value).map(JointPositions).ok_or_else(|| format!("{name}: expected {N} angles in rad, found '{value}'"))
}

fn pose(name: &str, value: &str) -> Result<Pose, String> {
    let expected = || format!("{name}: expected x,y,z in m and a rotation vector in rad, found '{value}'");
    let [x, y, z, rx, ry, rz] = numbers(value).ok_or_else(expected)?;
    Ok(Pose { position: [x, y, z], rotation: [rx, ry, rz] })
}

fn above_zero(name: &str, value: &str) -> Result<f32, String> {
    let number = value.parse().ok().filter(|number: &f32| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{name}: expected a number above 0, found '{value}'"))
}

/// Prepares the motion for an arm in the state `stands`. The time that this takes grows with the number of waypoints.
///
/// # Errors
/// Returns the reason why the arm cannot follow it, with waypoint, joint and advice.
pub fn ready<const N: usize>(
    wish: MotionRequest<N>,
    moving: &Moving<N>,
    stands: &ArmMotionState<N>,
) -> Result<Ready<N>, String> {
    let at = stands.at.ok_or("the arm's position is not known yet: try again once states are received")?;
    match wish {
        MotionRequest::Motion(motion) => along(*motion, moving, at, stands),
        MotionRequest::Place(asked) => place(at, asked, moving, stands),
    }
}

/// Prepares the execution of a motion with all its waypoints.
fn along<const N: usize>(
    motion: Motion<N>,
    moving: &Moving<N>,
    at: JointPositions<N>,
    stands: &ArmMotionState<N>,
) -> Result<Ready<N>, String> {
    let checked = |motion: &Motion<N>| motion.check(&moving.limits).map_err(|unfit| unfit.with_remedy());
    checked(&motion)?;
    let tolerances = *motion.tolerances();
    let whole = motion.waypoints().last().map_or(Duration::ZERO, |last| last.at);
    let begins = motion.waypoints().first().filter(|first| first.at == Duration::ZERO);
    let begins = begins.map(|first| first.setpoint.positions);
    let begins_here = || begins.and_then(|begins| begins_beside(&at, &begins, &tolerances)).map_or(Ok(()), Err);
    let how = match moving.by {
        MotionExecutor::Law => {
            // A replacement starts from the setpoint of the active motion, not from the measured position.
            if stands.wanted.is_none() && matches!(motion.clone().start_at(at, &stands.speed)?, Start::There(_)) {
                return Ok(Ready::STAY);
            }
            begins_here()?;
            if whole == Duration::ZERO {
                return Err(
                    "a motion is active, and a single waypoint at 0 s cannot replace it; give it a time later than 0 s"
                        .into(),
                );
            }
            let cycle = stands.cycle.unwrap_or(Duration::ZERO);
            let spacing = Spacing::for_cycle(cycle, JointServoConfig::default().path_tolerance);
            let motion = motion.spaced(&spacing).map_err(|missed| format!("{missed}; give it more time there"))?;
            checked(&motion)?;
            let mut waypoints = motion.into_waypoints();
            if begins.is_some() {
                waypoints.remove(0);
            }
            PreparedExecution::Follow {
                waypoints,
                begins,
                tolerances: (tolerances != Tolerances::default()).then_some(tolerances),
            }
        }
        MotionExecutor::Controller => {
            let thin = Motion::through(thinned(motion.from_rest_at(at).into_waypoints())?);
            let thin = thin.map_err(|unfit| unfit.to_string())?.with_tolerances(tolerances);
            let Start::Moves(thin) = thin.start_at(at, &stands.speed)? else { return Ok(Ready::STAY) };
            begins_here()?;
            checked(&thin)?;
            let playing = PlaybackExecutor::new(thin.into_waypoints(), tolerances, moving.limits, Arc::default());
            PreparedExecution::Play(Box::new(playing))
        }
    };
    Ok(Ready { how, whole, replaces: false })
}

/// Prepares a move to one goal: as the controller's own motion, or as a cubic that takes the requested time, otherwise
/// the shortest one that exceeds neither speed nor acceleration.
fn place<const N: usize>(
    at: JointPositions<N>,
    asked: MoveRequest<N>,
    moving: &Moving<N>,
    stands: &ArmMotionState<N>,
) -> Result<Ready<N>, String> {
    asked.check(&moving.limits)?;
    let MoveRequest { target, speed, acceleration, time } = asked;
    let give = || PreparedExecution::Give { giving: MoveExecutor::new(asked, Arc::default()), from: at };
    let to = match (target.known(), moving.by) {
        (Some(destination), _) => destination.joints,
        // The duration is unknown until the controller has located the goal.
        (None, MotionExecutor::Controller) => return Ok(Ready { how: give(), whole: Duration::ZERO, replaces: false }),
        (None, MotionExecutor::Law) => {
            return Err("a pose or a straight line needs the controller's own motion: run with session.path = \
                        \"player\", or use 'outrigger move --to' while no run is active"
                .into());
        }
    };
    let longest = to.zip_with(at.as_array(), |to, at| to - at).max_abs();
    if longest < SAME {
        return rests(&stands.speed).map(|()| Ready::STAY);
    }
    asked.check_time(&at, &moving.limits)?;
    let shortest = (1.5 * longest / speed).max((6.0 * longest / acceleration).sqrt());
    let whole = time.unwrap_or(Duration::from_micros((f64::from(shortest) * 1e6).ceil() as u64));
    let setpoint = Setpoint { positions: to, velocities: JointVelocities::ZERO };
    let waypoint = Waypoint { setpoint, accelerations: None, at: whole };
    // The cubic is checked against the limits of each joint, whichever side executes it.
    let motion = Motion::through(vec![waypoint]).map_err(|unfit| format!("q: {unfit}"))?;
    motion.clone().from_rest_at(at).check(&moving.limits).map_err(|unfit| format!("q: {unfit}; reduce the motion"))?;
    let how = match moving.by {
        MotionExecutor::Law => {
            PreparedExecution::Follow { waypoints: motion.into_waypoints(), begins: None, tolerances: None }
        }
        MotionExecutor::Controller => give(),
    };
    Ok(Ready { how, whole, replaces: false })
}

#[cfg(test)]
mod tests {
    use outrigger_core::law::{
        AnyLaw, CartesianTwist, CartesianTwistConfig, Forwarding, JointServo, MotionStatus, Reference,
        SensorFeedForward, TwistFrame, TwistInput,
    };
    use outrigger_wire::robot::Twist;
    use outrigger_wire::sensor::SourceId;

    use super::*;

    const HOME: JointPositions<2> = JointPositions([0.0, 1.0]);

    fn moving(by: MotionExecutor) -> Moving<2> {
        Moving { limits: Limits::default(), by, refuses: RejectedMotions::default() }
    }

    fn stands() -> ArmMotionState<2> {
        ArmMotionState { at: Some(HOME), cycle: Some(Duration::from_millis(2)), ..ArmMotionState::default() }
    }

    fn ready(wish: &MotionRequest<2>, moving: &Moving<2>, stands: &ArmMotionState<2>) -> Result<Ready<2>, String> {
        super::ready(wish.clone(), moving, stands)
    }

    /// Parses `text`, the content of a motion file called `name`: JSON if the name ends in `.json`, otherwise a table.
    fn file(name: &str, text: &str) -> MotionRequest<2> {
        MotionRequest::Motion(Box::new(Motion::parse(text.as_bytes(), name.ends_with(".json")).expect("a motion")))
    }

    #[test]
    fn what_a_law_refuses_is_known_before_it_is_armed() {
        let servo = |config| AnyLaw::<2>::JointServo(JointServo::new(Reference::Hold, config));
        let default = JointServoConfig::default();
        let source = SensorFeedForward { source: SourceId(0), gain: 1.0 };
        let still = Twist { linear: [0.0; 3], angular: [0.0; 3] };
        let twist = CartesianTwist::new(CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(still)));
        let both = |why| RejectedMotions {
            speeds: Some(why),
            positions: Some(why),
            torques: Some(why),
            ..RejectedMotions::default()
        };
        let without = RejectedMotions { positions: Some(ForwardError::NoFeedback), ..RejectedMotions::default() };
        for (mut law, expected) in [
            (servo(default), RejectedMotions::default()),
            (servo(JointServoConfig { sensor: Some(source), ..default }), both(ForwardError::Sensor)),
            (servo(JointServoConfig { proportional: 0.0, ..default }), without),
            (AnyLaw::CartesianTwist(twist), RejectedMotions { trajectories: true, ..both(ForwardError::NoJointLaw) }),
        ] {
            let limits = Limits::default();
            assert_eq!(RejectedMotions::of(&mut law, &limits, true), expected);
            let none = Some(ForwardError::NoTorques);
            assert_eq!(RejectedMotions::of(&mut law, &limits, false), RejectedMotions { torques: none, ..expected });
            // The law was queried, and its state is unchanged.
            assert_eq!(MotionStatus::of(&law).forwarding, Forwarding::Idle);
        }
    }

    #[test]
    fn a_place_is_asked_for_in_words_and_no_file() {
        let to = JointPositions([0.5, -1.0]);
        let said = MotionRequest::of("q=0.5,-1 speed=0.1");
        assert_eq!(said, Ok(MotionRequest::Place(MoveRequest::new(to.into(), Some(0.1), None))));
        let pose = Pose { position: [0.4, -0.2, 0.3], rotation: [0.0, 3.0, 0.0] };
        let line = MoveRequest::new(MoveTarget::pose(pose).linear(), None, None);
        assert_eq!(MotionRequest::<2>::of("pose=0.4,-0.2,0.3,0,3,0 linear"), Ok(MotionRequest::Place(line)));
        for (how, said) in [
            ("", "expected q=Q0,..."),
            ("file=/a b/c.csv", NO_FILE),
            (" file=c.csv", NO_FILE),
            ("q=1", "q: expected 2 angles in rad, found '1'"),
            ("q=1,nan", "q: expected 2 angles in rad"),
            ("q=1,2 speed=0", "speed: expected a number above 0, found '0'"),
            ("q=1,2 acceleration=x", "acceleration: expected a number above 0"),
            ("q=1,2 hurry", "expected q=Q0,..."),
            ("pose=1,2", "pose: expected x,y,z in m and a rotation vector in rad, found '1,2'"),
            ("linear", "expected q=Q0,..."),
            ("speed=1", "expected q=Q0,..."),
        ] {
            let error = MotionRequest::<2>::of(how).unwrap_err();
            assert!(error.starts_with(said), "{how}: {error}");
        }
    }

    #[test]
    fn a_motion_is_judged_whole_and_told_by_waypoint_and_joint() {
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            let refused = |wish: MotionRequest<2>| ready(&wish, &moving(by), &stands()).expect_err("no motion");
            let fast = refused(file("fast.csv", "0,0,1\n10,1,1\n10.5,1,3\n20,0,1\n"));
            assert!(fast.contains("on the way to waypoint 2 joint 2 would reach"), "{fast}");
            let beside = refused(file("beside.csv", "0,0.1,1\n10,1,1\n"));
            assert!(beside.contains("joint 1 is 0.100 rad from the start of the motion"), "{beside}");
            let goal = r#"{"goal": {"trajectory": {"points": [{"positions": [0, 1], "time_from_start": 1},
                {"positions": [0.1, 1], "time_from_start": 5}]}, "goal_time_tolerance": 2}}"#;
            let heeded = ready(&file("goal.json", goal), &moving(by), &stands());
            match (by, &heeded) {
                (
                    MotionExecutor::Law,
                    Ok(Ready { how: PreparedExecution::Follow { tolerances: Some(own), .. }, .. }),
                ) => {
                    assert_eq!(own.goal_time, Some(Duration::from_secs(2)));
                }
                (MotionExecutor::Controller, Ok(_)) => {}
                _ => panic!("{heeded:?}"),
            }
        }
        let long: String =
            (0..=4_000).map(|i| format!("{},{},1\n", f64::from(i) * 0.05, 1e-4 * f64::from(i))).collect();
        let long = file("long.csv", &long);
        let Ok(Ready { how: PreparedExecution::Follow { waypoints, begins, tolerances: None }, whole, .. }) =
            ready(&long, &moving(MotionExecutor::Law), &stands())
        else {
            panic!("it is one");
        };
        assert_eq!((waypoints.len(), begins, whole), (4_000, Some(HOME), Duration::from_secs(200)));
        let played = ready(&long, &moving(MotionExecutor::Controller), &stands());
        assert!(matches!(played, Ok(Ready { how: PreparedExecution::Play(_), .. })), "{played:?}");
        let nowhere = ArmMotionState { at: None, ..stands() };
        assert!(ready(&long, &moving(MotionExecutor::Law), &nowhere).is_err_and(|said| said.contains("not known yet")));
    }

    #[test]
    fn a_motion_of_no_length_is_made_already_where_the_arm_rests_and_refused_elsewhere() {
        let under_way = ArmMotionState { wanted: Some(Setpoint::default()), ..stands() };
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            for (name, text) in [
                ("here.csv", "0,0,1\n"),
                ("here.json", r#"{"points": [{"positions": [0, 1], "time_from_start": 0}]}"#),
                ("still.csv", "0,0,1\n5,0,1\n9,0,1\n"),
                ("later.csv", "5,0,1\n"),
                ("near.csv", "0,0.01,0.99\n"),
            ] {
                let stays = ready(&file(name, text), &moving(by), &stands());
                assert!(matches!(stays, Ok(Ready { how: PreparedExecution::Stay, .. })), "{by:?} {name}: {stays:?}");
            }
            for text in ["0,0,1.019\n", "0,0,0.981\n2,0,0.981\n"] {
                let near = ready(&file("19-mrad.csv", text), &moving(by), &stands());
                assert!(matches!(near, Ok(Ready { how: PreparedExecution::Stay, .. })), "{by:?} {text}: {near:?}");
            }
            for text in ["0,0,1.03\n", "0,0,1.03\n2,0,1.03\n"] {
                let beside = ready(&file("beside-it.csv", text), &moving(by), &stands()).expect_err("it is elsewhere");
                assert!(beside.starts_with("joint 2 is 0.030 rad from"), "{beside}");
            }
        }
        // The law decides whether it replaces an active motion.
        let one =
            ready(&file("one.csv", "0,0,1\n"), &moving(MotionExecutor::Law), &under_way).expect_err("no way to it");
        assert!(one.contains("a single waypoint at 0 s cannot replace it"), "{one}");
        let back = ready(&file("back.csv", "5,0,1\n"), &moving(MotionExecutor::Law), &under_way);
        assert!(matches!(back, Ok(Ready { how: PreparedExecution::Follow { .. }, .. })), "{back:?}");
    }

    #[test]
    fn a_place_is_held_to_the_limits_and_gone_to_no_faster_than_asked() {
        let to = JointPositions([0.6, 1.0]);
        let place =
            |speed, acceleration| MotionRequest::Place(MoveRequest::new(to.into(), Some(speed), Some(acceleration)));
        let ready = |wish: &MotionRequest<2>, by| ready(wish, &moving(by), &stands());
        let Ok(Ready { how: PreparedExecution::Follow { waypoints, begins: None, .. }, whole, .. }) =
            ready(&place(0.5, 0.8), MotionExecutor::Law)
        else {
            panic!("it is one");
        };
        assert_eq!((waypoints.len(), waypoints[0].setpoint.positions, waypoints[0].at), (1, to, whole));
        // The longer of 1.5·0.6/0.5 s and √(6·0.6/0.8) s.
        assert!((whole.as_secs_f32() - 2.1213).abs() < 1e-3, "{whole:?}");
        assert!(matches!(
            ready(&place(0.5, 0.8), MotionExecutor::Controller),
            Ok(Ready { how: PreparedExecution::Give { .. }, .. })
        ));
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            let fast = ready(&place(50.0, 0.8), by).expect_err("too fast");
            assert!(fast.starts_with("found speed 50, expected at most"), "{fast}");
            let mut slow = moving(by);
            slow.limits.velocity.0[0] = 0.1;
            let fast = super::ready(place(0.5, 0.8), &slow, &stands()).expect_err("too fast for this joint");
            assert!(fast.starts_with("q: on the way to waypoint 1 joint 1 would reach"), "{fast}");
            let slowly = |target| MotionRequest::Place(MoveRequest::new(target, Some(0.1), Some(0.1)));
            let far = ready(&slowly(JointPositions([9.0, 1.0]).into()), by).expect_err("too far");
            assert!(far.starts_with("joint 1: found 9 rad, expected"), "{far}");
            assert!(matches!(ready(&slowly(HOME.into()), by), Ok(Ready { how: PreparedExecution::Stay, .. })));
            let passes = ArmMotionState { speed: JointVelocities([0.0, 0.2]), ..stands() };
            let passes = super::ready(slowly(HOME.into()), &moving(by), &passes).expect_err("it moves");
            assert!(passes.contains("still moving at 0.200 rad/s"), "{passes}");
            let line = ready(&slowly(MoveTarget::joints(to).linear()), by);
            match by {
                MotionExecutor::Law => assert!(line.is_err_and(|said| said.contains("session.path = \"player\""))),
                MotionExecutor::Controller => {
                    assert!(matches!(line, Ok(Ready { how: PreparedExecution::Give { .. }, .. })), "{line:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_beyond_a_limit_is_told_with_a_remedy_that_can_help() {
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            let refused = |wish: MotionRequest<2>| ready(&wish, &moving(by), &stands()).expect_err("no motion");
            let degrees = refused(file("degrees.csv", "0,0,1\n100,90,1\n"));
            assert!(degrees.ends_with("its limit is 6.283 rad. Are these degrees?"), "{degrees}");
            let fast = refused(file("faster.csv", "0,0,1\n1,3,1\n"));
            assert!(fast.contains("; give it more time there"), "{fast}");
            let mut narrow = moving(by);
            narrow.limits.position_max = JointPositions([0.5, 2.0]);
            let far = ready(&file("far.csv", "0,0,1\n100,0.6,1\n"), &narrow, &stands()).expect_err("too far");
            assert!(far.contains("limits.position_min") && !far.contains("more time"), "{far}");
            let place =
                MotionRequest::Place(MoveRequest::new(JointPositions([90.0, 0.0]).into(), Some(0.1), Some(0.1)));
            assert!(refused(place).ends_with(". Are these degrees?"));
        }
    }

    #[test]
    fn one_rule_says_how_near_the_arm_has_to_be_to_where_a_motion_begins() {
        let at = |off: f32| JointPositions([off, 1.0]);
        let path = |path| Tolerances { path: JointPositions([path; 2]), ..Tolerances::DEFAULT };
        for (off, tolerance, allowed) in
            [(0.0199, 0.2, true), (0.0201, 0.2, false), (0.0201, f32::INFINITY, false), (0.006, 0.005, false)]
        {
            let said = begins_beside(&at(off), &HOME, &path(tolerance));
            assert_eq!(said.is_none(), allowed, "{off} {tolerance}: {said:?}");
        }
        let said = begins_beside(&at(f32::NAN), &HOME, &Tolerances::DEFAULT).expect("nowhere");
        assert!(said.ends_with("or give the first waypoint a time > 0 s to start from the current pose"), "{said}");
    }
}
