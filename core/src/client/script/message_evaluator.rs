//! The evaluation of the messages of port 30001 about an uploaded program.

use heapless::Deque;

use super::{ControllerMessage, Evidence, ScriptFile, ScriptKind, Silence, UploadOutcome};
use outrigger_wire::WireError;
use outrigger_wire::primary::{
    ErrorDetail, LOCAL_CONTROL, Message, MessageKind, ReportKind, RobotMessage, RobotMessagePayload, RobotModeData,
    SafetyDetail, SubPackage,
};
use outrigger_wire::robot::{RobotMode, SoftwareVersion, Text};

/// The title of the key message that reports the start of a program; `STOPPED` is that of the message about its end.
const STARTED: &[u8] = b"PROGRAM_XXX_STARTED";
const STOPPED: &[u8] = b"PROGRAM_XXX_STOPPED";
/// The length from which the name of a program in a key message may be truncated \[B\].
const NAME: usize = 31;
/// The bit that is set in the level of a controller's error report if the report is for developers.
const FOR_DEVELOPERS: i32 = 128;
/// The number of consecutive robot states without a program, at 10 Hz, after which a program whose start a key message
/// reported counts as ended even if no key message reports the end.
const UNSAID_END: u8 = 5;

/// An event of a program's upload to report, in the order of occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvaluatorEvent {
    Software(SoftwareVersion),
    Sent {
        replaces: bool,
    },
    Started(Evidence),
    Paused(bool),
    /// A message to people: the controller's message that was processed last.
    Message,
}

/// The knowledge about the uploaded program, gained from the controller's messages.
#[derive(Debug)]
pub(super) struct Evaluator<'t> {
    file: ScriptFile<'t>,
    pub(super) software: Option<SoftwareVersion>,
    robot_mode: Option<RobotMode>,
    running: Option<bool>,
    paused: bool,
    /// `true` if a program ran on the controller when the uploaded one was sent; `None` before that.
    ran_before: Option<bool>,
    started: Option<Evidence>,
    /// The number of consecutive robot states, since the start of the uploaded program, in which no program runs.
    idle_states: u8,
    /// The first error that the controller reported since the program was sent.
    reported: Option<(i32, i32, Text<255>)>,
    pub(super) outcome: Option<UploadOutcome>,
    /// The events that one message caused: three at most, unless a state contains a sub-package several times.
    pub(super) news: Deque<EvaluatorEvent, 8>,
}

impl<'t> Evaluator<'t> {
    pub(super) const fn new(file: ScriptFile<'t>) -> Self {
        Self {
            file,
            software: None,
            robot_mode: None,
            running: None,
            paused: false,
            ran_before: None,
            started: None,
            idle_states: 0,
            reported: None,
            outcome: None,
            news: Deque::new(),
        }
    }

    fn tell(&mut self, news: EvaluatorEvent) {
        let _ = self.news.push_back(news);
    }

    pub(super) const fn file(&self) -> &ScriptFile<'t> {
        &self.file
    }

    /// Returns whether a robot state has shown if a program runs.
    pub(super) const fn has_state(&self) -> bool {
        self.running.is_some()
    }

    pub(super) const fn started(&self) -> Option<Evidence> {
        self.started
    }

    /// Records that the program is being sent to the controller.
    pub(super) fn sent(&mut self) {
        let replaces = self.running == Some(true) && self.file.replaces();
        self.ran_before = Some(self.running == Some(true));
        self.tell(EvaluatorEvent::Sent { replaces });
    }

    /// Decides the outcome of the upload when the time for messages about the program is over.
    pub(super) fn unheard(&mut self) {
        let outcome = match (self.started, self.reported) {
            (Some(evidence), _) => UploadOutcome::Started(evidence),
            (None, Some((code, argument, text))) => UploadOutcome::Reported { code, argument, text },
            (None, None) if self.file.kind() == ScriptKind::Secondary => UploadOutcome::NoResultExpected,
            (None, None) => UploadOutcome::Unheard(Silence {
                robot_mode: self.robot_mode,
                ran_before: self.ran_before == Some(true),
                runs_now: self.running == Some(true),
            }),
        };
        self.decide(outcome);
    }

    /// Sets the outcome of the upload, unless one was set before.
    pub(super) fn decide(&mut self, outcome: UploadOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    /// Processes one message that the controller sent on port 30001.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        match Message::new_checked(bytes)?.kind() {
            MessageKind::RobotState(packages) => {
                for package in packages {
                    if let SubPackage::RobotModeData(mode) = package? {
                        self.take_mode(&mode);
                    }
                }
                Ok(())
            }
            MessageKind::RobotMessage(message) => self.take_message(&message),
            MessageKind::ProgramState(_) | MessageKind::Internal { .. } => Ok(()),
        }
    }

    fn take_mode(&mut self, mode: &RobotModeData<'_>) {
        let (running, paused) = (mode.is_program_running(), mode.is_program_paused());
        self.robot_mode = Some(mode.named_robot_mode());
        // A paused program exists too, whichever of the two flags the software sets for it.
        let exists = running || paused;
        self.running = Some(exists);
        if core::mem::replace(&mut self.paused, paused) != paused {
            self.tell(EvaluatorEvent::Paused(paused));
        }
        match self.started {
            None if self.ran_before == Some(false) && exists && self.file.kind() != ScriptKind::Secondary => {
                self.start(Evidence::RobotModeData);
            }
            None => {}
            Some(_) if exists => self.idle_states = 0,
            Some(evidence) => {
                self.idle_states = self.idle_states.saturating_add(1);
                if evidence == Evidence::RobotModeData || self.idle_states >= UNSAID_END {
                    self.decide(UploadOutcome::Ended(Evidence::RobotModeData));
                }
            }
        }
    }

    fn start(&mut self, evidence: Evidence) {
        if self.started.replace(evidence).is_none() {
            self.tell(EvaluatorEvent::Started(evidence));
        }
    }

    fn take_message(&mut self, message: &RobotMessage<'_>) -> Result<(), WireError> {
        let payload = message.payload(self.software)?;
        if let RobotMessagePayload::Version(version) = payload {
            self.software = Some(version.software());
            self.tell(EvaluatorEvent::Software(version.software()));
        }
        let Some(words) = words(message, &payload) else { return Ok(()) };
        self.tell(EvaluatorEvent::Message);
        if self.ran_before.is_none() {
            return Ok(());
        }
        match words.kind {
            ReportKind::Key if words.title == STARTED => match (self.is_ours(words.text), self.started) {
                (true, _) => self.start(Evidence::KeyMessage),
                (false, Some(_)) => self.decide(UploadOutcome::Replaced),
                (false, None) => {}
            },
            ReportKind::Key if words.title == STOPPED && self.is_ours(words.text) && self.started.is_some() => {
                self.decide(UploadOutcome::Ended(Evidence::KeyMessage));
            }
            ReportKind::Text | ReportKind::Popup
                if self.file.kind() == ScriptKind::Statement && self.says(words.text) =>
            {
                self.decide(UploadOutcome::Ended(Evidence::OwnWords));
            }
            ReportKind::RuntimeException(position) => {
                let (started, text) = (self.started.is_some(), Text::from_bytes(words.text));
                self.decide(UploadOutcome::Failed { started, position, text });
            }
            ReportKind::Error if words.code.0 == LOCAL_CONTROL => self.decide(UploadOutcome::LocalControl),
            ReportKind::Error => {
                let (code, argument) = words.code;
                self.reported.get_or_insert((code, argument, Text::from_bytes(words.text)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether `text` is a string literal in the program that was sent.
    fn says(&self, text: &[u8]) -> bool {
        let quoted = |words: &[u8]| {
            words.strip_prefix(b"\"").and_then(|words| words.strip_suffix(b"\"")).is_some_and(|words| words == text)
        };
        !text.is_empty() && self.file.bytes().windows(text.len().saturating_add(2)).any(quoted)
    }

    /// Returns whether a key message with this `name` is about the uploaded program. The name of a single statement is
    /// not documented: any name is accepted for it.
    fn is_ours(&self, name: &[u8]) -> bool {
        let Some(ours) = self.file.name().map(str::as_bytes) else { return true };
        ours == name || (name.len() >= NAME && ours.starts_with(name))
    }
}

/// Returns the message to people that is encoded in `bytes`; `None` for other messages.
pub(super) fn message(bytes: &[u8], software: Option<SoftwareVersion>) -> Option<ControllerMessage<'_>> {
    let MessageKind::RobotMessage(message) = Message::new_checked(bytes).ok()?.kind() else { return None };
    words(&message, &message.payload(software).ok()?)
}

fn words<'a>(message: &RobotMessage<'_>, payload: &RobotMessagePayload<'a>) -> Option<ControllerMessage<'a>> {
    use RobotMessagePayload as P;
    let none: &[u8] = &[];
    let mut level = None;
    let (kind, code, title, text) = match *payload {
        P::Text(text) => (ReportKind::Text, (0, 0), none, text.0),
        P::Popup(popup) => (ReportKind::Popup, (0, 0), popup.title.0, popup.text.0),
        P::RequestValue(request) => {
            (ReportKind::Popup, (0, 0), request.popup.map_or(none, |popup| popup.title.0), request.text.0)
        }
        P::SafetyMode(safety) => {
            let text = match safety.detail {
                SafetyDetail::Security(text) | SafetyDetail::Mode { text, .. } => text.0,
                SafetyDetail::Report { .. } | SafetyDetail::Raw(_) => none,
            };
            let mode = safety.detail.safety_mode();
            (ReportKind::Safety(mode), (safety.code, safety.argument), none, text)
        }
        P::ErrorCode(error) => {
            let text = match error.detail {
                ErrorDetail::Text(text) => text.0,
                ErrorDetail::Warning { warning_level, text } => {
                    level = Some(warning_level);
                    text.0
                }
                ErrorDetail::Report { report_level, text, .. } => {
                    level = Some(report_level & !FOR_DEVELOPERS);
                    text.0
                }
                ErrorDetail::Raw(_) => none,
            };
            (ReportKind::Error, (error.code, error.argument), none, text)
        }
        P::Key(key) => (ReportKind::Key, (key.code, key.argument), key.title.0, key.text.0),
        P::RuntimeException { position, text } => (ReportKind::RuntimeException(position), (0, 0), none, text.0),
        _ => return None,
    };
    Some(ControllerMessage { kind, source: message.named_source(), code, level, title, text })
}
