//! Setting outputs beside the motion: a secondary program after the cycle's own text, confirmed from what is published.
//!
//! At most one text per judged state, always after that state's motion text and never in its place; none while the state
//! is too old for a moving command, or what was written before has not been acknowledged for as long.

use outrigger_urscript::{Output as Statement, Sec, SpeedSlider, Version};

use super::co_controller::{CoController, Lifecycle};
use super::event::Event;
use super::io::LinkId;
use crate::command::outputs::{BATCH, Shown, Write, WriteNews, WriteRefusal, digital_levels};
use crate::law::Law;
use crate::robot::{Generation, RobotModel, State};
use crate::time::Instant;

/// Bytes of the longest text that sets outputs.
pub(super) const MAX_LEN: usize = Sec::max_len(BATCH);
const _: () = assert!(MAX_LEN >= SpeedSlider::MAX_LEN);

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
        if self.primary.facts().local_control {
            return Err(WriteRefusal::LocalControl);
        }
        let version = Version::new(software.major, software.minor);
        write.check(self.max_payload(), version).map_err(WriteRefusal::Impossible)?;
        let events = &mut self.events;
        self.outputs.set(write, now, |write, news| events.push(Event::Output { write, news }))
    }

    /// What the arm is rated for \[kg\]; where nobody says which arm it is, what any is.
    fn max_payload(&self) -> f32 {
        let told = self.primary.facts().configuration.and_then(|configuration| configuration.rated_payload());
        self.config.model.map(RobotModel::rated_payload).or(told).unwrap_or(Statement::MASS.max)
    }

    /// A state was judged: whether text that does not move the arm may follow what answers it.
    pub(super) fn admit_outputs(&mut self, now: Instant) {
        let link = self.cycle.link().config();
        let gets_through = self.unacked_age(LinkId::REALTIME, now) <= link.period + link.margin;
        self.outputs_due = gets_through && self.cycle.evidence().timely;
    }

    /// Once per judged state, after its motion text. Whether anything goes out.
    pub(super) fn write_outputs(&mut self, now: Instant) -> bool {
        let Some(identity) = self.identity.filter(|_| core::mem::take(&mut self.outputs_due)) else { return false };
        let events = &mut self.events;
        let batch = self.outputs.send(now, |write, news| events.push(Event::Output { write, news }));
        let version = Version::new(identity.software.major, identity.software.minor);
        let written = if let Some(Write::SpeedSlider(position)) = batch.first() {
            SpeedSlider(*position).render(&mut self.beside.bytes)
        } else {
            let max_mass = self.max_payload();
            let mut statements = heapless::Vec::<Statement, BATCH>::new();
            statements.extend(batch.iter().filter_map(|write| write.statement(max_mass)));
            if statements.is_empty() {
                return false;
            }
            Sec(&statements).render(version, &mut self.beside.bytes)
        };
        // Each was checked when it was taken, and the room is for the longest.
        self.beside.len = written.unwrap_or(0);
        self.beside.len > 0
    }

    /// What the newest state shows of the outputs.
    pub(super) fn observe_state_outputs(&mut self, arrival: Instant) {
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
        let events = &mut self.events;
        self.outputs.refuse_all(WriteRefusal::LocalControl, |write, news| events.push(Event::Output { write, news }));
    }

    /// Time has passed.
    pub(super) fn tick_outputs(&mut self, now: Instant) {
        let events = &mut self.events;
        self.outputs.tick(now, |write, news| events.push(Event::Output { write, news }));
    }

    /// The session is over.
    pub(super) fn forget_outputs(&mut self) {
        self.beside.len = 0;
        self.outputs_due = false;
        let events = &mut self.events;
        self.outputs.forget(|write, news| events.push(Event::Output { write, news }));
    }
}

fn published(state: &State<6>, generation: Generation) -> Option<u32> {
    let bits = state.digital_outputs?;
    // 18 bits are in use.
    Some(digital_levels(u32::try_from(bits & 0xffff_ffff).unwrap_or_default(), generation))
}
