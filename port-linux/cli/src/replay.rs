//! The command `outrigger replay`: runs the engine again from a recording. The same inputs must give the same
//! transitions and the same commands, to the byte.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::Path;

use outrigger_config::bounded_file_read;
use outrigger_core::engine::{ReplayError, Replayed, dump_end, recorded_transitions};
use outrigger_core::mode::Transition;
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

use crate::args::ReplayArgs;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::feed::recorded::{ENGINE, LARGEST, LOG, each_message, is_recording};
use outrigger::show::replayed_link_quality::LinkHistory;
use outrigger::show::tell;

/// A function that runs the engine again with the inputs in one dump (contents of the engine's recorder), for the
/// dump's kind of controller, and compares the mode transitions and commands with the recorded ones.
pub type Again = fn(&[u8], &mut LinkHistory) -> Result<Replayed, ReplayError>;

/// The topic of engine inputs in recordings that earlier versions wrote, which cannot be replayed.
const FIRST_FORM: &str = "/engine/inputs";

/// The longest line of a recording's log that is read \[bytes\].
const LONGEST_LINE: usize = 64 << 10;
/// The largest number of mode transitions in a recording's log that are stored until they are replayed.
const MOST_LOGGED: usize = 1 << 16;

/// Runs `outrigger replay`, with `again` to run the engine. One recording is shown with its mode transitions, several
/// with a verdict each.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is not a recording, [`Failure::Fault`] with the first difference. For
/// several files, [`Failure::Fault`] if one differs, else [`Failure::BadInput`] if one cannot be read.
pub(crate) fn run(args: &ReplayArgs, again: Again) -> Outcome {
    if let [path] = args.dumps.as_slice() {
        let (story, ended) = replayed(path, again, &mut || Ok(()));
        write!(std::io::stdout(), "{}", story.text()).or_else(|error| output_closed(&error))?;
        return ended.map_err(|failure| failure.at(path));
    }
    let mut verdicts = Verdicts::default();
    for path in &args.dumps {
        let (story, ended) = replayed(path, again, &mut || Ok(()));
        let line = verdicts.add(path, &story, ended);
        tell(&line)?;
    }
    verdicts.end()
}

/// Replays one recording, with `again` to run the engine. Calls `go_on` before each part; its error ends the replay.
/// Returns the results, and an error if the replay differs from the recording, or the file cannot be read.
pub fn replayed(path: &Path, again: Again, go_on: &mut dyn FnMut() -> Outcome) -> (ReplayResults, Outcome) {
    let mut story = ReplayResults::of(again);
    let ended = if is_recording(path) { run_of(path, &mut story, go_on) } else { fallback_of(path, &mut story) };
    story.is_complete |= ended.is_ok();
    (story, ended)
}

/// The numbers of recordings whose replay gave the same mode transitions and commands, whose replay differed, and that
/// could not be replayed.
#[derive(Debug, Default)]
struct Verdicts {
    same: usize,
    differ: usize,
    unread: usize,
}

impl Verdicts {
    /// Returns the output line for a replayed recording, and counts its verdict.
    fn add(&mut self, path: &Path, story: &ReplayResults, ended: Outcome) -> String {
        let shown = path.display();
        match ended {
            Ok(()) => {
                self.same += 1;
                format!("{shown}: same: {}", story.total())
            }
            Err(Failure::Fault(text)) => {
                self.differ += 1;
                format!("{shown}: DIFFERS: {text}\n")
            }
            Err(failure) => {
                self.unread += 1;
                format!("{shown}: NOT REPLAYED: {failure}\n")
            }
        }
    }

    fn end(&self) -> Outcome {
        let Self { same, differ, unread } = self;
        let files = same + differ + unread;
        let text = format!("{same} of {files} files gave the same; {differ} differ; {unread} could not be replayed");
        match (differ, unread) {
            (0, 0) => tell(&format!("{text}\n")),
            (0, _) => Err(Failure::BadInput(text)),
            _ => Err(Failure::Fault(text)),
        }
    }
}

/// Replays a recording that was written after a fault: one dump of the engine's recorder.
fn fallback_of(path: &Path, story: &mut ReplayResults) -> Outcome {
    let dump = bounded_file_read::read(path, LARGEST)
        .map_err(|error| Failure::BadInput(format!("cannot be read: {error}")))?;
    story.replay(&dump)
}

/// Replays the recording of a whole run, which contains the engine's inputs from beginning to end.
fn run_of(path: &Path, story: &mut ReplayResults, go_on: &mut dyn FnMut() -> Outcome) -> Outcome {
    let mut run = Run { story, header: vec![], half: vec![], is_first_form: false };
    let mut is_refused = false;
    let read = each_message(path, |topic, _, data| {
        let is_part = topic == ENGINE && data.is_empty();
        let taken = if is_part { go_on() } else { Ok(()) };
        taken.and_then(|()| run.message(topic, data)).inspect_err(|_| is_refused = true)
    });
    match read {
        Ok(()) => run.end(),
        Err(failure) if is_refused => Err(failure),
        Err(failure) => run.end_early(failure),
    }
}

/// The part of a recorded run that was read. The run is recorded in parts (halves of the recorder's memory), each of
/// which begins with a checkpoint from which the engine can start.
struct Run<'s> {
    story: &'s mut ReplayResults,
    header: Vec<u8>,
    half: Vec<u8>,
    is_first_form: bool,
}

impl Run<'_> {
    fn message(&mut self, topic: &str, data: &[u8]) -> Outcome {
        match topic {
            ENGINE if self.header.is_empty() => self.header = data.to_vec(),
            ENGINE if data.is_empty() => return self.replay(),
            ENGINE if (self.half.len() + data.len()) as u64 > LARGEST => {
                let what = format!("found more than {LARGEST} bytes of the engine's inputs without a checkpoint");
                return Err(Failure::BadInput(what));
            }
            ENGINE => self.half.extend_from_slice(data),
            LOG => return self.story.log(data),
            _ => self.is_first_form |= topic == FIRST_FORM,
        }
        Ok(())
    }

    /// Replays the part of the recorded run that was read last, from its checkpoint.
    fn replay(&mut self) -> Outcome {
        let entries = std::mem::take(&mut self.half);
        if entries.is_empty() {
            return Ok(());
        }
        let end = dump_end(self.header.len() + entries.len());
        self.story.replay(&[self.header.as_slice(), &entries, &end].concat())
    }

    /// Ends the replay where the file cannot be read any further, for the reason `failure`. Everything before that
    /// position is replayed.
    ///
    /// # Errors
    /// The error `failure`, or the difference that was found before that position.
    fn end_early(mut self, failure: Failure) -> Outcome {
        // The newest half may contain nothing after its checkpoint.
        if let Err(difference @ Failure::Fault(_)) = self.replay() {
            return Err(difference);
        }
        self.story.is_complete = self.story.total.inputs > 0;
        Err(failure)
    }

    fn end(mut self) -> Outcome {
        self.replay()?;
        match (self.header.is_empty(), self.is_first_form) {
            (false, _) => Ok(()),
            (true, true) => Err(Failure::BadInput(format!(
                "its engine's inputs are in the first form ({FIRST_FORM}), and this version reads the second ({ENGINE}): \
                 replay it with the version that wrote it"
            ))),
            (true, false) => Err(Failure::BadInput(
                "nothing ran: what `outrigger record` keeps can be looked at, not run again; replay what `outrigger run \
                 --record FILE` keeps"
                    .into(),
            )),
        }
    }
}

/// The results of the part of a recording that has been replayed so far.
#[derive(Debug)]
pub struct ReplayResults {
    again: Again,
    /// The recorded mode transitions and the changes of the link's quality, as texts with their times since the start
    /// of the recorded process.
    pub lines: Vec<(Instant, String)>,
    /// `true` if everything that could be read was replayed without a difference.
    is_complete: bool,
    link: LinkHistory,
    /// The mode transitions in the recording's log that have not been matched to replayed ones yet, in order and with
    /// the texts of that time.
    logged: VecDeque<String>,
    from: Option<Instant>,
    /// The counts of the replayed parts.
    pub total: Replayed,
}

impl ReplayResults {
    fn of(again: Again) -> Self {
        let (lines, link, logged) = (vec![], LinkHistory::default(), VecDeque::new());
        Self { again, lines, is_complete: false, link, logged, from: None, total: Replayed::default() }
    }

    /// Returns the results as lines for people, and the [total](Self::total) if no difference was found.
    fn text(&self) -> String {
        let line =
            |(at, text): &(Instant, String)| format!("{:9.3} s  {text}\n", at.since(Instant::ZERO).as_secs_f64());
        let mut text: String = self.lines.iter().map(line).collect();
        if self.is_complete {
            text.push_str(&self.total());
        }
        text
    }

    /// Reads a line of the recording's log.
    ///
    /// # Errors
    /// [`Failure::BadInput`] for a line that reports missing data.
    fn log(&mut self, line: &[u8]) -> Outcome {
        if line.len() > LONGEST_LINE {
            return Ok(());
        }
        let line: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
        let word = |name: &str| line.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        match word("name") {
            "recorder" => {
                let text = format!("{}; a recording with gaps cannot be replayed", word("message"));
                return Err(Failure::BadInput(text));
            }
            "transition" if self.logged.len() < MOST_LOGGED => self.logged.push_back(word("message").to_owned()),
            _ => {}
        }
        Ok(())
    }

    /// Returns a mode transition as text. A release has the text of the log, which names its cause, if it is the next
    /// one there.
    fn words_of(&mut self, transition: &Transition) -> String {
        let text = format!("{} → {}", transition.from.name(), transition.to.name());
        let is_same = |logged: &mut String| {
            logged.strip_prefix(&text).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let logged = self.logged.pop_front_if(is_same);
        match (transition.reason, logged) {
            (None, _) => text,
            (Some(Reason::Released), Some(logged)) => logged,
            (Some(reason), _) => format!("{text}: {} ({})", reason.text(), reason.name()),
        }
    }

    /// Replays one dump of the engine's recorder, and adds its results.
    fn replay(&mut self, dump: &[u8]) -> Outcome {
        let replayed = (self.again)(dump, &mut self.link);
        let advice = match &replayed {
            Err(ReplayError::NoDump) => {
                "; give a file of run.recordings, one that `watch` wrote, or the .mcap of `run --record`"
            }
            Err(ReplayError::OtherFormat(_)) => "; replay it with the version that wrote it",
            Err(ReplayError::CutOff) => "; what is missing cannot be told from it: use another copy",
            _ => {
                self.transitions(dump);
                ""
            }
        };
        match replayed {
            Ok(Replayed { inputs, transitions, texts, from, to }) => {
                self.from.get_or_insert(from);
                self.total.inputs = self.total.inputs.saturating_add(inputs);
                self.total.transitions = self.total.transitions.saturating_add(transitions);
                self.total.texts = self.total.texts.saturating_add(texts);
                self.total.to = to;
                Ok(())
            }
            Err(error @ ReplayError::Diverged { .. }) => Err(Failure::Fault(format!("first difference: {error}"))),
            Err(error) => Err(Failure::BadInput(format!("{error}{advice}"))),
        }
    }

    /// Adds the recorded mode transitions to the results, and between them the changes of the link's quality that the
    /// replayed engine reports.
    fn transitions(&mut self, dump: &[u8]) {
        let mut lines = std::mem::take(&mut self.link.lines);
        for transition in recorded_transitions(dump) {
            lines.push((transition.at, self.words_of(&transition)));
        }
        // A change of the link at the same moment precedes the transition, because it is the reason.
        lines.sort_by_key(|(at, _)| *at);
        self.lines.append(&mut lines);
    }

    /// Returns the time between the first and the last replayed input \[s\].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let to = self.total.to;
        to.since(self.from.unwrap_or(to)).as_secs_f64()
    }

    fn total(&self) -> String {
        let Replayed { inputs, transitions, texts, .. } = self.total;
        let span = self.seconds();
        format!(
            "{span:.3} s replayed: {inputs} inputs gave the same {transitions} transitions and the same {texts} commands\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use outrigger_core::engine::Input;
    use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
    use outrigger_core::mode::{Epoch, Mode};
    use outrigger_wire::fri::MeasurementRepr;
    use outrigger_wire::time::Duration;

    use super::*;
    use outrigger::boxed_law::BoxedLaw;
    use outrigger::feed::{EntryContent, Feed, Item};
    use outrigger::run::recorder_to_feed::Tail;
    use outrigger::vendor::krc;

    const MEASUREMENTS: u16 = 600;

    /// Returns the recording of an engine that ran for longer than its recorder's memory holds: the header and the
    /// parts of the engine's inputs, and the number of inputs.
    fn recorded() -> (Vec<Box<[u8]>>, u32) {
        let mut memory = vec![0; 256 << 10];
        let law = BoxedLaw::idle();
        let engine = KrcEngine::new(KrcConfig::default(), law, ()).expect("an engine");
        let mut engine = engine.with_recorder(&mut memory);
        let feed = Feed::new(1 << 13);
        let (mut reader, mut tail) = (feed.reader(), Tail::new(feed));
        let (link, from) = (outrigger_core::engine::LinkId::FRI, SocketAddr::from(([192, 0, 2, 1], 49_938)));
        let (mut now, mut inputs) = (Instant::from_micros(1_000), 1);
        engine.handle(now, Input::Start);
        for send_seq_count in 1..=MEASUREMENTS {
            let repr = MeasurementRepr {
                send_seq_count,
                state: 1,
                quality: 3,
                desired_cmd_sample_time: 0.005,
                ..MeasurementRepr::default()
            };
            let length = repr.emit(engine.receive_window(link)).expect("room");
            now = now + Duration::from_millis(5);
            engine.commit_datagram(link, length, from, now, now);
            engine.handle(now, Input::Tick);
            inputs += 2;
            while engine.poll_output().is_some() {}
            while engine.poll_event().is_some() {}
            tail.put(&engine, now);
        }
        let mut pieces = vec![];
        while let Some(Item::Entry(entry)) = reader.next_now() {
            if let EntryContent::Engine(bytes) = &entry.what {
                pieces.push(bytes.clone());
            }
        }
        (pieces, inputs)
    }

    fn replayed(pieces: &[Box<[u8]>]) -> (Outcome, Replayed) {
        let mut story = ReplayResults::of(krc::replay);
        let mut run = Run { story: &mut story, header: vec![], half: vec![], is_first_form: false };
        let ended = pieces.iter().try_for_each(|piece| run.message(ENGINE, piece)).and_then(|()| run.end());
        (ended, story.total)
    }

    #[test]
    fn a_run_longer_than_the_recorder_is_replayed_whole() {
        let (pieces, inputs) = recorded();
        let halves = pieces.iter().filter(|piece| piece.is_empty()).count();
        assert!(halves > 3, "{halves} halves");
        let (ended, total) = replayed(&pieces);
        assert_eq!(ended.map_err(|failure| failure.to_string()), Ok(()));
        assert_eq!((total.inputs, total.texts), (inputs, u32::from(MEASUREMENTS)));
    }

    #[test]
    fn a_recording_that_is_cut_is_replayed_up_to_there_and_the_cut_is_the_error() {
        let (pieces, inputs) = recorded();
        let mut disk = std::io::Cursor::new(vec![]);
        let mut writer = mcap::WriteOptions::new().compression(None).create(&mut disk).expect("memory");
        let channel_id = writer.add_channel(0, ENGINE, "", &std::collections::BTreeMap::new()).expect("memory");
        let header = mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 1, publish_time: 1 };
        for piece in &pieces {
            writer.write_to_known_channel(&header, piece).expect("memory");
        }
        writer.finish().expect("memory");
        drop(writer);
        let bytes = disk.into_inner();
        let path = std::env::temp_dir().join(format!("outrigger-replay-cut-{}.mcap", std::process::id()));
        let mut most = 0;
        for cut in (100..bytes.len()).step_by(bytes.len() / 50) {
            std::fs::write(&path, &bytes[..cut]).expect("room");
            let mut count = 0;
            let read = each_message(&path, |_, _, _| {
                count += 1;
                Ok(())
            });
            let (story, ended) = super::replayed(&path, krc::replay, &mut || Ok(()));
            let error = ended.expect_err("it is cut");
            assert_eq!((error.code(), error.to_string()), (1, read.expect_err("it is cut").to_string()));
            let (before, expected) = replayed(&pieces[..count]);
            assert!(before.is_ok() || count == 0, "{before:?}");
            assert_eq!((story.total.inputs, story.total.texts), (expected.inputs, expected.texts), "{cut} bytes");
            assert!(expected.inputs == 0 || story.text().ends_with(&story.total()), "{}", story.text());
            most = expected.inputs;
        }
        assert!(most > inputs * 8 / 10, "{most} of {inputs} inputs");
        std::fs::remove_file(&path).expect("a file");
    }

    #[test]
    fn a_command_that_differs_by_a_bit_is_the_first_difference() {
        let (mut pieces, _) = recorded();
        // The newest piece ends with the newest command.
        *pieces.last_mut().and_then(|piece| piece.last_mut()).expect("a command") ^= 1;
        let (ended, _) = replayed(&pieces);
        assert!(matches!(&ended, Err(Failure::Fault(text)) if text.starts_with("first difference: ")), "{ended:?}");
    }

    #[test]
    fn several_files_have_a_verdict_each_and_the_worst_is_the_exit_code() {
        let folder = std::env::temp_dir().join(format!("outrigger-replay-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("room");
        let (pieces, inputs) = recorded();
        // The header and the first half are a dump of their own.
        let (header, rest) = pieces.split_first().expect("a header");
        let entries = rest.iter().skip_while(|piece| piece.is_empty()).take_while(|piece| !piece.is_empty());
        let half: Vec<u8> = std::iter::once(header).chain(entries).flat_map(|piece| piece.to_vec()).collect();
        let whole = [half.as_slice(), &dump_end(half.len())].concat();
        let mut other = half;
        *other.last_mut().expect("a command") ^= 1;
        let other = [other.as_slice(), &dump_end(other.len())].concat();
        let verdict = |files: &[(&str, &[u8])]| {
            let mut verdicts = Verdicts::default();
            let mut lines = vec![];
            for (name, bytes) in files {
                let path = folder.join(name);
                std::fs::write(&path, bytes).expect("room");
                let (story, ended) = super::replayed(&path, krc::replay, &mut || Ok(()));
                lines.push(verdicts.add(&path, &story, ended).replace(&folder.display().to_string(), ""));
            }
            (lines, verdicts.end().map_err(|failure| (failure.code(), failure.to_string())))
        };
        let (lines, end) = verdict(&[("a", &whole), ("b", b"[robot]"), ("c", &other)]);
        assert!(inputs > 0 && lines[0].starts_with("/a: same: ") && lines[0].ends_with(" commands\n"), "{lines:?}");
        assert!(lines[1].starts_with("/b: NOT REPLAYED: "), "{lines:?}");
        assert!(lines[2].starts_with("/c: DIFFERS: first difference: "), "{lines:?}");
        assert_eq!(end, Err((4, "1 of 3 files gave the same; 1 differ; 1 could not be replayed".to_owned())));
        assert_eq!(verdict(&[("a", &whole), ("b", b"")]).1.map_err(|(code, _)| code), Err(1));
        assert_eq!(verdict(&[("a", &whole), ("d", &whole)]).1, Ok(()));
        std::fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn a_gap_and_what_was_never_run_are_refused_and_so_is_the_first_form_with_both_named() {
        let mut story = ReplayResults::of(krc::replay);
        let gap = story.log(br#"{"name":"recorder","message":"3 entries lost"}"#);
        assert!(matches!(&gap, Err(Failure::BadInput(text)) if text.contains("3 entries lost")), "{gap:?}");
        assert!(story.log(br#"{"name":"link","message":"connected"}"#).is_ok());
        let refusal = |topic: &str| {
            let mut story = ReplayResults::of(krc::replay);
            let mut run = Run { story: &mut story, header: vec![], half: vec![], is_first_form: false };
            run.message(topic, b"{}").expect("nothing of the engine's");
            run.end().expect_err("nothing ran").to_string()
        };
        assert!(refusal("/fri").contains("run --record FILE"));
        let first = refusal(FIRST_FORM);
        assert!(first.contains(FIRST_FORM) && first.contains(ENGINE), "{first}");
    }

    #[test]
    fn a_release_is_told_in_the_words_of_the_log() {
        let transition = |from, to, reason| {
            let (at, epoch) = (Instant::ZERO, Epoch::from_number(4));
            Transition { from, to, reason: Some(reason), at, epoch }
        };
        let released = transition(Mode::Command, Mode::Stopping, Reason::Released);
        let armed = Transition { reason: None, ..transition(Mode::Arming, Mode::Command, Reason::Released) };
        let stopped = transition(Mode::Command, Mode::Stopping, Reason::ProtectiveStop);
        let mut story = ReplayResults::of(krc::replay);
        for text in [
            "Arming → Command",
            "Command → Stopping: finished",
            "Arming → Command",
            "Command → Stopping: x",
            "Arming → Command",
            "Command → Stopping: Ctrl-C",
        ] {
            let line = format!(r#"{{"name":"transition","message":"{text}"}}"#);
            story.log(line.as_bytes()).expect("nothing is missing");
        }
        // The log has no line for this release, and the next lines do not match it.
        let unlogged = story.words_of(&released);
        assert!(unlogged.ends_with("(Released)"), "{unlogged}");
        assert_eq!(story.words_of(&armed), "Arming → Command");
        assert_eq!(story.words_of(&released), "Command → Stopping: finished");
        assert_eq!(story.words_of(&armed), "Arming → Command");
        let stop = "Command → Stopping: the robot is in a protective stop (ProtectiveStop)";
        assert_eq!(story.words_of(&stopped), stop);
        assert_eq!(story.words_of(&armed), "Arming → Command");
        assert_eq!(story.words_of(&released), "Command → Stopping: Ctrl-C");
        let unlogged = story.words_of(&released);
        assert!(unlogged.ends_with("(Released)"), "{unlogged}");
    }
}
