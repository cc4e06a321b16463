//! The Robot API of PolyScope X from its clients' point of view: every path of both generations, bytes in any pieces,
//! invalid requests, and the states of the arm and of programs behind it.

use crate::common::{Bench, ideal};
use outrigger_sim::controller::{Action, Conn, Options};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::robot_api::MessageSchema;
use serde_json::{Value, json};

const BASE: &str = "/universal-robots/robot-api";

fn request(method: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {BASE}{path} HTTP/1.1\r\nHost: ur\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Takes the answers from the bytes that a client has received: status, head and body of each.
fn answers(bytes: &[u8]) -> Vec<(u16, String, String)> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut rest = text.as_str();
    let mut answers = vec![];
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        let length =
            head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        answers.push((status, head.to_owned(), after[..length].to_owned()));
        rest = &after[length..];
    }
    assert!(rest.is_empty(), "{rest}");
    answers
}

/// Sends a request and waits for the answer, at most 20 s.
fn ask(bench: &mut Bench, conn: Conn, method: &str, path: &str, body: &str) -> (u16, String) {
    bench.send(conn, &request(method, path, body));
    for _ in 0..2000 {
        if let [(status, _, body), more @ ..] = &answers(&bench.take(conn))[..] {
            assert!(more.is_empty(), "{path}: {more:?}");
            return (*status, body.clone());
        }
        bench.run(10);
    }
    panic!("no answer to {method} {path}")
}

struct Row {
    method: String,
    path: String,
    body: String,
    status: u16,
    answer: Option<Value>,
    since: (u8, u8),
    until: Option<(u8, u8)>,
    remote: bool,
}

fn table() -> Vec<Row> {
    let version =
        |text: &str| text.split_once('.').map(|(major, minor)| (major.parse().unwrap(), minor.parse().unwrap()));
    let rows = include_str!("robot_api_answers.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let [method, path, body, status, answer, since, until, remote] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        Row {
            method: method.to_owned(),
            path: path.to_owned(),
            body: body.to_owned(),
            status: status.parse().unwrap(),
            answer: (answer != "*").then(|| serde_json::from_str(answer).unwrap()),
            since: version(since).unwrap(),
            until: version(until),
            remote: remote == "yes",
        }
    })
    .collect()
}

#[test]
fn every_path_is_answered_as_specified_by_the_generations_that_have_it() {
    for software in [(10, 11), (10, 12)] {
        let mut bench = Bench::software(software.0, software.1);
        let conn = bench.connect(Port::RobotApi);
        for row in table() {
            let Row { method, path, body, .. } = &row;
            let exists = row.since <= software && row.until.is_none_or(|until| software < until);
            let (status, answer) = ask(&mut bench, conn, method, path, body);
            if !exists {
                assert!(matches!(status, 404 | 405), "{software:?} {method} {path}: {status}");
                continue;
            }
            assert_eq!(status, row.status, "{software:?} {method} {path} {body}: {answer}");
            if let Some(expected) = &row.answer {
                assert_eq!(&serde_json::from_str::<Value>(&answer).unwrap(), expected, "{method} {path}");
            }
        }
    }
}

#[test]
fn in_local_control_questions_are_answered_and_orders_are_not() {
    let mut bench = Bench::software(10, 12);
    let conn = bench.connect(Port::RobotApi);
    bench.controller.act(Action::SwitchToLocal);
    for row in table().iter().filter(|row| row.until.is_none()) {
        let (status, answer) = ask(&mut bench, conn, &row.method, &row.path, &row.body);
        assert_eq!(status == 403, row.remote, "{} {}: {status} {answer}", row.method, row.path);
    }
    assert_eq!(ask(&mut bench, conn, "GET", "/system/v1/controlmode", "").1, r#"{"mode":"LOCAL"}"#);
    // No new connection is needed, other than with the dashboard: each request is checked for itself.
    bench.controller.act(Action::SwitchToRemote);
    assert_eq!(ask(&mut bench, conn, "PUT", "/robotstate/v1/state", r#"{"action":"POWER_OFF"}"#).0, 200);
}

#[test]
fn the_description_tells_the_generations_apart() {
    for (minor, version, loads) in [(11, "3.0.0", "/program/v1/load"), (12, "3.1.4", "/program/v1/loaded")] {
        let mut bench = Bench::software(10, minor);
        let conn = bench.connect(Port::RobotApi);
        let (status, body) = ask(&mut bench, conn, "GET", "/openapi.json", "");
        let description: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &description["info"]["version"]), (200, &json!(version)));
        assert!(description["paths"][loads]["put"].is_object(), "{body}");
    }
    let mut options = ideal(10, 12);
    options.robot_api.version = Some("5.0.107".into());
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::RobotApi);
    assert!(ask(&mut bench, conn, "GET", "/openapi.json", "").1.contains("5.0.107"));
}

#[test]
fn power_and_brakes_are_answered_when_the_arm_is_there_or_at_once() {
    for (waits, modes) in [(true, ["IDLE", "RUNNING"]), (false, ["BOOTING", "IDLE"])] {
        let mut options = ideal(10, 12);
        options.robot_api.waits = waits;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::RobotApi);
        bench.controller.act(Action::PowerOff);
        for (action, mode) in ["POWER_ON", "BRAKE_RELEASE"].into_iter().zip(modes) {
            let body = json!({ "action": action }).to_string();
            assert_eq!(ask(&mut bench, conn, "PUT", "/robotstate/v1/state", &body).0, 200);
            let (_, answer) = ask(&mut bench, conn, "GET", "/robotstate/v1/robotmode", "");
            assert_eq!(answer, json!({ "mode": mode }).to_string(), "{action}, waits: {waits}");
            bench.run(3000);
        }
    }
}

#[test]
fn power_that_is_forbidden_is_told() {
    let mut bench = Bench::software(10, 11);
    let conn = bench.connect(Port::RobotApi);
    bench.controller.act(Action::EmergencyStop);
    bench.run(500);
    assert_eq!(ask(&mut bench, conn, "PUT", "/robotstate/v1/state", r#"{"action":"POWER_ON"}"#).0, 409);
}

#[test]
fn a_protective_stop_is_unlocked_after_five_seconds_and_the_program_waits_for_resume() {
    let mut bench = Bench::software(10, 12);
    let (conn, text) = (bench.connect(Port::RobotApi), bench.connect(Port::Realtime));
    bench.send(text, "speedj([0.2,0,0,0,0,0],10,50)\n");
    bench.run(100);
    bench.controller.act(Action::ProtectiveStop);
    let unlock = r#"{"action":"UNLOCK_PROTECTIVE_STOP"}"#;
    bench.run(4000);
    assert_eq!(ask(&mut bench, conn, "PUT", "/robotstate/v1/state", unlock).0, 409);
    bench.run(1000);
    assert_eq!(ask(&mut bench, conn, "PUT", "/robotstate/v1/state", unlock).0, 200);
    assert_eq!(bench.qd_target(), [0.0; 6]);
    assert_eq!(ask(&mut bench, conn, "PUT", "/program/v1/state", r#"{"action":"resume"}"#).0, 200);
    bench.run(500);
    assert_eq!(bench.qd_target()[0], 0.2);
}

/// Returns a form as `curl -F file=@…` sends it.
fn form(file_name: &str, text: &str) -> String {
    format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file_name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n{text}\r\n--xyz--\r\n"
    )
}

fn upload(bench: &mut Bench, conn: Conn, method: &str, form: &str) -> (u16, String) {
    let length = form.len();
    let head = format!("{method} {BASE}/programs/v1/ HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=xyz\r\n");
    bench.send(conn, &format!("{head}Content-Length: {length}\r\n\r\n{form}"));
    let [(status, _, body)] = &answers(&bench.take(conn))[..] else { panic!("no answer") };
    (*status, body.clone())
}

#[test]
fn programs_are_sent_replaced_and_fetched_again() {
    let mut bench = Bench::software(10, 12);
    let conn = bench.connect(Port::RobotApi);
    let first = r#"{"name":"weld","steps":[1]}"#;
    assert_eq!(upload(&mut bench, conn, "PUT", &form("x.urpx", first)).0, 404);
    assert_eq!(upload(&mut bench, conn, "POST", &form("x.urpx", first)), (201, r#"{"programName":"weld"}"#.into()));
    assert_eq!(upload(&mut bench, conn, "POST", &form("x.urpx", first)).0, 409);
    let second = r#"{"name":"weld","steps":[1,2]}"#;
    assert_eq!(upload(&mut bench, conn, "PUT", &form("x.urpx", second)), (200, r#"{"programName":"weld"}"#.into()));
    assert_eq!(ask(&mut bench, conn, "GET", "/programs/v1/weld", ""), (200, second.into()));
    assert_eq!(
        upload(&mut bench, conn, "POST", &form("mill%20two.urpx", "plain")).1,
        r#"{"programName":"mill%20two"}"#
    );
    assert!(ask(&mut bench, conn, "GET", "/programs/v1/", "").1.contains(r#""name":"weld""#));
    assert_eq!(ask(&mut bench, conn, "PUT", "/program/v1/loaded", r#"{"name":"weld"}"#).0, 200);
    assert_eq!(upload(&mut bench, conn, "POST", "no form").0, 415);
}

#[test]
fn pipelined_requests_are_answered_in_order_also_behind_one_that_takes_time() {
    let mut bench = Bench::software(10, 12);
    let conn = bench.connect(Port::RobotApi);
    let load = request("PUT", "/program/v1/loaded", r#"{"name":"idle"}"#);
    let loaded = request("GET", "/program/v1/loaded", "");
    bench.send(conn, &format!("{load}{loaded}{loaded}"));
    assert!(bench.take(conn).is_empty());
    bench.run(1000);
    let bodies: Vec<String> = answers(&bench.take(conn)).into_iter().map(|(_, _, body)| body).collect();
    assert_eq!(bodies[1..], [r#"{"name":"idle"}"#, r#"{"name":"idle"}"#]);
}

#[test]
fn a_connection_that_is_to_close_does_and_also_behind_one_that_takes_time() {
    for (method, path, body) in [("GET", "/program/v1/state", ""), ("PUT", "/program/v1/loaded", r#"{"name":"idle"}"#)]
    {
        let mut bench = Bench::software(10, 12);
        let conn = bench.connect(Port::RobotApi);
        bench.send(conn, &request(method, path, body).replacen("Host: ur", "Connection: close", 1));
        bench.run(1000);
        let [(200, head, _)] = &answers(&bench.take(conn))[..] else { panic!("{path}") };
        assert!(head.contains("Connection: close") && !bench.controller.is_open(conn), "{path}");
    }
}

#[test]
fn what_is_no_request_is_refused_and_the_connection_closed() {
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(20_000));
    for (bytes, status) in
        [("robotmode\n\n", 400), (long.as_str(), 431), ("PUT / HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n", 413)]
    {
        let mut bench = Bench::software(10, 12);
        let conn = bench.connect(Port::RobotApi);
        bench.controller.write(conn, bytes.as_bytes());
        bench.run(10);
        assert_eq!(answers(&bench.take(conn)).iter().map(|answer| answer.0).collect::<Vec<_>>(), [status]);
        assert!(!bench.controller.is_open(conn));
    }
}

#[test]
fn the_schema_of_messages_can_be_chosen() {
    for (messages, body) in [
        (MessageSchema::Message, r#"{"message":"there is no action DANCE"}"#),
        (
            MessageSchema::Problem,
            r#"{"detail":"there is no action DANCE","status":400,"title":"The request was refused"}"#,
        ),
        (MessageSchema::Text, "there is no action DANCE"),
    ] {
        let mut options = ideal(10, 12);
        options.robot_api.messages = messages;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::RobotApi);
        let answer = ask(&mut bench, conn, "PUT", "/robotstate/v1/state", r#"{"action":"DANCE"}"#);
        assert_eq!(answer, (400, body.to_owned()));
    }
}

#[test]
fn faults_make_the_answers_missing_senseless_endless_or_a_closed_connection() {
    let with = |spec: &str| {
        let faults = vec![Fault::parse(spec).unwrap()];
        let mut bench = Bench::new(Options { faults, ..ideal(10, 12) });
        let conn = bench.connect(Port::RobotApi);
        bench.run(10);
        for _ in 0..10 {
            bench.controller.write(conn, request("GET", "/robotstate/v1/robotmode", "").as_bytes());
            bench.run(1);
        }
        (bench.take(conn), bench.controller.is_open(conn))
    };
    assert_eq!(with("mute/80@0"), (vec![], true));
    assert_eq!(with("hang-up/80@0"), (vec![], false));
    let (said, _) = with("oversize/80@0::5000");
    assert!(answers(&said).iter().all(|(_, _, body)| body.len() == 5000));
    let (said, _) = with("garbage/80@0");
    assert!(!said.is_empty() && !String::from_utf8_lossy(&said).contains("RUNNING"));
    assert_eq!(said, with("garbage/80@0").0, "seeded");
}
