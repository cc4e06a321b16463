//! An operator who speaks by the robot's digital inputs: edges of levels that every state shows.

use crate::mode::{Edge, Epoch, RequestLine};
use crate::robot::BadValue;
use crate::time::{Duration, Instant};

/// The robot's digital inputs that stand for an operator, by bit of the real-time packet: on CB3 and later 0 … 7 are the
/// standard inputs, 8 … 15 the configurable ones, 16 and 17 the tool's. `None` is the default.
///
/// Only a rising edge says something. High at boot, at connecting or across a fallback is none: the level must first be
/// seen low. A state too old for a moving command shows no edge, and a rise that was first seen in one is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct OperatorInputs {
    /// Its rising edge asks to command.
    pub request: Option<u8>,
    /// Its rising edge clears the latched reason.
    pub acknowledge: Option<u8>,
}

impl OperatorInputs {
    /// Whether both are inputs, and not the same.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        let exists = |input: Option<u8>| input.is_none_or(|input| input < 64);
        BadValue::unless(exists(self.request), "request_input", "a bit from 0 to 63")?;
        BadValue::unless(exists(self.acknowledge), "acknowledge_input", "a bit from 0 to 63")?;
        let differ = self.request.is_none() || self.request != self.acknowledge;
        BadValue::unless(differ, "acknowledge_input", "another input than request_input")
    }
}

/// What an operator asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Request,
    Acknowledge,
}

/// Makes edges of the inputs' levels.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct OperatorLines {
    inputs: OperatorInputs,
    request: RequestLine,
    acknowledge: RequestLine,
    /// Where the levels were last seen: what was high in another epoch was said in that one.
    epoch: Epoch,
    seen: Instant,
}

impl OperatorLines {
    pub(super) fn new(inputs: OperatorInputs) -> Self {
        let line = RequestLine::Unknown;
        Self { inputs, request: line, acknowledge: line, epoch: Epoch::default(), seen: Instant::ZERO }
    }

    /// Takes the levels of the newest state. `fresh` says whether it may be acted on, `gap` how long nothing may have
    /// been seen.
    pub(super) fn observe(
        &mut self,
        levels: u64,
        fresh: bool,
        epoch: Epoch,
        now: Instant,
        gap: Duration,
    ) -> Option<Asked> {
        if epoch != self.epoch || now.since(self.seen) > gap {
            self.request.disarm();
            self.acknowledge.disarm();
        }
        (self.epoch, self.seen) = (epoch, now);
        let rose = |line: &mut RequestLine, input: Option<u8>| {
            let high = input.is_some_and(|input| levels.checked_shr(input.into()).unwrap_or(0) & 1 == 1);
            match (fresh, high) {
                (true, _) => line.observe(high) == Some(Edge::Rise),
                // An old state is no witness of a low level, and spends a high one.
                (false, true) => {
                    line.disarm();
                    false
                }
                (false, false) => false,
            }
        };
        let acknowledged = rose(&mut self.acknowledge, self.inputs.acknowledge);
        let requested = rose(&mut self.request, self.inputs.request);
        // Both in one state is one hand on both: seen first, asked for by itself.
        if acknowledged { Some(Asked::Acknowledge) } else { requested.then_some(Asked::Request) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_millis(300);

    struct Lines {
        lines: OperatorLines,
        now: Instant,
        epoch: u32,
    }

    impl Lines {
        fn new() -> Self {
            let inputs = OperatorInputs { request: Some(0), acknowledge: Some(1) };
            Self { lines: OperatorLines::new(inputs), now: Instant::ZERO, epoch: 1 }
        }

        fn see_after(&mut self, millis: u64, levels: u64, fresh: bool) -> Option<Asked> {
            self.now = self.now + Duration::from_millis(millis);
            self.lines.observe(levels, fresh, Epoch::from_number(self.epoch), self.now, GAP)
        }

        fn see(&mut self, levels: u64) -> Option<Asked> {
            self.see_after(8, levels, true)
        }
    }

    #[test]
    fn a_rise_asks_once() {
        let mut lines = Lines::new();
        let seen = [0, 1, 1, 0, 1, 3].map(|levels| lines.see(levels));
        let (request, acknowledge) = (Some(Asked::Request), Some(Asked::Acknowledge));
        assert_eq!(seen, [None, request, None, None, request, acknowledge]);
    }

    #[test]
    fn what_is_high_at_boot_and_in_another_epoch_was_said_before() {
        let mut lines = Lines::new();
        assert_eq!([1, 1].map(|levels| lines.see(levels)), [None, None]);
        assert_eq!([0, 1].map(|levels| lines.see(levels)), [None, Some(Asked::Request)]);
        lines.epoch = 2;
        assert_eq!([1, 1, 0, 1].map(|levels| lines.see(levels)), [None, None, None, Some(Asked::Request)]);
        lines.see(0);
        lines.epoch = 3;
        assert_eq!(lines.see(1), None, "it rose while authority was lost");
    }

    #[test]
    fn an_old_state_shows_no_edge_and_spends_a_rise() {
        let mut lines = Lines::new();
        lines.see(0);
        assert_eq!(lines.see_after(8, 1, false), None);
        assert_eq!([1, 1, 0, 1].map(|levels| lines.see(levels)), [None, None, None, Some(Asked::Request)]);
        let mut lines = Lines::new();
        assert_eq!(lines.see_after(8, 0, false), None);
        assert_eq!(lines.see(1), None, "an old low is none");
    }

    #[test]
    fn what_rose_while_nothing_was_seen_is_no_edge() {
        let mut lines = Lines::new();
        lines.see(0);
        assert_eq!(lines.see_after(301, 1, true), None);
        lines.see(0);
        assert_eq!(lines.see_after(300, 1, true), Some(Asked::Request));
    }

    #[test]
    fn both_at_once_is_an_acknowledgement_and_spends_the_request() {
        let mut lines = Lines::new();
        lines.see(0);
        assert_eq!([3, 3, 3].map(|levels| lines.see(levels)), [Some(Asked::Acknowledge), None, None]);
    }

    #[test]
    fn inputs_that_are_none_or_the_same_are_refused() {
        let check = |request, acknowledge| OperatorInputs { request, acknowledge }.check().map_err(|error| error.field);
        assert_eq!(check(None, None), Ok(()));
        assert_eq!(check(Some(0), Some(17)), Ok(()));
        assert_eq!(check(Some(64), None), Err("request_input"));
        assert_eq!(check(Some(3), Some(3)), Err("acknowledge_input"));
    }
}
