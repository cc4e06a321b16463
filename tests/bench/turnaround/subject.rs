//! The programs that are measured, each started as a separate process.

use std::env::current_exe;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use outrigger_require::{Need, python, workspace};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::peer::Peer;

/// The number of readers that connect to the program's port for readers (`[serve]`).
const READERS: usize = 2;
/// The number of ROS 2 readers.
const ROS_READERS: &str = "20";
/// The domain of the ROS 2 readers.
const ROS_DOMAIN: &str = "78";

/// A program whose answer times or costs are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The C loop `bare.c`, which waits for one socket.
    Bare,
    /// The C loop, waiting for several descriptors and a time.
    Poll,
    /// Outrigger's engine with a trivial application.
    Ours,
    /// The engine with a trivial application, with the setting `busy_poll = "auto"`.
    Busy,
    /// `outrigger run` without listeners.
    Run,
    /// `outrigger run` without listeners again, to show the difference between two equal blocks.
    RunAgain,
    /// `outrigger run` with a full-screen view, a recording and two readers.
    View,
    /// `outrigger run` with `--json`, a recording and two readers.
    Json,
    /// `outrigger run` with only the live page and a browser that reads it.
    Page,
    /// `outrigger ros2` with the same configuration, and readers of its joint states.
    Ros,
}

impl Subject {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Poll => "ppoll",
            Self::Ours => "ours",
            Self::Busy => "busy",
            Self::Run => "run",
            Self::RunAgain => "again",
            Self::View => "view",
            Self::Json => "json",
            Self::Page => "page",
            Self::Ros => "ros2",
        }
    }

    /// Returns a description of the listeners of the measured program.
    pub(crate) const fn listens(self) -> &'static str {
        match self {
            Self::View => "a view, a recording and two readers",
            Self::Json => "`--json`, a recording and two readers",
            Self::Page => "the live page, and a reader of it",
            Self::Ros => "ROS 2 and twenty readers",
            Self::Bare | Self::Poll | Self::Ours | Self::Busy | Self::Run | Self::RunAgain => "nobody",
        }
    }

    const fn is_listened_to(self) -> bool {
        matches!(self, Self::View | Self::Json)
    }
}

/// The paths of the programs that are measured.
pub(crate) struct Programs {
    pub(crate) bare: PathBuf,
    /// The path of the library that is loaded before a counted program, so that the program's clock advances only with
    /// the controller's states: `lockstep.c`.
    lockstep: PathBuf,
    outrigger: PathBuf,
    folder: PathBuf,
    processors: CpuSet,
    /// The process of the ROS 2 readers, if they were started.
    ros_readers: Option<Child>,
}

impl Programs {
    /// Compiles the C programs, and finds the program `outrigger` beside this one.
    ///
    /// # Errors
    /// A description of the missing program, and how to get it.
    pub(crate) fn find() -> Result<Self, String> {
        let us = current_exe().map_err(|error| error.to_string())?;
        let [bare, lockstep] = ["turnaround_bare", "turnaround_lockstep.so"].map(|name| us.with_file_name(name));
        compile(&bare, "bare.c", &[])?;
        compile(&lockstep, "lockstep.c", &["-shared", "-fPIC"])?;
        let outrigger = us.parent().map(|profile| profile.join("outrigger"));
        let outrigger = outrigger.filter(|path| path.exists());
        let outrigger = outrigger.ok_or("no program beside this one: cargo build --release -p outrigger-cli")?;
        let folder = std::env::temp_dir().join(format!("outrigger-turnaround-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let processors = sched_getaffinity(None).map_err(|error| error.to_string())?;
        Ok(Self { bare, lockstep, outrigger, folder, processors, ros_readers: None })
    }

    /// Starts ROS 2 readers, which discover each node that is started afterwards.
    ///
    /// # Errors
    /// A description of the missing program, and how to get it.
    pub(crate) fn listen_by_ros(&mut self) -> Result<(), String> {
        let help =
            Command::new(&self.outrigger).args(["ros2", "--help"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !help.is_ok_and(|status| status.success()) {
            return Err("that program has no ROS 2: cargo build --release -p outrigger-cli --features ros2".into());
        }
        if let Some(missing) = Need::Python.missing() {
            return Err(missing);
        }
        let script = workspace().join("port-linux/cli/examples/ros2/readers.py");
        let readers = Command::new(python()).arg(script).args([ROS_DOMAIN, ROS_READERS]).stdin(Stdio::null()).spawn();
        self.ros_readers = Some(readers.map_err(|error| error.to_string())?);
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts `subject` with `peer` as its controller. If a command `tracer` is given, the program runs under it and
    /// with the clock of `lockstep.c`. It runs on the last processor and this process on the others, so that neither
    /// interrupts the other.
    pub(crate) fn start(&self, subject: Subject, peer: &Peer, tracer: &[String]) -> Child {
        let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| self.processors.is_set(*cpu)).expect("a processor");
        let (mut alone, mut others) = (CpuSet::new(), self.processors);
        alone.set(last);
        if self.processors.count() > 1 {
            others.unset(last);
        }
        let run_on = |set: &CpuSet| sched_setaffinity(None, set).expect("processors of this process");
        let mut words = tracer.to_vec();
        let mut add = |path: &Path, more: &[&str]| {
            words.push(path.to_str().expect("text").to_owned());
            words.extend(more.iter().map(|&word| word.to_owned()));
        };
        let (port, realtime) = (peer.port_base().to_string(), peer.realtime_port().to_string());
        let us = current_exe().expect("this program");
        let mut served = None;
        match subject {
            Subject::Bare => add(&self.bare, &[&realtime]),
            Subject::Poll => add(&self.bare, &[&realtime, "ppoll"]),
            Subject::Ours => add(&us, &["--ours", &port]),
            Subject::Busy => add(&us, &["--ours", &port, "polls"]),
            Subject::Run | Subject::RunAgain | Subject::View | Subject::Json => {
                let (config, serve) = self.configuration(&port, subject.is_listened_to());
                served = serve;
                let json: &[&str] = if subject == Subject::Json { &["--json"] } else { &[] };
                add(&self.outrigger, &[&["run", config.to_str().expect("text")], json].concat());
            }
            Subject::Page => {
                let (config, _) = self.configuration(&port, false);
                let page = free_port();
                served = Some(page);
                let at = format!("127.0.0.1:{page}");
                add(&self.outrigger, &["run", config.to_str().expect("text"), "--web", &at]);
            }
            Subject::Ros => {
                let (config, _) = self.configuration(&port, false);
                add(&self.outrigger, &["ros2", config.to_str().expect("text"), "--domain", ROS_DOMAIN]);
            }
        }
        let (program, arguments) = words.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(arguments);
        if !tracer.is_empty() {
            command.env("LD_PRELOAD", &self.lockstep).env("LOCKSTEP_PORT", &realtime);
        }
        match subject {
            Subject::View => {
                let terminal = terminal();
                let side = || Stdio::from(terminal.try_clone().expect("a descriptor"));
                command.stdin(side()).stdout(side()).env("TERM", "xterm");
            }
            Subject::Json => drop(command.stdin(Stdio::null()).stdout(Stdio::piped())),
            Subject::Run | Subject::RunAgain | Subject::Page | Subject::Ros => {
                command.stdin(Stdio::piped()).stdout(Stdio::null());
            }
            Subject::Bare | Subject::Poll | Subject::Ours | Subject::Busy => {}
        }
        run_on(&alone);
        let child = command.spawn();
        run_on(&others);
        let mut child = child.unwrap_or_else(|error| panic!("{program}: {error}"));
        if let Some(out) = child.stdout.take() {
            drain(out);
        }
        if let Some(port) = served {
            let (readers, asked) = if subject == Subject::Page { (1, stream(port)) } else { (READERS, String::new()) };
            for _ in 0..readers {
                let asked = asked.clone();
                drop(thread::spawn(move || listen(port, &asked)));
            }
        }
        child
    }

    /// Writes a configuration of `outrigger run` with a motion to and fro; with listeners also with a recording and a
    /// port for readers. Returns its path and that port.
    fn configuration(&self, port: &str, listened_to: bool) -> (PathBuf, Option<u16>) {
        let mut text = format!(
            "[robot]\naddress = \"127.0.0.1:{port}\"\n[session]\nexpert.pendant_stop = \"overridden\"\n[run]\nrequest = \"start\"\n[law]\nkind = \"joint-servo\"\n\
             relative = true\n"
        );
        for number in 0..16 {
            let q = if number % 2 == 0 { 0.0 } else { 20.0 };
            text += &format!(
                "[[law.waypoint]]\nat = {}.0\ndegrees = [{q:?}, {:?}, 0.0, 0.0, {q:?}, {q:?}]\n",
                4 * number,
                -0.2 * q
            );
        }
        let mut served = None;
        if listened_to {
            let port = free_port();
            let record = self.folder.join(format!("{port}.mcap"));
            let _ = std::fs::remove_file(&record);
            text = text
                .replace("[law]\n", &format!("record = {record:?}\n[serve]\nlisten = \"127.0.0.1:{port}\"\n[law]\n"));
            served = Some(port);
        }
        let path = self.folder.join("run.toml");
        File::create(&path).and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
        (path, served)
    }
}

fn compile(to: &Path, source: &str, more: &[&str]) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("turnaround").join(source);
    let status =
        Command::new("cc").args(["-O2", "-Wall", "-Wextra"]).args(more).arg("-o").arg(to).arg(&source).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cc fails on {}: {status}", source.display())),
        Err(error) => Err(format!("{} needs a C compiler as `cc`: {error}", source.display())),
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        if let Some(mut readers) = self.ros_readers.take() {
            let _ = kill_process(Pid::from_child(&readers), Signal::TERM);
            let _ = readers.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Opens a pseudo terminal for the measured program, and discards all output to it.
fn terminal() -> OwnedFd {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&screen).expect("ours");
    unlockpt(&screen).expect("ours");
    let name = ptsname(&screen, vec![]).expect("a name");
    let terminal = File::options().read(true).write(true).open(name.to_str().expect("text")).expect("a terminal");
    drain(File::from(screen));
    terminal.into()
}

fn drain(mut from: impl std::io::Read + Send + 'static) {
    thread::spawn(move || {
        let mut room = [0; 4096];
        while from.read(&mut room).is_ok_and(|count| count > 0) {}
    });
}

fn free_port() -> u16 {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    free.expect("a free port").port()
}

/// Returns a browser's HTTP request for the stream of the live page on `port`.
fn stream(port: u16) -> String {
    format!("GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
}

/// Runs one reader that sends the request `asked` and reads, until the program is gone.
fn listen(port: u16, asked: &str) {
    for _ in 0..500 {
        if let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            && stream.write_all(asked.as_bytes()).is_ok()
        {
            let mut room = [0; 4096];
            while stream.read(&mut room).is_ok_and(|count| count > 0) {}
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
