//! The operator's side of every command beside a KRC: keys, signals, and what is shown.

use outrigger_core::engine::Event;
use outrigger_core::engine::krc::{KrcEngine, KrcEvent};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Remote, words};
use crate::clock::Clock;
use crate::exit::Failure;
use crate::feed::{Feed, What};
use crate::panel::Wish;
use crate::show::log::{Grades, PACE, Unmet};
use crate::show::{Arm, Format, Key, Notice, Show, Snapshot, Word};
use crate::signals::{Leaves, Signals, end_is_under_way};

/// See the module.
pub(crate) struct Panel {
    clock: Clock,
    /// Who the KRC is, as given.
    robot: String,
    show: Show,
    keys: UnboundedReceiver<Key>,
    signals: Signals,
    next_snapshot: Instant,
    /// Measurements at the snapshot before.
    accepted: (Instant, u64),
    grades: Grades,
    /// When a change of the KRC's quality was said last, and the newest that was not said since.
    quality_said: Option<Instant>,
    quality: Option<Notice>,
    /// What is not met, for commands whose operator asks what keeps commanding from beginning.
    unmet: Option<Unmet>,
    last_fallback: Option<Reason>,
    /// Who else hears of what is said.
    feed: Option<Feed>,
}

impl Panel {
    /// A panel that speaks in `format`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where signals cannot be handled.
    pub(crate) fn new(title: &str, format: Format, clock: Clock, robot: String) -> Result<Self, Failure> {
        let (sender, keys) = unbounded_channel();
        let signals = Signals::listen(if title == "run" { Leaves::AnArm } else { Leaves::Nothing })?;
        let now = clock.now();
        Ok(Self {
            clock,
            robot,
            show: Show::start(format, title, sender),
            keys,
            signals,
            next_snapshot: now,
            accepted: (now, 0),
            grades: Grades::default(),
            quality_said: None,
            quality: None,
            unmet: (matches!(title, "run" | "monitor") && format == Format::Lines).then(Unmet::default),
            last_fallback: None,
            feed: None,
        })
    }

    /// From now on what is said of the command's own is put into `feed` as well; events are by the [`Remote`].
    pub(crate) fn feed(&mut self, feed: Feed) {
        self.feed = Some(feed);
    }

    /// The operator's next wish. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            signal = self.signals.next() => Wish::End(signal),
            Some(key) = self.keys.recv() => key.into(),
        }
    }

    /// The end was asked for from inside.
    pub(crate) fn end_now(&mut self) {
        end_is_under_way();
    }

    /// When the next snapshot is due.
    pub(crate) const fn next_snapshot(&self) -> Instant {
        self.next_snapshot
    }

    /// Says something of the command's own.
    pub(crate) fn say(&mut self, kind: &'static str, text: String, fields: Vec<(&'static str, String)>) {
        let notice = Notice { at: self.clock.now(), kind, text, fields };
        if let Some(feed) = &self.feed {
            feed.put(notice.at, What::Notice(notice.clone()));
        }
        self.show.notice(notice);
    }

    /// Says what happened.
    pub(crate) fn event<L: Law<7>>(&mut self, remote: &Remote<L>, event: &Event<KrcEvent>) {
        let Some(notice) = remote.notice(event) else { return };
        if let Event::Transition(transition) = event {
            self.show.epoch(transition.epoch);
        }
        // A busy machine changes grades many times a second; scripts get them all.
        let (at, scripts) = (notice.at, self.show.format() == Format::Json);
        match event {
            Event::Grade(change) if !scripts => self.grades.note(*change),
            Event::Peer(KrcEvent::Quality(_)) if !scripts => self.quality = Some(notice),
            _ => return self.show.notice(notice),
        }
        self.say_grades(remote, at);
    }

    fn say_grades<L: Law<7>>(&mut self, remote: &Remote<L>, now: Instant) {
        if let Some(text) = self.grades.next(now, remote.is_here()) {
            self.show.notice(Notice { at: now, kind: "grade", text, fields: vec![] });
        }
        if self.quality_said.is_none_or(|at| now.since(at) >= PACE)
            && let Some(notice) = self.quality.take()
        {
            self.quality_said = Some(now);
            self.show.notice(notice);
        }
    }

    /// Shows the session where it is time to, and `more` about it.
    pub(crate) fn observe<L: Law<7>>(
        &mut self,
        remote: &Remote<L>,
        now: Instant,
        more: impl FnOnce() -> Vec<(String, String)>,
    ) {
        let session = remote.session();
        self.last_fallback = session.latch().or(self.last_fallback);
        if now < self.next_snapshot {
            return;
        }
        self.next_snapshot = now + self.show.format().pace();
        self.say_grades(remote, now);
        let heard = session.peer().period().is_some();
        let figures = heard.then(|| session.figures(now));
        let accepted = figures.map_or(0, |figures| figures.sequence.accepted);
        let span = now.since(self.accepted.0).as_secs_f32();
        let rate = if span > 0.0 { accepted.saturating_sub(self.accepted.1) as f32 / span } else { 0.0 };
        self.accepted = (now, accepted);
        let mode = session.mode();
        // While commanding, what a request would be refused for is of no interest.
        let unmet = if mode == Mode::Monitor { session.unmet(now) } else { ReasonSet::EMPTY };
        self.show.epoch(session.mode_machine().epoch());
        self.show.snapshot(Snapshot {
            at: now,
            robot: self.robot.clone(),
            here: remote.is_here(),
            identity: words::identity(session),
            mode,
            latch: session.latch(),
            last_fallback: self.last_fallback,
            unmet,
            state: session
                .state()
                .filter(|_| heard)
                .map(|state| Arm::new(state, told(session)).with_setpoints(state.target_positions.iter())),
            figures,
            states: None,
            intervals: session.histograms().interval.bins().filter(|bin| bin.count > 0).collect(),
            rate,
            trouble: (!heard).then(|| words::silence(session, remote.listens())),
            values: more().into_iter().chain(words::values(session)).collect(),
            counters: words::counters(session.peer().counts()).to_vec(),
        });
        if let Some(text) = self.unmet.as_mut().and_then(|said| said.next(now, mode, unmet, remote.is_here())) {
            self.show.notice(Notice { at: now, kind: "unmet", text, fields: vec![] });
        }
    }

    /// Ends the output; the terminal is as it was.
    pub(crate) fn finish(self) {
        self.show.finish();
    }
}

/// What the KRC says of itself, in the words of an output.
fn told<L: Law<7>>(session: &KrcEngine<'static, L>) -> Vec<Word> {
    let power = match session.peer().report() {
        Some(report) if report.error != 0 => "error",
        Some(report) if report.power != 0 => "on",
        Some(_) => "off",
        None => "unknown",
    };
    let scheme = session.peer().scheme().map_or("unknown", |scheme| scheme.name());
    let mut told = words::told(session.peer().state(), session.peer().quality());
    told.push(Word { key: "krc_scheme", name: "scheme", value: scheme });
    told.push(Word { key: "drives", name: "drives", value: power });
    told
}
