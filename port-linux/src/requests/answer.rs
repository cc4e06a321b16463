//! Formats the answers to requests as lines of JSON.

use std::borrow::Cow;

use outrigger_core::command::outputs::{Write, WriteOutcome};
use outrigger_core::law::FeedError;
use outrigger_core::link::GradeLow;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_remote::request::{Challenge, Fault};
use outrigger_wire::dashboard::Outcome;
use serde::{Serialize, Serializer};

use super::run_status::Status;
use crate::json;
use crate::motion::impedance::{self, ImpedanceRefusal};
use crate::motion::{MotionRefusal, MotionReport, MotionStage};
use crate::released::ReleasedBy;
use crate::show::Variables;
use crate::show::reason_text::{self, Observer};

/// The result of a client's request, from which its answer is formatted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The client's request was carried out, or its effect has started.
    Done,
    /// The request was rejected, because its sender has seen this epoch of the session (a counter of connections and
    /// losses of authority), which is not the current one.
    WrongEpoch(Epoch),
    /// The request was rejected for this reason. The set contains all unmet preconditions of commanding.
    Refused(Reason, ReasonSet),
    /// The client's request was rejected, because the run is about to end.
    Ending,
    /// The upload of a program was rejected, because the run may start commanding without a request while the
    /// program would be running.
    BeginsUnasked,
    /// The result of setting an output of the controller.
    Output(Write, WriteOutcome),
    /// The result of changing the arm's stiffness and damping.
    Impedance(Result<(), ImpedanceRefusal>),
    /// No confirmation of an output by the controller arrived within its timeout.
    NoNews,
    /// The output was not set, because too many outputs are waiting for confirmation.
    Full,
    /// The motion of the request was started. The status in the answer describes it.
    Moves,
    /// The motion of the request was not started, or not cancelled, for this reason.
    Motion(MotionRefusal),
    /// The motion was rejected, because another one is being received or checked.
    Reads,
    /// The result of a client's command to the controller's dashboard server.
    Dashboard(Outcome),
    /// The request was rejected, because it causes motion and had no valid challenge: a number from a recent answer,
    /// which proves that the request was not delayed on its way.
    NotFresh,
    /// The client's request was withdrawn by its sender, before the control loop took it.
    Withdrawn,
    /// An earlier request of the sender was withdrawn.
    Withdrew(Effect),
}

/// The effect of a client's withdrawal of an earlier request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The withdrawn request was still queued, and is not carried out.
    TakenBack,
    /// The withdrawn request had started commanding. The arm is being stopped.
    Released,
    /// The withdrawal had no effect on the earlier request or on the arm.
    Nothing,
}

impl Effect {
    const fn name(self) -> &'static str {
        match self {
            Self::TakenBack => "taken-back",
            Self::Released => "released",
            Self::Nothing => "none",
        }
    }
}

/// The control loop's answer to a client's request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) id: Option<u32>,
    pub(super) word: &'static str,
    pub(super) status: Status,
    pub(super) verdict: Verdict,
}

/// A line of text that is sent to a client of the run.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "an answer is made in the loop, which allocates nothing for it")]
pub(super) enum Line {
    /// An answer of the control loop to a request, which is formatted when it is sent.
    Answer(Answer),
    /// A line for the client that is already formatted, and is sent as it is.
    Text(String),
}

/// The JSON object of a line that is sent to a client. A member that is `None` is omitted, except the `id` of the
/// request, which is then `null`.
#[derive(Default, Serialize)]
struct Object<'l> {
    id: Option<u32>,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    word: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    robot: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge: Option<u32>,
    #[serde(flatten)]
    standing: Option<InFull>,
    #[serde(flatten)]
    outcome: Option<OutcomeMembers<'l>>,
}

/// The JSON members that only the answer with a run's full status has.
#[derive(Serialize)]
struct InFull {
    grade: String,
    latch: Option<ReasonObject>,
    unmet: Vec<ReasonObject>,
    left: Option<ReasonObject>,
    ending: bool,
    overrides_pendant: bool,
    held_by: Option<Held>,
    motion: Option<Moving>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "numbers_or_null")]
    variables: Option<Variables>,
}

/// The members that the result of a request adds to the JSON object of an answer.
#[derive(Serialize)]
#[serde(untagged)]
enum OutcomeMembers<'l> {
    Moves {
        motion: Option<Moving>,
    },
    Set {
        output: String,
        news: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        after_ms: Option<f64>,
        text: String,
    },
    NotSet {
        output: String,
        news: &'static str,
        error: Wrong<'l>,
    },
    Taken {
        text: &'static str,
    },
    Withdrew {
        effect: &'static str,
    },
    Refused {
        error: Wrong<'l>,
        reasons: Vec<ReasonObject>,
    },
    Wrong {
        error: Wrong<'l>,
    },
}

/// The description of an error in a request: its kind, the wrong key, what was expected and what was found.
#[derive(Serialize)]
struct Wrong<'w> {
    what: &'w str,
    #[serde(rename = "where")]
    place: &'w str,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<usize>,
    expected: Cow<'w, str>,
    found: Cow<'w, str>,
    text: Cow<'w, str>,
}

impl<'w> Wrong<'w> {
    fn new(what: &'w str, place: &'w str, expected: impl Into<Cow<'w, str>>, text: impl Into<Cow<'w, str>>) -> Self {
        Self { what, place, byte: None, expected: expected.into(), found: "".into(), text: text.into() }
    }

    fn found(self, found: impl Into<Cow<'w, str>>) -> Self {
        Self { found: found.into(), ..self }
    }
}

/// The JSON object for a reason of the control engine, e.g. why commanding was rejected or ended, with advice.
#[derive(Serialize)]
struct ReasonObject {
    name: &'static str,
    text: String,
    advice: &'static str,
    /// The cause of the release (requested end of commanding), if the reason is a release. `None` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
}

/// The JSON object for the reason why a motion is held (paused, e.g. by the speed slider) while commanding continues.
#[derive(Serialize)]
struct Held {
    name: &'static str,
    text: &'static str,
}

/// The JSON object for the state of a requested motion.
#[derive(Serialize)]
struct Moving {
    number: u32,
    state: &'static str,
    percent: u8,
    seconds: f64,
    reason: Option<ReasonObject>,
}

impl Answer {
    /// Formats the answer as a line of JSON. `here` is `true` if the controller runs on this machine.
    pub(super) fn line(&self, here: bool) -> String {
        self.line_with(here, None)
    }

    /// Formats the answer as a line of JSON, with a challenge (a number that makes one later motion request valid) if
    /// one is given. `here` is `true` if the controller runs on this machine.
    pub(super) fn line_with(&self, here: bool, challenge: Option<Challenge>) -> String {
        let Self { id, word, status, verdict } = self;
        let ok = match verdict {
            Verdict::Done | Verdict::Moves | Verdict::Dashboard(Outcome::Taken) | Verdict::Withdrew(_) => true,
            Verdict::Impedance(set) => set.is_ok(),
            Verdict::Output(_, news) => matches!(news, WriteOutcome::Confirmed(_) | WriteOutcome::NeverShown),
            _ => false,
        };
        let outcome = verdict.outcome(word, status, here);
        let challenge = challenge.map(Challenge::number);
        line(&Object { ok, word: Some(word), challenge, outcome, ..Object::of(*id, status) })
    }
}

impl Verdict {
    /// Returns the members that this result adds to the answer to the request `word`. `None` for [`Verdict::Done`].
    fn outcome<'l>(&self, word: &'l str, status: &Status, here: bool) -> Option<OutcomeMembers<'l>> {
        let error = match self {
            Self::Done => return None,
            Self::Moves => {
                return Some(OutcomeMembers::Moves { motion: status.motion.map(|motion| moving(motion, here)) });
            }
            Self::Output(write, news) => return Some(of_output(write, news)),
            Self::Impedance(set) => return Some(of_impedance(*set)),
            Self::Dashboard(Outcome::Taken) => return Some(OutcomeMembers::Taken { text: Outcome::Taken.text() }),
            Self::Withdrew(effect) => return Some(OutcomeMembers::Withdrew { effect: effect.name() }),
            Self::Refused(reason, unmet) => {
                let rest = reason_text::causes_first(*unmet).into_iter().filter(|other| other != reason);
                let all = [*reason].into_iter().chain(rest);
                let error = Wrong::new("Refused", word, "every precondition met", reason.text()).found(reason.name());
                let reasons = all.map(|one| why(one, status.low.as_ref(), here)).collect();
                return Some(OutcomeMembers::Refused { error, reasons });
            }
            Self::Motion(against) => not_moved(word, against),
            Self::Reads => {
                let text = "another motion is still being sent, or checked: try again";
                Wrong::new("Busy", word, "one motion at a time", text)
            }
            Self::WrongEpoch(seen) => {
                let present = status.epoch.number().to_string();
                Wrong::new("WrongEpoch", "epoch", present, Reason::WrongEpoch.text()).found(seen.number().to_string())
            }
            Self::Ending => Wrong::new("Ending", word, "a run that is not about to end", "the run is about to end"),
            Self::BeginsUnasked => {
                let text = "this run may start to command by itself or by an input: it allows no other program";
                Wrong::new("BeginsUnasked", word, "a run that starts by request only", text)
            }
            Self::Dashboard(outcome) => {
                Wrong::new(outcome.name(), word, "a command that the controller takes", outcome.text())
            }
            Self::NotFresh => {
                let text = "no challenge of the last 2 s, or received too late: request the status, and send its \
                            `challenge` at once";
                let expected = "the challenge of an answer of the last 2 s, used by no other request";
                Wrong::new("NotFresh", "challenge", expected, text)
            }
            Self::Withdrawn => {
                Wrong::new("Withdrawn", word, "a request that is not withdrawn", "its sender withdrew it")
            }
            Self::NoNews => {
                let text = "no confirmation of the output within 10 s; it may have been set";
                Wrong::new("NoNews", "output", "an answer", text)
            }
            Self::Full => {
                let text = "too many outputs wait to be confirmed: wait for their answers";
                Wrong::new("Full", "output", "at most 16", text)
            }
        };
        Some(OutcomeMembers::Wrong { error })
    }
}

/// Returns the JSON members for the result `news` of setting an output.
fn of_output<'l>(write: &Write, news: &WriteOutcome) -> OutcomeMembers<'l> {
    let (output, name, text) =
        (reason_text::of_write(write), reason_text::name_of_news(news), reason_text::of_news(news));
    match news {
        WriteOutcome::Confirmed(after) => {
            OutcomeMembers::Set { output, news: name, after_ms: Some(json::millis(*after)), text }
        }
        WriteOutcome::NeverShown => OutcomeMembers::Set { output, news: name, after_ms: None, text },
        _ => {
            let expected = "an output that the controller shows as set";
            OutcomeMembers::NotSet {
                output,
                news: name,
                error: Wrong::new("NotSet", "output", expected, text).found(name),
            }
        }
    }
}

/// Returns the JSON members for the result of changing stiffness and damping.
fn of_impedance<'l>(set: Result<(), ImpedanceRefusal>) -> OutcomeMembers<'l> {
    let output = "impedance".to_owned();
    match set {
        Ok(()) => OutcomeMembers::Set { output, news: "sent", after_ms: None, text: impedance::SET.into() },
        Err(refusal) => {
            let wrong =
                Wrong::new("NotSet", "output", "stiffness and damping of the scheme in force", refusal.to_string());
            OutcomeMembers::NotSet { output, news: "refused", error: wrong.found("refused") }
        }
    }
}

/// Returns the status of the run as one line of JSON.
pub(super) fn status(
    id: Option<u32>,
    word: &str,
    status: &Status,
    (robot, here): (&str, bool),
    challenge: Option<Challenge>,
) -> String {
    let low = status.low.as_ref();
    let standing = InFull {
        grade: status.grade.name().to_lowercase(),
        latch: status.latch.map(|latched| why(latched, None, here)),
        unmet: reason_text::causes_first(status.unmet).into_iter().map(|unmet| why(unmet, low, here)).collect(),
        left: status.left.map(|reason| left(reason, status.released, here)),
        ending: status.ending,
        overrides_pendant: status.overrides_pendant,
        held_by: status.held.map(|held| Held { name: held.name(), text: reason_text::of_hold(held) }),
        motion: status.motion.map(|motion| moving(motion, here)),
        variables: status.variables,
    };
    line(&Object {
        ok: true,
        word: Some(word),
        robot: Some(robot),
        challenge: challenge.map(Challenge::number),
        standing: Some(standing),
        ..Object::of(id, status)
    })
}

/// Describes why a motion is not started, or not cancelled, in an answer.
fn not_moved<'w>(word: &'w str, against: &MotionRefusal) -> Wrong<'w> {
    let (expected, mut found, text) = match against {
        // A reason is reported like any other rejection.
        MotionRefusal::Reason(_) => ("every precondition met", String::new(), "it must not start now".to_owned()),
        MotionRefusal::Busy(MotionReport { number, percent, .. }) => {
            let found = format!("motion {number}, at {percent} %");
            let text = format!("{found}, is active: wait for its end, or `cancel` it");
            ("no active motion", found, text)
        }
        MotionRefusal::Guided => {
            let text = "freedrive or force mode is active: `stiffen` the arm first".to_owned();
            ("an arm without freedrive and force mode", String::new(), text)
        }
        MotionRefusal::Law => {
            let text = "the law cannot follow a joint motion: run with law.kind = \"joint-servo\", or with \
                        session.path = \"player\" on a UR"
                .to_owned();
            ("a law that follows joints", String::new(), text)
        }
        MotionRefusal::Feed(why @ FeedError::Forwarded) => ("an arm at rest", String::new(), why.to_string()),
        MotionRefusal::Feed(why) => {
            ("a motion that continues from there", why.to_string(), format!("on the way to its first waypoint: {why}"))
        }
        MotionRefusal::Elsewhere => {
            let text = "the arm is no longer at the start of the motion: try again".to_owned();
            ("an arm at the start of the motion", String::new(), text)
        }
        MotionRefusal::Nothing => {
            let text = "no requested motion is active; `release` (`outrigger ctl ROBOT stop`) stops the law".to_owned();
            ("an active motion", String::new(), text)
        }
    };
    if found.is_empty() {
        found = against.name().to_owned();
    }
    Wrong::new(against.name(), word, expected, text).found(found)
}

/// Serializes the variables of a program on the controller. A number without a JSON form (NaN, infinity) becomes
/// `null`, as in every answer.
fn numbers_or_null<S: Serializer>(variables: &Option<Variables>, serializer: S) -> Result<S::Ok, S::Error> {
    variables.map(|variables| variables.arrays(|real| real)).serialize(serializer)
}

fn moving(MotionReport { number, stage, percent, tenths }: MotionReport, here: bool) -> Moving {
    let reason = match stage {
        MotionStage::Refused(reason) | MotionStage::Missed(reason) => Some(why(reason, None, here)),
        MotionStage::NotFound(why) => {
            Some(ReasonObject { name: why.name(), text: why.text().to_owned(), advice: why.advice(), by: None })
        }
        _ => None,
    };
    Moving { number, state: stage.name(), percent, seconds: f64::from(tenths) / 10.0, reason }
}

/// Formats the answer to a client's line that is not a valid request.
pub(super) fn fault(fault: &Fault<'_>, now: &Status) -> String {
    let place = fault.key.map_or("line", |key| key.name());
    let wrong = Wrong::new(fault.kind.name(), place, fault.expected, fault.to_string());
    let wrong = Wrong { byte: Some(fault.at), ..wrong.found(String::from_utf8_lossy(fault.found)) };
    line(&Object::of(fault.id, now).with(wrong))
}

/// Formats the answer to a client's request whose value for `key` is not valid, or names something that this run does
/// not have. `expected` may also be a parser's message that has the words "expected" and "found" itself.
pub(super) fn value(id: Option<u32>, now: &Status, key: &str, expected: &str, found: &str) -> String {
    let begins = if expected.contains("expected ") { "" } else { "expected " };
    let ends = if expected.contains(", found ") { String::new() } else { format!(", found '{found}'") };
    let text = format!("{key}: {begins}{expected}{ends}");
    let expected = expected.strip_prefix("expected ").unwrap_or(expected);
    line(&Object::of(id, now).with(Wrong::new("BadValue", key, expected, text).found(found)))
}

/// Formats the answer to a motion that the arm cannot follow, or that is not valid.
pub(super) fn unfit(id: Option<u32>, now: &Status, text: &str) -> String {
    let expected = "a motion that the arm can make from its position";
    let wrong = Wrong::new("Unfit", "how", expected, text).found(text);
    line(&Object { word: Some("move"), ..Object::of(id, now).with(wrong) })
}

/// Formats the last message to a client that is disconnected, because its place (one of `most`, and of `of_one_process`
/// for each process) is given to another client.
pub(super) fn gave_way(most: usize, of_one_process: usize) -> String {
    let expected = format!("at most {most} clients, and {of_one_process} of one process");
    let text = "another client has taken this slot: reconnect to send a request";
    line(&Object::default().with(Wrong::new("NoPlace", "connection", expected, text)))
}

impl<'l> Object<'l> {
    /// Creates an answer to the request with the number `id`, with this status of the run.
    fn of(id: Option<u32>, status: &Status) -> Self {
        Self { id, epoch: Some(status.epoch.number()), mode: Some(name(status.mode)), ..Self::default() }
    }

    fn with(self, wrong: Wrong<'l>) -> Self {
        Self { outcome: Some(OutcomeMembers::Wrong { error: wrong }), ..self }
    }
}

fn line(object: &Object<'_>) -> String {
    format!("{}\n", json::text(object))
}

/// Returns the JSON object for the reason that ended commanding last. A release (requested end of commanding) is
/// described by its cause `released`.
fn left(of: Reason, released: Option<ReleasedBy>, here: bool) -> ReasonObject {
    let text = released.map_or_else(|| of.text().to_owned(), |by| by.to_string());
    // A cause at the pendant includes the name of its reason.
    let text = text.trim_end_matches(&format!(" ({})", of.name())).to_owned();
    ReasonObject { name: of.name(), text, advice: reason_text::advice(of, here), by: released.map(ReleasedBy::name) }
}

fn why(of: Reason, low: Option<&GradeLow>, here: bool) -> ReasonObject {
    let text = reason_text::of_reason(of, low, Observer::Process);
    ReasonObject { name: of.name(), text, advice: reason_text::advice(of, here), by: None }
}

/// Returns the name of a session's mode in the JSON lines that are sent to clients.
const fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Offline => "offline",
        Mode::Monitor => "monitor",
        Mode::Arming => "arming",
        Mode::Command => "command",
        Mode::Stopping => "stopping",
    }
}

#[cfg(test)]
mod tests;
