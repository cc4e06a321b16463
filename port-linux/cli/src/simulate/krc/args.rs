//! The arguments of `outrigger sim krc`.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use clap::Args;
use outrigger_sim::krc::{Assumption, Convention, Fault, Move, OperationMode};
use outrigger_sim::surface::Surface;

use crate::args::parse_loopback;

/// The arguments of `outrigger sim krc`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimKrcArgs {
    /// Address of the remote computer, to which measurements are sent
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback)]
    pub remote: SocketAddr,
    /// Address to send measurements from; default: any address, any port
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback)]
    pub local: Option<SocketAddr>,
    /// Period of the measurements in ms; real ones use 1, 2, 10. At 1 an ordinary kernel sometimes wakes late
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = parse_period)]
    pub period_ms: u64,
    /// Convention by which the KRL program is requested to start: ros-control, fri-control, isir, sample-app or alone
    #[arg(long, value_name = "NAME", default_value = "ros-control", value_parser = parse_convention)]
    pub krl: Convention,
    /// Operation mode: t1, t2 (both with the enabling switch held) or aut
    #[arg(long, value_name = "MODE", default_value = "aut", value_parser = parse_operation)]
    pub mode: OperationMode,
    /// Argument of friStart in the KRL program: a factor on the robot's limits
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_scale)]
    pub scale: f32,
    /// Counter of the first measurement that is sent
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub first_counter: u16,
    /// A fault over time, e.g. drop@5s:2s:5%; may be repeated; --help lists them
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<Fault>,
    /// Assumption about behaviour that KUKA has not published, e.g. max-bridge=5; may be repeated; --help lists them
    #[arg(long, value_name = "NAME=VALUE")]
    pub assume: Vec<Assumption>,
    /// Motion of the KRL program itself, repeated forever; may be given several times: ptp:SPEED:J1,...,J7 (degrees),
    /// lin:SPEED:X,Y,Z (mm) or wait:SECONDS
    #[arg(long, value_name = "MOVE", allow_hyphen_values = true)]
    pub motion: Vec<Move>,
    /// Level surface as an obstacle at this height in m, and its stiffness in N/m [default: 20000]
    #[arg(long, value_name = "Z[:N/m]", value_parser = parse_surface)]
    pub surface: Option<Surface>,
    /// Digital inputs of the KRC, bit 0 the first: the KRL program copies them to `BOOL[1]` to `BOOL[8]`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub inputs: u8,
    /// Let the KRL program copy received variables to those of the same kind and index: `BOOL[9]` to `BOOL[15]`,
    /// `INT[3]` to `INT[14]`, `REAL[1]` to `REAL[15]`
    #[arg(long)]
    pub echo: bool,
    /// Let the arm follow its setpoint exactly in joint position control: no lag
    #[arg(long)]
    pub ideal_drive: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON line on standard output once measurements are sent: addresses, period, model, pid; all other
    /// output goes to standard error
    #[arg(long)]
    pub ready: bool,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

fn parse_period(text: &str) -> Result<u64, String> {
    let whole = text.parse().ok().filter(|period| (1..=100).contains(period));
    whole.ok_or_else(|| "FRI's periods are whole milliseconds, 1 to 100".into())
}

/// Returns the value with the name `name` in the list `named`; the error lists the known names.
fn by_name<T: Copy>(name: &str, named: &[(T, &'static str)]) -> Result<T, String> {
    named.iter().find(|(_, known)| *known == name).map(|(value, _)| *value).ok_or_else(|| {
        let names: Vec<_> = named.iter().map(|(_, name)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_convention(text: &str) -> Result<Convention, String> {
    by_name(text, &Convention::NAMED)
}

fn parse_operation(text: &str) -> Result<OperationMode, String> {
    by_name(text, &OperationMode::NAMED)
}

fn parse_scale(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|scale| *scale > 0.0 && *scale <= 1.0)
        .ok_or_else(|| "expected a number above 0, at most 1".into())
}

/// The range of heights that the option for a simulated surface accepts \[m\]: those that the arm can reach, with a
/// margin.
const HEIGHTS: RangeInclusive<f64> = -1.5..=1.5;

/// The damping of the simulated surface in contact with the tool \[N·s/m\].
const SURFACE_DAMPING: f64 = 100.0;

fn parse_surface(text: &str) -> Result<Surface, String> {
    let (height, stiffness) = text.split_once(':').unwrap_or((text, "20000"));
    let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    match (number(height), number(stiffness)) {
        (Some(height), Some(stiffness)) if HEIGHTS.contains(&height) && stiffness > 0.0 => {
            Ok(Surface { point: [0.0, 0.0, height], normal: [0.0, 0.0, 1.0], stiffness, damping: SURFACE_DAMPING })
        }
        _ => Err("expected a height of -1.5 to 1.5 m and a stiffness above 0 in N/m, such as 0.5:20000".into()),
    }
}
