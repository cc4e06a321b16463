//! `outrigger sim krc`: a simulated KRC behind kernel UDP.

mod args;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

pub(crate) use args::SimKrcArgs;
use outrigger_core::wire::fri::{ControlScheme, FriState, Quality};
use outrigger_sim::krc::{Counts, Krc, OperationMode, Options, Reason};
use outrigger_sim::time::SimTime;
use outrigger_sim::udp::{Running, Server};
use tokio::sync::mpsc::unbounded_channel;

use crate::exit::{Failure, Outcome};
use crate::show::{Format, Show, say};
use crate::signals::{Leaves, Signals};

/// How often a change is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Unanswered for so long, it says what is missing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] for a KRC that cannot be; [`Failure::Connection`] for a local address that is taken.
pub(crate) fn run(args: &SimKrcArgs) -> Outcome {
    let options = options(args)?;
    let krc = Krc::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
    let any = if args.remote.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { [0_u16; 8].into() };
    let local = args.local.unwrap_or(SocketAddr::new(any, 0));
    let failed = |error| Failure::Connection(format!("cannot send from {local}: {error}"));
    let server = Server::bind(krc, local, args.remote).map_err(failed)?;
    say!(
        "simulated KRC with an LWR 4+: a measurement to {} every {} ms, from port {}",
        args.remote,
        args.period_ms,
        server.local().map_err(failed)?.port()
    );
    say!(
        "KRL convention {}, starts at {}; {}; seed {}; {} fault(s) to come",
        name_of(options.program.convention, &outrigger_sim::krc::Convention::NAMED),
        options.program.starts_at().name(),
        operation(&options),
        options.seed,
        options.faults.len()
    );
    let running = server.spawn().map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
    crate::runtime::one_threaded()?.block_on(async {
        let mut signals = Signals::listen(Leaves::Nothing)?;
        let (keys, _) = unbounded_channel();
        let mut show = Show::start(Format::Lines, "sim", keys);
        let mut printed = Printed { remote: Some(args.remote), ..Printed::default() };
        let end = args.seconds.map(|seconds| tokio::time::sleep(Duration::from_secs(seconds)));
        let end = async {
            match end {
                Some(end) => end.await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(end);
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = signals.next() => break,
                () = &mut end => break,
                _ = look.tick() => printed.tell(&running, &mut show),
            }
        }
        printed.tell(&running, &mut show);
        show.text(summary(&running));
        show.finish();
        Ok(())
    })
}

fn options(args: &SimKrcArgs) -> Result<Options, Failure> {
    let mut options = Options {
        period: Duration::from_millis(args.period_ms),
        seed: args.seed,
        first_counter: args.first_counter,
        operation: args.mode,
        // Who starts it in T1 or T2 is holding the switch.
        enabled: true,
        faults: args.fault.clone(),
        motion: args.motion.clone(),
        ..Options::default()
    };
    options.program.convention = args.krl;
    options.program.echoes = args.echo;
    options.program.scale = args.scale;
    options.program.inputs = args.inputs;
    options.arm.contact = args.surface;
    for assumption in &args.assume {
        assumption.apply(&mut options).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    Ok(options)
}

fn operation(options: &Options) -> &'static str {
    match options.operation {
        OperationMode::T1 => "T1, enabling switch held",
        OperationMode::T2 => "T2, enabling switch held",
        OperationMode::Automatic => "AUT",
    }
}

fn name_of<T: PartialEq>(value: T, named: &[(T, &'static str)]) -> &'static str {
    named.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

/// What was printed last.
#[derive(Default)]
struct Printed {
    /// Who has not answered yet, until that was said.
    remote: Option<SocketAddr>,
    state: Option<(FriState, Quality, ControlScheme)>,
    fallbacks: usize,
    /// Digital outputs, and whether the gripper is closed.
    driven: (u8, bool),
}

impl Printed {
    fn tell(&mut self, running: &Running, show: &mut Show) {
        let (now, state, fallbacks, driven, heard) = {
            let krc = running.krc();
            let truth = krc.truth();
            let fallbacks: Vec<_> = krc.fallbacks().iter().skip(self.fallbacks).copied().collect();
            let driven = (truth.outputs, truth.opening <= 0.0);
            let Counts { answered, late, old, malformed, .. } = krc.counts();
            let heard = answered + late + old + malformed > 0;
            (krc.now(), (krc.state(), krc.quality(), krc.scheme()), fallbacks, driven, heard)
        };
        if let Some(remote) = self.remote.filter(|_| now.since(SimTime::ZERO) >= PATIENCE) {
            self.remote = None;
            if !heard {
                show.text(format!(
                    "{now}: nothing answers at {remote}: start the remote computer there, for example `outrigger run` with \
                     robot.kind = \"krc\", or `outrigger monitor ADDRESS --kind krc`"
                ));
            }
        }
        // It lives on while this is printed.
        self.fallbacks += fallbacks.len();
        for (at, reason) in fallbacks {
            show.text(format!("{at}: command ended: {reason:?}"));
        }
        if self.state != Some(state) {
            self.state = Some(state);
            show.text(format!("{now}: {}, quality {}, scheme {}", state.0.name(), state.1.name(), state.2.name()));
        }
        if self.driven != driven {
            self.driven = driven;
            let (outputs, closed) = driven;
            show.text(format!("{now}: outputs {outputs:#010b}, gripper {}", if closed { "closed" } else { "open" }));
        }
    }
}

/// Counts, and the KRC's columns of `tests/tables/fri-loss.md`.
fn summary(running: &Running) -> String {
    let krc = running.krc();
    let (counts, statistics, held_up) = (krc.counts(), krc.statistics(), running.held_up());
    let cycles: u64 = counts.qualities.iter().sum();
    let percent = |part: u64| 100.0 * part as f64 / cycles.max(1) as f64;
    let shares: Vec<_> = counts.qualities.iter().rev().map(|part| format!("{:.0}", percent(*part))).collect();
    let mut fallbacks: Vec<(Reason, u64)> = vec![];
    for (_, reason) in krc.fallbacks().iter().filter(|(_, reason)| *reason != Reason::Stopped) {
        match fallbacks.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => fallbacks.push((*reason, 1)),
        }
    }
    let fallbacks: Vec<_> = fallbacks.iter().map(|(reason, count)| format!("{count} {reason:?}")).collect();
    let counted = format!(
        "{} measurements, {} answered in time; commands: {} late, {} old, {} lost, {} malformed",
        counts.sent, counts.answered, counts.late, counts.old, counts.lost, counts.malformed
    );
    let row = format!(
        "| {} | {:.1} % | {} | {} | {:.0} % |",
        shares.join(" / "),
        percent(counts.answered),
        counts.bridged,
        if fallbacks.is_empty() { "–".into() } else { fallbacks.join(", ") },
        percent(counts.commanding)
    );
    let timing = format!(
        "latency {:.3} ms, jitter {:.3} ms; command state entered {} time(s), left {} time(s)",
        1e3 * statistics.latency,
        1e3 * statistics.jitter,
        counts.started,
        krc.fallbacks().len()
    );
    let late = format!(
        "this process began {} cycle(s) more than 0.5 ms late, by {:.2} ms at most",
        held_up.cycles(),
        1e3 * held_up.longest().as_secs_f64()
    );
    let head = "| the KRC's grade | answered | bridged | fallbacks | commanding |\n| --- | --- | --- | --- | --- |";
    [&counted, head, &row, &timing, &late].join("\n")
}
