//! What every command with a session shares: the operator's keys, lines and signals, and what is shown.

mod onlooker;
mod operators;

use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::link::{Grade, GradeLow};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) use self::onlooker::Onlooker;
pub(crate) use self::onlooker::{next_of, next_remark};
pub use self::operators::Operators;
pub use self::operators::Wish;
use crate::exit::Failure;
use crate::feed::{Feed, What};
use crate::host::clock::Clock;
use crate::host::reactor;
use crate::host::signals::{Signals, end_is_under_way};
use crate::maker::{Maker, Showing, Shows};
use crate::released::ReleasedBy;
use crate::show::events::{PeerEvent as _, name_figures, time_of};
use crate::show::grade::LastSeconds;
use crate::show::log::{Episodes, PACE, Unmet};
use crate::show::words::Observer;
use crate::show::{Format, Key, LawError, Notice, Show, Snapshot, Variables, is_verbose};

/// Longest wait for the first session; afterwards a lost one is waited for without end.
const FIRST_SESSION: Duration = Duration::from_secs(10);

/// The part of a session's state that its engine does not know.
pub(crate) trait Ends {
    /// Returns whether the session is about to end.
    fn is_ending(&self) -> bool;

    /// Returns the cause of the last release since commanding began.
    fn released(&self) -> Option<ReleasedBy>;
}

/// The operator's side of a session with `maker`.
#[derive(Debug)]
pub struct Panel<M> {
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
    episodes: Episodes,
    /// The grade that commanding needs, as the engine has it.
    needed: Grade,
    /// The cause of a low grade, for the event that follows.
    low: Option<GradeLow>,
    /// Each change of grade is shown to people as well.
    verbose: bool,
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
    pub fn new(
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
            episodes: Episodes::default(),
            needed: Grade::Ok,
            low: None,
            verbose: is_verbose(),
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
    pub fn with_feed(mut self, feed: Feed) -> Self {
        self.show.hear(feed.reader());
        self.feed = Some(feed);
        self
    }

    /// Returns whether there was a session.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Returns where events and figures go as well.
    pub(crate) const fn feed(&self) -> Option<&Feed> {
        self.feed.as_ref()
    }

    /// The operator's next wish. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Wish {
        let deadline = [self.end_at, self.first_session_by].into_iter().flatten().min();
        let (first, time_up) = match deadline {
            Some(at) if at <= self.next_look => (at, true),
            _ => (self.next_look, false),
        };
        let wish = tokio::select! {
            signal = next_signal(&mut self.signals) => Wish::End(ReleasedBy::of_signal(signal)),
            Some(key) = self.keys.recv() => key.into(),
            () = reactor::sleep_until(self.clock, first) => if time_up {
                Wish::End(ReleasedBy::Time)
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

    /// Returns `true` once the reader of the output has gone away (`| head`).
    pub(crate) fn is_unread(&self) -> bool {
        self.show.is_unread()
    }

    /// Whether the end was asked for.
    pub const fn is_ending(&self) -> bool {
        self.ending
    }

    /// Shows what happened.
    pub fn event(&mut self, event: &Event<M::Event>) {
        self.event_of(event, None);
    }

    /// Shows what happened, with the cause of the release that it is.
    pub(crate) fn event_of(&mut self, event: &Event<M::Event>, released: Option<ReleasedBy>) {
        if matches!(event, Event::Peer(event) if event.begins()) {
            self.first_session_by = None;
            self.begun = true;
            self.accepted = (self.clock.now(), 0);
            // Those of the session before are not its own.
            self.last_seconds = LastSeconds::default();
        }
        let at = time_of(event).unwrap_or_else(|| self.clock.now());
        let Some(mut notice) = self.maker.notice(event, at) else { return };
        match event {
            Event::GradeLow(low) => {
                self.last_seconds.explain(low, &mut notice);
                self.low = Some(*low);
            }
            Event::Refused(_) | Event::Transition(_) => {
                if let Some(low) = self.low.take() {
                    name_figures(&mut notice, &low, Observer::Process);
                }
            }
            _ => {}
        }
        if let Event::Transition(transition) = event {
            self.show.epoch(transition.epoch);
            released.into_iter().for_each(|by| released_by(transition, by, &mut notice));
            if transition.to == Mode::Offline {
                self.episodes.disconnected(transition.at);
            }
        }
        if let Some(feed) = &self.feed {
            feed.put(notice.at, What::Notice(notice.clone()));
        }
        // A busy machine changes grades many times a second; scripts get them all.
        let people = self.show.format() != Format::Json;
        match event {
            Event::Grade(change) if people => {
                self.episodes.note(change, self.needed);
                if self.verbose {
                    self.show.notice(notice);
                }
                self.show_newest(at, false);
            }
            // The refusal or the end of commanding that follows has its figures.
            Event::GradeLow(_) if people && !self.verbose => {}
            // The end that was asked for needs no explanation.
            Event::Transition(transition) if self.ending && transition.to == Mode::Offline => {}
            Event::Peer(event) => match self.maker.take(event, &notice) {
                Showing::Newest if people => {
                    self.newest = Some(notice);
                    self.show_newest(at, false);
                }
                Showing::Always | Showing::Newest => self.show.notice(notice),
                Showing::Never => {}
            },
            _ => self.show.notice(notice),
        }
    }

    /// Says something of the command's own.
    pub fn say(&mut self, kind: &'static str, text: String, fields: Vec<(&'static str, String)>) {
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

    /// Shows notices that may come often, where it is time to; all of them where nothing follows.
    fn show_newest(&mut self, now: Instant, last: bool) {
        if let Some(notice) = self.episodes.next(now, last, self.is_here(), Observer::Process) {
            self.show.notice(notice);
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
        P: Controller<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.maker.variables(engine)
    }

    /// Looks at the session, and shows nothing of it.
    pub fn look_at<const N: usize, P, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>)
    where
        P: Controller<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.maker.observe(engine);
        self.needed = engine.grade_needed();
    }

    /// Shows the session where it is time to.
    pub fn observe<const N: usize, P, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        now: Instant,
        values: impl FnOnce() -> Vec<(String, String)>,
    ) where
        P: Controller<N, Event = M::Event>,
        M: Shows<N, P>,
    {
        self.look_at(engine);
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
        self.show_newest(now, false);
        self.next_snapshot = now + self.show.format().pace();
        let figures = stands.then(|| engine.figures(now));
        let accepted = figures.map_or(0, |figures| figures.sequence.accepted);
        let span = now.since(self.accepted.0).as_secs_f32();
        let rate = if span > 0.0 { accepted.saturating_sub(self.accepted.1) as f32 / span } else { 0.0 };
        self.accepted = (now, accepted);
        self.show.epoch(engine.mode_machine().epoch());
        let sight = self.maker.sight(engine, now, self.last_fallback, (figures, rate));
        let snapshot = self.maker.snapshot(&sight);
        let commanded = engine.state().filter(|_| snapshot.mode == Mode::Command);
        let unmet = self.unmet.as_mut().map(|shown| shown.next(&snapshot)).unwrap_or_default();
        self.show.snapshot(Snapshot {
            // Of a session that has ended they are not of this link.
            intervals: engine.histograms().interval.bins().filter(|bin| stands && bin.count > 0).collect(),
            values: values().into_iter().chain(snapshot.values).collect(),
            terminals: self.maker.terminals(engine),
            law_error: commanded.and_then(|state| LawError::of(engine.law(), state)),
            ..snapshot
        });
        for text in unmet {
            self.show.notice(Notice { at: now, kind: "unmet", text, fields: vec![] });
        }
    }

    /// Ends what is shown. Without any session so far, the failure that says why.
    ///
    /// # Errors
    /// [`Failure::Connection`] where there never was a session.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.show_newest(self.clock.now(), true);
        self.show.finish();
        if self.begun { Ok(()) } else { Err(self.maker.nothing_came()) }
    }
}

/// Gives the transition's notice the cause of the release that it is.
fn released_by(transition: &Transition, by: ReleasedBy, notice: &mut Notice) {
    if transition.reason == Some(Reason::Released) {
        notice.text = format!("{} → {}: {by}", transition.from.name(), transition.to.name());
    }
    notice.fields.push(("by", by.name().into()));
}

async fn next_signal(signals: &mut Option<Signals>) -> &'static str {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::mode::Epoch;

    use super::*;
    use crate::host::os::INTERRUPT;
    use crate::show::events::{PeerEvent, Surroundings, Words, notice};

    struct NoPeer;

    impl PeerEvent for NoPeer {
        fn words(&self, _: &Surroundings<'_>) -> Option<Words> {
            None
        }

        fn begins(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_release_is_told_with_its_cause_to_people_and_scripts() {
        let said = |reason, by| {
            let (from, to, epoch) = (Mode::Command, Mode::Stopping, Epoch::from_number(4));
            let transition = Transition { from, to, reason: Some(reason), at: Instant::ZERO, epoch };
            let around = Surroundings::without_links(Instant::ZERO, false);
            let mut notice = notice(&Event::<NoPeer>::Transition(transition), &around).expect("it is told");
            released_by(&transition, by, &mut notice);
            (notice.text, notice.fields.into_iter().find(|(name, _)| *name == "by").map(|(_, value)| value))
        };
        for (reason, by, text, name) in [
            (Reason::Released, ReleasedBy::Finished, "Command → Stopping: finished", "finished"),
            (Reason::Released, ReleasedBy::Signal(INTERRUPT), "Command → Stopping: Ctrl-C", "SIGINT"),
            (Reason::Released, ReleasedBy::Key, "Command → Stopping: released by key s", "key"),
            (Reason::Released, ReleasedBy::Request, "Command → Stopping: released by another process", "request"),
            (
                Reason::ProgramPaused,
                ReleasedBy::Pendant(Reason::ProgramPaused),
                "Command → Stopping: the program was paused at the pendant (ProgramPaused)",
                "ProgramPaused",
            ),
        ] {
            assert_eq!(said(reason, by), (text.to_owned(), Some(name.to_owned())));
        }
    }
}
