//! The operator's channels, and the thresholds of their signals.

use crate::robot::{BadValue, Range, range_of, settings, words};
use outrigger_wire::time::Duration;

/// The meaning of the level of an operator's request line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestAs {
    /// A rise of the line requests commanding, a low level ends it, and no request is granted while the line is low.
    #[default]
    Held,
    /// A rise of the line requests commanding, and another channel has to end it.
    Edge,
}

words!(RequestAs { "held" = Held, "edge" = Edge });

settings! {
    /// The operator's channels in addition to messages, and the thresholds of their signals. By default there are none.
    ///
    /// Inputs of the robot are numbered by the bit of a state's digital inputs. On CB3 and later 0 … 7 are the standard
    /// inputs, 8 … 15 the configurable ones, 16 and 17 the tool's. On a KRC bit 0 is `BOOL[1]`. Pins are listed in the
    /// table of a board.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct OperatorConfig in "" {
        /// The robot's digital input that is the operator's request line.
        pub request_input: Option<u8> [0 to 17] = None,
        /// The robot's digital input whose rise acknowledges the latched reason.
        pub acknowledge_input: Option<u8> [0 to 17] = None,
        /// The robot's digital input that ends commanding when it is low.
        pub stop_input: Option<u8> [0 to 17] = None,
        /// The meaning of the level at the robot's request input. Default held.
        pub input_as at "request_as": RequestAs = RequestAs::Held,
        /// A pin of this device is the operator's request line. Default no.
        pub request_pin nowhere: bool = false,
        /// A rise at a pin of this device acknowledges the latched reason. Default no.
        pub acknowledge_pin nowhere: bool = false,
        /// A pin of this device ends commanding when it is open. Default no.
        pub stop_pin nowhere: bool = false,
        /// The meaning of the level at this device's request pin. Default held.
        pub pin_as nowhere: RequestAs = RequestAs::Held,
        /// The time after its start within which this device makes its one automatic request; `None`, the default,
        /// never.
        pub start_within nowhere: Option<Duration> [Self::START_WITHIN] = None,
        /// The clock of this device is too inexact to judge the age of states: nothing is commanded
        /// ([`Reason::ClockInexact`](crate::robot::Reason::ClockInexact)). Default no.
        pub clock_is_inexact nowhere: bool = false,
        /// The time for which a line must be low before its rise counts. Default 50 ms.
        pub low_for: Duration [0.01 to 5.0 "s"] = Duration::from_millis(50),
        /// The time after a release by a line during which no rise counts. Default 1 s.
        pub released_for: Duration [0.0 to 60.0 "s"] = Duration::from_secs(1),
        /// The number of consecutive fresh states that must show an input low before it takes effect. Default 2.
        pub low_states: u8 [1 to 20] = 2,
        /// The time for which a pin must have a level before it counts. Default 20 ms.
        pub pin_filter nowhere: Duration [Self::PIN_FILTER] = Duration::from_millis(20),
    }
}

impl OperatorConfig {
    /// The range of values that [`start_within`](Self::start_within) accepts.
    pub const START_WITHIN: Range<Duration> = range_of!(0.1 to 3600.0 "s");
    /// The range of values that [`pin_filter`](Self::pin_filter) accepts.
    pub const PIN_FILTER: Range<Duration> = range_of!(0.005 to 0.2 "s");

    /// Checks every field of the operator's channels, and whether the fields are compatible.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), BadValue> {
        let Self { request_input: request, acknowledge_input: acknowledge, stop_input: stop, .. } = *self;
        self.check_ranges()?;
        let differ = |one: Option<u8>, other: Option<u8>| one.is_none() || one != other;
        BadValue::unless(differ(acknowledge, request), "acknowledge_input", "another input than request_input")?;
        BadValue::unless(
            differ(stop, request) && differ(stop, acknowledge),
            "stop_input",
            "another input than request_input and acknowledge_input",
        )?;
        BadValue::unless(
            self.start_within.is_none() || !self.is_held(),
            "request",
            "\"operator\" with a held request line: only the line starts",
        )
    }

    /// Returns `true` if at least one request line must be held high for commanding to continue.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        (self.request_input.is_some() && matches!(self.input_as, RequestAs::Held))
            || (self.request_pin && matches!(self.pin_as, RequestAs::Held))
    }

    /// Returns `true` if at least one request line requests by its rise only, so that its low level does not release.
    #[must_use]
    pub const fn has_edge(&self) -> bool {
        (self.request_input.is_some() && matches!(self.input_as, RequestAs::Edge))
            || (self.request_pin && matches!(self.pin_as, RequestAs::Edge))
    }

    /// Returns `true` if at least one operator's line can end commanding.
    #[must_use]
    pub const fn can_release(&self) -> bool {
        self.is_held() || self.stop_pin || self.stop_input.is_some()
    }

    /// Returns `true` if any pin of this device is an operator's line.
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
            assert_eq!(config.check().map_err(|error| error.field), Err(crate::robot::wording(field)));
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
