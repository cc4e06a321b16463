//! Checks the pages of a board's inputs: their examples are accepted, and their error messages are those that the
//! reader reports.

use std::collections::BTreeMap;
use std::path::Path;

use outrigger_core::engine::{NoPort, PortKind, Ports};
use outrigger_core::law::{AnyLaw, Law};

use crate::{AnyConfiguration, RunsOn};

/// The text of the page about a board's inputs, followed by that of its reference.
const PAGE: &str = concat!(
    include_str!("../../../../port-embassy/docs/inputs.md"),
    include_str!("../../../../port-embassy/docs/inputs-reference.md")
);

/// A board with a port of every kind.
const PORTS: Ports = Ports { serial: 1, analog: 2, i2c: 1, spi: 1 };

#[test]
fn every_example_of_an_input_is_taken_by_a_board_that_has_it() {
    let (mut seen, mut most) = (Vec::new(), 0);
    for example in PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        match AnyConfiguration::parse(example) {
            Ok(AnyConfiguration::Ur(RunsOn::Board(board))) => {
                let settings = board.settings().expect("an address");
                assert_eq!(settings.device.check(), Ok(()), "{example}");
                assert_eq!(settings.device.check_ports(&PORTS), Ok(()), "{example}");
                let law = AnyLaw::new(settings.law.clone()).unwrap_or_else(|error| panic!("{error}\nin\n{example}"));
                most = most.max(Law::<6>::sources(&law).len());
                seen.extend(settings.sensors().map(|(_, sensor)| sensor.input.port()));
            }
            Ok(AnyConfiguration::Ur(RunsOn::Host(host))) => assert_eq!(host.control.sources.len(), 2, "{example}"),
            other => panic!("{other:?}\nin\n{example}"),
        }
    }
    use PortKind::{Analog, I2c, Serial, Spi};
    assert_eq!(seen, [(Serial, 1), (Analog, 1), (Analog, 2), (I2c, 1), (Spi, 1), (Analog, 1), (Spi, 1)]);
    assert_eq!(most, 2, "a law with a sensor for each of two axes");
}

/// Reads the boards and their ports from the reference's table. Its rows name each port of each input that a board has.
fn on_the_page() -> BTreeMap<String, Ports> {
    let (_, table) = PAGE.split_once("## What each board has\n\n").expect("the table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map_while(|line| line.strip_prefix('|')?.strip_suffix('|'))
        .map(|row| row.split('|').map(str::trim).collect())
        .collect();
    let count = |input: &str, column: usize| {
        let cells = rows.iter().filter(|row| row[0].starts_with(input)).map(|row| row[column]);
        u8::try_from(cells.filter(|cell| *cell != "none").count()).expect("few")
    };
    let header = rows[0].iter().enumerate().filter(|(_, name)| name.starts_with('`'));
    let boards = header.map(|(column, name)| {
        let [serial, analog] = ["`\"uart\"", "`\"adc\""].map(|input| count(input, column));
        let [i2c, spi] = ["`\"gp2y0e03\"", "`\"ads131m06\""].map(|input| count(input, column));
        (name.trim_matches('`').to_owned(), Ports { serial, analog, i2c, spi })
    });
    boards.collect()
}

/// Returns the boards with the text of their `src/sensor_ports.rs`. A board is a folder with a `.cargo` that sets its
/// target.
fn in_firmware() -> BTreeMap<String, String> {
    let boards = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards");
    let entries = std::fs::read_dir(boards).expect("boards").map(|entry| entry.expect("a folder"));
    let boards = entries.filter(|entry| entry.path().join(".cargo").is_dir()).map(|entry| {
        let ports = std::fs::read_to_string(entry.path().join("src/sensor_ports.rs")).expect("its ports");
        (entry.file_name().into_string().expect("a name"), ports)
    });
    boards.collect()
}

#[test]
fn the_page_names_the_inputs_that_each_board_has() {
    let (page, firmware) = (on_the_page(), in_firmware());
    assert!(page.len() >= 3 && page.values().any(|ports| *ports == PORTS), "{page:?}");
    assert_eq!(page.keys().collect::<Vec<_>>(), firmware.keys().collect::<Vec<_>>());
    for (board, Ports { serial, analog, i2c, spi }) in page {
        let expected = format!("Ports {{ serial: {serial}, analog: {analog}, i2c: {i2c}, spi: {spi} }};");
        assert!(firmware[&board].contains(&expected), "{board}: {expected}");
    }
}

#[test]
fn what_the_page_of_inputs_says_is_said_is_what_is_said() {
    let law = "law.kind = \"joint-servo\"\nrobot.address = \"10.0.0.1\"\n";
    let board = format!("{law}device.address = \"10.0.0.2/24\"\n");
    let adc = "[[source]]\nname = \"NAME\"\ninput = \"adc\"\nexpert.port = 1\n";
    let uart = "[[source]]\nname = \"NAME\"\ninput = \"uart\"\n";
    let udp = "[[source]]\nname = \"NAME\"\ninput = \"udp\"\nlisten = \"0.0.0.0:5005\"\n";
    let named = |text: &str| ["first", "second"].map(|name| text.replace("NAME", name)).concat();
    for file in [board.clone() + &named(adc), board.clone() + &named(uart), law.to_owned() + &named(udp)] {
        let problems = AnyConfiguration::parse(&file).expect_err("two at one place");
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        let text = problem.to_string();
        let (_, said) = text.split_once(": ").expect("the line before");
        assert!(PAGE.contains(&format!("| `{said}` |")), "{said}");
    }
    let singular = "[[source]]\nname = \"w\"\ninput = \"ads131m06\"\nvalues = 6\nexpert.matrix = [\n";
    let singular = format!("{board}{singular}{}]\n", "[1, 2, 3, 4, 5, 6],\n".repeat(6));
    let problems = AnyConfiguration::parse(&singular).expect_err("six times the same");
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert!(
        PAGE.contains(&format!("| `source[0].expert.matrix: found […, expected {}` |", problem.expected)),
        "{problem}"
    );
    let none = NoPort { source: 0, kind: PortKind::Spi, number: 1, has: 0 };
    assert!(PAGE.contains(&format!("| `{none}` |")), "{none}");
}
