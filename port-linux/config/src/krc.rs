//! A file whose `robot.kind` is `"krc"`: a KUKA LWR over the Fast Research Interface.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use outrigger_core::law::LawConfig;
use outrigger_core::session::fri::{
    Control, FriConfig, JointImpedance, KrlConvention, MirroredFrame, TaskFrame, ToolImpedance,
};
use outrigger_core::wire::fri::{CartesianVector, DEFAULT_PORT};

use crate::law::{self, Surroundings};
use crate::reader::{Problem, Section};
use crate::sources::SourceSettings;
use crate::{Failure, HostSettings, RunSettings, limits, session};

/// Everything such a file says.
#[derive(Clone, Debug)]
pub struct KrcConfiguration {
    /// Where measurements arrive.
    pub listen: SocketAddr,
    /// How the KRL program is asked to start.
    pub handshake: KrlConvention,
    /// What the engine is told.
    pub engine: FriConfig,
    /// What moves the arm.
    pub law: LawConfig<7>,
    /// The sensors; a source's index is its number in the engine.
    pub sources: Vec<SourceSettings>,
    /// When a run begins and ends.
    pub run: RunSettings,
    /// What is asked of the operating system.
    pub host: HostSettings,
}

impl KrcConfiguration {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn load(path: &Path) -> Result<Self, Failure> {
        crate::load(path, Self::parse)
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Every problem, in the order of the document; never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        crate::read(source, Self::read)
    }

    fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        root.refuse("device", "no such table: boards speak to controllers of Universal Robots");
        let default = FriConfig::default();
        let mut robot = root.section("robot");
        robot.choice("kind", &[("krc", ())], ());
        let anywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), DEFAULT_PORT);
        let listen = address(&mut robot, "listen", "a local address such as \"0.0.0.0:49938\"").unwrap_or(anywhere);
        let peer = address(&mut robot, "peer", "the KRC's address such as \"192.168.0.20\"");
        let handshake = robot.choice(
            "handshake",
            &KrlConvention::NAMED.map(|(value, name)| (name, value)),
            KrlConvention::default(),
        );
        let control = control(&mut robot);
        let task_frames = [("base", TaskFrame::Base), ("tool", TaskFrame::Tool)];
        let task_frame = robot.choice("task_frame", &task_frames, default.task_frame);
        let silence = robot.duration_or("silence", default.silence, 0.01..=10.0);
        robot.finish();
        let limits = limits::read(root.section("limits"), default.limits);
        let (sources, names) = SourceSettings::read_all(root.sections("source"));
        let law = law::read(root.section("law"), &Surroundings { sources: &names, limits: &limits });
        let mut judging = root.section("session");
        let (mode, link) = (session::mode(&mut judging), session::link(&mut judging));
        judging.finish();
        let standstill = session::standstill(root.section("standstill"));
        let operator = session::operator(root.section("operator"));
        let run = RunSettings::read(root.section("run"));
        for (key, given) in [("run.recordings", run.recordings.is_some()), ("run.record", run.record.is_some())] {
            if given {
                root.complain_at(key, "nothing: what a KRC sends is not recorded");
            }
        }
        root.refuse("serve", "no such table: nothing is served beside a KRC");
        let host = HostSettings::read(root.section("host"));
        let sources: Vec<_> = sources.into_iter().collect::<Option<_>>()?;
        let mut engine =
            FriConfig { peer, silence, control, task_frame, link, mode, standstill, limits, operator, ..default };
        for ((index, slot), source) in (0..).zip(&mut engine.sources).zip(&sources) {
            *slot = Some(source.engine(index));
        }
        if let Err(error) = engine.check() {
            root.complain_at("session", error.to_string());
        }
        Some(Self { listen, handshake, engine, law: law?, sources, run, host })
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
    for key in ["stiffness", "damping"] {
        if scheme == Scheme::Position && section.has(key) {
            let _ = section.numbers::<7>(key, 0.0..=5_000.0, "");
            section.complain(key, "control = \"joint-impedance\" or \"tool-impedance\" beside it");
        }
    }
    match scheme {
        Scheme::Position => Control::Position,
        Scheme::Joint => {
            let default = JointImpedance::default();
            Control::JointImpedance(JointImpedance {
                stiffness: section.numbers("stiffness", 0.0..=5_000.0, "Nm/rad").unwrap_or(default.stiffness),
                damping: section.numbers("damping", 0.0..=1.0, "").unwrap_or(default.damping),
                ..default
            })
        }
        Scheme::Tool => {
            let default = ToolImpedance::default();
            let axes = |six: Option<[f32; 6]>, default| {
                six.map_or(default, |[x, y, z, rx, ry, rz]| CartesianVector {
                    linear: [x, y, z],
                    angular: [rx, ry, rz],
                })
            };
            let mirrors = [
                ("setpoint", MirroredFrame::Setpoint),
                ("commanded", MirroredFrame::Commanded),
                ("measured", MirroredFrame::Measured),
            ];
            Control::ToolImpedance(ToolImpedance {
                stiffness: axes(section.numbers("stiffness", 0.0..=5_000.0, "N/m, Nm/rad"), default.stiffness),
                damping: axes(section.numbers("damping", 0.0..=1.0, ""), default.damping),
                mirrors: section.choice("mirrored_frame", &mirrors, default.mirrors),
                ..default
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyConfiguration;

    const FILE: &str = r#"
[robot]
kind = "krc"
peer = "192.168.0.20"
control = "joint-impedance"
stiffness = [800, 800, 800, 800, 300, 300, 300]
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
        let Ok(AnyConfiguration::Krc(read)) = AnyConfiguration::parse(FILE) else { panic!("it is for a KRC") };
        assert_eq!((read.listen.port(), read.handshake), (49_938, KrlConvention::Isir));
        assert_eq!(read.engine.limits.velocity.0, [0.5; 7]);
        assert!(matches!(read.engine.control, Control::JointImpedance(i) if i.stiffness[4] == 300.0));
        assert!(read.engine.limits.position_max.0[0] > 2.9, "the arm's own, where the file says nothing");
    }

    #[test]
    fn what_does_not_belong_is_named_with_its_line() {
        let told = |file: &str| {
            let problems = KrcConfiguration::parse(file).expect_err("something is wrong");
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let text = told(&FILE.replace("control = \"joint-impedance\"\n", ""));
        assert!(text.contains("robot.stiffness") && text.contains("joint-impedance"), "{text}");
        let text = told(&FILE.replace("degrees = [10, 0, 0, 0, 0, 0, 0]", "degrees = [10, 0, 0, 0, 0, 0]"));
        assert!(text.contains("one number or 7"), "{text}");
        let text = told(&FILE.replace("handshake = \"isir\"", "handshake = \"ros\""));
        assert!(text.contains("robot.handshake") && text.contains("ros-control"), "{text}");
    }
}
