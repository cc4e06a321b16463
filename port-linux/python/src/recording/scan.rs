//! The first pass through a recording: what it contains, what happened, and where it is damaged.

use std::collections::BTreeMap;
use std::path::Path;

use outrigger::core::engine::recorded_transitions;
use outrigger::core::mode::Mode;
use outrigger::feed::recorded::{LARGEST, LOG, Unread, each_message_and_fact, is_recording};
use outrigger::show::replayed_link_quality::LinkHistory;
use outrigger::wire::time::Instant;
use outrigger::{Failure, Reason, vendor};
use outrigger_cli::replay::replayed;
use serde::Deserialize;

/// The largest number of events that are stored.
const MOST_EVENTS: usize = 1 << 16;
/// The largest size of the texts of events that are stored \[B\].
const MOST_TEXT: usize = 16 << 20;
/// The first bytes of the recording of a fault.
const DUMP: &[u8] = b"OUTRIGGER";

/// An event of a recording.
pub(super) struct Entry {
    pub(super) time: f64,
    pub(super) level: u64,
    pub(super) name: String,
    pub(super) text: String,
}

/// An end of arming or commanding.
#[derive(Clone)]
pub(super) struct End {
    pub(super) time: f64,
    pub(super) reason: Reason,
    pub(super) text: String,
}

/// Damage of a recording, or a reason why the file is none.
pub(super) struct Damage {
    pub(super) text: String,
    pub(super) at: Option<u64>,
}

/// The contents of a recording, up to its end or its damage.
#[derive(Default)]
pub(super) struct Scan {
    /// True for the recording of a fault, which has no channels.
    pub(super) is_dump: bool,
    pub(super) channels: BTreeMap<String, u64>,
    pub(super) facts: BTreeMap<String, String>,
    pub(super) events: Vec<Entry>,
    pub(super) events_left_out: u64,
    pub(super) lost: u64,
    pub(super) last_end: Option<End>,
    pub(super) fault: Option<End>,
    pub(super) damage: Option<Damage>,
    text: usize,
}

/// A line of a recording's log.
#[derive(Deserialize)]
struct Line<'l> {
    level: u64,
    #[serde(borrow)]
    message: std::borrow::Cow<'l, str>,
    #[serde(borrow)]
    name: std::borrow::Cow<'l, str>,
}

/// Runs the engine of any vendor again.
pub(super) fn again(
    dump: &[u8],
    link: &mut LinkHistory,
) -> Result<outrigger::core::engine::Replayed, outrigger::core::engine::ReplayError> {
    use outrigger::core::engine::ReplayError::OtherKind;
    match vendor::ur::replay(dump, link) {
        Err(OtherKind) => vendor::krc::replay(dump, link),
        replayed => replayed,
    }
}

/// Reads a recording from beginning to end. Calls `go_on` now and then; its error ends the pass. An error is a file
/// that is no recording, or that of `go_on`.
pub(super) fn scan(path: &Path, go_on: &mut dyn FnMut() -> Result<(), Failure>) -> Result<Scan, Damage> {
    if !is_recording(path) {
        return scan_dump(path);
    }
    let mut scan = Scan::default();
    let mut facts = BTreeMap::new();
    let (mut read, mut ours, mut refused) = (0_u64, false, false);
    let ended = each_message_and_fact(
        path,
        |topic, nanos, data| {
            read += 1;
            if read.is_multiple_of(1024) {
                go_on().inspect_err(|_| refused = true)?;
            }
            match scan.channels.get_mut(topic) {
                Some(count) => *count += 1,
                None => drop(scan.channels.insert(topic.to_owned(), 1)),
            }
            ours |= topic == "/link" || topic.starts_with("/raw/") || topic.starts_with("/engine/");
            if topic == LOG
                && let Ok(line) = serde_json::from_slice::<Line<'_>>(data)
            {
                ours = true;
                scan.line(seconds(nanos), &line);
            }
            Ok(())
        },
        |key, value| drop(facts.insert(key.to_owned(), value.to_owned())),
    );
    scan.facts = facts;
    // Several threads write to the log.
    scan.events.sort_by(|a, b| a.time.total_cmp(&b.time));
    let counted = scan.facts.get("entries_lost").and_then(|lost| lost.parse().ok()).unwrap_or_default();
    scan.lost = scan.lost.max(counted);
    if let Err(Unread { failure, at }) = ended {
        let damage = Damage { text: failure.told(), at };
        if refused || at.is_none() {
            return Err(damage);
        }
        scan.damage = Some(damage);
    }
    if !ours && !scan.channels.is_empty() {
        let topics: Vec<_> = scan.channels.keys().take(5).map(|topic| topic.escape_debug().to_string()).collect();
        let text = format!(
            "{}: an MCAP file of another program: expected the channels of Outrigger, such as /log, found {}",
            path.display(),
            topics.join(", ")
        );
        return Err(Damage { text, at: None });
    }
    Ok(scan)
}

/// Converts a time since 1970 \[ns\] to seconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Reads the recording of a fault.
fn scan_dump(path: &Path) -> Result<Scan, Damage> {
    let shown = path.display();
    let dump = outrigger::config::bounded_file_read::read(path, LARGEST)
        .map_err(|error| Damage { text: format!("cannot read {shown}: {error}"), at: None })?;
    if !dump.starts_with(DUMP) {
        let found: String = dump.iter().take(12).map(|byte| byte.escape_ascii().to_string()).collect();
        let found = if dump.is_empty() { "an empty file".to_owned() } else { format!("\"{found}\"") };
        let text = format!(
            "{shown} is no recording: expected an MCAP file or the recording of a fault, which begins with \"OUTRIGGER\", \
             found {found}"
        );
        return Err(Damage { text, at: Some(0) });
    }
    let (results, ended) = replayed(path, again, &mut || Ok(()));
    if let Err(failure @ Failure::BadInput(_)) = ended {
        return Err(Damage { text: failure.at(path).told(), at: Some(dump.len() as u64) });
    }
    let mut scan = Scan { is_dump: true, ..Scan::default() };
    let since_start = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
    for (at, text) in results.lines {
        scan.event(since_start(at), 2, if text.contains(" → ") { "transition" } else { "link" }, &text);
    }
    for transition in recorded_transitions(&dump) {
        if let Some(reason) = transition.reason {
            scan.end(transition.from, since_start(transition.at), reason, reason.text());
        }
    }
    Ok(scan)
}

impl Scan {
    fn line(&mut self, time: f64, line: &Line<'_>) {
        let (text, name) = (line.message.as_ref(), line.name.as_ref());
        match name {
            "recorder" => {
                let lost = text.split(' ').next().and_then(|count| count.parse().ok());
                self.lost = self.lost.saturating_add(lost.unwrap_or(0_u64));
            }
            "transition" => {
                if let Some((from, reason, text)) = transition(text) {
                    self.end(from, time, reason, text);
                }
            }
            _ => {}
        }
        self.event(time, line.level, name, text);
    }

    fn event(&mut self, time: f64, level: u64, name: &str, text: &str) {
        self.text = self.text.saturating_add(name.len() + text.len());
        if self.events.len() >= MOST_EVENTS || self.text > MOST_TEXT {
            self.events_left_out += 1;
            return;
        }
        self.events.push(Entry { time, level, name: name.to_owned(), text: text.to_owned() });
    }

    /// Stores an end of arming or commanding. A fault while the arm is brought to rest counts if a release preceded it.
    fn end(&mut self, from: Mode, time: f64, reason: Reason, text: &str) {
        let end = End { time, reason, text: text.to_owned() };
        let is_fault = reason != Reason::Released;
        match from {
            Mode::Arming | Mode::Command => {
                if is_fault {
                    self.fault = Some(end.clone());
                }
                self.last_end = Some(end);
            }
            Mode::Stopping if is_fault => {
                if self.last_end.as_ref().is_some_and(|last| last.reason == Reason::Released) {
                    self.fault = Some(end);
                }
            }
            _ => {}
        }
    }
}

/// Returns mode, reason and text of a transition with a reason, from its line in the log. The text of a release has no
/// name of a reason.
fn transition(line: &str) -> Option<(Mode, Reason, &str)> {
    let (from, rest) = line.split_once(" → ")?;
    let (_to, text) = rest.split_once(": ")?;
    let from = Mode::ALL.into_iter().find(|mode| mode.name() == from)?;
    let named = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let reason = named.and_then(|(text, name)| {
        let reason = Reason::ALL.iter().copied().find(|reason| reason.name() == name)?;
        Some((from, reason, text))
    });
    Some(reason.unwrap_or((from, Reason::Released, text)))
}
