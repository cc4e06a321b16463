//! Tests of the loop with in-memory sockets and a clock that only moves when every task waits.

mod accepted;

use crate::engine::ur::{LINKS, Ur, UrEngine, UrEvent};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::task::{Context, Waker};

use super::*;
use crate::engine::Endpoint;
use crate::engine::ur::rtde::{RtdeMemory, StateMemory};
use crate::engine::ur::{Memory, UrConfig};
use crate::law::{JointServo, JointServoConfig, Reference};
use crate::mode::{Epoch, Mode, PendantStop};
use crate::peer::Peer;
use embedded_io_async::{Read, Write};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};

/// The epoch of the first session.
const FIRST: Epoch = Epoch::from_number(1);

/// The surroundings of the tested control loop: the simulated controller, its connections, the clock, and a record.
struct World {
    micros: u64,
    next_cycle: u64,
    peer: Peer,
    /// The times until which tasks wait.
    sleepers: BTreeSet<u64>,
    open: [bool; LINKS.len()],
    refuse: bool,
    /// The highest number of bytes that a read returns.
    read_most: usize,
    /// `true` if writes never complete.
    write_blocked: bool,
    /// The time that one write takes \[µs\].
    write_takes: u64,
    /// `true` if the engine gets memory for RTDE.
    rtde: bool,
    /// The reported times from reading a robot state until the command that answers it was written.
    turnarounds: Vec<Duration>,
    inputs: Vec<(u64, Input)>,
    events: Vec<Event<UrEvent>>,
    modes: Vec<Mode>,
    /// The number of sent bytes that the controller does not acknowledge.
    unacked: u32,
    /// The loop's calls of the application, one letter for each: `n` if `next` returned an input, `h` for
    /// `handed_over`, `o` for `observe`.
    calls: String,
}

type Shared = Rc<RefCell<World>>;

struct MemClock(Shared);
struct MemSocket(Shared, LinkId);
struct MemNet(MemClock, [MemSocket; LINKS.len()]);
struct Desk(Shared);

impl Clock for MemClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.borrow().micros)
    }

    async fn sleep_until(&self, at: Instant) {
        poll_fn(|_| {
            let mut world = self.0.borrow_mut();
            if world.micros >= at.as_micros() {
                return Poll::Ready(());
            }
            world.sleepers.insert(at.as_micros());
            Poll::Pending
        })
        .await;
    }
}

impl embedded_io_async::ErrorType for MemSocket {
    type Error = embedded_io_async::ErrorKind;
}

impl Read for MemSocket {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
        poll_fn(|_| {
            let mut world = self.0.borrow_mut();
            if !world.open[self.1.index()] {
                return Poll::Ready(Ok(0));
            }
            let most = buf.len().min(world.read_most);
            let bytes = world.peer.read(self.1, most);
            if bytes.is_empty() {
                return Poll::Pending;
            }
            buf[..bytes.len()].copy_from_slice(&bytes);
            Poll::Ready(Ok(bytes.len()))
        })
        .await
    }
}

impl Write for MemSocket {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Self::Error> {
        if self.0.borrow().write_blocked {
            pending::<()>().await;
        }
        let mut world = self.0.borrow_mut();
        world.micros += world.write_takes;
        world.peer.write(self.1, buf);
        Ok(buf.len())
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl Socket for MemSocket {
    fn open(&mut self, _: Endpoint) {}

    async fn opened(&mut self) -> bool {
        let mut world = self.0.borrow_mut();
        if world.refuse {
            return false;
        }
        world.open[self.1.index()] = true;
        world.peer.open(self.1);
        true
    }

    fn abort(&mut self) {
        let mut world = self.0.borrow_mut();
        world.open[self.1.index()] = false;
        world.peer.close(self.1);
    }

    fn unacked(&mut self, _: Instant) -> Unacked {
        Unacked { bytes: self.0.borrow().unacked, ..Unacked::default() }
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

impl<'m, L: Law<6>> Application<6, Ur<'m>, L> for Desk {
    async fn next(&mut self) -> Input {
        poll_fn(|_| {
            let mut world = self.0.borrow_mut();
            match world.inputs.first() {
                Some((at, input)) if *at <= world.micros => {
                    let input = *input;
                    world.inputs.remove(0);
                    world.calls.push('n');
                    Poll::Ready(input)
                }
                Some((at, _)) => {
                    let at = *at;
                    world.sleepers.insert(at);
                    Poll::Pending
                }
                None => Poll::Pending,
            }
        })
        .await
    }

    fn handed_over(&mut self) {
        self.0.borrow_mut().calls.push('h');
    }

    fn event(&mut self, event: Event<UrEvent>) {
        self.0.borrow_mut().events.push(event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.0.borrow_mut().turnarounds.push(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, L>, _: Instant) {
        let mut world = self.0.borrow_mut();
        world.calls.push('o');
        if world.modes.last() != Some(&engine.mode()) {
            world.modes.push(engine.mode());
        }
    }
}

fn world(inputs: &[(u64, Input)]) -> Shared {
    let millis = |(at, input): &(u64, Input)| (*at * 1_000, *input);
    Rc::new(RefCell::new(World {
        micros: 0,
        next_cycle: 0,
        peer: Peer::new(SoftwareVersion::new(5, 15)),
        sleepers: BTreeSet::new(),
        open: [false; LINKS.len()],
        refuse: false,
        read_most: usize::MAX,
        write_blocked: false,
        write_takes: 0,
        rtde: false,
        turnarounds: Vec::new(),
        inputs: inputs.iter().map(millis).collect(),
        events: Vec::new(),
        modes: Vec::new(),
        unacked: 0,
        calls: String::new(),
    }))
}

/// Runs the tested control loop until it ends, or until `millis`. Returns `true` if it ended.
fn run(world: &Shared, millis: u64) -> bool {
    let (mut primary, mut realtime) = (vec![0; 4096], vec![0; 8192]);
    let mut room = RtdeMemory::<'_, 4096>::new();
    let rtde: Option<&mut dyn StateMemory<'_>> = if world.borrow().rtde { Some(&mut room) } else { None };
    let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde };
    let law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let mut config = UrConfig::default();
    // Some of these controllers have states only by 30003.
    config.mode.pendant.stop = PendantStop::Overridden;
    let mut engine = UrEngine::new(config, law, memory).unwrap();
    let sockets = LINKS.map(|link| MemSocket(world.clone(), link));
    let mut net = MemNet(MemClock(world.clone()), sockets);
    let mut desk = Desk(world.clone());
    let mut looping = pin!(drive(&mut net, &mut engine, &mut desk, Duration::from_millis(10)));
    let mut context = Context::from_waker(Waker::noop());
    while world.borrow().micros < millis * 1_000 {
        world.borrow_mut().sleepers.clear();
        if looping.as_mut().poll(&mut context).is_ready() {
            return true;
        }
        let mut world = world.borrow_mut();
        let wake = world.sleepers.first().copied().unwrap_or(u64::MAX).min(world.next_cycle);
        world.micros = world.micros.max(wake);
        if world.micros >= world.next_cycle {
            world.next_cycle += world.peer.period();
            world.peer.cycle();
        }
    }
    false
}

/// Returns the URScript programs that the simulated controller has received completely, in order.
fn programs(world: &Shared) -> Vec<String> {
    world.borrow().peer.programs.clone()
}

#[test]
fn the_loop_connects_commands_on_request_and_ends_at_rest_after_shutdown() {
    let world = world(&[(1_500, Input::Request(FIRST)), (3_000, Input::Shutdown)]);
    assert!(run(&world, 6_000), "the loop ends once the arm is at rest");
    assert_eq!(
        world.borrow().modes,
        [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping, Mode::Offline]
    );
    let programs = programs(&world);
    assert!(programs.len() > 500, "one command per state, {} came", programs.len());
    assert!(programs.last().unwrap().starts_with("stopj("));
    assert_eq!(world.borrow().open, [false; LINKS.len()]);
}

#[test]
fn reads_of_a_few_bytes_lose_nothing() {
    let whole = world(&[(1_500, Input::Request(FIRST))]);
    run(&whole, 2_500);
    let pieces = world(&[(1_500, Input::Request(FIRST))]);
    pieces.borrow_mut().read_most = 7;
    run(&pieces, 2_500);
    assert!(whole.borrow().modes.contains(&Mode::Command));
    assert_eq!(programs(&whole), programs(&pieces));
    assert_eq!(whole.borrow().modes, pieces.borrow().modes);
}

#[test]
fn samples_that_always_wait_do_not_starve_the_link() {
    let sample = |seq| Sample { source: SourceId(1), value: SampleValue::scalar(0.0), seq, taken_at: Instant::ZERO };
    let mut inputs: Vec<_> = (0..3_000).map(|seq| (0, Input::Sample(sample(seq)))).collect();
    inputs.push((1_500, Input::Request(FIRST)));
    let world = world(&inputs);
    run(&world, 2_500);
    assert!(world.borrow().modes.contains(&Mode::Command));
}

#[test]
fn a_turnaround_is_that_of_the_state_which_caused_the_text_whichever_link_it_came_by() {
    for rtde in [false, true] {
        let world = world(&[(2_500, Input::Request(FIRST)), (5_000, Input::Release)]);
        (world.borrow_mut().rtde, world.borrow_mut().write_takes) = (rtde, 70);
        run(&world, 6_000);
        let world = world.borrow();
        assert!(world.modes.contains(&Mode::Command) && world.open[LinkId::RTDE.index()] == rtde, "{:?}", world.modes);
        let texts = world.peer.programs.len();
        assert!(world.turnarounds.len().abs_diff(texts) <= 1 && texts > 500, "each text but a stop answers a state");
        // Packets of 30003 arrive between the states of RTDE and are not answered.
        let wrong: Vec<_> = world.turnarounds.iter().filter(|span| span.as_micros() != 70).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn what_follows_the_handing_over_comes_of_that_input_whatever_was_drained_before() {
    for (unacked, expected) in [(0, "nho"), (7, "noho")] {
        let world = world(&[(1_000, Input::Release), (1_100, Input::Release)]);
        world.borrow_mut().unacked = unacked;
        run(&world, 1_500);
        let world = world.borrow();
        assert_eq!(world.calls.matches(expected).count(), 2, "{}", world.calls);
        assert_eq!(world.calls.matches('h').count(), 2);
    }
}

#[test]
fn a_refused_connection_is_tried_again() {
    let world = world(&[]);
    world.borrow_mut().refuse = true;
    run(&world, 2_000);
    assert_eq!(world.borrow().modes, [Mode::Offline]);
    world.borrow_mut().refuse = false;
    run(&world, 20_000);
    assert!(world.borrow().modes.contains(&Mode::Monitor));
}

#[test]
fn a_write_that_does_not_end_costs_the_connection_and_not_the_loop() {
    let world = world(&[(1_500, Input::Request(FIRST))]);
    world.borrow_mut().write_blocked = true;
    run(&world, 4_000);
    assert!(programs(&world).is_empty());
    assert!(!world.borrow().modes.contains(&Mode::Command));
    let reopened =
        world.borrow().events.iter().filter(|e| matches!(e, Event::Peer(UrEvent::Opened(LinkId::REALTIME)))).count();
    assert!(reopened > 1, "the session begins anew");
}

#[test]
fn local_control_is_never_commanded() {
    let world = world(&[(1_500, Input::Request(FIRST))]);
    world.borrow_mut().peer.local = true;
    run(&world, 15_000);
    let world = world.borrow();
    assert!(world.modes.contains(&Mode::Arming) && !world.modes.contains(&Mode::Command));
}

#[test]
fn a_protective_stop_or_another_program_is_not_armed_over() {
    let touches: [fn(&mut Peer); 2] = [|peer| peer.safety = 3, |peer| peer.foreign = true];
    for touch in touches {
        let world = world(&[(1_500, Input::Request(FIRST))]);
        touch(&mut world.borrow_mut().peer);
        run(&world, 3_000);
        assert!(!world.borrow().modes.contains(&Mode::Arming));
        assert!(programs(&world).is_empty());
    }
}
