//! The command `outrigger monitor`: shows state and link of a robot live. Nothing is requested of it.

use std::sync::Arc;

use outrigger::companion::Companions;
use outrigger::exit::Failure;
use outrigger::run::ObservationSettings;
use outrigger::show::Format;

use crate::args::{MonitorArgs, Web};
use crate::foxglove::OnFoxglove;

/// Returns the settings with which `outrigger monitor` observes a controller.
///
/// # Errors
/// [`Failure::BadInput`] if the address of --foxglove is not available.
pub(crate) fn look<const N: usize>(args: &MonitorArgs) -> Result<ObservationSettings<N>, Failure> {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    let mut companions: Companions<N> = vec![];
    if let Some(Web(at)) = args.foxglove {
        companions.push(Arc::new(OnFoxglove::new("monitor", at)?));
    }
    Ok(ObservationSettings { title: "monitor", format, seconds, for_a_reader: true, companions })
}
