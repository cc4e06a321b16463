//! Judges a ROS 2 node with `ros2-client`: a service, and an action that moves the arm, or joint states.
//!
//! Usage: `outrigger-ros2-client-judge DOMAIN enhanced|cyclone [sleeps]`, or `outrigger-ros2-client-judge DOMAIN
//! hears SECONDS`. With `sleeps` it checks whether this program finds the node again after a stop (module `sleeps`).
//! With `hears` it waits for at most SECONDS for the first joint state. It prints its results, one per line, and
//! exits with 1 if the node does not answer as it should. `outrigger-ros2-client-judge joints|read TASK` is a script of
//! the Python package's table of clients (module `works_with`).

mod sleeps;
mod works_with;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ros2_client::action::{ActionClient, ActionClientQosPolicies, GoalStatusEnum};
use ros2_client::qos::{History, QosProfile};
use ros2_client::{
    ActionTypeName, Client, Context, ContextOptions, Message, MessageTypeName, Name, Node, NodeName, NodeOptions,
    ServiceMapping, ServiceTypeName, Subscription,
};
use serde::{Deserialize, Serialize};

/// The time limit of one answer of the node.
const ANSWER: Duration = Duration::from_secs(2);
/// The time limit for the discovery of the node.
const FOUND: Duration = Duration::from_secs(30);
/// The time limit of the arm's motion.
const MOTION: Duration = Duration::from_secs(30);
const JOINTS: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];
/// The joint angles at the end of the motion \[rad\].
const THERE: [f64; 6] = [0.61, -1.22, -1.23, -1.14, 1.55, 0.26];

/// A service request without members, which has one byte in ROS 2.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Nothing {
    structure_needs_at_least_one_member: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Version {
    major: u32,
    minor: u32,
    bugfix: u32,
    build: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Triggered {
    success: bool,
    message: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Header {
    stamp: Span,
    frame_id: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Span {
    sec: i32,
    nanosec: u32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Point {
    positions: Vec<f64>,
    velocities: Vec<f64>,
    accelerations: Vec<f64>,
    effort: Vec<f64>,
    time_from_start: Span,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Trajectory {
    header: Header,
    joint_names: Vec<String>,
    points: Vec<Point>,
}

/// A goal of the action `FollowJointTrajectory`. Its lists of tolerances are empty here, so that their element type
/// does not matter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Goal {
    trajectory: Trajectory,
    multi_dof_trajectory: Trajectory,
    path_tolerance: Vec<u32>,
    component_path_tolerance: Vec<u32>,
    goal_tolerance: Vec<u32>,
    component_goal_tolerance: Vec<u32>,
    goal_time_tolerance: Span,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outcome {
    error_code: i32,
    error_string: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct JointState {
    header: Header,
    name: Vec<String>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    effort: Vec<f64>,
}

/// The feedback of the action `FollowJointTrajectory`, which is not read here.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Feedback {}

impl Message for Nothing {}
impl Message for Version {}
impl Message for Triggered {}
impl Message for Goal {}
impl Message for Outcome {}
impl Message for Feedback {}
impl Message for JointState {}

/// Polls `look` until it returns a value, for at most `limit`.
fn until<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let found @ Some(_) = look() {
            return found;
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Calls a service until it answers, because a request is lost if it is sent before the server has been found.
fn call<Q: Message + Clone + Default + 'static, R: Message + 'static>(client: &Client<Q, R>) -> Result<R, String> {
    let end = Instant::now() + FOUND;
    while Instant::now() < end {
        let asked = client.send_request(Q::default()).map_err(|error| format!("not sent: {error:?}"))?;
        let answer = until(ANSWER, || match client.receive_response() {
            Ok(Some((of, answer))) if of == asked => Some(Ok(answer)),
            Ok(_) => None,
            Err(error) => Some(Err(format!("not understood: {error:?}"))),
        });
        if let Some(answer) = answer {
            return answer;
        }
    }
    Err("no answer".into())
}

fn service<Q: Message + Clone + 'static, R: Message + 'static>(
    node: &mut Node,
    mapping: ServiceMapping,
    [namespace, name]: [&str; 2],
    [package, kind]: [&str; 2],
) -> Result<Client<Q, R>, String> {
    let name = Name::new(namespace, name).map_err(|error| format!("{error:?}"))?;
    let kind = ServiceTypeName::new(package, kind);
    node.create_client(mapping, &name, &kind, qos(), qos()).map_err(|error| format!("{error:?}"))
}

fn qos() -> QosProfile {
    QosProfile::publisher_default().history(History::KeepLast { depth: 10 })
}

fn moves(action: &ActionClient<Goal, Outcome, Feedback>, there: &[f64; 6]) -> Result<(), String> {
    let point = Point { positions: there.to_vec(), time_from_start: Span { sec: 2, nanosec: 0 }, ..Point::default() };
    let joint_names = JOINTS.map(str::to_owned).to_vec();
    let trajectory = Trajectory { joint_names, points: vec![point], ..Trajectory::default() };
    let goal = Goal { trajectory, ..Goal::default() };
    let (asked, id) = action.send_goal(goal).map_err(|error| format!("the goal is not sent: {error:?}"))?;
    let taken = until(ANSWER, || action.receive_goal_response(asked).transpose()).ok_or("no answer to the goal")?;
    if !taken.map_err(|error| format!("{error:?}"))?.accepted {
        return Err("the goal is rejected".into());
    }
    let asked = action.request_result(id).map_err(|error| format!("{error:?}"))?;
    let ended = until(MOTION, || action.receive_result(asked).transpose()).ok_or("no result")?;
    let (status, outcome) = ended.map_err(|error| format!("{error:?}"))?;
    if status == GoalStatusEnum::Succeeded && outcome.error_code == 0 {
        Ok(())
    } else {
        Err(format!("the goal ends as {status:?}: {outcome:?}"))
    }
}

/// Returns a node in this domain.
fn node_in(domain: u16) -> Result<Node, String> {
    let options = ContextOptions::new().domain_id(domain);
    let context = Context::with_options(options).map_err(|error| format!("context: {error:?}"))?;
    let name = NodeName::new("/", "judge").map_err(|error| format!("name: {error:?}"))?;
    context.new_node(name, NodeOptions::new()).map_err(|error| format!("node: {error:?}"))
}

/// Returns a subscription to the joint states with default settings.
fn joint_states(node: &mut Node) -> Result<Subscription<JointState>, String> {
    let failed = |what: &'static str| move |error: &dyn std::fmt::Debug| format!("{what}: {error:?}");
    let name = Name::new("/", "joint_states").map_err(|error| failed("topic")(&error))?;
    let kind = MessageTypeName::new("sensor_msgs", "JointState");
    let topic =
        node.create_topic(&name, kind, &QosProfile::subscription_default()).map_err(|error| failed("topic")(&error))?;
    node.create_subscription(&topic, None).map_err(|error| failed("reader")(&error))
}

fn take(states: &Subscription<JointState>) -> Option<JointState> {
    states.take().ok().flatten().map(|(state, _)| state)
}

/// Receives joint states. Prints the time until the first state, and the number in the 2 s after it.
fn hears(domain: u16, patience: Duration) -> Result<(), String> {
    let begin = Instant::now();
    let mut node = node_in(domain)?;
    let states = joint_states(&mut node)?;
    let first = until(patience, || take(&states)).ok_or("no joint state came")?;
    println!("met: {:.3}", begin.elapsed().as_secs_f64());
    println!("joints: {}", first.name.len());
    let (mut count, end) = (1, Instant::now() + Duration::from_secs(2));
    while Instant::now() < end {
        match take(&states) {
            Some(_) => count += 1,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    println!("states: {count}");
    Ok(())
}

fn version_of(node: &mut Node, mapping: ServiceMapping) -> Result<Client<Nothing, Version>, String> {
    let name = ["/ur_configuration_controller", "get_software_version"];
    service(node, mapping, name, ["ur_msgs", "GetRobotSoftwareVersion"])
}

/// Requests that the arm is commanded until it is, and moves it to these joint angles \[rad\].
fn commands(node: &mut Node, mapping: ServiceMapping, there: &[f64; 6]) -> Result<(), String> {
    let failed = |what: &'static str| move |error: &dyn std::fmt::Debug| format!("{what}: {error:?}");
    let request: Client<Nothing, Triggered> =
        service(node, mapping, ["/outrigger", "request"], ["std_srvs", "Trigger"])?;
    let name = Name::new("/scaled_joint_trajectory_controller", "follow_joint_trajectory");
    let name = name.map_err(|error| failed("name of the action")(&error))?;
    let kind = ActionTypeName::new("control_msgs", "FollowJointTrajectory");
    let policies = ActionClientQosPolicies {
        goal_service: qos(),
        result_service: qos(),
        cancel_service: qos(),
        feedback_subscription: qos(),
        status_subscription: qos(),
    };
    let action =
        node.create_action_client(mapping, &name, &kind, policies).map_err(|error| failed("action")(&error))?;

    let end = Instant::now() + FOUND;
    loop {
        let Triggered { success, message } = call(&request).map_err(|why| format!("request: {why}"))?;
        if success {
            break;
        }
        if Instant::now() > end {
            return Err(format!("the arm is not commanded: {message}"));
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    // By then the program on the controller accepts motion.
    std::thread::sleep(Duration::from_secs(3));
    moves(&action, there)
}

fn judge(domain: u16, mapping: ServiceMapping, sleeps: bool) -> Result<(), String> {
    let mut node = node_in(domain)?;
    let version = version_of(&mut node, mapping)?;
    if sleeps {
        return sleeps::judge(&version);
    }
    let Version { major, minor, bugfix, build } = call(&version).map_err(|why| format!("version: {why}"))?;
    println!("software: {major} {minor} {bugfix} {build}");
    commands(&mut node, mapping, &THERE)?;
    println!("there: {}", THERE.map(|q| q.to_string()).join(" "));
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [script @ ("joints" | "read"), task] = words[..] {
        return match works_with::run(script, task) {
            Ok(answer) => {
                println!("{answer}");
                ExitCode::SUCCESS
            }
            Err(why) => {
                eprintln!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    let mapping = |word| match word {
        "enhanced" => Some(ServiceMapping::Enhanced),
        "cyclone" => Some(ServiceMapping::Cyclone),
        _ => None,
    };
    let domain = words.first().and_then(|domain| domain.parse().ok());
    let judged = domain.and_then(|domain| match words[1..] {
        ["hears", seconds] => Some(hears(domain, Duration::from_secs(seconds.parse().ok()?))),
        [word] => Some(judge(domain, mapping(word)?, false)),
        [word, "sleeps"] => Some(judge(domain, mapping(word)?, true)),
        _ => None,
    });
    let Some(judged) = judged else {
        eprintln!(
            "usage: outrigger-ros2-client-judge DOMAIN enhanced|cyclone [sleeps], or DOMAIN hears SECONDS, or joints|read TASK"
        );
        return ExitCode::from(2);
    };
    match judged {
        Ok(()) => {
            println!("done: yes");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
