//! The command `outrigger doctor`: checks whether host, link and robot are fit for commanding, without sending
//! anything.

mod args;

use outrigger_config::SourceSettings;
use outrigger_core::drive::Application;
use outrigger_core::engine::{Config, Controller, Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_core::link::{Grade, GradeChange};
use outrigger_wire::time::{Duration, Instant};

pub(crate) use self::args::DoctorArgs;
use crate::check;
use crate::latency::{self, Latency};
use outrigger::boxed_law::BoxedLaw;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::Clock;
use outrigger::host::process_scheduling;
use outrigger::host::signals::OnSignal;
use outrigger::net::Net;
use outrigger::panel::{OperatorInput, Operators, Panel};
use outrigger::show::Format;
use outrigger::show::events::PeerEvent as _;
use outrigger::show::examination_result::Sheet;
use outrigger::show::grade::{self, LastSeconds};
use outrigger::show::histogram::{bars, quantiles, span};
use outrigger::show::reason_text::Observer;
use outrigger::vendor::{Examined as _, Observed, Vendor, VendorObserve, VendorUi};

/// The duration of the measurement of this host's wake-up delays.
const HOST_SPAN: Duration = Duration::from_secs(2);
/// The wake-up delay that at most one wake-up in a hundred may exceed. A later wake-up cannot answer a state in the
/// same 2 ms cycle.
const WAKE_UP: Duration = Duration::from_micros(750);

/// Runs `outrigger doctor`: measures this host, lets `examine` add the findings about robot and link, and prints all
/// findings with the verdict first. `sources` are the sensors of the configuration, if there is one.
///
/// # Errors
/// The errors of `examine`; [`Failure::BadInput`] if this host cannot be measured; [`Failure::Fault`] if something is
/// to be fixed.
pub(crate) fn run(
    examine: impl FnOnce(Clock, &mut Sheet) -> Result<(), Failure>,
    sources: &[SourceSettings],
) -> Outcome {
    let (clock, mut sheet) = (Clock::start(), Sheet::new());
    sheet.line(format!("host: {}", process_scheduling::describe()));
    sheet.line(format!("  {}", process_scheduling::in_force()));
    let latency = latency::measure(clock, HOST_SPAN)
        .map_err(|error| Failure::BadInput(format!("cannot measure this host's wake-ups: {error}")))?;
    judge_host(&latency, &mut sheet);
    let examined = examine(clock, &mut sheet);
    for warning in check::warnings(sources) {
        sheet.suggest(warning);
    }
    match examined {
        Ok(()) => sheet.show(),
        Err(failure) => {
            sheet.show_unfinished();
            Err(failure)
        }
    }
}

/// Observes `controller` for this many seconds. Adds to `sheet` the findings on whether link and controller are fit for
/// commanding by the configuration `judged`. `tapped` may give another reader access to the sockets' data; the value
/// that it returns is dropped at the end.
///
/// # Errors
/// [`Failure::Connection`] if there never was a session; those of `tapped`.
pub(crate) fn examine<const N: usize, C: Vendor<N>, K>(
    mut controller: C,
    config: Config<N, C::Options>,
    judged: &Config<N, C::Options>,
    (seconds, clock): (u64, Clock),
    sheet: &mut Sheet,
    tapped: impl FnOnce(&mut C, Net) -> Result<(Net, K), Failure>,
) -> Result<(), Failure> {
    let (seen, falls, last_seconds): (C::Examined, _, _) = outrigger::host::runtime::block_on(async {
        let net = controller.open(clock).await?;
        let (mut net, _kept) = tapped(&mut controller, net)?;
        let operators = Operators::here(OnSignal::Nothing)?;
        let panel = Panel::new("doctor", Format::Remarks, clock, controller, operators, Some(seconds));
        let mut examination = Examination::new(panel);
        C::run(config, BoxedLaw::idle(), &mut net, &mut examination, 0).await?;
        examination.seen()
    })?;
    seen.report(judged, sheet);
    if let Some(line) = falls.line() {
        sheet.line(line);
    }
    sheet.detail(&last_seconds);
    Ok(())
}

/// The number of times that the link's quality, in the four grades of FRI, fell during the check below the grade that
/// commanding needs, and the worst of these falls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Falls {
    count: u32,
    worst: Option<GradeChange>,
}

impl Falls {
    fn note(&mut self, change: &GradeChange, needed: Grade) {
        if change.to < change.from && change.to < needed {
            self.count += u32::from(change.from >= needed);
            if self.worst.is_none_or(|worst| change.to < worst.to) {
                self.worst = Some(*change);
            }
        }
    }

    fn line(&self) -> Option<String> {
        let worst = self.worst?;
        let times = if self.count > 1 { format!(" {} times", self.count) } else { String::new() };
        let fell = grade::fell(&worst, Observer::Process);
        Some(format!("during the check, link quality fell{times}, at worst to {}: {fell}", worst.to.name()))
    }
}

fn judge_host(latency: &Latency, sheet: &mut Sheet) {
    for (name, histogram) in [("timer", &latency.timer), ("socket", &latency.socket)] {
        sheet.line(format!("  {name} wake-ups late by {}", quantiles(histogram)));
        sheet.detail(&bars(histogram));
        if let Some(late) = histogram.quantile(9_900).filter(|late| *late > WAKE_UP) {
            sheet.fix(format!(
                "1 % of {name} wake-ups are at least {} late: give the process a core (host.cpu) and a real-time \
                 priority (host.scheduling = \"fifo\")",
                span(late)
            ));
        }
    }
}

/// An application that observes the session with a robot until its operator or its time ends it, and sends nothing.
pub(crate) struct Examination<M, S> {
    panel: Panel<M>,
    seen: Option<S>,
    falls: Falls,
    needed: Grade,
    last_seconds: LastSeconds,
}

impl<M: VendorUi, S> Examination<M, S> {
    pub(crate) fn new(panel: Panel<M>) -> Self {
        let (falls, last_seconds) = (Falls::default(), LastSeconds::default());
        Self { panel, seen: None, falls, needed: Grade::Ok, last_seconds }
    }

    /// Returns the last observation of the robot, the falls of the link's quality below the grade that commanding
    /// needs, and a table of the link's statistics in the last ten seconds.
    ///
    /// # Errors
    /// [`Failure::Connection`] if there was no session to observe.
    pub(crate) fn seen(self) -> Result<(S, Falls, String), Failure> {
        self.panel.finish()?;
        let seen = self.seen.ok_or_else(|| Failure::Connection("the connection was too short to be judged".into()))?;
        Ok((seen, self.falls, self.last_seconds.table()))
    }
}

impl<const N: usize, P, L: Law<N>, M, S> Application<N, P, L> for Examination<M, S>
where
    P: Controller<N, Event = M::Event>,
    M: VendorObserve<N, P>,
    S: Observed<N, P>,
{
    async fn next(&mut self) -> Input {
        loop {
            let wish = self.panel.next().await;
            if let OperatorInput::End(_) | OperatorInput::Look = wish {
                return wish.input();
            }
        }
    }

    fn event(&mut self, event: Event<P::Event>) {
        match &event {
            // The observations of an earlier session do not apply to this one.
            Event::Peer(event) if event.begins() => {
                (self.seen, self.falls, self.last_seconds) = (None, Falls::default(), LastSeconds::default());
            }
            Event::Grade(change) => self.falls.note(change, self.needed),
            _ => {}
        }
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        self.panel.look_at(engine);
        self.needed = engine.grade_needed();
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
        let mut sheet = Sheet::default();
        judge_host(&latency, &mut sheet);
        let text = sheet.text();
        let start = "1 thing to fix before commanding:\n  - 1 % of socket wake-ups are at least ";
        assert!(text.starts_with(start), "{text}");
        assert!(!text.contains('█'), "{text}");
    }
}
