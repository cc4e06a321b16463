//! The command `outrigger view`: shows a robot's state and link on a page in a browser. Nothing is requested of it.

use std::sync::Arc;

use outrigger::run::ObservationSettings;
use outrigger::show::Format;

use crate::args::ViewArgs;
use crate::page::OnPage;

/// Returns the settings with which `outrigger view` observes a controller and shows it on a page in a browser.
pub(crate) fn look<const N: usize>(args: &ViewArgs) -> ObservationSettings<N> {
    let (format, seconds) = (if args.json { Format::Json } else { Format::Remarks }, args.seconds);
    let page = Arc::new(OnPage::new("view", args.web));
    ObservationSettings { title: "view", format, seconds, for_a_reader: false, companions: vec![page] }
}
