//! `outrigger run`: the co-controller as a service.

pub(crate) mod krc;
mod listeners;
mod tracking;

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::LINKS;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use std::collections::VecDeque;
use std::sync::Arc;

use outrigger_core::command::{self, SourceId, SourceMonitor};
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::engine::{DUMP_END_LEN, Event, Input};
use outrigger_core::law::{AnyLaw, Law as _};
use outrigger_core::link::Histogram;
use outrigger_core::mode::{Epoch, Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::Progress;

use self::listeners::{Listeners, Listening};
use self::tracking::Tracking;
use crate::args::{RunArgs, STATES_OF_A_KRC};
use crate::clock::{Clock, utc_now};
use crate::coast;
use crate::config::{
    AnyConfiguration, Configuration, End, KrcConfiguration, RunSettings, SourceInput, SourceSettings, Start,
};
use crate::engine;
use crate::exit::{Failure, Outcome};
use crate::feed::CAPACITY;
use crate::host;
use crate::json::Json;
use crate::lock::RobotLock;
use crate::net::TcpNet;
use crate::panel::{Panel, Target, Wish};
use crate::record;
use crate::recordings::{Kept, Recordings, Report, next_report};
use crate::sensor::{Arrival, Sources};
use crate::show::{Format, histogram, tell, words};

type Law = AnyLaw<6>;

/// Bytes of the recorder: several seconds of the fastest stream in each half.
const RECORDER: usize = 8 << 20;
/// More than a recording has before and behind that.
const AROUND: usize = 4096;

/// What is not a reading is said once per this time and source.
const COMPLAINTS: Duration = Duration::from_secs(5);

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] for the configuration and what the kernel refuses, [`Failure::Connection`] where there never
/// was a session or another process commands the robot, [`Failure::Fault`] where it ended in a fallback.
pub fn run(args: &RunArgs) -> Outcome {
    let mut configuration = match AnyConfiguration::load(&args.config)? {
        AnyConfiguration::Host(configuration) => *configuration,
        AnyConfiguration::Krc(mut configuration) => {
            if args.robot.is_some() {
                return Err(Failure::Usage(
                    "--robot is for a controller that is connected to: a KRC sends by itself".into(),
                ));
            }
            if args.states.is_some() {
                return Err(Failure::Usage(STATES_OF_A_KRC.into()));
            }
            if let Some(file) = &args.record {
                configuration.run.record = Some(file.clone());
            }
            return krc::run(&configuration, &args.config, args.json);
        }
        // These say what in it is not for a host.
        AnyConfiguration::Board(_) => Configuration::load(&args.config)?,
        AnyConfiguration::KrcBoard(_) => {
            return krc::run(&KrcConfiguration::load(&args.config)?, &args.config, args.json);
        }
    };
    if let Some(robot) = &args.robot {
        configuration.control.robot.address = robot.clone();
    }
    if let Some(file) = &args.record {
        configuration.run.record = Some(file.clone());
    }
    if let Some(states) = args.states {
        configuration.control.session.connect.states = states;
    }
    let law = AnyLaw::new(configuration.control.law.clone())
        .map_err(|error| Failure::BadInput(format!("{}: law.{error}", args.config.display())))?;
    let clock = Clock::start();
    let target = Target::resolve(&configuration.control.robot.address)?;
    let _lock = RobotLock::take(target.socket(outrigger_core::engine::ur::Ports::default().realtime))?;
    let (robot, record) = (configuration.control.robot.address.to_string(), configuration.run.record.as_deref());
    let listeners = Listeners::start(&robot, record, &configuration.serve, CAPACITY, clock)?;
    let feed = listeners.as_ref().map(Listeners::feed);
    let recordings = recordings(&configuration.run).transpose()?;
    let served = crate::runtime()?.block_on(serve(&configuration, law, args.json, clock, target, feed, recordings));
    // What they listen to has ended: the file is completed, and readers are sent away.
    let recorded = listeners.map_or(Ok(()), |listeners| listeners.finish(args.json));
    if let (Err(Failure::Connection(_)), Some(file)) = (&served, record) {
        // Nothing was heard: the next try may have the name.
        let _ = std::fs::remove_file(file);
    }
    served.and(recorded)
}

/// The writer of fallbacks, where they are wanted.
fn recordings(settings: &RunSettings) -> Option<Result<Recordings, Failure>> {
    let directory = settings.recordings.as_ref()?;
    let files = usize::try_from(settings.recordings_kept).unwrap_or(usize::MAX);
    let kept = Kept { files, bytes: settings.recordings_bytes };
    Some(Recordings::start(directory, RECORDER + AROUND, Some(kept)))
}

async fn serve(
    configuration: &Configuration,
    law: Law,
    json: bool,
    clock: Clock,
    target: Target,
    feed: Option<Listening>,
    recordings: Option<Recordings>,
) -> Outcome {
    let format = format(json, &configuration.control.sources);
    let sources = Sources::open(&configuration.control.sources, clock, format != Format::View)?;
    let mut net = TcpNet::new(&target.address, target.ip, clock, configuration.host.busy_poll_micros);
    let mut panel = Panel::new("run", format, clock, target, net.trouble(), None)?;
    let progress = feed.as_ref().and_then(|listening| listening.progress.clone());
    if let Some(Listening { feed, remarks, .. }) = feed {
        net = net.with_feed(&feed, &LINKS);
        panel = panel.with_feed(feed);
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
    let asked = configuration.host.asked();
    panel.say("in-force", format!("in force: {in_force}; asked for: {asked}"), vec![("asked", asked)]);
    panel.say("operator", operator_help(format, configuration.run.request).into(), vec![]);

    let mut service = Service {
        panel,
        sources,
        clock,
        config: configuration.control.engine(),
        settings: configuration.run.clone(),
        source_settings: configuration.control.sources.clone(),
        complained: vec![None; configuration.control.sources.len()],
        inputs: VecDeque::new(),
        tracking: Tracking::default(),
        turnaround: Histogram::default(),
        period: Duration::from_millis(8),
        done_at: None,
        ending: None,
        fell_back: None,
        latch: None,
        unrecorded: None,
        recordings,
        recorded: 0,
        progress,
    };
    let recorder = if service.recordings.is_some() { RECORDER } else { 0 };
    engine::run_recorded(service.config, law, &mut net, &mut service, recorder).await?;
    service.finish(json)
}

/// How a run with these sources speaks.
fn format(json: bool, sources: &[SourceSettings]) -> Format {
    match Format::choose(json) {
        // The view would read the sensor's lines as keys.
        Format::View if sources.iter().any(|source| source.input == SourceInput::Stdin) => Format::Lines,
        format => format,
    }
}

const fn operator_help(format: Format, request: Start) -> &'static str {
    match (format, request) {
        (Format::View, Start::Operator) => {
            "keys: r requests command, c continues a suspended motion, s stops, a acknowledges, q ends"
        }
        (Format::View, Start::Start) => {
            "requests by itself once; keys: r, c continues a suspended motion, s stops, a acknowledges, q ends"
        }
        (_, Start::Operator) => "lines on standard input: request, resume, release, acknowledge, quit",
        (_, Start::Start) => {
            "requests by itself once; lines on standard input: request, resume, release, acknowledge, quit"
        }
    }
}

/// What is said of a line that is no word of an operator.
fn unknown_word(line: &str) -> String {
    format!("'{line}' is none of request, resume, release, acknowledge, quit")
}

struct Service {
    panel: Panel,
    sources: Sources,
    clock: Clock,
    config: UrConfig,
    settings: RunSettings,
    source_settings: Vec<SourceSettings>,
    complained: Vec<Option<Instant>>,
    /// What is to be told to the engine before anything from outside.
    inputs: VecDeque<Input>,
    tracking: Tracking,
    /// From reading a state to having written its command.
    turnaround: Histogram,
    period: Duration,
    /// When the motion will have been held long enough.
    done_at: Option<Instant>,
    /// Who ended the run.
    ending: Option<&'static str>,
    /// Why commanding ended last, where nobody asked for it.
    fell_back: Option<Reason>,
    /// The reason nobody has acknowledged.
    latch: Option<Reason>,
    /// The fallback whose recording is written once the arm rests.
    unrecorded: Option<Reason>,
    recordings: Option<Recordings>,
    /// Fallbacks that were to be recorded.
    recorded: u32,
    /// Of the recorder, until it has failed.
    progress: Option<Arc<record::Progress>>,
}

impl Service {
    fn end(&mut self, who: &'static str) {
        if self.ending.is_none() {
            self.panel.end_now();
            self.ending = Some(who);
            self.panel.say("ending", format!("{who}: the arm is stopped first"), vec![("by", who.into())]);
            self.inputs.push_back(Input::Shutdown);
        }
    }

    /// What an operator wants, as an input.
    fn wish(&mut self, wish: Wish) -> Option<Input> {
        match wish {
            Wish::End(who) => {
                self.end(who);
                None
            }
            Wish::Request(epoch) => Some(Input::Request(epoch)),
            Wish::Resume(epoch) => Some(Input::Resume(epoch)),
            Wish::Release => Some(Input::Release),
            Wish::Acknowledge => Some(Input::Acknowledge),
        }
    }

    /// The same by a line.
    fn line(&mut self, line: &str, seen: Epoch) -> Option<Input> {
        let wish = Wish::of_line(line, seen);
        if wish.is_none() && !line.is_empty() {
            self.panel.say("operator", unknown_word(line), vec![]);
        }
        self.wish(wish?)
    }

    fn arrival(&mut self, arrival: Arrival) -> Option<Input> {
        match arrival {
            Arrival::Reading { source, reading, at } => {
                let source = SourceId(u8::try_from(source).ok()?);
                return Some(Input::Sample(reading.sample(source, at)));
            }
            Arrival::Line { text, seen } => return self.line(&text, seen),
            Arrival::NotAReading { source, why } => {
                let now = self.clock.now();
                let said = self.complained.get_mut(source)?;
                if said.is_none_or(|at| now.since(at) > COMPLAINTS) {
                    *said = Some(now);
                    let name = self.name(source);
                    self.panel.say("source", format!("source \"{name}\" sent no reading: {why}"), vec![]);
                }
            }
            Arrival::Ended { source, why } => {
                let why = why.map_or_else(|| "it was closed".into(), |error| error.to_string());
                let name = self.name(source);
                self.panel.say("source", format!("source \"{name}\" ended: {why}"), vec![]);
            }
        }
        None
    }

    fn name(&self, source: usize) -> String {
        self.source_settings.get(source).map(|settings| settings.name.clone()).unwrap_or_default()
    }

    fn transition(&mut self, transition: &Transition) {
        let Transition { from, to, reason, .. } = *transition;
        if let Some(reason) = reason.filter(|reason| !reason.is_release()) {
            self.fell_back = Some(reason);
            self.done_at = None;
        }
        self.unrecorded = self.unrecorded.or(transition.fallback());
        if to == Mode::Command {
            self.fell_back = None;
        }
        let over = matches!(from, Mode::Arming | Mode::Stopping) && matches!(to, Mode::Monitor | Mode::Offline);
        let lost = from == Mode::Command && to == Mode::Offline;
        if (over || lost) && self.fell_back.is_some() && self.settings.end == End::Done {
            self.end("a fallback");
        }
    }

    /// Hands over what the recorder holds, to be written to a file of its own.
    fn write_recording(&mut self, engine: &Engine<'_, 6, Ur<'_>, Law>, reason: Reason) {
        const { assert!(AROUND > 1024 + DUMP_END_LEN) };
        let Some(recordings) = &self.recordings else { return };
        let mut header = [0; AROUND - DUMP_END_LEN];
        let Some(length) = engine.dump_header(&mut header) else { return };
        let header = header.get(..length).unwrap_or_default();
        let [older, newer] = engine.recorder().halves();
        let stem = format!("{}-{}-{}", utc_now().replace([' ', ':'], "-"), reason.name(), self.recorded);
        self.recorded += 1;
        let of = format!("of {}", reason.name());
        if let Err(report) = recordings.write(of, stem, &[header, older, newer, &engine.dump_end(length)]) {
            self.recorded(&report);
        }
    }

    /// What became of a recording.
    fn recorded(&mut self, report: &Report) {
        let (text, fields) = report.words();
        self.panel.say("recording", text, fields);
    }

    fn finish(mut self, json: bool) -> Outcome {
        let left = self.recordings.take().map(Recordings::finish).unwrap_or_default();
        left.iter().for_each(|report| self.recorded(report));
        let here = self.panel.is_here();
        let Self { panel, tracking, turnaround, period, ending, fell_back, latch, .. } = self;
        panel.finish()?;
        let standing = latch.or(fell_back);
        let summary = tracking.summary(period);
        let text = if json {
            let mut json = Json::default();
            json.begin_object().key("type").text("summary").key("ended_by").text(ending.unwrap_or_default());
            json.key("fallback");
            match standing {
                Some(reason) => json.text(reason.name()),
                None => json.null(),
            };
            if let Some(summary) = &summary {
                summary.json(&mut json);
            }
            histogram::json(&mut json, "turnaround", &turnaround);
            json.end_object();
            json.as_str().to_owned()
        } else {
            let commanded = (turnaround.count() > 0).then(|| {
                format!(
                    "turnaround, from reading a state to having written its command: {}",
                    histogram::quantiles(&turnaround)
                )
            });
            let lines: Vec<_> = summary.map(|summary| summary.text()).into_iter().chain(commanded).collect();
            lines.join("\n")
        };
        if !text.is_empty() {
            tell(&format!("{text}\n"))?;
        }
        match standing {
            None => Ok(()),
            Some(reason) => Err(failed_by(reason, here)),
        }
    }
}

impl<'m> Application<6, Ur<'m>, Law> for Service {
    async fn next(&mut self) -> Input {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                return input;
            }
            let input = tokio::select! {
                wish = self.panel.next() => self.wish(wish),
                Some(arrival) = self.sources.next() => self.arrival(arrival),
                report = next_report(&mut self.recordings) => { self.recorded(&report); None }
            };
            if let Some(input) = input {
                return input;
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        self.panel.event(&event);
        match &event {
            Event::Peer(UrEvent::Established(identity)) => {
                self.period = identity.period;
                let text = coast::describe(&self.config, identity.software);
                self.panel.say("coast", text, vec![]);
            }
            Event::Transition(transition) => self.transition(transition),
            _ => {}
        }
    }

    fn answered(&mut self, turnaround: Duration) {
        self.turnaround.record(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, Law>, now: Instant) {
        let (mode, law) = (engine.mode(), engine.law());
        if let Some(why) = self.progress.as_ref().filter(|progress| progress.has_failed()).and_then(|p| p.failure()) {
            self.progress = None;
            self.panel.say("record", format!("the recording ended, the run goes on: {why}"), vec![]);
        }
        self.latch = engine.latch();
        if let (Some(state), AnyLaw::JointServo(servo)) = (engine.state(), law) {
            self.tracking.observe(state, mode, servo, law.progress());
        }
        if mode == Mode::Command && law.progress() == Progress::Finished {
            let done_at = *self.done_at.get_or_insert(now + self.settings.settle);
            if self.settings.end == End::Done && now >= done_at {
                self.end("the motion is done");
            }
        }
        if matches!(mode, Mode::Monitor | Mode::Offline)
            && let Some(reason) = self.unrecorded.take()
        {
            self.write_recording(engine, reason);
        }
        let settings = &self.source_settings;
        self.panel.observe(engine, now, || {
            let mut values = values(law, mode);
            if matches!(mode, Mode::Offline | Mode::Monitor) {
                values.extend(readings(engine.sources(), settings));
            }
            if engine.is_held_by_scaling() {
                values.push(("speed".to_owned(), "held by the robot's speed slider".to_owned()));
            }
            values
        });
    }
}

/// How a run ends whose last fallback stands.
fn failed_by(reason: Reason, here: bool) -> Failure {
    Failure::Fault(format!("{} ({}); {}", reason.text(), reason.name(), words::advice(reason, here)))
}

/// The newest reading of each source, where there is one.
fn readings(sources: &command::Sources, settings: &[SourceSettings]) -> Vec<(String, String)> {
    let of = |monitor: &SourceMonitor| {
        let name = settings.get(usize::from(monitor.config().id.0)).map(|settings| settings.name.clone());
        let reading = monitor.newest().map_or_else(
            || "no reading yet".into(),
            |sample| sample.value.as_slice().iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(" "),
        );
        (name.unwrap_or_default(), reading)
    };
    sources.monitors().iter().map(of).collect()
}

/// What the law has to show: an error only while it is measured, in every cycle.
fn values<const N: usize>(law: &AnyLaw<N>, mode: Mode) -> Vec<(String, String)> {
    match law {
        AnyLaw::Standoff(_) if mode != Mode::Command => vec![],
        AnyLaw::Standoff(standoff) => {
            vec![("standoff error".into(), format!("{:+.3} mm", standoff.error() * 1e3))]
        }
        AnyLaw::JointServo(_) | AnyLaw::CartesianTwist(_) => {
            vec![("motion".into(), format!("{:?}", law.progress()).to_lowercase())]
        }
    }
}
