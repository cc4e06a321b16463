//! `outrigger monitor`: state and link of a robot, live. Nothing is asked of it.

use outrigger_core::engine::Config;

use crate::args::MonitorArgs;
use outrigger::exit::Outcome;
use outrigger::maker::Controller;
use outrigger::run::{Look, look};
use outrigger::show::Format;

/// Looks at `controller`.
///
/// # Errors
/// [`Failure::Connection`](outrigger::exit::Failure::Connection) where there never was a session.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    controller: C,
    config: Config<N, C::Options>,
    args: &MonitorArgs,
) -> Outcome {
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    look(controller, config, &Look { title: "monitor", format, seconds, for_a_reader: true, companions: vec![] })
}
