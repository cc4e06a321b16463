//! The command `outrigger board` opposite a simulated board: a thread with the board's side of the conversation.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

use outrigger_core::mode::Mode;
use outrigger_remote::provision::{BootInfo, Copy, Fingerprint, Origin, PendingRequest, Refusal, Service};

const BOARD: &str = "\
[robot]
address = \"10.0.2.2\"
[law]
kind = \"joint-servo\"
[device]
address = \"10.0.2.15/24\"
";

/// The behaviour of a simulated board.
#[derive(Clone, Copy)]
struct Kind {
    kind: u8,
    mode: Mode,
    /// The reason for which the board refuses settings that have been sent completely; `None` if it accepts them.
    refuses: Option<(Refusal, &'static str)>,
    /// `true` if the power fails when the board begins to write.
    cut: bool,
}

const GOOD: Kind = Kind { kind: b'U', mode: Mode::Monitor, refuses: None, cut: false };

/// A temporary folder with a board's configuration, and with the socket of a simulated board, which a thread serves.
struct Bench(PathBuf);

impl Bench {
    fn new(name: &str, kind: Kind) -> Self {
        let folder = std::env::temp_dir().join(format!("outrigger-board-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("board.toml"), BOARD).expect("a file");
        let _ = std::fs::remove_file(folder.join("line"));
        let listener = UnixListener::bind(folder.join("line")).expect("a line");
        thread::spawn(move || {
            let mut standing = Standing { boot: 1, in_force: None };
            for stream in listener.incoming().flatten() {
                let _ = serve(stream, kind, &mut standing);
            }
        });
        Self(folder)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let line = format!("unix:{}", self.0.join("line").display());
        let Output { status, stdout, stderr } = Command::new(outrigger_system::program())
            .arg("board")
            .args(words)
            .args(["--port", &line])
            .output()
            .expect("the program runs");
        (status.code(), [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Standing {
    boot: u32,
    in_force: Option<Fingerprint>,
}

fn serve(mut stream: UnixStream, kind: Kind, standing: &mut Standing) -> std::io::Result<()> {
    let mut memory = [0; 4096];
    let mut service = Service::new(&mut memory);
    loop {
        let count = stream.read(service.receive_window())?;
        if count == 0 {
            return Ok(());
        }
        service.commit(count);
        loop {
            let asked = service.poll_asked(kind.mode);
            let mut starts = false;
            match (asked, kind.refuses) {
                (None, _) => {}
                (Some(PendingRequest::Hello), _) => {
                    let origin = match standing.in_force {
                        Some(_) => Origin::Flash { copy: 1, sequence: 7 },
                        None => Origin::CompiledIn,
                    };
                    let copies = [Copy::Damaged, standing.in_force.map_or(Copy::Empty, |_| Copy::InForce)];
                    service.here(&BootInfo {
                        board: "a board",
                        build: "a build",
                        boot: standing.boot,
                        kind: kind.kind,
                        format: outrigger_core::engine::SETTINGS_FORMAT,
                        room: 4096,
                        mode: kind.mode,
                        origin,
                        in_force: standing.in_force.unwrap_or_default(),
                        copies,
                        ..BootInfo::default()
                    });
                }
                (Some(_), Some((why, text))) => service.refuse(why, text),
                (Some(asked), None) => {
                    service.writing();
                    stream.write_all(&service.poll_output().expect("an answer"))?;
                    starts = true;
                    if !kind.cut && asked == PendingRequest::Keep {
                        standing.in_force = Some(Fingerprint::of(service.image()));
                        service.kept(1, 7);
                    }
                }
            }
            let answer = service.poll_output();
            if let Some(answer) = &answer {
                stream.write_all(answer)?;
            }
            if starts {
                standing.boot += 1;
            } else if answer.is_none() {
                break;
            }
        }
    }
}

#[test]
fn a_board_is_told_a_file_and_shows_it() {
    let bench = Bench::new("told", GOOD);
    let file = bench.file("board.toml", BOARD);
    let (status, said) = bench.run(&["show", &file]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("a board, build a build: runs compiled-in settings, 0 bytes\n"), "{said}");
    assert!(said.contains("copy 1 is incomplete") && said.contains("these settings are different from "), "{said}");
    let (status, said) = bench.run(&["set", &file]);
    assert_eq!(status, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].ends_with(" bytes") && lines[0].contains("board.toml is valid: "), "{said}");
    assert!(said.contains("written as copy 2, number 7; restarting\n"), "{said}");
    assert!(said.ends_with("board.toml: copy 2 in flash, number 7\n"), "{said}");
    let (_, said) = bench.run(&["show", &file]);
    assert!(said.contains("these settings are the same as in "), "{said}");
}

#[test]
fn what_a_board_refuses_is_said_with_what_to_do() {
    for (name, kind, status, word) in [
        ("kind", Kind { kind: b'K', ..GOOD }, 1, "board.toml: robot.kind: the file is for another kind of controller"),
        ("mode", Kind { mode: Mode::Stopping, ..GOOD }, 4, "the board is in mode Stopping"),
        (
            "unfit",
            Kind { refuses: Some((Refusal::Unfit, "limits.velocity: expected more")), ..GOOD },
            1,
            "board.toml: the board cannot run it: limits.velocity: expected more",
        ),
        (
            "flash",
            Kind { refuses: Some((Refusal::Flash { at: 256 }, "")), ..GOOD },
            4,
            "flash did not store it, at byte 256",
        ),
        ("cut", Kind { cut: true, ..GOOD }, 4, "restarted before all was written, and runs its previous settings"),
    ] {
        let bench = Bench::new(name, kind);
        let file = bench.file("board.toml", BOARD);
        let (found, said) = bench.run(&["set", &file]);
        assert!(found == Some(status) && said.contains(word), "{name}: {found:?} {said}");
    }
}

#[test]
fn a_wrong_file_and_a_wrong_port_are_told_before_anything_is_sent() {
    let bench = Bench::new("wrong", GOOD);
    let host = bench.file("host.toml", "robot.address = \"10.0.2.2\"\nlaw.kind = \"joint-servo\"\n");
    let (status, said) = bench.run(&["set", &host]);
    assert!(status == Some(1) && said.contains("expected a board's file, with a table [device]"), "{said}");
    let faulty = bench.file("faulty.toml", &format!("{BOARD}gatway = \"x\"\n"));
    let (status, said) = bench.run(&["set", &faulty]);
    assert!(status == Some(1) && said.contains("faulty.toml: line 7: device.gatway: found an unknown key"), "{said}");
    let file = bench.file("board.toml", BOARD);
    std::fs::remove_file(bench.0.join("line")).expect("removed");
    let (status, said) = bench.run(&["set", &file]);
    assert!(status == Some(3) && said.contains("cannot open unix:"), "{said}");
}
