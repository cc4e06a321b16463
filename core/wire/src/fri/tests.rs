//! Tests with the golden datagrams of the specification (`core/docs/protocol/kuka-fri.md A16`), and with invalid ones.

use proptest::prelude::*;

use super::*;
use crate::checksum::crc32;
use crate::{WireErrorKind, fields};

/// Returns consecutive numbers from `first` on; from offset 216 on a measurement consists of numbers.
fn counted(first: f32) -> impl FnMut() -> f32 {
    let mut next = first - 1.0;
    move || {
        next += 1.0;
        next
    }
}

fn frame(next: &mut impl FnMut() -> f32) -> Frame {
    Frame::from_rows(core::array::from_fn(|_| next()))
}

/// Returns the common content of the golden measurements.
fn measurement() -> MeasurementRepr {
    let mut next = counted(1000.0);
    let mut joints = || core::array::from_fn(|_| next());
    let msr_jnt_pos = joints();
    let mut next = counted(1007.0);
    let msr_cart_pos = frame(&mut next);
    let cmd_jnt_pos = core::array::from_fn(|_| next());
    let cmd_jnt_pos_fri_offset = core::array::from_fn(|_| next());
    let cmd_cart_pos = frame(&mut next);
    let cmd_cart_pos_fri_offset = frame(&mut next);
    let msr_jnt_trq = core::array::from_fn(|_| next());
    let est_ext_jnt_trq = core::array::from_fn(|_| next());
    let est_ext_tcp_ft = CartesianVector::from_wire_order(core::array::from_fn(|_| next()));
    let [x, y, z, rz, ry, rx] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
    let mass_matrix = MassMatrix(core::array::from_fn(|_| core::array::from_fn(|_| next())));
    let gravity = core::array::from_fn(|_| next());
    MeasurementRepr {
        krl: KrlVariables {
            reals: core::array::from_fn(|i| 0.25 * i as f32),
            ints: core::array::from_fn(|i| i as i32 - 8),
            bools: 0x8001,
        },
        timestamp: 12.5,
        desired_msr_sample_time: 0.002,
        desired_cmd_sample_time: 0.002,
        safety_limits: 1.0,
        power: 0x7f,
        control: ControlScheme::JointImpedance.raw(),
        temperature: core::array::from_fn(|i| 30.0 + i as f32),
        stat_answer_rate: 1.0,
        stat_latency: 0.0004,
        stat_jitter: 0.00005,
        msr_jnt_pos,
        msr_cart_pos,
        cmd_jnt_pos,
        cmd_jnt_pos_fri_offset,
        cmd_cart_pos,
        cmd_cart_pos_fri_offset,
        msr_jnt_trq,
        est_ext_jnt_trq,
        est_ext_tcp_ft,
        jacobian: Jacobian { linear: [x, y, z], angular: [rx, ry, rz] },
        mass_matrix,
        gravity,
        ..MeasurementRepr::default()
    }
}

/// Returns the common content of the golden commands.
fn command() -> CommandRepr {
    CommandRepr {
        krl: KrlVariables {
            reals: core::array::from_fn(|i| 0.5 * i as f32),
            ints: core::array::from_fn(|i| i as i32),
            bools: 1,
        },
        cart_pos: Frame::from_rows(core::array::from_fn(|i| 2000.0 + i as f32)),
        jnt_stiffness: [1000.0; 7],
        jnt_damping: [0.7; 7],
        cart_stiffness: CartesianVector::uniform(2000.0, 200.0),
        cart_damping: CartesianVector::uniform(0.7, 0.7),
        ..CommandRepr::default()
    }
}

fn measured(repr: &MeasurementRepr) -> [u8; MEASUREMENT_LEN] {
    let mut bytes = [0xa5; MEASUREMENT_LEN];
    assert_eq!(repr.emit(&mut bytes), Ok(MEASUREMENT_LEN));
    bytes
}

fn commanded(repr: &CommandRepr) -> [u8; COMMAND_LEN] {
    let mut bytes = [0xa5; COMMAND_LEN];
    assert_eq!(repr.emit(&mut bytes), Ok(COMMAND_LEN));
    bytes
}

#[test]
fn measurements_are_the_golden_ones() {
    let headed = |send_seq_count, refl_seq_count, state, quality| MeasurementRepr {
        send_seq_count,
        refl_seq_count,
        state: FriState::raw(state),
        quality: Quality::raw(quality),
        ..measurement()
    };
    let poor = MeasurementRepr {
        stat_answer_rate: 0.93,
        stat_latency: 0.0019,
        stat_jitter: 0.0007,
        stat_miss_rate: 0.07,
        stat_miss_counter: 21,
        ..headed(300, 299, FriState::Command, Quality::Bad)
    };
    let golden = [
        (headed(1, 0, FriState::Monitor, Quality::Perfect), 0xc330_0757),
        (headed(65_535, 0x1234, FriState::Command, Quality::Perfect), 0x1049_5529),
        (headed(0, 0x1235, FriState::Command, Quality::Perfect), 0xcc09_3f6e),
        (poor, 0x5bc1_4536),
    ];
    for (repr, crc) in golden {
        let bytes = measured(&repr);
        assert_eq!(crc32(&bytes), crc, "sequence {}", repr.send_seq_count);
        let read = Measurement::new_checked(&bytes).unwrap();
        assert_eq!(read.to_repr(), repr);
        assert_eq!(read.setpoint(), [2045.0, 2047.0, 2049.0, 2051.0, 2053.0, 2055.0, 2057.0]);
    }
    assert_eq!(measured(&headed(1, 0, FriState::Monitor, Quality::Ok))[..8], [1, 0, 0, 0, 0x94, 3, 6, 0x20]);
}

#[test]
fn commands_are_the_golden_ones() {
    let mirrored = Measurement::new_checked(&measured(&measurement())).unwrap().setpoint();
    let golden = [
        (1, 0x35, mirrored, 0x9853_fcae),
        (2, 0x01, core::array::from_fn(|i| [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6][i]), 0x3a4a_9835),
        (3, 0x3500, [0.0; 7], 0xb8da_2821),
    ];
    for (sequence, cmd_flags, jnt_pos, crc) in golden {
        let repr = CommandRepr { send_seq_count: sequence, refl_seq_count: sequence, cmd_flags, jnt_pos, ..command() };
        let bytes = commanded(&repr);
        assert_eq!(crc32(&bytes), crc, "sequence {sequence}");
        assert_eq!(Command::new_checked(&bytes).unwrap().to_repr(), repr);
    }
    let first = commanded(&CommandRepr { send_seq_count: 1, refl_seq_count: 1, ..command() });
    assert_eq!(first[..8], [1, 0, 1, 0, 0x78, 1, 5, 0x10]);
}

#[test]
fn numbers_are_little_endian_singles() {
    let mut repr = command();
    repr.jnt_pos[0] = core::f32::consts::PI;
    assert_eq!(commanded(&repr)[144..148], [0xdb, 0x0f, 0x49, 0x40]);
}

/// Each number of the measurement is its own index among the 175, so that a swapped axis is detected.
#[test]
fn rotation_comes_about_z_then_y_then_x_and_frames_row_by_row() {
    let bytes = measured(&measurement());
    let read = Measurement::new_checked(&bytes).unwrap();
    let wrench = read.est_ext_tcp_ft();
    assert_eq!(wrench.linear, [1071.0, 1072.0, 1073.0]);
    assert_eq!(wrench.angular, [1076.0, 1075.0, 1074.0], "on the wire z, y, x");
    let jacobian = read.jacobian();
    assert_eq!(jacobian.linear.map(|row| row[0]), [1077.0, 1084.0, 1091.0]);
    assert_eq!(jacobian.angular.map(|row| row[0]), [1112.0, 1105.0, 1098.0]);
    assert_eq!(jacobian.linear[0][6], 1083.0);
    let frame = read.msr_cart_pos();
    assert_eq!(frame.position, [1010.0, 1014.0, 1018.0]);
    assert_eq!(frame.rotation[1], [1011.0, 1012.0, 1013.0]);
    assert_eq!(read.mass_matrix().0[1][0], 1126.0);
}

#[test]
fn what_is_refused_says_what_where_and_what_was_expected() {
    let whole = measured(&measurement());
    let told = |bytes: &[u8]| {
        let error = Measurement::new_checked(bytes).unwrap_err();
        (error.kind, error.at, error.need, error.have)
    };
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(told(&whole[..915]), (WireErrorKind::Truncated, 0, 916, 915));
    assert_eq!(told(&longer), (WireErrorKind::BadLength, 0, 916, 917));
    assert_eq!(told(&[]), (WireErrorKind::Truncated, 0, 916, 0));
    let mut changed = whole;
    changed[6] = 5;
    assert_eq!(told(&changed), (WireErrorKind::BadType, 6, 0x2006, 0x2005));
    let mut changed = whole;
    changed[4] = 0;
    assert_eq!(told(&changed), (WireErrorKind::BadLength, 4, 916, 768));
    // The header of a command in front of a measurement's bytes.
    let mut changed = whole;
    changed[4..8].copy_from_slice(&commanded(&command())[4..8]);
    assert_eq!(told(&changed), (WireErrorKind::BadType, 6, 0x2006, 0x1005));
    let error = Command::new_checked(&whole).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BadLength, 376, 916));
}

#[test]
fn no_command_leaves_with_a_number_that_is_not_finite() {
    type Spoil = fn(&mut CommandRepr);
    let spoiled: [(usize, Spoil); 6] = [
        (8, |c| c.krl.reals[0] = f32::NAN),
        (168, |c| c.jnt_pos[6] = f32::INFINITY),
        (184, |c| c.cart_pos.position[0] = f32::NAN),
        (260, |c| c.add_tcp_ft.angular[2] = f32::NEG_INFINITY),
        (300, |c| c.jnt_damping[0] = f32::NAN),
        (372, |c| c.cart_damping.angular[0] = f32::NAN),
    ];
    for (at, spoil) in spoiled {
        let mut repr = command();
        spoil(&mut repr);
        let mut out = [0xa5; COMMAND_LEN];
        let error = repr.emit(&mut out).unwrap_err();
        assert_eq!((error.kind, usize::from(error.at)), (WireErrorKind::BadValue, at));
        assert_eq!(out, [0; COMMAND_LEN], "nothing that could be sent by mistake");
    }
    // Integers are not checked for NaN or infinity, whatever their bits.
    let mut repr = command();
    repr.krl.ints = [-1; 16];
    assert_eq!(repr.emit(&mut [0; COMMAND_LEN]), Ok(COMMAND_LEN));
}

#[test]
fn measured_nan_and_unknown_numbers_pass_through() {
    let repr = MeasurementRepr { msr_jnt_pos: [f32::NAN; 7], state: 9, quality: 4, control: 7, ..measurement() };
    let bytes = measured(&repr);
    let read = Measurement::new_checked(&bytes).unwrap();
    assert!(read.msr_jnt_pos().iter().all(|q| q.is_nan()));
    assert_eq!(read.named_state(), FriState::Unknown(9));
    assert_eq!((read.named_quality(), read.named_control()), (Quality::Unknown(4), ControlScheme::Unknown(7)));
    assert!(!read.named_quality().permits_command());
}

#[test]
fn a_scheme_takes_the_fields_that_belong_to_it() {
    let full = |scheme| CommandFlags::usable(scheme).bits();
    assert_eq!(full(ControlScheme::Position), 0x0001);
    assert_eq!(full(ControlScheme::JointImpedance), 0x0035);
    assert_eq!(full(ControlScheme::CartesianImpedance), 0x3531);
    assert_eq!((full(ControlScheme::Other), full(ControlScheme::Unknown(9))), (0, 0));
    for (scheme, _) in ControlScheme::NAMED.iter().skip(1) {
        assert_eq!(scheme.strategy().and_then(ControlScheme::from_strategy), Some(*scheme));
    }
}

#[test]
fn variables_are_counted_from_one_in_krl() {
    let mut krl = KrlVariables::default();
    let last = KrlIndex::from_krl(16).unwrap();
    assert_eq!((last.index(), last.krl()), (15, 16));
    assert_eq!((KrlIndex::from_krl(0), KrlIndex::from_krl(17), KrlIndex::new(16)), (None, None, None));
    for at in KrlIndex::all() {
        krl.set_int(at, i32::from(at.krl()));
        krl.set_real(at, 0.5);
        krl.set_bool(at, true);
    }
    assert_eq!((krl.ints[15], krl.reals[15], krl.bools), (16, 0.5, 0xffff));
    krl.set_bool(last, false);
    assert_eq!((krl.bool(last), krl.bools, krl.int(last), krl.real(last)), (false, 0x7fff, 16, 0.5));
}

#[test]
fn the_visitor_shows_every_byte_once() {
    #[derive(Default)]
    struct Bytes(usize);
    impl fields::FieldVisitor for Bytes {
        fn field(&mut self, name: &str, value: fields::Value<'_>) {
            self.0 += match (name, value) {
                (_, fields::Value::F32s(values)) => 4 * values.len(),
                (_, fields::Value::I32s(values)) => 4 * values.len(),
                (_, fields::Value::F32(_)) | ("cmd_flags" | "stat_miss_counter", _) => 4,
                _ => 2,
            };
        }
        fn begin(&mut self, _: &str, _: fields::Group) {}
        fn end(&mut self) {}
    }
    let mut shown = Bytes::default();
    Measurement::new_checked(&measured(&measurement())).unwrap().visit(&mut shown);
    assert_eq!(shown.0, MEASUREMENT_LEN);
    let mut shown = Bytes::default();
    Command::new_checked(&commanded(&command())).unwrap().visit(&mut shown);
    assert_eq!(shown.0, COMMAND_LEN);
}

/// Generates bytes with the header of `datagram`.
fn headed(datagram: Datagram) -> impl Strategy<Value = Vec<u8>> {
    let (size, id) = match datagram {
        Datagram::Measurement => (MEASUREMENT_LEN, MEASUREMENT_ID),
        Datagram::Command => (COMMAND_LEN, COMMAND_ID),
    };
    prop::collection::vec(any::<u8>(), size).prop_map(move |mut bytes| {
        bytes[4..6].copy_from_slice(&(size as u16).to_le_bytes());
        bytes[6..8].copy_from_slice(&id.to_le_bytes());
        bytes
    })
}

proptest! {
    #[test]
    fn any_measurement_is_written_back_as_it_came(bytes in headed(Datagram::Measurement)) {
        let read = Measurement::new_checked(&bytes).unwrap();
        let mut again = [0xa5; MEASUREMENT_LEN];
        read.to_repr().emit(&mut again).unwrap();
        prop_assert_eq!(&bytes[..], &again[..]);
    }

    #[test]
    fn any_command_is_written_back_as_it_came_or_refused_at_a_number(bytes in headed(Datagram::Command)) {
        let read = Command::new_checked(&bytes).unwrap();
        let mut again = [0xa5; COMMAND_LEN];
        match read.to_repr().emit(&mut again) {
            Ok(_) => prop_assert_eq!(&bytes[..], &again[..]),
            Err(error) => {
                let at = usize::from(error.at);
                let number = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                prop_assert!(!number.is_finite());
            }
        }
    }
}
