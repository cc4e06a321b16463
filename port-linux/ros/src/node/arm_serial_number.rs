//! Reads the serial number of the arm from its controller, for a namespace made from it.

use outrigger_wire::dashboard::Request;
use outrigger_wire::time::Duration;

use super::dashboard::{Dashboard, DashboardResult};
use crate::dashboard::{DashboardOperation, Outcome, Value};
use outrigger::exit::Failure;
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;

/// The longest wait for the arm's serial number from its controller.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval at which [`serial`] checks whether the controller has answered.
const LOOK: std::time::Duration = std::time::Duration::from_millis(10);

/// Returns the arm's serial number, for which the controller at `target` is queried. `target` is `None` for a
/// controller that cannot report one.
///
/// # Errors
/// [`Failure::Connection`] if the number is not reported, with the options to use instead.
pub(super) fn serial(target: Option<&Target>) -> Result<String, Failure> {
    let instead = "set --namespace yourself, such as /UR20225300015 with the number on the arm's label";
    let Some(target) = target else {
        let why = "the namespace requires the arm's serial number, which a KRC does not report";
        return Err(Failure::Connection(format!("ROS 2: {why}: {instead}")));
    };
    let clock = Clock::start();
    let mut dashboard = Dashboard::start(target, clock)?;
    let end = clock.now() + PATIENCE;
    let mut outcome = Outcome::failed("no reply");
    if dashboard.ask(0, DashboardOperation::Plain(Request::SerialNumber)) {
        while clock.now() < end {
            if let Some(DashboardResult::Answer(_, answer)) = dashboard.news() {
                outcome = answer;
                break;
            }
            std::thread::sleep(LOOK);
        }
    }
    match outcome {
        Outcome { success: true, value: Value::Serial(number), .. } => Ok(number.to_string()),
        Outcome { text, .. } => Err(Failure::Connection(format!(
            "ROS 2: the namespace requires the arm's serial number, which the controller's dashboard did not report \
             ({text}): {instead}"
        ))),
    }
}
