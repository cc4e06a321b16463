//! `outrigger ros2`: the robot as a node of ROS 2, without an installation of it.

mod args;
#[allow(dead_code, reason = "wired in by the node")]
mod dashboard;
mod dds;
mod node;

use outrigger_core::engine::Config;
use outrigger_ros::driver::{LWR_JOINTS, UR_JOINTS};
use outrigger_ros::endpoint::{Distro, Names};

pub(crate) use self::args::{JoinArgs, Ros2Args};
pub(crate) use self::node::{Node, Settings};
use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::maker::{Controller, Wanted};
use crate::panel::{Onlooker, Operators, Panel};
use crate::record::Apart;
use crate::show::{Format, tell};
use crate::signals::Leaves;

/// Variables of RTDE that are published, beside what a session asks for.
const VARIABLES: &[&str] = &[
    "actual_q",
    "actual_qd",
    "actual_current",
    "target_q",
    "target_qd",
    "actual_TCP_pose",
    "actual_TCP_force",
    "target_TCP_pose",
    "tcp_offset",
    "speed_scaling",
    "target_speed_fraction",
    "runtime_state",
    "robot_mode",
    "safety_mode",
    "robot_status_bits",
    "safety_status",
    "actual_digital_input_bits",
    "actual_digital_output_bits",
    "standard_analog_input0",
    "standard_analog_input1",
    "standard_analog_output0",
    "standard_analog_output1",
    "analog_io_types",
    "tool_mode",
    "tool_analog_input_types",
    "tool_analog_input0",
    "tool_analog_input1",
    "tool_output_voltage",
    "tool_output_current",
    "tool_temperature",
    "payload",
    "payload_cog",
    "payload_inertia",
];

/// What is taken of a controller beside a session's own links.
fn wanted() -> Wanted {
    Wanted::Variables(VARIABLES.iter().map(|name| (*name).to_owned()).collect())
}

impl JoinArgs {
    /// The node of an arm with `joints` joints.
    ///
    /// # Errors
    /// [`Failure::Usage`] for what is no name, and for an environment that says something else than a number or a release.
    pub(crate) fn settings(&self, joints: usize) -> Result<Settings, Failure> {
        let usage = |text: String| Failure::Usage(text);
        let names = Names::new(&self.namespace, &self.tf_prefix).map_err(|error| usage(error.to_string()))?;
        let domain = match (self.domain, variable("ROS_DOMAIN_ID")) {
            (Some(domain), _) => domain,
            (None, Some(text)) => text.parse().ok().filter(|domain| *domain <= 232).ok_or_else(|| {
                usage(format!("ROS_DOMAIN_ID: expected 0 to 232, found '{text}'; or say --domain"))
            })?,
            (None, None) => 0,
        };
        let distro = match (self.distro, variable("ROS_DISTRO")) {
            (Some(distro), _) => distro,
            (None, Some(text)) => Distro::from_name(&text).ok_or_else(|| {
                usage(format!("ROS_DISTRO: found '{text}', which is not known here; say --distro with the nearest one"))
            })?,
            (None, None) => Distro::default(),
        };
        if variable("ROS_LOCALHOST_ONLY").is_some_and(|only| only == "1") && !self.interface.is_loopback() {
            let interface = self.interface;
            return Err(usage(format!("ROS_LOCALHOST_ONLY=1, and --interface {interface} is not this machine's own")));
        }
        let joints: &[&str] = if joints == LWR_JOINTS.len() { &LWR_JOINTS } else { &UR_JOINTS };
        Ok(Settings { names, distro, domain, interface: self.interface, joints })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// Shows `controller` to ROS 2, and asks nothing of it.
///
/// # Errors
/// [`Failure::Usage`] and [`Failure::BadInput`] for how it is to join, [`Failure::Connection`] where there never was a session.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    args: &Ros2Args,
) -> Outcome {
    let settings = args.joins.settings(N)?;
    let clock = Clock::start();
    let (feed, variables) = Feed::pair(C::ENTRIES);
    let node = Node::start(&settings, feed.reader(), clock.origin_unix_nanos())?;
    let progress = node.progress();
    let session = crate::block_on(async move {
        let (_apart, remarks) = Apart::start(&mut controller, &config, wanted(), clock, variables)?;
        let mut net = controller.open(clock, None).await?.with_feed(&feed, None);
        let operators = Operators::here(Leaves::Nothing)?;
        let panel = Panel::new("ros2", Format::choose(args.json), clock, controller, operators, args.seconds);
        let mut onlooker = Onlooker::recorded(panel, feed, progress, remarks);
        C::run(config, BoxedLaw::idle(), &mut net, &mut onlooker, 0).await?;
        onlooker.finish()
    });
    let progress = node.progress();
    let left = node.finish();
    session?;
    if args.json {
        return Ok(());
    }
    let goodbye = if left { "" } else { "; others see it until their lease of it ends" };
    tell(&format!("ROS 2: {} messages published, {} entries lost{goodbye}\n", progress.messages(), progress.lost()))
}
