//! Generates the text of a first configuration, with a comment on every setting that a user may want to change.

use std::fmt::Write as _;
use std::net::IpAddr;

use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use super::args::{Task, Wiring};

/// The choices that a first configuration is made from.
#[derive(Clone, Debug)]
pub(super) struct First {
    /// The robot's address in the form HOST[:PORT-BASE].
    pub robot: String,
    pub model: RobotModel,
    /// The other models that a controller would report in the same way.
    pub others: Vec<RobotModel>,
    pub software: SoftwareVersion,
    /// The present joint positions \[rad\], around which the limits are chosen; `None` if they are unknown.
    pub joints: Option<[f32; 6]>,
    pub task: Task,
    /// `true` if states are received by RTDE, or are assumed to be because the software supports it.
    pub by_rtde: bool,
    /// The choice about stops at the pendant, for software that does not report them.
    pub pendant_stop: PendantStop,
    /// The sensor; `None` for a task without one.
    pub sensor: Option<Sensor>,
    /// The distance to hold for [`Task::Standoff`] \[m\].
    pub distance: f64,
    /// `true` for a run that requests to command by itself at the start, which is only used for a simulated arm.
    pub at_once: bool,
}

/// The sensor of a first configuration.
#[derive(Clone, Debug)]
pub(super) struct Sensor {
    pub wiring: Wiring,
    /// The only address from which datagrams are accepted; `None` for any.
    pub from: Option<IpAddr>,
    /// The factor from the unit of a reading to SI units.
    pub scale: f64,
}

/// The distance that each joint may move from its present position \[rad\].
const ROOM: f32 = 0.8;

impl First {
    /// Returns `true` if a session with `software` can detect a stop at the pendant, for which it needs states by
    /// RTDE.
    pub(super) fn sees_pendant_stops(software: SoftwareVersion) -> bool {
        software.at_least(3, 4)
    }

    fn sees_stops(&self) -> bool {
        self.by_rtde && Self::sees_pendant_stops(self.software)
    }

    /// Returns `true` if the arm would not be commanded with this configuration, because stops at the pendant could
    /// not be detected.
    pub(super) fn is_refused(&self) -> bool {
        !self.sees_stops() && self.pendant_stop == PendantStop::Seen
    }

    /// Returns the text of the configuration file.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# Made by `outrigger init`. Every key, its default and its range: port-linux/docs/configuration.md.\n\
             # Before anything moves: `outrigger check-config` this file, which says how far the arm goes on at worst, and\n\
             # `outrigger doctor` it, which says what to mend first. Outrigger performs no safety function.\n\n",
        );
        let Self { robot, model, software, .. } = self;
        let _ = write!(text, "[robot]\naddress = \"{robot}\"\nmodel = \"{}\"", model.name());
        if let [first, ..] = self.others.as_slice() {
            let _ = write!(text, "          # or \"{}\": their controllers say the same", first.name());
        }
        let _ = write!(
            text,
            "\n# tcp = [0, 0, 0.1, 0, 0, 0]  # where the tool's tip is from the flange [m, rad]; without it the controller's own\n\n\
             [session]\nsoftware = \"{}.{}\"        # commands are written for it, whatever the controller says\n",
            software.major, software.minor
        );
        if !self.sees_stops() {
            let chosen = if self.is_refused() { "# " } else { "" };
            let _ = write!(
                text,
                "# A stop pressed at the pendant cannot be seen with this software, or without RTDE. Without this line nothing is commanded by `text`; with\n\
                 # it the next command overrides such a stop. On 3.0 and later `path` has ways on which a stop there always ends it.\n\
                 {chosen}expert.pendant_stop = \"overridden\"\n"
            );
        }
        text.push('\n');
        self.run(&mut text);
        self.limits(&mut text);
        self.law(&mut text);
        if let Some(sensor) = &self.sensor {
            self.source(&mut text, sensor);
        }
        text
    }

    fn run(&self, text: &mut String) {
        text.push_str("[run]\n");
        if self.at_once {
            text.push_str("request = \"start\"        # by itself, as soon as nothing speaks against it\n\n");
        } else {
            text.push_str(
                "recordings = \"recordings\" # what led to each stop is kept there: `outrigger replay FILE`\n\
                 # Nothing moves before somebody asks: key r in the view, or `outrigger ctl FILE request`.\n\n",
            );
        }
    }

    fn limits(&self, text: &mut String) {
        text.push_str(
            "# Careful to begin with. They are Outrigger's own; set the arm's safety configuration as well, it holds whatever is sent.\n\
             [limits]\nvelocity = 0.3            # of each joint [rad/s]\nacceleration = 1.0        # [rad/s²]\n",
        );
        let Some(joints) = self.joints else {
            text.push_str(
                "# position_min = [...]     # of each joint [rad]; give them, the arm was not there to be asked\n\n",
            );
            return;
        };
        let list = |by: f32| joints.map(|joint| format!("{:.2}", joint + by)).join(", ");
        let _ = write!(
            text,
            "# {ROOM} rad to either side of where the joints stood when this file was made:\nposition_min = [{}]\nposition_max = [{}]\n\n",
            list(-ROOM),
            list(ROOM)
        );
    }

    fn law(&self, text: &mut String) {
        let law = match self.task {
            Task::Standoff => format!(
                "[law]\nkind = \"standoff\"         # holds the tool at a distance from what its z axis points at\nsource = \"distance\"\n\
                 distance = {:?}           # [m]\n\
                 longest_approach = 0.05   # without a sight of the surface the tool nears at most so far [m], then it stops\n\
                 approach_limit = 0.03     # highest speed towards the surface [m/s] ...\nretreat_limit = 0.05      # ... and away\n\
                 # travel = [0.01, 0.0]    # speed along the tool's x and y axes while the distance is held [m/s]\n",
                self.distance
            ),
            Task::Force => "[law]\nkind = \"twist\"            # moves the tool as six values say: vx vy vz [m/s] wx wy wz [rad/s], along its own axes\n\
                 source = \"force\"\nlinear_limit = 0.05       # [m/s]\nangular_limit = 0.2       # [rad/s]\n"
                .to_owned(),
            Task::Servo => "[law]\nkind = \"joint-servo\"      # joints on a motion, corrected by what is measured\n\
                 relative = true           # from wherever the arm stands\npath_tolerance = 0.1      # farther off than this it stops [rad]\n\n\
                 [[law.waypoint]]\nat = 0.0                  # [s]\ndegrees = [0, 0, 0, 0, 0, 0]\n\n\
                 [[law.waypoint]]\nat = 3.0\ndegrees = [0, 0, 0, 0, 0, 5]\n\n\
                 [[law.waypoint]]\nat = 6.0\ndegrees = [0, 0, 0, 0, 0, 0]\n"
                .to_owned(),
        };
        text.push_str(&law);
    }

    fn source(&self, text: &mut String, Sensor { wiring, from, scale }: &Sensor) {
        let name = if self.task == Task::Standoff { "distance" } else { "force" };
        let _ = write!(text, "\n[[source]]\nname = \"{name}\"\n");
        match wiring {
            Wiring::Udp(listen) => {
                let _ = writeln!(
                    text,
                    "input = \"udp\"             # a datagram is a line, such as \"seq=7 0.0512\": port-linux/docs/sensors.md\n\
                     listen = \"{listen}\""
                );
                let _ = match from {
                    Some(from) => writeln!(text, "from = \"{from}\"        # datagrams of others are refused"),
                    None => {
                        writeln!(text, "# from = \"192.168.56.50\"  # name the sensor: now anybody's datagrams count")
                    }
                };
            }
            Wiring::Serial(device, baud) => {
                let _ = writeln!(
                    text,
                    "input = \"serial\"          # lines such as \"seq=7 0.0512\": port-linux/docs/sensors.md\n\
                     device = \"{device}\"\nbaud = {baud}"
                );
            }
        }
        let _ = match self.task {
            Task::Standoff => writeln!(
                text,
                "scale = {scale:?}               # metres per unit of a reading\n\
                 max_age = 0.1             # older readings are bridged for two cycles, then the arm stops [s]\n\
                 range = [0.0, 0.5]        # readings outside are a fault [m]"
            ),
            Task::Force | Task::Servo => writeln!(
                text,
                "values = 6                # fx fy fz [N] tx ty tz [N·m] in the tool's frame\n\
                 scale = {:?}            # {YIELDING} m/s per N and rad/s per N·m, times the unit of a reading: how easily it gives way\n\
                 max_age = 0.1             # older readings are bridged for two cycles, then the arm stops [s]\n\
                 range = [-0.1, 0.1]       # beyond 100 N or N·m it is a fault",
                scale * YIELDING
            ),
        };
    }
}

/// The speed of the tool per force on it \[m/s/N\], and its angular speed per torque \[rad/s/(N·m)\].
const YIELDING: f64 = 0.001;

#[cfg(test)]
mod tests {
    use outrigger_config::Configuration;

    use super::*;

    fn first(task: Task) -> First {
        let sensor = Sensor { wiring: Wiring::Udp("0.0.0.0:5005".parse().unwrap()), from: None, scale: 1.0 };
        First {
            robot: "192.168.56.101".into(),
            model: RobotModel::Ur5e,
            others: vec![RobotModel::Ur7e],
            software: SoftwareVersion::new(5, 15),
            joints: Some([0.0, -1.6, 1.5, -1.4, -1.57, 3.0]),
            task,
            pendant_stop: PendantStop::Seen,
            by_rtde: true,
            sensor: (task != Task::Servo).then_some(sensor),
            distance: 0.05,
            at_once: false,
        }
    }

    #[test]
    fn every_first_configuration_is_one() {
        for task in [Task::Standoff, Task::Force, Task::Servo] {
            let whole = first(task);
            let from = Some("192.168.56.50".parse().unwrap());
            let serial = Sensor { wiring: Wiring::Serial("/dev/ttyACM0".into(), 9_600), from: None, scale: 0.001 };
            for changed in [
                whole.clone(),
                First { joints: None, others: vec![], at_once: true, ..whole.clone() },
                First { software: SoftwareVersion::new(3, 3), ..whole.clone() },
                First { by_rtde: false, pendant_stop: PendantStop::Overridden, ..whole.clone() },
                First { software: SoftwareVersion::new(1, 8), pendant_stop: PendantStop::Overridden, ..whole.clone() },
                First { sensor: whole.sensor.clone().map(|sensor| Sensor { from, ..sensor }), ..whole.clone() },
                First { sensor: whole.sensor.as_ref().map(|_| serial.clone()), ..whole.clone() },
            ] {
                let text = changed.text();
                let read = Configuration::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
                assert_eq!(read.control.engine().mode.pendant.stop, changed.pendant_stop, "never by itself: {text}");
                assert_eq!(read.control.sources.len(), usize::from(task != Task::Servo));
                let limits = read.control.engine().limits;
                assert!(limits.velocity.max_abs() <= 0.3, "careful: {text}");
                assert_eq!(changed.joints.is_some(), limits.position_min.0[1] > -2.5, "around where it stands");
            }
        }
    }

    #[test]
    fn the_examples_are_what_is_written_here() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        for (task, name) in
            [(Task::Standoff, "standoff.toml"), (Task::Force, "force.toml"), (Task::Servo, "servo.toml")]
        {
            let robot = "127.0.0.1".into();
            let example = First { robot, joints: None, others: vec![], ..first(task) }.text();
            let file = folder.join(name);
            if std::env::var_os("OUTRIGGER_BLESS").is_some_and(|value| value == "1") {
                std::fs::write(&file, &example).expect("an example to write");
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(kept, example, "{name}; OUTRIGGER_BLESS=1 writes it anew");
        }
    }
}
