//! Torques and forces that a law adds, as they appear in the answers to measurements.

use super::{A, address, bytes, measurement};
use crate::command::Samples;
use crate::engine::krc::{AddedLimits, Control, JointImpedance, KrcConfig, KrcEngine, KrcOptions, ToolImpedance};
use crate::engine::{Input, LinkId, Output};
use crate::law::{Forward, ForwardError, Forwarded, JointServo, JointServoConfig, Law, Reference};
use crate::mode::Mode;
use crate::recorder::Checkpoint;
use crate::robot::Reason;
use outrigger_wire::fri::{CartesianVector, Command, CommandFlags, Frame, MeasurementRepr};
use outrigger_wire::robot::{JointTorques, JointVelocities, State, Wrench};
use outrigger_wire::time::{Duration, Instant};

/// A law that adds the same torques, or the same wrench, to the command in each step.
#[derive(Clone, Copy)]
enum Gives {
    Nothing,
    Torques([f32; 7]),
    Wrench(Wrench),
}

impl Checkpoint for Gives {}

impl Law<7> for Gives {
    fn step(&mut self, _: &State<7>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
        match self {
            Self::Nothing => {}
            Self::Torques(torques) => samples.add_torques(&JointTorques(*torques))?,
            Self::Wrench(wrench) => samples.add_wrench(wrench)?,
        }
        Ok(JointVelocities::ZERO)
    }
}

/// An engine with a simulated KRC that follows every command.
struct Follower<L> {
    engine: KrcEngine<'static, L>,
    scheme: u16,
    counter: u16,
    reflected: u16,
    now: Instant,
    power: bool,
    /// The age of a measurement when it is read.
    late: Duration,
}

/// Returns the torque rounded to a thousandth of a Nm; NaN and infinity are unchanged.
fn rounded(torque: f32) -> f32 {
    (torque * 1_000.0).round() / 1_000.0 + 0.0
}

/// The torques and the wrench that a command adds.
type Sent = ([f32; 7], CartesianVector);

impl<L: Law<7>> Follower<L> {
    fn new(control: Control, law: L) -> Self {
        let added = AddedLimits { torque: [20.0; 7], rise: Duration::from_millis(10), ..AddedLimits::default() };
        let peer = KrcOptions { control, added, ..KrcOptions::default() };
        let engine = KrcEngine::new(KrcConfig { peer, ..KrcConfig::default() }, law, ()).unwrap();
        let scheme = control.scheme().raw();
        let now = Instant::from_micros(5_000_000);
        Self { engine, scheme, counter: 0, reflected: 0, now, power: true, late: Duration::ZERO }
    }

    fn cycles(&mut self, count: usize) {
        for _ in 0..count {
            let _ = self.cycle();
        }
    }

    /// Runs one cycle; returns the torques and the wrench that the engine's answer to the measurement adds.
    fn cycle(&mut self) -> Sent {
        self.now = self.now + Duration::from_millis(1);
        self.counter += 1;
        // It follows on until the arm rests.
        let asked = matches!(self.engine.mode(), Mode::Arming | Mode::Command | Mode::Stopping);
        let repr = MeasurementRepr {
            refl_seq_count: self.reflected,
            msr_jnt_pos: [0.75; 7],
            state: if asked { 2 } else { 1 },
            control: self.scheme,
            power: if self.power { 0x7f } else { 0 },
            ..measurement(self.counter)
        };
        let frame = Frame { rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], ..Frame::default() };
        let repr = MeasurementRepr { cmd_cart_pos: frame, msr_cart_pos: frame, ..repr };
        let arrival = Instant::from_micros(self.now.as_micros() - self.late.as_micros());
        self.engine.receive_window(LinkId::FRI)[..916].copy_from_slice(&bytes(&repr));
        self.engine.commit_datagram(LinkId::FRI, 916, address(A), arrival, self.now);
        self.engine.handle(self.now, Input::Tick);
        self.sent().expect("every measurement is answered")
    }

    fn sent(&mut self) -> Option<Sent> {
        let mut sent = None;
        while let Some(output) = self.engine.poll_output() {
            if let Output::Transmit { bytes, .. } = output {
                let command = Command::new_checked(bytes).unwrap();
                self.reflected = command.send_seq_count();
                sent = Some((command.add_jnt_trq().map(rounded), command.add_tcp_ft()));
            }
        }
        while self.engine.poll_event().is_some() {}
        sent
    }

    /// Runs until the arm is commanded; asserts that nothing is added before.
    fn commanded(mut self) -> Self {
        self.engine.handle(self.now, Input::Start);
        let _ = self.sent();
        let mut added = vec![];
        for _ in 0..2_000 {
            let sent = self.cycle();
            if self.engine.mode() == Mode::Command {
                assert!(added.iter().all(|sent| *sent == NOTHING), "{added:?}");
                return self;
            }
            added.push(sent);
            if self.engine.mode() == Mode::Monitor && self.engine.unmet(self.now).is_empty() {
                self.engine.handle(self.now, Input::Request(self.engine.mode_machine().epoch()));
            }
        }
        panic!("{:?} {:?}", self.engine.latch(), self.engine.unmet(self.now).iter().collect::<Vec<_>>());
    }
}

const NOTHING: Sent = ([0.0; 7], CartesianVector { linear: [0.0; 3], angular: [0.0; 3] });

fn joints() -> Control {
    Control::JointImpedance(JointImpedance { torque: [-4.0; 7], ..JointImpedance::default() })
}

fn follower(control: Control) -> Follower<Gives> {
    Follower::new(control, Gives::Nothing).commanded()
}

#[test]
fn a_law_adds_torques_in_place_of_the_constant_and_each_changes_no_faster_than_allowed() {
    let mut krc = follower(joints());
    assert_eq!(krc.cycle().0, [-4.0; 7], "the law gives nothing");
    *krc.engine.law_mut() = Gives::Torques([10.0; 7]);
    let rises: Vec<f32> = (0..9).map(|_| krc.cycle().0[3]).collect();
    assert_eq!(rises, [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 10.0, 10.0], "20 Nm in 10 ms");
    *krc.engine.law_mut() = Gives::Nothing;
    let falls: Vec<f32> = (0..9).map(|_| krc.cycle().0[3]).collect();
    assert_eq!(falls, [8.0, 6.0, 4.0, 2.0, 0.0, -2.0, -4.0, -4.0, -4.0]);
    assert_eq!(krc.engine.mode(), Mode::Command);
}

#[test]
fn measurements_that_are_lost_count_as_time() {
    let mut krc = follower(joints());
    *krc.engine.law_mut() = Gives::Torques([16.0; 7]);
    assert_eq!(krc.cycle().0[0], -2.0);
    (krc.counter, krc.now) = (krc.counter + 2, krc.now + Duration::from_millis(2));
    assert_eq!(krc.cycle().0[0], 4.0, "three cycles");
}

#[test]
fn a_wrench_has_the_order_of_the_wire_and_its_own_limits() {
    let control = Control::ToolImpedance(ToolImpedance::default());
    let mut krc = follower(control);
    let wrench = Wrench { force: [10.0, 20.0, 30.0], torque: [1.0, 2.0, 3.0] };
    *krc.engine.law_mut() = Gives::Wrench(wrench);
    krc.cycles(10);
    assert_eq!(krc.cycle(), ([0.0; 7], wrench.into()));
    *krc.engine.law_mut() = Gives::Wrench(Wrench { force: [0.0, 0.0, 100.1], ..wrench });
    assert_eq!((krc.cycle(), krc.engine.latch()), (NOTHING, Some(Reason::TorqueLimit)));
}

#[test]
fn what_is_not_allowed_ends_commanding_and_nothing_of_it_goes_out() {
    let with = |number: f32| {
        let mut torques = [1.0; 7];
        torques[6] = number;
        Gives::Torques(torques)
    };
    for (gives, reason) in [
        (with(20.1), Reason::TorqueLimit),
        (with(-20.1), Reason::TorqueLimit),
        (with(f32::NAN), Reason::NotFinite),
        (with(f32::NEG_INFINITY), Reason::NotFinite),
        (Gives::Wrench(Wrench::default()), Reason::PathUnfit),
    ] {
        let mut krc = follower(joints());
        *krc.engine.law_mut() = with(1.0);
        krc.cycles(20);
        *krc.engine.law_mut() = gives;
        assert_eq!((krc.cycle(), krc.engine.latch()), (NOTHING, Some(reason)));
        assert_eq!(krc.cycle(), NOTHING, "while the KRC still follows");
    }
}

#[test]
fn nothing_is_added_without_a_motion_of_the_law() {
    let mut krc = follower(joints());
    *krc.engine.law_mut() = Gives::Torques([10.0; 7]);
    krc.cycles(20);
    krc.engine.handle(krc.now, Input::Release);
    assert_eq!(krc.cycle(), NOTHING, "released");
    let mut krc = krc.commanded();
    assert_eq!(krc.cycle().0, [4.0; 7], "begins at nothing: this is the second cycle");
    krc.power = false;
    assert_eq!(krc.cycle(), NOTHING, "drives are off");
    assert_ne!(krc.engine.mode(), Mode::Command);
}

#[test]
fn measurements_that_are_read_late_make_no_step_in_what_is_added() {
    let mut krc = follower(joints());
    *krc.engine.law_mut() = Gives::Torques([10.0; 7]);
    krc.cycles(20);
    let mut last = krc.cycle().0[0];
    assert_eq!(last, 10.0);
    let (mut seen, late) = (vec![], [2; 3].into_iter().chain([0; 5]));
    // The answer to an old measurement is no motion of the law.
    for late in late {
        krc.late = Duration::from_millis(late);
        let sent = krc.cycle().0[0];
        assert_eq!(krc.engine.mode(), Mode::Command, "{seen:?}");
        assert!((sent - last).abs() <= 2.0 + 1e-3, "{last} to {sent} Nm");
        last = sent;
        seen.push(sent);
    }
    assert_eq!(seen, [8.0, 6.0, 4.0, 2.0, 0.0, -2.0, -4.0, -4.0], "towards the constant");
}

#[test]
fn nothing_is_taken_where_the_scheme_adds_nothing_or_the_krl_program_decides_it() {
    let left = JointImpedance { left_to_krl: CommandFlags::JOINT_TORQUE, ..JointImpedance::default() };
    let tool = ToolImpedance { left_to_krl: CommandFlags::TOOL_WRENCH, ..ToolImpedance::default() };
    let (torques, wrench) = (Gives::Torques([1.0; 7]), Gives::Wrench(Wrench::default()));
    for (control, gives) in [
        (Control::Position, torques),
        (Control::JointImpedance(left), torques),
        (Control::ToolImpedance(tool), wrench),
        (Control::ToolImpedance(ToolImpedance::default()), torques),
    ] {
        let mut krc = follower(control);
        *krc.engine.law_mut() = gives;
        assert_eq!((krc.cycle(), krc.engine.latch()), (NOTHING, Some(Reason::PathUnfit)), "{control:?}");
    }
}

#[test]
fn streamed_torques_are_added_to_joint_impedance_until_they_lapse() {
    let control = Control::JointImpedance(JointImpedance::default());
    let law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let forward =
        |torque| Forward { what: Forwarded::Torques(JointTorques([torque; 7])), holds: Duration::from_millis(20) };
    let mut krc = Follower::new(control, law.clone()).commanded();
    let refused = krc.engine.forward(&forward(20.5), krc.now).unwrap_err();
    assert_eq!(refused, ForwardError::Torque { joint: 0, sent: 20.5, allowed: 20.0 });
    assert_eq!(krc.engine.forward(&forward(10.0), krc.now), Ok(()));
    let sent: Vec<f32> = (0..30).map(|_| krc.cycle().0[0]).collect();
    assert_eq!(sent[..6], [2.0, 4.0, 6.0, 8.0, 10.0, 10.0]);
    assert_eq!(sent[19..27], [10.0, 8.0, 6.0, 4.0, 2.0, 0.0, 0.0, 0.0], "20 ms from the first state on");
    assert_eq!(krc.engine.mode(), Mode::Command);
    let mut krc = Follower::new(Control::Position, law).commanded();
    assert_eq!(krc.engine.forward(&forward(1.0), krc.now), Err(ForwardError::NoTorques));
}

#[test]
fn limits_of_what_is_added_are_checked() {
    let of = |added: AddedLimits| {
        let peer = KrcOptions { added, ..KrcOptions::default() };
        KrcConfig { peer, ..KrcConfig::default() }.check_ranges().map_err(|error| error.to_string())
    };
    let default = AddedLimits::default();
    assert_eq!(of(default), Ok(()));
    let constant = |most: f32| {
        let added = AddedLimits { torque: [most; 7], ..default };
        let peer = KrcOptions { control: joints(), added, ..KrcOptions::default() };
        KrcConfig { peer, ..KrcConfig::default() }.check_ranges().map_err(|error| error.to_string())
    };
    assert_eq!(constant(4.0), Ok(()));
    assert!(constant(3.9).unwrap_err().contains("added.torque"), "the constant is 4 Nm");
    for added in [
        AddedLimits { torque: [100.0; 7], ..default },
        AddedLimits { torque: [0.0; 7], ..default },
        AddedLimits { wrench: Wrench { force: [f32::NAN; 3], ..default.wrench }, ..default },
        AddedLimits { rise: Duration::from_millis(1), ..default },
    ] {
        let told = of(added).unwrap_err();
        assert!(told.contains("added."), "{told}");
    }
}
