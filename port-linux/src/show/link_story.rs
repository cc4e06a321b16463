//! Grades of a link, and why they were low, as an engine says that runs again.

use outrigger_core::engine::{Engine, Event, Peer};
use outrigger_core::law::Law;
use outrigger_core::time::Instant;

use super::grade::{LastSeconds, of_cause, why_low};

/// What the engine said again of its link: each change of grade with the figure that decided, and why a grade was too low.
#[derive(Debug, Default)]
pub(crate) struct LinkStory {
    last_seconds: LastSeconds,
    pub(crate) lines: Vec<(Instant, String)>,
}

impl LinkStory {
    /// Looks at the engine, which runs again.
    pub(crate) fn watch<const N: usize, P: Peer<N>, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        at: Instant,
        event: Option<&Event<P::Event>>,
    ) {
        match event {
            Some(Event::Grade(change)) => {
                let why = of_cause(&change.cause, change.to > change.from);
                self.lines.push((at, format!("link {} → {}: {why}", change.from.name(), change.to.name())));
            }
            Some(Event::GradeLow(low)) => {
                let last = self.last_seconds.of(low.cause.metric);
                self.lines.push((at, format!("{}; {last}", why_low(low, false))));
            }
            Some(_) => {}
            None if self.last_seconds.is_due(at) => self.last_seconds.look(at, &engine.figures(at)),
            None => {}
        }
    }
}
