//! The robot's state that programs act on, and the messages about programs for clients.

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
use crate::stop_error_codes::{Level, StopCode, StopCodes};
use crate::time::SimTime;
use crate::undocumented_delays::ServoJ;

/// The robot's state that URScript programs act on.
pub(crate) struct Plant {
    pub(crate) arm: Arm,
    pub(crate) io: Io,
    pub(crate) force: Force,
    pub(crate) robot: Robot,
    pub(crate) firmware: Firmware,
    /// Period of the controller's control cycle \[s\].
    pub(crate) dt: f64,
    pub(crate) fixed_stop_deceleration: f64,
    pub(crate) servoj: ServoJ,
    /// Deceleration of a move that interpreter mode aborts \[rad/s²\].
    pub(crate) stop_deceleration: f64,
    /// `true` if interpreter mode aborts the move in progress.
    pub(crate) aborts: bool,
    /// The program's thread that commanded motion last.
    pub(crate) mover: Option<ThreadId>,
    /// The smallest force that URScript's `tool_contact` reports as a contact of the tool \[N\].
    pub(crate) contact_force: f64,
    /// `true` if a program requested a protective stop in this cycle.
    pub(crate) asks_protective_stop: bool,
    /// The error codes that the controller reports when it stops the arm.
    pub(crate) stop_codes: StopCodes,
    /// The virtual time of the present control cycle.
    pub(crate) now: SimTime,
    /// The RTDE input registers: RTDE clients write them, programs read them.
    pub(crate) inputs: Registers,
    /// The RTDE output registers: programs write them, RTDE clients read them.
    pub(crate) outputs: Registers,
    /// The RTDE watchdogs that the running program has set.
    pub(crate) watchdogs: Watchdogs,
    /// The sockets of the running program, and all other connections that the controller opens.
    pub(crate) sockets: Sockets,
    /// The source of random numbers for URScript programs.
    pub(crate) random: Rng,
    /// The ROS 2 endpoints that the running program has open.
    pub(crate) ros: Ends,
}

impl Plant {
    /// Clears the state that ends with a program: watchdogs, sockets, ROS 2 endpoints, and force mode or freedrive.
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

/// A message that port 30001 sends to its clients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Notice {
    /// A program with this name began.
    Started(String),
    /// A program with this name ended, for any reason.
    Stopped(String),
    /// The text of a program is not valid, or a program ended with an error; line and column count from 1.
    Exception { line: i32, column: i32, text: String },
    /// A text for the log: of a program's `textmsg`, of an error of a secondary program, or of an expired RTDE
    /// watchdog.
    Text(String),
    /// A program called `popup`, which shows this text at the pendant.
    Popup { text: String, title: String, warning: bool, error: bool },
    /// The robot's safety mode changed to this one.
    Safety(SafetyMode),
    /// The controller reports an error code.
    Code { level: Level, code: StopCode, text: &'static str },
}

impl Notice {
    pub(super) fn exception(at: Position, text: String) -> Self {
        let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
        Self::Exception { line: number(at.line), column: number(at.column), text }
    }
}
