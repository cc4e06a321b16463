//! The whole engine in `Command`, fed one real-time packet after the other: what a cycle costs from the bytes of a
//! state to the bytes of a command. Shared by the emulated board and the host's table of budgets.

use outrigger_core::command::{Sample, SampleValue, SourceConfig, SourceId};
use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
use outrigger_core::engine::{Input, LinkId, Output};
use outrigger_core::law::{AnyLaw, Law};
use outrigger_core::mode::Mode;
use outrigger_core::robot::MessageSource;
use outrigger_core::time::Instant;
use outrigger_core::wire::primary::{self, RobotMessage, RobotMessagePayload};
use outrigger_core::wire::realtime::Repr;
use outrigger_urscript::SpeedJ;

use crate::commands::{BENT, CYCLE, DISTANCE, chain, servo, standoff};
use crate::limit::Limit;

/// Bytes of a packet of software 5.15.
const PACKET: usize = 1220;
const SENSOR: SourceId = SourceId(1);

/// An engine and the controller it commands. The arm is ideal: it has the commanded speed in the next cycle.
pub struct Cycle<'m> {
    engine: UrEngine<'m, AnyLaw<6>>,
    now: Instant,
    state: Repr,
    packet: [u8; PACKET],
    text: [u8; SpeedJ::MAX_LEN],
    text_len: usize,
    taken: u32,
}

impl<'m> Cycle<'m> {
    /// An engine with `law`, in `Command` and moving the arm.
    pub fn commanding(mut law: AnyLaw<6>, primary: &'m mut [u8], realtime: &'m mut [u8]) -> Self {
        law.use_kinematics(&chain());
        let mut config = UrConfig::default();
        config.limits.velocity.0 = [3.0; 6];
        config.limits.acceleration.0 = [10.0; 6];
        config.limits.braking.0 = [10.0; 6];
        config.peer.text.own_stop = 10.0;
        config.sources[0] = Some(SourceConfig::new(SENSOR, 1, 0.0, 1.0));
        let engine = UrEngine::new(config, law, Memory { primary, realtime, rtde: None }).expect("a configuration");
        let q = BENT.map(f64::from);
        let state = Repr {
            time: 100.0,
            q_actual: q,
            q_target: q,
            robot_mode: 7.0,
            safety_mode: 1.0,
            speed_scaling: 1.0,
            program_state: 1.0,
            ..Repr::default()
        };
        let now = Instant::from_micros(1);
        let mut cycle =
            Self { engine, now, state, packet: [0; PACKET], text: [0; SpeedJ::MAX_LEN], text_len: 0, taken: 0 };
        cycle.connect();
        for _ in 0..2_000 {
            cycle.prepare();
            cycle.answer();
            if cycle.engine.mode() == Mode::Monitor && cycle.engine.unmet(cycle.now).is_empty() {
                let epoch = cycle.engine.mode_machine().epoch();
                cycle.engine.handle(cycle.now, Input::Request(epoch));
            }
            if cycle.engine.mode() == Mode::Command {
                break;
            }
        }
        for _ in 0..50 {
            cycle.prepare();
            cycle.answer();
        }
        assert!(cycle.is_commanding(), "the engine commands");
        cycle
    }

    fn connect(&mut self) {
        self.engine.handle(self.now, Input::Start);
        for _ in 0..4 {
            let mut asked = None;
            while let Some(output) = self.engine.poll_output() {
                if let Output::Open { link, .. } = output {
                    asked = Some(link);
                }
            }
            let Some(link) = asked else { continue };
            self.engine.handle(self.now, Input::Opened(link));
            if link == LinkId::PRIMARY {
                self.greet();
            }
        }
    }

    fn greet(&mut self) {
        let version = primary::Version { major: 5, minor: 15, build_number: Some(0), ..primary::Version::default() };
        let payload = RobotMessagePayload::Version(version);
        let window = self.engine.receive_window(LinkId::PRIMARY);
        let size = RobotMessage::emit(u64::MAX, MessageSource::RobotInterface, &payload, window).expect("room");
        self.engine.commit(LinkId::PRIMARY, size, self.now, self.now);
        self.engine.handle(self.now, Input::Tick);
    }

    /// The controller's next cycle, read into the receive memory, and the sensor's next reading; not counted.
    pub fn prepare(&mut self) {
        self.obey();
        self.now = self.now + CYCLE;
        self.state.time += 0.002;
        for (q, qd) in self.state.q_actual.iter_mut().zip(self.state.qd_actual) {
            *q += 0.002 * qd;
        }
        self.state.q_target = self.state.q_actual;
        self.state.emit(PACKET, &mut self.packet).expect("room");
        self.taken += 1;
        let wobble = if self.taken.is_multiple_of(2) { 0.001 } else { 0.0 };
        let value = SampleValue::scalar(DISTANCE + wobble);
        let sample = Sample { source: SENSOR, value, seq: self.taken, taken_at: self.now };
        self.engine.handle(self.now, Input::Sample(sample));
        while self.engine.poll_output().is_some() {}
        while self.engine.poll_event().is_some() {}
        self.engine.receive_window(LinkId::REALTIME)[..PACKET].copy_from_slice(&self.packet);
    }

    /// From the bytes of a state to the bytes of a command, as `core::drive` does it: this is what is counted.
    #[inline(never)]
    pub fn answer(&mut self) {
        self.engine.commit(LinkId::REALTIME, PACKET, self.now, self.now);
        self.text_len = 0;
        while let Some(output) = self.engine.poll_output() {
            if let Output::Transmit { bytes, .. } = output {
                self.text[..bytes.len()].copy_from_slice(bytes);
                self.text_len = bytes.len();
            }
        }
        while self.engine.poll_event().is_some() {}
    }

    /// Whether the last state was answered with a command.
    pub fn is_commanding(&self) -> bool {
        self.engine.mode() == Mode::Command && self.text_len > 0
    }

    /// The arm takes the speeds of the last text.
    fn obey(&mut self) {
        let Ok(text) = core::str::from_utf8(&self.text[..self.text_len]) else { return };
        let Some((_, rest)) = text.split_once("speedj([") else { return };
        self.state.program_state = 2.0;
        let list = rest.split_once(']').map_or("", |(list, _)| list);
        for (qd, number) in self.state.qd_actual.iter_mut().zip(list.split(',')) {
            *qd = number.parse().expect("a number");
        }
        self.state.qd_target = self.state.qd_actual;
    }
}

/// Calls `count` with the name, the limit and an engine for each law.
pub fn each(mut count: impl FnMut(&str, Limit, &mut Cycle<'_>)) {
    for (name, limit, law) in [
        ("state to speedj text, joint servo on a trajectory", Limit::counted(9_593, Some(10_000)), servo()),
        ("state to speedj text, standoff with its Jacobian", Limit::counted(11_399, Some(15_000)), standoff()),
    ] {
        let (mut primary, mut realtime) = ([0; 2048], [0; 8192]);
        count(name, limit, &mut Cycle::commanding(law, &mut primary, &mut realtime));
    }
}
