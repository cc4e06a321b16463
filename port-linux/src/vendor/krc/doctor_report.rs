//! The report of `doctor` about a KRC.

use std::net::SocketAddr;

use outrigger_core::engine::krc::{Krc, KrcConfig, KrcEngine, KrcReport};
use outrigger_core::law::Law;
use outrigger_core::link::{Figures, Histogram};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::fri::{FriState, Quality};
use outrigger_wire::time::{Duration, Instant};

use super::event_text;
use crate::show::Variables;
use crate::show::examination_result::Sheet;
use crate::show::grade::judge_link;
use crate::show::histogram::{bars, quantiles};
use crate::vendor::{Examined, Observed};

/// The data of a session with a KRC that `doctor` has observed.
#[derive(Clone, Debug)]
pub struct KrcExamined {
    address: Option<SocketAddr>,
    period: Option<Duration>,
    mode: Mode,
    state: Option<FriState>,
    quality: Option<Quality>,
    report: Option<KrcReport>,
    figures: Figures,
    round_trips: Histogram,
    jitters: Histogram,
    unmet: ReasonSet,
    variables: Option<Variables>,
}

impl Observed<7, Krc> for KrcExamined {
    fn of<L: Law<7>>(engine: &KrcEngine<'_, L>, now: Instant, _: Option<&Self>) -> Option<Self> {
        let krc = engine.peer();
        (krc.counts().measurements > 0).then(|| Self {
            address: krc.address(),
            period: krc.period(),
            mode: engine.mode(),
            state: krc.state(),
            quality: krc.quality(),
            report: krc.report(),
            figures: engine.figures(now),
            round_trips: krc.round_trips().clone(),
            jitters: krc.jitters().clone(),
            unmet: engine.unmet(now),
            variables: event_text::variables(krc),
        })
    }
}

impl Examined<7, Krc> for KrcExamined {
    fn report(&self, _: &KrcConfig, sheet: &mut Sheet) {
        let identity = event_text::identity(self.address, self.period).unwrap_or_else(|| "silent by now".into());
        sheet.line(format!("controller: {identity}"));
        sheet.line(format!("link: {}", event_text::standing(self.mode, &self.figures, self.state, self.quality)));
        for (name, value) in event_text::values(self.report, self.period, self.variables.as_ref()) {
            sheet.line(format!("  {name}: {value}"));
        }
        for (name, histogram) in [("round trip", &self.round_trips), ("jitter", &self.jitters)] {
            sheet.line(format!("  {name}: {}", quantiles(histogram)));
            sheet.detail(&bars(histogram));
        }
        let cable = ": use a cable between KRC and this host alone, and give the process a core (host.cpu) and a real-time \
                     priority (host.scheduling = \"fifo\")";
        judge_link(&self.figures, self.unmet, cable, sheet);
        if let Some(quality) = self.quality.filter(|quality| !matches!(quality, Quality::Ok | Quality::Perfect)) {
            sheet.fix(format!("the KRC rates the link {quality}: most KRL programs wait for PERFECT"));
        }
        // The link grade was judged above.
        for reason in self.unmet.iter().filter(|reason| *reason != Reason::GradeLow) {
            sheet.fix(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
        }
    }
}
