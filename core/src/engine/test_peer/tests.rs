//! Tests of links that listen, messages in chunks and moves that the controller executes, in the whole engine.

use core::net::SocketAddr;

use proptest::prelude::*;

use super::*;
use crate::command::{JointMove, Limits, Samples};
use crate::engine::{Controller as _, Event, Input, LinkId, Output};
use crate::law::{Law, Motion, MotionStatus, Start};
use crate::mode::{Drive, Mirrored, Mode, MoveNumber, Transition};
use crate::recorder::Checkpoint;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use outrigger_wire::robot::{JointPositions, JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

const CYCLE: Duration = Duration::from_millis(8);
const FIRST: MoveNumber = MoveNumber::new(1).unwrap();
const ROBOT: &str = "10.0.2.2:40001";

/// A law that records the calls by the engine, and the speed that the law wants \[rad/s\].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Spy {
    calls: heapless::String<32>,
    speed: f32,
    /// The position of the first joint at which its motion begins, within 0.2 rad.
    begins: Option<f32>,
}

impl Spy {
    /// Records a call; consecutive steps count as one.
    fn call(&mut self, call: char) {
        if call != 's' || !self.calls.ends_with('s') {
            self.calls.push(call).unwrap();
        }
    }
}

impl Law<2> for Spy {
    fn arm(&mut self, start: &Start<'_, 2>) -> Result<(), Reason> {
        self.call(if start.resume { 'R' } else { 'A' });
        Ok(())
    }

    fn step(&mut self, _: &State<2>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<2>, Reason> {
        self.call('s');
        Ok(JointVelocities([self.speed, 0.0]))
    }

    fn suspend(&mut self) {
        self.call('|');
    }

    fn motion(&self) -> Option<&dyn Motion<2>> {
        Some(self)
    }
}

impl Motion<2> for Spy {
    fn begins_at(&self) -> Option<(JointPositions<2>, f32)> {
        let begins = self.begins.filter(|_| self.calls.is_empty())?;
        Some((JointPositions([begins, 0.0]), 0.2))
    }

    fn status(&self) -> MotionStatus {
        MotionStatus::default()
    }
}

impl Checkpoint for Spy {
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(self)
    }

    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        *self = from.take()?;
        Some(())
    }
}

struct Bench {
    engine: TestEngine<'static, Spy>,
    robot: Robot,
    now: Instant,
    /// The port that the engine listens on; `open` is `true` while a connection exists.
    listens: Option<u16>,
    open: bool,
    /// The size of the pieces in which states arrive; `fails_after` is the number of bytes that the next write takes
    /// before it fails.
    cut: usize,
    fails_after: Option<usize>,
    said: Vec<(Mode, Message)>,
    chunks: Vec<usize>,
    bytes: Vec<u8>,
    aborts: u32,
    events: Vec<Event<TestEvent>>,
}

impl Bench {
    fn new(config: TestConfig) -> Self {
        Self::with(config, Spy::default())
    }

    fn with(config: TestConfig, law: Spy) -> Self {
        let engine = TestEngine::new(config, law, ()).unwrap();
        #[cfg(feature = "record")]
        let engine = engine.with_recorder(Box::leak(vec![0; 1 << 20].into_boxed_slice()));
        let mut bench = Self {
            engine,
            robot: Robot::default(),
            now: Instant::from_micros(1_000_000),
            listens: None,
            open: false,
            cut: usize::MAX,
            fails_after: None,
            said: vec![],
            chunks: vec![],
            bytes: vec![],
            aborts: 0,
            events: vec![],
        };
        bench.give(Input::Start);
        bench
    }

    /// Returns a bench to which the robot has connected.
    fn connected(config: TestConfig) -> Self {
        let mut bench = Self::new(config);
        bench.connect(ROBOT);
        bench.run(300);
        assert_eq!(bench.engine.mode(), Mode::Monitor);
        bench
    }

    fn commanding() -> Self {
        let mut bench = Self::connected(TestConfig::default());
        bench.request();
        bench
    }

    fn request(&mut self) {
        let epoch = self.engine.mode_machine().epoch();
        self.give(Input::Request(epoch));
        self.run(110);
        assert_eq!(self.engine.mode(), Mode::Command, "{:?}", self.engine.unmet(self.now));
    }

    /// Returns a bench with a move of 0.5 rad that has started.
    fn running(tells_progress: bool) -> Self {
        let mut bench = Self::commanding();
        bench.robot.keeps_progress = tells_progress;
        assert_eq!(bench.delegate(0.5), Ok(FIRST));
        bench.run(50);
        assert_eq!(bench.engine.evidence().mirrored.map(|held| held.value), Some(Mirrored::Running(FIRST)));
        bench.said.clear();
        bench
    }

    fn delegate(&mut self, to: f32) -> Result<MoveNumber, Reason> {
        self.engine.delegate(JointMove::new(JointPositions([to, -0.1]), 0.2, 1.0).unwrap(), self.now)
    }

    fn connect(&mut self, from: &str) {
        let from: SocketAddr = from.parse().unwrap();
        assert!(self.listens.take().is_some(), "nobody listens");
        self.open = true;
        self.robot.reconnected();
        self.give(Input::Accepted(LinkId::CONTROL, from));
    }

    fn give(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            let mode = self.engine.mode();
            let mut closed = false;
            match self.engine.poll_output() {
                None => break,
                Some(Output::Listen { link: LinkId::CONTROL, port }) => self.listens = Some(port),
                Some(Output::Abort(_)) => {
                    (self.open, self.listens) = (false, None);
                    self.aborts += 1;
                }
                Some(Output::Transmit { link: LinkId::CONTROL, to: None, bytes }) => {
                    assert!(self.open, "said to nobody");
                    let whole = self.fails_after.is_none_or(|left| bytes.len() <= left);
                    let taken = &bytes[..bytes.len().min(self.fails_after.unwrap_or(usize::MAX))];
                    self.fails_after = self.fails_after.map(|left| left - taken.len());
                    self.chunks.push(taken.len());
                    self.bytes.extend(taken);
                    let said = &mut self.said;
                    self.robot.take(taken, |message| said.push((mode, message)));
                    if !whole {
                        (self.open, self.fails_after, closed) = (false, None, true);
                    }
                }
                Some(other) => panic!("{other:?}"),
            }
            if closed {
                self.engine.handle(self.now, Input::Closed(LinkId::CONTROL));
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.events.push(event);
        }
    }

    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(due) = self.engine.poll_timeout().filter(|due| *due <= until) {
            assert!(due > self.now, "spins on a deadline");
            self.now = due;
            self.give(Input::Tick);
        }
        self.now = until;
        self.give(Input::Tick);
    }

    /// Passes a cycle of the robot, whose state arrives in pieces.
    fn cycle(&mut self) {
        self.now = self.now + CYCLE;
        let state = self.robot.cycle(CYCLE);
        if !self.open {
            return self.give(Input::Tick);
        }
        for piece in state.chunks(self.cut.min(SHOWN_LEN)) {
            let window = self.engine.receive_window(LinkId::CONTROL);
            window[..piece.len()].copy_from_slice(piece);
            self.engine.commit(LinkId::CONTROL, piece.len(), self.now, self.now);
            self.drain();
        }
        self.give(Input::Tick);
    }

    fn run(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.cycle());
    }

    fn transitions(&self) -> Vec<Transition> {
        let transition = |event: &Event<TestEvent>| match event {
            Event::Transition(transition) => Some(*transition),
            _ => None,
        };
        self.events.iter().filter_map(transition).collect()
    }

    fn reasons(&self) -> Vec<Reason> {
        self.transitions().iter().filter_map(|transition| transition.reason).collect()
    }

    fn messages(&self) -> Vec<Message> {
        self.said.iter().map(|(_, message)| *message).collect()
    }

    fn ends(&self, mode: Mode, latch: Option<Reason>) {
        assert_eq!((self.engine.mode(), self.engine.latch()), (mode, latch), "{:?}", self.events);
    }
}

fn is_start(message: &Message) -> bool {
    matches!(message, Message::Start(..))
}

#[test]
fn a_request_away_from_where_the_law_begins_is_refused_and_nothing_is_armed() {
    for (begins, granted) in [(0.1, true), (-0.3, false), (f32::NAN, false)] {
        let mut bench = Bench::with(TestConfig::default(), Spy { begins: Some(begins), ..Spy::default() });
        bench.connect(ROBOT);
        bench.run(300);
        assert!(bench.engine.state().is_some_and(|state| state.positions.0[0].abs() < 1e-6));
        assert_eq!(bench.engine.unmet(bench.now).contains(Reason::PathTolerance), !granted, "{begins}");
        let epoch = bench.engine.mode_machine().epoch();
        bench.give(Input::Request(epoch));
        bench.run(110);
        let expected = if granted { (Mode::Command, "As") } else { (Mode::Monitor, "") };
        assert_eq!((bench.engine.mode(), bench.engine.law().calls.as_str()), expected, "{begins}");
        let armed = bench.transitions().iter().any(|transition| transition.to == Mode::Arming);
        assert_eq!(armed, granted, "{begins}");
    }
}

#[test]
fn whoever_is_not_the_robot_is_turned_away_and_the_robot_is_let_in() {
    let mut bench = Bench::new(TestConfig::default());
    assert_eq!(bench.listens, Some(50_002));
    for count in 1..=3 {
        bench.connect("10.0.2.9:40001");
        assert_eq!((bench.open, bench.listens, bench.aborts), (false, Some(50_002), count), "listens again");
        bench.run(10);
        assert_eq!(bench.events.pop(), Some(Event::Peer(TestEvent::Stranger(count))));
    }
    bench.connect("10.0.2.2:999");
    bench.run(10);
    assert_eq!((bench.open, bench.aborts, bench.engine.peer().status().strangers), (true, 3, 3));
    bench.ends(Mode::Monitor, None);
}

#[test]
fn a_port_that_cannot_be_listened_on_is_tried_again_after_a_second() {
    let mut bench = Bench::new(TestConfig::default());
    bench.listens = None;
    bench.give(Input::Refused(LinkId::CONTROL));
    bench.wait(Duration::from_millis(999));
    assert_eq!(bench.listens, None);
    bench.wait(Duration::from_millis(1));
    assert_eq!(bench.listens, Some(50_002));
}

#[test]
fn a_robot_that_connects_again_is_found_again_and_nothing_resumes() {
    let mut bench = Bench::commanding();
    bench.open = false;
    bench.give(Input::Closed(LinkId::CONTROL));
    bench.ends(Mode::Offline, Some(Reason::LinkClosed));
    bench.connect(ROBOT);
    bench.run(100);
    bench.ends(Mode::Monitor, Some(Reason::LinkClosed));
    // A robot that sends no more is disconnected, and may connect again.
    bench.wait(Duration::from_millis(1_001));
    assert_eq!((bench.open, bench.aborts, bench.listens), (false, 1, Some(50_002)));
    bench.connect(ROBOT);
    bench.run(100);
    bench.give(Input::Shutdown);
    assert!(bench.engine.is_finished() && !bench.open && bench.listens.is_none());
}

#[test]
fn a_move_is_begun_once_kept_alive_and_followed_by_the_law_only_when_asked() {
    let mut bench = Bench::commanding();
    assert_eq!(bench.engine.law().calls, "As");
    bench.said.clear();
    assert_eq!(bench.delegate(0.5), Ok(FIRST));
    assert_eq!(bench.engine.law().calls, "As|");
    bench.run(500);
    let said = bench.messages();
    let begun = said.iter().position(is_start).expect("a start");
    assert!(said[..begun].iter().all(|message| *message == Message::Hold), "zero velocity at first");
    assert_eq!(begun, 24, "200 ms of rest");
    assert!(said[begun + 1..].iter().all(|message| *message == Message::Keep), "then it is kept alive");
    assert_eq!(said.len(), 500, "each state has one answer");
    let Message::Start(1, [speed, acceleration], points) = said[begun] else { panic!("{:?}", said[begun]) };
    assert_eq!((speed, acceleration, points[7], points[15]), (0.2, 1.0, [0.25, -0.05], [0.5, -0.1]));
    assert_eq!(bench.engine.mode_machine().drive(), Drive::Delegated(FIRST));
    assert_eq!(bench.robot.shown().targets, [0.5, -0.1]);
    assert_eq!((bench.engine.law().calls.as_str(), bench.engine.commanded().max_abs()), ("As|", 0.0));

    // The next one is sent at once, and then the law moves the arm.
    assert_eq!(bench.delegate(0.0).map(MoveNumber::get), Ok(2));
    bench.said.clear();
    bench.run(1);
    assert!(is_start(&bench.messages()[0]));
    assert_eq!(bench.engine.stream(bench.now), Err(Reason::NotAtRest));
    bench.run(500);
    bench.engine.law_mut().speed = 0.1;
    assert_eq!(bench.engine.stream(bench.now), Ok(()));
    bench.said.clear();
    bench.run(100);
    assert_eq!(bench.engine.law().calls, "As|As");
    assert!(bench.messages().iter().all(|message| matches!(message, Message::Speeds(_))));
    assert!(bench.robot.shown().speeds[0] > 0.09);
    bench.ends(Mode::Command, None);
}

#[test]
fn the_law_does_not_go_on_after_a_move_with_what_was_resumed_before_it() {
    let mut bench = Bench::connected(TestConfig::default());
    let epoch = bench.engine.mode_machine().epoch();
    bench.give(Input::Resume(epoch));
    bench.run(110);
    assert_eq!(bench.engine.law().calls, "Rs");
    assert_eq!(bench.delegate(0.1), Ok(FIRST));
    bench.run(300);
    assert_eq!(bench.engine.stream(bench.now), Ok(()));
    bench.run(10);
    assert_eq!(bench.engine.law().calls, "Rs|As", "nobody has asked for that");
}

#[test]
fn a_move_that_the_limits_forbid_is_refused_and_nothing_changes() {
    let mut bench = Bench::commanding();
    let asked = |to, speed, acceleration| JointMove::new(JointPositions([to, 0.0]), speed, acceleration).unwrap();
    for (asked, reason) in [
        (asked(7.0, 0.1, 1.0), Reason::PositionLimit),
        (asked(0.5, 1.1, 1.0), Reason::VelocityLimit),
        (asked(0.5, 0.5, 2.1), Reason::AccelerationLimit),
    ] {
        assert_eq!(bench.engine.delegate(asked, bench.now), Err(reason));
    }
    bench.run(100);
    assert_eq!(bench.engine.mode_machine().drive(), Drive::Streamed);
    assert_eq!(bench.engine.law().calls, "As");
    // It does not start either if the limits have changed since.
    assert_eq!(bench.delegate(0.5), Ok(FIRST));
    bench.engine.cycle.set_limits(Limits { velocity: JointVelocities([0.1; 2]), ..Limits::default() });
    bench.said.clear();
    bench.run(24);
    assert!(bench.messages().iter().all(|message| *message == Message::Hold), "not yet");
    bench.run(1);
    assert_eq!(bench.reasons(), [Reason::VelocityLimit]);
    assert_eq!(bench.messages()[24..], [Message::Cancel(1)], "in place of the start, in the same cycle");
}

#[test]
fn a_move_is_refused_while_nothing_is_commanded_or_another_runs() {
    let mut bench = Bench::connected(TestConfig::default());
    assert_eq!(bench.delegate(0.5), Err(Reason::NotCommanding));
    let mut bench = Bench::running(true);
    assert_eq!(bench.delegate(0.1), Err(Reason::NotAtRest));
    bench.run(400);
    assert_eq!(bench.robot.shown().targets, [0.5, -0.1], "the course is still that of the first");
    bench.ends(Mode::Command, None);
}

#[test]
fn a_release_cancels_the_move_at_once_and_in_answer_to_each_state_until_it_has_ended() {
    let mut bench = Bench::running(true);
    bench.give(Input::Release);
    assert_eq!(bench.said, [(Mode::Stopping, Message::Cancel(1))]);
    bench.run(100);
    let said = bench.messages();
    let cancels = said.iter().take_while(|message| **message == Message::Cancel(1)).count();
    assert!((20..40).contains(&cancels), "0.2 rad/s at 1 rad/s²: {cancels}");
    assert!(said[cancels..].iter().all(|message| *message == Message::Keep), "{said:?}");
    assert!(bench.robot.shown().targets[0] < 0.4);
    bench.ends(Mode::Monitor, None);
}

#[test]
fn states_may_be_missing_for_200_ms_while_a_move_runs_and_not_longer() {
    for tells_progress in [true, false] {
        let mut bench = Bench::running(tells_progress);
        for millis in [50, 100, 190] {
            // The robot continues meanwhile, and reports it afterwards.
            for _ in 0..millis / 8 {
                let _ = bench.robot.cycle(CYCLE);
            }
            bench.wait(Duration::from_millis(millis / 8 * 8));
            bench.ends(Mode::Command, None);
            bench.run(10);
            bench.ends(Mode::Command, None);
        }
        bench.said.clear();
        bench.wait(Duration::from_millis(200));
        bench.ends(Mode::Command, None);
        bench.wait(Duration::from_millis(1));
        bench.ends(Mode::Stopping, Some(Reason::StateStale));
        assert_eq!(bench.messages(), [Message::Cancel(1)]);
        // No state shows that it slows down.
        bench.wait(Duration::from_millis(102));
        assert_eq!(bench.messages(), [Message::Cancel(1), Message::Stop]);
    }
    let mut bench = Bench::commanding();
    bench.wait(Duration::from_millis(50));
    bench.ends(Mode::Stopping, Some(Reason::StateStale));
}

#[test]
fn a_restarted_clock_and_a_lost_link_end_a_move_like_any_commanding() {
    let mut bench = Bench::running(true);
    bench.robot.shown_mut().micros = 0;
    bench.run(3);
    assert_eq!(bench.engine.latch(), Some(Reason::ClockJump));

    let mut bench = Bench::running(true);
    bench.open = false;
    bench.give(Input::Closed(LinkId::CONTROL));
    bench.ends(Mode::Offline, Some(Reason::LinkClosed));
    assert!(bench.engine.mode_machine().is_motion_unknown());
    bench.connect(ROBOT);
    bench.said.clear();
    bench.run(10);
    // The program still shows our move: one stop, which ends any program.
    assert!(bench.messages().contains(&Message::Stop), "{:?}", bench.messages());
    bench.run(100);
    assert!(!bench.engine.mode_machine().is_motion_unknown());
    bench.ends(Mode::Monitor, Some(Reason::LinkClosed));
}

#[test]
fn what_was_streamed_before_a_move_is_not_taken_for_ours_after_a_reconnect() {
    for delegated in [true, false] {
        let mut bench = Bench::commanding();
        bench.engine.law_mut().speed = 0.1;
        bench.run(100);
        bench.engine.law_mut().speed = 0.0;
        bench.run(100);
        if delegated {
            assert_eq!(bench.delegate(0.5), Ok(FIRST));
            bench.run(50);
        }
        bench.open = false;
        bench.give(Input::Closed(LinkId::CONTROL));
        // Another program moves the arm at that speed.
        bench.robot = Robot::default();
        let mut told = [0; message::LONGEST];
        let length = Message::Speeds([0.1, 0.0]).emit(&mut told);
        bench.robot.take(&told[..length], |_| ());
        bench.connect(ROBOT);
        bench.said.clear();
        bench.run(100);
        assert_eq!(bench.messages().contains(&Message::Stop), !delegated, "{:?}", bench.messages());
    }
}

#[test]
fn an_arm_that_leaves_the_plan_or_the_corridor_ends_the_move() {
    // A later position of the plan: off the plan, and inside the corridor.
    for (tells_progress, moved, reason) in [
        (true, [0.1, -0.02], Some(Reason::NotFollowing)),
        (false, [0.1, -0.02], None),
        (true, [0.0, 0.1], Some(Reason::NotFollowing)),
        (false, [0.0, 0.1], Some(Reason::NotFollowing)),
    ] {
        let mut bench = Bench::running(tells_progress);
        let mut shown = bench.robot.cycle(CYCLE);
        let mut off = Shown::from_bytes(&shown);
        off.targets.iter_mut().zip(moved).for_each(|(target, moved)| *target += moved);
        shown = off.to_bytes();
        bench.now = bench.now + CYCLE;
        bench.engine.receive_window(LinkId::CONTROL)[..SHOWN_LEN].copy_from_slice(&shown);
        bench.engine.commit(LinkId::CONTROL, SHOWN_LEN, bench.now, bench.now);
        bench.drain();
        assert_eq!(bench.engine.latch(), reason, "{tells_progress} {moved:?}");
    }
}

#[test]
fn a_pause_holds_the_move_and_the_program_that_stays_silent_loses_it() {
    let mut bench = Bench::running(true);
    bench.robot.shown_mut().paused = true;
    bench.run(500);
    bench.ends(Mode::Command, None);
    assert_eq!(bench.delegate(0.1), Err(Reason::NotAtRest));
    bench.robot.shown_mut().paused = false;
    bench.run(400);
    bench.ends(Mode::Command, None);
    assert_eq!(bench.robot.shown().targets, [0.5, -0.1]);

    // A pause that is not reported: the mirror is as old as the last sign of life.
    let mut bench = Bench::running(true);
    bench.robot.shown_mut().paused = true;
    let frozen = *bench.robot.shown();
    for _ in 0..20 {
        bench.now = bench.now + CYCLE;
        bench.robot.shown_mut().micros += CYCLE.as_micros();
        let state = Shown { micros: bench.robot.shown().micros, paused: false, speeds: [0.0; 2], ..frozen }.to_bytes();
        bench.engine.receive_window(LinkId::CONTROL)[..SHOWN_LEN].copy_from_slice(&state);
        bench.engine.commit(LinkId::CONTROL, SHOWN_LEN, bench.now, bench.now);
        bench.drain();
    }
    assert_eq!(bench.engine.latch(), Some(Reason::MoveUnseen));
}

#[test]
fn a_program_that_is_gone_and_a_stop_of_the_robots_own_end_the_move() {
    let mut bench = Bench::running(true);
    bench.robot.shown_mut().granted = false;
    bench.run(2);
    assert_eq!(bench.engine.latch(), Some(Reason::NotGranted));
    let mut bench = Bench::running(true);
    bench.robot.shown_mut().stopped = true;
    bench.run(2);
    assert_eq!(bench.engine.latch(), Some(Reason::ProtectiveStop));
    assert!(bench.messages().iter().all(|message| *message == Message::Cancel(1)), "no motion text");
}

#[test]
fn what_is_left_of_a_message_is_not_said_on_the_next_connection() {
    let mut bench = Bench::connected(TestConfig {
        peer: TestOptions { chunk: 40, ..TestConfig::default().peer },
        ..TestConfig::default()
    });
    bench.request();
    assert_eq!(bench.delegate(0.5), Ok(FIRST));
    // 143 bytes, of which the port takes 100: two chunks and a part of the third.
    for _ in 0..40 {
        if bench.open {
            (bench.fails_after, bench.chunks) = (Some(100), vec![]);
            bench.cycle();
        }
    }
    assert_eq!(bench.chunks, [40, 40, 20]);
    bench.ends(Mode::Offline, Some(Reason::LinkClosed));
    (bench.said, bench.bytes) = (vec![], vec![]);
    bench.connect(ROBOT);
    bench.run(60);
    let whole = bench.bytes.len();
    let said: usize = bench.messages().iter().map(|message| message.emit(&mut [0; message::LONGEST])).sum();
    assert_eq!(said, whole, "every byte belongs to a message");
    assert!(!bench.messages().iter().any(is_start), "a move is not begun twice");
}

/// Runs a move, a release and a fallback. Returns the bytes that were sent, and the transitions.
fn whole_run(chunk: u16, cut: usize) -> (Vec<u8>, Vec<Transition>, Bench) {
    let peer = TestOptions { chunk, ..TestConfig::default().peer };
    let mut bench = Bench::new(TestConfig { peer, ..TestConfig::default() });
    bench.cut = cut;
    bench.connect(ROBOT);
    bench.run(300);
    bench.request();
    assert_eq!(bench.delegate(0.3), Ok(FIRST));
    bench.run(80);
    bench.give(Input::Release);
    bench.run(100);
    bench.request();
    assert_eq!(bench.delegate(0.5).map(MoveNumber::get), Ok(2));
    bench.run(60);
    bench.robot.shown_mut().granted = false;
    bench.run(60);
    (bench.bytes.clone(), bench.transitions(), bench)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn however_messages_and_states_are_cut_the_same_is_said(chunk in 1_u16..200, cut in 1_usize..100) {
        let (bytes, transitions, _) = whole_run(u16::MAX, usize::MAX);
        let (other_bytes, other_transitions, bench) = whole_run(chunk, cut);
        prop_assert_eq!(&bytes, &other_bytes);
        prop_assert_eq!(transitions, other_transitions);
        prop_assert!(bench.chunks.iter().all(|length| *length <= usize::from(chunk)));
        prop_assert_eq!(bench.reasons(), [Reason::Released, Reason::Released, Reason::NotGranted, Reason::NotGranted]);
    }
}

#[cfg(feature = "record")]
#[test]
fn a_recording_with_moves_runs_again_to_the_same_bytes() {
    use crate::engine::{Replayed, replay};
    for (chunk, cut) in [(u16::MAX, usize::MAX), (7, 5)] {
        let (_, transitions, bench) = whole_run(chunk, cut);
        let mut dump = vec![0; 1024];
        let header = bench.engine.dump_header(&mut dump).unwrap();
        dump.truncate(header);
        bench.engine.recorder().halves().iter().for_each(|half| dump.extend_from_slice(half));
        dump.extend(bench.engine.dump_end(header));
        let replayed: Replayed = replay::<2, TestPeer, Spy>(&dump, Spy::default(), ()).unwrap();
        assert_eq!(replayed.transitions as usize, transitions.len());
        assert_eq!(replayed.texts as usize, bench.said.len());
    }
}
