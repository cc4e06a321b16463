//! Reads values from a session's feed that no engine stores: the temperatures of the motors. This happens on the
//! thread that draws the screen.

use outrigger_wire::primary::SubPackage;
use outrigger_wire::time::{Duration, Instant};

use outrigger::feed::{EntryContent, Item, Message, Reader, Streams};

/// The largest number of entries of the feed (the queue of the session's traffic and events) that are read before the
/// screen is drawn again; it exceeds the number that arrives meanwhile.
const ENTRIES: usize = 1_000;
/// The age up to which a motor temperature is shown; the slowest connection reports ten times a second.
const FRESH: Duration = Duration::from_secs(2);

/// A reader of the motors' temperatures from a session's feed (the queue of its traffic and events). Without a feed,
/// the temperatures stay unknown.
pub(super) struct TemperatureReader<'m> {
    streams: Option<Streams<'m>>,
    reader: Option<Reader>,
    temperatures: Option<(Instant, Vec<f32>)>,
}

impl<'m> TemperatureReader<'m> {
    /// Creates a reader that knows no motor temperatures yet. Without `streams`, which split received bytes into
    /// messages, it never reads any.
    pub(super) const fn new(streams: Option<Streams<'m>>) -> Self {
        Self { streams, reader: None, temperatures: None }
    }

    /// Sets the feed (the queue of a session's traffic and events) from which the motors' temperatures are read from
    /// now on.
    pub(super) fn listen(&mut self, reader: Reader) {
        self.reader = Some(reader);
    }

    /// Reads the motors' temperatures in the messages that have arrived since the last call in the feed (the queue of
    /// the session's traffic and events), up to 1 000 entries of it.
    pub(super) fn look(&mut self) {
        let (Some(reader), Some(streams)) = (&mut self.reader, &mut self.streams) else { return };
        for _ in 0..ENTRIES {
            match reader.next_now() {
                Some(Item::Entry(entry)) => match entry.what {
                    EntryContent::Opened { port } => streams.opened(port),
                    EntryContent::Sent { port, bytes } => streams.sent(port, &bytes),
                    EntryContent::Received { port, bytes, first_start } => {
                        let temperatures = &mut self.temperatures;
                        let _ = streams.received(port, &bytes, first_start, |message| {
                            if let Some(heard) = temperatures_in(&message) {
                                *temperatures = Some((entry.at, heard));
                            }
                        });
                    }
                    _ => {}
                },
                Some(Item::Lost(_)) => streams.lost(),
                None => break,
            }
        }
    }

    /// Returns the temperatures of the motors \[°C\]; `None` if they are unknown or too old at `now`.
    pub(super) fn temperatures(&self, now: Instant) -> Option<Vec<f32>> {
        let (at, temperatures) = self.temperatures.as_ref()?;
        (now.since(*at) <= FRESH).then(|| temperatures.clone())
    }
}

fn temperatures_in(message: &Message<'_>) -> Option<Vec<f32>> {
    match message {
        Message::Realtime(packet) => Some(packet.motor_temperatures().map(|degrees| degrees as f32).to_vec()),
        Message::SubPackage(SubPackage::JointData(data)) => {
            Some(data.to_repr().joints.iter().map(|joint| joint.t_motor).collect())
        }
        Message::Fri(measurement) => Some(measurement.temperature().to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::primary::{JointDataRepr, SubPackageRepr as _};

    use super::*;
    use outrigger::feed::{Feed, stream_memory};

    /// Returns a robot state of 30002 with these joint temperatures and nothing else.
    fn state(degrees: f32) -> Vec<u8> {
        let mut repr = JointDataRepr::default();
        repr.joints.iter_mut().for_each(|joint| joint.t_motor = degrees);
        let mut bytes = vec![0; 300];
        let length = repr.emit(251, &mut bytes[5..]).expect("room");
        bytes.truncate(5 + length);
        bytes[..4].copy_from_slice(&u32::try_from(5 + length).expect("short").to_be_bytes());
        bytes[4] = 16;
        bytes
    }

    #[test]
    fn temperatures_are_heard_in_pieces_and_forgotten_when_they_are_old() {
        let feed = Feed::new(16);
        let mut memory = stream_memory();
        let mut overheard = TemperatureReader::new(Streams::new(&mut memory));
        overheard.listen(feed.reader());
        let at = Instant::from_micros(1_000_000);
        feed.put(at, EntryContent::Opened { port: 30_002 });
        let bytes = state(31.5);
        let (first, rest) = bytes.split_at(100);
        feed.put(at, EntryContent::Received { port: 30_002, bytes: first.into(), first_start: Some(0) });
        overheard.look();
        assert_eq!(overheard.temperatures(at), None, "not whole");
        feed.put(at, EntryContent::Received { port: 30_002, bytes: rest.into(), first_start: None });
        overheard.look();
        assert_eq!(overheard.temperatures(at), Some(vec![31.5; 6]));
        assert_eq!(overheard.temperatures(at + Duration::from_millis(2_001)), None);
    }
}
