//! The connection of one RTDE client (`core/docs/protocol/ur-rtde.md 3, 10`): requests in, replies and effects out.

use outrigger_wire::rtde::{ControllerVersion, HEADER_LEN, Level, MAX_SIZE, Reply, TextMessage, TypeList};

use super::inputs::Field;
use super::outputs::{Output, State};
use super::value::Value;
use super::{Exchange, RtdeOptions};
use crate::controller::Conn;
use crate::firmware::Firmware;

/// The highest number of input recipes (lists of variables that a client has set up) of one connection.
const INPUT_RECIPES: usize = 255;
/// The number of the only output recipe (list of variables that a client has set up) of a connection.
const OUTPUT_RECIPE: u8 = 1;
/// The name of the sender in the text messages that the simulated controller sends to RTDE clients.
const SOURCE: &[u8] = b"RTDE";
/// An RTDE recipe number that no client has received, for the simulated fault that sends data with it.
const UNKNOWN_RECIPE: u8 = 250;

/// An effect of a request of an RTDE client; the effects of a request are executed in order.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Bytes of a message are sent to the RTDE client.
    Send(Vec<u8>),
    /// Values of the client are written to RTDE input variables.
    Write(Vec<(Field, Value)>),
    /// A text of the RTDE client is stored for the operator.
    Log(String),
    /// The output of data to the RTDE client begins, and these bytes, the reply to its start request, are sent to it.
    Started(Vec<u8>),
    /// The RTDE client's connection must be closed.
    Close,
}

/// The changes that active simulated faults make to RTDE replies and data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deviations {
    /// `true` if the reply to a set-up request has a wrong type for the first variable.
    pub(crate) wrong_type: bool,
    /// `true` if data packages have a recipe number that no client has received.
    pub(crate) wrong_recipe: bool,
}

/// The controller's state that an RTDE connection reads and changes.
pub(crate) struct Context<'a> {
    pub(crate) conn: Conn,
    pub(crate) firmware: Firmware,
    pub(crate) options: &'a RtdeOptions,
    pub(crate) exchange: &'a mut Exchange,
    pub(crate) deviations: Deviations,
}

#[derive(Debug)]
struct Outputs {
    fields: Vec<(&'static Output, u8)>,
    /// The number of control cycles from one RTDE data package to the next.
    every: u64,
    /// `true` if the client's output recipe has variables and all of them exist in this software.
    valid: bool,
}

/// The state of one RTDE connection.
#[derive(Debug)]
pub(crate) struct Session {
    received: Vec<u8>,
    version_2: bool,
    outputs: Option<Outputs>,
    inputs: Vec<Vec<Field>>,
    started: bool,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self { received: vec![], version_2: false, outputs: None, inputs: vec![], started: false }
    }

    /// Processes bytes from the RTDE client. Returns the effects of the requests in them.
    pub(crate) fn receive(&mut self, bytes: &[u8], context: &mut Context<'_>) -> Vec<Effect> {
        self.received.extend_from_slice(bytes);
        let mut effects = vec![];
        while let Some(head) = self.received.first_chunk::<HEADER_LEN>() {
            let [high, low, letter] = *head;
            let size = usize::from(u16::from_be_bytes([high, low]));
            if size < HEADER_LEN {
                effects.push(self.say(Level::Error, "a package is shorter than its header"));
                effects.push(Effect::Close);
                return effects;
            }
            if self.received.len() < size {
                return effects;
            }
            let package: Vec<u8> = self.received.drain(..size).collect();
            let payload = package.get(HEADER_LEN..).unwrap_or_default();
            let done = effects.len();
            self.request(letter, payload, context, &mut effects);
            let violated =
                effects.iter().skip(done).any(|effect| matches!(effect, Effect::Send(b) if b.get(2) == Some(&b'M')));
            if violated && context.options.closes_on_violation {
                effects.push(Effect::Close);
                return effects;
            }
        }
        effects
    }

    fn request(&mut self, letter: u8, payload: &[u8], context: &mut Context<'_>, effects: &mut Vec<Effect>) {
        match letter {
            b'V' => {
                let wanted = payload.first_chunk().map(|version| u16::from_be_bytes(*version));
                let accepted = matches!(wanted, Some(1 | 2)) && wanted <= Some(context.options.highest_protocol);
                effects.push(send(&Reply::ProtocolVersion { accepted }));
                if accepted {
                    self.version_2 = wanted == Some(2);
                }
            }
            b'v' => {
                let software = context.firmware.0;
                let (major, minor) = (software.major.into(), software.minor.into());
                let version = ControllerVersion { major, minor, bugfix: software.bugfix, build: 0 };
                effects.push(send(&Reply::ControllerVersion(version)));
            }
            b'O' => self.set_up_outputs(payload, context, effects),
            b'I' => self.set_up_inputs(payload, context, effects),
            b'S' => {
                let accepted = self.outputs.as_ref().is_some_and(|outputs| outputs.valid);
                self.started |= accepted;
                let reply = emitted(&Reply::Start { accepted });
                effects.push(if accepted { Effect::Started(reply) } else { Effect::Send(reply) });
            }
            b'P' => {
                self.started = false;
                effects.push(send(&Reply::Pause { accepted: true }));
            }
            b'U' => self.data(payload, context, effects),
            b'M' => match text(payload) {
                Some(text) => effects.push(Effect::Log(text)),
                None => effects.push(self.say(Level::Error, "a text ends before its length")),
            },
            _ => effects.push(self.say(Level::Error, "a package has an unknown type")),
        }
    }

    fn set_up_outputs(&mut self, payload: &[u8], context: &Context<'_>, effects: &mut Vec<Effect>) {
        let rate = 1.0 / context.firmware.period().as_secs_f64();
        let (frequency, names) = match payload.split_first_chunk() {
            Some((frequency, names)) if self.version_2 => (f64::from_be_bytes(*frequency), names),
            None if self.version_2 => {
                effects.push(self.say(Level::Error, "a set-up of outputs ends before its frequency"));
                return;
            }
            _ => (rate, payload),
        };
        if !(1.0..=rate).contains(&frequency) {
            effects.push(self.say(Level::Warning, &format!("{frequency} Hz is not within 1 and {rate} Hz")));
        }
        let Some(names) = self.names(names, context, effects) else { return };
        let found: Vec<_> = names.iter().map(|name| output(name, context)).collect();
        let mut words: Vec<_> =
            found.iter().map(|found| found.as_ref().map_or("NOT_FOUND", |(_, word)| word)).collect();
        deviate(&mut words, context);
        let valid = !found.is_empty() && found.iter().all(Option::is_some);
        // The rate is divided by an integer: 300 Hz of 500 Hz is every cycle.
        let every = (rate / frequency.clamp(1.0, rate)).floor().max(1.0) as u64;
        let fields = found.into_iter().flatten().map(|(field, _)| field).collect();
        self.outputs = Some(Outputs { fields, every, valid });
        let types = words.join(",");
        let recipe = self.version_2.then_some(if valid { OUTPUT_RECIPE } else { 0 });
        effects.push(send(&Reply::Outputs { recipe, types: TypeList(types.as_bytes()) }));
    }

    fn set_up_inputs(&mut self, payload: &[u8], context: &mut Context<'_>, effects: &mut Vec<Effect>) {
        let Some(names) = self.names(payload, context, effects) else { return };
        let found: Vec<_> = names.iter().map(|name| input(name, context)).collect();
        let mut words: Vec<_> =
            found.iter().map(|field| field.as_ref().map_or_else(|word| *word, |f| f.input.zero.word())).collect();
        deviate(&mut words, context);
        let fields: Vec<Field> = found.into_iter().flatten().collect();
        let mut recipe = 0;
        if fields.len() == names.len() && !fields.is_empty() && self.inputs.len() < INPUT_RECIPES {
            for field in &fields {
                context.exchange.claim(field.name(), context.conn);
            }
            self.inputs.push(fields);
            recipe = u8::try_from(self.inputs.len()).unwrap_or(0);
        }
        effects.push(send(&Reply::Inputs { recipe, types: TypeList(words.join(",").as_bytes()) }));
    }

    /// Splits the list of variable names in a request of an RTDE client. Returns `None`, and adds an error text to
    /// `effects`, if the list is longer than the controller accepts.
    fn names(&self, list: &[u8], context: &Context<'_>, effects: &mut Vec<Effect>) -> Option<Vec<String>> {
        let most = context.options.names.unwrap_or(context.firmware.rtde_names());
        if list.len() > most {
            effects.push(self.say(Level::Error, &format!("the list of names is longer than {most} bytes")));
            return None;
        }
        let list = String::from_utf8_lossy(list).into_owned();
        let list = list.strip_suffix(',').unwrap_or(&list);
        Some(list.split(',').filter(|_| !list.is_empty()).map(str::to_owned).collect())
    }

    fn data(&self, payload: &[u8], context: &Context<'_>, effects: &mut Vec<Effect>) {
        if !(self.started || context.options.inputs_before_start) {
            return;
        }
        let recipe = payload
            .split_first()
            .and_then(|(recipe, values)| Some((self.inputs.get(usize::from(*recipe).checked_sub(1)?)?, values)));
        let Some((fields, mut bytes)) = recipe else {
            effects.push(self.say(Level::Error, "data of a recipe that was not set up"));
            return;
        };
        let values: Vec<_> =
            fields.iter().map_while(|field| Some((*field, field.input.zero.take(&mut bytes)?))).collect();
        if values.len() < fields.len() || !bytes.is_empty() {
            effects.push(self.say(Level::Error, "data has not the length of its recipe"));
            return;
        }
        effects.push(Effect::Write(values));
    }

    /// Returns the RTDE data package of this cycle; `None` if the client has not started the output or none is due.
    pub(crate) fn publish(&self, state: &State<'_>, deviations: Deviations) -> Option<Vec<u8>> {
        let outputs = self.outputs.as_ref().filter(|outputs| self.started && outputs.valid)?;
        state.cycles.is_multiple_of(outputs.every).then(|| self.package(outputs, state, deviations))
    }

    /// Returns an RTDE data package, even if none is due in this cycle: the first package may precede the reply to a
    /// start request. `None` if the client has set up no output recipe.
    pub(crate) fn first(&self, state: &State<'_>) -> Option<Vec<u8>> {
        Some(self.package(self.outputs.as_ref()?, state, Deviations::default()))
    }

    fn package(&self, outputs: &Outputs, state: &State<'_>, deviations: Deviations) -> Vec<u8> {
        let mut values = vec![];
        for (output, number) in &outputs.fields {
            (output.value)(state, *number).append(&mut values);
        }
        let recipe = if deviations.wrong_recipe { UNKNOWN_RECIPE } else { OUTPUT_RECIPE };
        let room = HEADER_LEN + 1 + values.len();
        emitted_in(room, &Reply::Data { recipe: self.version_2.then_some(recipe), values: &values })
    }

    /// Returns whether the client has started the output of RTDE data.
    pub(crate) fn flows(&self) -> bool {
        self.started
    }

    /// Returns the effect of sending a text message to the RTDE client, in the format of the connection's protocol
    /// version.
    pub(crate) fn say(&self, level: Level, text: &str) -> Effect {
        let message = text.as_bytes().get(..255).unwrap_or(text.as_bytes());
        send(&Reply::Text(TextMessage { level, message, source: self.version_2.then_some(SOURCE) }))
    }
}

/// Returns the RTDE output variable of this name and the word for its type; `None` if this software does not have it.
fn output(name: &str, context: &Context<'_>) -> Option<((&'static Output, u8), &'static str)> {
    let (output, number) = Output::named(name)?;
    let has = output.since.reached(context.firmware.0, context.options.unconfirmed);
    has.then(|| ((output, number), output.zero.word()))
}

/// Returns the RTDE input variable of this name, or the word that refuses it in the reply to the set-up.
fn input(name: &str, context: &Context<'_>) -> Result<Field, &'static str> {
    let field =
        Field::named(name).filter(|field| field.since().reached(context.firmware.0, context.options.unconfirmed));
    let field = field.ok_or("NOT_FOUND")?;
    let fieldbus = context.options.fieldbus && field.input.lower;
    if fieldbus || context.exchange.owner(name).is_some_and(|owner| owner != context.conn) {
        return Err("IN_USE");
    }
    Ok(field)
}

/// Replaces the type of the first variable in an RTDE set-up reply by a wrong one while that simulated fault is active.
fn deviate(words: &mut [&str], context: &Context<'_>) {
    if context.deviations.wrong_type
        && let Some(word) = words.first_mut()
    {
        *word = if *word == "UINT64" { "UINT32" } else { "UINT64" };
    }
}

/// Returns the source and the text of a message that an RTDE client sent, as `source: text`; `None` if the message ends
/// too early.
fn text(payload: &[u8]) -> Option<String> {
    let (length, rest) = payload.split_first()?;
    let (message, rest) = rest.split_at_checked(usize::from(*length))?;
    let (length, rest) = rest.split_first()?;
    let (source, level) = rest.split_at_checked(usize::from(*length))?;
    level.first()?;
    Some(format!("{}: {}", String::from_utf8_lossy(source), String::from_utf8_lossy(message)))
}

fn emitted(reply: &Reply<'_>) -> Vec<u8> {
    emitted_in(MAX_SIZE, reply)
}

fn emitted_in(room: usize, reply: &Reply<'_>) -> Vec<u8> {
    let mut bytes = vec![0; room];
    // The replies of this file are never longer than a package.
    let size = reply.emit(&mut bytes).unwrap_or(0);
    bytes.truncate(size);
    bytes
}

fn send(reply: &Reply<'_>) -> Effect {
    Effect::Send(emitted(reply))
}
