//! The command `outrigger sim krc`: runs a simulated KRC behind kernel UDP.

mod args;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

pub(crate) use args::SimKrcArgs;
use outrigger_sim::krc::{Counts, Fault, Krc, OperationMode, Options, Reason};
use outrigger_sim::time::SimTime;
use outrigger_sim::udp::{Running, Server};
use outrigger_wire::fri::{ControlScheme, FriState, Quality};
use serde::Serialize;

use super::output_limiter::Journal;
use outrigger::exit::{Failure, Outcome};
use outrigger::json;
use outrigger::show::{Show, tell};

/// The time without an answer after which the simulated KRC prints that no remote computer answers, and which command
/// starts one that does.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time without a command after which the simulated KRC reports that the remote computer has stopped answering.
const GONE: Duration = Duration::from_secs(1);

/// Runs `outrigger sim krc`, a simulated KRC that sends measurements to a remote computer.
///
/// # Errors
/// [`Failure::Usage`] for impossible options; [`Failure::Connection`] for a local address that is taken.
pub(crate) fn run(args: &SimKrcArgs) -> Outcome {
    let options = options(args)?;
    let krc = Krc::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
    let any = if args.remote.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { [0_u16; 8].into() };
    let local = args.local.unwrap_or(SocketAddr::new(any, 0));
    let failed = |error| Failure::Connection(format!("cannot send from {local}: {error}"));
    let server = Server::bind(krc, local, args.remote).map_err(failed)?;
    let local = server.local().map_err(failed)?;
    let mut show = super::show(args.ready);
    show.text(format!(
        "simulated KRC with an LWR 4+: a measurement to {} every {} ms, from port {}",
        args.remote,
        args.period_ms,
        local.port()
    ));
    show.text(format!(
        "KRL convention {}, starts at {}; {}; seed {}; {} fault(s) scheduled",
        name_of(options.program.convention, &outrigger_sim::krc::Convention::NAMED),
        options.program.starts_at(),
        operation(&options),
        options.seed,
        options.faults.len()
    ));
    let running = super::in_real_time(&mut show, || server.spawn())?;
    if args.ready {
        tell(&ready(args, local))?;
    }
    let mut printed = Printed {
        silent: Some(args.remote),
        faults: options.faults.iter().map(|fault| (*fault, Phase::Pending)).collect(),
        ..Printed::default()
    };
    let told = outrigger::host::runtime::one_threaded()?
        .block_on(super::attend(args.seconds, || printed.tell(&running, args.remote, &mut show)));
    let now = running.krc().now();
    printed.journal.summary(now).into_iter().for_each(|line| show.text(line));
    show.text(summary(&running));
    show.finish();
    told
}

/// Returns the JSON line for scripts that is printed once the simulated KRC sends measurements.
fn ready(args: &SimKrcArgs, local: SocketAddr) -> String {
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "ready")]
    struct Ready {
        local: String,
        remote: String,
        period_ms: u64,
        model: &'static str,
        pid: u32,
    }
    let (local, remote) = (local.to_string(), args.remote.to_string());
    let ready = Ready { local, remote, period_ms: args.period_ms, model: "lwr4+", pid: std::process::id() };
    format!("{}\n", json::text(&ready))
}

fn options(args: &SimKrcArgs) -> Result<Options, Failure> {
    let mut options = Options {
        period: Duration::from_millis(args.period_ms),
        seed: args.seed,
        first_counter: args.first_counter,
        operation: args.mode,
        // A person who starts it in T1 or T2 is holding the switch.
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
    if args.ideal_drive {
        options.arm.lag = Duration::ZERO;
    }
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

/// The phase of an injected fault that was printed last: pending, on or over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Pending,
    On,
    Over,
}

/// The state of the simulated KRC that was printed last.
#[derive(Default)]
struct Printed {
    journal: Journal,
    /// The address of the remote computer, while neither its first answer nor the lack of one was printed. `None`
    /// afterwards.
    silent: Option<SocketAddr>,
    /// The number of commands received from the remote computer so far, and the time when the newest of them was
    /// noticed.
    heard: (u64, SimTime),
    /// `true` while the remote computer answers the simulated KRC's measurements with commands.
    answers: bool,
    faults: Vec<(Fault, Phase)>,
    state: Option<(FriState, Quality, ControlScheme)>,
    fallbacks: usize,
    /// The state of the KRC's digital outputs, and `true` if the gripper is closed.
    driven: (u8, bool),
}

impl Printed {
    fn tell(&mut self, running: &Running, remote: SocketAddr, show: &mut Show) {
        let (now, state, fallbacks, driven, heard) = {
            let krc = running.krc();
            let truth = krc.truth();
            let fallbacks: Vec<_> = krc.fallbacks().iter().skip(self.fallbacks).copied().collect();
            let driven = (truth.outputs, truth.opening <= 0.0);
            let Counts { answered, late, old, malformed, .. } = krc.counts();
            (
                krc.now(),
                (krc.state(), krc.quality(), krc.scheme()),
                fallbacks,
                driven,
                answered + late + old + malformed,
            )
        };
        let mut lines = self.faults(now);
        lines.extend(self.remote(now, heard, remote));
        // The simulator continues while this is printed.
        self.fallbacks += fallbacks.len();
        for (at, reason) in fallbacks {
            lines.extend(self.journal.line(at, format!("command ended: {reason:?}")));
        }
        if self.state != Some(state) {
            self.state = Some(state);
            let text = format!("{}, quality {}, scheme {}", state.0, state.1, state.2);
            lines.extend(self.journal.change(now, &text));
        }
        if self.driven != driven {
            self.driven = driven;
            let (outputs, closed) = driven;
            let text = format!("outputs {outputs:#010b}, gripper {}", if closed { "closed" } else { "open" });
            lines.extend(self.journal.change(now, &text));
        }
        lines.extend(self.journal.due(now));
        lines.into_iter().for_each(|line| show.text(line));
    }

    /// Returns lines about injected faults that began or ended since the last call.
    fn faults(&mut self, now: SimTime) -> Vec<String> {
        let mut lines = vec![];
        for (fault, phase) in &mut self.faults {
            if *phase == Phase::Pending && fault.start <= now {
                *phase = Phase::On;
                lines.extend(self.journal.line(fault.start, format!("fault `{}` starts", fault.name())));
            }
            if *phase == Phase::On && fault.end() <= now {
                *phase = Phase::Over;
                lines.extend(self.journal.line(fault.end(), format!("fault `{}` ends", fault.name())));
            }
        }
        lines
    }

    /// Returns lines about a remote computer that answers, has never answered or no longer answers.
    fn remote(&mut self, now: SimTime, heard: u64, remote: SocketAddr) -> Vec<String> {
        let (before, since) = self.heard;
        if heard != before {
            self.heard = (heard, now);
            self.silent = None;
            let begins = !std::mem::replace(&mut self.answers, true);
            return if begins { self.journal.change(now, &format!("client {remote} replies")) } else { vec![] };
        }
        if self.answers && now.since(since) >= GONE {
            self.answers = false;
            return self.journal.change(now, &format!("client {remote} stopped replying"));
        }
        match self.silent.filter(|_| now.since(SimTime::ZERO) >= PATIENCE) {
            None => vec![],
            Some(remote) => {
                self.silent = None;
                let text = format!(
                    "no reply from {remote}: start the remote computer there, for example `outrigger run` with \
                     robot.kind = \"krc\", or `outrigger monitor ADDRESS --kind krc`"
                );
                self.journal.change(now, &text)
            }
        }
    }
}

/// Returns the counters of the simulated KRC as the text that is printed at its end, with a table row like those of
/// `tests/tables/fri-loss.md`.
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
        "this process started {} cycle(s) more than 0.5 ms late, {:.2} ms at most",
        held_up.cycles(),
        1e3 * held_up.longest().as_secs_f64()
    );
    let head = "| the KRC's grade | answered | bridged | fallbacks | commanding |\n| --- | --- | --- | --- | --- |";
    [&counted, head, &row, &timing, &late].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_comes_and_goes_and_a_fault_are_a_line_each() {
        let remote = SocketAddr::from(([10, 0, 0, 1], 49_938));
        let fault: Fault = "drop/up@5s:200ms:5%".parse().expect("a fault");
        let mut printed = Printed { silent: Some(remote), faults: vec![(fault, Phase::Pending)], ..Printed::default() };
        let mut shown = vec![];
        for (millis, heard) in [(100, 0), (2_000, 0), (2_500, 0), (3_000, 40), (3_050, 50), (4_100, 50), (6_000, 50)] {
            let now = SimTime::from_millis(millis);
            shown.extend(printed.faults(now));
            shown.extend(printed.remote(now, heard, remote));
        }
        assert!(shown.remove(0).starts_with("2.000 s: no reply from 10.0.0.1:49938: start"));
        let expected = [
            "3.000 s: client 10.0.0.1:49938 replies",
            "4.100 s: client 10.0.0.1:49938 stopped replying",
            "5.000 s: fault `drop/up` starts",
            "5.200 s: fault `drop/up` ends",
        ];
        assert_eq!(shown, expected);
    }
}
