//! The operations whose cost is budgeted: the parts of a control cycle, one entry per row of the README's table.

use std::hint::black_box;

use outrigger_core::command::Samples;
use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
use outrigger_core::engine::{Input, LinkId};
use outrigger_core::law::Law;
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_urscript::{SpeedJ, SpeedJForm, Version};
use outrigger_wire::fri::{Command, CommandRepr, Measurement, MeasurementRepr};
use outrigger_wire::primary::{Message, MessageKind, RobotStateWriter, SubPackage, size_for};
use outrigger_wire::realtime::{Packet, Repr};
use outrigger_wire::robot::{JointVelocities, SoftwareVersion, State};
use outrigger_wire::rtde::{Package, Protocol, Recipe, Reply};
use outrigger_wire::rtde_recipe;
use outrigger_wire::time::{Duration, Instant};

/// A part of a control cycle whose execution time has a budget.
pub(crate) struct Operation {
    /// The description of the operation.
    pub(crate) name: &'static str,
    /// The time that the operation may take on x86-64 \[ns\].
    pub(crate) budget: u32,
    /// Executes the operation once; all preparations have been made.
    pub(crate) run: Box<dyn FnMut()>,
}

/// Returns all budgeted operations, prepared for execution.
pub(crate) fn all() -> Vec<Operation> {
    vec![
        realtime_packet(),
        rtde_package(),
        primary_state(),
        speedj_line(),
        fri_measurement(),
        fri_command(),
        fri_answer(),
    ]
}

fn operation(name: &'static str, budget: u32, run: impl FnMut() + 'static) -> Operation {
    Operation { name, budget, run: Box::new(run) }
}

fn realtime_packet() -> Operation {
    let mut bytes = vec![0; 1220];
    Repr { time: 12.5, q_actual: [0.5; 6], ..Repr::default() }.emit(1220, &mut bytes).expect("a packet");
    operation("real-time packet of 1220 B, all fields to host order", 150, move || {
        let packet = Packet::new_checked(black_box(&bytes)).expect("a packet");
        black_box(packet.to_repr());
    })
}

rtde_recipe! {
    /// The 31 RTDE variables of the budgeted package, as a driver of a larger system subscribes to them.
    struct Driver, view DriverView: outputs {
        timestamp, actual_q, actual_qd, actual_current, actual_TCP_pose, actual_TCP_force, tcp_offset, payload,
        payload_cog, speed_scaling, target_speed_fraction, runtime_state, robot_mode, safety_mode, robot_status_bits,
        safety_status_bits, actual_digital_input_bits, actual_digital_output_bits, analog_io_types,
        standard_analog_input0, standard_analog_input1, standard_analog_output0, standard_analog_output1, io_current,
        tool_mode, tool_analog_input_types, tool_analog_input0, tool_analog_input1, tool_output_voltage,
        tool_output_current, tool_temperature,
    }
}

fn rtde_package() -> Operation {
    assert_eq!(Driver::TYPES.len(), 31);
    let mut bytes = vec![0; Driver::PACKAGE];
    Driver { timestamp: 12.5, actual_q: [0.5; 6], ..Driver::default() }.emit(1, &mut bytes).expect("a package");
    operation("RTDE data of 31 variables, all to host order", 150, move || {
        let package = Package::new_checked(black_box(&bytes)).expect("a package");
        let Ok(Reply::Data { values, .. }) = Reply::parse(&package, Protocol::V2) else { unreachable!("it is data") };
        black_box(DriverView::new(values).expect("these variables").to_values());
    })
}

/// Converts every field of a sub-package of the primary interface (port 30001) to host order.
macro_rules! to_host_order {
    ($package:expr, $($variant:ident)+) => {
        match $package {
            $( SubPackage::$variant(view) => _ = black_box(view.to_repr()), )+
            other => unreachable!("{other:?} is not in the message"),
        }
    };
}

fn primary_state() -> Operation {
    let mut bytes = vec![0; 2048];
    let mut state = RobotStateWriter::new(&mut bytes).expect("room");
    let software = SoftwareVersion::new(5, 8);
    for package_type in [0, 1, 4, 9, 3, 2, 7, 8, 10, 11, 12] {
        let size = size_for(package_type, software).expect("a sub-package of this software");
        state.add_raw(package_type, &vec![0; size - 5]).expect("room");
    }
    let size = state.finish().expect("room");
    bytes.truncate(size);
    operation("robot state of 11 sub-packages, all fields to host order", 500, move || {
        let message = Message::new_checked(black_box(&bytes)).expect("a message");
        let MessageKind::RobotState(packages) = message.kind() else { unreachable!("it is a state") };
        for package in packages {
            to_host_order!(package.expect("a sub-package"), RobotModeData JointData CartesianInfo CalibrationData
                MasterboardData ToolData ForceModeData AdditionalInfo SafetyData ToolCommunicationInfo ToolModeInfo);
        }
    })
}

fn speedj_line() -> Operation {
    let mut room = [0; SpeedJ::MAX_LEN];
    let version = Version::new(5, 15);
    let command =
        SpeedJ { velocities: [0.123_456, -0.5, 1.25, -2.0, 0.000_1, 3.0], acceleration: 1.4, time: Some(0.02) };
    operation("speedj line, bare", 150, move || {
        let written = black_box(command).render(SpeedJForm::Bare, version, black_box(&mut room));
        black_box(written).expect("a text");
    })
}

fn fri_measurement() -> Operation {
    let mut bytes = vec![0; 916];
    MeasurementRepr { timestamp: 12.5, msr_jnt_pos: [0.5; 7], ..MeasurementRepr::default() }
        .emit(&mut bytes)
        .expect("a measurement");
    operation("FRI measurement of 916 B, all fields to host order", 150, move || {
        let measurement = Measurement::new_checked(black_box(&bytes)).expect("a measurement");
        black_box(measurement.to_repr());
    })
}

fn fri_command() -> Operation {
    let mut bytes = vec![0; 376];
    let command = CommandRepr { cmd_flags: 1, jnt_pos: [0.5; 7], ..CommandRepr::default() };
    operation("FRI command of 376 B, written, checked and read back", 150, move || {
        black_box(command).emit(black_box(&mut bytes)).expect("a command");
        black_box(Command::new_checked(black_box(&bytes)).expect("a command").jnt_pos());
    })
}

/// Returns the operation that answers an FRI measurement outside of commanding. The command repeats the KRC's own
/// setpoint, so no law is executed.
fn fri_answer() -> Operation {
    struct Still;
    impl Checkpoint for Still {}

    impl Law<7> for Still {
        fn step(&mut self, _: &State<7>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
            Ok(JointVelocities::ZERO)
        }
    }
    let mut bytes = vec![0; 916];
    let measured =
        MeasurementRepr { desired_cmd_sample_time: 0.001, state: 1, quality: 3, ..MeasurementRepr::default() };
    measured.emit(&mut bytes).expect("a measurement");
    let mut session = KrcEngine::new(KrcConfig::default(), Still, ()).expect("a possible session");
    let from = "192.0.2.1:49938".parse().expect("an address");
    let mut counter = 0_u16;
    let mut millis = 0;
    operation("FRI measurement to its command, mirrored", 1000, move || {
        counter = counter.wrapping_add(1);
        millis += 1;
        bytes[..2].copy_from_slice(&counter.to_le_bytes());
        let now = Instant::from_micros(1_000 * millis);
        session.receive_window(LinkId::FRI)[..916].copy_from_slice(black_box(&bytes));
        session.commit_datagram(LinkId::FRI, 916, from, now, now);
        session.handle(now, Input::Tick);
        assert!(black_box(session.poll_output()).is_some(), "every measurement is answered");
        while session.poll_event().is_some() {}
    })
}
