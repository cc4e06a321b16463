//! A table of every path by which commands can reach a controller.

use outrigger_config::refusal;
use outrigger_core::engine::ur::{CommandPath, Orders, ProgramConfig, UrConfig, UrOptions};
use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

use super::coast;

/// The headings of the columns in the table of command paths.
const HEAD: [&str; 5] = [
    "session.path, program.expert.orders",
    "fits",
    "stops within",
    "pendant: stop, pause, speed slider",
    "sent to \
        it",
];

/// Returns a title, a head, and a line for each command path and way to receive commands, on a controller with this
/// `software`, whose states arrive over RTDE (`by_rtde`) or over 30003. Each line says whether the path fits, how far
/// the arm moves after commands end, and what a person at the pendant can do. `*` marks the path of `config`.
pub(crate) fn table(config: &UrConfig, software: SoftwareVersion, by_rtde: bool) -> Vec<String> {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(ways().map(|way| row(config, way, software, by_rtde)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let title = format!(
        "software {software}: ways to command it (* this configuration), and the worst-case stopping distance if \
         Outrigger, its device or the cable fails"
    );
    std::iter::once(title).chain(rows.iter().map(line)).collect()
}

/// Returns every command path, with every way in which its program on the controller can receive commands.
fn ways() -> impl Iterator<Item = (CommandPath, Orders)> {
    CommandPath::WORDS.iter().flat_map(|(_, path)| {
        let registers = path.can_use_registers().then_some((*path, Orders::Registers));
        std::iter::once((*path, Orders::Socket)).chain(registers)
    })
}

fn name((path, orders): (CommandPath, Orders)) -> String {
    path.name().to_owned() + if orders == Orders::Registers { ", registers" } else { "" }
}

fn row(config: &UrConfig, way: (CommandPath, Orders), software: SoftwareVersion, by_rtde: bool) -> [String; 5] {
    let (path, orders) = way;
    let registers = config.peer.program.by_registers(config.peer.path);
    let chosen = path == config.peer.path && registers == (orders == Orders::Registers);
    let name = format!("{} {}", if chosen { "*" } else { " " }, name(way));
    let about = path.about().to_owned();
    let program = ProgramConfig { orders, ..config.peer.program };
    let config = UrConfig { peer: UrOptions { path, program, software: Some(software), ..config.peer }, ..*config };
    let unfit = config.peer.unfit(software).map(|unfit| unfit.to_string());
    let without = (orders == Orders::Registers && !by_rtde).then(|| "needs states by RTDE".to_owned());
    if let Some(unfit) = unfit.or(without) {
        return [name, format!("no: {unfit}"), "-".into(), "-".into(), about];
    }
    if let Err(refused) = config.check() {
        return [name, format!("not with this configuration: {}", refusal(&refused)), "-".into(), "-".into(), about];
    }
    let period = Duration::from_micros(software.generation().period_micros());
    let allowed = config.mode.pendant.stop == PendantStop::Overridden || config.sees_pendant_stops(by_rtde, period);
    if !allowed {
        let refused = "no: a stop at the pendant cannot be seen, see session.expert.pendant_stop";
        return [name, refused.into(), "-".into(), "-".into(), about];
    }
    let pendant = pendant(&config, by_rtde, period);
    [name, "yes".into(), coast::without_us(&config, software), pendant, about]
}

/// Describes the effect of the pendant's stop, pause and speed slider on commanding.
fn pendant(config: &UrConfig, by_rtde: bool, period: Duration) -> String {
    let effect = if !config.sees_pendant_stops(by_rtde, period) {
        "stop and pause are OVERRIDDEN"
    } else if config.peer.path.is_torques() && by_rtde {
        return "stop ends it, pause and the slider at 0 hold it for up to 10 s".into();
    } else if config.peer.path.is_torques() {
        return "stop ends it, pause ends it or holds it for up to 10 s, the slider holds it at 0".into();
    } else if config.peer.path.is_resident() && by_rtde {
        "stop ends it, pause holds it for up to 10 s"
    } else if config.peer.path.is_resident() {
        // A pause may be reported after the program's silence timeout.
        "stop ends it, pause ends it or holds it for up to 10 s"
    } else {
        "stop and pause end it"
    };
    format!("{effect}, the slider slows it")
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::StatesFrom;
    use outrigger_core::mode::DelegatedConfig;
    use outrigger_wire::robot::RobotModel;

    use super::*;

    fn rows(config: &UrConfig, software: SoftwareVersion, by_rtde: bool) -> Vec<String> {
        let mut lines = table(config, software, by_rtde);
        assert!(lines[0].starts_with(&format!("software {software}: ")), "{lines:#?}");
        lines.drain(..2);
        assert_eq!(lines.len(), ways().count(), "{lines:#?}");
        lines
    }

    #[test]
    fn every_way_has_a_line_and_the_configured_one_is_marked() {
        let mut config = UrConfig::default();
        config.peer.model = Some(RobotModel::Ur5e);
        for way in ways() {
            (config.peer.path, config.peer.program.orders) = way;
            let rows = rows(&config, SoftwareVersion::new(5, 23), true);
            for (row, other) in rows.iter().zip(ways()) {
                let mark = if way == other { "* " } else { "  " };
                assert!(row.starts_with(&format!("{mark}{} ", name(other))), "{row}");
                assert!(row.contains("mm at the TCP") && row.ends_with(other.0.about()), "{row}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_told_and_whose_stop_is_overridden() {
        let pause = DelegatedConfig::new(Duration::from_millis(2)).pause_timeout;
        assert_eq!(pause, Duration::from_secs(10), "the texts name 10 s");
        for way in ways() {
            for software in [(1, 8), (3, 0), (3, 1), (3, 8), (3, 15), (5, 0), (5, 15), (5, 23), (10, 11)] {
                let software = SoftwareVersion::new(software.0, software.1);
                for (by_rtde, stop) in
                    [(false, PendantStop::Seen), (false, PendantStop::Overridden), (true, PendantStop::Seen)]
                {
                    let mut config = UrConfig::default();
                    config.mode.pendant.stop = stop;
                    let rows = rows(&config, software, by_rtde);
                    let row = rows.iter().find(|row| row[2..].starts_with(&format!("{} ", name(way)))).unwrap();
                    let (path, orders) = way;
                    let unfit = ProgramConfig { orders, ..config.peer.program }.unfit(path, software);
                    assert_eq!(row.contains("  no: needs software "), unfit.is_some(), "{row}");
                    let without = orders == Orders::Registers && !by_rtde;
                    let unseen = path == CommandPath::Text && !by_rtde;
                    let refused = unseen && stop == PendantStop::Seen;
                    assert_eq!(row.contains("  no: a stop at the pendant"), refused && unfit.is_none(), "{row}");
                    let without = without || refused;
                    assert_eq!(row.contains("  no: "), unfit.is_some() || without, "{row}");
                    let overridden = unseen && !refused;
                    assert_eq!(row.contains("OVERRIDDEN"), overridden && unfit.is_none(), "{row}");
                    let fits = unfit.is_none() && !without;
                    let torques = path.is_torques();
                    let resident = path != CommandPath::Text;
                    let words = [
                        ("stop ends it, pause holds it for up to 10 s,", resident && by_rtde && !torques),
                        ("stop ends it, pause and the slider at 0 hold it for up to 10 s", torques && by_rtde),
                        ("stop ends it, pause ends it or holds it for up to 10 s,", resident && !by_rtde),
                        ("stop and pause end it,", !resident && !overridden),
                    ];
                    for (effect, expected) in words {
                        assert_eq!(row.contains(effect), expected && fits, "{row}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_the_configuration_itself_forbids_is_told() {
        let mut config = UrConfig::default();
        config.peer.text.hold = Duration::from_millis(300);
        let rows = rows(&config, SoftwareVersion::new(5, 15), true);
        assert!(rows[0].contains("  yes  "), "{}", rows[0]);
        assert!(
            rows[1].contains("not with this configuration: session.expert.hold: expected at most 0.2 s"),
            "{}",
            rows[1]
        );
        config.peer.connect.states = StatesFrom::Realtime;
        config.peer.text.hold = UrConfig::default().peer.text.hold;
        let rows = self::rows(&config, SoftwareVersion::new(5, 15), true);
        assert!(
            rows[2].contains("not with this configuration: program.expert.orders: expected socket, or"),
            "{}",
            rows[2]
        );
    }
}
