//! The descriptions of a node's topics, services and actions: name, type and quality of service.

use std::fmt;

/// The release of ROS 2 that the other nodes use. Releases differ in the layout of some messages that have the same
/// type name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distro {
    /// ROS 2 Humble, the release of 2022.
    Humble,
    /// ROS 2 Jazzy, the release of 2024.
    #[default]
    Jazzy,
    /// ROS 2 Kilted, the release of 2025.
    Kilted,
    /// ROS 2 Lyrical, the release of 2026.
    Lyrical,
    /// ROS 2 Rolling, the development version of the next release.
    Rolling,
}

impl Distro {
    /// Every release of ROS 2 that is known here, oldest first.
    pub const ALL: [Self; 5] = [Self::Humble, Self::Jazzy, Self::Kilted, Self::Lyrical, Self::Rolling];

    /// Returns the name of the release as written in options and in `ROS_DISTRO`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Humble => "humble",
            Self::Jazzy => "jazzy",
            Self::Kilted => "kilted",
            Self::Lyrical => "lyrical",
            Self::Rolling => "rolling",
        }
    }

    /// Returns the release of ROS 2 with this name; `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|distro| distro.name() == name)
    }
}

/// The quality of service of a topic: reliability, delivery to late subscribers, and queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// `true` if messages of the topic that were lost are sent again.
    pub reliable: bool,
    /// `true` if a subscriber that joins late receives the topic's newest messages, at most [`depth`](Self::depth).
    pub latched: bool,
    /// The number of messages of the topic that are kept for a slow subscriber, and for late ones if the topic is
    /// latched.
    pub depth: u16,
}

impl Qos {
    /// The quality of service of a publisher that uses its middleware's defaults: reliable, volatile, only the newest
    /// message.
    pub const SYSTEM: Self = Self { reliable: true, latched: false, depth: 1 };
    /// The quality of service of service calls, and of topics that carry commands.
    pub const SERVICES: Self = Self { reliable: true, latched: false, depth: 10 };
    /// The quality of service of topics whose late subscribers still receive the newest message.
    pub const LATCHED: Self = Self { reliable: true, latched: true, depth: 1 };
    /// The quality of service of topics whose messages are sent once and not repeated if lost.
    pub const BEST_EFFORT: Self = Self { reliable: false, latched: false, depth: 1 };
}

impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reliable { "reliable" } else { "best effort" })?;
        if self.latched { f.write_str(", latched") } else { Ok(()) }
    }
}

/// The event or interval at which a topic is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishTrigger {
    /// Published once for each state that the robot sends.
    State,
    /// Published once for each state that the robot sends while the arm has power.
    Powered,
    /// Published once for each state that the robot sends while the arm is commanded.
    Commanded,
    /// Published at each change of the topic's content, and once at the start.
    Change,
    /// Published at each change of the topic's content while the arm has power, and once when the arm first has power.
    PoweredChange,
    /// Published ten times a second.
    Tenth,
    /// Published once a second.
    Second,
    /// Published each time that the event which the topic reports occurs.
    Event,
}

impl fmt::Display for PublishTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "each state",
            Self::Powered => "each state, with power",
            Self::Commanded => "each state, while commanding",
            Self::Change => "on change",
            Self::PoweredChange => "on change, with power",
            Self::Tenth => "ten times a second",
            Self::Second => "once a second",
            Self::Event => "as it happens",
        })
    }
}

/// A topic that the node publishes. A name without a leading `/` is below the node's namespace.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// The topic's name, absolute or below the node's namespace.
    pub name: &'static str,
    /// The type of the topic's messages as `package/msg/Name`.
    pub message: &'static str,
    /// The quality of service with which the topic is published.
    pub qos: Qos,
    /// The event or interval at which the topic is published.
    pub when: PublishTrigger,
    /// The content of the topic with its units, as text for the documentation.
    pub tells: &'static str,
}

/// A topic that the node subscribes to.
#[derive(Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The topic's name, absolute or below the node's namespace.
    pub name: &'static str,
    /// The type of the topic's messages as `package/msg/Name`.
    pub message: &'static str,
    /// The effect that a message on the topic has on the arm or the node, as text.
    pub does: &'static str,
}

/// A service that the node offers.
#[derive(Debug, PartialEq, Eq)]
pub struct Offer {
    /// The service's name, absolute or below the node's namespace.
    pub name: &'static str,
    /// The service type as `package/srv/Name`.
    pub service: &'static str,
    /// The effect that a call of the service has, as text.
    pub does: &'static str,
}

/// An action that the node offers.
#[derive(Debug, PartialEq, Eq)]
pub struct Task {
    /// The action's name, absolute or below the node's namespace.
    pub name: &'static str,
    /// The action type as `package/action/Name`.
    pub action: &'static str,
    /// The effect that a goal of the action has, as text.
    pub does: &'static str,
}

/// The namespace of a node and the prefix of its joint and frame names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The namespace of the node without a trailing `/`: empty, or for example `/cell/arm`.
    pub namespace: String,
    /// The prefix of the names of the arm's joints and frames, e.g. `arm1_`. Empty for none.
    pub prefix: String,
}

/// The reason why a text is not valid as the namespace or prefix of a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found '{found}'")]
pub struct NameError {
    /// The kind of name that was expected instead of the rejected text.
    pub expected: &'static str,
    /// The text that was rejected as a namespace or prefix.
    pub found: String,
}

impl Names {
    /// Creates names from a namespace, with or without a leading `/`, and a prefix.
    ///
    /// # Errors
    /// A [`NameError`] if the namespace or the prefix is not a ROS name: letters, digits and underscores, not
    /// beginning with a digit.
    pub fn new(namespace: &str, prefix: &str) -> Result<Self, NameError> {
        let inner = namespace.trim_matches('/');
        if !inner.is_empty() && !inner.split('/').all(is_name) {
            let expected = "a namespace such as /cell/arm1: letters, digits and '_', no digit first";
            return Err(NameError { expected, found: namespace.into() });
        }
        if !prefix.is_empty() && !is_name(prefix) {
            let expected = "a prefix such as arm1_: letters, digits and '_', no digit first";
            return Err(NameError { expected, found: prefix.into() });
        }
        let namespace = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        Ok(Self { namespace, prefix: prefix.into() })
    }

    /// Returns the absolute name of the topic, service or action `name`.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        if name.starts_with('/') { name.into() } else { format!("{}/{name}", self.namespace) }
    }

    /// Returns the name of the joint or frame `name` with the prefix in front.
    #[must_use]
    pub fn frame(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

fn is_name(name: &str) -> bool {
    let word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word && !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_below_their_namespace_but_for_absolute_ones() {
        let names = Names::new("cell/arm1/", "left_").expect("names");
        assert_eq!(names.of("joint_states"), "/cell/arm1/joint_states");
        assert_eq!((names.of("/tf"), names.frame("base")), ("/tf".into(), "left_base".into()));
        assert_eq!(Names::default().of("joint_states"), "/joint_states");
        for (namespace, prefix) in [("a b", ""), ("1a", ""), ("a//b", ""), ("", "9"), ("", "a-b")] {
            assert!(Names::new(namespace, prefix).is_err(), "{namespace} {prefix}");
        }
        assert_eq!(
            Names::new("1a", "").unwrap_err().to_string(),
            "expected a namespace such as /cell/arm1: letters, digits and '_', no digit first, found '1a'"
        );
    }

    #[test]
    fn a_release_is_known_by_its_name() {
        assert!(Distro::ALL.into_iter().all(|distro| Distro::from_name(distro.name()) == Some(distro)));
        assert_eq!(Distro::from_name("foxy"), None);
    }
}
