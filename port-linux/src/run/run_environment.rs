//! The environment of a run's engine: sensors, operators, requests, display and recordings.

use std::collections::VecDeque;

use outrigger_config::{End, RunSettings, SourceSettings};
use outrigger_core::command::{self, SourceMonitor};
use outrigger_core::drive::Application;
use outrigger_core::engine::{Controller, DUMP_END_LEN, Engine, Event, Input};
use outrigger_core::law::{Law as _, Motion, MotionStatus};
use outrigger_core::link::GradeLow;
use outrigger_core::mode::{Epoch, Mode, Transition};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::trajectory::Progress;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};

use super::ending::{Ending, Releases};
use super::operator_key_help::{operator_help, unknown_word};
use super::recorder_to_feed::Tail;
use super::run_result::RunResult;
use super::run_settings::{AROUND, Plan, RECORDER};
use super::start_position_check::away_from;
use crate::boxed_law::BoxedLaw;
use crate::companion::Counting;
use crate::dashboard::{LockedPendant, next_news};
use crate::exit::Failure;
use crate::feed::Feed;
use crate::feed::notice::Remark;
use crate::host::clock::{Clock, utc_now};
use crate::host::process_scheduling;
use crate::host::reactor::{when_called, yield_once};
use crate::json;
use crate::motion::impedance::{Impedance, SET as IMPEDANCE_SET};
use crate::motion::{ActiveMotion, MotionReport};
use crate::panel::Ends;
use crate::panel::{OperatorInput, Operators, Panel, next_of, next_remark};
use crate::record::fallbacks::{Recordings, Report, next_report};
use crate::released::ReleasedBy;
use crate::requests::{RequestQueue, next_asked};
use crate::sensor::{Arrival, Sources};
use crate::show::events::PeerEvent as _;
use crate::show::law_values::lines;
use crate::show::{Format, reason_text};
use crate::vendor::{Summary, Tally, VendorObserve, VendorUi};

/// The shortest interval between reports about invalid readings of the same sensor.
const COMPLAINTS: Duration = Duration::from_secs(5);

/// A function that returns the worst-case coast of the arm (its motion after commanding has failed) as text, for
/// the event after which the coast is known.
type Coast<E> = Box<dyn Fn(&E) -> Option<String>>;

pub(super) struct Service<M: VendorUi, T, const N: usize> {
    pub(super) panel: Panel<M>,
    tally: T,
    sources: Sources,
    clock: Clock,
    settings: RunSettings,
    source_settings: Vec<SourceSettings>,
    complained: Vec<Option<Instant>>,
    /// The inputs that the engine must receive before any input from outside.
    inputs: VecDeque<Input>,
    coast: Coast<M::Event>,
    /// The time at which the run ends because its motion is done: the arm has then been held at the end of the motion
    /// for `run.expert.settle`. `None` while the motion is not done.
    done_at: Option<Instant>,
    /// `true` if the arm may be moving by commands of this process.
    moves: bool,
    /// The cause of the run's end, once it was decided.
    ending: Option<Ending>,
    /// The tracker of the causes of the run's releases (requested ends of commanding).
    releases: Releases,
    /// The reason of the last change of the mode by a fault: commanding has ended, or the session was lost. `None` if
    /// there was none since commanding started.
    fell_back: Option<Reason>,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched.
    latch: Option<Reason>,
    /// `true` if the run's single request to command has timed out.
    lapsed: bool,
    /// The unmet preconditions of commanding and the cause of a low link grade, if the run ends because its single
    /// request was not granted.
    refused: Option<(ReasonSet, GradeLow)>,
    /// The reason of the fallback (end of commanding by a fault) that is recorded as soon as the arm is at standstill.
    /// `None` if none is due.
    unrecorded: Option<Reason>,
    recordings: Option<Recordings>,
    /// The number of fallbacks (ends of commanding by a fault) that were to be recorded so far.
    recorded: u32,
    /// The progress of those companions (components that run beside the session, e.g. a recording) that have not
    /// failed.
    pub(super) progress: Vec<Counting>,
    /// The copy of the engine's recorder to the feed (the queue of the session's traffic and events), if a companion
    /// (a component that runs beside the session, e.g. a recording) needs it.
    tail: Option<Tail>,
    /// Messages about the connection for additional RTDE variables.
    pub(super) remarks: Option<UnboundedReceiver<String>>,
    /// The receiver of the messages to the operator from companions (components that run beside the session, e.g. a
    /// recording). `None` without companions.
    pub(super) companions: Option<Receiver<Remark>>,
    /// The queue of requests of clients, in other processes and in this one. `None` if they are not accepted.
    pub(super) desk: Option<RequestQueue<N>>,
    /// `true` while the arm is away from the start of the law's motion, which is reported once.
    away: bool,
    /// The motion of this session: its own task, or the one that a client has requested in place of the motion of the
    /// law.
    pub(super) under_way: ActiveMotion<N>,
    /// The handle to the pendant that is locked while the arm is commanded, or has to be unlocked.
    pub(super) pendant: Option<LockedPendant>,
}

impl<M: VendorUi, T: Summary<Event = M::Event>, const N: usize> Service<M, T, N> {
    /// Opens the sensors, and applies the settings for the operating system.
    pub(super) fn start(
        plan: &Plan<N>,
        clock: Clock,
        vendor: M,
        coast: Coast<M::Event>,
        operators: Operators,
        feed: Option<Feed>,
        recordings: Option<Recordings>,
    ) -> Result<Self, Failure> {
        let format = plan.format;
        let sources = Sources::open(&plan.sources, clock, matches!(format, Format::Lines | Format::Json))?;
        let mut panel = Panel::new("run", format, clock, vendor, operators, plan.seconds);
        if let Some(feed) = feed {
            panel = panel.with_feed(feed);
        }
        // Applied after the threads for display were started, because they need none of it.
        let in_force = process_scheduling::apply(&plan.host)?;
        let asked = plan.host.asked();
        panel.say("in-force", format!("host: {in_force}; configured: {asked}"), vec![("asked", asked)]);
        if let Some(help) = operator_help(format, plan.run.request) {
            panel.say("operator", help.into(), vec![]);
        }
        Ok(Self {
            panel,
            tally: T::default(),
            sources,
            clock,
            settings: plan.run.clone(),
            source_settings: plan.sources.clone(),
            complained: vec![None; plan.sources.len()],
            inputs: VecDeque::new(),
            coast,
            done_at: None,
            moves: false,
            ending: None,
            releases: Releases::default(),
            fell_back: None,
            latch: None,
            lapsed: false,
            refused: None,
            unrecorded: None,
            recordings,
            recorded: 0,
            progress: vec![],
            tail: None,
            remarks: None,
            companions: None,
            desk: None,
            away: false,
            under_way: ActiveMotion::new(None),
            pendant: None,
        })
    }

    /// Starts to copy the engine's inputs and outputs into the feed (the queue of the session's traffic and events),
    /// for the companions (components that run beside the session, e.g. a recording) that need them.
    pub(super) fn record(&mut self) {
        self.tail = self.panel.feed().cloned().map(Tail::new);
    }

    /// Returns the size of the engine's recorder of inputs and outputs \[B\].
    pub(super) const fn recorder(&self) -> usize {
        if self.recordings.is_some() || self.tail.is_some() { RECORDER } else { 0 }
    }

    fn end(&mut self, why: Ending) {
        if self.ending.is_none() {
            self.panel.end_now();
            self.ending = Some(why);
            let what = if self.moves { "stopping" } else { "the run ends" };
            self.panel.say("ending", format!("{why}; {what}"), vec![("by", why.name().into())]);
            self.inputs.push_back(Input::Shutdown);
        }
    }

    /// Converts an operator's input to an input of the engine. `None` if it ends the run, or if a program is being
    /// uploaded, so that commanding cannot start.
    fn wish(&mut self, wish: OperatorInput) -> Option<Input> {
        if let OperatorInput::End(by) = wish {
            self.end(Ending::By(by));
            return None;
        }
        let input = wish.input();
        if let OperatorInput::Release(by) = wish {
            self.releases.pass_on(&input, Some(by));
        }
        if matches!(input, Input::Request(_) | Input::Resume(_))
            && self.desk.as_ref().is_some_and(RequestQueue::waits_for_a_program)
        {
            let text = "another program is being uploaded; nothing was started: try again after the upload";
            self.panel.say("operator", text.into(), vec![]);
            return None;
        }
        Some(input)
    }

    /// Converts an input of anyone but a client, such as a line of the operator, to an input of the engine.
    fn wished(&mut self, wish: OperatorInput) -> Option<Input> {
        let input = self.wish(wish);
        self.desk.iter_mut().zip(&input).for_each(|(desk, input)| desk.taken_over(input));
        input
    }

    /// Converts a line that an operator has entered to an input of the engine. `seen` is the session's epoch (a counter
    /// of connections and losses of authority) that the operator had seen.
    fn line(&mut self, line: &str, seen: Epoch) -> Option<Input> {
        let wish = OperatorInput::of_line(line, seen);
        if wish.is_none() && !line.is_empty() {
            self.panel.say("operator", unknown_word(line), vec![]);
        }
        self.wished(wish?)
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
                    self.panel.say("source", format!("source \"{name}\" sent an invalid reading: {why}"), vec![]);
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
        if let Some(pendant) = &self.pendant {
            pendant.follow(to);
        }
        if let Some(reason) = reason.filter(|reason| !reason.is_release()) {
            self.fell_back = Some(reason);
            self.done_at = None;
        }
        self.unrecorded = self.unrecorded.or(transition.fallback());
        if to == Mode::Command {
            self.fell_back = None;
        }
        self.moves = !matches!(to, Mode::Monitor | Mode::Offline);
        let over = matches!(from, Mode::Arming | Mode::Stopping | Mode::Command)
            && matches!(to, Mode::Monitor | Mode::Offline);
        match (self.settings.end, self.fell_back) {
            (End::Done | End::Over, Some(_)) if over => self.end(Ending::Fallback),
            (End::Over, None) if over => self.end(Ending::Release),
            _ => {}
        }
    }

    /// Waits for the next input, other than from the robot. Dropping the future loses nothing.
    async fn next_input(&mut self) -> Input {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                self.releases.pass_on(&input, self.ending.map(Ending::by));
                self.desk.iter_mut().for_each(|desk| desk.taken_over(&input));
                return input;
            }
            if let Some(input) = self.desk.as_mut().and_then(RequestQueue::release) {
                self.releases.pass_on(&input, self.desk.as_ref().and_then(RequestQueue::releases));
                return input;
            }
            let input = tokio::select! {
                wish = self.panel.next() => self.wished(wish),
                Some(arrival) = self.sources.next() => self.arrival(arrival),
                input = next_asked(&mut self.desk) => {
                    self.releases.pass_on(&input, self.desk.as_ref().and_then(RequestQueue::releases));
                    Some(input)
                }
                report = next_report(&mut self.recordings) => { self.recorded(&report); None }
                text = next_news(&mut self.pendant) => { self.panel.say("pendant", text, vec![]); None }
                text = next_of(&mut self.remarks) => { self.panel.say("rtde", text, vec![]); None }
                (kind, text) = next_remark(&mut self.companions) => { self.panel.say(kind, text, vec![]); None }
            };
            if let Some(input) = input {
                return input;
            }
            // A source with many messages must not delay the robot or a timer.
            yield_once().await;
        }
    }

    /// Passes the content of the engine's recorder, after commanding ended for `reason`, to the thread that writes
    /// recordings.
    fn write_recording<P: Controller<N>>(&mut self, engine: &Engine<'_, N, P, BoxedLaw<N>>, reason: Reason) {
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

    /// Reports to the operator the result of writing a recording of a fallback (end of commanding by a fault).
    fn recorded(&mut self, report: &Report) {
        let (text, fields) = report.words();
        self.panel.say("recording", text, fields);
    }

    /// Ends the display of the run. Returns the result of the run, and a summary.
    pub(super) fn finish(mut self, format: Format) -> Result<(RunResult, String), Failure> {
        let given_back = self.pendant.take().map(LockedPendant::finish).unwrap_or_default();
        given_back.into_iter().for_each(|text| self.panel.say("pendant", text, vec![]));
        let left = self.recordings.take().map(Recordings::finish).unwrap_or_default();
        left.iter().for_each(|report| self.recorded(report));
        while let Some(Ok((kind, text))) = self.companions.as_mut().map(Receiver::try_recv) {
            self.panel.say(kind, text, vec![]);
        }
        let here = self.panel.is_here();
        let Self { panel, tally, ending, releases, fell_back, latch, refused, .. } = self;
        panel.finish()?;
        let standing = latch.or(fell_back);
        let text = if format == Format::Json {
            json::text(&Summed {
                ended_by: ending.map_or("", Ending::name),
                fallback: standing.map(Reason::name),
                tally: tally.members(),
            })
        } else {
            tally.text()
        };
        Ok((RunResult { fallback: standing, released: releases.last(ending), refused, here }, text))
    }
}

/// The summary of a run as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "summary")]
struct Summed<T> {
    ended_by: &'static str,
    fallback: Option<&'static str>,
    #[serde(flatten)]
    tally: T,
}

impl<const N: usize, P, M, T> Application<N, P, BoxedLaw<N>> for Service<M, T, N>
where
    P: Controller<N, Event = M::Event>,
    M: VendorObserve<N, P>,
    T: Tally<N, P> + Summary<Event = M::Event>,
{
    async fn next(&mut self) -> Input {
        // It is not polled for each state of the robot.
        when_called(self.next_input()).await
    }

    fn handed_over(&mut self) {
        self.releases.handed_over();
        if let Some(desk) = &mut self.desk {
            desk.handed_over();
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        let released = if let Event::Transition(transition) = &event { self.releases.of(transition) } else { None };
        self.panel.event_of(&event, released);
        self.tally.event(&event);
        if let Some(desk) = &mut self.desk {
            desk.event(&event, released);
        }
        match &event {
            Event::Peer(event) => {
                if event.touches() {
                    self.under_way.touch();
                    self.desk.iter_mut().for_each(RequestQueue::touched);
                }
                if let Some(text) = (self.coast)(event) {
                    self.panel.say("coast", text, vec![]);
                }
            }
            Event::Transition(transition) => self.transition(transition),
            Event::Lapsed(_) if self.settings.end == End::Over => self.lapsed = true,
            _ => {}
        }
    }

    fn answered(&mut self, turnaround: Duration) {
        self.tally.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, BoxedLaw<N>>, now: Instant) {
        self.releases.looked();
        if let Some(desk) = &mut self.desk {
            let mut set = None;
            let set_impedance = |engine: &mut Engine<'_, N, P, BoxedLaw<N>>, asked: &Impedance| {
                let done = M::set_impedance(engine, asked);
                set = done.is_ok().then_some(*asked);
                done
            };
            desk.act(engine, &mut self.under_way, set_impedance, now);
            desk.look(engine);
            if let Some(set) = set {
                let what = set.to_string();
                let fields = vec![("what", what.clone()), ("news", "sent".into())];
                self.panel.say("output", format!("{what}: {IMPEDANCE_SET}"), fields);
            }
        }
        self.under_way.observe(engine, now);
        let (mode, law) = (engine.mode(), engine.law());
        if let Some(failed) = self.progress.iter().position(|counting| counting.progress.has_failed()) {
            let Counting { kind, name, progress, .. } = self.progress.remove(failed);
            let why = progress.failure().unwrap_or_default();
            self.panel.say(kind, format!("{name} ended, the run continues: {why}"), vec![]);
            if !self.progress.iter().any(|counting| counting.engine) {
                self.tail = None;
            }
        }
        if let Some(tail) = &mut self.tail {
            tail.put(engine, now);
        }
        let far = law.motion().and_then(Motion::begins_at).filter(|_| mode == Mode::Monitor).zip(engine.state());
        let far = far.and_then(|((start, most), state)| away_from(&start, &state.positions, most));
        if let Some(text) = far.as_ref().filter(|_| !self.away) {
            self.panel.say("start", text.clone(), vec![]);
        }
        self.away = far.is_some();
        self.latch = engine.latch();
        if std::mem::take(&mut self.lapsed) {
            self.refused = Some((engine.unmet(now), engine.figures(now).grade_low()));
            self.end(Ending::NotGranted);
        }
        self.tally.observe(engine, now);
        // The end of a requested motion does not end the run.
        if mode == Mode::Command && MotionStatus::of(law).progress == Progress::Finished && !self.under_way.is_asked() {
            let done_at = *self.done_at.get_or_insert(now + self.settings.settle);
            if self.settings.end != End::Never && now >= done_at {
                let by = if self.under_way.is_cancelled() { ReleasedBy::Cancelled } else { ReleasedBy::Finished };
                self.end(Ending::By(by));
            }
        }
        if matches!(mode, Mode::Monitor | Mode::Offline)
            && let Some(reason) = self.unrecorded.take()
        {
            self.write_recording(engine, reason);
        }
        if let Some(desk) = &mut self.desk {
            let overrides = engine.overrides_pendant();
            let of = (engine.mode_machine().epoch(), mode, engine.grade(), engine.latch(), overrides);
            let shown = (|| engine.figures(now).grade_low(), || self.panel.variables(engine));
            let motion = (self.under_way.standing(), engine.held_by(), || self.under_way.wanted(engine));
            desk.observe(now, of, self.ending.is_some(), motion, || engine.unmet(now), shown);
        }
        let (settings, standing) = (&self.source_settings, self.under_way.standing());
        self.panel.observe(engine, now, || {
            let mut values = values(law, mode, standing);
            if matches!(mode, Mode::Offline | Mode::Monitor) {
                values.extend(readings(engine.sources(), settings));
            }
            if let Some(reason) = engine.held_by() {
                values.push(("speed".to_owned(), reason_text::of_hold(reason).to_owned()));
            }
            values
        });
    }
}

impl<M: VendorUi, T, const N: usize> Ends for Service<M, T, N> {
    fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    fn released(&self) -> Option<ReleasedBy> {
        self.releases.since_commanding()
    }
}

/// Returns the newest reading of each sensor, as text with its name.
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

/// Returns the values of the control law for display while the arm is commanded, because only then they are measured in
/// every cycle. For a law without values, returns the stage of its motion in any mode.
fn values<const N: usize>(law: &BoxedLaw<N>, mode: Mode, standing: Option<MotionReport>) -> Vec<(String, String)> {
    let values = law.values();
    if values.iter().next().is_some() {
        return if mode == Mode::Command { lines(&values) } else { vec![] };
    }
    let word = MotionReport::word(standing, MotionStatus::of(law).progress);
    word.into_iter().map(|word| ("motion".into(), word.into())).collect()
}
