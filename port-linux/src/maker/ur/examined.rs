//! What `doctor` has to say of a controller of Universal Robots.

use outrigger_core::engine::ur::{Identity, TextPath, Ur, UrConfig};
use outrigger_core::engine::{Engine, LinkId};
use outrigger_core::law::Law;
use outrigger_core::link::{Figures, Grade, GradeLow, Histogram};
use outrigger_core::robot::{Reason, ReasonSet, SoftwareVersion};
use outrigger_core::time::Instant;

use super::{coast, paths};
use crate::maker::{Examined, Observed};
use crate::show::grade::why_low;
use crate::show::histogram::{bars, quantiles, span};
use crate::show::say;

/// What was seen of the session.
#[derive(Clone, Debug)]
pub(crate) struct UrExamined {
    identity: Identity,
    since: Instant,
    until: Instant,
    figures: Figures,
    intervals: Histogram,
    unmet: ReasonSet,
    program_told: bool,
    packet_tells: bool,
}

impl Observed<6, Ur<'_>> for UrExamined {
    fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>, now: Instant, before: Option<&Self>) -> Option<Self> {
        let identity = *engine.peer().identity()?;
        let facts = engine.peer().facts();
        Some(Self {
            identity,
            since: before.map_or(now, |seen| seen.since),
            until: now,
            figures: engine.figures(now),
            intervals: engine.histograms().interval.clone(),
            unmet: engine.unmet(now),
            program_told: facts.program.is_some(),
            packet_tells: engine.state().is_some_and(|state| state.program_state.is_some()),
        })
    }
}

impl Examined<6, Ur<'_>> for UrExamined {
    fn report(&self, config: &UrConfig) -> Vec<String> {
        let (Self { identity, .. }, mut findings) = (self, vec![]);
        let software = identity.software;
        if let Some(unfit) = config.peer.unfit(software) {
            let path = config.peer.path.name();
            findings.push(format!("session.path \"{path}\" {unfit}: choose one that fits, see the table"));
        }
        let source = if identity.states == LinkId::RTDE { "RTDE (30004)" } else { "the real-time interface (30003)" };
        say!("controller: software {software}, packets of {} bytes, states by {source}", identity.packet_size);
        let Figures { grade, held_by: cause, sequence, jitter, late, .. } = self.figures;
        say!(
            "link: {:.1} Hz of {:.0}, grade {}, jitter {}, {} states, {} lost, {late} late",
            self.rate(),
            1e6 / identity.period.as_micros().max(1) as f64,
            grade.name(),
            span(jitter),
            sequence.accepted,
            sequence.lost
        );
        say!("  time between states: {}", quantiles(&self.intervals));
        say!("{}", bars(&self.intervals).trim_end());
        if self.unmet.contains(Reason::GradeLow) || grade < Grade::Ok {
            findings.push(why_low(&GradeLow { grade, cause }, false));
        }
        say!("self-stop: {}", self_stop(config, software));
        let acceptance = match (self.program_told, self.packet_tells) {
            (true, _) => "isProgramRunning, ten times a second",
            (false, true) => "the program state in the packet (its numbers are unconfirmed)",
            (false, false) => "none",
        };
        say!("acceptance evidence: {acceptance}");
        say!("{}", coast::describe(config, software));
        let sees = config.sees_pendant_stops(identity.states == LinkId::RTDE, identity.period);
        say!("pendant: {}", coast::pendant(sees));
        for (nth, line) in paths::table(config, software, identity.states == LinkId::RTDE).into_iter().enumerate() {
            say!("{}{line}", if nth == 0 { "paths: " } else { "  " });
        }
        // The link is named above, in more words.
        for reason in self.unmet.iter().filter(|reason| *reason != Reason::GradeLow) {
            findings.push(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
        }
        findings
    }
}

impl UrExamined {
    fn rate(&self) -> f64 {
        self.figures.sequence.accepted as f64 / self.until.since(self.since).as_secs_f64().max(1e-3)
    }
}

/// Which form of text is in force, and why.
fn self_stop(config: &UrConfig, software: SoftwareVersion) -> &'static str {
    if config.peer.path.is_resident() {
        return "the program on the controller ends in stopj when nothing comes for session.hold";
    }
    let path = TextPath::new(config.peer.text, software);
    match (path.is_self_ending(), path.ends_without_us()) {
        (true, _) => {
            "each command is a program that ends in stopj, for this software is not recorded to stop when a command's time is over"
        }
        (false, true) => "a bare speedj, for this software is recorded to stop when a command's time is over",
        (false, false) => "NONE: a bare speedj on software that is not recorded to stop when a command's time is over",
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::{CommandPath, FormChoice};

    use super::*;

    #[test]
    fn the_form_in_force_and_its_reason_follow_the_whole_version() {
        let mut config = UrConfig::default();
        assert!(self_stop(&config, SoftwareVersion::new(3, 1)).contains("ends in stopj"));
        assert!(self_stop(&config, SoftwareVersion::new(5, 0)).starts_with("a bare speedj, for"));
        config.peer.text.form = FormChoice::Bare;
        assert!(self_stop(&config, SoftwareVersion::new(1, 8)).starts_with("NONE"));
        config.peer.path = CommandPath::ReverseSpeedJ;
        assert!(self_stop(&config, SoftwareVersion::new(3, 15)).starts_with("the program on the controller ends"));
    }
}
