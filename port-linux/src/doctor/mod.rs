//! `outrigger doctor`: is everything fit for commanding? Asked before anyone commands; nothing is sent.

mod args;

use outrigger_config::SourceSettings;
use outrigger_core::drive::Application;
use outrigger_core::engine::{Config, Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::time::{Duration, Instant};

pub(crate) use self::args::DoctorArgs;
use crate::check;
use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::latency::{self, Latency};
use crate::law::BoxedLaw;
use crate::machine;
use crate::maker::{Controller, Examined as _, Maker, Observed, Shows};
use crate::net::Net;
use crate::panel::{Operators, Panel, Wish};
use crate::show::events::PeerEvent as _;
use crate::show::grade::LastSeconds;
use crate::show::histogram::{bars, quantiles, span};
use crate::show::{Format, say};
use crate::signals::Leaves;

/// Time for which this host's wake-ups are measured.
const HOST_SPAN: Duration = Duration::from_secs(2);
/// Above this a wake-up in a hundred is too late to answer a state in the same 2 ms cycle.
const WAKE_UP: Duration = Duration::from_micros(750);

/// Runs the command: what `examine` finds is to be fixed, too. `sources` are those of the configuration, where there is one.
///
/// # Errors
/// [`Failure::Connection`] where there never was a session; [`Failure::Fault`] where something is to be fixed.
pub(crate) fn run(examine: impl FnOnce(Clock) -> Result<Vec<String>, Failure>, sources: &[SourceSettings]) -> Outcome {
    let clock = Clock::start();
    say!("host: {}", machine::describe());
    say!("  {}", machine::in_force());
    let mut findings = Vec::new();
    let latency = latency::measure(clock, HOST_SPAN)
        .map_err(|error| Failure::BadInput(format!("cannot measure this host's wake-ups: {error}")))?;
    judge_host(&latency, &mut findings);
    findings.extend(examine(clock)?);
    for warning in check::warnings(sources) {
        say!("warning: {warning}");
    }
    verdict(&findings)
}

/// What is to be fixed of the link to `controller`, and of the controller, for commanding as `judged`, after a look of so many seconds.
/// `tapped` may have the sockets heard by somebody else as well; what it gives beside them is kept until the end.
///
/// # Errors
/// [`Failure::Connection`] where there never was a session; those of `tapped`.
pub(crate) fn examine<const N: usize, C: Controller<N>, K>(
    mut controller: C,
    config: Config<N, C::Options>,
    judged: &Config<N, C::Options>,
    seconds: u64,
    clock: Clock,
    tapped: impl FnOnce(&mut C, Net) -> Result<(Net, K), Failure>,
) -> Result<Vec<String>, Failure> {
    let (seen, last_seconds): (C::Examined, _) = crate::runtime::block_on(async {
        let net = controller.open(clock, None).await?;
        let (mut net, _kept) = tapped(&mut controller, net)?;
        let operators = Operators::here(Leaves::Nothing)?;
        let panel = Panel::new("doctor", Format::Lines, clock, controller, operators, Some(seconds));
        let mut examination = Examination::new(panel);
        C::run(config, BoxedLaw::idle(), &mut net, &mut examination, 0).await?;
        examination.seen()
    })?;
    let findings = seen.report(judged);
    say!("{last_seconds}");
    Ok(findings)
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

/// Looks at a session for as long as its panel does, and sends nothing.
pub(crate) struct Examination<M, S> {
    panel: Panel<M>,
    seen: Option<S>,
    last_seconds: LastSeconds,
}

impl<M: Maker, S> Examination<M, S> {
    pub(crate) fn new(panel: Panel<M>) -> Self {
        Self { panel, seen: None, last_seconds: LastSeconds::default() }
    }

    /// What was seen last, and how the link was in the last seconds.
    ///
    /// # Errors
    /// [`Failure::Connection`] where there was no session to be seen.
    pub(crate) fn seen(self) -> Result<(S, String), Failure> {
        self.panel.finish()?;
        let seen = self.seen.ok_or_else(|| Failure::Connection("the session stood too shortly to be judged".into()))?;
        Ok((seen, self.last_seconds.table()))
    }
}

impl<const N: usize, P, L: Law<N>, M, S> Application<N, P, L> for Examination<M, S>
where
    P: Peer<N, Event = M::Event>,
    M: Shows<N, P>,
    S: Observed<N, P>,
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
            if self.last_seconds.is_due(now) {
                self.last_seconds.look(now, &engine.figures(now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::link::Histogram;

    use super::*;

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
