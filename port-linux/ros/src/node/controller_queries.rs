//! Serves the queries of ROS 2 tools about the controllers of a `controller_manager`.

use outrigger_ros2_messages::endpoint::{Distro, Names, Offer};

use super::dds::{Arrival, Dds, In, Offers};
use super::settings::Remarks;
use crate::arm::Arm;
use crate::command_acceptance::SessionFacts;
use crate::controllers::{self, CONTROLLER_OFFERS};
use outrigger::exit::Failure;

/// The services of a `controller_manager` that the node offers.
pub(super) struct Listing {
    offers: Vec<(In, &'static Offer)>,
    arm: Arm,
    distro: Distro,
}

impl Listing {
    /// Offers the services of a `controller_manager`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, names: &Names, arm: Arm, distro: Distro) -> Result<Self, Failure> {
        let mut offers = vec![];
        for offer in CONTROLLER_OFFERS {
            offers.push((dds.serves(&names.of(offer.name), offer.service)?, *offer));
        }
        Ok(Self { offers, arm, distro })
    }

    /// Answers `arrival` if it is a call of a service of the `controller_manager`; returns it otherwise.
    pub(super) fn arrival(
        &self,
        arrival: Arrival,
        standing: &SessionFacts,
        dds: &mut Dds,
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        let Some((_, offer)) = self.offers.iter().find(|(of, _)| *of == arrival.at) else { return Some(arrival) };
        let asker = arrival.asker?;
        let answer = controllers::answer(offer, &arrival.bytes, &self.arm, standing, self.distro);
        let answer = answer.unwrap_or_else(|why| {
            let why = why.to_string();
            remarks.push(format!("{}: {why}", offer.name));
            controllers::refused(self.distro, why)
        });
        dds.answer(asker, answer);
        None
    }
}
