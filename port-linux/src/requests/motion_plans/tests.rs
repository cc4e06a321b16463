use outrigger_core::mode::Mode;
use outrigger_remote::request::{ClientRequest, Message};
use outrigger_wire::robot::JointPositions;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use super::super::client::{Presence, converse};
use super::super::client_shared_state::tests::{Bench, bench, bench_at};
use super::super::envelope::{Envelope, RequestKind};
use super::super::line_action::ClientAction;
use super::super::motion_claim::{Claims, Issued};
use super::super::run_status::Status;
use super::*;
use crate::host::clock::{Clock, Pace};
use crate::motion::requested_motion::MotionRequest;
use crate::released::ReleasedBy;

const EPOCH: Epoch = Epoch::from_number(0);

/// A time that does not pass, so that a challenge is always valid.
#[derive(Debug)]
struct Still;

static STILL: Still = Still;

impl Pace for Still {
    fn now(&self) -> Instant {
        Instant::from_micros(1_000_000)
    }

    fn std_instant(&self, _: Instant) -> Option<std::time::Instant> {
        None
    }

    fn slowed(&self) -> u32 {
        1
    }
}

fn commanded() -> Bench {
    let bench = bench();
    assert!(bench.slot.put(Status { mode: Mode::Command, ..Status::default() }));
    bench
}

fn planner(bench: &Bench, asker: u32) -> Planner<'_, 6> {
    Planner::new(&bench.shared.plans, ClientNumber(asker))
}

/// Sends the piece `how` of a motion plan at this time \[ms\]. Returns the result: nothing, a line for the client, or
/// the whole motion.
fn say(bench: &Bench, planner: &mut Planner<'_, 6>, how: &str, ms: u64) -> Said {
    let at = Instant::from_micros(ms * 1_000);
    let issued = Issued::new(planner.asker, at);
    let mut claims = Claims::new(planner.asker, &issued);
    let challenge = Some(claims.issue(at));
    let line = Message { id: Some(7), challenge, ask: ClientRequest::Move { epoch: EPOCH, how } };
    match bench.shared.understand((planner, &mut claims), Ok(line), at) {
        ClientAction::Collected => Said::Nothing,
        ClientAction::Say(line) => Said::Line(line),
        ClientAction::Move(Some(7), EPOCH, MotionRequest::Motion(motion), Some(_)) => Said::Motion(*motion),
        _ => panic!("{how} comes to something else"),
    }
}

#[derive(Debug, PartialEq)]
enum Said {
    Nothing,
    Line(String),
    Motion(Motion<6>),
}

impl Said {
    fn has(&self, part: &str) -> bool {
        matches!(self, Self::Line(line) if line.starts_with("{\"id\":7,") && line.contains(part))
    }
}

fn row(at: u32) -> String {
    format!("{at},0.1,0,0,0,0,0,0,0,0,0,0,0")
}

#[test]
fn waypoints_become_a_motion_once_they_are_complete_and_not_before() {
    let bench = commanded();
    let mut one = planner(&bench, 1);
    assert!(say(&bench, &mut one, "begin=3 path=0.1,0.1,0.1,0.1,0.1,0.1", 0).has("\"ok\":true"));
    assert_eq!(say(&bench, &mut one, &format!("rows={} {}", row(1), row(2)), 1), Said::Nothing);
    assert_eq!(say(&bench, &mut one, &format!("rows={}", row(3)), 2), Said::Nothing);
    let Said::Motion(motion) = say(&bench, &mut one, "end", 3) else { panic!("it is complete") };
    assert_eq!(motion.waypoints().len(), 3);
    assert_eq!(
        (motion.waypoints()[2].at, motion.tolerances().path),
        (Duration::from_secs(3), JointPositions([0.1; 6]))
    );
    assert!(say(&bench, &mut one, "end", 4).has("without a start"), "it is used up");
    for (rows, end, part) in [
        (&[row(1)][..], true, "found 1 waypoints, expected 2"),
        (&[row(1), row(2), row(3)], false, "found more than 2 waypoints"),
        (&[row(1), row(1)], true, "waypoint 1 must be later than the one before"),
        (&[row(1), "2,x".into()], false, "waypoint 1: found 2 numbers in '2,x', expected 13"),
    ] {
        assert!(say(&bench, &mut one, "begin=2", 5).has("\"ok\":true"));
        let said = say(&bench, &mut one, &format!("rows={}", rows.join(" ")), 5);
        let told = if end { say(&bench, &mut one, "end", 5) } else { said };
        assert!(told.has(part) && told.has("\"what\":\"Unfit\""), "{told:?}");
        if !end {
            // The error was reported, and the client may not have read it yet.
            assert_eq!(say(&bench, &mut one, &format!("rows={}", row(9)), 5), Said::Nothing);
            assert_eq!(say(&bench, &mut one, "end", 5), Said::Nothing);
        }
        assert_eq!(bench.shared.plans.plan().as_ref().map(|plan| plan.asker), None);
    }
}

#[test]
fn two_clients_cannot_interleave_and_one_that_is_gone_leaves_nothing_busy() {
    let bench = commanded();
    let (mut one, mut other) = (planner(&bench, 1), planner(&bench, 2));
    assert!(say(&bench, &mut one, "begin=2", 0).has("\"ok\":true"));
    assert_eq!(say(&bench, &mut one, &format!("rows={}", row(1)), 0), Said::Nothing);
    assert!(say(&bench, &mut other, "begin=1", 0).has("\"what\":\"Busy\""));
    assert_eq!(say(&bench, &mut other, &format!("rows={}", row(7)), 0), Said::Nothing, "it is dropped");
    assert_eq!(say(&bench, &mut other, "end", 0), Said::Nothing);
    assert!(say(&bench, &mut other, &format!("rows={}", row(7)), 0).has("without a start"));
    assert_eq!(say(&bench, &mut one, &format!("rows={}", row(2)), 0), Said::Nothing);
    let Said::Motion(motion) = say(&bench, &mut one, "end", 0) else { panic!("it is complete") };
    assert_eq!(motion.waypoints()[0].at, Duration::from_secs(1), "its own alone");
    assert!(say(&bench, &mut one, "begin=2", 0).has("\"ok\":true"));
    drop(one);
    assert!(say(&bench, &mut other, "begin=1", 0).has("\"ok\":true"));
}

#[test]
fn a_client_that_stops_in_the_middle_is_timed_out_and_is_told_once() {
    let bench = commanded();
    let (mut one, mut other) = (planner(&bench, 1), planner(&bench, 2));
    let piece = |at| format!("rows={}", row(at));
    let expired = |planner: &mut Planner<'_, 6>, ms: u64| {
        bench.shared.expired(planner, Instant::from_micros(ms * 1_000)).map(Said::Line)
    };
    assert_eq!(one.until(), None);
    assert!(say(&bench, &mut one, "begin=1000", 0).has("\"ok\":true"));
    assert_eq!(say(&bench, &mut one, &piece(1), 4_000), Said::Nothing);
    assert_eq!(one.until(), Some(Instant::from_micros(9_000_000)));
    assert_eq!(expired(&mut one, 9_000), None);
    assert!(say(&bench, &mut other, "begin=1", 9_000).has("\"what\":\"Busy\""));
    assert!(expired(&mut one, 9_001).expect("it is late").has("did not arrive in time"));
    assert_eq!(say(&bench, &mut one, &piece(2), 9_002), Said::Nothing);
    assert_eq!((one.until(), expired(&mut one, 60_000)), (None, None));

    // The whole plan has a deadline, however often pieces arrive.
    assert!(say(&bench, &mut one, "begin=1000", 0).has("\"ok\":true"));
    for at in 1..=5 {
        assert_eq!(say(&bench, &mut one, &piece(at), 2_000 * u64::from(at)), Said::Nothing);
    }
    assert_eq!(one.until(), Some(Instant::from_micros(10_500_000)));
    // If no client has checked the deadline, a new client does. The late client is informed with its next piece.
    assert!(say(&bench, &mut other, "begin=1", 10_501).has("\"ok\":true"));
    assert!(say(&bench, &mut one, &piece(6), 10_501).has("did not arrive in time"));
    assert_eq!(say(&bench, &mut other, &piece(1), 10_501), Said::Nothing, "it is not disturbed");
}

#[test]
fn a_plan_ends_with_commanding_and_with_its_epoch() {
    let bench = commanded();
    let mut one = planner(&bench, 1);
    let piece = format!("rows={}", row(1));
    assert!(say(&bench, &mut one, "begin=1", 0).has("\"ok\":true"));
    assert!(bench.slot.put(Status { mode: Mode::Stopping, ..Status::default() }));
    assert!(say(&bench, &mut one, &piece, 0).has("NotCommanding"));
    assert_eq!(say(&bench, &mut one, "end", 0), Said::Nothing);
    assert!(say(&bench, &mut one, "begin=1", 0).has("NotCommanding"));
    assert!(bench.slot.put(Status { mode: Mode::Command, ..Status::default() }));
    assert!(say(&bench, &mut one, "begin=1", 0).has("\"ok\":true"));
    let epoch = Epoch::from_number(1);
    assert!(bench.slot.put(Status { mode: Mode::Command, epoch, ..Status::default() }));
    assert!(say(&bench, &mut one, "end", 0).has("WrongEpoch"));
    assert!(bench.shared.plans.plan().is_none());
}

#[test]
fn a_line_that_names_a_file_is_refused_and_the_file_is_not_opened() {
    let bench = commanded();
    let mut one = planner(&bench, 1);
    for how in ["file=/dev/zero", "file=/nowhere/a b.csv", "file=c.mcap"] {
        let said = say(&bench, &mut one, how, 0);
        assert!(said.has("\"what\":\"BadValue\"") && said.has("a run opens no file"), "{said:?}");
        assert!(said.has("`outrigger ctl ROBOT move FILE`"), "{said:?}");
    }
}

#[test]
fn a_plan_that_has_begun_delays_nothing_else_that_its_client_says() {
    let bench = commanded();
    let mut one = planner(&bench, 1);
    assert!(say(&bench, &mut one, "begin=2", 0).has("\"ok\":true"));
    for (ask, asked) in [
        (ClientRequest::Release, RequestKind::Release(ReleasedBy::Request)),
        (ClientRequest::Cancel, RequestKind::Cancel),
    ] {
        let issued = Issued::new(ClientNumber(1), Instant::ZERO);
        let mut claims = Claims::new(ClientNumber(1), &issued);
        let line = Ok(Message { id: None, challenge: None, ask });
        let step = bench.shared.understand((&mut one, &mut claims), line, Instant::ZERO);
        assert!(matches!(step, ClientAction::PassOn(None, passed, None) if passed == asked));
    }
}

/// Connects a client to the tested service of requests; returns the client's end of the connection.
fn client(bench: &Bench, asker: u32) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (shared, closing) = (bench.shared.clone(), bench.open.subscribe());
    tokio::spawn(async move {
        let (from, to) = tokio::io::split(theirs);
        let presence = Presence::default();
        converse(from, to, &shared, (ClientNumber(asker), &presence), closing).await;
    });
    ours
}

#[test]
fn a_release_waits_for_no_plan_that_has_begun_and_not_ended() {
    let mut bench = bench();
    assert!(bench.slot.put(Status { mode: Mode::Command, ..Status::default() }));
    crate::host::runtime::one_threaded().unwrap().block_on(async {
        let mut stream = client(&bench, 0);
        let plan = "{\"do\":\"move\",\"epoch\":0,\"how\":\"begin=1000\"}\n{\"do\":\"move\",\"epoch\":0,\"how\":\"rows=1,0,0,0,0,0,0,0,0,0,0,0,0\"}\n";
        stream.write_all((plan.to_owned() + "{\"do\":\"release\"}\n{\"do\":\"cancel\"}\n").as_bytes()).await.unwrap();
        assert_eq!(bench.releases.recv().await.expect("it comes").asked, RequestKind::Release(ReleasedBy::Request));
        assert_eq!(bench.asks.recv().await.expect("it comes").asked, RequestKind::Cancel);
        // The plan of another client is dropped as well.
        let mut other = client(&bench, 1);
        other.write_all(b"{\"do\":\"release\"}\n").await.unwrap();
        assert_eq!(bench.releases.recv().await.expect("it comes").asked, RequestKind::Release(ReleasedBy::Request));
    });
}

#[test]
fn a_plan_that_is_complete_is_checked_and_passed_on_and_one_that_the_arm_cannot_make_is_not() {
    let mut bench = bench_at(Clock::paced(&STILL));
    bench.stand();
    assert!(bench.slot.put(Status { mode: Mode::Command, ..Status::default() }));
    crate::host::runtime::one_threaded().unwrap().block_on(async {
        let mut stream = BufReader::new(client(&bench, 0));
        let plan = |angle: &str, challenge: &str| {
            let row = format!("rows=5,{angle},0,0,0,0,0,0,0,0,0,0,0");
            let pieces = ["begin=1", &row, "end"];
            let line = |how| format!("{{\"do\":\"move\",\"epoch\":0,\"how\":\"{how}\",\"challenge\":{challenge}}}\n");
            pieces.map(line).concat()
        };
        let mut lines = String::new();
        let status =
            |line: &str| line.split("\"challenge\":").nth(1).and_then(|rest| rest.split(',').next()).map(String::from);
        let mut challenges = vec![];
        for _ in 0..2 {
            lines.clear();
            stream.write_all(b"{\"do\":\"status\"}\n").await.unwrap();
            stream.read_line(&mut lines).await.unwrap();
            challenges.push(status(&lines).expect("each status has one"));
        }
        let [first, second] = &challenges[..] else { panic!("two") };
        stream.write_all(plan("90", first).as_bytes()).await.unwrap();
        stream.read_line(&mut lines).await.unwrap();
        stream.read_line(&mut lines).await.unwrap();
        assert!(lines.contains("\"what\":\"Unfit\"") && lines.contains("Are these degrees?"), "{lines}");
        stream.write_all(plan("0.5", second).as_bytes()).await.unwrap();
        let Envelope { asked, motion, .. } = bench.asks.recv().await.expect("it comes");
        assert_eq!(asked, RequestKind::Move(Epoch::from_number(0), ClientNumber(0)));
        assert!(motion.is_some());
    });
    assert!(bench.asks.try_recv().is_err(), "the other one never got there");
}

#[test]
fn a_client_that_is_gone_in_the_middle_of_its_plan_moves_nothing_and_leaves_nothing_busy() {
    let mut bench = bench();
    assert!(bench.slot.put(Status { mode: Mode::Command, ..Status::default() }));
    let begin = b"{\"do\":\"move\",\"epoch\":0,\"how\":\"begin=1\"}\n";
    crate::host::runtime::one_threaded().unwrap().block_on(async {
        let mut first = BufReader::new(client(&bench, 0));
        let mut other = BufReader::new(client(&bench, 1));
        let mut line = String::new();
        first.write_all(begin).await.unwrap();
        first.read_line(&mut line).await.unwrap();
        assert!(line.contains("\"ok\":true"), "{line}");
        line.clear();
        other.write_all(begin).await.unwrap();
        other.read_line(&mut line).await.unwrap();
        assert!(line.contains("\"what\":\"Busy\""), "{line}");
        drop(first);
        while !line.contains("\"ok\":true") {
            tokio::task::yield_now().await;
            line.clear();
            other.write_all(begin).await.unwrap();
            other.read_line(&mut line).await.unwrap();
        }
    });
    assert!(bench.asks.try_recv().is_err() && bench.releases.try_recv().is_err(), "nothing reached the loop");
}
