//! The part that all commands with a session share: the operator's keys, lines and signals, and the display.

mod operators;
mod session_observer;

use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::link::{Grade, GradeLow};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

pub use self::operators::OperatorInput;
pub use self::operators::Operators;
pub(crate) use self::session_observer::SessionObserver;
pub(crate) use self::session_observer::{next_of, next_remark};
use crate::exit::Failure;
use crate::feed::{EntryContent, Feed};
use crate::host::clock::Clock;
use crate::host::reactor;
use crate::host::signals::{Signals, end_is_under_way};
use crate::released::ReleasedBy;
use crate::show::condition_log::{Episodes, PACE, Unmet};
use crate::show::events::{PeerEvent as _, name_figures, time_of};
use crate::show::grade::LastSeconds;
use crate::show::reason_text::Observer;
use crate::show::{Format, Key, LawError, Notice, Show, Snapshot, Variables, is_verbose};
use crate::vendor::{EventDisplay, VendorObserve, VendorUi};

/// The longest time to wait for the first session with the controller. A session that is lost later is awaited without
/// limit.
const FIRST_SESSION: Duration = Duration::from_secs(10);

/// The facts about a session that its engine does not have: whether it is about to end, and the cause of its last
/// release (requested end of commanding).
pub(crate) trait Ends {
    /// Returns `true` if the session is about to end.
    fn is_ending(&self) -> bool;

    /// Returns the cause of the last release (requested end of commanding) since commanding started. `None` if there
    /// was none.
    fn released(&self) -> Option<ReleasedBy>;
}

/// The operator interface of a session: it displays events and receives inputs.
#[derive(Debug)]
pub struct Panel<M> {
    clock: Clock,
    vendor: M,
    show: Show,
    keys: UnboundedReceiver<Key>,
    signals: Option<Signals>,
    /// The next time at which the session is displayed, even if nothing happens.
    next_look: Instant,
    /// The time at which the session ends by itself. `None` if it does not.
    end_at: Option<Instant>,
    first_session_by: Option<Instant>,
    /// `true` if there was a session with the controller.
    begun: bool,
    ending: bool,
    next_snapshot: Instant,
    accepted: (Instant, u64),
    episodes: Episodes,
    /// The grade (quality) of the link to the robot that commanding requires.
    needed: Grade,
    /// The cause of a low link grade (quality), for the description of the rejection or mode change that follows.
    low: Option<GradeLow>,
    /// `true` if each change of the link's grade (quality) is also displayed to people.
    verbose: bool,
    /// The newest event of a kind that may be frequent, if it was not displayed yet.
    newest: Option<Notice>,
    /// The time at which an event of a kind that may be frequent was last displayed.
    newest_shown: Option<Instant>,
    /// The display of the unmet preconditions of commanding as lines of text. `None` unless the title of the panel is
    /// `run` or `monitor`, and its output is such lines.
    unmet: Option<Unmet>,
    last_fallback: Option<Reason>,
    /// The feed (a queue of traffic and events to many readers, e.g. a recording) that also receives the session's
    /// events and link figures. `None` if there is none.
    feed: Option<Feed>,
    /// The figures of the link in the last seconds, which explain a low grade (quality) of the link.
    last_seconds: LastSeconds,
}

impl<M: VendorUi> Panel<M> {
    /// Creates a panel, the operator interface of a session, for these `operators` with output in `format`. The session
    /// ends after `seconds`, if given.
    #[must_use]
    pub fn new(
        title: &str,
        format: Format,
        clock: Clock,
        vendor: M,
        operators: Operators,
        seconds: Option<u64>,
    ) -> Self {
        let Operators { signals, sender, keys } = operators;
        let now = clock.now();
        Self {
            show: Show::start(format, title, sender),
            clock,
            vendor,
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

    /// Sets the `feed` (a queue of traffic and events to many readers, e.g. a recording) that also receives the figures
    /// of the link and all events of the session, including those that are not displayed to people.
    #[must_use]
    pub fn with_feed(mut self, feed: Feed) -> Self {
        self.show.hear(feed.reader());
        self.feed = Some(feed);
        self
    }

    /// Returns `true` if there was a session with the controller.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Returns the feed that also receives the session's events and link figures.
    pub(crate) const fn feed(&self) -> Option<&Feed> {
        self.feed.as_ref()
    }

    /// Waits for the next input of the operator. Dropping the future loses nothing.
    pub async fn next(&mut self) -> OperatorInput {
        let deadline = [self.end_at, self.first_session_by].into_iter().flatten().min();
        let (first, time_up) = match deadline {
            Some(at) if at <= self.next_look => (at, true),
            _ => (self.next_look, false),
        };
        let wish = tokio::select! {
            signal = next_signal(&mut self.signals) => OperatorInput::End(ReleasedBy::of_signal(signal)),
            Some(key) = self.keys.recv() => key.into(),
            () = reactor::sleep_until(self.clock, first) => if time_up {
                OperatorInput::End(ReleasedBy::Time)
            } else {
                self.next_look = self.clock.now() + self.show.format().pace();
                OperatorInput::Look
            },
        };
        if let OperatorInput::End(_) = wish {
            self.end_now();
        }
        wish
    }

    /// Requests the end of the session from inside this process.
    pub(crate) fn end_now(&mut self) {
        end_is_under_way();
        self.ending = true;
        self.end_at = None;
        self.first_session_by = None;
    }

    /// Returns `true` after the reader of the output has closed it (`| head`).
    pub(crate) fn is_unread(&self) -> bool {
        self.show.is_unread()
    }

    /// Returns `true` if the end of the session was requested.
    pub const fn is_ending(&self) -> bool {
        self.ending
    }

    /// Displays an event of the session's engine.
    pub fn event(&mut self, event: &Event<M::Event>) {
        self.event_of(event, None);
    }

    /// Displays an event of the session's engine. If it is a release (requested end of commanding), `released` is its
    /// cause.
    pub(crate) fn event_of(&mut self, event: &Event<M::Event>, released: Option<ReleasedBy>) {
        if matches!(event, Event::Peer(event) if event.begins()) {
            self.first_session_by = None;
            self.begun = true;
            self.accepted = (self.clock.now(), 0);
            // Figures of the previous session do not apply.
            self.last_seconds = LastSeconds::default();
        }
        let at = time_of(event).unwrap_or_else(|| self.clock.now());
        let Some(mut notice) = self.vendor.notice(event, at) else { return };
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
            feed.put(notice.at, EntryContent::Notice(notice.clone()));
        }
        // On a busy machine the grade changes many times a second. Scripts receive all changes.
        let people = self.show.format() != Format::Json;
        match event {
            Event::Grade(change) if people => {
                self.episodes.note(change, self.needed);
                if self.verbose {
                    self.show.notice(notice);
                }
                self.show_newest(at, false);
            }
            // The rejection or the end of commanding that follows contains its figures.
            Event::GradeLow(_) if people && !self.verbose => {}
            // An end that was requested needs no explanation.
            Event::Transition(transition) if self.ending && transition.to == Mode::Offline => {}
            Event::Peer(event) => match self.vendor.take(event, &notice) {
                EventDisplay::Newest if people => {
                    self.newest = Some(notice);
                    self.show_newest(at, false);
                }
                EventDisplay::Always | EventDisplay::Newest => self.show.notice(notice),
                EventDisplay::Never => {}
            },
            _ => self.show.notice(notice),
        }
    }

    /// Displays an event that does not come from the session's engine but from this process, e.g. the result of writing
    /// a file. Its `kind` and `fields` are for scripts, its `text` is for people.
    pub fn say(&mut self, kind: &'static str, text: String, fields: Vec<(&'static str, String)>) {
        let notice = Notice { at: self.clock.now(), kind, text, fields };
        if let Some(feed) = &self.feed {
            feed.put(notice.at, EntryContent::Notice(notice.clone()));
        }
        self.show.notice(notice);
    }

    /// Returns `true` if the controller runs on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.vendor.is_here()
    }

    /// Displays the line about an episode of a low link grade (quality) if one is due, or in any case if `last` is
    /// `true`; and the newest frequent event if the interval for such events has passed.
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

    /// Returns the current variables of a program on the controller. `None` if this kind of controller shares none, or
    /// has sent none yet.
    pub(crate) fn variables<const N: usize, P, L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Option<Variables>
    where
        P: Controller<N, Event = M::Event>,
        M: VendorObserve<N, P>,
    {
        self.vendor.variables(engine)
    }

    /// Updates the panel's facts about the session's engine, such as the link grade (quality) that commanding requires.
    /// Displays nothing.
    pub fn look_at<const N: usize, P, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>)
    where
        P: Controller<N, Event = M::Event>,
        M: VendorObserve<N, P>,
    {
        self.vendor.observe(engine);
        self.needed = engine.grade_needed();
    }

    /// Displays the state of the session if the interval of the display has passed.
    pub fn observe<const N: usize, P, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        now: Instant,
        values: impl FnOnce() -> Vec<(String, String)>,
    ) where
        P: Controller<N, Event = M::Event>,
        M: VendorObserve<N, P>,
    {
        self.look_at(engine);
        let stands = engine.peer().is_established();
        if stands && self.last_seconds.is_due(now) {
            let figures = engine.figures(now);
            self.last_seconds.look(now, &figures);
            if let Some(feed) = &self.feed {
                feed.put(now, EntryContent::Link { mode: engine.mode(), figures: Box::new(figures) });
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
        let sight = self.vendor.session_view(engine, now, self.last_fallback, (figures, rate));
        let snapshot = self.vendor.snapshot(&sight);
        let commanded = engine.state().filter(|_| snapshot.mode == Mode::Command);
        let unmet = self.unmet.as_mut().map(|shown| shown.next(&snapshot)).unwrap_or_default();
        self.show.snapshot(Snapshot {
            // After the end of a session they do not belong to this link.
            intervals: engine.histograms().interval.bins().filter(|bin| stands && bin.count > 0).collect(),
            values: values().into_iter().chain(snapshot.values).collect(),
            terminals: self.vendor.terminals(engine),
            law_error: commanded.and_then(|state| LawError::of(engine.law(), state)),
            ..snapshot
        });
        for text in unmet {
            self.show.notice(Notice { at: now, kind: "unmet", text, fields: vec![] });
        }
    }

    /// Ends the display of the session.
    ///
    /// # Errors
    /// Returns [`Failure::Connection`], with the reason, if there never was a session.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.show_newest(self.clock.now(), true);
        self.show.finish();
        if self.begun { Ok(()) } else { Err(self.vendor.nothing_came()) }
    }
}

/// Adds the cause `by` of a release (requested end of commanding) to `notice`, which describes the mode change
/// `transition`.
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
    use crate::show::events::{EventText, PeerEvent, Surroundings, notice};

    struct NoPeer;

    impl PeerEvent for NoPeer {
        fn words(&self, _: &Surroundings<'_>) -> Option<EventText> {
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
