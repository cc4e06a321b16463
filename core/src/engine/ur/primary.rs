//! The primary link (30001, or 30002): the software and the arm, whether a program runs, and the controller's reports.

use super::io_terminals::{BoardIo, ToolIo};
use crate::mode::{Activity, TimedFact};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, Found, FrameError, Framing, Probe, StreamCounts, count_one};
use outrigger_wire::math::double_conversion::to_f32_by_call;
use outrigger_wire::primary::{
    ConfigurationData, KinematicsInfo, Message, MessageKind, Report, RobotMessagePayload, RobotModeData, SubPackage,
    SubPackages,
};
use outrigger_wire::robot::{Generation, MasterSafetyState, Pose, RobotMode, RobotModel, Safety, SoftwareVersion};
use outrigger_wire::time::Instant;

/// An item received on the primary link; `Primary::commit` calls its callback once for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PrimaryEvent {
    /// The software version, from the controller's version message; the facts contain it from now on.
    Software(SoftwareVersion),
    /// A robot state message arrived; the facts are updated from it.
    State,
    /// A report of the controller for people, such as an error message.
    Report(Report),
    /// Any other message of the controller that was understood.
    Other,
    /// The received bytes are not a sequence of messages, for this reason.
    Frame(FrameError),
    /// A message that cannot be used, or only in part, for this reason.
    Malformed(WireError),
}

/// The geometry that the controller reports: Denavit–Hartenberg parameters, one value per joint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Geometry {
    /// The parameter theta of each joint \[rad\]: the turn about z.
    pub theta: [f64; 6],
    /// The parameter a of each joint \[m\]: the shift along x.
    pub a: [f64; 6],
    /// The parameter d of each joint \[m\]: the shift along z.
    pub d: [f64; 6],
    /// The parameter alpha of each joint \[rad\]: the turn about x.
    pub alpha: [f64; 6],
}

/// The controller's configuration of the arm (sub-package 6).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ArmConfiguration {
    /// The lowest and the highest angle of each joint \[rad\].
    pub positions: [(f32, f32); 6],
    /// The highest speed of each joint \[rad/s\].
    pub velocities: [f32; 6],
    /// The field `robotType`: 1 UR5, 2 UR10, 3 UR3, 4 UR16, 5 UR18, 6 UR8LONG, 7 UR20, 8 UR30, 9 UR15.
    pub robot_type: i32,
    /// The field `robotSubType` of the controller's configuration data.
    pub robot_sub_type: i32,
    /// The nominal geometry of the arm, before calibration.
    pub geometry: Geometry,
}

impl ArmConfiguration {
    /// Returns the possible models on a controller of this generation, the oldest first; none for an unknown type. Arms
    /// that share a type cannot be distinguished.
    #[must_use]
    pub const fn models(&self, generation: Generation) -> &'static [RobotModel] {
        use RobotModel as Model;
        let is_old = matches!(generation, Generation::Cb2 | Generation::Cb3);
        match (self.robot_type, is_old) {
            (1, true) => &[Model::Ur5],
            (1, false) => &[Model::Ur5e, Model::Ur7e],
            (2, true) => &[Model::Ur10],
            (2, false) => &[Model::Ur10e, Model::Ur12e],
            (3, true) => &[Model::Ur3],
            (3, false) => &[Model::Ur3e],
            (4, _) => &[Model::Ur16e],
            (5, _) => &[Model::Ur18],
            (6, _) => &[Model::Ur8Long],
            (7, _) => &[Model::Ur20],
            (8, _) => &[Model::Ur30],
            (9, _) => &[Model::Ur15],
            _ => &[],
        }
    }

    /// Returns the highest rated payload of arms of this type \[kg\]; `None` for an unknown type. Arms that share a
    /// type (UR5, UR5e and UR7e) cannot be distinguished: the strongest of them counts.
    #[must_use]
    pub const fn rated_payload(&self) -> Option<f32> {
        let strongest = match self.robot_type {
            1 => RobotModel::Ur7e,
            2 => RobotModel::Ur12e,
            3 => RobotModel::Ur3e,
            4 => RobotModel::Ur16e,
            5 => RobotModel::Ur18,
            6 => RobotModel::Ur8Long,
            7 => RobotModel::Ur20,
            8 => RobotModel::Ur30,
            9 => RobotModel::Ur15,
            _ => return None,
        };
        Some(strongest.rated_payload())
    }
}

/// The facts that the primary link has delivered in this connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct PrimaryFacts {
    /// The software version, from the version message; `None` before it arrives.
    pub software: Option<SoftwareVersion>,
    /// The activity of the controller's program interpreter.
    pub program: Option<TimedFact<Activity>>,
    /// The robot mode that the controller reports.
    pub robot_mode: Option<TimedFact<RobotMode>>,
    /// The state of the safety system: the masterboard's safety mode; on CB2 the robot mode replaces it.
    pub safety: Option<TimedFact<Safety>>,
    /// The safety state of the masterboard, which only a CB2 sends.
    pub master_safety: Option<TimedFact<MasterSafetyState>>,
    /// The position of the speed slider, 0 … 1.
    pub speed_slider: Option<f32>,
    /// The tool centre point in the flange frame (3.1 and later).
    pub tcp_offset: Option<Pose>,
    /// The arm's own, calibrated geometry, if the controller sends it.
    pub geometry: Option<Geometry>,
    /// The controller's configuration of the arm, if it sends it.
    pub configuration: Option<ArmConfiguration>,
    /// The levels and signals at the terminals of the control box.
    pub board: Option<TimedFact<BoardIo>>,
    /// The levels and signals at the terminals of the tool.
    pub tool: Option<TimedFact<ToolIo>>,
    /// `true` once the controller has reported that it accepts no programs because it is in local control.
    pub local_control: bool,
}

/// The intake of messages of 30001 or 30002, and the facts in them.
#[derive(Debug)]
pub(super) struct Primary<'m> {
    assembler: Assembler<'m>,
    probe: Probe,
    facts: PrimaryFacts,
    counts: StreamCounts,
}

impl<'m> Primary<'m> {
    /// Creates the intake of the primary link; `None` if `memory` is too short.
    pub(super) fn new(memory: &'m mut [u8]) -> Option<Self> {
        let assembler = Assembler::new(Framing::Primary, memory).ok()?;
        Some(Self {
            assembler,
            probe: Probe::default(),
            facts: PrimaryFacts::default(),
            counts: StreamCounts::default(),
        })
    }

    /// Prepares the intake for a new connection of the primary link.
    pub(super) fn reset(&mut self) {
        self.assembler.reset();
        self.probe = Probe::default();
        self.facts = PrimaryFacts::default();
        self.counts = StreamCounts::default();
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// Takes the `count` bytes in the window and calls `said` for each item that they complete.
    pub(super) fn commit(&mut self, count: usize, now: Instant, mut said: impl FnMut(PrimaryEvent, &PrimaryFacts)) {
        if let Some(bytes) = self.assembler.window().get(..count) {
            self.probe.take(bytes);
        }
        self.assembler.commit(count);
        while let Some(frame) = self.assembler.next_frame() {
            let news = match frame {
                Ok(bytes) => take(bytes, &mut self.facts, &mut self.counts, now),
                Err(error) => {
                    match error {
                        FrameError::Oversize { .. } => count_one(&mut self.counts.oversize),
                        FrameError::LostSync { .. } => count_one(&mut self.counts.lost_sync),
                        FrameError::Resynchronised { .. } => {}
                    }
                    PrimaryEvent::Frame(error)
                }
            };
            if let PrimaryEvent::Malformed(_) = news {
                count_one(&mut self.counts.malformed);
            }
            said(news, &self.facts);
        }
    }

    /// Discards the finding that the controller is in local control, because the refused URScript text was another
    /// client's, or such text is accepted all the same.
    pub(super) const fn deny_local_control(&mut self) {
        self.facts.local_control = false;
    }

    pub(super) const fn facts(&self) -> &PrimaryFacts {
        &self.facts
    }

    /// Returns the service that answers on the connection, found in its first bytes; `None` if it is the expected
    /// primary interface or not known.
    pub(super) fn wrong_service(&self) -> Option<Found> {
        self.probe.instead_of_primary()
    }

    /// Returns the number of bytes that were skipped on this connection.
    pub(super) const fn dropped(&self) -> u64 {
        self.assembler.dropped()
    }

    /// Returns the size of the memory that the primary link receives into \[B\].
    #[cfg(feature = "record")]
    pub(super) const fn memory_size(&self) -> usize {
        self.assembler.memory_size()
    }

    pub(super) const fn counts(&self) -> &StreamCounts {
        &self.counts
    }

    /// Returns the bytes received into the window, before they are committed.
    #[cfg(feature = "record")]
    pub(super) fn received(&mut self, count: usize) -> &[u8] {
        self.assembler.window().get(..count).unwrap_or_default()
    }

    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        let Self { assembler, probe, facts, counts } = self;
        to.put(&assembler.pending())?;
        to.put(&(probe, facts, counts))
    }

    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.assembler.restore(&from.take()?)?;
        (self.probe, self.facts, self.counts) = from.take()?;
        Some(())
    }
}

fn take(bytes: &[u8], facts: &mut PrimaryFacts, counts: &mut StreamCounts, now: Instant) -> PrimaryEvent {
    let message = match Message::new_checked(bytes) {
        Ok(message) => message,
        Err(error) => return PrimaryEvent::Malformed(error),
    };
    counts.messages = counts.messages.saturating_add(1);
    match message.kind() {
        MessageKind::RobotState(packages) => take_state(packages, facts, counts, now),
        MessageKind::RobotMessage(message) => match message.payload(facts.software) {
            Ok(RobotMessagePayload::Version(version)) => {
                facts.software = Some(version.software());
                PrimaryEvent::Software(version.software())
            }
            Ok(RobotMessagePayload::Raw { .. }) => {
                count_one(&mut counts.unknown);
                PrimaryEvent::Other
            }
            Ok(_) => match Report::of(&message, facts.software) {
                Ok(Some(report)) => {
                    facts.local_control |= report.says_local_control();
                    PrimaryEvent::Report(report)
                }
                Ok(None) => PrimaryEvent::Other,
                Err(error) => PrimaryEvent::Malformed(error),
            },
            Err(error) => PrimaryEvent::Malformed(error),
        },
        MessageKind::ProgramState(_) => PrimaryEvent::Other,
        MessageKind::Internal { .. } => {
            count_one(&mut counts.unknown);
            PrimaryEvent::Other
        }
    }
}

fn take_state(
    packages: SubPackages<'_>,
    facts: &mut PrimaryFacts,
    counts: &mut StreamCounts,
    now: Instant,
) -> PrimaryEvent {
    let mut broken = None;
    for package in packages {
        match package {
            Ok(SubPackage::RobotModeData(mode)) => take_mode(&mode, facts, now),
            Ok(SubPackage::MasterboardData(board)) => {
                facts.safety = Some(TimedFact::new(Safety::Mode(board.named_safety_mode()), now));
                facts.board = Some(TimedFact::new(BoardIo::of(&board), now));
            }
            Ok(SubPackage::MasterboardDataCb2(board)) => {
                facts.master_safety = board.named_safety_state().map(|state| TimedFact::new(state, now));
                facts.board = Some(TimedFact::new(BoardIo::of_cb2(&board), now));
            }
            Ok(SubPackage::ToolData(tool)) => facts.tool = Some(TimedFact::new(ToolIo::of(&tool), now)),
            Ok(SubPackage::CartesianInfo(info)) => facts.tcp_offset = info.tcp_offset().map(Pose::from_wire),
            Ok(SubPackage::KinematicsInfo(info)) => {
                if let Some(geometry) = geometry(&info) {
                    facts.geometry = Some(geometry);
                }
            }
            Ok(SubPackage::ConfigurationData(data)) => facts.configuration = Some(configuration(&data)),
            Ok(SubPackage::Unknown { .. }) => count_one(&mut counts.unknown),
            Ok(_) => {}
            Err(error) => broken = broken.or(Some(error)),
        }
    }
    broken.map_or(PrimaryEvent::State, PrimaryEvent::Malformed)
}

fn take_mode(mode: &RobotModeData<'_>, facts: &mut PrimaryFacts, now: Instant) {
    let activity = match (mode.is_program_running(), mode.is_program_paused()) {
        (_, true) => Activity::Paused,
        (true, false) => Activity::Running,
        (false, false) => Activity::Stopped,
    };
    let robot_mode = mode.named_robot_mode();
    facts.program = Some(TimedFact::new(activity, now));
    facts.robot_mode = Some(TimedFact::new(robot_mode, now));
    if mode.speed_fraction().is_some() {
        // CB2: no message has a safety mode.
        facts.safety = Some(TimedFact::new(Safety::FromRobotMode(robot_mode), now));
    }
    let slider = mode.target_speed_fraction().or(mode.speed_fraction());
    facts.speed_slider = slider.map(to_f32_by_call);
}

fn geometry(info: &KinematicsInfo<'_>) -> Option<Geometry> {
    let geometry = Geometry { theta: info.dh_theta()?, a: info.dh_a()?, d: info.dh_d()?, alpha: info.dh_alpha()? };
    let finite = [geometry.theta, geometry.a, geometry.d, geometry.alpha].as_flattened().iter().all(|v| v.is_finite());
    finite.then_some(geometry)
}

fn configuration(data: &ConfigurationData<'_>) -> ArmConfiguration {
    ArmConfiguration {
        positions: data
            .joint_limits()
            .map(|joint| (to_f32_by_call(joint.joint_min_limit), to_f32_by_call(joint.joint_max_limit))),
        velocities: data.joint_dynamics().map(|joint| to_f32_by_call(joint.joint_max_speed)),
        robot_type: data.robot_type(),
        robot_sub_type: data.robot_sub_type(),
        geometry: Geometry { theta: data.dh_theta(), a: data.dh_a(), d: data.dh_d(), alpha: data.dh_alpha() },
    }
}
