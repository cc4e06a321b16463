//! One client: its lines are read, passed on and answered, in bounded memory.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration as StdDuration;

use outrigger_core::mode::{Asker, Mode};
use outrigger_core::request::Lines;
use outrigger_core::robot::Reason;
use outrigger_core::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use super::answer::{self, Answer, Line, Verdict};
use super::letter::{Asked, Letter, Reply};
use super::places::{OF_ONE_PROCESS, PLACES, Use};
use super::plans::Planner;
use super::shared::{Shared, Step};
use super::slot::Status;
use crate::clock::std_duration;
use crate::os::local::Stream;
use crate::pace::Pace;

/// Lines per second that one client may send in the long run, and how many at once.
const LINES: (f32, f32) = (200.0, 50.0);
/// Answers that one client is owed at most.
const OWED: usize = 20;
/// How often somebody who watches is told at most.
const WATCH: StdDuration = StdDuration::from_millis(100);
/// How long somebody who sends no more is waited for, to take what it is owed.
const LAST_ANSWERS: StdDuration = StdDuration::from_secs(11);
/// The delay from the time that a piece of a plan was due to the look at its absence.
const LATE: StdDuration = StdDuration::from_millis(1);

/// Whom changes are told: nobody, or with this `id`.
type Watching = watch::Sender<Option<Option<u32>>>;

/// The use that a client makes of its place, written by its task.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// The time of its newest whole line [µs], and one more; 0 before the first.
    spoke: AtomicU64,
    watches: AtomicBool,
    /// A motion: whoever asks for one stays with it.
    moves: AtomicBool,
    /// An arm that gives way, which it has to renew.
    guides: AtomicBool,
}

impl Presence {
    /// Returns it as of now.
    pub(super) fn of(&self) -> Use {
        let spoke = self.spoke.load(Ordering::Relaxed).checked_sub(1).map(Instant::from_micros);
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        Use { spoke, watches: is(&self.watches), answers_for: is(&self.moves) || is(&self.guides) }
    }

    fn spoke(&self, at: Instant) {
        self.spoke.store(at.as_micros().saturating_add(1), Ordering::Relaxed);
    }
}

/// Serves one client until it, or the run, is gone, or it `leaves` its place to another one.
pub(super) async fn attend<const N: usize>(
    mut stream: Stream,
    shared: Arc<Shared<N>>,
    presence: Arc<Presence>,
    leaves: oneshot::Receiver<()>,
    closing: watch::Receiver<()>,
) {
    let asker = Asker(shared.askers.fetch_add(1, Ordering::Relaxed));
    let gives_way = {
        let (from, to) = stream.split();
        let leaves = async {
            let told = leaves.await;
            // It is read once more: what it has sent by now is done, and may be a release.
            tokio::task::yield_now().await;
            told
        };
        tokio::select! {
            biased;
            () = converse(from, to, &shared, (asker, &presence), closing) => false,
            Ok(()) = leaves => true,
        }
    };
    if gives_way {
        // What does not fit into the socket at once is not sent.
        let _ = stream.try_write(answer::gave_way(PLACES, OF_ONE_PROCESS).as_bytes());
        drop(stream);
        shared.gone(asker, &presence.moves).await;
    }
}

pub(super) async fn converse<const N: usize>(
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    shared: &Shared<N>,
    (asker, presence): (Asker, &Presence),
    mut closing: watch::Receiver<()>,
) {
    let (lines, waiting) = mpsc::channel(OWED);
    let (watching, watched) = watch::channel(None);
    let moves = &presence.moves;
    let reading = async move {
        tokio::select! {
            () = read(from, (asker, presence), shared, &lines, &watching) => shared.gone(asker, moves).await,
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
    (asker, presence): (Asker, &Presence),
    shared: &Shared<N>,
    lines: &mpsc::Sender<Line>,
    watching: &Watching,
) {
    // A line that waits for the one before it.
    let mut behind = None;
    let (mut received, mut pace) = (Lines::new(), Pace::new(LINES.0, LINES.1, shared.now()));
    // The wait for the next line, and whether the line before was a release.
    let (mut wait, mut released) = (StdDuration::ZERO, false);
    let mut planner = Planner::new(&shared.plans, asker);
    while !received.is_closed() {
        let due = planner.until();
        let count = tokio::select! {
            biased;
            count = from.read(received.receive_window()) => count,
            () = late(due, shared) => {
                let Some(line) = shared.expired(&mut planner, shared.now()) else { continue };
                if lines.send(Line::Text(line)).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Ok(count @ 1..) = count else { return };
        let at = shared.now();
        received.commit(count);
        let next = |received: &mut Lines, planner: &mut Planner<'_, N>| {
            received.poll_message().map(|line| shared.understand(planner, line, at))
        };
        while let Some(step) = behind.take().or_else(|| next(&mut received, &mut planner)) {
            presence.spoke(at);
            // A release waits for no pace that it shares with other lines, unless it is one of many.
            let releases = matches!(step, Step::PassOn(_, Asked::Release(_)));
            if !releases || released {
                pause(wait).await;
            }
            released = releases;
            let collected = matches!(step, Step::Collected);
            let said = match step {
                Step::Collected => true,
                Step::PassOn(id, asked @ Asked::Release(_)) => {
                    // Not for want of a reader of answers, nor of anything else, is the arm not stopped.
                    let to = lines.clone().try_reserve_owned().ok();
                    let letter = Letter::new(asked, Reply { id, to });
                    shared.pass_on(&shared.releases, letter).await
                }
                Step::PassOn(id, asked) => {
                    if matches!(asked, Asked::Guide(..)) {
                        presence.guides.store(true, Ordering::Relaxed);
                    }
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
                    // Nothing is checked that could not begin.
                    let ready = async {
                        if status.mode == Mode::Command { Ok(shared.ready(wish).await) } else { Err(refused) }
                    };
                    let beside =
                        overtake((&mut from, &mut received), &mut behind, (&mut planner, presence), shared, lines);
                    let ready = tokio::select! {
                        ready = ready => ready,
                        never = beside => match never {},
                    };
                    match ready {
                        Ok(Ok(motion)) => {
                            presence.moves.store(true, Ordering::Relaxed);
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
                Step::Watch(id) => {
                    presence.watches.store(true, Ordering::Relaxed);
                    watching.send(Some(id)).is_ok()
                }
            };
            if !said {
                return;
            }
            // Pieces have a pace of their own: a long motion has many.
            wait = if collected {
                shared.share(&shared.pieces)
            } else {
                pace.take(shared.now()).max(shared.share(&shared.lines))
            };
        }
    }
}

/// Waits until a piece of a plan was due, a moment longer.
async fn late<const N: usize>(due: Option<Instant>, shared: &Shared<N>) {
    match due {
        Some(due) => tokio::time::sleep(std_duration(due.since(shared.now())) + LATE).await,
        None => pending().await,
    }
}

/// Reads on while a motion of this client is checked: a release overtakes it, one at most, and any other line waits `behind` it.
async fn overtake<const N: usize>(
    (from, received): (&mut (impl AsyncRead + Unpin), &mut Lines),
    behind: &mut Option<Step<N>>,
    (planner, presence): (&mut Planner<'_, N>, &Presence),
    shared: &Shared<N>,
    lines: &mpsc::Sender<Line>,
) -> Infallible {
    let mut overtaken = false;
    loop {
        let at = shared.now();
        while behind.is_none() {
            let Some(step) = received.poll_message().map(|line| shared.understand(planner, line, at)) else { break };
            presence.spoke(at);
            *behind = match step {
                Step::PassOn(id, asked @ Asked::Release(_)) if !overtaken => {
                    overtaken = true;
                    let letter = Letter::new(asked, Reply { id, to: lines.clone().try_reserve_owned().ok() });
                    let sent = shared.pass_on_now(&shared.releases, letter);
                    (!sent).then_some(Step::PassOn(id, asked))
                }
                step => Some(step),
            };
        }
        if behind.is_some() || received.is_closed() {
            return pending().await;
        }
        match from.read(received.receive_window()).await {
            Ok(count @ 1..) => received.commit(count),
            Ok(_) | Err(_) => return pending().await,
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
    use outrigger_core::mode::Epoch;
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};

    use super::super::shared::tests::{Bench, bench};
    use super::*;
    use crate::released::ReleasedBy;

    /// A client with a pipe of so many bytes.
    fn client(bench: &Bench, room: usize) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(room);
        let (shared, closing) = (bench.shared.clone(), bench.open.subscribe());
        tokio::spawn(async move {
            let (from, to) = tokio::io::split(theirs);
            let presence = Presence::default();
            converse(from, to, &shared, (Asker(0), &presence), closing).await;
        });
        ours
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
            assert_eq!(letter.asked, Asked::Release(ReleasedBy::Request));
            flood.abort();
            drop(deaf.await);
        });
        assert!(bench.asks.try_recv().is_ok());
    }

    #[test]
    fn a_release_waits_for_no_pace_that_other_lines_have_used_up() {
        let mut bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            // Of all clients together, for a minute and more.
            for _ in 0..150_000 {
                bench.shared.share(&bench.shared.lines);
            }
            let mut stream = client(&bench, 4096);
            stream.write_all(b"{\"do\":\"status\"}\n{\"do\":\"release\"}\n").await.unwrap();
            let release = bench.releases.recv().await.expect("it comes");
            assert_eq!(release.asked, Asked::Release(ReleasedBy::Request));
        });
    }

    #[test]
    fn a_release_overtakes_a_motion_that_is_checked_and_other_lines_wait_behind_it() {
        let mut bench = bench();
        crate::runtime::one_threaded().unwrap().block_on(async {
            let (mut client, mut from) = tokio::io::duplex(4096);
            client.write_all(b"{\"do\":\"release\"}\n{\"do\":\"cancel\"}\n{\"do\":\"release\"}\n").await.unwrap();
            let (mut received, mut behind, presence) = (Lines::new(), None, Presence::default());
            let (lines, _answers) = mpsc::channel(OWED);
            let mut planner = Planner::new(&bench.shared.plans, Asker(0));
            let letter = tokio::select! {
                biased;
                never = overtake((&mut from, &mut received), &mut behind, (&mut planner, &presence), &bench.shared, &lines) => match never {},
                letter = bench.releases.recv() => letter,
            };
            assert_eq!(letter.expect("it comes").asked, Asked::Release(ReleasedBy::Request));
            assert!(matches!(behind, Some(Step::PassOn(None, Asked::Cancel))), "it keeps its place in the order");
            assert!(bench.releases.try_recv().is_err(), "and so does what is behind it");
        });
        assert!(bench.asks.try_recv().is_err());
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
