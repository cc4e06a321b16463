//! The reasons for which a command is refused or ended: one flat list for all layers.

use outrigger_wire::robot::{RobotMode, Safety, SafetyMode};

macro_rules! reasons {
    ($($variant:ident $text:literal $advice:literal),+ $(,)?) => {
        /// A reason why the mode machine refuses to command, or has stopped commanding.
        ///
        /// The first reason that ends commanding and is not a person's [release](Self::is_release) is latched: it
        /// prevents commanding until an operator acknowledges it. Later ones are kept as a [`ReasonSet`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
        #[repr(u8)]
        pub enum Reason {
            $(#[doc = concat!($text, ".")] $variant,)+
        }

        impl Reason {
            /// The complete list of reasons to refuse or end commanding.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns a description of the reason, as a clause that starts in lower case.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Returns a hint at what a person can do about the reason.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice),+ }
            }

            /// Returns the name of the reason in reports and machine-readable output, e.g. `StateStale`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),+ }
            }
        }
    };
}

reasons! {
    Released "a stop was requested" "start again to go on",
    GradeLow "the link quality is below what commanding needs" "check the network, and the load of this device and of the controller",
    StateStale "the newest robot state is too old" "check the network between this device and the controller",
    StatesMissed "too many consecutive states were missed" "check the network between this device and the controller",
    LocalStall "this device's control loop was not scheduled in time" "give the control loop its own processor or priority, and reduce other load",
    ClockJump "the controller's clock jumped" "the controller was restarted or its time was set; reset and start",
    LinkClosed "no connection to the controller" "check that the controller is on and the port is enabled",
    Unacknowledged "the controller does not acknowledge what is sent" "check the cable and the controller's load",
    EvidenceMissing "a fact the decision needs is missing or too old" "see the unmet precondition, and check its link",
    RobotNotRunning "the robot is not in mode RUNNING" "in POWER_OFF or IDLE, power the arm on and release the brakes; in any other mode, check the teach pendant",
    ProtectiveStop "the robot is in a protective stop" "find the cause, unlock on the pendant or by dashboard, then reset",
    SafeguardStop "the robot is in a safeguard stop" "close the safeguard, then reset",
    EmergencyStop "an emergency stop is pressed" "release it, bring the robot up, then reset",
    SafetyFault "the robot's safety system reports a violation or fault" "restart the safety system on the pendant",
    NotRemote "the robot is in local control" "switch the pendant to remote control and reconnect",
    ForeignProgram "another program, or a paused one, is on the controller" "stop it at the pendant, or set `session.expert.take_over = true`",
    ForeignMotion "the arm moves by a foreign command" "find the second commander",
    NotFollowing "the controller does not follow commands" "look for a second commander, a stopped program or local mode",
    ProgramEnded "our program on the controller ended" "unless it was stopped at the pendant, see the controller's log",
    AcceptanceUnknown "this firmware gives no proof that commands are accepted" "set `session.expert.acceptance_unknown = true` after testing it on the arm",
    NotGranted "the controller has not granted command" "see its log; a KRC also needs its own quality above UNACCEPTABLE",
    NotAtRest "the arm is not at rest" "wait for standstill, then start again",
    MotionUnknown "an earlier motion may continue: no end was measured" "check the arm; this clears once its end and standstill are measured",
    ArmingTimeout "arming took too long" "see the unmet precondition, or raise `arming_timeout`",
    Latched "an earlier fault is not reset" "reset it, then start",
    WrongEpoch "the request is for an earlier session" "send it again with the current epoch",
    SourceStale "a sensor's newest sample is too old" "check the sensor and its cable",
    SourceStuck "a sensor repeats the same value" "check the sensor; a frozen reading looks like this",
    SourceOutOfRange "a sensor's value is outside its range" "check the sensor and the configured range",
    SourceRate "a sensor's value changes faster than it can" "check the sensor and the configured rate",
    NotFinite "a number is NaN or infinite" "check the law's inputs",
    PositionLimit "a joint would not stop before its position limit" "move the arm away from the limit",
    VelocityLimit "a joint speed is above its limit" "check the law's gains, move more slowly, or raise the limit",
    AccelerationLimit "a joint acceleration is above its limit" "use a gentler move or raise the limit",
    Singular "the arm is too close to a singular pose" "choose another pose",
    PathTolerance "the arm is outside the tolerance around its path" "check payload, limits and obstacles; before a motion begins, move the arm to its start",
    StopTimeout "standstill was not measured in time" "check the arm",
    KinematicsUnknown "the arm's kinematics are not known" "set `model` in the configuration",
    Internal "an internal check failed" "report it with the recorder's dump",
    LeftCommand "the KRC left the command state by itself" "see its messages and its program; reset, then start",
    OtherScheme "the KRC commands in a control scheme that does not take what is sent" "let the KRL program select the scheme that `robot.expert.control` names, or name the program's",
    HeldByScaling "the robot's speed slider, or its limiter, held the arm for too long" "move the speed slider up, then reset and start",
    StopOpen "the stop input is open, or was not seen yet" "close it, then start; a broken wire reads as open",
    LineLow "the request line is low, or was not seen yet" "raise the request line: while it is low nothing is commanded",
    LineHeld "the request line was not low for long enough before it rose" "take it low, wait a second, then raise it again",
    TrackingError "the tracking error is too large" "find what holds or pushes the arm; `limits.expert.tracking_error` is the limit",
    ProgramStopped "the program was stopped at the pendant, or text is rejected" "start again, or resume to continue the motion; local control accepts no commands",
    ProgramPaused "the program was paused at the pendant" "start again, or resume to continue the motion",
    NotCommanding "nothing is commanded now" "start, and send the move once commanding has begun",
    MoveNotStarted "the program on the controller did not begin the move in time" "see the controller's log for why, or allow it more time",
    MoveUnseen "the program did not report on the move in time" "see whether the program on the controller was paused or has ended; check the network",
    OtherMove "the program on the controller reports a move without a command" "after a stop, wait until it has ended; otherwise find its other client",
    NotMirrored "our program on the controller does not answer" "see whether it was paused at the pendant; check the network and the controller's load",
    PathUnfit "this controller does not support the configured path" "choose another `session.path`; `outrigger doctor` names those that fit",
    ProgramAway "our program does not run on the controller" "play the program with the External Control node, at the pendant or by `outrigger dashboard ROBOT play`",
    Commanded "the arm is commanded now" "stop it, wait for standstill, then try again",
    NoSuchProgram "this configuration has no program for it on the controller" "choose a `session.path` that has one, such as `player`; to hand back or resend, set `program.expert.resident`",
    ProgramRuns "our program runs on the controller already" "hand it back first to restart it",
    Starved "the motion ran out of waypoints before its end" "feed it faster than the arm moves, then reset and start",
    NotRenewed "freedrive or force mode was not kept alive in time" "reset and start, then begin it again, and renew it until its end",
    NotYours "another client has freedrive or force mode" "only that client renews it; any client may end or stop it",
    GuideLimit "freedrive, force or torque moved the arm faster or further than allowed" "move it more slowly or less far, or raise its limit; reset and start",
    GoalTolerance "the arm did not reach its goal in time" "check payload and what holds the arm; allow more time or tolerance",
    SafetyNotNormal "the safety system reports neither normal nor reduced operation" "see the safety mode shown, and the teach pendant for what it requires; then reset",
    ImpossibleState "received states that this arm cannot have" "check that nothing else answers at the controller's address, and report the recording",
    OtherController "the controller is not the configured one" "correct `robot.model` or `session.software`, see `outrigger doctor`",
    PendantUnseen "a stop at the pendant cannot be seen" "use states by RTDE or another `session.path`; or see `session.expert.pendant_stop`",
    ClockInexact "the clock of this device is too inexact to judge the age of states" "see why the board runs by the chip's own oscillator",
    TorqueLimit "a torque or force exceeds a limit" "check the law's gains, or raise `limits.expert.torque`, with a KRC `added_torque` or `added_wrench`",
}

impl Reason {
    /// Returns the reason against motion that follows from the report of the safety system; `None` if it permits motion
    /// (NORMAL, REDUCED).
    #[must_use]
    pub const fn of_safety(safety: Safety) -> Option<Self> {
        match safety {
            Safety::Mode(mode) => match mode {
                SafetyMode::Normal | SafetyMode::Reduced => None,
                SafetyMode::ProtectiveStop => Some(Self::ProtectiveStop),
                SafetyMode::SafeguardStop
                | SafetyMode::AutomaticModeSafeguardStop
                | SafetyMode::SystemThreePositionEnablingStop
                | SafetyMode::TpThreePositionEnablingStop
                | SafetyMode::ImmiSafeguardStop
                | SafetyMode::ProfisafeAutomaticModeSafeguardStop
                | SafetyMode::ProfisafeSafeguardStop
                | SafetyMode::SafetyApiSafeguardStop => Some(Self::SafeguardStop),
                SafetyMode::SystemEmergencyStop
                | SafetyMode::RobotEmergencyStop
                | SafetyMode::ImmiEmergencyStop
                | SafetyMode::ProfisafeEmergencyStop => Some(Self::EmergencyStop),
                SafetyMode::Violation | SafetyMode::Fault => Some(Self::SafetyFault),
                SafetyMode::Recovery
                | SafetyMode::ValidateJointId
                | SafetyMode::UndefinedSafetyMode
                | SafetyMode::ProfisafeWaitingForParameters
                | SafetyMode::IoPlaneStop
                | SafetyMode::Unknown(_) => Some(Self::SafetyNotNormal),
            },
            Safety::FromRobotMode(mode) => match mode {
                RobotMode::SecurityStopped => Some(Self::ProtectiveStop),
                RobotMode::EmergencyStopped => Some(Self::EmergencyStop),
                RobotMode::SafeguardStop => Some(Self::SafeguardStop),
                RobotMode::FatalError => Some(Self::SafetyFault),
                RobotMode::Unknown(_) => Some(Self::SafetyNotNormal),
                _ => None,
            },
            Safety::Unknown => Some(Self::EvidenceMissing),
        }
    }

    /// Returns whether a person ended commanding, here or at the pendant. This is not a fault, and needs no
    /// acknowledgement.
    #[must_use]
    pub const fn is_release(self) -> bool {
        matches!(self, Self::Released | Self::ProgramStopped | Self::ProgramPaused)
    }
}

/// A set of [reasons](Reason) against commanding, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ReasonSet([u32; 3]);

const _: () = assert!(Reason::ALL.len() <= 3 * 32, "each reason has a bit");

impl ReasonSet {
    /// The set without any reason against commanding.
    pub const EMPTY: Self = Self([0; 3]);

    /// Returns the index of the word that holds `reason`, and its bit in that word.
    const fn place(reason: Reason) -> (usize, u32) {
        ((reason as usize) >> 5, 1 << (reason as u32 & 31))
    }

    /// Returns the set with `reason` added.
    #[must_use]
    pub const fn with(self, reason: Reason) -> Self {
        let Self([a, b, c]) = self;
        match Self::place(reason) {
            (0, bit) => Self([a | bit, b, c]),
            (1, bit) => Self([a, b | bit, c]),
            (_, bit) => Self([a, b, c | bit]),
        }
    }

    /// Adds `reason` to the set.
    pub const fn insert(&mut self, reason: Reason) {
        *self = self.with(reason);
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a | d, b | e, c | f])
    }

    /// Returns whether `reason` is in the set.
    #[must_use]
    pub const fn contains(self, reason: Reason) -> bool {
        let Self([a, b, c]) = self;
        let (word, bit) = match Self::place(reason) {
            (0, bit) => (a, bit),
            (1, bit) => (b, bit),
            (_, bit) => (c, bit),
        };
        word & bit != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        let [a, b, c] = self.0;
        a | b | c == 0
    }

    /// Iterates over the reasons in the set, in the order of [`Reason::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.iter().copied().filter(move |r| self.contains(*r))
    }
}

impl FromIterator<Reason> for ReasonSet {
    fn from_iter<I: IntoIterator<Item = Reason>>(reasons: I) -> Self {
        reasons.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_what_was_put_in() {
        for (at, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, at);
            let set = ReasonSet::EMPTY.with(*reason);
            assert_eq!(set.iter().collect::<Vec<_>>(), [*reason]);
        }
    }
}
