//! What programs act on, and what is told of them.

use outrigger_interpreter::{Position, ThreadId};
use outrigger_wire::robot::SafetyMode;

use super::Sockets;
use crate::arm::{Arm, Compliance};
use crate::firmware::Firmware;
use crate::force::Force;
use crate::io::Io;
use crate::rng::Rng;
use crate::robot::Robot;
use crate::ros::Ends;
use crate::rtde::{Registers, Watchdogs};
use crate::stops::{Level, StopCode, StopCodes};
use crate::time::SimTime;
use crate::timing::ServoJ;

/// The machine room: what programs act on.
pub(crate) struct Plant {
    pub(crate) arm: Arm,
    pub(crate) io: Io,
    pub(crate) force: Force,
    pub(crate) robot: Robot,
    pub(crate) firmware: Firmware,
    /// Control period \[s\].
    pub(crate) dt: f64,
    pub(crate) fixed_stop_deceleration: f64,
    pub(crate) servoj: ServoJ,
    /// Deceleration of a move that interpreter mode aborts \[rad/s²\].
    pub(crate) stop_deceleration: f64,
    /// Whether interpreter mode aborts the move that is under way.
    pub(crate) aborts: bool,
    /// The thread that commanded motion last.
    pub(crate) mover: Option<ThreadId>,
    /// Force that is a contact of the tool \[N\].
    pub(crate) contact_force: f64,
    /// Whether a program asked for a protective stop in this cycle.
    pub(crate) asks_protective_stop: bool,
    /// The error codes of stops.
    pub(crate) stop_codes: StopCodes,
    /// The present cycle.
    pub(crate) now: SimTime,
    /// Written by RTDE clients, read by programs.
    pub(crate) inputs: Registers,
    /// Written by programs, read by RTDE clients.
    pub(crate) outputs: Registers,
    /// Set by the running program.
    pub(crate) watchdogs: Watchdogs,
    /// Of the running program, and every other connection that the controller makes.
    pub(crate) sockets: Sockets,
    /// Numbers for programs that ask for random ones.
    pub(crate) random: Rng,
    /// What the running program has open in ROS 2.
    pub(crate) ros: Ends,
}

impl Plant {
    /// A program is over: what it had set up for itself ends with it.
    pub(super) fn forget_program(&mut self) {
        self.aborts = false;
        self.mover = None;
        self.watchdogs.clear();
        self.sockets.close_all();
        self.ros.close_all();
        if self.arm.compliance != Compliance::None {
            self.arm.comply(Compliance::None);
        }
    }
}

/// Something 30001 tells its clients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Notice {
    /// A program began.
    Started(String),
    /// It ended, however.
    Stopped(String),
    /// A text is no program, or one ended by an error; line and column count from 1.
    Exception { line: i32, column: i32, text: String },
    /// `textmsg`.
    Text(String),
    /// `popup`.
    Popup { text: String, title: String, warning: bool, error: bool },
    /// The safety mode changed.
    Safety(SafetyMode),
    /// An error code.
    Code { level: Level, code: StopCode, text: &'static str },
}

impl Notice {
    pub(super) fn exception(at: Position, text: String) -> Self {
        let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
        Self::Exception { line: number(at.line), column: number(at.column), text }
    }
}
