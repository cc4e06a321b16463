//! One client: its lines are read, passed on and answered, in bounded memory.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use outrigger_config::{SourceInput, SourceSettings, VariableSettings};
use outrigger_core::command::{Sample, SampleValue, SourceId};
#[cfg(feature = "ros2")]
use outrigger_core::law::Forward;
use outrigger_core::mode::{Asker, Epoch, Mode};
use outrigger_core::request::{Ask, Fault, Lines, Message};
use outrigger_core::robot::Reason;
use outrigger_core::sensor::{Reading, Scale};
use outrigger_core::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::answer::{self, Answer, Line, Verdict};
use super::bell::Bell;
use super::errand::Errand;
use super::guidance;
use super::letter::{Asked, Letter, Reply};
use super::slot::{Slot, Status};
use super::streamed::Newest;
#[cfg(feature = "ros2")]
use super::streamed::Streamed;
use crate::clock::Clock;
use crate::io::Setting;
use crate::motion::asked::{Moving, Ready, Stands, Wish, ready};
use crate::os::local::Stream;

/// Lines per second that one client may send in the long run, and how many at once.
const LINES: (f32, f32) = (200.0, 50.0);
/// The same of all of them together: what this thread is busy with.
const ALL_LINES: (f32, f32) = (2_000.0, 200.0);
/// What all of them together may pass on to the loop per second, and at once. Releases are not counted.
const PASSED_ON: (f32, f32) = (1_000.0, 100.0);
/// Answers that one client is owed at most.
const OWED: usize = 20;
/// How often somebody who watches is told at most.
const WATCH: StdDuration = StdDuration::from_millis(100);
/// How long somebody who sends no more is waited for, to take what it is owed.
const LAST_ANSWERS: StdDuration = StdDuration::from_secs(11);

/// So many of something per second: a token bucket.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: f32,
    at_once: f32,
    tokens: f32,
    at: Instant,
}

impl Pace {
    pub(super) const fn new(per_second: f32, at_once: f32, now: Instant) -> Self {
        Self { per_second, at_once, tokens: at_once, at: now }
    }

    /// Takes one where there is one.
    #[cfg(feature = "ros2")]
    fn take_now(&mut self, now: Instant) -> bool {
        let gained = now.since(self.at).as_secs_f32() * self.per_second;
        self.tokens = (self.tokens + gained).min(self.at_once);
        self.at = now;
        let has = self.tokens >= 1.0;
        if has {
            self.tokens -= 1.0;
        }
        has
    }

    /// Takes one: how long to wait before it may be used.
    pub(super) fn take(&mut self, now: Instant) -> StdDuration {
        let gained = now.since(self.at).as_secs_f32() * self.per_second;
        self.tokens = (self.tokens + gained).min(self.at_once) - 1.0;
        self.at = now;
        StdDuration::from_secs_f32((-self.tokens).max(0.0) / self.per_second)
    }
}

/// A source of the configuration that takes readings by request.
#[derive(Debug)]
struct Source {
    name: String,
    /// `None` where its readings come from elsewhere.
    values: Option<usize>,
    scale: Scale,
    newest: AtomicU32,
}

/// What the loop keeps of it: how it stands, the bell, where the arm stands, leave for programs of others, and what is streamed.
type LoopSide<const N: usize> = (Slot, Bell, Arc<Mutex<Stands<N>>>, Errand, Newest<N>);

/// What all clients share.
#[derive(Debug)]
pub(super) struct Shared<const N: usize> {
    robot: String,
    here: bool,
    sources: Vec<Source>,
    variables: Vec<VariableSettings>,
    clock: Clock,
    slot: Slot,
    bell: Bell,
    /// Where the arm stands, as of a moment ago, and what its motions are held to.
    stands: Arc<Mutex<Stands<N>>>,
    /// For who sends programs of others.
    #[cfg_attr(not(feature = "ros2"), expect(dead_code, reason = "only a node of ROS 2 does"))]
    errand: Errand,
    #[cfg_attr(not(feature = "ros2"), expect(dead_code, reason = "only a node of ROS 2 streams"))]
    newest: Newest<N>,
    moving: Moving<N>,
    /// A motion is being read.
    reads: AtomicBool,
    releases: mpsc::Sender<Letter<N>>,
    asks: mpsc::Sender<Letter<N>>,
    /// For the loop, and for lines of any kind.
    passed_on: Mutex<Pace>,
    lines: Mutex<Pace>,
    /// How many have been attended to.
    askers: AtomicU32,
}

impl<const N: usize> Shared<N> {
    #[expect(clippy::too_many_arguments, reason = "each is one thing, and there is one caller")]
    pub(super) fn new(
        robot: String,
        here: bool,
        (sources, variables): (&[SourceSettings], &[VariableSettings]),
        moving: Moving<N>,
        clock: Clock,
        (slot, bell, stands, errand, newest): LoopSide<N>,
        releases: mpsc::Sender<Letter<N>>,
        asks: mpsc::Sender<Letter<N>>,
    ) -> Self {
        let of = |source: &SourceSettings| Source {
            name: source.name.clone(),
            values: (source.input == SourceInput::Requests).then_some(source.values),
            scale: Scale { factor: source.scale, offset: source.offset },
            newest: AtomicU32::new(u32::MAX),
        };
        let pace = |(per_second, at_once)| Mutex::new(Pace::new(per_second, at_once, clock.now()));
        let (passed_on, lines) = (pace(PASSED_ON), pace(ALL_LINES));
        Self {
            robot,
            here,
            sources: sources.iter().map(of).collect(),
            variables: variables.to_vec(),
            clock,
            slot,
            bell,
            stands,
            errand,
            newest,
            moving,
            reads: AtomicBool::new(false),
            releases,
            asks,
            passed_on,
            lines,
            askers: AtomicU32::new(0),
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// How long to wait for a share of what all clients have.
    fn share(&self, of: &Mutex<Pace>) -> StdDuration {
        of.lock().map(|mut pace| pace.take(self.now())).unwrap_or_default()
    }

    /// Hands a letter to the loop, by this lane.
    async fn pass_on(&self, lane: &mpsc::Sender<Letter<N>>, letter: Letter<N>) -> bool {
        let sent = lane.send(letter).await.is_ok();
        self.bell.ring();
        sent
    }

    /// Hands a letter to the loop at once, or not at all.
    #[cfg(feature = "ros2")]
    pub(super) fn hand_over(&self, letter: Letter<N>) -> bool {
        let ends = matches!(letter.asked, Asked::Release | Asked::Gone(_));
        let lane = if letter.asked == Asked::Release { &self.releases } else { &self.asks };
        let may = ends || self.passed_on.lock().is_ok_and(|mut pace| pace.take_now(self.clock.now()));
        let sent = may && lane.try_send(letter).is_ok();
        self.bell.ring();
        sent
    }

    /// Hands the newest command of a stream to the loop.
    #[cfg(feature = "ros2")]
    pub(super) fn stream(&self, forward: Forward<N>) {
        let (epoch, at) = (self.newest().epoch, self.clock.now());
        self.newest.put(Streamed { forward, epoch, at });
        self.bell.ring();
    }

    /// One more who asks.
    #[cfg(feature = "ros2")]
    pub(super) fn next_asker(&self) -> Asker {
        Asker(self.askers.fetch_add(1, Ordering::Relaxed))
    }

    #[cfg(feature = "ros2")]
    pub(super) fn errand(&self) -> Errand {
        self.errand.clone()
    }

    #[cfg(feature = "ros2")]
    pub(super) fn newest(&self) -> Status {
        self.slot.get()
    }

    #[cfg(feature = "ros2")]
    pub(super) fn stands(&self) -> Stands<N> {
        self.stands.lock().map(|stands| *stands).unwrap_or_default()
    }

    #[cfg(feature = "ros2")]
    pub(super) fn moving(&self) -> Moving<N> {
        self.moving.clone()
    }

    #[cfg(feature = "ros2")]
    pub(super) const fn is_here(&self) -> bool {
        self.here
    }

    fn status(&self, id: Option<u32>, word: &str, now: &Status) -> String {
        answer::status(id, word, now, &self.robot, self.here)
    }

    /// Reads the motion that is asked for, in a thread that may take its time.
    ///
    /// # Errors
    /// What is wrong with it; `None` where another one is being read.
    async fn ready(&self, wish: Wish<N>) -> Result<Ready<N>, Option<String>> {
        if self.reads.swap(true, Ordering::Relaxed) {
            return Err(None);
        }
        let stands = self.stands.lock().map(|stands| *stands).unwrap_or_default();
        let moving = self.moving.clone();
        let read = tokio::task::spawn_blocking(move || ready(&wish, &moving, &stands)).await;
        self.reads.store(false, Ordering::Relaxed);
        // One that panicked has said so.
        read.unwrap_or_else(|_| Err("its reader failed".into())).map_err(Some)
    }

    /// An asker is gone, and with it what it answers for, where it `asked` for any.
    async fn gone(&self, asker: Asker, asked: &AtomicBool) {
        if !asked.swap(false, Ordering::Relaxed) {
            return;
        }
        let letter = Letter::new(Asked::Gone(asker), Reply { id: None, to: None });
        self.pass_on(&self.asks, letter).await;
    }

    /// What a line of this asker, received at `at`, comes to.
    fn understand(&self, asker: Asker, line: Result<Message<'_>, Fault<'_>>, at: Instant) -> Step<N> {
        let now = self.slot.get();
        let Message { id, ask } = match line {
            Ok(message) => message,
            Err(fault) => return Step::Say(answer::fault(&fault, &now)),
        };
        let asked = match ask {
            Ask::Status => return Step::Say(self.status(id, ask.word(), &now)),
            Ask::Watch => return Step::Watch(id),
            Ask::Request(epoch) => Asked::Request(epoch),
            Ask::Resume(epoch) => Asked::Resume(epoch),
            Ask::Release => Asked::Release,
            Ask::Acknowledge => Asked::Acknowledge,
            Ask::HandBack(epoch) => Asked::HandBack(epoch),
            Ask::Resend(epoch) => Asked::Resend(epoch),
            Ask::Renew => Asked::Renew(asker),
            Ask::Stiffen => Asked::Stiffen,
            Ask::Cancel => Asked::Cancel,
            Ask::Dashboard { how, .. } => {
                let expected = "a board: beside a run it is `outrigger dashboard ROBOT` that does this";
                return Step::Say(answer::value(id, &now, "how", expected, how));
            }
            Ask::Move { epoch, how } => match Wish::of(how) {
                Ok(wish) => return Step::Move(id, epoch, wish),
                Err(expected) => return Step::Say(answer::value(id, &now, "how", &expected, how)),
            },
            Ask::Freedrive { epoch, how } | Ask::Force { epoch, how } => {
                let hand = matches!(ask, Ask::Freedrive { .. });
                match if hand { guidance::freedrive(how) } else { guidance::force(how) } {
                    Ok((what, limits)) => Asked::Guide(epoch, asker, what, limits),
                    Err(expected) => return Step::Say(answer::value(id, &now, "how", &expected, how)),
                }
            }
            Ask::ToolContact { epoch, how } => match guidance::contact(how) {
                Ok(stops) => Asked::ToolContact(epoch, stops),
                Err(expected) => return Step::Say(answer::value(id, &now, "how", &expected, how)),
            },
            Ask::Set { epoch, output } => match Setting::of(output, &self.variables) {
                Ok(Setting(write)) => Asked::Set(epoch, write),
                Err(expected) => return Step::Say(answer::value(id, &now, "output", &expected, output)),
            },
            Ask::Sample { epoch, source, values, seq } => match self.sample((source, values, seq), at) {
                Ok(sample) => Asked::Sample(epoch, sample),
                Err((key, expected, found)) => return Step::Say(answer::value(id, &now, key, &expected, &found)),
            },
        };
        Step::PassOn(id, asked)
    }

    /// A reading of a source, scaled; or the key that is wrong, what was expected and what was found.
    fn sample(
        &self,
        (name, values, seq): (&str, SampleValue, Option<u32>),
        taken_at: Instant,
    ) -> Result<Sample, (&'static str, String, String)> {
        let takes = self.sources.iter().enumerate().find(|(_, source)| source.name == name && source.values.is_some());
        let Some((index, source)) = takes else {
            let names = self.sources.iter().filter(|source| source.values.is_some()).map(|source| source.name.as_str());
            let names: Vec<_> = names.collect();
            let expected = if names.is_empty() {
                "a source with input = \"requests\", and the configuration has none".into()
            } else {
                format!("a source with input = \"requests\": {}", names.join(", "))
            };
            return Err(("source", expected, name.into()));
        };
        let seq = seq.unwrap_or_else(|| source.newest.load(Ordering::Relaxed).wrapping_add(1));
        let reading = Reading { seq, value: values };
        let expected = source.values.unwrap_or_default();
        let reading = reading.with_count(expected).map_err(|_| {
            ("values", format!("{expected} values for source \"{name}\""), values.as_slice().len().to_string())
        })?;
        source.newest.store(seq, Ordering::Relaxed);
        let source_id = SourceId(u8::try_from(index).unwrap_or(u8::MAX));
        Ok(source.scale.of(reading).sample(source_id, taken_at))
    }
}

/// What is to be done with a line.
enum Step<const N: usize> {
    /// It is answered here.
    Say(String),
    /// The loop decides, once this is read.
    Move(Option<u32>, Epoch, Wish<N>),
    /// From now on each change is told.
    Watch(Option<u32>),
    /// The loop decides.
    PassOn(Option<u32>, Asked),
}

/// Whom changes are told: nobody, or with this `id`.
type Watching = watch::Sender<Option<Option<u32>>>;

/// Serves one client until it, or the run, is gone.
pub(super) async fn attend<const N: usize>(mut stream: Stream, shared: Arc<Shared<N>>, closing: watch::Receiver<()>) {
    let (from, to) = stream.split();
    converse(from, to, &shared, closing).await;
}

async fn converse<const N: usize>(
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    shared: &Shared<N>,
    mut closing: watch::Receiver<()>,
) {
    let (lines, waiting) = mpsc::channel(OWED);
    let (watching, watched) = watch::channel(None);
    let asker = Asker(shared.askers.fetch_add(1, Ordering::Relaxed));
    // A motion: whoever asks for one stays with it.
    let moves = &AtomicBool::new(false);
    let reading = async move {
        tokio::select! {
            () = read(from, (asker, moves), shared, &lines, &watching) => shared.gone(asker, moves).await,
            _ = closing.changed() => {}
        }
        // What is owed is still told, and nothing more.
        drop((lines, watching));
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        () = reading => {}
        () = write(to, shared, waiting, watched) => shared.gone(asker, moves).await,
    }
}

/// Reads lines until there are no more, at the pace that one client may have.
async fn read<const N: usize>(
    mut from: impl AsyncRead + Unpin,
    (asker, moves): (Asker, &AtomicBool),
    shared: &Shared<N>,
    lines: &mpsc::Sender<Line>,
    watching: &Watching,
) {
    let (mut received, mut pace) = (Lines::new(), Pace::new(LINES.0, LINES.1, shared.now()));
    while !received.is_closed() {
        let Ok(count @ 1..) = from.read(received.receive_window()).await else { return };
        let at = shared.now();
        received.commit(count);
        while let Some(step) = received.poll_message().map(|line| shared.understand(asker, line, at)) {
            let said = match step {
                Step::PassOn(id, Asked::Release) => {
                    // Not for want of a reader of answers, nor of anything else, is the arm not stopped.
                    let to = lines.clone().try_reserve_owned().ok();
                    let letter = Letter::new(Asked::Release, Reply { id, to });
                    shared.pass_on(&shared.releases, letter).await
                }
                Step::PassOn(id, asked) => {
                    pause(shared.share(&shared.passed_on)).await;
                    let Ok(to) = lines.clone().reserve_owned().await else { return };
                    shared.pass_on(&shared.asks, Letter::new(asked, Reply { id, to: Some(to) })).await
                }
                Step::Move(id, epoch, wish) => {
                    pause(shared.share(&shared.passed_on)).await;
                    let Ok(to) = lines.clone().reserve_owned().await else { return };
                    let (word, status) = ("move", shared.slot.get());
                    let say = |verdict| Line::Answer(Answer { id, word, status, verdict });
                    let refused = Verdict::Refused(Reason::NotCommanding, status.unmet);
                    // Nothing is read that could not begin.
                    match if status.mode == Mode::Command { Ok(shared.ready(wish).await) } else { Err(refused) } {
                        Ok(Ok(motion)) => {
                            moves.store(true, Ordering::Relaxed);
                            let reply = Reply { id, to: Some(to) };
                            let letter =
                                Letter { motion: Some(motion), ..Letter::new(Asked::Move(epoch, asker), reply) };
                            shared.pass_on(&shared.asks, letter).await
                        }
                        Ok(Err(wrong)) => {
                            let wrong = wrong.map(|wrong| answer::unfit(id, &status, &wrong));
                            drop(to.send(wrong.map_or_else(|| say(Verdict::Reads), Line::Text)));
                            true
                        }
                        Err(verdict) => {
                            drop(to.send(say(verdict)));
                            true
                        }
                    }
                }
                Step::Say(line) => lines.send(Line::Text(line)).await.is_ok(),
                Step::Watch(id) => watching.send(Some(id)).is_ok(),
            };
            if !said {
                return;
            }
            let wait = pace.take(shared.now()).max(shared.share(&shared.lines));
            pause(wait).await;
        }
    }
}

/// A timer's shortest time is longer than no time.
async fn pause(wait: StdDuration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

/// Writes answers, and changes where they are watched, until there is nobody who could give one.
async fn write<const N: usize>(
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared<N>,
    mut waiting: mpsc::Receiver<Line>,
    mut watched: watch::Receiver<Option<Option<u32>>>,
) {
    let mut tick = tokio::time::interval(WATCH);
    // What was missed while a line was written is not made up for.
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut told, mut readable): (Option<Status>, _) = (None, true);
    loop {
        let watching = *watched.borrow();
        let line = tokio::select! {
            biased;
            line = waiting.recv() => match line {
                Some(Line::Answer(answer)) => answer.line(shared.here),
                Some(Line::Text(line)) => line,
                None => return,
            },
            changed = watched.changed(), if readable => {
                readable = changed.is_ok();
                told = None;
                continue;
            }
            _ = tick.tick(), if readable && watching.is_some() => {
                let now = shared.slot.get();
                if told.replace(now) == Some(now) {
                    continue;
                }
                shared.status(watching.flatten(), "watch", &now)
            }
        };
        if to.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::{Limits, SourceConfig};
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};

    use super::*;
    use crate::motion::asked::MadeBy;
    use outrigger_config::Format;

    fn source(name: &str, input: SourceInput) -> SourceSettings {
        let judged = SourceConfig::new(SourceId(0), 2, f32::MIN, f32::MAX);
        SourceSettings { name: name.into(), input, format: Format::Text, values: 2, scale: 0.001, offset: 1.0, judged }
    }

    struct Bench {
        shared: Arc<Shared<6>>,
        releases: mpsc::Receiver<Letter<6>>,
        asks: mpsc::Receiver<Letter<6>>,
        slot: Slot,
        open: watch::Sender<()>,
    }

    fn bench() -> Bench {
        let ((release, releases), (ask, asks)) = (mpsc::channel(2), mpsc::channel(2));
        let (slot, clock) = (Slot::default(), Clock::start());
        let sources = [source("lamp", SourceInput::Stdin), source("goal", SourceInput::Requests)];
        let moving = Moving { limits: Limits::default(), by: MadeBy::Law };
        let loop_side = (slot.clone(), Bell::default(), Arc::default(), Errand::default(), Newest::default());
        let shared = Shared::new("arm".into(), true, (&sources, &[]), moving, clock, loop_side, release, ask);
        Bench { shared: Arc::new(shared), releases, asks, slot, open: watch::channel(()).0 }
    }

    /// A client with a pipe of so many bytes.
    fn client(bench: &Bench, room: usize) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(room);
        let (shared, closing) = (bench.shared.clone(), bench.open.subscribe());
        tokio::spawn(async move {
            let (from, to) = tokio::io::split(theirs);
            converse(from, to, &shared, closing).await;
        });
        ours
    }

    #[test]
    fn a_pace_lets_a_burst_through_and_then_so_many_per_second() {
        let mut pace = Pace::new(200.0, 50.0, Instant::ZERO);
        let waits: Vec<_> = (0..60).map(|_| pace.take(Instant::ZERO).as_micros()).collect();
        assert!(waits[..50].iter().all(|wait| *wait == 0), "{waits:?}");
        assert_eq!((waits[50], waits[59]), (5_000, 50_000));
        assert_eq!(pace.take(Instant::from_micros(10_000_000)).as_micros(), 0);
    }

    #[test]
    fn a_status_is_answered_without_the_loop_and_faults_with_their_place() {
        let mut bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            let mut stream = client(&bench, 4096);
            stream
                .write_all(b"{\"id\":1,\"do\":\"status\"}\nrubbish\n{\"do\":\"set\",\"epoch\":0,\"output\":\"x\"}\n")
                .await
                .unwrap();
            stream.write_all(b"{\"do\":\"sample\",\"epoch\":0,\"source\":\"lamp\",\"values\":[1,2]}\n").await.unwrap();
            stream.write_all(b"{\"do\":\"sample\",\"epoch\":0,\"source\":\"goal\",\"values\":[1]}\n").await.unwrap();
            stream.write_all(&[b' '; 1025]).await.unwrap();
            let mut lines = BufReader::new(stream).lines();
            let mut said = vec![];
            while let Some(line) = lines.next_line().await.unwrap() {
                said.push(line);
            }
            assert!(
                said[0].starts_with("{\"id\":1,\"ok\":true,\"epoch\":0,\"mode\":\"offline\",\"do\":\"status\""),
                "{said:#?}"
            );
            let has = |at: usize, parts: &[&str]| parts.iter().all(|part| said[at].contains(part));
            assert!(has(1, &["\"what\":\"Syntax\"", "\"byte\":0", "\"found\":\"rubbish\""]), "{said:#?}");
            assert!(has(2, &["\"what\":\"BadValue\"", "\"where\":\"output\"", "digital-out.N=on|off"]), "{said:#?}");
            assert!(
                has(3, &["\"where\":\"source\"", "input = \\\"requests\\\": goal", "\"found\":\"lamp\""]),
                "{said:#?}"
            );
            assert!(has(4, &["\"where\":\"values\"", "2 values", "\"found\":\"1\""]), "{said:#?}");
            assert!(has(5, &["\"what\":\"TooLong\"", "\"byte\":1024"]), "and the end: {said:#?}");
            assert_eq!(said.len(), 6);
        });
        assert!(bench.asks.try_recv().is_err() && bench.releases.try_recv().is_err(), "nothing reached the loop");
    }

    #[test]
    fn a_sample_is_scaled_counted_and_timed() {
        let bench = bench();
        let value = SampleValue::new(&[1000.0, -500.0]).unwrap();
        let at = Instant::from_micros(77);
        let taken = |seq| bench.shared.sample(("goal", value, seq), at).unwrap();
        assert_eq!((taken(None).seq, taken(None).seq, taken(Some(40)).seq, taken(None).seq), (0, 1, 40, 41));
        let sample = taken(None);
        assert_eq!((sample.value.as_slice(), sample.source, sample.taken_at), (&[2.0, 0.5][..], SourceId(1), at));
    }

    #[test]
    fn whoever_watches_is_told_of_changes_and_a_reader_that_stands_still_gets_the_newest() {
        let bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            let mut stream = client(&bench, 1 << 16);
            stream.write_all(b"{\"id\":6,\"do\":\"watch\"}\n").await.unwrap();
            let mut lines = BufReader::new(stream).lines();
            let mut next = async || lines.next_line().await.unwrap().unwrap();
            assert!(next().await.contains("\"mode\":\"offline\",\"do\":\"watch\""));
            for mode in [Mode::Monitor, Mode::Arming] {
                assert!(bench.slot.put(Status { mode, ..Status::default() }));
            }
            let line = next().await;
            assert!(line.starts_with("{\"id\":6,\"ok\":true") && line.contains("\"mode\":\"arming\""), "{line}");
        });
    }

    #[test]
    fn a_release_is_passed_on_though_its_sender_reads_no_answers_and_others_fill_the_lane() {
        let mut bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            // Nobody takes what these ask: the lane is full, and they wait.
            let mut flooding = client(&bench, 64);
            let flood = tokio::spawn(async move {
                while flooding.write_all(b"{\"do\":\"request\",\"epoch\":0}\n").await.is_ok() {}
            });
            let mut still = client(&bench, 64);
            let deaf = tokio::spawn(async move {
                for _ in 0..19 {
                    still.write_all(b"rubbish\n").await.unwrap();
                }
                still.write_all(b"{\"do\":\"release\"}\n").await.unwrap();
                still
            });
            let letter = bench.releases.recv().await.expect("it comes");
            assert_eq!(letter.asked, Asked::Release);
            flood.abort();
            drop(deaf.await);
        });
        assert!(bench.asks.try_recv().is_ok());
    }

    #[test]
    fn whoever_sends_no_more_is_told_what_it_is_owed() {
        let mut bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            let mut stream = client(&bench, 4096);
            stream.write_all(b"{\"id\":1,\"do\":\"request\",\"epoch\":0}\n").await.unwrap();
            stream.shutdown().await.unwrap();
            let Letter { asked, reply, .. } = bench.asks.recv().await.expect("it comes");
            assert_eq!(asked, Asked::Request(Epoch::from_number(0)));
            let answer = Answer { id: reply.id, word: "request", status: Status::default(), verdict: Verdict::Done };
            drop(reply.to.expect("a place").send(Line::Answer(answer)));
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "{\"id\":1,\"ok\":true,\"epoch\":0,\"mode\":\"offline\",\"do\":\"request\"}\n");
        });
    }
}
