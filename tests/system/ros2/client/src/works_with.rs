//! The scripts of `port-linux/python/tests/works_with`, in the domain 0.

use ros2_client::ServiceMapping;
use serde::Deserialize;

use super::{FOUND, JOINTS, commands, joint_states, node_in, take, until};

/// The part of a task that is needed here.
#[derive(Deserialize)]
struct Task {
    /// The goal of `joints` \[rad\].
    joints: [f64; 6],
}

/// Runs a script with a task in JSON, and returns its answer in JSON.
///
/// # Errors
/// Returns the reason if the task is not understood, or the node does not do it.
pub fn run(script: &str, task: &str) -> Result<String, String> {
    let task: Task = serde_json::from_str(task).map_err(|error| format!("the task: {error}"))?;
    let mut node = node_in(0)?;
    if script == "joints" {
        commands(&mut node, ServiceMapping::Enhanced, &task.joints)?;
        return Ok("null".into());
    }
    let states = joint_states(&mut node)?;
    let state = until(FOUND, || take(&states)).ok_or("no joint state came")?;
    let at = |joint: &str| state.name.iter().zip(&state.position).find(|(name, _)| *name == joint).map(|(_, &q)| q);
    let read: Option<Vec<f64>> = JOINTS.iter().map(|joint| at(joint)).collect();
    read.map(|q| format!("{q:?}")).ok_or(format!("the joints are {:?}", state.name))
}
