//! What `outrigger io` takes.

use clap::Args;
use outrigger_config::{RobotAddress, parse_outputs_by};
use outrigger_core::engine::ur::OutputsBy;
use outrigger_wire::robot::RobotModel;

use crate::args::parse_model;
use outrigger::requests::Setting;

/// `outrigger io`.
#[derive(Args, Clone, Debug)]
pub(crate) struct IoArgs {
    /// HOST[:PORT-BASE]
    pub robot: RobotAddress,
    /// What to set, e.g. digital-out.3=on; several are set together
    #[arg(value_name = "SETTING")]
    pub settings: Vec<Setting>,
    /// Go on showing what is there until Ctrl-C
    #[arg(long, conflicts_with = "settings")]
    pub live: bool,
    /// With --live: end after this many seconds
    #[arg(long, value_name = "N", requires = "live", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// How it is set: auto (RTDE where it has an input for it and nobody else owns it, else text), text or rtde
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = parse_outputs_by)]
    pub via: OutputsBy,
    /// The arm, e.g. ur10e: a payload above what it is rated for is refused
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// One JSON object per line instead of text
    #[arg(long)]
    pub json: bool,
}
