use super::*;
use crate::fields::{Group, Value};

/// Returns a packet in which every double is its own offset, so that a misplaced field shows its true offset.
fn offsets(size: usize) -> Vec<u8> {
    let mut bytes = i32::try_from(size).unwrap().to_be_bytes().to_vec();
    while bytes.len() + 8 <= size {
        bytes.extend((bytes.len() as f64).to_be_bytes());
    }
    bytes.resize(size, 0);
    bytes
}

#[test]
fn cb2_and_cb3_differ_where_the_specification_says_so() {
    let (cb2, cb3) = (offsets(812), offsets(1220));
    let (cb2, cb3) = (Packet::new_checked(&cb2).unwrap(), Packet::new_checked(&cb3).unwrap());
    assert_eq!((cb2.layout(), cb3.layout()), (Layout::Cb2, Layout::Cb3));
    assert_eq!(cb2.measured_pose().unwrap()[0], 588.0);
    assert_eq!(cb3.measured_pose().unwrap()[0], 444.0);
    assert_eq!(cb2.measured_speed().unwrap()[0], 636.0);
    assert_eq!(cb3.measured_speed().unwrap()[0], 492.0);
    assert_eq!(cb2.tool_acceleration().unwrap(), [396.0, 404.0, 412.0]);
    assert_eq!(cb3.tool_acceleration().unwrap(), [868.0, 876.0, 884.0]);
    assert_eq!((cb2.i_control(), cb3.i_control().unwrap()[5]), (None, 436.0));
    assert_eq!((cb2.tool_vector_target(), cb3.tool_vector_target().unwrap()[0]), (None, 588.0));
    for packet in [cb2, cb3] {
        assert_eq!(packet.tcp_force()[0], 540.0);
        assert_eq!(packet.motor_temperatures()[5], 732.0);
        assert_eq!(packet.robot_mode(), Some(756.0));
    }
}

#[test]
fn a_field_exists_where_its_end_is_within_the_packet() {
    type Exists = fn(&Packet<'_>) -> bool;
    let ends: [(usize, Exists); 10] = [
        (764, |p| p.robot_mode().is_some()),
        (812, |p| p.joint_modes().is_some()),
        (1044, |p| p.v_actual().is_some()),
        (1052, |p| p.digital_outputs().is_some()),
        (1060, |p| p.program_state().is_some()),
        (1084, |p| p.elbow_position().is_some()),
        (1108, |p| p.elbow_velocity().is_some()),
        (1116, |p| p.safety_status().is_some()),
        (1148, |p| p.payload_mass().is_some()),
        (1220, |p| p.payload_inertia().is_some()),
    ];
    for size in (756..=812).chain(1044..=1300) {
        let bytes = offsets(size);
        let packet = Packet::new_checked(&bytes).unwrap();
        for (end, exists) in &ends {
            assert_eq!(exists(&packet), size >= *end, "field that ends at {end} in {size} bytes");
        }
    }
}

#[test]
fn a_length_that_no_layout_has_is_refused() {
    for size in [0, 4, 755, 813, 1000, 1043, MAX_SIZE + 1] {
        let bytes = offsets(size.max(4));
        let error = Packet::new_checked(&bytes).unwrap_err();
        assert_eq!((error.kind, error.at), (WireErrorKind::BadLength, 0), "{size}");
        assert!(Repr::default().emit(size, &mut [0; 4096]).is_err());
    }
    let negative = (-1_i32).to_be_bytes();
    assert_eq!(Packet::new_checked(&negative).unwrap_err().kind, WireErrorKind::BadLength);
}

#[test]
fn bytes_missing_or_left_over_are_refused() {
    let bytes = offsets(1116);
    for length in 0..1116 {
        assert_eq!(Packet::new_checked(&bytes[..length]).unwrap_err().kind, WireErrorKind::Truncated);
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Packet::new_checked(&longer).unwrap_err().kind, WireErrorKind::BadLength);
    assert_eq!(Packet::new_checked(&bytes[..1000]).unwrap_err().to_string(), "byte 0: 1116 bytes needed, 1000 left");
}

#[test]
fn a_mask_is_understood_as_a_double_and_as_an_integer() {
    let as_read = |raw: [u8; 8]| {
        let mut bytes = offsets(1220);
        bytes[684..692].copy_from_slice(&raw);
        Packet::new_checked(&bytes).unwrap().digital_input_bits()
    };
    assert_eq!(as_read(5.0_f64.to_be_bytes()), 5);
    assert_eq!(as_read(131_072.0_f64.to_be_bytes()), 1 << 17);
    assert_eq!(as_read(131_072_u64.to_be_bytes()), 1 << 17);
    assert_eq!(as_read([0; 8]), 0);
    assert_eq!(as_read(4.999_999_f64.to_be_bytes()), 5);
    assert_eq!(as_read((-3.0_f64).to_be_bytes()), 0);
    assert_eq!(as_read(f64::NAN.to_be_bytes()), 0);
}

#[test]
fn emit_writes_every_byte_and_reads_none() {
    for size in SIZES.into_iter().chain([757, 800, 1050, 1221, 1400]) {
        let mut ours = vec![0xa5; size + 8];
        let mut zeroed = vec![0; size];
        let repr = Repr { time: 12.5, q_actual: [1.0; 6], payload_mass: 2.0, ..Repr::default() };
        assert_eq!(repr.emit(size, &mut ours), Ok(size));
        repr.emit(size, &mut zeroed).unwrap();
        assert_eq!(ours[..size], zeroed[..]);
        assert_eq!(ours[size..], [0xa5; 8]);
    }
    let error = Repr::default().emit(812, &mut [0; 811]).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BufferTooSmall, 812, 811));
}

#[test]
fn what_was_parsed_is_emitted_to_the_same_bytes() {
    for size in SIZES {
        let bytes = offsets(size);
        let repr = Packet::new_checked(&bytes).unwrap().to_repr();
        let mut again = vec![0xa5; size];
        repr.emit(size, &mut again).unwrap();
        assert_eq!(again, bytes);
    }
}

#[test]
fn enumerations_are_rounded_and_nan_is_no_mode() {
    let with = |size, mode| {
        let mut bytes = vec![0; size];
        Repr { robot_mode: mode, safety_mode: 2.9, ..Repr::default() }.emit(size, &mut bytes).unwrap();
        let packet = Packet::new_checked(&bytes).unwrap();
        (packet.named_robot_mode().unwrap(), packet.named_safety_mode())
    };
    assert_eq!(with(812, 0.0), (RobotMode::Running, None));
    assert_eq!(with(1044, 0.0), (RobotMode::Disconnected, Some(SafetyMode::ProtectiveStop)));
    assert_eq!(with(1044, 6.9).0, RobotMode::Running);
    assert_eq!(with(1044, -1.0).0, RobotMode::NoController);
    assert_eq!(with(812, f64::NAN).0, RobotMode::Unknown(i32::MIN));
    assert_eq!(with(812, f64::INFINITY).0, RobotMode::Unknown(i32::MAX));
    assert_eq!(with(1044, 300.0).0, RobotMode::Unknown(300));
}

#[test]
fn the_control_path_gets_the_state_of_either_layout() {
    let repr = Repr {
        time: 1504.032,
        q_actual: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        qd_target: [1.0; 6],
        tool_vector: [1.0; 6],
        tool_vector_actual: [3.0; 6],
        tool_vector_target: [9.0; 6],
        robot_mode: 7.0,
        safety_mode: 1.0,
        speed_scaling: 0.5,
        digital_input_bits: 9,
        ..Repr::default()
    };
    let mut bytes = [0; 1220];
    repr.emit(1220, &mut bytes).unwrap();
    let state = Packet::new_checked(&bytes).unwrap().to_state().unwrap();
    assert_eq!(state.controller_time.as_micros(), 1_504_032_000);
    assert_eq!(state.positions.0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    assert_eq!(state.tcp_pose.unwrap().position, [3.0; 3]);
    assert_eq!((state.robot_mode, state.safety), (Some(RobotMode::Running), Safety::Mode(SafetyMode::Normal)));
    assert_eq!((state.speed_scaling, state.digital_inputs), (Some(0.5), 9));

    repr.emit(756, &mut bytes).unwrap();
    let state = Packet::new_checked(&bytes[..756]).unwrap().to_state().unwrap();
    assert_eq!(state.tcp_pose.unwrap().position, [1.0; 3]);
    assert_eq!((state.robot_mode, state.safety, state.speed_scaling), (None, Safety::Unknown, None));

    Repr { time: f64::NAN, ..repr }.emit(812, &mut bytes).unwrap();
    let error = Packet::new_checked(&bytes[..812]).unwrap().to_state().unwrap_err();
    assert_eq!((error.kind, error.at), (WireErrorKind::BadValue, 4));
}

#[test]
fn the_visitor_sees_each_existing_field_once_under_its_name_in_the_specification() {
    #[derive(Default)]
    struct Names(Vec<(String, usize)>);
    impl FieldVisitor for Names {
        fn field(&mut self, name: &str, value: Value<'_>) {
            let doubles = match value {
                Value::F64s(values) => values.len(),
                _ => 1,
            };
            self.0.push((name.to_owned(), doubles));
        }
        fn begin(&mut self, _: &str, _: Group) {}
        fn end(&mut self) {}
    }
    for (size, doubles) in SIZES.into_iter().zip([94, 95, 101, 130, 132, 138, 139, 142, 152]) {
        let bytes = offsets(size);
        let mut names = Names::default();
        Packet::new_checked(&bytes).unwrap().visit(&mut names);
        assert_eq!(names.0.iter().map(|(_, doubles)| doubles).sum::<usize>(), doubles + 1);
        let has = |name: &str| names.0.iter().filter(|(n, _)| n == name).count() == 1;
        assert!(has("message_size") && has("q_actual"));
        assert!(has("tool_accelerometer_values"));
        assert_eq!(has("tool_vector"), size <= 812);
        assert_eq!(has("tool_vector_actual"), size > 812);
    }
}

#[test]
fn every_software_has_a_known_size() {
    for (major, minor, size) in [
        (1, 5, 756),
        (1, 6, 756),
        (1, 7, 764),
        (1, 8, 812),
        (3, 0, 1044),
        (3, 1, 1044),
        (3, 2, 1060),
        (3, 4, 1060),
        (3, 5, 1108),
        (3, 9, 1108),
        (5, 0, 1108),
        (5, 3, 1108),
        (3, 10, 1116),
        (3, 13, 1116),
        (5, 4, 1116),
        (5, 8, 1116),
        (3, 14, 1140),
        (3, 15, 1140),
        (5, 9, 1140),
        (5, 10, 1220),
        (5, 25, 1220),
        (10, 7, 1220),
    ] {
        assert_eq!(Repr::size_for(SoftwareVersion::new(major, minor)), size, "{major}.{minor}");
    }
}

#[test]
fn integers_read_as_a_double_are_no_time() {
    let head = |size: i32, time: f64| {
        let mut bytes = [0; HEAD_LEN];
        bytes[..4].copy_from_slice(&size.to_be_bytes());
        bytes[4..].copy_from_slice(&time.to_be_bytes());
        plausible_head(&bytes)
    };
    assert_eq!(head(1220, 0.002), Some(Head { size: 1220, time: ControllerTime::from_micros(2_000) }));
    assert!(head(756, 0.0).is_some());
    for time in [-1.0, f64::NAN, f64::INFINITY, 1e10, f64::from_bits(0x1000_0000_2f00_0000)] {
        assert_eq!(head(1220, time), None);
    }
    for size in [560, 9, 0, -1, 900, 2049] {
        assert_eq!(head(size, 1.0), None);
    }
}
