//! The topics that a PolyScope X controller publishes itself (Surface N, `core/docs/protocol/ros2-surface.md` 4),
//! for a controller of any age.
//!
//! A topic is published if the controller reports its whole message. Headers of values without a position have no
//! frame, as on the controller. The other frames are those of UR's driver (UNCONFIRMED for these topics): `base`,
//! `tool0` for the flange, `tool0_controller` for the tool's centre point.
//!
//! Names and quality of service are taken from UR's paper "ROS2 in UR" and from UR's publications for PolyScope X 10.7
//! to 10.11: the page on the namespace, and samples of its SDK with the topics of inputs and outputs. None of it was
//! compared with a controller.

mod state_topics;
#[cfg(test)]
mod tests;

use crate::arm::Arm;
use crate::readings::{Readings, Variable};
use crate::topic_macros::topics;
use outrigger_ros2_messages::cdr::ENCAPSULATION;
use outrigger_ros2_messages::endpoint::{NameError, Names, PublishTrigger, Qos, Topic};
use outrigger_ros2_messages::{
    AccelStamped, ActiveTCP, AnalogIOStateStamped, AnalogPort, BoolStamped, ControlCycle, Current,
    DigitalIOStateStamped, DigitalPort, Float32Stamped, Float64Stamped, InertiaStamped, JointMode, JointState,
    JointTemperature, JointVoltage, Message, PoseStamped, RobotMode, RuntimeState, SafetyStatus, SpeedSliderFraction,
    TCPState, TFMessage, Temperature, Time, TimeReference, ToolOutputMode, VoltageCurrentStamped, WorldModelNames,
    WrenchStamped,
};

/// The quality of service of the topics of digital and analog inputs and outputs: late subscribers receive the newest
/// ten messages.
const LATCHED_10: Qos = Qos { depth: 10, ..Qos::LATCHED };

topics! {
    /// Every topic of PolyScope X that can be published, except the inputs and outputs, which are in [`GROUPED`] or in
    /// [`PORTS`].
    TOPICS {
        TARGET_JOINT_STATES: "target_joint_states", JointState, Qos::SYSTEM, Powered,
            "position rad, velocity rad/s, effort Nm: the target torque, without the torque of friction";
        JOINT_STATES: "joint_states", JointState, Qos::BEST_EFFORT, Powered,
            "position rad, velocity rad/s, effort Nm if the controller reports torques (about 5.23, 10.11 on), else none";
        ACTUAL_TCP_STATE: "actual_tcp_state", TCPState, Qos::BEST_EFFORT, Powered,
            "tool's centre point in the base frame: pose m, speed m/s and rad/s";
        TARGET_TCP_STATE: "target_tcp_state", TCPState, Qos::BEST_EFFORT, State, "the same of the target";
        JOINT_TEMPERATURE: "joint_temperature", JointTemperature, Qos::LATCHED, PoweredChange, "motors, °C";
        TOOL_TEMPERATURE: "tool_temperature", Temperature, Qos::LATCHED, PoweredChange,
            "°C; variance 0, which means unknown";
        CONTROL_CYCLE: "control_cycle", ControlCycle, Qos::LATCHED, State,
            "cycles of the controller (5.26, 10.13 on); before, its clock by the length of a cycle";
        EXECUTION_TIME: "execution_time", TimeReference, Qos::BEST_EFFORT, State,
            "s that the controller's last cycle took (UNCONFIRMED in which field, and of 30003 in which unit)";
        SAFETY_STATUS: "safety_status", SafetyStatus, Qos::LATCHED, Change,
            "1 normal, 2 reduced, 3 protective stop, 5 safeguard stop, 6 and 7 emergency stop; to 23";
        ROBOT_MODE: "robot_mode", RobotMode, Qos::LATCHED, Change, "-1 no controller, 3 power off, 5 idle, 7 running";
        ARM_POWERED_ON: "arm_powered_on", BoolStamped, Qos::LATCHED, Change, "whether the arm has power";
        JOINT_MODE: "joint_mode", JointMode, Qos::LATCHED, Change,
            "253 running, 255 idle, 239 power off; CB2 uses 240, 247, 248 and 251 with other meanings";
        PROGRAM_STATE: "program_state", RuntimeState, Qos::LATCHED, Change,
            "0 stopping, 1 stopped, 2 running, 3 pausing, 4 paused, 5 resuming (by 30003 UNCONFIRMED)";
        TCP_OFFSET: "tcp_offset", PoseStamped, Qos::LATCHED, Change, "tool's centre point in the flange's frame, m";
        PAYLOAD: "payload", InertiaStamped, Qos::LATCHED, Change,
            "in the flange's frame: mass kg, center m, inertia kg·m² (3.15, 5.10 on)";
        TOOL_OUTPUT_MODE: "tool_output_mode", ToolOutputMode, Qos::LATCHED, Change,
            "mode 0 outputs, 1 power; pins 1 sinking, 2 sourcing, 3 push-pull (5.2 on)";
        TOOL_VOLTAGE_CURRENT: "tool_voltage_current", VoltageCurrentStamped, Qos::BEST_EFFORT, Powered,
            "supply at the tool's connector, V and A";
        ROBOT_VOLTAGE_CURRENT: "robot_voltage_current", VoltageCurrentStamped, Qos::BEST_EFFORT, State,
            "48 V supply of the arm, V and A";
        IO_CURRENT: "io_current", Current, Qos::BEST_EFFORT, State, "of the control box's inputs and outputs, A";
        MAIN_VOLTAGE: "main_voltage", Float32Stamped, Qos::BEST_EFFORT, State, "of the safety board, V";
        JOINT_VOLTAGE: "joint_voltage", JointVoltage, Qos::BEST_EFFORT, Powered, "V";
        TOOL_ACCELEROMETER: "tool_accelerometer", AccelStamped, Qos::BEST_EFFORT, Powered,
            "linear m/s²; angular is not measured and always 0";
        ACTUAL_SPEED_FRACTION: "actual_speed_fraction", SpeedSliderFraction, Qos::LATCHED, State,
            "0 to 1: the controller's scaling, times the slider if reported";
        SPEED_SCALING: "speed_scaling", SpeedSliderFraction, Qos::LATCHED, State,
            "the same as actual_speed_fraction, by its name in UR's paper on ROS 2 in PolyScope X";
        TARGET_SPEED_FRACTION: "target_speed_fraction", SpeedSliderFraction, Qos::LATCHED, Change,
            "0 to 1: the slider";
        SPEED_FRACTION: "speed_fraction", SpeedSliderFraction, Qos::LATCHED, Change,
            "the same as target_speed_fraction, by its name in UR's paper on ROS 2 in PolyScope X";
        TCP_FORCE_SCALAR: "tcp_force_scalar", Float64Stamped, Qos::BEST_EFFORT, State,
            "magnitude of the force at the tool's centre point, N";
        ACTUAL_MOMENTUM: "actual_momentum", Float64Stamped, Qos::BEST_EFFORT, Powered,
            "magnitude of the linear momentum, kg·m/s";
        TCP_WRENCH: "tcp_wrench", WrenchStamped, Qos::BEST_EFFORT, Powered,
            "force N and torque Nm at the tool's centre point, along the base's axes; of a KRC along the tool's";
        PROGRAM_RUNNING: "program_running", BoolStamped, Qos::LATCHED, Change, "whether a program runs";
        TEACH_BUTTON_PRESSED: "teach_button_pressed", BoolStamped, Qos::LATCHED, Change, "freedrive, at the pendant";
        POWER_BUTTON_PRESSED: "power_button_pressed", BoolStamped, Qos::LATCHED, Change, "at the pendant";
        TF: "/tf", TFMessage, Qos::SYSTEM, State, "base to tool0_controller: the measured pose";
    }
    /// The inputs and outputs as PolyScope X publishes them from 10.7 on.
    GROUPED {
        CONTROL_BOX_DIGITAL_IO: "control_box_digital_io", DigitalIOStateStamped, LATCHED_10, Change,
            "pins 0 to 7, standard and configurable; only those that the controller reports";
        CONTROL_BOX_ANALOG_IO: "control_box_analog_io", AnalogIOStateStamped, LATCHED_10, Change,
            "pins 0 and 1, A or V; without those whose domain the controller does not report";
        TOOL_DIGITAL_IO: "tool_digital_io", DigitalIOStateStamped, LATCHED_10, Change,
            "pins 0 and 1 as standard ones (UNCONFIRMED that they are placed there)";
        TOOL_ANALOG_IO: "tool_analog_io", AnalogIOStateStamped, LATCHED_10, Change, "inputs 0 and 1, A or V";
    }
    /// The inputs and outputs with one topic for each port, as UR's paper "ROS2 in UR" lists them and PolyScope X
    /// published them before 10.7.
    PORTS {
        STANDARD_DIGITAL_INPUTS: "standard_digital_inputs", DigitalPort, LATCHED_10, Change, "pins 0 to 7";
        CONFIGURABLE_DIGITAL_INPUTS: "configurable_digital_inputs", DigitalPort, LATCHED_10, Change, "pins 0 to 7";
        STANDARD_DIGITAL_OUTPUTS: "standard_digital_outputs", DigitalPort, LATCHED_10, Change, "pins 0 to 7";
        CONFIGURABLE_DIGITAL_OUTPUTS: "configurable_digital_outputs", DigitalPort, LATCHED_10, Change, "pins 0 to 7";
        TOOL_DIGITAL_INPUTS: "tool_digital_inputs", DigitalPort, Qos::BEST_EFFORT, Change, "pins 0 and 1";
        TOOL_DIGITAL_OUTPUTS: "tool_digital_outputs", DigitalPort, Qos::BEST_EFFORT, Change, "pins 0 and 1";
        STANDARD_ANALOG_INPUT_0: "standard_analog_input_0", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
        STANDARD_ANALOG_INPUT_1: "standard_analog_input_1", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
        STANDARD_ANALOG_OUTPUT_0: "standard_analog_output_0", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
        STANDARD_ANALOG_OUTPUT_1: "standard_analog_output_1", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
        TOOL_ANALOG_INPUT_0: "tool_analog_input_0", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
        TOOL_ANALOG_INPUT_1: "tool_analog_input_1", AnalogPort, Qos::BEST_EFFORT, Change, "A or V";
    }
    /// The topics of PolyScope X whose values no port of any controller provides. They are never published.
    NEVER {
        WORLD_MODEL_FRAMES: "world_model_frames", WorldModelNames, Qos::LATCHED, Change, "names of frames";
        WORLD_MODEL_WAYPOINTS: "world_model_waypoints", WorldModelNames, Qos::LATCHED, Change, "names of waypoints";
        ACTIVE_TCP_NAME: "active_tcp_name", ActiveTCP, Qos::LATCHED, Change, "name of the tool's centre point in force";
    }
}

/// The RTDE variables from which the topics of PolyScope X are filled. A topic that needs a variable unknown to the
/// controller is not published.
pub const VARIABLES: &[&str] = &[
    "timestamp",
    "target_q",
    "target_qd",
    "target_moment",
    "actual_q",
    "actual_qd",
    "actual_current_as_torque",
    "actual_TCP_pose",
    "actual_TCP_speed",
    "actual_TCP_force",
    "target_TCP_pose",
    "target_TCP_speed",
    "joint_temperatures",
    "tool_temperature",
    "control_step",
    "actual_execution_time",
    "safety_mode",
    "safety_status",
    "robot_mode",
    "robot_status_bits",
    "joint_mode",
    "tool_mode",
    "runtime_state",
    "tcp_offset",
    "payload",
    "payload_cog",
    "payload_inertia",
    "actual_digital_input_bits",
    "actual_digital_output_bits",
    "analog_io_types",
    "standard_analog_input0",
    "standard_analog_input1",
    "standard_analog_output0",
    "standard_analog_output1",
    "tool_analog_input_types",
    "tool_analog_input0",
    "tool_analog_input1",
    "tool_output_mode",
    "tool_digital_output0_mode",
    "tool_digital_output1_mode",
    "tool_output_voltage",
    "tool_output_current",
    "actual_robot_voltage",
    "actual_robot_current",
    "io_current",
    "actual_main_voltage",
    "actual_joint_voltage",
    "actual_tool_accelerometer",
    "speed_scaling",
    "target_speed_fraction",
    "tcp_force_scalar",
    "actual_momentum",
];

/// The choice of topics for inputs and outputs (UNCONFIRMED on a controller).
///
/// UR's paper "ROS2 in UR" lists one topic for each port, of a type `DigitalPort`. That type, and an `Analog` with a
/// header, were in `urinterfaces` until UR replaced both for PolyScope X 10.7; its SDK has new topic names from then
/// on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminals {
    /// The topics of [`GROUPED`]: one for the control box and one for the tool.
    #[default]
    Grouped,
    /// The topics of [`PORTS`]: one for each port. Today's `urinterfaces` has no `DigitalPort`, and another layout
    /// for `Analog`.
    Ports,
}

/// Returns every topic that is published under the names of PolyScope X.
pub fn topics(terminals: Terminals) -> impl Iterator<Item = &'static Topic> {
    let of_terminals = match terminals {
        Terminals::Grouped => GROUPED,
        Terminals::Ports => PORTS,
    };
    TOPICS.iter().chain(of_terminals).copied()
}

/// Returns the quality of service of a topic; with `offer_reliable`, lost messages of every topic are sent again.
/// Without it, subscribers that require reliability, such as RViz and MoveIt, receive nothing on topics that a
/// controller publishes as best effort. All other subscribers receive the messages either way.
#[must_use]
pub const fn qos(topic: &Topic, offer_reliable: bool) -> Qos {
    Qos { reliable: topic.qos.reliable || offer_reliable, ..topic.qos }
}

/// Returns the absolute name of a topic. With `at_root` the joint states are outside the namespace, as on a
/// controller. Their joints have the namespace in front of their names instead, so that tools of ROS find the topic
/// and can distinguish arms.
#[must_use]
pub fn whole_name(topic: &'static Topic, names: &Names, at_root: bool) -> String {
    let of_joints = std::ptr::eq(topic, &JOINT_STATES) || std::ptr::eq(topic, &TARGET_JOINT_STATES);
    if at_root && of_joints { format!("/{}", topic.name) } else { names.of(topic.name) }
}

/// The form of a namespace made from a serial number (`core/docs/protocol/ros2-surface.md` 10.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serial {
    /// The form of a namespace with `UR` before the serial number, `/UR20225300015`, as UR documents it.
    #[default]
    WithUr,
    /// The form of a namespace with the serial number alone, `/20225300015`, as in an example of a container in UR's
    /// paper "ROS2 in UR". Clients refuse it, because no name in ROS 2 begins with a digit.
    Bare,
}

/// Returns the names for the controller with this serial number: its namespace, and a prefix made of the same text
/// for joints and frames (`UR20225300015_elbow_joint`).
///
/// # Errors
/// [`NameError`] if the serial number does not give a valid ROS name.
pub fn names(serial: &str, form: Serial) -> Result<Names, NameError> {
    let number = serial.trim();
    if number.is_empty() {
        return Err(NameError { expected: "a serial number such as 20225300015", found: serial.into() });
    }
    let word = match form {
        Serial::WithUr if !number.starts_with("UR") => format!("UR{number}"),
        Serial::WithUr | Serial::Bare => number.to_owned(),
    };
    Names::new(&word, &format!("{word}_"))
}

/// The placeholder for the serial number in a namespace or a prefix.
const PLACE: &str = "{serial}";
/// The value of the namespace setting that selects the namespace of a controller, made from its serial number.
const SERIAL: &str = "serial";

/// Returns `true` if the namespace or the prefix contains the placeholder `{serial}`, or the namespace is `serial`: the
/// names are then made from the arm's serial number.
#[must_use]
pub fn by_serial(namespace: &str, prefix: &str) -> bool {
    namespace == SERIAL || namespace.contains(PLACE) || prefix.contains(PLACE)
}

/// Returns the names for a namespace and a prefix into which the arm's serial number is inserted. The namespace
/// `serial` has the form [`Serial::WithUr`], and `{serial}` alone the form [`Serial::Bare`]. Elsewhere the number
/// replaces `{serial}`, as in `/cell/UR{serial}`.
///
/// # Errors
/// [`NameError`] if the serial number is empty or the result is not a valid ROS name.
pub fn names_by_serial(namespace: &str, prefix: &str, serial: &str) -> Result<Names, NameError> {
    let of_controller = match namespace {
        SERIAL => Some(names(serial, Serial::WithUr)?),
        PLACE => Some(names(serial, Serial::Bare)?),
        _ => None,
    };
    let number = serial.trim();
    if number.is_empty() {
        return Err(NameError { expected: "a serial number such as 20225300015", found: serial.into() });
    }
    let filled = |text: &str| text.replace(PLACE, number);
    match of_controller {
        Some(of) if prefix.is_empty() => Ok(of),
        Some(of) => Names::new(&of.namespace, &filled(prefix)),
        None => Names::new(&filled(namespace), &filled(prefix)),
    }
}

/// Returns the topics of PolyScope X for which the readings so far lack values, followed by those of [`NEVER`].
///
/// On 30001 and 30002 it takes up to 0.2 s until all parts have arrived.
#[must_use]
pub fn absent(readings: &Readings, terminals: Terminals) -> Vec<&'static Topic> {
    let arm = Arm::new(&[], &Names::default());
    let mut absent = vec![];
    state_topics::each(&arm, terminals, readings, Time::default(), &mut |topic, message| {
        if message.is_none() {
            absent.push(topic);
        }
    });
    absent.extend(NEVER);
    absent
}

/// A publisher of the values that a controller reports, under the topic names of PolyScope X.
#[derive(Debug)]
pub struct Native {
    arm: Arm,
    terminals: Terminals,
    /// The last message of each topic that is published only on change.
    told: Vec<(&'static Topic, Vec<u8>)>,
}

impl Native {
    /// Creates a publisher for an arm. On a PolyScope X controller, the arm's names have the prefix returned by
    /// [`names`].
    #[must_use]
    pub const fn new(arm: Arm, terminals: Terminals) -> Self {
        Self { arm, terminals, told: vec![] }
    }

    /// Returns the names of the arm's joints and frames.
    #[must_use]
    pub const fn arm(&self) -> &Arm {
        &self.arm
    }

    /// Returns the choice of topics for inputs and outputs: grouped or one per port.
    #[must_use]
    pub const fn terminals(&self) -> Terminals {
        self.terminals
    }

    /// Publishes the topics that are due with a new robot state, which was received at `stamp`.
    pub fn state(&mut self, readings: &Readings, stamp: Time, emit: &mut dyn FnMut(&'static Topic, Vec<u8>)) {
        // If the power state is not reported, as on CB2 before 1.7, joints are published rather than never shown.
        let powered = powered(readings).unwrap_or(true);
        let told = &mut self.told;
        state_topics::each(&self.arm, self.terminals, readings, stamp, &mut |topic, message| {
            let Some(bytes) = message else { return };
            let due = match topic.when {
                PublishTrigger::State
                | PublishTrigger::Commanded
                | PublishTrigger::Tenth
                | PublishTrigger::Second
                | PublishTrigger::Event => true,
                PublishTrigger::Powered => powered,
                PublishTrigger::Change => is_news(told, topic, &bytes),
                PublishTrigger::PoweredChange => powered && is_news(told, topic, &bytes),
            };
            if due {
                emit(topic, bytes);
            }
        });
    }
}

/// The robot mode `IDLE`: in it and in higher modes the arm has power.
const IDLE: i8 = 5;

fn powered(readings: &Readings) -> Option<bool> {
    let bit = readings.bits(Variable::RobotStatusBits).map(|bits| bits & 1 == 1);
    bit.or_else(|| Some(readings.robot_mode()? >= IDLE))
}

/// The length of the encapsulation and of the time stamp at the beginning of a message \[bytes\]. They are ignored when
/// changes of a topic's content are detected.
const STAMPED: usize = ENCAPSULATION.len() + 8;

fn is_news(told: &mut Vec<(&'static Topic, Vec<u8>)>, topic: &'static Topic, bytes: &[u8]) -> bool {
    match told.iter_mut().find(|(known, _)| std::ptr::eq(*known, topic)) {
        Some((_, old)) if old.get(STAMPED..) == bytes.get(STAMPED..) => return false,
        Some((_, old)) => *old = bytes.to_vec(),
        None => told.push((topic, bytes.to_vec())),
    }
    true
}
