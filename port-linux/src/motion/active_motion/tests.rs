//! Tests requested motions with an engine and an ideal arm in virtual time: who may start one, and what ends it.

use outrigger_core::command::Samples;
use outrigger_core::engine::ur::{LINKS, Memory, UrConfig, UrEngine};
use outrigger_core::engine::{Input, Output};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::PendantStop;
use outrigger_core::recorder::Checkpoint;
use outrigger_tests::scripted::Peer as Robot;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion, State};

use super::*;
use crate::motion::requested_motion::{ArmMotionState, MotionExecutor, MotionRequest, Moving, RejectedMotions, ready};

/// Creates the law of a run that waits for motions.
fn hold() -> AnyLaw<6> {
    AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()))
}

/// A law that follows no positions.
struct Still;

impl Checkpoint for Still {}

impl Law<6> for Still {
    fn step(&mut self, _: &State<6>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
        Ok(JointVelocities::ZERO)
    }
}

/// The time between two states.
const CYCLE: Duration = Duration::from_millis(2);

struct Session<L: Law<6>> {
    engine: UrEngine<'static, L>,
    robot: Robot,
    under_way: ActiveMotion<6>,
    now: Instant,
}

impl<L: Law<6>> Session<L> {
    /// Creates a session that may be commanded.
    fn monitoring(law: L) -> Self {
        let room = || -> &'static mut [u8] { vec![0; 2_048].leak() };
        let memory = Memory { primary: room(), realtime: room(), rtde: None };
        let mut config = UrConfig::default();
        config.mode.pendant.stop = PendantStop::Overridden;
        let engine = UrEngine::new(config, law, memory).expect("an engine");
        let robot = Robot::new(SoftwareVersion::new(5, 15));
        let mut session = Self { engine, robot, under_way: ActiveMotion::new(None), now: Instant::ZERO };
        session.input(Input::Start);
        session.run_until_ready();
        session
    }

    fn commanding(law: L) -> Self {
        let mut session = Self::monitoring(law);
        session.input(Input::Request(session.engine.mode_machine().epoch()));
        session.run_until(|session| session.engine.mode() == Mode::Command);
        session
    }

    fn run_until_ready(&mut self) {
        self.run_until(|session| {
            session.engine.mode() == Mode::Monitor && session.engine.unmet(session.now).is_empty()
        });
    }

    fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            if done(self) {
                return;
            }
            self.cycle();
        }
        panic!("still {:?}, {:?}", self.engine.mode(), self.under_way.standing());
    }

    /// Handles one state of the robot.
    fn cycle(&mut self) {
        self.now = self.now + CYCLE;
        self.robot.cycle();
        for link in LINKS {
            loop {
                let room = self.engine.receive_window(link).len();
                let bytes = self.robot.read(link, room);
                if bytes.is_empty() {
                    break;
                }
                self.engine.receive_window(link)[..bytes.len()].copy_from_slice(&bytes);
                self.engine.commit(link, bytes.len(), self.now, self.now);
                self.drain();
            }
        }
        self.input(Input::Tick);
    }

    fn input(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        let mut opened = vec![];
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Open { link, .. } => opened.push(link),
                Output::Abort(link) => self.robot.close(link),
                Output::Listen { .. } => unreachable!("text goes out by the robot's own ports"),
                Output::Transmit { link, bytes, .. } => self.robot.write(link, bytes),
            }
        }
        while self.engine.poll_event().is_some() {}
        self.under_way.observe(&mut self.engine, self.now);
        for link in opened {
            self.robot.open(link);
            self.input(Input::Opened(link));
        }
    }

    /// Requests a motion of joint 1 to this angle \[rad\].
    fn ask(&mut self, asker: u32, angle: f64) -> Result<u32, MotionRefusal> {
        let [_, rest @ ..] = self.robot.q.map(|q| format!("{q:.6}"));
        let wish = MotionRequest::<6>::of(&format!("q={angle},{} speed=0.5", rest.join(","))).expect("a place");
        let at = self.engine.state().map(|state| state.positions);
        let stands = ArmMotionState { at, cycle: Some(CYCLE), ..ArmMotionState::default() };
        let moving =
            Moving { limits: UrConfig::default().limits, by: MotionExecutor::Law, refuses: RejectedMotions::default() };
        let motion = ready(wish, &moving, &stands).expect("a motion");
        self.under_way.begin(motion, ClientNumber(asker), &mut self.engine)
    }

    /// Requests a motion of joint 1 to this angle \[rad\], and runs until more than a tenth of it is done.
    fn is_on_its_way(&mut self, asker: u32, angle: f64) {
        self.ask(asker, angle).expect("it begins");
        self.run_until(|session| session.under_way.standing().is_some_and(|standing| standing.percent > 10));
    }

    fn run_until_it_is(&mut self, stage: MotionStage) {
        self.run_until(|session| session.under_way.standing().is_some_and(|standing| standing.stage == stage));
    }
}

#[test]
fn a_motion_that_is_asked_for_is_made_and_nobody_elses_meanwhile() {
    let mut session = Session::commanding(hold());
    assert_eq!(session.under_way.cancel(&mut session.engine, session.now), Err(MotionRefusal::Nothing));
    assert_eq!(session.ask(1, 0.3), Ok(1));
    session.run_until_it_is(MotionStage::Runs);
    assert!(matches!(session.ask(2, -0.2), Err(MotionRefusal::Busy(MotionReport { number: 1, .. }))));
    session.run_until_it_is(MotionStage::Done);
    assert!((session.robot.q[0] - 0.3).abs() < 5e-3, "{}", session.robot.q[0]);
    assert_eq!(session.under_way.standing().map(|standing| standing.percent), Some(100));
    assert_eq!(session.engine.mode(), Mode::Command);
    assert_eq!(session.ask(2, -0.2), Ok(2));
    session.run_until_it_is(MotionStage::Done);
    assert!((session.robot.q[0] + 0.2).abs() < 5e-3, "{}", session.robot.q[0]);
}

#[test]
fn none_is_begun_while_nothing_is_commanded() {
    let mut session = Session::monitoring(hold());
    assert_eq!(session.ask(1, 0.3), Err(MotionRefusal::Reason(Reason::NotCommanding)));
    assert_eq!(session.under_way.standing(), None);
}

#[test]
fn none_is_begun_by_a_law_that_follows_no_joints_and_commanding_goes_on() {
    let mut session = Session::commanding(Still);
    let against = session.ask(1, 0.3).expect_err("nothing follows it");
    assert_eq!((against, against.name()), (MotionRefusal::Law, "NoJointLaw"));
    session.cycle();
    assert_eq!((session.engine.mode(), session.under_way.standing()), (Mode::Command, None));
}

#[test]
fn it_ends_with_its_asker_or_by_a_word_of_anybody_and_the_arm_rests_and_stays_commanded() {
    for by_word in [false, true] {
        let mut session = Session::commanding(hold());
        session.is_on_its_way(1, 1.0);
        session.under_way.gone(ClientNumber(2), &mut session.engine, session.now);
        assert!(!session.under_way.is_cancelled(), "it is another's");
        if by_word {
            assert_eq!(session.under_way.cancel(&mut session.engine, session.now), Ok(()));
        } else {
            session.under_way.gone(ClientNumber(1), &mut session.engine, session.now);
        }
        session.run_until_it_is(MotionStage::Cancelled);
        session.run_until(|session| session.robot.qd.iter().all(|speed| speed.abs() < 1e-3));
        let at = session.robot.q[0];
        assert!((0.05..0.95).contains(&at) && session.engine.mode() == Mode::Command, "{by_word}: {at}");
        assert_eq!(session.ask(3, 0.0), Ok(2), "{by_word}");
        session.run_until_it_is(MotionStage::Done);
    }
}

#[test]
fn a_motion_that_a_release_suspends_goes_on_by_word_alone_whoever_asked_for_it() {
    let mut session = Session::commanding(hold());
    session.is_on_its_way(1, 1.0);
    session.input(Input::Release);
    session.run_until_it_is(MotionStage::Suspended);
    session.run_until_ready();
    session.under_way.gone(ClientNumber(1), &mut session.engine, session.now);
    let at = session.robot.q[0];
    for _ in 0..500 {
        session.cycle();
    }
    assert!((session.robot.q[0] - at).abs() < 1e-9 && at < 0.95, "{at}, then {}", session.robot.q[0]);
    session.input(Input::Resume(session.engine.mode_machine().epoch()));
    session.run_until_it_is(MotionStage::Done);
    assert!((session.robot.q[0] - 1.0).abs() < 5e-3, "{}", session.robot.q[0]);
}
