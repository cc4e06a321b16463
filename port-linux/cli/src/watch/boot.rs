//! Describes how a board started, with the sections of the documentation to read.

use outrigger_remote::telemetry::{Boot, CodeAddress, CrashReport, ResetCause, StartStage};

/// The page of the documentation that describes all boards.
const PAGE: &str = "boards/README.md";

/// Returns lines about the board's start: its cause, and notable facts about the end of the previous run.
pub(super) fn words(boot: &Boot<'_>) -> Vec<String> {
    let mut lines = vec![format!("reset by {}; start {} since power-up", boot.cause.name(), boot.starts)];
    let ended = match boot.crash {
        Some(CrashReport::Panic { file, line }) => Some(format!("panicked at {file}, line {line}")),
        Some(CrashReport::Fault { at, from }) => {
            Some(format!("faulted at {at:#010x}, called from {from:#010x} (addresses of its firmware)"))
        }
        Some(CrashReport::StackOverflow(place)) => {
            let place = place.map_or_else(String::new, |CodeAddress { at, from }| {
                format!(" at {at:#010x}, called from {from:#010x} (addresses of its firmware)")
            });
            Some(format!("ran out of memory for its function calls (stack overflow){place}"))
        }
        None => None,
    };
    match (boot.before, ended) {
        (Some(before), Some(ended)) => {
            lines.push(format!(
                "the previous run {ended}, while {}: {PAGE}, 'When the firmware hangs or panics'",
                before.name()
            ));
        }
        (Some(StartStage::Running), None) if boot.cause == ResetCause::Watchdog => {
            lines.push(format!(
                "the control loop of the previous run hung: {PAGE}, 'When the firmware hangs or panics'"
            ));
        }
        (Some(before), None) if before < StartStage::Running => {
            lines.push(format!(
                "the previous run did not get beyond {}: {PAGE}, 'When a board does not come up'",
                before.name()
            ));
        }
        _ => {}
    }
    if let Some(why) = boot.refused {
        lines.push(format!(
            "it does not run the last stored settings, but others ({why}): {PAGE}, 'Other settings without a \
             compiler'"
        ));
    }
    if !boot.is_clock_as_meant {
        let megahertz = f64::from(boot.clock) / 1e6;
        lines.push(format!(
            "it runs at {megahertz} MHz by its own oscillator, because its external clock did not start. That \
             oscillator is too inexact to judge ages of states, so nothing is commanded: {PAGE}, 'When a board does \
             not come up'"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: Boot<'static> = Boot {
        cause: ResetCause::Power,
        starts: 1,
        before: None,
        crash: None,
        stage: StartStage::Running,
        clock: 400_000_000,
        is_clock_as_meant: true,
        refused: None,
    };

    #[test]
    fn after_power_there_is_one_thing_to_know() {
        assert_eq!(words(&BOOT), ["reset by power; start 1 since power-up"]);
    }

    #[test]
    fn what_ended_the_run_before_is_told_with_where_to_read_on() {
        let again = Boot { cause: ResetCause::Watchdog, starts: 2, ..BOOT };
        let panicked = Boot {
            before: Some(StartStage::Running),
            crash: Some(CrashReport::Panic { file: "app/src/shared.rs", line: 7 }),
            ..again
        };
        let overflow = |place| Boot { crash: Some(CrashReport::StackOverflow(place)), ..panicked };
        let place = Some(CodeAddress { at: 0x0800_1234, from: 0x0800_5679 });
        let stuck = Boot { before: Some(StartStage::Interface), ..again };
        let hung = Boot { before: Some(StartStage::Running), ..again };
        for (boot, what) in [
            (panicked, "panicked at app/src/shared.rs, line 7, while running"),
            (overflow(None), "function calls (stack overflow), while running"),
            (overflow(place), "function calls (stack overflow) at 0x08001234, called from 0x08005679 (addresses"),
            (stuck, "did not get beyond starting its network controller"),
            (hung, "hung"),
        ] {
            let [_, line] = &words(&boot)[..] else { panic!("{boot:?}: {:?}", words(&boot)) };
            assert!(line.contains(what) && line.contains(PAGE), "{line}");
        }
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/README.md")).unwrap();
        for section in ["## When the firmware hangs or panics", "## When a board does not come up"] {
            assert!(page.contains(section), "{section}");
        }
    }

    #[test]
    fn settings_that_were_told_in_vain_are_told_with_why_and_where_to_read_on() {
        let why = "source[1].input: found I2C bus 1, and this board has none";
        let lines = words(&Boot { refused: Some(why), ..BOOT });
        assert!(lines[1].contains(why) && lines[1].contains(PAGE), "{lines:?}");
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/README.md")).unwrap();
        assert!(page.contains("## Other settings without a compiler"));
    }

    #[test]
    fn a_clock_that_is_not_the_one_that_was_meant_is_told() {
        let lines = words(&Boot { clock: 64_000_000, is_clock_as_meant: false, ..BOOT });
        assert!(lines[1].contains("64 MHz") && lines[1].contains("nothing is commanded"), "{lines:?}");
    }
}
