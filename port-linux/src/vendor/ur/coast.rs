//! Describes the worst-case coast: how far the arm can move after commanding has failed.

use outrigger_core::engine::Coast;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{Pose, RobotModel, SoftwareVersion};
use outrigger_wire::time::Duration;

/// Describes both worst cases of the arm's coast on a controller with this software: a fault that Outrigger detects,
/// and a failure of Outrigger or of its device, a computer or a board.
///
/// If the robot's model is not configured, the description says that the tool's travel is unknown.
#[must_use]
pub fn describe(config: &UrConfig, software: SoftwareVersion) -> String {
    let reach = config.peer.model.map(|model| reach(model, config.peer.tcp));
    let seen = words(&config.worst_coast(software), reach.as_ref());
    let unseen = match config.coast_without_us(software) {
        Some(coast) => format!("{} if Outrigger or its device fails", words(&coast, reach.as_ref())),
        None => "NOTHING stops the arm if Outrigger or its device fails: the text is bare, and this software is not \
                 known to stop at its end; use session.expert.form = \"self-ending\""
            .into(),
    };
    let missing = if reach.is_some() { "" } else { "; set `robot.model` to get it in mm" };
    format!("worst-case stopping distance: {seen} after a fault; {unseen}{missing}")
}

/// Describes how far the arm moves by itself if Outrigger or its device fails.
pub(super) fn without_us(config: &UrConfig, software: SoftwareVersion) -> String {
    let reach = config.peer.model.map(|model| reach(model, config.peer.tcp));
    config.coast_without_us(software).map_or("NOTHING stops it".into(), |coast| words(&coast, reach.as_ref()))
}

/// Returns the greatest distance of the tool from each joint's axis, by the model's nominal lengths \[m\].
fn reach(model: RobotModel, tcp: Option<Pose>) -> [f32; 6] {
    KinematicChain::new(DhParameters::of(model), &tcp.unwrap_or_default()).reach()
}

/// Describes the effect of a stop or a pause at the pendant on commanding. `by_rtde` is `true` if states arrive over
/// RTDE; `period` is their period.
#[must_use]
pub(crate) fn pendant(config: &UrConfig, by_rtde: bool, period: Duration) -> &'static str {
    let seen = config.sees_pendant_stops(by_rtde, period);
    if seen && config.peer.path.is_resident() && by_rtde {
        "a stop at the pendant ends commanding; a pause holds the motion, which continues if resumed within 10 s"
    } else if seen && config.peer.path.is_resident() {
        "a stop at the pendant ends commanding; a pause is seen late: it ends the motion, or holds it for up to 10 s"
    } else if seen {
        "a stop or pause at the pendant ends commanding, unless arming reports that the program flickers"
    } else if config.mode.pendant.stop == PendantStop::Seen {
        "a stop pressed at the pendant cannot be seen here, and nothing is commanded: choose another session.path, or allow that it is \
         overridden by session.expert.pendant_stop = \"overridden\""
    } else {
        "a stop pressed at the pendant is overridden by the next command: use a stop input or the emergency stop"
    }
}

fn words(coast: &Coast<6>, reach: Option<&[f32; 6]>) -> String {
    let joint = coast.joints.iter().copied().fold(0.0, f32::max);
    match reach {
        Some(reach) => format!("{joint:.3} rad, {:.0} mm at the TCP", coast.at_reach(reach) * 1e3),
        None => format!("{joint:.3} rad"),
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::{FormChoice, UrOptions};

    use super::*;

    #[test]
    fn a_form_that_nothing_ends_is_said_so() {
        let old = SoftwareVersion::new(3, 1);
        let mut config = UrConfig {
            peer: UrOptions { model: Some(RobotModel::Ur5), ..UrOptions::default() },
            ..UrConfig::default()
        };
        let text = describe(&config, old);
        assert!(text.contains("mm at the TCP after a fault; 0."), "{text}");
        config.peer.text.form = FormChoice::Bare;
        assert!(describe(&config, old).contains("NOTHING stops the arm"));
        assert!(!describe(&config, SoftwareVersion::new(5, 15)).contains("NOTHING"));
        let unknown = describe(&UrConfig::default(), old);
        assert!(unknown.ends_with("set `robot.model` to get it in mm"), "{unknown}");
    }

    #[test]
    fn every_setting_that_the_way_depends_on_changes_the_words() {
        let mut config = UrConfig::default();
        config.peer.model = Some(RobotModel::Ur5e);
        let software = SoftwareVersion::new(5, 15);
        let words = describe(&config, software);
        type Change = fn(&mut UrConfig);
        let changes: [(&str, Change); 6] = [
            ("robot.model", |config| config.peer.model = Some(RobotModel::Ur10e)),
            ("robot.tcp", |config| {
                config.peer.tcp = Some(Pose { position: [0.0, 0.0, 0.3], ..Pose::default() });
            }),
            ("limits.velocity", |config| config.limits.velocity.0[1] *= 2.0),
            ("limits.expert.reaction", |config| config.limits.reaction = Duration::from_millis(150)),
            ("session.expert.hold", |config| config.peer.text.hold = Duration::from_millis(150)),
            ("session.expert.own_stop", |config| config.peer.text.own_stop /= 2.0),
        ];
        for (key, change) in changes {
            let mut changed = config;
            change(&mut changed);
            assert_ne!(describe(&changed, software), words, "{key}");
        }
    }
}
