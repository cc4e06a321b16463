//! The error codes that 30001 reports with a stop (`core/docs/protocol/ur-client-interfaces.md 4.3.2`).

use crate::arm::Exceeded;

/// An error code of the controller in its usual notation, C*code*A*argument*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopCode {
    /// The number of the error code, after the C.
    pub code: i32,
    /// The argument of the error code, after the A; 0 if the code has none.
    pub argument: i32,
}

impl StopCode {
    /// Returns the error code C*code*A*argument*.
    #[must_use]
    pub const fn new(code: i32, argument: i32) -> Self {
        Self { code, argument }
    }
}

/// The error code that 30001 reports with each kind of stop; `None` for a stop without a code. The vendor's list
/// contains every code here. The code that a real controller uses is known for `protective_stop()` only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopCodes {
    /// The code of the stop when a program called `protective_stop()`: C209.
    pub called: Option<StopCode>,
    /// The code of the stop when a joint leaves its range, and of the error when a move has a goal of joints beyond it:
    /// C150, position close to joint limits. Assumed.
    pub joint_limit: Option<StopCode>,
    /// The code of the stop when the tool cannot follow its path or reach its end: C154, position in singularity.
    /// Assumed.
    pub reach: Option<StopCode>,
    /// The code of the stop when a joint would exceed its speed: C204A1, sudden change in target position. Assumed.
    pub speed: Option<StopCode>,
    /// The code of a protective stop that an operator or a fault of the simulator caused: C157A0, collision detected
    /// by the base joint. Assumed.
    pub other: Option<StopCode>,
    /// The code of an emergency stop: C100A3, robot changed mode, to power off. Assumed.
    pub emergency: Option<StopCode>,
    /// The code of the stop after a violation of a safety limit: C191A2, joint speed limit violated. Assumed.
    pub violation: Option<StopCode>,
    /// The code of the stop after a fault of the safety system: C226, a fault was triggered for test purposes.
    /// Assumed.
    pub fault: Option<StopCode>,
}

impl StopCodes {
    /// Returns the error code of the stop after the arm's motion exceeded this limit; `None` for a stop without a code.
    pub(crate) fn of(&self, exceeded: Exceeded) -> Option<StopCode> {
        match exceeded {
            Exceeded::Position { .. } => self.joint_limit,
            Exceeded::Reach => self.reach,
            Exceeded::Speed { .. } => self.speed,
        }
    }
}

impl Default for StopCodes {
    fn default() -> Self {
        Self {
            called: Some(StopCode::new(209, 0)),
            joint_limit: Some(StopCode::new(150, 0)),
            reach: Some(StopCode::new(154, 0)),
            speed: Some(StopCode::new(204, 1)),
            other: Some(StopCode::new(157, 0)),
            emergency: Some(StopCode::new(100, 3)),
            violation: Some(StopCode::new(191, 2)),
            fault: Some(StopCode::new(226, 0)),
        }
    }
}

/// The severity of a controller's message with an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Violation,
    Fault,
}

impl Level {
    /// Returns the number of this severity level in error messages of port 30001; it is the same on all software.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Info => 1,
            Self::Warning => 2,
            Self::Violation => 3,
            Self::Fault => 4,
        }
    }
}
