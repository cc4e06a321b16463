//! The lines of a device's log: few, and identical for the same sequence of events.
//!
//! States arrive 500 times a second, and so may garbage; both are counted, not logged. A line is written for an event
//! that a person would want to know about hours later.

use core::net::Ipv4Addr;

use outrigger_core::client::dashboard::{BrakeRefusal, Outcome};
use outrigger_core::engine::krc::KrcEvent;
use outrigger_core::engine::ur::{Identity, Next, UrEvent};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::link::{GradeChange, GradeLow};
use outrigger_core::mode::{Mode, Refusal, Transition};
use outrigger_core::robot::Reason;
use outrigger_embassy::ConnectionFault;
use outrigger_remote::telemetry::LinkActivity;
use outrigger_wire::robot::SoftwareVersion;

/// A line of the log. `E` is the type of events that only this kind of controller reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LogEvent<E> {
    /// The device has started, configured for a robot of Universal Robots.
    Booted {
        /// The device's IP address.
        address: Ipv4Addr,
        /// The length of the network prefix of the device's address \[bit\].
        prefix: u8,
        /// The robot's IP address.
        robot: Ipv4Addr,
        /// The name of the configured control law.
        law: &'static str,
    },
    /// The device has started and is configured for a KRC.
    BootedForKrc {
        /// The device's IP address.
        address: Ipv4Addr,
        /// The length of the network prefix of the device's address \[bit\].
        prefix: u8,
        /// The UDP port that receives the KRC's measurements.
        port: u16,
        /// The name of the configured control law.
        law: &'static str,
    },
    /// The device's network interface was connected (`true`) or disconnected.
    Network(bool),
    /// The kind of traffic that was received from the robot's address until now.
    Heard(LinkActivity),
    /// An event of the controller, and the reason why the link that it concerns is not connected, if that is known.
    Peer(E, Option<ConnectionFault>),
    /// The quality grade of the link to the controller changed.
    Grade(GradeChange),
    /// The quality grade of the link is too low, for this cause. The next line of the log states what was rejected
    /// or ended.
    GradeLow(GradeLow),
    /// A request to command the arm was accepted: an operator's, or the automatic request after the start.
    Arming,
    /// The engine begins to command; the number counts how often it has done so since the boot.
    Armed(u32),
    /// An operator's action (a request to command the arm, the acknowledgement of a fault, or an action on Outrigger's
    /// program on the controller) was rejected, or the automatic request to command after the start.
    Refused(Refusal),
    /// Commanding the arm was requested but did not begin, for this reason.
    NotArmed(Reason),
    /// Commanding the arm ended without an operator's request, for this reason.
    Fallback(Reason),
    /// Commanding the arm ended because an operator withdrew the request.
    Released,
    /// Standstill of the arm was confirmed, or, for this reason, could not be confirmed.
    AtRest(Option<Reason>),
    /// A person ended commanding of the arm at the robot's pendant.
    ReleasedAtPendant(Reason),
    /// A stop at the pendant cannot be detected, so a command overrides it.
    PendantOverridden,
    /// The number of robot states received in this session whose values are impossible for this arm.
    Impossible(u32),
    /// The controller holds the commanded motion, by its speed scaling or a paused program; `None` if the motion
    /// continues.
    Held(Option<Reason>),
    /// The outcome of a request to release the brakes by closing the brake contact.
    BrakeRelease(Result<Outcome, BrakeRefusal>),
    /// The number of events or log lines that were dropped because the queue of the engine, or that of the log, was
    /// full.
    Missed(u32),
}

/// An event that only one kind of controller reports, as the log shows it.
pub trait PeerEvent: Copy {
    /// Returns whether the event is logged, and the link that it concerns, if any.
    fn is_logged(&self) -> (bool, Option<LinkId>);

    /// Returns the version of the controller's software if this event reports it, otherwise `None`.
    fn software(&self) -> Option<SoftwareVersion> {
        None
    }

    /// Writes the event to the log; `trouble` is the cause of a failed connection, if it is known.
    fn log(&self, trouble: Option<ConnectionFault>);
}

impl PeerEvent for UrEvent {
    fn is_logged(&self) -> (bool, Option<LinkId>) {
        match self {
            Self::Established(_) => (true, None),
            Self::Down { link, .. } => (true, Some(*link)),
            Self::Program(_) => (true, None),
            _ => (false, None),
        }
    }

    fn software(&self) -> Option<SoftwareVersion> {
        if let Self::Established(identity) = self { Some(identity.software) } else { None }
    }

    fn log(&self, trouble: Option<ConnectionFault>) {
        match self {
            Self::Established(Identity { software, known_by, packet_size, period, states }) => {
                let (major, minor, bugfix) = (software.major, software.minor, software.bugfix);
                let (every, by) = (period.as_micros(), known_by);
                if *states == LinkId::RTDE {
                    info!(
                        "connected: software {}.{}.{} known by {}, RTDE every {} us",
                        major, minor, bugfix, by, every
                    );
                } else {
                    info!(
                        "connected: software {}.{}.{} known by {}, {} B every {} us",
                        major, minor, bugfix, by, packet_size, every
                    );
                }
            }
            Self::Down { endpoint, cause, next, .. } => {
                let why = trouble.map_or("", ConnectionFault::text);
                let comma = if why.is_empty() { "" } else { ", " };
                match next {
                    Next::Retry(after) | Next::NewSession(after) => {
                        let millis = after.as_millis();
                        info!("port {}: {}{}{}; again in {} ms", endpoint.port, cause, comma, why, millis);
                    }
                    Next::OtherPort | Next::Without | Next::Nothing => {
                        info!("port {}: {}{}{}; {}", endpoint.port, cause, comma, why, next);
                    }
                }
            }
            Self::Program(news) => info!("program: {}", news),
            _ => {}
        }
    }
}

/// Returns the name of a value that a KRC reports, `UNKNOWN` if it has none; the log shows the value's number behind
/// it.
fn named(name: Option<&'static str>) -> &'static str {
    name.unwrap_or("UNKNOWN")
}

impl PeerEvent for KrcEvent {
    fn is_logged(&self) -> (bool, Option<LinkId>) {
        (true, None)
    }

    fn log(&self, _: Option<ConnectionFault>) {
        match self {
            Self::Found { period_micros } => info!("connected: KRC, a measurement every {} us", period_micros),
            Self::Silent => info!("KRC: silent"),
            Self::Foreign(count) => info!("foreign: {} datagrams of other senders", count),
            Self::Malformed { count, error } => info!("malformed: {} datagrams, {}", count, error),
            Self::State(state) => info!("KRC: {} ({})", named(state.name()), state.raw()),
            Self::Quality(quality) => info!("quality: {} ({})", named(quality.name()), quality.raw()),
            Self::Scheme(scheme) => info!("KRC: scheme {} ({})", named(scheme.name()), scheme.raw()),
            Self::OtherScheme { krc, ours } => {
                info!("KRC: commands in {} ({}), control needs {}", named(krc.name()), krc.raw(), named(ours.name()));
            }
            Self::Power(true) => info!("KRC: drives on"),
            Self::Power(false) => info!("KRC: drives off"),
        }
    }
}

impl<E: PeerEvent> LogEvent<E> {
    /// Returns the log line for `event` of the engine; `None` if it is not logged. `armed` is the number of times that
    /// commanding began before, and `trouble` returns the reason why a link is not connected, if known.
    pub(crate) fn of(
        event: &Event<E>,
        armed: u32,
        trouble: impl Fn(LinkId) -> Option<ConnectionFault>,
    ) -> Option<Self> {
        match *event {
            Event::Peer(event) => {
                let (told, link) = event.is_logged();
                told.then(|| Self::Peer(event, link.and_then(trouble)))
            }
            Event::Grade(change) => Some(Self::Grade(change)),
            Event::GradeLow(low) => Some(Self::GradeLow(low)),
            Event::Refused(refusal) => Some(Self::Refused(refusal)),
            Event::Transition(transition) => Self::of_transition(&transition, armed),
            Event::PendantOverridden => Some(Self::PendantOverridden),
            Event::Impossible(count) => Some(Self::Impossible(count)),
            Event::Held(held) => Some(Self::Held(held)),
            Event::Lost(count) => Some(Self::Missed(count)),
            _ => None,
        }
    }

    fn of_transition(transition: &Transition, armed: u32) -> Option<Self> {
        let Transition { from, to, reason, .. } = *transition;
        match (from, to) {
            (_, Mode::Arming) => Some(Self::Arming),
            (_, Mode::Command) => Some(Self::Armed(armed.saturating_add(1))),
            (Mode::Arming, _) => reason.map(Self::NotArmed),
            (Mode::Command, _) => match reason {
                None | Some(Reason::Released) => Some(Self::Released),
                Some(reason) if reason.is_release() => Some(Self::ReleasedAtPendant(reason)),
                Some(reason) => Some(Self::Fallback(reason)),
            },
            (Mode::Stopping, Mode::Monitor) => Some(Self::AtRest(None)),
            (Mode::Stopping, _) => Some(Self::AtRest(Some(Reason::MotionUnknown))),
            (Mode::Offline | Mode::Monitor, _) => None,
        }
    }

    /// Writes this event as a line to the log.
    pub(crate) fn log(&self) {
        match self {
            Self::Booted { address, prefix, robot, law } => {
                let ([a, b, c, d], [e, f, g, h]) = (address.octets(), robot.octets());
                let version = env!("CARGO_PKG_VERSION");
                info!("boot: {}, {}.{}.{}.{}/{}, robot {}.{}.{}.{}, {}", version, a, b, c, d, prefix, e, f, g, h, law);
            }
            Self::BootedForKrc { address, prefix, port, law } => {
                let [a, b, c, d] = address.octets();
                let version = env!("CARGO_PKG_VERSION");
                info!("boot: {}, {}.{}.{}.{}/{}, KRC to port {}, {}", version, a, b, c, d, prefix, port, law);
            }
            Self::Peer(event, trouble) => event.log(*trouble),
            Self::Network(true) => info!("network: link up"),
            Self::Network(false) => info!("network: link down"),
            Self::Heard(heard) => info!("from the robot's address: {}", heard.text()),
            Self::Grade(GradeChange { from, to, cause, .. }) => {
                info!("link quality: {} -> {} ({} {}, limit {})", from, to, cause.metric, cause.measured, cause.limit);
            }
            Self::GradeLow(GradeLow { grade, needed, fell, next }) => {
                // The grade fell for this cause, or has not risen because of it.
                let cause = fell.as_ref().map_or(next, |fell| &fell.cause);
                let (metric, measured, limit) = (cause.metric, cause.measured, cause.limit);
                info!("link quality low: {}, needs {} ({} {}, limit {})", grade, needed, metric, measured, limit);
            }
            Self::Arming => info!("arming"),
            Self::Armed(1) => info!("armed"),
            Self::Armed(times) => info!("armed again ({})", times),
            Self::Refused(Refusal { word, by, reason }) => {
                info!("refused: {}, {} ({} by {})", reason, reason.text(), word.name(), by.name());
            }
            Self::NotArmed(reason) => info!("not armed: {}, {}", reason, reason.text()),
            Self::Fallback(reason) => info!("fallback: {}, {}", reason, reason.text()),
            Self::Released => info!("released"),
            Self::AtRest(None) => info!("at rest"),
            Self::AtRest(Some(reason)) => info!("standstill not measured: {}", reason.text()),
            Self::ReleasedAtPendant(reason) => info!("released: {}, {}", reason, reason.text()),
            Self::PendantOverridden => {
                info!("a stop at the pendant is overridden: use a stop input or the emergency stop");
            }
            Self::Impossible(count) => info!("{} states are impossible for this arm", count),
            Self::Held(Some(reason)) => info!("held: {}", reason),
            Self::Held(None) => info!("the motion continues"),
            Self::BrakeRelease(Ok(outcome)) => info!("brake release: {}, {}", outcome.name(), outcome.text()),
            Self::BrakeRelease(Err(why)) => info!("brake release refused: {}, {}", why.name(), why.text()),
            Self::Missed(count) => info!("{} lines missed", count),
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::Endpoint;
    use outrigger_core::engine::ur::DownCause;
    use outrigger_core::mode::Epoch;
    use outrigger_wire::time::{Duration, Instant};

    use super::*;

    fn lines(transitions: &[(Mode, Mode, Option<Reason>)]) -> Vec<LogEvent<UrEvent>> {
        let mut armed = 0;
        let at = Instant::ZERO;
        let mut lines = Vec::new();
        for (from, to, reason) in transitions.iter().copied() {
            let event = Event::Transition(Transition { from, to, reason, at, epoch: Epoch::default() });
            let line = LogEvent::of(&event, armed, |_| None);
            if let Some(LogEvent::Armed(times)) = line {
                armed = times;
            }
            lines.extend(line);
        }
        lines
    }

    #[test]
    fn a_fallback_is_told_with_its_reason_and_arming_again_with_its_count() {
        use Mode::{Arming, Command, Monitor, Offline, Stopping};
        let stale = Some(Reason::StateStale);
        let told = lines(&[
            (Offline, Monitor, None),
            (Monitor, Arming, None),
            (Arming, Command, None),
            (Command, Stopping, stale),
            (Stopping, Monitor, stale),
            (Monitor, Arming, None),
            (Arming, Monitor, Some(Reason::ArmingTimeout)),
            (Monitor, Arming, None),
            (Arming, Command, None),
            (Command, Stopping, Some(Reason::Released)),
            (Stopping, Offline, Some(Reason::LinkClosed)),
        ]);
        let expected = [
            LogEvent::Arming,
            LogEvent::Armed(1),
            LogEvent::Fallback(Reason::StateStale),
            LogEvent::AtRest(None),
            LogEvent::Arming,
            LogEvent::NotArmed(Reason::ArmingTimeout),
            LogEvent::Arming,
            LogEvent::Armed(2),
            LogEvent::Released,
            LogEvent::AtRest(Some(Reason::MotionUnknown)),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_link_that_is_down_is_told_with_what_the_network_stack_knows() {
        let (link, endpoint) = (LinkId::REALTIME, Endpoint { port: 30_003 });
        let event = Event::Peer(UrEvent::Down { link, endpoint, cause: DownCause::OpenTimeout, next: Next::Nothing });
        let told = LogEvent::of(&event, 0, |asked| (asked == link).then_some(ConnectionFault::NoAnswer));
        assert!(matches!(told, Some(LogEvent::Peer(_, Some(ConnectionFault::NoAnswer)))), "{told:?}");
    }

    #[test]
    fn what_comes_as_often_as_states_is_not_told() {
        let stall = Event::<UrEvent>::LocalStall { late: Duration::from_millis(79), limit: Duration::from_millis(40) };
        assert_eq!(LogEvent::of(&stall, 0, |_| None), None);
        assert_eq!(LogEvent::of(&Event::<UrEvent>::ClockJump(1), 0, |_| None), None);
    }
}
