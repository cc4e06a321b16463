//! `outrigger record`: everything a robot sends, into one file.

use std::sync::Arc;

use outrigger::companion::Recording;
use outrigger::run::Look;
use outrigger::show::Format;

use crate::args::RecordArgs;

/// Returns how the command looks at a controller.
pub(crate) fn look<const N: usize>(args: &RecordArgs) -> Look<N> {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    let recording = Arc::new(Recording::of_everything(args.out.clone(), !args.uncompressed));
    Look { title: "record", format, seconds, for_a_reader: false, companions: vec![recording] }
}
