//! Descriptions of the reports and states of a KRC (a KUKA robot controller).

use std::net::SocketAddr;

use outrigger_core::engine::Coast;
use outrigger_core::engine::krc::{Krc, KrcCounts, KrcEvent, KrcReport};
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::fri::{FriState, Quality};
use outrigger_wire::time::Duration;

use crate::show::events::{EventText, PeerEvent, Surroundings};
use crate::show::{ReportedState, Variables};

/// Returns the identity of the KRC. `None` while no KRC sends measurements.
pub(crate) fn identity(address: Option<SocketAddr>, period: Option<Duration>) -> Option<String> {
    Some(format!("KRC at {}, {}", address?, every(period?)))
}

/// Describes the rate at which a KRC sends measurements.
pub(crate) fn every(period: Duration) -> String {
    format!("a measurement every {} ms", period.as_micros() as f64 / 1e3)
}

/// Returns the counters of a session with a KRC, by name.
pub(crate) const fn counters(counts: KrcCounts) -> [(&'static str, u64); 6] {
    [
        ("measurements", counts.measurements),
        ("commands", counts.commands),
        ("overtaken", counts.overtaken),
        ("unused", counts.unused),
        ("malformed", counts.malformed),
        ("foreign", counts.foreign),
    ]
}

/// Returns the variables that the KRL program sends. `None` while no KRC sends measurements.
pub(crate) fn variables(krc: &Krc) -> Option<Variables> {
    let krl = krc.krl()?;
    Some(Variables { bools: krl.bools, ints: krl.ints, reals: krl.reals.map(f32::to_bits) })
}

/// Returns the KRC's report about link and drives, and the variables of its KRL program, as names and texts.
pub(crate) fn values(
    report: Option<KrcReport>,
    period: Option<Duration>,
    variables: Option<&Variables>,
) -> Vec<(String, String)> {
    let mut values = vec![];
    if let Some(report) = report.filter(|_| period.is_some()) {
        let text = format!(
            "{:.0} % answered, {} missed, latency {:.2} ms, jitter {:.2} ms",
            100.0 * report.answer_rate,
            report.missed,
            1e3 * report.latency,
            1e3 * report.jitter
        );
        values.push(("KRC".into(), text));
        for (name, bits) in [("drive errors", report.error), ("drive warnings", report.warning)] {
            if bits != 0 {
                values.push((name.into(), format!("{bits:07b}")));
            }
        }
    }
    if let Some(text) = variables.and_then(Variables::text) {
        values.push(("KRL".into(), text));
    }
    values
}

/// Describes why no measurement of a KRC arrives, and what to check.
pub(crate) fn silence(counts: &KrcCounts, listens: SocketAddr) -> String {
    let others = match (counts.foreign, counts.malformed) {
        (0, 0) => String::new(),
        (foreign, 0) => format!("; {foreign} datagram(s) came from other addresses: check the KRC's address"),
        (_, malformed) => format!("; {malformed} datagram(s) are not measurements"),
    };
    format!(
        "no measurement received at {listens}{others}; check that the KRL program has called friOpen, the address \
         and port that the KRC sends to, and the cable"
    )
}

/// Returns the state of the interface and the quality of the link, as the KRC reports them.
pub(crate) fn rating(state: Option<FriState>, quality: Option<Quality>) -> [ReportedState; 2] {
    [
        word("krc_state", "KRC", state.map(|state| (state.name(), state.raw())), "silent"),
        word("krc_quality", "quality", quality.map(|quality| (quality.name(), quality.raw())), "unknown"),
    ]
}

/// Returns a state or rating of a KRC with its JSON key, name and number, or with the value `absent` if there is none.
fn word(
    key: &'static str,
    name: &'static str,
    value: Option<(Option<&'static str>, u16)>,
    absent: &'static str,
) -> ReportedState {
    let (value, number) = value.unwrap_or((Some(absent), 0));
    ReportedState { key, name, value, number: number.into() }
}

/// Describes the mode of the session, the quality of the link and the KRC's interface state in one line.
pub(crate) fn standing(mode: Mode, figures: &Figures, state: Option<FriState>, quality: Option<Quality>) -> String {
    let answers = figures.answers.map_or_else(String::new, |answers| {
        let trip = answers.shortest.map_or_else(String::new, |s| format!(", round trip from {} µs", s.as_micros()));
        format!(", {:.2} % answered{trip}", f64::from(answers.rate) / 100.0)
    });
    format!(
        "{}, link {}{answers}, jitter {} µs, {} lost; KRC {}, quality {}",
        mode.name(),
        figures.grade.name(),
        figures.jitter.as_micros(),
        figures.sequence.lost,
        state.map_or("silent".into(), |state| state.to_string()),
        quality.map_or("unknown".into(), |quality| quality.to_string())
    )
}

/// Returns all states and ratings that the KRC reports, for display.
pub(crate) fn all(krc: &Krc) -> [ReportedState; 4] {
    let power = match krc.report() {
        Some(report) if report.error != 0 => "error",
        Some(report) if report.power != 0 => "on",
        Some(_) => "off",
        None => "unknown",
    };
    let [state, quality] = rating(krc.state(), krc.quality());
    let scheme = krc.scheme().map(|scheme| (scheme.name(), scheme.raw()));
    let scheme = word("krc_scheme", "scheme", scheme, "unknown");
    [state, quality, scheme, ReportedState::named("drives", "drives", power)]
}

/// Describes the worst-case coast of the arm: how far it can move after commanding has failed.
pub(crate) fn coast(coast: &Coast<7>) -> String {
    let joint = coast.joints.iter().copied().fold(0.0, f32::max);
    format!(
        "worst-case stopping distance: {joint:.3} rad after a fault; if Outrigger or its device fails, the KRC \
         continues for the cycles that it bridges and stops by itself (distance not published)"
    )
}

impl PeerEvent for KrcEvent {
    fn words(&self, _: &Surroundings<'_>) -> Option<EventText> {
        let (kind, text) = match self {
            Self::Found { period_micros } => {
                ("krc-found", format!("a KRC sends a measurement every {} ms", f64::from(*period_micros) / 1e3))
            }
            Self::Silent => ("krc-silent", "the KRC stopped sending".into()),
            Self::Foreign(count) => ("foreign", format!("ignored {count} datagram(s) from other addresses")),
            Self::Malformed { count, error } => {
                ("malformed", format!("ignored {count} datagram(s) that are not measurements: {error}"))
            }
            Self::State(state) => ("krc-state", format!("KRC: {state}")),
            Self::Quality(quality) => ("krc-quality", format!("KRC: quality {quality}")),
            Self::Scheme(scheme) => ("krc-scheme", format!("KRC: control scheme {scheme}")),
            Self::OtherScheme { krc, ours } => {
                ("krc-other-scheme", format!("the KRC commands in {krc}, but `robot.expert.control` is {ours}"))
            }
            Self::Power(true) => ("krc-power", "KRC: drives on".into()),
            Self::Power(false) => ("krc-power", "KRC: drives off".into()),
        };
        Some((kind, text, vec![]))
    }

    fn begins(&self) -> bool {
        matches!(self, Self::Found { .. })
    }
}
