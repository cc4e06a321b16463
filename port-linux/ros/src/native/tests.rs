mod fields;

use std::collections::BTreeSet;

use outrigger_wire::fields::Value;
use outrigger_wire::primary::SubPackage;
use outrigger_wire::robot::SoftwareVersion;

use self::fields::{CB2, CB3, RTDE, primary};
use super::*;

#[test]
fn a_serial_number_makes_names_in_the_forms_that_are_known_and_within_others() {
    let of = |namespace: &str, prefix: &str| {
        names_by_serial(namespace, prefix, " 20225300015\n").map(|names| (names.namespace, names.prefix))
    };
    let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
    assert_eq!(of("serial", ""), pair("/UR20225300015", "UR20225300015_"));
    assert_eq!(of("serial", "left_"), pair("/UR20225300015", "left_"));
    assert_eq!(of("/cell/UR{serial}", ""), pair("/cell/UR20225300015", ""));
    assert_eq!(of("/cell", "UR{serial}_"), pair("/cell", "UR20225300015_"));
    // ROS 2 does not allow a name that begins with a digit.
    assert!(of("{serial}", "").unwrap_err().to_string().contains("no digit first"));
    assert!(names_by_serial("serial", "", " ").unwrap_err().to_string().contains("a serial number such as"));
    let made = ["serial", "{serial}", "/a/UR{serial}"].map(|namespace| by_serial(namespace, ""));
    assert_eq!((made, by_serial("/serial", ""), by_serial("", "UR{serial}_")), ([true; 3], false, true));
}
use crate::arm::{LWR_JOINTS, UR_JOINTS};
use crate::readings::Port;
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::{AnalogPin, DigitalPin, Inertia};

type Told = Vec<(&'static Topic, Vec<u8>)>;

fn take(readings: &mut Readings, port: Port, fields: &[(&str, Value<'_>)]) {
    readings.state(port, 0, |visitor| fields.iter().for_each(|(name, value)| visitor.field(name, *value)));
}

fn native(terminals: Terminals) -> Native {
    Native::new(Arm::new(&UR_JOINTS, &names("20225300015", Serial::WithUr).expect("names")), terminals)
}

fn state(native: &mut Native, readings: &Readings) -> Told {
    let mut told = vec![];
    native.state(readings, Time { sec: 5, nanosec: 7 }, &mut |topic, bytes| told.push((topic, bytes)));
    told
}

fn first(readings: &Readings, terminals: Terminals) -> Told {
    state(&mut native(terminals), readings)
}

fn of<M: Message>(told: &Told, name: &str) -> M {
    let (_, bytes) = told.iter().find(|(topic, _)| topic.name == name).unwrap_or_else(|| panic!("no {name}"));
    decode(bytes).expect("its type")
}

fn set(of: impl IntoIterator<Item = &'static Topic>) -> BTreeSet<&'static str> {
    of.into_iter().map(|topic| topic.name).collect()
}

/// Returns `true` if the bytes are a message of this type whose header has the stamp of [`state`].
fn is_of(message: &str, bytes: &[u8]) -> bool {
    macro_rules! decoded {
        ($( $of:ty ),*) => { $(
            if message == <$of as Message>::TYPE {
                return decode::<$of>(bytes).is_ok_and(|message| message.header.stamp == Time { sec: 5, nanosec: 7 });
            }
        )* };
    }
    if message == TFMessage::TYPE {
        return decode::<TFMessage>(bytes).is_ok_and(|message| message.transforms[0].header.stamp.sec == 5);
    }
    decoded!(
        AccelStamped,
        AnalogIOStateStamped,
        AnalogPort,
        BoolStamped,
        ControlCycle,
        Current,
        DigitalIOStateStamped,
        DigitalPort,
        Float32Stamped,
        Float64Stamped,
        InertiaStamped,
        JointMode,
        JointState,
        JointTemperature,
        JointVoltage,
        PoseStamped,
        RobotMode,
        RuntimeState,
        SafetyStatus,
        SpeedSliderFraction,
        TCPState,
        Temperature,
        TimeReference,
        ToolOutputMode,
        VoltageCurrentStamped,
        WrenchStamped
    );
    false
}

#[test]
fn rtde_fills_every_topic_by_its_type() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Rtde, RTDE);
    for terminals in [Terminals::Grouped, Terminals::Ports] {
        let told = first(&readings, terminals);
        assert_eq!(set(told.iter().map(|(topic, _)| *topic)), set(topics(terminals)));
        assert_eq!(told.len(), topics(terminals).count());
        for (topic, bytes) in &told {
            assert!(is_of(topic.message, bytes), "{}", topic.name);
        }
        assert_eq!(set(absent(&readings, terminals)), set(NEVER.iter().copied()));
    }
    let known: BTreeSet<&str> = RTDE.iter().map(|(name, _)| *name).filter(|name| *name != "actual_current").collect();
    assert_eq!(VARIABLES.iter().copied().collect::<BTreeSet<_>>(), known);
    assert_eq!(VARIABLES.len(), known.len());
}

#[test]
fn values_have_the_units_and_frames_of_the_surface() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Rtde, RTDE);
    let told = first(&readings, Terminals::Grouped);
    let joints: JointState = of(&told, "joint_states");
    assert_eq!((joints.effort, joints.name[2].as_str()), (vec![4.0; 6], "UR20225300015_elbow_joint"));
    assert_eq!(of::<JointState>(&told, "target_joint_states").effort, vec![1.0; 6]);
    let actual: TCPState = of(&told, "actual_tcp_state");
    assert_eq!((actual.header.frame_id.as_str(), actual.pose.position.z), ("UR20225300015_base", 0.3));
    assert_eq!((actual.speed.linear.x, actual.speed.angular.z), (0.01, 0.5));
    assert_eq!(of::<TCPState>(&told, "target_tcp_state").pose.position.x, 0.4);
    // RTDE reports mA and ms.
    let tool: VoltageCurrentStamped = of(&told, "tool_voltage_current");
    assert_eq!((tool.voltage, tool.current), (24.0, 0.06));
    assert_eq!(of::<Current>(&told, "io_current").data, 0.04);
    assert_eq!(of::<TimeReference>(&told, "execution_time").time_ref, Time { sec: 0, nanosec: 250_000 });
    let robot: VoltageCurrentStamped = of(&told, "robot_voltage_current");
    assert_eq!((robot.voltage, robot.current), (48.0, 0.75));
    assert_eq!(of::<ControlCycle>(&told, "control_cycle").data, 77);
    // The finer of the two statuses is used.
    assert_eq!(of::<SafetyStatus>(&told, "safety_status").data, 12);
    assert_eq!(of::<RuntimeState>(&told, "program_state").data, 4);
    let modes: JointMode = of(&told, "joint_mode");
    assert_eq!((modes.joint_modes, modes.tool_mode), ([253; 6], 255));
    let Inertia { m, com, ixx, ixy, ixz, iyy, iyz, izz } = of::<InertiaStamped>(&told, "payload").inertia;
    assert_eq!(([m, com.z], [ixx, iyy, izz, ixy, ixz, iyz]), ([1.5, 0.05], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let offset: PoseStamped = of(&told, "tcp_offset");
    assert_eq!((offset.header.frame_id.as_str(), offset.pose.position.z), ("UR20225300015_tool0", 0.2));
    assert_eq!(of::<SpeedSliderFraction>(&told, "actual_speed_fraction").data, 0.25);
    assert_eq!(of::<SpeedSliderFraction>(&told, "speed_fraction").data, 0.5);
    assert_eq!(of::<WrenchStamped>(&told, "tcp_wrench").wrench.force.y, 4.0);
    let button = |name| of::<BoolStamped>(&told, name).data;
    assert_eq!(["program_running", "teach_button_pressed", "power_button_pressed"].map(button), [true, false, true]);
    let mode: ToolOutputMode = of(&told, "tool_output_mode");
    assert_eq!((mode.output_mode, mode.output_pin_mode), (0, [1, 3]));
    let tf: TFMessage = of(&told, "/tf");
    assert_eq!(tf.transforms[0].child_frame_id, "UR20225300015_tool0_controller");
}

#[test]
fn inputs_and_outputs_are_told_by_the_pins_of_their_ports() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Rtde, RTDE);
    let told = first(&readings, Terminals::Grouped);
    let high = |pins: &[DigitalPin]| pins.iter().filter(|pin| pin.state).map(|pin| pin.pin).collect::<Vec<_>>();
    let digital: DigitalIOStateStamped = of(&told, "control_box_digital_io");
    assert_eq!(digital.standard_io.digital_inputs.len(), 8);
    assert_eq!(high(&digital.standard_io.digital_inputs), [0, 2]);
    assert_eq!(high(&digital.configurable_io.digital_inputs), [0]);
    assert_eq!(high(&digital.configurable_io.digital_outputs), [7]);
    let tool: DigitalIOStateStamped = of(&told, "tool_digital_io");
    assert_eq!((high(&tool.standard_io.digital_inputs), high(&tool.standard_io.digital_outputs)), (vec![1], vec![0]));
    let analog: AnalogIOStateStamped = of(&told, "control_box_analog_io");
    let pin = |pin, domain, value| AnalogPin { pin, domain, value };
    assert_eq!(analog.io_state.analog_inputs, [pin(0, 1, 5.0), pin(1, 0, 0.012)]);
    assert_eq!(analog.io_state.analog_outputs, [pin(0, 1, 2.5), pin(1, 0, 0.004)]);
    let tool: AnalogIOStateStamped = of(&told, "tool_analog_io");
    assert_eq!(tool.io_state.analog_inputs, [pin(0, 1, 1.0), pin(1, 0, 0.008)]);

    let told = first(&readings, Terminals::Ports);
    let port = |name| of::<DigitalPort>(&told, name).data;
    assert_eq!(port("standard_digital_inputs"), [true, false, true, false, false, false, false, false]);
    assert_eq!((port("tool_digital_inputs"), port("tool_digital_outputs")), (vec![false, true], vec![true, false]));
    let output: AnalogPort = of(&told, "standard_analog_output_1");
    assert_eq!((output.domain, output.data), (0, 0.004));
}

#[test]
fn a_cb3_that_is_read_by_30003_tells_what_is_in_its_packet() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Realtime, CB3);
    readings.identified(SoftwareVersion::new(3, 2));
    let told = first(&readings, Terminals::Grouped);
    let missing = [
        // This packet has no tool board and no payload.
        "tool_temperature",
        "joint_mode",
        "tool_voltage_current",
        "tool_output_mode",
        "tool_analog_io",
        "tcp_offset",
        "payload",
        // This packet has no terminals except digital ones.
        "control_box_analog_io",
        "io_current",
        "target_speed_fraction",
        "speed_fraction",
        "arm_powered_on",
        "teach_button_pressed",
        "power_button_pressed",
    ];
    let never = set(NEVER.iter().copied());
    let expected: BTreeSet<&str> = never.iter().chain(&missing).copied().collect();
    assert_eq!(set(absent(&readings, Terminals::Grouped)), expected);
    assert_eq!(told.len() + missing.len(), topics(Terminals::Grouped).count());
    // A current is not a torque.
    assert_eq!(of::<JointState>(&told, "joint_states").effort, Vec::<f64>::new());
    assert_eq!(of::<ControlCycle>(&told, "control_cycle").data, 250);
    assert_eq!(of::<SpeedSliderFraction>(&told, "actual_speed_fraction").data, 0.75);
    assert_eq!(of::<Float64Stamped>(&told, "tcp_force_scalar").data, 5.0);
    assert_eq!(of::<TimeReference>(&told, "execution_time").time_ref.nanosec, 1_000_000);
    assert!(of::<BoolStamped>(&told, "program_running").data);
    assert_eq!(of::<SafetyStatus>(&told, "safety_status").data, 1);
}

#[test]
fn a_cb2_has_its_own_modes_and_terminals() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Realtime, CB2);
    let told = first(&readings, Terminals::Grouped);
    assert_eq!(of::<RobotMode>(&told, "robot_mode").data, 7);
    assert_eq!(of::<SafetyStatus>(&told, "safety_status").data, 1);
    assert_eq!(of::<ControlCycle>(&told, "control_cycle").data, 250);
    let digital: DigitalIOStateStamped = of(&told, "control_box_digital_io");
    assert!(digital.configurable_io.digital_inputs.is_empty() && digital.standard_io.digital_outputs.is_empty());
    assert!(digital.standard_io.digital_inputs[0].state);
    // Bits 8 and 9 are at the tool.
    let tool: DigitalIOStateStamped = of(&told, "tool_digital_io");
    assert!(!tool.standard_io.digital_inputs[0].state && tool.standard_io.digital_inputs[1].state);
    let ports = first(&readings, Terminals::Ports);
    assert!(!ports.iter().any(|(topic, _)| topic.name.starts_with("configurable")));
    assert_eq!(of::<DigitalPort>(&ports, "tool_digital_inputs").data, [false, true]);
    let absent = set(absent(&readings, Terminals::Grouped));
    for name in ["target_tcp_state", "program_state", "actual_speed_fraction", "robot_voltage_current", "joint_mode"] {
        assert!(absent.contains(name), "{name}");
    }
    assert!(told.iter().any(|(topic, _)| topic.name == "tool_accelerometer"));
    // On CB2 an emergency stop is a robot mode of its own, without power.
    take(&mut readings, Port::Realtime, &[("robot_mode", Value::F64(5.0))]);
    let told = first(&readings, Terminals::Grouped);
    assert_eq!((of::<RobotMode>(&told, "robot_mode").data, of::<SafetyStatus>(&told, "safety_status").data), (3, 7));
    assert!(!told.iter().any(|(topic, _)| topic.name == "joint_states"));
}

#[test]
fn a_controller_that_is_read_by_30002_alone_tells_its_parts() {
    let mut readings = Readings::default();
    primary(&mut readings, false);
    let told = first(&readings, Terminals::Grouped);
    let state: JointState = of(&told, "joint_states");
    assert_eq!((state.position, state.velocity, state.effort), (vec![0.25; 6], vec![0.125; 6], vec![]));
    assert_eq!(of::<JointState>(&told, "target_joint_states").position, vec![0.5; 6]);
    assert_eq!(of::<JointMode>(&told, "joint_mode").joint_modes, [253; 6]);
    // The flag says paused; amperes are unchanged.
    assert_eq!(of::<RuntimeState>(&told, "program_state").data, 4);
    assert_eq!(of::<VoltageCurrentStamped>(&told, "tool_voltage_current").current, 0.5);
    assert_eq!(of::<Current>(&told, "io_current").data, 0.25);
    assert_eq!(of::<ToolOutputMode>(&told, "tool_output_mode").output_pin_mode, [2, 3]);
    assert!(of::<BoolStamped>(&told, "teach_button_pressed").data && of::<BoolStamped>(&told, "arm_powered_on").data);
    // The domain is reported for outputs alone.
    let analog: AnalogIOStateStamped = of(&told, "control_box_analog_io");
    assert_eq!((analog.io_state.analog_inputs.len(), analog.io_state.analog_outputs.len()), (0, 2));
    assert_eq!(analog.io_state.analog_outputs[0], AnalogPin { pin: 0, domain: 0, value: 0.004 });
    assert_eq!(of::<SpeedSliderFraction>(&told, "target_speed_fraction").data, 0.5);
    let absent = set(absent(&readings, Terminals::Grouped));
    // A pose without a speed does not make a state of the tool; the transform needs no speed.
    for name in ["actual_tcp_state", "actual_speed_fraction", "power_button_pressed", "tcp_wrench", "control_cycle"] {
        assert!(absent.contains(name) && !told.iter().any(|(topic, _)| topic.name == name), "{name}");
    }

    let mut old = Readings::default();
    primary(&mut old, true);
    let told = first(&old, Terminals::Grouped);
    let analog: AnalogIOStateStamped = of(&told, "control_box_analog_io");
    assert_eq!(analog.io_state.analog_inputs[1], AnalogPin { pin: 1, domain: 1, value: 2.0 });
    assert_eq!(of::<SpeedSliderFraction>(&told, "target_speed_fraction").data, 0.5);
}

#[test]
fn parts_of_30002_are_known_by_their_bytes() {
    let mut readings = Readings::default();
    // Robot mode data of 3.2: powered, program running and paused; then buttons of 3.2, and tool modes of 5.8.
    let mut mode = [0; 46];
    mode[3..5].copy_from_slice(&[46, 0]);
    mode[13..21].copy_from_slice(&[1, 1, 1, 0, 0, 1, 1, 7]);
    let buttons = [0, 0, 0, 8, 8, 1, 1, 0];
    let tool = [0, 0, 0, 8, 12, 1, 2, 3];
    for bytes in [&mode[..], &buttons, &tool] {
        let package = SubPackage::new_checked(bytes).expect("a part");
        readings.sub_package(package.name(), 0, |visitor| package.visit(visitor));
    }
    let told = first(&readings, Terminals::Grouped);
    assert!(of::<BoolStamped>(&told, "arm_powered_on").data && of::<BoolStamped>(&told, "teach_button_pressed").data);
    assert_eq!((of::<RuntimeState>(&told, "program_state").data, of::<RobotMode>(&told, "robot_mode").data), (4, 7));
    let mode: ToolOutputMode = of(&told, "tool_output_mode");
    assert_eq!((mode.output_mode, mode.output_pin_mode), (1, [2, 3]));
}

#[test]
fn a_krc_tells_torques_and_where_its_tool_is() {
    let mut readings = Readings::default();
    let rows = [1.0, 0.0, 0.0, 0.1, 0.0, 1.0, 0.0, 0.2, 0.0, 0.0, 1.0, 0.3];
    take(
        &mut readings,
        Port::Fri,
        &[
            ("msr_jnt_pos", Value::F32s(&[0.5; 7])),
            ("msr_jnt_trq", Value::F32s(&[2.0; 7])),
            ("msr_cart_pos", Value::F64s(&rows)),
            ("est_ext_tcp_ft", Value::F32s(&[0.0, 0.0, 5.0, 0.0, 0.0, 0.0])),
        ],
    );
    let mut native = Native::new(Arm::new(&LWR_JOINTS, &Names::default()), Terminals::Grouped);
    let told = state(&mut native, &readings);
    assert_eq!(of::<JointState>(&told, "joint_states").effort, vec![2.0; 7]);
    assert_eq!(of::<WrenchStamped>(&told, "tcp_wrench").header.frame_id, "tool0_controller");
    assert_eq!(set(told.iter().map(|(topic, _)| *topic)).len(), 4, "the transform and the scalar besides");
}

#[test]
fn what_is_told_on_change_is_told_once_and_again_when_it_changes() {
    let mut readings = Readings::default();
    take(&mut readings, Port::Rtde, RTDE);
    let mut native = native(Terminals::Grouped);
    state(&mut native, &readings);
    let mut later = |fields: &[(&str, Value<'_>)]| {
        take(&mut readings, Port::Rtde, fields);
        let mut told = vec![];
        native.state(&readings, Time { sec: 9, nanosec: 0 }, &mut |topic, bytes| told.push((topic, bytes)));
        told
    };
    // Another stamp is not a change.
    let same = later(&[]);
    assert!(same.iter().all(|(topic, _)| matches!(topic.when, PublishTrigger::State | PublishTrigger::Powered)));
    let each_time = |topic: &&&Topic| matches!(topic.when, PublishTrigger::State | PublishTrigger::Powered);
    assert_eq!(same.len(), TOPICS.iter().filter(each_time).count());
    let on_change = |told: &Told| {
        let is_change = |topic: &Topic| matches!(topic.when, PublishTrigger::Change | PublishTrigger::PoweredChange);
        set(told.iter().map(|(topic, _)| *topic).filter(|topic| is_change(topic)))
    };
    let told = later(&[("robot_mode", Value::Signed(5)), ("tool_temperature", Value::F64(41.0))]);
    assert_eq!(on_change(&told), BTreeSet::from(["robot_mode", "tool_temperature"]));
    assert_eq!(of::<RobotMode>(&told, "robot_mode").header.stamp.sec, 9);
    let told = later(&[("actual_digital_output_bits", Value::Unsigned(0x0_8000))]);
    // Nothing of the control box has changed.
    assert_eq!(on_change(&told), BTreeSet::from(["tool_digital_io"]));
    assert!(on_change(&later(&[])).is_empty());
}

#[test]
fn without_power_only_what_does_not_need_it_is_told() {
    let needs = |topic: &Topic| matches!(topic.when, PublishTrigger::Powered | PublishTrigger::PoweredChange);
    let powered = |told: &Told| told.iter().filter(|(topic, _)| needs(topic)).count();
    let all = TOPICS.iter().filter(|topic| needs(topic)).count();
    let mut readings = Readings::default();
    take(&mut readings, Port::Rtde, RTDE);
    // The bit decides, whatever the mode.
    take(&mut readings, Port::Rtde, &[("robot_status_bits", Value::Unsigned(0))]);
    let mut native = native(Terminals::Grouped);
    let told = state(&mut native, &readings);
    assert_eq!((powered(&told), told.len()), (0, topics(Terminals::Grouped).count() - all));
    take(&mut readings, Port::Rtde, &[("robot_status_bits", Value::Unsigned(1))]);
    assert_eq!(powered(&state(&mut native, &readings)), all);
    // Unchanged temperatures are not published again when power comes back.
    take(&mut readings, Port::Rtde, &[("robot_status_bits", Value::Unsigned(0))]);
    assert_eq!(powered(&state(&mut native, &readings)), 0);
    take(&mut readings, Port::Rtde, &[("robot_status_bits", Value::Unsigned(1))]);
    let told = state(&mut native, &readings);
    assert!(!told.iter().any(|(topic, _)| topic.when == PublishTrigger::PoweredChange) && powered(&told) > 0);

    // Without the bit the mode decides: from idle on there is power. Without either, the topics are published.
    let shows = |fields: &[(&str, Value<'_>)]| {
        let mut readings = Readings::default();
        take(&mut readings, Port::Realtime, &[("q_actual", Value::F64s(&[0.0; 6]))]);
        take(&mut readings, Port::Realtime, fields);
        first(&readings, Terminals::Grouped).iter().any(|(topic, _)| topic.name == "joint_states")
    };
    let mode = |mode| shows(&[("robot_mode", Value::F64(mode))]);
    assert_eq!(([3.0, 4.0, 5.0, 7.0].map(mode), shows(&[])), ([false, false, true, true], true));
}

#[test]
fn names_and_qualities_are_those_of_a_controller_or_what_readers_need() {
    let names_of = |serial, form| names(serial, form).map(|names| (names.namespace, names.prefix));
    let expected = Ok(("/UR20225300015".to_owned(), "UR20225300015_".to_owned()));
    assert_eq!(names_of(" 20225300015\n", Serial::WithUr), expected);
    assert_eq!(names_of("UR20225300015", Serial::WithUr), expected);
    assert_eq!(names_of("lab8888", Serial::Bare), Ok(("/lab8888".into(), "lab8888_".into())));
    // No name of ROS begins with a digit.
    assert!(names_of("20225300015", Serial::Bare).is_err() && names_of("20 22", Serial::WithUr).is_err());
    let none = names("", Serial::WithUr).unwrap_err().to_string();
    assert_eq!(none, "expected a serial number such as 20225300015, found ''");

    let names = names("8888", Serial::WithUr).expect("names");
    assert_eq!(whole_name(&JOINT_STATES, &names, true), "/joint_states");
    assert_eq!(whole_name(&TARGET_JOINT_STATES, &names, true), "/target_joint_states");
    assert_eq!(whole_name(&JOINT_STATES, &names, false), "/UR8888/joint_states");
    assert_eq!(whole_name(&ROBOT_MODE, &names, true), "/UR8888/robot_mode");
    assert_eq!(whole_name(&TF, &names, false), "/tf");

    assert_eq!(qos(&JOINT_STATES, false), Qos::BEST_EFFORT);
    assert_eq!(qos(&JOINT_STATES, true), Qos::SYSTEM);
    let digital = Qos { reliable: true, latched: true, depth: 10 };
    assert_eq!([true, false].map(|offer| qos(&CONTROL_BOX_DIGITAL_IO, offer)), [digital; 2]);
    for terminals in [Terminals::Grouped, Terminals::Ports] {
        let all: Vec<_> = topics(terminals).chain(NEVER.iter().copied()).collect();
        assert_eq!(set(all.iter().copied()).len(), all.len(), "names that are there twice");
    }
}
