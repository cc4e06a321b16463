//! Runs a trajectory from a file on two KUKA arms from one process: both start in the same cycle, and if one stops,
//! so does the other.
//!
//! ```text
//! cargo run --release -p outrigger --example two_arms                                    simulated arms
//! cargo run --release -p outrigger --example two_arms -- --left 0.0.0.0:49938 --right 0.0.0.0:49939
//! ```

mod krc;

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use outrigger::host;
use outrigger::host::Clock;
use outrigger_core::command::Samples;
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::law::{JointServo, JointServoConfig, Law, Motion, Reference, Start};
use outrigger_core::mode::Mode;
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Setpoint, Trajectory, Waypoint};
use outrigger_sim::krc::Options;
use outrigger_wire::robot::{JointPositions, JointVelocities, State};
use outrigger_wire::time::Duration;

use self::krc::{Arm, Trouble};

/// The longest time for both arms to become ready and to finish the motion. After it, the program ends with an error.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time for which the arms are held at the end of the motion, before their positions are checked.
const SETTLING: Duration = Duration::from_millis(500);
/// The largest permitted distance of a joint from its goal at the end \[degrees\].
const CLOSE: f32 = 0.2;

/// Runs a trajectory on two arms.
#[derive(Parser)]
struct Args {
    /// The address and port to which the left KRC sends its measurements; simulated without it.
    #[arg(long, requires = "right")]
    left: Option<SocketAddr>,
    /// The address and port to which the right KRC sends its measurements.
    #[arg(long, requires = "left")]
    right: Option<SocketAddr>,
    /// The trajectory file: lines of seconds and fourteen angles in degrees, relative to the start; `two-arms.csv`
    /// beside this file without it.
    #[arg(long)]
    file: Option<PathBuf>,
}

/// A control law that follows a trajectory by a joint servo, and holds the arm until the other arm is commanded as
/// well.
struct Together {
    servo: JointServo<7>,
    begin: Rc<Cell<bool>>,
}

impl Checkpoint for Together {}

impl Law<7> for Together {
    fn arm(&mut self, start: &Start<'_, 7>) -> Result<(), Reason> {
        self.servo.arm(start)
    }

    fn step(&mut self, state: &State<7>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        if self.begin.get() { self.servo.step(state, samples, dt) } else { Ok(JointVelocities::ZERO) }
    }

    fn motion(&self) -> Option<&dyn Motion<7>> {
        self.servo.motion()
    }
}

/// Parses the text of a trajectory file as the motions of both arms. Inner waypoints are passed at the mean speed of
/// their neighbours.
fn read(text: &str) -> Result<[Trajectory<7>; 2], Trouble> {
    let mut rows: Vec<(f32, [[f32; 7]; 2])> = vec![];
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let finite = |text: &str| {
            let value = text.trim().parse().ok().filter(|value: &f32| value.is_finite());
            value.ok_or_else(|| format!("line {number}: '{}' is no finite number", text.trim()))
        };
        let numbers: Vec<f32> = line.split(',').map(finite).collect::<Result<_, _>>()?;
        let [time, left @ .., _, _, _, _, _, _, _] = numbers.as_slice() else {
            return Err(format!("line {number}: 15 numbers expected, {} found", numbers.len()).into());
        };
        let right = numbers.get(8..).unwrap_or_default();
        let both = [left, right].map(|arm| <[f32; 7]>::try_from(arm).map(|arm| arm.map(f32::to_radians)));
        let [Ok(left), Ok(right)] = both else {
            return Err(format!("line {number}: 15 numbers expected, {} found", numbers.len()).into());
        };
        rows.push((*time, [left, right]));
    }
    let motion = |arm: usize| {
        let speed = |before: usize, after: usize| {
            let ((t0, q0), (t1, q1)) = (rows[before], rows[after]);
            JointVelocities(std::array::from_fn(|j| (q1[arm][j] - q0[arm][j]) / (t1 - t0)))
        };
        let waypoints: Vec<_> = (0..rows.len())
            .map(|i| {
                let inner = i > 0 && i + 1 < rows.len();
                let velocities = if inner { speed(i - 1, i + 1) } else { JointVelocities::ZERO };
                let setpoint = Setpoint { positions: JointPositions(rows[i].1[arm]), velocities };
                Waypoint { setpoint, accelerations: None, at: Duration::from_micros((rows[i].0 * 1e6).max(0.0) as u64) }
            })
            .collect();
        Trajectory::through(&waypoints)
    };
    Ok([motion(0)?, motion(1)?])
}

fn main() -> ExitCode {
    match host::block_on(run(&Args::parse())).map_err(Trouble::from).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("two_arms: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns a text about the arms that could not be commanded, each with the reason and its remedy.
fn never_began(arms: &[&Arm<Together>]) -> String {
    let reasons = arms.iter().filter_map(|arm| arm.fell_back.map(|reason| (arm.name, reason)));
    let told: Vec<_> =
        reasons.map(|(name, reason)| format!("{name}: {}; {}", reason.text(), reason.advice())).collect();
    format!("the motion never began; {}", told.join("; "))
}

async fn run(args: &Args) -> Result<(), Trouble> {
    let (name, text) = match &args.file {
        Some(file) => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
            (name, text)
        }
        None => ("two-arms.csv".to_owned(), include_str!("two-arms.csv").to_owned()),
    };
    let [left, right] = read(&text).map_err(|error| format!("{name}: {error}"))?;
    let ends = [&left, &right].map(|motion| motion.at_nanos(u64::MAX).positions);
    let begin = Rc::new(Cell::new(false));
    let clock = Clock::start();
    let config = KrcConfig::default();
    let law = |side: &str, motion: Trajectory<7>| -> Result<Together, Trouble> {
        let reference = Reference::Relative(motion);
        let within = reference.check(&config.limits);
        within.map_err(|(line, excess)| {
            format!("{name}: {side} arm: {excess} on the way to line {}: give it more time", line + 1)
        })?;
        let servo = JointServo::new(reference, JointServoConfig { proportional: 5.0, ..JointServoConfig::default() });
        Ok(Together { servo, begin: Rc::clone(&begin) })
    };
    let second = Options { seed: 2, first_counter: 65_000, ..Options::default() };
    let mut a = Arm::open("left", args.left, Options::default(), config, law("left", left)?, clock).await?;
    let mut b = Arm::open("right", args.right, second, config, law("right", right)?, clock).await?;

    let mut starts = [None; 2];
    let (mut turns_apart, mut ending) = (0_u64, false);
    let mut settled = None;
    let patience = clock.now() + PATIENCE;
    loop {
        tokio::select! {
            () = a.turn() => {}
            () = b.turn() => {}
            () = host::sleep_until(clock, patience) => return Err("not done within a minute: does a KRC send measurements?".into()),
        }
        for arm in [&mut a, &mut b] {
            arm.tell();
        }
        let modes = [a.mode(), b.mode()];
        let fell_back = a.fell_back.is_some() || b.fell_back.is_some();
        if !begin.get() && modes == [Mode::Command; 2] {
            starts = [&a, &b].map(|arm| arm.seen().state.map(|state| state.positions));
            begin.set(true);
        }
        let done = [&a, &b].map(|arm| arm.seen().progress == Progress::Finished);
        turns_apart += u64::from(done[0] != done[1]);
        // If one arm stops, the other does not continue alone.
        let now = clock.now();
        let over = done == [true; 2] && now >= *settled.get_or_insert(now + SETTLING);
        if !ending && (over || fell_back) {
            ending = true;
            a.give(Input::Release);
            b.give(Input::Release);
        }
        let at_rest = |mode| matches!(mode, Mode::Monitor | Mode::Offline);
        if ending && modes.into_iter().all(at_rest) {
            break;
        }
        if !ending && !begin.get() {
            a.request_when_ready();
            b.request_when_ready();
        }
    }
    let mut good = true;
    for ((arm, start), end) in [&a, &b].into_iter().zip(starts).zip(ends) {
        let state = arm.seen().state.ok_or("the KRC fell silent")?;
        let start = start.ok_or_else(|| never_began(&[&a, &b]))?;
        let errors = state.positions.iter().zip(start.iter()).zip(end.iter()).map(|((q, from), by)| q - (from + by));
        let error = errors.fold(0.0, |most: f32, error| most.max(error.abs())).to_degrees();
        let counts = arm.seen().counts;
        println!(
            "{}: {error:.3} degrees from its end; {} measurements, {} answered",
            arm.name, counts.measurements, counts.commands
        );
        good &= error < CLOSE && arm.fell_back.is_none();
    }
    println!("they ended {turns_apart} datagrams apart");
    if good { Ok(()) } else { Err("the motion was not completed on both arms".into()) }
}
