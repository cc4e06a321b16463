//! Tests that the core and the oracle read the same from sub-packages and messages of ports 30001 and 30002.

use outrigger_oracle::generate::{message, sized};
use outrigger_oracle::noise::Noise;
use outrigger_oracle::{self as oracle, Cell, Collector, difference};
use outrigger_wire::WireError;
use outrigger_wire::primary::{Message, SubPackage, SubPackageRepr};
use outrigger_wire::robot::SoftwareVersion;

/// Returns every sub-package of fixed size that has a table in the specification, as key, type and size \[B\].
fn sub_packages() -> impl Iterator<Item = (&'static str, u8, usize)> {
    oracle::tables().iter().filter_map(|(key, table)| {
        let (package_type, size) = key.split_once('/')?;
        Some((*key, package_type.parse().ok()?, table.bytes.filter(|b| size.parse() == Ok(*b))?))
    })
}

/// Returns random bytes in the form of a sub-package: with its header, and the flag for the Euromap block.
fn sub_package(package_type: u8, size: usize, noise: &mut Noise) -> Vec<u8> {
    let mut bytes = u32::try_from(size).expect("a size").to_be_bytes().to_vec();
    bytes.push(package_type);
    bytes.extend(noise.bytes(size - 5));
    match (package_type, size) {
        (3, 64 | 76) => bytes[63] = u8::from(size == 76),
        (3, 72..) => bytes[67] = u8::from(size >= 88),
        _ => {}
    }
    bytes
}

fn by_the_core(bytes: &[u8]) -> Collector {
    let mut collector = Collector::default();
    SubPackage::new_checked(bytes).expect("a sub-package").visit(&mut collector);
    collector
}

#[test]
fn every_sub_package_reads_the_same_in_every_size() {
    let mut noise = Noise::seeded(1);
    let mut tables = 0;
    let mut found = Vec::new();
    for (key, package_type, size) in sub_packages() {
        for _ in 0..50 {
            let bytes = sub_package(package_type, size, &mut noise);
            let cells = oracle::decode(&oracle::tables()[key], None, &bytes).expect("whole");
            found.extend(difference(&by_the_core(&bytes).seen, &cells).map(|d| format!("{key}: {d}")));
        }
        tables += 1;
    }
    found.dedup();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(tables, 35);
}

/// All forms of messages of ports 30001 and 30002: the key of the table, major and minor version of a software that
/// sends it, and for a message with typed values the key of the table of types.
const MESSAGES: &[(&str, u8, u8, Option<&str>)] = &[
    ("20/0", 5, 15, None),
    ("20/1", 3, 2, None),
    ("20/2 old", 1, 8, None),
    ("20/2", 3, 0, None),
    ("20/2", 5, 15, None),
    ("20/3 old", 3, 2, None),
    ("20/3", 3, 5, None),
    ("20/5 1", 1, 8, None),
    ("20/5 3", 3, 2, None),
    ("20/5", 5, 9, None),
    ("20/6 1", 1, 8, None),
    ("20/6 3", 3, 0, None),
    ("20/6", 5, 15, None),
    ("20/7", 5, 15, None),
    ("20/8", 1, 6, None),
    ("20/9", 3, 0, None),
    ("20/9", 5, 15, None),
    ("20/10 old", 3, 2, None),
    ("20/10", 5, 9, None),
    ("20/12", 3, 10, None),
    ("20/14", 5, 15, None),
    ("25/0", 3, 0, None),
    ("25/1", 3, 2, Some("values 3.0")),
    ("25/1", 3, 3, Some("values 3.3")),
    ("25/1", 5, 8, Some("values 3.3")),
    ("25/1", 5, 9, Some("values 5.9")),
    ("25/1", 10, 1, Some("values 5.9")),
    ("25/2", 3, 0, None),
];

fn message_by_the_core(bytes: &[u8], software: SoftwareVersion) -> Result<Collector, WireError> {
    let mut collector = Collector::default();
    Message::new_checked(bytes)?.visit(Some(software), &mut collector)?;
    Ok(collector)
}

/// Renames the decoded values of messages `25/0` and `25/1` as `outrigger_wire` does: one list of all names, one of all
/// values. Omits the ends of lines, which are no fields there.
fn lists(key: &str, cells: Vec<Cell>) -> Vec<Cell> {
    let fixed = if key == "25/1" || key == "25/0" { 5 } else { usize::MAX };
    let renamed = cells.into_iter().enumerate().map(|(i, mut cell)| {
        if i >= fixed && cell.name != "newline" {
            cell.name = if key == "25/0" { "names" } else { "values" }.into();
        }
        cell
    });
    renamed.filter(|cell| cell.name != "newline").collect()
}

#[test]
fn every_message_reads_the_same_in_every_form() {
    let mut noise = Noise::seeded(2);
    for &(key, major, minor, numbering) in MESSAGES {
        let software = SoftwareVersion::new(major, minor);
        let values = numbering.map(|n| &oracle::tables()[n]);
        for _ in 0..200 {
            let bytes = message(key, values, &mut noise);
            let cells = oracle::decode(&oracle::tables()[key], values, &bytes).expect("whole");
            let core = message_by_the_core(&bytes, software).expect("whole");
            assert_eq!(difference(&core.seen, &lists(key, cells)), None, "{key} of {software}: {bytes:02x?}");
        }
    }
}

#[test]
fn a_message_cut_short_is_refused_by_both_or_by_none() {
    let mut noise = Noise::seeded(3);
    let mut refused = 0;
    // The field in the place of the build number distinguishes the two forms of the version message.
    for &(key, major, minor, numbering) in MESSAGES.iter().filter(|m| m.0 != "20/3") {
        let software = SoftwareVersion::new(major, minor);
        let values = numbering.map(|n| &oracle::tables()[n]);
        for _ in 0..100 {
            let mut bytes = message(key, values, &mut noise);
            bytes.truncate(5 + noise.below(bytes.len() - 5));
            let bytes = sized(bytes);
            let oracle = oracle::decode(&oracle::tables()[key], values, &bytes);
            let core = message_by_the_core(&bytes, software);
            assert_eq!(core.is_ok(), oracle.is_ok(), "{key} of {software}: {core:?} {oracle:?} {bytes:02x?}");
            refused += u32::from(core.is_err());
        }
    }
    assert!(refused > 500, "most cuts hurt: {refused}");
}

/// Decodes a sub-package by `outrigger_wire` and returns it encoded again, in its original size.
fn written_again(bytes: &[u8]) -> Vec<u8> {
    macro_rules! write_each {
        ($package:expr, $($variant:ident)+) => {
            match $package {
                $(SubPackage::$variant(package) => {
                    let mut out = vec![0xa5; bytes.len()];
                    assert_eq!(package.to_repr().emit(bytes.len(), &mut out), Ok(bytes.len()));
                    out
                })+
                SubPackage::Unknown { .. } => panic!("a type without a table"),
            }
        };
    }
    write_each!(
        SubPackage::new_checked(bytes).expect("a sub-package"),
        RobotModeData JointData ToolData MasterboardDataCb2 MasterboardData CartesianInfo KinematicsInfo
        ConfigurationData ForceModeData AdditionalInfo CalibrationData SafetyData ToolCommunicationInfo ToolModeInfo
        SingularityInfo
    )
}

#[test]
fn a_sub_package_the_core_writes_is_read_by_the_oracle() {
    let mut noise = Noise::seeded(4);
    for (key, package_type, size) in sub_packages() {
        for _ in 0..20 {
            let bytes = sub_package(package_type, size, &mut noise);
            let cells = oracle::decode(&oracle::tables()[key], None, &written_again(&bytes)).expect("whole");
            assert_eq!(difference(&by_the_core(&bytes).seen, &cells), None, "{key}");
        }
    }
}

/// The key of the newest layout of each sub-package, and the least number of additional bytes with which its size is
/// not that of an older layout.
const NEWEST: &[(&str, usize)] = &[
    ("0/47", 1),
    ("1/251", 1),
    ("2/37", 1),
    ("3/75", 2),
    ("3/91", 1),
    ("4/101", 1),
    ("5/225", 1),
    ("6/449", 1),
    ("7/61", 1),
    ("8/9", 2),
    ("9/53", 1),
    ("10/43", 1),
    ("11/26", 1),
    ("12/8", 1),
    ("13/7", 1),
];

/// Tests that bytes after the known fields, as later software may append them, do not change the known fields.
#[test]
fn bytes_after_the_last_known_field_change_nothing_but_the_size() {
    let mut noise = Noise::seeded(5);
    for &(key, first) in NEWEST {
        let (_, package_type, size) = sub_packages().find(|s| s.0 == key).expect("a table");
        for more in first..7 {
            let mut bytes = sub_package(package_type, size, &mut noise);
            bytes.extend(noise.bytes(more));
            let bytes = sized(bytes);
            let cells = oracle::decode(&oracle::tables()[key], None, &bytes).expect("whole");
            assert_eq!(difference(&by_the_core(&bytes).seen, &cells), None, "{key} and {more} bytes");
        }
    }
}
