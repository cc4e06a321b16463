//! Descriptions of the engine's events: what happened, at which address, and what to check.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::engine::{Event, LinkId};
use outrigger_core::link::GradeLow;
use outrigger_core::mode::{Channel, Lapse, Refusal};
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

use super::reason_text::Observer;
use super::{Notice, grade, reason_text};

/// The data that the description of an event needs beside it: time, place of the controller, addresses, errors of
/// links.
pub struct Surroundings<'a> {
    /// The time of the described event since the start of the process.
    pub at: Instant,
    /// `true` if the controller runs on this machine.
    pub here: bool,
    /// A function that returns the socket address of one of the controller's ports.
    pub address: &'a dyn Fn(u16) -> SocketAddr,
    /// The program that reports the events: this process, a microcontroller board, or one whose recording is analysed.
    pub observer: Observer,
    /// A function that returns the operating system's last error of a link. `None` if there was none.
    pub trouble: &'a dyn Fn(LinkId) -> Option<String>,
}

impl Surroundings<'_> {
    /// Creates the data for describing an event of a controller without connections.
    #[must_use]
    pub const fn without_links(at: Instant, here: bool) -> Self {
        let observer = Observer::Process;
        let address = &|_| SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Self { at, here, observer, address, trouble: &|_| None }
    }
}

/// The kind, the text and the fields of an event, for people and scripts.
pub type EventText = (&'static str, String, Vec<(&'static str, String)>);

/// An event that only one kind of controller reports, with its description.
pub trait PeerEvent {
    /// Describes the event for people and scripts. Returns `None` if the event is not shown.
    fn words(&self, around: &Surroundings<'_>) -> Option<EventText>;

    /// Returns `true` if the event is the start of a session with the controller.
    fn begins(&self) -> bool;

    /// Returns `true` if the event is a contact of the tool that ended a motion.
    fn touches(&self) -> bool {
        false
    }
}

/// Describes `event` for people and scripts. Returns `None` if it is not shown.
#[must_use]
pub fn notice<E: PeerEvent>(event: &Event<E>, around: &Surroundings<'_>) -> Option<Notice> {
    let (kind, text, fields) = match event {
        Event::Peer(event) => event.words(around)?,
        Event::Transition(transition) => {
            let mut text = format!("{} → {}", transition.from.name(), transition.to.name());
            let mut fields = vec![("from", transition.from.name().into()), ("to", transition.to.name().into())];
            if let Some(reason) = transition.reason {
                text.push_str(&format!(": {} ({})", reason.text(), reason.name()));
                fields.push(("reason", reason.name().into()));
            }
            fields.push(("epoch", transition.epoch.number().to_string()));
            ("transition", text, fields)
        }
        Event::Refused(Refusal { word, by, reason }) => {
            let whose = if *by == Channel::Message { String::new() } else { format!(" ({})", by.name()) };
            let (what, why, advice) = (word.name(), reason.text(), reason_text::advice(*reason, around.here));
            let name = reason_text::command_name(what);
            let text = format!("{name}{whose} refused: {why} ({}); {advice}", reason.name());
            let fields = vec![("reason", reason.name().into()), ("word", what.into()), ("by", by.name().into())];
            ("refused", text, fields)
        }
        Event::Lapsed(lapse) => {
            let (why, name) = match lapse {
                Lapse::TooLate => ("the robot was not ready in time", "TooLate"),
                Lapse::Latched => ("a fault is latched: reset it", "Latched"),
            };
            ("lapsed", format!("automatic start cancelled: {why}; start again to continue"), vec![("why", name.into())])
        }
        Event::Grade(change) => {
            let mut fields = vec![("from", change.from.name().into()), ("to", change.to.name().into())];
            fields.extend(grade::fields(change));
            ("grade", grade::of_change(change, around.observer), fields)
        }
        Event::GradeLow(low) => {
            ("grade-low", grade::why_low(low, around.here, around.observer), grade::low_fields(low))
        }
        Event::ClockJump(count) => {
            ("clock-jump", format!("the controller's clock jumped or restarted ({count} in this session)"), vec![])
        }
        Event::Impossible(count) => {
            let text = format!("ignored a state that this arm cannot have ({count} in this session)");
            ("impossible-state", text, vec![("count", count.to_string())])
        }
        Event::LocalStall { late, limit } => {
            let fields = vec![("late", grade::span(*late)), ("limit", grade::span(*limit))];
            ("local-stall", grade::local_stall(around.observer, *late, *limit), fields)
        }
        Event::PendantOverridden => {
            let text = "a stop pressed at the pendant is overridden by the next command: stop here, by a stop input, \
                        or by the emergency stop";
            ("pendant-overridden", text.into(), vec![])
        }
        Event::Held(held) => {
            let text = held.map_or("the motion continues", reason_text::of_hold);
            ("held", text.into(), vec![("by", held.map_or("none", Reason::name).into())])
        }
        Event::Bridged(bridged) => {
            let text = format!("source {} is late: cycle {} of bridging", bridged.source.0, bridged.cycle);
            ("bridged", text, vec![])
        }
        Event::Output { write, news } => {
            let text = format!("{}: {}", reason_text::of_write(write), reason_text::of_news(news));
            (
                "output",
                text,
                vec![("what", reason_text::of_write(write)), ("news", reason_text::name_of_news(news).into())],
            )
        }
        Event::Lost(count) => ("events-lost", format!("{count} events were lost"), vec![]),
        _ => return None,
    };
    Some(Notice { at: around.at, kind, text, fields })
}

/// Returns the time of `event` by the clock of its engine, if the event contains it.
#[must_use]
pub const fn time_of<E>(event: &Event<E>) -> Option<Instant> {
    match event {
        Event::Transition(transition) => Some(transition.at),
        Event::Grade(change) => Some(change.at),
        _ => None,
    }
}

/// Replaces the text for a low link grade (quality), [`Reason::GradeLow`], in a notice by the figures of `low` that
/// explain it.
pub fn name_figures(notice: &mut Notice, low: &GradeLow, observer: Observer) {
    notice.text = notice.text.replacen(Reason::GradeLow.text(), &grade::of_link(low, observer), 1);
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::Bridged;
    use outrigger_core::command::outputs::{DigitalOutput, Write, WriteOutcome};
    use outrigger_core::engine::ur::UrEvent;
    use outrigger_core::link::{Grade, GradeCause, GradeChange, Metric};
    use outrigger_core::mode::{Epoch, Mode, OperatorAction, Transition};
    use outrigger_tests::require::committed::hold;
    use outrigger_wire::sensor::SourceId;
    use outrigger_wire::time::Duration;

    use super::*;
    use crate::json;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    fn around(observer: Observer) -> Surroundings<'static> {
        Surroundings { observer, ..Surroundings::without_links(at(20_000), false) }
    }

    #[test]
    fn a_stall_says_who_was_not_scheduled_for_how_long() {
        let event = Event::<UrEvent>::LocalStall { late: Duration::from_millis(79), limit: Duration::from_millis(40) };
        for (observer, who) in [(Observer::Process, "this process"), (Observer::Board, "the board")] {
            let told = notice(&event, &around(observer)).expect("it is told");
            assert_eq!(told.text, format!("{who} was not scheduled for 79 ms (limit 40 ms)"));
            assert_eq!(told.fields, [("late", "79 ms".to_owned()), ("limit", "40 ms".to_owned())]);
        }
    }

    #[test]
    fn the_end_of_commanding_for_a_low_grade_names_its_figure_and_both_their_time() {
        let cause = GradeCause { metric: Metric::Misses, grade: Grade::Ok, measured: 6, limit: 5 };
        let (from, to, late) = (Grade::Ok, Grade::Bad, Duration::ZERO);
        let fell = GradeChange { from, to, cause, at: at(12_340), late };
        let next = GradeCause { measured: 0, limit: 4, ..cause };
        let low = GradeLow { grade: Grade::Bad, needed: Grade::Ok, fell: Some(fell), next };
        let reason = Some(Reason::GradeLow);
        let (from, to) = (Mode::Command, Mode::Stopping);
        let event =
            Event::<UrEvent>::Transition(Transition { from, to, reason, at: at(12_500), epoch: Epoch::default() });
        let mut told = notice(&event, &around(Observer::Process)).expect("it is told");
        name_figures(&mut told, &low, Observer::Process);
        let expected = "Command → Stopping: link quality Bad, needs Ok: missed 6 cycles in a row (Ok allows 5) at 12.340 s; \
                        recovering: Ok after 100 clean cycles (GradeLow)";
        assert_eq!(told.text, expected);
        assert_eq!(time_of(&event), Some(at(12_500)));
        let change = Event::<UrEvent>::Grade(fell);
        assert_eq!(time_of(&change), Some(at(12_340)));
        let told = notice(&change, &around(Observer::Process)).expect("it is told");
        assert_eq!(told.text, "link Ok → Bad: missed 6 cycles in a row (Ok allows 5)");
        let rise = Event::<UrEvent>::Grade(GradeChange { from: Grade::Bad, to: Grade::Ok, ..fell });
        let told = notice(&rise, &around(Observer::Process)).expect("it is told");
        assert_eq!((told.text.as_str(), told.fields.len()), ("link Bad → Ok", 2));
    }

    /// A kind of controller without events of its own, for tests.
    struct Other;

    impl PeerEvent for Other {
        fn words(&self, _: &Surroundings<'_>) -> Option<EventText> {
            None
        }

        fn begins(&self) -> bool {
            false
        }
    }

    fn object(event: &Event<Other>) -> serde_json::Value {
        let around = Surroundings::without_links(Instant::from_micros(1_500_000), false);
        let text = json::text(&notice(event, &around).expect("an event for scripts"));
        serde_json::from_str(&text).expect("one object")
    }

    fn has(told: &serde_json::Value, fields: &[(&str, &str)]) {
        for (key, expected) in fields {
            assert_eq!(told[*key], *expected, "{key} in {told}");
        }
    }

    #[test]
    fn transitions_and_refusals_have_modes_and_reasons_under_their_keys() {
        let (from, to, reason) = (Mode::Command, Mode::Stopping, Some(Reason::StateStale));
        let transition = Transition { from, to, reason, at: Instant::ZERO, epoch: Epoch::from_number(3) };
        let told = object(&Event::Transition(transition));
        has(&told, &[("type", "event"), ("kind", "transition"), ("from", "Command"), ("to", "Stopping")]);
        has(&told, &[("reason", "StateStale"), ("epoch", "3")]);
        assert_eq!(told["time"], 1.5);
        let told = object(&Event::Transition(Transition {
            from: Mode::Arming,
            to: Mode::Command,
            reason: None,
            ..transition
        }));
        has(&told, &[("to", "Command")]);
        assert!(told.get("reason").is_none(), "{told}");
        let told = object(&Event::Refused(Refusal {
            word: OperatorAction::Request,
            by: Channel::Message,
            reason: Reason::Latched,
        }));
        has(&told, &[("kind", "refused"), ("word", "request"), ("by", "message"), ("reason", "Latched")]);
        let told = object(&Event::Lapsed(Lapse::TooLate));
        has(&told, &[("kind", "lapsed"), ("why", "TooLate")]);
    }

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let cause = GradeCause { metric: Metric::Jitter, grade: Grade::Perfect, measured: 480, limit: 450 };
        let fell =
            GradeChange { from: Grade::Perfect, to: Grade::Ok, cause, at: at(12_340), late: Duration::from_millis(3) };
        let low = GradeLow { grade: Grade::Ok, needed: Grade::Perfect, fell: Some(fell), next: cause };
        let (from, to, reason) = (Mode::Command, Mode::Stopping, Some(Reason::ProtectiveStop));
        let transition = Transition { from, to, reason, at: at(1), epoch: Epoch::from_number(3) };
        let write = Write::Digital { output: DigitalOutput::Standard(3), high: true };
        let events = [
            Event::Transition(transition),
            Event::Transition(Transition { from: Mode::Arming, to: Mode::Command, reason: None, ..transition }),
            Event::Refused(Refusal { word: OperatorAction::Request, by: Channel::Message, reason: Reason::Latched }),
            Event::Lapsed(Lapse::TooLate),
            Event::Lapsed(Lapse::Latched),
            Event::Grade(fell),
            Event::Grade(GradeChange { from: Grade::Bad, to: Grade::Ok, ..fell }),
            Event::GradeLow(low),
            Event::ClockJump(2),
            Event::Impossible(7),
            Event::LocalStall { late: Duration::from_millis(79), limit: Duration::from_millis(40) },
            Event::PendantOverridden,
            Event::Held(Some(Reason::ProgramPaused)),
            Event::Held(None),
            Event::Bridged(Bridged { source: SourceId(1), cycle: 2 }),
            Event::Output { write, news: WriteOutcome::Confirmed(Duration::from_micros(2_500)) },
            Event::Lost(9),
        ];
        let around = around(Observer::Process);
        let mut notices: Vec<_> = events.iter().filter_map(|event: &Event<Other>| notice(event, &around)).collect();
        assert_eq!(notices.len(), events.len());
        let text = "\u{1b}[2J \"pop-up\" \\ µ".to_owned();
        notices.push(Notice { at: at(0), kind: "report", text: text.clone(), fields: vec![("title", text)] });
        let lines = notices.iter().map(|notice| format!("{}\n", json::text(notice)));
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/show/golden/events.jsonl"), &lines.collect::<String>());
    }
}
