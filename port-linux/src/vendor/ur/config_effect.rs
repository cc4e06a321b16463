//! Describes the effect of a configuration for a controller of Universal Robots.

use outrigger_config::Control;
use outrigger_core::engine::ur::StatesFrom;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

use super::{coast, command_paths};
use crate::vendor::effect_lines::{Line, joints, open_positions};

/// Returns the effect of a configuration that is checked, as two lists of lines: about the robot and its limits, and
/// about the worst-case coast (the arm's motion after commanding has failed), the effect of the pendant and the command
/// paths.
pub fn checked<I>(control: &Control<I>) -> [Vec<Line>; 2] {
    let mut robot_lines = vec![];
    let mut say = |name, text| robot_lines.push((name, text));
    let Control { robot, limits, .. } = control;
    let model = robot.model.map_or("model not given", |model| model.name());
    say("robot", format!("{}, {model}", robot.address));
    let velocity = joints(limits.velocity.as_array());
    let (acceleration, braking) = (joints(limits.acceleration.as_array()), joints(limits.braking.as_array()));
    say("limits", format!("{velocity} rad/s, {acceleration} rad/s², braking at {braking} rad/s²"));
    robot_lines.extend(open_positions(limits).map(|warning| ("warning", warning)));
    let mut coast_lines = vec![];
    let mut say = |name, text| coast_lines.push((name, text));
    let config = control.engine();
    // One controller of each kind: they differ in period, and in how the arm stops when commands end.
    let kinds = [(3, 1), (3, 15), (5, 15)].map(|(major, minor)| SoftwareVersion::new(major, minor));
    for software in control.session.software.map_or(kinds.to_vec(), |software| vec![software]) {
        say("stopping", format!("software {software}: {}", coast::describe(&config, software)));
        let by_rtde = config.peer.connect.states != StatesFrom::Realtime && software.at_least(3, 4);
        let period = Duration::from_micros(software.generation().period_micros());
        say("pendant", format!("software {software}: {}", coast::pendant(&config, by_rtde, period)));
        let table = command_paths::table(&config, software, by_rtde);
        ["paths"].into_iter().chain(std::iter::repeat("")).zip(table).for_each(|(name, line)| say(name, line));
    }
    [robot_lines, coast_lines]
}
