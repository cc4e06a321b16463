//! The log of a node on the topic that the tools of ROS 2 read (`core/docs/protocol/ros2-surface.md` 5.8).

use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::{PublishTrigger, Qos, Topic};
use outrigger_ros2_messages::{Log, Message, Time};

/// The topic of the log. Its name is absolute because every node publishes on it. The newest 100 messages are kept
/// for late subscribers.
pub static ROSOUT: Topic = Topic {
    name: "/rosout",
    message: <Log as Message>::TYPE,
    qos: Qos { depth: 100, ..Qos::LATCHED },
    when: PublishTrigger::Event,
    tells: "requests that the node rejects, and problems of other nodes; level 30 (warning)",
};

/// The value of the level `WARN` in a `rcl_interfaces/msg/Log`.
const WARN: u8 = 30;

/// Returns the message with this text as a line of the log at the level `WARN`, for the node with this absolute name.
#[must_use]
pub fn log(stamp: Time, node: &str, text: String) -> Vec<u8> {
    // A logger is named after its node, with dots.
    let name = node.trim_start_matches('/').replace('/', ".");
    encode(&Log { stamp, level: WARN, name, msg: text, ..Log::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::cdr::decode;

    #[test]
    fn words_have_a_level_and_the_name_of_their_node() {
        let log: Log = decode(&log(Time { sec: 3, nanosec: 4 }, "/cell/arm/outrigger", "a".into())).expect("its type");
        assert_eq!((log.level, log.name.as_str(), log.msg.as_str(), log.stamp.sec), (30, "cell.arm.outrigger", "a", 3));
    }
}
