//! Tests that the core and the oracle read the same from the same bytes, and that the oracle reads the core's output.

use outrigger_oracle::noise::Noise;
use outrigger_oracle::{self as oracle, Cell, Collector, difference};
use outrigger_wire::realtime;

/// Returns every size of a real-time packet that `outrigger_wire` accepts \[B\].
fn realtime_sizes() -> impl Iterator<Item = usize> {
    (756..=812).chain(1044..=2048)
}

fn realtime_packet(size: usize, noise: &mut Noise) -> Vec<u8> {
    let mut bytes = i32::try_from(size).expect("a size").to_be_bytes().to_vec();
    bytes.extend(noise.bytes(size - 4));
    bytes
}

fn by_the_oracle(bytes: &[u8]) -> Vec<Cell> {
    let key = if bytes.len() <= 812 { "realtime_cb2" } else { "realtime_cb3" };
    oracle::decode_realtime(&oracle::tables()[key], bytes)
}

fn by_the_core(bytes: &[u8]) -> Collector {
    let mut collector = Collector::default();
    realtime::Packet::new_checked(bytes).expect("a packet").visit(&mut collector);
    collector
}

#[test]
fn any_real_time_packet_reads_the_same_in_every_size() {
    let mut noise = Noise::seeded(1);
    for size in realtime_sizes() {
        let bytes = realtime_packet(size, &mut noise);
        let found = difference(&by_the_core(&bytes).seen, &by_the_oracle(&bytes));
        assert_eq!(found, None, "{size} bytes");
    }
}

#[test]
fn a_real_time_packet_the_core_writes_is_read_by_the_oracle() {
    let mut noise = Noise::seeded(2);
    for size in realtime_sizes() {
        let original = realtime_packet(size, &mut noise);
        let repr = realtime::Packet::new_checked(&original).expect("a packet").to_repr();
        let mut written = vec![0xa5; size];
        assert_eq!(repr.emit(size, &mut written), Ok(size));
        // Masks may be written in another form than they were read, but as the same mask.
        let found = difference(&by_the_core(&original).seen, &by_the_oracle(&written));
        assert_eq!(found, None, "{size} bytes");
    }
}

#[test]
fn a_difference_is_found_in_a_value_a_name_and_a_missing_field() {
    let bytes = realtime_packet(1220, &mut Noise::seeded(3));
    let core = by_the_core(&bytes).seen;
    let right = by_the_oracle(&bytes);
    let change = |change: fn(&mut Vec<Cell>)| {
        let mut cells = right.clone();
        change(&mut cells);
        difference(&core, &cells)
    };
    assert!(change(|cells| cells[40].value = cells[41].value.clone()).is_some());
    assert!(change(|cells| cells[1].name = "Timer".into()).is_some());
    assert!(change(|cells| drop(cells.pop())).is_some());
    assert!(change(|cells| cells.push(cells[0].clone())).is_some());
    assert_eq!(change(|_| ()), None);
}
