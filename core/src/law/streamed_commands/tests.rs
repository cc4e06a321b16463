use super::*;
use outrigger_wire::robot::JointAccelerations;

const CYCLE: Duration = Duration::from_millis(8);
/// The validity of a command: five cycles.
const HOLDS: Duration = Forward::<6>::DRIVER_HOLDS;
const REACH: f32 = 0.2;

fn limits() -> Limits<6> {
    Limits { acceleration: JointAccelerations([3.0; 6]), ..Limits::default() }
}

fn speeds(first: f32) -> Forward<6> {
    Forward { what: Forwarded::Speeds(JointVelocities([first, 0.0, 0.0, 0.0, 0.0, -0.1])), holds: HOLDS }
}

fn positions(first: f32) -> Forward<6> {
    Forward { what: Forwarded::Positions(JointPositions([first, 0.0, 0.0, 0.0, 0.0, 0.0])), holds: HOLDS }
}

fn torques(first: f32) -> Forward<6> {
    Forward { what: Forwarded::Torques(JointTorques([first, 0.0, 0.0, 0.0, 0.0, -0.5])), holds: HOLDS }
}

/// Returns a state whose first joint has this position and speed.
fn state(at: f32, speed: f32) -> State<6> {
    let mut state = State::default();
    (state.positions.0[0], state.velocities.0[0]) = (at, speed);
    state
}

/// An event in the explored sequences of a stream of commands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happens {
    Sent(Forward<6>),
    /// A state this long after the last one, with this position and speed of the first joint.
    Seen(Duration, f32, f32),
    /// A state for which the law computes no step.
    Stood(Duration),
}

impl Happens {
    /// Returns the events to explore: every kind of command, valid or not, and every kind of state.
    fn all() -> Vec<Self> {
        let late = CYCLE.times(6);
        let seen = [(CYCLE, 0.0, 0.0), (CYCLE, 0.1, 0.5), (late, 0.1, 0.0)];
        let sent = [
            speeds(0.5),
            speeds(-1.0),
            speeds(1.01),
            speeds(f32::NAN),
            positions(0.1),
            positions(0.21),
            positions(-7.0),
            positions(f32::INFINITY),
            Forward { holds: Duration::from_millis(201), ..speeds(0.5) },
            torques(3.0),
            Forward { holds: Duration::from_millis(1), ..torques(3.0) },
        ];
        let seen = seen.map(|(dt, at, speed)| Self::Seen(dt, at, speed));
        sent.map(Self::Sent).into_iter().chain(seen).chain([CYCLE, late].map(Self::Stood)).collect()
    }
}

/// The expected behaviour of a stream, derived from the events alone.
#[derive(Clone, Copy)]
struct Expected {
    /// The newest accepted command, and its age at the last state.
    newest: Option<(Forwarded<6>, Option<Duration>)>,
}

impl Expected {
    fn grows(&mut self, dt: Duration) -> Option<(Forwarded<6>, bool)> {
        let (what, age) = self.newest.as_mut()?;
        let now = age.map_or(Duration::ZERO, |age| age + dt);
        *age = Some(now);
        Some((*what, now < HOLDS))
    }
}

/// Applies one more event to the tested stream, and asserts that its output and its stage are those expected.
fn live(stream: &mut Stream<6>, expected: &mut Expected, happens: Happens, told: &dyn Fn() -> String) {
    let before = *stream;
    match happens {
        Happens::Sent(forward) => {
            let taken = stream.take(&forward, &state(0.0, 0.0), &limits(), REACH);
            let sound = [speeds(0.5), speeds(-1.0), positions(0.1), torques(3.0)].contains(&forward);
            let other = match before.stage() {
                Forwarding::Idle => false,
                Forwarding::Speeds => !matches!(forward.what, Forwarded::Speeds(_)),
                Forwarding::Torques => !matches!(forward.what, Forwarded::Torques(_)),
                Forwarding::Lapsed => matches!(forward.what, Forwarded::Positions(_)),
                Forwarding::Positions => !matches!(forward.what, Forwarded::Positions(_)),
            };
            assert_eq!(taken.is_ok(), sound && !other, "{taken:?}: {}", told());
            if taken.is_ok() {
                expected.newest = Some((forward.what, None));
            } else {
                // The stream never contains NaN, which is not equal to itself.
                assert_eq!(*stream, before, "{}", told());
            }
        }
        Happens::Seen(dt, at, speed) => {
            let (lead, newest) = (stream.step(&state(at, speed), dt), expected.grows(dt));
            match (lead, before.stage()) {
                (Lead::Own, Forwarding::Idle) => {}
                (Lead::Speeds(wanted), Forwarding::Speeds) => {
                    let Some((Forwarded::Speeds(sent), holds)) = newest else { panic!("{}", told()) };
                    assert_eq!(wanted, if holds { sent } else { JointVelocities::ZERO }, "{}", told());
                    assert_eq!(stream.stage() == Forwarding::Speeds, holds, "{}", told());
                }
                (Lead::Speeds(wanted), Forwarding::Torques) => {
                    let Some((Forwarded::Torques(sent), holds)) = newest else { panic!("{}", told()) };
                    assert_eq!(wanted.0[0], if holds { speed } else { 0.0 }, "{}", told());
                    assert_eq!(stream.torques(), holds.then_some(&sent), "{}", told());
                    assert_eq!(stream.stage() == Forwarding::Torques, holds, "{}", told());
                }
                (Lead::Speeds(wanted), Forwarding::Lapsed) => {
                    assert_eq!((wanted, stream.stage()), (JointVelocities::ZERO, Forwarding::Lapsed), "{}", told());
                    assert_ne!(speed, 0.0, "{}", told());
                }
                (Lead::Positions(wanted, fastest), Forwarding::Positions) => {
                    assert_eq!(fastest, limits().velocity);
                    let Some((sent, holds)) = newest else { panic!("{}", told()) };
                    assert_eq!(Forwarded::Positions(wanted), sent, "{}", told());
                    let there = speed == 0.0 && at == 0.1;
                    assert_eq!(stream.stage() == Forwarding::Idle, !holds && there, "{}", told());
                }
                (Lead::Rests, Forwarding::Lapsed) => {
                    assert_eq!((stream.stage(), speed), (Forwarding::Idle, 0.0), "{}", told());
                }
                _ => panic!("{lead:?}: {}", told()),
            }
        }
        Happens::Stood(dt) => {
            stream.stand(dt);
            let holds = expected.grows(dt).is_some_and(|(_, holds)| holds);
            let then = match before.stage() {
                Forwarding::Speeds | Forwarding::Positions | Forwarding::Torques if !holds => Forwarding::Lapsed,
                stage => stage,
            };
            assert_eq!(stream.stage(), then, "{}", told());
        }
    }
}

fn explore(history: &mut Vec<Happens>, (stream, expected): (Stream<6>, Expected), all: &[Happens], depth: u32) {
    // Whatever happened before, an arm without further commands comes to rest, and the stream releases the arm then.
    let mut left = stream;
    for _ in 0..(HOLDS + ON_ITS_WAY).as_millis() / CYCLE.as_millis() + 3 {
        left.step(&state(0.0, 0.0), CYCLE);
    }
    assert_eq!(left.stage(), Forwarding::Idle, "{history:?}");
    if depth == 0 {
        return;
    }
    for happens in all {
        let (mut stream, mut expected) = (stream, expected);
        history.push(*happens);
        live(&mut stream, &mut expected, *happens, &|| format!("{history:?}"));
        explore(history, (stream, expected), all, depth - 1);
        history.pop();
    }
}

#[test]
fn in_every_order_of_events_only_the_newest_sound_command_counts_and_only_while_it_holds() {
    let all = Happens::all();
    explore(&mut vec![], (Stream::default(), Expected { newest: None }), &all, 4);
}

#[test]
fn speeds_hold_from_the_first_state_that_they_answer_to_their_time_out_and_not_a_cycle_longer() {
    let mut stream = Stream::default();
    stream.take(&speeds(0.5), &state(0.0, 0.0), &limits(), REACH).unwrap();
    for cycle in 0..20 {
        let wanted = if cycle < 5 { speeds(0.5).what } else { Forwarded::Speeds(JointVelocities::ZERO) };
        let Lead::Speeds(lead) = stream.step(&state(0.0, 0.3), CYCLE) else { panic!("cycle {cycle}") };
        assert_eq!(Forwarded::Speeds(lead), wanted, "cycle {cycle}");
    }
    assert_eq!(stream.stage(), Forwarding::Lapsed, "it moves");
    assert_eq!(stream.step(&state(0.0, 0.01), CYCLE), Lead::Rests);
    assert_eq!(stream.step(&state(0.0, 0.01), CYCLE), Lead::Own);
}

#[test]
fn a_stream_in_time_never_lapses_and_one_that_comes_back_goes_on_before_the_arm_rests() {
    let mut stream = Stream::default();
    for cycle in 0..100 {
        if cycle % 5 == 0 {
            stream.take(&speeds(0.5), &state(0.0, 0.5), &limits(), REACH).unwrap();
        }
        stream.step(&state(0.0, 0.5), CYCLE);
        assert_eq!(stream.stage(), Forwarding::Speeds, "cycle {cycle}");
    }
    for _ in 0..10 {
        stream.step(&state(0.0, 0.5), CYCLE);
    }
    assert_eq!(stream.stage(), Forwarding::Lapsed);
    assert_eq!(stream.take(&positions(0.1), &state(0.0, 0.5), &limits(), REACH), Err(ForwardError::OtherKind));
    stream.take(&speeds(-1.0), &state(0.0, 0.5), &limits(), REACH).unwrap();
    assert!(matches!(stream.step(&state(0.0, 0.5), CYCLE), Lead::Speeds(v) if v.0[0] == -1.0));
}

#[test]
fn an_arm_that_is_held_up_on_its_way_is_given_free_after_a_second_and_one_that_creeps_there_is_not() {
    let claimed = |speed: f32| {
        let mut stream = Stream::default();
        stream.take(&positions(0.1), &state(0.0, 0.0), &limits(), REACH).unwrap();
        let (mut cycles, mut last) = (0, Lead::Own);
        while stream.stage() == Forwarding::Positions && cycles < 1_000 {
            last = stream.step(&state(0.0, speed), CYCLE);
            cycles += 1;
        }
        (cycles, last == Lead::Rests)
    };
    let (cycles, held) = claimed(0.0);
    assert!((130..135).contains(&cycles) && held, "{cycles} cycles");
    assert_eq!(claimed(0.004).0, 1_000);
}

#[test]
fn a_refusal_says_which_joint_and_what_was_expected() {
    let said = |forward: Forward<6>| {
        let refused = Stream::default().take(&forward, &state(0.05, 0.0), &limits(), REACH).unwrap_err();
        (refused.name(), refused.to_string())
    };
    let own = |name: &'static str, text: &str| (name, text.to_owned());
    assert_eq!(said(speeds(-1.5)), own("Beyond", "joint 1 would reach -1.500 rad/s; its limit is -1.000 rad/s"));
    assert_eq!(said(positions(-6.5)), own("Beyond", "joint 1 would reach -6.500 rad; its limit is -6.283 rad"));
    assert_eq!(said(positions(0.5)), own("Far", "joint 1 is 0.450 rad from there, and 0.200 rad are allowed"));
    assert_eq!(said(positions(f32::NAN)), own("NotFinite", "a number is NaN or infinite"));
    let torques = |first, limits: Option<JointTorques<6>>| {
        let refused = torques(first).what.fits(limits.as_ref()).unwrap_err();
        (refused.name(), refused.to_string())
    };
    let limits = Some(JointTorques([5.0; 6]));
    assert_eq!(torques(5.5, limits), own("TorqueLimit", "joint 1 would get 5.500 Nm; its limit is 5.000 Nm"));
    assert_eq!(torques(-5.5, limits), own("TorqueLimit", "joint 1 would get -5.500 Nm; its limit is -5.000 Nm"));
    assert_eq!(torques(f32::INFINITY, limits), own("NotFinite", "a number is NaN or infinite"));
    let (name, text) = torques(f32::NAN, None);
    assert!(name == "NoTorques" && text.contains("reverse-torque"), "{text}");
    let brief = Forward { holds: Duration::from_millis(1), ..speeds(0.1) };
    assert_eq!(said(brief), own("Holds", "holds: expected 0.002 to 0.2 s"));
}
