//! The command `outrigger monitor`: shows state and link of a robot live. Nothing is requested of it.

use outrigger::run::ObservationSettings;
use outrigger::show::Format;

use crate::args::MonitorArgs;

/// Returns the settings with which `outrigger monitor` observes a controller.
pub(crate) fn look<const N: usize>(args: &MonitorArgs) -> ObservationSettings<N> {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    ObservationSettings { title: "monitor", format, seconds, for_a_reader: true, companions: vec![] }
}
