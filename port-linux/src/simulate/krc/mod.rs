//! `outrigger sim krc`: a simulated KRC behind kernel UDP.

mod args;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

pub use args::SimKrcArgs;
use outrigger_core::wire::fri::{ControlScheme, FriState, Quality};
use outrigger_sim::krc::{Krc, OperationMode, Options};
use outrigger_sim::udp::{Running, Server};

use crate::exit::{Failure, Outcome};
use crate::signals::Signals;

/// How often a change is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] for a KRC that cannot be; [`Failure::Connection`] for a local address that is taken.
pub fn run(args: &SimKrcArgs) -> Outcome {
    let options = options(args);
    let krc = Krc::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
    let any = if args.remote.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { [0_u16; 8].into() };
    let local = args.local.unwrap_or(SocketAddr::new(any, 0));
    let failed = |error| Failure::Connection(format!("cannot send from {local}: {error}"));
    let server = Server::bind(krc, local, args.remote).map_err(failed)?;
    println!(
        "simulated KRC with an LWR 4+: a measurement to {} every {} ms, from port {}",
        args.remote,
        args.period_ms,
        server.local().map_err(failed)?.port()
    );
    println!(
        "KRL convention {}, starts at {}; {}; seed {}; {} fault(s) to come",
        name_of(options.program.convention, &outrigger_sim::krc::Convention::NAMED),
        options.program.waits_for.name(),
        operation(&options),
        options.seed,
        options.faults.len()
    );
    let running = server.spawn().map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
    crate::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let mut told = Told::default();
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
                _ = look.tick() => told.tell(&running),
            }
        }
        told.tell(&running);
        summary(&running);
        Ok(())
    })
}

fn options(args: &SimKrcArgs) -> Options {
    let mut options = Options {
        period: Duration::from_millis(args.period_ms),
        seed: args.seed,
        first_counter: args.first_counter,
        operation: args.mode,
        // Who starts it in T1 or T2 is holding the switch.
        enabled: true,
        faults: args.fault.clone(),
        ..Options::default()
    };
    options.program.convention = args.krl;
    options.program.scale = args.scale;
    options
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
struct Told {
    state: Option<(FriState, Quality, ControlScheme)>,
    fallbacks: usize,
}

impl Told {
    fn tell(&mut self, running: &Running) {
        let krc = running.krc();
        for (at, reason) in krc.fallbacks().iter().skip(self.fallbacks) {
            println!("{at}: command ended: {reason:?}");
        }
        self.fallbacks = krc.fallbacks().len();
        let state = (krc.state(), krc.quality(), krc.scheme());
        if self.state != Some(state) {
            self.state = Some(state);
            println!("{}: {}, quality {}, scheme {}", krc.now(), state.0.name(), state.1.name(), state.2.name());
        }
    }
}

fn summary(running: &Running) {
    let krc = running.krc();
    let (counts, statistics) = (krc.counts(), krc.statistics());
    println!(
        "{} measurements, {} answered in time, {} bridged; commands: {} late, {} old, {} lost, {} malformed",
        counts.sent, counts.answered, counts.bridged, counts.late, counts.old, counts.lost, counts.malformed
    );
    println!(
        "latency {:.3} ms, jitter {:.3} ms, command state entered {} time(s), left {} time(s)",
        1e3 * statistics.latency,
        1e3 * statistics.jitter,
        counts.started,
        krc.fallbacks().len()
    );
}
