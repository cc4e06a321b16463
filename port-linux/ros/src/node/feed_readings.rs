//! Stores the robot's data from a session's feed, the sequence of all data exchanged with the robot, as readings.

use crate::readings::{Port, Readings};
use outrigger::feed::{EntryContent, Item, Message, Streams, VARIABLES};

/// Stores a message received on `port` at `micros` \[µs of the process's clock\] as readings. Returns `true` if the
/// message was a state from which topics are to be published.
pub(super) fn take(readings: &mut Readings, port: u16, micros: u64, message: &Message<'_>) -> bool {
    match message {
        Message::Realtime(_) => readings.state(Port::Realtime, micros, |to| message.visit_state(to)),
        Message::Rtde(..) => {
            let port = if port == VARIABLES { Port::Variables } else { Port::Rtde };
            readings.state(port, micros, |to| message.visit_state(to))
        }
        Message::Fri(_) => readings.state(Port::Fri, micros, |to| message.visit_state(to)),
        Message::SubPackage(package) => readings.sub_package(package.name(), micros, |to| package.visit(to)),
        Message::Primary(_, Some(software)) => {
            readings.identified(*software);
            false
        }
        _ => false,
    }
}

/// Stores the robot's data in `item`, the next item of a session's feed, as readings.
pub(super) fn hear(readings: &mut Readings, streams: &mut Streams<'_>, item: &Item) {
    let entry = match item {
        Item::Entry(entry) => entry,
        Item::Lost(_) => return streams.lost(),
    };
    match &entry.what {
        EntryContent::Opened { port } => streams.opened(*port),
        EntryContent::Sent { port, bytes } => streams.sent(*port, bytes),
        EntryContent::Received { port, bytes, first_start } => {
            streams.received(*port, bytes, *first_start, |message| {
                take(readings, *port, entry.at.as_micros(), &message);
            });
        }
        _ => {}
    }
}
