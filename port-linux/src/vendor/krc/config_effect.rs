//! Describes the effect of a configuration for a KRC.

use outrigger_core::engine::krc::{Control, KrcConfig, TaskFrame};
use outrigger_wire::time::Duration;

use super::event_text;
use crate::vendor::effect_lines::{Line, joints, open_positions};

/// Returns the lines with which `outrigger check` describes a configuration for a KRC: those about the controller,
/// whose measurements arrive at `listen`, and those about the arm's worst-case coast (its motion after commanding has
/// failed).
pub fn checked(engine: &KrcConfig, listen: &str) -> [Vec<Line>; 2] {
    let mut robot = vec![];
    let mut say = |name, text| robot.push((name, text));
    let handshake = engine.peer.handshake;
    let peer = engine.peer.address.map_or_else(|| "the first that sends".into(), |peer| peer.to_string());
    say("robot", format!("KRC at {peer}, measurements to {listen}, handshake {}", handshake.name()));
    say("control", scheme(&engine.peer.control));
    let task_frame = match engine.peer.task_frame {
        TaskFrame::Base => "the base's",
        TaskFrame::Tool => "the tool's",
    };
    say("task frame", format!("{task_frame} axes: the KRL program must set it"));
    let fastest = engine.limits.velocity.max_abs();
    say("limits", format!("at most {fastest} rad/s, {} rad/s²", engine.limits.acceleration.max_abs()));
    if let Some(warning) = open_positions(&engine.limits) {
        say("warning", warning);
    }
    let tracking = joints(&engine.peer.tracking.joints_in(&engine.peer.control));
    let tool = match engine.peer.control {
        Control::Position | Control::JointImpedance(_) => String::new(),
        Control::ToolImpedance(_) => {
            format!(", the tool {} m and {} rad", engine.peer.tracking.linear, engine.peer.tracking.angular)
        }
    };
    say("tracking", format!("tracking error of a joint at most {tracking} rad{tool}"));
    let coast = [1, 10].map(|millis| {
        let coast = engine.worst_coast(Duration::from_millis(millis));
        ("stopping", format!("at a period of {millis} ms: {}", event_text::coast(&coast)))
    });
    [robot, coast.into()]
}

/// Describes a control scheme and its parameters, in the words of the configuration.
fn scheme(control: &Control) -> String {
    match control {
        Control::Position => "position".into(),
        Control::JointImpedance(impedance) => {
            let (stiffness, damping) = (joints(&impedance.stiffness), joints(&impedance.damping));
            format!("joint-impedance, stiffness {stiffness} Nm/rad, damping {damping}")
        }
        Control::ToolImpedance(impedance) => format!(
            "tool-impedance, stiffness {:?} N/m and {:?} Nm/rad, damping {:?} and {:?}",
            impedance.stiffness.linear,
            impedance.stiffness.angular,
            impedance.damping.linear,
            impedance.damping.angular
        ),
    }
}
