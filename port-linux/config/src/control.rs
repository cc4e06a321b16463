//! What the files of hosts and boards have in common: the robot, its limits, law, sensors and session.

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

/// The robot, and how it is steered; `I` is where sensor readings arrive.
#[derive(Clone, Debug)]
pub struct Control<I = SourceInput> {
    /// The robot.
    pub robot: RobotSettings,
    /// What the arm may do.
    pub limits: Limits<6>,
    /// What moves it.
    pub law: LawConfig<6>,
    /// What its motion has behind the waypoints that an engine holds.
    pub rest: Vec<Waypoint<6>>,
    /// The sensors; a source's index is its number in the engine.
    pub sources: Vec<SourceSettings<I>>,
    /// How the session judges and writes.
    pub session: SessionSettings,
    /// How outputs of the controller are set.
    pub outputs: OutputsSettings,
}

/// `[robot]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotSettings {
    /// Where it is.
    pub address: RobotAddress,
    /// What it is, for controllers that do not send their kinematics.
    pub model: Option<RobotModel>,
    /// Its tool centre point in the flange frame, where the controller's own is not to be used.
    pub tcp: Option<Pose>,
}

impl<I> Control<I> {
    /// `None` and a complaint where what cannot have a default is missing or wrong.
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
        // A limit that the file does not give is as low as what the controller is told, or left, to do.
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
            let expected = format!("\"joint-servo\" beside session.path = \"{path}\": no other law commands torques");
            root.complain_at("law.kind", expected);
        }
        Some(Self { robot: robot?, limits, law, rest, sources: sources?, session, outputs })
    }

    /// What the engine is told.
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
        // Another kind has another file.
        section.choice("kind", &[("ur", ())], ());
        let models: Vec<_> = RobotModel::ALL.iter().map(|model| (model.name(), Some(*model))).collect();
        let model = section.choice("model", &models, None);
        let tcp = section.numbers("tcp", (-10.0..=10.0, "m, rad"));
        let tcp = tcp.map(|[x, y, z, rx, ry, rz]| Pose { position: [x, y, z], rotation: [rx, ry, rz] });
        section.finish();
        Some(Self { address: address?, model, tcp })
    }
}
