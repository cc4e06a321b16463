//! Encodes the diagnostics and events of a session as messages of ROS 2.

use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::{PublishTrigger, Qos, Topic};
use outrigger_ros2_messages::{DiagnosticArray, DiagnosticStatus, Header, KeyValue, Message, Text, Time};

/// The topic of diagnostics. Its name is absolute because tools expect that.
pub static DIAGNOSTICS: Topic = Topic {
    name: "/diagnostics",
    message: <DiagnosticArray as Message>::TYPE,
    qos: Qos::SERVICES,
    when: PublishTrigger::Second,
    tells: "mode, link quality, unmet preconditions, latched fault, and the underlying figures; \
            level 0 ok, 1 warning, 2 error, 3 no session",
};
/// The topic on which each log entry of the session is published as an event.
pub static EVENTS: Topic = Topic {
    name: "outrigger/events",
    message: <Text as Message>::TYPE,
    qos: Qos::SERVICES,
    when: PublishTrigger::Event,
    tells: "one JSON object per event: kind, text, and further fields by kind",
};
/// The topics on which a node reports about itself: diagnostics, events and log.
pub static TOPICS: &[&Topic] = &[&DIAGNOSTICS, &EVENTS, &crate::rosout::ROSOUT];

/// The severity of a diagnostic finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The diagnosed part of the session works as intended.
    Ok = 0,
    /// The diagnosed part of the session works with reduced quality.
    Warn = 1,
    /// The diagnosed part of the session does not work.
    Error = 2,
    /// No data from the diagnosed part of the session is received.
    Stale = 3,
}

/// A diagnostic finding about one part of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The part of the session that the diagnostic finding is about.
    pub name: &'static str,
    /// The severity of the finding, from ok to stale.
    pub level: Level,
    /// The diagnostic finding as text.
    pub message: String,
    /// The figures and texts on which the diagnostic finding is based, each with its name.
    pub values: Vec<(&'static str, String)>,
}

/// Returns the diagnostics message with these findings about the robot whose address is `robot`.
#[must_use]
pub fn diagnostics(stamp: Time, robot: &str, findings: Vec<Finding>) -> Vec<u8> {
    let one = |finding: Finding| DiagnosticStatus {
        level: finding.level as u8,
        name: format!("outrigger: {}", finding.name),
        message: finding.message,
        hardware_id: robot.to_owned(),
        values: finding.values.into_iter().map(|(key, value)| KeyValue { key: key.to_owned(), value }).collect(),
    };
    let header = Header { stamp, frame_id: String::new() };
    encode(&DiagnosticArray { header, status: findings.into_iter().map(one).collect() })
}

/// Returns the message that publishes one session event, given as JSON.
#[must_use]
pub fn event(json: String) -> Vec<u8> {
    encode(&Text { data: json })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::cdr::decode;

    #[test]
    fn findings_are_told_with_the_robot_and_their_figures() {
        let values = vec![("grade", "Ok".to_owned())];
        let finding = Finding { name: "link", level: Level::Warn, message: "states come late".into(), values };
        let bytes = diagnostics(Time { sec: 3, nanosec: 0 }, "192.0.2.7", vec![finding]);
        let told: DiagnosticArray = decode(&bytes).expect("its type");
        let DiagnosticStatus { level, name, hardware_id, values, .. } = &told.status[0];
        assert_eq!((*level, name.as_str(), hardware_id.as_str()), (1, "outrigger: link", "192.0.2.7"));
        assert_eq!(values, &[KeyValue { key: "grade".into(), value: "Ok".into() }]);
    }
}
