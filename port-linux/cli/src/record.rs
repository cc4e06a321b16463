//! The command `outrigger record`: writes all data that a robot sends to one file.

use std::sync::Arc;

use outrigger::companion::Recording;
use outrigger::run::ObservationSettings;
use outrigger::show::Format;

use crate::args::RecordArgs;

/// Returns the settings with which `outrigger record` observes a controller.
pub(crate) fn look<const N: usize>(args: &RecordArgs) -> ObservationSettings<N> {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    let recording = Arc::new(Recording::of_everything(args.out.clone(), !args.uncompressed));
    ObservationSettings { title: "record", format, seconds, for_a_reader: false, companions: vec![recording] }
}
