//! Uploads URScript programs that clients send, each on a thread of its own, with permission of the control loop beside
//! the node.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

use outrigger_core::client::script::{ControllerMessage, ScriptFile, Upload, UploadConfig, UploadEvent};
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::Qos;
use outrigger_ros2_messages::{GoalId, SendGoalRequest, SendScriptGoal, SendScriptResult, Text, Time};
use outrigger_wire::primary::ReportKind;
use outrigger_wire::time::Duration;
use tokio::sync::oneshot;

use super::action::{Action, Incoming, reject};
use super::dds::{Arrival, Asker, Dds, In, Offers};
use super::goal_motion::nanos_of;
use super::settings::{Remarks, Settings};
use crate::command_acceptance::ONLY_LOOKS;
use crate::script::{self, COMMAND, Course, EXECUTE, LEGACY_COMMAND, Program, ProgramAction, ProgramEvent, STOP};
use outrigger::exit::{Failure, Outcome};
use outrigger::host::target::Target;
use outrigger::host::worker::Worker;
use outrigger::requests::{Client, Decided, RequestKind, UploadGuard, UploadPermit};
use outrigger::script::{UploadListener, Words, upload};

/// The lowest severity of an error report of the controller that makes a URScript program fail if its goal requests
/// that warnings do so. A report without a severity counts as one of this severity.
const WARNING: i32 = 2;
/// The lowest severity of an error report of the controller that makes any URScript program fail.
const VIOLATION: i32 = 3;
/// The text of the refusal while another URScript program is in progress.
const BUSY: &str = "a script is running: wait for its end, or cancel it";

/// A message from the thread that uploads and follows a URScript program.
enum News {
    Said(String),
    Started,
    Ended(Result<String, String>),
}

/// A URScript program that a thread uploads and follows. Dropping this value closes the connection, and no more
/// messages are received from the thread.
struct Carried {
    news: Receiver<News>,
    _stays: oneshot::Sender<()>,
}

/// The origin of a URScript program: a goal of the action, or the topic.
enum By {
    Topic,
    Goal(GoalId, Asker),
}

/// The URScript program of a client that is in progress; at most one is at a time.
struct Current {
    course: Course,
    by: By,
    program: Program,
    /// The number of the request for permission to upload that the control loop has not decided yet; `None` if there is
    /// none.
    asked: Option<u32>,
    carried: Option<Carried>,
    /// The upload of the program that stops the client's program; `None` if it is not being stopped.
    stopping: Option<Carried>,
}

/// The topics and the action for URScript programs, and the program in progress.
pub(super) struct Scripts {
    at: SocketAddr,
    topics: Vec<In>,
    action: Action,
    current: Option<Current>,
}

impl Scripts {
    /// Offers the topics and the action for URScript programs, which are uploaded to the controller at `target`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, settings: &Settings, target: &Target) -> Result<Self, Failure> {
        let (names, mut topics) = (&settings.names, vec![]);
        let legacy = settings.legacy_names.then_some(&LEGACY_COMMAND);
        for topic in [&COMMAND].into_iter().chain(legacy) {
            topics.push(dds.listens(&names.of(topic.name), topic.message, Qos::SYSTEM)?);
        }
        let action = Action::offer::<SendScriptResult>(dds, names, &EXECUTE)?;
        Ok(Self { at: target.socket(Upload::PORT), topics, action, current: None })
    }

    /// Handles data that arrived for the topics or the action of URScript programs; returns other data.
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
            Incoming::Goal(bytes, asker) => {
                if let Err(why) = self.goal(&bytes, asker, client) {
                    remarks.push(format!("a goal of {} was rejected: {why}", EXECUTE.name));
                    reject(asker, dds);
                }
            }
            Incoming::Cancel(ids) => {
                if let (Some(current), Some(client)) = (&mut self.current, client)
                    && matches!(&current.by, By::Goal(id, _) if ids.contains(id))
                    && current.course.on(ProgramEvent::Cancel) == ProgramAction::AskToStop
                {
                    current.ask_to_stop(client);
                }
            }
            Incoming::Nothing => {}
            Incoming::Other(other) => return Some(other),
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
            return Err("a goal with this ID exists already".into());
        }
        let program = script::program(&goal).map_err(|error| error.to_string())?;
        self.ask(By::Goal(goal_id, asker), program, client)
    }

    /// Requests the control loop's permission to upload a URScript program.
    fn ask<const N: usize>(&mut self, by: By, program: Program, client: Option<&mut Client<N>>) -> Result<(), String> {
        let client = client.ok_or(ONLY_LOOKS)?;
        if self.current.is_some() {
            return Err(BUSY.into());
        }
        let asked =
            client.ask(RequestKind::Script(client.status().epoch)).ok_or("too many requests are queued: try again")?;
        let course = Course::default();
        self.current = Some(Current { course, by, program, asked: Some(asked), carried: None, stopping: None });
        Ok(())
    }

    /// Handles the control loop's decision on a request. Returns `false` if the request was not made for the URScript
    /// program in progress.
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
        match current.course.on(ProgramEvent::Leave(outcome.done.is_ok())) {
            ProgramAction::Send => {
                let program = current.program.clone();
                current.carried =
                    Some(carry(program, matches!(current.by, By::Goal(..)), self.at, client.upload_permit()));
                if let By::Goal(id, asker) = &current.by {
                    self.action.accept(*id, Some(*asker), dds, stamp);
                }
            }
            ProgramAction::Stop => {
                let program = Program { text: STOP.into(), start_within: None, fails_on_reports: false };
                current.stopping = Some(carry(program, false, self.at, client.upload_permit()));
            }
            does => {
                let why = outcome.done.as_ref().err().map_or("", String::as_str);
                let what = match (&current.by, does) {
                    (By::Topic, _) => COMMAND.name,
                    (By::Goal(..), ProgramAction::Reject) => "a goal of urscript_interface/execute_script was rejected",
                    (By::Goal(..), _) => "the script was not stopped",
                };
                remarks.push(format!("{what}: {why}"));
                if does == ProgramAction::Reject {
                    if let By::Goal(_, asker) = current.by {
                        reject(asker, dds);
                    }
                    self.current = None;
                }
            }
        }
        true
    }

    /// Logs the messages that the thread of the URScript program has sent since the last step, and ends the client's
    /// goal once the program has ended.
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
        remarks.extend(stops.into_iter().map(|why| format!("the script was not stopped: {why}")));
        let mut ended = None;
        for news in current.carried.iter().flat_map(|carried| carried.news.try_iter()).collect::<Vec<_>>() {
            match news {
                News::Said(text) => remarks.push(format!("urscript_interface: {text}")),
                News::Started => {
                    if current.course.on(ProgramEvent::Started) == ProgramAction::AskToStop {
                        current.ask_to_stop(client);
                    }
                }
                News::Ended(how) => ended = Some(how),
            }
        }
        if let Some(how) = ended
            && current.course.on(ProgramEvent::Ended) == ProgramAction::End
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

    /// Ends the goal of the URScript program in progress, because the node ends. The program on the controller
    /// continues.
    pub(super) fn leave(&mut self, dds: &mut Dds, stamp: Time) {
        if self.current.as_ref().is_some_and(|current| current.carried.is_some()) {
            self.end(Err("the node has ended and no longer monitors the program".into()), dds, stamp);
        }
    }
}

impl Current {
    fn ask_to_stop<const N: usize>(&mut self, client: &mut Client<N>) {
        self.asked = client.ask(RequestKind::Script(client.status().epoch));
        if self.asked.is_none() {
            // The client may cancel again.
            let _ = self.course.on(ProgramEvent::Leave(false));
        }
    }
}

/// Uploads a URScript program on a new thread, and follows it to its end if `waits` is `true`.
fn carry(program: Program, waits: bool, at: SocketAddr, permit: UploadPermit) -> Carried {
    let ((tell, news), (stays, gone)) = (channel(), oneshot::channel());
    let failed = tell.clone();
    let work = move || {
        let ended = at_work(&program, waits, at, permit, &tell, gone);
        // Sending fails if the node has ended.
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
    let mut ear = UploadObserver {
        words,
        tell,
        permit,
        way: None,
        sent: false,
        fails_on_reports: program.fails_on_reports,
        reported: None,
    };
    let interrupted = async || {
        // The permit is dropped, and nothing is ever sent.
        let _ = (&mut gone).await;
        "the node has ended"
    };
    let outcome =
        outrigger::host::runtime::one_threaded()?.block_on(upload(config, file, at, &mut ear, interrupted))?;
    let UploadObserver { words, reported, .. } = ear;
    let ended = words.judgement(outcome);
    match reported {
        Some(reported) if ended.is_ok() => Err(Failure::Fault(format!("the controller reported {reported}"))),
        _ => ended,
    }
}

/// An observer of one upload, which reports its events to the node.
struct UploadObserver<'w> {
    words: Words<'w>,
    tell: &'w Sender<News>,
    permit: UploadPermit,
    /// A guard of the upload, held until the program runs or fails. The arm cannot be commanded while it exists.
    way: Option<UploadGuard>,
    sent: bool,
    fails_on_reports: bool,
    /// The first error reported by the controller for which the program counts as failed.
    reported: Option<String>,
}

impl UploadListener for UploadObserver<'_> {
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
                // A report before the upload is not about this program.
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
        Err(Failure::Fault("not sent: commanding began before".into()))
    }
}
