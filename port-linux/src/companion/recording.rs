//! A companion that records the traffic and the events of a session.

use std::fs;
use std::path::PathBuf;

use super::{Companion, Ended, Needs, Session, Started};
use crate::exit::Failure;
use crate::record::{Recorder, can_create};

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

impl<const N: usize> Companion<N> for Recording {
    fn needs(&self) -> Needs {
        let (everything, variables) = (self.everything, self.variables.clone());
        Needs { traffic: true, everything, engine: !everything, variables, ..Needs::default() }
    }

    fn check(&self) -> Result<(), Failure> {
        can_create(&self.path)
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let Session { robot, clock, feed, .. } = session;
        let recorder = Recorder::start(&self.path, feed, clock, &robot, self.compressed)?;
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
