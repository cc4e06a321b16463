//! The whole engine in `Command`, given one real-time packet after the other: the cost of a cycle from the bytes of a
//! state to the bytes of a command. Shared by the emulated board and the host's table of budgets.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::command::SourceConfig;
use outrigger_core::engine::ur::{CommandPath, Memory, UrConfig, UrEngine};
use outrigger_core::engine::{Input, LinkId, Output};
use outrigger_core::law::AnyLaw;
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_urscript::SpeedJ;
use outrigger_wire::primary::{self, RobotMessage, RobotMessagePayload};
use outrigger_wire::program_messages::{Ending, Hello, HelloRepr, Kind, Order, OrderRepr, Report};
use outrigger_wire::realtime::Repr;
use outrigger_wire::robot::MessageSource;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::Instant;

use crate::commands::{BENT, CYCLE, DISTANCE, servo, standoff};
use crate::limit::Limits;

/// The size of a real-time packet (port 30003) of software 5.15 \[B\].
const PACKET: usize = 1220;
const OURS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1));
const CONTROLLER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 10));
const SENSOR: SourceId = SourceId(1);

/// An engine and its simulated controller. The arm is ideal: it has the commanded speed in the next cycle.
pub struct Cycle<'m> {
    engine: UrEngine<'m, AnyLaw<6>>,
    now: Instant,
    state: Repr,
    packet: [u8; PACKET],
    /// The bytes of the engine's last output, with their number and their link: a text, or an order to an Outrigger
    /// program on the controller.
    sent: [u8; SpeedJ::MAX_LEN],
    sent_len: usize,
    sent_by: LinkId,
    taken: u32,
    program: Option<Program>,
}

/// An Outrigger program on the controller: the part of its own text that it has read, and its next message.
struct Program {
    kind: Kind,
    /// The number of `socket_send_int` lines read; the fourth sends the token.
    said: u8,
    /// The part of the current line that was read.
    line: [u8; 64],
    line_len: usize,
    token: Option<i32>,
    /// `true` after it has connected and sent its greeting.
    greeted: bool,
    mirrors: Option<Report>,
}

impl Program {
    /// Reads bytes of the program's own text, and takes from them the token that the program must send in its greeting.
    fn read(&mut self, text: &[u8]) {
        for byte in text {
            if *byte != b'\n' {
                if let Some(slot) = self.line.get_mut(self.line_len) {
                    *slot = *byte;
                    self.line_len += 1;
                }
                continue;
            }
            let line = core::str::from_utf8(&self.line[..self.line_len]).unwrap_or_default().trim();
            let number = line.strip_prefix("socket_send_int(").and_then(|rest| rest.split(',').next());
            if let Some(number) = number.and_then(|number| number.parse().ok()) {
                self.said += 1;
                // The token follows magic, version and kind.
                self.token = self.token.or((self.said == 4).then_some(number));
            }
            self.line_len = 0;
        }
    }
}

impl<'m> Cycle<'m> {
    /// Returns an engine with `law` and its controller, after they have run until the engine commands and moves the
    /// arm.
    pub fn commanding(law: AnyLaw<6>, primary: &'m mut [u8], realtime: &'m mut [u8]) -> Self {
        Self::commanding_by(CommandPath::Text, law, primary, realtime)
    }

    /// Returns an engine with `law` that sends its commands by `path`, and its controller, after they have run until
    /// the engine commands and moves the arm.
    pub fn commanding_by(path: CommandPath, law: AnyLaw<6>, primary: &'m mut [u8], realtime: &'m mut [u8]) -> Self {
        let mut config = UrConfig::default();
        config.limits.velocity.0 = [3.0; 6];
        config.limits.acceleration.0 = [10.0; 6];
        config.limits.braking.0 = [10.0; 6];
        config.peer.text.own_stop = 10.0;
        config.peer.path = path;
        // Its states are sent only by 30003.
        config.mode.pendant.stop = PendantStop::Overridden;
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
        let kind = match path {
            CommandPath::ReverseSpeedJ => Some(Kind::SpeedJ),
            CommandPath::ReverseServoJ => Some(Kind::ServoJ),
            CommandPath::Buffered => Some(Kind::Buffered),
            CommandPath::Player => Some(Kind::Player),
            CommandPath::ReverseTorque => Some(Kind::Torque),
            CommandPath::Text | CommandPath::ExternalControl | CommandPath::ExternalTorque => None,
        };
        let program = kind.map(|kind| Program {
            kind,
            said: 0,
            line: [0; 64],
            line_len: 0,
            token: None,
            greeted: false,
            mirrors: None,
        });
        let mut cycle = Self {
            engine,
            now,
            state,
            packet: [0; PACKET],
            sent: [0; SpeedJ::MAX_LEN],
            sent_len: 0,
            sent_by: LinkId::REALTIME,
            taken: 0,
            program,
        };
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
            if self.program.is_some() {
                self.engine.handle(self.now, Input::Ends(link, OURS, CONTROLLER));
            }
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

    /// Prepares the next cycle of the simulated controller, with a packet in the engine's receive memory, and the
    /// sensor's next reading. The instructions of this function are not counted.
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
        while self.take_output() {}
        while self.engine.poll_event().is_some() {}
        self.engine.receive_window(LinkId::REALTIME)[..PACKET].copy_from_slice(&self.packet);
        if let Some(report) = self.program.as_ref().and_then(|program| program.mirrors) {
            self.engine.receive_window(LinkId::REVERSE)[..Report::LEN].copy_from_slice(&report.to_bytes());
        }
    }

    /// Makes the engine produce the bytes of a command from the bytes of a state, as `core::drive` does, and do its
    /// accounting. The instructions of this function are counted.
    pub fn answer(&mut self) {
        self.decide();
        self.account();
    }

    /// Executes the first part of [`answer`](Self::answer): until the bytes of the command are ready.
    #[inline(never)]
    pub fn decide(&mut self) {
        if self.program.as_mut().is_some_and(|program| program.mirrors.take().is_some()) {
            self.engine.commit(LinkId::REVERSE, Report::LEN, self.now, self.now);
        }
        self.engine.commit(LinkId::REALTIME, PACKET, self.now, self.now);
        self.sent_len = 0;
        self.take_output();
    }

    /// Executes the second part of [`answer`](Self::answer): all work of the engine for which the command need not
    /// wait.
    #[inline(never)]
    pub fn account(&mut self) {
        let _ = self.engine.written(self.now);
        while self.take_output() {}
        while self.engine.poll_event().is_some() {}
    }

    /// Takes the engine's next output and keeps the bytes that it sends; returns `false` if there is none.
    #[inline(always)]
    fn take_output(&mut self) -> bool {
        let Some(output) = self.engine.poll_output() else { return false };
        if let Output::Transmit { link, bytes, .. } = output {
            if let Some(program) = &mut self.program
                && link == LinkId::REALTIME
            {
                program.read(bytes);
            } else {
                self.sent[..bytes.len()].copy_from_slice(bytes);
                (self.sent_len, self.sent_by) = (bytes.len(), link);
            }
        }
        true
    }

    /// Returns whether the last state was answered with a command.
    pub fn is_commanding(&self) -> bool {
        self.engine.mode() == Mode::Command && self.sent_len > 0
    }

    /// Makes the simulated controller execute the engine's last command.
    fn obey(&mut self) {
        if self.program.is_some() {
            self.converse();
            return;
        }
        let Ok(text) = core::str::from_utf8(&self.sent[..self.sent_len]) else { return };
        let Some((_, rest)) = text.split_once("speedj([") else { return };
        self.state.program_state = 2.0;
        let list = rest.split_once(']').map_or("", |(list, _)| list);
        for (qd, number) in self.state.qd_actual.iter_mut().zip(list.split(',')) {
            *qd = number.parse().expect("a number");
        }
        self.state.qd_target = self.state.qd_actual;
    }

    /// Makes the Outrigger program on the controller connect after it has received its text, and take one order in each
    /// cycle.
    fn converse(&mut self) {
        let Some(program) = &mut self.program else { return };
        if let Some(token) = program.token
            && !program.greeted
        {
            program.greeted = true;
            self.state.program_state = 2.0;
            let from = SocketAddr::new(CONTROLLER, 50_000);
            self.engine.handle(self.now, Input::Accepted(LinkId::REVERSE, from));
            let hello = HelloRepr { version: Hello::VERSION, kind: program.kind, token };
            let size = hello.emit(self.engine.receive_window(LinkId::REVERSE)).expect("room");
            self.engine.commit(LinkId::REVERSE, size, self.now, self.now);
            return;
        }
        if self.sent_by != LinkId::REVERSE {
            return;
        }
        let Ok(order) = Order::new_checked(&self.sent[..self.sent_len]) else { return };
        let OrderRepr { counter, values, .. } = order.repr();
        program.mirrors = Some(Report { counter, ending: Ending::None, lag: 0 });
        let speeds = values.map(|value| f64::from(value) * 1e-6);
        self.state.qd_actual = match program.kind {
            Kind::SpeedJ => speeds,
            _ => core::array::from_fn(|joint| (speeds[joint] - self.state.q_actual[joint]) / 0.002),
        };
        self.state.qd_target = self.state.qd_actual;
    }
}

/// Calls `count` for each law commanded by text, with a name, the limits of its instructions and a commanding engine.
pub fn each(mut count: impl FnMut(&str, Limits, &mut Cycle<'_>)) {
    for (name, limits, law) in [
        ("state to speedj text, joint servo on a trajectory", Limits::counted(8_959, 9_909).within(10_000), servo()),
        (
            "state to speedj text, standoff with its Jacobian",
            Limits::counted(10_937, 11_887).within(15_000),
            standoff(),
        ),
    ] {
        let (mut primary, mut realtime) = ([0; 2048], [0; 8192]);
        count(name, limits, &mut Cycle::commanding(law, &mut primary, &mut realtime));
    }
}

/// The ways to send commands to a program on the controller whose cycles are counted: a name, the limits of the
/// instructions, and the path.
#[cfg(feature = "programs")]
const PROGRAMS: [(&str, Limits, CommandPath); 3] = [
    ("state to an order by reverse socket, speedj", Limits::counted(12_716, 13_870), CommandPath::ReverseSpeedJ),
    ("state to an order by reverse socket, servoj", Limits::counted(14_706, 15_860), CommandPath::ReverseServoJ),
    ("state to an order by reverse socket, buffered", Limits::counted(14_707, 15_860), CommandPath::Buffered),
];

/// Calls `count` for each of `PROGRAMS`, with its name, its limits and an engine that commands a joint servo law by
/// that path.
#[cfg(feature = "programs")]
pub fn each_program(mut count: impl FnMut(&str, Limits, &mut Cycle<'_>)) {
    for (name, limits, path) in PROGRAMS {
        let (mut primary, mut realtime) = ([0; 2048], [0; 8192]);
        count(name, limits, &mut Cycle::commanding_by(path, servo(), &mut primary, &mut realtime));
    }
}
