//! Grades of a link, and why they were low, as an engine reports them when it runs again.

use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;

use super::grade::{LastSeconds, of_change, of_link};
use super::words::Observer;

/// The reports of an engine about its link: each change of grade, and why a grade was too low.
#[derive(Debug, Default)]
pub struct LinkStory {
    last_seconds: LastSeconds,
    /// The reports, with their times.
    pub lines: Vec<(Instant, String)>,
}

impl LinkStory {
    /// Looks at the engine, which runs again.
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
