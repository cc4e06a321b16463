//! Events of the engine in words: what happened, at which address, and what to check.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::{Channel, Lapse, Refusal};
use outrigger_core::time::Instant;

use super::{Notice, grade, words};

/// What the words need beside the event.
pub struct Surroundings<'a> {
    /// When it happened.
    pub at: Instant,
    /// The controller runs on this machine.
    pub here: bool,
    /// The socket address of one of the controller's ports.
    pub address: &'a dyn Fn(u16) -> SocketAddr,
    /// What the operating system said last about a link.
    pub trouble: &'a dyn Fn(LinkId) -> Option<String>,
}

impl Surroundings<'_> {
    /// Those of a controller that is not connected to.
    #[must_use]
    pub const fn without_links(at: Instant, here: bool) -> Self {
        Self { at, here, address: &|_| SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0), trouble: &|_| None }
    }
}

/// An event for people and scripts: its kind, what it says, and the fields beside.
pub type Words = (&'static str, String, Vec<(&'static str, String)>);

/// What only one kind of controller reports, in words.
pub trait PeerEvent {
    /// The words; `None` for what is of no interest to anybody.
    fn words(&self, around: &Surroundings<'_>) -> Option<Words>;

    /// Whether a session begins with it.
    fn begins(&self) -> bool;

    /// Whether the tool has touched something, and a motion ended for it.
    fn touches(&self) -> bool {
        false
    }
}

/// `event` for people and scripts; `None` for what is of no interest to either.
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
            let (what, why, advice) = (word.name(), reason.text(), words::advice(*reason, around.here));
            let text = format!("{what}{whose} refused: {why} ({}); {advice}", reason.name());
            let fields = vec![("reason", reason.name().into()), ("word", what.into()), ("by", by.name().into())];
            ("refused", text, fields)
        }
        Event::Lapsed(lapse) => {
            let (why, name) = match lapse {
                Lapse::TooLate => ("the robot was not ready in time", "TooLate"),
                Lapse::Latched => ("a fault is latched: acknowledge it", "Latched"),
            };
            (
                "lapsed",
                format!("nothing is requested by itself any more, {why}; request to go on"),
                vec![("why", name.into())],
            )
        }
        Event::Grade(change) => {
            let why = grade::of_cause(&change.cause, change.to > change.from);
            let text = format!("link {} → {}: {why}", change.from.name(), change.to.name());
            let mut fields = vec![("from", change.from.name().into()), ("to", change.to.name().into())];
            fields.extend(grade::fields(&change.cause));
            ("grade", text, fields)
        }
        Event::GradeLow(low) => {
            let mut fields = vec![("grade", low.grade.name().into())];
            fields.extend(grade::fields(&low.cause));
            ("grade-low", grade::why_low(low, around.here), fields)
        }
        Event::ClockJump(count) => {
            ("clock-jump", format!("the controller's clock jumped or began anew ({count} in this session)"), vec![])
        }
        Event::LocalStall => ("local-stall", "this device itself stood still and was woken late".into(), vec![]),
        Event::PendantOverridden => {
            let text = "a stop pressed at the pendant is overridden by the next command: end commanding here, by a stop \
                        input, or by the emergency stop";
            ("pendant-overridden", text.into(), vec![])
        }
        Event::HeldByScaling(held) => {
            let text = if *held {
                "held by the robot's speed slider: move it up to go on".to_owned()
            } else {
                "the robot's speed slider lets the arm go on".to_owned()
            };
            ("held-by-scaling", text, vec![("held", held.to_string())])
        }
        Event::Bridged(bridged) => {
            let text = format!("source {} is late: cycle {} of bridging", bridged.source.0, bridged.cycle);
            ("bridged", text, vec![])
        }
        Event::Output { write, news } => {
            let text = format!("{}: {}", words::of_write(write), words::of_news(news));
            ("output", text, vec![("what", words::of_write(write)), ("news", words::name_of_news(news).into())])
        }
        Event::Lost(count) => ("events-lost", format!("{count} events were lost"), vec![]),
        _ => return None,
    };
    Some(Notice { at: around.at, kind, text, fields })
}

#[cfg(test)]
mod tests {
    use outrigger_core::mode::{Epoch, Mode, Transition, Word};
    use outrigger_core::robot::Reason;

    use super::*;
    use crate::json::Json;

    /// A controller without events of its own.
    struct Other;

    impl PeerEvent for Other {
        fn words(&self, _: &Surroundings<'_>) -> Option<Words> {
            None
        }

        fn begins(&self) -> bool {
            false
        }
    }

    fn object(event: &Event<Other>) -> serde_json::Value {
        let around = Surroundings::without_links(Instant::from_micros(1_500_000), false);
        let mut json = Json::default();
        notice(event, &around).expect("an event for scripts").json(&mut json);
        serde_json::from_str(json.as_str()).expect("one object")
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
        let told =
            object(&Event::Refused(Refusal { word: Word::Request, by: Channel::Message, reason: Reason::Latched }));
        has(&told, &[("kind", "refused"), ("word", "request"), ("by", "message"), ("reason", "Latched")]);
        let told = object(&Event::Lapsed(Lapse::TooLate));
        has(&told, &[("kind", "lapsed"), ("why", "TooLate")]);
    }
}
