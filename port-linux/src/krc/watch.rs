//! Listening to a KRC for commands that only look: `monitor`, `doctor` and `record`.
//!
//! Each measurement is answered by the KRC's own setpoint, which moves nothing: an unanswered KRC rates its link
//! UNACCEPTABLE, and nobody could see how good it is. Nothing is asked of the KRL program.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::ReasonSet;
use outrigger_core::session::Event;
use outrigger_core::session::fri::{FriConfig, FriSession, KrlConvention};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::{FriState, Quality};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Remote, words};
use crate::clock::Clock;
use crate::config::RobotAddress;
use crate::exit::Failure;
use crate::feed::Feed;
use crate::output::{Arm, Format, Key, Output, Snapshot, Word};
use crate::record::Progress;
use crate::signals::Signals;

/// A law that is never asked: nothing here requests.
pub(crate) type Idle = JointServo<7>;

/// Longest wait for the first measurement.
pub(crate) const FIRST_MEASUREMENT: Duration = Duration::from_secs(10);
/// People are told of a change of grade or quality at most once in this time.
const GRADE_PACE: Duration = Duration::from_secs(1);

/// Who is listened to, and how it is shown.
pub(crate) struct Listener {
    clock: Clock,
    /// As given.
    robot: String,
    remote: Remote<Idle>,
    output: Output,
    keys: UnboundedReceiver<Key>,
    signals: Signals,
    end_at: Option<Instant>,
    next_snapshot: Instant,
    accepted: (Instant, u64),
    grade_said: Instant,
    progress: Option<Arc<Progress>>,
}

/// Whom to listen to: the KRC's address, any where it is 0.0.0.0.
///
/// # Errors
/// [`Failure::Usage`] for a port base, which a KRC does not have; [`Failure::Connection`] for a name nobody has.
pub(crate) fn peer(robot: &RobotAddress) -> Result<Option<IpAddr>, Failure> {
    if robot.port(crate::config::FIRST_PORT) != crate::config::FIRST_PORT {
        return Err(Failure::Usage(format!(
            "'{robot}' has a port, and a KRC is not connected to: it sends. Give its address alone, and with --listen where \
             its measurements arrive"
        )));
    }
    let found = robot.resolve(crate::config::FIRST_PORT).map_err(|error| {
        Failure::Connection(format!("cannot find the host '{}': {error}; give the KRC's address", robot.host()))
    })?;
    Ok(Some(found.ip()).filter(|ip| !ip.is_unspecified()))
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    /// Those of [`peer`] and [`Remote::open`].
    pub(crate) async fn open(
        title: &'static str,
        format: Format,
        clock: Clock,
        robot: &RobotAddress,
        listen: SocketAddr,
        seconds: Option<u64>,
    ) -> Result<Self, Failure> {
        let config = FriConfig { peer: peer(robot)?, ..FriConfig::default() };
        let law = Idle::new(Reference::Hold, JointServoConfig::default());
        let session =
            FriSession::new(config, law, KrlConvention::None).map_err(|error| Failure::BadInput(error.to_string()))?;
        let remote = Remote::open(listen, session, clock, None).await?;
        let (sender, keys) = unbounded_channel();
        let now = clock.now();
        Ok(Self {
            clock,
            robot: robot.to_string(),
            remote,
            output: Output::start(format, title, sender),
            keys,
            signals: Signals::listen()?,
            end_at: seconds.map(|seconds| now + Duration::from_secs(seconds)),
            next_snapshot: now,
            accepted: (now, 0),
            grade_said: Instant::ZERO,
            progress: None,
        })
    }

    /// From now on everything is put into `feed`; ends where `progress` has failed.
    #[must_use]
    pub(crate) fn recorded(mut self, feed: Feed, progress: Arc<Progress>) -> Self {
        self.remote.feed(feed);
        self.progress = Some(progress);
        self
    }

    /// Listens until the operator, the time or the disk ends it.
    ///
    /// # Errors
    /// [`Failure::Connection`] where nothing was heard.
    pub(crate) async fn run(mut self) -> Result<Remote<Idle>, Failure> {
        let first_by = self.clock.now() + FIRST_MEASUREMENT;
        loop {
            let unheard = self.remote.session().counts().measurements == 0;
            let deadline = if unheard { Some(first_by) } else { None };
            let latest = [self.end_at, deadline, Some(self.next_snapshot)].into_iter().flatten().min();
            let latest = latest.unwrap_or(self.next_snapshot);
            tokio::select! {
                biased;
                turned = self.remote.turn(latest) => turned?,
                _ = self.signals.next() => break,
                Some(key) = self.keys.recv() => if key == Key::Quit { break },
            }
            while let Some(event) = self.remote.next_event() {
                self.event(&event);
            }
            let now = self.clock.now();
            self.show(now);
            let over = self.end_at.is_some_and(|at| now >= at) || deadline.is_some_and(|at| now >= at);
            if over || self.progress.as_ref().is_some_and(|progress| progress.has_failed()) {
                break;
            }
        }
        self.output.finish();
        if self.remote.session().counts().measurements == 0 {
            return Err(words::unheard(self.remote.session(), self.remote.listens()));
        }
        Ok(self.remote)
    }

    fn event(&mut self, event: &Event) {
        let Some(notice) = self.remote.notice(event) else { return };
        // A busy machine changes grades many times a second; scripts get them all.
        let of_grade = matches!(notice.kind, "grade" | "krc-quality");
        if of_grade && self.output.format() != Format::Json {
            if notice.at.since(self.grade_said) < GRADE_PACE && self.grade_said != Instant::ZERO {
                return;
            }
            self.grade_said = notice.at;
        }
        self.output.notice(notice);
    }

    fn show(&mut self, now: Instant) {
        if now < self.next_snapshot {
            return;
        }
        self.next_snapshot = now + self.output.format().pace();
        let snapshot = self.snapshot(now);
        self.output.snapshot(snapshot);
    }

    fn snapshot(&mut self, now: Instant) -> Snapshot {
        let session = self.remote.session();
        let heard = session.period().is_some();
        let figures = heard.then(|| session.figures(now));
        let accepted = figures.map_or(0, |figures| figures.sequence.accepted);
        let span = now.since(self.accepted.0).as_secs_f32();
        let rate = if span > 0.0 { accepted.saturating_sub(self.accepted.1) as f32 / span } else { 0.0 };
        let mut values = words::values(session);
        if let Some(progress) = &self.progress {
            values.extend(crate::record::said(progress));
        }
        let counts = session.counts();
        let snapshot = Snapshot {
            at: now,
            robot: self.robot.clone(),
            identity: words::identity(session),
            mode: session.mode(),
            latch: session.latch(),
            unmet: if session.mode() == Mode::Monitor { session.unmet(now) } else { ReasonSet::EMPTY },
            state: session.state().filter(|_| heard).map(|state| Arm::new(state, told(session))),
            figures,
            states: None,
            intervals: session.histograms().interval.bins().filter(|bin| bin.count > 0).collect(),
            rate,
            trouble: (!heard).then(|| words::silence(session, self.remote.listens())),
            values,
            counters: vec![
                ("measurements", counts.measurements),
                ("commands", counts.commands),
                ("overtaken", counts.overtaken),
                ("unused", counts.unused),
                ("malformed", counts.malformed),
                ("foreign", counts.foreign),
            ],
        };
        self.accepted = (now, accepted);
        snapshot
    }
}

/// What the KRC says of itself, in the words of an output.
fn told(session: &FriSession<Idle, KrlConvention>) -> Vec<Word> {
    let power = match session.peer_report() {
        Some(report) if report.error != 0 => "error",
        Some(report) if report.power != 0 => "on",
        Some(_) => "off",
        None => "unknown",
    };
    vec![
        Word { key: "krc_state", name: "KRC", value: session.peer_state().map_or("silent", FriState::name) },
        Word { key: "krc_quality", name: "quality", value: session.peer_quality().map_or("unknown", Quality::name) },
        Word {
            key: "krc_scheme",
            name: "scheme",
            value: session.peer_scheme().map_or("unknown", |scheme| scheme.name()),
        },
        Word { key: "drives", name: "drives", value: power },
    ]
}
