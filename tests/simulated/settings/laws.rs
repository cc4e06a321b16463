//! A file for each law, with a controller of Universal Robots: the files with which the rows of its keys begin.

use outrigger_core::law::LawKind;

/// A configuration file whose law makes the joints follow a motion and adds the values of a sensor.
pub(crate) const SERVO: &str = r#"
[robot]
address = "192.0.2.1"
[session]
expert.pendant_stop = "overridden"
[law]
kind = "joint-servo"
relative = true
sensor = "push"
expert.sensor_gain = 0.1
[[law.waypoint]]
at = 0
joints = 0
[[law.waypoint]]
at = 2.0
joints = [0.3, 0.2, 0, 0.1, 0, 0]
expert.velocities = 0.05
[[law.waypoint]]
at = 5.0
joints = 0.1
[[source]]
name = "push"
input = "simulated"
values = 6
"#;

/// A configuration file for a KUKA LWR with joint impedance, whose law has no feedback and adds a sensor's values: to
/// the speeds, unless a row adds them to torques or a force.
pub(crate) const ADDS: &str = r#"
[robot]
kind = "krc"
expert.control = "joint-impedance"
[law]
kind = "joint-servo"
expert.feedback = false
sensor = "push"
expert.sensor_gain = 50
[[source]]
name = "push"
input = "udp"
listen = "127.0.0.1:0"
values = 6
"#;

/// A configuration file whose law holds the tool at a distance from a workpiece.
pub(crate) const STANDOFF: &str = r#"
[robot]
address = "192.0.2.1"
model = "ur5e"
[law]
kind = "standoff"
source = "distance"
distance = 0.05
[[source]]
name = "distance"
input = "udp"
listen = "127.0.0.1:0"
from = "127.0.0.1"
"#;

/// A configuration file whose law moves the tool by a sensor.
pub(crate) const TWIST: &str = r#"
[robot]
address = "192.0.2.1"
model = "ur5e"
[law]
kind = "twist"
source = "joystick"
[[source]]
name = "joystick"
input = "simulated"
values = 6
[[source]]
name = "other"
input = "simulated"
values = 6
"#;

/// A configuration file whose law moves an axis of the tool by one of two sensors.
pub(crate) const AXES: &str = r#"
[robot]
address = "192.0.2.1"
model = "ur5e"
[law]
kind = "axes"
[[law.axis]]
along = "z"
source = "distance"
target = 0.05
slope = -1.0
[[source]]
name = "distance"
input = "udp"
listen = "127.0.0.1:0"
from = "127.0.0.1"
values = 2
[[source]]
name = "other"
input = "simulated"
values = 6
"#;

/// Returns the configuration file of this module whose law is of this kind.
pub(crate) const fn of(kind: LawKind) -> &'static str {
    match kind {
        LawKind::JointServo => SERVO,
        LawKind::CartesianTwist => TWIST,
        LawKind::Standoff => STANDOFF,
        LawKind::ToolAxes => AXES,
    }
}
