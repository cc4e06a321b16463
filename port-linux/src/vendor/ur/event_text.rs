//! Descriptions of the events of a controller of Universal Robots: what happened, at which address, and what to
//! check.

use std::net::SocketAddr;

use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::{DownCause, Identity, Next, ProgramEvent, UrEvent, VersionSource, link_name};
use outrigger_wire::frame::Found;
use outrigger_wire::primary::{Report, ReportKind};
use outrigger_wire::program_messages::{Ending, Hello};
use outrigger_wire::time::Duration;
use outrigger_wire::trajectory_messages::TrajectoryResult;

use crate::show::events::{EventText, PeerEvent, Surroundings};

impl PeerEvent for UrEvent {
    fn words(&self, around: &Surroundings<'_>) -> Option<EventText> {
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
        matches!(self, Self::Program(ProgramEvent::Contact { .. }))
    }
}

/// Describes an event of Outrigger's program on the controller, which executes the commands.
fn program(news: ProgramEvent) -> (String, Vec<(&'static str, String)>) {
    let said = |text: &str| (text.to_owned(), vec![]);
    match news {
        ProgramEvent::Unfit => said(
            "this controller's software does not support the configured path: choose another `session.path`; \
             `outrigger doctor` names those that fit",
        ),
        ProgramEvent::Sent => said("our program was sent to the controller"),
        ProgramEvent::Connected => said("our program on the controller has connected"),
        ProgramEvent::Ended(ending) => {
            let why = match ending {
                Ending::None => "its connection is lost: it was stopped, or the network failed",
                Ending::Told => "by our command",
                Ending::Silence => "no command arrived in time",
                Ending::Order => "it received an invalid command",
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
        ProgramEvent::Other { link, bytes, said, version } => other(link, bytes, said, version),
        ProgramEvent::Contact { cycles } => (
            format!("tool contact, which ends the motion; it began {cycles} control cycles before"),
            vec![("cycles", cycles.to_string())],
        ),
        ProgramEvent::Trajectory(result) => {
            let how = match result {
                TrajectoryResult::Success => "completed",
                TrajectoryResult::Canceled => "cancelled, or the arm could not move to one of its points",
                TrajectoryResult::Failure => "a point did not arrive in time, or was invalid",
                TrajectoryResult::Unknown(number) => {
                    &format!("in a way that this version does not know, number {number}")
                }
            };
            (format!("External Control reports the end of the trajectory: {how}"), vec![("result", result.to_string())])
        }
        ProgramEvent::Converged { converged, off } => {
            let off = f64::from(off) * 1e-6;
            let how = if converged { "has reached" } else { "has not reached" };
            let text = format!("the arm {how} the last position: {:.2} mrad", off * 1e3);
            (text, vec![("converged", converged.to_string()), ("off", off.to_string())])
        }
        ProgramEvent::Late(by) => {
            let seconds = by.as_secs_f64();
            (
                format!("the arm is {seconds:.2} s behind the commands that the program on the controller received"),
                vec![("late", format!("{seconds:.3}"))],
            )
        }
        ProgramEvent::Stranger(count) => (
            format!("rejected a connection to our program's port that is not from the controller ({count} so far)"),
            vec![("strangers", count.to_string())],
        ),
        _ => said("a message of our program on the controller that this version does not know"),
    }
}

/// Describes a connection from the controller to this process that did not identify itself as Outrigger's program on
/// the controller.
fn other(link: LinkId, bytes: u8, said: i32, version: i32) -> (String, Vec<(&'static str, String)>) {
    let expected = match link {
        LinkId::SCRIPT => "the URCap's question",
        LinkId::REVERSE => "the greeting of the program that was sent last",
        _ => "the token of the program that was sent last",
    };
    let came = match (bytes, said.to_be_bytes()) {
        (0, _) => "nothing was received".to_owned(),
        (bytes, _) if version == Hello::VERSION => {
            format!("{bytes} B were received, from a program that was sent before")
        }
        (bytes, _) if version != 0 => {
            format!(
                "{bytes} B were received, from another version of Outrigger (it uses {version}, this one {})",
                Hello::VERSION
            )
        }
        (bytes, [0, 0, 0, 0]) => format!("{bytes} B were received"),
        (bytes, first) => format!("{bytes} B were received, with \"{}\"", first.escape_ascii()),
    };
    let text = format!(
        "closed a connection from the controller at the port for {}, which is not our program's: {expected} was \
         expected, {came} (reported the first, second, fourth, ... time)",
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
        VersionSource::Message => "",
        VersionSource::Configuration => " as configured",
        VersionSource::Packet => " or later, judging by its packets",
    };
    let hertz = 1e6 / identity.period.as_micros().max(1) as f64;
    let source = match identity.states {
        LinkId::RTDE => "states by RTDE".to_owned(),
        _ => format!("packets of {} bytes", identity.packet_size),
    };
    format!("session: controller with software {}{how}, {source} at {hertz:.0} Hz", identity.software)
}

/// Returns a description of the message that should have been received on a link.
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
            "no answer from {address}, expected {expected}: check the address, that the controller is on, and the \
             firewall"
        ),
        DownCause::NoGreeting => format!(
            "{address} accepts the connection but sends no known data, expected {expected}: is it a controller?"
        ),
        DownCause::WrongService(found) => {
            let found = match found {
                Found::Realtime => "real-time packets",
                Found::Primary => "primary messages",
                Found::Text => "text, as a dashboard or web server does",
                Found::Unknown => "bytes of an unknown service",
            };
            format!("{address} sends {found}, expected {expected}: check the port base")
        }
        DownCause::Closed => format!("the controller closed the connection to {address}"),
        DownCause::Silent => format!("{address} stopped sending: {}", unplugged(address)),
        DownCause::Unacknowledged => format!("{address} does not acknowledge data: {}", unplugged(address)),
        DownCause::OtherController => format!("{address} is not the controller that the session began with"),
        DownCause::LocalControl => {
            format!("{address} was in local control, where connections accept no text; reconnecting")
        }
        DownCause::Rtde(why) => format!("RTDE at {address} cannot give the robot's state: {why}"),
    }
}

/// Returns advice on what to check if no bytes arrive from the controller.
fn unplugged(address: SocketAddr) -> &'static str {
    if address.ip().is_loopback() {
        "check that the controller on this machine still runs, and the CPU load"
    } else {
        "check the cable and the controller's load"
    }
}

fn follows(link: LinkId, next: Next) -> String {
    let in_time = |wait: Duration| format!("in {:.2} s", wait.as_secs_f64());
    match next {
        Next::OtherPort => "trying the other port".into(),
        Next::Without if link == LinkId::RTDE => "using states from the real-time interface instead".into(),
        Next::Without => "continuing without it".into(),
        Next::Retry(wait) => format!("retrying {}", in_time(wait)),
        Next::NewSession(wait) => format!("new session {}", in_time(wait)),
        Next::Nothing => "as requested".into(),
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
