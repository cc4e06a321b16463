//! Configurations with `robot.kind = "krc"`: a KUKA LWR over the Fast Research Interface.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use outrigger_core::engine::krc::{
    Control, JointImpedance, KrcConfig, KrcOptions, KrcSettings, MirroredFrame, ToolImpedance,
};
use outrigger_core::law::{LawConfig, SensorAdds};
use outrigger_core::mode::{OperatorConfig, StandstillConfig};
use outrigger_core::trajectory::Waypoint;
use outrigger_wire::fri::{CommandFlags, DEFAULT_PORT};

use crate::krl_variables::VariableSettings;
use crate::law::{self, Surroundings};
use crate::reader::{Problem, Section};
use crate::sources::{Input, SourceSettings};
use crate::{
    BoardInput, DeviceSettings, Failure, HostSettings, RosSettings, RunSettings, ServeSettings, limits, refuse_unasked,
    session,
};

/// The error text for `law.expert.sensor_adds` in a KRC's configuration, with the values that are accepted beside
/// "speeds".
const ADDED: &str = "\"torques\" with robot.expert.control = \"joint-impedance\", or \"wrench\" with \
                     \"tool-impedance\", unless left_to_krl names it";

/// The settings of a process on a host that controls a KUKA LWR through its KRC.
#[derive(Clone, Debug)]
pub struct KrcConfiguration {
    /// The local address and port that receive the KRC's measurements.
    pub listen: SocketAddr,
    /// The settings of the control engine for the KRC.
    pub engine: KrcConfig,
    /// The settings of the control law that moves the arm.
    pub law: LawConfig<7>,
    /// The sensors. The index of a sensor in this list is its number in the engine.
    pub sources: Vec<SourceSettings>,
    /// The variables of the KRL program on the KRC that requests can refer to.
    pub variables: Vec<VariableSettings>,
    /// The conditions on which a run starts and ends, and its recordings.
    pub run: RunSettings,
    /// The scheduling and memory that the process requests from the operating system.
    pub host: HostSettings,
    /// The TCP port at which other programs read the session's states and events.
    pub serve: ServeSettings,
    /// The settings of the ROS 2 node.
    pub ros: RosSettings,
}

impl KrcConfiguration {
    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    /// Returns [`Failure`] if the file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        crate::load(path, Self::parse)
    }

    /// Parses the TOML text of a configuration for a host that controls a KUKA LWR.
    ///
    /// # Errors
    /// Returns every problem, in the order of the document. The list is never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        crate::read(source, Self::read)
    }

    pub(crate) fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        root.refuse("device", "no such table: it is for a board's file, but this file is for a host");
        let common = Common::read(root, true);
        let run = RunSettings::of(root.section("run"));
        let host = HostSettings::of(root.section("host"));
        let ros = RosSettings::of(root.section("ros"));
        if !run.record_variables.is_empty() {
            let why = "no such key for a KRC: these are variables of RTDE, and a KRC's measurements are recorded \
                       completely";
            root.complain_at("run.record_variables", why);
        }
        if !ros.variables.is_empty() {
            root.complain_at("ros.variables", "no such key for a KRC: these are variables of RTDE");
        }
        if run.lock_pendant {
            root.complain_at(
                "run.lock_pendant",
                "no such key for a KRC: its pendant has no user roles that a program can set",
            );
        }
        let serve = ServeSettings::of(root.section("serve"));
        refuse_unasked(root, &ros, &run);
        let Common { listen, mut engine, law, rest, sources, variables } = common?;
        law::refuse_long_motion(root, &rest);
        let flags = engine.peer.control.flags();
        let adds = match engine.peer.control {
            Control::JointImpedance(_) if flags.contains(CommandFlags::JOINT_TORQUE) => SensorAdds::Torques,
            Control::ToolImpedance(_) if flags.contains(CommandFlags::TOOL_WRENCH) => SensorAdds::Wrench,
            Control::Position | Control::JointImpedance(_) | Control::ToolImpedance(_) => SensorAdds::Speeds,
        };
        law::refuse_added(root, &law, adds, ADDED);
        engine.operator.start_within = run.asks_within();
        session::check_operator(root, &engine.operator);
        Some(Self { listen, engine, law, sources, variables, run, host, serve, ros })
    }
}

/// The configuration of a board that controls a KUKA LWR.
#[derive(Clone, Debug)]
pub struct KrcBoard {
    /// The settings of the control engine for the KRC.
    pub engine: KrcConfig,
    /// The settings of the control law that moves the arm.
    pub law: LawConfig<7>,
    /// The waypoints of the control law's motion beyond those that fit into the engine's memory. They are fed to the
    /// engine while the motion runs.
    pub rest: Vec<Waypoint<7>>,
    /// The sensors. The index of a sensor in this list is its number in the engine.
    pub sources: Vec<SourceSettings<BoardInput>>,
    /// The settings of the board outside its control engine: network, telemetry, pins, recorder and requests.
    pub device: DeviceSettings,
}

impl KrcBoard {
    /// Parses the TOML text of a configuration for a board that controls a KUKA LWR.
    ///
    /// # Errors
    /// Returns every problem, in the order of the document. The list is never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        crate::read(source, Self::read)
    }

    pub(crate) fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        crate::refuse_tables_of_hosts(root);
        let common = Common::read(root, false);
        let device = DeviceSettings::read(root.section("device"));
        let (Common { listen, mut engine, law, rest, sources, .. }, device) = common.zip(device)?;
        law::refuse_added(root, &law, SensorAdds::Speeds, "\"speeds\": a board adds neither torques nor a wrench");
        device.pins.write(&mut engine.operator);
        session::check_operator_of_board(root, &engine.operator);
        if device.brake_release_pin {
            root.complain_at("device.brake_release_pin", "false: a KRC has no dashboard server");
        }
        if !listen.ip().is_unspecified() && listen.ip() != IpAddr::V4(device.address) {
            root.complain_at("robot.listen", "\"0.0.0.0:PORT\": a board has one address, that of device.address");
        }
        Some(Self { engine, law, rest, sources, device })
    }

    /// Returns the board's settings in the form that is compiled into the firmware.
    #[must_use]
    pub fn settings(&self) -> KrcSettings {
        let Self { engine, law, sources, device, .. } = self;
        let robot = match engine.peer.address {
            Some(IpAddr::V4(address)) => address,
            Some(IpAddr::V6(_)) | None => Ipv4Addr::UNSPECIFIED,
        };
        KrcSettings { robot, config: *engine, law: law.clone(), device: device.device(sources) }
    }
}

/// The settings that the configurations of a KRC for hosts and for boards share.
struct Common<I> {
    listen: SocketAddr,
    engine: KrcConfig,
    law: LawConfig<7>,
    rest: Vec<Waypoint<7>>,
    sources: Vec<SourceSettings<I>>,
    variables: Vec<VariableSettings>,
}

impl<I: Input> Common<I> {
    /// Reads the tables that the configurations of a KRC for hosts and boards share. KRL variables may have names only
    /// if `named` is `true`. Returns `None` and records a problem if the law or a sensor is missing or wrong.
    fn read(root: &mut Section<'_, '_>, named: bool) -> Option<Self> {
        let default = KrcConfig::default();
        let mut robot = root.section("robot");
        robot.choice("kind", &[("krc", ())], ());
        let anywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), DEFAULT_PORT);
        let listen = address(&mut robot, "listen", "a local address such as \"0.0.0.0:49938\"").unwrap_or(anywhere);
        let krc = address(&mut robot, "peer", "the KRC's address such as \"192.168.0.20\"");
        let mut peer = KrcOptions { port: listen.port(), address: krc, ..KrcOptions::default() };
        peer.read(&mut robot);
        peer.control = control(&mut robot);
        robot.finish();
        let variables = VariableSettings::read_all(root.sections("variable"), named, &mut peer);
        let mut section = root.section("limits");
        let limits = limits::read(&mut section, default.limits, None);
        peer.tracking.read(&mut section);
        peer.added.read(&mut section);
        section.finish();
        let (sources, names) = SourceSettings::read_all(root.sections("source"));
        let law = law::read(root.section("law"), &Surroundings { sources: &names, limits: &limits, endless: None });
        let mut judging = root.section("session");
        let (mode, link) = session::judging(&mut judging);
        judging.finish();
        let standstill = root.section("standstill").settings(StandstillConfig::read);
        let mode = session::stopping(mode, &standstill);
        let operator = root.section("operator").settings(OperatorConfig::read);
        let sources: Vec<_> = sources.into_iter().collect::<Option<_>>()?;
        let mut engine = KrcConfig { peer, link, mode, standstill, limits, operator, ..default };
        for ((index, slot), source) in (0..).zip(&mut engine.sources).zip(&sources) {
            *slot = Some(source.engine(index));
        }
        if let Err(error) = engine.check_ranges() {
            session::complain(root, &error);
        }
        engine.conflicts(|conflict| root.complain_of(&conflict));
        let (law, rest) = law?;
        Some(Self { listen, engine, law, rest, sources, variables })
    }
}

fn address<T: std::str::FromStr>(section: &mut Section<'_, '_>, key: &'static str, what: &str) -> Option<T> {
    let text = section.text(key, what)?;
    text.parse().map_err(|_| section.complain(key, what)).ok()
}

fn control(section: &mut Section<'_, '_>) -> Control {
    #[derive(Clone, Copy, PartialEq)]
    enum Scheme {
        Position,
        Joint,
        Tool,
    }
    let names = [("position", Scheme::Position), ("joint-impedance", Scheme::Joint), ("tool-impedance", Scheme::Tool)];
    let scheme = section.choice("control", &names, Scheme::Position);
    let (mut joint, mut tool) = (JointImpedance::default(), ToolImpedance::default());
    const OF_IMPEDANCE: [&str; 5] = ["stiffness", "damping", "torque", "wrench", "left_to_krl"];
    if scheme == Scheme::Position && OF_IMPEDANCE.iter().any(|key| section.has(key)) {
        joint.read(section);
        tool.read(section);
        left_to_krl(section, JointImpedance::FIELDS);
        for key in OF_IMPEDANCE.into_iter().filter(|key| section.has(key)) {
            section.complain(key, "control = \"joint-impedance\" or \"tool-impedance\" with it");
        }
    }
    if scheme != Scheme::Tool {
        let key = "mirrored_frame";
        section.choice(key, MirroredFrame::WORDS, tool.mirrors);
        if section.has(key) {
            section.complain(key, "control = \"tool-impedance\" with it: joints are always mirrored");
        }
    }
    match scheme {
        Scheme::Position => Control::Position,
        Scheme::Joint => {
            joint.read(section);
            joint.left_to_krl = left_to_krl(section, JointImpedance::FIELDS);
            Control::JointImpedance(joint)
        }
        Scheme::Tool => {
            tool.read(section);
            tool.left_to_krl = left_to_krl(section, ToolImpedance::FIELDS);
            Control::ToolImpedance(tool)
        }
    }
}

/// Reads the list of command fields whose values the KRL program decides instead of this process. Accepts only the
/// `fields` of the chosen control scheme.
fn left_to_krl(section: &mut Section<'_, '_>, fields: &[(&str, CommandFlags)]) -> CommandFlags {
    let words: Vec<_> = fields.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let what = format!("fields that the KRL program decides: {}", words.join(", "));
    let texts = section.texts("left_to_krl", &what, |before, text| {
        let known = fields.iter().any(|(word, _)| *word == text) && !before.iter().any(|earlier| earlier == text);
        (!known).then(|| what.clone())
    });
    let named = fields.iter().filter(|(word, _)| texts.iter().any(|text| text == word));
    named.fold(CommandFlags::NONE, |left, (_, field)| left.with(*field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyConfiguration, RunsOn};
    use outrigger_core::engine::krc::KrlConvention;

    const FILE: &str = r#"
[robot]
kind = "krc"
peer = "192.168.0.20"
expert.control = "joint-impedance"
expert.stiffness = [800, 800, 800, 800, 300, 300, 300]
handshake = "isir"

[limits]
velocity = 0.5

[law]
kind = "joint-servo"
relative = true

[[law.waypoint]]
at = 0.0
degrees = 0

[[law.waypoint]]
at = 2.0
degrees = [10, 0, 0, 0, 0, 0, 0]
"#;

    #[test]
    fn a_file_for_a_krc_has_seven_joints() {
        let Ok(AnyConfiguration::Krc(RunsOn::Host(read))) = AnyConfiguration::parse(FILE) else {
            panic!("it is for a KRC")
        };
        assert_eq!((read.engine.peer.port, read.engine.peer.handshake), (49_938, KrlConvention::Isir));
        assert_eq!(read.engine.limits.velocity.0, [0.5; 7]);
        assert!(matches!(read.engine.peer.control, Control::JointImpedance(i) if i.stiffness[4] == 300.0));
        assert!(read.engine.limits.position_max.0[0] > 2.9, "the arm's own, where the file says nothing");
    }

    #[test]
    fn the_same_file_with_a_device_is_a_boards_and_steers_alike() {
        let device = "[device]\naddress = \"192.168.0.60/24\"\ntelemetry = \"192.168.0.1:47000\"\n";
        let Ok(AnyConfiguration::Krc(RunsOn::Board(board))) = AnyConfiguration::parse(&format!("{FILE}{device}"))
        else {
            panic!("it is for a board beside a KRC")
        };
        let host = KrcConfiguration::parse(FILE).expect("a configuration");
        let mut bytes = vec![0; 16 << 10];
        let length = board.settings().to_postcard(&mut bytes).expect("room");
        let settings = KrcSettings::from_postcard(&bytes[..length]).expect("settings");
        assert_eq!((settings.config.peer.port, settings.config), (49_938, host.engine));
        assert_eq!(settings.device.address, Ipv4Addr::new(192, 168, 0, 60));
        let told = |more: &str| {
            let problems = KrcBoard::parse(&format!("{FILE}{device}{more}")).expect_err("something is wrong");
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        assert!(told("[run]\nend = \"done\"\n").contains("for a host's file"));
        assert!(told("[serve]\nlisten = \"127.0.0.1:5555\"\n").contains("for a host's file"));
        let text = told("expert.brake_release_pin = true\n");
        let expected = "device.expert.brake_release_pin: found true, expected false: a KRC has no dashboard server";
        assert!(text.contains(expected), "{text}");
        let elsewhere = FILE.replace("peer =", "listen = \"192.168.0.61:49938\"\npeer =");
        assert!(KrcBoard::parse(&format!("{elsewhere}{device}")).is_err(), "an address that the board has not");
    }

    #[test]
    fn others_may_read_beside_a_krc_too() {
        let read = |more: &str| KrcConfiguration::parse(&format!("{FILE}{more}"));
        let nobody = read("").expect("a configuration").serve;
        assert_eq!((nobody.listen, nobody.readers), (None, 32));
        let serve = read("[serve]\nlisten = \"127.0.0.1:5555\"\nexpert.readers = 3\n").expect("a configuration").serve;
        assert_eq!((serve.listen.map(|at| at.port()), serve.readers), (Some(5_555), 3));
        assert!(read("[serve]\nlisten = \"5555\"\n").is_err(), "no address");
    }

    #[test]
    fn of_a_file_for_neither_kind_of_robot_only_the_kind_is_told() {
        let problems = AnyConfiguration::parse(&FILE.replace("\"krc\"", "\"kuka\"")).expect_err("no such kind");
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        let text = problem.to_string();
        assert!(text.contains("robot.kind") && text.contains("\"ur\", \"krc\""), "{text}");
    }

    #[test]
    fn what_does_not_belong_is_named_with_its_line() {
        let told = |file: &str| {
            let problems = KrcConfiguration::parse(file).expect_err("something is wrong");
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let text = told(&FILE.replace("expert.control = \"joint-impedance\"\n", ""));
        assert!(text.contains("robot.expert.stiffness") && text.contains("joint-impedance"), "{text}");
        let adds = |word: &str, robot: &str| {
            let sensor = format!("relative = true\nsensor = \"hand\"\nexpert.sensor_adds = \"{word}\"");
            let file = FILE.replace("relative = true", &sensor).replace("handshake =", &format!("{robot}handshake ="));
            let source = "[[source]]\nname = \"hand\"\ninput = \"requests\"\nvalues = 6\nrange = [-10, 10]\n";
            KrcConfiguration::parse(&format!("{file}{source}"))
        };
        let read = adds("torques", "").expect("torques are added in joint impedance");
        let LawConfig::JointServo { config, .. } = &read.law else { panic!("{:?}", read.law) };
        assert_eq!((config.sensor_adds, config.sensor.map(|sensor| sensor.gain)), (SensorAdds::Torques, Some(1.0)));
        for (word, robot) in [("wrench", ""), ("torques", "expert.left_to_krl = [\"torque\"]\n")] {
            let problems = adds(word, robot).expect_err("nobody adds it");
            let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(text.contains("law.expert.sensor_adds") && text.contains("tool-impedance"), "{text}");
        }
        let text = told(&FILE.replace("handshake =", "expert.mirrored_frame = \"measured\"\nhandshake ="));
        assert!(text.contains("robot.expert.mirrored_frame") && text.contains("tool-impedance"), "{text}");
        let text = told(&FILE.replace("degrees = [10, 0, 0, 0, 0, 0, 0]", "degrees = [10, 0, 0, 0, 0, 0]"));
        assert!(text.contains("one number or 7"), "{text}");
        let text = told(&FILE.replace("handshake = \"isir\"", "handshake = \"ros\""));
        assert!(text.contains("robot.handshake") && text.contains("ros-control"), "{text}");
    }
}
