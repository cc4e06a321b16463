//! `outrigger doctor`: is everything fit for commanding? Asked before anyone commands; nothing is sent.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use outrigger_core::engine::ur::UrOptions;
use outrigger_core::engine::ur::{ConnectConfig, Identity, TextPath, UrConfig};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::link::{Figures, Grade, Histogram};
use outrigger_core::robot::{Reason, ReasonSet, SoftwareVersion};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::Quality;

use crate::args::DoctorArgs;
use crate::check;
use crate::clock::Clock;
use crate::coast;
use crate::config::AnyConfiguration;
use crate::engine;
use crate::exit::{Failure, Outcome};
use crate::host;
use crate::krc::watch::Listener;
use crate::krc::words;
use crate::latency::{self, Latency};
use crate::net::TcpNet;
use crate::panel::{Panel, Target, Wish};
use crate::show::histogram::{bars, quantiles, span};
use crate::show::{Format, say};

/// Time for which this host's wake-ups are measured.
const HOST_SPAN: Duration = Duration::from_secs(2);
/// Above this a wake-up in a hundred is too late to answer a state in the same 2 ms cycle.
const WAKE_UP: Duration = Duration::from_micros(750);

/// A law that is never asked: nothing here requests.
type Idle = JointServo<6>;

/// Runs the command.
///
/// # Errors
/// [`Failure::Connection`] where there never was a session; [`Failure::Fault`] where something is to be fixed.
pub fn run(args: &DoctorArgs) -> Outcome {
    let clock = Clock::start();
    let is_krc = args.krc.is_krc(args.states.unwrap_or_default())?;
    if is_krc && args.model.is_some() {
        return Err(Failure::Usage("--model is for a UR arm: beside a KRC it is an LWR; leave it out".into()));
    }
    let file = args.config.as_deref().map(AnyConfiguration::load).transpose()?;
    let of_a_krc = file.as_ref().map(|file| matches!(file, AnyConfiguration::Krc(_) | AnyConfiguration::KrcBoard(_)));
    match of_a_krc {
        Some(true) if !is_krc => return Err(Failure::Usage("the configuration is for a KRC: add --kind krc".into())),
        Some(false) if is_krc => {
            return Err(Failure::Usage("the configuration is for a UR arm: leave --kind krc out".into()));
        }
        _ => {}
    }
    say!("host: {}", host::describe());
    say!("  {}", host::in_force());
    let mut findings = Vec::new();
    let latency = latency::measure(clock, HOST_SPAN)
        .map_err(|error| Failure::BadInput(format!("cannot measure this host's wake-ups: {error}")))?;
    judge_host(&latency, &mut findings);
    if is_krc {
        return krc(args, file.as_ref(), clock, findings);
    }
    let target = Target::resolve(&args.robot)?;
    let mut config = file.as_ref().map_or_else(UrConfig::default, judged_by);
    config.peer.model = args.model.or(config.peer.model);
    config.peer.connect.states = args.states.unwrap_or(config.peer.connect.states);
    let examined = crate::runtime()?.block_on(async {
        let mut net = TcpNet::new(&target.address, target.ip, clock, None);
        let panel = Panel::new("doctor", Format::Lines, clock, target, net.trouble(), Some(args.seconds))?;
        let mut examination = Examination { panel, identity: None, seen: None };
        engine::run(config, Idle::new(Reference::Hold, JointServoConfig::default()), &mut net, &mut examination)
            .await?;
        let Examination { panel, identity, seen } = examination;
        panel.finish()?;
        Ok::<_, Failure>(identity.zip(seen))
    })?;
    let Some((identity, seen)) = examined else {
        return Err(Failure::Connection("the session stood too shortly to be judged".into()));
    };
    describe(&config, &identity, &seen, &mut findings);
    warn(file.as_ref());
    verdict(&findings)
}

/// What a file says of judging a session that nobody asks to command: its operator's inputs, sensors and claims are not
/// in it, for nothing is sent.
fn judged_by(file: &AnyConfiguration) -> UrConfig {
    let engine = match file {
        AnyConfiguration::Host(host) => host.control.engine(),
        AnyConfiguration::Board(board) => board.control.engine(),
        // Listened to without a `UrConfig`.
        AnyConfiguration::Krc(_) | AnyConfiguration::KrcBoard(_) => UrConfig::default(),
    };
    let UrConfig { peer, link, mode, standstill, limits, .. } = engine;
    let UrOptions { software, model, tcp, text, connect, .. } = peer;
    let ConnectConfig { outputs, claims, .. } = ConnectConfig::default();
    let connect = ConnectConfig { outputs, claims, ..connect };
    UrConfig {
        peer: UrOptions { software, model, tcp, text, connect, ..UrOptions::default() },
        link,
        mode,
        standstill,
        limits,
        ..UrConfig::default()
    }
}

/// What `check-config` warns of.
fn warn(file: Option<&AnyConfiguration>) {
    let sources = match file {
        Some(AnyConfiguration::Host(host)) => host.control.sources.as_slice(),
        Some(AnyConfiguration::Krc(krc)) => &krc.sources,
        // Nobody can send to a board's sensors.
        Some(AnyConfiguration::Board(_) | AnyConfiguration::KrcBoard(_)) | None => &[],
    };
    for warning in check::warnings(sources) {
        say!("warning: {warning}");
    }
}

/// Beside a KRC: its link, and what keeps it from being commanded.
fn krc(args: &DoctorArgs, file: Option<&AnyConfiguration>, clock: Clock, mut findings: Vec<String>) -> Outcome {
    let remote = crate::runtime()?.block_on(async {
        let listener =
            Listener::open("doctor", Format::Lines, clock, &args.robot, args.krc.listen(), Some(args.seconds)).await?;
        listener.run().await
    })?;
    let (session, now) = (remote.session(), clock.now());
    say!("controller: {}", words::identity(session).unwrap_or_else(|| "silent by now".into()));
    say!("link: {}", words::standing(session, now));
    for (name, value) in words::values(session) {
        say!("  {name}: {value}");
    }
    for (name, histogram) in [("round trip", session.peer().round_trips()), ("jitter", session.peer().jitters())] {
        say!("  {name}: {}", quantiles(histogram));
        say!("{}", bars(histogram).trim_end());
    }
    let figures = session.figures(now);
    if matches!(figures.grade, Grade::Unacceptable | Grade::Bad) {
        findings.push(format!(
            "the link's grade is {}, held by {}: use a cable between KRC and this host alone, and give the process a core \
             (host.cpu) and a real-time priority (host.scheduling = \"fifo\")",
            figures.grade.name(),
            figures.held_by.name()
        ));
    }
    if let Some(quality) = session.peer().quality().filter(|quality| !matches!(quality, Quality::Ok | Quality::Perfect))
    {
        findings.push(format!("the KRC rates the link {}: most KRL programs wait for PERFECT", quality.name()));
    }
    // The link was named above, in more words.
    for reason in session.unmet(now).iter().filter(|reason| *reason != Reason::GradeLow) {
        findings.push(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
    }
    warn(file);
    verdict(&findings)
}

fn verdict(findings: &[String]) -> Outcome {
    if findings.is_empty() {
        say!("nothing to fix");
        return Ok(());
    }
    say!("to fix before commanding:");
    for finding in findings {
        say!("  - {finding}");
    }
    Err(Failure::Fault(format!("{} thing(s) to fix", findings.len())))
}

fn judge_host(latency: &Latency, findings: &mut Vec<String>) {
    for (name, histogram) in [("timer", &latency.timer), ("socket", &latency.socket)] {
        say!("  {name} wake-ups late by {}", quantiles(histogram));
        say!("{}", bars(histogram).trim_end());
        if let Some(late) = histogram.quantile(9_900).filter(|late| *late > WAKE_UP) {
            findings.push(format!(
                "one {name} wake-up in a hundred is {} late: give the process a core (host.cpu) and a real-time \
                 priority (host.scheduling = \"fifo\")",
                span(late)
            ));
        }
    }
}

fn describe(config: &UrConfig, identity: &Identity, seen: &Seen, findings: &mut Vec<String>) {
    let software = identity.software;
    let source = if identity.states == LinkId::RTDE { "RTDE (30004)" } else { "the real-time interface (30003)" };
    say!("controller: software {software}, packets of {} bytes, states by {source}", identity.packet_size);
    let Figures { grade, held_by, sequence, jitter, late, .. } = seen.figures;
    say!(
        "link: {:.1} Hz of {:.0}, grade {}, jitter {}, {} states, {} lost, {late} late",
        seen.rate(),
        1e6 / identity.period.as_micros().max(1) as f64,
        grade.name(),
        span(jitter),
        sequence.accepted,
        sequence.lost
    );
    say!("  time between states: {}", quantiles(&seen.intervals));
    say!("{}", bars(&seen.intervals).trim_end());
    if matches!(grade, Grade::Unacceptable | Grade::Bad) {
        findings.push(format!(
            "the link's grade is {}, held by {}: check cable, switch and load",
            grade.name(),
            held_by.name()
        ));
    }
    say!("self-stop: {}", self_stop(config, software));
    let acceptance = match (seen.program_told, seen.packet_tells) {
        (true, _) => "isProgramRunning, ten times a second",
        (false, true) => "the program state in the packet (its numbers are unconfirmed)",
        (false, false) => "none",
    };
    say!("acceptance evidence: {acceptance}");
    say!("{}", coast::describe(config, software));
    let sees = config.sees_pendant_stops(identity.states == LinkId::RTDE, identity.period);
    say!("pendant: {}", coast::pendant(sees));
    for reason in seen.unmet.iter() {
        findings.push(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
    }
}

/// Which form of text is in force, and why.
fn self_stop(config: &UrConfig, software: SoftwareVersion) -> &'static str {
    let path = TextPath::new(config.peer.text, software);
    match (path.is_self_ending(), path.ends_without_us()) {
        (true, _) => {
            "each command is a program that ends in stopj, for this software is not recorded to stop when a command's time is over"
        }
        (false, true) => "a bare speedj, for this software is recorded to stop when a command's time is over",
        (false, false) => "NONE: a bare speedj on software that is not recorded to stop when a command's time is over",
    }
}

/// What was seen of the session.
#[derive(Clone, Debug)]
struct Seen {
    since: Instant,
    until: Instant,
    figures: Figures,
    intervals: Histogram,
    unmet: ReasonSet,
    program_told: bool,
    packet_tells: bool,
}

impl Seen {
    fn rate(&self) -> f64 {
        self.figures.sequence.accepted as f64 / self.until.since(self.since).as_secs_f64().max(1e-3)
    }
}

struct Examination {
    panel: Panel,
    identity: Option<Identity>,
    seen: Option<Seen>,
}

impl<'m> outrigger_core::drive::Application<6, Ur<'m>, Idle> for Examination {
    async fn next(&mut self) -> Input {
        loop {
            if let Wish::End(_) = self.panel.next().await {
                return Input::Shutdown;
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        if let Event::Peer(UrEvent::Established(identity)) = &event {
            self.identity = Some(*identity);
            self.seen = None;
        }
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, Idle>, now: Instant) {
        if engine.peer().identity().is_none() {
            return;
        }
        let facts = engine.peer().facts();
        self.seen = Some(Seen {
            since: self.seen.as_ref().map_or(now, |seen| seen.since),
            until: now,
            figures: engine.figures(now),
            intervals: engine.histograms().interval.clone(),
            unmet: engine.unmet(now),
            program_told: facts.program.is_some(),
            packet_tells: engine.state().is_some_and(|state| state.program_state.is_some()),
        });
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::client::rtde::Claims;
    use outrigger_core::engine::ur::FormChoice;
    use outrigger_core::mode::OperatorConfig;

    use super::*;

    #[test]
    fn the_form_in_force_and_its_reason_follow_the_whole_version() {
        let mut config = UrConfig::default();
        assert!(self_stop(&config, SoftwareVersion::new(3, 1)).contains("ends in stopj"));
        assert!(self_stop(&config, SoftwareVersion::new(5, 0)).starts_with("a bare speedj, for"));
        config.peer.text.form = FormChoice::Bare;
        assert!(self_stop(&config, SoftwareVersion::new(1, 8)).starts_with("NONE"));
    }

    #[test]
    fn of_a_file_is_taken_what_judges_and_nothing_that_asks_or_claims() {
        let file = AnyConfiguration::parse(
            "robot.address = \"a\"\nlaw.kind = \"joint-servo\"\nlimits.velocity = 0.5\nsession.pendant_stops = false\n\
             operator.request_input = 0\noutputs.claim = \"digital-out\"\noutputs.force = \"f\"\n\
             [[source]]\nname = \"f\"\ninput = \"stdin\"\nvalues = 6\n",
        );
        let config = judged_by(&file.expect("a configuration"));
        assert!(config.limits.velocity.0 == [0.5; 6] && !config.mode.pendant.stops);
        assert_eq!((config.operator, config.peer.connect.claims), (OperatorConfig::default(), Claims::NONE));
        assert!(config.peer.force.is_none() && config.sources.iter().all(Option::is_none));
    }

    #[test]
    fn a_host_that_wakes_late_is_told_what_to_do() {
        let mut latency = Latency { timer: Histogram::default(), socket: Histogram::default() };
        (0..100).for_each(|_| latency.timer.record(Duration::from_micros(60)));
        (0..100).for_each(|_| latency.socket.record(Duration::from_millis(4)));
        let mut findings = Vec::new();
        judge_host(&latency, &mut findings);
        assert!(
            matches!(findings.as_slice(), [one] if one.contains("one socket wake-up in a hundred")),
            "{findings:?}"
        );
    }
}
