//! `outrigger ros2`: the robot as a node of ROS 2, without an installation of it.

mod action;
mod args;
mod dashboard;
mod dds;
mod face;
mod followed;
mod forward;
mod health;
mod node;
mod pendant;
mod settings;

use outrigger_core::engine::Config;
use outrigger_ros::arm::{LWR_JOINTS, UR_JOINTS};
use outrigger_ros::endpoint::{Distro, Names};
use outrigger_ros::native;

pub(crate) use self::args::{JoinArgs, Ros2Args};
pub(crate) use self::node::{Beside, Node};
pub(crate) use self::settings::Settings;
use crate::clock::Clock;
use crate::config::RosSettings;
use crate::exit::{Failure, Outcome};
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::maker::{Controller, Wanted};
use crate::panel::{Onlooker, Operators, Panel};
use crate::record::Apart;
use crate::show::{Format, tell};
use crate::signals::Leaves;

/// Variables of RTDE that Surface D is filled by, beside those of Surface N.
const OF_DRIVER: &[&str] =
    &["actual_current", "tool_analog_input_types", "standard_analog_input0", "standard_analog_input1", "tool_mode"];

/// Variables of a controller that are asked for beside those of a session, and beside `others`.
pub(crate) fn variables(others: &[String]) -> Vec<String> {
    let mut names = others.to_vec();
    for name in OF_DRIVER.iter().chain(native::VARIABLES) {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    names
}

impl JoinArgs {
    /// The node of an arm with `joints` joints: by these words, then by the configuration, then by the environment.
    ///
    /// # Errors
    /// [`Failure::Usage`] for what is no name, and for an environment that says something else than a number or a release.
    pub(crate) fn settings(&self, ros: &RosSettings, joints: usize) -> Result<Settings, Failure> {
        let usage = |text: String| Failure::Usage(text);
        let namespace = self.namespace.as_ref().unwrap_or(&ros.namespace);
        let prefix = self.tf_prefix.as_ref().unwrap_or(&ros.tf_prefix);
        let names = Names::new(namespace, prefix).map_err(|error| usage(error.to_string()))?;
        let domain =
            match (self.domain, variable("ROS_DOMAIN_ID")) {
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
        let interface = self.interface.unwrap_or(ros.interface);
        if variable("ROS_LOCALHOST_ONLY").is_some_and(|only| only == "1") && !interface.is_loopback() {
            return Err(usage(format!("ROS_LOCALHOST_ONLY=1, and {interface} is not this machine's own")));
        }
        let joints: &[&str] = if joints == LWR_JOINTS.len() { &LWR_JOINTS } else { &UR_JOINTS };
        Ok(Settings {
            names,
            distro,
            domain,
            interface,
            surface: self.surface.unwrap_or(ros.surface),
            offer_reliable: ros.offer_reliable,
            joints,
            forward_timeout: ros.forward_timeout,
            goals_request: ros.goals_request,
        })
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
    let settings = args.joins.settings(&RosSettings::default(), N)?;
    let clock = Clock::start();
    let (feed, apart) = Feed::pair(C::ENTRIES);
    let (node, told) = Node::start::<N>(&settings, &Beside::of(&controller), feed.reader(), clock, None)?;
    let progress = node.progress();
    let session = crate::block_on(async move {
        let (_apart, remarks) =
            Apart::start(&mut controller, &config, Wanted::Variables(variables(&[])), clock, apart)?;
        let mut net = controller.open(clock, None).await?.with_feed(&feed, None);
        let operators = Operators::here(Leaves::Nothing)?;
        let panel = Panel::new("ros2", Format::choose(args.json), clock, controller, operators, args.seconds);
        let mut onlooker = Onlooker::recorded(panel, feed, progress, remarks).hearing(told);
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
