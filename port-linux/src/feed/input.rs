//! Inputs of the engine beside a KRC, as a recording keeps them: with them it can be run again.

use std::net::SocketAddr;

use outrigger_core::command::{Sample, SampleValue, SourceId};
use outrigger_core::engine::{Input, LinkId};
use outrigger_core::mode::Epoch;
use outrigger_core::time::Instant;
use outrigger_core::wire::fields::{FieldVisitor, Group, Value};
use serde_json::Value as Read;

/// One input, without the bytes of a datagram.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineInput {
    /// When the engine was given it.
    pub at: Instant,
    /// What it is.
    pub what: Given,
}

/// What the engine was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// A datagram, whose bytes are kept beside.
    Datagram {
        /// Who sent it.
        from: SocketAddr,
        /// When it was read.
        arrival: Instant,
    },
    /// A reading of a sensor.
    Sample(Sample),
    /// A request, by the epoch that was seen.
    Request(Epoch),
    /// The same, to go on with a suspended motion.
    Resume(Epoch),
    /// An input of which there is nothing more to say, by its name.
    Plain(&'static str),
}

/// Inputs that have a name and nothing else.
const PLAIN: [(&str, Input); 7] = [
    ("start", Input::Start),
    ("link", Input::Opened(LinkId::FRI)),
    ("tick", Input::Tick),
    // What recordings of versions before call the same.
    ("drained", Input::Tick),
    ("release", Input::Release),
    ("acknowledge", Input::Acknowledge),
    ("shutdown", Input::Shutdown),
];

impl EngineInput {
    /// What is kept of `input`.
    #[must_use]
    pub fn of(input: &Input, at: Instant) -> Self {
        let what = match input {
            Input::Start => Given::Plain("start"),
            Input::Sample(sample) => Given::Sample(*sample),
            Input::Tick => Given::Plain("tick"),
            Input::Request(epoch) => Given::Request(*epoch),
            Input::Resume(epoch) => Given::Resume(*epoch),
            Input::Release => Given::Plain("release"),
            Input::Acknowledge => Given::Plain("acknowledge"),
            Input::Shutdown => Given::Plain("shutdown"),
            // The socket is there from the beginning to the end.
            Input::Opened(_) | Input::Accepted(..) | Input::Refused(_) | Input::Closed(_) | Input::Unacked { .. } => {
                Given::Plain("link")
            }
            // No command of this package sets outputs beside a KRC, and no host has pins: told, and not read back.
            Input::Set(_) => Given::Plain("set"),
            Input::Pin(..) => Given::Plain("pin"),
        };
        Self { at, what }
    }

    /// A datagram of `from`, which was read at `arrival`.
    #[must_use]
    pub const fn datagram(from: SocketAddr, arrival: Instant) -> Self {
        Self { at: arrival, what: Given::Datagram { from, arrival } }
    }

    /// The input itself; `None` for a datagram, which is received.
    #[must_use]
    pub fn input(&self) -> Option<Input> {
        match self.what {
            Given::Datagram { .. } => None,
            Given::Sample(sample) => Some(Input::Sample(sample)),
            Given::Request(epoch) => Some(Input::Request(epoch)),
            Given::Resume(epoch) => Some(Input::Resume(epoch)),
            Given::Plain(name) => PLAIN.into_iter().find(|(known, _)| *known == name).map(|(_, input)| input),
        }
    }

    /// Shows its fields: times in µs since the process began.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        visitor.field("at_us", Value::Unsigned(self.at.as_micros()));
        match self.what {
            Given::Datagram { from, arrival } => {
                visitor.field("input", Value::Text(b"datagram"));
                visitor.field("from", Value::Text(from.to_string().as_bytes()));
                visitor.field("arrival_us", Value::Unsigned(arrival.as_micros()));
            }
            Given::Sample(Sample { source, value, seq, taken_at }) => {
                visitor.field("input", Value::Text(b"sample"));
                visitor.field("source", Value::Unsigned(source.0.into()));
                visitor.field("sequence", Value::Unsigned(seq.into()));
                visitor.field("taken_us", Value::Unsigned(taken_at.as_micros()));
                // As bits: what is read back is the same number, whatever it is.
                visitor.begin("value_bits", Group::List);
                for value in value.as_slice() {
                    visitor.field("", Value::Unsigned(value.to_bits().into()));
                }
                visitor.end();
            }
            Given::Request(epoch) | Given::Resume(epoch) => {
                let name: &[u8] = if matches!(self.what, Given::Request(_)) { b"request" } else { b"resume" };
                visitor.field("input", Value::Text(name));
                visitor.field("epoch", Value::Unsigned(epoch.number().into()));
            }
            Given::Plain(name) => visitor.field("input", Value::Text(name.as_bytes())),
        }
    }

    /// Reads what [`visit`](Self::visit) showed, as one JSON object; `None` where it is none of these inputs.
    #[must_use]
    pub fn read(json: &[u8]) -> Option<Self> {
        let read: Read = serde_json::from_slice(json).ok()?;
        let micros = |name: &str| read.get(name).and_then(Read::as_u64).map(Instant::from_micros);
        let what = match read.get("input")?.as_str()? {
            "datagram" => {
                Given::Datagram { from: read.get("from")?.as_str()?.parse().ok()?, arrival: micros("arrival_us")? }
            }
            "sample" => {
                let number = |name: &str| read.get(name).and_then(Read::as_u64);
                let bits = read.get("value_bits")?.as_array()?.iter();
                let values: Option<Vec<_>> = bits
                    .map(|bits| bits.as_u64().and_then(|bits| u32::try_from(bits).ok()).map(f32::from_bits))
                    .collect();
                Given::Sample(Sample {
                    source: SourceId(u8::try_from(number("source")?).ok()?),
                    value: SampleValue::new(&values?)?,
                    seq: u32::try_from(number("sequence")?).ok()?,
                    taken_at: micros("taken_us")?,
                })
            }
            name @ ("request" | "resume") => {
                let number = read.get("epoch").and_then(Read::as_u64)?;
                let epoch = Epoch::from_number(u32::try_from(number).ok()?);
                if name == "request" { Given::Request(epoch) } else { Given::Resume(epoch) }
            }
            name => Given::Plain(PLAIN.iter().find(|(known, _)| *known == name)?.0),
        };
        Some(Self { at: micros("at_us")?, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::json::Json;

    #[test]
    fn what_is_written_is_read_back() {
        let at = Instant::from_micros(12_345_678);
        let value = SampleValue::new(&[0.1, f32::INFINITY, -0.0]).expect("three numbers");
        let sample = Sample { source: SourceId(3), value, seq: u32::MAX, taken_at: at };
        let from = "192.0.2.7:49938".parse().expect("an address");
        let mut inputs = vec![Input::Sample(sample)];
        inputs.extend([Input::Request(Epoch::from_number(7)), Input::Resume(Epoch::from_number(u32::MAX))]);
        inputs.extend(PLAIN.map(|(_, input)| input));
        let all = inputs.into_iter().map(|input| (EngineInput::of(&input, at), Some(input)));
        for (kept, input) in all.chain([(EngineInput::datagram(from, at), None)]) {
            let mut json = Json::default();
            json.begin_object();
            kept.visit(&mut Fields::new(&mut json));
            json.end_object();
            let read = EngineInput::read(json.as_str().as_bytes());
            assert_eq!(read, Some(kept), "{}", json.as_str());
            assert_eq!(read.and_then(|read| read.input()), input);
        }
        assert_eq!(EngineInput::read(br#"{"at_us":1,"input":"dance"}"#), None);
    }
}
