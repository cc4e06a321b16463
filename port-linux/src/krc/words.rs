//! What a KRC says and how it stands, in words.

use std::net::SocketAddr;

use outrigger_core::engine::krc::{KrcCounts, KrcEngine};
use outrigger_core::law::Law;
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::{FriState, Quality};

use crate::exit::Failure;
use crate::show::Word;

/// Who the KRC is; `None` while none sends.
pub(crate) fn identity<L: Law<7>>(session: &KrcEngine<'static, L>) -> Option<String> {
    let (peer, period) = (session.peer().address()?, session.peer().period()?);
    Some(format!("KRC at {peer}, {}", every(period)))
}

/// How often a KRC sends.
pub(crate) fn every(period: Duration) -> String {
    format!("a measurement every {} ms", period.as_micros() as f64 / 1e3)
}

/// What a session beside a KRC counts, by name.
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

/// What the KRC says of the link, and what we see of our answers.
pub(crate) fn values<L: Law<7>>(session: &KrcEngine<'static, L>) -> Vec<(String, String)> {
    let mut values = vec![];
    if let Some(report) = session.peer().report().filter(|_| session.peer().period().is_some()) {
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
    values
}

/// Why nothing is seen, and what to check.
pub(crate) fn silence<L: Law<7>>(session: &KrcEngine<'static, L>, listens: SocketAddr) -> String {
    let counts = session.peer().counts();
    let others = match (counts.foreign, counts.malformed) {
        (0, 0) => String::new(),
        (foreign, 0) => format!("; {foreign} datagram(s) of somebody else did: is the KRC's address right?"),
        (_, malformed) => format!("; {malformed} datagram(s) that are no measurements did"),
    };
    format!(
        "no measurement comes to {listens}{others}; check that the KRL program has called friOpen, the address and port \
         that the KRC sends to, and the cable"
    )
}

/// Nothing was heard at all.
pub(crate) fn unheard<L: Law<7>>(session: &KrcEngine<'static, L>, listens: SocketAddr) -> Failure {
    Failure::Connection(silence(session, listens))
}

/// State and quality that a KRC tells, in the words of an output.
pub(crate) fn told(state: Option<FriState>, quality: Option<Quality>) -> Vec<Word> {
    vec![
        Word { key: "krc_state", name: "KRC", value: state.map_or("silent", FriState::name) },
        Word { key: "krc_quality", name: "quality", value: quality.map_or("unknown", Quality::name) },
    ]
}

/// How things stand, in a line.
pub(crate) fn standing<L: Law<7>>(session: &KrcEngine<'static, L>, now: Instant) -> String {
    let figures = session.figures(now);
    let answers = figures.answers.map_or_else(String::new, |answers| {
        let trip = answers.shortest.map_or_else(String::new, |s| format!(", round trip from {} µs", s.as_micros()));
        format!(", {:.2} % answered{trip}", f64::from(answers.rate) / 100.0)
    });
    let (state, quality) = (session.peer().state(), session.peer().quality());
    format!(
        "{}, link {}{answers}, jitter {} µs, {} lost; KRC {}, quality {}",
        session.mode().name(),
        figures.grade.name(),
        figures.jitter.as_micros(),
        figures.sequence.lost,
        state.map_or("silent", FriState::name),
        quality.map_or("unknown", Quality::name)
    )
}
