//! What every command with a session shares: the operator's keys, lines and signals, and what is shown.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use outrigger_core::engine::ur::Next;
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::law::Law;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::clock::Clock;
use crate::config::RobotAddress;
use crate::exit::Failure;
use crate::feed::{Feed, What};
use crate::net::Trouble;
use crate::show::events::{Surroundings, notice};
use crate::show::log::{Grades, Unmet};
use crate::show::{Format, Key, Notice, Show, Snapshot, States};
use crate::signals::{HANG_UP, Leaves, Signals, end_is_under_way};

/// What the operator wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
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
}

impl Wish {
    /// What a line of somebody who has seen this epoch means; `None` where it is no word of an operator. A request may name
    /// the epoch itself, as a script does that has read it.
    #[must_use]
    pub fn of_line(line: &str, seen: Epoch) -> Option<Self> {
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
            Key::Request(seen) => Self::Request(seen),
            Key::Resume(seen) => Self::Resume(seen),
            Key::Release => Self::Release,
            Key::Acknowledge => Self::Acknowledge,
        }
    }
}

/// Where the robot is and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Target {
    /// As given.
    pub address: RobotAddress,
    /// As resolved.
    pub ip: IpAddr,
}

impl Target {
    /// Resolves the robot's name.
    ///
    /// # Errors
    /// [`Failure::Connection`] where it has no address.
    pub fn resolve(address: &RobotAddress) -> Result<Self, Failure> {
        let found = address.resolve(crate::config::FIRST_PORT).map_err(|error| {
            Failure::Connection(format!(
                "cannot find the host '{}': {error}; check the name, or give the address",
                address.host()
            ))
        })?;
        Ok(Self { address: address.clone(), ip: found.ip() })
    }

    /// The socket address of one of the controller's ports.
    #[must_use]
    pub fn socket(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, self.address.port(port))
    }
}

/// Longest wait for the first session; afterwards a lost one is waited for without end.
const FIRST_SESSION: Duration = Duration::from_secs(10);

/// Time between two figures of the link in a feed.
const FIGURES: Duration = Duration::from_millis(100);

/// The operator's side of a session.
#[derive(Debug)]
pub struct Panel {
    clock: Clock,
    target: Target,
    show: Show,
    keys: UnboundedReceiver<Key>,
    signals: Signals,
    trouble: Trouble,
    /// When to end by itself.
    end_at: Option<Instant>,
    first_session_by: Option<Instant>,
    ending: bool,
    next_snapshot: Instant,
    accepted: (Instant, u64),
    grades: Grades,
    /// What is not met, for commands whose operator asks what keeps commanding from beginning.
    unmet: Option<Unmet>,
    last_fallback: Option<Reason>,
    last_down: Option<String>,
    /// Why this session does without RTDE.
    done_without: Option<String>,
    /// Why each port is down, as last said.
    said: HashMap<u16, String>,
    model: Option<String>,
    /// Who else hears of events and figures.
    feed: Option<Feed>,
    next_figures: Instant,
}

impl Panel {
    /// A panel that speaks in `format` and ends after `seconds`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where signals cannot be handled.
    pub fn new(
        title: &str,
        format: Format,
        clock: Clock,
        target: Target,
        trouble: Trouble,
        seconds: Option<u64>,
    ) -> Result<Self, Failure> {
        let (sender, keys) = unbounded_channel();
        let signals = Signals::listen(if title == "run" { Leaves::AnArm } else { Leaves::Nothing })?;
        let now = clock.now();
        Ok(Self {
            show: Show::start(format, title, sender),
            clock,
            target,
            keys,
            signals,
            trouble,
            end_at: seconds.map(|seconds| now + Duration::from_secs(seconds)),
            first_session_by: Some(now + FIRST_SESSION),
            ending: false,
            next_snapshot: now,
            accepted: (now, 0),
            grades: Grades::default(),
            unmet: (matches!(title, "run" | "monitor") && format == Format::Lines).then(Unmet::default),
            last_fallback: None,
            last_down: None,
            done_without: None,
            said: HashMap::new(),
            model: None,
            feed: None,
            next_figures: now,
        })
    }

    /// From now on events, also those that people are spared, and figures of the link are put into `feed` as well.
    #[must_use]
    pub fn with_feed(mut self, feed: Feed) -> Self {
        self.feed = Some(feed);
        self
    }

    /// The operator's next wish. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Wish {
        let deadline = [self.end_at, self.first_session_by].into_iter().flatten().min();
        let time_up = async {
            match deadline {
                Some(at) => tokio::time::sleep_until(self.clock.std_instant(at).into()).await,
                None => std::future::pending().await,
            }
        };
        let wish = tokio::select! {
            signal = self.signals.next() => Wish::End(signal),
            Some(key) = self.keys.recv() => key.into(),
            () = time_up => Wish::End("time is up"),
        };
        if let Wish::End(_) = wish {
            self.end_now();
        }
        wish
    }

    /// Asks for the end from inside.
    pub fn end_now(&mut self) {
        end_is_under_way();
        self.ending = true;
        self.end_at = None;
        self.first_session_by = None;
    }

    /// Says what happened.
    pub fn event(&mut self, event: &Event<UrEvent>) {
        if let Event::Peer(UrEvent::Established(identity)) = event {
            self.first_session_by = None;
            self.last_down = None;
            self.said.clear();
            self.accepted = (self.clock.now(), 0);
            self.model = Some(format!("software {}", identity.software));
        }
        let around = Surroundings {
            at: self.clock.now(),
            here: self.is_here(),
            address: &|port| self.target.socket(port),
            trouble: &|link| self.trouble.of(link),
        };
        let Some(notice) = notice(event, &around) else { return };
        if let Event::Transition(transition) = event {
            self.show.epoch(transition.epoch);
        }
        if let Some(feed) = &self.feed {
            feed.put(notice.at, What::Notice(notice.clone()));
        }
        if let Event::Peer(UrEvent::Down { link, endpoint, next, .. }) = event {
            let why = notice.fields.iter().find(|(name, _)| *name == "why").map(|(_, why)| why.clone());
            match next {
                Next::Without if *link == LinkId::RTDE => self.done_without.clone_from(&why),
                Next::NewSession(_) => self.done_without = None,
                Next::Without | Next::OtherPort | Next::Retry(_) | Next::Nothing => {}
            }
            // What fails in the same way at every attempt is said once.
            if self.said.get(&endpoint.port) == why.as_ref() {
                return;
            }
            if let Some(why) = why {
                self.last_down = Some(why.clone());
                self.said.insert(endpoint.port, why);
            }
        }
        // A busy machine changes the grade of its link many times a second; scripts get them all.
        if let Event::Grade(change) = event
            && self.show.format() != Format::Json
        {
            self.grades.note(*change);
            return self.say_grade(notice.at);
        }
        // The end that was asked for needs no explanation.
        if !(self.ending && matches!(event, Event::Transition(transition) if transition.to == Mode::Offline)) {
            self.show.notice(notice);
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
    pub(crate) const fn is_here(&self) -> bool {
        self.target.ip.is_loopback()
    }

    fn say_grade(&mut self, now: Instant) {
        if let Some(text) = self.grades.next(now, self.is_here()) {
            self.show.notice(Notice { at: now, kind: "grade", text, fields: vec![] });
        }
    }

    /// Shows the session where it is time to.
    pub fn observe<L: Law<6>>(
        &mut self,
        engine: &Engine<'_, 6, Ur<'_>, L>,
        now: Instant,
        values: impl FnOnce() -> Vec<(String, String)>,
    ) {
        if let Some(feed) = &self.feed
            && now >= self.next_figures
            && engine.peer().identity().is_some()
        {
            self.next_figures = now + FIGURES;
            feed.put(now, What::Link { mode: engine.mode(), figures: Box::new(engine.figures(now)) });
        }
        self.last_fallback = engine.latch().or(self.last_fallback);
        if now < self.next_snapshot {
            return;
        }
        self.say_grade(now);
        self.next_snapshot = now + self.show.format().pace();
        let figures = engine.peer().identity().is_some().then(|| engine.figures(now));
        let accepted = figures.map_or(0, |figures| figures.sequence.accepted);
        let span = now.since(self.accepted.0).as_secs_f32();
        let rate = if span > 0.0 { accepted.saturating_sub(self.accepted.1) as f32 / span } else { 0.0 };
        self.accepted = (now, accepted);
        let mode = engine.mode();
        self.show.epoch(engine.mode_machine().epoch());
        let intervals = engine.histograms().interval.bins().filter(|bin| bin.count > 0).collect();
        // While commanding, what a request would be refused for is of no interest.
        let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { engine.unmet(now) } else { ReasonSet::EMPTY };
        self.show.snapshot(Snapshot {
            at: now,
            robot: self.target.address.to_string(),
            here: self.is_here(),
            identity: engine.peer().identity().and(self.model.clone()),
            mode,
            latch: engine.latch(),
            last_fallback: self.last_fallback,
            unmet,
            state: figures.and_then(|_| engine.state().map(Into::into)),
            figures,
            states: States::of(engine, self.done_without.as_deref()),
            intervals,
            rate,
            trouble: if engine.peer().identity().is_none() { self.last_down.clone() } else { None },
            values: values(),
            counters: Vec::new(),
        });
        let here = self.is_here();
        if let Some(text) = self.unmet.as_mut().and_then(|said| said.next(now, mode, unmet, here)) {
            self.show.notice(Notice { at: now, kind: "unmet", text, fields: vec![] });
        }
    }

    /// Ends the output. Without any session so far, the failure that says why.
    ///
    /// # Errors
    /// [`Failure::Connection`] where there never was a session.
    pub fn finish(self) -> Result<(), Failure> {
        let Self { show, model, last_down, target, .. } = self;
        show.finish();
        match model {
            Some(_) => Ok(()),
            None => Err(Failure::Connection(
                last_down.unwrap_or_else(|| format!("no session with the controller at {}", target.address)),
            )),
        }
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
