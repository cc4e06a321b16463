//! The settings that files for hosts and boards share: robot, limits, law, sensors and session.

use outrigger_core::command::{Limits, TorqueLimits};
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::{LawConfig, SensorAdds};
use outrigger_core::trajectory::Waypoint;
use outrigger_wire::robot::{Pose, RobotModel};

use crate::address::RobotAddress;
use crate::law::Surroundings;
use crate::outputs::OutputsSettings;
use crate::reader::Section;
use crate::session::SessionSettings;
use crate::sources::{Input, SourceInput, SourceSettings};
use crate::{law, limits};

/// The settings of a Universal Robots arm that files for hosts and boards share: the robot, and how it is controlled.
/// `I` is the type of a sensor's input, on a host or on a board.
#[derive(Clone, Debug)]
pub struct Control<I = SourceInput> {
    /// The robot's address, model and tool.
    pub robot: RobotSettings,
    /// The limits of the arm's motion.
    pub limits: Limits<6>,
    /// The settings of the control law that moves the arm.
    pub law: LawConfig<6>,
    /// The waypoints of the control law's motion beyond those that fit into the engine's memory. They are fed to the
    /// engine while the motion runs.
    pub rest: Vec<Waypoint<6>>,
    /// The sensors. The index of a sensor in this list is its number in the engine.
    pub sources: Vec<SourceSettings<I>>,
    /// The settings of the session: how the link is judged and how commands are written.
    pub session: SessionSettings,
    /// The settings for outputs of the controller: the interface that sets them, the groups of RTDE inputs that are
    /// reserved for that, and the sensor that is passed to a program on the controller as its measured force.
    pub outputs: OutputsSettings,
}

/// The settings of the table `[robot]`: address, model and tool.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotSettings {
    /// The robot's host name or IP address, optionally with a port base B: the controller's port p is then at
    /// B + p − 29999.
    pub address: RobotAddress,
    /// The arm's model. The controller's arm must be this one. It determines the rated payload and other limits, and
    /// the kinematics if the controller does not send them.
    pub model: Option<RobotModel>,
    /// The tool centre point in the flange frame. `None` uses the controller's own.
    pub tcp: Option<Pose>,
}

impl<I> Control<I> {
    /// Reads the tables of a configuration that files for hosts and boards share. Returns `None` and records a problem
    /// if a key without a default is missing or wrong.
    pub(crate) fn read(root: &mut Section<'_, '_>) -> Option<Self>
    where
        I: Input,
    {
        let robot = RobotSettings::read(root.section("robot"));
        let mut section = root.section("limits");
        let endless = robot.as_ref().and_then(|robot| robot.model?.endless_joint());
        let mut limits = limits::read(&mut section, Limits::default(), endless);
        let mut torque = TorqueLimits::default();
        torque.read(&mut section);
        section.finish();
        let mut session = SessionSettings::read(root, torque);
        session.follow(root, &limits);
        // A limit that the file does not set is lowered to what the controller's settings allow.
        UrConfig { limits, ..session.config() }.conflicts(|conflict| match conflict.key {
            _ if root.stands(conflict.key) || conflict.most < Limits::<6>::ACCELERATION.least => {
                root.complain_of(&conflict);
            }
            "limits.expert.braking" => limits.braking = limits.braking.map(|limit| limit.min(conflict.most)),
            "limits.acceleration" => limits.acceleration = limits.acceleration.map(|limit| limit.min(conflict.most)),
            _ => root.complain_of(&conflict),
        });
        let (sources, names) = SourceSettings::read_all(root.sections("source"));
        let law = law::read(root.section("law"), &Surroundings { sources: &names, limits: &limits, endless });
        let outputs =
            OutputsSettings::read(root.section("outputs"), &Surroundings { sources: &names, limits: &limits, endless });
        let sources = sources.into_iter().collect::<Option<_>>();
        let (law, rest) = law?;
        law::refuse_added(
            root,
            &law,
            SensorAdds::Speeds,
            "\"speeds\": only a KUKA LWR adds torques or a wrench to its control law",
        );
        if session.path.is_torques() && !law.kind().commands_torques() {
            let path = session.path.name();
            let expected = format!("\"joint-servo\" with session.path = \"{path}\": no other law commands torques");
            root.complain_at("law.kind", expected);
        }
        Some(Self { robot: robot?, limits, law, rest, sources: sources?, session, outputs })
    }

    /// Returns the settings of the control engine for a Universal Robots arm.
    #[must_use]
    pub fn engine(&self) -> UrConfig {
        let mut config = UrConfig { limits: self.limits, ..self.session.config() };
        config.peer.model = self.robot.model;
        config.peer.tcp = self.robot.tcp;
        config.peer.connect.outputs = self.outputs.by;
        config.peer.connect.claims = self.outputs.claims;
        config.peer.force = self.outputs.force;
        for ((index, slot), source) in (0..).zip(&mut config.sources).zip(&self.sources) {
            *slot = Some(source.engine(index));
        }
        config
    }
}

impl RobotSettings {
    fn read(mut section: Section<'_, '_>) -> Option<Self> {
        let address = section.parsed("address", "the robot as \"host\" or \"host:port-base\"");
        if !section.has("address") {
            section.complain("address", "the robot as \"host\" or \"host:port-base\"");
        }
        // Other kinds of robots are read from files with another structure.
        section.choice("kind", &[("ur", ())], ());
        let models: Vec<_> = RobotModel::ALL.iter().map(|model| (model.name(), Some(*model))).collect();
        let model = section.choice("model", &models, None);
        let tcp = section.numbers("tcp", (-10.0..=10.0, "m, rad"));
        let tcp = tcp.map(|[x, y, z, rx, ry, rz]| Pose { position: [x, y, z], rotation: [rx, ry, rz] });
        section.finish();
        Some(Self { address: address?, model, tcp })
    }
}
