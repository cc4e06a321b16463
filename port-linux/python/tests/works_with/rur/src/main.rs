//! Scripts with the crate `rur`, which sends the URScript of a file.
//!
//! Usage: `outrigger-works-with-rur joints|line|speed|read TASK`, where TASK is the JSON that the scripts in Python get.
//! The URScript is written into the current folder.

use std::error::Error;
use std::io::BufReader;

use rur::network::{get_connected_tcp_stream, read_line};
use rur::{DefaultPortName, get_default_port_number, script};
use serde::Deserialize;

const FILE: &str = "task.script";

/// The address of the robot, and the goal of each script.
#[derive(Deserialize)]
struct Task {
    host: String,
    /// The joint angles \[rad\].
    joints: [f64; 6],
    /// The pose of the tool \[m, rad\].
    pose: [f64; 6],
    /// The speeds of the joints \[rad/s\].
    speeds: [f64; 6],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, task] = &arguments[..] else { return Err("usage: joints|line|speed|read TASK".into()) };
    let Task { host, joints, pose, speeds } = serde_json::from_str(task)?;
    let program = match &**name {
        "joints" => format!("movej({joints:?}, a=2.0, v=1.0)"),
        "line" => format!("movel(p{pose:?}, a=0.5, v=0.1)"),
        // Three arguments, as CB2 has them.
        "speed" => format!("def turn():\n speedj({speeds:?}, 2.0, 1.0)\n stopj(2.0)\nend"),
        "read" => {
            // The only function of the crate that reads.
            let stream = get_connected_tcp_stream(&host, get_default_port_number(DefaultPortName::RealTime))?;
            read_line(&mut BufReader::new(&stream));
            return Ok(());
        }
        other => return Err(format!("script: expected joints, line, speed or read, found {other}").into()),
    };
    std::fs::write(FILE, program)?;
    script::send(&host, get_default_port_number(DefaultPortName::Secondary), FILE);
    Ok(())
}
