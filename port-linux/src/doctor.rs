//! `outrigger doctor`: is everything fit for commanding? Asked before anyone commands; nothing is sent.

use outrigger_core::drive::Application;
use outrigger_core::engine::ur::{ConnectConfig, UrConfig, UrOptions};
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::time::{Duration, Instant};

use crate::args::DoctorArgs;
use crate::check;
use crate::clock::Clock;
use crate::config::AnyConfiguration;
use crate::engine;
use crate::exit::{Failure, Outcome};
use crate::host;
use crate::latency::{self, Latency};
use crate::maker::krc::{self, KrcController, KrcExamined};
use crate::maker::ur::{self, UrController, UrExamined};
use crate::maker::{Examined, Maker, Shows};
use crate::panel::{Panel, Wish};
use crate::show::events::PeerEvent as _;
use crate::show::histogram::{bars, quantiles, span};
use crate::show::{Format, say};
use crate::target::Target;

/// Time for which this host's wake-ups are measured.
const HOST_SPAN: Duration = Duration::from_secs(2);
/// Above this a wake-up in a hundred is too late to answer a state in the same 2 ms cycle.
const WAKE_UP: Duration = Duration::from_micros(750);

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
    let examined = if is_krc { beside_krc(args, clock) } else { beside_ur(args, file.as_ref(), clock) };
    findings.extend(examined?);
    warn(file.as_ref());
    verdict(&findings)
}

/// What is to be fixed of the link to a controller of Universal Robots, and of the controller.
fn beside_ur(args: &DoctorArgs, file: Option<&AnyConfiguration>, clock: Clock) -> Result<Vec<String>, Failure> {
    let target = Target::resolve(&args.robot)?;
    let mut config = file.map_or_else(UrConfig::default, judged_by);
    config.peer.model = args.model.or(config.peer.model);
    config.peer.connect.states = args.states.unwrap_or(config.peer.connect.states);
    let seen: UrExamined = crate::runtime()?.block_on(async {
        let (mut net, maker) = UrController::connecting(target, clock, None);
        let mut examination = Examination::new(args, clock, maker)?;
        ur::run(config, engine::idle(), &mut net, &mut examination, 0).await?;
        examination.seen()
    })?;
    Ok(seen.report(&config))
}

/// The same beside a KRC.
fn beside_krc(args: &DoctorArgs, clock: Clock) -> Result<Vec<String>, Failure> {
    let config = krc::looking(&args.robot)?;
    let seen: KrcExamined = crate::runtime()?.block_on(async {
        let robot = args.robot.to_string();
        let (mut net, maker) = KrcController::listening(robot, args.krc.listen(), clock, None).await?;
        let mut examination = Examination::new(args, clock, maker)?;
        krc::run(config, engine::idle(), &mut net, &mut examination, 0).await?;
        examination.seen()
    })?;
    Ok(seen.report())
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

/// Looks at a session for so long.
struct Examination<M, S> {
    panel: Panel<M>,
    seen: Option<S>,
}

impl<M: Maker, S> Examination<M, S> {
    fn new(args: &DoctorArgs, clock: Clock, maker: M) -> Result<Self, Failure> {
        Ok(Self { panel: Panel::new("doctor", Format::Lines, clock, maker, Some(args.seconds))?, seen: None })
    }

    fn seen(self) -> Result<S, Failure> {
        self.panel.finish()?;
        self.seen.ok_or_else(|| Failure::Connection("the session stood too shortly to be judged".into()))
    }
}

impl<const N: usize, P, L: Law<N>, M, S> Application<N, P, L> for Examination<M, S>
where
    P: Peer<N, Event = M::Event>,
    M: Shows<N, P>,
    S: Examined<N, P>,
{
    async fn next(&mut self) -> Input {
        loop {
            let wish = self.panel.next().await;
            if let Wish::End(_) | Wish::Look = wish {
                return wish.input();
            }
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        if matches!(&event, Event::Peer(event) if event.begins()) {
            self.seen = None;
        }
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        self.panel.look_at(engine);
        if !self.panel.is_ending()
            && let Some(seen) = S::of(engine, now, self.seen.as_ref())
        {
            self.seen = Some(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::client::rtde::Claims;
    use outrigger_core::link::Histogram;
    use outrigger_core::mode::OperatorConfig;

    use super::*;

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
