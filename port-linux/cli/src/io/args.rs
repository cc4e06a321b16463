//! The arguments of `outrigger io`.

use clap::Args;
use outrigger_config::{RobotAddress, parse_outputs_by};
use outrigger_core::engine::ur::OutputsBy;
use outrigger_wire::robot::RobotModel;

use crate::args::parse_model;
use outrigger::requests::Setting;

/// The arguments of `outrigger io`.
#[derive(Args, Clone, Debug)]
pub(crate) struct IoArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// Outputs to set, e.g. digital-out.3=on; several are set together
    #[arg(value_name = "SETTING")]
    pub settings: Vec<Setting>,
    /// Keep showing inputs and outputs until Ctrl-C
    #[arg(long, conflicts_with = "settings")]
    pub live: bool,
    /// With --live: end after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", requires = "live", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// Path by which outputs are set: auto (RTDE if it has an input for it that no other client owns, else text),
    /// text or rtde
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = parse_outputs_by)]
    pub via: OutputsBy,
    /// Model of the arm, e.g. ur10e: a payload above its rating is refused
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
}
