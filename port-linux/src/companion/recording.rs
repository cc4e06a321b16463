//! A companion that records the traffic and the events of a session.

use std::fs;
use std::path::PathBuf;

use super::{Companion, Ended, Needs, Session, Started, Views};
use crate::exit::Failure;
use crate::record::{ArmGeometry, Recorder, can_create};

/// A companion (a component that runs beside a session) that records all traffic of the connections to the robot, and
/// the inputs and outputs of the control engine, to a file.
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    variables: Vec<String>,
    everything: bool,
    compressed: bool,
}

impl Recording {
    /// Creates a recording to a file that must not exist, with additional RTDE `variables`.
    #[must_use]
    pub const fn new(path: PathBuf, variables: Vec<String>) -> Self {
        Self { path, variables, everything: false, compressed: true }
    }
}

impl Recording {
    /// Creates a recording of everything that the controller sends to a session that only observes, compressed or
    /// not.
    #[must_use]
    pub const fn of_everything(path: PathBuf, compressed: bool) -> Self {
        Self { path, variables: vec![], everything: true, compressed }
    }
}

/// Returns the geometry of the arm in `views` of a session, of which it takes a few pictures per second. It stays unknown
/// without them.
#[must_use]
pub fn arm_of<const N: usize>(views: Option<Views<N>>) -> ArmGeometry {
    let mut views = views;
    ArmGeometry::of_look(move || {
        let views = views.as_mut()?;
        let Some(view) = views.take() else {
            views.want(true);
            return None;
        };
        views.want(false);
        Some(view.settled.chain)
    })
}

impl<const N: usize> Companion<N> for Recording {
    fn needs(&self) -> Needs {
        let (everything, variables) = (self.everything, self.variables.clone());
        Needs { traffic: true, everything, engine: !everything, variables, views: true, ..Needs::default() }
    }

    fn check(&self) -> Result<(), Failure> {
        can_create(&self.path)
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let Session { robot, clock, feed, views, .. } = session;
        let recorder = Recorder::start(&self.path, feed, arm_of(views), clock, &robot, self.compressed)?;
        let started = Started::saying("record", format!("recording to {}", self.path.display()), vec![]);
        Ok(started.counting("the recording", recorder.progress()).ending(move |heard| {
            let path = recorder.path().to_owned();
            let said = recorder.finish();
            if !heard {
                // The name is free for the next attempt.
                let _ = fs::remove_file(path);
                return Ok(None);
            }
            Ok(Some(Ended { text: said?, json: String::new() }))
        }))
    }
}
