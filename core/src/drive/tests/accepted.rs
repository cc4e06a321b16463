//! Tests of the loop with a robot that connects to us: accepted connections, messages in chunks, moves that the robot
//! executes.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::task::{Context, Waker};

use proptest::prelude::*;

use embedded_io_async::{Read, Write};

use super::super::*;
use crate::command::JointMove;
use crate::engine::Endpoint;
use crate::engine::test_peer::{Message, Robot, TestConfig, TestEngine, TestEvent, TestOptions, TestPeer, TestStatus};
use crate::law::{JointServo, JointServoConfig, Reference};
use crate::mode::{Epoch, Mode};
use outrigger_wire::robot::JointPositions;

const CYCLE: Duration = Duration::from_millis(8);
const ROBOT: &str = "10.0.2.2:40001";
const STRANGER: &str = "10.0.2.9:40001";

/// The surroundings of the tested control loop, whose robot connects to it: the robot, its connection, and the clock.
struct World {
    micros: u64,
    next_cycle: u64,
    robot: Robot,
    sleepers: BTreeSet<u64>,
    /// The next connections: the time and the address of each.
    knocks: VecDeque<(u64, &'static str)>,
    listens: Option<u16>,
    open: bool,
    /// Bytes on their way to us.
    incoming: VecDeque<u8>,
    read_most: usize,
    write_most: usize,
    /// `true` if listening fails.
    refuse: bool,
    /// The number of bytes that are taken before the socket takes no more.
    takes: Option<usize>,
    listened: u32,
    said: Vec<Message>,
    writes: Vec<usize>,
    inputs: VecDeque<(u64, Input)>,
    /// The times at which moves are requested \[µs\].
    moves: VecDeque<u64>,
    modes: Vec<Mode>,
    events: Vec<Event<TestEvent>>,
}

type Shared = Rc<RefCell<World>>;
struct MemClock(Shared);
struct MemSocket(Shared);
struct MemNet(MemClock, [MemSocket; 1]);
struct Desk(Shared);

impl Clock for MemClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.borrow().micros)
    }

    async fn sleep_until(&self, at: Instant) {
        poll_fn(|_| self.0.borrow_mut().is_due(at.as_micros())).await;
    }
}

impl World {
    fn is_due(&mut self, at: u64) -> Poll<()> {
        if at <= self.micros {
            return Poll::Ready(());
        }
        self.sleepers.insert(at);
        Poll::Pending
    }

    fn cycle(&mut self) {
        let state = self.robot.cycle(CYCLE);
        if self.open {
            self.incoming.extend(state);
        }
    }
}

impl embedded_io_async::ErrorType for MemSocket {
    type Error = embedded_io_async::ErrorKind;
}

impl Read for MemSocket {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
        poll_fn(|_| {
            let world = &mut *self.0.borrow_mut();
            assert!(world.open, "read from nobody");
            let count = buf.len().min(world.read_most).min(world.incoming.len());
            buf.iter_mut().zip(world.incoming.drain(..count)).for_each(|(to, from)| *to = from);
            if count == 0 { Poll::Pending } else { Poll::Ready(Ok(count)) }
        })
        .await
    }
}

impl Write for MemSocket {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error> {
        let count = {
            let world = &mut *self.0.borrow_mut();
            assert!(world.open, "written to nobody");
            let count = buf.len().min(world.write_most).min(world.takes.unwrap_or(usize::MAX));
            world.takes = world.takes.map(|left| left - count);
            world.robot.take(&buf[..count], |message| world.said.push(message));
            world.writes.push(count);
            count
        };
        if count == 0 { pending().await } else { Ok(count) }
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl Socket for MemSocket {
    fn open(&mut self, _: Endpoint) {
        unreachable!("the robot connects");
    }

    async fn opened(&mut self) -> bool {
        unreachable!("the robot connects");
    }

    fn listen(&mut self, port: u16) {
        let world = &mut *self.0.borrow_mut();
        assert!(!world.open, "one connection at a time");
        world.listens = Some(port);
        world.listened += 1;
    }

    async fn accepted(&mut self) -> Option<SocketAddr> {
        poll_fn(|_| {
            let world = &mut *self.0.borrow_mut();
            assert!(world.listens.is_some(), "waits where nobody listens");
            if world.refuse {
                world.listens = None;
                return Poll::Ready(None);
            }
            let Some((at, from)) = world.knocks.front().copied() else { return Poll::Pending };
            world.is_due(at).map(|()| {
                world.knocks.pop_front();
                (world.open, world.listens) = (true, None);
                world.incoming.clear();
                world.robot.reconnected();
                Some(from.parse().unwrap())
            })
        })
        .await
    }

    fn abort(&mut self) {
        let world = &mut *self.0.borrow_mut();
        (world.open, world.listens) = (false, None);
    }

    fn unacked(&mut self, _: Instant) -> Unacked {
        Unacked::default()
    }
}

impl Net for MemNet {
    type Clock = MemClock;
    type Socket = MemSocket;
    type Datagrams = ();

    fn split(&mut self) -> (&MemClock, Sockets<'_, MemSocket, ()>) {
        (&self.0, Sockets { streams: &mut self.1, datagrams: None })
    }
}

impl<L: Law<2>> Application<2, TestPeer, L> for Desk {
    async fn next(&mut self) -> Input {
        poll_fn(|_| {
            let world = &mut *self.0.borrow_mut();
            let Some((at, input)) = world.inputs.front().copied() else { return Poll::Pending };
            world.is_due(at).map(|()| {
                world.inputs.pop_front();
                input
            })
        })
        .await
    }

    fn event(&mut self, event: Event<TestEvent>) {
        self.0.borrow_mut().events.push(event);
    }

    fn observe(&mut self, engine: &mut TestEngine<'_, L>, now: Instant) {
        let world = &mut *self.0.borrow_mut();
        if world.modes.last() != Some(&engine.mode()) {
            world.modes.push(engine.mode());
        }
        if world.moves.front().is_some_and(|at| *at <= world.micros) {
            world.moves.pop_front();
            let asked = JointMove::new(JointPositions([0.2, -0.1]), 0.2, 1.0).unwrap();
            engine.delegate(asked, now).unwrap();
        }
    }
}

/// Returns surroundings in which the robot connects at once, commanding is requested at 3 s, a move at 5 s, and the end
/// of the loop at 8 s.
fn world() -> Shared {
    Rc::new(RefCell::new(World {
        micros: 0,
        next_cycle: 0,
        robot: Robot::default(),
        sleepers: BTreeSet::new(),
        knocks: VecDeque::from([(0, ROBOT)]),
        listens: None,
        open: false,
        incoming: VecDeque::new(),
        read_most: usize::MAX,
        write_most: usize::MAX,
        refuse: false,
        takes: None,
        listened: 0,
        said: vec![],
        writes: vec![],
        inputs: VecDeque::from([
            (3_001_000, Input::Request(Epoch::from_number(1))),
            // Between two states, so that a move is requested before the same state in every variant.
            (5_001_000, Input::Tick),
            (8_001_000, Input::Shutdown),
        ]),
        moves: VecDeque::from([5_001_000]),
        modes: vec![],
        events: vec![],
    }))
}

/// Runs the tested control loop until it ends, or until `until` \[µs\]. Returns whether it ended, and the status with
/// the number of connections that were closed because another address made them.
fn run(world: &Shared, chunk: u16, until: u64) -> (bool, TestStatus) {
    let config = TestConfig { peer: TestOptions { chunk, ..TestConfig::default().peer }, ..TestConfig::default() };
    let law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let mut engine = TestEngine::new(config, law, ()).unwrap();
    let mut net = MemNet(MemClock(world.clone()), [MemSocket(world.clone())]);
    let mut desk = Desk(world.clone());
    let ended = {
        let mut looping = pin!(drive(&mut net, &mut engine, &mut desk, Duration::from_millis(10)));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            world.borrow_mut().sleepers.clear();
            if looping.as_mut().poll(&mut context).is_ready() {
                break true;
            }
            let world = &mut *world.borrow_mut();
            if world.micros >= until {
                break false;
            }
            let wake = world.sleepers.first().copied().unwrap_or(u64::MAX).min(world.next_cycle);
            world.micros = world.micros.max(wake);
            if world.micros >= world.next_cycle {
                world.next_cycle += CYCLE.as_micros();
                world.cycle();
            }
        }
    };
    (ended, engine.peer().status())
}

#[test]
fn a_stranger_is_turned_away_and_the_robot_commanded_until_the_end() {
    let world = world();
    world.borrow_mut().knocks = VecDeque::from([(0, STRANGER), (100_000, STRANGER), (200_000, ROBOT)]);
    let (ended, status) = run(&world, 40, 20_000_000);
    let world = world.borrow();
    assert!(ended && !world.open && world.listens.is_none());
    assert_eq!((status.strangers, world.listened), (2, 3));
    assert_eq!(world.modes, [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping, Mode::Offline]);
    let starts = world.said.iter().filter(|message| matches!(message, Message::Start(..))).count();
    let keeps = world.said.iter().filter(|message| **message == Message::Keep).count();
    assert!(starts == 1 && keeps > 300, "{starts} {keeps}");
    assert!(
        matches!(world.said.last(), Some(Message::Cancel(1) | Message::Stop | Message::Keep)),
        "{:?}",
        world.said.last()
    );
    assert_eq!(world.robot.shown().targets, [0.2, -0.1]);
}

#[test]
fn a_port_that_cannot_be_had_is_tried_again_each_second() {
    let world = world();
    world.borrow_mut().refuse = true;
    let _ = run(&world, 40, 2_500_000);
    assert_eq!((world.borrow().listened, world.borrow().modes.as_slice()), (3, &[Mode::Offline][..]));
}

#[test]
fn a_message_that_is_not_taken_whole_costs_the_connection_and_the_robot_may_come_again() {
    let rehearsal = world();
    let _ = run(&rehearsal, u16::MAX, 6_000_000);
    let start = rehearsal.borrow().writes.iter().position(|length| *length > 100).unwrap();
    let before: usize = rehearsal.borrow().writes[..start].iter().sum();
    let world = world();
    world.borrow_mut().takes = Some(before + 90);
    let _ = run(&world, 40, 6_000_000);
    assert_eq!((world.borrow().open, world.borrow().listens), (false, Some(50_002)));
    let last = world.borrow().writes.len();
    assert_eq!(world.borrow().writes[last - 4..], [40, 40, 10, 0]);
    assert!(world.borrow().modes.ends_with(&[Mode::Command, Mode::Offline]));
    assert!(!world.borrow().said.iter().any(|message| matches!(message, Message::Start(..))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn however_bytes_are_cut_the_robot_is_told_the_same(chunk in 1_u16..200, read in 1_usize..100, write in 1_usize..100) {
        let whole = world();
        prop_assert!(run(&whole, u16::MAX, 20_000_000).0);
        let cut = world();
        (cut.borrow_mut().read_most, cut.borrow_mut().write_most) = (read, write);
        prop_assert!(run(&cut, chunk, 20_000_000).0);
        prop_assert_eq!(&whole.borrow().said, &cut.borrow().said);
        prop_assert_eq!(&whole.borrow().modes, &cut.borrow().modes);
    }
}
