//! Events of the engine in words: what happened, at which address, and what to check.

use std::net::SocketAddr;

use outrigger_core::engine::krc::KrcEvent;
use outrigger_core::engine::ur::{DownCause, Identity, KnownBy, Next, UrEvent, link_name};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::frame::Found;
use outrigger_core::mode::{Channel, Lapse, Refusal};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::primary::{Report, ReportKind};

use super::{Notice, words};

/// What the words need beside the event.
pub struct Surroundings<'a> {
    /// When it happened.
    pub at: Instant,
    /// The controller runs on this machine.
    pub here: bool,
    /// The socket address of one of the controller's ports.
    pub address: &'a dyn Fn(u16) -> SocketAddr,
    /// What the operating system said last about a link.
    pub trouble: &'a dyn Fn(LinkId) -> Option<String>,
}

/// An event for people and scripts: its kind, what it says, and the fields beside.
pub type Words = (&'static str, String, Vec<(&'static str, String)>);

/// What only one kind of controller reports, in words.
pub trait PeerEvent {
    /// The words; `None` for what is of no interest to anybody.
    fn words(&self, around: &Surroundings<'_>) -> Option<Words>;
}

/// `event` for people and scripts; `None` for what is of no interest to either.
#[must_use]
pub fn notice<E: PeerEvent>(event: &Event<E>, around: &Surroundings<'_>) -> Option<Notice> {
    let (kind, text, fields) = match event {
        Event::Peer(event) => event.words(around)?,
        Event::Transition(transition) => {
            let mut text = format!("{} → {}", transition.from.name(), transition.to.name());
            let mut fields = vec![("from", transition.from.name().into()), ("to", transition.to.name().into())];
            if let Some(reason) = transition.reason {
                text.push_str(&format!(": {} ({})", reason.text(), reason.name()));
                fields.push(("reason", reason.name().into()));
            }
            fields.push(("epoch", transition.epoch.number().to_string()));
            ("transition", text, fields)
        }
        Event::Refused(Refusal { word, by, reason }) => {
            let whose = if *by == Channel::Message { String::new() } else { format!(" ({})", by.name()) };
            let (what, why, advice) = (word.name(), reason.text(), words::advice(*reason, around.here));
            let text = format!("{what}{whose} refused: {why} ({}); {advice}", reason.name());
            let fields = vec![("reason", reason.name().into()), ("word", what.into()), ("by", by.name().into())];
            ("refused", text, fields)
        }
        Event::Lapsed(lapse) => {
            let (why, name) = match lapse {
                Lapse::TooLate => ("the robot was not ready in time", "TooLate"),
                Lapse::Latched => ("a fault is latched: acknowledge it", "Latched"),
            };
            (
                "lapsed",
                format!("nothing is requested by itself any more, {why}; request to go on"),
                vec![("why", name.into())],
            )
        }
        Event::Grade(change) => {
            let text = format!("link {} → {}: {}", change.from.name(), change.to.name(), change.cause.name());
            let fields = vec![
                ("from", change.from.name().into()),
                ("to", change.to.name().into()),
                ("cause", change.cause.name().into()),
            ];
            ("grade", text, fields)
        }
        Event::ClockJump(count) => {
            ("clock-jump", format!("the controller's clock jumped or began anew ({count} in this session)"), vec![])
        }
        Event::LocalStall => ("local-stall", "this device itself stood still and was woken late".into(), vec![]),
        Event::PendantOverridden => {
            let text = "a stop pressed at the pendant is overridden by the next command: end commanding here, by a stop \
                        input, or by the emergency stop";
            ("pendant-overridden", text.into(), vec![])
        }
        Event::HeldByScaling(held) => {
            let text = if *held {
                "held by the robot's speed slider: move it up to go on".to_owned()
            } else {
                "the robot's speed slider lets the arm go on".to_owned()
            };
            ("held-by-scaling", text, vec![("held", held.to_string())])
        }
        Event::Bridged(bridged) => {
            let text = format!("source {} is late: cycle {} of bridging", bridged.source.0, bridged.cycle);
            ("bridged", text, vec![])
        }
        Event::Output { write, news } => {
            let text = format!("{}: {}", words::of_write(write), words::of_news(news));
            ("output", text, vec![("what", words::of_write(write)), ("news", words::name_of_news(news).into())])
        }
        Event::Lost(count) => ("events-lost", format!("{count} events were lost"), vec![]),
        _ => return None,
    };
    Some(Notice { at: around.at, kind, text, fields })
}

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
            Self::NotOurs(input) => ("not-ours", input.to_string(), vec![("input", input.input().into())]),
            Self::Report(report) => ("report", reported(report), vec![]),
            Self::Skipped { link, error } => ("skipped", format!("{} link: {error}", link_name(*link)), vec![]),
            Self::Malformed { link, error } => ("malformed", format!("{} link: {error}", link_name(*link)), vec![]),
            _ => return None,
        })
    }
}

impl PeerEvent for KrcEvent {
    fn words(&self, _: &Surroundings<'_>) -> Option<Words> {
        let (kind, text) = words::of_krc(self);
        Some((kind, text, vec![]))
    }
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

/// What should have come on a link.
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

/// What to look at where bytes stay away.
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
            format!("controller: safety mode {} {text}", mode.map_or("changed", |mode| mode.name()))
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

/// What a controller sends must not steer the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
