//! The command `outrigger move`: follows a motion from a file.

mod check_output;
mod goal_command;
mod result;
mod tracking_page;

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clap::{Args, ValueEnum};
use outrigger_config::{AnyConfiguration, RobotAddress, RunsOn};
use outrigger_core::engine::ur::{CommandPath, UrConfig};
use outrigger_core::engine::{Config, Controller};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Tolerances;
use outrigger_wire::robot::JointPositions;

use crate::angle::parse_angle;
use crate::terminal;
use outrigger::exit::{Failure, Outcome, despite};
use outrigger::host::signals;
use outrigger::host::worker::{LOOK, Worker, writable_within, write_within};
use outrigger::motion::{Motion, MotionError, Reading, Trace};
use outrigger::robot::{Ended, Followed, Robot, Stopped};
use outrigger::show::{Progress, complain, eprintln_lossy, reason_text, tell};

/// The arguments of `outrigger move`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MoveArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999; or a configuration, of which
    /// everything applies except law, sensors, operator, run, serve, ros and, for a UR, host
    #[arg(value_name = "ROBOT|CONFIG.toml")]
    pub robot: String,
    /// Motion: a table of t,q0,... (.csv), FollowJointTrajectory as JSON (.json), or a recording (.mcap)
    #[arg(value_name = "FILE", required_unless_present = "to", conflicts_with = "to")]
    pub file: Option<PathBuf>,
    /// Angles, speeds and accelerations of FILE, or the angles of --to q=..., are in degrees
    #[arg(long)]
    pub degrees: bool,
    /// Start at the first waypoint of FILE, whatever its time: for clock times
    #[arg(long, conflicts_with = "to")]
    pub from_first_time: bool,
    #[command(flatten)]
    pub goal: goal_command::GoalArgs,
    /// Way of executing the motion; default: session.path of a configuration, else stream
    #[arg(long, value_name = "MODE")]
    pub mode: Option<By>,
    /// Robot to move, in place of the configuration's: HOST[:PORT-BASE]; with port base B, the controller's port p is
    /// at B + p - 29999
    #[arg(long = "robot", value_name = "ROBOT")]
    pub other: Option<RobotAddress>,
    /// Largest tracking error of a joint, beyond which the motion ends [rad, or 1deg]; 0: not checked; default: the file's,
    /// else 0.2
    #[arg(long, value_name = "RAD", value_parser = tolerance)]
    pub path_tolerance: Option<f32>,
    /// Largest distance of a joint from the goal for the motion to be done [rad, or 1deg]; 0: not checked; default: the
    /// file's, else 0.1
    #[arg(long, value_name = "RAD", value_parser = tolerance)]
    pub goal_tolerance: Option<f32>,
    /// Longest time for the joints to reach the goal tolerance after the motion's end, by its own time [s]; 0: any;
    /// default: the file's, else 0
    #[arg(long, value_name = "SECONDS", value_parser = goal_time)]
    pub goal_time: Option<f64>,
    /// Write a page that plots target against actual positions to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Record all data to this file, for `outrigger replay` and `export`
    #[arg(long, value_name = "FILE.mcap")]
    pub record: Option<PathBuf>,
    /// Check the motion without the robot, and move nothing: the limits, but not whether the arm is at the start
    #[arg(long)]
    pub check: bool,
    /// Print the result as one JSON object
    #[arg(short = 'j', long)]
    pub json: bool,
}

/// The way in which the arm is moved along a motion from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Joint speeds in each cycle, corrected by the measured position
    Stream,
    /// Joint positions in each cycle, by a program of ours on the controller that runs servoj
    Servo,
    /// Joint positions as with servo, through a ring of 40 ms on the controller, so that a late position has no
    /// effect
    Buffered,
    /// Waypoints ahead of time, to a program of ours on the controller that makes the motion by itself
    Player,
    /// Waypoints as with player, to a program of UR's External Control, on a robot with or without the URCap
    PassThrough,
}

impl By {
    const fn path(self) -> CommandPath {
        match self {
            Self::Stream => CommandPath::Text,
            Self::Servo => CommandPath::ReverseServoJ,
            Self::Buffered => CommandPath::Buffered,
            Self::Player => CommandPath::Player,
            Self::PassThrough => CommandPath::ExternalControl,
        }
    }

    /// Returns the word by which this way of moving the arm is selected on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

fn tolerance(text: &str) -> Result<f32, String> {
    let number = parse_angle(text).ok_or_else(|| format!("found '{text}', expected a number, or one with deg"))?;
    if number == 0.0 {
        return Ok(f32::INFINITY);
    }
    let checked = Tolerances::<6>::ANGLE.check(number, "tolerance");
    checked.map_err(|error| format!("found {number}, expected {}, or 0", error.expected)).map(|()| number)
}

fn goal_time(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("found '{text}', expected a number"))?;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(format!("found {seconds}, expected 0 to 86400 s"))
    }
}

/// Returns the motion with the tolerances of the command line in place of those in its file.
fn tolerated<const N: usize>(motion: Motion<N>, args: &MoveArgs) -> Motion<N> {
    let mut tolerances = *motion.tolerances();
    if let Some(path) = args.path_tolerance {
        tolerances.path = JointPositions([path; N]);
    }
    if let Some(goal) = args.goal_tolerance {
        tolerances.goal = JointPositions([goal; N]);
    }
    if let Some(seconds) = args.goal_time {
        let micros = (seconds * 1e6).round() as u64;
        tolerances.goal_time = (micros > 0).then(|| outrigger_wire::time::Duration::from_micros(micros));
    }
    motion.with_tolerances(tolerances)
}

/// The delay of a motion against its plan from which on its progress line shows the delay \[s\].
const LATE: f64 = 0.1;

/// The longest time for writing the HTML page about a motion to disk.
const DISK: Duration = Duration::from_secs(10);

/// Runs `outrigger move` with a controller of Universal Robots, given by its address or by the configuration in `file`.
///
/// # Errors
/// The errors of [`follow`].
pub(crate) fn beside_ur(args: &MoveArgs, file: Option<AnyConfiguration>) -> Outcome {
    if let Some(goal) = args.goal.to {
        return goal_command::run(args, file, goal);
    }
    let (address, mut config) = robot_of(args, file)?;
    if let Some(by) = args.mode {
        config.peer.path = by.path();
    }
    let (address, path) = (address.to_string(), config.peer.path);
    let robot = || Ok(Robot::ur(&address)?.with_config(config));
    let passes_through = args.mode == Some(By::PassThrough);
    if path != CommandPath::Player && !passes_through {
        return follow(args, config, &address, path.about(), robot, streamed);
    }
    let made = |robot: &Robot<6, _>, motion: &Motion<6>, watch: Watch<'_, 6>, asks: ResumePrompt<'_>| {
        robot.play_watched(motion, watch, asks)
    };
    follow(args, config, &address, path.about(), robot, made)
}

/// A callback that receives the progress of a motion while the arm follows it.
pub(crate) type Watch<'w, const N: usize> = &'w mut dyn FnMut(&Trace<N>);
/// A function that asks the user whether a stopped motion is to continue, and returns `true` if it is; `None` without a
/// terminal.
pub(crate) type ResumePrompt<'a> = Option<&'a mut dyn FnMut(&Stopped) -> bool>;

/// Moves the arm along the motion by commands in each cycle of the controller. `watch` receives the progress, and
/// `asks` decides whether a stopped motion continues.
///
/// # Errors
/// The errors of [`Robot::follow`].
pub(crate) fn streamed<const N: usize, P: Controller<N> + 'static>(
    robot: &Robot<N, P>,
    motion: &Motion<N>,
    watch: Watch<'_, N>,
    asks: ResumePrompt<'_>,
) -> Result<Followed<N>, Failure>
where
    P::Event: Send,
    P::Options: Send,
{
    robot.follow_watched(motion, |trace| watch(&trace.lock().unwrap_or_else(PoisonError::into_inner)), asks)
}

/// Moves an arm along the motion in the file that the arguments name. `robot` creates the connection to the arm, `made`
/// executes the motion, `name` is the arm's name, and `sent` describes what is sent to its controller.
///
/// # Errors
/// [`Failure::BadInput`] for a fault of the file, the errors of [`Robot::follow`], and [`Failure::Fault`] if the motion
/// did not reach its end.
pub(crate) fn follow<const N: usize, P: Controller<N> + 'static>(
    args: &MoveArgs,
    config: Config<N, P::Options>,
    name: &str,
    sent: &str,
    robot: impl FnOnce() -> Result<Robot<N, P>, Failure>,
    made: impl FnOnce(&Robot<N, P>, &Motion<N>, Watch<'_, N>, ResumePrompt<'_>) -> Result<Followed<N>, Failure>,
) -> Outcome
where
    P::Event: Send,
    P::Options: Send,
{
    let Some(file) = &args.file else { return Err(Failure::Usage("found neither FILE nor --to".into())) };
    let reading = Reading { degrees: args.degrees, from_first_time: args.from_first_time };
    let motion = tolerated(Motion::<N>::read_as(file, reading)?, args);
    let unfit = |unfit: MotionError| Failure::BadInput(unfit.with_remedy()).at(file);
    motion.check(&config.limits).map_err(unfit)?;
    if args.check {
        return tell(&check_output::of_check(file, &motion));
    }
    if let Some(page) = &args.report {
        writable_within(DISK, page).map_err(|error| unwritten(page, &error))?;
    }
    let mut robot = robot()?.answering().naming_the_motion(file.display().to_string());
    if let Some(file) = &args.record {
        robot = robot.recording_to(file);
    }
    let shows = !args.json;
    let total = motion.duration().as_secs_f64();
    let progress = RefCell::new(Progress::default());
    // `true` if a person can see the output and answer.
    let attended = shows && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut asks = |stopped: &Stopped| {
        let mut line = progress.borrow_mut();
        line.show(&result::progress(stopped.elapsed.as_secs_f64(), total), u64::MAX);
        line.end();
        ask(stopped, total, &mut line)
    };
    let mut watch = |trace: &Trace<N>| {
        if shows {
            show(&mut progress.borrow_mut(), trace, total);
        }
    };
    let followed = made(&robot, &motion, &mut watch, if attended { Some(&mut asks) } else { None });
    // The last progress was shown before the arm came to rest.
    if let Some(text) = followed.as_ref().ok().filter(|_| shows).and_then(|end| result::progress_at_end(end, total)) {
        progress.borrow_mut().show(&text, u64::MAX);
    }
    progress.borrow_mut().end();
    let followed = followed?;
    let page = args.report.as_ref().map_or(Ok(()), |page| {
        let html = tracking_page::html(&file.display().to_string(), name, sent, &followed);
        write_within(DISK, page, html.into_bytes()).map_err(|error| unwritten(page, &error))
    });
    let told = tell(&if args.json { result::json_of_motion(&followed) } else { result::of_motion(&followed) });
    unrecorded(args, followed.is_done, followed.has_begun());
    despite([page, told], result::outcome_of_motion(&followed, motion.tolerances(), total))
}

/// Asks the person at the terminal whether a stopped motion is to continue. Returns `true` for the answer `resume`.
fn ask(stopped: &Stopped, total: f64, line: &mut Progress) -> bool {
    let why = match (stopped.released, stopped.reason) {
        (Some(by), _) => by.to_string(),
        (None, Some(reason)) => Ended::Fallback(reason).to_string(),
        (None, None) => "the arm was stopped".into(),
    };
    eprintln_lossy!("{why}\nThe motion is stopped at {:.1} of {total:.1} s.", stopped.elapsed.as_secs_f64());
    for reason in reason_text::causes_first(stopped.unmet).into_iter().filter(|reason| *reason != Reason::Latched) {
        eprintln_lossy!("Not ready: {}.", reason.text());
    }
    eprintln_lossy!(
        "`resume` resets and continues from there, which moves the arm; any other answer ends the \
                     motion."
    );
    // Reports that arrive meanwhile are printed above the question.
    line.show("Continue? ", 0);
    // The question has a thread of its own, so that Ctrl-C ends it without a line of input.
    let (tell, told) = channel();
    let read = move || {
        let _ = terminal::typed().and_then(|line| tell.send(line).map_err(std::io::Error::other));
    };
    let Ok(_reader) = Worker::start("question", read) else { return false };
    loop {
        match told.recv_timeout(LOOK) {
            Ok(said) => {
                line.answered();
                return said.trim() == "resume";
            }
            Err(RecvTimeoutError::Timeout) if !signals::is_ending() => {}
            Err(_) => {
                line.end();
                return false;
            }
        }
    }
}

/// Reports that no recording was written, if one was requested and nothing moved.
fn unrecorded(args: &MoveArgs, is_done: bool, has_begun: bool) {
    if let Some(what) = args.record.as_deref().and_then(|path| result::of_no_recording(path, is_done, has_begun)) {
        complain(&what);
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::BadInput(format!("cannot write {}: {error}", path.display()))
}

/// Returns the robot's address, and the engine's configuration: that of the file, without its sensors and operator
/// inputs, if one is given, else the defaults.
fn robot_of(args: &MoveArgs, file: Option<AnyConfiguration>) -> Result<(RobotAddress, UrConfig), Failure> {
    let Some(file) = file else {
        if args.other.is_some() {
            return Err(Failure::Usage(
                "--robot replaces a configuration's robot; the robot's address is given already".into(),
            ));
        }
        return Ok((args.robot.parse().map_err(Failure::Usage)?, UrConfig::default()));
    };
    let AnyConfiguration::Ur(RunsOn::Host(host)) = file else {
        return Err(Failure::Usage("`move` runs on a host; the configuration is a board's".into()));
    };
    let mut engine = host.control.engine();
    engine.sources = UrConfig::default().sources;
    engine.operator = UrConfig::default().operator;
    Ok((args.other.clone().unwrap_or_else(|| host.control.robot.address.clone()), engine))
}

/// Displays the progress of a motion from a file while the arm is commanded.
fn show<const N: usize>(progress: &mut Progress, trace: &Trace<N>, total: f64) {
    if trace.mode != Mode::Command {
        return;
    }
    progress.show(&line(trace, total), trace.elapsed.as_micros() / 1_000_000);
}

/// Returns the progress line of a motion that takes `total` seconds at full speed.
fn line<const N: usize>(trace: &Trace<N>, total: f64) -> String {
    let late = trace.late.as_secs_f64();
    let late = if late < LATE { String::new() } else { format!(", late by {late:.1} s") };
    let progress = result::progress(trace.elapsed.as_secs_f64(), total);
    format!("{progress}{late}{}", result::held(trace.held))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use outrigger::host::os::INTERRUPT;
    use outrigger::released::ReleasedBy;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: MoveArgs,
    }

    #[test]
    fn a_page_that_cannot_be_written_does_not_hide_the_end_of_the_motion() {
        let folder = std::env::temp_dir().join(format!("outrigger-move-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("room");
        let [file, page] = ["there.csv", "page.html"].map(|name| folder.join(name));
        std::fs::write(&file, "t,q0,q1,q2,q3,q4,q5\n0,0,0,0,0,0,0\n4,0.1,0,0,0,0,0\n").expect("room");
        let line = ["move".as_ref(), "127.0.0.1".as_ref(), file.as_os_str(), "--report".as_ref(), page.as_os_str()];
        let Line { args } = Line::try_parse_from(line).expect("a command line");
        let interrupted = |_: &Robot<6, _>, _: &Motion<6>, _: Watch<'_, 6>, _: ResumePrompt<'_>| {
            std::fs::remove_dir_all(&folder).expect("ours");
            let (ended, at) = (Ended::Released(ReleasedBy::Signal(INTERRUPT)), JointPositions::ZERO);
            let elapsed = Duration::from_secs(1);
            Ok(Followed { ended, is_done: false, elapsed, worst: at, end_error: at, moments: vec![] })
        };
        let robot = || Robot::ur("127.0.0.1");
        let ended = follow(&args, UrConfig::default(), "127.0.0.1", "", robot, interrupted);
        assert_eq!(ended.map_err(|failure| failure.code()), Err(130));
    }

    #[test]
    fn the_line_of_progress_names_what_holds_the_motion_whatever_the_slider_is() {
        let moment = outrigger::motion::Moment {
            seconds: 1.0,
            wanted: JointPositions([0.0]),
            actual: JointPositions([0.0]),
            scaling: 0.0,
        };
        let mut trace = Trace::<1>::default();
        trace.moments.push(moment);
        (trace.mode, trace.elapsed) = (Mode::Command, outrigger_wire::time::Duration::from_secs(1));
        assert_eq!(line(&trace, 4.0), " 25 %  1.0 of 4.0 s");
        for reason in [Reason::ProgramPaused, Reason::HeldByScaling] {
            trace.held = Some(reason);
            assert_eq!(line(&trace, 4.0), format!(" 25 %  1.0 of 4.0 s, {}", reason_text::of_hold(reason)));
        }
        trace.late = outrigger_wire::time::Duration::from_millis(500);
        assert!(line(&trace, 4.0).starts_with(" 25 %  1.0 of 4.0 s, late by 0.5 s, held by the robot's speed slider"));
    }
}
