//! The topics of `ur_modern_driver`, the driver of 2015 to 2019, under the names that it used
//! (`core/docs/protocol/ros2-surface.md` 13).
//!
//! The types are those of ROS 2 with the same names. As with the other sets of names, a topic whose values the
//! controller does not send is not published.

use crate::arm::{Arm, UR_JOINTS};
use crate::readings::{Readings, Variable};
use crate::topic_macros::topics;
use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::{Qos, Topic};
use outrigger_ros2_messages::{
    Header, IOStates, MasterboardDataMsg, RobotModeDataMsg, RobotStatus, Temperature, Time, TwistStamped, WrenchStamped,
};
use outrigger_wire::robot::ControlMode;

topics! {
    /// Every topic that is published only under a name of the driver of 2015; `joint_states` and `/tf` have the same
    /// name in UR's driver for ROS 2.
    TOPICS {
        WRENCH: "wrench", WrenchStamped, Qos::SYSTEM, State,
            "force N and torque Nm at the tool's centre point, along the base's axes, as the controller reports them; of a KRC along the tool's";
        TOOL_VELOCITY: "tool_velocity", TwistStamped, Qos::SYSTEM, State,
            "speed of the tool's centre point in the base frame, m/s and rad/s";
        JOINT_TEMPERATURE: "joint_temperature", Temperature, Qos::SERVICES, Tenth,
            "motors, °C: a message for each joint, with the frame of its link; not with the names of PolyScope X, which include another topic of this name";
        IO_STATES: "ur_driver/io_states", IOStates, Qos::SYSTEM, State,
            "the same as io_and_status_controller/io_states";
        ROBOT_STATUS: "ur_driver/robot_status", RobotStatus, Qos::SYSTEM, Tenth,
            "-1 unknown, 0 no, 1 yes: emergency stop, power, motion possible (robot mode RUNNING), error (protective stop); in_motion is unknown, mode 1 \
     manual (freedrive) or 2";
        MASTERBOARD_STATE: "ur_driver/masterboard_state", MasterboardDataMsg, Qos::SYSTEM, Tenth,
            "the control box: bits of inputs and outputs, analog ones V or A, °C, V, A; safety and power state of CB2, else 0; by 30001 or 30002";
        ROBOT_MODE_STATE: "ur_driver/robot_mode_state", RobotModeDataMsg, Qos::SYSTEM, Tenth,
            "flags of the robot, and the controller's clock, µs; by 30001 or 30002";
    }
}

/// The names of the links that the joints turn, in the order of the joints.
const LINKS: [&str; UR_JOINTS.len()] =
    ["shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link"];
/// The interval between two messages of topics that are published ten times a second \[ns\].
const TENTH: u64 = 100_000_000;
/// The value of `safety_mode` during a protective stop.
const PROTECTIVE_STOP: u8 = 3;
/// The values of `safety_mode` during the two kinds of emergency stop.
const EMERGENCY_STOPS: [u8; 2] = [6, 7];
/// The `robot_mode` of an arm that a person moves by hand (backdrive).
const BACKDRIVE: i8 = 6;
/// The `robot_mode` of an arm whose brakes are released and that can move.
const RUNNING: i8 = 7;
/// The value in a message that stands for one that the controller does not report.
const UNKNOWN: i8 = -1;

/// A callback that receives each published topic with its message.
type Emit<'e> = dyn FnMut(&'static Topic, Vec<u8>) + 'e;

/// A publisher of the topics of `ur_modern_driver`, the driver of 2015.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Legacy {
    /// The time at which the messages of topics published ten times a second are due next \[ns\].
    next: u64,
}

impl Legacy {
    /// Publishes the topics of the driver of 2015 that are due with a new robot state, received at `stamp`. `io_states`
    /// is the message of the topic with that name, if there is one.
    pub(crate) fn state(
        &mut self,
        readings: &Readings,
        (arm, io_states): (&Arm, Option<&[u8]>),
        stamp: Time,
        emit: &mut Emit<'_>,
    ) {
        let header = |frame_id: &str| Header { stamp, frame_id: frame_id.into() };
        if let Some(states) = io_states {
            emit(&IO_STATES, states.to_vec());
        }
        if let Some(force) = readings.array::<6>(Variable::ActualTcpForce) {
            let is_krc = readings.all(Variable::MeasuredFrame).is_some();
            let frame = if is_krc { &arm.tool } else { &arm.base };
            emit(&WRENCH, encode(&WrenchStamped { header: header(frame), wrench: force.into() }));
        }
        if let Some(speed) = readings.array::<6>(Variable::ActualTcpSpeed) {
            emit(&TOOL_VELOCITY, encode(&TwistStamped { header: header(&arm.base), twist: speed.into() }));
        }
        let nanos = u64::try_from(stamp.sec).unwrap_or_default() * 1_000_000_000 + u64::from(stamp.nanosec);
        // The second condition keeps messages going after the clock was set back.
        if nanos < self.next && self.next - nanos <= TENTH {
            return;
        }
        self.next = nanos + TENTH;
        let prefix = arm.base.strip_suffix("base").unwrap_or_default();
        for (link, temperature) in LINKS.iter().zip(readings.all(Variable::JointTemperatures).unwrap_or_default()) {
            let header = header(&format!("{prefix}{link}"));
            emit(&JOINT_TEMPERATURE, encode(&Temperature { header, temperature: *temperature, variance: 0.0 }));
        }
        if let Some(status) = robot_status(readings, header("")) {
            emit(&ROBOT_STATUS, encode(&status));
        }
        if let Some(data) = masterboard(readings) {
            emit(&MASTERBOARD_STATE, encode(&data));
        }
        if let Some(data) = robot_mode(readings) {
            emit(&ROBOT_MODE_STATE, encode(&data));
        }
    }
}

/// Returns a bit of the robot's status; bit 0: the arm has power, bit 1: a program runs. Returns `None` if the
/// status is not reported.
fn status(readings: &Readings, bit: u32) -> Option<bool> {
    readings.bits(Variable::RobotStatusBits).map(|bits| bits >> bit & 1 == 1)
}

fn tri(value: Option<bool>) -> i8 {
    value.map_or(UNKNOWN, i8::from)
}

fn robot_status(readings: &Readings, header: Header) -> Option<RobotStatus> {
    let (mode, safety) = (readings.robot_mode()?, readings.safety_mode());
    let teaches = readings.integer(Variable::ControlMode) == Some(ControlMode::Teach.raw().into());
    Some(RobotStatus {
        header,
        mode: if teaches || mode == BACKDRIVE { 1 } else { 2 },
        e_stopped: tri(safety.map(|safety| EMERGENCY_STOPS.contains(&safety))),
        drives_powered: tri(status(readings, 0)),
        motion_possible: i8::from(mode == RUNNING),
        in_motion: UNKNOWN,
        in_error: tri(safety.map(|safety| safety == PROTECTIVE_STOP)),
        error_code: 0,
    })
}

fn masterboard(readings: &Readings) -> Option<MasterboardDataMsg> {
    let number = |of| readings.number(of).unwrap_or_default();
    // The only one of these values that no other port has.
    let masterboard_temperature = readings.number(Variable::MasterBoardTemperature)? as f32;
    let [range0, range1] = readings.array(Variable::AnalogInputRange).unwrap_or_default();
    let bits = |of| readings.bits(of).and_then(|bits| u32::try_from(bits).ok());
    let types = readings.bits(Variable::AnalogIoTypes).unwrap_or_default();
    let domain = |bit: u32| (types >> bit & 1) as i8;
    // RTDE reports currents in mA.
    let analog = |of, bit: u32| match readings.is_by_rtde(of) && types >> bit & 1 == 0 {
        true => number(of) * 1e-3,
        false => number(of),
    };
    let io_current = number(Variable::IoCurrent);
    Some(MasterboardDataMsg {
        digital_input_bits: bits(Variable::DigitalInputBits)?,
        digital_output_bits: bits(Variable::DigitalOutputBits).unwrap_or_default(),
        analog_input_range0: range0 as i8,
        analog_input_range1: range1 as i8,
        analog_input0: analog(Variable::AnalogInput0, 0),
        analog_input1: analog(Variable::AnalogInput1, 1),
        analog_output_domain0: domain(2),
        analog_output_domain1: domain(3),
        analog_output0: analog(Variable::AnalogOutput0, 2),
        analog_output1: analog(Variable::AnalogOutput1, 3),
        masterboard_temperature,
        robot_voltage_48v: number(Variable::ActualRobotVoltage) as f32,
        robot_current: number(Variable::ActualRobotCurrent) as f32,
        master_io_current: (if readings.is_by_rtde(Variable::IoCurrent) { io_current * 1e-3 } else { io_current })
            as f32,
        master_safety_state: number(Variable::MasterSafetyState) as u8,
        master_onoff_state: number(Variable::MasterOnOffState) as u8,
    })
}

fn robot_mode(readings: &Readings) -> Option<RobotModeDataMsg> {
    let flag = |of| readings.number(of).map(|value| value > 0.0);
    let safety = readings.safety_mode();
    Some(RobotModeDataMsg {
        timestamp: readings.number(Variable::Timestamp).map_or(0, |seconds| (seconds * 1e6) as u64),
        is_robot_connected: flag(Variable::RobotConnected)?,
        is_real_robot_enabled: flag(Variable::RealRobotEnabled)?,
        is_power_on_robot: status(readings, 0)?,
        is_emergency_stopped: safety.is_some_and(|safety| EMERGENCY_STOPS.contains(&safety)),
        is_protective_stopped: safety == Some(PROTECTIVE_STOP),
        is_program_running: status(readings, 1)?,
        is_program_paused: flag(Variable::ProgramPaused)?,
    })
}

/// Returns the topics of the driver of 2015 that cannot be filled yet, because the controller has not sent their
/// values.
#[must_use]
pub fn absent(readings: &Readings) -> Vec<&'static Topic> {
    let arm = Arm::new(&[], &outrigger_ros2_messages::endpoint::Names::default());
    let mut filled = vec![];
    // The message of `io_states` is made by Surface D.
    let io_states = readings.bits(Variable::DigitalInputBits).map(|_| &[][..]);
    Legacy::default().state(readings, (&arm, io_states), Time::default(), &mut |topic, _| filled.push(topic));
    let is_missing = |topic: &&'static Topic| !filled.iter().any(|known| std::ptr::eq(*known, *topic));
    TOPICS.iter().copied().filter(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fields::Value;
    use outrigger_wire::robot::SoftwareVersion;

    use super::*;
    use crate::readings::Port;
    use outrigger_ros2_messages::Message;
    use outrigger_ros2_messages::cdr::decode;
    use outrigger_ros2_messages::endpoint::Names;

    fn arm() -> Arm {
        Arm::new(&UR_JOINTS, &Names::new("", "left_").expect("a prefix"))
    }

    fn told(legacy: &mut Legacy, readings: &Readings, stamp: Time) -> Vec<(&'static str, Vec<u8>)> {
        let mut told = vec![];
        legacy.state(readings, (&arm(), None), stamp, &mut |topic, bytes| told.push((topic.name, bytes)));
        told
    }

    fn of<M: Message>(told: &[(&str, Vec<u8>)], name: &str) -> M {
        let (_, bytes) = told.iter().find(|(topic, _)| *topic == name).unwrap_or_else(|| panic!("no {name}"));
        decode(bytes).expect("its type")
    }

    fn e_series() -> Readings {
        let mut readings = Readings::default();
        readings.identified(SoftwareVersion::new(5, 15));
        readings.state(Port::Rtde, 0, |visitor| {
            for (name, value) in [
                ("timestamp", Value::F64(2.5)),
                ("actual_q", Value::F64s(&[1.0; 6])),
                ("actual_TCP_pose", Value::F64s(&[0.1, 0.2, 0.3, 1.0, 0.0, 0.0])),
                ("actual_TCP_force", Value::F64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                ("actual_TCP_speed", Value::F64s(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])),
                ("joint_temperatures", Value::F64s(&[21.0, 22.0, 23.0, 24.0, 25.0, 26.0])),
                ("actual_digital_input_bits", Value::Unsigned(0b101)),
                ("analog_io_types", Value::Unsigned(0b0101)),
                ("standard_analog_input0", Value::F64(5.0)),
                ("standard_analog_input1", Value::F64(8.0)),
                ("io_current", Value::F64(50.0)),
                ("robot_mode", Value::Signed(7)),
                ("safety_mode", Value::Signed(3)),
                ("robot_status_bits", Value::Unsigned(0b11)),
            ] {
                visitor.field(name, value);
            }
        });
        readings
    }

    #[test]
    fn a_wrench_and_a_speed_are_along_the_bases_axes_as_the_controller_has_them() {
        let told = told(&mut Legacy::default(), &e_series(), Time { sec: 5, nanosec: 7 });
        let wrench: WrenchStamped = of(&told, "wrench");
        assert_eq!((wrench.header.frame_id.as_str(), wrench.header.stamp.sec), ("left_base", 5));
        assert_eq!((wrench.wrench.force.z, wrench.wrench.torque.z), (3.0, 6.0));
        let speed: TwistStamped = of(&told, "tool_velocity");
        assert_eq!(
            (speed.header.frame_id.as_str(), speed.twist.linear.x, speed.twist.angular.x),
            ("left_base", 0.1, 0.4)
        );
        let status: RobotStatus = of(&told, "ur_driver/robot_status");
        assert_eq!((status.e_stopped, status.in_error, status.drives_powered), (0, 1, 1));
        assert_eq!((status.motion_possible, status.in_motion, status.mode), (1, -1, 2));
        let all: Vec<Temperature> = told
            .iter()
            .filter(|(name, _)| *name == "joint_temperature")
            .map(|(_, bytes)| decode(bytes).expect("its type"))
            .collect();
        assert_eq!(all.iter().map(|one| one.temperature).collect::<Vec<_>>(), [21.0, 22.0, 23.0, 24.0, 25.0, 26.0]);
        assert_eq!(all[5].header.frame_id, "left_wrist_3_link");
    }

    #[test]
    fn what_30001_alone_has_is_published_once_it_has_come() {
        let mut readings = e_series();
        let names = |of: &[(&'static str, Vec<u8>)]| of.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let without = names(&told(&mut Legacy::default(), &readings, Time::default()));
        let missing: Vec<_> = absent(&readings).iter().map(|topic| topic.name).collect();
        assert_eq!(missing, ["ur_driver/masterboard_state", "ur_driver/robot_mode_state"]);
        assert!(!missing.iter().any(|name| without.contains(name)), "{without:?}");
        readings.sub_package("robot_mode_data", 0, |visitor| {
            for (name, value) in
                [("is_robot_connected", 1), ("is_real_robot_enabled", 0), ("is_program_paused", 1), ("control_mode", 1)]
            {
                visitor.field(name, Value::Unsigned(value));
            }
        });
        readings.sub_package("masterboard_data", 0, |visitor| {
            visitor.field("master_board_temperature", Value::F32(31.5));
            visitor.field("analog_input_range", Value::Bytes(&[0, 3]));
        });
        assert!(absent(&readings).is_empty());
        let told = told(&mut Legacy::default(), &readings, Time::default());
        let mode: RobotModeDataMsg = of(&told, "ur_driver/robot_mode_state");
        assert_eq!((mode.timestamp, mode.is_robot_connected, mode.is_real_robot_enabled), (2_500_000, true, false));
        assert_eq!((mode.is_protective_stopped, mode.is_program_running, mode.is_program_paused), (true, true, true));
        assert_eq!(of::<RobotStatus>(&told, "ur_driver/robot_status").mode, 1, "it is taught");
        let board: MasterboardDataMsg = of(&told, "ur_driver/masterboard_state");
        assert_eq!((board.digital_input_bits, board.analog_input_range1, board.masterboard_temperature), (5, 3, 31.5));
        // Voltages stay as they are, and mA become A.
        assert_eq!((board.analog_input0, board.analog_input1, board.master_io_current), (5.0, 0.008, 0.05));
    }

    #[test]
    fn slow_messages_go_out_ten_times_a_second_also_after_the_clock_was_set_back() {
        let (mut legacy, readings) = (Legacy::default(), e_series());
        let mut count = |sec, nanosec| {
            let told = told(&mut legacy, &readings, Time { sec, nanosec });
            told.iter().filter(|(name, _)| *name == "ur_driver/robot_status").count()
        };
        let in_a_second: usize = (0..500).map(|state| count(10, state * 2_000_000)).sum();
        assert_eq!(in_a_second, 10);
        assert_eq!(count(3, 0), 1);
    }
}
