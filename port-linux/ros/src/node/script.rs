//! Programs that others send: put to the controller on a thread of their own each, with leave of the run beside it.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

use outrigger_core::client::script::{ControllerMessage, ScriptFile, Upload, UploadConfig, UploadEvent};
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::Qos;
use outrigger_ros2_messages::{GoalId, SendGoalRequest, SendScriptGoal, SendScriptResult, Text, Time};
use outrigger_wire::primary::ReportKind;
use outrigger_wire::time::Duration;
use tokio::sync::oneshot;

use super::action::{Action, Came, reject};
use super::dds::{Arrival, Asker, Dds, In, Offers};
use super::settings::{Remarks, Settings};
use super::wanted::nanos_of;
use crate::acceptance::ONLY_LOOKS;
use crate::script::{self, COMMAND, Course, Does, EXECUTE, Happens, LEGACY_COMMAND, Program, STOP};
use outrigger::exit::{Failure, Outcome};
use outrigger::host::target::Target;
use outrigger::host::worker::Worker;
use outrigger::requests::{Asked, Client, Decided, UploadGuard, UploadPermit};
use outrigger::script::{Hears, Words, upload};

/// From a warning on, an error of the controller is one; so is one without a level.
const WARNING: i32 = 2;
/// From a violation on, it is one for everybody.
const VIOLATION: i32 = 3;
/// What is said where one is on its way.
const BUSY: &str = "a script is on its way: wait for its end, or cancel it";

/// What becomes of a program on its thread.
enum News {
    Said(String),
    Started,
    Ended(Result<String, String>),
}

/// A program at work. Dropped, its connection is closed, and nothing more is heard of it.
struct Carried {
    news: Receiver<News>,
    _stays: oneshot::Sender<()>,
}

/// Who wants it.
enum By {
    Topic,
    Goal(GoalId, Asker),
}

/// The one program that is on its way.
struct Current {
    course: Course,
    by: By,
    program: Program,
    /// What was asked of the run, and is not decided.
    asked: Option<u32>,
    carried: Option<Carried>,
    /// What stops it.
    stopping: Option<Carried>,
}

/// The interface.
pub(super) struct Scripts {
    at: SocketAddr,
    topics: Vec<In>,
    action: Action,
    current: Option<Current>,
}

impl Scripts {
    /// Offers it, for the controller at `target`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, settings: &Settings, target: &Target) -> Result<Self, Failure> {
        let (names, mut topics) = (&settings.names, vec![]);
        let legacy = settings.legacy_names.then_some(&LEGACY_COMMAND);
        for topic in [&COMMAND].into_iter().chain(legacy) {
            topics.push(dds.listens(&names.of(topic.name), topic.message, Qos::SYSTEM)?);
        }
        let action = Action::offer::<SendScriptResult>(dds, names, &EXECUTE)?;
        Ok(Self { at: target.socket(Upload::PORT), topics, action, current: None })
    }

    /// Takes what came, where it is for this; gives it back where it is not.
    pub(super) fn arrival<const N: usize>(
        &mut self,
        arrival: Arrival,
        client: Option<&mut Client<N>>,
        dds: &mut Dds,
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        if self.topics.contains(&arrival.at) {
            if let Err(why) = self.command(&arrival.bytes, client) {
                remarks.push(format!("{}: {why}", COMMAND.name));
            }
            return None;
        }
        match self.action.arrival(arrival, dds, remarks) {
            Came::Goal(bytes, asker) => {
                if let Err(why) = self.goal(&bytes, asker, client) {
                    remarks.push(format!("a goal of {} was rejected: {why}", EXECUTE.name));
                    reject(asker, dds);
                }
            }
            Came::Cancel(ids) => {
                if let (Some(current), Some(client)) = (&mut self.current, client)
                    && matches!(&current.by, By::Goal(id, _) if ids.contains(id))
                    && current.course.on(Happens::Cancel) == Does::AskToStop
                {
                    current.ask_to_stop(client);
                }
            }
            Came::Nothing => {}
            Came::Other(other) => return Some(other),
        }
        None
    }

    fn command<const N: usize>(&mut self, bytes: &[u8], client: Option<&mut Client<N>>) -> Result<(), String> {
        let text: Text = decode(bytes).map_err(|error| error.to_string())?;
        let text = script::command(&text).map_err(|error| error.to_string())?.to_owned();
        self.ask(By::Topic, Program { text, start_within: None, fails_on_reports: false }, client)
    }

    fn goal<const N: usize>(
        &mut self,
        bytes: &[u8],
        asker: Asker,
        client: Option<&mut Client<N>>,
    ) -> Result<(), String> {
        let SendGoalRequest::<SendScriptGoal> { goal_id, goal } = decode(bytes).map_err(|error| error.to_string())?;
        if self.action.knows(&goal_id) {
            return Err("a goal of this number is there already".into());
        }
        let program = script::program(&goal).map_err(|error| error.to_string())?;
        self.ask(By::Goal(goal_id, asker), program, client)
    }

    /// Asks the run for leave.
    fn ask<const N: usize>(&mut self, by: By, program: Program, client: Option<&mut Client<N>>) -> Result<(), String> {
        let client = client.ok_or(ONLY_LOOKS)?;
        if self.current.is_some() {
            return Err(BUSY.into());
        }
        let asked = client.ask(Asked::Script(client.status().epoch)).ok_or("too much is asked just now: ask again")?;
        let course = Course::default();
        self.current = Some(Current { course, by, program, asked: Some(asked), carried: None, stopping: None });
        Ok(())
    }

    /// Something that was asked has been decided; whether it was for this.
    pub(super) fn decided<const N: usize>(
        &mut self,
        outcome: &Decided,
        client: &Client<N>,
        dds: &mut Dds,
        stamp: Time,
        remarks: &mut Remarks,
    ) -> bool {
        let Some(current) = &mut self.current else { return false };
        if current.asked.take_if(|asked| *asked == outcome.id).is_none() {
            return false;
        }
        match current.course.on(Happens::Leave(outcome.done.is_ok())) {
            Does::Send => {
                let program = current.program.clone();
                current.carried =
                    Some(carry(program, matches!(current.by, By::Goal(..)), self.at, client.upload_permit()));
                if let By::Goal(id, asker) = &current.by {
                    self.action.accept(*id, Some(*asker), dds, stamp);
                }
            }
            Does::Stop => {
                let program = Program { text: STOP.into(), start_within: None, fails_on_reports: false };
                current.stopping = Some(carry(program, false, self.at, client.upload_permit()));
            }
            does => {
                let why = outcome.done.as_ref().err().map_or("", String::as_str);
                let what = match (&current.by, does) {
                    (By::Topic, _) => COMMAND.name,
                    (By::Goal(..), Does::Reject) => "a goal of urscript_interface/execute_script was rejected",
                    (By::Goal(..), _) => "a script is not stopped",
                };
                remarks.push(format!("{what}: {why}"));
                if does == Does::Reject {
                    if let By::Goal(_, asker) = current.by {
                        reject(asker, dds);
                    }
                    self.current = None;
                }
            }
        }
        true
    }

    /// Tells what has become of the program meanwhile.
    pub(super) fn step<const N: usize>(
        &mut self,
        client: &mut Client<N>,
        dds: &mut Dds,
        stamp: Time,
        remarks: &mut Remarks,
    ) {
        self.action.forget(nanos_of(stamp), dds);
        let Some(current) = &mut self.current else { return };
        let stops = current.stopping.iter().flat_map(|stopping| stopping.news.try_iter());
        let stops: Vec<_> =
            stops.filter_map(|news| if let News::Ended(Err(why)) = news { Some(why) } else { None }).collect();
        remarks.extend(stops.into_iter().map(|why| format!("a script is not stopped: {why}")));
        let mut ended = None;
        for news in current.carried.iter().flat_map(|carried| carried.news.try_iter()).collect::<Vec<_>>() {
            match news {
                News::Said(text) => remarks.push(format!("urscript_interface: {text}")),
                News::Started => {
                    if current.course.on(Happens::Started) == Does::AskToStop {
                        current.ask_to_stop(client);
                    }
                }
                News::Ended(how) => ended = Some(how),
            }
        }
        if let Some(how) = ended
            && current.course.on(Happens::Ended) == Does::End
        {
            let text = how.as_ref().unwrap_or_else(|why| why);
            remarks.push(format!("urscript_interface: {text}"));
            self.end(how, dds, stamp);
        }
    }

    fn end(&mut self, how: Result<String, String>, dds: &mut Dds, stamp: Time) {
        if let Some(Current { by: By::Goal(id, _), course, .. }) = self.current.take() {
            let (status, result) = course.end(how);
            self.action.end(&id, status, result, nanos_of(stamp), dds);
        }
    }

    /// The node ends; what the controller runs goes on.
    pub(super) fn leave(&mut self, dds: &mut Dds, stamp: Time) {
        if self.current.as_ref().is_some_and(|current| current.carried.is_some()) {
            self.end(Err("the node has ended, and watches the program no longer".into()), dds, stamp);
        }
    }
}

impl Current {
    fn ask_to_stop<const N: usize>(&mut self, client: &mut Client<N>) {
        self.asked = client.ask(Asked::Script(client.status().epoch));
        if self.asked.is_none() {
            // Whoever cancels may do so again.
            let _ = self.course.on(Happens::Leave(false));
        }
    }
}

/// Sends a program, and follows it to its end where that is asked for.
fn carry(program: Program, waits: bool, at: SocketAddr, permit: UploadPermit) -> Carried {
    let ((tell, news), (stays, gone)) = (channel(), oneshot::channel());
    let failed = tell.clone();
    let work = move || {
        let ended = at_work(&program, waits, at, permit, &tell, gone);
        // Nobody listens any more at the end of the node.
        let _ = tell.send(News::Ended(ended.map_err(|failure| failure.to_string())));
    };
    if let Err(error) = Worker::start("script", work) {
        let _ = failed.send(News::Ended(Err(format!("no thread to send it from: {error}"))));
    }
    Carried { news, _stays: stays }
}

fn at_work(
    program: &Program,
    waits: bool,
    at: SocketAddr,
    permit: UploadPermit,
    tell: &Sender<News>,
    mut gone: oneshot::Receiver<()>,
) -> Result<String, Failure> {
    let file = ScriptFile::new(program.text.as_bytes()).map_err(|error| Failure::BadInput(error.to_string()))?;
    file.warnings(|warning| {
        let _ = tell.send(News::Said(format!("line {}: {}", warning.line, warning.kind.text())));
    });
    let mut config = UploadConfig { wait: waits, ..UploadConfig::default() };
    if let Some(seconds) = program.start_within {
        config.verdict = Duration::from_micros((seconds * 1e6) as u64);
    }
    let words = Words::new(false, "script".into(), at, file);
    let mut ear =
        Ear { words, tell, permit, way: None, sent: false, fails_on_reports: program.fails_on_reports, reported: None };
    let interrupted = async || {
        // It is dropped, and nothing is ever sent.
        let _ = (&mut gone).await;
        "the node has ended"
    };
    let outcome =
        outrigger::host::runtime::one_threaded()?.block_on(upload(config, file, at, &mut ear, interrupted))?;
    let Ear { words, reported, .. } = ear;
    let ended = words.judgement(outcome);
    match reported {
        Some(reported) if ended.is_ok() => Err(Failure::Fault(format!("the controller reported {reported}"))),
        _ => ended,
    }
}

/// Hears of one upload.
struct Ear<'w> {
    words: Words<'w>,
    tell: &'w Sender<News>,
    permit: UploadPermit,
    /// From when it is sent until it runs, or does not.
    way: Option<UploadGuard>,
    sent: bool,
    fails_on_reports: bool,
    /// The first error that makes it a failure.
    reported: Option<String>,
}

impl Hears for Ear<'_> {
    fn event(&mut self, event: &UploadEvent<'_>) {
        self.words.learn(event);
        let line = self.words.line(event);
        match event {
            UploadEvent::Started(_) => {
                self.way = None;
                let _ = self.tell.send(News::Started);
            }
            UploadEvent::Message(ControllerMessage { kind: ReportKind::Error, level, .. }) => {
                let level = level.unwrap_or(WARNING);
                let counts = level >= VIOLATION || self.fails_on_reports && level >= WARNING;
                // What the controller says before the program is sent is not about it.
                if counts && self.sent && self.reported.is_none() {
                    self.reported.clone_from(&line);
                }
            }
            _ => {}
        }
        if let Some(line) = line {
            let _ = self.tell.send(News::Said(line));
        }
    }

    fn trouble(&mut self, trouble: String) {
        self.words.trouble(trouble);
    }

    fn may_send(&mut self) -> Outcome {
        self.way = self.permit.begin_upload();
        self.sent = self.way.is_some();
        if self.sent {
            return Ok(());
        }
        Err(Failure::Fault("it was not sent: commanding began before".into()))
    }
}
