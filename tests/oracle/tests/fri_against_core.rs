//! Tests with FRI datagrams: core and oracle read the same from the same bytes, and each reads the other's output.

use outrigger_oracle::noise::Noise;
use outrigger_oracle::{Cell, Collector, Value, difference, fri};
use outrigger_sim::krc::{Krc, Options};
use outrigger_sim::time::SimTime;
use outrigger_wire::fri::{Command, Measurement};

const ROUNDS: u64 = 500;

/// Returns an FRI datagram of random bytes, except its size and the number `id` of its kind in the header.
fn datagram(name: &str, size: u16, id: u16, seed: u64) -> Vec<u8> {
    let mut bytes = Noise::seeded(seed).bytes(size.into());
    bytes[4..6].copy_from_slice(&size.to_le_bytes());
    bytes[6..8].copy_from_slice(&id.to_le_bytes());
    assert_eq!(fri::encode(&fri::decode(name, &bytes).expect("whole")), bytes, "the oracle keeps every byte");
    bytes
}

fn measurements() -> impl Iterator<Item = Vec<u8>> {
    (0..ROUNDS).map(|seed| datagram("measurement", 916, 0x2006, seed))
}

/// Returns random FRI commands with finite numbers, because `outrigger_wire` writes no others.
fn commands() -> impl Iterator<Item = Vec<u8>> {
    (0..ROUNDS).map(|seed| {
        let mut cells = fri::decode("command", &datagram("command", 376, 0x1005, seed)).expect("whole");
        for cell in &mut cells {
            if let Value::F32(bits) = &mut cell.value {
                *bits &= !(1 << 30);
            }
        }
        fri::encode(&cells)
    })
}

fn shown(show: impl FnOnce(&mut Collector)) -> Collector {
    let mut collector = Collector::default();
    show(&mut collector);
    collector
}

fn compare(core: &Collector, name: &str, bytes: &[u8]) -> Option<String> {
    difference(&core.seen, &fri::decode(name, bytes).expect("whole"))
}

#[test]
fn every_table_fills_its_datagram_without_a_gap() {
    for (name, table) in fri::tables() {
        let size = table.bytes.expect("a size");
        let cells = fri::decode(name, &vec![0; size]).expect("whole");
        assert_eq!(cells.last().map(|cell| cell.end), Some(size));
        assert!(fri::decode(name, &vec![0; size - 1]).is_err() && fri::decode(name, &vec![0; size + 1]).is_err());
    }
}

#[test]
fn any_measurement_reads_the_same() {
    for bytes in measurements() {
        let core = shown(|collector| Measurement::new_checked(&bytes).expect("a measurement").visit(collector));
        assert_eq!(compare(&core, "measurement", &bytes), None);
    }
}

#[test]
fn a_measurement_the_core_writes_is_read_by_the_oracle() {
    for bytes in measurements() {
        let read = Measurement::new_checked(&bytes).expect("a measurement");
        let mut written = vec![0xa5; bytes.len()];
        assert_eq!(read.to_repr().emit(&mut written), Ok(bytes.len()));
        assert_eq!(compare(&shown(|collector| read.visit(collector)), "measurement", &written), None);
        assert_eq!(written, bytes);
    }
}

#[test]
fn any_command_reads_the_same_and_is_written_to_the_same_bytes() {
    for bytes in commands() {
        let read = Command::new_checked(&bytes).expect("a command");
        assert_eq!(compare(&shown(|collector| read.visit(collector)), "command", &bytes), None);
        let mut written = vec![0xa5; bytes.len()];
        assert_eq!(read.to_repr().emit(&mut written), Ok(bytes.len()));
        assert_eq!(written, bytes);
    }
}

/// Compares the getters of an FRI measurement that sort values by axis with the datagram. The other tests use the
/// visitor of the fields, which shows these values in the order of the datagram.
#[test]
fn values_by_axis_are_the_ones_the_specification_numbers() {
    let bits = |cells: &[Cell], name: &str| -> Vec<u32> {
        let cells = cells.iter().filter(|cell| cell.name == name);
        cells.map(|cell| if let Value::F32(bits) = cell.value { bits } else { panic!("{name} is a number") }).collect()
    };
    for bytes in measurements().take(20) {
        let read = Measurement::new_checked(&bytes).expect("a measurement");
        let cells = fri::decode("measurement", &bytes).expect("whole");
        let wrench = bits(&cells, "estExtTcpFT");
        assert_eq!(read.est_ext_tcp_ft().linear.map(f32::to_bits)[..], wrench[..3]);
        // RZ, RY, RX.
        assert_eq!(read.est_ext_tcp_ft().angular.map(f32::to_bits), [wrench[5], wrench[4], wrench[3]]);
        let rows = bits(&cells, "jacobian");
        for (axis, row) in [5, 4, 3].into_iter().enumerate() {
            assert_eq!(read.jacobian().angular[axis].map(f32::to_bits)[..], rows[row * 7..row * 7 + 7]);
            assert_eq!(read.jacobian().linear[axis].map(f32::to_bits)[..], rows[axis * 7..axis * 7 + 7]);
        }
        let frame = bits(&cells, "cmdCartPosFriOffset");
        assert_eq!(read.cmd_cart_pos_fri_offset().position.map(f32::to_bits), [frame[3], frame[7], frame[11]]);
    }
}

/// Compares the measurements of a simulated KRC, read by the tests' own decoder alone, with its arm's true state.
#[test]
fn a_simulated_measurement_says_where_the_arm_is() {
    let options = Options { first_counter: 65_535, ..Options::default() };
    let mut krc = Krc::new(options).expect("a possible KRC");
    krc.push([0.0, 0.0, -30.0, 0.0, 0.0, 0.0]);
    krc.advance_to(SimTime::from_millis(3));
    for number in 0..4_u16 {
        let sent = krc.poll_transmit().expect("one per millisecond").bytes;
        let cells = fri::decode("measurement", &sent).expect("whole");
        let values = |name: &str| -> Vec<&Value> {
            cells.iter().filter(|cell| cell.name == name).map(|cell| &cell.value).collect()
        };
        let singles = |name: &str| -> Vec<f64> {
            let single = |value: &&Value| if let Value::F32(bits) = value { f32::from_bits(*bits) } else { f32::NAN };
            values(name).iter().map(|value| single(value).into()).collect()
        };
        assert_eq!(values("sendSeqCount"), [&Value::Integer(65_535_u16.wrapping_add(number).into())]);
        assert_eq!((values("state"), values("power")), (vec![&Value::Integer(1)], vec![&Value::Integer(0x7f)]));
        let truth = krc.truth();
        let near = |name: &str, expected: &[f64], tolerance: f64| {
            let found = singles(name);
            assert_eq!(found.len(), expected.len(), "{name}");
            let equal = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance);
            assert!(equal, "{name}: {found:?} is not {expected:?}");
        };
        near("msrJntPos", &truth.q, 1e-6);
        near("cmdJntPos", &truth.setpoint, 1e-6);
        near("desiredMsrSampleTime", &[0.001], 1e-9);
        // Fz is the third number, and no torque acts.
        near("estExtTcpFT", &[0.0, 0.0, -30.0, 0.0, 0.0, 0.0], 0.1);
        // Jacobian and force result in the external torques: rows x, y, z, rz, ry, rx of seven.
        let (jacobian, torques) = (singles("jacobian"), singles("estExtJntTrq"));
        for joint in 0..7 {
            assert!((torques[joint] + 30.0 * jacobian[2 * 7 + joint]).abs() < 0.1, "joint {joint}");
        }
        // The first joint turns about z, as the fourth row of its column shows.
        assert!((jacobian[3 * 7] - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_difference_is_found_in_a_value_and_a_missing_field() {
    let bytes = measurements().next().expect("one");
    let core = shown(|collector| Measurement::new_checked(&bytes).expect("a measurement").visit(collector));
    let cells = fri::decode("measurement", &bytes).expect("whole");
    let change = |change: fn(&mut Vec<Cell>)| {
        let mut cells = cells.clone();
        change(&mut cells);
        difference(&core.seen, &cells)
    };
    assert!(change(|cells| cells[100].value = cells[101].value.clone()).is_some());
    assert!(change(|cells| drop(cells.pop())).is_some());
    assert_eq!(change(|_| ()), None);
}
