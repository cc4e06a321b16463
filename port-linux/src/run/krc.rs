//! `outrigger run` beside a KRC: datagrams in, one command per measurement out.

use std::path::Path;
use std::sync::Arc;

use outrigger_core::command::SourceId;
use outrigger_core::engine::Event;
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{KrcConfig, KrcEngine, KrcEvent};
use outrigger_core::law::{AnyLaw, Law as _};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::Progress;

use super::listeners::{Listeners, Listening};
use crate::clock::Clock;
use crate::coast;
use crate::config::{End, KrcConfiguration, RunSettings};
use crate::exit::{Failure, Outcome};
use crate::feed::What;
use crate::host;
use crate::json::Json;
use crate::krc::panel::Panel;
use crate::krc::watch::FIRST_MEASUREMENT;
use crate::krc::{Remote, words};
use crate::lock::RobotLock;
use crate::panel::Wish;
use crate::record::{self, KRC_CAPACITY};
use crate::sensor::{Arrival, Sources};
use crate::show::{Format, tell};

/// Runs until the end that the configuration names, or that somebody asks for. What the file at `toml` says is
/// `configuration`.
///
/// # Errors
/// [`Failure::BadInput`] for the law, what the kernel refuses and a file that cannot be written,
/// [`Failure::Connection`] where no measurement came or another process commands the robot, [`Failure::Fault`] where it
/// ended in a fallback.
pub(super) fn run(configuration: &KrcConfiguration, toml: &Path, json: bool) -> Outcome {
    let law = AnyLaw::new(configuration.law.clone()).map_err(|error| Failure::BadInput(format!("law.{error}")))?;
    let session =
        KrcEngine::new(configuration.engine, law, ()).map_err(|error| Failure::BadInput(error.to_string()))?;
    let _lock = RobotLock::take(configuration.listen)?;
    let text = std::fs::read_to_string(toml)
        .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", toml.display())))?;
    let clock = Clock::start();
    let (robot, record) =
        (format!("KRC, measurements at {}", configuration.listen), configuration.run.record.as_deref());
    let listeners = Listeners::start(&robot, record, &configuration.serve, KRC_CAPACITY, clock)?;
    let listening = listeners.as_ref().map(Listeners::feed);
    if let Some(Listening { feed, progress: Some(_), .. }) = &listening {
        // With it and the inputs a recording is replayed.
        feed.put(clock.now(), What::Configuration(text));
    }
    let served = crate::runtime()?.block_on(async {
        let remote = Remote::open(configuration.listen, session, clock, configuration.host.busy_poll_micros).await?;
        serve(configuration, remote, clock, listening, json).await
    });
    // What they listen to has ended: the file is completed, and readers are sent away.
    let recorded = listeners.map_or(Ok(()), |listeners| listeners.finish(json));
    served.and(recorded)
}

async fn serve(
    configuration: &KrcConfiguration,
    mut remote: Remote<AnyLaw<7>>,
    clock: Clock,
    listening: Option<Listening>,
    json: bool,
) -> Outcome {
    let format = super::format(json, &configuration.sources);
    let mut sources = Sources::open(&configuration.sources, clock, format != Format::View)?;
    let robot = configuration.engine.peer.address.map_or_else(|| "KRC".into(), |peer| peer.to_string());
    let mut panel = Panel::new("run", format, clock, robot)?;
    let progress = listening.as_ref().and_then(|listening| listening.progress.clone());
    if let Some(Listening { feed, remarks, .. }) = listening {
        remote.feed(feed.clone());
        panel.feed(feed);
        remarks.into_iter().for_each(|(kind, text, fields)| panel.say(kind, text, fields));
    }
    // After the threads that only show things: they need none of it.
    let in_force = host::apply(&configuration.host)?;
    if configuration.host.spin {
        tokio::spawn(async {
            loop {
                tokio::task::yield_now().await;
            }
        });
    }
    panel.say("listening", format!("listening on {}; in force: {in_force}", configuration.listen), vec![]);
    panel.say("operator", super::operator_help(format, configuration.run.request).into(), vec![]);
    let mut service = Service {
        remote,
        clock,
        panel,
        settings: configuration.run.clone(),
        ending: None,
        done_at: None,
        fell_back: None,
        engine: configuration.engine,
        progress,
    };
    while !service.is_over() {
        let latest = service.panel.next_snapshot();
        tokio::select! {
            // In no order: datagrams that never end keep nobody else waiting.
            turned = service.remote.turn(latest) => turned?,
            wish = service.panel.next() => service.wish(wish),
            Some(arrival) = sources.next() => service.arrival(arrival),
        }
        service.observe();
    }
    service.finish(json)
}

struct Service {
    remote: Remote<AnyLaw<7>>,
    clock: Clock,
    panel: Panel,
    settings: RunSettings,
    /// Who ended the run.
    ending: Option<&'static str>,
    /// When the motion will have been held long enough.
    done_at: Option<Instant>,
    /// Why commanding ended last, where nobody asked for it.
    fell_back: Option<Reason>,
    /// What the session was made from.
    engine: KrcConfig,
    /// Of the recorder, until it has failed.
    progress: Option<Arc<record::Progress>>,
}

impl Service {
    fn wish(&mut self, wish: Wish) {
        match wish {
            Wish::End(who) => self.end(who),
            Wish::Request(epoch) => self.give(Input::Request(epoch)),
            Wish::Resume(epoch) => self.give(Input::Resume(epoch)),
            Wish::Release => self.give(Input::Release),
            Wish::Acknowledge => self.give(Input::Acknowledge),
        }
    }

    fn give(&mut self, input: Input) {
        self.remote.give(input);
        self.tell();
    }

    /// Everything that happened, to people and to what follows from it.
    fn tell(&mut self) {
        while let Some(event) = self.remote.next_event() {
            self.event(&event);
        }
    }

    const fn session(&self) -> &KrcEngine<'static, AnyLaw<7>> {
        self.remote.session()
    }

    fn event(&mut self, event: &Event<KrcEvent>) {
        self.panel.event(&self.remote, event);
        if let Event::Peer(KrcEvent::Found { period_micros }) = event {
            let coast = self.engine.worst_coast(Duration::from_micros(u64::from(*period_micros)));
            self.panel.say("coast", coast::beside_a_krc(&coast), vec![]);
        }
        if let Event::Transition(transition) = event {
            self.transition(transition);
        }
    }

    fn transition(&mut self, transition: &Transition) {
        let Transition { from, to, reason, .. } = *transition;
        if let Some(reason) = reason.filter(|reason| !reason.is_release()) {
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
                    self.give(Input::Sample(reading.sample(SourceId(source), at)));
                }
            }
            Arrival::Line { text, seen } => match Wish::of_line(&text, seen) {
                Some(wish) => self.wish(wish),
                None if text.is_empty() => {}
                None => self.panel.say("operator", super::unknown_word(&text), vec![]),
            },
            Arrival::NotAReading { source, why } => {
                self.panel.say("source", format!("source {source} sent no reading: {why}"), vec![]);
            }
            Arrival::Ended { source, why } => {
                let why = why.map_or_else(|| "it was closed".into(), |error| error.to_string());
                self.panel.say("source", format!("source {source} ended: {why}"), vec![]);
            }
        }
    }

    fn end(&mut self, who: &'static str) {
        if self.ending.is_none() {
            self.panel.end_now();
            self.ending = Some(who);
            self.panel.say("ending", format!("{who}: the arm is stopped first"), vec![("by", who.into())]);
            self.give(Input::Shutdown);
        }
    }

    fn observe(&mut self) {
        self.tell();
        let now = self.clock.now();
        let mode = self.session().mode();
        if mode == Mode::Command && self.session().law().progress() == Progress::Finished && self.ending.is_none() {
            let done_at = *self.done_at.get_or_insert(now + self.settings.settle);
            if self.settings.end == End::Done && now >= done_at {
                self.end("the motion is done");
            }
        }
        if let Some(why) = self.progress.as_ref().filter(|progress| progress.has_failed()).and_then(|p| p.failure()) {
            self.progress = None;
            self.panel.say("record", format!("the recording ended, the run goes on: {why}"), vec![]);
        }
        let law = self.remote.session().law();
        self.panel.observe(&self.remote, now, || super::values(law, mode));
    }

    /// Whether nothing is left to be waited for.
    fn is_over(&self) -> bool {
        let unheard = self.session().peer().counts().measurements == 0;
        self.session().is_finished() || (unheard && self.clock.now().since(Instant::ZERO) > FIRST_MEASUREMENT)
    }

    fn finish(self, json: bool) -> Outcome {
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
        self.panel.finish();
        tell(&format!("{text}\n"))?;
        let session = self.remote.session();
        if session.peer().counts().measurements == 0 {
            return Err(words::unheard(session, self.remote.listens()));
        }
        match standing {
            None => Ok(()),
            Some(reason) => Err(super::failed_by(reason, self.remote.is_here())),
        }
    }
}
