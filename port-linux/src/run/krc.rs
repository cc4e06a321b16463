//! `outrigger run` beside a KRC: datagrams in, one command per measurement out.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use outrigger_core::command::SourceId;
use outrigger_core::law::{AnyLaw, Law as _};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_core::session::Event;
use outrigger_core::session::fri::{FriInput, FriSession};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::Progress;
use outrigger_core::wire::fri::FriState;
use tokio::sync::mpsc::unbounded_channel;

use crate::clock::Clock;
use crate::config::{End, KrcConfiguration, RunSettings, Start};
use crate::exit::{Failure, Outcome, output_closed};
use crate::feed::{Feed, What};
use crate::host;
use crate::json::Json;
use crate::krc::watch::FIRST_MEASUREMENT;
use crate::krc::{Remote, words};
use crate::lock::RobotLock;
use crate::output::{Format, Notice, Output};
use crate::record::{self, KRC_CAPACITY, Recorder};
use crate::sensor::{Arrival, Sources};
use crate::signals::Signals;

/// Longest wait, once the arm rests, for the KRL program to leave the command state.
const LEAVING: Duration = Duration::from_secs(2);
/// Time between two lines about the link.
const PACE: Duration = Duration::from_secs(1);

/// Runs until the end that the configuration names, or that somebody asks for. What the file at `toml` says is
/// `configuration`.
///
/// # Errors
/// [`Failure::BadInput`] for the law, what the kernel refuses and a file that cannot be written,
/// [`Failure::Connection`] where no measurement came or another process commands the robot, [`Failure::Fault`] where it
/// ended in a fallback.
pub(super) fn run(configuration: &KrcConfiguration, toml: &Path, json: bool) -> Outcome {
    let law = AnyLaw::new(configuration.law.clone()).map_err(|error| Failure::BadInput(format!("law.{error}")))?;
    let session = FriSession::new(configuration.engine, law, configuration.handshake)
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    let _lock = RobotLock::take(configuration.listen)?;
    let clock = Clock::start();
    let feed = Feed::new(KRC_CAPACITY);
    let recorder = match &configuration.run.record {
        Some(path) => {
            let robot = format!("KRC, measurements at {}", configuration.listen);
            let recorder = Recorder::start(path, feed.reader(), clock, &robot, true)?;
            let text = std::fs::read_to_string(toml)
                .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", toml.display())))?;
            feed.put(clock.now(), What::Configuration(text));
            Some(recorder)
        }
        None => None,
    };
    let recorded = recorder.as_ref().map(|recorder| (feed.clone(), recorder.progress()));
    drop(feed);
    let served = crate::runtime()?.block_on(async {
        let busy_poll = configuration.host.busy_poll_micros;
        let mut remote = Remote::open(configuration.listen, session, clock, busy_poll).await?;
        let progress = recorded.map(|(feed, progress)| {
            remote.feed(feed);
            progress
        });
        serve(configuration, remote, clock, progress, json).await
    });
    let said = recorder.map(Recorder::finish).transpose();
    served?;
    match said? {
        Some(said) if !json => {
            use std::io::Write as _;
            writeln!(std::io::stdout(), "{said}").or_else(|error| output_closed(&error))
        }
        _ => Ok(()),
    }
}

async fn serve(
    configuration: &KrcConfiguration,
    remote: Remote<AnyLaw<7>>,
    clock: Clock,
    progress: Option<Arc<record::Progress>>,
    json: bool,
) -> Outcome {
    let mut sources = Sources::open(&configuration.sources, clock, true)?;
    let mut signals = Signals::listen()?;
    // The full-screen view knows six joints; beside a KRC there are lines.
    let format = if json { Format::Json } else { Format::Lines };
    let (keys, _) = unbounded_channel();
    let output = Output::start(format, "run", keys);
    // After the threads that only show things: they need none of it.
    let in_force = host::apply(&configuration.host)?;
    if configuration.host.spin {
        tokio::spawn(async {
            loop {
                tokio::task::yield_now().await;
            }
        });
    }
    let mut service = Service {
        remote,
        clock,
        output,
        settings: configuration.run.clone(),
        ending: None,
        resting_since: None,
        requested: false,
        done_at: None,
        fell_back: None,
        inputs: VecDeque::new(),
        next_line: Instant::ZERO,
        progress,
    };
    service.say("listening", format!("listening on {}; in force: {in_force}", configuration.listen));
    service.say("operator", super::operator_help(Format::Lines, service.settings.request).into());
    while !service.is_over() {
        let latest = service.next_line.max(clock.now());
        tokio::select! {
            biased;
            turned = service.remote.turn(latest) => turned?,
            who = signals.next() => service.end(who),
            Some(arrival) = sources.next() => service.arrival(arrival),
        }
        service.observe();
    }
    service.finish(json)
}

struct Service {
    remote: Remote<AnyLaw<7>>,
    clock: Clock,
    output: Output,
    settings: RunSettings,
    /// Who ended the run.
    ending: Option<&'static str>,
    /// Since when the arm rests and the end is only waited for.
    resting_since: Option<Instant>,
    /// Whether this process has asked by itself: it does so once.
    requested: bool,
    /// When the motion will have been held long enough.
    done_at: Option<Instant>,
    /// Why commanding ended last, where nobody asked for it.
    fell_back: Option<Reason>,
    inputs: VecDeque<FriInput<'static>>,
    next_line: Instant,
    /// Of the recorder, until it has failed.
    progress: Option<Arc<record::Progress>>,
}

impl Service {
    fn say(&mut self, kind: &'static str, text: String) {
        self.output.notice(Notice { at: self.clock.now(), kind, text, fields: vec![] });
    }

    fn give(&mut self, input: FriInput<'_>) {
        self.remote.give(input);
        self.tell();
    }

    /// Everything that happened, to people and to what follows from it.
    fn tell(&mut self) {
        while let Some(event) = self.remote.next_event() {
            self.event(&event);
        }
    }

    const fn session(&self) -> &FriSession<AnyLaw<7>> {
        self.remote.session()
    }

    fn event(&mut self, event: &Event) {
        if let Some(notice) = self.remote.notice(event) {
            self.output.notice(notice);
        }
        match event {
            Event::Transition(transition) => self.transition(transition),
            // The request is spent; the preconditions are waited for again.
            Event::Refused(_) if self.session().latch().is_none() => self.requested = false,
            _ => {}
        }
    }

    fn transition(&mut self, transition: &Transition) {
        let Transition { from, to, reason, .. } = *transition;
        if let Some(reason) = reason.filter(|reason| *reason != Reason::Released) {
            self.fell_back = Some(reason);
            self.done_at = None;
        }
        if to == Mode::Command {
            self.fell_back = None;
        }
        let over = matches!(from, Mode::Arming | Mode::Stopping | Mode::Command)
            && matches!(to, Mode::Monitor | Mode::Offline);
        if over && self.fell_back.is_some() && self.settings.end == End::Done {
            self.end("a fallback");
        }
    }

    fn arrival(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Reading { source, reading, at } => {
                if let Ok(source) = u8::try_from(source) {
                    self.give(FriInput::Sample(reading.sample(SourceId(source), at)));
                }
            }
            Arrival::Line(line) => match line.as_str() {
                "" => {}
                "request" => self.give(FriInput::Request),
                "resume" => self.give(FriInput::Resume),
                "release" => self.give(FriInput::Release),
                "acknowledge" => self.give(FriInput::Acknowledge),
                "quit" => self.end("quit"),
                other => {
                    let text = format!("'{other}' is none of request, resume, release, acknowledge, quit");
                    self.say("operator", text);
                }
            },
            Arrival::NotAReading { source, why } => {
                self.say("source", format!("source {source} sent no reading: {why}"));
            }
            Arrival::Ended { source, why } => {
                let why = why.map_or_else(|| "it was closed".into(), |error| error.to_string());
                self.say("source", format!("source {source} ended: {why}"));
            }
        }
    }

    fn end(&mut self, who: &'static str) {
        if self.ending.is_some() {
            eprintln!("outrigger: asked twice ({who}): ended at once, rest is NOT confirmed; look at the arm");
            std::process::exit(4);
        }
        self.ending = Some(who);
        self.say("ending", format!("{who}: the arm is stopped first"));
        self.give(FriInput::Release);
    }

    fn observe(&mut self) {
        self.tell();
        while let Some(input) = self.inputs.pop_front() {
            self.give(input);
        }
        let now = self.clock.now();
        let mode = self.session().mode();
        let ready = mode == Mode::Monitor && self.session().unmet(now).is_empty();
        if ready && self.settings.request == Start::Start && !self.requested && self.ending.is_none() {
            self.requested = true;
            self.inputs.push_back(FriInput::Request);
        }
        if mode == Mode::Command && self.session().law().progress() == Progress::Finished && self.ending.is_none() {
            let done_at = *self.done_at.get_or_insert(now + self.settings.settle);
            if self.settings.end == End::Done && now >= done_at {
                self.end("the motion is done");
            }
        }
        if let Some(why) = self.progress.as_ref().filter(|progress| progress.has_failed()).and_then(|p| p.failure()) {
            self.progress = None;
            self.say("record", format!("the recording ended, the run goes on: {why}"));
        }
        if now >= self.next_line {
            self.next_line = now + PACE;
            if self.session().period().is_some() {
                let text = words::standing(self.session(), now);
                self.say("link", text);
            }
        }
    }

    /// Whether nothing is left to be waited for.
    fn is_over(&mut self) -> bool {
        let now = self.clock.now();
        if self.session().counts().measurements == 0 && now.since(Instant::ZERO) > FIRST_MEASUREMENT {
            return true;
        }
        let at_rest = matches!(self.session().mode(), Mode::Monitor | Mode::Offline);
        if self.ending.is_none() || !at_rest {
            self.resting_since = None;
            return false;
        }
        let since = *self.resting_since.get_or_insert(now);
        self.session().peer_state() != Some(FriState::Command) || now.since(since) > LEAVING
    }

    fn finish(mut self, json: bool) -> Outcome {
        let now = self.clock.now();
        let standing = self.session().latch().or(self.fell_back);
        let text = if json {
            let mut json = Json::default();
            json.begin_object().key("type").text("summary").key("ended_by").text(self.ending.unwrap_or_default());
            json.key("fallback");
            match standing {
                Some(reason) => json.text(reason.name()),
                None => json.null(),
            };
            self.remote.tally().json(self.session(), &mut json);
            json.end_object();
            json.as_str().to_owned()
        } else {
            self.remote.tally().text(self.session()).trim_end().to_owned()
        };
        let line = words::standing(self.session(), now);
        self.say("link", line);
        self.output.finish();
        use std::io::Write as _;
        writeln!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))?;
        let session = self.remote.session();
        if session.counts().measurements == 0 {
            return Err(words::unheard(session, self.remote.listens()));
        }
        match standing {
            None => Ok(()),
            Some(reason) => Err(Failure::Fault(format!("{} ({}); {}", reason.text(), reason.name(), reason.advice()))),
        }
    }
}
