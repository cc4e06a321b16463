//! The command `ask … move`: motions that another process requests from a run, or from a `move`.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::ask::{Run, epoch_of, folder, text};
use crate::moves::{HOME, PATIENT, swing};
use crate::{moves_beside_krc, port};

/// Starts a simulated arm, and returns it with its address.
fn arm(major: u8, minor: u8) -> (Running, String) {
    let controller = Controller::new(Options::for_software(SoftwareVersion::new(major, minor))).expect("a controller");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 58_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let base = running.port_base();
    (running, format!("127.0.0.1:{base}"))
}

/// Returns a configuration for this robot, with this `session.path`.
fn configuration(robot: &str, path: &str) -> String {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a free port").port();
    let session = PATIENT.replace("[session]\n", &format!("[session]\npath = \"{path}\"\n"));
    format!("robot.address = \"{robot}\"\nlaw.kind = \"joint-servo\"\nprogram.expert.port = {port}\n{session}")
}

fn file(folder: &Path, name: &str, table: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, table).expect("room for a file");
    path.to_str().expect("text").to_owned()
}

/// Returns a motion of the first joint by one radian in `seconds`. The other joints keep their home position.
fn slow(seconds: u32) -> String {
    let rest = HOME[1..].iter().fold(String::new(), |mut rest, q| {
        write!(rest, ",{q:.7}").expect("room");
        rest
    });
    format!("0,0{rest}\n{seconds},1{rest}\n")
}

fn home() -> String {
    format!("q={}", HOME.map(|q| format!("{q:.7}")).join(","))
}

/// An `ask` command that runs in the background.
struct Asking(Child);

impl Asking {
    fn begin(run: &Run, words: &[&str]) -> Self {
        let piped = run.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self(piped.expect("the binary under test"))
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.0.id()).expect("a process")).expect("one");
        kill_process(id, signal).expect("it is there");
    }

    fn end(self) -> Output {
        self.0.wait_with_output().expect("it ends")
    }
}

/// Waits until the motion that a process requested from the run is in this state.
fn reaches(run: &Run, state: &str) -> String {
    run.watch_for(|status| status.contains(&format!("\"state\":\"{state}\"")))
}

#[test]
fn a_run_follows_motions_that_it_is_asked_for_whoever_makes_them() {
    for (path, major, minor) in [("text", 3, 15), ("player", 5, 15), ("reverse-servoj", 5, 15)] {
        let folder = folder(&format!("ask-moves-{path}"));
        let (arm, robot) = arm(major, minor);
        let run = Run::start(&folder, &robot, &configuration(&robot, path));
        run.ready();
        let whole = file(&folder, "a swing.csv", &swing(1_000));
        let early = run.refused(&["move", &whole], 4);
        assert!(early.contains("(NotCommanding)"), "{path}: {early}");
        run.command_arm();
        let asked = run.ask(&["move", &whole]);
        let said = text(&asked.stderr);
        assert_eq!(asked.status.code(), Some(0), "{path}: {said}");
        assert!((8..20).contains(&said.matches(" %").count()), "{path}: how far it is: {said}");
        assert!(
            text(&asked.stdout).contains("done: the arm is at the motion's end"),
            "{path}: {}",
            text(&asked.stdout)
        );
        let off =
            |to: &[f64]| arm.controller().truth().q.iter().zip(to).map(|(q, to)| (q - to).abs()).fold(0.0, f64::max);
        assert!(off(&HOME) < 5e-3, "{path}: {}", off(&HOME));

        let to = [0.3, HOME[1] + 0.1, HOME[2], HOME[3], HOME[4], -0.2];
        let there = format!("q={}", to.map(|q| format!("{q:.7}")).join(","));
        let asked = run.done(&["move", "--to", &there, "--speed", "0.4", "--json"]);
        assert!(asked.contains("\"state\":\"done\",\"percent\":100"), "{path}: {asked}");
        assert!(off(&to) < 5e-3, "{path}: {}", off(&to));
        assert!(run.done(&["status"]).contains("motion 2: done, 100 %"), "{path}: {}", run.done(&["status"]));

        // The arm is already there, so nothing is sent and nothing moves.
        let row = |at: u8| format!("{at},{}\n", to.map(|q| format!("{q:.7}")).join(","));
        for table in [row(0), row(0) + &row(7)] {
            let said = run.done(&["move", &file(&folder, "stays.csv", &table), "--json"]);
            assert!(said.contains("\"state\":\"done\",\"percent\":100"), "{path}: {said}");
        }
        run.done(&["move", "--to", &there]);
        assert!(off(&to) < 5e-3, "{path}: {}", off(&to));

        for (name, table, said) in [
            (
                "one.csv",
                swing(100).lines().take(2).fold(String::new(), |all, line| all + line + "\n"),
                "joint 1 is 0.3",
            ),
            ("elsewhere.csv", swing(100), "joint 1 is 0.300 rad from the start of the motion"),
            (
                "fast.csv",
                "0.1,0,0,0,0,0,0\n0.2,1,1,1,1,1,1\n9,0,0,0,0,0,0\n".into(),
                "on the way to waypoint 1 joint 1 would reach",
            ),
            ("cut.csv", swing(10).trim_end().into(), "is the file complete?"),
            ("empty.csv", String::new(), "found no waypoint"),
        ] {
            let refused = run.refused(&["move", &file(&folder, name, &table)], 1);
            assert!(refused.contains(name) && refused.contains(said), "{path}: {refused}");
        }
        let far = run.refused(&["move", "--to", "q=9,0,0,0,0,0"], 1);
        assert!(far.contains("joint 1: found 9 rad, expected"), "{path}: {far}");
        let nowhere = run.refused(&["move", "no-such-file.csv"], 1);
        assert!(nowhere.contains("no-such-file.csv: cannot be read"), "{path}: {nowhere}");
        let five = run.refused(&["move", "--to", "q=1,2,3,4,5"], 1);
        assert!(five.contains("expected 6 angles"), "{path}: {five}");
        assert_eq!(run.quit().code, Some(0), "{path}");
    }
}

#[test]
fn a_motion_ends_with_who_asked_for_it_and_by_a_word_of_anybody() {
    for path in ["text", "player"] {
        let folder = folder(&format!("ask-moves-end-{path}"));
        let (arm, robot) = arm(5, 15);
        let run = Run::start(&folder, &robot, &configuration(&robot, path));
        run.command_arm();
        let table = file(&folder, "slow.csv", &slow(20));
        let none = run.refused(&["cancel"], 4);
        assert!(none.contains("no requested motion is active"), "{none}");
        let at = || arm.controller().truth().q[0];
        let rests = || {
            assert!(run.done(&["status"]).starts_with("command at epoch"), "{path}: it stays commanded");
            assert!((0.001..0.9).contains(&at()), "{path}: on its way: {}", at());
            run.done(&["move", "--to", &home(), "--speed", "0.9"]);
        };

        let asking = Asking::begin(&run, &["move", &table]);
        reaches(&run, "running");
        run.watch_for(|status| status.contains("\"percent\":4"));
        let busy = run.refused(&["move", &table], 4);
        assert!(busy.contains("motion 1, at ") && busy.contains("is active"), "{path}: {busy}");
        let busy = run.refused(&["move", "--to", "q=0.5,-1,-1.5,-1.5,1.5,0"], 4);
        assert!(busy.contains("or `cancel` it"), "{path}: {busy}");
        asking.signal(Signal::INT);
        let ended = asking.end();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{path}: {said}");
        assert!(said.contains("Ctrl-C: cancelling the motion") && said.contains("was cancelled at "), "{path}: {said}");
        rests();

        // A client that ends without a message.
        let asking = Asking::begin(&run, &["move", &table]);
        run.watch_for(|status| status.contains("\"state\":\"running\",\"percent\":4"));
        asking.signal(Signal::KILL);
        drop(asking.end());
        reaches(&run, "cancelled");
        rests();

        let asking = Asking::begin(&run, &["move", &table]);
        run.watch_for(|status| status.contains("\"state\":\"running\",\"percent\":4"));
        assert!(run.done(&["cancel"]).starts_with("cancelled: the arm stops"), "{path}");
        assert_eq!(asking.end().status.code(), Some(4), "{path}");
        rests();

        let asking = Asking::begin(&run, &["move", &table]);
        run.watch_for(|status| status.contains("\"state\":\"running\",\"percent\":4"));
        run.done(&["release", "--wait"]);
        let ended = asking.end();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(4), "{path}: {said}");
        assert!(
            said.contains("released by another process (Released); the motion is suspended at ")
                && said.contains(" resume` continues"),
            "{path}: {said}"
        );
        // A suspended motion no longer belongs to the client that requested it, so that another client may resume it.
        let before = at();
        run.watch_for(|status| status.contains("\"unmet\":[]"));
        run.done(&["resume", "--wait"]);
        reaches(&run, "running");
        run.watch_for(|status| status.contains("\"percent\":12"));
        assert!(at() > before, "{path}: {} behind {before}", at());
        run.done(&["release", "--wait"]);
        // A suspended motion is given up once another one is requested.
        run.command_arm();
        run.done(&["move", "--to", &home(), "--speed", "0.9"]);
        assert!(at().abs() < 5e-3, "{path}: {}", at());
        assert_eq!(run.quit().code, Some(0), "{path}");
    }
}

#[test]
fn a_run_opens_no_file_and_a_motion_that_is_not_complete_moves_nothing() {
    let folder = folder("ask-moves-pieces");
    let (arm, robot) = arm(5, 15);
    let seat = format!("127.0.0.1:{}", arm.port_base() + 4);
    let run = Run::start(&folder, &robot, &configuration(&robot, "text"));
    run.command_arm();
    let epoch = epoch_of(&run.done(&["status", "--json"]));
    let rest = HOME[1..].iter().map(|q| format!(",{q:.7}")).collect::<String>();
    let line = |how: &str| format!("{{\"do\":\"move\",\"epoch\":{epoch},\"how\":\"{how}\"}}\n");
    let say = |lines: &[&str]| {
        let mut stream = run.connect(&seat);
        stream.write_all(lines.iter().map(|how| line(how)).collect::<String>().as_bytes()).expect("it reads");
        let mut answer = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut answer).expect("an answer");
        (answer, reader)
    };
    let pipe = folder.join("pipe.csv");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let named = say(&[&format!("file={}", pipe.display())]).0;
    assert!(named.contains("\"what\":\"BadValue\"") && named.contains("a run opens no file"), "{named}");
    let still = ",0".repeat(6);
    let rows = [format!("rows=1,0{rest}{still}"), format!("rows=20,1{rest}{still}")];
    let (begun, client) = say(&["begin=2", &rows[0], &rows[1]]);
    assert!(begun.contains("\"ok\":true"), "{begun}");
    let table = file(&folder, "slow.csv", &slow(1).replace("\n1,1,", "\n1,0.1,"));
    let busy = run.refused(&["move", &table], 4);
    assert!(busy.contains("another motion is still being sent"), "{busy}");
    drop(client);
    let whole = (0..100).find_map(|_| Some(run.ask(&["move", &table])).filter(|asked| asked.status.code() != Some(4)));
    let whole = whole.expect("nothing is left busy");
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let at = arm.controller().truth().q[0];
    assert!((0.09..0.11).contains(&at), "{at}: the one that its client sent to its end");
    assert!(run.done(&["status"]).contains("motion 1: done"), "no other one has begun");
    assert_eq!(run.quit().code, Some(0));
}

/// Starts `outrigger move` with the motion in the file `table`. Returns the path of its configuration, by which `ask`
/// finds it, and the process.
fn moving(folder: &Path, robot: &str, path: &str, table: &str) -> (PathBuf, Child) {
    let config = folder.join("moved.toml");
    std::fs::write(&config, configuration(robot, path)).expect("a file");
    let child = Command::new(outrigger_system::program())
        .arg("move")
        .args([config.as_path(), Path::new(table)])
        .env("XDG_RUNTIME_DIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    (config, child)
}

/// Runs `ask` until a process with this configuration answers.
fn ask(folder: &Path, config: &Path, words: &[&str]) -> Output {
    loop {
        let output = Command::new(outrigger_system::program())
            .arg("ask")
            .arg(config)
            .args(words)
            .env("XDG_RUNTIME_DIR", folder)
            .output()
            .expect("the binary under test");
        if output.status.code() != Some(3) {
            return output;
        }
    }
}

#[test]
fn a_move_is_asked_as_a_run_is() {
    for path in ["text", "player"] {
        let folder = folder(&format!("ask-into-move-{path}"));
        let (arm, robot) = arm(5, 15);
        let table = file(&folder, "slow.csv", &slow(20));
        let (config, child) = moving(&folder, &robot, path, &table);
        let status = loop {
            let status = ask(&folder, &config, &["status", "--json"]);
            if text(&status.stdout).contains("\"state\":\"running\",\"percent\":4") {
                break status;
            }
        };
        assert!(text(&status.stdout).contains("\"seconds\":20"), "{}", text(&status.stdout));
        let busy = ask(&folder, &config, &["move", &table]);
        assert!(text(&busy.stderr).contains("is active"), "{}", text(&busy.stderr));
        let set = ask(&folder, &config, &["set", "speed-slider=0.5"]);
        assert_eq!(set.status.code(), Some(0), "{}", text(&set.stderr));
        let cancelled = ask(&folder, &config, &["cancel"]);
        assert_eq!(cancelled.status.code(), Some(0), "{}", text(&cancelled.stderr));
        let ended = child.wait_with_output().expect("it ends");
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(4), "{path}: {said}");
        assert!(said.contains("the motion was cancelled; the motion is stopped at "), "{path}: {said}");
        let q = arm.controller().truth().q[0];
        assert!((0.001..0.9).contains(&q), "{path}: {q}");
        assert!(arm.controller().truth().at_rest(), "{path}");
    }
}

#[test]
fn a_run_beside_a_krc_is_asked_for_motions_of_seven_joints() {
    let folder = folder("ask-moves-krc");
    let port = port::free();
    let _krc = moves_beside_krc::Krc::start(port, &["--period-ms", "20"]);
    let config = folder.join("asked.toml");
    let lines = format!("robot = {{ kind = \"krc\", listen = \"127.0.0.1:{port}\" }}\nlaw.kind = \"joint-servo\"\n");
    let run = Run::start(&folder, config.to_str().expect("text"), &lines);
    run.command_arm();
    let six = run.refused(&["move", &file(&folder, "six.csv", &swing(100))], 1);
    assert!(six.contains("expected 8 (t and 7 angles)"), "{six}");
    let whole = file(&folder, "seven.csv", &moves_beside_krc::swing(1_000));
    let done = run.done(&["move", &whole, "--json"]);
    assert!(done.contains("\"state\":\"done\",\"percent\":100,\"seconds\":3.0,"), "{done}");
    let away = moves_beside_krc::HOME.map(|q| format!("{:.4}", q + 0.1)).join(",");
    assert!(run.done(&["move", "--to", &format!("q={away}")]).contains("done: the arm is at the motion's end"));
    assert!(run.done(&["status"]).contains("motion 2: done"));
    run.done(&["release", "--wait"]);
    assert_eq!(run.quit().code, Some(0));
}

#[test]
fn stiffness_and_damping_are_asked_for_beside_a_krc_while_it_is_commanded() {
    let folder = folder("ask-impedance");
    let port = port::free();
    let _krc = moves_beside_krc::Krc::start(port, &["--period-ms", "20"]);
    let config = folder.join("asked.toml");
    let lines = format!(
        "robot = {{ kind = \"krc\", listen = \"127.0.0.1:{port}\", expert = {{ control = \"joint-impedance\" }} }}\nlaw.kind = \"joint-servo\"\n"
    );
    let run = Run::start(&folder, config.to_str().expect("text"), &lines);
    run.command_arm();
    let done = run.done(&["impedance", "stiffness=800", "damping=0.7,0.7,0.7,0.7,0.7,0.7,0.5"]);
    assert_eq!(done, "impedance: in every command from now on\n");
    for (words, says) in [
        (&["impedance", "stiffness=1,2,3,4,5,6"][..], "stiffness: expected 7 numbers, or one for all, found 6"),
        (&["impedance", "stiffness=5001"], "control.stiffness: expected 0.0 to 5000.0 Nm/rad"),
        (&["impedance", "damping=-0.1"], "control.damping: expected 0.0 to 1.0"),
    ] {
        let refused = run.refused(words, 4);
        assert!(refused.contains(says), "{refused}");
    }
    let usage = run.refused(&["impedance", "torque=1"], 2);
    assert!(usage.contains("expected stiffness=N[,N...] or damping=N[,N...], found 'torque=1'"), "{usage}");
    assert!(run.done(&["status"]).starts_with("command"), "it goes on");
    run.done(&["release", "--wait"]);
    let ended = run.quit();
    let logged: Vec<&String> = ended.said.iter().filter(|line| line.contains("impedance stiffness=")).collect();
    let [line] = logged[..] else { panic!("{:#?}", ended.said) };
    assert!(line.contains("stiffness=800 damping=0.7,0.7,0.7,0.7,0.7,0.7,0.5: in every command from now on"), "{line}");
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_law_that_follows_no_joints_is_given_no_motion_and_neither_is_a_hand_s_arm() {
    let folder = folder("ask-moves-law");
    let (_arm, robot) = arm(5, 15);
    let joints = configuration(&robot, "text");
    let twist = joints
        .replace("\"joint-servo\"", "\"twist\"")
        .replace("program.", "law.expert.twist = [0, 0, 0.0001, 0, 0, 0]\nprogram.");
    let run = Run::start(&folder, &robot, &format!("robot.model = \"ur5e\"\n{twist}"));
    run.command_arm();
    let table = file(&folder, "slow.csv", &slow(20).replace("0,0,", "1,0,").replace("20,1,", "21,1,"));
    let refused = run.refused(&["move", &table], 4);
    assert!(refused.contains("run with law.kind = \"joint-servo\""), "{refused}");
    assert!(run.done(&["status"]).starts_with("command at epoch"), "it goes on");
    assert_eq!(run.quit().code, Some(0));

    let (_arm, robot) = arm(5, 15);
    let run = Run::start(&folder, &robot, &configuration(&robot, "player"));
    run.command_arm();
    let hand = Asking::begin(&run, &["freedrive", "--duration", "3"]);
    let begun = run.watch_for(|_| true);
    assert!(begun.contains("\"mode\":\"command\""), "{begun}");
    let refused = (0..50).find_map(|_| {
        let asked = run.ask(&["move", "--to", "q=0.01,-1.5,-1.5,-1.5,1.5,0", "--speed", "0.9"]);
        Some(text(&asked.stderr).to_owned()).filter(|said| said.contains("freedrive or force mode is active"))
    });
    assert!(refused.is_some_and(|said| said.contains("`stiffen` the arm first")), "while it gives way");
    assert_eq!(hand.end().status.code(), Some(0));
    assert_eq!(run.quit().code, Some(0));
}
