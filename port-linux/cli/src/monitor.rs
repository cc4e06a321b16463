//! `outrigger monitor`: state and link of a robot, live. Nothing is asked of it.

use outrigger::run::Look;
use outrigger::show::Format;

use crate::args::MonitorArgs;

/// Returns how the command looks at a controller.
pub(crate) fn look<const N: usize>(args: &MonitorArgs) -> Look<N> {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    Look { title: "monitor", format, seconds, for_a_reader: true, companions: vec![] }
}
