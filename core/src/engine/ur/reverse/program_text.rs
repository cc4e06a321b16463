//! The text of a program of ours, written for one controller.

use core::net::Ipv4Addr;

#[cfg(feature = "motions")]
use outrigger_urscript::programs::TORQUE;
use outrigger_urscript::programs::{BUFFERED, CONVERSATION, LIMITS, PLAYER, POSITIONS, REGISTERS, SERVOJ, SPEEDJ};
#[cfg(feature = "urcap")]
use outrigger_urscript::{ExternalControlProgram, TorqueBounds};
use outrigger_urscript::{ScriptText, ScriptValue, Version};

#[cfg(all(feature = "urcap", not(feature = "motions")))]
use crate::command::TorqueLimits;
use crate::engine::ur::command_path::{CommandPath, ProgramConfig};
use crate::engine::ur::config::{UrConfig, UrOptions};
use outrigger_wire::program_messages::{Hello, Kind};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

/// The number of placeholders for values that the program templates have.
const PLACES: usize = if cfg!(feature = "motions") { 64 } else { 48 };

/// An empty part of a program text, for programs without that part.
const NONE: &[u8] = &[];

/// The margin beyond a limit at which the program itself rejects a command: a share of a speed, acceleration or torque, a
/// distance \[rad\] for a position. So a command that is approved here is never rejected by the program.
const BEYOND: f32 = 0.02;

/// The text of one place of a ring in the program: six joint positions, and the time of their arrival.
const RING_ROW: &str = "z,z,z,z,z,z,z,\n";

/// The size \[B\] of the longest program text, without the places of a ring; the program that executes moves and that
/// of External Control have sizes of their own.
const MAX_LEN: usize = 4864;
/// The size of the longest text of our program that executes moves and computes their motion \[B\]. Without the feature
/// `urcap` no memory holds a whole text: it is sent in pieces.
const PLAYER_LEN: usize = 8192;
/// The size of the longest program text, including the program of External Control \[B\].
#[cfg(feature = "urcap")]
pub(super) const LONGEST: usize = 20_480;
#[cfg(not(feature = "urcap"))]
pub(super) const LONGEST: usize = PLAYER_LEN;

/// The values that determine the text of a program for the controller: command path, kind, software version, address
/// and port, token.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Made {
    pub(super) path: CommandPath,
    pub(super) kind: Kind,
    pub(super) software: SoftwareVersion,
    pub(super) address: Ipv4Addr,
    pub(super) port: u16,
    pub(super) token: i32,
}

impl Made {
    /// Calls `read` with the text of the program for the controller; `None` if it cannot be written, or is too long.
    pub(super) fn with_text<T>(
        &self,
        config: &UrConfig,
        for_urcap: bool,
        read: impl FnOnce(ScriptText<'_>) -> T,
    ) -> Option<T> {
        let Self { path, kind, software, address, port, token } = *self;
        let UrOptions { text, program, .. } = &config.peer;
        #[cfg(feature = "motions")]
        let torque = &config.peer.torque;
        #[cfg(all(feature = "urcap", not(feature = "motions")))]
        let torque = &TorqueLimits::default();
        let limits = &config.limits;
        let version = Version::new(software.major, software.minor);
        #[cfg(feature = "urcap")]
        if path.is_external() {
            let external = ExternalControlProgram {
                reverse_port: port,
                trajectory_port: program.trajectory_port,
                command_port: program.command_port,
                token: Some(token),
                lookahead: program.lookahead.as_secs_f32(),
                gain: program.gain,
                acceleration: text.acceleration,
                stop_deceleration: text.stop_acceleration,
                joint_speeds: limits.velocity.0.map(|v| v * (1.0 + BEYOND)),
                torque: TorqueBounds {
                    torque: torque.torque.0.map(|most| most * (1.0 + BEYOND)),
                    rate: torque.change_in(Duration::from_secs(1)).0.map(|most| most * (1.0 + BEYOND)),
                    travel: torque.travel + BEYOND,
                    lowest: limits.position_min.0.map(|q| q - BEYOND),
                    highest: limits.position_max.0.map(|q| q + BEYOND),
                    braking: limits.braking.iter().fold(text.stop_acceleration, f32::min),
                },
                ..ExternalControlProgram::new(address)
            };
            let values = external.values().ok()?;
            let text = if for_urcap {
                ExternalControlProgram::node(&values, version)
            } else {
                ExternalControlProgram::headless(&values, version)
            };
            return text.ok().filter(|text| text.len() <= LONGEST).map(read);
        }
        let period = Duration::from_micros(software.generation().period_micros());
        let integer = ScriptValue::Integer;
        let mut values = heapless::Vec::<(&str, ScriptValue<'_>), PLACES>::new();
        let _ = values.extend_from_slice(&[
            ("ADDRESS", ScriptValue::Address(address)),
            ("PORT", integer(port.into())),
            ("MAGIC", integer(Hello::MAGIC)),
            ("VERSION", integer(Hello::VERSION)),
            ("KIND", integer(kind.raw())),
            ("TOKEN", integer(token)),
            ("INPUTS", integer(ProgramConfig::INPUTS)),
            ("OUTPUTS", integer(ProgramConfig::OUTPUTS)),
            ("STEP", ScriptValue::Decimal(period.as_secs_f32())),
            ("HOLD", ScriptValue::Decimal(text.hold.as_secs_f32())),
            ("PATIENCE", ScriptValue::Decimal(2.0)),
            ("REST", ScriptValue::Decimal(1.0)),
            ("ACCELERATION", ScriptValue::Decimal(text.acceleration)),
            ("STOP", ScriptValue::Decimal(text.stop_acceleration)),
        ]);
        // Twice the weakest braking: the stopping distance is the squared speed divided by it.
        let braking = limits.braking.iter().fold(text.stop_acceleration, f32::min);
        let _ = values.push(("BRAKING", ScriptValue::Decimal(braking * 2.0)));
        let lists = [
            (["V0", "V1", "V2", "V3", "V4", "V5"], limits.velocity.0.map(|v| v * (1.0 + BEYOND))),
            // Slowing down may take more: see `STOP`.
            (["A0", "A1", "A2", "A3", "A4", "A5"], limits.acceleration.0.map(|a| a * (1.0 + BEYOND))),
            (["L0", "L1", "L2", "L3", "L4", "L5"], limits.position_min.0.map(|q| q - BEYOND)),
            #[cfg(feature = "motions")]
            (["T0", "T1", "T2", "T3", "T4", "T5"], torque.torque.0.map(|most| most * (1.0 + BEYOND))),
            #[cfg(feature = "motions")]
            (["R0", "R1", "R2", "R3", "R4", "R5"], torque.change_in(period).0.map(|most| most * (1.0 + BEYOND))),
            (["H0", "H1", "H2", "H3", "H4", "H5"], limits.position_max.0.map(|q| q + BEYOND)),
        ];
        for (name, value) in lists.iter().flat_map(|(names, list)| names.iter().zip(list)) {
            let _ = values.push((name, ScriptValue::Decimal(*value)));
        }
        let _ = values.extend_from_slice(&[
            #[cfg(feature = "motions")]
            ("TRAVEL", ScriptValue::Decimal(torque.travel + BEYOND)),
            ("DIVERGENCE", ScriptValue::Decimal(program.divergence + BEYOND)),
            ("LEAD", ScriptValue::Decimal(program.lead(path, limits.velocity.iter().fold(0.0, f32::max)) + BEYOND)),
            // Two values that arrive in time are no farther apart.
            ("LEAP", ScriptValue::Decimal(text.hold.as_secs_f32())),
            ("LOOKAHEAD", ScriptValue::Decimal(program.lookahead.as_secs_f32())),
            ("GAIN", integer(program.gain.into())),
            ("FILL", integer(program.fill(period).into())),
            ("PLACES", integer(config.peer.ring().into())),
            ("RING", ScriptValue::Repeated(RING_ROW, config.peer.ring())),
            ("STALE", integer(stale(config, period))),
        ]);
        let (common, moves) = match kind {
            Kind::ServoJ => (POSITIONS, SERVOJ),
            Kind::Buffered => (POSITIONS, BUFFERED),
            Kind::Player => (NONE, PLAYER),
            #[cfg(feature = "motions")]
            Kind::Torque => (NONE, TORQUE),
            _ => (NONE, SPEEDJ),
        };
        // The node of the URCap is one call; the functions that it calls are at the top of the program.
        let (before, behind): (&[u8], &[u8]) =
            if for_urcap { (b"# HEADER_BEGIN\n", b"# HEADER_END\noutrigger_program()\n") } else { (NONE, NONE) };
        let conversation = match kind {
            Kind::Player => NONE,
            _ if program.by_registers(path) => REGISTERS,
            _ => CONVERSATION,
        };
        let text = ScriptText::of([before, LIMITS, common, moves, conversation, behind], &values, version).ok()?;
        let ring = if kind == Kind::Buffered { RING_ROW.len().saturating_mul(config.peer.ring().into()) } else { 0 };
        let longest = if kind == Kind::Player { PLAYER_LEN } else { MAX_LEN.saturating_add(ring) };
        (text.len() <= longest).then(|| read(text))
    }
}

/// Returns the highest number of orders for which a position may wait in the ring: as many as are sent while the arm is
/// held for the longest time, and in ten times the longest wait at full speed, for an arm that is slowed down.
fn stale(config: &UrConfig, period: Duration) -> i32 {
    let UrOptions { program, path, .. } = &config.peer;
    let longest = config.mode.scaling.held_timeout + program.waits(*path).times(10);
    i32::try_from(longest.whole_up(period)).unwrap_or(i32::MAX)
}
