//! Serves one client: reads its lines, passes them on and answers them, in bounded memory.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration as StdDuration;

use outrigger_core::mode::{ClientNumber, Mode};
use outrigger_core::robot::Reason;
use outrigger_remote::request::Lines;
use outrigger_wire::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use super::answer::{self, Answer, Line, Verdict};
use super::client_shared_state::Shared;
use super::client_table::{OF_ONE_PROCESS, PLACES, Use};
use super::envelope::{Envelope, Reply, RequestKind};
use super::line_action::ClientAction;
use super::motion_claim::{Claims, Issued};
use super::motion_plans::Planner;
use super::run_status::Status;
use crate::host::clock::std_duration;
use crate::host::os::local::Stream;
use crate::host::rate_limit::Pace;

/// The lines per second that one client may send in the long run, and the number that it may send at once.
const LINES: (f32, f32) = (200.0, 50.0);
/// The maximum number of answers waiting for one client.
const OWED: usize = 20;
/// The minimum interval between status messages to a client that watches the run.
const WATCH: StdDuration = StdDuration::from_millis(100);
/// The time for which a client that sends no more can receive its remaining answers.
const LAST_ANSWERS: StdDuration = StdDuration::from_secs(11);
/// The delay after a piece of a motion was due until its absence is handled.
const LATE: StdDuration = StdDuration::from_millis(1);

/// The subscription of a client to changes of the run's status: `None` without one, otherwise the `id` for its
/// messages.
type Watching = watch::Sender<Option<Option<u32>>>;

/// The use that a client makes of its connection. The client's task updates it.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// The time of the client's newest complete line \[µs\], plus one. 0 before the first line.
    spoke: AtomicU64,
    watches: AtomicBool,
    /// `true` after the client has requested a motion, which then depends on its connection.
    moves: AtomicBool,
    /// `true` after the client has started freedrive or force mode, which it has to renew.
    guides: AtomicBool,
}

impl Presence {
    /// Returns how the client uses its connection, for the decision which client is disconnected.
    pub(super) fn of(&self) -> Use {
        let spoke = self.spoke.load(Ordering::Relaxed).checked_sub(1).map(Instant::from_micros);
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        Use { spoke, watches: is(&self.watches), answers_for: is(&self.moves) || is(&self.guides) }
    }

    fn spoke(&self, at: Instant) {
        self.spoke.store(at.as_micros().saturating_add(1), Ordering::Relaxed);
    }
}

/// Serves one client until it disconnects, the run ends, or its place is given to another client (`leaves`).
pub(super) async fn attend<const N: usize>(
    mut stream: Stream,
    shared: Arc<Shared<N>>,
    presence: Arc<Presence>,
    leaves: oneshot::Receiver<()>,
    closing: watch::Receiver<()>,
) {
    let asker = ClientNumber(shared.askers.fetch_add(1, Ordering::Relaxed));
    let gives_way = {
        let (from, to) = stream.split();
        let leaves = async {
            let told = leaves.await;
            // The stream is read once more, so that all lines received by now are handled. One may be a release.
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
        // A message that does not fit into the socket buffer is not sent.
        let _ = stream.try_write(answer::gave_way(PLACES, OF_ONE_PROCESS).as_bytes());
        drop(stream);
        shared.gone(asker, &presence.moves).await;
    }
}

pub(super) async fn converse<const N: usize>(
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    shared: &Shared<N>,
    (asker, presence): (ClientNumber, &Presence),
    mut closing: watch::Receiver<()>,
) {
    let (lines, waiting) = mpsc::channel(OWED);
    let (watching, watched) = watch::channel(None);
    let moves = &presence.moves;
    let issued = &Issued::new(asker, shared.now());
    let reading = async move {
        tokio::select! {
            () = read(from, (asker, presence, issued), shared, &lines, &watching) => shared.gone(asker, moves).await,
            _ = closing.changed() => {}
        }
        // The remaining answers are still sent, and nothing else.
        drop((lines, watching));
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        () = reading => {}
        () = write(to, shared, issued, waiting, watched) => shared.gone(asker, moves).await,
    }
}

/// Reads the lines of a client until its stream ends, at the rate that one client may have. Answers each line, or
/// passes its request to the control loop.
async fn read<const N: usize>(
    mut from: impl AsyncRead + Unpin,
    (asker, presence, issued): (ClientNumber, &Presence, &Issued),
    shared: &Shared<N>,
    lines: &mpsc::Sender<Line>,
    watching: &Watching,
) {
    // A line that waits for the one before it.
    let mut behind = None;
    let (mut received, mut pace) = (Lines::new(), Pace::new(LINES.0, LINES.1, shared.now()));
    // The wait before the next line, and `true` if the line before was a release.
    let (mut wait, mut stopped) = (StdDuration::ZERO, false);
    let (mut planner, mut claims) = (Planner::new(&shared.plans, asker), Claims::new(asker, issued));
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
        let next = |received: &mut Lines, planner: &mut Planner<'_, N>, claims: &mut Claims<'_>| {
            received.poll_message().map(|line| shared.understand((planner, claims), line, at))
        };
        while let Some(step) = behind.take().or_else(|| next(&mut received, &mut planner, &mut claims)) {
            presence.spoke(at);
            // A release does not wait for the rate limit, unless it follows another release.
            let stops = matches!(&step, ClientAction::Withdrew(_))
                || matches!(&step, ClientAction::PassOn(_, asked, _) if asked.stops());
            if !stops || stopped {
                pause(wait).await;
            }
            stopped = stops;
            let collected = matches!(step, ClientAction::Collected);
            let said = match step {
                ClientAction::Collected => true,
                ClientAction::PassOn(id, asked, _) if asked.stops() => {
                    // A release is carried out even if nobody reads its answer.
                    let to = lines.clone().try_reserve_owned().ok();
                    let letter = Envelope::new(asked, Reply { id, to });
                    shared.pass_on(&shared.releases, letter).await
                }
                ClientAction::PassOn(id, asked, claim) => {
                    if matches!(asked, RequestKind::Guide(..)) {
                        presence.guides.store(true, Ordering::Relaxed);
                    }
                    pause(shared.share(&shared.passed_on)).await;
                    let Ok(to) = lines.clone().reserve_owned().await else { return };
                    let reply = Reply { id, to: Some(to) };
                    shared.pass_on(&shared.asks, Envelope { claim, ..Envelope::new(asked, reply) }).await
                }
                ClientAction::Move(id, epoch, wish, claim) => {
                    pause(shared.share(&shared.passed_on)).await;
                    let Ok(to) = lines.clone().reserve_owned().await else { return };
                    let (word, status) = ("move", shared.slot.get());
                    let say = |verdict| Line::Answer(Answer { id, word, status, verdict });
                    let refused = Verdict::Refused(Reason::NotCommanding, status.unmet);
                    // A motion that could not start is not checked.
                    let claim = claim.map(|claim| claim.judged(shared.now())).transpose();
                    let ready = async {
                        match claim {
                            Ok(claim) if status.mode == Mode::Command => Ok((shared.ready(wish).await, claim)),
                            Ok(_) => Err(refused),
                            Err(late) => Err(late),
                        }
                    };
                    let ours = (&mut planner, &mut claims, presence);
                    let beside = overtake((&mut from, &mut received), &mut behind, ours, shared, lines);
                    let ready = tokio::select! {
                        ready = ready => ready,
                        never = beside => match never {},
                    };
                    match ready {
                        Ok((Ok(motion), claim)) => {
                            presence.moves.store(true, Ordering::Relaxed);
                            let reply = Reply { id, to: Some(to) };
                            let letter = Envelope::new(RequestKind::Move(epoch, asker), reply);
                            let letter = Envelope { motion: Some(motion), claim, ..letter };
                            shared.pass_on(&shared.asks, letter).await
                        }
                        Ok((Err(wrong), _)) => {
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
                ClientAction::Say(line) | ClientAction::Withdrew(line) => lines.send(Line::Text(line)).await.is_ok(),
                ClientAction::Watch(id) => {
                    presence.watches.store(true, Ordering::Relaxed);
                    watching.send(Some(id)).is_ok()
                }
            };
            if !said {
                return;
            }
            // Pieces of motions have a rate of their own, because a long motion has many.
            wait = if collected {
                shared.share(&shared.pieces)
            } else {
                pace.take(shared.now()).max(shared.share(&shared.lines))
            };
        }
    }
}

/// Waits until shortly after `due`, when a piece of a motion counts as late. Never returns without such a time.
async fn late<const N: usize>(due: Option<Instant>, shared: &Shared<N>) {
    match due {
        Some(due) => tokio::time::sleep(std_duration(due.since(shared.now())) + LATE).await,
        None => pending().await,
    }
}

/// Reads the lines of a client while its motion is checked. The first request that stops the arm takes effect at once,
/// as do withdrawals of waiting requests. The first other line is stored in `behind` until the check has ended, and no
/// line after it is read until then.
async fn overtake<const N: usize>(
    (from, received): (&mut (impl AsyncRead + Unpin), &mut Lines),
    behind: &mut Option<ClientAction<N>>,
    (planner, claims, presence): (&mut Planner<'_, N>, &mut Claims<'_>, &Presence),
    shared: &Shared<N>,
    lines: &mpsc::Sender<Line>,
) -> Infallible {
    let mut overtaken = false;
    loop {
        let at = shared.now();
        while behind.is_none() {
            let Some(line) = received.poll_message() else { break };
            let step = shared.understand((planner, claims), line, at);
            presence.spoke(at);
            *behind = match step {
                // If this was the motion, it is withdrawn by now. The answer is sent if there is room.
                ClientAction::Withdrew(line) => {
                    let _ = lines.try_send(Line::Text(line));
                    None
                }
                ClientAction::PassOn(id, asked, _) if asked.stops() && !overtaken => {
                    overtaken = true;
                    let letter = Envelope::new(asked, Reply { id, to: lines.clone().try_reserve_owned().ok() });
                    let sent = shared.pass_on_now(&shared.releases, letter);
                    (!sent).then_some(ClientAction::PassOn(id, asked, None))
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

/// Sleeps for `wait`. Returns at once if it is zero, because even a timer of zero would take time.
async fn pause(wait: StdDuration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

/// Writes answers to a client, and changes of the status if the client watches them, until no sender of answers is
/// left.
async fn write<const N: usize>(
    mut to: impl AsyncWrite + Unpin,
    shared: &Shared<N>,
    issued: &Issued,
    mut waiting: mpsc::Receiver<Line>,
    mut watched: watch::Receiver<Option<Option<u32>>>,
) {
    let mut tick = tokio::time::interval(WATCH);
    // Ticks that were missed while a line was written are not repeated.
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut told, mut readable): (Option<Status>, _) = (None, true);
    loop {
        let watching = *watched.borrow();
        let line = tokio::select! {
            biased;
            line = waiting.recv() => match line {
                Some(Line::Answer(answer)) => {
                    let refused = answer.verdict == Verdict::NotFresh;
                    answer.line_with(shared.here, refused.then(|| issued.issue(shared.now())))
                }
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
                shared.status(watching.flatten(), "watch", &now, None)
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

    use super::super::client_shared_state::tests::{Bench, bench};
    use super::*;
    use crate::released::ReleasedBy;

    /// Connects a client through a pipe with this buffer size.
    fn client(bench: &Bench, room: usize) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(room);
        let (shared, closing) = (bench.shared.clone(), bench.open.subscribe());
        tokio::spawn(async move {
            let (from, to) = tokio::io::split(theirs);
            let presence = Presence::default();
            converse(from, to, &shared, (ClientNumber(0), &presence), closing).await;
        });
        ours
    }

    #[test]
    fn a_status_is_answered_without_the_loop_and_faults_with_their_place() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
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
        crate::host::runtime::one_threaded().unwrap().block_on(async {
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
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            // The requests are not taken, so the queue fills up, and the clients wait.
            let mut flooding = client(&bench, 64);
            let flood =
                tokio::spawn(
                    async move { while flooding.write_all(b"{\"do\":\"resend\",\"epoch\":0}\n").await.is_ok() {} },
                );
            let mut still = client(&bench, 64);
            let deaf = tokio::spawn(async move {
                for _ in 0..19 {
                    still.write_all(b"rubbish\n").await.unwrap();
                }
                still.write_all(b"{\"do\":\"release\"}\n").await.unwrap();
                still
            });
            let letter = bench.releases.recv().await.expect("it comes");
            assert_eq!(letter.asked, RequestKind::Release(ReleasedBy::Request));
            flood.abort();
            drop(deaf.await);
        });
        assert!(bench.asks.try_recv().is_ok());
    }

    #[test]
    fn a_release_waits_for_no_pace_that_other_lines_have_used_up() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            // The total of all clients, for more than a minute.
            for _ in 0..150_000 {
                bench.shared.share(&bench.shared.lines);
            }
            let mut stream = client(&bench, 4096);
            stream.write_all(b"{\"do\":\"status\"}\n{\"do\":\"release\"}\n").await.unwrap();
            let release = bench.releases.recv().await.expect("it comes");
            assert_eq!(release.asked, RequestKind::Release(ReleasedBy::Request));
        });
    }

    #[test]
    fn a_release_overtakes_a_motion_that_is_checked_and_other_lines_wait_behind_it() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            let (mut client, mut from) = tokio::io::duplex(4096);
            client.write_all(b"{\"do\":\"release\"}\n{\"do\":\"cancel\"}\n{\"do\":\"release\"}\n").await.unwrap();
            let (mut received, mut behind, presence) = (Lines::new(), None, Presence::default());
            let (lines, _answers) = mpsc::channel(OWED);
            let issued = Issued::new(ClientNumber(0), bench.shared.now());
            let (mut planner, mut claims) = (Planner::new(&bench.shared.plans, ClientNumber(0)), Claims::new(ClientNumber(0), &issued));
            let ours = (&mut planner, &mut claims, &presence);
            let letter = tokio::select! {
                biased;
                never = overtake((&mut from, &mut received), &mut behind, ours, &bench.shared, &lines) => match never {},
                letter = bench.releases.recv() => letter,
            };
            assert_eq!(letter.expect("it comes").asked, RequestKind::Release(ReleasedBy::Request));
            assert!(matches!(behind, Some(ClientAction::PassOn(None, RequestKind::Cancel, None))), "it keeps its place in the order");
            assert!(bench.releases.try_recv().is_err(), "and so does what is behind it");
        });
        assert!(bench.asks.try_recv().is_err());
    }

    /// Returns the action that follows from each of one client's `lines`, in their order. Each line has the time of its
    /// arrival \[ms\]. `NEWEST` in a line stands for the challenge in the newest answer.
    fn understood(bench: &Bench, lines: &[(u64, &str)]) -> Vec<ClientAction<6>> {
        let issued = Issued::new(ClientNumber(0), Instant::ZERO);
        let (mut planner, mut claims) =
            (Planner::new(&bench.shared.plans, ClientNumber(0)), Claims::new(ClientNumber(0), &issued));
        let mut steps: Vec<ClientAction<6>> = vec![];
        for (ms, line) in lines {
            let newest = steps.iter().rev().find_map(|step| match step {
                ClientAction::Say(line) => {
                    line.split("\"challenge\":").nth(1).and_then(|rest| rest.split([',', '}']).next())
                }
                _ => None,
            });
            let line = format!("{}\n", line.replace("NEWEST", newest.unwrap_or_default()));
            let mut received = Lines::new();
            received.receive_window()[..line.len()].copy_from_slice(line.as_bytes());
            received.commit(line.len());
            let message = received.poll_message().expect("a line");
            let at = Instant::from_micros(1_000_000 + 1_000 * ms);
            steps.push(bench.shared.understand((&mut planner, &mut claims), message, at));
        }
        steps
    }

    #[test]
    fn a_line_that_was_held_back_for_an_hour_moves_nothing_and_one_with_a_new_challenge_does() {
        let bench = bench();
        let hour = 3_600_000;
        for asks in [
            r#""do":"request","epoch":0"#,
            r#""do":"resume","epoch":0"#,
            r#""do":"hand-back","epoch":0"#,
            r#""do":"freedrive","epoch":0"#,
            r#""do":"force","epoch":0,"how":"z=-20""#,
            r#""do":"renew""#,
            r#""do":"move","epoch":0,"how":"q=0,0,0,0,0,0""#,
            r#""do":"set","epoch":0,"output":"speed-slider=1""#,
            r#""do":"set","epoch":0,"output":"impedance stiffness=800""#,
        ] {
            let fresh = format!(r#"{{"id":7,{asks},"challenge":NEWEST}}"#);
            let bare = format!(r#"{{"id":7,{asks}}}"#);
            let status = r#"{"do":"status"}"#;
            let steps =
                understood(&bench, &[(0, status), (hour, &fresh), (hour, &fresh), (hour, &fresh), (hour, &bare)]);
            let [_, late, taken, again, without] = &steps[..] else { panic!("five lines") };
            for refused in [late, again, without] {
                let ClientAction::Say(line) = refused else { panic!("{asks} is passed on") };
                let said = line.starts_with("{\"id\":7,\"ok\":false") && line.contains("\"what\":\"NotFresh\"");
                assert!(said && line.contains("\"challenge\":"), "{line}");
            }
            assert!(
                matches!(taken, ClientAction::PassOn(Some(7), _, Some(_)) | ClientAction::Move(Some(7), _, _, Some(_))),
                "{asks}"
            );
        }
        // Requests that stop the arm are always carried out.
        for asks in [r#""do":"release""#, r#""do":"cancel""#, r#""do":"stiffen""#, r#""do":"acknowledge""#] {
            let steps = understood(&bench, &[(hour, &format!("{{{asks}}}"))]);
            assert!(matches!(steps[..], [ClientAction::PassOn(None, _, None)]), "{asks}");
        }
    }

    #[test]
    fn a_request_that_waits_is_withdrawn_by_its_id_and_by_its_own_client_alone() {
        let bench = bench();
        let status = r#"{"do":"status"}"#;
        let request = r#"{"id":7,"do":"request","epoch":0,"challenge":NEWEST}"#;
        let withdraw = |what: u32| format!(r#"{{"id":8,"do":"withdraw","what":{what}}}"#);
        let steps = understood(&bench, &[(0, status), (1, request), (2, &withdraw(6)), (3, &withdraw(7))]);
        let [_, ClientAction::PassOn(_, _, Some(claim)), ClientAction::Withdrew(other), ClientAction::Withdrew(own)] =
            &steps[..]
        else {
            panic!("a request, and two withdrawals");
        };
        assert!(other.contains("\"effect\":\"none\"") && own.contains("\"effect\":\"taken-back\""), "{other}{own}");
        assert_eq!(claim.take(Instant::from_micros(1_000_000)), Err(Verdict::Withdrawn));
        let steps = understood(&bench, &[(0, &withdraw(7))]);
        assert!(
            matches!(&steps[..], [ClientAction::Withdrew(line)] if line.contains("\"effect\":\"none\"")),
            "another client"
        );
    }

    #[test]
    fn whoever_sends_no_more_is_told_what_it_is_owed() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            let mut stream = client(&bench, 4096);
            stream.write_all(b"{\"id\":1,\"do\":\"resend\",\"epoch\":0}\n").await.unwrap();
            stream.shutdown().await.unwrap();
            let Envelope { asked, reply, .. } = bench.asks.recv().await.expect("it comes");
            assert_eq!(asked, RequestKind::Resend(Epoch::from_number(0)));
            let answer = Answer { id: reply.id, word: "resend", status: Status::default(), verdict: Verdict::Done };
            drop(reply.to.expect("a place").send(Line::Answer(answer)));
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "{\"id\":1,\"ok\":true,\"epoch\":0,\"mode\":\"offline\",\"do\":\"resend\"}\n");
        });
    }
}
