//! The history of a link's grades (quality), with the causes of low ones, from a replayed engine.

use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;

use super::grade::{LastSeconds, of_change, of_link};
use super::reason_text::Observer;

/// The reports of an engine about its link: each change of the grade (quality), and the causes of grades that were too
/// low.
#[derive(Debug, Default)]
pub struct LinkHistory {
    last_seconds: LastSeconds,
    /// The reports about the link as lines of text, with their times.
    pub lines: Vec<(Instant, String)>,
}

impl LinkHistory {
    /// Records `event` of the replayed engine if it is about the link's grade. Without an event, samples the figures of
    /// the link if that is due.
    pub(crate) fn watch<const N: usize, P: Controller<N>, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        at: Instant,
        event: Option<&Event<P::Event>>,
    ) {
        match event {
            Some(Event::Grade(change)) => self.lines.push((change.at, of_change(change, Observer::Recorded))),
            Some(Event::GradeLow(low)) => {
                let last = self.last_seconds.of_low(low);
                self.lines.push((at, format!("{}; {last}", of_link(low, Observer::Recorded))));
            }
            Some(_) => {}
            None if self.last_seconds.is_due(at) => self.last_seconds.look(at, &engine.figures(at)),
            None => {}
        }
    }
}
