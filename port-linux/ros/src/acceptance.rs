//! The goals and commands that the node accepts now.
//!
//! [`Standing::accepts`] is the only place that decides it for the kinds of [`Command`]: the list of controllers shows one as active where
//! it accepts, and goals, streams and calls are rejected where it rejects. What is wrong with a single goal is judged later, and so is
//! whether the arm is busy with another one.

use std::fmt;

use outrigger_core::law::ForwardError;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::SoftwareVersion;

/// The rejection of a node that commands nothing.
pub const ONLY_LOOKS: &str = "this node commands nothing: say command = true in [ros.expert] of a configuration, and run `outrigger ros2` with it";

/// A kind of goal or command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A trajectory for the law or the controller.
    Follow,
    /// A trajectory for a program on the controller alone.
    PassThrough,
    /// A trajectory that ends at a contact of the tool.
    FollowUntilContact,
    /// The wait for a contact of the tool.
    DetectContact,
    /// A stream of joint speeds.
    Speeds,
    /// A stream of joint positions.
    Positions,
    /// A stream of joint torques.
    Torques,
    /// A force mode.
    Force,
    /// Motion by hand.
    Freedrive,
    /// The direction of gravity.
    Gravity,
}

impl Command {
    /// All of them.
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

/// The facts about a session that decide what is accepted. The default is that of a node that only looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// The run that commands; `None` for a node that only looks.
    pub run: Option<Run>,
    /// The controller's software, once it is known.
    pub software: Option<SoftwareVersion>,
}

/// The state of a run that commands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// A goal while nothing is commanded is a request as well.
    pub goals_request: bool,
    /// The mode.
    pub mode: Mode,
    /// The first reason since the last acknowledge.
    pub latch: Option<Reason>,
    /// The reasons for which a request would be refused.
    pub unmet: ReasonSet,
    /// The side that makes motions.
    pub by: Makes,
}

/// The side that makes the motions of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Makes {
    /// A program on the controller.
    Controller,
    /// The law, with what it refuses of trajectories and streams whatever they are.
    Law {
        /// Set where it follows trajectories.
        follows: bool,
        /// The reason for which it refuses every speed.
        speeds: Option<ForwardError>,
        /// The reason for which it refuses every position.
        positions: Option<ForwardError>,
        /// The reason for which every torque is refused.
        torques: Option<ForwardError>,
    },
}

/// The reason for which a command is rejected, whatever it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rejection {
    /// The node only looks.
    OnlyLooks,
    /// A trajectory can be passed through by a program on the controller alone.
    PassesThrough,
    /// The controller makes motions by itself, so that no law follows a stream.
    ByController,
    /// A program on the controller is needed for it.
    NeedsProgram(Command),
    /// The law follows no joints.
    NoJointLaw,
    /// The law, or the path, refuses every such stream.
    Law(ForwardError),
    /// The controller's software does not report contacts.
    NoContacts(SoftwareVersion),
    /// The arm is not commanded.
    NotCommanding,
    /// An earlier fallback has not been acknowledged.
    Latched(Reason),
    /// A request would be refused, for one reason at least.
    Unmet(ReasonSet),
    /// The arm is commanded, and it has to be at rest without that.
    Commanding,
    /// No session with the controller.
    NotConnected,
}

impl Rejection {
    /// The name in logs.
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
    /// Returns the text with the name behind it, as logs and results have it.
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
                 session.path = \"player\", or send it to scaled_joint_trajectory_controller, which takes it on every path by a law that follows joints",
            ),
            Self::ByController => f.write_str(
                "with session.path = \"player\" the controller makes motions by itself, and no law follows a stream: run with session.path = \"reverse-speedj\" or \"text\"",
            ),
            Self::NeedsProgram(Command::Force | Command::Freedrive) => f.write_str(
                "only a program on the controller lets the arm give way: run with session.path = \"player\"",
            ),
            Self::NeedsProgram(_) => f.write_str(
                "only a program on the controller ends a motion at a contact: run with session.path = \"player\"",
            ),
            Self::NoJointLaw => f.write_str(
                "the law of this run follows no joints: take law.kind = \"joint-servo\", or session.path = \"player\"",
            ),
            Self::Law(error) => error.fmt(f),
            Self::NoContacts(software) => {
                write!(f, "software {software} does not report contacts of the tool: CB 3.14 and e-Series 5.4 are the first that do")
            }
            Self::NotCommanding => f.write_str("nothing is commanded: call outrigger/request first"),
            Self::Latched(reason) => write!(f, "an earlier end of commanding is not acknowledged: {}", reason.text()),
            Self::Unmet(reasons) => {
                f.write_str("it cannot be commanded now: ")?;
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

/// Returns whether this software reports contacts of the tool (`core/docs/protocol/ur-external-control.md`, `tool_contact`).
fn reports_contacts(software: SoftwareVersion) -> bool {
    if software.major < 5 { software.at_least(3, 14) } else { software.at_least(5, 4) }
}

impl Standing {
    /// Checks that a command of this kind is accepted now.
    ///
    /// # Errors
    /// The reason for which none is: first what another configuration would change, then what a call would.
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

    /// Checks that the side that makes motions can do this, in whatever mode.
    fn can_make(&self, command: Command, by: Makes) -> Result<(), Rejection> {
        match (command, by) {
            (Command::Follow, Makes::Law { follows: false, .. }) => Err(Rejection::NoJointLaw),
            (Command::PassThrough, Makes::Law { .. }) => Err(Rejection::PassesThrough),
            (Command::Speeds | Command::Positions, Makes::Controller) => Err(Rejection::ByController),
            (Command::Torques, Makes::Controller) => Err(Rejection::Law(ForwardError::NoTorques)),
            (Command::Speeds, Makes::Law { speeds: Some(error), .. })
            | (Command::Positions, Makes::Law { positions: Some(error), .. })
            | (Command::Torques, Makes::Law { torques: Some(error), .. }) => Err(Rejection::Law(error)),
            (
                Command::FollowUntilContact | Command::DetectContact | Command::Force | Command::Freedrive,
                Makes::Law { .. },
            ) => Err(Rejection::NeedsProgram(command)),
            (Command::FollowUntilContact | Command::DetectContact, Makes::Controller) => match self.software {
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
    const LAW: Makes = Makes::Law { follows: true, speeds: None, positions: None, torques: NO_TORQUES };

    fn run(by: Makes, mode: Mode) -> Run {
        Run { goals_request: false, mode, latch: None, unmet: ReasonSet::EMPTY, by }
    }

    fn standing(run: Run) -> Standing {
        Standing { run: Some(run), software: Some(SoftwareVersion::new(5, 15)) }
    }

    fn accepted(standing: Standing) -> Vec<Command> {
        Command::ALL.into_iter().filter(|command| standing.accepts(*command).is_ok()).collect()
    }

    #[test]
    fn each_side_makes_what_it_can_and_nothing_without_leave_or_command() {
        use Command::{
            DetectContact, Follow, FollowUntilContact, Force, Freedrive, Gravity, PassThrough, Positions, Speeds,
            Torques,
        };
        assert_eq!(accepted(Standing::default()), []);
        assert_eq!(accepted(standing(run(LAW, Mode::Command))), [Follow, Speeds, Positions]);
        let player = standing(run(Makes::Controller, Mode::Command));
        assert_eq!(accepted(player), [Follow, PassThrough, FollowUntilContact, DetectContact, Force, Freedrive]);
        let old = Standing { software: Some(SoftwareVersion::new(3, 13)), ..player };
        assert_eq!(accepted(old), [Follow, PassThrough, Force, Freedrive]);
        for mode in [Mode::Offline, Mode::Arming, Mode::Stopping] {
            assert_eq!(accepted(standing(run(LAW, mode))), [], "{mode:?}");
        }
        assert_eq!(accepted(standing(run(LAW, Mode::Monitor))), [Gravity]);
        let pushes = Makes::Law { follows: true, speeds: None, positions: None, torques: None };
        assert_eq!(accepted(standing(run(pushes, Mode::Command))), [Follow, Speeds, Positions, Torques]);
        for (by, path) in [(LAW, "reverse-torque"), (Makes::Controller, "external-torque")] {
            let rejection = standing(run(by, Mode::Command)).accepts(Torques).expect_err("no torques");
            assert!(rejection.name() == "NoTorques" && rejection.to_string().contains(path), "{rejection}");
        }
        let sensor = Some(ForwardError::Sensor);
        let sensor = Makes::Law { follows: true, speeds: sensor, positions: sensor, torques: sensor };
        assert_eq!(accepted(standing(run(sensor, Mode::Command))), [Follow]);
        let tool = ForwardError::NoJointLaw;
        let tool = Makes::Law { follows: false, speeds: Some(tool), positions: Some(tool), torques: Some(tool) };
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
