//! The options of `outrigger demo`, on the command line.

use std::path::PathBuf;

use clap::Args;

use super::deliberate_faults::Broken;
use crate::args::{Web, parse_web};

/// The arguments of `outrigger demo`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DemoArgs {
    /// Run for this many seconds, at least 30
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(30..=3600))]
    pub seconds: u64,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write a moving picture of the demo to this file, for a README or a slide
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Show the demo live on a page in a browser; without a PORT at 127.0.0.1:8750, or at a
    /// free port if 8750 is in use
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, require_equals = false, default_missing_value = "", value_parser = parse_web)]
    pub web: Option<Web>,
    /// Cause a fault on purpose, to show that a check fails
    #[arg(long = "break", value_name = "NAME", hide = true)]
    pub broken: Option<Broken>,
}
