//! Setting outputs beside the motion: by those inputs of RTDE that are ours, or by a secondary program after the cycle's own
//! text; confirmed from what is published.
//!
//! At most one text per judged state, always after that state's motion text and never in its place; nothing while the state
//! is too old for a moving command, or what was written before has not been acknowledged for as long.

use outrigger_urscript::{Output as Statement, Sec, SpeedSlider, Version};

use super::co_controller::{CoController, Lifecycle};
use super::config::OutputsBy;
use super::event::Event;
use super::io::LinkId;
use super::rtde::StateLink;
use crate::client::rtde::Claim;
use crate::command::outputs::{BATCH, Shown, Write, WriteNews, WriteRefusal, digital_levels};
use crate::law::Law;
use crate::robot::{Generation, RobotModel, State};
use crate::time::Instant;
use crate::wire::rtde::Value;
use heapless::Vec;

impl<L: Law<6>> CoController<'_, L> {
    /// Somebody asks for `write`.
    pub(super) fn set(&mut self, write: Write, now: Instant) {
        if let Err(refusal) = self.take_write(write, now) {
            self.events.push(Event::Output { write, news: WriteNews::Refused(refusal) });
        }
    }

    fn take_write(&mut self, write: Write, now: Instant) -> Result<(), WriteRefusal> {
        let identity = self.identity.filter(|_| self.lifecycle == Lifecycle::Running);
        let software = identity.ok_or(WriteRefusal::NotConnected)?.software;
        let by = self.config.connect.outputs;
        match self.input_for(&write) {
            _ if by == OutputsBy::Off => return Err(WriteRefusal::Off),
            None if by == OutputsBy::Rtde => return Err(WriteRefusal::NoInput),
            // Inputs of RTDE are taken in local control, text is not.
            None if self.primary.facts().local_control => return Err(WriteRefusal::LocalControl),
            _ => {}
        }
        let version = Version::new(software.major, software.minor);
        write.check(self.max_payload(), version).map_err(WriteRefusal::Impossible)?;
        let events = &mut self.events;
        self.outputs.set(write, now, |write, news| events.push(Event::Output { write, news }))
    }

    /// The recipe of RTDE that sets what `write` does, where it may be used and is ours.
    fn input_for(&self, write: &Write) -> Option<usize> {
        input_for(self.rtde.as_deref(), self.config.connect.outputs, write)
    }

    /// What the arm is rated for \[kg\]; where nobody says which arm it is, what any is.
    fn max_payload(&self) -> f32 {
        let told = self.primary.facts().configuration.and_then(|configuration| configuration.rated_payload());
        self.config.model.map(RobotModel::rated_payload).or(told).unwrap_or(Statement::MASS.max)
    }

    /// A state was judged: whether text that does not move the arm may follow what answers it.
    pub(super) fn admit_outputs(&mut self, now: Instant) {
        if self.outputs.pending() == 0 && self.config.force.is_none() {
            return;
        }
        let link = self.cycle.link().config();
        let gets_through = self.unacked_age(LinkId::REALTIME, now) <= link.period + link.margin;
        self.outputs_due = gets_through && self.cycle.evidence().timely;
    }

    /// Once per judged state, after its motion text. Whether anything goes out.
    pub(super) fn write_outputs(&mut self, now: Instant) -> bool {
        if !core::mem::take(&mut self.outputs_due) || self.outputs.pending() == 0 {
            return false;
        }
        let Some(identity) = self.identity else { return false };
        let events = &mut self.events;
        let batch = self.outputs.send(now, |write, news| events.push(Event::Output { write, news }));
        let batch = self.write_inputs(&batch);
        let version = Version::new(identity.software.major, identity.software.minor);
        let written = if let Some(Write::SpeedSlider(position)) = batch.first() {
            SpeedSlider(*position).render(&mut self.beside.bytes)
        } else {
            let max_mass = self.max_payload();
            let mut statements = Vec::<Statement, BATCH>::new();
            for statement in batch.iter().filter_map(|write| write.statement(max_mass)) {
                // As many as a batch has; `extend` would panic on one more.
                let _ = statements.push(statement);
            }
            if statements.is_empty() {
                return false;
            }
            Sec(&statements).render(version, &mut self.beside.bytes)
        };
        // Each was checked when it was taken, and the room is for the longest.
        self.beside.len = written.unwrap_or(0);
        self.beside.len > 0
    }

    /// Writes what RTDE has inputs for; the rest is for text.
    fn write_inputs(&mut self, batch: &[Write]) -> Vec<Write, BATCH> {
        let (by, image) = (self.config.connect.outputs, self.outputs.image());
        let mut rest = Vec::from_slice(batch).unwrap_or_default();
        let Some(rtde) = self.rtde.as_deref_mut() else { return rest };
        for claim in Claim::ALL {
            let Some(values) = claim.values(batch, image) else { continue };
            let recipe = if by == OutputsBy::Text { None } else { rtde.claimed(claim) };
            if recipe.is_some_and(|recipe| rtde.write(recipe, &values).is_ok()) {
                rest.retain(|write| Claim::of(write) != Some(claim));
            }
        }
        if by == OutputsBy::Rtde {
            // An input that was lost since it was asked for: it will not be confirmed.
            rest.clear();
        }
        rest
    }

    /// Once per judged state: the newest reading of the configured sensor becomes the force that a program reads.
    pub(super) fn feed_force(&mut self, now: Instant) {
        let Some(source) = self.config.force.filter(|_| self.outputs_due) else { return };
        let Some(rtde) = self.rtde.as_deref_mut() else { return };
        let Some(recipe) = rtde.claimed(Claim::Force) else { return };
        let monitor = self.cycle.sources().monitors().iter().find(|monitor| monitor.config().id == source);
        let reading = monitor.and_then(|monitor| monitor.fresh(now).ok());
        let force = reading.and_then(|sample| <[f32; 6]>::try_from(sample.value.as_slice()).ok());
        if force.is_some() || self.force_given {
            let values = force.unwrap_or_default().map(f64::from);
            // What finds no room now is tried again in the next cycle.
            if rtde.write(recipe, &[Value::Vector6d(values)]).is_ok() {
                self.force_given = force.is_some();
            }
        }
    }

    /// What the newest state shows of the outputs.
    pub(super) fn observe_state_outputs(&mut self, arrival: Instant) {
        if self.outputs.is_idle() {
            return;
        }
        let Some(identity) = self.identity else { return };
        let Some(state) = self.cycle.state() else { return };
        let shown = Shown {
            digital: published(state, identity.software.generation()),
            payload: state.payload,
            ..Shown::default()
        };
        let events = &mut self.events;
        self.outputs.observe(&shown, arrival, |write, news| events.push(Event::Output { write, news }));
    }

    /// What a robot state message of the primary link, read at `arrival`, shows of the outputs.
    pub(super) fn observe_primary_outputs(&mut self, arrival: Instant) {
        let Some(identity) = self.identity else { return };
        let generation = identity.software.generation();
        let facts = self.primary.facts();
        let new = |at: Instant| at == arrival;
        let board = facts.board.filter(|board| new(board.at)).map(|board| board.value);
        let tool = facts.tool.filter(|tool| new(tool.at)).map(|tool| tool.value);
        // Where every state shows the levels, these are older.
        let from_state = self.cycle.state().and_then(|state| state.digital_outputs).is_some();
        let digital = board.filter(|_| !from_state).map(|board| digital_levels(board.digital_outputs, generation));
        let shown = Shown {
            digital,
            analog: board.map(|board| board.shown_analog()),
            tool_voltage: tool.map(|tool| tool.output_voltage),
            speed_slider: facts.program.filter(|program| new(program.at)).and(facts.speed_slider),
            payload: None,
        };
        let events = &mut self.events;
        self.outputs.observe(&shown, arrival, |write, news| events.push(Event::Output { write, news }));
    }

    /// The controller said that it takes no text.
    pub(super) fn refuse_outputs(&mut self) {
        let (events, rtde, by) = (&mut self.events, self.rtde.as_deref(), self.config.connect.outputs);
        let by_text = |write: &Write| input_for(rtde, by, write).is_none();
        self.outputs
            .refuse(WriteRefusal::LocalControl, by_text, |write, news| events.push(Event::Output { write, news }));
    }

    /// Time has passed.
    pub(super) fn tick_outputs(&mut self, now: Instant) {
        if self.outputs.pending() == 0 {
            return;
        }
        let events = &mut self.events;
        self.outputs.tick(now, |write, news| events.push(Event::Output { write, news }));
    }

    /// The session is over.
    pub(super) fn forget_outputs(&mut self) {
        self.beside.len = 0;
        self.outputs_due = false;
        self.force_given = false;
        let events = &mut self.events;
        self.outputs.forget(|write, news| events.push(Event::Output { write, news }));
    }
}

fn input_for(rtde: Option<&dyn StateLink>, by: OutputsBy, write: &Write) -> Option<usize> {
    let rtde = rtde.filter(|_| matches!(by, OutputsBy::Auto | OutputsBy::Rtde))?;
    rtde.claimed(Claim::of(write)?)
}

fn published(state: &State<6>, generation: Generation) -> Option<u32> {
    let bits = state.digital_outputs?;
    // 18 bits are in use.
    Some(digital_levels(u32::try_from(bits & 0xffff_ffff).unwrap_or_default(), generation))
}
