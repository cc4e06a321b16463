//! What a node offers: topics, services and actions, by name, type and quality of service.

use std::fmt;

/// Which release of ROS 2 the others have: some layouts differ, under the same name of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distro {
    /// 2022.
    Humble,
    /// 2024.
    #[default]
    Jazzy,
    /// 2025.
    Kilted,
    /// 2026.
    Lyrical,
    /// What comes next.
    Rolling,
}

impl Distro {
    /// Each, oldest first.
    pub const ALL: [Self; 5] = [Self::Humble, Self::Jazzy, Self::Kilted, Self::Lyrical, Self::Rolling];

    /// As it is written in options and in `ROS_DISTRO`.
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

    /// The release of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|distro| distro.name() == name)
    }
}

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Lost ones are sent again.
    pub reliable: bool,
    /// Whoever comes later gets the newest.
    pub latched: bool,
    /// How many are kept for whoever is slow.
    pub depth: u16,
}

impl Qos {
    /// What a node offers that leaves it to its middleware: reliable, volatile, the newest.
    pub const SYSTEM: Self = Self { reliable: true, latched: false, depth: 1 };
    /// Services, and topics of commands.
    pub const SERVICES: Self = Self { reliable: true, latched: false, depth: 10 };
    /// Whoever comes later gets the newest.
    pub const LATCHED: Self = Self { reliable: true, latched: true, depth: 1 };
    /// Sent once.
    pub const BEST_EFFORT: Self = Self { reliable: false, latched: false, depth: 1 };
}

impl fmt::Display for Qos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reliable { "reliable" } else { "best effort" })?;
        if self.latched { f.write_str(", latched") } else { Ok(()) }
    }
}

/// When something is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// With each state of the robot.
    State,
    /// With each state while the arm has power.
    Powered,
    /// With each state while the arm is commanded.
    Commanded,
    /// When it changes, and once at the beginning.
    Change,
    /// When it changes while the arm has power, and once at the beginning of that.
    PoweredChange,
    /// Ten times a second.
    Tenth,
    /// Once a second.
    Second,
    /// When something happens.
    Event,
}

impl fmt::Display for When {
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

/// A topic that is published. Without a `/` at its beginning its name is below the node's namespace.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: &'static str,
    /// `package/msg/Name`.
    pub message: &'static str,
    /// How it travels.
    pub qos: Qos,
    /// When it is published.
    pub when: When,
    /// What it tells, with its units.
    pub tells: &'static str,
}

/// A topic that is listened to.
#[derive(Debug, PartialEq, Eq)]
pub struct Heard {
    /// Its name.
    pub name: &'static str,
    /// `package/msg/Name`.
    pub message: &'static str,
    /// What a message does.
    pub does: &'static str,
}

/// A service.
#[derive(Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: &'static str,
    /// `package/srv/Name`.
    pub service: &'static str,
    /// What a call does.
    pub does: &'static str,
}

/// An action.
#[derive(Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub name: &'static str,
    /// `package/action/Name`.
    pub action: &'static str,
    /// What a goal does.
    pub does: &'static str,
}

/// Where a node stands: its namespace, and what names of joints and frames begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Without a `/` at its end: empty, or `/cell/arm`.
    pub namespace: String,
    /// Before names of joints and frames.
    pub prefix: String,
}

/// Why text is no namespace or prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found '{found}'")]
pub struct NameError {
    /// The kind of name that was expected.
    pub expected: &'static str,
    /// The name that was found.
    pub found: String,
}

impl Names {
    /// A namespace, with or without `/` at its beginning, and a prefix.
    ///
    /// # Errors
    /// What is no name of ROS: letters, digits and underscores, not beginning with a digit.
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

    /// The whole name of an endpoint.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        if name.starts_with('/') { name.into() } else { format!("{}/{name}", self.namespace) }
    }

    /// The whole name of a joint or frame.
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
