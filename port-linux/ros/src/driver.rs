//! The topics of UR's driver for ROS 2 under its names (Surface D, `core/docs/protocol/ros2-surface.md` 1), for a
//! controller of any age.
//!
//! A value that a controller does not report is not published; no substitute is invented.

use outrigger_wire::robot::Generation;

use crate::arm::Arm;
use crate::controller_state::controller_state;
use crate::legacy::Legacy;
use crate::pose::{pose, transform, wrench_at_tool, wrench_turned};
use crate::readings::{Readings, Variable};
use crate::scaling::Scaling;
use crate::topic_macros::topics;
use crate::urdf::{self, Geometry};
use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::{Distro, Qos, Topic};
use outrigger_ros2_messages::{
    Analog, ControllerState, Digital, DynamicJointState, Flag, Header, IOStates, InterfaceValue, JointState, Number,
    PoseStamped, RobotModeMsg, SafetyModeMsg, TFMessage, Text, Time, ToolDataMsg, TransformStamped, WrenchStamped,
};

topics! {
    /// Every topic that UR's driver for ROS 2 publishes and this node can fill.
    TOPICS {
        JOINT_STATES: "joint_states", JointState, Qos::SYSTEM, State,
            "position rad, velocity rad/s, effort: current A, of a KRC torque Nm";
        DYNAMIC_JOINT_STATES: "dynamic_joint_states", DynamicJointState, Qos::SYSTEM, State,
            "the same under names of their own; Humble and Jazzy";
        SPEED_SCALING: "speed_scaling_state_broadcaster/speed_scaling", Number, Qos::SYSTEM, State,
            "scaling in force, percent";
        IO_STATES: "io_and_status_controller/io_states", IOStates, Qos::SYSTEM, State,
            "18 digital inputs and outputs, 2 analog ones each: V, or A (by RTDE mA)";
        TOOL_DATA: "io_and_status_controller/tool_data", ToolDataMsg, Qos::SYSTEM, State,
            "the tool's connector: V, A (by RTDE mA), °C";
        ROBOT_MODE: "io_and_status_controller/robot_mode", RobotModeMsg, Qos::LATCHED, Change,
            "-1 no controller, 3 power off, 5 idle, 7 running";
        SAFETY_MODE: "io_and_status_controller/safety_mode", SafetyModeMsg, Qos::LATCHED, Change,
            "1 normal, 2 reduced, 3 protective stop, 5 safeguard stop, 6 and 7 emergency stop";
        PROGRAM_RUNNING: "io_and_status_controller/robot_program_running", Flag, Qos::LATCHED, Change,
            "whether this node commands the arm";
        WRENCH: "force_torque_sensor_broadcaster/wrench", WrenchStamped, Qos::SYSTEM, State,
            "force N and torque Nm at the tool's centre point";
        TCP_POSE: "tcp_pose_broadcaster/pose", PoseStamped, Qos::SYSTEM, State,
            "tool's centre point in the base frame, m";
        TF: "/tf", TFMessage, Qos::SYSTEM, State, "base to tool0_controller, the same pose";
        SCALED_STATE: "scaled_joint_trajectory_controller/controller_state", ControllerState, Qos::SYSTEM, Commanded,
            "reference and output: the controller's joint targets; feedback, error; rad, rad/s";
        JOINT_STATE: "joint_trajectory_controller/controller_state", ControllerState, Qos::SYSTEM, Commanded,
            "the same, by the name of newer releases";
        SCALED_LEGACY: "scaled_joint_trajectory_controller/state", ControllerState, Qos::SYSTEM, Commanded,
            "the same; Humble";
        JOINT_LEGACY: "joint_trajectory_controller/state", ControllerState, Qos::SYSTEM, Commanded, "the same; Humble";
        ROBOT_DESCRIPTION: "robot_description", Text, Qos::LATCHED, Change,
            "URDF: links, joints and limits, from the geometry that the arm reports (3.0 on); wrist 3 of UR3 and UR3e is `continuous`; \
             shapes are sticks, with `ros.expert.meshes` those of ur_description";
    }
}

/// Returns the topics of UR's driver in the ROS 2 release `distro` for which the readings so far lack values.
///
/// On 30001 and 30002 it takes up to 0.2 s until all parts have arrived.
#[must_use]
pub fn absent(readings: &Readings, distro: Distro) -> Vec<&'static Topic> {
    let arm = Arm::new(&[], &outrigger_ros2_messages::endpoint::Names::default());
    let (mut driver, mut told) = (Driver::new(arm, distro), vec![]);
    let mut emit = |topic: &'static Topic, _| told.push(topic);
    // A topic that is published only while commanding has data then.
    driver.commands(true, &mut emit);
    driver.describe(readings, [1.0; 6], &mut emit);
    driver.state(readings, Time::default(), &mut emit);
    let is = |topic: &Topic, of: &[&Topic]| of.iter().any(|of| std::ptr::eq(topic, *of));
    let of_release = |topic: &&&Topic| {
        (distro <= Distro::Jazzy || !is(topic, &[&DYNAMIC_JOINT_STATES]))
            && (distro == Distro::Humble || !is(topic, &[&SCALED_LEGACY, &JOINT_LEGACY]))
    };
    let missing = |topic: &&&'static Topic| !told.iter().any(|known| std::ptr::eq(*known, **topic));
    TOPICS.iter().filter(of_release).filter(missing).copied().collect()
}

/// A publisher of the values that a robot reports, under the names of UR's driver.
#[derive(Debug)]
pub struct Driver {
    arm: Arm,
    distro: Distro,
    scaling: Scaling,
    robot_mode: Option<i8>,
    safety_mode: Option<u8>,
    commands: Option<bool>,
    described: Option<Geometry>,
    legacy: Option<Legacy>,
    meshes: bool,
}

impl Driver {
    /// Creates a publisher for an arm, with the message layouts of the ROS 2 release `distro`.
    #[must_use]
    pub const fn new(arm: Arm, distro: Distro) -> Self {
        Self {
            arm,
            distro,
            scaling: Scaling::new(),
            robot_mode: None,
            safety_mode: None,
            commands: None,
            described: None,
            legacy: None,
            meshes: false,
        }
    }

    /// Sets whether topics are also published under the names of `ur_modern_driver`, the driver of 2015.
    #[must_use]
    pub fn with_legacy_names(mut self, legacy: bool) -> Self {
        self.legacy = legacy.then(Legacy::default);
        self
    }

    /// Sets whether the robot description uses the meshes of the package `ur_description`.
    #[must_use]
    pub const fn with_meshes(mut self, meshes: bool) -> Self {
        self.meshes = meshes;
        self
    }

    /// Returns the names of the arm's joints and frames.
    #[must_use]
    pub const fn arm(&self) -> &Arm {
        &self.arm
    }

    /// Publishes whether this node commands the arm, if that has changed since the last call.
    pub fn commands(&mut self, commands: bool, emit: &mut dyn FnMut(&'static Topic, Vec<u8>)) {
        if self.commands.replace(commands) != Some(commands) {
            emit(&PROGRAM_RUNNING, encode(&Flag { data: commands }));
        }
    }

    /// Publishes the robot description once the arm's geometry is known, and again if the geometry changes. The
    /// description limits the speed of each joint to `velocity` \[rad/s\].
    pub fn describe(&mut self, readings: &Readings, velocity: [f64; 6], emit: &mut dyn FnMut(&'static Topic, Vec<u8>)) {
        let geometry = Geometry::of(readings);
        if let Some(known) = &geometry
            && geometry != self.described
        {
            emit(&ROBOT_DESCRIPTION, encode(&Text { data: urdf::text(known, &self.arm, velocity, self.meshes) }));
            self.described = geometry;
        }
    }

    /// Publishes the topics that are due with a new robot state, which was received at `stamp`.
    pub fn state(&mut self, readings: &Readings, stamp: Time, emit: &mut dyn FnMut(&'static Topic, Vec<u8>)) {
        let header = |frame_id: &str| Header { stamp, frame_id: frame_id.into() };
        let joints = self.joints(readings, header(""));
        if self.distro <= Distro::Jazzy {
            emit(&DYNAMIC_JOINT_STATES, encode(&dynamic(&joints)));
        }
        emit(&JOINT_STATES, encode(&joints));
        let scaling = self.scaling.observe(readings);
        if let Some(scaling) = scaling {
            emit(&SPEED_SCALING, encode(&Number { data: scaling * 100.0 }));
        }
        if self.commands == Some(true)
            && let Some(state) = controller_state(readings, header(""), &self.arm.joints, scaling, self.distro)
        {
            if self.distro == Distro::Humble {
                emit(&SCALED_LEGACY, state.clone());
                emit(&JOINT_LEGACY, state.clone());
            }
            emit(&SCALED_STATE, state.clone());
            emit(&JOINT_STATE, state);
        }
        let states = io_states(readings).map(|states| encode(&states));
        if let Some(legacy) = &mut self.legacy {
            legacy.state(readings, (&self.arm, states.as_deref()), stamp, emit);
        }
        if let Some(states) = states {
            emit(&IO_STATES, states);
        }
        if let Some(data) = tool_data(readings) {
            emit(&TOOL_DATA, encode(&data));
        }
        if let Some(mode) = readings.robot_mode()
            && self.robot_mode.replace(mode) != Some(mode)
        {
            emit(&ROBOT_MODE, encode(&RobotModeMsg { mode }));
        }
        if let Some(mode) = readings.safety_mode()
            && self.safety_mode.replace(mode) != Some(mode)
        {
            emit(&SAFETY_MODE, encode(&SafetyModeMsg { mode }));
        }
        if let Some(wrench) = wrench(readings) {
            emit(&WRENCH, encode(&WrenchStamped { header: header(&self.arm.tool), wrench }));
        }
        if let Some(at) = tool_pose(readings) {
            emit(&TCP_POSE, encode(&PoseStamped { header: header(&self.arm.base), pose: pose(at) }));
            let transform = TransformStamped {
                header: header(&self.arm.base),
                child_frame_id: self.arm.tool.clone(),
                transform: transform(at),
            };
            emit(&TF, encode(&TFMessage { transforms: vec![transform] }));
        }
    }

    fn joints(&self, readings: &Readings, header: Header) -> JointState {
        let all = |of| readings.all(of).unwrap_or_default().to_vec();
        let effort = match readings.all(Variable::ActualCurrent) {
            Some(current) => current.to_vec(),
            // A KRC reports torques.
            None => all(Variable::ActualTorque),
        };
        JointState {
            header,
            name: self.arm.joints.clone(),
            position: all(Variable::ActualQ),
            velocity: all(Variable::ActualQd),
            effort,
        }
    }
}

fn dynamic(joints: &JointState) -> DynamicJointState {
    let of = [("position", &joints.position), ("velocity", &joints.velocity), ("effort", &joints.effort)];
    let values = |joint: usize| {
        let known = of.iter().filter_map(|(name, values)| Some(((*name).to_owned(), *values.get(joint)?)));
        let (interface_names, values) = known.unzip();
        InterfaceValue { interface_names, values }
    };
    DynamicJointState {
        header: joints.header.clone(),
        joint_names: joints.name.clone(),
        interface_values: (0..joints.name.len()).map(values).collect(),
    }
}

/// The number of digital terminals, numbered in every message as 0–7 standard, 8–15 configurable, 16 and 17 at the
/// tool.
const TERMINALS: u8 = 18;

fn io_states(readings: &Readings) -> Option<IOStates> {
    let digital = |of| {
        let bits = readings.bits(of)?;
        Some((0..TERMINALS).map(|pin| Digital { pin, state: bits >> pin & 1 == 1 }).collect())
    };
    let types = readings.bits(Variable::AnalogIoTypes).unwrap_or_default();
    let analog = |of: [Variable; 2], first: u8| {
        let one = |(pin, of): (u8, Variable)| {
            let state = readings.number(of)? as f32;
            Some(Analog { pin, domain: (types >> (first + pin) & 1) as u8, state })
        };
        (0..).zip(of).filter_map(one).collect()
    };
    Some(IOStates {
        digital_in_states: digital(Variable::DigitalInputBits)?,
        digital_out_states: digital(Variable::DigitalOutputBits).unwrap_or_default(),
        flag_states: vec![],
        analog_in_states: analog([Variable::AnalogInput0, Variable::AnalogInput1], 0),
        analog_out_states: analog([Variable::AnalogOutput0, Variable::AnalogOutput1], 2),
    })
}

fn tool_data(readings: &Readings) -> Option<ToolDataMsg> {
    let number = |of| readings.number(of).unwrap_or_default();
    let types = readings.bits(Variable::ToolAnalogInputTypes).unwrap_or_default();
    Some(ToolDataMsg {
        analog_input_range2: (types & 1) as i8,
        analog_input_range3: (types >> 1 & 1) as i8,
        analog_input2: number(Variable::ToolAnalogInput0),
        analog_input3: number(Variable::ToolAnalogInput1),
        // UR's driver also leaves this at 0.
        tool_voltage_48v: 0.0,
        tool_output_voltage: readings.integer(Variable::ToolOutputVoltage)? as u8,
        tool_current: number(Variable::ToolOutputCurrent) as f32,
        tool_temperature: number(Variable::ToolTemperature) as f32,
        tool_mode: number(Variable::ToolMode) as u8,
    })
}

/// Returns the pose of the tool in the base: position \[m\] and rotation vector \[rad\], converted from the matrix that
/// a KRC reports. Returns `None` if the pose is missing or not finite.
pub(crate) fn tool_pose(readings: &Readings) -> Option<[f64; 6]> {
    let finite = |pose: &[f64; 6]| pose.iter().all(|value| value.is_finite());
    if let Some(pose) = readings.array(Variable::ActualTcpPose) {
        return Some(pose).filter(finite);
    }
    let rows: [f64; 12] = readings.array(Variable::MeasuredFrame)?;
    crate::pose::of_rows(&rows).filter(finite)
}

fn wrench(readings: &Readings) -> Option<outrigger_ros2_messages::Wrench> {
    let force: [f64; 6] = readings.array(Variable::ActualTcpForce)?;
    let Some(target) = readings.array(Variable::TargetTcpPose).or_else(|| readings.array(Variable::ActualTcpPose))
    else {
        // A KRC reports the force at the point where it acts, along the tool's axes.
        return Some(force.into());
    };
    match readings.software()?.generation() {
        Generation::Cb2 | Generation::Cb3 => Some(wrench_turned(force, target)),
        Generation::ESeries | Generation::PolyScopeX => {
            Some(wrench_at_tool(force, target, readings.array(Variable::TcpOffset)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fields::Value;
    use outrigger_wire::robot::SoftwareVersion;

    use super::*;
    use crate::arm::UR_JOINTS;
    use crate::readings::Port;
    use outrigger_ros2_messages::Message;
    use outrigger_ros2_messages::cdr::decode;
    use outrigger_ros2_messages::endpoint::Names;
    use outrigger_ros2_messages::endpoint::PublishTrigger;

    fn published(readings: &Readings, distro: Distro) -> Vec<(&'static str, Vec<u8>)> {
        let arm = Arm::new(&UR_JOINTS, &Names::new("", "left_").unwrap());
        let mut driver = Driver::new(arm, distro);
        let mut out = vec![];
        let stamp = Time { sec: 5, nanosec: 7 };
        driver.state(readings, stamp, &mut |topic, bytes| out.push((topic.name, bytes)));
        // A topic published on change is published once.
        driver.state(readings, stamp, &mut |topic, _| assert_ne!(topic.when, PublishTrigger::Change, "{}", topic.name));
        out
    }

    fn of<M: Message>(out: &[(&str, Vec<u8>)], name: &str) -> M {
        let (_, bytes) = out.iter().find(|(topic, _)| *topic == name).unwrap_or_else(|| panic!("no {name}"));
        decode(bytes).expect("its type")
    }

    #[test]
    fn what_a_robot_tells_is_published_and_what_it_does_not_is_absent() {
        let mut readings = Readings::default();
        readings.state(Port::Realtime, 0, |visitor| visitor.field("q_actual", Value::F64s(&[0.5; 6])));
        let few = published(&readings, Distro::Lyrical);
        let without: Vec<_> = absent(&readings, Distro::Lyrical).iter().map(|topic| topic.name).collect();
        assert_eq!(without.len(), TOPICS.len() - 5, "joint_states, robot_program_running; {without:?}");
        assert!(without.contains(&"/tf") && !absent(&readings, Distro::Humble).contains(&&DYNAMIC_JOINT_STATES));
        assert_eq!(few.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["joint_states"]);
        let state: JointState = of(&few, "joint_states");
        assert_eq!((state.header.stamp.sec, state.name[0].as_str()), (5, "left_shoulder_pan_joint"));
        assert_eq!((state.position, state.velocity), (vec![0.5; 6], vec![]));
        assert!(published(&readings, Distro::Humble).iter().any(|(name, _)| *name == "dynamic_joint_states"));

        readings.identified(SoftwareVersion::new(5, 15));
        readings.state(Port::Rtde, 0, |visitor| {
            for (name, value) in [
                ("actual_q", Value::F64s(&[1.0; 6])),
                ("actual_current", Value::F64s(&[2.0; 6])),
                ("actual_TCP_pose", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
                ("target_TCP_pose", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
                ("actual_TCP_force", Value::F64s(&[1.0, 2.0, 3.0, 0.0, 0.0, 0.0])),
                ("actual_digital_input_bits", Value::Unsigned(0b101)),
                ("actual_digital_output_bits", Value::Unsigned(1 << 17)),
                ("analog_io_types", Value::Unsigned(0b0101)),
                ("standard_analog_input0", Value::F64(5.0)),
                ("standard_analog_output1", Value::F64(0.02)),
                ("tool_output_voltage", Value::Signed(24)),
                ("tool_mode", Value::Unsigned(253)),
                ("robot_mode", Value::Signed(7)),
                ("safety_mode", Value::Signed(1)),
                ("speed_scaling", Value::F64(0.5)),
                ("target_speed_fraction", Value::F64(0.5)),
                ("runtime_state", Value::Unsigned(2)),
            ] {
                visitor.field(name, value);
            }
        });
        let mut driver = Driver::new(Arm::new(&UR_JOINTS, &Names::default()), Distro::Jazzy).with_legacy_names(true);
        let mut states = vec![];
        driver.state(&readings, Time::default(), &mut |topic, bytes| {
            states.extend(topic.name.ends_with("io_states").then_some(bytes));
        });
        assert!(states.len() == 2 && states[0] == states[1], "by both names");
        let all = published(&readings, Distro::Jazzy);
        assert!(!all.iter().any(|(name, _)| name.starts_with("ur_driver/")));
        let io: IOStates = of(&all, "io_and_status_controller/io_states");
        let high: Vec<u8> = io.digital_in_states.iter().filter(|input| input.state).map(|input| input.pin).collect();
        assert_eq!((io.digital_in_states.len(), high), (18, vec![0, 2]));
        assert!(io.digital_out_states[17].state && io.digital_out_states[17].pin == 17);
        assert_eq!(io.analog_in_states, [Analog { pin: 0, domain: 1, state: 5.0 }]);
        assert_eq!(io.analog_out_states, [Analog { pin: 1, domain: 0, state: 0.02 }]);
        assert_eq!(of::<Number>(&all, "speed_scaling_state_broadcaster/speed_scaling").data, 25.0);
        assert_eq!(of::<ToolDataMsg>(&all, "io_and_status_controller/tool_data").tool_mode, 253);
        assert_eq!(of::<RobotModeMsg>(&all, "io_and_status_controller/robot_mode").mode, 7);
        let pose: PoseStamped = of(&all, "tcp_pose_broadcaster/pose");
        assert_eq!((pose.header.frame_id.as_str(), pose.pose.position.z), ("left_base", 0.3));
        let tf: TFMessage = of(&all, "/tf");
        assert_eq!(tf.transforms[0].child_frame_id, "left_tool0_controller");
        // The lever arm is unknown without the tool's offset.
        assert!(!all.iter().any(|(name, _)| name.contains("wrench")));
        readings.state(Port::Rtde, 0, |visitor| visitor.field("tcp_offset", Value::F64s(&[0.0; 6])));
        let wrench: WrenchStamped = of(&published(&readings, Distro::Jazzy), "force_torque_sensor_broadcaster/wrench");
        assert_eq!((wrench.wrench.force.z, wrench.header.frame_id.as_str()), (3.0, "left_tool0_controller"));
    }

    #[test]
    fn controllers_of_trajectories_tell_of_themselves_while_the_arm_is_commanded() {
        let mut readings = Readings::default();
        readings.state(Port::Rtde, 0, |visitor| {
            visitor.field("actual_q", Value::F64s(&[0.5; 6]));
            visitor.field("target_q", Value::F64s(&[0.75; 6]));
        });
        for (distro, expected) in [(Distro::Humble, 4), (Distro::Jazzy, 2), (Distro::Lyrical, 2)] {
            let mut driver = Driver::new(Arm::new(&UR_JOINTS, &Names::default()), distro);
            let of_controllers = |topic: &&Topic| topic.when == PublishTrigger::Commanded;
            assert!(!absent(&readings, distro).into_iter().any(|topic| of_controllers(&topic)), "{distro:?}");
            for commands in [false, true, false] {
                driver.commands(commands, &mut |_, _| {});
                let mut told = vec![];
                driver.state(&readings, Time::default(), &mut |topic, _| {
                    told.extend((topic.when == PublishTrigger::Commanded).then_some(topic.name));
                });
                assert_eq!(told.len(), if commands { expected } else { 0 }, "{distro:?} {told:?}");
            }
        }
    }

    #[test]
    fn whether_it_commands_is_told_on_change() {
        let mut driver = Driver::new(Arm::new(&UR_JOINTS, &Names::default()), Distro::Jazzy);
        let mut told = vec![];
        for commands in [false, false, true, true, false] {
            driver.commands(commands, &mut |_, bytes| told.push(decode::<Flag>(&bytes).expect("its type").data));
        }
        assert_eq!(told, [false, true, false]);
    }
}
