//! A client with a scripted service and a clock; all outputs and events are stored.

use crate::client::Output;
use crate::client::rtde::{Client, ClientConfig, ClientMemory, Event, Input, Inputs};
use crate::link::Sequence;
use crate::peer::rtde::Service;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DataType, DynamicRecipe, Field, Value};
use outrigger_wire::time::{Duration, Instant};

/// An event that the tested client has reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Data {
        values: Vec<(String, Option<Value>)>,
        sequence: Option<Sequence>,
        late: bool,
    },
    /// Any other event, as text.
    Other(String),
}

pub(crate) fn seen(event: Event<'_, '_>) -> Seen {
    match event {
        Event::Data(data) => Seen::Data {
            values: data.values.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            sequence: data.sequence,
            late: data.late,
        },
        other => Seen::Other(format!("{other:?}")),
    }
}

pub(crate) struct Bench {
    pub(crate) client: Client<'static, 'static>,
    pub(crate) service: Service,
    pub(crate) now: Instant,
    pub(crate) events: Vec<Seen>,
    /// The service's clock [µs], and the number of its cycles.
    pub(crate) micros: u64,
    pub(crate) step: u64,
    /// The largest number of bytes per read.
    pub(crate) read_most: usize,
}

pub(crate) const RECEIVE: usize = 1024;

pub(crate) fn leak<T: Clone>(value: T, len: usize) -> &'static mut [T] {
    Box::leak(vec![value; len].into_boxed_slice())
}

pub(crate) fn recipe(
    needed: &'static str,
    optional: &'static str,
    direction: Direction,
) -> DynamicRecipe<'static, 'static> {
    DynamicRecipe::with_optional(needed, optional, direction, leak(Field::EMPTY, 16)).unwrap()
}

impl Bench {
    pub(crate) fn new(needed: &'static str, optional: &'static str, inputs: &[&'static str]) -> Self {
        Self::with(ClientConfig::default(), needed, optional, inputs)
    }

    pub(crate) fn with(
        config: ClientConfig,
        needed: &'static str,
        optional: &'static str,
        inputs: &[&'static str],
    ) -> Self {
        let outputs = recipe(needed, optional, Direction::Output);
        let inputs: Vec<_> = inputs.iter().map(|names| Inputs::new(recipe(names, "", Direction::Input))).collect();
        let memory = ClientMemory { receive: leak(0, RECEIVE), transmit: leak(0, 256) };
        let client = Client::new(config, outputs, Box::leak(inputs.into_boxed_slice()), memory).unwrap();
        Self {
            client,
            service: Service::new(SoftwareVersion::new(5, 15)),
            now: Instant::ZERO,
            events: Vec::new(),
            micros: 1_000_000,
            step: 500,
            read_most: usize::MAX,
        }
    }

    /// Opens a connection and exchanges packages until both sides are idle.
    pub(crate) fn open(&mut self) {
        self.service.open();
        self.client.handle(self.now, Input::Opened);
        self.exchange();
    }

    /// Exchanges packages until both sides are idle.
    pub(crate) fn exchange(&mut self) {
        loop {
            let asked = self.drain();
            let window = self.client.receive_window();
            assert!(!window.is_empty(), "there is always room");
            let count = window.len().min(self.read_most).min(self.service.out.len());
            if count == 0 && !asked {
                return;
            }
            window.iter_mut().zip(self.service.out.drain(..count)).for_each(|(to, from)| *to = from);
            self.client.commit(count, self.now, self.now);
        }
    }

    /// Executes all outputs of the tested client and stores its events; returns whether the client sent anything.
    pub(crate) fn drain(&mut self) -> bool {
        let mut asked = false;
        loop {
            let event = self.client.poll_event().map(seen);
            let told = event.is_some();
            self.events.extend(event);
            match self.client.poll_output() {
                Some(Output::Transmit(bytes)) => {
                    self.service.write(bytes);
                    asked = true;
                }
                Some(Output::Close) => assert!(!self.client.is_flowing()),
                Some(output) => unreachable!("{output:?}"),
                None if told => {}
                None => return asked,
            }
        }
    }

    pub(crate) fn handle(&mut self, input: Input) {
        self.client.handle(self.now, input);
    }

    /// Advances the clocks of client and service by 2 ms; the service sends one data package.
    pub(crate) fn cycle(&mut self) {
        self.micros += 2_000;
        self.step += 1;
        self.now = self.now + Duration::from_millis(2);
        self.publish();
        self.exchange();
    }

    pub(crate) fn publish(&mut self) {
        let (micros, step) = (self.micros, self.step);
        self.service.publish(|name, data_type| match (name, data_type) {
            ("timestamp", _) => Value::Double(micros as f64 * 1e-6),
            ("control_step", _) => Value::Uint64(step),
            (_, DataType::Double) => Value::Double(0.5),
            (_, DataType::Vector6d) => Value::Vector6d([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (_, DataType::Int32) => Value::Int32(7),
            (_, DataType::Uint32) => Value::Uint32(2),
            (_, DataType::Uint64) => Value::Uint64(9),
            (name, data_type) => unreachable!("{name}: {data_type:?}"),
        });
    }

    /// Lets time pass without packages; the client is woken at the times it requested.
    pub(crate) fn wait(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while let Some(at) = self.client.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.handle(Input::Tick);
            self.exchange();
        }
        self.now = end;
    }

    /// Returns the events other than data since the last call, as text.
    pub(crate) fn others(&mut self) -> Vec<String> {
        self.events.drain(..).filter_map(|seen| if let Seen::Other(text) = seen { Some(text) } else { None }).collect()
    }

    /// Returns for each data package since the last call how its cycle counter follows the earlier ones.
    pub(crate) fn sequences(&mut self) -> Vec<Option<Sequence>> {
        let sequence = |seen| if let Seen::Data { sequence, .. } = seen { Some(sequence) } else { None };
        self.events.drain(..).filter_map(sequence).collect()
    }

    /// Returns the letters of the requests that clients sent.
    pub(crate) fn letters(&self) -> String {
        self.service.asked.iter().map(|(letter, _)| char::from(*letter)).collect()
    }
}
