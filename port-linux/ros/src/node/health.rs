//! Publishes the diagnostics of the session once a second.

use outrigger_core::link::{Figures, Grade};
use outrigger_core::mode::Mode;
use outrigger_ros2_messages::Time;
use outrigger_wire::time::{Duration, Instant};

use crate::health::{Finding, Level, diagnostics};
use outrigger::requests::Status;
use outrigger::show::grade;
use outrigger::show::reason_text::{self, Observer};

/// The interval between two messages of the session's diagnostics.
const PACE: Duration = Duration::from_secs(1);
/// The time without new figures of the link to the controller after which the session counts as over.
const SILENCE: Duration = Duration::from_secs(3);

/// The state of the session as the diagnostics report it.
#[derive(Debug)]
pub(super) struct Health {
    robot: String,
    link: Option<(Instant, Mode, Figures)>,
    /// The arm's worst-case stopping distance as text; `None` until it is known.
    coast: Option<String>,
    next: Instant,
}

impl Health {
    pub(super) const fn new(robot: String) -> Self {
        Self { robot, link: None, coast: None, next: Instant::ZERO }
    }

    /// Records the figures of the link to the controller for the diagnostics.
    pub(super) fn link(&mut self, at: Instant, mode: Mode, figures: &Figures) {
        self.link = Some((at, mode, *figures));
    }

    /// Records that the session is over, so that the figures of its link are not used any more.
    pub(super) fn over(&mut self) {
        self.link = None;
    }

    /// Records the arm's worst-case stopping distance, as text, for the diagnostics.
    pub(super) fn coast(&mut self, text: &str) {
        self.coast = Some(text.to_owned());
    }

    /// Returns the encoded diagnostics if they are due at `now`, otherwise `None`. `status` is that of the control
    /// loop, `None` if the node may not command.
    pub(super) fn due(&mut self, now: Instant, stamp: Time, status: Option<&Status>) -> Option<Vec<u8>> {
        if now < self.next {
            return None;
        }
        self.next = now + PACE;
        let fresh = self.link.as_ref().filter(|(at, ..)| now.since(*at) < SILENCE);
        let Some((_, mode, figures)) = fresh else {
            let none = Finding {
                name: "session",
                level: Level::Stale,
                message: "not connected to the controller: see the log".into(),
                values: vec![],
            };
            return Some(diagnostics(stamp, &self.robot, vec![none]));
        };
        let findings = vec![link(figures), session(*mode, status, self.coast.as_deref())];
        Some(diagnostics(stamp, &self.robot, findings))
    }
}

fn link(figures: &Figures) -> Finding {
    let low = figures.grade_low();
    let level = match low.grade {
        grade if grade >= low.needed => Level::Ok,
        Grade::Unacceptable => Level::Error,
        Grade::Bad | Grade::Ok | Grade::Perfect => Level::Warn,
    };
    let millis = |span: Duration| format!("{:.2}", span.as_secs_f64() * 1e3);
    let mut values = vec![
        ("grade", figures.grade.name().to_owned()),
        ("states", figures.sequence.accepted.to_string()),
        ("lost", figures.sequence.lost.to_string()),
        ("impossible", figures.impossible.to_string()),
        ("late", figures.late.to_string()),
        ("jitter [ms]", millis(figures.jitter)),
        ("own stalls", figures.local_stalls.to_string()),
    ];
    values.extend(grade::low_fields(&low).into_iter().skip(1));
    if let Some(age) = figures.age {
        values.push(("age [ms]", millis(age)));
    }
    Finding { name: "link", level, message: grade::of_link(&low, Observer::Process), values }
}

fn session(mode: Mode, status: Option<&Status>, coast: Option<&str>) -> Finding {
    let mut values = vec![("mode", format!("{mode:?}"))];
    values.extend(coast.map(|text| ("coast", text.to_owned())));
    let Some(status) = status else {
        return Finding { name: "session", level: Level::Ok, message: "read-only".into(), values };
    };
    for reason in status.unmet.iter() {
        values.push((reason.name(), reason_text::of_reason(reason, status.low.as_ref(), Observer::Process)));
    }
    let (level, message) = match (status.latch, mode) {
        (Some(latch), _) => (Level::Error, format!("fault: {} ({})", latch.text(), latch.name())),
        (None, Mode::Command) if status.overrides_pendant => {
            (Level::Warn, "commands the arm, and would override a stop at the pendant".to_owned())
        }
        (None, Mode::Command) => (Level::Ok, "commands the arm".to_owned()),
        (None, _) if status.unmet.is_empty() => (Level::Ok, "Ready to command".to_owned()),
        (None, _) => (Level::Warn, "Not ready: see the values".to_owned()),
    };
    Finding { name: "session", level, message, values }
}

#[cfg(test)]
mod tests {
    use outrigger_core::link::{LinkConfig, LinkMonitor};
    use outrigger_wire::robot::ControllerTime;

    use super::*;

    #[test]
    fn diagnostics_name_the_figure_that_the_grade_fell_by_and_none_of_a_session_that_is_over() {
        let mut link = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2)));
        let mut now = Instant::ZERO;
        for cycle in (0..600_u64).chain(612..620) {
            now = Instant::from_micros(1_000_000 + cycle * 2_000);
            let _ = link.observe(ControllerTime::from_micros(cycle * 2_000), now, now);
        }
        let mut health = Health::new("192.0.2.1".into());
        let mut told = |at, act: &dyn Fn(&mut Health)| {
            act(&mut health);
            let bytes = health.due(at, Time::default(), None).expect("it is due");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let low = told(now, &|health| health.link(now, Mode::Monitor, &link.figures(now)));
        let expected = "link quality Unacceptable, needs Ok: missed 12 cycles in a row (Bad allows 10) at 2.224 s";
        assert!(low.contains(expected), "{low}");
        // The next second, and long before the link was silent for three.
        let over = told(now + PACE, &Health::over);
        assert!(over.contains("not connected to the controller") && !over.contains("link quality"), "{over}");
    }
}
