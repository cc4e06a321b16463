//! The ROS 2 services that UR's driver offers (Surface D): reads calls and makes the responses
//! (`core/docs/protocol/ros2-surface.md` 2).
//!
//! Nothing is executed here. A call is turned into an [`Operation`] or refused with a reason; the caller executes the
//! operation and passes its outcome to [`answer`].

use std::borrow::Cow;

use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write};
use outrigger_core::command::{ForceMode, ForceType};
use outrigger_wire::math::{Frame, Rotation};
use outrigger_wire::robot::{Pose, Wrench};
use outrigger_wire::time::Duration;

use crate::frames::{Frames, Unusable};
use crate::pose::rotation_vector;
use crate::topic_macros::offers;
use outrigger_ros2_messages::cdr::{CdrError, decode, encode};
use outrigger_ros2_messages::endpoint::{Distro, Offer, Subscription};
use outrigger_ros2_messages::{
    Empty, EmptyResponse, Flag, GetRobotSoftwareVersion, Inertia, Message, QueryTrajectoryState,
    QueryTrajectoryStateRequest, QueryTrajectoryStateResponse, SetAnalogOutput, SetAnalogOutputRequest,
    SetAnalogOutputResponse, SetForceMode, SetForceModeRequest, SetForceModeResponse, SetGravity, SetGravityRequest,
    SetGravityResponse, SetIO, SetIORequest, SetIOResponse, SetPayload, SetPayloadInertia, SetPayloadRequest,
    SetPayloadResponse, SetPayloadShort, SetSpeedSliderFraction, SetSpeedSliderRequest, SetSpeedSliderResponse,
    SoftwareVersionResponse, Span, Time, Trigger, TriggerResponse, Twist,
};

/// The operation that a call of a service requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// An output or another value is to be set on the controller.
    Set(Write),
    /// Commanding of the arm is to begin, by an operator's request.
    Request,
    /// The arm is to be brought to standstill, and commanding is to end.
    Release,
    /// Outrigger's URScript program is to be sent to the controller again.
    Resend,
    /// Outrigger's URScript program on the controller is to end, so that the pendant's program around it continues.
    HandBack,
    /// The fault for which commanding ended is to be acknowledged.
    Acknowledge,
    /// A force mode is to be started, in which the arm exerts a force along and around some axes.
    Force(ForceMode),
    /// The force mode or freedrive is to end, so that the arm holds its position.
    Stiffen,
    /// The version of the controller's software is to be reported.
    Version,
    /// The present joint target of the current motion is to be reported. The time in the call is not used.
    Query(Time),
}

/// The reason why a call of a service is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The bytes of the call are not a message of the expected type.
    #[error(transparent)]
    Bytes(#[from] CdrError),
    /// A field of the call has a value that is not allowed.
    #[error("{name}: expected {expected}, found {found}")]
    Value {
        /// The name of the field with the value that is not allowed.
        name: &'static str,
        /// A description of the values that are allowed in the field.
        expected: Cow<'static, str>,
        /// The value found in the field, as text.
        found: String,
    },
}

pub(crate) fn wrong<T>(name: &'static str, expected: &'static str, found: impl ToString) -> Result<T, Refused> {
    Err(Refused::Value { name, expected: expected.into(), found: found.to_string() })
}

offers! {
    /// Every service under the names of UR's driver, except the services of the dashboard.
    OFFERS {
        SET_IO: "io_and_status_controller/set_io", SetIO,
            "fun 1: digital output, pin 0 to 17; 3: analog output, pin 0 or 1, state 0 to 1; 4: tool voltage 0, 12 or 24";
        SET_ANALOG: "io_and_status_controller/set_analog_output", SetAnalogOutput,
            "pin 0 or 1, domain 0 (mA) or 1 (V), state 0 to 1";
        SET_PAYLOAD: "io_and_status_controller/set_payload", SetPayload,
            "mass kg, center of gravity m, inertia kg·m² (0 before 5.10), transition time 0 to 5 s (from 5.10 on)";
        SET_SLIDER: "io_and_status_controller/set_speed_slider", SetSpeedSliderFraction, "0.01 to 1";
        ZERO_FT: "io_and_status_controller/zero_ftsensor", Trigger, "sets the sensor's present reading to zero";
        RESEND: "io_and_status_controller/resend_robot_program", Trigger,
            "uploads this node's program to the controller, where it waits at standstill; commands nothing";
        HAND_BACK: "io_and_status_controller/hand_back_control", Trigger,
            "stops the arm and ends this node's program; then the pendant's program continues, which may move the arm; at most 10 s";
        REQUEST: "outrigger/request", Trigger, "start: commands the arm if every precondition is met";
        RELEASE: "outrigger/release", Trigger, "stop: brings the arm to standstill";
        ACKNOWLEDGE: "outrigger/acknowledge", Trigger, "reset: acknowledges the last stop reason";
        START_FORCE: "force_mode_controller/start_force_mode", SetForceMode,
            "task frame in base, or in any frame that /tf connects with it, at the time of the call; while commanding; until stop_force_mode or this node's end";
        STOP_FORCE: "force_mode_controller/stop_force_mode", Trigger, "ends force mode; the arm holds its position";
        VERSION: "ur_configuration_controller/get_robot_software_version", GetRobotSoftwareVersion,
            "major, minor, bugfix, build of the controller";
        DOCUMENTED_VERSION: "ur_configuration_controller/get_software_version", GetRobotSoftwareVersion,
            "the same, by the name in the driver's documentation";
        GRAVITY: "gravity_update_controller/set_gravity", SetGravity, "direction of gravity, in base or in any frame that /tf connects with it; not while commanding";
        QUERY: "scaled_joint_trajectory_controller/query_state", QueryTrajectoryState,
            "the present setpoint of the running motion";
    }
    /// The services of the drivers of 2015, by their names at that time.
    LEGACY_OFFERS {
        LEGACY_SET_IO: "ur_driver/set_io", SetIO,
            "as io_and_status_controller/set_io, and fun 2: flag, pin 0 to 31, which no topic reports";
        LEGACY_SET_PAYLOAD: "ur_driver/set_payload", SetPayload,
            "as io_and_status_controller/set_payload, whose present type has a center of gravity";
        ROBOT_ENABLE: "ur_driver/robot_enable", Empty,
            "as outrigger/acknowledge: after a stop, commands are accepted again; starts nothing";
    }
}

/// The topic on which clients switch freedrive on and off, and renew it.
pub static FREEDRIVE: &Subscription = &Subscription {
    name: "freedrive_mode_controller/enable_freedrive_mode",
    message: <Flag as Message>::TYPE,
    does: "true: freedrive by hand, for `ros.expert.freedrive_timeout` (1 s) after each message; false: the arm holds; while commanding",
};

/// Returns the operation that a call of the service `offer` requests, in the message layouts of the release `distro`.
/// Poses and vectors in the call are converted into the arm's base by `frames`.
///
/// # Errors
/// [`Refused`] with the reason why the call is not executed.
pub fn deed(offer: &'static Offer, bytes: &[u8], distro: Distro, frames: Frames<'_>) -> Result<Operation, Refused> {
    let is = |other: &'static Offer| std::ptr::eq(offer, other);
    if is(&SET_IO) || is(&LEGACY_SET_IO) {
        return set_io(&decode(bytes)?, is(&LEGACY_SET_IO)).map(Operation::Set);
    } else if is(&SET_ANALOG) {
        return set_analog(&decode(bytes)?).map(Operation::Set);
    } else if is(&SET_PAYLOAD) || is(&LEGACY_SET_PAYLOAD) {
        return set_payload(bytes, distro).map(Operation::Set);
    } else if is(&SET_SLIDER) {
        let SetSpeedSliderRequest { speed_slider_fraction: fraction } = decode(bytes)?;
        return match fraction {
            0.01..=1.0 => Ok(Operation::Set(Write::SpeedSlider(fraction as f32))),
            _ => wrong("speed_slider_fraction", "0.01 to 1", fraction),
        };
    } else if is(&START_FORCE) {
        return force(&decode(bytes)?, frames).map(Operation::Force);
    } else if is(&GRAVITY) {
        return gravity(&decode(bytes)?, frames).map(Operation::Set);
    } else if is(&QUERY) {
        return Ok(Operation::Query(decode::<QueryTrajectoryStateRequest>(bytes)?.time));
    }
    // The remaining services have requests without content: one unused byte, or none.
    let plain = [
        (&ZERO_FT, Operation::Set(Write::ZeroForceTorqueSensor)),
        (&RESEND, Operation::Resend),
        (&HAND_BACK, Operation::HandBack),
        (&REQUEST, Operation::Request),
        (&RELEASE, Operation::Release),
        (&ACKNOWLEDGE, Operation::Acknowledge),
        (&ROBOT_ENABLE, Operation::Acknowledge),
        (&STOP_FORCE, Operation::Stiffen),
        (&VERSION, Operation::Version),
        (&DOCUMENTED_VERSION, Operation::Version),
    ];
    let found = plain.into_iter().find(|(of, _)| is(of)).map(|(_, deed)| deed);
    found.map_or_else(|| wrong("service", "one that is offered", offer.name), Ok)
}

/// Returns the response to a call of the service `offer`: the success, and the reason as text if the call failed.
#[must_use]
pub fn answer(offer: &'static Offer, success: bool, text: &str) -> Vec<u8> {
    let is = |other: &'static Offer| std::ptr::eq(offer, other);
    if is(&SET_IO) || is(&LEGACY_SET_IO) {
        encode(&SetIOResponse { success })
    } else if is(&SET_ANALOG) {
        encode(&SetAnalogOutputResponse { success })
    } else if is(&ROBOT_ENABLE) {
        encode(&EmptyResponse::default())
    } else if is(&SET_PAYLOAD) || is(&LEGACY_SET_PAYLOAD) {
        encode(&SetPayloadResponse { success })
    } else if is(&SET_SLIDER) {
        encode(&SetSpeedSliderResponse { success })
    } else if is(&START_FORCE) {
        encode(&SetForceModeResponse { success })
    } else if is(&GRAVITY) {
        encode(&SetGravityResponse { success, status: text.into() })
    } else if is(&VERSION) || is(&DOCUMENTED_VERSION) {
        encode(&SoftwareVersionResponse::default())
    } else if is(&QUERY) {
        encode(&QueryTrajectoryStateResponse { success, message: text.into(), ..Default::default() })
    } else {
        encode(&TriggerResponse { success, message: text.into() })
    }
}

/// Returns the response to [`Operation::Version`], the version of the controller's software.
#[must_use]
pub fn version([major, minor, bugfix, build]: [u32; 4]) -> Vec<u8> {
    encode(&SoftwareVersionResponse { major, minor, bugfix, build })
}

/// Returns the digital output with this number: 0–7 standard, 8–15 configurable, 16 and 17 at the tool; `None` for any
/// other number.
fn digital(pin: i8) -> Option<DigitalOutput> {
    Some(match u8::try_from(pin).ok()? {
        pin @ 0..=7 => DigitalOutput::Standard(pin),
        pin @ 8..=15 => DigitalOutput::Configurable(pin - 8),
        pin @ 16..=17 => DigitalOutput::Tool(pin - 16),
        _ => return None,
    })
}

/// The highest number of a flag (a variable of one bit) of the controller; the first flag has the number 0.
const LAST_FLAG: u8 = 31;

/// Reads a request to set an output. Flags are accepted only if `flags` is `true`, because the driver of 2015 had
/// them and today's driver has not.
fn set_io(request: &SetIORequest, flags: bool) -> Result<Write, Refused> {
    let SetIORequest { fun, pin, state } = *request;
    match fun {
        1 => match (digital(pin), state) {
            (None, _) => wrong("pin", "0 to 17", pin),
            (Some(output), 0.0 | 1.0) => Ok(Write::Digital { output, high: state == 1.0 }),
            _ => wrong("state", "0 or 1", state),
        },
        2 if flags => match (u8::try_from(pin), state) {
            (Ok(index @ ..=LAST_FLAG), 0.0 | 1.0) => Ok(Write::Flag { index, value: state == 1.0 }),
            (Ok(..=LAST_FLAG), _) => wrong("state", "0 or 1", state),
            _ => wrong("pin", "0 to 31", pin),
        },
        3 => analog(pin, None, state),
        4 => Ok(Write::ToolVoltage(match state {
            0.0 => ToolVoltage::Off,
            12.0 => ToolVoltage::V12,
            24.0 => ToolVoltage::V24,
            _ => return wrong("state", "0, 12 or 24 V", state),
        })),
        _ if flags => wrong("fun", "1 to 4", fun),
        _ => wrong("fun", "1 (digital output), 3 (analog output) or 4 (tool voltage)", fun),
    }
}

fn analog(pin: i8, domain: Option<AnalogDomain>, level: f32) -> Result<Write, Refused> {
    let Some(index) = u8::try_from(pin).ok().filter(|pin| *pin <= 1) else { return wrong("pin", "0 or 1", pin) };
    match level {
        0.0..=1.0 => Ok(Write::Analog { index, domain, level }),
        _ => wrong("state", "0 to 1, of the output's range", level),
    }
}

fn set_analog(request: &SetAnalogOutputRequest) -> Result<Write, Refused> {
    let data = request.data;
    let domain = match data.domain {
        0 => AnalogDomain::Current,
        1 => AnalogDomain::Voltage,
        other => return wrong("domain", "0 (current) or 1 (voltage)", other),
    };
    analog(i8::try_from(data.pin).unwrap_or(i8::MAX), Some(domain), data.state)
}

/// The accepted range of the mass of a payload \[kg\], for a payload that is not zero.
const MASSES: std::ops::RangeInclusive<f64> = 1e-6..=1000.0;
/// The largest moment and product of inertia of a payload that is written to a controller \[kg·m²\].
const INERTIA: f32 = 50.0;
/// The longest transition time of a payload that is written to a controller.
const TRANSITION: Duration = Duration::from_secs(5);
/// The length of the oldest layout of a payload call, without the encapsulation \[bytes\].
const SHORT: usize = 32;

/// Checks an operation that sets a payload: the mass must be from `min` to `max` \[kg\], as the parameters of the
/// driver of 2015 demanded. Returns the operation; any other is returned unchecked.
///
/// # Errors
/// [`Refused`] with the bounds and the mass.
pub fn within(deed: Operation, min: f32, max: f32) -> Result<Operation, Refused> {
    match deed {
        Operation::Set(Write::Payload { mass, .. } | Write::TargetPayload { mass, .. })
            if !(min..=max).contains(&mass) =>
        {
            let found = format!("{mass} kg, beyond {min} to {max} kg");
            wrong("payload", "a mass from ros.expert.min_payload to ros.expert.max_payload", found)
        }
        deed => Ok(deed),
    }
}

/// Reads a call that sets the payload. Three layouts have the same name; the oldest is recognized by its length.
fn set_payload(bytes: &[u8], distro: Distro) -> Result<Write, Refused> {
    let (mass, center, inertia, time) = if bytes.len() <= 4 + SHORT {
        let SetPayloadShort { mass, center_of_gravity } = decode(bytes)?;
        (f64::from(mass), center_of_gravity, [0.0; 6], Span::default())
    } else if distro < Distro::Rolling {
        let SetPayloadRequest { mass, center_of_gravity, ixx, iyy, izz, ixy, ixz, iyz, transition_time } =
            decode(bytes)?;
        (f64::from(mass), center_of_gravity, [ixx, iyy, izz, ixy, ixz, iyz], transition_time)
    } else {
        let SetPayloadInertia { payload: Inertia { m, com, ixx, ixy, ixz, iyy, iyz, izz }, transition_time } =
            decode(bytes)?;
        (m, com, [ixx, iyy, izz, ixy, ixz, iyz], transition_time)
    };
    let center: [f64; 3] = center.into();
    let center = center.map(|value| value as f32);
    // Detects a newer layout with the mass in double precision: if its last digits are 0, the single-precision mass
    // reads as 0.
    let newer = bytes.get(4..12).and_then(|eight| eight.try_into().ok()).map_or(0.0, f64::from_le_bytes);
    if mass == 0.0 && bytes.len() > 4 + SHORT && distro < Distro::Rolling && (0.001..1000.0).contains(&newer) {
        return wrong(
            "mass",
            "one in single precision (is --distro that of the client?)",
            format!("{newer} kg in double"),
        );
    }
    // Detects any other mass in another layout: it reads as nearly zero, or as more than any arm carries.
    let is_one = mass == 0.0 || MASSES.contains(&mass);
    if !(is_one && center.iter().all(|value| value.is_finite() && value.abs() <= 4.0)) {
        let found = format!("{mass} kg at {center:?}");
        return wrong(
            "payload",
            "a mass of 0, or of 1 mg to 1000 kg, its center within 4 m (is --distro that of the client?)",
            found,
        );
    }
    let (mass, inertia) = (mass as f32, inertia.map(|value| value as f32));
    let [xx, yy, zz, xy, xz, yz] = inertia;
    let moments = [xx, yy, zz].iter().all(|moment| (0.0..=INERTIA).contains(moment));
    if !moments || ![xy, xz, yz].iter().all(|product| (-INERTIA..=INERTIA).contains(product)) {
        let found = format!("xx, yy, zz, xy, xz, yz {inertia:?}");
        return wrong("inertia", "moments of 0 to 50 kg·m², products of -50 to 50", found);
    }
    let Some(transition_time) = transition(time) else {
        return wrong("transition_time", "0 to 5 s", format!("{} s and {} ns", time.sec, time.nanosec));
    };
    if inertia.iter().all(|value| *value == 0.0) && transition_time == Duration::ZERO {
        return Ok(Write::Payload { mass, center_of_gravity: Some(center) });
    }
    Ok(Write::TargetPayload { mass, center_of_gravity: center, inertia, transition_time })
}

/// Returns the transition time until a new payload is in force; `None` if it is negative or longer than [`TRANSITION`].
fn transition(Span { sec, nanosec }: Span) -> Option<Duration> {
    let micros = u64::try_from(sec).ok()?.checked_mul(1_000_000)?.checked_add(u64::from(nanosec) / 1_000)?;
    let time = Duration::from_micros(micros);
    (time <= TRANSITION).then_some(time)
}

/// The magnitude of the gravity that is written to a controller \[m/s²\]; the length of the vector in the call is
/// ignored.
const GRAVITY_OF_EARTH: f64 = 9.82;

fn gravity(request: &SetGravityRequest, frames: Frames<'_>) -> Result<Write, Refused> {
    let SetGravityRequest { gravity } = request;
    let outer = in_base("gravity.header.frame_id", &gravity.header.frame_id, frames)?;
    let vector: [f64; 3] = gravity.vector.into();
    let norm = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    if !norm.is_finite() || norm < 1e-3 {
        return wrong("gravity.vector", "a direction", format!("{vector:?}"));
    }
    // The controller expects the acceleration that the base experiences, which has the opposite direction.
    Ok(Write::Gravity(outer.rotation.apply(vector.map(|v| (-v / norm * GRAVITY_OF_EARTH) as f32))))
}

/// Returns the pose of the frame `frame` in the base of the arm. `name` is the field of the call, for an error.
fn in_base(name: &'static str, frame: &str, frames: Frames<'_>) -> Result<Frame, Refused> {
    let unusable = |Unusable(expected)| Refused::Value { name, expected: expected.into(), found: format!("{frame:?}") };
    frames.in_base(frame).map_err(unusable)
}

fn force(request: &SetForceModeRequest, frames: Frames<'_>) -> Result<ForceMode, Refused> {
    let SetForceModeRequest { task_frame, wrench, r#type: kind, speed_limits, deviation_limits, .. } = request;
    let outer = in_base("task_frame.header.frame_id", &task_frame.header.frame_id, frames)?;
    let Some(rotation) = rotation_vector(task_frame.pose.orientation) else {
        return wrong("task_frame.pose.orientation", "a quaternion", "one of length 0");
    };
    let Some(kind) = ForceType::from_number(*kind) else { return wrong("type", "1, 2 or 3", kind) };
    let selection = [
        request.selection_vector_x,
        request.selection_vector_y,
        request.selection_vector_z,
        request.selection_vector_rx,
        request.selection_vector_ry,
        request.selection_vector_rz,
    ];
    let Twist { linear, angular } = speed_limits;
    let speeds = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z];
    let three = |of: [f64; 3]| of.map(|value| value as f32);
    let position = &task_frame.pose.position;
    let inner = Frame {
        position: three([position.x, position.y, position.z]),
        rotation: Rotation::from_vector(three(rotation)),
    };
    let Frame { position, rotation } = outer.then(&inner);
    let mode = ForceMode {
        // The controller takes the frame in the base, and keeps it fixed there.
        task_frame: Pose { position, rotation: rotation.to_vector() },
        selection,
        wrench: Wrench { force: three(wrench.force.into()), torque: three(wrench.torque.into()) },
        kind,
        limits: std::array::from_fn(|i| if selection[i] { speeds[i] as f32 } else { deviation_limits[i] }),
        damping: request.damping_factor,
        gain_scaling: request.gain_scaling,
    };
    match mode.check(true) {
        Ok(_) => Ok(mode),
        Err(error) => wrong("force mode", "every number in its range", error),
    }
}

#[cfg(test)]
mod tests;
