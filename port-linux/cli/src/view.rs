//! `outrigger view`: a robot's state and link on a page in a browser. Nothing is asked of it.

use std::sync::Arc;

use outrigger_core::engine::Config;

use crate::args::ViewArgs;
use crate::page::OnPage;
use outrigger::exit::Outcome;
use outrigger::maker::Controller;
use outrigger::run::{Look, look};
use outrigger::show::Format;

/// Shows `controller`.
///
/// # Errors
/// [`Failure::BadInput`](outrigger::exit::Failure::BadInput) where the page's address cannot be had,
/// [`Failure::Connection`](outrigger::exit::Failure::Connection) where there never was a session.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    controller: C,
    config: Config<N, C::Options>,
    args: &ViewArgs,
) -> Outcome {
    let (format, seconds) = (if args.json { Format::Json } else { Format::Remarks }, args.seconds);
    let page = Arc::new(OnPage::new("view", args.web));
    look(controller, config, &Look { title: "view", format, seconds, for_a_reader: false, companions: vec![page] })
}
