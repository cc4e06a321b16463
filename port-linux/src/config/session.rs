//! `[session]`: how the session judges the controller and writes to it.

use outrigger_core::robot::SoftwareVersion;
use outrigger_core::session::{Config, FormChoice, LinkTuning, ModeTuning, TextConfig};
use outrigger_core::time::Duration;

use super::reader::Section;

/// How the session judges the controller and writes to it; absent is the core's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionSettings {
    /// The controller's software, where its own word is not to be relied on.
    pub software: Option<SoftwareVersion>,
    /// What begins and ends commanding.
    pub mode: ModeTuning,
    /// How the link is judged.
    pub link: LinkTuning,
    /// How text is written.
    pub text: TextConfig,
}

impl SessionSettings {
    pub(super) fn read(mut section: Section<'_, '_>) -> Self {
        let text = TextConfig::default();
        let forms = [
            ("by-version", FormChoice::ByVersion),
            ("bare", FormChoice::Bare),
            ("self-ending", FormChoice::SelfEnding),
        ];
        let software = section.text("software", "the controller's software, e.g. \"3.15\"").and_then(|text| {
            crate::args::parse_software(text).map_err(|expected| section.complain("software", expected)).ok()
        });
        let settings = Self {
            software,
            mode: ModeTuning {
                good_cycles: section.integer("good_cycles", None, 1..=10_000).and_then(|n| u32::try_from(n).ok()),
                arming_timeout: duration(&mut section, "arming_timeout", 0.1, 60.0),
                stop_timeout: duration(&mut section, "stop_timeout", 0.1, 60.0),
                take_over: section.flag("take_over", false),
                acceptance_unknown: section.flag("acceptance_unknown", false),
                require_remote: section.flag("require_remote", false),
                ..ModeTuning::default()
            },
            link: LinkTuning {
                stale_after: duration(&mut section, "stale_after", 0.004, 1.0),
                max_misses: section.integer("max_misses", None, 0..=1000).and_then(|n| u32::try_from(n).ok()),
                ..LinkTuning::default()
            },
            text: TextConfig {
                form: section.choice("form", &forms, text.form),
                acceleration: section.number_or("acceleration", text.acceleration, 0.001..=150.0, "rad/s²"),
                stop_acceleration: section.number_or(
                    "stop_acceleration",
                    text.stop_acceleration,
                    0.01..=150.0,
                    "rad/s²",
                ),
                hold: section.duration_or("hold", text.hold, 0.002..=1.0),
            },
        };
        if let Err(error) = settings.config().check() {
            section.complain("stale_after", error.to_string());
        }
        section.finish();
        settings
    }

    /// Everything this table decides, beside defaults.
    pub(super) fn config(&self) -> Config {
        let Self { software, mode, link, text } = *self;
        Config { software, mode, link, text, ..Config::default() }
    }
}

fn duration(section: &mut Section<'_, '_>, key: &'static str, least: f32, most: f32) -> Option<Duration> {
    section
        .number(key, least..=most, "s")
        .map(|seconds| Duration::from_micros((f64::from(seconds) * 1e6).round() as u64))
}
