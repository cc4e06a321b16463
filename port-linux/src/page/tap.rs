//! What the control loop does for the page: now and then it leaves how things stand in the slot.

use std::sync::Arc;

use outrigger_core::command::MAX_SOURCES;
use outrigger_core::drive::Application;
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

use super::attend::Shared;
use super::frame::{Frame, Settled, Slot};
use crate::maker::{Maker, Shows};

/// Between two frames: 60 a second.
const PERIOD: Duration = Duration::from_micros(16_667);
/// Over so long states are counted for their rate.
const RATED_OVER: Duration = Duration::from_millis(500);

/// What hardly changes is left there anew after so long, and at each event of the controller.
const SETTLED_FOR: Duration = Duration::from_millis(500);

/// The loop's side of a page.
#[derive(Debug)]
pub(crate) struct Tap<M: Maker, const N: usize> {
    slot: Slot<M, N>,
    /// The maker has heard of something that the page does not know.
    heard: bool,
    shared: Arc<Shared>,
    due: Instant,
    settle_due: Instant,
    last_fallback: Option<Reason>,
    /// States counted at that time, and their rate before \[1/s\].
    counted: (Instant, u64),
    rate: f32,
}

impl<M: Maker + Clone, const N: usize> Tap<M, N> {
    pub(super) fn new(slot: Slot<M, N>, shared: Arc<Shared>) -> Self {
        Self {
            slot,
            heard: true,
            shared,
            due: Instant::ZERO,
            settle_due: Instant::ZERO,
            last_fallback: None,
            counted: (Instant::ZERO, 0),
            rate: 0.0,
        }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        if !self.shared.is_watched() || now < self.due {
            return false;
        }
        // In step with the time, where it is not behind by more than one.
        let next = self.due + PERIOD;
        self.due = if next + PERIOD < now { now + PERIOD } else { next };
        true
    }

    fn rate(&mut self, now: Instant, accepted: u64) -> f32 {
        let (at, before) = self.counted;
        let span = now.since(at);
        if span >= RATED_OVER {
            self.rate = accepted.saturating_sub(before) as f32 / span.as_secs_f32();
            self.counted = (now, accepted);
        }
        self.rate
    }

    fn put<P, L>(&mut self, engine: &Engine<'_, N, P, L>, maker: &M, now: Instant)
    where
        P: Peer<N, Event = M::Event>,
        L: Law<N>,
        M: Shows<N, P>,
    {
        let figures = engine.peer().is_established().then(|| engine.figures(now));
        let rate = self.rate(now, figures.map_or(0, |figures| figures.sequence.accepted));
        // Nothing is made for a frame that would be left out.
        let Some(mut place) = self.slot.place() else {
            self.shared.left_out();
            return;
        };
        let (commands, law) = (engine.mode() == Mode::Command, engine.law());
        let mut samples = [None; MAX_SOURCES];
        for (sample, monitor) in samples.iter_mut().zip(engine.sources().monitors()) {
            *sample = monitor.newest().copied();
        }
        place.frame = Some(Frame {
            sight: maker.sight(engine, now, self.last_fallback, (figures, rate)),
            commanded: engine.commanded(),
            wanted: law.setpoint().filter(|_| commands).map(|setpoint| setpoint.positions),
            standoff_error: law.standoff_error().filter(|_| commands),
            axis_errors: law.axis_errors().map(|error| error.filter(|_| commands)),
            samples,
            held_by: engine.held_by(),
        });
        if self.heard {
            place.maker = Some(maker.clone());
        }
        if self.heard || now >= self.settle_due {
            place.settled = Some(settled(engine));
            self.settle_due = now + SETTLED_FOR;
        }
        self.heard = false;
    }
}

fn settled<const N: usize, P: Peer<N>, L: Law<N>>(engine: &Engine<'_, N, P, L>) -> Settled<N> {
    let mut sources = [None; MAX_SOURCES];
    for (source, monitor) in sources.iter_mut().zip(engine.sources().monitors()) {
        *source = Some(*monitor.config());
    }
    Settled {
        chain: engine.kinematics().copied(),
        sources,
        oldest_state: engine.mode_machine().config().state_timeout,
        fastest: engine.config().limits.velocity,
    }
}

/// An application whose engine is shown on a page.
#[derive(Debug)]
pub(crate) struct OnPage<A, M: Maker, const N: usize> {
    pub(crate) inner: A,
    /// The page's own, which hears of every event, and its tap; `None` where there is no page.
    shown: Option<(M, Tap<M, N>)>,
}

impl<A, M: Maker, const N: usize> OnPage<A, M, N> {
    pub(crate) const fn new(inner: A, shown: Option<(M, Tap<M, N>)>) -> Self {
        Self { inner, shown }
    }
}

impl<const N: usize, P, L, A, M> Application<N, P, L> for OnPage<A, M, N>
where
    P: Peer<N, Event = M::Event>,
    L: Law<N>,
    A: Application<N, P, L>,
    M: Clone + Shows<N, P>,
{
    fn next(&mut self) -> impl Future<Output = Input> {
        self.inner.next()
    }

    fn handed_over(&mut self) {
        self.inner.handed_over();
    }

    fn event(&mut self, event: Event<P::Event>) {
        if let (Some((maker, tap)), Event::Peer(of_peer)) = (&mut self.shown, &event)
            && let Some(notice) = maker.notice(&event, Instant::ZERO)
        {
            maker.take(of_peer, &notice);
            tap.heard = true;
        }
        self.inner.event(event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.inner.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        if let Some((maker, tap)) = &mut self.shown {
            tap.last_fallback = engine.latch().or(tap.last_fallback);
            if tap.is_due(now) {
                maker.observe(engine);
                tap.put(engine, maker, now);
            }
        }
        self.inner.observe(engine, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::attend::Place;
    use super::*;
    use crate::maker::ur::UrController;

    #[test]
    fn sixty_frames_a_second_at_any_rate_of_states_and_none_while_nobody_looks() {
        for cycle_millis in [1, 2, 8, 10] {
            let shared = Arc::new(Shared::default());
            let mut tap = Tap::<UrController, 6>::new(Slot::default(), Arc::clone(&shared));
            let mut frames = |from: u64| {
                let states = (from * 1_000..(from + 10) * 1_000).step_by(cycle_millis);
                states.filter(|millis| tap.is_due(Instant::from_micros(millis * 1_000))).count()
            };
            assert_eq!(frames(0), 0, "nobody looks");
            let place = Place::take(&shared).expect("a place");
            let taken = frames(100);
            assert!((598..=602).contains(&taken), "{taken} in 10 s at {cycle_millis} ms");
            drop(place);
            assert_eq!(frames(200), 0, "nobody looks any more");
        }
    }
}
