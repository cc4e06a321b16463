//! The setting of outputs, independent of the motion: by the RTDE inputs that this session owns, or by a secondary
//! program after the cycle's own text. The published values confirm it.
//!
//! At most one text is sent per judged state, always after that state's motion text and never in its place. None is
//! sent while the state is too old for a moving command, or the text before has not been acknowledged for as long.

#[cfg(feature = "motions")]
use outrigger_urscript::TargetPayload;
use outrigger_urscript::{Output as Statement, Sec, SpeedSlider, Version};

use super::config::{OutputsBy, UrConfig};
use super::event::UrEvent;
use super::identity::Identity;
use super::outbox::Outbox;
use super::primary::PrimaryFacts;
use super::rtde::StateLink;
use crate::client::rtde::{Claim, Claims};
use crate::command::Sources;
use crate::command::outputs::{
    BATCH, Outputs, OutputsConfig, ReportedOutputs, Write, WriteOutcome, WriteRefusal, digital_levels,
};
use crate::engine::event::{Event, Events};
use crate::mode::Mode;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use heapless::Vec;
use outrigger_wire::robot::{Generation, RobotModel, SoftwareVersion, State};
use outrigger_wire::time::Instant;

/// The length of the longest text that sets outputs \[B\].
const TEXT_LEN: usize = if AVAILABLE { Sec::max_len(BATCH) } else { 0 };
const _: () = assert!(SpeedSlider::MAX_LEN <= Sec::max_len(BATCH));
#[cfg(feature = "motions")]
const _: () = assert!(TargetPayload::MAX_LEN <= Sec::max_len(BATCH));

/// `true` if outputs can be set at all. Otherwise every function below returns early, and its code is omitted.
const AVAILABLE: bool = cfg!(feature = "outputs");

/// The RTDE link, if the session has one.
type Rtde<'r, 'm> = Option<&'r mut (dyn StateLink + 'm)>;

/// The known facts about the controller whose outputs are set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'k> {
    /// The controller's identity; `None` without a session.
    pub(super) identity: Option<Identity>,
    pub(super) facts: &'k PrimaryFacts,
    pub(super) config: &'k UrConfig,
    pub(super) mode: Mode,
}

impl Known<'_> {
    /// Returns the arm's rated payload \[kg\]; if the arm is not known, the highest of any arm.
    fn max_payload(&self) -> f32 {
        let told = self.facts.configuration.and_then(|configuration| configuration.rated_payload());
        self.config.peer.model.map(RobotModel::rated_payload).or(told).unwrap_or(Statement::MASS.max)
    }

    const fn by(&self) -> OutputsBy {
        self.config.peer.connect.outputs
    }

    /// Returns `true` if the arm is commanded, or is being brought to rest.
    const fn is_commanded(&self) -> bool {
        self.mode.drives()
    }
}

/// The outputs to set, and the text that waits to set them.
#[derive(Debug)]
pub(super) struct OutputsPath {
    outputs: Outputs,
    text: Outbox<TEXT_LEN>,
    /// `true` from a state after which outputs may be set, until they are sent.
    due: bool,
    /// `true` while the force that a program reads is a reading of our sensor.
    force_given: bool,
}

impl OutputsPath {
    pub(super) fn new() -> Self {
        Self { outputs: Outputs::default(), text: Outbox::EMPTY, due: false, force_given: false }
    }

    /// Takes a request to set the output in `write`.
    pub(super) fn set(
        &mut self,
        write: Write,
        known: &Known<'_>,
        rtde: Option<&dyn StateLink>,
        now: Instant,
        events: &mut Events<UrEvent>,
    ) {
        if !AVAILABLE {
            return tell(events, write, WriteOutcome::Refused(WriteRefusal::Off));
        }
        match check(write, known, rtde).and_then(|()| self.outputs.set(write, now)) {
            Ok(Some(before)) => tell(events, before, WriteOutcome::Superseded),
            Ok(None) => {}
            Err(refusal) => tell(events, write, WriteOutcome::Refused(refusal)),
        }
    }

    /// Decides, after the engine has decided on a state, whether outputs, or the force that a program reads, may be set now.
    /// The function `may`, which answers this, is called only if there is anything to set.
    pub(super) fn admit(&mut self, config: &UrConfig, may: impl FnOnce() -> bool) {
        if AVAILABLE && (self.outputs.pending() > 0 || config.peer.force.is_some()) {
            self.due = may();
        }
    }

    /// Returns `true` if outputs may be set in this cycle, and were not set yet.
    pub(super) const fn is_due(&self) -> bool {
        AVAILABLE && self.due
    }

    /// Sends the outputs of the controller that are to be set, by RTDE inputs or as text; called once in each cycle, after
    /// the motion text.
    pub(super) fn write(&mut self, known: &Known<'_>, rtde: Rtde<'_, '_>, now: Instant, events: &mut Events<UrEvent>) {
        if !core::mem::take(&mut self.due) || self.outputs.pending() == 0 {
            return;
        }
        let Some(identity) = known.identity else { return };
        while known.is_commanded()
            && let Some(write) = self.outputs.take_back()
        {
            tell(events, write, WriteOutcome::Refused(WriteRefusal::Commanding));
        }
        let batch = self.outputs.send(now);
        batch.iter().for_each(|write| tell(events, *write, WriteOutcome::Sent));
        let by_inputs = match (rtde, known.by()) {
            (Some(rtde), OutputsBy::Auto) => rtde.set(&batch, self.outputs.image()),
            (Some(rtde), OutputsBy::Rtde) => {
                // An input that was lost since the request: the write will not be confirmed.
                rtde.set(&batch, self.outputs.image());
                return;
            }
            (None, _) | (_, OutputsBy::Text | OutputsBy::Off) => Claims::NONE,
        };
        let max_mass = known.max_payload();
        let mut statements = Vec::<Statement, BATCH>::new();
        // Each write was checked when it was taken, and the room is for the longest: nothing is refused here.
        for write in &batch {
            if Claim::of(write).is_some_and(|claim| by_inputs.has(claim)) {
                continue;
            }
            if let Write::SpeedSlider(position) = write {
                let _ = self.text.put(|out| SpeedSlider(*position).render(out));
            }
            #[cfg(feature = "motions")]
            if let Some(payload) = write.target_payload(max_mass) {
                let _ = self.text.put(|out| payload.render(version(identity.software), out));
            }
            if let Some(statement) = write.statement(max_mass) {
                let _ = statements.push(statement);
            }
        }
        if !statements.is_empty() {
            let _ = self.text.put(|out| Sec(&statements).render(version(identity.software), out));
        }
    }

    /// Writes the newest reading of the configured sensor as the force that a program reads, or once zero if there is no
    /// reading any more; called once in each cycle.
    pub(super) fn feed_force(&mut self, sources: &Sources, rtde: Rtde<'_, '_>, config: &UrConfig, now: Instant) {
        let Some(source) = config.peer.force.filter(|_| self.due) else { return };
        let Some(rtde) = rtde else { return };
        let monitor = sources.monitors().iter().find(|monitor| monitor.config().id == source);
        let reading = monitor.and_then(|monitor| monitor.fresh(now).ok());
        let force = reading.and_then(|sample| <[f32; 6]>::try_from(sample.value.as_slice()).ok());
        if force.is_some() || self.force_given {
            let values = force.unwrap_or_default().map(f64::from);
            // A value without room is tried again in the next cycle.
            if rtde.set_force(values) {
                self.force_given = force.is_some();
            }
        }
    }

    /// Compares the outputs that were requested with the digital output levels and the payload in the newest state,
    /// which arrived at `arrival`, and reports the results.
    pub(super) fn observe_state(
        &mut self,
        config: &OutputsConfig,
        state: Option<&State<6>>,
        identity: Option<Identity>,
        arrival: Instant,
        events: &mut Events<UrEvent>,
    ) {
        if !AVAILABLE || self.outputs.is_idle() {
            return;
        }
        let Some((identity, state)) = identity.zip(state) else { return };
        let shown = ReportedOutputs {
            digital: published(state, identity.software.generation()),
            payload: state.payload,
            ..ReportedOutputs::default()
        };
        self.observe(config, &shown, arrival, events);
    }

    /// Compares the outputs that were requested with those in a robot state message of the primary link, which was read
    /// at `arrival`, and reports the results.
    pub(super) fn observe_primary(
        &mut self,
        known: &Known<'_>,
        state: Option<&State<6>>,
        arrival: Instant,
        events: &mut Events<UrEvent>,
    ) {
        let Known { identity: Some(identity), facts, config, .. } = known else { return };
        if !AVAILABLE {
            return;
        }
        let generation = identity.software.generation();
        let new = |at: Instant| at == arrival;
        let board = facts.board.filter(|board| new(board.at)).map(|board| board.value);
        let tool = facts.tool.filter(|tool| new(tool.at)).map(|tool| tool.value);
        // If every state has the levels, these are older.
        let from_state = state.and_then(|state| state.digital_outputs).is_some();
        let digital = board.filter(|_| !from_state).map(|board| digital_levels(board.digital_outputs, generation));
        let shown = ReportedOutputs {
            digital,
            analog: board.map(|board| board.shown_analog()),
            tool_voltage: tool.map(|tool| tool.output_voltage),
            speed_slider: facts.program.filter(|program| new(program.at)).and(facts.speed_slider),
            payload: None,
            // Contained in the same message as the program's state.
            tcp: facts.program.filter(|program| new(program.at)).and(facts.tcp_offset),
        };
        self.observe(&config.peer.outputs, &shown, arrival, events);
    }

    fn observe(
        &mut self,
        config: &OutputsConfig,
        shown: &ReportedOutputs,
        arrival: Instant,
        events: &mut Events<UrEvent>,
    ) {
        while let Some((write, news)) = self.outputs.observe(config, shown, arrival) {
            tell(events, write, news);
        }
    }

    /// Refuses the pending writes of outputs that need text, because the controller reported that it accepts none.
    pub(super) fn refuse(&mut self, rtde: Option<&dyn StateLink>, by: OutputsBy, events: &mut Events<UrEvent>) {
        while AVAILABLE && let Some(write) = self.outputs.withdraw(|write| !has_input(rtde, by, write)) {
            tell(events, write, WriteOutcome::Refused(WriteRefusal::LocalControl));
        }
    }

    /// Evaluates the timeouts of the pending writes of outputs as of `now`.
    pub(super) fn tick(&mut self, config: &OutputsConfig, now: Instant, events: &mut Events<UrEvent>) {
        while AVAILABLE && let Some((write, news)) = self.outputs.overdue(config, now) {
            tell(events, write, news);
        }
    }

    /// Records that the session is over: pending writes of outputs are refused.
    pub(super) fn forget(&mut self, events: &mut Events<UrEvent>) {
        if !AVAILABLE {
            return;
        }
        self.text.clear();
        self.due = false;
        self.force_given = false;
        while let Some(write) = self.outputs.withdraw(|_| true) {
            tell(events, write, WriteOutcome::Refused(WriteRefusal::NotConnected));
        }
        self.outputs.forget();
    }

    pub(super) fn next_deadline(&self, config: &OutputsConfig) -> Option<Instant> {
        if AVAILABLE { self.outputs.next_deadline(config) } else { None }
    }

    /// Marks the beginning of a call of the engine: no text that sets outputs was made in it yet.
    #[cfg(feature = "record")]
    pub(super) const fn begin(&mut self) {
        self.text.begin();
    }

    pub(super) const fn is_waiting(&self) -> bool {
        AVAILABLE && !self.text.is_empty()
    }

    pub(super) fn take_text(&mut self) -> &[u8] {
        self.text.take()
    }

    /// Returns the text for outputs that was made in this call of the engine.
    #[cfg(feature = "record")]
    pub(super) fn made(&self) -> &[u8] {
        self.text.made()
    }

    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // No text waits between two calls of the engine.
        let Self { outputs, due, force_given, text: _ } = self;
        to.put(&(outputs, due, force_given))
    }

    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        (self.outputs, self.due, self.force_given) = from.take()?;
        self.text.clear();
        Some(())
    }
}

/// Checks that the output in `write` can be set on this controller.
fn check(write: Write, known: &Known<'_>, rtde: Option<&dyn StateLink>) -> Result<(), WriteRefusal> {
    let software = known.identity.ok_or(WriteRefusal::NotConnected)?.software;
    if matches!(write, Write::Variable { .. }) {
        return Err(WriteRefusal::NoSuchOutput);
    }
    if write.needs_rest() && known.is_commanded() {
        return Err(WriteRefusal::Commanding);
    }
    let by = known.by();
    match has_input(rtde, by, &write) {
        _ if by == OutputsBy::Off => return Err(WriteRefusal::Off),
        false if by == OutputsBy::Rtde => return Err(WriteRefusal::NoInput),
        // Inputs of RTDE are taken in local control, text is not.
        false if known.facts.local_control => return Err(WriteRefusal::LocalControl),
        _ => {}
    }
    write.check(known.max_payload(), version(software)).map_err(WriteRefusal::Impossible)
}

fn tell(events: &mut Events<UrEvent>, write: Write, news: WriteOutcome) {
    events.push(Event::Output { write, news });
}

fn version(software: SoftwareVersion) -> Version {
    Version::new(software.major, software.minor)
}

/// Returns `true` if RTDE has an input for `write` that may be used and is owned by this session.
fn has_input(rtde: Option<&dyn StateLink>, by: OutputsBy, write: &Write) -> bool {
    let rtde = rtde.filter(|_| matches!(by, OutputsBy::Auto | OutputsBy::Rtde));
    rtde.zip(Claim::of(write)).is_some_and(|(rtde, claim)| rtde.is_ours(claim))
}

fn published(state: &State<6>, generation: Generation) -> Option<u32> {
    let bits = state.digital_outputs?;
    // 18 bits are in use.
    Some(digital_levels(u32::try_from(bits & 0xffff_ffff).unwrap_or_default(), generation))
}
