//! The page of a board's inputs: its examples are taken, and what it says is said is what is said.

use outrigger_core::engine::{NoPort, PortKind, Ports};
use outrigger_core::law::{AnyLaw, Law};

use crate::AnyConfiguration;

const PAGE: &str = include_str!("../../../../port-embassy/docs/inputs.md");

/// What a board that has everything has.
const PORTS: Ports = Ports { serial: 1, analog: 2, i2c: 1, spi: 1 };

#[test]
fn every_example_of_an_input_is_taken_by_a_board_that_has_it() {
    let (mut seen, mut most) = (Vec::new(), 0);
    for example in PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        match AnyConfiguration::parse(example) {
            Ok(AnyConfiguration::Board(board)) => {
                let settings = board.settings().expect("an address");
                assert_eq!(settings.device.check(), Ok(()), "{example}");
                assert_eq!(settings.device.check_ports(&PORTS), Ok(()), "{example}");
                let law = AnyLaw::new(settings.law.clone()).unwrap_or_else(|error| panic!("{error}\nin\n{example}"));
                most = most.max(Law::<6>::sources(&law).len());
                seen.extend(settings.sensors().map(|(_, sensor)| sensor.input.port()));
            }
            Ok(AnyConfiguration::Host(host)) => assert_eq!(host.control.sources.len(), 2, "{example}"),
            other => panic!("{other:?}\nin\n{example}"),
        }
    }
    use PortKind::{Analog, I2c, Serial, Spi};
    assert_eq!(seen, [(Serial, 1), (Analog, 1), (Analog, 2), (I2c, 1), (Spi, 1), (Analog, 1), (Spi, 1)]);
    assert_eq!(most, 2, "a law with a sensor for each of two axes");
    // The page of which boards have them is as their firmware has it.
    for (board, has) in
        [("nucleo-h743zi", PORTS), ("w5500-evb-pico2", PORTS), ("qemu-mps2", Ports { serial: 1, ..Ports::default() })]
    {
        let file = format!("{}/../../boards/{board}/src/ports.rs", env!("CARGO_MANIFEST_DIR"));
        let Ports { serial, analog, i2c, spi } = has;
        let expected = format!("Ports {{ serial: {serial}, analog: {analog}, i2c: {i2c}, spi: {spi} }};");
        assert!(std::fs::read_to_string(file).expect("its ports").contains(&expected), "{board}: {expected}");
    }
}

#[test]
fn what_the_page_of_inputs_says_is_said_is_what_is_said() {
    let law = "law.kind = \"joint-servo\"\nrobot.address = \"10.0.0.1\"\n";
    let board = format!("{law}device.address = \"10.0.0.2/24\"\n");
    let adc = "[[source]]\nname = \"NAME\"\ninput = \"adc\"\nport = 1\n";
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
    let singular = "[[source]]\nname = \"w\"\ninput = \"ads131m06\"\nvalues = 6\nmatrix = [\n";
    let singular = format!("{board}{singular}{}]\n", "[1, 2, 3, 4, 5, 6],\n".repeat(6));
    let problems = AnyConfiguration::parse(&singular).expect_err("six times the same");
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert!(PAGE.contains(&format!("| `source[0].matrix: found […, expected {}` |", problem.expected)), "{problem}");
    let none = NoPort { source: 0, kind: PortKind::Spi, number: 1, has: 0 };
    assert!(PAGE.contains(&format!("| `{none}` |")), "{none}");
}
