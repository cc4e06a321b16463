//! Tests of the oracle's own data: complete tables, and the sizes of the specification.

use outrigger_oracle::{self as oracle, Value};

#[test]
fn every_fixed_table_fills_its_bytes_without_a_gap() {
    for (key, table) in oracle::tables() {
        let Some(bytes) = table.bytes else { continue };
        // A gap makes the codec panic; a wrong total leaves bytes or has too few.
        let cells = oracle::decode(table, None, &vec![0; bytes]).unwrap_or_else(|m| panic!("{key}: {m:?}"));
        let last = cells.last().expect("a row");
        assert_eq!(last.end, bytes, "{key}");
        if let Some((_, size)) = key.split_once('/') {
            assert_eq!(size.parse(), Ok(bytes), "{key}");
        }
    }
}

#[test]
fn a_real_time_packet_of_each_published_size_ends_on_a_field() {
    let tables = oracle::tables();
    for (key, size) in [
        ("realtime_cb2", 756),
        ("realtime_cb2", 764),
        ("realtime_cb2", 812),
        ("realtime_cb3", 1044),
        ("realtime_cb3", 1060),
        ("realtime_cb3", 1108),
        ("realtime_cb3", 1116),
        ("realtime_cb3", 1140),
        ("realtime_cb3", 1220),
    ] {
        let cells = oracle::decode_realtime(&tables[key], &vec![0; size]);
        assert_eq!(cells.last().map(|c| c.end), Some(size));
        let one_less = oracle::decode_realtime(&tables[key], &vec![0; size - 1]);
        assert!(one_less.len() < cells.len(), "a field that does not end within the packet does not exist");
    }
}

/// Decodes the vendor's worked example of typed values, with the type numbers of software 3.3 to 5.8: BOOL true, STRING
/// "aaaa".
#[test]
fn typed_values_follow_the_vendors_worked_example() {
    let tables = oracle::tables();
    let mut message = vec![0, 0, 0, 27, 25, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 7];
    message.extend([0x0c, 0x01, 0x0a, 0x03, 0x00, 0x04, 0x61, 0x61, 0x61, 0x61, 0x0a]);
    let cells = oracle::decode(&tables["25/1"], Some(&tables["values 3.3"]), &message).expect("whole");
    let values: Vec<(&str, &Value)> = cells.iter().skip(4).map(|c| (c.name.as_str(), &c.value)).collect();
    assert_eq!(
        values,
        [
            ("startIndex", &Value::Integer(7)),
            ("BOOL", &Value::Integer(1)),
            ("newline", &Value::Integer(10)),
            ("STRING", &Value::Text(b"aaaa".to_vec())),
            ("newline", &Value::Integer(10)),
        ]
    );
}

#[test]
fn a_conditional_row_exists_only_under_its_condition() {
    let tables = oracle::tables();
    let message = |requested: u8, rest: &[u8]| {
        let mut m = vec![0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 254, 9, 0, 0, 0, 1, 0, 0, 0, requested];
        m.extend(rest);
        oracle::decode(&tables["20/9"], None, &m).expect("whole")
    };
    let plain = message(2, b"how far?");
    assert_eq!(plain.last().map(|c| &c.value), Some(&Value::Text(b"how far?".to_vec())));
    let popup = message(8, b"\x01\x00\x01\x02hihow far?");
    let names: Vec<&str> = popup.iter().skip(7).map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["warning", "error", "blocking", "title", "text"]);
}
