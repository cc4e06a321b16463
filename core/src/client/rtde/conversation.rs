//! The RTDE protocol of one connection: requests, replies and data. Packages in, packages and events out.

use super::config::ClientConfig;
use super::event::{Data, Event, Failure, SetupStep};
use super::inputs::{Inputs, WriteError};
use super::outbox::Outbox;
use super::package_monitor::{Cadence, Watch};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::WireError;
use outrigger_wire::frame::{FrameError, StreamCounts, count_one};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::{
    DataType, DynamicRecipe, Level, Package, PackageType, Presence, Problem, Protocol, RecipeData, RecipeError, Reply,
    Request, TextMessage, TypeList,
};
use outrigger_wire::time::Instant;

/// The text by which a PolyScope X reports that nobody has confirmed its safety settings.
const UNCONFIRMED: &[u8] = b"SafetySetup has not been confirmed";

/// The function that receives the events of an RTDE connection.
pub(crate) type Sink<'s, 'n> = &'s mut dyn FnMut(Event<'_, 'n>);

/// The counts of the RTDE packages of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct RtdeCounts {
    /// The counts of all packages received, and of faults in the stream.
    pub stream: StreamCounts,
    /// The number of data packages received with values of the outputs.
    pub data: u64,
    /// The number of text messages received from the controller.
    pub texts: u32,
    /// The number of replies that no pending request awaited, and of data packages that arrived while no data was due.
    pub unexpected: u32,
    /// The number of data packages of recipes that were not set up.
    pub unknown_recipes: u32,
}

/// The state of an RTDE connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    /// No connection to the controller is open.
    Closed,
    /// A set-up request was sent for the `asked`th time; its reply is awaited.
    Asking { step: SetupStep, deadline: Instant, asked: u8 },
    /// Inputs were owned by another client and are requested again at `until`.
    InUse { recipe: u8, until: Instant },
    /// The controller sends data; without any until `silent_at` it counts as silent.
    Flowing { silent_at: Instant },
    /// The set-up is complete, and the controller's data is paused.
    Paused,
    /// The RTDE connection failed and must be closed.
    Failed,
}

/// The RTDE protocol of one connection: requests, replies and data.
#[derive(Debug)]
pub(crate) struct Conversation<'n, 'm> {
    config: ClientConfig,
    outputs: DynamicRecipe<'n, 'm>,
    inputs: &'m mut [Inputs<'n, 'm>],
    outbox: Outbox<'m>,
    talk: ConnectionState,
}

/// The state of one RTDE connection, without recipes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct ConnectionState {
    phase: Phase,
    protocol: Protocol,
    software: SoftwareVersion,
    /// The recipe number of the outputs once they are set up; the number is `None` in version 1.
    set_up: Option<Option<u8>>,
    /// The number of times that the inputs being set up were owned by another client.
    refused: u8,
    /// The time since which the controller has reported that its safety settings are not confirmed.
    unconfirmed: Option<Instant>,
    counts: RtdeCounts,
    watch: Watch,
}

impl ConnectionState {
    fn new() -> Self {
        Self {
            phase: Phase::Closed,
            protocol: Protocol::V1,
            software: SoftwareVersion::new(0, 0),
            set_up: None,
            refused: 0,
            unconfirmed: None,
            counts: RtdeCounts::default(),
            watch: Watch::default(),
        }
    }

    fn flow(&mut self, silent_at: Instant) {
        self.phase = Phase::Flowing { silent_at };
        self.watch.resume();
    }
}

impl<'n, 'm> Conversation<'n, 'm> {
    pub(super) fn new(
        config: ClientConfig,
        outputs: DynamicRecipe<'n, 'm>,
        inputs: &'m mut [Inputs<'n, 'm>],
        transmit: &'m mut [u8],
    ) -> Self {
        Self { config, outputs, inputs, outbox: Outbox::new(transmit), talk: ConnectionState::new() }
    }

    /// Begins the negotiation of RTDE on a new connection.
    pub(super) fn open(&mut self, now: Instant) {
        self.close();
        self.talk = ConnectionState::new();
        self.outputs.forget();
        for inputs in self.inputs.iter_mut() {
            inputs.recipe.forget();
        }
        // The first request always fits, and causes no event.
        self.ask(SetupStep::Protocol, now, &mut |_| {});
    }

    pub(super) fn close(&mut self) {
        self.talk.phase = Phase::Closed;
        self.talk.set_up = None;
        self.outbox.clear();
        for inputs in self.inputs.iter_mut() {
            inputs.number = None;
        }
    }

    /// Processes a package received from the controller, and passes its events to `on`.
    pub(super) fn take(&mut self, bytes: &[u8], arrival: Instant, now: Instant, on: Sink<'_, 'n>) {
        if self.is_over() {
            return;
        }
        let parsed = Package::new_checked(bytes).and_then(|package| {
            let reply = Reply::parse(&package, self.talk.protocol)?;
            Ok((package.package_type, reply))
        });
        let (package_type, reply) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => return self.malformed(error, on),
        };
        let counts = &mut self.talk.counts;
        counts.stream.messages = counts.stream.messages.saturating_add(1);
        match reply {
            Reply::Data { recipe, values } => self.take_data(recipe, values, arrival, now, on),
            Reply::Text(text) => self.take_text(text, now, on),
            Reply::Unknown { .. } => {
                count_one(&mut counts.stream.unknown);
                on(Event::Unexpected(package_type));
            }
            reply => self.take_reply(package_type, reply, now, on),
        }
    }

    fn take_reply(&mut self, package_type: PackageType, reply: Reply<'_>, now: Instant, on: Sink<'_, 'n>) {
        let asked = if let Phase::Asking { step, .. } = self.talk.phase { Some(step) } else { None };
        self.talk.unconfirmed = None;
        match (asked, reply) {
            (Some(SetupStep::Protocol), Reply::ProtocolVersion { accepted }) => {
                self.talk.protocol = if accepted { Protocol::V2 } else { Protocol::V1 };
                on(Event::Protocol(self.talk.protocol));
                self.ask(SetupStep::Controller, now, on);
            }
            (Some(SetupStep::Controller), Reply::ControllerVersion(version)) => {
                self.talk.software = version.software();
                on(Event::Controller(version));
                self.ask(SetupStep::Outputs, now, on);
            }
            (Some(SetupStep::Outputs), Reply::Outputs { recipe, types }) => self.set_up_outputs(recipe, types, now, on),
            (Some(SetupStep::Inputs(recipe)), Reply::Inputs { recipe: number, types }) => {
                self.set_up_inputs(recipe, number, types, now, on);
            }
            (Some(SetupStep::Start), Reply::Start { accepted: true }) => {
                self.talk.flow(now + self.config.silence_timeout);
                on(Event::Started);
            }
            (Some(SetupStep::Start), Reply::Start { accepted: false }) => self.fail(Failure::NotStarted, on),
            // The first data was accepted as the reply already.
            (None, Reply::Start { accepted: true }) if self.is_flowing() => {}
            (Some(SetupStep::Pause), Reply::Pause { .. }) => {
                self.talk.phase = Phase::Paused;
                on(Event::Paused);
            }
            _ => {
                count_one(&mut self.talk.counts.unexpected);
                on(Event::Unexpected(package_type));
            }
        }
    }

    fn set_up_outputs(&mut self, number: Option<u8>, types: TypeList<'_>, now: Instant, on: Sink<'_, 'n>) {
        let absent = match self.outputs.answered(types) {
            Ok(absent) => absent,
            Err(error) => return self.fail(Failure::Outputs(error), on),
        };
        if let Some(error) = self.outputs.problem() {
            return self.fail(Failure::Outputs(error), on);
        }
        if self.outputs.size() == Some(0) {
            return self.fail(Failure::NoOutputs, on);
        }
        if absent > 0 {
            return self.ask(SetupStep::Outputs, now, on);
        }
        self.outputs.absent().for_each(|error| on(Event::Absent(error)));
        self.other_types().for_each(|(name, expected, answered)| on(Event::OtherType { name, expected, answered }));
        self.talk.set_up = Some(number);
        let frequency = match self.talk.protocol {
            Protocol::V1 => u16::MAX,
            Protocol::V2 => self.config.frequency,
        };
        self.talk.watch = Watch::new(self.talk.software, frequency, &self.outputs);
        on(Event::Outputs);
        self.next_inputs(0, now, on);
    }

    /// Continues the set-up of the connection with this recipe of inputs, or with the start of data if there is no such
    /// recipe.
    fn next_inputs(&mut self, recipe: u8, now: Instant, on: Sink<'_, 'n>) {
        self.talk.refused = 0;
        let step = if usize::from(recipe) < self.inputs.len() { SetupStep::Inputs(recipe) } else { SetupStep::Start };
        self.ask(step, now, on);
    }

    fn set_up_inputs(&mut self, recipe: u8, number: u8, types: TypeList<'_>, now: Instant, on: Sink<'_, 'n>) {
        let Some(inputs) = self.inputs.get_mut(usize::from(recipe)) else { return };
        let answered = inputs.recipe.answered(types);
        let in_use = inputs.recipe.absent().find(|error| error.problem == Problem::InUse);
        let first = inputs.recipe.fields().first().map_or("", |field| field.name);
        let error = match (answered, in_use) {
            (Err(error), _) => error,
            (Ok(_), Some(error)) => {
                self.talk.refused = self.talk.refused.saturating_add(1);
                if self.talk.refused < self.config.in_use_attempts {
                    let again_in = self.config.in_use_wait;
                    on(Event::InUse { recipe: recipe.into(), name: error.name, again_in });
                    self.talk.phase = Phase::InUse { recipe, until: now + again_in };
                    return;
                }
                error
            }
            (Ok(absent), None) => match inputs.recipe.problem().or_else(|| of_other_type(&inputs.recipe)) {
                Some(error) => error,
                None if inputs.recipe.size() == Some(0) => RecipeError { name: first, problem: Problem::NotFound },
                None if absent > 0 => return self.ask(SetupStep::Inputs(recipe), now, on),
                None if number == 0 => RecipeError { name: first, problem: Problem::Refused },
                None => {
                    inputs.number = Some(number);
                    on(Event::Inputs { recipe: recipe.into() });
                    return self.next_inputs(recipe.saturating_add(1), now, on);
                }
            },
        };
        on(Event::InputsRefused { recipe: recipe.into(), error });
        self.next_inputs(recipe.saturating_add(1), now, on);
    }

    fn take_data(&mut self, number: Option<u8>, values: &[u8], arrival: Instant, now: Instant, on: Sink<'_, 'n>) {
        if self.talk.set_up != Some(number) {
            count_one(&mut self.talk.counts.unknown_recipes);
            return on(Event::UnknownRecipe(number));
        }
        let (Phase::Asking { step: SetupStep::Start | SetupStep::Pause, .. } | Phase::Flowing { .. }) = self.talk.phase
        else {
            count_one(&mut self.talk.counts.unexpected);
            return on(Event::Unexpected(PackageType::Data));
        };
        let data = match self.outputs.read(values) {
            Ok(data) => data,
            Err(error) => {
                count_one(&mut self.talk.counts.stream.malformed);
                return on(Event::Malformed(error));
            }
        };
        match self.talk.phase {
            // The reply to the start arrives later, or was lost.
            Phase::Asking { step: SetupStep::Start, .. } => {
                self.talk.flow(now + self.config.silence_timeout);
                on(Event::Started);
            }
            Phase::Flowing { .. } => self.talk.phase = Phase::Flowing { silent_at: now + self.config.silence_timeout },
            // Data that was sent before a pause took effect is still data.
            _ => {}
        }
        self.talk.counts.data = self.talk.counts.data.saturating_add(1);
        let (sequence, late) = self.talk.watch.observe(values, arrival, self.config.clock_jump);
        on(Event::Data(Data { values: data, sequence, late }));
    }

    /// Returns the values of a received data package of the outputs; `None` if it is no such package.
    pub(super) fn values<'e>(&'e self, package: &'e [u8]) -> Option<RecipeData<'e, 'n>> {
        match self.reply(package)? {
            Reply::Data { values, .. } => self.outputs.read(values).ok(),
            _ => None,
        }
    }

    /// Returns the text message in a received RTDE package; `None` if it is no text message.
    pub(super) fn text<'e>(&self, package: &'e [u8]) -> Option<TextMessage<'e>> {
        match self.reply(package)? {
            Reply::Text(text) => Some(text),
            _ => None,
        }
    }

    fn reply<'e>(&self, package: &'e [u8]) -> Option<Reply<'e>> {
        Reply::parse(&Package::new_checked(package).ok()?, self.talk.protocol).ok()
    }

    /// Iterates over the outputs whose type differs from that in the registry of RTDE variables: name, type in the
    /// registry, type on the controller.
    pub(super) fn other_types(&self) -> impl Iterator<Item = (&'n str, DataType, DataType)> {
        other_types(&self.outputs)
    }

    fn take_text(&mut self, text: TextMessage<'_>, now: Instant, on: Sink<'_, 'n>) {
        count_one(&mut self.talk.counts.texts);
        on(Event::Text(text));
        let says_so = text.message.windows(UNCONFIRMED.len()).any(|part| part == UNCONFIRMED);
        if says_so && matches!(self.talk.phase, Phase::Asking { .. }) && self.talk.unconfirmed.is_none() {
            self.talk.unconfirmed = Some(now);
            on(Event::Unconfirmed);
        }
    }

    fn malformed(&mut self, error: WireError, on: Sink<'_, 'n>) {
        count_one(&mut self.talk.counts.stream.malformed);
        on(Event::Malformed(error));
    }

    /// Reports that a package longer than the memory was skipped, or ends the connection because the stream does not
    /// consist of packages.
    pub(super) fn skip(&mut self, error: FrameError, on: Sink<'_, 'n>) {
        if self.is_over() {
            return;
        }
        if let FrameError::LostSync { .. } = error {
            count_one(&mut self.talk.counts.stream.lost_sync);
            return self.fail(Failure::LostSync(error), on);
        }
        count_one(&mut self.talk.counts.stream.oversize);
        on(Event::Skipped(error));
    }

    #[inline(never)]
    fn fail(&mut self, failure: Failure<'n>, on: Sink<'_, 'n>) {
        self.close();
        self.talk.phase = Phase::Failed;
        on(Event::Failed(failure));
    }

    /// Sends a set-up request of RTDE for the first time.
    fn ask(&mut self, step: SetupStep, now: Instant, on: Sink<'_, 'n>) {
        self.ask_again(step, 1, now, on);
    }

    #[inline(never)]
    fn ask_again(&mut self, step: SetupStep, asked: u8, now: Instant, on: Sink<'_, 'n>) {
        let Self { config, outputs, inputs, outbox, talk } = self;
        let frequency = match talk.protocol {
            Protocol::V1 => None,
            Protocol::V2 => Some(f64::from(config.frequency.min(Watch::rate(talk.software)))),
        };
        let written = outbox.append(|out| match step {
            SetupStep::Protocol => Request::ProtocolVersion(Protocol::V2.number()).emit(out),
            SetupStep::Controller => Request::ControllerVersion.emit(out),
            SetupStep::Outputs => outputs.emit_request(frequency, out),
            SetupStep::Inputs(recipe) => {
                inputs.get(usize::from(recipe)).map_or(Ok(0), |inputs| inputs.recipe.emit_request(None, out))
            }
            SetupStep::Start => Request::Start.emit(out),
            SetupStep::Pause => Request::Pause.emit(out),
        });
        talk.phase = Phase::Asking { step, deadline: now + config.reply_timeout, asked };
        if let Err(error) = written {
            self.fail(Failure::Request(error), on);
        }
    }

    pub(super) fn tick(&mut self, now: Instant, on: Sink<'_, 'n>) {
        match self.talk.phase {
            Phase::Asking { step, deadline, asked } if deadline <= now => self.unanswered(step, asked, now, on),
            Phase::InUse { recipe, until } if until <= now => {
                if let Some(inputs) = self.inputs.get_mut(usize::from(recipe)) {
                    inputs.recipe.ask_again();
                }
                self.ask(SetupStep::Inputs(recipe), now, on);
            }
            Phase::Flowing { silent_at } if silent_at <= now => self.fail(Failure::Silent, on),
            _ => {}
        }
    }

    fn unanswered(&mut self, step: SetupStep, asked: u8, now: Instant, on: Sink<'_, 'n>) {
        // A second reply to a set-up would be taken for the reply to the next one.
        let once = matches!(step, SetupStep::Outputs | SetupStep::Inputs(_));
        match self.talk.unconfirmed {
            Some(since) if now.since(since) >= self.config.unconfirmed_timeout => self.fail(Failure::Unconfirmed, on),
            Some(_) if once => {
                self.talk.phase = Phase::Asking { step, deadline: now + self.config.reply_timeout, asked };
            }
            Some(_) => self.ask(step, now, on),
            None if asked < self.config.attempts && !once => self.ask_again(step, asked.saturating_add(1), now, on),
            None => self.fail(Failure::NoReply(step), on),
        }
    }

    pub(super) fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.outbox.take()
    }

    pub(super) const fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    pub(super) const fn next_deadline(&self) -> Option<Instant> {
        match self.talk.phase {
            Phase::Asking { deadline: at, .. } | Phase::InUse { until: at, .. } | Phase::Flowing { silent_at: at } => {
                Some(at)
            }
            Phase::Closed | Phase::Paused | Phase::Failed => None,
        }
    }

    pub(super) fn start(&mut self, now: Instant, on: Sink<'_, 'n>) {
        if self.talk.phase == Phase::Paused {
            self.ask(SetupStep::Start, now, on);
        }
    }

    pub(super) fn pause(&mut self, now: Instant, on: Sink<'_, 'n>) {
        if self.is_flowing() {
            self.ask(SetupStep::Pause, now, on);
        }
    }

    pub(crate) fn write(
        &mut self,
        recipe: usize,
        emit: impl FnOnce(&DynamicRecipe<'n, 'm>, u8, &mut [u8]) -> Result<usize, WireError>,
    ) -> Result<(), WriteError> {
        if !self.is_flowing() {
            return Err(WriteError::NotStarted);
        }
        let inputs = self.inputs.get(recipe).ok_or(WriteError::NotSetUp)?;
        let number = inputs.number.ok_or(WriteError::NotSetUp)?;
        self.outbox.append(|out| emit(&inputs.recipe, number, out)).map_err(WriteError::Values)
    }

    pub(super) fn say(&mut self, level: Level, message: &[u8], source: &[u8]) -> Result<(), WriteError> {
        if self.is_over() {
            return Err(WriteError::NotConnected);
        }
        let cut = |text: &'_ [u8]| text.len().min(u8::MAX.into());
        let (message, source) = (message.get(..cut(message)), source.get(..cut(source)));
        let text = TextMessage { level, message: message.unwrap_or_default(), source };
        self.outbox.append(|out| Request::Text(text).emit(out)).map_err(WriteError::Values)
    }

    /// Returns whether the RTDE connection is closed or has failed.
    const fn is_over(&self) -> bool {
        matches!(self.talk.phase, Phase::Closed | Phase::Failed)
    }

    pub(crate) const fn is_flowing(&self) -> bool {
        matches!(self.talk.phase, Phase::Flowing { .. })
    }

    pub(super) const fn protocol(&self) -> Protocol {
        self.talk.protocol
    }

    pub(super) const fn outputs(&self) -> &DynamicRecipe<'n, 'm> {
        &self.outputs
    }

    pub(crate) const fn inputs(&self) -> &[Inputs<'n, 'm>] {
        self.inputs
    }

    pub(crate) const fn counts(&self) -> &RtdeCounts {
        &self.talk.counts
    }

    pub(crate) const fn cadence(&self) -> &Cadence {
        self.talk.watch.figures()
    }
}

/// The saving and loading of the RTDE connection's state, for recordings.
#[cfg(feature = "record")]
impl Conversation<'_, '_> {
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&self.talk)?;
        let recipes = core::iter::once(&self.outputs).chain(self.inputs.iter().map(|inputs| &inputs.recipe));
        for field in recipes.flat_map(DynamicRecipe::fields) {
            to.put(&field.presence)?;
        }
        self.inputs.iter().try_for_each(|inputs| to.put(&inputs.number))
    }

    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.outbox.clear();
        self.talk = from.take()?;
        let recipes =
            core::iter::once(&mut self.outputs).chain(self.inputs.iter_mut().map(|inputs| &mut inputs.recipe));
        for recipe in recipes {
            let count = recipe.fields().len();
            recipe.restore(core::iter::from_fn(|| from.take()).take(count));
        }
        self.inputs.iter_mut().try_for_each(|inputs| {
            inputs.number = from.take()?;
            Some(())
        })
    }
}

/// Iterates over a recipe's variables whose type differs from the expected one: name, expected type, type of the
/// controller.
fn other_types<'n>(recipe: &DynamicRecipe<'n, '_>) -> impl Iterator<Item = (&'n str, DataType, DataType)> {
    recipe.fields().iter().filter_map(|field| {
        let Presence::Present(answered) = field.presence else { return None };
        let expected = field.expected?;
        (answered != expected).then_some((field.name, expected, answered))
    })
}

/// Returns the first input of a recipe whose type differs from that of the values to write; `None` if there is none.
fn of_other_type<'n>(recipe: &DynamicRecipe<'n, '_>) -> Option<RecipeError<'n>> {
    let (name, ..) = other_types(recipe).next()?;
    Some(RecipeError { name, problem: Problem::OtherType })
}
