//! Tests of sub-packages and messages of every generation, with bytes written by hand and by `emit`.

use super::*;
use crate::fields::Group;
use crate::robot::{ControllerTime, MasterSafetyState, MessageSource, RobotMode, SafetyMode};

#[cfg(feature = "messages")]
const V1_7: SoftwareVersion = SoftwareVersion::new(1, 7);
const V3_1: SoftwareVersion = SoftwareVersion::new(3, 1);
#[cfg(feature = "messages")]
const V3_10: SoftwareVersion = SoftwareVersion::new(3, 10);
#[cfg(feature = "messages")]
const V3_14: SoftwareVersion = SoftwareVersion::new(3, 14);
#[cfg(feature = "messages")]
const V3_15: SoftwareVersion = SoftwareVersion::new(3, 15);
const V5_12: SoftwareVersion = SoftwareVersion::new(5, 12);

/// Calls `emit` with a buffer that is not zero, so that an unwritten byte is detected.
fn emitted<P: SubPackageRepr>(repr: &P, size: usize) -> Vec<u8> {
    let mut bytes = vec![0xa5; size];
    assert_eq!(repr.emit(size, &mut bytes), Ok(size));
    bytes
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect()
}

/// Collects field names as paths, with the debug form of their values.
#[derive(Default)]
struct Listing {
    path: Vec<String>,
    lines: Vec<String>,
}

impl FieldVisitor for Listing {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.lines.push(format!("{}{name} {value:?}", self.path.concat()));
    }
    fn begin(&mut self, name: &str, _: Group) {
        self.path.push(format!("{name}."));
    }
    fn end(&mut self) {
        self.path.pop().expect("an end without a beginning");
    }
}

fn listing(bytes: &[u8], software: Option<SoftwareVersion>) -> Vec<String> {
    let mut listing = Listing::default();
    Message::new_checked(bytes).unwrap().visit(software, &mut listing).unwrap();
    assert!(listing.path.is_empty());
    listing.lines
}

#[test]
fn robot_mode_is_zero_on_a_running_cb2_and_seven_later() {
    let repr = RobotModeDataRepr {
        timestamp: 57_918,
        is_security_stopped: true,
        is_program_running: true,
        robot_mode: 0,
        speed_fraction: 1.0,
        ..Default::default()
    };
    let bytes = emitted(&repr, 29);
    assert_eq!(bytes, hex("0000001d 00 000000000000e23e 00 00 00 00 01 01 00 00 3ff0000000000000"));
    let view = RobotModeData::new_checked(&bytes).unwrap();
    assert_eq!(view.named_robot_mode(), RobotMode::Running);
    assert_eq!(view.controller_time(), ControllerTime::from_micros(57_918_000));
    assert_eq!((view.speed_fraction(), view.control_mode(), view.speed_scaling()), (Some(1.0), None, None));
    assert!(view.protective_stop() && view.is_program_running());

    let repr = RobotModeDataRepr { timestamp: 57_918, robot_mode: 7, speed_scaling: 0.5, ..Default::default() };
    for size in [38, 46, 47] {
        let bytes = emitted(&repr, size);
        let view = RobotModeData::new_checked(&bytes).unwrap();
        assert_eq!(view.named_robot_mode(), RobotMode::Running);
        assert_eq!(view.controller_time(), ControllerTime::from_micros(57_918));
        assert_eq!((view.speed_fraction(), view.speed_scaling()), (None, Some(0.5)));
        assert_eq!(view.target_speed_fraction_limit().is_some(), size >= 46);
        assert_eq!(view.reserved().is_some(), size >= 47);
        assert!(!view.protective_stop());
    }
    let gone = emitted(&RobotModeDataRepr { robot_mode: 255, ..Default::default() }, 47);
    assert_eq!(RobotModeData::new_checked(&gone).unwrap().named_robot_mode(), RobotMode::NoController);
}

#[test]
fn euromap_shifts_what_is_behind_it() {
    let repr = MasterboardDataRepr {
        digital_input_bits: 0x0002_0081,
        safety_mode: 3,
        euromap67_interface_installed: 1,
        euromap_input_bits: 0x1234,
        euromap_voltage_24v: 24.5,
        reserved_68: 0xdead_beef,
        operational_mode_selector_input: 7,
        three_position_enabling_device_input: 8,
        reserved_74: 9,
        ..Default::default()
    };
    for (size, with) in [(72, false), (74, false), (75, false), (88, true), (90, true), (91, true)] {
        let bytes = emitted(&repr, size);
        let at = if with { 84 } else { 68 };
        assert_eq!(bytes[at..at + 4], 0xdead_beef_u32.to_be_bytes());
        let Ok(SubPackage::MasterboardData(view)) = SubPackage::new_checked(&bytes) else { panic!("{size}") };
        assert_eq!(view.digital_input_bits(), 0x0002_0081);
        assert_eq!(view.named_safety_mode(), SafetyMode::ProtectiveStop);
        assert_eq!(view.euromap_input_bits(), with.then_some(0x1234));
        assert_eq!(view.euromap_voltage_24v(), with.then_some(24.5));
        assert_eq!(view.reserved_68(), Some(0xdead_beef));
        assert_eq!(view.operational_mode_selector_input(), (size >= at + 6).then_some(7));
        assert_eq!(view.reserved_74(), (size >= at + 7).then_some(9));
        assert_eq!(view.trailing(), []);
    }
}

#[test]
fn cb2_masterboards_are_told_from_later_ones_by_size() {
    let repr = MasterboardDataCb2Repr {
        digital_input_bits: -2,
        master_safety_state: 8,
        euromap67_interface_installed: 1,
        output_bits: 77,
        current: -5,
        ..Default::default()
    };
    for (size, states, euromap) in [(61, false, false), (64, true, false), (76, true, true)] {
        let bytes = emitted(&repr, size);
        let Ok(SubPackage::MasterboardDataCb2(view)) = SubPackage::new_checked(&bytes) else { panic!("{size}") };
        assert_eq!(view.digital_input_bits(), -2);
        assert_eq!(view.named_safety_state(), states.then_some(MasterSafetyState::Ok));
        assert_eq!((view.output_bits(), view.current()), (euromap.then_some(77), euromap.then_some(-5)));
    }
    // A size of 76 without the mark of Euromap 67 is software newer than the tables, not CB2.
    let newer = emitted(&MasterboardDataRepr { safety_mode: 1, ..Default::default() }, 76);
    assert!(matches!(SubPackage::new_checked(&newer), Ok(SubPackage::MasterboardData(_))));
}

#[test]
fn joints_are_41_bytes_each() {
    let mut repr = JointDataRepr::default();
    for (joint, q) in repr.joints.iter_mut().zip([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) {
        *joint = Joint { q_actual: q, q_target: q + 0.5, t_micro: 30.0, joint_mode: 253, ..Default::default() };
    }
    let bytes = emitted(&repr, 251);
    for joint in 0..6 {
        let record = &bytes[5 + 41 * joint..][..41];
        assert_eq!(record[..8], (joint as f64).to_be_bytes());
        assert_eq!((record[36..40].to_vec(), record[40]), (30.0_f32.to_be_bytes().to_vec(), 253));
    }
    assert_eq!(JointData::new_checked(&bytes).unwrap().to_repr(), repr);
    assert_eq!(repr.joints[0].named_mode(), crate::robot::JointMode::Running);
}

#[test]
fn each_size_of_a_sub_package_has_the_fields_of_its_generation() {
    let cartesian = CartesianInfoRepr::new([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let (short, long) = (emitted(&cartesian, 53), emitted(&cartesian, 101));
    assert_eq!(CartesianInfo::new_checked(&short).unwrap().pose(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(CartesianInfo::new_checked(&short).unwrap().tcp_offset(), None);
    assert_eq!(CartesianInfo::new_checked(&long).unwrap().tcp_offset(), Some([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));

    let kinematics = KinematicsInfoRepr {
        checksum: [u32::MAX; 6],
        dh_theta: [1.0; 6],
        dh_alpha: [4.0; 6],
        calibration_status: 2,
        legacy: [1000.0; 3],
        ..Default::default()
    };
    let [nine, legacy, full] = [9, 29, 225].map(|size| emitted(&kinematics, size));
    let [nine, legacy, full] = [&nine, &legacy, &full].map(|bytes| KinematicsInfo::new_checked(bytes).unwrap());
    assert_eq!((nine.calibration_status(), nine.dh_a(), nine.legacy()), (Some(2), None, None));
    assert_eq!((legacy.calibration_status(), legacy.dh_a(), legacy.legacy()), (None, None, Some([1000.0; 3])));
    assert_eq!((full.calibration_status(), full.dh_theta(), full.legacy()), (Some(2), Some([1.0; 6]), None));

    let configuration = ConfigurationDataRepr {
        joint_limits: [JointLimits { joint_min_limit: -6.3, joint_max_limit: 6.3 }; 6],
        dh_a: [2.0; 6],
        robot_type: 1,
        motor_type: [1, 2, 3, 4, 5, 6],
        reserved_445: -1,
        reserved_447: -2,
        ..Default::default()
    };
    for (size, motors, first, second) in [
        (445, None, None, None),
        (447, None, Some(-1), None),
        (449, None, Some(-1), Some(-2)),
        (469, Some([1, 2, 3, 4, 5, 6]), None, None),
    ] {
        let bytes = emitted(&configuration, size);
        assert_eq!(bytes[5..21], [(-6.3_f64).to_be_bytes(), 6.3_f64.to_be_bytes()].concat());
        assert_eq!(bytes[437..441], [0, 0, 0, 1]);
        let view = ConfigurationData::new_checked(&bytes).unwrap();
        assert_eq!((view.motor_type(), view.reserved_445(), view.reserved_447()), (motors, first, second));
    }

    let additional = AdditionalInfoRepr {
        ctrl_bits: 0x0001_4007,
        teach_button: 1,
        teach_button_pressed: 2,
        tp_button_state: 3,
        freedrive_button_enabled: 4,
        io_enabled_freedrive: 5,
        reserved: 6,
        ..Default::default()
    };
    assert_eq!(emitted(&additional, 10), hex("0000000a 08 00014007 01"));
    assert_eq!(emitted(&additional, 7), hex("00000007 08 02 00"));
    assert_eq!(emitted(&additional, 8), hex("00000008 08 02 00 05"));
    assert_eq!(emitted(&additional, 9), hex("00000009 08 03 04 05 06"));
    assert_eq!(emitted(&additional, 11), hex("0000000b 08 03 04 05 06 00 00"));

    let safety = SafetyDataRepr { safety_checksum: 5, flags: [1, 2], elbow_position: [1.0; 3], unknown: 0.13 };
    let (short, long) = (emitted(&safety, 41), emitted(&safety, 43));
    assert_eq!(short[9..], long[11..]);
    assert_eq!(SafetyData::new_checked(&short).unwrap().flags(), None);
    assert_eq!(SafetyData::new_checked(&long).unwrap().to_repr(), safety);
}

#[test]
fn fields_appended_by_newer_software_are_ignored() {
    let tool = ToolDataRepr { tool_temperature: 40.0, tool_mode: 253, ..Default::default() };
    let mut out = [0xa5; 200];
    let mut state = RobotStateWriter::new(&mut out).unwrap();
    state.add_extended(&tool, 37, &[1, 2, 3]).unwrap();
    state.add_extended(&AdditionalInfoRepr::default(), 9, &[7]).unwrap();
    let size = state.finish().unwrap();
    let message = Message::new_checked(&out[..size]).unwrap();
    let MessageKind::RobotState(packages) = message.kind() else { panic!() };
    let packages: Vec<_> = packages.map(Result::unwrap).collect();
    let [SubPackage::ToolData(tool), SubPackage::AdditionalInfo(info)] = packages[..] else { panic!() };
    assert_eq!((tool.tool_mode(), tool.size(), tool.trailing()), (253, 40, &[1, 2, 3][..]));
    assert_eq!(info.size(), 10);
}

/// Returns the size of a message with these sub-packages.
fn state_size(software: SoftwareVersion, types: &[u8]) -> usize {
    5 + types.iter().filter_map(|t| size_for(*t, software)).sum::<usize>()
}

#[test]
fn message_sizes_are_those_that_were_observed() {
    let periodic: Vec<u8> = vec![0, 1, 4, 9, 3, 2, 7, 8, 10];
    let first: Vec<u8> = vec![0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10, 11, 12];
    for (major, minor, types, size) in [
        (1, 5, vec![0, 1, 4, 5, 3, 2], 465),
        (1, 7, vec![0, 1, 4, 3, 2, 7, 8], 510),
        (1, 8, vec![0, 1, 4, 3, 2, 7, 9, 8], 560),
        (3, 0, periodic.clone(), 577),
        (3, 1, periodic.clone(), 625),
        (3, 1, first.clone(), 1295),
        (3, 2, periodic.clone(), 636),
        (3, 5, periodic.clone(), 680),
        (3, 5, first.clone(), 1350),
        (3, 15, periodic, 682),
        (5, 0, first.clone(), 1376),
        (5, 8, first, 1386),
    ] {
        assert_eq!(state_size(SoftwareVersion::new(major, minor), &types), size, "{major}.{minor}");
    }
}

#[test]
fn unknown_types_are_skipped_by_length_and_can_be_counted() {
    let mut out = [0xa5; 512];
    let mut state = RobotStateWriter::new(&mut out).unwrap();
    state.add_raw(200, &[1, 2, 3]).unwrap();
    state.add(&RobotModeDataRepr { robot_mode: 7, ..Default::default() }, 47).unwrap();
    state.add_raw(14, &[]).unwrap();
    let size = state.finish().unwrap();
    let message = Message::new_checked(&out[..size]).unwrap();
    assert_eq!((message.size(), message.message_type()), (5 + 8 + 47 + 5, 16));
    let MessageKind::RobotState(packages) = message.kind() else { panic!() };
    let types: Vec<_> = packages.map(|package| package.unwrap().package_type()).collect();
    assert_eq!(types, [200, 0, 14]);
    let lines = listing(&out[..size], None);
    assert!(lines.contains(&"robot_mode_data.robot_mode Unsigned(7)".to_owned()));
    assert!(lines.contains(&"unknown_sub_packages..payload Bytes([1, 2, 3])".to_owned()));
    assert!(lines.contains(&"unknown_sub_packages..package_type Unsigned(14)".to_owned()));
}

#[test]
fn a_bad_sub_package_is_named_by_its_place_and_the_next_one_follows() {
    let mut out = [0xa5; 512];
    let mut state = RobotStateWriter::new(&mut out).unwrap();
    state.add(&AdditionalInfoRepr::default(), 9).unwrap();
    state.add_raw(2, &[0; 10]).unwrap();
    state.add(&SingularityInfoRepr::default(), 7).unwrap();
    let size = state.finish().unwrap();
    let MessageKind::RobotState(mut packages) = Message::new_checked(&out[..size]).unwrap().kind() else { panic!() };
    assert!(packages.next().unwrap().is_ok());
    let error = packages.next().unwrap().unwrap_err();
    assert_eq!(error, WireError { kind: WireErrorKind::Truncated, at: 14 + 5, need: 32, have: 10 });
    assert!(matches!(packages.next(), Some(Ok(SubPackage::SingularityInfo(_)))));
    assert!(packages.next().is_none());
}

#[test]
fn a_size_that_cannot_be_followed_ends_the_iteration() {
    for (bad, kind) in
        [(4_i32, WireErrorKind::BadLength), (-1, WireErrorKind::BadLength), (10, WireErrorKind::Truncated)]
    {
        let body = [&bad.to_be_bytes()[..], &[1, 0, 0]].concat();
        let mut out = [0; 64];
        let size = emit_raw(ROBOT_STATE, &body, &mut out).unwrap();
        let MessageKind::RobotState(packages) = Message::new_checked(&out[..size]).unwrap().kind() else { panic!() };
        let errors: Vec<_> = packages.map(|package| package.unwrap_err()).collect();
        assert_eq!(errors.iter().map(|e| (e.kind, e.at)).collect::<Vec<_>>(), [(kind, 5)]);
    }
}

#[test]
fn a_size_too_small_for_the_layout_is_refused_and_leaves_the_message_as_it_was() {
    let mut out = [0xa5; 60];
    let mut state = RobotStateWriter::new(&mut out).unwrap();
    assert_eq!(state.add(&ToolDataRepr::default(), 36).unwrap_err().kind, WireErrorKind::BadLength);
    state.add(&ToolDataRepr::default(), 37).unwrap();
    let error = state.add(&ToolDataRepr::default(), 37).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BufferTooSmall, 79, 60));
    assert!(state.add_extended(&SingularityInfoRepr::default(), 7, &[0; 20]).is_err());
    assert_eq!(state.finish(), Ok(42));
    assert!(RobotStateWriter::new(&mut [0; 4]).is_err());
}

#[test]
fn envelopes_that_do_not_fit_their_bytes_are_refused() {
    let refused = |text: &str| Message::new_checked(&hex(text)).unwrap_err().kind;
    assert_eq!(refused(""), WireErrorKind::Truncated);
    assert_eq!(refused("00000005"), WireErrorKind::Truncated);
    assert_eq!(refused("00000004 10"), WireErrorKind::BadLength);
    assert_eq!(refused("ffffffff 10"), WireErrorKind::BadLength);
    assert_eq!(refused("00000006 10"), WireErrorKind::Truncated);
    assert_eq!(refused("00000005 10 00"), WireErrorKind::BadLength);
    assert_eq!(refused("0000000e 14 ffffffffffffffff fe"), WireErrorKind::Truncated);
    assert_eq!(refused("0000000d 19 ffffffffffffffff"), WireErrorKind::Truncated);
    let empty = hex("00000005 10");
    let MessageKind::RobotState(packages) = Message::new_checked(&empty).unwrap().kind() else { panic!() };
    assert_eq!(packages.count(), 0);
}

#[test]
fn internal_messages_are_passed_by() {
    for message_type in [DISCONNECT, 5, 22, 23, 99] {
        let mut out = [0; 64];
        let size = emit_raw(message_type, &[1, 2], &mut out).unwrap();
        let message = Message::new_checked(&out[..size]).unwrap();
        let MessageKind::Internal { message_type: found, body } = message.kind() else { panic!() };
        assert_eq!((found, body), (message_type, &[1, 2][..]));
        assert_eq!(listing(&out[..size], None)[2], "body Bytes([1, 2])");
    }
    let body: Vec<_> = (0..22).flat_map(|n| f64::from(n).to_be_bytes()).collect();
    let mut out = [0; 181];
    assert_eq!(emit_raw(SAFETY_COMPLIANCE_TOLERANCES, &body, &mut out), Ok(181));
    assert!(listing(&out, None)[2].starts_with("internal F64s([0.0, 1.0, 2.0"));
}

/// Emits `payload`, checks that parsing for `software` returns it again, and returns the bytes.
fn there_and_back(payload: &RobotMessagePayload<'_>, software: Option<SoftwareVersion>) -> Vec<u8> {
    let mut out = [0xa5; 256];
    let size = RobotMessage::emit(u64::MAX, MessageSource::RobotInterface, payload, &mut out).unwrap();
    let MessageKind::RobotMessage(message) = Message::new_checked(&out[..size]).unwrap().kind() else { panic!() };
    assert_eq!((message.timestamp, message.named_source()), (u64::MAX, MessageSource::RobotInterface));
    assert_eq!(message.payload(software).unwrap(), *payload);
    for short in 15..size {
        let mut cut = out[..short].to_vec();
        cut[..4].copy_from_slice(&u32::try_from(short).unwrap().to_be_bytes());
        let MessageKind::RobotMessage(message) = Message::new_checked(&cut).unwrap().kind() else { panic!() };
        // A text may be cut and a number may not; in both cases nothing worse than an error occurs.
        if let Err(error) = message.payload(software) {
            assert_eq!(error.kind, WireErrorKind::Truncated);
        }
    }
    out[..size].to_vec()
}

#[test]
fn the_version_message_has_55_bytes_with_a_build_number_and_51_without() {
    let version = Version {
        project_name: Text(b"URControl"),
        major: 5,
        minor: 12,
        bugfix: 2,
        build_number: Some(0),
        build_date: Text(b"28-06-2022, 11:30:43"),
    };
    let bytes = there_and_back(&RobotMessagePayload::Version(version), None);
    assert_eq!(bytes.len(), 55);
    assert_eq!(bytes[..31], hex("00000037 14 ffffffffffffffff fe 03 09 5552436f6e74726f6c 05 0c 00000002"));
    assert_eq!(version.software(), SoftwareVersion { major: 5, minor: 12, bugfix: 2 });
    assert!(listing(&bytes, None).contains(&"bugfix_version Signed(2)".to_owned()));

    let old = Version { major: 3, minor: 1, bugfix: 17_779, build_number: None, ..version };
    let bytes = there_and_back(&RobotMessagePayload::Version(old), Some(V3_1));
    assert_eq!(bytes.len(), 51);
    assert_eq!(old.software(), SoftwareVersion::new(3, 1));
    assert!(listing(&bytes, None).contains(&"svn_revision Signed(17779)".to_owned()));
}

#[cfg(feature = "messages")]
#[test]
fn every_kind_of_robot_message_is_written_and_read_in_each_form() {
    use RobotMessagePayload as P;
    let text = Text(b"something");
    let (title, both) = (Text(b"PROGRAM_XXX_STARTED"), [Some(V5_12), None]);
    for software in both {
        there_and_back(&P::Text(text), software);
        there_and_back(&P::ProgramLabel { id: -7, text }, software);
        there_and_back(&P::Key(Titled { code: 0, argument: 0, title, text }), software);
        there_and_back(&P::Undocumented { first: 0x1fe, second: 0x103, third: 1 }, software);
        there_and_back(&P::RuntimeException { position: Some((3, 1)), text }, software);
        there_and_back(&P::Raw { robot_message_type: 99, bytes: text }, software);
    }
    there_and_back(&P::Variable(Titled { code: 1, argument: 2, title, text }), Some(V1_7));
    there_and_back(&P::RuntimeException { position: None, text }, Some(V3_1));
    there_and_back(&P::RuntimeException { position: None, text }, Some(V3_10));
    there_and_back(&P::Popup(Popup { request: None, warning: true, error: false, title, text }), Some(V1_7));
    let request = Some(PopupRequest { request_id: 4, requested_type: 8, blocking: true });
    there_and_back(&P::Popup(Popup { request, warning: false, error: true, title, text }), Some(V5_12));
    let request = RequestValue { request_id: 4, requested_type: None, popup: None, text };
    there_and_back(&P::RequestValue(request), Some(V1_7));
    there_and_back(&P::RequestValue(RequestValue { requested_type: Some(3), ..request }), Some(V5_12));
    let popup = Some(RequestPopup { warning: true, error: false, blocking: true, title });
    there_and_back(&P::RequestValue(RequestValue { requested_type: Some(8), popup, ..request }), Some(V3_10));

    let safety = |detail| P::SafetyMode(SafetyModeMessage { code: 171, argument: 9, detail });
    there_and_back(&safety(SafetyDetail::Security(text)), Some(V1_7));
    there_and_back(&safety(SafetyDetail::Mode { safety_mode_type: 3, text }), Some(V3_1));
    there_and_back(&safety(SafetyDetail::Raw(text)), Some(V3_10));
    there_and_back(&safety(SafetyDetail::Raw(text)), None);
    let report = SafetyDetail::Report { safety_mode_type: 3, report_data_type: 2, report_data: 4 };
    for software in [V3_14, V3_15, V5_12] {
        assert_eq!(there_and_back(&safety(report), Some(software)).len(), 32);
    }
    assert_eq!(report.safety_mode(), Some(SafetyMode::ProtectiveStop));

    let error = |detail| P::ErrorCode(ErrorCode { code: 210, argument: 0, detail });
    there_and_back(&error(ErrorDetail::Text(text)), Some(V1_7));
    there_and_back(&error(ErrorDetail::Warning { warning_level: 2, text }), Some(V3_1));
    there_and_back(&error(ErrorDetail::Raw(text)), None);
    for software in [V3_14, V3_15, V5_12] {
        there_and_back(&error(ErrorDetail::Report { report_level: 2, data_type: 4, data: 1, text }), Some(software));
    }
}

#[cfg(feature = "messages")]
#[test]
fn labels_of_threads_are_iterated_and_a_negative_length_ends_them() {
    let labels = [
        ThreadLabel { label_id: 4, label_name: Text(b"MoveJ"), thread_name: Text(b"main") },
        ThreadLabel { label_id: 9, label_name: Text(b""), thread_name: Text(b"watch") },
    ];
    let mut memory = [0xa5; 64];
    let written = ThreadLabels::write(&labels, &mut memory).unwrap();
    assert_eq!(written.map(Result::unwrap).collect::<Vec<_>>(), labels);
    let bytes = there_and_back(&RobotMessagePayload::ProgramLabelThreads(written), None);
    assert!(listing(&bytes, None).contains(&format!("labels..thread_name {:?}", Value::Text(b"watch"))));

    let mut bad = bytes;
    bad[19..23].copy_from_slice(&(-1_i32).to_be_bytes());
    let MessageKind::RobotMessage(message) = Message::new_checked(&bad).unwrap().kind() else { panic!() };
    let Ok(RobotMessagePayload::ProgramLabelThreads(mut labels)) = message.payload(None) else { panic!() };
    assert_eq!(labels.next().unwrap().unwrap_err().kind, WireErrorKind::BadLength);
    assert!(labels.next().is_none());
}

#[test]
fn a_title_of_more_than_255_bytes_cannot_be_sent() {
    let title = [b'x'; 256];
    let payload = RobotMessagePayload::Key(Titled { title: Text(&title), ..Default::default() });
    let error = RobotMessage::emit(0, MessageSource::Controller, &payload, &mut [0; 1024]).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BadLength, 255, 256));
    assert!(
        RobotMessage::emit(0, MessageSource::Controller, &RobotMessagePayload::Text(Text(&title)), &mut [0; 100])
            .is_err()
    );
}

fn variables(message: &[u8], software: SoftwareVersion) -> Vec<Result<Element<'_>, WireError>> {
    let MessageKind::ProgramState(message) = Message::new_checked(message).unwrap().kind() else { panic!() };
    match message.payload(Some(software)).unwrap() {
        ProgramStatePayload::Update { start_index: 7, variables } => variables.collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_vendors_example_of_an_update_is_read() {
    let bytes = hex("0000001b 19 0000000000000001 01 0007 0c 01 0a 03 0004 61616161 0a");
    let elements: Vec<_> = variables(&bytes, SoftwareVersion::new(3, 5)).into_iter().map(Result::unwrap).collect();
    assert_eq!(elements, [Element::Bool(true), Element::ConstString(Text(b"aaaa"))]);
}

#[test]
fn values_are_written_and_read_in_all_three_numberings() {
    let scalars = [
        Element::None,
        Element::ConstString(Text(b"a\nb")),
        Element::Pose([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        Element::Bool(true),
        Element::Num(1.5),
        Element::Int(-10),
        Element::Float(10.0),
        Element::List { count: 3 },
        Element::Int(0x0a0a_0a0a),
        Element::List { count: 1 },
        Element::Bool(false),
        Element::End,
        Element::List { count: 0 },
        Element::End,
        Element::End,
    ];
    let newer = [
        Element::VarString(Text(b"v")),
        Element::Matrix { rows: 2, columns: 1 },
        Element::Num(1.0),
        Element::Num(2.0),
        Element::End,
    ];
    for (major, minor, numbering) in [
        (3, 2, ValueNumbering::UpTo3_2),
        (3, 3, ValueNumbering::From3_3),
        (3, 13, ValueNumbering::From3_3),
        (5, 8, ValueNumbering::From3_3),
        (3, 14, ValueNumbering::From5_9),
        (5, 9, ValueNumbering::From5_9),
        (10, 0, ValueNumbering::From5_9),
    ] {
        let software = SoftwareVersion::new(major, minor);
        assert_eq!(ValueNumbering::of(software), numbering);
        let mut elements = scalars.to_vec();
        if numbering == ValueNumbering::From5_9 {
            elements.extend(newer);
        }
        let mut out = [0xa5; 256];
        let size = ProgramStateMessage::emit_update(1, 7, numbering, &elements, &mut out).unwrap();
        let read: Vec<_> = variables(&out[..size], software).into_iter().map(Result::unwrap).collect();
        assert_eq!(read, elements);
        let lines = listing(&out[..size], Some(software));
        assert!(lines.contains(&"values... Bool(false)".to_owned()), "{lines:?}");
        assert!(listing(&out[..size], None)[4].starts_with("raw Bytes("));
    }
    let mut out = [0; 64];
    let refused = ProgramStateMessage::emit_update(1, 7, ValueNumbering::From3_3, &newer[1..], &mut out).unwrap_err();
    assert_eq!(refused.kind, WireErrorKind::BadType);
}

#[test]
fn elements_that_disagree_with_their_counts_are_not_written() {
    for elements in [
        &[Element::List { count: 2 }, Element::Bool(true), Element::End][..],
        &[Element::List { count: 1 }, Element::Bool(true), Element::Bool(true)],
        &[Element::List { count: 1 }, Element::Bool(true)],
        &[Element::End],
    ] {
        let result = ProgramStateMessage::emit_update(1, 0, ValueNumbering::From5_9, elements, &mut [0; 128]);
        assert_eq!(result.unwrap_err().kind, WireErrorKind::BadValue);
    }
}

#[test]
fn nesting_is_followed_eight_deep_and_no_deeper() {
    for (depth, fits) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (2_000, false)] {
        let mut body = hex("0000000000000001 01 0007");
        body.extend([17, 0, 1].repeat(depth));
        body.extend([0, b'\n']);
        let mut out = vec![0; 8192];
        let size = emit_raw(PROGRAM_STATE, &body, &mut out).unwrap();
        let read = variables(&out[..size], V5_12);
        let error = read.last().unwrap().err().map(|e| e.kind);
        assert_eq!(error, (!fits).then_some(WireErrorKind::TooDeep));
        assert!(read.len() <= 2 * MAX_DEPTH + 1);
    }
}

#[test]
fn a_matrix_of_four_billion_elements_ends_where_its_bytes_do() {
    let bytes = hex("00000016 19 0000000000000001 01 0007 12 ffff ffff 00");
    let read = variables(&bytes, V5_12);
    assert_eq!(read.len(), 3);
    assert_eq!(read[2].unwrap_err().kind, WireErrorKind::Truncated);
}

#[test]
fn unknown_value_types_and_missing_newlines_are_errors_with_their_place() {
    let kinds = |text: &str| {
        let mut out = [0; 64];
        let size = emit_raw(PROGRAM_STATE, &[hex("0000000000000001 01 0007"), hex(text)].concat(), &mut out).unwrap();
        let error = variables(&out[..size], V5_12).pop().unwrap().unwrap_err();
        (error.kind, error.at)
    };
    assert_eq!(kinds("0d 01 0a 63"), (WireErrorKind::BadType, 19));
    assert_eq!(kinds("0d 01 0d"), (WireErrorKind::BadValue, 18));
    assert_eq!(kinds("0d 01"), (WireErrorKind::Truncated, 18));
}

#[test]
fn names_of_variables_end_with_newlines() {
    let mut out = [0xa5; 64];
    let names: [&[u8]; 3] = [b"a", b"", b"approach_pose"];
    let size = ProgramStateMessage::emit_setup(2, 5, &names, &mut out).unwrap();
    let MessageKind::ProgramState(message) = Message::new_checked(&out[..size]).unwrap().kind() else { panic!() };
    let Ok(ProgramStatePayload::Setup { start_index: 5, names: read }) = message.payload(None) else { panic!() };
    assert_eq!(read.map(|name| name.unwrap().0).collect::<Vec<_>>(), names);
    assert!(ProgramStateMessage::emit_setup(2, 5, &[b"a\nb"], &mut [0; 64]).is_err());

    out[size - 1] = b'x';
    let MessageKind::ProgramState(message) = Message::new_checked(&out[..size]).unwrap().kind() else { panic!() };
    let Ok(ProgramStatePayload::Setup { names, .. }) = message.payload(None) else { panic!() };
    assert_eq!(names.last().unwrap().unwrap_err().kind, WireErrorKind::Truncated);

    let size = ProgramStateMessage::emit_variable(3, Text(b"count"), Text(b"4"), &mut out).unwrap();
    assert_eq!(
        listing(&out[..size], None)[4..],
        [format!("title {:?}", Value::Text(b"count")), format!("text {:?}", Value::Text(b"4"))]
    );
}

#[test]
fn text_shows_every_byte() {
    assert_eq!(Text(b"46 \xb0C").to_string(), "46 °C");
    assert_eq!(format!("{:?}", Text(b"a\n\xff")), r#""a\n\xff""#);
}
