//! The arguments of `outrigger ctl`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use outrigger_core::client::dashboard::ArmCommand;
use outrigger_wire::time::Duration;

use super::board_client::PREFIX;
use crate::angle::{Rate, rate, target_in_radians};
use crate::args::ControllerArgs;
use outrigger::exit::Failure;
use outrigger::motion::impedance::{self, Impedance};
use outrigger::requests::Setting;
use outrigger::requests::freedrive_arguments;

/// The longest description of a motion or force in a request \[B\], so that it fits into a line of 1024 bytes with each
/// byte escaped.
const HOW_MAX: usize = 480;

/// The arguments of `outrigger ctl`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CtlArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999; or the configuration that
    /// `run` was started with; or board:ADDRESS[:PORT] for a board (47001)
    #[arg(value_name = "ROBOT|CONFIG.toml|board:ADDRESS")]
    pub robot: String,
    /// Request to send to the run or the board
    #[arg(value_enum, value_name = "REQUEST", hide_possible_values = true)]
    pub word: AskCommand,
    /// With set: the output to set, as `outrigger io` takes it; with sample: the source's name and its values; with
    /// force: forces and torques along and around the compliant axes [N, Nm], e.g. z=-20, and optionally frame=,
    /// limits=, type=, damping=, gain=; with force and freedrive: tool-speed=, joint-speed=, deviation=, renew=; with
    /// tool-contact: on or off; with move: the file with the motion (.csv, .json or .mcap), which is read here and
    /// sent to the run; with dashboard, of a board: power-on, brake-release, unlock-protective-stop, close-popup or
    /// close-safety-popup
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    pub rest: Vec<String>,
    /// With move, in place of a file: the target, as `outrigger move --to` takes it: q= and each joint's angle [rad, or with deg];
    /// or, of a run with session.path = "player", pose=X,Y,Z,RX,RY,RZ of the tool [m, rotation vector in rad]
    #[arg(long, value_name = "q=...|pose=...", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// With --to: the tool moves on a straight line; of a run with session.path = "player"
    #[arg(long, requires = "to")]
    pub linear: bool,
    /// With --to: speed of the joint with the longest way [rad/s], default 0.5; with --linear of the tool [m/s],
    /// default 0.1
    #[arg(long, value_name = "RAD/S|M/S", requires = "to")]
    pub speed: Option<Rate>,
    /// With --to: its acceleration and deceleration [rad/s2], default 0.8; with --linear the tool's [m/s2], default 0.5
    #[arg(long, value_name = "RAD/S2|M/S2", requires = "to")]
    pub acceleration: Option<Rate>,
    /// With --to q=: duration of the motion at full speed [s], in place of --speed and --acceleration
    #[arg(long, value_name = "SECONDS", requires = "to", conflicts_with_all = ["speed", "acceleration", "linear"])]
    pub time: Option<f64>,
    /// The options for the kind of controller that ROBOT is.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// Epoch that the request is for; it is refused in any other. Default: that of a status requested just before
    #[arg(long, value_name = "N")]
    pub epoch: Option<u32>,
    /// With sample: the reading's sequence number; default: one more than that of the reading before
    #[arg(long, value_name = "N")]
    pub seq: Option<u32>,
    /// With a board: the file with the key that is stored on it, or compiled into its firmware
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// With freedrive and force: time after which to end it; default: it is renewed until this command ends
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// With start and resume: wait until the arm is commanded; with stop: until it is at rest
    #[arg(long)]
    pub wait: bool,
    /// Longest wait for an answer, or for the end of --wait
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Print each answer as it arrived: one JSON object per line
    #[arg(short = 'j', long)]
    pub json: bool,
}

/// A request that `outrigger ctl` can make, as a word on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskCommand {
    Status,
    Watch,
    #[value(name = "start", alias = "request")]
    Request,
    Resume,
    #[value(name = "stop", alias = "release")]
    Release,
    #[value(name = "reset", alias = "acknowledge")]
    Acknowledge,
    Set,
    Impedance,
    Sample,
    HandBack,
    Resend,
    Freedrive,
    Force,
    ToolContact,
    Renew,
    Stiffen,
    Move,
    Cancel,
    Dashboard,
}

/// A request of `outrigger ctl` to a run or a board, as the arguments describe it. The epoch, by which the receiver
/// rejects outdated requests, is added later.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    Plain(AskCommand),
    Set(Vec<String>),
    /// A request to change stiffness and damping of an arm in impedance control, as text in the form that a run parses.
    Impedance(String),
    Sample {
        source: String,
        values: Vec<f32>,
        seq: Option<u32>,
    },
    /// A request for freedrive (if `hand` is `true`) or for force mode, with its parameters as text and the interval at
    /// which `outrigger ctl` renews it.
    Guide {
        hand: bool,
        how: String,
        every: Duration,
    },
    ToolContact(String),
    /// A request to move the arm to one target, as text in the form that a run parses.
    Move(String),
    /// A request to move the arm along the motion in the file with this path.
    Along(PathBuf),
    /// A command to the controller's dashboard server, sent by a board.
    Dashboard(ArmCommand),
}

impl CtlArgs {
    /// Returns the request that the arguments describe.
    ///
    /// # Errors
    /// [`Failure::Usage`] for arguments that do not fit together.
    pub(super) fn wanted(&self) -> Result<Wanted, Failure> {
        let usage = |text: &str| Err(Failure::Usage(text.into()));
        if self.wait && !matches!(self.word, AskCommand::Request | AskCommand::Resume | AskCommand::Release) {
            return usage("--wait is for start, resume and stop only: any other request ends with its answer");
        }
        if self.seq.is_some() && self.word != AskCommand::Sample {
            return usage("--seq is for sample: leave it out");
        }
        if self.seconds.is_some() && !matches!(self.word, AskCommand::Freedrive | AskCommand::Force) {
            return usage("--duration is for freedrive and force: leave it out");
        }
        match (self.robot.starts_with(PREFIX), &self.key_file) {
            (true, None) => return usage("requests to a board need its key: --key-file FILE"),
            (false, Some(_)) => return usage("--key-file is for a board: a run on this machine needs no key"),
            _ => {}
        }
        if self.to.is_some() && self.word != AskCommand::Move {
            return usage("--to is for move: leave it out");
        }
        match (self.word, self.rest.as_slice()) {
            (AskCommand::Move, rest) => self.motion(rest),
            (AskCommand::Set, []) => {
                usage("set: expected an output, e.g. digital-out.3=on; `outrigger io --help` lists all")
            }
            (AskCommand::Set, settings) => {
                let of_a_run = |setting: &&String| self.key_file.is_some() || !Setting::may_be_named(setting);
                for setting in settings.iter().filter(of_a_run) {
                    setting.parse::<Setting>().map_err(|why| Failure::Usage(format!("set: '{setting}': {why}")))?;
                }
                Ok(Wanted::Set(settings.to_vec()))
            }
            (AskCommand::Impedance, _) if self.key_file.is_some() => {
                usage("impedance: a board takes it from its file only; use a run on this machine")
            }
            (AskCommand::Impedance, words) => {
                let how = words.join(" ");
                Impedance::of(&how).map_err(|why| Failure::Usage(format!("impedance: {why}")))?;
                Ok(Wanted::Impedance(format!("{}{how}", impedance::WORD)))
            }
            (AskCommand::Sample, [source, values @ ..]) if (1..=6).contains(&values.len()) => {
                let number = |text: &String| {
                    let number = text.parse::<f32>().ok().filter(|number| number.is_finite());
                    number.ok_or_else(|| Failure::Usage(format!("sample: expected a number, found '{text}'")))
                };
                let values = values.iter().map(number).collect::<Result<_, _>>()?;
                Ok(Wanted::Sample { source: source.clone(), values, seq: self.seq })
            }
            (AskCommand::Sample, _) => {
                usage("sample: expected the source's name and 1 to 6 values, e.g. sample seam 0.05")
            }
            (AskCommand::Freedrive | AskCommand::Force, words) => {
                let (hand, how) = (self.word == AskCommand::Freedrive, words.join(" "));
                let understood =
                    if hand { freedrive_arguments::freedrive(&how) } else { freedrive_arguments::force(&how) };
                let word = if hand { "freedrive" } else { "force" };
                let (_, limits) = understood.map_err(|why| Failure::Usage(format!("{word}: {why}")))?;
                // Renews so early that a late renewal does not end the mode.
                Ok(Wanted::Guide { hand, how, every: limits.renew_within.percent(40) })
            }
            (AskCommand::ToolContact, [how]) if freedrive_arguments::contact(how).is_ok() => {
                Ok(Wanted::ToolContact(how.clone()))
            }
            (AskCommand::ToolContact, _) => usage("tool-contact: expected on or off"),
            (AskCommand::Dashboard, _) if self.key_file.is_none() => {
                usage("dashboard: for a board only; on this machine use `outrigger dashboard ROBOT`")
            }
            (AskCommand::Dashboard, words) => {
                let readying = match words {
                    [word] => ArmCommand::of_word(word),
                    _ => None,
                };
                let all = ArmCommand::ALL.map(ArmCommand::word).join(", ");
                readying.map(Wanted::Dashboard).ok_or_else(|| {
                    Failure::Usage(format!("dashboard: expected one of {all}; found '{}'", words.join(" ")))
                })
            }
            (word, []) => Ok(Wanted::Plain(word)),
            (_, [first, ..]) => Err(Failure::Usage(format!("this request takes no further words: remove '{first}'"))),
        }
    }

    /// Returns the request to move the arm: along the motion in a file, or to one target.
    fn motion(&self, rest: &[String]) -> Result<Wanted, Failure> {
        let usage = |text: String| Err(Failure::Usage(format!("move: {text}")));
        match (rest, &self.to) {
            ([_], None) if self.key_file.is_some() => {
                usage("a board makes no motions by request: use a run on this machine".into())
            }
            ([file], None) => Ok(Wanted::Along(file.into())),
            ([], Some(to))
                if ["q=", "pose="].iter().any(|kind| to.starts_with(kind)) && !to.contains(char::is_whitespace) =>
            {
                let mut how = target_in_radians(to);
                if self.linear {
                    how.push_str(" linear");
                }
                for (name, value) in [("speed", self.speed), ("acceleration", self.acceleration)] {
                    if let Some(value) = rate(&format!("--{name}"), value, self.linear)? {
                        how.push_str(&format!(" {name}={value}"));
                    }
                }
                if let Some(time) = self.time {
                    how.push_str(&format!(" time={time}"));
                }
                if how.len() > HOW_MAX {
                    return usage(format!("--to: at most {HOW_MAX} bytes fit into a request"));
                }
                Ok(Wanted::Move(how))
            }
            (_, Some(to)) => usage(format!(
                "found --to '{to}', expected q= and each joint's angle in rad, or pose= and x,y,z,rx,ry,rz in m and rad, with commas between, and no file"
            )),
            (_, None) => usage("expected a file with the motion, or --to q=Q0,... or pose=X,Y,Z,RX,RY,RZ".into()),
        }
    }
}
