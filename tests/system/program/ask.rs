//! The command `ask`: another process alone operates a run.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::Window;
use outrigger_emulated::tries::{Verdict, attempt_first, late, nobodys_fallback};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::time::SimTime;

/// The longest time that a test waits for a status line of the run, longer than any motion of these tests takes, also
/// on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns an empty folder for a test. It is also the runtime directory (`XDG_RUNTIME_DIR`) with the sockets for
/// requests.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Returns the text that `key` has in a line of JSON.
fn text_of(line: &str, key: &str) -> Option<String> {
    Some(line.split_once(&format!("\"{key}\":\""))?.1.split_once('"')?.0.to_owned())
}

pub(crate) fn epoch_of(status: &str) -> u32 {
    number_of(status, "epoch")
}

/// Returns the number that `key` has in an answer of `ask`.
fn number_of(answer: &str, key: &str) -> u32 {
    let rest = answer.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key}: {answer}")).1;
    rest.split([',', '}']).next().expect("more").parse().expect("a number")
}

/// A run of the program and its output. Its standard input stays open, and nothing is written to it before `quit`.
pub(crate) struct Run {
    pub(crate) child: Child,
    input: ChildStdin,
    said: BufReader<ChildStdout>,
    runtime: PathBuf,
    robot: String,
}

/// The exit code of a run, and its output since the last line that was read.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: Vec<String>,
}

/// Ends a run whose test has failed.
impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Run {
    /// Starts a run with this configuration, and waits until it accepts requests.
    pub(crate) fn start(runtime: &Path, robot: &str, configuration: &str) -> Self {
        let file = runtime.join("asked.toml");
        std::fs::write(&file, configuration).expect("a file");
        let mut child = Command::new(outrigger_system::program())
            .arg("run")
            .arg(&file)
            .arg("--json")
            .env("XDG_RUNTIME_DIR", runtime)
            .env("XDG_STATE_HOME", runtime)
            .env_remove("STATE_DIRECTORY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary under test");
        let input = child.stdin.take().expect("piped");
        let said = BufReader::new(child.stdout.take().expect("piped"));
        let mut run = Self { child, input, said, runtime: runtime.into(), robot: robot.into() };
        run.until("\"kind\":\"requests\"");
        run
    }

    /// Waits for the next line of the run's output that contains `what`.
    pub(crate) fn until(&mut self, what: &str) -> String {
        let mut lines = self.said.by_ref().lines().map(|line| line.expect("text"));
        lines.find(|line| line.contains(what)).unwrap_or_else(|| panic!("it ended without {what}"))
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(outrigger_system::program());
        command.args(["ask", &self.robot]).args(words).env("XDG_RUNTIME_DIR", &self.runtime);
        command
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary under test")
    }

    /// Runs `ask` with these words, which must succeed, and returns its output.
    pub(crate) fn done(&self, words: &[&str]) -> String {
        let output = self.ask(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout).to_owned()
    }

    /// Runs `ask` with these words, which must fail with this exit code, and returns its standard error.
    pub(crate) fn refused(&self, words: &[&str], code: i32) -> String {
        let output = self.ask(words);
        let complaint = text(&output.stderr).to_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {complaint}{}", text(&output.stdout));
        complaint
    }

    /// Waits for a status line of the run that satisfies `wanted`.
    pub(crate) fn watch_for(&self, wanted: impl Fn(&str) -> bool) -> String {
        let mut watching = self.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().expect("it");
        let lines = BufReader::new(watching.stdout.take().expect("piped")).lines();
        let (sender, statuses) = channel();
        let reader = thread::spawn(move || lines.map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let (clock, mut last) = (Clock::start(), String::new());
        let found = loop {
            let left = PATIENCE.saturating_sub(clock.now().since(SimTime::ZERO));
            match statuses.recv_timeout(left) {
                Ok(status) if wanted(&status) => break Some(status),
                Ok(status) => last = status,
                Err(_) => break None,
            }
        };
        watching.kill().and_then(|()| watching.wait()).expect("it ends");
        reader.join().expect("it only reads");
        found.unwrap_or_else(|| panic!("the run has ended, or never has such a status; its last: {last}"))
    }

    /// Waits until a request would be granted. A fallback on a busy machine is acknowledged.
    pub(crate) fn ready(&self) -> String {
        loop {
            let rests = |status: &str| status.contains("\"mode\":\"monitor\"");
            let is_free = |status: &str| status.contains("\"unmet\":[]");
            let is_latched = |status: &str| !status.contains("\"latch\":null");
            let status = self.watch_for(|status| rests(status) && (is_free(status) || is_latched(status)));
            if !is_latched(&status) {
                return status;
            }
            self.ask(&["acknowledge"]);
        }
    }

    /// Makes the run command the arm. Repeats the request if the link quality falls for a moment.
    pub(crate) fn command_arm(&self) {
        for _ in 0..20 {
            self.ready();
            let output = self.ask(&["request", "--wait"]);
            if output.status.success() {
                assert!(text(&output.stdout).contains("request granted: arming at epoch"), "{output:?}");
                return;
            }
        }
        panic!("it never commanded: {}", self.done(&["status"]));
    }

    pub(crate) fn connect(&self, seat: &str) -> UnixStream {
        UnixStream::connect(self.socket(seat)).expect("a place")
    }

    fn socket(&self, seat: &str) -> PathBuf {
        self.runtime.join(format!("outrigger/{seat}.sock"))
    }

    pub(crate) fn quit(mut self) -> Ended {
        self.input.write_all(b"quit\n").expect("it reads");
        let said = self.said.by_ref().lines().map(|line| line.expect("text")).collect();
        Ended { code: self.child.wait().expect("it ends").code(), said }
    }
}

/// Starts a simulated arm. Returns it with its address, and with the address that names the run's socket for
/// requests.
fn arm(base: u16) -> (Running, String, String) {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), base).expect("free ports");
    let running = server.spawn().expect("a thread");
    let base = running.port_base();
    (running, format!("127.0.0.1:{base}"), format!("127.0.0.1:{}", base + 4))
}

pub(crate) fn configuration(robot: &str) -> String {
    format!(
        "robot.address = \"{robot}\"\nlaw.kind = \"joint-servo\"\n[[source]]\nname = \"goal\"\ninput = \"requests\"\nvalues = 2\n"
    )
}

/// The time before the end of commanding in which a standstill of the computer that runs the test may have caused it.
const LOOKED_BACK: Duration = Duration::from_millis(140);
/// The shortest standstill of the computer that runs the test that may end commanding.
const ENDING: Duration = Duration::from_millis(20);

/// Checks in the output of a run that only a release ended commanding. If a standstill of this machine ended it, the
/// test is repeated.
fn fell_back(said: &[String], window: Window) {
    let fallback = said.iter().find(|line| line.contains("\"to\":\"Stopping\"") && !line.contains("\"Released\""));
    if let Some(line) = fallback {
        assert_ne!(nobodys_fallback(line, window, ENDING), Verdict::Fails, "{line}");
        late(window, format!("disturbed: {line}"));
    }
}

#[test]
fn a_run_is_driven_by_requests_alone() {
    attempt_first(|| {
        let folder = folder("ask-alone");
        let (_arm, robot, seat) = arm(54_000);
        let (run, clock) = (Run::start(&folder, &robot, &configuration(&robot)), Clock::start());
        let status = run.ready();
        for word in ["hand-back", "resend"] {
            assert!(run.refused(&[word], 4).contains("(NoSuchProgram)"), "{word}");
        }
        let other = (epoch_of(&status) + 7).to_string();
        let refused = run.refused(&["request", "--epoch", &other], 4);
        assert!(
            refused.contains("(WrongEpoch)") && refused.contains(&format!("the request was for {other}")),
            "{refused}"
        );
        assert!(run.done(&["status"]).starts_with("monitor at epoch"));

        run.command_arm();
        let status = run.done(&["status", "--json"]);
        assert!(status.contains("\"mode\":\"command\"") && status.ends_with("}\n"), "{status}");
        let commanded = epoch_of(&status);
        let script = |program: &str, options: &[&str]| {
            let file = folder.join("beside.script");
            std::fs::write(&file, program).expect("a file");
            let mut command = Command::new(outrigger_system::program());
            command.args(["script", &robot]).args(options).arg(file).env("XDG_RUNTIME_DIR", &folder);
            let output = command.output();
            let output = output.expect("the binary under test");
            (output.status.code(), text(&output.stderr).to_owned())
        };
        for (program, options) in
            [("def wave():\n  textmsg(\"wave\")\nend\n", &[][..]), ("textmsg(\"wave\")\n", &["--interpreter"])]
        {
            let (code, complaint) = script(program, options);
            assert_eq!(code, Some(3), "{options:?}: {complaint}");
            assert!(complaint.contains("commands the arm (mode command)"), "{options:?}: {complaint}");
        }
        let secondary = "sec wave():\n  textmsg(\"wave\")\nend\n";
        assert_eq!(script(&format!("halt\n{secondary}"), &[]).0, Some(3), "the first of the two ends the program");
        assert_eq!(script(secondary, &[]).0, Some(0), "it runs beside the program");
        let set = run.done(&["set", "digital-out.3=on"]);
        assert!(set.starts_with("digital-out.3=on: confirmed"), "{set}");
        let refused = run.refused(&["set", "digital-out.3=off", "speed-slider=2"], 4);
        assert!(refused.contains("allowed 0 to 1"), "{refused}");
        assert!(run.done(&["sample", "goal", "1", "-2.5", "--seq", "9"]).starts_with("accepted"));
        assert!(run.refused(&["sample", "goal", "1"], 1).contains("expected 2 values"));
        assert!(run.refused(&["sample", "seam", "1", "2"], 1).contains("input = \"requests\": goal"));

        let released = run.done(&["release", "--wait"]);
        assert!(released.starts_with("stop") && released.contains("monitor at epoch"), "{released}");
        assert!(run.done(&["acknowledge"]).starts_with("reset: monitor"));
        for words in [
            &["request"][..],
            &["resume"],
            &["set", "digital-out.1=on"],
            &["sample", "goal", "1", "2"],
            &["hand-back"],
            &["resend"],
        ] {
            let old = commanded.to_string();
            let refused = run.refused(&[words, &["--epoch", &old]].concat(), 4);
            assert!(refused.contains(&format!("it is {} now", commanded + 1)), "{refused}");
        }
        // A release needs no epoch, and accepts any.
        let mut stream = run.connect(&seat);
        stream
            .write_all(b"{\"id\":1,\"do\":\"release\",\"epoch\":0}\n{\"do\":\"release\",\"why\":1}\n")
            .expect("it reads");
        let mut lines = BufReader::new(stream).lines().map(|line| line.expect("text"));
        // An answer without the control loop may arrive first.
        let mut answers = [(); 2].map(|()| lines.next().expect("an answer"));
        answers.sort_by_key(|answer| answer.contains("\"ok\":false"));
        let [done, wrong] = answers;
        assert!(done.starts_with("{\"id\":1,\"ok\":true,"), "{done}");
        assert!(wrong.contains("\"what\":\"UnknownKey\"") && wrong.contains("\"byte\":16"), "{wrong}");

        let (socket, robot) = (run.socket(&seat), run.robot.clone());
        assert!(socket.exists());
        let ended = run.quit();
        let now = clock.now();
        fell_back(&ended.said, clock.window(now, now).and_before(LOOKED_BACK));
        assert_eq!(ended.code, Some(0), "{:#?}", ended.said);
        assert_eq!(lines.next(), None, "clients are sent away");
        assert!(!socket.exists());
        let nobody = Command::new(outrigger_system::program())
            .args(["ask", &robot, "status"])
            .env("XDG_RUNTIME_DIR", &folder)
            .output()
            .expect("the binary under test");
        assert_eq!(nobody.status.code(), Some(3));
        assert!(text(&nobody.stderr).contains("start `outrigger run CONFIG.toml`"), "{}", text(&nobody.stderr));
    });
}

#[test]
fn a_release_stops_the_arm_beside_hundreds_of_clients_that_hang_and_flood() {
    attempt_first(|| {
        let folder = folder("ask-flood");
        let (_arm, robot, seat) = arm(55_000);
        let (run, clock) = (Run::start(&folder, &robot, &configuration(&robot)), Clock::start());
        let hang = || {
            let mut still = run.connect(&seat);
            still.write_all(b"{\"do\":\"rel").expect("there is a place for whoever comes");
            still
        };
        let mut still: Vec<_> = (0..250).map(|_| hang()).collect();
        let floods = [&b"{\"do\":\"resend\",\"epoch\":0}\n"[..], b"{\"do\":\"status\"}\n"].map(|line| {
            let mut stream = run.connect(&seat);
            // This client reads no answers. It ends when its connection is closed.
            thread::spawn(move || while stream.write_all(&line.repeat(20)).is_ok() {})
        });
        run.command_arm();
        still.extend((0..250).map(|_| hang()));
        let mut own = run.connect(&seat);
        let mut refused = String::new();
        BufReader::new(&still[0]).read_line(&mut refused).expect("it has given its place away");
        assert!(refused.contains("\"what\":\"NoPlace\"") && refused.ends_with("}\n"), "{refused}");

        own.write_all(b"{\"id\":1,\"do\":\"release\"}\n{\"id\":2,\"do\":\"watch\"}\n").expect("it reads");
        let mut lines = BufReader::new(own).lines().map(|line| line.expect("text"));
        // An answer without the control loop may arrive first.
        let answer = lines.by_ref().take(2).find(|line| line.starts_with("{\"id\":1,")).expect("an answer");
        assert!(answer.contains("\"ok\":true") && answer.contains("\"mode\":\"stopping\""), "{answer}");
        assert!(lines.any(|line| line.contains("\"mode\":\"monitor\"")), "the arm rests");
        drop(lines);
        let ended = run.quit();
        let now = clock.now();
        fell_back(&ended.said, clock.window(now, now).and_before(LOOKED_BACK));
        assert_eq!(ended.code, Some(0), "{:#?}", ended.said);
        let to: Vec<_> = ended.said.iter().filter(|line| line.contains("\"kind\":\"transition\"")).collect();
        assert!(to.iter().any(|line| text_of(line, "reason").as_deref() == Some("Released")), "{to:#?}");
        floods.into_iter().for_each(|flood| flood.join().expect("no panic"));
    });
}

#[test]
fn a_program_that_stays_is_sent_and_handed_back_on_request() {
    attempt_first(|| {
        let folder = folder("ask-program");
        let (arm, robot, _) = arm(57_000);
        let port =
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr()).expect("a port").port();
        let stays =
            format!("[session]\npath = \"reverse-speedj\"\n[program]\nexpert.resident = true\nexpert.port = {port}\n");
        let (run, clock) = (Run::start(&folder, &robot, &(configuration(&robot) + &stays)), Clock::start());
        let status = run.ready();
        let other = (epoch_of(&status) + 7).to_string();
        for word in ["hand-back", "resend"] {
            assert!(run.refused(&[word, "--epoch", &other], 4).contains("(WrongEpoch)"));
        }
        let refused = run.refused(&["hand-back"], 4);
        assert!(refused.contains("hand-back refused: ") && refused.contains("(ProgramAway)"), "{refused}");
        assert!(run.done(&["resend"]).contains("is sent to the controller again"));
        let runs = |wanted: bool| {
            (0..100).any(|_| {
                thread::sleep(Duration::from_millis(50));
                arm.controller().program().0 == wanted
            })
        };
        assert!(runs(true), "it is there before anything is commanded");
        assert!(run.refused(&["resend"], 4).contains("(ProgramRuns)"));
        run.command_arm();
        assert!(run.refused(&["hand-back"], 4).contains("(Commanded)"));
        run.done(&["release", "--wait"]);
        let handed = run.done(&["hand-back", "--json"]);
        assert!(handed.contains("\"ok\":true") && handed.contains("\"do\":\"hand-back\""), "{handed}");
        assert!(runs(false), "it has ended");
        let ended = run.quit();
        let now = clock.now();
        fell_back(&ended.said, clock.window(now, now).and_before(LOOKED_BACK));
        assert_eq!(ended.code, Some(0), "{:#?}", ended.said);
    });
}

#[test]
fn nobody_is_asked_where_the_configuration_says_so() {
    let folder = folder("ask-off");
    let (_arm, robot, seat) = arm(56_000);
    let file = folder.join("off.toml");
    std::fs::write(&file, format!("{}[run]\nexpert.requests = false\n", configuration(&robot))).expect("a file");
    let mut child = Command::new(outrigger_system::program())
        .arg("run")
        .arg(&file)
        .arg("--json")
        .env("XDG_RUNTIME_DIR", &folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert!(lines.any(|line| line.contains("\"to\":\"Monitor\"")));
    assert!(!folder.join(format!("outrigger/{seat}.sock")).exists());
    let output = Command::new(outrigger_system::program())
        .arg("ask")
        .arg(&file)
        .arg("release")
        .env("XDG_RUNTIME_DIR", &folder)
        .output()
        .expect("the binary under test");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    child.stdin.take().expect("piped").write_all(b"quit\n").expect("it reads");
    assert!(lines.all(|line| !line.contains("\"kind\":\"requests\"")));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_run_beside_a_krc_is_asked_by_its_configuration_and_a_stale_socket_is_replaced() {
    let folder = folder("ask-krc");
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let seat = format!("127.0.0.1:{port}");
    let text = format!(
        "[robot]\nkind = \"krc\"\nlisten = \"{seat}\"\n[law]\nkind = \"joint-servo\"\n[run]\nexpert.requests = true\n"
    );
    let file = folder.join("asked.toml");
    let mut first = Run::start(&folder, file.to_str().expect("a path"), &text);
    first.child.kill().and_then(|()| first.child.wait()).expect("it is gone");
    let run = Run::start(&folder, file.to_str().expect("a path"), &text);
    let status = run.done(&["status"]);
    assert!(status.starts_with("offline at epoch 0"), "{status}");
    let refused = run.refused(&["request"], 4);
    assert!(refused.contains("start refused: "), "{refused}");
    let refused = run.refused(&["set", "digital-out.1=on"], 4);
    assert!(refused.contains("this kind of controller has no such output"), "{refused}");
    let refused = run.refused(&["impedance", "stiffness=800"], 4);
    assert!(refused.contains("the control scheme in force is joint position"), "{refused}");
    let ended = run.quit();
    assert_eq!(ended.code, Some(3), "no KRC ever sent: {:#?}", ended.said);
}

#[test]
fn a_hand_moves_the_arm_for_as_long_as_who_asked_renews_it() {
    attempt_first(|| {
        let folder = folder("ask-guided");
        let (arm, robot, seat) = arm(51_000);
        let port =
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr()).expect("a port").port();
        let player = format!("[session]\npath = \"player\"\n[program]\nexpert.port = {port}\n");
        let (mut run, clock) = (Run::start(&folder, &robot, &(configuration(&robot) + &player)), Clock::start());
        run.ready();
        let refused = run.refused(&["freedrive", "--duration", "1"], 4);
        assert!(refused.contains("(NotCommanding)"), "{refused}");
        let usage = run.refused(&["force", "z=-900"], 2);
        assert!(usage.contains("force, number 2, is -900, expected -500.0 to 500.0 N"), "{usage}");
        run.command_arm();
        run.watch_for(|status| status.contains("\"mode\":\"command\""));
        assert!(run.done(&["tool-contact", "on"]).starts_with("accepted"));
        assert!(run.done(&["tool-contact", "off"]).starts_with("accepted"));

        let height = || arm.controller().truth().tool().position[2];
        arm.controller().act(Action::Push([0.0, 0.0, 10.0, 0.0, 0.0, 0.0]));
        let before = height();
        let said = run.done(&["freedrive", "--duration", "2"]);
        assert!(said.contains("freedrive is active") && said.contains("freedrive or force mode ended"), "{said}");
        assert!(height() - before > 0.03, "from {before} to {}", height());
        arm.controller().act(Action::Push([0.0; 6]));
        // Waits until the program on the controller has reported its end.
        let ends = (0..50).any(|_| run.refused(&["renew"], 4).contains("(NotCommanding)"));
        assert!(ends, "it goes on");

        // A client starts freedrive and then no longer renews it.
        let status = run.watch_for(|status| status.contains("\"mode\":\"command\""));
        let mut begun = false;
        for _ in 0..20 {
            let mut stream = BufReader::new(run.connect(&seat));
            let mut ask = |line: String| {
                stream.get_mut().write_all(line.as_bytes()).expect("it reads");
                let mut answer = String::new();
                stream.read_line(&mut answer).expect("an answer");
                answer
            };
            // Without a challenge of this connection the request is rejected.
            let freedrive = |more: &str| format!("{{\"do\":\"freedrive\",\"epoch\":{}{more}}}\n", epoch_of(&status));
            let refused = ask(freedrive(""));
            assert!(refused.contains("\"what\":\"NotFresh\""), "{refused}");
            let challenge = number_of(&ask("{\"do\":\"status\"}\n".into()), "challenge");
            let answer = ask(freedrive(&format!(",\"challenge\":{challenge}")));
            begun = answer.contains("\"ok\":true");
            if begun {
                break;
            }
            // Repeats until the arm is measured to be at rest.
            assert!(answer.contains("NotAtRest"), "{answer}");
            thread::sleep(Duration::from_millis(100));
        }
        assert!(begun, "it never rests");
        assert!(run.refused(&["renew"], 4).contains("(NotYours)"), "it is another's");
        let ended = run.until("\"to\":\"Stopping\"");
        let now = clock.now();
        if !ended.contains("\"NotRenewed\"") {
            late(clock.window(now, now).and_before(LOOKED_BACK), format!("disturbed: {ended}"));
        }
        assert!(ended.contains("\"NotRenewed\""), "{ended}");
        run.quit();
    });
}
