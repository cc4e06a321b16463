//! Reads the pose of a robot's tool, for a simulated sensor that measures along the tool's axis.

use std::sync::{Arc, Mutex, PoisonError};

use outrigger_config::RobotAddress;
use outrigger_sim::kinematics::Frame;
use outrigger_sim::surface::Surface;
use outrigger_wire::robot::Pose;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::oneshot;

use outrigger::exit::Failure;
use outrigger::host::clock::Clock;
use outrigger::host::worker::Worker;
use outrigger::robot::Robot;

/// The largest age of a tool pose that is used to simulate a distance.
const KEPT: Duration = Duration::from_millis(500);

/// The robot's newest tool pose, with its time of arrival; `None` before the first state, and if the newest state has
/// no pose.
type LatestPose = Arc<Mutex<Option<(Instant, Pose)>>>;

/// A flat surface whose distance is measured from the tool of a robot.
#[derive(Debug)]
pub(super) struct View {
    surface: Surface,
    newest: LatestPose,
    clock: Clock,
}

impl View {
    /// Starts to read the robot's states on a thread of its own. The returned receiver resolves with the failure that
    /// ended the reading, also if there never was a session.
    ///
    /// # Errors
    /// [`Failure::Connection`] for an invalid address; [`Failure::BadInput`] if the system provides no thread.
    pub(super) fn of(
        surface: Surface,
        robot: &RobotAddress,
        clock: Clock,
    ) -> Result<(Self, oneshot::Receiver<Failure>), Failure> {
        let states = Robot::ur(&robot.to_string())?.quiet().states()?;
        let newest = LatestPose::default();
        let seen = Arc::clone(&newest);
        let (tell, ended) = oneshot::channel();
        let read = move || {
            for state in states {
                match state {
                    Ok(state) => {
                        let pose = state.tcp_pose.map(|pose| (clock.now(), pose));
                        *seen.lock().unwrap_or_else(PoisonError::into_inner) = pose;
                    }
                    Err(failure) => return drop(tell.send(failure)),
                }
            }
        };
        Worker::start("poses", read).map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok((Self { surface, newest, clock }, ended))
    }

    /// Returns the distance from the tool to the surface along the tool's z axis \[m\]; `None` if the surface is not
    /// ahead, or the tool's pose is unknown or too old.
    pub(super) fn distance(&self) -> Option<f64> {
        let (at, pose) = (*self.newest.lock().unwrap_or_else(PoisonError::into_inner))?;
        if self.clock.now().since(at) > KEPT {
            return None;
        }
        let Pose { position: [x, y, z], rotation: [rx, ry, rz] } = pose;
        let tool = Frame::from_pose(&[x, y, z, rx, ry, rz].map(f64::from));
        self.surface.distance_along(tool.position, tool.z_axis())
    }
}
