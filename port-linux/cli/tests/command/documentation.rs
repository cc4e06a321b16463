//! Checks that the program accepts what the documentation shows.

use std::path::{Path, PathBuf};

use outrigger::config::{AnyConfiguration, Board, Configuration};
use outrigger_core::law::LawKind;
use outrigger_core::robot::Reason;
use outrigger_emulated::require::committed;
use outrigger_wire::checksum::crc32;
use outrigger_wire::sensor::{DATAGRAM_MAX, FRAME_MAX, LINE_MAX, Reading, SampleValue};

/// The pages with every key of a file for a controller of Universal Robots.
const PAGES: [&str; 2] = ["configuration.md", "expert-examples.md"];

fn page(name: &str) -> String {
    std::fs::read_to_string(docs().join(name)).expect("the page")
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn every_configuration_in_the_documentation_is_valid() {
    // One example for each law, two of boards, and one with a program of the user.
    let count = LawKind::ALL.len() + 3;
    for (page, count) in [("configuration.md", count), ("expert-examples.md", count), ("kuka-lwr.md", 3)] {
        let text = std::fs::read_to_string(docs().join(page)).expect("the page");
        let examples: Vec<_> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(examples.len(), count, "{page}");
        for example in examples {
            if let Err(problems) = AnyConfiguration::parse(example) {
                panic!("{problems:#?}\nin\n{example}");
            }
        }
    }
}

/// Checks that the pages show every key, because readers assume that a key that is not shown does not exist.
#[test]
fn every_key_that_is_taken_stands_in_the_documentation() {
    let page = PAGES.map(page).concat();
    let of_laws = LawKind::ALL.iter().map(|kind| format!("[law]\nkind = \"{}\"\n", kind.name()));
    let others = [
        "",
        "[robot]\n",
        "[[law.axis]]\n",
        "[[law.waypoint]]\n",
        "[limits]\n",
        "[session]\n",
        "[standstill]\n",
        "[[law.axis]]\n[law.axis.expert]\n",
        "[limits.expert]\n",
        "[session.expert]\n",
        "[program.expert]\n",
        "[standstill.expert]\n",
        "[connect.expert]\n",
        "[operator.expert]\n",
        "[outputs.expert]\n",
        "[run.expert]\n",
        "[ros.expert]\n",
        "[host.expert]\n",
        "[serve.expert]\n",
        "[device]\n[device.expert]\n",
        "[session.expert.grade]\n",
        "[session.expert.grade.ok]\n",
        "[connect]\n",
        "[operator]\n",
        "[run]\n",
        "[host]\n",
        "[serve]\n",
        "[[source]]\ninput = \"udp\"\n",
        "[[source]]\ninput = \"serial\"\n",
        "[[source]]\ninput = \"simulated\"\n",
        "[device]\n",
        "[device]\n[[source]]\ninput = \"uart\"\n",
        "[device]\n[[source]]\ninput = \"adc\"\n",
        "[device]\n[[source]]\ninput = \"ads131m06\"\n",
    ];
    for head in of_laws.chain(others.map(Into::into)) {
        let law = if head.contains("law") { "" } else { "law.kind = \"joint-servo\"\n" };
        let law = if head.contains("waypoint") { "[law]\nkind = \"joint-servo\"\n" } else { law };
        let law = if head.contains("law.axis") { "[law]\nkind = \"axes\"\n" } else { law };
        let file = format!("{law}{head}no_such_key = 1\n");
        let board = head.contains("device").then(|| Board::parse(&file).map(drop));
        let read = board.unwrap_or_else(|| Configuration::parse(&file).map(drop));
        let problems = read.expect_err("an unknown key");
        let unknown = problems.iter().find(|problem| problem.found == "an unknown key").expect("it is said");
        let known = unknown.expected.split('?').next().unwrap_or_default();
        for key in known.split('`').skip(1).step_by(2) {
            // A key may be shown as an assignment, as a table, or by name in a comment.
            let shown = page.lines().any(|line| {
                line.trim_start_matches('[').starts_with(&format!("{key} ="))
                    || line.starts_with(&format!("[{key}]"))
                    || line.starts_with(&format!("[{key}.expert]"))
                    || [
                        format!("`{key}`"),
                        format!("`{key} ="),
                        format!(".{key}]"),
                        format!(".{key}."),
                        format!("[[{key}]]"),
                    ]
                    .iter()
                    .any(|form| line.contains(form))
            });
            assert!(shown, "`{key}` of {head:?} is not shown");
        }
    }
}

/// Checks that the first example of each page shows the program's defaults of link, mode machine, connection and
/// limits, for controllers with cycles of 2 ms.
#[test]
fn the_defaults_in_the_documentation_are_the_defaults() {
    let absent =
        Configuration::parse("robot.address = \"a\"\nlaw.kind = \"joint-servo\"\n").expect("valid").control.engine();
    for page in PAGES.map(page) {
        let example =
            page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the first example");
        // Comments that begin with another default, or with none, mark a value that is an example.
        let defaults: Vec<_> =
            example.lines().filter(|line| !line.contains("# none") && !line.contains("# 1.0;")).collect();
        let shown = Configuration::parse(&defaults.join("\n")).expect("valid").control.engine();
        let period = outrigger_wire::time::Duration::from_millis(2);
        assert_eq!(shown.link.stream(period), absent.link.stream(period));
        assert_eq!(shown.mode.of(period), absent.mode.of(period));
        assert_eq!(shown.mode.following.of(period), absent.mode.following.of(period));
        assert_eq!(
            (shown.peer.text, shown.standstill, shown.peer.connect),
            (absent.peer.text, absent.standstill, absent.peer.connect)
        );
        assert_eq!(shown.limits, absent.limits);
    }
}

/// Returns `true` if a comment says that the value shown is not the default: `required`, `none`, or another value
/// before a semicolon.
fn names_another_default(comment: &str) -> bool {
    let comment = comment.trim();
    let first = comment.split([' ', ';', ':', ',']).next().unwrap_or_default();
    let value = comment.split_once(';').map_or(comment, |(value, _)| value);
    let is_value = value.parse::<f64>().is_ok()
        || matches!(value, "true" | "false")
        || (value.starts_with('"') && value.ends_with('"') && value.matches('"').count() == 2);
    matches!(first, "required" | "none" | "needed") || is_value
}

/// Checks the statement of the page: "Every other key below shows its default, unless the comment says otherwise."
#[test]
fn a_key_whose_comment_names_no_other_default_shows_its_default() {
    let page = PAGES.map(page).concat();
    let mut wrong = vec![];
    for example in page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let meaning = |text: &str| AnyConfiguration::parse(text).map(|read| format!("{read:?}")).ok();
        let whole = meaning(example);
        let lines: Vec<&str> = example.lines().collect();
        let mut table = "";
        for (n, line) in lines.iter().enumerate() {
            table = if line.starts_with('[') { line } else { table };
            // The defaults of these keys depend on the controller's period: see the test above.
            if table.starts_with("[session") {
                continue;
            }
            let (assignment, comment) = line.split_once('#').unwrap_or((line, ""));
            if comment.trim().is_empty() || !assignment.contains('=') || names_another_default(comment) {
                continue;
            }
            let without: Vec<&str> = lines.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, line)| *line).collect();
            if meaning(&without.join("\n")) != whole {
                wrong.push(*line);
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Checks that claims in the pages name their exceptions, as long as those exist.
#[test]
fn claims_name_their_exceptions() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = |name: &str| {
        let text = std::fs::read_to_string(top.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (notes, architecture) = (page("port-linux/docs/release-notes.md"), page("ARCHITECTURE.md"));
    let readme = page("README.md") + &page("port-linux/docs/start-rust.md");

    // The link proof is made at these optimization levels, and does not hold at z.
    let (ci, probe) = (page(".ci/run"), page("tests/thumb/Cargo.toml"));
    assert!(ci.contains("for profile in release small; do") && probe.contains("\"release\" opt-level = \"z\""));
    assert!(readme.contains("without reachable panics in builds at opt-level 3 or s"));
    assert!(!readme.contains("without panics") && !readme.contains("every message"));
    assert!(readme.contains("What stays raw bytes"));

    // A separate page lists what the interpreter runs.
    assert!(
        !readme.contains("does what a controller does")
            && readme.contains("(../../tests/sim/docs/fidelity.md) lists what it runs")
    );
    // While a run commands by text, the next text ends a program that another client has started, and nothing shows
    // that it ran.
    assert!(page("SECURITY.md").contains("On the text path it does not see another program while it commands"));
    assert!(!page("boards/BRINGUP.md").contains("*Measured on hardware*"));
    // A force source replaces the controller's own sensor only for a program that requests it.
    assert!(!page("port-linux/docs/ros2.md").contains("a force mode takes the controller's own"));

    // A folder of boards that configures its compilation target is a board.
    let boards = std::fs::read_dir(top.join("boards")).expect("boards").map(|entry| entry.expect("a folder").path());
    let ports = boards.filter(|board| board.join(".cargo").is_dir()).map(|board| board.join("src/sensor_ports.rs"));
    let ports: Vec<_> = ports.map(|ports| std::fs::read_to_string(ports).expect("its ports")).collect();
    assert!(ports.len() >= 3);
    let wired = ports.iter().any(|ports| !ports.contains("i2c: 0") || !ports.contains("spi: 0"));
    assert_ne!(wired, notes.contains("which no board wires up yet"));

    // These claims are checked as long as the programs were not available.
    let tried = !notes.contains("Foxglove and PlotJuggler were not at hand");
    assert_ne!(tried, page("port-linux/docs/recording.md").contains("**Foxglove** (not tried"));

    let in_port = top.join("port-linux/src/dashboard/robot_api.rs").exists();
    assert_eq!(
        in_port,
        architecture.contains("One exception is left: requests and answers of PolyScope X's Robot API")
    );
}

/// Checks the worked example: a reading, step by step to its frame.
#[test]
fn the_bytes_in_the_documentation_of_sensors_are_those_of_the_program() {
    let page = std::fs::read_to_string(docs().join("sensors.md")).expect("the page");
    let row = |step: &str| {
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {step}"))).expect(step);
        let bytes = row.rsplit('`').nth(1).expect("bytes in quotes");
        let bytes = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("two hexadecimal digits"));
        bytes.collect::<Vec<_>>()
    };
    let reading = Reading { seq: 300, value: SampleValue::scalar(1.0) };
    let (mut datagram, mut frame) = ([0; DATAGRAM_MAX], [0; FRAME_MAX]);
    let (datagram, frame) = (reading.to_datagram(&mut datagram), reading.to_frame(&mut frame));
    assert_eq!(row("the datagram"), datagram);
    let checksum = crc32(datagram);
    assert_eq!(row("and its checksum"), [datagram, &checksum.to_le_bytes()].concat());
    assert!(page.contains(&format!("`{checksum:#010x}`")), "{checksum:#010x}");
    assert_eq!(row("stuffed"), frame[..frame.len() - 1]);
    assert_eq!(row("and a zero"), frame);
    assert!(page.contains(&format!("at most {LINE_MAX} bytes are a line")));
    assert!(page.contains(&format!("no frame is longer than {FRAME_MAX} bytes")));
}

/// Checks that the page of reasons lists each reason with the program's text for it; `OUTRIGGER_BLESS=1` writes them
/// anew.
#[test]
fn every_reason_stands_on_its_page_with_its_words() {
    let page = std::fs::read_to_string(docs().join("stops.md")).expect("the page");
    let (before, _) = page.split_once("|---|---|---|\n").expect("a table");
    let row = |reason: &Reason| format!("| `{}` | {} | {} |\n", reason.name(), reason.text(), reason.advice());
    let expected = format!("{before}|---|---|---|\n{}", Reason::ALL.iter().map(row).collect::<String>());
    committed::hold("port-linux/docs/stops.md", &expected);
}

/// Returns the number of lines of an example, without empty ones and comments.
fn own_lines(name: &str) -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//")).count()
}

#[test]
fn small_programs_are_small() {
    let lines = ["decode.rs", "custom_law_ur.rs", "custom_law_krc.rs", "states.rs"].map(own_lines);
    println!("lines of decode, own law beside a UR, beside a KRC, states: {lines:?}");
    assert!(lines.iter().zip([8, 15, 15, 10]).all(|(lines, most)| *lines <= most), "{lines:?}");
}
