//! The command `outrigger example`: prints the example files, which are part of the program.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use outrigger::exit::Outcome;
use outrigger::show::tell;

/// The arguments of `outrigger example`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExampleArgs {
    /// File to print; without it, the list of all files is printed
    #[arg(value_name = "NAME", value_parser = names(), hide_possible_values = true)]
    name: Option<String>,
}

/// An example file of `cli/examples` built into the program, with its name, its summary and its text.
struct Example {
    name: &'static str,
    summary: &'static str,
    text: &'static str,
}

macro_rules! examples {
    ($($name:literal $summary:literal)+) => {
        &[$(Example { name: $name, summary: $summary, text: include_str!(concat!("../examples/", $name)) }),+]
    };
}

/// Every example file. A name without its extension selects the first example with that name.
const EXAMPLES: &[Example] = examples! {
    "half-turn.toml" "UR: base joint half a turn and back in 4 s; needs no sensor"
    "standoff.toml" "UR: hold a distance to a surface by a distance sensor"
    "force.toml" "UR: press with a force, or yield to a hand, by a force sensor"
    "axes.toml" "UR: distance, force and tilt, a sensor for each axis of the tool"
    "servo.toml" "UR: joints follow waypoints of the file"
    "there.csv" "a motion of six joints for `outrigger move`; begins where the arm stands"
    "krc-swing.toml" "KUKA LWR: first axis ten degrees to and fro; needs no sensor"
    "custom_law_ur.rs" "Rust: a law of your own beside a UR, a whole program"
    "custom_law_krc.rs" "Rust: the same beside a KUKA LWR"
    "states.rs" "Rust: read the states of a UR, and send nothing"
    "decode.rs" "Rust: read one message of port 30003 from a file"
    "companion.rs" "Rust: something of your own beside a session: it watches, and releases the arm after a time"
    "two_arms.rs" "Rust: a trajectory on two KUKA arms from one process"
    "two-arms.csv" "the trajectory of two_arms.rs"
    "coupled_arms.rs" "Rust: one KUKA arm copies another, and its contact force is felt at the first"
    "haptic.rs" "Rust: a haptic device leads a KUKA arm"
    "krc/mod.rs" "Rust: the module that the three programs for KUKA arms share"
    "ros2/joint_states.py" "Python: print joint positions from `outrigger ros2`, without ROS 2"
    "ros2/goal.py" "Python: move a joint through `outrigger ros2`, without ROS 2"
    "ros2/ros2.py" "Python: the module of goal.py"
    "ros2/moveit.launch.py" "ROS 2: start MoveIt beside `outrigger ros2`"
    "ros2/moveit_controllers.yaml" "ROS 2: the controller that MoveIt sends its trajectories to"
    "ros2/control.launch.xml" "ROS 2: start ros2_control in front of `outrigger ros2`"
    "ros2/controllers.yaml" "ROS 2: controllers of control.launch.xml"
    "ros2/arm.urdf.xacro" "ROS 2: the robot of control.launch.xml, commanded by topics"
    "ros2/cost.py" "Python: processor time of `outrigger ros2`"
    "ros2/readers.py" "Python: many readers of joint states, for cost.py"
    "foxglove-layout.json" "Foxglove: a layout for a recording or live data: arm, joints, force, modes, log"
    "half-turn.sh" "shell: half-turn.toml on simulated controllers of five versions"
    "krc-periods.sh" "shell: krc-swing.toml at several periods, with tables of both sides"
    "turnaround-trace.sh" "shell: turnaround of the demo against a trace of its system calls"
};

impl Example {
    /// Returns the name of the example file without its extension.
    fn stem(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(stem, _)| stem)
    }
}

fn names() -> PossibleValuesParser {
    let value = |(index, example): (usize, &Example)| {
        let taken = EXAMPLES.iter().take(index).any(|earlier| earlier.stem() == example.stem());
        // If two examples share a name without extension, the suggestion for a misspelt name is the first, the
        // configuration.
        if taken { PossibleValue::new(example.name) } else { PossibleValue::new(example.stem()).alias(example.name) }
    };
    PossibleValuesParser::new(EXAMPLES.iter().enumerate().map(value))
}

fn find(name: &str) -> Option<&'static Example> {
    let named = EXAMPLES.iter().find(|example| example.name == name);
    named.or_else(|| EXAMPLES.iter().find(|example| example.stem() == name))
}

/// Returns the list of the example files, one line with name and summary for each.
fn list() -> String {
    let width = EXAMPLES.iter().map(|example| example.name.len()).max().unwrap_or_default();
    EXAMPLES.iter().map(|example| format!("{:<width$}  {}\n", example.name, example.summary)).collect()
}

/// Prints an example, or the list of them.
///
/// # Errors
/// [`Failure::BadInput`](outrigger::exit::Failure::BadInput) if standard output cannot be written.
pub(crate) fn run(args: &ExampleArgs) -> Outcome {
    match args.name.as_deref().and_then(find) {
        Some(example) => tell(example.text),
        None => tell(&list()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory as _;
    use outrigger_core::engine::ur::UrConfig;
    use outrigger_wire::robot::{JointPositions, JointVelocities};

    use super::*;
    use crate::cli::Cli;
    use outrigger::motion::{Motion, Start};

    fn files(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let name = format!("{prefix}{}", entry.file_name().to_str().expect("UTF-8"));
            match entry.file_type().expect("a type").is_dir() {
                true if name.ends_with("__pycache__") => {}
                true => files(&entry.path(), &format!("{name}/"), found),
                false => found.push(name),
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_an_example() {
        let (mut found, mut known) = (vec![], EXAMPLES.iter().map(|example| example.name).collect::<Vec<_>>());
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), "", &mut found);
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known);
        assert_eq!(list().lines().count(), known.len());
    }

    #[test]
    fn tables_that_move_help_and_the_first_page_of_an_arm_name_are_examples() {
        let help = Cli::command().find_subcommand_mut("move").expect("a command").render_long_help().to_string();
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/start-arm.md");
        let texts = help + &std::fs::read_to_string(page).expect("the page");
        let lines = texts.lines().filter(|line| line.trim_start().starts_with("outrigger move "));
        let tables: Vec<_> = lines.flat_map(str::split_whitespace).filter(|word| word.ends_with(".csv")).collect();
        assert!(tables.len() >= 4 && tables.iter().all(|name| find(name).is_some()), "{tables:?}");
    }

    #[test]
    fn the_motion_of_six_joints_begins_where_the_simulated_arm_stands_and_is_within_the_limits() {
        let text = find("there.csv").expect("an example").text;
        let motion = Motion::<6>::parse(text.as_bytes(), false).expect("a motion");
        let q = outrigger_sim::controller::Options::for_software(outrigger_wire::robot::SoftwareVersion::new(5, 15)).q;
        let at = JointPositions(q.map(|angle| angle as f32));
        let Ok(Start::Moves(motion)) = motion.start_at(at, &JointVelocities::ZERO) else { panic!("it has a length") };
        assert_eq!(motion.waypoints()[0].setpoint.positions, at);
        motion.check(&UrConfig::default().limits).map_err(|unfit| unfit.with_remedy()).expect("within the limits");
    }

    #[test]
    fn a_name_is_found_with_and_without_its_extension() {
        let text = |name| find(name).map(|example| example.name);
        assert_eq!(text("half-turn"), Some("half-turn.toml"));
        assert_eq!(text("half-turn.sh"), Some("half-turn.sh"));
        assert_eq!(text("krc/mod"), Some("krc/mod.rs"));
        assert_eq!(text("half"), None);
        let command = ExampleArgs::augment_args(clap::Command::new("example"));
        for example in EXAMPLES {
            let words = ["example", example.name];
            assert!(command.clone().try_get_matches_from(words).is_ok(), "{}", example.name);
        }
        let error = command.try_get_matches_from(["example", "halfturn"]).expect_err("no such example");
        assert!(error.to_string().contains("a similar value exists: 'half-turn'"), "{error}");
    }
}
