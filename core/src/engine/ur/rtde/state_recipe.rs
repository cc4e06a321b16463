//! The state of every cycle by RTDE: a fixed list of outputs, and the implementation of the link.

use super::StateLink;
use crate::client::Output;
use crate::client::rtde::{
    Cadence, Claim, Claims, Client, ClientConfig, ClientMemory, Event, Failure, Input, Inputs, RegisterConflict,
    RtdeCounts, SetupStep, UnownedInput,
};
use crate::command::outputs::{Image, Write};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::frame::FrameError;
use outrigger_wire::math::double_conversion::to_f32;
use outrigger_wire::robot::{
    ControllerTime, Generation, JointPositions, JointVelocities, Payload, Pose, ProgramState, RobotMode, Safety,
    SafetyMode, SoftwareVersion, State, Twist, Wrench,
};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DynamicRecipe, Field, Problem, RecipeError, TextMessage, Value, names};
use outrigger_wire::time::{Duration, Instant};
use outrigger_wire::{WireError, WireErrorKind};

outrigger_wire::rtde_recipe! {
    /// The RTDE outputs that a state of the arm consists of: the first ones are required, the optional ones complete it.
    struct StateOutputs: outputs {
        timestamp, actual_q, actual_qd, target_q, target_qd, robot_mode, safety_mode, actual_digital_input_bits,
    } optional {
        safety_status, runtime_state, robot_status_bits, speed_scaling, target_speed_fraction, actual_TCP_pose,
        actual_TCP_speed, actual_TCP_force, actual_digital_output_bits, payload, payload_cog,
        output_int_register_24, output_int_register_25,
    }
}
const NEEDED: &str = StateOutputs::NEEDED;
const OPTIONAL: &str = StateOutputs::OPTIONAL;
/// The names of the two registers in which Outrigger's program reports, each behind a comma. They are the last of the
/// optional outputs, and are requested only for a program that gets its orders in registers.
const MIRRORED: &str = ",output_int_register_24,output_int_register_25";
/// The names of the optional RTDE outputs, without the two registers in which Outrigger's program reports.
const WITHOUT_MIRRORED: &str = OPTIONAL.split_at(OPTIONAL.len() - MIRRORED.len()).0;
/// The number of RTDE outputs that a state can consist of.
pub(super) const COUNT: usize = StateOutputs::COUNT;

/// The bit of `robot_status_bits` that shows that a program runs.
const PROGRAM_RUNNING: u32 = 1 << 1;

/// The size of the largest transmission of the link \[B\]: the set-up of the outputs, or the inputs of every cycle.
pub(super) const TRANSMIT: usize = 512;
const _: () = assert!(NEEDED.len() + 1 + OPTIONAL.len() + 11 <= TRANSMIT);

/// The minimum size of the receive memory \[B\]: it holds a state by RTDE with all its values twice, and the longest
/// texts. With more, one read takes more of a backlog.
pub const LEAST: usize = 1024;

/// The RTDE link of a session, to port 30004.
#[derive(Debug)]
pub(super) struct RtdeStates<'m> {
    client: Client<'static, 'm>,
    /// The report of Outrigger's program in two output registers of the newest state: its answer to an order, and the
    /// token (a number) that identifies its text.
    mirrored: Option<[i32; 2]>,
}

impl<'m> RtdeStates<'m> {
    /// Creates the RTDE link, with the recipes of the inputs to be written; if `mirrored`, the states contain the report of
    /// our program. Returns `None` if the memory has no room.
    pub(super) fn new(
        outputs: &'m mut [Field<'static>; COUNT],
        inputs: &'m mut [Inputs<'static, 'm>],
        memory: ClientMemory<'m>,
        mirrored: bool,
    ) -> Option<Self> {
        let optional = if mirrored { OPTIONAL } else { WITHOUT_MIRRORED };
        let outputs =
            DynamicRecipe::with_types(NEEDED, optional, StateOutputs::TYPES, Direction::Output, outputs).ok()?;
        // The session judges silence, and a controller that waits for a person is asked again later.
        let config = ClientConfig {
            silence_timeout: Duration::MAX,
            unconfirmed_timeout: Duration::ZERO,
            ..ClientConfig::default()
        };
        let client = Client::new(config, outputs, inputs, memory);
        Some(Self { client: client.ok()?, mirrored: None })
    }

    /// Returns the index of the recipe that writes this group of RTDE inputs in this connection; `None` if the group is
    /// not owned, or no data flows.
    fn recipe(&self, claim: Claim) -> Option<usize> {
        let first = names(claim.inputs()).next();
        let inputs = self.client.inputs();
        let named = |inputs: &Inputs<'_, '_>| inputs.recipe().fields().first().map(|field| field.name) == first;
        let recipe = inputs.iter().position(named)?;
        inputs.get(recipe).and_then(Inputs::number).filter(|_| self.client.is_flowing()).map(|_| recipe)
    }
}

/// An RTDE output variable that is a part of the states of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct StateVariable(u8);

impl StateVariable {
    /// Returns the name that RTDE uses for the variable.
    #[must_use]
    pub fn name(self) -> &'static str {
        names(NEEDED).chain(names(OPTIONAL)).nth(self.0.into()).unwrap_or_default()
    }

    /// Returns `true` if a state is not complete without this variable.
    fn is_needed(self) -> bool {
        usize::from(self.0) < names(NEEDED).count()
    }

    fn named(name: &str) -> Self {
        let place = names(NEEDED).chain(names(OPTIONAL)).position(|known| known == name);
        Self(place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX))
    }
}

/// The reason for which RTDE cannot deliver states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Unusable {
    /// The controller's software does not have this variable.
    Missing(StateVariable),
    /// The controller sends this variable with another type than expected.
    OtherType(StateVariable),
    /// The controller's reply to the set-up of the outputs does not contain one type per variable.
    BadAnswer,
    /// The controller did not reply to this request of the set-up.
    NoReply(SetupStep),
    /// The controller refuses to start sending data.
    NotStarted,
    /// The controller's safety settings are not confirmed; this is done at the pendant.
    Unconfirmed,
    /// The received bytes are not a sequence of RTDE packages.
    NoPackages,
}

impl core::fmt::Display for Unusable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Missing(variable) => write!(f, "this software has no `{}`", variable.name()),
            Self::OtherType(variable) => write!(f, "`{}` has another type than it should", variable.name()),
            Self::BadAnswer => f.write_str("the set-up was not answered by one type per variable"),
            Self::NoReply(step) => write!(f, "no answer to the {}", step.name()),
            Self::NotStarted => f.write_str("the controller refuses to send data"),
            Self::Unconfirmed => f.write_str("the controller's safety settings are not confirmed"),
            Self::NoPackages => f.write_str("the received bytes are not RTDE packages"),
        }
    }
}

impl Unusable {
    fn of(failure: Failure<'static>) -> Self {
        match failure {
            Failure::Outputs(error) => match error.problem {
                Problem::NotFound => Self::Missing(StateVariable::named(error.name)),
                Problem::OtherType => Self::OtherType(StateVariable::named(error.name)),
                _ => Self::BadAnswer,
            },
            Failure::NoReply(step) => Self::NoReply(step),
            Failure::NotStarted => Self::NotStarted,
            Failure::Unconfirmed => Self::Unconfirmed,
            Failure::LostSync(_) | Failure::Silent => Self::NoPackages,
            Failure::NoOutputs | Failure::Request(_) => Self::BadAnswer,
        }
    }
}

/// An item received on the RTDE link.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is mostly a state")]
pub enum StateEvent<'e> {
    /// A state of the arm, in the order of sending.
    State(State<6>),
    /// The controller's software version, as RTDE reports it.
    Software(SoftwareVersion),
    /// A reply, or any other message that was understood and has no further effect.
    Understood,
    /// A text message of the controller for people or a log.
    Text(TextMessage<'e>),
    /// An RTDE package longer than the receive memory was skipped.
    Skipped(FrameError),
    /// An RTDE package that cannot be used, for this reason.
    Malformed(WireError),
    /// An RTDE input that this session requested is not owned by this connection.
    UnownedInput(UnownedInput),
    /// RTDE cannot deliver states, for this reason.
    Unusable(Unusable),
    /// An RTDE message that was not requested was received.
    Unexpected,
}

impl super::sealed::Sealed for RtdeStates<'_> {}

impl StateLink for RtdeStates<'_> {
    fn handle(&mut self, now: Instant, input: Input) {
        self.client.handle(now, input);
    }

    fn receive_window(&mut self) -> &mut [u8] {
        self.client.receive_window()
    }

    fn commit(&mut self, count: usize, arrival: Instant, now: Instant) {
        self.client.commit(count, arrival, now);
    }

    fn poll_output(&mut self) -> Option<&[u8]> {
        match self.client.poll_output()? {
            Output::Transmit(bytes) => Some(bytes),
            // The engine closes the link by itself, at `Unusable`.
            Output::Close | Output::Open { .. } => None,
        }
    }

    fn poll_event(&mut self) -> Option<StateEvent<'_>> {
        let Self { client, mirrored } = self;
        client.poll_event().map(|event| StateEvent::of(event, mirrored))
    }

    fn has_output(&self) -> bool {
        self.client.has_packages()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.client.next_deadline().filter(|at| *at < Instant::ZERO + Duration::MAX)
    }

    fn is_ours(&self, claim: Claim) -> bool {
        self.recipe(claim).is_some()
    }

    fn set(&mut self, writes: &[Write], image: &Image) -> Claims {
        Claim::ALL.into_iter().fold(Claims::NONE, |set, claim| {
            let values = claim.values(writes, image).zip(self.recipe(claim));
            let written = values.is_some_and(|(values, recipe)| self.client.write(recipe, &values).is_ok());
            if written { set.with(claim) } else { set }
        })
    }

    fn set_force(&mut self, force: [f64; 6]) -> bool {
        let recipe = self.recipe(Claim::Force);
        recipe.is_some_and(|recipe| self.client.write(recipe, &[Value::Vector6d(force)]).is_ok())
    }

    #[cfg(feature = "programs")]
    fn order(&mut self, values: [i32; 8]) -> bool {
        let recipe = self.recipe(Claim::Program);
        recipe.is_some_and(|recipe| self.client.write(recipe, &values.map(Value::Int32)).is_ok())
    }

    #[cfg(feature = "programs")]
    fn mirrored(&self) -> Option<[i32; 2]> {
        self.mirrored
    }

    fn counts(&self) -> &RtdeCounts {
        self.client.counts()
    }

    fn cadence(&self) -> &Cadence {
        self.client.cadence()
    }

    fn dropped(&self) -> u64 {
        self.client.dropped_bytes()
    }

    #[cfg(feature = "record")]
    fn received(&mut self, count: usize) -> &[u8] {
        self.client.receive_window().get(..count).unwrap_or_default()
    }

    #[cfg(feature = "record")]
    fn memory_size(&self) -> usize {
        self.client.memory_size()
    }

    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&self.mirrored)?;
        self.client.save(to)
    }

    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.mirrored = from.take()?;
        self.client.load(from)
    }
}

impl<'e> StateEvent<'e> {
    fn of(event: Event<'e, 'static>, mirrored: &mut Option<[i32; 2]>) -> Self {
        match event {
            Event::Data(data) => match StateOutputs::read(&data.values) {
                Ok(outputs) => {
                    *mirrored =
                        outputs.output_int_register_24.zip(outputs.output_int_register_25).map(<[i32; 2]>::from);
                    state(outputs).map_or_else(Self::Malformed, Self::State)
                }
                Err(error) => Self::Malformed(error),
            },
            Event::Controller(version) => Self::Software(version.software()),
            Event::OtherType { name, .. } => {
                let variable = StateVariable::named(name);
                if variable.is_needed() { Self::Unusable(Unusable::OtherType(variable)) } else { Self::Understood }
            }
            Event::Text(text) => Self::Text(text),
            Event::Skipped(error) => Self::Skipped(error),
            Event::Malformed(error) => Self::Malformed(error),
            Event::InputsRefused { error, .. } => not_ours(error).map_or(Self::Understood, Self::UnownedInput),
            Event::Failed(failure) => Self::Unusable(Unusable::of(failure)),
            Event::UnknownRecipe(_) | Event::Unexpected(_) => Self::Unexpected,
            _ => Self::Understood,
        }
    }
}

fn not_ours(error: RecipeError<'_>) -> Option<UnownedInput> {
    let why = match error.problem {
        Problem::InUse => RegisterConflict::InUse,
        Problem::NotFound => RegisterConflict::NotFound,
        _ => RegisterConflict::Refused,
    };
    Claim::ALL.into_iter().find_map(|claim| {
        let place = names(claim.inputs()).position(|name| name == error.name)?;
        Some(UnownedInput { claim, place: u8::try_from(place).ok()?, why })
    })
}

/// Converts the values of RTDE outputs to a state of the arm. An optional variable of another type counts as absent.
fn state(outputs: StateOutputs) -> Result<State<6>, WireError> {
    let time = ControllerTime::from_secs(outputs.timestamp);
    let runtime = outputs.runtime_state.map(|raw| ProgramState::from_raw(i32::try_from(raw).unwrap_or(i32::MAX)));
    let by_bit = |bits: u32| if bits & PROGRAM_RUNNING == 0 { ProgramState::Stopped } else { ProgramState::Playing };
    let slider = outputs.target_speed_fraction;
    Ok(State {
        controller_time: time.ok_or_else(|| WireError::new(WireErrorKind::BadValue, 0, 0, 0))?,
        positions: JointPositions::from_wire(outputs.actual_q),
        velocities: JointVelocities::from_wire(outputs.actual_qd),
        target_positions: JointPositions::from_wire(outputs.target_q),
        target_velocities: JointVelocities::from_wire(outputs.target_qd),
        tcp_pose: outputs.actual_TCP_pose.map(Pose::from_wire),
        tcp_speed: outputs.actual_TCP_speed.map(Twist::from_wire),
        tcp_force: outputs.actual_TCP_force.map(Wrench::from_wire),
        robot_mode: Some(RobotMode::from_raw(Generation::Cb3, outputs.robot_mode)),
        // The status distinguishes safeguards that the mode combines.
        safety: Safety::Mode(SafetyMode::from_raw(outputs.safety_status.unwrap_or(outputs.safety_mode))),
        program_state: runtime.or_else(|| outputs.robot_status_bits.map(by_bit)),
        // The limiter's share of what the slider leaves.
        speed_scaling: outputs.speed_scaling.map(|limited| to_f32(limited) * slider.map_or(1.0, to_f32)),
        speed_slider: slider.map(to_f32),
        digital_inputs: outputs.actual_digital_input_bits,
        digital_outputs: outputs.actual_digital_output_bits,
        payload: outputs
            .payload
            .zip(outputs.payload_cog)
            .map(|(mass, center)| Payload { mass: to_f32(mass), center_of_gravity: center.map(to_f32) }),
    })
}
