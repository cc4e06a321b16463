//! What `doctor` has to say of a KRC.

use std::net::SocketAddr;

use outrigger_core::engine::krc::{Krc, KrcConfig, KrcEngine, KrcReport};
use outrigger_core::law::Law;
use outrigger_core::link::{Figures, Grade, GradeLow, Histogram};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::fri::{FriState, Quality};

use super::words;
use crate::maker::{Examined, Observed};
use crate::show::grade::why_low;
use crate::show::histogram::{bars, quantiles};
use crate::show::{Variables, say};

/// What was seen of the session.
#[derive(Clone, Debug)]
pub(crate) struct KrcExamined {
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
            variables: words::variables(krc),
        })
    }
}

impl Examined<7, Krc> for KrcExamined {
    fn report(&self, _: &KrcConfig) -> Vec<String> {
        let mut findings = vec![];
        say!("controller: {}", words::identity(self.address, self.period).unwrap_or_else(|| "silent by now".into()));
        say!("link: {}", words::standing(self.mode, &self.figures, self.state, self.quality));
        for (name, value) in words::values(self.report, self.period, self.variables.as_ref()) {
            say!("  {name}: {value}");
        }
        for (name, histogram) in [("round trip", &self.round_trips), ("jitter", &self.jitters)] {
            say!("  {name}: {}", quantiles(histogram));
            say!("{}", bars(histogram).trim_end());
        }
        let figures = &self.figures;
        if self.unmet.contains(Reason::GradeLow) || figures.grade < Grade::Ok {
            let low = GradeLow { grade: figures.grade, cause: figures.held_by };
            findings.push(format!(
                "{}: use a cable between KRC and this host alone, and give the process a core (host.cpu) and a real-time \
                 priority (host.scheduling = \"fifo\")",
                why_low(&low, false)
            ));
        }
        if let Some(quality) = self.quality.filter(|quality| !matches!(quality, Quality::Ok | Quality::Perfect)) {
            findings.push(format!("the KRC rates the link {quality}: most KRL programs wait for PERFECT"));
        }
        // The link was named above, in more words.
        for reason in self.unmet.iter().filter(|reason| *reason != Reason::GradeLow) {
            findings.push(format!("{} ({}): {}", reason.text(), reason.name(), reason.advice()));
        }
        findings
    }
}
