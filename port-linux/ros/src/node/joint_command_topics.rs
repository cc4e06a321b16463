//! The topics of `forward_velocity_controller`, `forward_position_controller` and `forward_effort_controller`, and of
//! hardware components of ros2_control. The newest command is passed to the control loop, which follows it as long as
//! it is valid or refuses it.

use outrigger_core::law::{Forward, Forwarded};
use outrigger_ros2_messages::endpoint::{Qos, Subscription};
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities};
use outrigger_wire::time::Duration;

use super::dds::{In, Offers};
use super::settings::{Remarks, Settings};
use crate::command_acceptance::{Command, SessionFacts};
use crate::joint_commands::{self, EFFORT, JOINT_COMMANDS, JOINT_SPEED, POSITION, VELOCITY};
use outrigger::exit::Failure;
use outrigger::requests::{Client, Streaming};

/// The topics of streamed joint commands, and the newest command.
pub(super) struct Streams<const N: usize> {
    velocity: In,
    position: In,
    effort: In,
    joint_commands: In,
    /// The topic of streamed joint speeds under its name in `ur_modern_driver`, the driver of 2015.
    joint_speed: Option<In>,
    /// The names of the arm's joints.
    joints: Vec<String>,
    holds: Duration,
    /// The newest streamed command that arrived since the last step.
    newest: Option<Forwarded<N>>,
    /// The control loop's counts of refused and expired streamed commands at the last step, by which new ones are
    /// recognized.
    seen: Streaming,
}

impl<const N: usize> Streams<N> {
    /// Subscribes to the topics of streamed joint commands. Lost commands are not sent again, because the next one
    /// supersedes them.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, settings: &Settings, joints: Vec<String>) -> Result<Self, Failure> {
        let names = &settings.names;
        let mut listens = |topic: &Subscription| dds.listens(&names.of(topic.name), topic.message, Qos::BEST_EFFORT);
        let (velocity, position, effort) = (listens(VELOCITY)?, listens(POSITION)?, listens(EFFORT)?);
        let joint_commands = listens(JOINT_COMMANDS)?;
        let joint_speed = settings.legacy_names.then(|| listens(JOINT_SPEED)).transpose()?;
        Ok(Self {
            velocity,
            position,
            effort,
            joint_commands,
            joint_speed,
            joints,
            holds: settings.forward_timeout,
            newest: None,
            seen: Streaming::default(),
        })
    }

    /// Reads a message of a topic of streamed joint commands. Returns `false` if the message is of another topic.
    pub(super) fn arrival(&mut self, (at, bytes): (In, &[u8]), standing: &SessionFacts, remarks: &mut Remarks) -> bool {
        let speeds = |values| Some(Forwarded::Speeds(JointVelocities(values)));
        let (topic, command) = match at {
            _ if at == self.velocity => (VELOCITY, joint_commands::command(bytes).map(speeds)),
            _ if at == self.position => {
                let positions = |values| Some(Forwarded::Positions(JointPositions(values)));
                (POSITION, joint_commands::command(bytes).map(positions))
            }
            _ if at == self.effort => {
                let torques = |values| Some(Forwarded::Torques(JointTorques(values)));
                (EFFORT, joint_commands::command(bytes).map(torques))
            }
            _ if at == self.joint_commands => (JOINT_COMMANDS, joint_commands::joint_commands(bytes, &self.joints)),
            _ if Some(at) == self.joint_speed => {
                (JOINT_SPEED, joint_commands::joint_speed(bytes, &self.joints).map(speeds))
            }
            _ => return false,
        };
        let kind = match &command {
            Ok(None) => return true,
            Ok(Some(Forwarded::Speeds(_))) => Command::Speeds,
            Ok(Some(Forwarded::Torques(_))) => Command::Torques,
            Err(_) if at == self.velocity || Some(at) == self.joint_speed => Command::Speeds,
            Err(_) if at == self.effort => Command::Torques,
            Ok(Some(Forwarded::Positions(_))) | Err(_) => Command::Positions,
        };
        let (name, refused) = match (standing.accepts(kind), command) {
            (Err(rejection), _) => (rejection.name(), rejection.to_string()),
            (Ok(()), Err(why)) => (why.name(), why.to_string()),
            (Ok(()), Ok(command)) => {
                self.newest = command;
                return true;
            }
        };
        let text = format!("{}: {refused} ({name})", topic.name);
        remarks.push_counted(format!("{} {name}", topic.name), text, 1);
        true
    }

    /// Drops the newest streamed command if it has not been passed on to the control loop.
    pub(super) const fn discard(&mut self) {
        self.newest = None;
    }

    /// Passes the newest streamed command to the control loop, and logs commands that were refused or that expired.
    pub(super) fn step(&mut self, client: &Client<N>, remarks: &mut Remarks) {
        if let Some(what) = self.newest.take() {
            client.stream(Forward { what, holds: self.holds });
        }
        let now = client.status().streaming;
        let before = std::mem::replace(&mut self.seen, now);
        if let Some(why) = now.why.filter(|_| now.refused != before.refused) {
            let (name, count) = (why.name(), now.refused.saturating_sub(before.refused));
            remarks.push_counted(name.into(), format!("a streamed command was rejected: {why} ({name})"), count);
        }
        if now.lapses != before.lapses {
            let holds = self.holds.as_secs_f64();
            remarks.push(format!("no further command within {holds} s: the arm stops and stays commanded"));
        }
    }
}
