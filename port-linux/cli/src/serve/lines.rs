//! Entries of a feed as lines of JSON.

use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::primary::MessageKind;
use outrigger_wire::time::Duration;

use outrigger::feed::{Item, Message, Streams, VARIABLES, What};
use outrigger::json::fields::Fields;
use outrigger::json::{Json, text};

/// Makes lines, one object each: states, messages of the controller, events, figures of the link.
pub(super) struct Lines<'m> {
    streams: Streams<'m>,
    /// ns since 1970 at the start of the process's clock.
    origin: u64,
    json: Json,
}

impl<'m> Lines<'m> {
    pub(super) const fn new(streams: Streams<'m>, origin: u64) -> Self {
        Self { streams, origin, json: Json::with_nulls() }
    }

    /// Tells the lines that an entry makes; while nobody is there for them (`wanted`), only keeps up with the streams.
    pub(super) fn make(&mut self, item: &Item, wanted: bool, tell: &mut dyn FnMut(&str)) {
        let Self { streams, origin, json } = self;
        let entry = match item {
            Item::Entry(entry) => entry,
            Item::Lost(lost) => {
                streams.lost();
                json.clear();
                json.begin_object().key("type").text("dropped").key("by").text("server");
                json.key("count").integer(*lost).end_object();
                return tell(json.as_str());
            }
        };
        let arrival = (*origin as f64 / 1e3 + entry.at.as_micros() as f64) / 1e6;
        let mut begin = |json: &mut Json, kind: &str| {
            json.clear();
            json.begin_object().key("type").text(kind).key("arrival_time").float(arrival);
        };
        match &entry.what {
            What::Opened { port } => {
                streams.opened(*port);
                begin(json, "opened");
                number(*port, json);
                json.end_object();
                tell(json.as_str());
            }
            What::Closed { port } => {
                begin(json, "closed");
                number(*port, json);
                json.end_object();
                tell(json.as_str());
            }
            What::Sent { port, bytes } => streams.sent(*port, bytes),
            // For recordings alone.
            What::Configuration(_) | What::Engine(_) => {}
            What::Received { port, bytes, first_start } => {
                streams.received(*port, bytes, *first_start, |message| {
                    if wanted && message_line(&message, *port, json, &mut begin) {
                        tell(json.as_str());
                    }
                });
            }
            What::Notice(notice) => {
                tell(&text(notice));
            }
            What::Link { mode, figures } => {
                begin(json, "link");
                link(*mode, figures, json);
                tell(json.as_str());
            }
        }
    }
}

/// A port as the controller numbers it, and which of two connections to it is meant.
fn number(port: u16, json: &mut Json) {
    if port == VARIABLES {
        json.key("port").integer(30_004_u16).key("connection").text("variables");
    } else {
        json.key("port").integer(port);
    }
}

/// The line of a message; `false` for what is not told.
fn message_line(message: &Message<'_>, port: u16, json: &mut Json, begin: &mut dyn FnMut(&mut Json, &str)) -> bool {
    match message {
        Message::Realtime(_) | Message::Rtde(..) | Message::Fri(_) => {
            begin(json, if port == VARIABLES { "variables" } else { "state" });
            number(port, json);
            message.visit_state(&mut Fields::new(json));
        }
        Message::Primary(primary, software) => {
            let MessageKind::RobotMessage(robot_message) = primary.kind() else { return false };
            let Ok(payload) = robot_message.payload(*software) else { return false };
            begin(json, "message");
            json.key("name").text(payload.name());
            // A message that breaks off is shown as far as it goes: its payload was understood.
            let _ = primary.visit(*software, &mut Fields::new(json));
        }
        Message::RtdeText(_) | Message::SubPackage(_) | Message::Trouble(_) => return false,
    }
    json.end_object();
    true
}

fn link(mode: Mode, figures: &Figures, json: &mut Json) {
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    json.key("mode").text(mode.name()).key("grade").text(figures.grade.name());
    json.key("age_ms").float(figures.age.map_or(f64::NAN, ms)).key("jitter_ms").float(ms(figures.jitter));
    json.key("accepted").integer(figures.sequence.accepted).key("lost").integer(figures.sequence.lost);
    json.key("late").integer(figures.late);
    if let Some(answers) = figures.answers {
        json.key("answered_per_10000").integer(answers.rate);
        json.key("round_trip_ms").float(answers.round_trip.map_or(f64::NAN, ms));
    }
    json.end_object();
}

#[cfg(test)]
mod tests;
