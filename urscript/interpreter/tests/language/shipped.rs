//! Tests that every template in `urscript/programs` becomes, for every software, a program that compiles on it.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use outrigger_interpreter::{Assembled, Builtins, LineAssembler, Program};
use outrigger_urscript::{ScriptText, ScriptValue, Version};

/// A value for every placeholder of the templates in `urscript/programs`.
const VALUES: &[(&str, ScriptValue<'_>)] = &[
    ("BEGIN", ScriptValue::Text("")),
    ("HOST", ScriptValue::Address(Ipv4Addr::new(192, 168, 56, 1))),
    ("REVERSE_PORT", ScriptValue::Integer(50_001)),
    ("TRAJECTORY_PORT", ScriptValue::Integer(50_003)),
    ("COMMAND_PORT", ScriptValue::Integer(50_004)),
    ("GAIN", ScriptValue::Integer(2000)),
    ("LOOKAHEAD", ScriptValue::Decimal(0.03)),
    ("STOP", ScriptValue::Decimal(4.0)),
    ("SPEED_0", ScriptValue::Decimal(2.1)),
    ("SPEED_1", ScriptValue::Decimal(2.1)),
    ("SPEED_2", ScriptValue::Decimal(2.1)),
    ("SPEED_3", ScriptValue::Decimal(2.1)),
    ("SPEED_4", ScriptValue::Decimal(2.1)),
    ("SPEED_5", ScriptValue::Decimal(2.1)),
    ("ADDRESS", ScriptValue::Address(Ipv4Addr::new(192, 168, 56, 1))),
    ("PORT", ScriptValue::Integer(50_001)),
    ("MAGIC", ScriptValue::Integer(0x4F55_5452)),
    ("VERSION", ScriptValue::Integer(1)),
    ("KIND", ScriptValue::Integer(1)),
    ("TOKEN", ScriptValue::Integer(i32::MAX)),
    ("STEP", ScriptValue::Decimal(0.002)),
    ("HOLD", ScriptValue::Decimal(0.04)),
    ("PATIENCE", ScriptValue::Decimal(2.0)),
    ("REST", ScriptValue::Decimal(1.0)),
    ("ACCELERATION", ScriptValue::Decimal(10.0)),
    ("BRAKING", ScriptValue::Decimal(4.0)),
    ("DIVERGENCE", ScriptValue::Decimal(0.32)),
    ("LEAP", ScriptValue::Decimal(0.04)),
    ("A0", ScriptValue::Decimal(2.04)),
    ("A1", ScriptValue::Decimal(2.04)),
    ("A2", ScriptValue::Decimal(2.04)),
    ("A3", ScriptValue::Decimal(2.04)),
    ("A4", ScriptValue::Decimal(2.04)),
    ("A5", ScriptValue::Decimal(2.04)),
    ("LEAD", ScriptValue::Decimal(0.32)),
    ("PLACES", ScriptValue::Integer(32)),
    ("RING", ScriptValue::Repeated(RING_ROW, 32)),
    ("STALE", ScriptValue::Integer(5300)),
    ("FILL", ScriptValue::Integer(20)),
    ("V0", ScriptValue::Decimal(1.02)),
    ("V1", ScriptValue::Decimal(1.02)),
    ("V2", ScriptValue::Decimal(1.02)),
    ("V3", ScriptValue::Decimal(1.02)),
    ("V4", ScriptValue::Decimal(1.02)),
    ("V5", ScriptValue::Decimal(1.02)),
    ("L0", ScriptValue::Decimal(-6.3)),
    ("L1", ScriptValue::Decimal(-6.3)),
    ("L2", ScriptValue::Decimal(-6.3)),
    ("L3", ScriptValue::Decimal(-6.3)),
    ("L4", ScriptValue::Decimal(-6.3)),
    ("L5", ScriptValue::Decimal(-6.3)),
    ("H0", ScriptValue::Decimal(6.3)),
    ("H1", ScriptValue::Decimal(6.3)),
    ("H2", ScriptValue::Decimal(6.3)),
    ("H3", ScriptValue::Decimal(6.3)),
    ("H4", ScriptValue::Decimal(6.3)),
    ("T0", ScriptValue::Decimal(28.0)),
    ("T1", ScriptValue::Decimal(28.0)),
    ("T2", ScriptValue::Decimal(28.0)),
    ("T3", ScriptValue::Decimal(28.0)),
    ("T4", ScriptValue::Decimal(28.0)),
    ("T5", ScriptValue::Decimal(28.0)),
    ("R0", ScriptValue::Decimal(0.56)),
    ("R1", ScriptValue::Decimal(0.56)),
    ("R2", ScriptValue::Decimal(0.56)),
    ("R3", ScriptValue::Decimal(0.56)),
    ("R4", ScriptValue::Decimal(0.56)),
    ("R5", ScriptValue::Decimal(0.56)),
    ("TORQUE_0", ScriptValue::Decimal(28.0)),
    ("TORQUE_1", ScriptValue::Decimal(28.0)),
    ("TORQUE_2", ScriptValue::Decimal(28.0)),
    ("TORQUE_3", ScriptValue::Decimal(28.0)),
    ("TORQUE_4", ScriptValue::Decimal(28.0)),
    ("TORQUE_5", ScriptValue::Decimal(28.0)),
    ("RATE_0", ScriptValue::Decimal(280.0)),
    ("RATE_1", ScriptValue::Decimal(280.0)),
    ("RATE_2", ScriptValue::Decimal(280.0)),
    ("RATE_3", ScriptValue::Decimal(280.0)),
    ("RATE_4", ScriptValue::Decimal(280.0)),
    ("RATE_5", ScriptValue::Decimal(280.0)),
    ("LOWEST_0", ScriptValue::Decimal(-6.3)),
    ("LOWEST_1", ScriptValue::Decimal(-6.3)),
    ("LOWEST_2", ScriptValue::Decimal(-6.3)),
    ("LOWEST_3", ScriptValue::Decimal(-6.3)),
    ("LOWEST_4", ScriptValue::Decimal(-6.3)),
    ("LOWEST_5", ScriptValue::Decimal(-6.3)),
    ("HIGHEST_0", ScriptValue::Decimal(6.3)),
    ("HIGHEST_1", ScriptValue::Decimal(6.3)),
    ("HIGHEST_2", ScriptValue::Decimal(6.3)),
    ("HIGHEST_3", ScriptValue::Decimal(6.3)),
    ("HIGHEST_4", ScriptValue::Decimal(6.3)),
    ("HIGHEST_5", ScriptValue::Decimal(6.3)),
    ("TRAVEL", ScriptValue::Decimal(1.02)),
    ("INPUTS", ScriptValue::Integer(24)),
    ("OUTPUTS", ScriptValue::Integer(24)),
    ("H5", ScriptValue::Decimal(6.3)),
];

/// The text for one place of the ring of waiting positions in `buffered.script`.
const RING_ROW: &str = "z,z,z,z,z,z,z,\n";

/// The template with the name of the program and the limits of its joints. It precedes each template that mentions it
/// in its first lines.
const LIMITS: &str = include_str!("../../../programs/limits.script");
/// The template that programs for joint positions share. It stands between [`LIMITS`] and a template that mentions it.
const POSITIONS: &str = include_str!("../../../programs/positions.script");
/// The template for the exchange of orders over a socket. It follows each template that mentions it in its first lines.
const CONVERSATION: &str = include_str!("../../../programs/conversation.script");
/// The template for the exchange of orders in registers, which then replaces [`CONVERSATION`].
const REGISTERS: &str = include_str!("../../../programs/registers.script");

/// Returns the versions of controller software after CB2, and some possible later ones.
fn versions() -> impl Iterator<Item = Version> {
    let minors = [(3_u8, 15_u8), (5, 26), (10, 13)];
    minors.into_iter().flat_map(|(major, last)| (0..=last).map(move |minor| Version::new(major, minor)))
}

fn templates() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts = files.filter(|path| path.extension().is_some_and(|extension| extension == "script"));
    scripts.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn read(mut text: ScriptText<'_>) -> String {
    let (mut piece, mut all) = ([0; 512], vec![]);
    while let n @ 1.. = text.read(&mut piece) {
        all.extend(&piece[..n]);
    }
    assert_eq!(all.len(), text.len());
    String::from_utf8(all).unwrap()
}

#[test]
fn what_a_build_carries_of_a_template_gives_the_same_text() {
    use outrigger_urscript::programs::{BUFFERED, LIMITS, PLAYER, POSITIONS, SERVOJ, SPEEDJ, TORQUE};
    for (name, carried) in [
        ("limits", LIMITS),
        ("positions", POSITIONS),
        ("speedj", SPEEDJ),
        ("servoj", SERVOJ),
        ("buffered", BUFFERED),
        ("player", PLAYER),
        ("torque", TORQUE),
        ("conversation", outrigger_urscript::programs::CONVERSATION),
        ("registers", outrigger_urscript::programs::REGISTERS),
    ] {
        let (_, template) =
            templates().into_iter().find(|(path, _)| path.file_stem().is_some_and(|stem| stem == name)).unwrap();
        assert!(carried.len() < template.len(), "{name}");
        for version in versions() {
            let whole = ScriptText::new(&template, VALUES, version).map(read);
            assert_eq!(
                ScriptText::of([carried, b"", b"", b"", b"", b""], VALUES, version).map(read),
                whole,
                "{name} on {version}"
            );
        }
    }
}

#[test]
fn every_template_is_a_program_of_every_software() {
    let both = templates().into_iter().flat_map(|one| [(one.clone(), false), (one, true)]);
    for ((path, mut template), by_registers) in both {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if [LIMITS, POSITIONS, CONVERSATION, REGISTERS].contains(&template.as_str()) {
            continue;
        }
        let before = match &template {
            of_positions if of_positions.contains("stand limits.script and positions.script") => [LIMITS, POSITIONS],
            of_limits if of_limits.contains("stands limits.script") => [LIMITS, ""],
            _ => ["", ""],
        };
        if template.contains("What follows is conversation.script") {
            template.push_str(if by_registers { REGISTERS } else { CONVERSATION });
        }
        template.insert_str(0, &before.concat());
        let header = template.contains("# HEADER_BEGIN");
        let mut longest = 0;
        // These registers were added in 3.9 and 5.3.
        let has_registers = |version: &Version| {
            *version >= Version::new(5, 3) || (Version::new(3, 9)..Version::new(5, 0)).contains(version)
        };
        for version in versions().filter(|version| !by_registers || has_registers(version)) {
            let text = if header {
                ScriptText::within("def externalControl():\n", &template, VALUES, version)
            } else {
                ScriptText::new(&template, VALUES, version)
            };
            let text = read(text.unwrap_or_else(|error| panic!("{name} on {version}: {error}")));
            assert!(text.ends_with("end\n") && !text.contains("{{") && !text.contains('$'), "{name} on {version}");
            // Before 3.14 and 5.9 a program must not contain arithmetic with lists.
            let builtins = Builtins::of(version).with_arrays(false);
            let mut bytes = text.as_bytes();
            let Some(Assembled::Program(one)) = LineAssembler::default().next(&mut bytes) else { panic!("{text}") };
            assert!(bytes.is_empty() && one == text, "{name} on {version} is more than one program");
            let compiled = Program::compile(&text, &builtins);
            compiled.unwrap_or_else(|error| panic!("{name} on {version}: {error:?}\n{text}"));
            longest = longest.max(text.len());
        }
        // The size limit is that of a board, which sends the programs for commands. The places of a ring are generated
        // when sent.
        let ring = if name == "buffered.script" { RING_ROW.len() * 32 } else { 0 };
        let most = if name == "player.script" { 8192 } else { 4864 + ring };
        assert!(longest <= most || header, "{name}: {longest} B");
        println!("{name}: at most {longest} B, {} B as a template", template.len());
    }
}

#[test]
fn a_ring_of_a_thousand_places_is_a_program_read_in_pieces_of_any_size() {
    use outrigger_urscript::programs::{BUFFERED, CONVERSATION, POSITIONS};
    let limits = outrigger_urscript::programs::LIMITS;
    let values = VALUES.iter().map(|(name, value)| match *name {
        "RING" => (*name, ScriptValue::Repeated(RING_ROW, 1000)),
        "PLACES" => (*name, ScriptValue::Integer(1000)),
        _ => (*name, *value),
    });
    let values: Vec<_> = values.collect();
    for version in [Version::new(3, 1), Version::new(5, 26), Version::new(10, 13)] {
        let text = ScriptText::of([limits, POSITIONS, BUFFERED, CONVERSATION, b"", b""], &values, version).unwrap();
        let whole = read(text.clone());
        assert_eq!(whole.matches("z,z,z,z,z,z,z,\n").count(), 1000);
        assert!(whole.len() < 20_480, "{} B", whole.len());
        Program::compile(&whole, &Builtins::of(version).with_arrays(false)).unwrap();
        for size in [1, 13, 14, 15, 256] {
            let (mut text, mut piece, mut all) = (text.clone(), vec![0; size], Vec::<u8>::new());
            while let n @ 1.. = text.read(&mut piece) {
                all.extend(&piece[..n]);
            }
            assert_eq!(all, whole.as_bytes(), "in pieces of {size}");
        }
    }
}

#[test]
fn templates_are_plain_text_without_comments_behind_statements() {
    for (path, template) in templates() {
        assert!(template.is_ascii() && template.ends_with('\n') && !template.contains(['\t', '\r']), "{path:?}");
        for line in template.lines() {
            let code = !line.trim_start().starts_with('#') && line.contains('#');
            assert!(!code, "{path:?} would send a comment: {line}");
            assert!(line.len() <= 130 && line.trim_end() == line, "{path:?}: {line}");
        }
    }
}
