//! The rules for which goals and commands the node accepts, given the present state of the session.
//!
//! [`SessionFacts::accepts`] is the only place that decides this for each kind of [`Command`]. The list of controllers
//! shows a controller as active exactly if its commands are accepted, and goals, streams and calls are rejected by
//! the same rule. Faults of a single goal are judged later, and so is whether the arm is busy with another goal.

use std::fmt;

use outrigger_core::law::ForwardError;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::SoftwareVersion;

/// The text of a rejection by a node that does not command the arm.
pub const ONLY_LOOKS: &str =
    "this node is read-only: set command = true in [ros.expert] of a configuration, and run `outrigger ros2` with it";

/// A kind of goal or command that the node may accept or reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A trajectory that the control law, or the controller, follows.
    Follow,
    /// A trajectory that only a program on the controller executes.
    PassThrough,
    /// A trajectory whose motion ends at a contact of the tool.
    FollowUntilContact,
    /// A wait for a contact of the tool, without a motion of its own.
    DetectContact,
    /// A stream of target speeds for the joints.
    Speeds,
    /// A stream of target positions for the joints.
    Positions,
    /// A stream of torques for the joints.
    Torques,
    /// A force mode, in which the arm exerts a force.
    Force,
    /// Freedrive, in which a person moves the arm by hand.
    Freedrive,
    /// A new direction of gravity.
    Gravity,
}

impl Command {
    /// Every kind of goal or command that the node may accept or reject.
    pub const ALL: [Self; 10] = [
        Self::Follow,
        Self::PassThrough,
        Self::FollowUntilContact,
        Self::DetectContact,
        Self::Speeds,
        Self::Positions,
        Self::Torques,
        Self::Force,
        Self::Freedrive,
        Self::Gravity,
    ];
}

/// The facts about a session that decide whether a command is accepted. The default is that of a node that does not
/// command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionFacts {
    /// The state of the run, the control loop that may command the arm; `None` for a node that does not command.
    pub run: Option<Run>,
    /// The version of the controller's software; `None` until it is known.
    pub software: Option<SoftwareVersion>,
}

/// The state of a run: the control loop, beside the node, that may command the arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// `true` if a goal that arrives while the arm is not commanded also counts as a request to command it.
    pub goals_request: bool,
    /// The session's mode, e.g. whether the arm is commanded.
    pub mode: Mode,
    /// The first fault that ended commanding since the last acknowledgement; `None` if there is none.
    pub latch: Option<Reason>,
    /// The unmet preconditions, for which a request to command the arm would be refused.
    pub unmet: ReasonSet,
    /// The side that generates the arm's motions in the run: the control law, or a program on the controller.
    pub by: MotionSource,
}

/// The side that generates the arm's motions in a run: the controller or the control law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionSource {
    /// A program on the controller generates the arm's motions.
    Controller,
    /// The control law generates the arm's motions; some kinds of trajectories and streams it always refuses.
    Law {
        /// `true` if the control law follows trajectories.
        follows: bool,
        /// The reason why the control law refuses every stream of joint speeds; `None` if it accepts them.
        speeds: Option<ForwardError>,
        /// The reason why the control law refuses every stream of joint positions; `None` if it accepts them.
        positions: Option<ForwardError>,
        /// The reason why every stream of joint torques is refused; `None` if they are accepted.
        torques: Option<ForwardError>,
    },
}

/// The reason why a goal or command is rejected, regardless of its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rejection {
    /// The node is read-only: it does not command the arm.
    OnlyLooks,
    /// The goal must be executed by a URScript program on the controller, and in this session the control law generates
    /// the motions.
    PassesThrough,
    /// The controller generates motions by itself, so no control law follows a stream of joint speeds or positions.
    ByController,
    /// The command needs a URScript program on the controller, and in this session the control law generates the
    /// motions.
    NeedsProgram(Command),
    /// The control law does not follow trajectories of the joints.
    NoJointLaw,
    /// The control law, or the command path to the controller, refuses every stream of joint commands of this kind.
    Law(ForwardError),
    /// The controller's software, of this version, does not report contacts of the tool.
    NoContacts(SoftwareVersion),
    /// The command needs an arm that is commanded, and the arm is not.
    NotCommanding,
    /// Commanding ended by this fault, which has not been acknowledged yet.
    Latched(Reason),
    /// A request to command the arm would be refused for these unmet preconditions.
    Unmet(ReasonSet),
    /// The arm is commanded, but this command requires that the arm is at rest and not commanded.
    Commanding,
    /// The node has no session with the controller.
    NotConnected,
}

impl Rejection {
    /// Returns the name that the reason of the rejection has in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnlyLooks => "OnlyLooks",
            Self::PassesThrough | Self::NeedsProgram(_) => "NeedsPlayer",
            Self::ByController => "ByController",
            Self::NoJointLaw => "NoJointLaw",
            Self::Law(error) => error.name(),
            Self::NoContacts(_) => "NoContacts",
            Self::NotCommanding => "NotCommanding",
            Self::Latched(reason) => reason.name(),
            Self::Unmet(_) => "Unmet",
            Self::Commanding => "Commanded",
            Self::NotConnected => "NotConnected",
        }
    }
}

impl Rejection {
    /// Returns the text of the reason for the rejection, followed by its name in parentheses, as logs and results
    /// contain it.
    #[must_use]
    pub fn with_name(self) -> String {
        format!("{self} ({})", self.name())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyLooks => f.write_str(ONLY_LOOKS),
            Self::PassesThrough => f.write_str(
                "passthrough_trajectory_controller passes a trajectory to a program on the controller: run with \
                 session.path = \"player\", or send it to scaled_joint_trajectory_controller, which accepts it on every path with a joint law",
            ),
            Self::ByController => f.write_str(
                "with session.path = \"player\" the controller executes motions itself and streams are rejected: run with session.path = \"reverse-speedj\" or \"text\"",
            ),
            Self::NeedsProgram(Command::Force | Command::Freedrive) => f.write_str(
                "only a program on the controller makes the arm compliant: run with session.path = \"player\"",
            ),
            Self::NeedsProgram(_) => f.write_str(
                "only a program on the controller ends a motion at a contact: run with session.path = \"player\"",
            ),
            Self::NoJointLaw => f.write_str(
                "the law of this run does not follow joints: set law.kind = \"joint-servo\", or session.path = \"player\"",
            ),
            Self::Law(error) => error.fmt(f),
            Self::NoContacts(software) => {
                write!(f, "software {software} does not report contacts of the tool: CB 3.14 and e-Series 5.4 or later do")
            }
            Self::NotCommanding => f.write_str("the arm is not commanded: call outrigger/request first"),
            Self::Latched(reason) => write!(f, "a fault is not reset, call outrigger/acknowledge: {}", reason.text()),
            Self::Unmet(reasons) => {
                f.write_str("Not ready: ")?;
                for (index, reason) in reasons.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "; " })?;
                    f.write_str(reason.text())?;
                }
                Ok(())
            }
            Self::Commanding => f.write_str("the arm is commanded: call outrigger/release first"),
            Self::NotConnected => f.write_str("the controller is not connected"),
        }
    }
}

/// Returns `true` if controllers with the software version `software` report contacts of the tool
/// (`core/docs/protocol/ur-external-control.md`, `tool_contact`).
fn reports_contacts(software: SoftwareVersion) -> bool {
    if software.major < 5 { software.at_least(3, 14) } else { software.at_least(5, 4) }
}

impl SessionFacts {
    /// Checks that the session accepts a goal or command of this kind at present.
    ///
    /// # Errors
    /// The reason for the rejection. Reasons that need another configuration precede reasons that a call can clear.
    pub fn accepts(&self, command: Command) -> Result<(), Rejection> {
        let run = self.run.ok_or(Rejection::OnlyLooks)?;
        self.can_make(command, run.by)?;
        let commands = run.mode == Mode::Command;
        let latched = || Err(run.latch.map_or(Rejection::NotCommanding, Rejection::Latched));
        match command {
            Command::Gravity => match run.mode {
                Mode::Monitor => Ok(()),
                Mode::Offline => Err(Rejection::NotConnected),
                Mode::Arming | Mode::Command | Mode::Stopping => Err(Rejection::Commanding),
            },
            Command::Follow | Command::PassThrough | Command::FollowUntilContact
                if run.goals_request && run.mode == Mode::Monitor && run.latch.is_none() =>
            {
                if run.unmet.is_empty() {
                    Ok(())
                } else {
                    Err(Rejection::Unmet(run.unmet))
                }
            }
            _ if commands => Ok(()),
            _ => latched(),
        }
    }

    /// Checks that the side that generates motions, `by`, supports the command, regardless of the session's mode.
    fn can_make(&self, command: Command, by: MotionSource) -> Result<(), Rejection> {
        match (command, by) {
            (Command::Follow, MotionSource::Law { follows: false, .. }) => Err(Rejection::NoJointLaw),
            (Command::PassThrough, MotionSource::Law { .. }) => Err(Rejection::PassesThrough),
            (Command::Speeds | Command::Positions, MotionSource::Controller) => Err(Rejection::ByController),
            (Command::Torques, MotionSource::Controller) => Err(Rejection::Law(ForwardError::NoTorques)),
            (Command::Speeds, MotionSource::Law { speeds: Some(error), .. })
            | (Command::Positions, MotionSource::Law { positions: Some(error), .. })
            | (Command::Torques, MotionSource::Law { torques: Some(error), .. }) => Err(Rejection::Law(error)),
            (
                Command::FollowUntilContact | Command::DetectContact | Command::Force | Command::Freedrive,
                MotionSource::Law { .. },
            ) => Err(Rejection::NeedsProgram(command)),
            (Command::FollowUntilContact | Command::DetectContact, MotionSource::Controller) => match self.software {
                Some(software) if !reports_contacts(software) => Err(Rejection::NoContacts(software)),
                _ => Ok(()),
            },
            (
                Command::Follow
                | Command::PassThrough
                | Command::Speeds
                | Command::Positions
                | Command::Torques
                | Command::Force
                | Command::Freedrive
                | Command::Gravity,
                _,
            ) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TORQUES: Option<ForwardError> = Some(ForwardError::NoTorques);
    const LAW: MotionSource = MotionSource::Law { follows: true, speeds: None, positions: None, torques: NO_TORQUES };

    fn run(by: MotionSource, mode: Mode) -> Run {
        Run { goals_request: false, mode, latch: None, unmet: ReasonSet::EMPTY, by }
    }

    fn standing(run: Run) -> SessionFacts {
        SessionFacts { run: Some(run), software: Some(SoftwareVersion::new(5, 15)) }
    }

    fn accepted(standing: SessionFacts) -> Vec<Command> {
        Command::ALL.into_iter().filter(|command| standing.accepts(*command).is_ok()).collect()
    }

    #[test]
    fn each_side_makes_what_it_can_and_nothing_without_leave_or_command() {
        use Command::{
            DetectContact, Follow, FollowUntilContact, Force, Freedrive, Gravity, PassThrough, Positions, Speeds,
            Torques,
        };
        assert_eq!(accepted(SessionFacts::default()), []);
        assert_eq!(accepted(standing(run(LAW, Mode::Command))), [Follow, Speeds, Positions]);
        let player = standing(run(MotionSource::Controller, Mode::Command));
        assert_eq!(accepted(player), [Follow, PassThrough, FollowUntilContact, DetectContact, Force, Freedrive]);
        let old = SessionFacts { software: Some(SoftwareVersion::new(3, 13)), ..player };
        assert_eq!(accepted(old), [Follow, PassThrough, Force, Freedrive]);
        for mode in [Mode::Offline, Mode::Arming, Mode::Stopping] {
            assert_eq!(accepted(standing(run(LAW, mode))), [], "{mode:?}");
        }
        assert_eq!(accepted(standing(run(LAW, Mode::Monitor))), [Gravity]);
        let pushes = MotionSource::Law { follows: true, speeds: None, positions: None, torques: None };
        assert_eq!(accepted(standing(run(pushes, Mode::Command))), [Follow, Speeds, Positions, Torques]);
        for (by, path) in [(LAW, "reverse-torque"), (MotionSource::Controller, "external-torque")] {
            let rejection = standing(run(by, Mode::Command)).accepts(Torques).expect_err("no torques");
            assert!(rejection.name() == "NoTorques" && rejection.to_string().contains(path), "{rejection}");
        }
        let sensor = Some(ForwardError::Sensor);
        let sensor = MotionSource::Law { follows: true, speeds: sensor, positions: sensor, torques: sensor };
        assert_eq!(accepted(standing(run(sensor, Mode::Command))), [Follow]);
        let tool = ForwardError::NoJointLaw;
        let tool = MotionSource::Law { follows: false, speeds: Some(tool), positions: Some(tool), torques: Some(tool) };
        assert_eq!(accepted(standing(run(tool, Mode::Command))), []);
    }

    #[test]
    fn a_goal_is_a_request_where_that_is_configured_and_would_be_granted() {
        let rests = Run { goals_request: true, ..run(LAW, Mode::Monitor) };
        assert_eq!(standing(rests).accepts(Command::Follow), Ok(()));
        assert_eq!(standing(rests).accepts(Command::Speeds), Err(Rejection::NotCommanding));
        let latched = Run { latch: Some(Reason::PathTolerance), ..rests };
        assert_eq!(standing(latched).accepts(Command::Follow), Err(Rejection::Latched(Reason::PathTolerance)));
        let mut unmet = ReasonSet::EMPTY;
        unmet.insert(Reason::GradeLow);
        unmet.insert(Reason::NotAtRest);
        let rejection = standing(Run { unmet, ..rests }).accepts(Command::Follow).expect_err("it would be refused");
        let text = rejection.to_string();
        assert!(text.contains(Reason::GradeLow.text()) && text.contains(Reason::NotAtRest.text()), "{text}");
    }
}
