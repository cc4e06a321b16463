//! A bench of one engine with a scripted controller and one clock; it records the engine's events.

use outrigger_core::engine::ur::{LINKS, Memory, Ur, UrConfig, UrEngine, UrEvent};
use outrigger_core::engine::{Event, Input, LinkId, Output, ReplayError, Replayed, replay};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::PendantStop;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_tests::scripted::Peer;
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

pub(super) struct Bench {
    pub(super) engine: UrEngine<'static, JointServo<6>>,
    peer: Peer,
    pub(super) now: Instant,
    pub(super) events: Vec<Event<UrEvent>>,
    /// `true` while the network delivers no data.
    pub(super) stalled: bool,
    /// The links that the port has open at present.
    open: [bool; LINKS.len()],
    next_cycle: Instant,
}

fn leak(len: usize) -> &'static mut [u8] {
    Box::leak(vec![0; len].into_boxed_slice())
}

/// Returns a law that turns the base joint by 1 rad in 4 s and then holds it at rest.
fn turning() -> JointServo<6> {
    let at = |angle, seconds| {
        let mut positions = JointPositions::ZERO;
        positions.0[0] = angle;
        let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
        Waypoint { setpoint, accelerations: None, at: Duration::from_secs(seconds) }
    };
    let motion = Trajectory::through(&[at(0.0, 0), at(1.0, 4)]).expect("a motion");
    JointServo::new(Reference::Relative(motion), JointServoConfig::default())
}

/// Returns an engine for software 5.15 with states from port 30003 alone, with which a stop at the pendant cannot be
/// seen.
fn engine() -> UrEngine<'static, JointServo<6>> {
    let mut config = UrConfig::default();
    config.mode.pendant.stop = PendantStop::Overridden;
    let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde: None };
    UrEngine::new(config, turning(), memory).expect("a session")
}

impl Bench {
    /// Creates a bench whose recorder has `memory` bytes and keeps the recording of a fallback unchanged for `hold`.
    pub(super) fn keeping(memory: usize, hold: Duration) -> Self {
        Self::of(engine().with_recorder(leak(memory)).keeping_fallbacks(hold))
    }

    /// Creates a bench with a recorder in memory of twice `half` bytes, with the data that an earlier recorder left
    /// in each half.
    pub(super) fn after_a_reset(left: [&[u8]; 2], half: usize, hold: Duration) -> Self {
        let memory = leak(2 * half);
        memory.fill(0xff);
        for (place, left) in memory.chunks_mut(half).zip(left) {
            place[..left.len()].copy_from_slice(left);
        }
        Self::of(engine().with_earlier_recording(memory).keeping_fallbacks(hold))
    }

    fn of(engine: UrEngine<'static, JointServo<6>>) -> Self {
        Self {
            engine,
            peer: Peer::new(SoftwareVersion::new(5, 15)),
            now: Instant::ZERO,
            events: Vec::new(),
            stalled: false,
            open: [false; LINKS.len()],
            next_cycle: Instant::ZERO,
        }
    }

    /// Passes one input to the engine and processes its outputs and events.
    pub(super) fn input(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    /// Requests `Command`, as an operator does who sees the present epoch.
    pub(super) fn request(&mut self) {
        self.input(Input::Request(self.engine.mode_machine().epoch()));
    }

    /// Runs for this long: cycles of the controller and deadlines of the engine, each at its time.
    pub(super) fn run(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            let deadline = self.engine.poll_timeout().unwrap_or(end).max(self.now);
            self.now = deadline.min(self.next_cycle).min(end);
            if self.now >= self.next_cycle {
                self.next_cycle = self.next_cycle + Duration::from_micros(self.peer.period());
                self.peer.cycle();
                self.deliver();
            }
            if deadline <= self.now {
                self.input(Input::Tick);
            }
        }
    }

    /// Returns all data that the recorder holds.
    fn dump(&self) -> Vec<u8> {
        let mut dump = vec![0; 1024];
        let header = self.engine.dump_header(&mut dump).expect("room");
        dump.truncate(header);
        self.engine.recorder().halves().iter().for_each(|half| dump.extend_from_slice(half));
        dump.extend(self.engine.dump_end(header));
        dump
    }

    /// Replays all data that the recorder holds.
    pub(super) fn replay(&self) -> Result<Replayed, ReplayError> {
        let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde: None };
        let other = JointServo::new(Reference::Hold, JointServoConfig::default());
        replay::<6, Ur<'_>, _>(&self.dump(), other, memory)
    }

    /// Passes the data that the controller sent to the engine, the real-time link first.
    fn deliver(&mut self) {
        for link in [LinkId::REALTIME, LinkId::PRIMARY] {
            while !self.stalled && self.open[link.index()] {
                let most = self.engine.receive_window(link).len();
                let bytes = self.peer.read(link, most);
                if bytes.is_empty() {
                    break;
                }
                self.engine.receive_window(link)[..bytes.len()].copy_from_slice(&bytes);
                self.engine.commit(link, bytes.len(), self.now, self.now);
                self.drain();
            }
        }
    }

    fn drain(&mut self) {
        let mut opened = Vec::new();
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Open { link, .. } => opened.push(link),
                Output::Listen { .. } => panic!("nobody listens"),
                Output::Abort(link) => {
                    self.open[link.index()] = false;
                    self.peer.close(link);
                }
                Output::Transmit { link, bytes, .. } => self.peer.write(link, bytes),
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.events.push(event);
        }
        for link in opened {
            self.open[link.index()] = true;
            self.peer.open(link);
            self.input(Input::Opened(link));
        }
    }
}
