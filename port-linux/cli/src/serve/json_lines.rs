//! Converts the entries of a session's feed to lines of JSON for the clients of `[serve]`.

use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::primary::MessageKind;
use outrigger_wire::time::Duration;
use serde::Serialize;

use outrigger::feed::{EntryContent, Item, Message, Streams, connection_of};
use outrigger::json;
use outrigger::json::fields::Fields;

/// A converter of feed entries to lines with one JSON object each: states, messages of the controller, events,
/// figures of the link.
pub(super) struct Lines<'m> {
    streams: Streams<'m>,
    /// The time at the start of the process's clock \[ns since 1970\].
    origin: u64,
    fields: Fields,
}

/// A JSON line for the clients of `[serve]` that is neither a message of the controller nor an event.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Opened {
        arrival_time: f64,
        #[serde(flatten)]
        port: Port,
    },
    Closed {
        arrival_time: f64,
        #[serde(flatten)]
        port: Port,
    },
    Link {
        arrival_time: f64,
        #[serde(flatten)]
        link: Link,
    },
    Dropped {
        by: &'static str,
        count: u64,
    },
}

/// The members of a line that identify a connection: the port as the controller numbers it, and the connection's
/// name if there are two to the port.
#[derive(Serialize)]
struct Port {
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<&'static str>,
}

impl Port {
    fn of(port: u16) -> Self {
        let (port, connection) = connection_of(port);
        Self { port, connection }
    }
}

/// The members of a line about the mode of the session and the figures of its link.
#[derive(Serialize)]
struct Link {
    mode: &'static str,
    grade: &'static str,
    age_ms: Option<f64>,
    jitter_ms: f64,
    accepted: u64,
    lost: u64,
    late: u64,
    #[serde(flatten)]
    answers: Option<Answers>,
}

#[derive(Serialize)]
struct Answers {
    answered_per_10000: u16,
    round_trip_ms: Option<f64>,
}

impl Link {
    fn of(mode: Mode, figures: &Figures) -> Self {
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        Self {
            mode: mode.name(),
            grade: figures.grade.name(),
            age_ms: figures.age.map(ms),
            jitter_ms: ms(figures.jitter),
            accepted: figures.sequence.accepted,
            lost: figures.sequence.lost,
            late: figures.late,
            answers: figures
                .answers
                .map(|answers| Answers { answered_per_10000: answers.rate, round_trip_ms: answers.round_trip.map(ms) }),
        }
    }
}

impl<'m> Lines<'m> {
    pub(super) const fn new(streams: Streams<'m>, origin: u64) -> Self {
        Self { streams, origin, fields: Fields::with_nulls() }
    }

    /// Passes the JSON lines for an entry of the feed to `tell`. Unless they are `wanted`, messages of the controller
    /// only update the decoder's state and give no line.
    pub(super) fn make(&mut self, item: &Item, wanted: bool, tell: &mut dyn FnMut(&str)) {
        let Self { streams, origin, fields } = self;
        let entry = match item {
            Item::Entry(entry) => entry,
            Item::Lost(lost) => {
                streams.lost();
                return tell(&json::text(&Line::Dropped { by: "server", count: *lost }));
            }
        };
        let arrival_time = (*origin as f64 / 1e3 + entry.at.as_micros() as f64) / 1e6;
        match &entry.what {
            EntryContent::Opened { port } => {
                streams.opened(*port);
                tell(&json::text(&Line::Opened { arrival_time, port: Port::of(*port) }));
            }
            EntryContent::Closed { port } => tell(&json::text(&Line::Closed { arrival_time, port: Port::of(*port) })),
            EntryContent::Sent { port, bytes } => streams.sent(*port, bytes),
            // This entry is for recordings alone.
            EntryContent::Configuration(_) | EntryContent::Engine(_) => {}
            EntryContent::Received { port, bytes, first_start } => {
                streams.received(*port, bytes, *first_start, |message| {
                    if wanted && fields.object(|fields| message_line(&message, *port, arrival_time, fields)) {
                        tell(fields.as_str());
                    }
                });
            }
            EntryContent::Notice(notice) => tell(&json::text(notice)),
            EntryContent::Link { mode, figures } => {
                tell(&json::text(&Line::Link { arrival_time, link: Link::of(*mode, figures) }));
            }
        }
    }
}

/// Writes the JSON members that describe a message of the controller into `line`. Returns `false` for a message that
/// clients do not receive or that cannot be decoded.
fn message_line(message: &Message<'_>, port: u16, arrival_time: f64, line: &mut Fields) -> bool {
    match message {
        Message::Realtime(_) | Message::Rtde(..) | Message::Fri(_) => {
            let Port { port, connection } = Port::of(port);
            line.put("type", connection.unwrap_or("state"));
            line.put("arrival_time", &arrival_time);
            line.put("port", &port);
            if let Some(connection) = connection {
                line.put("connection", connection);
            }
            message.visit_state(line);
        }
        Message::Primary(primary, software) => {
            let MessageKind::RobotMessage(robot_message) = primary.kind() else { return false };
            let Ok(payload) = robot_message.payload(*software) else { return false };
            line.put("type", "message");
            line.put("arrival_time", &arrival_time);
            line.put("name", payload.name());
            // A message that breaks off is shown up to that point, because its payload was decoded.
            let _ = primary.visit(*software, line);
        }
        Message::RtdeText(_) | Message::SubPackage(_) | Message::Trouble(_) => return false,
    }
    true
}

#[cfg(test)]
mod tests;
