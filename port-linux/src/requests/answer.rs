//! Answers, as lines of JSON.

use outrigger_core::command::outputs::{Write, WriteNews};
use outrigger_core::law::FeedError;
use outrigger_core::link::GradeLow;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_remote::request::{Challenge, Fault};
use outrigger_wire::dashboard::Outcome;

use super::slot::Status;
use crate::json::Json;
use crate::motion::{Against, Stage, Standing};
use crate::released::ReleasedBy;
use crate::show::words::{self, Observer};

/// What came of something that was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It is done, or has begun.
    Done,
    /// Its sender saw another epoch than the present.
    WrongEpoch(Epoch),
    /// For this reason, and what else speaks against it.
    Refused(Reason, ReasonSet),
    /// The run is about to end.
    Ending,
    /// The run may begin without being asked here, and somebody's program would be in its way.
    BeginsUnasked,
    /// What became of an output.
    Output(Write, WriteNews),
    /// Nothing was heard of an output.
    NoNews,
    /// Too many outputs wait.
    Full,
    /// A motion is under way, by what the status says.
    Moves,
    /// A motion is not begun, or not ended.
    Motion(Against),
    /// Another motion is being sent, or checked.
    Reads,
    /// What came of a command to the controller's dashboard server.
    Dashboard(Outcome),
    /// A request that causes motion came without a challenge that is good now.
    NotFresh,
    /// Withdrawn by its sender.
    Withdrawn,
    /// An earlier request of its sender is withdrawn.
    Withdrew(Effect),
}

/// The effect of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The request waited, and is not carried out.
    TakenBack,
    /// The request had armed the arm, which is being stopped.
    Released,
    /// No effect.
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

/// What the loop says, and to what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) id: Option<u32>,
    pub(super) word: &'static str,
    pub(super) status: Status,
    pub(super) verdict: Verdict,
}

/// What goes to a client.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "an answer is made in the loop, which allocates nothing for it")]
pub(super) enum Line {
    /// What the loop says.
    Answer(Answer),
    /// A whole line.
    Text(String),
}

/// What is wrong: what, where, what was expected there and what was found.
struct Wrong<'w> {
    what: &'w str,
    place: &'w str,
    byte: Option<usize>,
    expected: &'w str,
    found: &'w str,
    text: &'w str,
}

impl Answer {
    /// The line.
    pub(super) fn line(&self, here: bool) -> String {
        self.line_with(here, None)
    }

    /// The line, with a challenge.
    pub(super) fn line_with(&self, here: bool, challenge: Option<Challenge>) -> String {
        let Self { id, word, status, verdict } = self;
        let ok = match verdict {
            Verdict::Done | Verdict::Moves | Verdict::Dashboard(Outcome::Taken) | Verdict::Withdrew(_) => true,
            Verdict::Output(_, news) => matches!(news, WriteNews::Confirmed(_) | WriteNews::NeverShown),
            _ => false,
        };
        let mut json = begin(*id, ok, Some(status));
        json.key("do").text(word);
        put_challenge(&mut json, challenge);
        let present = status.epoch.number().to_string();
        match verdict {
            Verdict::Done => {}
            Verdict::Moves => motion(json.key("motion"), status.motion, here),
            Verdict::Motion(against) => not_moved(&mut json, word, against),
            Verdict::Reads => {
                let text = "another motion is still being sent, or checked: ask again";
                error(&mut json, &Wrong { place: word, expected: "one motion at a time", ..wrong("Busy", text) });
            }
            Verdict::WrongEpoch(seen) => {
                let (found, text) = (seen.number().to_string(), Reason::WrongEpoch.text());
                error(
                    &mut json,
                    &Wrong { place: "epoch", expected: &present, found: &found, ..wrong("WrongEpoch", text) },
                );
            }
            Verdict::Refused(reason, unmet) => {
                let (expected, found) = ("every precondition held", reason.name());
                error(&mut json, &Wrong { place: word, expected, found, ..wrong("Refused", reason.text()) });
                let rest = words::causes_first(*unmet).into_iter().filter(|other| other != reason);
                reasons(json.key("reasons"), [*reason].into_iter().chain(rest), status.low.as_ref(), here);
            }
            Verdict::Ending => {
                let text = "the run is about to end";
                error(&mut json, &Wrong { place: word, expected: "a run that goes on", ..wrong("Ending", text) });
            }
            Verdict::BeginsUnasked => {
                let text = "this run may begin to command by itself, or by an input: no program of others beside it";
                let expected = "a run that is only asked to begin";
                error(&mut json, &Wrong { place: word, expected, ..wrong("BeginsUnasked", text) });
            }
            Verdict::Output(write, news) => {
                json.key("output").text(&words::of_write(write)).key("news").text(words::name_of_news(news));
                if let WriteNews::Confirmed(after) = news {
                    json.key("after_ms").float(after.as_micros() as f64 / 1e3);
                }
                let text = words::of_news(news);
                if ok {
                    json.key("text").text(&text);
                } else {
                    let (expected, found) = ("an output that the controller shows as set", words::name_of_news(news));
                    error(&mut json, &Wrong { place: "output", expected, found, ..wrong("NotSet", &text) });
                }
            }
            Verdict::Dashboard(Outcome::Taken) => {
                json.key("text").text(Outcome::Taken.text());
            }
            Verdict::Dashboard(outcome) => {
                let expected = "a command that the controller takes";
                error(&mut json, &Wrong { place: word, expected, ..wrong(outcome.name(), outcome.text()) });
            }
            Verdict::NotFresh => {
                let text = "it came without a challenge of the last 2 s, or late: ask for the status, and send its `challenge` at once";
                let expected = "the challenge of an answer of the last 2 s, used by no other request";
                error(&mut json, &Wrong { place: "challenge", expected, ..wrong("NotFresh", text) });
            }
            Verdict::Withdrawn => {
                let text = "its sender has withdrawn it";
                error(&mut json, &Wrong { place: word, expected: "a request that stands", ..wrong("Withdrawn", text) });
            }
            Verdict::Withdrew(effect) => {
                json.key("effect").text(effect.name());
            }
            Verdict::NoNews => {
                let text = "nothing was heard of the output for 10 s; it may have been set";
                error(&mut json, &Wrong { place: "output", expected: "an answer", ..wrong("NoNews", text) });
            }
            Verdict::Full => {
                let text = "too many outputs wait to be confirmed: wait for their answers";
                error(&mut json, &Wrong { place: "output", expected: "at most 16", ..wrong("Full", text) });
            }
        }
        end(json)
    }
}

fn put_challenge(json: &mut Json, challenge: Option<Challenge>) {
    if let Some(challenge) = challenge {
        json.key("challenge").integer(challenge.number());
    }
}

const fn wrong<'w>(what: &'w str, text: &'w str) -> Wrong<'w> {
    Wrong { what, place: "", byte: None, expected: "", found: "", text }
}

/// How it stands, in full.
pub(super) fn status(
    id: Option<u32>,
    word: &str,
    status: &Status,
    (robot, here): (&str, bool),
    challenge: Option<Challenge>,
) -> String {
    let mut json = begin(id, true, Some(status));
    json.key("do").text(word).key("robot").text(robot);
    put_challenge(&mut json, challenge);
    json.key("grade").text(&status.grade.name().to_lowercase()).key("latch");
    match status.latch {
        Some(latched) => reason(&mut json, latched, None, here),
        None => {
            json.null();
        }
    }
    reasons(json.key("unmet"), words::causes_first(status.unmet).into_iter(), status.low.as_ref(), here);
    json.key("left");
    match status.left {
        Some(reason) => left(&mut json, reason, status.released, here),
        None => {
            json.null();
        }
    }
    json.key("ending").boolean(status.ending).key("overrides_pendant").boolean(status.overrides_pendant);
    json.key("held_by");
    match status.held {
        Some(held) => {
            json.begin_object().key("name").text(held.name()).key("text").text(words::of_hold(held)).end_object();
        }
        None => {
            json.null();
        }
    }
    motion(json.key("motion"), status.motion, here);
    if let Some(variables) = &status.variables {
        variables.json(json.key("variables"));
    }
    end(json)
}

/// Why a motion is not begun, or not ended.
fn not_moved(json: &mut Json, word: &str, against: &Against) {
    let (expected, mut found, text) = match against {
        // What has reasons is a refusal like any other.
        Against::Reason(_) => ("every precondition held", String::new(), "it must not begin now".to_owned()),
        Against::Busy(Standing { number, percent, .. }) => {
            let found = format!("motion {number}, at {percent} %");
            let text = format!("{found}, is under way: wait for its end, or `cancel` it");
            ("no motion under way", found, text)
        }
        Against::Guided => {
            let text = "a hand or a force moves the arm: `stiffen` it first".to_owned();
            ("an arm that does not give way", String::new(), text)
        }
        Against::Law => {
            let text = "the law follows no motion of joints: run with law.kind = \"joint-servo\", or with session.path = \"player\" \
                        on a UR"
                .to_owned();
            ("a law that follows joints", String::new(), text)
        }
        Against::Feed(why @ FeedError::Forwarded) => ("an arm at rest", String::new(), why.to_string()),
        Against::Feed(why) => {
            ("a motion that goes on from there", why.to_string(), format!("on the way to its first waypoint: {why}"))
        }
        Against::Elsewhere => {
            let text = "the arm is not where the motion begins any more: ask again".to_owned();
            ("an arm where the motion begins", String::new(), text)
        }
        Against::Nothing => {
            let text = "no motion is under way that somebody asked for; `release` stops what the law does".to_owned();
            ("a motion under way", String::new(), text)
        }
    };
    if found.is_empty() {
        found = against.name().to_owned();
    }
    error(json, &Wrong { place: word, expected, found: &found, ..wrong(against.name(), &text) });
}

/// How a motion stands.
fn motion(json: &mut Json, standing: Option<Standing>, here: bool) {
    let Some(Standing { number, stage, percent, tenths }) = standing else {
        json.null();
        return;
    };
    json.begin_object().key("number").integer(number).key("state").text(stage.name());
    json.key("percent").integer(u32::from(percent)).key("seconds").float(f64::from(tenths) / 10.0).key("reason");
    match stage {
        Stage::Refused(why) | Stage::Missed(why) => reason(json, why, None, here),
        Stage::NotFound(why) => {
            json.begin_object().key("name").text(why.name()).key("text").text(why.text());
            json.key("advice").text(why.advice()).end_object();
        }
        _ => {
            json.null();
        }
    }
    json.end_object();
}

/// What is wrong with a line.
pub(super) fn fault(fault: &Fault<'_>, now: &Status) -> String {
    let mut json = begin(fault.id, false, Some(now));
    let found = String::from_utf8_lossy(fault.found);
    let place = fault.key.map_or("line", |key| key.name());
    let (what, text) = (fault.kind.name(), fault.to_string());
    let wrong = Wrong { place, byte: Some(fault.at), expected: fault.expected, found: &found, ..wrong(what, &text) };
    error(&mut json, &wrong);
    end(json)
}

/// A value that the line may have and this run has not.
pub(super) fn value(id: Option<u32>, now: &Status, key: &str, expected: &str, found: &str) -> String {
    let mut json = begin(id, false, Some(now));
    let text = format!("{key}: expected {expected}, found '{found}'");
    error(&mut json, &Wrong { place: key, expected, found, ..wrong("BadValue", &text) });
    end(json)
}

/// A motion that the arm cannot make, or that is none.
pub(super) fn unfit(id: Option<u32>, now: &Status, text: &str) -> String {
    let mut json = begin(id, false, Some(now));
    let expected = "a motion that the arm can make from where it stands";
    json.key("do").text("move");
    error(&mut json, &Wrong { place: "how", expected, found: text, ..wrong("Unfit", text) });
    end(json)
}

/// Tells a client that it gives its place to another one.
pub(super) fn gave_way(most: usize, of_one_process: usize) -> String {
    let mut json = begin(None, false, None);
    let expected = format!("at most {most} clients, and {of_one_process} of one process");
    let text = "another client has taken this place: connect again to say something";
    error(&mut json, &Wrong { place: "connection", expected: &expected, ..wrong("NoPlace", text) });
    end(json)
}

fn begin(id: Option<u32>, ok: bool, status: Option<&Status>) -> Json {
    let mut json = Json::with_nulls();
    json.begin_object().key("id");
    match id {
        Some(id) => json.integer(id),
        None => json.null(),
    };
    json.key("ok").boolean(ok);
    if let Some(status) = status {
        json.key("epoch").integer(status.epoch.number()).key("mode").text(name(status.mode));
    }
    json
}

fn end(mut json: Json) -> String {
    json.end_object();
    format!("{}\n", json.as_str())
}

fn error(json: &mut Json, wrong: &Wrong<'_>) {
    json.key("error").begin_object().key("what").text(wrong.what).key("where").text(wrong.place);
    if let Some(byte) = wrong.byte {
        json.key("byte").integer(byte as u64);
    }
    json.key("expected").text(wrong.expected).key("found").text(wrong.found).key("text").text(wrong.text);
    json.end_object();
}

fn reasons(json: &mut Json, of: impl Iterator<Item = Reason>, low: Option<&GradeLow>, here: bool) {
    json.begin_array();
    of.for_each(|one| reason(json, one, low, here));
    json.end_array();
}

/// Writes the reason that ended commanding last; of a release, with its cause.
fn left(json: &mut Json, of: Reason, released: Option<ReleasedBy>, here: bool) {
    let text = released.map_or_else(|| of.text().to_owned(), |by| by.to_string());
    // A cause at the pendant names its reason.
    let text = text.trim_end_matches(&format!(" ({})", of.name())).to_owned();
    json.begin_object().key("name").text(of.name()).key("text").text(&text);
    json.key("advice").text(words::advice(of, here));
    if let Some(by) = released {
        json.key("by").text(by.name());
    }
    json.end_object();
}

fn reason(json: &mut Json, of: Reason, low: Option<&GradeLow>, here: bool) {
    let text = words::of_reason(of, low, Observer::Process);
    json.begin_object().key("name").text(of.name()).key("text").text(&text);
    json.key("advice").text(words::advice(of, here)).end_object();
}

/// A mode, as requests name it.
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
