//! Passes pictures of a session (its displayed values at one instant) from the thread that commands to a companion,
//! through a single slot for the newest picture.

use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use outrigger_core::command::MAX_SOURCES;
use outrigger_core::drive::Application;
use outrigger_core::engine::{Controller, Engine, Event, Input};
use outrigger_core::law::{Law, Motion, Values};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

use super::view::{Frame, SessionView, Settled};
use crate::vendor::{SessionStatus, VendorObserve, VendorUi};

/// The time between two pictures of a session (its displayed values at one instant) for a companion (a component that
/// runs beside it, e.g. a page): 60 a second.
const PERIOD: Duration = Duration::from_micros(16_667);
/// The interval over which the rate of robot states per second, which a picture of a session contains, is measured.
const RATED_OVER: Duration = Duration::from_millis(500);

/// The interval at which the slowly changing values of a session are stored again for a companion (a component that
/// runs beside it, e.g. a page). They are also stored at each event of the controller.
const SETTLED_FOR: Duration = Duration::from_millis(500);

/// The state that a companion (a component that runs beside a session, e.g. a page) and the thread that commands
/// share: whether pictures of the session (its displayed values at one instant) are wanted, and how many were not
/// produced.
#[derive(Debug, Default)]
struct Demand {
    wanted: AtomicBool,
    left_out: AtomicU64,
}

/// The pictures of a session (its displayed values at one instant), up to 60 a second, for one companion (a component
/// that runs beside it, e.g. a page). None are produced before [`want`](Self::want).
pub struct Views<const N: usize> {
    demand: Arc<Demand>,
    taking: Box<dyn FnMut() -> Option<SessionView<N>> + Send>,
}

impl<const N: usize> Views<N> {
    /// Starts or stops the production of pictures of the session. While nobody looks at them, none should be produced.
    pub fn want(&self, wanted: bool) {
        self.demand.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Returns the newest picture of the session. `None` if there is no new one since the last call, or if one is being
    /// stored at this moment. Never waits.
    pub fn take(&mut self) -> Option<SessionView<N>> {
        (self.taking)()
    }

    /// Returns the number of pictures of the session that were not produced because another one was being taken.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.demand.left_out.load(Ordering::Relaxed)
    }
}

impl<const N: usize> Debug for Views<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("demand", &self.demand).finish_non_exhaustive()
    }
}

/// The data of the newest picture of a session, and the slowly changing values that were stored since the last picture
/// was taken.
#[derive(Debug)]
struct PictureData<M: VendorUi, const N: usize> {
    newest: Option<(SessionStatus<M::VendorView>, Frame<N>)>,
    settled: Option<Settled<N>>,
    /// The vendor's description of the controller, as of the newest event. `None` if no event was received since the
    /// last picture was taken.
    vendor: Option<M>,
}

/// The slot in which the thread that commands stores data for pictures of the session (its displayed values at one
/// instant). Neither side ever waits for the other: data that arrives while the slot is being read is discarded. It is
/// formatted on the thread of the companion (a component that runs beside the session, e.g. a page).
#[derive(Debug)]
struct PictureSlot<M: VendorUi, const N: usize>(Arc<Mutex<PictureData<M, N>>>);

impl<M: VendorUi, const N: usize> PictureSlot<M, N> {
    /// Locks the slot for pictures of the session, and returns its content. `None` while the other thread uses it.
    fn place(&self) -> Option<MutexGuard<'_, PictureData<M, N>>> {
        self.0.try_lock().ok()
    }
}

/// Returns a function that takes the newest picture of the session from `slot`.
fn taking<M: VendorUi + Send + 'static, const N: usize>(
    slot: PictureSlot<M, N>,
) -> impl FnMut() -> Option<SessionView<N>> + Send {
    // The values of the newest picture, for the next one.
    let (mut vendor, mut settled) = (None, None);
    move || {
        let ((sight, frame), newest_settled, newest_maker) = {
            let mut place = slot.place()?;
            (place.newest.take()?, place.settled.take(), place.vendor.take())
        };
        vendor = newest_maker.or_else(|| vendor.take());
        settled = newest_settled.or(settled);
        let (vendor, settled): (&M, _) = (vendor.as_ref()?, settled?);
        Some(SessionView { snapshot: vendor.snapshot(&sight), frame, settled })
    }
}

/// The sender of pictures of a session's state, in the thread that commands.
#[derive(Debug)]
pub struct Tap<M: VendorUi, const N: usize> {
    slot: PictureSlot<M, N>,
    demand: Arc<Demand>,
    /// The vendor's description of the controller. It is updated by every displayed event of the controller.
    vendor: M,
    /// `true` if an event of the controller was received since the slowly changing values were last stored for the
    /// companion (a component that runs beside the session, e.g. a page).
    heard: bool,
    due: Instant,
    settle_due: Instant,
    last_fallback: Option<Reason>,
    /// The time and the number of accepted robot states when their rate was last measured. `rate` is that rate \[1/s\].
    counted: (Instant, u64),
    rate: f32,
}

impl<M: VendorUi + Clone + Send + 'static, const N: usize> Tap<M, N> {
    /// Creates the sender and the receiver of pictures of a session, with `vendor`, the description of the controller.
    pub(crate) fn pair(vendor: M) -> (Self, Views<N>) {
        let place = Arc::new(Mutex::new(PictureData { newest: None, settled: None, vendor: None }));
        let demand = Arc::<Demand>::default();
        let views = Views { demand: Arc::clone(&demand), taking: Box::new(taking(PictureSlot(Arc::clone(&place)))) };
        let tap = Self {
            slot: PictureSlot(place),
            demand,
            vendor,
            heard: true,
            due: Instant::ZERO,
            settle_due: Instant::ZERO,
            last_fallback: None,
            counted: (Instant::ZERO, 0),
            rate: 0.0,
        };
        (tap, views)
    }

    fn is_due(&mut self, now: Instant) -> bool {
        if !self.demand.wanted.load(Ordering::Relaxed) || now < self.due {
            return false;
        }
        // Follows a fixed schedule, unless it is behind by more than one picture.
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

    fn put<P, L>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant)
    where
        P: Controller<N, Event = M::Event>,
        L: Law<N>,
        M: VendorObserve<N, P>,
    {
        self.vendor.observe(engine);
        let figures = engine.peer().is_established().then(|| engine.figures(now));
        let rate = self.rate(now, figures.map_or(0, |figures| figures.sequence.accepted));
        // Nothing is computed for a picture that would be discarded.
        let Some(mut place) = self.slot.place() else {
            self.demand.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let (commands, law) = (engine.mode() == Mode::Command, engine.law());
        let mut samples = [None; MAX_SOURCES];
        for (sample, monitor) in samples.iter_mut().zip(engine.sources().monitors()) {
            *sample = monitor.newest().copied();
        }
        let sight = self.vendor.session_view(engine, now, self.last_fallback, (figures, rate));
        let frame = Frame {
            commanded: engine.commanded(),
            wanted: law.motion().and_then(Motion::setpoint).filter(|_| commands).map(|setpoint| setpoint.positions),
            values: if commands { law.values() } else { Values::NONE },
            samples,
            held_by: engine.held_by(),
        };
        place.newest = Some((sight, frame));
        if self.heard {
            place.vendor = Some(self.vendor.clone());
        }
        if self.heard || now >= self.settle_due {
            place.settled = Some(settled(engine));
            self.settle_due = now + SETTLED_FOR;
        }
        self.heard = false;
    }
}

fn settled<const N: usize, P: Controller<N>, L: Law<N>>(engine: &Engine<'_, N, P, L>) -> Settled<N> {
    let mut sources = [None; MAX_SOURCES];
    for (source, monitor) in sources.iter_mut().zip(engine.sources().monitors()) {
        *source = Some(*monitor.config());
    }
    Settled {
        chain: engine.kinematics(),
        sources,
        oldest_state: engine.mode_machine().config().state_timeout,
        fastest: engine.config().limits.velocity,
    }
}

/// An application of the control loop whose engine is displayed by companions (components that run beside the loop,
/// e.g. a page).
#[derive(Debug)]
pub struct Shown<A, M: VendorUi, const N: usize> {
    /// The application that the control loop calls.
    pub inner: A,
    taps: Vec<Tap<M, N>>,
}

impl<A, M: VendorUi, const N: usize> Shown<A, M, N> {
    /// Wraps the application `inner`, and sends pictures of its engine to `taps`.
    pub const fn new(inner: A, taps: Vec<Tap<M, N>>) -> Self {
        Self { inner, taps }
    }
}

impl<const N: usize, P, L, A, M> Application<N, P, L> for Shown<A, M, N>
where
    P: Controller<N, Event = M::Event>,
    L: Law<N>,
    A: Application<N, P, L>,
    M: Clone + VendorObserve<N, P> + Send + 'static,
{
    fn next(&mut self) -> impl Future<Output = Input> {
        self.inner.next()
    }

    fn handed_over(&mut self) {
        self.inner.handed_over();
    }

    fn event(&mut self, event: Event<P::Event>) {
        for tap in &mut self.taps {
            if let Event::Peer(of_peer) = &event
                && let Some(notice) = tap.vendor.notice(&event, Instant::ZERO)
            {
                tap.vendor.take(of_peer, &notice);
                tap.heard = true;
            }
        }
        self.inner.event(event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.inner.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        for tap in &mut self.taps {
            tap.last_fallback = engine.latch().or(tap.last_fallback);
            if tap.is_due(now) {
                tap.put(engine, now);
            }
        }
        self.inner.observe(engine, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::target::Target;
    use crate::vendor::ur::UrController;

    #[test]
    fn sixty_pictures_a_second_at_any_rate_of_states_and_none_while_nobody_looks() {
        let target = Target::resolve(&"127.0.0.1".parse().expect("an address")).expect("no name is looked up");
        for cycle_millis in [1, 2, 8, 10] {
            let (mut tap, views) = Tap::<_, 6>::pair(UrController::new(target.clone()));
            let mut pictures = |from: u64| {
                let states = (from * 1_000..(from + 10) * 1_000).step_by(cycle_millis);
                states.filter(|millis| tap.is_due(Instant::from_micros(millis * 1_000))).count()
            };
            assert_eq!(pictures(0), 0, "nobody looks");
            views.want(true);
            let taken = pictures(100);
            assert!((598..=602).contains(&taken), "{taken} in 10 s at {cycle_millis} ms");
            views.want(false);
            assert_eq!(pictures(200), 0, "nobody looks any more");
        }
    }
}
