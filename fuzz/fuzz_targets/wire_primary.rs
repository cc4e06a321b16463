//! Reads any bytes as a message of 30001. Checks that every iteration ends, and that sub-packages of a published size
//! are read as by the oracle.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::oracle::{self, Collector, Value, difference};
use outrigger_wire::primary::{Message, MessageKind, SubPackage};
use outrigger_wire::robot::SoftwareVersion;

const SOFTWARE: [Option<SoftwareVersion>; 6] = [
    None,
    Some(SoftwareVersion::new(1, 8)),
    Some(SoftwareVersion::new(3, 2)),
    Some(SoftwareVersion::new(3, 10)),
    Some(SoftwareVersion::new(5, 8)),
    Some(SoftwareVersion::new(5, 15)),
];

/// Compares the values that the core reads from a sub-package with those of the oracle, the independent reader of the
/// tests. Does nothing if the oracle has no table for the type and size of the sub-package.
fn compare(bytes: &[u8], core: &Collector) {
    let Some(table) = oracle::tables().get(oracle::key_of(bytes).as_str()) else { return };
    // A flag announces the Euromap block. A size without the block and a flag that is set contradict each other.
    let announced = match (bytes[4], bytes.len()) {
        (3, 64) => bytes[63] == 0,
        (3, 76) => bytes[63] == 1,
        (3, 72 | 74 | 75) => bytes[67] == 0,
        (3, 88 | 90 | 91) => bytes[67] != 0,
        _ => true,
    };
    if announced {
        let cells = oracle::decode(table, None, bytes).expect("a fixed size");
        assert_eq!(difference(&core.seen, &cells), None);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::new_checked(bytes) else { return };
    assert_eq!(message.size(), bytes.len());
    for software in SOFTWARE {
        let mut whole = Collector::default();
        let _ = message.visit(software, &mut whole);
        assert_eq!(whole.seen[0].value, Value::Integer(bytes.len() as i128));
    }
    if let MessageKind::RobotState(packages) = message.kind() {
        let mut parts = oracle::sub_packages(bytes).into_iter().flatten();
        let whole = oracle::sub_packages(bytes).is_ok();
        for package in packages {
            let part = parts.next();
            let Ok(package) = package else { continue };
            let mut core = Collector::default();
            package.visit(&mut core);
            if let (true, Some(part)) = (whole, part) {
                assert_eq!(package.package_type(), part[4]);
                if !matches!(package, SubPackage::Unknown { .. }) {
                    compare(part, &core);
                }
            }
        }
        assert!(!whole || parts.next().is_none(), "as many sub-packages as there are");
    }
});
