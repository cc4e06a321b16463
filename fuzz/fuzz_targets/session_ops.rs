//! Runs the engine with a scripted controller under any sequence of events, and checks its safety properties.
//!
//! Two bytes are one event: its kind and its amount. Between events the controller, the clock and the network behave
//! normally. A case begins in a healthy session that is ready to be commanded. Each variant reaches this state once,
//! before the first case.
#![no_main]

#[path = "../../core/examples/peer/mod.rs"]
#[allow(dead_code)]
mod peer;

use outrigger_core::engine::ur::{LINKS, UrOptions};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use outrigger_core::command::SourceConfig;
use outrigger_core::command::outputs::{DigitalOutput, VariableValue, Write};
use outrigger_core::engine::ur::rtde::{RtdeMemory, StateMemory};
use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
use outrigger_core::engine::{Event, Input, LinkId, Output, Snapshot};
use outrigger_core::law::{JointServo, JointServoConfig, Reference, SensorFeedForward};
use outrigger_core::mode::{Mode, PendantStop, Transition};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointVelocities, Pose, SoftwareVersion};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};
use peer::Peer;

/// The highest joint speed that may be commanded [rad/s].
const LIMIT: f32 = 0.5;
/// The greatest number of cycles in one wait.
const MOST: u32 = 300;
/// The greatest number of cycles in one case; later events are skipped.
const CYCLES: u32 = 800;
/// The number of cycles without a change of the engine's state after which `World::wait` ends, if that state may last
/// forever.
const LASTS: u32 = 40;
/// The time without a packet after which the engine stops commanding; it is the engine's default.
const STALE_AFTER: Duration = Duration::from_millis(40);
/// The size of the memory for a snapshot [B].
const ROOM: usize = 8192;
const SENSOR: SourceId = SourceId(1);
const SOFTWARE: [SoftwareVersion; 4] =
    [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 1), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

type Engine<'m> = UrEngine<'m, JointServo<6>>;

/// A snapshot of an engine that is ready to be commanded, and its simulated environment. Each case begins with a copy.
struct Settled {
    engine: Snapshot<'static, 6, UrOptions, JointServo<6>>,
    around: Around,
}

/// The initial states of cases, one for each version of the controller's software: in the first array without an RTDE
/// link, in the second with one, if the software has RTDE.
static SETTLED: LazyLock<[[Settled; SOFTWARE.len()]; 2]> =
    LazyLock::new(|| [false, true].map(|rtde| SOFTWARE.map(|software| Settled::new(software, rtde))));

struct World<'m> {
    engine: Engine<'m>,
    around: Around,
}

/// The environment of the engine, and the facts that the checks need.
#[derive(Clone)]
struct Around {
    peer: Peer,
    now: Instant,
    /// `true` if requested connections are rejected.
    refusing: bool,
    /// `true` if no data from the controller arrives.
    stalled: bool,
    reading: f32,
    taken: u32,
    mode: Mode,
    /// The safety mode in the newest packet that has arrived.
    shown_safety: u8,
    /// The time of the first packet with that safety mode.
    shown_since: Instant,
    /// `true` if noise has arrived: the search for the next packet may have dropped packets.
    noisy: bool,
    /// `true` if the scripted controller has dropped all program text since arming began, as one in local control does.
    deaf: bool,
    /// `true` if another client has started a program.
    foreign: bool,
    /// `true` if an operator has sent a request since commanding last ended.
    requested: bool,
    /// The number of cycles that have passed.
    cycles: u32,
}

impl Settled {
    fn new(software: SoftwareVersion, rtde: bool) -> Self {
        let mut config = UrConfig::default();
        // Short waits, so that all deadlines are within a case.
        config.mode.good_cycles = Some(20);
        // Half of these sessions get their states only by 30003.
        config.mode.pendant.stop = PendantStop::Overridden;
        config.mode.arming_timeout = Some(Duration::from_secs(1));
        config.link.rise_time = Some(Duration::from_millis(20));
        config.peer.connect.back_off_min = Duration::from_millis(20);
        config.peer.connect.back_off_max = Duration::from_millis(200);
        config.limits.velocity = JointVelocities([LIMIT; 6]);
        config.sources[0] = Some(SourceConfig::new(SENSOR, 6, -5.0, 5.0));
        let sensor = Some(SensorFeedForward { source: SENSOR, gain: 0.1 });
        let law = JointServo::new(Reference::Hold, JointServoConfig { sensor, ..JointServoConfig::default() });
        let around = Around {
            peer: Peer::new(software),
            now: Instant::from_micros(1),
            refusing: false,
            stalled: false,
            reading: 0.0,
            taken: 0,
            mode: Mode::Offline,
            shown_safety: 1,
            shown_since: Instant::ZERO,
            noisy: false,
            deaf: false,
            foreign: false,
            requested: false,
            cycles: 0,
        };
        let room = Box::leak(Box::new([0; ROOM]));
        let (engine, around) = with_memory(rtde, |memory| {
            let engine = UrEngine::new(config, law, memory).expect("a configuration that can be run");
            let mut world = World { engine, around };
            world.input(Input::Start);
            while world.around.mode != Mode::Monitor || !world.engine.unmet(world.around.now).is_empty() {
                assert!(world.around.cycles < 10 * MOST, "{software}: {:?}", world.engine.unmet(world.around.now));
                world.cycle();
            }
            (world.engine.snapshot(room).expect("nothing moves and nothing waits"), world.around)
        });
        Self { engine, around: Around { cycles: 0, ..around } }
    }
}

/// Calls `run` with memory for an engine, with an RTDE link if `rtde` is `true`.
fn with_memory<T>(rtde: bool, run: impl FnOnce(Memory<'_>) -> T) -> T {
    let (mut primary, mut realtime) = (vec![0; 2048], vec![0; 8192]);
    let mut room: RtdeMemory = RtdeMemory::new();
    let rtde = rtde.then_some(&mut room as &mut dyn StateMemory<'_>);
    run(Memory { primary: &mut primary, realtime: &mut realtime, rtde })
}

fn other_law() -> JointServo<6> {
    JointServo::new(Reference::Hold, JointServoConfig::default())
}

impl World<'_> {
    /// Passes one input to the engine, and executes the engine's outputs on the scripted controller, as a port must.
    fn input(&mut self, input: Input) {
        if matches!(input, Input::Request(_) | Input::Resume(_)) {
            self.around.requested = true;
        }
        self.engine.handle(self.around.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        let mut outcome = Vec::new();
        let (mut texts, mut settings) = (0, 0);
        for round in 0.. {
            assert!(round < 16, "the engine never comes to an end");
            let mode = self.engine.mode();
            let Some(output) = self.engine.poll_output() else { break };
            match output {
                Output::Open { link, .. } if self.around.refusing => outcome.push(Input::Refused(link)),
                Output::Open { link, .. } => {
                    self.around.peer.open(link);
                    outcome.push(Input::Opened(link));
                }
                Output::Abort(link) => self.around.peer.close(link),
                Output::Listen { .. } => unreachable!("no link of such a controller listens"),
                Output::Transmit { link: LinkId::RTDE, bytes, .. } => self.around.peer.write(LinkId::RTDE, bytes),
                Output::Transmit { link, bytes, .. } => {
                    if is_setting(bytes) {
                        assert_ne!(mode, Mode::Offline);
                        settings += 1;
                    } else {
                        assert_eq!(settings, 0, "motion goes first");
                        texts += 1;
                        check_text(bytes, mode);
                    }
                    self.around.peer.write(link, bytes);
                }
            }
        }
        assert!(texts <= 1 && settings <= 1, "one text of each kind per input");
        while let Some(event) = self.engine.poll_event() {
            if let Event::Transition(transition) = event {
                self.transition(transition);
            }
        }
        assert_eq!(self.around.mode, self.engine.mode(), "every change of mode is told");
        let queued = self.engine.poll_timeout() == Some(Instant::ZERO);
        assert!(!queued || self.engine.poll_output().is_none(), "what is queued was drained");
        for input in outcome {
            self.input(input);
        }
    }

    fn transition(&mut self, transition: Transition) {
        assert_eq!(transition.from, self.around.mode, "transitions follow each other");
        let known = matches!(
            (transition.from, transition.to),
            (Mode::Offline, Mode::Monitor)
                | (Mode::Monitor, Mode::Offline | Mode::Arming)
                | (Mode::Arming, Mode::Command | Mode::Monitor | Mode::Offline)
                | (Mode::Command, Mode::Stopping | Mode::Offline)
                | (Mode::Stopping, Mode::Monitor | Mode::Offline)
        );
        assert!(known, "{transition:?}");
        match transition.to {
            Mode::Arming => {
                assert!(self.around.requested, "nothing begins by itself");
                self.around.deaf = self.around.peer.local;
                assert_eq!(self.engine.latch(), None, "nothing begins before an acknowledge");
                assert!(!self.shows_stop(), "nothing begins in a stop");
            }
            // A foreign program that begins at this very time cannot be distinguished from Outrigger's.
            Mode::Command => {
                assert!(!self.around.deaf || self.around.foreign, "a controller that drops text never grants")
            }
            Mode::Monitor | Mode::Offline | Mode::Stopping => self.around.requested = false,
        }
        self.around.mode = transition.to;
    }

    /// Runs one cycle of the controller, and of a sensor with the same rate.
    fn cycle(&mut self) {
        self.around.now = self.around.now + Duration::from_micros(self.around.peer.period());
        self.around.peer.cycle();
        self.around.taken += 1;
        self.around.cycles += 1;
        // A sensor whose last digit never changes is considered frozen.
        let reading = self.around.reading + if self.around.taken % 2 == 0 { 0.001 } else { 0.0 };
        let value = SampleValue::new(&[reading; 6]).expect("six channels");
        self.input(Input::Sample(Sample { source: SENSOR, value, seq: self.around.taken, taken_at: self.around.now }));
        if !self.around.stalled {
            self.receive();
        }
        self.deadlines();
        // A state that shows a stop has been evaluated by now, so commanding must have ended.
        assert!(
            !(self.shows_stop() && matches!(self.around.mode, Mode::Arming | Mode::Command)),
            "commanding in a stop"
        );
    }

    /// Runs cycles until the engine has been for `LASTS` cycles in one state that may last (it commands, or waits for
    /// an operator), but at most `MOST` cycles.
    fn wait(&mut self) {
        let stands = |world: &Self| (world.around.mode, world.engine.latch(), world.engine.unmet(world.around.now));
        let (mut before, mut since) = (stands(self), 0);
        for _ in 0..MOST {
            self.cycle();
            since += 1;
            let now = stands(self);
            if now != before {
                (before, since) = (now, 0);
            }
            let (mode, latch, unmet) = now;
            let for_somebody = mode == Mode::Monitor && (unmet.is_empty() || latch.is_some());
            if since >= LASTS && (for_somebody || mode == Mode::Command) {
                break;
            }
        }
    }

    /// Returns whether the engine has received packets that show a stop; the scripted controller shows stops from
    /// software 3.0 on. If noise may have dropped the first of them, the stop counts only after the time for which the
    /// engine commands without packets.
    fn shows_stop(&self) -> bool {
        let cb3 = self.engine.peer().identity().is_some_and(|i| i.software.major >= 3);
        let swallowed = if self.around.noisy { STALE_AFTER } else { Duration::ZERO };
        let shown = self.around.now.since(self.around.shown_since) >= swallowed;
        cb3 && self.engine.peer().is_up(LinkId::REALTIME) && !matches!(self.around.shown_safety, 1 | 2) && shown
    }

    fn receive(&mut self) {
        if self.around.shown_safety != self.around.peer.safety {
            (self.around.shown_safety, self.around.shown_since) = (self.around.peer.safety, self.around.now);
        }
        for link in LINKS {
            loop {
                let window = self.engine.receive_window(link);
                if link == LinkId::RTDE && window.is_empty() {
                    break;
                }
                assert!(!window.is_empty(), "there is always room");
                let bytes = self.around.peer.read(link, window.len());
                if bytes.is_empty() {
                    break;
                }
                self.bytes(link, &bytes);
            }
        }
    }

    fn bytes(&mut self, link: LinkId, bytes: &[u8]) {
        let window = self.engine.receive_window(link);
        let count = bytes.len().min(window.len());
        window[..count].copy_from_slice(&bytes[..count]);
        self.engine.commit(link, count, self.around.now, self.around.now);
        self.drain();
    }

    /// Wakes the engine for all of its deadlines that have passed.
    fn deadlines(&mut self) {
        for round in 0.. {
            assert!(round < 64, "a deadline that never moves on");
            match self.engine.poll_timeout() {
                Some(at) if at <= self.around.now => self.input(Input::Tick),
                _ => break,
            }
        }
    }

    fn event(&mut self, what: u8, much: u8) {
        let link = LINKS[usize::from(much) % LINKS.len()];
        match what % 24 {
            0..=2 => (0..much / 8).for_each(|_| self.cycle()),
            3 => (0..much).for_each(|_| self.cycle()),
            4 => self.wait(),
            5 | 6 => self.input(Input::Request(self.engine.mode_machine().epoch())),
            7 => self.input(Input::Release),
            8 | 9 => self.input(Input::Acknowledge),
            10 => self.input(Input::Resume(self.engine.mode_machine().epoch())),
            11 => self.around.reading = (f32::from(much) - 128.0) / 32.0,
            12 => self.around.reading = if much % 2 == 0 { f32::NAN } else { f32::INFINITY },
            13 => {
                self.around.peer.close(link);
                self.input(Input::Closed(link));
            }
            14 => self.around.refusing = much % 2 == 0,
            15 => self.around.stalled = much % 2 == 0,
            16 => self.around.peer.safety = much % 12,
            17 => {
                self.around.peer.local = much % 2 == 0;
                self.around.deaf &= self.around.peer.local;
            }
            18 => {
                self.around.peer.foreign = much % 2 == 0;
                self.around.foreign |= self.around.peer.foreign;
            }
            19 => self.around.peer.qd[usize::from(much) % 6] = 0.3,
            20 => {
                let age = Duration::from_millis(u64::from(much) * 4);
                self.input(Input::Unacked { link, bytes: u32::from(much), age });
            }
            21 => {
                self.around.noisy = true;
                self.bytes(link, &Noise::seeded(much.into()).bytes(usize::from(much)));
            }
            22 => {
                // This device is not scheduled for this time.
                self.around.now = self.around.now + Duration::from_millis(u64::from(much) * 10);
                self.deadlines();
            }
            _ if much == 255 => self.input(Input::Shutdown),
            _ if much % 2 == 1 => self.input(Input::Set(write(much / 2))),
            _ => self.input(Input::Tick),
        }
    }
}

/// Returns whether a URScript text only sets outputs or other values, and causes no motion.
fn is_setting(text: &[u8]) -> bool {
    let moves = [&b"speed"[..], b"stopj", b"servoj"]
        .into_iter()
        .any(|call| text.windows(call.len()).any(|window| window == call) && !text.starts_with(b"set speed "));
    (text.starts_with(b"sec ") || text.starts_with(b"set speed ")) && !moves
}

/// Returns a request to set an output or another value, which may be one that cannot be set.
fn write(much: u8) -> Write {
    let (index, high) = (much % 16, much >= 64);
    match much / 16 {
        0 => Write::Digital { output: DigitalOutput::Standard(index), high },
        1 => Write::Analog { index: index % 3, domain: None, level: f32::from(index) / 12.0 },
        2 => Write::SpeedSlider(f32::from(index) / 12.0),
        3 => Write::Gravity([0.0, f32::from(index), 9.82]),
        4 => Write::Tcp(Pose { position: [0.0, 0.0, f32::from(index)], rotation: [f32::from(index); 3] }),
        // No arm of Universal Robots has such a variable.
        5 => Write::Variable { index, value: VariableValue::Bool(high) },
        6 => Write::TargetPayload {
            mass: f32::from(index),
            center_of_gravity: [0.0; 3],
            inertia: [f32::from(index); 6],
            transition_time: Duration::from_secs(u64::from(index)),
        },
        _ => Write::Payload { mass: f32::from(index), center_of_gravity: high.then_some([0.0; 3]) },
    }
}

/// Checks that the joint speeds in a URScript text are within the limits, and that they are zero unless the engine is
/// in the mode `Command`.
fn check_text(bytes: &[u8], mode: Mode) {
    let text = std::str::from_utf8(bytes).expect("ASCII");
    assert!(text.ends_with('\n'));
    assert_ne!(mode, Mode::Offline, "{text}");
    let Some((_, list)) = text.split_once("speedj([") else {
        assert!(text.starts_with("stopj("), "{text}");
        return;
    };
    let list = list.split_once(']').expect("a closed list").0;
    let speeds: Vec<f32> = list.split(',').map(|n| n.parse().expect("a number")).collect();
    assert_eq!(speeds.len(), 6);
    assert!(speeds.iter().all(|s| s.abs() <= LIMIT + 1e-6), "{text}");
    assert_ne!(mode, Mode::Monitor, "{text}");
    assert!(mode == Mode::Command || speeds.iter().all(|s| *s == 0.0), "{text} in {}", mode.name());
}

fuzz_target!(
    init: {
        LazyLock::force(&SETTLED);
    },
    |case: &[u8]| {
        let Some((&first, events)) = case.split_first() else { return };
        // Half of the cases get their states by RTDE, if the software has it.
        let rtde = first & 0x80 != 0;
        let settled = &SETTLED[usize::from(rtde)][usize::from(first) % SOFTWARE.len()];
        with_memory(rtde, |memory| {
            let engine = settled.engine.engine(other_law(), memory).expect("what was settled, in as much memory");
            let mut world = World { engine, around: settled.around.clone() };
            for event in events.chunks_exact(2).take(60) {
                if world.around.cycles > CYCLES {
                    break;
                }
                world.event(event[0], event[1]);
            }
        });
    }
);
