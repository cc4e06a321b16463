//! What every command with a session shares: the operator's keys, lines and signals, and what is shown.

use std::sync::Arc;

use outrigger_core::drive::Application;
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::feed::{Feed, Progress, What};
use crate::maker::{Facts, Maker, Showing, Shows};
use crate::reactor;
use crate::show::events::PeerEvent as _;
use crate::show::grade::LastSeconds;
use crate::show::log::{Grades, PACE, Unmet};
use crate::show::{Format, Key, Notice, Show, Snapshot, Variables};
use crate::signals::{HANG_UP, Leaves, Signals, end_is_under_way};

/// What the operator wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// End the command; the word says who asked.
    End(&'static str),
    /// Ask to command, having seen this epoch.
    Request(Epoch),
    /// Ask to go on with a motion that was suspended.
    Resume(Epoch),
    /// Take the request back.
    Release,
    /// Clear the latched reason.
    Acknowledge,
    /// Nothing of the engine: see how it stands.
    Look,
}

impl Wish {
    /// The same for the engine.
    #[must_use]
    pub(crate) const fn input(self) -> Input {
        match self {
            Self::End(_) => Input::Shutdown,
            Self::Request(epoch) => Input::Request(epoch),
            Self::Resume(epoch) => Input::Resume(epoch),
            Self::Release => Input::Release,
            Self::Acknowledge => Input::Acknowledge,
            Self::Look => Input::Tick,
        }
    }

    /// What a line of somebody who has seen this epoch means; `None` where it is no word of an operator. A request may name
    /// the epoch itself, as a script does that has read it.
    #[must_use]
    pub(crate) fn of_line(line: &str, seen: Epoch) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (word, number, rest) = (words.next()?, words.next(), words.next());
        let epoch = match number {
            None => Some(seen),
            Some(number) => number.parse().ok().map(Epoch::from_number),
        };
        match (word, number, rest) {
            ("request", _, None) => epoch.map(Self::Request),
            ("resume", _, None) => epoch.map(Self::Resume),
            ("release", None, None) => Some(Self::Release),
            ("acknowledge", None, None) => Some(Self::Acknowledge),
            ("quit", None, None) => Some(Self::End("quit")),
            _ => None,
        }
    }
}

impl From<Key> for Wish {
    fn from(key: Key) -> Self {
        match key {
            Key::HangUp => Self::End(HANG_UP),
            Key::End(who) => Self::End(who),
            Key::Request(seen) => Self::Request(seen),
            Key::Resume(seen) => Self::Resume(seen),
            Key::Release => Self::Release,
            Key::Acknowledge => Self::Acknowledge,
        }
    }
}

/// Who speaks to a session: this process's signals and the keys of its view, or a handle in the same process.
#[derive(Debug)]
pub(crate) struct Operators {
    /// `None` where signals are somebody else's.
    signals: Option<Signals>,
    sender: UnboundedSender<Key>,
    keys: UnboundedReceiver<Key>,
}

impl Operators {
    /// Whoever sits before this process, which `leaves` that where it is ended at once.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where signals cannot be handled.
    pub(crate) fn here(leaves: Leaves) -> Result<Self, Failure> {
        Ok(Self { signals: Some(Signals::listen(leaves)?), ..Self::elsewhere() })
    }

    /// Those who speak by [`sender`](Self::sender) alone.
    #[must_use]
    pub(crate) fn elsewhere() -> Self {
        let (sender, keys) = unbounded_channel();
        Self { signals: None, sender, keys }
    }

    /// Where to speak from.
    #[must_use]
    pub(crate) fn sender(&self) -> UnboundedSender<Key> {
        self.sender.clone()
    }
}

/// Longest wait for the first session; afterwards a lost one is waited for without end.
const FIRST_SESSION: Duration = Duration::from_secs(10);

/// The operator's side of a session with `maker`.
#[derive(Debug)]
pub(crate) struct Panel<M> {
    clock: Clock,
    maker: M,
    show: Show,
    keys: UnboundedReceiver<Key>,
    signals: Option<Signals>,
    /// Also a session in which nothing happens is shown.
    next_look: Instant,
    /// When to end by itself.
    end_at: Option<Instant>,
    first_session_by: Option<Instant>,
    /// There was a session.
    begun: bool,
    ending: bool,
    next_snapshot: Instant,
    accepted: (Instant, u64),
    grades: Grades,
    /// The newest event of those that may come often, and when one was shown.
    newest: Option<Notice>,
    newest_shown: Option<Instant>,
    /// What is not met, for commands whose operator asks what keeps commanding from beginning.
    unmet: Option<Unmet>,
    last_fallback: Option<Reason>,
    /// Where events and figures go as well.
    feed: Option<Feed>,
    /// For the reason that the link's grade is low.
    last_seconds: LastSeconds,
}

impl<M: Maker> Panel<M> {
    /// A panel for these `operators` that speaks in `format` and ends after `seconds`.
    #[must_use]
    pub(crate) fn new(
        title: &str,
        format: Format,
        clock: Clock,
        maker: M,
        operators: Operators,
        seconds: Option<u64>,
    ) -> Self {
        let Operators { signals, sender, keys } = operators;
        let now = clock.now();
        Self {
            show: Show::start(format, title, sender),
            clock,
            maker,
            keys,
            signals,
            next_look: now,
            end_at: seconds.map(|seconds| now + Duration::from_secs(seconds)),
            first_session_by: Some(now + FIRST_SESSION),
            begun: false,
            ending: false,
            next_snapshot: now,
            accepted: (now, 0),
            grades: Grades::default(),
            newest: None,
            newest_shown: None,
            unmet: (matches!(title, "run" | "monitor") && matches!(format, Format::Lines | Format::Remarks))
                .then(Unmet::default),
            last_fallback: None,
            feed: None,
            last_seconds: LastSeconds::default(),
        }
    }

    /// From now on events, also those that people are spared, and figures of the link are put into `feed` as well.
    #[must_use]
    pub(crate) fn with_feed(mut self, feed: Feed) -> Self {
        self.feed = Some(feed);
        self
    }

    /// Where events and figures go as well.
    #[cfg(feature = "ros2")]
    pub(crate) const fn feed(&self) -> Option<&Feed> {
        self.feed.as_ref()
    }

    /// The operator's next wish. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Wish {
        let deadline = [self.end_at, self.first_session_by].into_iter().flatten().min();
        let (first, time_up) = match deadline {
            Some(at) if at <= self.next_look => (at, true),
            _ => (self.next_look, false),
        };
        let wish = tokio::select! {
            signal = next_signal(&mut self.signals) => Wish::End(signal),
            Some(key) = self.keys.recv() => key.into(),
            () = reactor::sleep_until(self.clock, first) => if time_up {
                Wish::End("time is up")
            } else {
                self.next_look = self.clock.now() + self.show.format().pace();
                Wish::Look
            },
        };
        if let Wish::End(_) = wish {
            self.end_now();
        }
        wish
    }

    /// Asks for the end from inside.
    pub(crate) fn end_now(&mut self) {
        end_is_under_way();
        self.ending = true;
        self.end_at = None;
        self.first_session_by = None;
    }

    /// Whether the end was asked for.
    pub(crate) const fn is_ending(&self) -> bool {
        self.ending
    }

    /// Shows what happened.
    pub(crate) fn event(&mut self, event: &Event<M::Event>) {
        if matches!(event, Event::Peer(event) if event.begins()) {
            self.first_session_by = None;
            self.begun = true;
            self.accepted = (self.clock.now(), 0);
        }
        let Some(mut notice) = self.maker.notice(event, self.clock.now()) else { return };
        if let Event::GradeLow(low) = event {
            self.last_seconds.explain(low, &mut notice);
        }
        if let Event::Transition(transition) = event {
            self.show.epoch(transition.epoch);
        }
        if let Some(feed) = &self.feed {
            feed.put(notice.at, What::Notice(notice.clone()));
        }
        // A busy machine changes grades many times a second; scripts get them all.
        let (at, people) = (notice.at, self.show.format() != Format::Json);
        match event {
            Event::Grade(change) if people => {
                self.grades.note(*change);
                self.show_newest(at);
            }
            // The end that was asked for needs no explanation.
            Event::Transition(transition) if self.ending && transition.to == Mode::Offline => {}
            Event::Peer(event) => match self.maker.take(event, &notice) {
                Showing::Newest if people => {
                    self.newest = Some(notice);
                    self.show_newest(at);
                }
                Showing::Always | Showing::Newest => self.show.notice(notice),
                Showing::Never => {}
            },
            _ => self.show.notice(notice),
        }
    }

    /// Says something of the command's own.
    pub(crate) fn say(&mut self, kind: &'static str, text: String, fields: Vec<(&'static str, String)>) {
        let notice = Notice { at: self.clock.now(), kind, text, fields };
        if let Some(feed) = &self.feed {
            feed.put(notice.at, What::Notice(notice.clone()));
        }
        self.show.notice(notice);
    }

    /// Whether the controller runs on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.maker.is_here()
    }

    /// What may come often, where it is time to.
    fn show_newest(&mut self, now: Instant) {
        if let Some(text) = self.grades.next(now, self.is_here()) {
            self.show.notice(Notice { at: now, kind: "grade", text, fields: vec![] });
        }
        if self.newest_shown.is_none_or(|at| now.since(at) >= PACE)
            && let Some(notice) = self.newest.take()
        {
            self.newest_shown = Some(now);
            self.show.notice(notice);
        }
    }

    /// What a program on the controller sends now, where it shares variables.
    pub(crate) fn variables<const N: usize, P, L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Option<Variables>
    where
        P: Peer<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.maker.variables(engine)
    }

    /// Looks at the session, and shows nothing of it.
    pub(crate) fn look_at<const N: usize, P, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>)
    where
        P: Peer<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.maker.observe(engine);
    }

    /// Shows the session where it is time to.
    pub(crate) fn observe<const N: usize, P, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        now: Instant,
        values: impl FnOnce() -> Vec<(String, String)>,
    ) where
        P: Peer<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.maker.observe(engine);
        let stands = engine.peer().is_established();
        if stands && self.last_seconds.is_due(now) {
            let figures = engine.figures(now);
            self.last_seconds.look(now, &figures);
            if let Some(feed) = &self.feed {
                feed.put(now, What::Link { mode: engine.mode(), figures: Box::new(figures) });
            }
        }
        self.last_fallback = engine.latch().or(self.last_fallback);
        if now < self.next_snapshot {
            return;
        }
        self.show_newest(now);
        self.next_snapshot = now + self.show.format().pace();
        let figures = stands.then(|| engine.figures(now));
        let accepted = figures.map_or(0, |figures| figures.sequence.accepted);
        let span = now.since(self.accepted.0).as_secs_f32();
        let rate = if span > 0.0 { accepted.saturating_sub(self.accepted.1) as f32 / span } else { 0.0 };
        self.accepted = (now, accepted);
        let mode = engine.mode();
        self.show.epoch(engine.mode_machine().epoch());
        // While commanding, what a request would be refused for is of no interest.
        let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { engine.unmet(now) } else { ReasonSet::EMPTY };
        let Facts { identity, arm, states, trouble, values: more, counters } = self.maker.facts(engine);
        let variables = self.maker.variables(engine);
        self.show.snapshot(Snapshot {
            at: now,
            robot: self.maker.robot(),
            here: self.is_here(),
            identity,
            mode,
            latch: engine.latch(),
            last_fallback: self.last_fallback,
            unmet,
            state: arm,
            figures,
            states,
            intervals: engine.histograms().interval.bins().filter(|bin| bin.count > 0).collect(),
            rate,
            trouble,
            values: values().into_iter().chain(more).collect(),
            counters,
            variables,
        });
        let here = self.is_here();
        if let Some(text) = self.unmet.as_mut().and_then(|shown| shown.next(now, mode, unmet, here)) {
            self.show.notice(Notice { at: now, kind: "unmet", text, fields: vec![] });
        }
    }

    /// Ends what is shown. Without any session so far, the failure that says why.
    ///
    /// # Errors
    /// [`Failure::Connection`] where there never was a session.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.show.finish();
        if self.begun { Ok(()) } else { Err(self.maker.nothing_came()) }
    }
}

/// Looks at a session and asks for nothing, until the operator, the time or the disk ends it.
#[derive(Debug)]
pub(crate) struct Onlooker<M> {
    panel: Panel<M>,
    /// Of the recorder, where there is one.
    progress: Option<Arc<Progress>>,
    /// What happens beside the session, in words.
    remarks: Option<UnboundedReceiver<String>>,
    /// What a node of ROS 2 says.
    told: Option<UnboundedReceiver<String>>,
}

impl<M: Maker> Onlooker<M> {
    pub(crate) const fn new(panel: Panel<M>) -> Self {
        Self { panel, progress: None, remarks: None, told: None }
    }

    /// The same beside a recorder: ends where `progress` has failed, and shows the `remarks` of what is recorded apart.
    pub(crate) fn recorded(
        panel: Panel<M>,
        feed: Feed,
        progress: Arc<Progress>,
        remarks: UnboundedReceiver<String>,
    ) -> Self {
        Self { panel: panel.with_feed(feed), progress: Some(progress), remarks: Some(remarks), told: None }
    }

    /// The same, showing what a node of ROS 2 says.
    #[cfg(feature = "ros2")]
    pub(crate) fn hearing(self, told: UnboundedReceiver<String>) -> Self {
        Self { told: Some(told), ..self }
    }

    pub(crate) fn finish(self) -> Outcome {
        self.panel.finish()
    }
}

impl<const N: usize, P, L: Law<N>, M> Application<N, P, L> for Onlooker<M>
where
    P: Peer<N, Event = M::Event>,
    M: Shows<N, P>,
{
    async fn next(&mut self) -> Input {
        loop {
            let wish = tokio::select! {
                wish = self.panel.next() => wish,
                text = next_of(&mut self.remarks) => {
                    self.panel.say("rtde", text, vec![]);
                    continue;
                }
                text = next_of(&mut self.told) => {
                    self.panel.say("ros2", text, vec![]);
                    continue;
                }
            };
            let failed = self.progress.as_ref().is_some_and(|progress| progress.has_failed());
            match wish {
                Wish::Look if failed && !self.panel.is_ending() => {
                    self.panel.end_now();
                    return Input::Shutdown;
                }
                Wish::End(_) | Wish::Look => return wish.input(),
                Wish::Request(_) | Wish::Resume(_) | Wish::Release | Wish::Acknowledge => {}
            }
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let progress = self.progress.as_deref();
        self.panel.observe(engine, now, || progress.map_or_else(Vec::new, Progress::shown));
    }
}

async fn next_signal(signals: &mut Option<Signals>) -> &'static str {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

/// What is told next by what happens beside the session, if anything ever is.
pub(crate) async fn next_of(remarks: &mut Option<UnboundedReceiver<String>>) -> String {
    let next = match remarks {
        Some(remarks) => remarks.recv().await,
        None => None,
    };
    match next {
        Some(text) => text,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_carries_the_epoch_that_was_seen_unless_it_names_one() {
        let seen = Epoch::from_number(4);
        let of = |line| Wish::of_line(line, seen);
        assert_eq!((of("request"), of("resume")), (Some(Wish::Request(seen)), Some(Wish::Resume(seen))));
        assert_eq!(of("request 3"), Some(Wish::Request(Epoch::from_number(3))));
        assert_eq!((of("release"), of("acknowledge")), (Some(Wish::Release), Some(Wish::Acknowledge)));
        assert_eq!(of("quit"), Some(Wish::End("quit")));
        for nonsense in ["", "requests", "request now", "request 3 4", "release 3", "request -1", "request 99999999999"]
        {
            assert_eq!(of(nonsense), None, "{nonsense}");
        }
    }
}
