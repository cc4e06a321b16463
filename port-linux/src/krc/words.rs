//! What a KRC says and how it stands, in words.

use outrigger_core::law::Law;
use outrigger_core::session::fri::{FriEvent, FriSession, KrlConvention};
use outrigger_core::time::Instant;
use outrigger_core::wire::fri::{FriState, Quality};

/// How things stand, in a line.
pub(crate) fn standing<L: Law<7>>(session: &FriSession<L, KrlConvention>, now: Instant) -> String {
    let figures = session.figures(now);
    let answers = figures.answers.map_or_else(String::new, |answers| {
        let trip = answers.shortest.map_or_else(String::new, |s| format!(", round trip from {} µs", s.as_micros()));
        format!(", {:.2} % answered{trip}", f64::from(answers.rate) / 100.0)
    });
    let (state, quality) = (session.peer_state(), session.peer_quality());
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

/// What is said of a KRC, for people and scripts.
pub(crate) fn described(event: &FriEvent) -> (&'static str, String) {
    match event {
        FriEvent::Found { period_micros } => {
            ("krc-found", format!("a KRC sends a measurement every {} ms", f64::from(*period_micros) / 1e3))
        }
        FriEvent::Silent => ("krc-silent", "the KRC has fallen silent".into()),
        FriEvent::Foreign(count) => ("foreign", format!("{count} datagram(s) of somebody else ignored")),
        FriEvent::Malformed { count, error } => {
            ("malformed", format!("{count} datagram(s) that are no measurements ignored: {error}"))
        }
        FriEvent::State(state) => ("krc-state", format!("KRC: {}", state.name())),
        FriEvent::Quality(quality) => ("krc-quality", format!("KRC: quality {}", quality.name())),
        FriEvent::Scheme(scheme) => ("krc-scheme", format!("KRC: control scheme {}", scheme.name())),
        FriEvent::Power(true) => ("krc-power", "KRC: drives on".into()),
        FriEvent::Power(false) => ("krc-power", "KRC: drives off".into()),
    }
}
