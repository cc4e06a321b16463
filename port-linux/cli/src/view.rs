//! The command `outrigger view`: shows a robot's state and link on a page in a browser. The robot is not commanded; once
//! the page is opened, a UR controller's dashboard server is asked for its software and the arm's serial number.

use std::sync::Arc;

use outrigger::run::ObservationSettings;
use outrigger::show::Format;

use crate::args::ViewArgs;
use crate::page::OnPage;

/// Returns the settings with which `outrigger view` observes a controller and shows it on a page in a browser.
pub(crate) fn look<const N: usize>(args: &ViewArgs) -> ObservationSettings<N> {
    let (format, seconds) = (if args.json { Format::Json } else { Format::Remarks }, args.seconds);
    let page = Arc::new(OnPage::new("view", args.web).asking_serial_number());
    ObservationSettings { title: "view", format, seconds, for_a_reader: false, companions: vec![page] }
}
