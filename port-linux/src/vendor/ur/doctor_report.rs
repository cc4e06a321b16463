//! The report of `doctor` about a controller of Universal Robots.

use outrigger_core::engine::ur::{Identity, Mismatch, TextPath, Ur, UrConfig};
use outrigger_core::engine::{Engine, LinkId};
use outrigger_core::law::Law;
use outrigger_core::link::{Figures, Histogram};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{RobotModel, SoftwareVersion};
use outrigger_wire::time::Instant;

use super::{coast, command_paths};
use crate::show::examination_result::Sheet;
use crate::show::grade::judge_link;
use crate::show::histogram::{bars, quantiles, span};
use crate::vendor::{Examined, Observed};

/// The data of a session with a Universal Robots controller that `doctor` has observed.
#[derive(Clone, Debug)]
pub struct UrExamined {
    identity: Identity,
    /// The time of the first observation in the present epoch of the controller's clock. `accepted` is the number of
    /// states received until then.
    since: Instant,
    accepted: u64,
    until: Instant,
    figures: Figures,
    intervals: Histogram,
    unmet: ReasonSet,
    /// The arm models that match the configuration data reported by the controller.
    models: &'static [RobotModel],
    reported: Option<SoftwareVersion>,
    mismatch: Option<Mismatch>,
    program_told: bool,
    packet_tells: bool,
}

impl Observed<6, Ur<'_>> for UrExamined {
    fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>, now: Instant, before: Option<&Self>) -> Option<Self> {
        let identity = *engine.peer().identity()?;
        let facts = engine.peer().facts();
        let figures = engine.figures(now);
        // A controller's clock that restarts counts from zero.
        let before = before.filter(|seen| seen.figures.epoch == figures.epoch);
        let accepted = figures.sequence.accepted;
        let (since, accepted) = before.map_or((now, accepted), |seen| (seen.since, seen.accepted));
        Some(Self {
            identity,
            since,
            accepted,
            until: now,
            figures,
            intervals: engine.histograms().interval.clone(),
            unmet: engine.unmet(now),
            models: facts.configuration.as_ref().map_or(&[], |arm| arm.models(identity.generation())),
            reported: facts.software,
            mismatch: engine.peer().mismatch(engine.config()),
            program_told: facts.program.is_some(),
            packet_tells: engine.state().is_some_and(|state| state.program_state.is_some()),
        })
    }
}

impl Examined<6, Ur<'_>> for UrExamined {
    fn report(&self, config: &UrConfig, sheet: &mut Sheet) {
        let Self { identity, .. } = self;
        let software = identity.software;
        if let Some(unfit) = config.peer.unfit(software) {
            let path = config.peer.path.name();
            sheet.fix(format!("session.path \"{path}\" {unfit}: choose one that fits, see the table"));
        }
        let source = if identity.states == LinkId::RTDE { "RTDE (30004)" } else { "the real-time interface (30003)" };
        sheet.line(format!(
            "controller: software {software}, packets of {} bytes, states by {source}",
            identity.packet_size
        ));
        sheet.line(format!(
            "  software: {} by session.software, {} by the controller",
            given(config.peer.software, "not given"),
            given(self.reported, "not reported")
        ));
        sheet.line(format!("  arm: {}", self.arm(config)));
        if let Some(mismatch) = self.mismatch {
            sheet.fix(format!("{mismatch}: correct the configuration, or check which robot this is"));
        }
        let Figures { grade, sequence, jitter, late, .. } = self.figures;
        sheet.line(format!(
            "link: {:.1} Hz of {:.0}, quality {}, jitter {}, {} states, {} lost, {late} late",
            self.rate(),
            1e6 / identity.period.as_micros().max(1) as f64,
            grade.name(),
            span(jitter),
            sequence.accepted,
            sequence.lost
        ));
        sheet.line(format!("  time between states: {}", quantiles(&self.intervals)));
        sheet.detail(&bars(&self.intervals));
        judge_link(&self.figures, self.unmet, "", sheet);
        sheet.line(format!("self-stop: {}", self_stop(config, software)));
        if config.coast_without_us(software).is_none() {
            sheet.fix(
                "nothing stops the arm if Outrigger or its device fails: set session.expert.form = \"self-ending\"",
            );
        }
        let acceptance = match (self.program_told, self.packet_tells) {
            (true, _) => "isProgramRunning, ten times a second",
            (false, true) => "the program state in the packet (its numbers are unconfirmed)",
            (false, false) => "none",
        };
        sheet.line(format!("acceptance evidence: {acceptance}"));
        sheet.line(coast::describe(config, software));
        if config.peer.model.is_none() {
            sheet.suggest("configure robot.model: without it the tool's stopping distance is not known");
        }
        let by_rtde = identity.states == LinkId::RTDE;
        sheet.line(format!("pendant: {}", coast::pendant(config, by_rtde, identity.period)));
        for (nth, line) in command_paths::table(config, software, by_rtde).into_iter().enumerate() {
            sheet.line(format!("{}{line}", if nth == 0 { "paths: " } else { "  " }));
        }
        // The link grade was judged above.
        for reason in self.unmet.iter().filter(|reason| *reason != Reason::GradeLow) {
            sheet.fix(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
        }
    }
}

/// Formats a value that is configured or reported by the controller, or returns the text `none` if there is no value.
fn given(what: Option<impl std::fmt::Display>, none: &str) -> String {
    what.map_or_else(|| none.into(), |what| what.to_string())
}

impl UrExamined {
    /// Describes the arm model in the configuration and the model that the controller reports.
    fn arm(&self, config: &UrConfig) -> String {
        let configured = config.peer.model.map(RobotModel::name);
        let reported: Vec<&str> = self.models.iter().map(|model| model.name()).collect();
        let reported = (!reported.is_empty()).then(|| reported.join(" or "));
        format!(
            "{} by robot.model, {} by the controller",
            given(configured, "not given"),
            given(reported, "not reported")
        )
    }

    fn rate(&self) -> f64 {
        let accepted = self.figures.sequence.accepted.saturating_sub(self.accepted);
        accepted as f64 / self.until.since(self.since).as_secs_f64().max(1e-3)
    }
}

/// Describes what stops the arm if Outrigger or its device fails: the form of its commands, or the program on the
/// controller.
fn self_stop(config: &UrConfig, software: SoftwareVersion) -> &'static str {
    if config.peer.path.is_resident() {
        return "the program on the controller ends in stopj when no command arrives for session.expert.hold";
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
