//! Generates the text of a first configuration, with a comment on every setting that a user may want to change.

use std::fmt::Write as _;
use std::net::IpAddr;

use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use super::args::{Task, Wiring};

/// The choices of the user from which a first configuration is made.
#[derive(Clone, Debug)]
pub(super) struct First {
    /// The robot's address in the form HOST[:PORT-BASE]; with port base B, the controller's port p is at
    /// B + p - 29999.
    pub robot: String,
    pub model: RobotModel,
    /// The other models of the arm that a controller would report in the same way as `model`.
    pub others: Vec<RobotModel>,
    pub software: SoftwareVersion,
    /// The present joint positions \[rad\], around which the limits are chosen; `None` if they are unknown.
    pub joints: Option<[f32; 6]>,
    pub task: Task,
    /// `true` if the robot's states are received by RTDE, or are assumed to be because the robot was not contacted.
    pub by_rtde: bool,
    /// The choice about commanding the arm although its software does not report a stop at the pendant.
    pub pendant_stop: PendantStop,
    /// The sensor of the arm's task; `None` for a task without one.
    pub sensor: Option<Sensor>,
    /// The distance from the surface that the arm is to hold for [`Task::Standoff`] \[m\].
    pub distance: f64,
    /// `true` if the run requests to command the arm by itself at its start, which is used only for a simulated arm.
    pub at_once: bool,
}

/// The sensor in a first configuration: its connection and the scale of its readings.
#[derive(Clone, Debug)]
pub(super) struct Sensor {
    pub wiring: Wiring,
    /// The only address from which the sensor's datagrams are accepted; `None` for any.
    pub from: Option<IpAddr>,
    /// The factor that converts a reading of the sensor to SI units.
    pub scale: f64,
}

/// The distance that the limits in a first configuration permit each joint to move from its present position, in both
/// directions \[rad\].
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

    /// Returns `true` if the arm would not be commanded with this configuration, because stops at the pendant could not
    /// be detected and the user has not chosen to override them.
    pub(super) fn is_refused(&self) -> bool {
        !self.sees_stops() && self.pendant_stop == PendantStop::Seen
    }

    /// Returns the text of the configuration file that `outrigger init` writes.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# Made by `outrigger init`. Every key, its default and its range: port-linux/docs/configuration.md.\n\
             # Before anything moves: `outrigger check-config` this file, for the worst-case stopping distance, and\n\
             # `outrigger doctor` it, for what to fix first. Outrigger performs no safety function.\n\n",
        );
        let Self { robot, model, software, .. } = self;
        let _ = write!(text, "[robot]\naddress = \"{robot}\"\nmodel = \"{}\"", model.name());
        if let [first, ..] = self.others.as_slice() {
            let _ = write!(text, "          # or \"{}\": the controller reports the same for both", first.name());
        }
        let _ = write!(
            text,
            "\n# tcp = [0, 0, 0.1, 0, 0, 0]  # tool centre point in the flange frame [m, rad]; default: the controller's\n\n\
             [session]\nsoftware = \"{}.{}\"        # commands are written for this version\n",
            software.major, software.minor
        );
        if !self.sees_stops() {
            let chosen = if self.is_refused() { "# " } else { "" };
            let _ = write!(
                text,
                "# This software, or states without RTDE, do not report a stop at the pendant. Without this line `text` commands nothing; with\n\
                 # it the next command overrides such a stop. From 3.0 on, some values of `path` always end at such a stop.\n\
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
            text.push_str("request = \"start\"        # automatically, once every precondition is met\n\n");
        } else {
            text.push_str(
                "recordings = \"recordings\" # a recording of each fault: `outrigger replay FILE`\n\
                 # The arm moves only after a start: key r in the view, or `outrigger ctl FILE start`.\n\n",
            );
        }
    }

    fn limits(&self, text: &mut String) {
        text.push_str(
            "# Low to begin with. Outrigger applies them; set the arm's safety configuration as well, which limits every command.\n\
             [limits]\nvelocity = 0.3            # of each joint [rad/s]\nacceleration = 1.0        # [rad/s²]\n",
        );
        let Some(joints) = self.joints else {
            text.push_str("# position_min = [...]     # of each joint [rad]; set them; the arm was not connected\n\n");
            return;
        };
        let list = |by: f32| joints.map(|joint| format!("{:.2}", joint + by)).join(", ");
        let _ = write!(
            text,
            "# {ROOM} rad to either side of the joint angles when this file was made:\nposition_min = [{}]\nposition_max = [{}]\n\n",
            list(-ROOM),
            list(ROOM)
        );
    }

    fn law(&self, text: &mut String) {
        let law = match self.task {
            Task::Standoff => format!(
                "[law]\nkind = \"standoff\"         # holds the tool at a distance from the surface along its z axis\nsource = \"distance\"\n\
                 distance = {:?}           # [m]\n\
                 longest_approach = 0.05   # maximum approach without an in-range reading [m]; then the arm stops\n\
                 approach_limit = 0.03     # highest speed towards the surface [m/s] ...\nretreat_limit = 0.05      # ... and away\n\
                 # travel = [0.01, 0.0]    # speed along the tool's x and y axes while the distance is held [m/s]\n",
                self.distance
            ),
            Task::Force => "[law]\nkind = \"twist\"            # moves the tool by six values: vx vy vz [m/s] wx wy wz [rad/s], along its own axes\n\
                 source = \"force\"\nlinear_limit = 0.05       # [m/s]\nangular_limit = 0.2       # [rad/s]\n"
                .to_owned(),
            Task::Servo => "[law]\nkind = \"joint-servo\"      # moves joints along waypoints, with feedback\n\
                 relative = true           # relative to the pose at the start\npath_tolerance = 0.1      # stops beyond this tracking error [rad]\n\n\
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
                    Some(from) => writeln!(text, "from = \"{from}\"        # other senders are rejected"),
                    None => {
                        writeln!(text, "# from = \"192.168.56.50\"  # name the sensor: any sender is accepted now")
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
                 max_age = 0.1             # an older reading is held for two cycles; then the arm stops [s]\n\
                 range = [0.0, 0.5]        # readings outside are a fault [m]"
            ),
            Task::Force | Task::Servo => writeln!(
                text,
                "values = 6                # fx fy fz [N] tx ty tz [N·m] in the tool's frame\n\
                 scale = {:?}            # {YIELDING} m/s per N and rad/s per N·m, times the unit of a reading: how easily it yields\n\
                 max_age = 0.1             # an older reading is held for two cycles; then the arm stops [s]\n\
                 range = [-0.1, 0.1]       # beyond 100 N or N·m it is a fault",
                scale * YIELDING
            ),
        };
    }
}

/// The gain of hand guiding in a first configuration: the speed of the tool per force on it \[m/s/N\], and its angular
/// speed per torque \[rad/s/(N·m)\].
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
