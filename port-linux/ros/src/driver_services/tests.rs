//! Tests that each service reads, refuses and answers calls as described.

use super::*;
use crate::frames::Transforms;
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::Names;
use outrigger_ros2_messages::{
    Analog, Header, Nothing, PoseStamped, TFMessage, TransformStamped, Vector3, Vector3Stamped,
};
use outrigger_wire::time::Instant;

fn deed(offer: &'static Offer, bytes: &[u8], distro: Distro) -> Result<Operation, Refused> {
    deed_at(offer, bytes, distro, None)
}

/// Returns the operation that a call of a driver's service requests, for an arm whose tool has this pose; no coordinate
/// frames (tf) of others are known.
fn deed_at(offer: &'static Offer, bytes: &[u8], distro: Distro, tool: Option<[f64; 6]>) -> Result<Operation, Refused> {
    let (names, others) = (Names::new("", "left_").expect("names"), Transforms::default());
    super::deed(offer, bytes, distro, Frames { names: &names, tool, others: &others, now: Instant::ZERO })
}

fn io(fun: i8, pin: i8, state: f32) -> Result<Operation, String> {
    let bytes = encode(&SetIORequest { fun, pin, state });
    deed(&SET_IO, &bytes, Distro::Jazzy).map_err(|refused| refused.to_string())
}

#[test]
fn an_output_is_set_by_its_number_and_what_is_none_is_named() {
    let digital = |output, high| Ok(Operation::Set(Write::Digital { output, high }));
    assert_eq!(io(1, 7, 1.0), digital(DigitalOutput::Standard(7), true));
    assert_eq!(io(1, 8, 0.0), digital(DigitalOutput::Configurable(0), false));
    assert_eq!(io(1, 17, 1.0), digital(DigitalOutput::Tool(1), true));
    assert_eq!(io(3, 1, 0.5), Ok(Operation::Set(Write::Analog { index: 1, domain: None, level: 0.5 })));
    assert_eq!(io(4, 0, 24.0), Ok(Operation::Set(Write::ToolVoltage(ToolVoltage::V24))));
    for (fun, pin, state, said) in [
        (1, 18, 1.0, "pin: expected 0 to 17, found 18"),
        (1, -1, 1.0, "pin: expected 0 to 17, found -1"),
        (1, 0, 0.5, "state: expected 0 or 1, found 0.5"),
        (2, 0, 1.0, "fun: expected 1 (digital output), 3 (analog output) or 4 (tool voltage), found 2"),
        (3, 2, 0.5, "pin: expected 0 or 1, found 2"),
        (3, 0, f32::NAN, "state: expected 0 to 1, of the output's range, found NaN"),
        (4, 0, 5.0, "state: expected 0, 12 or 24 V, found 5"),
    ] {
        assert_eq!(io(fun, pin, state), Err(said.into()));
    }
    let data = Analog { pin: 1, domain: 1, state: 0.25 };
    let volts = Write::Analog { index: 1, domain: Some(AnalogDomain::Voltage), level: 0.25 };
    let bytes = encode(&SetAnalogOutputRequest { data });
    assert_eq!(deed(&SET_ANALOG, &bytes, Distro::Jazzy), Ok(Operation::Set(volts)));
}

#[test]
fn the_three_layouts_of_a_payload_are_told_apart() {
    let center = Vector3 { x: 0.0, y: 0.01, z: 0.05 };
    let expected = Operation::Set(Write::Payload { mass: 1.5, center_of_gravity: Some([0.0, 0.01, 0.05]) });
    let short = encode(&SetPayloadShort { mass: 1.5, center_of_gravity: center });
    assert_eq!(short.len(), 4 + SHORT);
    let long = SetPayloadRequest { mass: 1.5, center_of_gravity: center, ..SetPayloadRequest::default() };
    let inertia = Inertia { m: 1.5, com: center, ..Inertia::default() };
    let newest = encode(&SetPayloadInertia { payload: inertia, ..SetPayloadInertia::default() });
    assert_eq!((encode(&long).len(), newest.len()), (4 + 88, 4 + 88));
    for distro in Distro::ALL {
        assert_eq!(deed(&SET_PAYLOAD, &short, distro), Ok(expected));
        let bytes = if distro == Distro::Rolling { newest.clone() } else { encode(&long) };
        assert_eq!(deed(&SET_PAYLOAD, &bytes, distro), Ok(expected));
    }
    // One layout read as another gives an impossible mass.
    for mass in [1e-3, 0.5, 0.7, 1.5, 2.3, 10.0, 19.999] {
        let newest = SetPayloadInertia { payload: Inertia { m: mass, ..inertia }, ..SetPayloadInertia::default() };
        let long = SetPayloadRequest { mass: mass as f32, ..long };
        for (bytes, distro) in [(encode(&newest), Distro::Jazzy), (encode(&long), Distro::Rolling)] {
            let said = deed(&SET_PAYLOAD, &bytes, distro).unwrap_err().to_string();
            assert!(said.contains("--distro"), "{mass} {distro:?}: {said}");
        }
    }
}

#[test]
fn inertia_and_transition_time_of_a_payload_are_passed_on_within_their_bounds() {
    let com = Vector3 { x: 0.0, y: 0.01, z: 0.05 };
    let asked = |inertia: [f64; 6], transition_time: Span, distro| {
        let [ixx, iyy, izz, ixy, ixz, iyz] = inertia;
        let bytes = if distro == Distro::Rolling {
            let payload = Inertia { m: 1.5, com, ixx, iyy, izz, ixy, ixz, iyz };
            encode(&SetPayloadInertia { payload, transition_time })
        } else {
            let center_of_gravity = com;
            encode(&SetPayloadRequest { mass: 1.5, center_of_gravity, ixx, iyy, izz, ixy, ixz, iyz, transition_time })
        };
        deed(&SET_PAYLOAD, &bytes, distro).map_err(|refused| refused.to_string())
    };
    let inertia = [0.1, 0.2, 0.3, -0.04, 0.05, -0.06];
    let target = |inertia: [f64; 6], millis| {
        Ok(Operation::Set(Write::TargetPayload {
            mass: 1.5,
            center_of_gravity: [0.0, 0.01, 0.05],
            inertia: inertia.map(|value| value as f32),
            transition_time: Duration::from_millis(millis),
        }))
    };
    let time = |sec, nanosec| Span { sec, nanosec };
    for distro in Distro::ALL {
        assert_eq!(asked(inertia, Span::default(), distro), target(inertia, 0), "{distro:?}");
        assert_eq!(asked(inertia, time(5, 0), distro), target(inertia, 5_000), "{distro:?}");
        assert_eq!(asked([0.0; 6], time(0, 250_000_000), distro), target([0.0; 6], 250), "{distro:?}");
        for wrong in [[-0.1, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 50.1], [f64::NAN; 6], [1e300; 6]] {
            let said = asked(wrong, Span::default(), distro).unwrap_err();
            assert!(said.starts_with("inertia: expected moments"), "{said}");
        }
        for wrong in [time(-1, 0), time(5, 1_000), time(i32::MAX, u32::MAX)] {
            let said = asked(inertia, wrong, distro).unwrap_err();
            assert!(said.starts_with("transition_time: expected 0 to 5 s"), "{said}");
        }
    }
}

#[test]
fn a_slider_a_direction_and_words_without_content() {
    let slider = |speed_slider_fraction| encode(&SetSpeedSliderRequest { speed_slider_fraction });
    assert_eq!(deed(&SET_SLIDER, &slider(0.3), Distro::Jazzy), Ok(Operation::Set(Write::SpeedSlider(0.3))));
    for none in [0.0, 1.01, f64::NAN, f64::INFINITY] {
        assert!(deed(&SET_SLIDER, &slider(none), Distro::Jazzy).is_err(), "{none}");
    }
    let down = |frame: &str, z| {
        let header = Header { frame_id: frame.into(), ..Header::default() };
        let gravity = Vector3Stamped { header, vector: Vector3 { x: 0.0, y: 0.0, z } };
        deed(&GRAVITY, &encode(&SetGravityRequest { gravity }), Distro::Jazzy)
    };
    assert_eq!(down("left_base", -1.0), Ok(Operation::Set(Write::Gravity([0.0, 0.0, 9.82]))));
    assert!(down("map", -1.0).is_err() && down("base", 0.0).is_err());
    // The base is mounted on its side.
    let fixed = encode(&TFMessage {
        transforms: vec![TransformStamped {
            header: Header { frame_id: "world".into(), ..Header::default() },
            child_frame_id: "left_base".into(),
            transform: crate::pose::transform([0.0, 0.0, 1.0, std::f64::consts::FRAC_PI_2, 0.0, 0.0]),
        }],
    });
    let (names, mut others) = (Names::new("", "left_").expect("names"), Transforms::default());
    others.take(&fixed, true, Instant::ZERO).expect("a message");
    let header = Header { frame_id: "world".into(), ..Header::default() };
    let gravity = Vector3Stamped { header, vector: Vector3 { x: 0.0, y: 0.0, z: -9.82 } };
    let frames = Frames { names: &names, tool: None, others: &others, now: Instant::ZERO };
    let asked = super::deed(&GRAVITY, &encode(&SetGravityRequest { gravity }), Distro::Jazzy, frames);
    let Ok(Operation::Set(Write::Gravity([x, y, z]))) = asked else { panic!("{asked:?}") };
    assert!(x.abs() < 1e-5 && (y - 9.82).abs() < 1e-5 && z.abs() < 1e-5, "{x} {y} {z}");
    for nothing in [encode(&Nothing::default()), vec![0, 1, 0, 0]] {
        // The services of UR's driver and our own are different.
        for (offer, asked) in [
            (&RESEND, Operation::Resend),
            (&HAND_BACK, Operation::HandBack),
            (&REQUEST, Operation::Request),
            (&RELEASE, Operation::Release),
        ] {
            assert_eq!(deed(offer, &nothing, Distro::Jazzy), Ok(asked), "{}", offer.name);
        }
    }
    assert!(matches!(deed(&SET_SLIDER, &[0, 1, 0, 0, 1], Distro::Jazzy), Err(Refused::Bytes(_))));
}

#[test]
fn flags_are_set_by_the_name_of_2015_alone_and_a_payload_is_kept_within_its_bounds() {
    let set = |offer, fun, pin, state| deed(offer, &encode(&SetIORequest { fun, pin, state }), Distro::Jazzy);
    let flag = Operation::Set(Write::Flag { index: 31, value: true });
    assert_eq!(set(&LEGACY_SET_IO, 2, 31, 1.0), Ok(flag));
    assert!(set(&SET_IO, 2, 31, 1.0).is_err() && set(&LEGACY_SET_IO, 2, 32, 1.0).is_err());
    assert_eq!(set(&LEGACY_SET_IO, 1, 16, 1.0), set(&SET_IO, 1, 16, 1.0));
    let payload = |mass| Operation::Set(Write::Payload { mass, center_of_gravity: None });
    let target = |mass| {
        let (center_of_gravity, inertia) = ([0.0; 3], [0.1; 6]);
        Operation::Set(Write::TargetPayload { mass, center_of_gravity, inertia, transition_time: Duration::ZERO })
    };
    for (mass, taken) in [(0.5, true), (3.0, true), (0.4, false), (3.1, false), (f32::NAN, false)] {
        assert_eq!(within(payload(mass), 0.5, 3.0).is_ok(), taken, "{mass}");
        assert_eq!(within(target(mass), 0.5, 3.0).is_ok(), taken, "{mass}");
    }
    let error = within(payload(9.0), 0.0, 3.0).expect_err("too much").to_string();
    assert!(error.contains("ros.expert.max_payload") && error.contains("9 kg, beyond 0 to 3 kg"), "{error}");
    assert_eq!(within(flag, 0.0, 0.0), Ok(flag));
}

#[test]
fn a_task_frame_may_be_given_in_that_of_the_tool() {
    use std::f64::consts::FRAC_PI_2;
    let mut request = SetForceModeRequest { selection_vector_z: true, r#type: 2, ..SetForceModeRequest::default() };
    (request.speed_limits.linear.z, request.deviation_limits) = (0.05, [0.01; 6]);
    // The pose is 0.1 m along x of the named frame, rotated by a quarter turn about its z.
    request.task_frame.pose.position.x = 0.1;
    let half = (FRAC_PI_2 / 2.0).sin();
    (request.task_frame.pose.orientation.z, request.task_frame.pose.orientation.w) = (half, half);
    let asked = |frame: &str, pose| {
        let mut request = request.clone();
        request.task_frame.header.frame_id = frame.into();
        let asked = deed_at(&START_FORCE, &encode(&request), Distro::Jazzy, pose);
        asked.map_err(|refused| refused.to_string())
    };
    // The tool points down.
    let pose = Some([0.4, -0.2, 0.3, std::f64::consts::PI, 0.0, 0.0]);
    let near = |asked: Result<Operation, String>, position: [f32; 3], x: [f32; 3], z: [f32; 3]| {
        let Ok(Operation::Force(ForceMode { task_frame, .. })) = asked else { panic!("{asked:?}") };
        let axes = Rotation::from_vector(task_frame.rotation);
        let pairs = [(task_frame.position, position), (axes.x, x), (axes.z, z)];
        let off = pairs.iter().flat_map(|(is, wanted)| is.iter().zip(wanted)).map(|(is, wanted)| (is - wanted).abs());
        assert!(off.fold(0.0, f32::max) < 1e-5, "{task_frame:?}");
    };
    near(asked("left_base", pose), [0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    near(asked("left_tool0_controller", pose), [0.5, -0.2, 0.3], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]);
    let refused = |frame, pose| asked(frame, pose).unwrap_err();
    assert!(refused("left_tool0_controller", None).contains("base until the pose of the tool is known"));
    for other in ["right_tool0_controller", "tool0_controller", "tool0", "map"] {
        let expected = "expected left_base, or a frame that /tf or /tf_static connects with it, found";
        assert!(refused(other, pose).contains(&format!("{expected} {other:?}")), "{}", refused(other, pose));
    }
}

#[test]
fn a_force_has_limits_by_what_each_axis_does() {
    let mut request = SetForceModeRequest {
        task_frame: PoseStamped::default(),
        selection_vector_z: true,
        r#type: 2,
        deviation_limits: [0.01; 6],
        damping_factor: 0.025,
        gain_scaling: 0.5,
        ..SetForceModeRequest::default()
    };
    request.task_frame.pose.orientation.w = 1.0;
    request.wrench.force.z = -20.0;
    request.speed_limits.linear.z = 0.05;
    let asked = |request: &SetForceModeRequest| deed(&START_FORCE, &encode(request), Distro::Jazzy);
    let Ok(Operation::Force(mode)) = asked(&request) else { panic!("{:?}", asked(&request)) };
    assert_eq!(mode.limits, [0.01, 0.01, 0.05, 0.01, 0.01, 0.01]);
    assert_eq!((mode.wrench.force, mode.selection[2]), ([0.0, 0.0, -20.0], true));
    let refused = |change: fn(&mut SetForceModeRequest), said: &str| {
        let mut changed = request.clone();
        change(&mut changed);
        let error = asked(&changed).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    };
    // A client that fills in no defaults sends zeros.
    refused(|request| request.r#type = 0, "type: expected 1, 2 or 3, found 0");
    refused(
        |request| request.task_frame.pose.orientation.w = 0.0,
        "task_frame.pose.orientation: expected a quaternion",
    );
    refused(|request| request.task_frame.header.frame_id = "tool0".into(), "task_frame.header.frame_id");
    refused(|request| request.damping_factor = 2.0, "force mode: expected every number in its range");
}

#[test]
fn every_service_is_understood_and_answered() {
    for offer in OFFERS.iter().chain(LEGACY_OFFERS) {
        assert!(answer(offer, true, "done").len() > 4, "{}", offer.name);
        assert!(!matches!(deed(offer, &[0, 1, 0, 0], Distro::Jazzy), Err(Refused::Value { name: "service", .. })));
    }
    let refused: TriggerResponse = decode(&answer(&RESEND, false, "not remote")).expect("its type");
    assert_eq!(refused, TriggerResponse { success: false, message: "not remote".into() });
    let software: SoftwareVersionResponse = decode(&version([5, 15, 0, 7])).expect("its type");
    assert_eq!((software.major, software.build), (5, 7));
}
