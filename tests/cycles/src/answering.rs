//! The whole engine for a KRC in `Command`, given one measurement after the other: the cost of a cycle from the bytes
//! of a measurement to the bytes of its command. Shared by the emulated board and the host's table of budgets.

use core::f64::consts::FRAC_PI_2;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use outrigger_core::engine::krc::KrcOptions;

use outrigger_core::command::SourceConfig;
use outrigger_core::engine::krc::{Control, KrcConfig, KrcEngine, ToolImpedance};
use outrigger_core::engine::{Input, LinkId, Output};
use outrigger_core::kinematics::{DhParameters, KinematicChain, Posture};
use outrigger_core::law::{AnyLaw, JointServoConfig, LawConfig, Reference, StandoffConfig};
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_wire::fri::{
    COMMAND_LEN, Command, DEFAULT_PORT, Frame, FriState, Jacobian, MEASUREMENT_LEN, MeasurementRepr, Quality,
};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use crate::limit::Limits;

/// The shortest cycle period of FRI.
const PERIOD: Duration = Duration::from_millis(1);
const KRC: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 168, 0, 20)), DEFAULT_PORT);
const SENSOR: SourceId = SourceId(1);
/// The wanted reading of the sensor \[m\]. The readings alternate between it and 1 mm more.
const DISTANCE: f32 = 0.12;
/// Joint positions with shoulder, elbow and wrist well bent and the tool pointing down \[rad\].
const BENT: [f32; 7] = [0.0, 0.4, 0.0, -1.4, 0.0, 1.3, 0.0];

/// An engine and its simulated KRC. The arm is ideal: it is at the position that was commanded one cycle ago.
pub struct Answering {
    session: KrcEngine<'static, AnyLaw<7>>,
    arm: KinematicChain<7>,
    now: Instant,
    measured: MeasurementRepr,
    measurement: [u8; MEASUREMENT_LEN],
    command: [u8; COMMAND_LEN],
    answered: bool,
    taken: u32,
}

impl Answering {
    /// Returns an engine with `law` and its simulated KRC, after they have run until the engine commands and moves the
    /// arm.
    fn commanding(law: LawConfig<7>, control: Control) -> Self {
        let mut config = KrcConfig { peer: KrcOptions { control, ..KrcOptions::default() }, ..KrcConfig::default() };
        config.sources[0] = Some(SourceConfig::new(SENSOR, 1, 0.0, 1.0));
        let law = AnyLaw::new(law).expect("settings in range");
        let measured = MeasurementRepr {
            desired_msr_sample_time: PERIOD.as_secs_f32(),
            desired_cmd_sample_time: PERIOD.as_secs_f32(),
            safety_limits: 1.0,
            state: FriState::Monitor.raw(),
            quality: Quality::Perfect.raw(),
            control: control.scheme().raw(),
            power: 0x7f,
            cmd_jnt_pos: BENT,
            ..MeasurementRepr::default()
        };
        let mut answering = Self {
            session: KrcEngine::new(config, law, ()).expect("a configuration"),
            arm: lwr(),
            now: Instant::from_micros(1),
            measured,
            measurement: [0; MEASUREMENT_LEN],
            command: [0; COMMAND_LEN],
            answered: false,
            taken: 0,
        };
        for _ in 0..2_000 {
            answering.prepare();
            answering.answer();
            match answering.session.mode() {
                Mode::Monitor if answering.session.unmet(answering.now).is_empty() => {
                    let epoch = answering.session.mode_machine().epoch();
                    answering.session.handle(answering.now, Input::Request(epoch));
                }
                Mode::Arming => answering.measured.state = FriState::Command.raw(),
                Mode::Command => break,
                Mode::Offline | Mode::Monitor | Mode::Stopping => {}
            }
        }
        for _ in 0..50 {
            answering.prepare();
            answering.answer();
        }
        assert!(answering.is_commanding(), "the engine commands");
        answering
    }

    /// Prepares the next cycle of the simulated KRC, and the sensor's next reading. The instructions of this function
    /// are not counted.
    pub fn prepare(&mut self) {
        self.obey();
        self.now = self.now + PERIOD;
        self.taken += 1;
        let wobble = if self.taken.is_multiple_of(2) { 0.001 } else { 0.0 };
        let value = SampleValue::scalar(DISTANCE + wobble);
        let sample = Sample { source: SENSOR, value, seq: self.taken, taken_at: self.now };
        self.session.handle(self.now, Input::Sample(sample));
        while self.session.poll_event().is_some() {}
        let measured = &mut self.measured;
        measured.send_seq_count = measured.send_seq_count.wrapping_add(1);
        for (joint, at) in measured.msr_jnt_pos.iter_mut().enumerate() {
            *at = measured.cmd_jnt_pos[joint] + measured.cmd_jnt_pos_fri_offset[joint];
        }
        let Posture { tcp, jacobian } = self.arm.posture(&JointPositions(measured.msr_jnt_pos));
        let [x, y, z] = [tcp.rotation.x, tcp.rotation.y, tcp.rotation.z];
        let frame = Frame { rotation: [0, 1, 2].map(|row| [x[row], y[row], z[row]]), position: tcp.position };
        (measured.msr_cart_pos, measured.cmd_cart_pos) = (frame, frame);
        let row = |of: &dyn Fn(usize) -> f32| core::array::from_fn(of);
        measured.jacobian = Jacobian {
            linear: [0, 1, 2].map(|axis| row(&|joint| jacobian.0[joint].linear[axis])),
            angular: [0, 1, 2].map(|axis| row(&|joint| jacobian.0[joint].angular[axis])),
        };
        measured.emit(&mut self.measurement).expect("room");
    }

    /// Makes the engine produce the bytes of a command from the bytes of a measurement, as `port-embassy` does, and do
    /// its accounting. The instructions of this function are counted.
    pub fn answer(&mut self) {
        self.decide();
        self.account();
    }

    /// Executes the first part of [`answer`](Self::answer): until the bytes of the command are ready.
    #[inline(never)]
    pub fn decide(&mut self) {
        if let Some(window) = self.session.receive_window(LinkId::FRI).get_mut(..MEASUREMENT_LEN) {
            window.copy_from_slice(&self.measurement);
        }
        self.session.commit_datagram(LinkId::FRI, MEASUREMENT_LEN, KRC, self.now, self.now);
        while self.session.poll_event().is_some() {}
        self.session.handle(self.now, Input::Tick);
        self.answered = false;
        if let Some(Output::Transmit { bytes, .. }) = self.session.poll_output() {
            self.command.copy_from_slice(bytes);
            self.answered = true;
        }
    }

    /// Executes the second part of [`answer`](Self::answer): all work of the engine for which the command need not
    /// wait.
    #[inline(never)]
    pub fn account(&mut self) {
        let _ = self.session.written(self.now);
        while self.session.poll_output().is_some() {}
        while self.session.poll_event().is_some() {}
    }

    /// Returns whether the last measurement was answered with a command that the arm follows.
    pub fn is_commanding(&self) -> bool {
        self.session.mode() == Mode::Command && self.answered
    }

    /// Makes the simulated KRC execute the engine's last command.
    fn obey(&mut self) {
        let Some(command) = Command::new_checked(&self.command).ok().filter(|_| self.answered) else { return };
        let measured = &mut self.measured;
        measured.refl_seq_count = command.send_seq_count();
        if measured.state == FriState::Command.raw() {
            let offsets = measured.cmd_jnt_pos_fri_offset.iter_mut();
            for ((offset, wanted), own) in offsets.zip(command.jnt_pos()).zip(measured.cmd_jnt_pos) {
                *offset = wanted - own;
            }
        }
    }
}

/// Returns the kinematic chain of an LWR 4+ with its published lengths.
fn lwr() -> KinematicChain<7> {
    let turns = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 0.0].map(|quarters| quarters * FRAC_PI_2);
    let lengths = [0.3105, 0.0, 0.4, 0.0, 0.39, 0.0, 0.078];
    let parameters = DhParameters::from_arrays([0.0; 7], [0.0; 7], lengths, turns).expect("an arm");
    KinematicChain::new(parameters, &Pose { position: [0.0; 3], rotation: [0.0; 3] })
}

/// Returns the configuration of a law that moves four of the joints through a waypoint and back.
fn servo() -> LawConfig<7> {
    let waypoint = |q, v, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([q, 0.1 * q, 0.2 * q, 0.0, 0.0, -0.1 * q, 0.0]),
            velocities: JointVelocities([v, 0.1 * v, 0.2 * v, 0.0, 0.0, -0.1 * v, 0.0]),
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let waypoints =
        [waypoint(0.0, 0.0, 0), waypoint(0.4, 0.5, 1_000), waypoint(0.8, 0.0, 2_000), waypoint(0.0, 0.0, 4_000)];
    let trajectory = Trajectory::through(&waypoints).expect("a motion");
    LawConfig::JointServo { reference: Reference::Relative(trajectory), config: JointServoConfig::default() }
}

/// Calls `count` for each measured law, with a name, the limits of its instructions and a commanding engine.
pub fn each(mut count: impl FnMut(&str, Limits, &mut Answering)) {
    let standoff = LawConfig::Standoff(StandoffConfig { travel: [0.01, 0.0], ..StandoffConfig::new(SENSOR, DISTANCE) });
    let tool = Control::ToolImpedance(ToolImpedance::default());
    for (name, limits, law, control) in [
        (
            "FRI measurement to command, joint servo on a trajectory",
            Limits::counted(18_662, 19_321),
            servo(),
            Control::Position,
        ),
        ("FRI measurement to command, standoff in tool impedance", Limits::counted(27_275, 27_934), standoff, tool),
    ] {
        count(name, limits, &mut Answering::commanding(law, control));
    }
}
