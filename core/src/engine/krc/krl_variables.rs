//! The variables that the KRL program reads: set independently of the motion, repeated in every command, and confirmed
//! (`core/docs/protocol/kuka-fri.md A4`).
//!
//! There is no handshake. A measurement reports which command the KRC has received last. If that one, or an earlier
//! one, carried the value, the KRC has it. The wire does not show whether the KRL program has read it since then,
//! unless the program copies the variable to the one of the same kind and index that it sends. Such a variable is
//! [echoed](super::KrcOptions::echoed), and its echo confirms it.

use heapless::Vec;

use super::event::KrcEvent;
use super::krl_convention::KrlConvention;
use crate::command::outputs::{
    BATCH, MAX_WRITES, OutputsConfig, VariableKind, VariableValue, Write, WriteOutcome, WriteRefusal,
};
use crate::engine::event::{Event, Events};
use outrigger_wire::fri::{KrlIndex, KrlVariables};
use outrigger_wire::time::Instant;

/// `true` if this build can set KRL variables by requests of an application. Otherwise the code for it is omitted.
const AVAILABLE: bool = cfg!(feature = "outputs");

/// A set of KRL variables, with a bit for each variable of a kind: bit 0 is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrlSet {
    bools: u16,
    ints: u16,
    reals: u16,
}

impl KrlSet {
    /// The set without any KRL variables.
    pub const NONE: Self = Self { bools: 0, ints: 0, reals: 0 };

    const fn of(&self, kind: VariableKind) -> u16 {
        match kind {
            VariableKind::Bool => self.bools,
            VariableKind::Int => self.ints,
            VariableKind::Real => self.reals,
        }
    }

    /// Returns `true` if the KRL variable of this kind at the index `at` is in the set.
    #[must_use]
    pub const fn has(&self, kind: VariableKind, at: KrlIndex) -> bool {
        self.of(kind).unbounded_shr(at.index() as u32) & 1 != 0
    }

    /// Returns the set with the KRL variable of this kind at the index `at` added.
    #[must_use]
    pub const fn with(mut self, kind: VariableKind, at: KrlIndex) -> Self {
        let bit = 1_u16.unbounded_shl(at.index() as u32);
        match kind {
            VariableKind::Bool => self.bools |= bit,
            VariableKind::Int => self.ints |= bit,
            VariableKind::Real => self.reals |= bit,
        }
        self
    }
}

impl VariableValue {
    /// Writes this value to the KRL variable at the index `at` of the value's kind.
    pub fn write_to(self, variables: &mut KrlVariables, at: KrlIndex) {
        match self {
            Self::Bool(value) => variables.set_bool(at, value),
            Self::Int(value) => variables.set_int(at, value),
            Self::Real(value) => variables.set_real(at, value),
        }
    }
}

impl VariableKind {
    /// Returns the value of the KRL variable of this kind at the index `at`.
    #[must_use]
    pub fn read_from(self, variables: &KrlVariables, at: KrlIndex) -> VariableValue {
        match self {
            Self::Bool => VariableValue::Bool(variables.bool(at)),
            Self::Int => VariableValue::Int(variables.int(at)),
            Self::Real => VariableValue::Real(variables.real(at)),
        }
    }
}

/// A KRL variable that was requested to be set and is not confirmed yet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct VariableRequest {
    at: KrlIndex,
    value: VariableValue,
    /// The time of the request; once the variable's value is sent, the time of sending.
    since: Instant,
    /// The counter of the first command that carried the variable's value; `None` before.
    carried: Option<u16>,
}

impl VariableRequest {
    fn is(&self, at: KrlIndex, kind: VariableKind) -> bool {
        self.at == at && self.value.kind() == kind
    }

    const fn write(&self) -> Write {
        Write::Variable { index: self.at.krl(), value: self.value }
    }

    /// Returns the time at which the request to set the variable counts as failed, unless it is sent or confirmed
    /// before. Without a KRC (`there` is `false`), an unsent variable will never be sent.
    fn due(&self, config: &OutputsConfig, there: bool) -> Instant {
        match self.carried {
            Some(_) => self.since + config.confirm_within,
            None if there => self.since + config.send_within,
            None => self.since,
        }
    }
}

/// The KRL variables in every command, and the requested ones that the KRC is not known to have.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Variables {
    pub(super) sent: KrlVariables,
    asked: Vec<VariableRequest, MAX_WRITES>,
}

impl Variables {
    pub(super) const fn new(start: KrlVariables) -> Self {
        Self { sent: start, asked: Vec::new() }
    }

    /// Takes the request `write` to set a KRL variable; `there` is `true` while there is a KRC.
    pub(super) fn set(
        &mut self,
        write: Write,
        there: bool,
        handshake: KrlConvention,
        now: Instant,
        events: &mut Events<KrcEvent>,
    ) {
        if !AVAILABLE {
            return tell(events, write, WriteOutcome::Refused(WriteRefusal::Off));
        }
        let (at, value) = match check(write, there, handshake) {
            Ok(checked) => checked,
            Err(refusal) => return tell(events, write, WriteOutcome::Refused(refusal)),
        };
        if let Some(before) = self.take(|asked| asked.is(at, value.kind())) {
            tell(events, before.write(), WriteOutcome::Superseded);
        }
        if self.asked.push(VariableRequest { at, value, since: now, carried: None }).is_err() {
            tell(events, write, WriteOutcome::Refused(WriteRefusal::Full));
        }
    }

    /// Returns the KRL variables for the next command, with the next requested values. Only a few requests are taken at
    /// once, because there is room for few events.
    pub(super) fn take_up(&mut self) -> KrlVariables {
        if AVAILABLE {
            for asked in self.asked.iter().filter(|asked| asked.carried.is_none()).take(BATCH) {
                asked.value.write_to(&mut self.sent, asked.at);
            }
        }
        self.sent
    }

    /// Records that the command to the KRC with this counter carries the requested values that
    /// [`take_up`](Self::take_up) put into it, and reports each of them as sent.
    pub(super) fn carried(&mut self, counter: u16, now: Instant, events: &mut Events<KrcEvent>) {
        if AVAILABLE {
            for asked in self.asked.iter_mut().filter(|asked| asked.carried.is_none()).take(BATCH) {
                (asked.carried, asked.since) = (Some(counter), now);
                tell(events, asked.write(), WriteOutcome::Sent);
            }
        }
    }

    /// Takes a measurement that arrived at `arrival`. It is the first one that reflects our command with the counter
    /// `reflected`; `heard` are the variables in it that the KRL program writes.
    pub(super) fn observe(
        &mut self,
        reflected: u16,
        heard: &KrlVariables,
        echoed: KrlSet,
        arrival: Instant,
        events: &mut Events<KrcEvent>,
    ) {
        let confirmed = |asked: &VariableRequest| {
            let (at, value) = (asked.at, asked.value);
            // Not an earlier command: half of all counters count as earlier.
            let has_it = asked.carried.is_some_and(|carried| reflected.wrapping_sub(carried) < 0x8000);
            has_it && (!echoed.has(value.kind(), at) || value.kind().read_from(heard, at) == value)
        };
        for _ in 0..BATCH {
            let Some(asked) = self.take(confirmed) else { break };
            tell(events, asked.write(), WriteOutcome::Confirmed(arrival.since(asked.since)));
        }
    }

    /// Evaluates the timeouts of requested variables as of `now`; `there` is `false` if the KRC is lost. Values that
    /// were sent continue to be sent, to this KRC or to the next one.
    pub(super) fn tick(&mut self, config: &OutputsConfig, there: bool, now: Instant, events: &mut Events<KrcEvent>) {
        for _ in 0..BATCH {
            let Some(asked) = self.take(|asked| now >= asked.due(config, there)) else { break };
            let news = match asked.carried {
                Some(_) => WriteOutcome::NotConfirmed,
                None if there => WriteOutcome::Refused(WriteRefusal::LinkStale),
                None => WriteOutcome::Refused(WriteRefusal::NotConnected),
            };
            tell(events, asked.write(), news);
        }
    }

    pub(super) fn next_deadline(&self, config: &OutputsConfig, there: bool) -> Option<Instant> {
        self.asked.iter().map(|asked| asked.due(config, there)).min()
    }

    fn take(&mut self, is: impl Fn(&VariableRequest) -> bool) -> Option<VariableRequest> {
        if !AVAILABLE {
            return None;
        }
        let at = self.asked.iter().position(is)?;
        let taken = *self.asked.get(at)?;
        let mut place = 0..;
        self.asked.retain(|_| place.next() != Some(at));
        Some(taken)
    }
}

/// Returns the index of the KRL variable that `write` sets, and its value; an error if it cannot be set, or there is no
/// KRC.
fn check(write: Write, there: bool, handshake: KrlConvention) -> Result<(KrlIndex, VariableValue), WriteRefusal> {
    let Write::Variable { index, value } = write else { return Err(WriteRefusal::NoSuchOutput) };
    let at = KrlIndex::from_krl(index).ok_or(WriteRefusal::NoSuchOutput)?;
    match value {
        VariableValue::Real(value) if !value.is_finite() => return Err(WriteRefusal::NotFinite),
        VariableValue::Int(_) if handshake.writes(at) => return Err(WriteRefusal::Reserved),
        _ => {}
    }
    if there { Ok((at, value)) } else { Err(WriteRefusal::NotConnected) }
}

fn tell(events: &mut Events<KrcEvent>, write: Write, news: WriteOutcome) {
    events.push(Event::Output { write, news });
}

#[cfg(all(test, feature = "outputs"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use outrigger_wire::time::Duration;

    const fn at(index: u8) -> KrlIndex {
        KrlIndex::from_krl(index).expect("one of sixteen")
    }

    const fn ms(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    const fn write(index: u8, value: VariableValue) -> Write {
        Write::Variable { index, value }
    }

    const OPEN: Write = write(16, VariableValue::Bool(true));

    /// The variables of a KRC under test, and the events about them.
    struct Desk {
        variables: Variables,
        events: Events<KrcEvent>,
    }

    impl Desk {
        fn new() -> Self {
            Self { variables: Variables::new(KrlVariables::default()), events: Events::default() }
        }

        fn set(&mut self, write: Write, now: Instant) {
            self.variables.set(write, true, KrlConvention::RosControl, now, &mut self.events);
        }

        fn send(&mut self, counter: u16, now: Instant) -> KrlVariables {
            let sent = self.variables.take_up();
            self.variables.carried(counter, now, &mut self.events);
            sent
        }

        fn news(&mut self) -> Vec<(Write, WriteOutcome), 32> {
            let mut news = Vec::new();
            while let Some(event) = self.events.pop() {
                let Event::Output { write, news: of } = event else { panic!("{event:?}") };
                news.push((write, of)).expect("few of them");
            }
            news
        }
    }

    #[test]
    fn a_value_is_sent_until_another_and_confirmed_by_a_command_that_carried_it() {
        let mut desk = Desk::new();
        desk.set(OPEN, ms(0));
        assert!(desk.news().is_empty());
        assert!(desk.send(65_535, ms(3)).bool(at(16)));
        assert_eq!(desk.news().as_slice(), [(OPEN, WriteOutcome::Sent)]);
        assert!(desk.send(0, ms(4)).bool(at(16)), "and again");
        let heard = KrlVariables::default();
        desk.variables.observe(65_534, &heard, KrlSet::NONE, ms(5), &mut desk.events);
        assert!(desk.news().is_empty(), "a command before it");
        desk.variables.observe(1, &heard, KrlSet::NONE, ms(6), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(OPEN, WriteOutcome::Confirmed(Duration::from_millis(3)))]);
        let shut = write(16, VariableValue::Bool(false));
        desk.set(shut, ms(7));
        assert!(!desk.send(2, ms(8)).bool(at(16)));
        assert_eq!(desk.variables.next_deadline(&OutputsConfig::default(), true), Some(ms(1_008)));
    }

    #[test]
    fn one_that_the_program_copies_is_confirmed_by_the_copy() {
        let mut desk = Desk::new();
        let speed = write(3, VariableValue::Real(0.25));
        let echoed = KrlSet::NONE.with(VariableKind::Real, at(3));
        desk.set(speed, ms(0));
        desk.send(1, ms(0));
        desk.news();
        let mut heard = KrlVariables::default();
        desk.variables.observe(1, &heard, echoed, ms(1), &mut desk.events);
        heard.set_real(at(2), 0.25);
        desk.variables.observe(2, &heard, echoed, ms(2), &mut desk.events);
        assert!(desk.news().is_empty());
        heard.set_real(at(3), 0.25);
        desk.variables.observe(3, &heard, echoed, ms(12), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(speed, WriteOutcome::Confirmed(Duration::from_millis(12)))]);
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_its_reason_and_changes_nothing() {
        let mut desk = Desk::new();
        for (wrong, refusal) in [
            (write(0, VariableValue::Bool(true)), WriteRefusal::NoSuchOutput),
            (write(17, VariableValue::Real(1.0)), WriteRefusal::NoSuchOutput),
            (Write::SpeedSlider(0.5), WriteRefusal::NoSuchOutput),
            (write(2, VariableValue::Int(1)), WriteRefusal::Reserved),
            (write(2, VariableValue::Real(f32::NAN)), WriteRefusal::NotFinite),
        ] {
            desk.set(wrong, ms(0));
            let news = desk.news();
            assert!(
                matches!(news.as_slice(), [(_, WriteOutcome::Refused(why))] if *why == refusal),
                "{wrong:?}: {news:?}"
            );
        }
        desk.variables.set(OPEN, false, KrlConvention::None, ms(0), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(OPEN, WriteOutcome::Refused(WriteRefusal::NotConnected))]);
        assert_eq!(desk.send(1, ms(0)), KrlVariables::default());
        // The same index of another kind is another variable, and without a handshake none is reserved.
        desk.set(write(2, VariableValue::Real(1.0)), ms(0));
        desk.variables.set(write(2, VariableValue::Int(7)), true, KrlConvention::None, ms(0), &mut desk.events);
        let sent = desk.send(2, ms(0));
        assert_eq!((sent.real(at(2)), sent.int(at(2))), (1.0, 7));
    }

    #[test]
    fn time_and_silence_end_what_is_open() {
        let (mut desk, config) = (Desk::new(), OutputsConfig::default());
        let late = write(1, VariableValue::Bool(true));
        desk.set(late, ms(0));
        desk.variables.tick(&config, true, ms(499), &mut desk.events);
        assert!(desk.news().is_empty());
        desk.variables.tick(&config, true, ms(500), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(late, WriteOutcome::Refused(WriteRefusal::LinkStale))]);
        assert_eq!(desk.send(1, ms(501)).bools, 0, "what was refused is not sent");
        desk.set(OPEN, ms(600));
        desk.send(2, ms(600));
        desk.set(late, ms(601));
        desk.news();
        desk.variables.tick(&config, false, ms(601), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(late, WriteOutcome::Refused(WriteRefusal::NotConnected))]);
        desk.variables.tick(&config, false, ms(1_600), &mut desk.events);
        assert_eq!(desk.news().as_slice(), [(OPEN, WriteOutcome::NotConfirmed)]);
        assert!(desk.send(3, ms(1_700)).bool(at(16)), "it is still sent");
    }

    fn any_value() -> impl Strategy<Value = VariableValue> {
        prop_oneof![
            any::<bool>().prop_map(VariableValue::Bool),
            any::<i32>().prop_map(VariableValue::Int),
            (-1e6_f32..1e6).prop_map(VariableValue::Real),
        ]
    }

    proptest! {
        /// Every command carries the newest value of each variable, and every request has exactly one result.
        #[test]
        fn each_request_ends_once_and_the_newest_value_is_carried(
            steps in prop::collection::vec(
                (prop::option::of((0_u8..18, any_value())), any::<bool>(), any::<bool>(), 0_u64..400),
                0..60,
            ),
            first in any::<u16>(),
        ) {
            let (mut desk, config) = (Desk::new(), OutputsConfig::default());
            let (mut model, mut counter, mut now) = (KrlVariables::default(), first, 0);
            let (mut asked, mut ended) = (0, 0);
            for (set, sends, reflects, more) in steps {
                now += more;
                desk.variables.tick(&config, true, ms(now), &mut desk.events);
                if let Some((index, value)) = set {
                    asked += 1;
                    desk.set(write(index, value), ms(now));
                }
                if sends {
                    counter = counter.wrapping_add(1);
                    let sent = desk.send(counter, ms(now));
                    for (of, _) in desk.news_counted(&mut ended) {
                        if let Write::Variable { index, value } = of {
                            value.write_to(&mut model, at(index));
                        }
                    }
                    prop_assert_eq!(sent, model);
                }
                if reflects {
                    desk.variables.observe(counter, &KrlVariables::default(), KrlSet::NONE, ms(now + 1), &mut desk.events);
                }
                desk.news_counted(&mut ended);
            }
            for _ in 0..4 {
                desk.variables.tick(&config, true, ms(now + 2_000), &mut desk.events);
                desk.news_counted(&mut ended);
            }
            prop_assert_eq!(asked, ended);
        }
    }

    impl Desk {
        /// Returns the writes that were reported as sent since the last call; adds the number of other outcomes to
        /// `ended`.
        fn news_counted(&mut self, ended: &mut u32) -> Vec<(Write, WriteOutcome), 32> {
            let (sent, other): (std::vec::Vec<_>, std::vec::Vec<_>) =
                self.news().into_iter().partition(|(_, news)| *news == WriteOutcome::Sent);
            *ended += other.len() as u32;
            sent.into_iter().collect()
        }
    }
}
