//! Descriptions of the events of a controller of Universal Robots: what happened, at which address, and what to
//! check.

use std::net::SocketAddr;

use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::{DownCause, Identity, KnownBy, Next, ProgramNews, UrEvent, link_name};
use outrigger_wire::forward::TrajectoryResult;
use outrigger_wire::frame::Found;
use outrigger_wire::primary::{Report, ReportKind};
use outrigger_wire::program::{Ending, Hello};
use outrigger_wire::time::Duration;

use crate::show::events::{PeerEvent, Surroundings, Words};

impl PeerEvent for UrEvent {
    fn words(&self, around: &Surroundings<'_>) -> Option<Words> {
        Some(match self {
            Self::Opening { .. } | Self::Opened(_) => return None,
            Self::Down { link, endpoint, cause, next } => {
                let address = (around.address)(endpoint.port);
                let why = down(*link, address, *cause, &(around.trouble)(*link));
                let text = format!("{why}; {}", follows(*link, *next));
                ("down", text, vec![("link", link_name(*link).into()), ("address", address.to_string()), ("why", why)])
            }
            Self::Established(identity) => {
                let software = identity.software.to_string();
                (
                    "established",
                    established(identity),
                    vec![("software", software), ("states", link_name(identity.states).into())],
                )
            }
            Self::UnownedInput(input) => ("not-ours", input.to_string(), vec![("input", input.input().into())]),
            Self::Program(news) => {
                let (text, fields) = program(*news);
                ("program", text, fields)
            }
            Self::Report(report) => ("report", reported(report), vec![]),
            Self::Skipped { link, error } => ("skipped", format!("{} link: {error}", link_name(*link)), vec![]),
            Self::Malformed { link, error } => ("malformed", format!("{} link: {error}", link_name(*link)), vec![]),
            _ => return None,
        })
    }

    fn begins(&self) -> bool {
        matches!(self, Self::Established(_))
    }

    fn touches(&self) -> bool {
        matches!(self, Self::Program(ProgramNews::Contact { .. }))
    }
}

/// Describes an event of our program on the controller, which executes commands.
fn program(news: ProgramNews) -> (String, Vec<(&'static str, String)>) {
    let said = |text: &str| (text.to_owned(), vec![]);
    match news {
        ProgramNews::Unfit => said(
            "this controller's software cannot take commands in the way that is configured: choose another \
             `session.path`; `outrigger doctor` names those that fit",
        ),
        ProgramNews::Sent => said("the program that carries our commands is sent to the controller"),
        ProgramNews::Connected => said("our program on the controller has connected"),
        ProgramNews::Ended(ending) => {
            let why = match ending {
                Ending::None => "its connection is gone: it was stopped, or the network has cut it",
                Ending::Told => "it was told to",
                Ending::Silence => "nothing came from here in time",
                Ending::Order => "what came from here was not in order",
                Ending::Speed => "a joint speed was above the limit that it checks itself",
                Ending::Position => "a joint would have passed the position limit that it checks itself",
                Ending::Divergence => "a target was too far from where the arm is, or a joint from where torques began",
                Ending::Stale => "a position waited in its ring for too long",
                Ending::Torque => "a joint torque was above the limit that it checks itself",
                Ending::Version => "it is of another version of Outrigger",
                Ending::Unknown(number) => &format!("for a reason that this version does not know, number {number}"),
            };
            (format!("our program on the controller has ended: {why}"), vec![("why", ending.to_string())])
        }
        ProgramNews::Other { link, bytes, said, version } => other(link, bytes, said, version),
        ProgramNews::Contact { cycles } => (
            format!("the tool touches something, and the motion ends; it began {cycles} control cycles before"),
            vec![("cycles", cycles.to_string())],
        ),
        ProgramNews::Trajectory(result) => {
            let how = match result {
                TrajectoryResult::Success => "it has been made to its end",
                TrajectoryResult::Canceled => "it was cancelled, or a point of it could not be moved to",
                TrajectoryResult::Failure => "a point of it did not come in time, or was none",
                TrajectoryResult::Unknown(number) => {
                    &format!("in a way that this version does not know, number {number}")
                }
            };
            (format!("External Control says how the trajectory ended: {how}"), vec![("result", result.to_string())])
        }
        ProgramNews::Converged { converged, off } => {
            let off = f64::from(off) * 1e-6;
            let how = if converged { "has come to" } else { "has not come to" };
            let text = format!("the arm {how} the last position: {:.2} mrad", off * 1e3);
            (text, vec![("converged", converged.to_string()), ("off", off.to_string())])
        }
        ProgramNews::Late(by) => {
            let seconds = by.as_secs_f64();
            (
                format!("the arm is {seconds:.2} s behind what the program on the controller was given"),
                vec![("late", format!("{seconds:.3}"))],
            )
        }
        ProgramNews::Stranger(count) => (
            format!(
                "somebody else than the controller has connected to our port for its program: turned away, {count} so far"
            ),
            vec![("strangers", count.to_string())],
        ),
        _ => said("news of our program on the controller that this version has no words for"),
    }
}

/// Describes a connection that did not identify itself as our program.
fn other(link: LinkId, bytes: u8, said: i32, version: i32) -> (String, Vec<(&'static str, String)>) {
    let expected = match link {
        LinkId::SCRIPT => "the URCap's question",
        LinkId::REVERSE => "the greeting of the program that was sent last",
        _ => "the token of the program that was sent last",
    };
    let came = match (bytes, said.to_be_bytes()) {
        (0, _) => "nothing came".to_owned(),
        (bytes, _) if version == Hello::VERSION => format!("{bytes} B came, of a program that was sent before"),
        (bytes, _) if version != 0 => {
            format!(
                "{bytes} B came, of another version of Outrigger (it speaks {version}, this one {})",
                Hello::VERSION
            )
        }
        (bytes, [0, 0, 0, 0]) => format!("{bytes} B came"),
        (bytes, first) => format!("{bytes} B came, with \"{}\"", first.escape_ascii()),
    };
    let text = format!(
        "a connection from the controller at the port for {} is none of our program: {expected} was expected, {came}; closed \
         (reported the first, second, fourth, ... time)",
        link_name(link)
    );
    let fields = vec![
        ("link", link_name(link).to_owned()),
        ("bytes", bytes.to_string()),
        ("said", format!("{said:#010x}")),
        ("version", version.to_string()),
    ];
    (text, fields)
}

fn established(identity: &Identity) -> String {
    let how = match identity.known_by {
        KnownBy::Message => "",
        KnownBy::Configuration => " as configured",
        KnownBy::Packet => " or later, by the look of its packets",
    };
    let hertz = 1e6 / identity.period.as_micros().max(1) as f64;
    let source = match identity.states {
        LinkId::RTDE => "states by RTDE".to_owned(),
        _ => format!("packets of {} bytes", identity.packet_size),
    };
    format!("session: controller with software {}{how}, {source} at {hertz:.0} Hz", identity.software)
}

/// Returns what should have been received on a link.
fn expected(link: LinkId) -> &'static str {
    match link {
        LinkId::REALTIME => "a controller's real-time packets",
        LinkId::RTDE => "a controller's RTDE service",
        _ => "a controller's primary messages",
    }
}

fn down(link: LinkId, address: SocketAddr, cause: DownCause, trouble: &Option<String>) -> String {
    let expected = expected(link);
    match cause {
        DownCause::Refused => trouble.clone().unwrap_or_else(|| format!("{address} refuses the connection")),
        DownCause::OpenTimeout => format!(
            "no answer from {address}, expected {expected}: is the address right, the controller on, a firewall between?"
        ),
        DownCause::NoGreeting => format!(
            "{address} accepts the connection but sends nothing that is known, expected {expected}: is it a controller?"
        ),
        DownCause::WrongService(found) => {
            let found = match found {
                Found::Realtime => "real-time packets",
                Found::Primary => "primary messages",
                Found::Text => "text, as a dashboard or web server does",
                Found::Unknown => "bytes of an unknown service",
            };
            format!("{address} sends {found}, expected {expected}: is the port base right?")
        }
        DownCause::Closed => format!("the controller closed the connection to {address}"),
        DownCause::Silent => format!("nothing more comes from {address}: {}", unplugged(address)),
        DownCause::Unacknowledged => format!("{address} acknowledges nothing: {}", unplugged(address)),
        DownCause::OtherController => format!("{address} is not the controller that the session began with"),
        DownCause::LocalControl => {
            format!("{address} was in local control, where connections take no text; it is connected anew")
        }
        DownCause::Rtde(why) => format!("RTDE at {address} cannot give the robot's state: {why}"),
    }
}

/// Returns what to check if no bytes arrive from the controller.
fn unplugged(address: SocketAddr) -> &'static str {
    if address.ip().is_loopback() {
        "does the controller on this machine still run, and has the machine time for it?"
    } else {
        "is the cable plugged in, the controller busy?"
    }
}

fn follows(link: LinkId, next: Next) -> String {
    let in_time = |wait: Duration| format!("in {:.2} s", wait.as_secs_f64());
    match next {
        Next::OtherPort => "the other port is tried".into(),
        Next::Without if link == LinkId::RTDE => "states come from the real-time interface instead".into(),
        Next::Without => "going on without it".into(),
        Next::Retry(wait) => format!("tried again {}", in_time(wait)),
        Next::NewSession(wait) => format!("a new session begins {}", in_time(wait)),
        Next::Nothing => "that was asked for".into(),
    }
}

fn reported(report: &Report) -> String {
    let text = printable(report.text.as_str());
    let code = format!("C{}A{}", report.code, report.argument);
    match report.kind {
        ReportKind::Text => format!("controller: {text}"),
        ReportKind::Popup => format!("controller shows a pop-up: {text}"),
        ReportKind::Safety(mode) => {
            format!("controller: safety mode {} {text}", mode.map_or("changed".into(), |mode| mode.to_string()))
        }
        ReportKind::Error => format!("controller reports {code} {text}"),
        ReportKind::Key => format!("controller: {text}"),
        ReportKind::RuntimeException(Some((line, column))) => {
            format!("program failed at line {line}, column {column}: {text}")
        }
        ReportKind::RuntimeException(None) => format!("program failed: {text}"),
        _ => format!("controller: {text}"),
    }
}

/// Replaces control characters, so that text from a controller cannot control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
