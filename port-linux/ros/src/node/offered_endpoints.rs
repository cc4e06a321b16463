//! The topics, services and actions that a node offers according to its settings.

use outrigger_ros2_messages::endpoint::{Qos, Topic};

use super::endpoint_opener::{Listed, Offers as _};
use super::requests::ClientRequests;
use super::settings::Settings;
use super::{dashboard_services, parameters};
use crate::arm::{Arm, UR_JOINTS};
use crate::driver;
use crate::health;
use crate::legacy;
use crate::native;
use crate::neighbours::{Offered, node_name};
use crate::rtde_topics::Variables;
use outrigger::exit::Failure;
use outrigger::host::target::Target;

/// The name of the node, below its namespace.
pub(super) const NAME: &str = "outrigger";

/// Returns each topic that is published, with its absolute name and its quality of service.
pub(super) fn topics(settings: &Settings) -> Vec<(&'static Topic, String, Qos)> {
    let (names, surface) = (&settings.names, settings.surface);
    let plain = |topic: &'static Topic| (topic, names.of(topic.name), topic.qos);
    // A topic name can have only one type.
    let is_free =
        |topic: &&&Topic| !surface.has_native() || native::topics(settings.terminals).all(|of| of.name != topic.name);
    let legacy = legacy::TOPICS.iter().filter(|_| settings.legacy_names).filter(is_free);
    let of_driver = driver::TOPICS.iter().chain(legacy).copied().filter(|_| surface.has_driver()).map(plain);
    // A topic that both surfaces have under one name and type is published once.
    let is_once = |topic: &&Topic| !surface.has_driver() || !driver::TOPICS.iter().any(|of| of.name == topic.name);
    let of_native = native::topics(settings.terminals).filter(|_| surface.has_native()).filter(is_once);
    let of_native = of_native.map(|topic| {
        let name = native::whole_name(topic, names, settings.joints_at_root);
        (topic, name, native::qos(topic, settings.offer_reliable))
    });
    of_driver.chain(of_native).chain(health::TOPICS.iter().copied().map(plain)).collect()
}

/// Returns the name, release and endpoints of a node with these settings. With `target`, the address of the controller,
/// the endpoints under names of UR's driver include those of the dashboard services and of URScript programs.
///
/// # Errors
/// No error occurs in practice, because nothing is opened.
pub(super) fn offered(settings: &Settings, target: Option<&Target>) -> Result<Offered, Failure> {
    let mut listed = Listed::default();
    for (topic, name, qos) in topics(settings) {
        listed.publishes(&name, topic.message, qos)?;
    }
    for of in Variables::new(&settings.variables).iter() {
        listed.publishes(&settings.names.of(&of.topic), of.message, Qos::SYSTEM)?;
    }
    if target.is_some() && settings.surface.has_driver() {
        dashboard_services::offer(&mut listed, &settings.names)?;
    }
    let arm = Arm::new(settings.joints, &settings.names);
    ClientRequests::<{ UR_JOINTS.len() }>::offer(&mut listed, settings, (arm, target), None)?;
    parameters::offer(&mut listed, settings)?;
    let Listed(endpoints) = listed;
    Ok(Offered { node: node_name(&settings.names.namespace, NAME), distro: settings.distro, endpoints })
}
