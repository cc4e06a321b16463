//! Serves the node's parameters, which report its settings: domain, interfaces, names and kinds of topics.

use outrigger_ros2_messages::endpoint::Offer;

use super::dds::{Arrival, Dds, In, Offers};
use super::settings::{Remarks, Settings};
use crate::parameters::{PARAMETER_OFFERS, Parameters, Value};
use outrigger::exit::Failure;

/// The parameters of the node and the services that read them.
pub(super) struct Stated {
    offers: Vec<(In, &'static Offer)>,
    parameters: Parameters,
}

/// Opens the services by which clients read the node's parameters.
///
/// # Errors
/// [`Failure::BadInput`] if the transport refuses.
pub(super) fn offer(dds: &mut impl Offers, settings: &Settings) -> Result<Stated, Failure> {
    let mut offers = vec![];
    for offer in PARAMETER_OFFERS {
        offers.push((dds.serves(&settings.names.of(offer.name), offer.service)?, *offer));
    }
    Ok(Stated { offers, parameters: parameters(settings) })
}

fn parameters(settings: &Settings) -> Parameters {
    let Settings { names, distro, domain, interfaces, surface, offer_reliable, peers, goals_request, .. } = settings;
    let text = |text: &str| Value::Text(text.to_owned());
    let addresses = interfaces.iter().map(ToString::to_string).collect();
    Parameters::new(vec![
        ("distro", text(distro.name()), "release of ROS 2 whose message layouts are used"),
        ("domain", Value::Integer((*domain).into()), "the domain that was joined"),
        ("interfaces", Value::Texts(addresses), "addresses of the network interfaces by which the node joined"),
        ("peers", Value::Texts(peers.clone()), "hosts that this node announces itself to by unicast"),
        ("namespace", text(&names.namespace), "prefix of the names of topics, services and actions"),
        ("tf_prefix", text(&names.prefix), "prefix of the names of joints and frames"),
        ("driver_names", Value::Bool(surface.has_driver()), "whether topics have the names of UR's driver"),
        ("native_names", Value::Bool(surface.has_native()), "whether topics have the names of PolyScope X"),
        (
            "offer_reliable",
            Value::Bool(*offer_reliable),
            "whether states by names of PolyScope X are retransmitted if lost",
        ),
        ("goals_request", Value::Bool(*goals_request), "whether a goal also starts commanding"),
    ])
}

impl Stated {
    /// Answers a call of a service that reads parameters; returns the data if it is for another recipient.
    pub(super) fn arrival(&self, arrival: Arrival, dds: &mut Dds, remarks: &mut Remarks) -> Option<Arrival> {
        let Some((_, offer)) = self.offers.iter().find(|(of, _)| *of == arrival.at) else { return Some(arrival) };
        let asker = arrival.asker?;
        let answer = self.parameters.answer(offer, &arrival.bytes).unwrap_or_else(|(empty, why)| {
            remarks.push(format!("{}: {why}", offer.name));
            empty
        });
        dds.answer(asker, answer);
        None
    }
}
