//! Checks that the tables of `port-linux/docs/ros2.md` match the code. `OUTRIGGER_BLESS=1` writes them anew.

use std::fmt::Write as _;

use crate::contact_goals::DETECT;
use crate::controllers::CONTROLLER_OFFERS;
use crate::dashboard::DASHBOARD_OFFERS;
use crate::driver;
use crate::driver_services::{FREEDRIVE, LEGACY_OFFERS, OFFERS};
use crate::frames::{FIXED, MOVING};
use crate::health;
use crate::joint_commands::{EFFORT, JOINT_COMMANDS, JOINT_SPEED, POSITION, VELOCITY};
use crate::legacy;
use crate::native::{self, Terminals};
use crate::native_calls::{EXTERNAL_WRENCH, NATIVE_OFFERS};
use crate::parameters::PARAMETER_OFFERS;
use crate::script::{COMMAND, EXECUTE, LEGACY_COMMAND};
use crate::set_mode::SET_MODE;
use crate::trajectory_goals::{ACTIONS, LEGACY_ACTION};
use outrigger_require::{committed, workspace};
use outrigger_ros2_messages::endpoint::{Offer, Subscription, Task, Topic};

fn topics<'t>(of: impl Iterator<Item = &'t Topic>) -> String {
    let mut table = String::from("| topic | type | QoS | when | content |\n|---|---|---|---|---|\n");
    for Topic { name, message, qos, when, tells } in of {
        let message = message.replace("/msg/", "/");
        let _ = writeln!(table, "| `{name}` | `{message}` | {qos} | {when} | {tells} |");
    }
    table
}

fn services<'t>(of: impl Iterator<Item = &'t Offer>) -> String {
    let mut table = String::from("| service | type | does |\n|---|---|---|\n");
    for Offer { name, service, does } in of {
        let _ = writeln!(table, "| `{name}` | `{}` | {does} |", service.replace("/srv/", "/"));
    }
    table
}

fn actions<'t>(of: impl Iterator<Item = &'t Task>) -> String {
    let mut table = String::from("| action | type | does |\n|---|---|---|\n");
    for task in of {
        let _ = writeln!(table, "| `{}` | `{}` | {} |", task.name, task.action.replace("/action/", "/"), task.does);
    }
    table
}

fn heard<'t>(of: impl Iterator<Item = &'t Subscription>) -> String {
    let mut table = String::from("| topic | type | does |\n|---|---|---|\n");
    for Subscription { name, message, does } in of {
        let _ = writeln!(table, "| `{name}` | `{}` | {does} |", message.replace("/msg/", "/"));
    }
    table
}

#[test]
fn tables_are_those_of_the_code() {
    let path = "port-linux/docs/ros2.md";
    let page = std::fs::read_to_string(workspace().join(path)).expect("a page");
    let never: Vec<_> = native::NEVER.iter().map(|topic| format!("`{}`", topic.name)).collect();
    let mut made = page.clone();
    for (name, table) in [
        ("driver topics", topics(driver::TOPICS.iter().copied())),
        ("own topics", topics(health::TOPICS.iter().copied())),
        ("own services", services(PARAMETER_OFFERS.iter().copied())),
        ("driver services", services(OFFERS.iter().chain(CONTROLLER_OFFERS).copied())),
        ("dashboard", services(DASHBOARD_OFFERS.iter().copied())),
        ("driver actions", actions(ACTIONS.iter().map(|of| of.task).chain([&DETECT, &EXECUTE, &SET_MODE]))),
        ("legacy actions", actions([LEGACY_ACTION.task].into_iter())),
        (
            "driver heard",
            heard([FREEDRIVE, VELOCITY, POSITION, EFFORT, JOINT_COMMANDS, &COMMAND, MOVING, FIXED].into_iter()),
        ),
        ("legacy topics", topics(legacy::TOPICS.iter().copied())),
        ("legacy services", services(LEGACY_OFFERS.iter().copied())),
        ("legacy heard", heard([JOINT_SPEED, &LEGACY_COMMAND].into_iter())),
        ("native topics", topics(native::topics(Terminals::default()))),
        ("native heard", heard([EXTERNAL_WRENCH].into_iter())),
        ("native services", services(NATIVE_OFFERS.iter().copied())),
        ("native ports", topics(native::PORTS.iter().copied())),
        ("never", never.join(", ")),
    ] {
        let begin = format!("<!-- {name} -->");
        let at = made.find(&begin).unwrap_or_else(|| panic!("no {begin} in the page")) + begin.len();
        let end = at + made[at..].find("<!-- end -->").expect("an end");
        let table = if name == "never" { table } else { format!("\n{table}") };
        made.replace_range(at..end, &table);
    }
    committed::hold(path, &made);
}
