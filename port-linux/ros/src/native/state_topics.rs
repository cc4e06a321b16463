//! Fills the topics of PolyScope X from the values that a controller has reported.

use outrigger_core::command::outputs::digital_levels;
use outrigger_wire::robot::Generation;

use super::*;
use crate::arm::Arm;
use crate::driver::tool_pose;
use crate::pose::{pose, transform};
use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::{
    Accel, AnalogIO, AnalogPin, DigitalIO, DigitalPin, Header, Inertia, Span, TransformStamped, Vector3,
};

/// A callback that receives each topic with its message, or `None` if the message cannot be filled.
type Take<'t> = dyn FnMut(&'static Topic, Option<Vec<u8>>) + 't;

fn put<M: Message>(take: &mut Take<'_>, topic: &'static Topic, message: Option<M>) {
    take(topic, message.as_ref().map(encode));
}

/// Passes every topic of PolyScope X once to a callback, with the message filled from the readings, or with `None`.
pub(super) fn each(arm: &Arm, terminals: Terminals, readings: &Readings, stamp: Time, take: &mut Take<'_>) {
    let of = Readout { arm, readings, stamp };
    put(take, &TARGET_JOINT_STATES, of.joints([Variable::TargetQ, Variable::TargetQd, Variable::TargetMoment]));
    // A current cannot be converted into a torque, because the motors' factors are unknown.
    put(take, &JOINT_STATES, of.joints([Variable::ActualQ, Variable::ActualQd, Variable::ActualTorque]));
    put(take, &ACTUAL_TCP_STATE, of.tcp_state(tool_pose(readings), Variable::ActualTcpSpeed));
    put(take, &TARGET_TCP_STATE, of.tcp_state(of.pose(Variable::TargetTcpPose), Variable::TargetTcpSpeed));
    put(take, &JOINT_TEMPERATURE, of.joint_temperature());
    put(take, &TOOL_TEMPERATURE, of.tool_temperature());
    put(take, &CONTROL_CYCLE, of.control_cycle().map(|data| ControlCycle { header: of.header(""), data }));
    put(take, &EXECUTION_TIME, of.execution_time());
    put(take, &SAFETY_STATUS, of.safety_status().map(|data| SafetyStatus { header: of.header(""), data }));
    put(take, &ROBOT_MODE, readings.robot_mode().map(|data| RobotMode { header: of.header(""), data }));
    put(take, &ARM_POWERED_ON, of.flag(of.status(0)));
    put(take, &JOINT_MODE, of.joint_mode());
    put(take, &PROGRAM_STATE, of.program_state().map(|data| RuntimeState { header: of.header(""), data }));
    put(take, &TCP_OFFSET, of.tcp_offset());
    put(take, &PAYLOAD, of.payload());
    put(take, &TOOL_OUTPUT_MODE, of.tool_output_mode());
    let tool = of.voltage_current(Variable::ToolOutputVoltage, of.ampere(Variable::ToolOutputCurrent));
    put(take, &TOOL_VOLTAGE_CURRENT, tool);
    let robot = of.voltage_current(Variable::ActualRobotVoltage, readings.number(Variable::ActualRobotCurrent));
    put(take, &ROBOT_VOLTAGE_CURRENT, robot);
    let io = of.ampere(Variable::IoCurrent);
    put(take, &IO_CURRENT, io.map(|data| Current { header: of.header(""), data: data as f32 }));
    let main = readings.number(Variable::ActualMainVoltage);
    put(take, &MAIN_VOLTAGE, main.map(|data| Float32Stamped { header: of.header(""), data: data as f32 }));
    let joints = readings.array(Variable::ActualJointVoltage);
    put(take, &JOINT_VOLTAGE, joints.map(|data| JointVoltage { header: of.header(""), data }));
    put(take, &TOOL_ACCELEROMETER, of.tool_accelerometer());
    put(take, &ACTUAL_SPEED_FRACTION, of.fraction(of.actual_speed()));
    put(take, &SPEED_SCALING, of.fraction(of.actual_speed()));
    put(take, &TARGET_SPEED_FRACTION, of.fraction(readings.number(Variable::TargetSpeedFraction)));
    put(take, &SPEED_FRACTION, of.fraction(readings.number(Variable::TargetSpeedFraction)));
    put(take, &TCP_FORCE_SCALAR, of.number(of.force_scalar()));
    put(take, &ACTUAL_MOMENTUM, of.number(readings.number(Variable::ActualMomentum)));
    put(take, &TCP_WRENCH, of.tcp_wrench());
    put(take, &PROGRAM_RUNNING, of.flag(of.program_running()));
    put(take, &TEACH_BUTTON_PRESSED, of.flag(of.teach_button()));
    put(take, &POWER_BUTTON_PRESSED, of.flag(of.button(3)));
    put(take, &TF, of.tf());
    match terminals {
        Terminals::Grouped => of.grouped(take),
        Terminals::Ports => of.ports(take),
    }
}

struct Readout<'r> {
    arm: &'r Arm,
    readings: &'r Readings,
    stamp: Time,
}

/// The value of `runtime_state` of a program that plays; the next two are those of a program that pauses or resumes.
const PLAYING: i8 = 2;
const PAUSING: i8 = 3;
const RESUMING: i8 = 5;

/// The number of pins of one digital port of the control box.
const BOX_PINS: u8 = 8;
/// The number of digital pins at the tool connector.
const TOOL_PINS: u8 = 2;
/// The first bit of the standard digital port in a variable with all digital pins.
const STANDARD: u8 = 0;
/// The first bit of the configurable digital port in a variable with all digital pins.
const CONFIGURABLE: u8 = 8;
const TOOL: u8 = 16;

/// The variables of the control box's analog inputs, each with its pin.
const INPUTS: [(Variable, u8); 2] = [(Variable::AnalogInput0, 0), (Variable::AnalogInput1, 1)];
/// The variables of the control box's analog outputs, each with its pin.
const OUTPUTS: [(Variable, u8); 2] = [(Variable::AnalogOutput0, 0), (Variable::AnalogOutput1, 1)];
const TOOL_INPUTS: [(Variable, u8); 2] = [(Variable::ToolAnalogInput0, 0), (Variable::ToolAnalogInput1, 1)];

impl Readout<'_> {
    fn header(&self, frame_id: &str) -> Header {
        Header { stamp: self.stamp, frame_id: frame_id.into() }
    }

    fn flag(&self, data: Option<bool>) -> Option<BoolStamped> {
        Some(BoolStamped { header: self.header(""), data: data? })
    }

    fn number(&self, data: Option<f64>) -> Option<Float64Stamped> {
        Some(Float64Stamped { header: self.header(""), data: data? })
    }

    fn fraction(&self, data: Option<f64>) -> Option<SpeedSliderFraction> {
        Some(SpeedSliderFraction { header: self.header(""), data: data? })
    }

    /// Returns the value of a variable that is an electric current \[A\], which RTDE reports in mA; `None` if it was
    /// not received.
    fn ampere(&self, of: Variable) -> Option<f64> {
        let current = self.readings.number(of)?;
        Some(if self.readings.is_by_rtde(of) { current * 1e-3 } else { current })
    }

    fn pose(&self, of: Variable) -> Option<[f64; 6]> {
        self.readings.array(of).filter(|pose: &[f64; 6]| pose.iter().all(|value| value.is_finite()))
    }

    fn byte(&self, of: Variable) -> Option<u8> {
        u8::try_from(self.readings.integer(of)?).ok()
    }

    fn joints(&self, [position, velocity, effort]: [Variable; 3]) -> Option<JointState> {
        let all = |of| self.readings.all(of).map(<[f64]>::to_vec);
        Some(JointState {
            header: self.header(""),
            name: self.arm.joints.clone(),
            position: all(position)?,
            velocity: all(velocity).unwrap_or_default(),
            effort: all(effort).unwrap_or_default(),
        })
    }

    fn tcp_state(&self, at: Option<[f64; 6]>, speed: Variable) -> Option<TCPState> {
        let speed: [f64; 6] = self.readings.array(speed)?;
        Some(TCPState { header: self.header(&self.arm.base), pose: pose(at?), speed: speed.into() })
    }

    fn tf(&self) -> Option<TFMessage> {
        let transform = TransformStamped {
            header: self.header(&self.arm.base),
            child_frame_id: self.arm.tool.clone(),
            transform: transform(tool_pose(self.readings)?),
        };
        Some(TFMessage { transforms: vec![transform] })
    }

    fn joint_temperature(&self) -> Option<JointTemperature> {
        let six: [f64; 6] = self.readings.array(Variable::JointTemperatures)?;
        Some(JointTemperature { header: self.header(""), data: six.map(|value| value as f32) })
    }

    fn tool_temperature(&self) -> Option<Temperature> {
        let temperature = self.readings.number(Variable::ToolTemperature)?;
        Some(Temperature { header: self.header(""), temperature, variance: 0.0 })
    }

    fn control_cycle(&self) -> Option<u64> {
        if let Some(step) = self.readings.bits(Variable::ControlStep) {
            return Some(step);
        }
        let seconds = self.readings.number(Variable::Timestamp).filter(|value| value.is_finite() && *value >= 0.0)?;
        let generation = if self.readings.is_cb2() { Generation::Cb2 } else { self.readings.software()?.generation() };
        let rate = match generation {
            Generation::Cb2 | Generation::Cb3 => 125.0,
            Generation::ESeries | Generation::PolyScopeX => 500.0,
        };
        Some((seconds * rate).round() as u64)
    }

    fn execution_time(&self) -> Option<TimeReference> {
        let of = Variable::ActualExecutionTime;
        let told = self.readings.number(of)?;
        let seconds = if self.readings.is_by_rtde(of) { told * 1e-3 } else { told };
        // Rejects a value that is not a duration or is longer than any cycle.
        if !(0.0..3600.0).contains(&seconds) {
            return None;
        }
        let Span { sec, nanosec } = Span::from_seconds(seconds);
        let time_ref = Time { sec, nanosec };
        Some(TimeReference { header: self.header(""), time_ref, source: "controller".into() })
    }

    fn safety_status(&self) -> Option<i8> {
        match self.readings.integer(Variable::SafetyStatus) {
            Some(status) => i8::try_from(status).ok(),
            None => self.readings.safety_mode().and_then(|mode| i8::try_from(mode).ok()),
        }
    }

    /// Returns a bit of the robot's status: 0 arm powered, 1 program running, 2 teach button, 3 power button; `None` if
    /// the status is not reported.
    fn status(&self, bit: u32) -> Option<bool> {
        self.readings.bits(Variable::RobotStatusBits).map(|bits| bits >> bit & 1 == 1)
    }

    /// Returns `true` if the button with this bit of the robot status is pressed; `None` unless RTDE reports the
    /// status.
    fn button(&self, bit: u32) -> Option<bool> {
        self.status(bit).filter(|_| self.readings.is_by_rtde(Variable::RobotStatusBits))
    }

    fn teach_button(&self) -> Option<bool> {
        self.button(2).or_else(|| Some(self.readings.number(Variable::TeachButton)? > 0.0))
    }

    fn program_state(&self) -> Option<i8> {
        if let Some(state) = self.readings.integer(Variable::RuntimeState) {
            return i8::try_from(state).ok();
        }
        // Ports 30001 and 30002 report it as two flags.
        let paused = self.readings.number(Variable::ProgramPaused)? > 0.0;
        Some(match (paused, self.status(1)?) {
            (true, _) => 4,
            (false, true) => PLAYING,
            (false, false) => 1,
        })
    }

    fn program_running(&self) -> Option<bool> {
        self.status(1).or_else(|| Some(matches!(self.program_state()?, PLAYING | PAUSING | RESUMING)))
    }

    fn joint_mode(&self) -> Option<JointMode> {
        let modes: [f64; 6] = self.readings.array(Variable::JointMode)?;
        let is_byte = |mode: &f64| (0.0..=255.0).contains(mode);
        let tool_mode = self.byte(Variable::ToolMode)?;
        let joint_modes = Some(modes).filter(|modes| modes.iter().all(is_byte))?.map(|mode| mode.round() as u8);
        Some(JointMode { header: self.header(""), joint_modes, tool_mode })
    }

    fn tcp_offset(&self) -> Option<PoseStamped> {
        let pose = pose(self.pose(Variable::TcpOffset)?);
        Some(PoseStamped { header: self.header(&self.arm.flange), pose })
    }

    fn payload(&self) -> Option<InertiaStamped> {
        let center: [f64; 3] = self.readings.array(Variable::PayloadCog)?;
        let [ixx, iyy, izz, ixy, ixz, iyz] = self.readings.array(Variable::PayloadInertia)?;
        let m = self.readings.number(Variable::Payload)?;
        let inertia = Inertia { m, com: center.into(), ixx, ixy, ixz, iyy, iyz, izz };
        Some(InertiaStamped { header: self.header(&self.arm.flange), inertia })
    }

    fn tool_output_mode(&self) -> Option<ToolOutputMode> {
        let pins = [Variable::ToolDigitalOutput0Mode, Variable::ToolDigitalOutput1Mode].map(|of| self.byte(of));
        let output_pin_mode = [pins[0]?, pins[1]?];
        Some(ToolOutputMode {
            header: self.header(""),
            output_mode: self.byte(Variable::ToolOutputMode)?,
            output_pin_mode,
        })
    }

    fn voltage_current(&self, voltage: Variable, current: Option<f64>) -> Option<VoltageCurrentStamped> {
        let voltage = self.readings.number(voltage)?;
        Some(VoltageCurrentStamped { header: self.header(""), voltage, current: current? })
    }

    fn tool_accelerometer(&self) -> Option<AccelStamped> {
        let linear: [f64; 3] = self.readings.array(Variable::ActualToolAccelerometer)?;
        let accel = Accel { linear: linear.into(), angular: Vector3::default() };
        Some(AccelStamped { header: self.header(&self.arm.flange), accel })
    }

    fn actual_speed(&self) -> Option<f64> {
        let slider = self.readings.number(Variable::TargetSpeedFraction);
        Some(self.readings.number(Variable::SpeedScaling)? * slider.unwrap_or(1.0))
    }

    fn force(&self) -> Option<[f64; 6]> {
        self.readings.array(Variable::ActualTcpForce)
    }

    fn force_scalar(&self) -> Option<f64> {
        self.readings.number(Variable::TcpForceScalar).or_else(|| {
            let [x, y, z, ..] = self.force()?;
            Some((x * x + y * y + z * z).sqrt())
        })
    }

    fn tcp_wrench(&self) -> Option<WrenchStamped> {
        let is_krc = self.readings.all(Variable::MeasuredFrame).is_some();
        let frame = if is_krc { &self.arm.tool } else { &self.arm.base };
        Some(WrenchStamped { header: self.header(frame), wrench: self.force()?.into() })
    }

    /// Returns the levels of digital pins: bits 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the tool. Returns
    /// `None` if they are not reported.
    fn levels(&self, of: Variable) -> Option<u32> {
        let generation = if self.readings.is_cb2() { Generation::Cb2 } else { Generation::ESeries };
        Some(digital_levels(u32::try_from(self.readings.bits(of)?).ok()?, generation))
    }

    /// Returns the levels of one digital port; `None` if they are not reported. CB2 has no configurable port.
    fn port(&self, of: Variable, first: u8, pins: u8) -> Option<Vec<bool>> {
        if first == CONFIGURABLE && self.readings.is_cb2() {
            return None;
        }
        let levels = self.levels(of)?;
        Some((first..first + pins).map(|bit| levels >> bit & 1 == 1).collect())
    }

    fn digital(&self, first: u8, pins: u8) -> DigitalIO {
        let port = |of| {
            let levels = self.port(of, first, pins).unwrap_or_default();
            (0..).zip(levels).map(|(pin, state)| DigitalPin { pin, state }).collect()
        };
        DigitalIO {
            digital_inputs: port(Variable::DigitalInputBits),
            digital_outputs: port(Variable::DigitalOutputBits),
        }
    }

    /// Returns the domain of an analog input or output: 0 current, 1 voltage; `None` if it is unknown. Ports 30001 and
    /// 30002 report it for outputs alone; inputs of CB2's control box are for voltage.
    fn domain(&self, of: Variable) -> Option<u8> {
        let (types, bit) = match of {
            Variable::AnalogInput0 => (Variable::AnalogIoTypes, 0),
            Variable::AnalogInput1 => (Variable::AnalogIoTypes, 1),
            Variable::AnalogOutput0 => (Variable::AnalogIoTypes, 2),
            Variable::AnalogOutput1 => (Variable::AnalogIoTypes, 3),
            Variable::ToolAnalogInput0 => (Variable::ToolAnalogInputTypes, 0),
            _ => (Variable::ToolAnalogInputTypes, 1),
        };
        let is_input = matches!(of, Variable::AnalogInput0 | Variable::AnalogInput1);
        if is_input && !self.readings.is_by_rtde(types) {
            return self.readings.is_cb2().then_some(1);
        }
        Some((self.readings.bits(types)? >> bit & 1) as u8)
    }

    fn analog(&self, (of, pin): (Variable, u8)) -> Option<AnalogPin> {
        let domain = self.domain(of)?;
        let value = if domain == 0 { self.ampere(of)? } else { self.readings.number(of)? };
        Some(AnalogPin { pin, domain, value: value as f32 })
    }

    fn grouped(&self, take: &mut Take<'_>) {
        let digital = |configurable_io: DigitalIO, standard_io: DigitalIO| {
            let is_told = !(standard_io.digital_inputs.is_empty() && standard_io.digital_outputs.is_empty());
            is_told.then(|| DigitalIOStateStamped { header: self.header(""), configurable_io, standard_io })
        };
        let of_box = digital(self.digital(CONFIGURABLE, BOX_PINS), self.digital(STANDARD, BOX_PINS));
        put(take, &CONTROL_BOX_DIGITAL_IO, of_box);
        put(take, &TOOL_DIGITAL_IO, digital(DigitalIO::default(), self.digital(TOOL, TOOL_PINS)));
        let pins = |of: &[(Variable, u8)]| of.iter().filter_map(|at| self.analog(*at)).collect::<Vec<_>>();
        let analog = |analog_inputs: Vec<AnalogPin>, analog_outputs: Vec<AnalogPin>| {
            let is_told = !(analog_inputs.is_empty() && analog_outputs.is_empty());
            let io_state = AnalogIO { analog_inputs, analog_outputs };
            is_told.then(|| AnalogIOStateStamped { header: self.header(""), io_state })
        };
        put(take, &CONTROL_BOX_ANALOG_IO, analog(pins(&INPUTS), pins(&OUTPUTS)));
        put(take, &TOOL_ANALOG_IO, analog(pins(&TOOL_INPUTS), vec![]));
    }

    fn ports(&self, take: &mut Take<'_>) {
        let (inputs, outputs) = (Variable::DigitalInputBits, Variable::DigitalOutputBits);
        for (topic, of, first, pins) in [
            (&STANDARD_DIGITAL_INPUTS, inputs, STANDARD, BOX_PINS),
            (&CONFIGURABLE_DIGITAL_INPUTS, inputs, CONFIGURABLE, BOX_PINS),
            (&STANDARD_DIGITAL_OUTPUTS, outputs, STANDARD, BOX_PINS),
            (&CONFIGURABLE_DIGITAL_OUTPUTS, outputs, CONFIGURABLE, BOX_PINS),
            (&TOOL_DIGITAL_INPUTS, inputs, TOOL, TOOL_PINS),
            (&TOOL_DIGITAL_OUTPUTS, outputs, TOOL, TOOL_PINS),
        ] {
            let levels = self.port(of, first, pins);
            put(take, topic, levels.map(|data| DigitalPort { header: self.header(""), data }));
        }
        let topics = [
            &STANDARD_ANALOG_INPUT_0,
            &STANDARD_ANALOG_INPUT_1,
            &STANDARD_ANALOG_OUTPUT_0,
            &STANDARD_ANALOG_OUTPUT_1,
            &TOOL_ANALOG_INPUT_0,
            &TOOL_ANALOG_INPUT_1,
        ];
        for (topic, at) in topics.into_iter().zip([INPUTS, OUTPUTS, TOOL_INPUTS].concat()) {
            let pin = self.analog(at);
            let port = |pin: AnalogPin| AnalogPort { header: self.header(""), domain: pin.domain, data: pin.value };
            put(take, topic, pin.map(port));
        }
    }
}
