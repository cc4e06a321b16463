//! Where an operator speaks, and from when it counts.

use crate::robot::{BadValue, Range, range, seconds};
use crate::time::Duration;

/// What a request line means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestAs {
    /// Its rise requests, low releases, and nobody's request is granted while it is low.
    #[default]
    Held,
    /// Its rise requests; another channel has to release.
    Edge,
}

/// Where an operator speaks beside messages, and from when it counts. By default nowhere.
///
/// Inputs of the robot are named by bit of a state's digital inputs: on CB3 and later 0 … 7 are the standard inputs, 8 …
/// 15 the configurable ones, 16 and 17 the tool's; beside a KRC bit 0 is `BOOL[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct OperatorConfig {
    /// The robot's input that is the request line.
    pub request_input: Option<u8>,
    /// The robot's input whose rise acknowledges.
    pub acknowledge_input: Option<u8>,
    /// The robot's input that stops when it is low.
    pub stop_input: Option<u8>,
    /// What the robot's request line means. Default held.
    pub input_as: RequestAs,
    /// Whether a pin of this device is a request line.
    pub request_pin: bool,
    /// Whether one acknowledges.
    pub acknowledge_pin: bool,
    /// Whether one stops when it is open.
    pub stop_pin: bool,
    /// What the pin's request line means. Default held.
    pub pin_as: RequestAs,
    /// This device requests by itself, once, until so long after its start; `None`, the default, never.
    pub start_within: Option<Duration>,
    /// A rise counts after the line was low for this long. Default 50 ms.
    pub low_for: Duration,
    /// After a release by a line no rise counts for this long. Default 1 s.
    pub released_for: Duration,
    /// Fresh states in a row that must show an input low before that acts. Default 2.
    pub low_states: u8,
    /// A pin's level counts after it was found for this long. Default 20 ms.
    pub pin_filter: Duration,
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self {
            request_input: None,
            acknowledge_input: None,
            stop_input: None,
            input_as: RequestAs::Held,
            request_pin: false,
            acknowledge_pin: false,
            stop_pin: false,
            pin_as: RequestAs::Held,
            start_within: None,
            low_for: Duration::from_millis(50),
            released_for: Duration::from_secs(1),
            low_states: 2,
            pin_filter: Duration::from_millis(20),
        }
    }
}

impl OperatorConfig {
    /// Range of the bit of an input in the real-time packet: those that controllers have.
    pub const INPUT: Range<u8> = range!(0, 17, "");
    /// Range of [`low_for`](Self::low_for).
    pub const LOW_FOR: Range<Duration> = seconds!(0.01, 5.0);
    /// Range of [`released_for`](Self::released_for).
    pub const RELEASED_FOR: Range<Duration> = seconds!(0.0, 60.0);
    /// Range of [`low_states`](Self::low_states).
    pub const LOW_STATES: Range<u8> = range!(1, 20, "");
    /// Range of [`pin_filter`](Self::pin_filter).
    pub const PIN_FILTER: Range<Duration> = seconds!(0.005, 0.2);
    /// Range of [`start_within`](Self::start_within).
    pub const START_WITHIN: Range<Duration> = seconds!(0.1, 3600.0);

    /// Checks every field, and whether they go together.
    ///
    /// # Errors
    /// The first field that does not.
    pub fn check(&self) -> Result<(), BadValue> {
        let Self { request_input: request, acknowledge_input: acknowledge, stop_input: stop, .. } = *self;
        for (input, field) in [(request, "request_input"), (acknowledge, "acknowledge_input"), (stop, "stop_input")] {
            input.map_or(Ok(()), |input| Self::INPUT.check(input, field))?;
        }
        let differ = |one: Option<u8>, other: Option<u8>| one.is_none() || one != other;
        BadValue::unless(differ(acknowledge, request), "acknowledge_input", "another input than request_input")?;
        BadValue::unless(
            differ(stop, request) && differ(stop, acknowledge),
            "stop_input",
            "another input than request_input and acknowledge_input",
        )?;
        Self::LOW_FOR.check(self.low_for, "low_for")?;
        Self::RELEASED_FOR.check(self.released_for, "released_for")?;
        Self::LOW_STATES.check(self.low_states, "low_states")?;
        Self::PIN_FILTER.check(self.pin_filter, "pin_filter")?;
        self.start_within.map_or(Ok(()), |time| Self::START_WITHIN.check(time, "start_within"))?;
        BadValue::unless(
            self.start_within.is_none() || !self.is_held(),
            "request",
            "\"operator\" beside a request line that is held: the line starts, and nothing else",
        )
    }

    /// Whether a request line is held.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        (self.request_input.is_some() && matches!(self.input_as, RequestAs::Held))
            || (self.request_pin && matches!(self.pin_as, RequestAs::Held))
    }

    /// Whether a request line is an edge, so that its low level releases nothing.
    #[must_use]
    pub const fn has_edge(&self) -> bool {
        (self.request_input.is_some() && matches!(self.input_as, RequestAs::Edge))
            || (self.request_pin && matches!(self.pin_as, RequestAs::Edge))
    }

    /// Whether a line can take a request back.
    #[must_use]
    pub const fn can_release(&self) -> bool {
        self.is_held() || self.stop_pin || self.stop_input.is_some()
    }

    /// Whether any pin of this device stands for an operator.
    #[must_use]
    pub const fn has_pins(&self) -> bool {
        self.request_pin || self.acknowledge_pin || self.stop_pin
    }

    pub(super) const fn has_inputs(&self) -> bool {
        self.request_input.is_some() || self.acknowledge_input.is_some() || self.stop_input.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_nonsense_names_its_field() {
        type Case = (&'static str, fn(&mut OperatorConfig));
        let cases: [Case; 10] = [
            ("request_input", |c| c.request_input = Some(64)),
            ("acknowledge_input", |c| (c.request_input, c.acknowledge_input) = (Some(3), Some(3))),
            ("stop_input", |c| (c.acknowledge_input, c.stop_input) = (Some(3), Some(3))),
            ("low_for", |c| c.low_for = Duration::ZERO),
            ("released_for", |c| c.released_for = Duration::MAX),
            ("low_states", |c| c.low_states = 0),
            ("pin_filter", |c| c.pin_filter = Duration::from_secs(1)),
            ("start_within", |c| c.start_within = Some(Duration::ZERO)),
            ("request", |c| (c.start_within, c.request_input) = (Some(Duration::from_secs(60)), Some(0))),
            ("request", |c| (c.start_within, c.request_pin) = (Some(Duration::from_secs(60)), true)),
        ];
        for (field, spoil) in cases {
            let mut config = OperatorConfig::default();
            assert_eq!(config.check(), Ok(()));
            spoil(&mut config);
            assert_eq!(config.check().map_err(|error| error.field), Err(field));
        }
        let edge = OperatorConfig {
            start_within: Some(Duration::from_secs(60)),
            request_input: Some(0),
            input_as: RequestAs::Edge,
            ..OperatorConfig::default()
        };
        assert_eq!(edge.check(), Ok(()));
    }
}
