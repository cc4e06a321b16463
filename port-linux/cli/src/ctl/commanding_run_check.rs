//! Checks that no run of Outrigger commands a robot, before another program is sent to the robot.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use outrigger_config::RobotAddress;
use outrigger_remote::request::{ClientRequest, Message};
use serde_json::Value;

use super::LONGEST_ANSWER;
use crate::args::ControllerArgs;
use crate::dispatch;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::std_duration;
use outrigger::host::os::local::connect;
use outrigger_wire::time::Duration;

/// The longest wait for a run's answer to a request for its status.
const PATIENCE: Duration = Duration::from_secs(2);

/// Checks that no run (process of `outrigger run`) on this machine commands the robot. A run that only watches it is
/// permitted.
///
/// # Errors
/// [`Failure::Connection`] if a run commands the arm, arms it or brings it to rest, or does not answer.
pub(crate) fn check_no_run_commands(robot: &RobotAddress) -> Outcome {
    let seat = dispatch::seat(&robot.to_string(), &ControllerArgs::default())?;
    // Without a run nothing commands the robot.
    let Ok((mut run, _)) = connect(seat) else { return Ok(()) };
    let untold = |error: std::io::Error| Failure::Connection(format!("the run for {robot} does not answer: {error}"));
    let patience = Some(std_duration(PATIENCE));
    run.set_read_timeout(patience).and_then(|()| run.set_write_timeout(patience)).map_err(untold)?;
    let question = format!("{}\n", Message { id: Some(1), challenge: None, ask: ClientRequest::Status });
    run.write_all(question.as_bytes()).map_err(untold)?;
    let mut answer = String::new();
    let longest = u64::try_from(LONGEST_ANSWER).unwrap_or(u64::MAX);
    BufReader::new(run.take(longest)).read_line(&mut answer).map_err(untold)?;
    let mode = serde_json::from_str::<Value>(&answer).ok();
    let mode = mode.as_ref().and_then(|status| status.get("mode")).and_then(Value::as_str).unwrap_or("unknown");
    match mode {
        "monitor" | "offline" => Ok(()),
        mode => Err(Failure::Connection(format!(
            "a run for {robot} commands the arm (mode {mode}): this program would replace its own; `outrigger ctl \
             {robot} stop` first"
        ))),
    }
}
