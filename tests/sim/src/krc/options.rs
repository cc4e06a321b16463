//! The options of a simulated KRC. If no public source documents the behaviour of a real one
//! (`core/docs/protocol/kuka-fri.md`: UNCONFIRMED), the behaviour is an option, and its default is named here.

use std::time::Duration;

use outrigger_wire::fri::Quality;

use super::arm::ArmOptions;
use super::fault::Fault;
use super::model::Joints;
use super::program::ProgramOptions;
use super::program_motion::Move;

/// Limits of the commanded motion, for `friStart` with the factor 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest commanded distance of each joint from zero \[rad\].
    pub position: Joints,
    /// Highest commanded speed of each joint \[rad/s\].
    pub velocity: Joints,
    /// The amount by which a commanded step may exceed the longest allowed step \[rad\], because positions are
    /// transmitted as 32-bit floats.
    pub step_tolerance: f64,
    /// Highest commanded acceleration of each joint \[rad/s²\]; `None` if it is not checked, which is the default: it
    /// is not known whether a KRC checks it.
    pub acceleration: Option<Joints>,
    /// Highest linear speed of a commanded tool frame \[m/s\]. Not known; the default is 2.
    pub tool_speed: f64,
    /// Highest angular speed of a commanded tool frame \[rad/s\]. Not known; the default is 6.3.
    pub tool_turning: f64,
}

impl Limits {
    /// The joint speed limits in published descriptions of the arm \[rad/s\]: lower than those of a KRC's
    /// configuration.
    pub const DESCRIPTION: Joints = radians([110.0, 110.0, 128.0, 128.0, 204.0, 184.0, 184.0]);
    /// The joint acceleration limits of a KRC's configuration \[rad/s²\].
    pub const ACCELERATION: Joints = radians([1200.0, 1200.0, 1600.0, 1600.0, 2500.0, 4400.0, 4400.0]);
}

const fn radians(degrees: Joints) -> Joints {
    let [a, b, c, d, e, f, g] = degrees;
    [a.to_radians(), b.to_radians(), c.to_radians(), d.to_radians(), e.to_radians(), f.to_radians(), g.to_radians()]
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            position: radians([170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 170.0]),
            // Limits of a KRC's configuration; descriptions of the arm have lower ones.
            velocity: radians([120.0, 120.0, 160.0, 160.0, 250.0, 220.0, 220.0]),
            step_tolerance: 2e-6,
            acceleration: None,
            tool_speed: 2.0,
            tool_turning: 6.3,
        }
    }
}

/// The requirements that the link must meet for one quality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualityLimits {
    /// The smallest share, 0 … 1, of the KRC's FRI messages that the remote computer must answer in time for the link
    /// to have this quality.
    pub answer_rate: f64,
    /// The largest mean latency of the remote computer's answers with which the link has this quality, in send periods
    /// of the KRC.
    pub latency: f64,
    /// The largest mean change of the latency from one answer to the next with which the link has this quality, in
    /// send periods of the KRC.
    pub jitter: f64,
}

/// The KRC's rating of the link. KUKA's numbers are not public: these are assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The requirements of the link qualities BAD, OK and PERFECT.
    pub limits: [QualityLimits; 3],
    /// The number of cycles in which the link must meet a higher quality before its quality rises by one step. The
    /// quality falls at once.
    pub rise_after: u32,
}

impl Default for Rating {
    fn default() -> Self {
        let row = |answer_rate, latency, jitter| QualityLimits { answer_rate, latency, jitter };
        Self { limits: [row(0.90, 1.0, 0.5), row(0.95, 0.8, 0.25), row(0.99, 0.5, 0.1)], rise_after: 100 }
    }
}

/// The operation mode, which determines whether the enabling switch must be held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationMode {
    /// T1, manual at low speed: the enabling switch must be held.
    T1,
    /// Operation mode T2, manual: the enabling switch must be held.
    T2,
    /// Operation mode automatic, without the enabling switch.
    #[default]
    Automatic,
}

impl OperationMode {
    /// Every operation mode with its name in options.
    pub const NAMED: [(Self, &'static str); 3] = [(Self::T1, "t1"), (Self::T2, "t2"), (Self::Automatic, "aut")];

    /// Returns whether drives are on only while the enabling switch is held.
    #[must_use]
    pub const fn needs_enabling(self) -> bool {
        matches!(self, Self::T1 | Self::T2)
    }
}

/// The treatment of the joint offset that FRI commands have caused, when commanding ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffsetAfterStop {
    /// The FRI offset is kept when commanding ends.
    #[default]
    Kept,
    /// The FRI offset is added to the KRC's own position when commanding ends.
    TakenOver,
}

/// The replacement for a missing answer of the remote computer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bridging {
    /// A missing setpoint is extrapolated from the last two setpoints.
    #[default]
    Extrapolate,
    /// The last setpoint is repeated in place of the missing answer.
    Hold,
}

/// The convention by which a measurement message expresses FRI's offset between the commanded frame of the tool and the
/// KRC's own frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameOffset {
    /// The position of the offset is the commanded position minus the KRC's own, in the base's directions; its rotation
    /// leads from the KRC's own frame to the commanded one.
    #[default]
    Added,
    /// The offset is the commanded frame as seen from the KRC's own frame.
    Product,
}

/// The frame at which the first commanded tool frame after a start must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MirroredFrame {
    /// The frame of the setpoint: the KRC's own with its FRI offset.
    #[default]
    Setpoint,
    /// The KRC's own commanded frame of the tool, without the FRI offset.
    Commanded,
    /// The measured frame of the tool.
    Measured,
}

/// The options of a simulated KRC.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The period of the KRC's FRI measurement messages, 1 … 100 ms in whole ms.
    pub period: Duration,
    /// Seed of all random numbers of the simulation.
    pub seed: u64,
    /// The counter of the first FRI measurement message that the KRC sends.
    pub first_counter: u16,
    /// Counter of a command that measurements reflect before the first command was received. Not known; the default is
    /// 0.
    pub first_reflected: u16,
    /// Lowest link quality at which `friStart` succeeds. Not known; the default is OK.
    pub start_quality: Quality,
    /// The KRC's rule of rating the link's quality. Not known.
    pub rating: Rating,
    /// `true` if an answer of the remote computer that misses its cycle is used as a setpoint in the next. Not known;
    /// by default it is not.
    pub uses_late_answers: bool,
    /// Number of consecutive missing answers for which the KRC extrapolates or repeats the setpoint before it
    /// returns to the monitor state. Not known; the default is 3.
    pub max_bridge: u32,
    /// Replacement for missing answers: an extrapolated setpoint, the default, or the last one. The order of the
    /// extrapolation is not known; here it is linear.
    pub bridging: Bridging,
    /// Largest permitted distance of the first command after a start from the setpoint \[rad\]. Not known; the default
    /// is 2 mrad.
    pub mirror_tolerance: f64,
    /// Largest permitted distance of the first commanded frame after a start from the frame that `mirrored_frame`
    /// selects \[m\]. Not known; the default is 5 mm.
    pub frame_tolerance: f64,
    /// Frame at which the first commanded frame after a start must be. The tool moves by the displacement of later ones
    /// from it. Not known; the default is the setpoint's.
    pub mirrored_frame: MirroredFrame,
    /// Convention by which a measurement message expresses FRI's offset of the tool frame. Not known; by default
    /// positions are subtracted.
    pub frame_offset: FrameOffset,
    /// Limits of the motion, of joints and tool frame, that the remote computer may command.
    pub limits: Limits,
    /// Factor on the speed limits in operation mode T1. Not known; the default is 0.1.
    pub t1_factor: f64,
    /// Treatment of the FRI offset when commanding ends. Not known; by default it is kept.
    pub offset_after_stop: OffsetAfterStop,
    /// Operation mode of the KRC at the start.
    pub operation: OperationMode,
    /// `true` if the enabling switch is held at the start.
    pub enabled: bool,
    /// Joint positions of the arm at the start \[rad\].
    pub start: Joints,
    /// Properties of the simulated arm.
    pub arm: ArmOptions,
    /// Properties of the simulated KRL program.
    pub program: ProgramOptions,
    /// Moves that the KRL program itself executes repeatedly.
    pub motion: Vec<Move>,
    /// Faults to be injected into the simulation, with their times.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            period: Duration::from_millis(1),
            seed: 1,
            first_counter: 1,
            first_reflected: 0,
            start_quality: Quality::Ok,
            rating: Rating::default(),
            uses_late_answers: false,
            max_bridge: 3,
            bridging: Bridging::Extrapolate,
            mirror_tolerance: 2e-3,
            frame_tolerance: 5e-3,
            mirrored_frame: MirroredFrame::Setpoint,
            frame_offset: FrameOffset::Added,
            limits: Limits::default(),
            t1_factor: 0.1,
            offset_after_stop: OffsetAfterStop::Kept,
            operation: OperationMode::Automatic,
            enabled: false,
            start: [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0],
            arm: ArmOptions::default(),
            program: ProgramOptions::default(),
            motion: vec![],
            faults: vec![],
        }
    }
}

/// An error: options that no real KRC can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError(pub(super) &'static str);

impl std::fmt::Display for OptionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for OptionsError {}

/// Returns whether FRI supports this period: whole milliseconds, 1 … 100.
pub(super) fn is_period(period: Duration) -> bool {
    period.subsec_nanos().is_multiple_of(1_000_000) && (1..=100).contains(&period.as_millis())
}

impl Options {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        let unless = |holds: bool, problem| if holds { Ok(()) } else { Err(OptionsError(problem)) };
        unless(is_period(self.period), "the period is 1 to 100 ms in whole milliseconds")?;
        unless(self.t1_factor > 0.0 && self.t1_factor <= 1.0, "the T1 factor is above 0, at most 1")?;
        let reachable = |q: &Joints| q.iter().zip(self.limits.position).all(|(q, limit)| q.abs() <= limit);
        unless(reachable(&self.start), "the start is outside the position limits")?;
        let reached = self.motion.iter().all(|part| if let Move::Ptp { to, .. } = part { reachable(to) } else { true });
        unless(
            reached,
            "a motion of the program exceeds the position limits: ±170° for odd joints, ±120° for even ones",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_or_a_motion_out_of_reach_is_no_option() {
        let there = [0.0, 0.0, 0.0, 2.2, 0.0, 0.0, 0.0];
        let moved = Options { motion: vec![Move::Ptp { to: there, speed: 0.2 }], ..Options::default() };
        assert!(moved.check().is_err_and(|error| error.to_string().contains("motion")));
        assert!(Options { start: there, ..Options::default() }.check().is_err());
        assert_eq!(Options::default().check(), Ok(()));
    }
}
