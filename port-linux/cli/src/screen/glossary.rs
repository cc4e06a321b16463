//! The explanations of the words on the screen. A test fails if a page shows a word that is not in this table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use outrigger_core::robot::Reason;

/// A word on the screen, and its meaning for a reader who does not know the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) word: &'static str,
    meaning: &'static str,
}

impl Term {
    /// Returns the meaning of the term; for a reason, also advice.
    pub(super) fn meaning(&self) -> Cow<'static, str> {
        match Reason::ALL.iter().find(|reason| reason.name() == self.word) {
            Some(reason) => format!("{}; {}", reason.text(), reason.advice()).into(),
            None => self.meaning.into(),
        }
    }
}

macro_rules! terms {
    ($($word:literal $meaning:literal,)+) => { &[$(Term { word: $word, meaning: $meaning }),+] };
}

/// The table of all terms; longer terms precede those that are a part of them.
const TABLE: &[Term] = terms! {
    // Commands, and the first row.
    "monitor" "only looks at a robot; nothing is asked of it",
    "watch" "shows what a board with Outrigger on it tells of itself; nothing is asked of it",
    "record" "looks at a robot and keeps what it sends in a file",
    "run" "moves the arm by a sensor or a motion, as the configuration says, once it is requested",
    "demo" "a simulated arm that holds its distance to a simulated workpiece",
    "not identified yet" "the controller has not said yet which model and software it is",
    "software" "the version of the program in the robot's controller",
    "Hz" "per second; in the first row, states of the robot that arrive in a second",
    // Pages.
    "main" "the first page: mode, link, and why the arm may not move",
    "link" "the network connection that the robot's state arrives by",
    "joints" "angles and speeds of the arm's joints",
    "joint" "one of the axes that the arm turns about, the one at the base first",
    "force at the TCP" "force and torque that the arm feels at the tip of its tool, in the base frame",
    "TCP in the base frame" "where the tip of the tool is, seen from the foot of the arm",
    "TCP" "tool centre point: the tip of the tool, as it is set on the robot",
    "force" "what pushes at the tip of the tool",
    "temperature of the motors" "as the controller measures it in each joint",
    "temperature" "of the motors in the joints",
    "motor of" "the joint whose motor it is",
    "speed slider" "on the pendant: how fast everything goes, in percent of what was asked for",
    "slider" "the speed slider on the pendant",
    "in effect" "what slider and limiter of the controller leave of a speed",
    "share" "of the speed that was asked for",
    "program on the controller" "what the robot's own controller executes",
    "program" "what the robot's own controller executes, and whether it runs",
    "I/O" "inputs and outputs: wires to switches, valves and other machines",
    "inputs and outputs" "wires to switches, valves and other machines: 1 is on, 0 is off",
    "events" "what happened, the newest last; each with the seconds since the start",
    "page" "what is shown above the events; another key shows another",
    // Keys.
    "q quit" "ends this command; an arm that it moves is stopped first",
    "r request" "asks that the arm may be moved by this program, from now on",
    "c continue" "goes on with a motion that was suspended",
    "s stop" "or space: the arm is brought to rest, and stays so until it is requested again",
    "a acknowledge" "you have seen why the arm stopped; until then it moves no more",
    "? explain the words" "this explanation, and back",
    "? explain" "this explanation, and back",
    "? or esc close" "ends this explanation",
    "↑ ↓ more" "shows what stands further up or down; page up and page down do as well",
    "tab next page" "the key beside Q; arrows and numbers show other pages as well",
    "tab page" "the key beside Q shows the next page; arrows and numbers do as well",
    "← → tab 1-9 other pages" "keys that show other pages",
    // Modes.
    "mode" "whether the arm may be moved by this program now",
    "Offline" "mode: there is no connection to the robot",
    "Monitor" "mode: the robot is looked at, and nothing is commanded",
    "Arming" "mode: the arm is told to stand still, until it is proved that it listens",
    "Command" "mode: this program moves the arm",
    "Stopping" "mode: this program brings the arm to rest",
    "latched" "commanding was ended by this; it begins no more until it is acknowledged",
    "last fallback" "why commanding ended last",
    "fallback" "why commanding ended last",
    "not ready" "what a request would be refused for now",
    "unmet" "so many more things a request would be refused for",
    "ready to command" "the arm could be requested now",
    "ready" "the arm could be requested now",
    "motion" "how far the newest motion is, of the configuration or of a request",
    "running" "the motion is under way",
    "finished" "the motion is at its end",
    "error of the law" "how far the arm is from what the rule that moves it wants",
    "standoff error" "how much further the tool is from the workpiece than it is to be: below 0 it is too near",
    "axis errors" "how far the tool has yet to go along or about each axis that a sensor moves",
    "at the worst joint" "of all joints, the one that is furthest from where it is to be",
    "time passes" "how many times slower than real time the demo's is, both sides alike, because this machine is busy",
    "recording" "how much of a recording of the board has arrived",
    "sensor" "the newest reading of the sensor",
    // Link.
    "no link" "nothing arrives from the robot: what is shown of it is what was seen last, or unknown",
    "needs" "the grade that commanding needs to begin",
    "Unacceptable" "grade of the link: commanding ends, and does not begin",
    "Bad" "grade of the link: commanding does not begin",
    "Ok" "grade of the link: good enough to command",
    "Perfect" "grade of the link: nothing to complain about",
    "age" "how old the newest state of the robot is",
    "jitter" "how unevenly states arrive, on average",
    "answered" "of the last 100 states, those that the controller saw answered in time",
    "round trip" "time from what is sent to its echo in a state",
    "longest" "the longest time without a state, since the session or the controller's clock began",
    "longest gap" "the longest time without a state, since the session or the controller's clock began",
    "time between states, bars logarithmic" "how often each time passed from one state to the next; a bar twice as long is far more than twice as often",
    "states" "messages with angles and modes that the robot sends by itself",
    "skips" "cycles without a package of RTDE since it was connected, by the controller's own count",
    "delays" "packages of RTDE that came more than a period later after the one before than they were sent, since it was connected",
    "repeats" "packages of RTDE for a cycle that had one already, since it was connected",
    "lost" "states that never came, in this epoch",
    "late" "states that were too old to be answered when they came, in this epoch",
    "duplicate" "states that came twice",
    "reordered" "states that came after a later one",
    "epoch" "goes up each time the controller's clock begins anew",
    "own stalls" "how often the process or board that judges the link was not scheduled in time",
    "received" "of the last 100 cycles, those whose state came",
    "samples" "how many cycles were seen; a grade is judged by 100",
    "delay" "how late states come on average",
    "misses" "cycles in a row whose state did not come",
    "unanswered" "answers in a row that the controller did not see",
    "local_stall" "how late the process or board that judges the link was woken",
    "RTDE" "UR's real-time data exchange: the states come by port 30004",
    "by 30003" "the states come by UR's real-time port 30003, for this reason",
    // Values.
    "unknown" "nobody has told it; it is not 0",
    "all are zero" "a program shares variables, and none of them differs from 0",
    "variables" "numbers that a program on the controller shares",
    "identity" "which controller it is",
    "controller's clock" "seconds by the clock of the controller",
    "angle" "where the joint is",
    "setpoint" "where the controller wants the joint to be",
    "speed" "how fast the joint turns",
    "target" "how fast the controller wants the joint to turn",
    "pose" "position and direction",
    "per second" "how much it changes in a second",
    "payload" "what the controller takes the tool and what it holds to weigh",
    "centre of gravity at" "where that weight is, from the flange",
    "from the flange" "the face at the end of the arm that the tool is screwed to",
    "last" "the picture shows so many seconds, the newest at the right; each from its lowest to its highest, a point where unknown",
    "rx" "rotation vector: its direction is the axis, its length the angle of the tool's turn",
    "ry" "rotation vector, second number",
    "rz" "rotation vector, third number",
    "x" "first axis of the base frame",
    "y" "second axis of the base frame",
    "z" "third axis of the base frame, upwards where the arm stands on the floor",
    "number" "of the input or output, as it is printed beside its terminal",
    "digital" "terminals of the control box that are on or off, number 0 first",
    "configurable" "terminals of the control box that are on or off; on the robot they may have been given a meaning",
    "tool analog" "terminals at the tool with a voltage or a current: V, or A where they measure current",
    "tool" "terminals at the tool, number 0 first",
    "analog" "terminals of the control box with a voltage or a current: V, or A where they measure current",
    "supply" "what feeds a device at the tool: its voltage, and the current that it draws",
    "out" "outputs: what the robot switches",
    "in" "inputs: what the robot is told",
    "base" "joint at the foot of the arm",
    "shoulder" "second joint",
    "elbow" "third joint",
    "wrist" "the last joints, before the tool",
    "A1" "first joint of a KUKA arm; A2 to A6 and E1 are the others",
    "A2" "second joint",
    "E1" "third joint, the one that arms with six have not",
    "A3" "fourth joint",
    "A4" "fifth joint",
    "A5" "sixth joint",
    "A6" "seventh joint, at the tool",
    // The controller's own words.
    "robot" "mode of the robot, in its controller's own word",
    "safety" "what the robot's safety system says, in its own word",
    "NORMAL" "safety: nothing is wrong",
    "REDUCED" "safety: narrower limits of the safety system are in force",
    "PROTECTIVE_STOP" "safety: the robot stopped by itself, after a collision or at a limit; find the cause, then unlock it on the pendant",
    "RECOVERY" "safety: outside its limits; move it back by hand on the pendant",
    "SAFEGUARD_STOP" "safety: a door or a light curtain stopped it",
    "SYSTEM_EMERGENCY_STOP" "safety: an emergency stop is pressed",
    "ROBOT_EMERGENCY_STOP" "safety: an emergency stop is pressed",
    "EMERGENCY_STOPPED" "robot: an emergency stop is pressed",
    "SECURITY_STOPPED" "robot: its safety system stopped it",
    "AUTOMATIC_MODE_SAFEGUARD_STOP" "safety: a door or a light curtain stopped it, in automatic mode",
    "SYSTEM_THREE_POSITION_ENABLING_STOP" "safety: an enabling switch is not held in its middle",
    "TP_THREE_POSITION_ENABLING_STOP" "safety: the pendant's enabling switch is not held in its middle",
    "IMMI_EMERGENCY_STOP" "safety: the injection moulding machine asks for an emergency stop",
    "IMMI_SAFEGUARD_STOP" "safety: the injection moulding machine asks for a stop",
    "PROFISAFE_WAITING_FOR_PARAMETERS" "safety: the controller of the plant has not set its parameters yet",
    "PROFISAFE_AUTOMATIC_MODE_SAFEGUARD_STOP" "safety: the controller of the plant asks for a stop, in automatic mode",
    "PROFISAFE_SAFEGUARD_STOP" "safety: the controller of the plant asks for a stop",
    "PROFISAFE_EMERGENCY_STOP" "safety: the controller of the plant asks for an emergency stop",
    "SAFETY_API_SAFEGUARD_STOP" "safety: a program on the controller asks for a stop",
    "IO_PLANE_STOP" "safety: a mode of software 5.26 and 10.13; see the pendant",
    "VALIDATE_JOINT_ID" "safety: a joint was exchanged; confirm it on the pendant",
    "UNDEFINED_SAFETY_MODE" "safety: the controller itself does not know",
    "VIOLATION" "safety: a limit was exceeded; see the pendant",
    "FAULT" "safety: the safety system itself has a fault; see the pendant",
    "FATAL_ERROR" "robot: see the pendant",
    "UNKNOWN" "not reported by the controller; with a number, a value that this version has no name for",
    "NO_CONTROLLER" "robot: the controller program does not run",
    "RUNNING" "robot: it has power, its brakes are open, it can move",
    "FREEDRIVE" "robot: it lets itself be moved by hand",
    "BACKDRIVE" "robot: its brakes are open, it can be pushed",
    "READY" "robot: it can be started",
    "INITIALIZING" "robot: its joints start",
    "NO_POWER" "robot: the arm has no power",
    "NOT_CONNECTED" "robot: the controller does not reach the arm",
    "SHUTDOWN" "robot: it goes off",
    "DISCONNECTED" "robot: the controller does not reach the arm",
    "CONFIRM_SAFETY" "robot: the safety settings are to be confirmed on the pendant",
    "BOOTING" "robot: it starts",
    "POWER_OFF" "robot: the arm has no power",
    "POWER_ON" "robot: the arm gets power",
    "IDLE" "robot: it has power, and its brakes are closed",
    "UPDATING_FIRMWARE" "robot: wait until it is done",
    "STOPPED" "program: none runs",
    "STOPPING" "program: it ends",
    "PLAYING" "program: one runs",
    "PAUSING" "program: it is being held",
    "PAUSED" "program: it is held, and can go on",
    "RESUMING" "program: it goes on",
    "KRC" "KUKA's controller, and the state of its interface in its own word",
    "MON" "KRC: commands are received and rated, not carried out",
    "CMD" "KRC: commands are carried out",
    "OFF" "KRC: the interface is closed",
    "silent" "KRC: it sends nothing",
    "quality" "how the KRC itself rates the link",
    "UNACCEPTABLE" "quality: commanding is not allowed",
    "BAD" "quality: commanding is allowed",
    "OK" "quality: commanding is allowed",
    "PERFECT" "quality: nothing to complain about",
    "scheme" "how the KRC takes commands",
    "POSITION" "scheme: by the angles of the joints",
    "CART_IMP" "scheme: the tool gives way like a spring",
    "JNT_IMP" "scheme: each joint gives way like a spring",
    "OTHER" "scheme: one that takes no commands from outside",
    "drives on" "the motors have power",
    "drives off" "the motors have no power",
    "drives error" "a motor or its amplifier reports an error",
    "drives unknown" "the KRC has not told whether the motors have power",
    "drives" "whether the motors have power",
    "missed" "cycles that the KRC had no answer in time",
    "latency" "how long answers take, by the KRC's own measurement",
    // Units.
    "kg" "kilograms",
    "Nm" "newton metres, a torque",
    "N" "newtons, a force: 10 N is the weight of a litre of water",
    "mm" "millimetres",
    "m" "metres",
    "ms" "thousandths of a second",
    "µs" "millionths of a second",
    "s" "seconds",
    "rad" "radians, an angle: 3.14 is half a turn",
    "°C" "degrees Celsius",
    "mA" "thousandths of an ampere",
    "V" "volts",
};

/// The terms found in the rows of a screen.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The terms found, without duplicates: first the reasons by their names, then the others in the order of the
    /// table.
    pub(super) terms: Vec<Term>,
    /// The words on the screen that belong to no term.
    #[cfg(test)]
    pub(super) unexplained: Vec<String>,
}

/// Finds the terms in `rows`. A word that is a part of a longer term is only counted if it also occurs alone.
pub(super) fn find(rows: &[String]) -> Found {
    let reasons = Reason::ALL.iter().map(|reason| Term { word: reason.name(), meaning: "" });
    let terms: Vec<_> = reasons.chain(TABLE.iter().copied()).collect();
    let mut texts = texts(rows);
    let mut longest_first: Vec<_> = (0..terms.len()).collect();
    longest_first.sort_by_key(|at| std::cmp::Reverse(terms[*at].word.len()));
    let mut found = vec![];
    for at in longest_first {
        let word = terms[at].word;
        for text in &mut texts {
            let places: Vec<_> = places(text, word).collect();
            if !places.is_empty() {
                found.push(at);
            }
            places.into_iter().rev().for_each(|place| text.replace_range(place..place + word.len(), "/"));
        }
    }
    found.sort_unstable();
    found.dedup();
    Found {
        terms: found.into_iter().map(|at| terms[at]).collect(),
        #[cfg(test)]
        unexplained: {
            let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphabetic() && c != '_'));
            let words: std::collections::BTreeSet<_> = words.filter(|word| !word.is_empty()).collect();
            words.into_iter().map(str::to_owned).collect()
        },
    }
}

/// Returns the text of each panel as one text, and the text around the panels as another. A phrase may continue in
/// the next row of its panel.
fn texts(rows: &[String]) -> Vec<String> {
    let mut texts = BTreeMap::<usize, String>::new();
    for row in rows {
        let mut column = 0;
        for cell in row.split('│') {
            let text = texts.entry(column).or_default();
            text.push(' ');
            text.push_str(cell.trim());
            column += cell.chars().count() + 1;
        }
    }
    texts.into_values().collect()
}

/// Returns the positions at which `word` occurs in `row` and is not part of a longer word.
fn places<'r>(row: &'r str, word: &'r str) -> impl Iterator<Item = usize> + 'r {
    let is_of_a_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    row.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (row[..*at].chars().next_back(), row[at + word.len()..].chars().next());
        !is_of_a_word(before) && !is_of_a_word(after)
    })
}

#[cfg(test)]
mod tests {
    use outrigger_core::link::{Grade, Metric};
    use outrigger_core::mode::Mode;
    use outrigger_wire::fri::{ControlScheme, FriState, Quality};
    use outrigger_wire::robot::{ProgramState, RobotMode, SafetyMode};

    use super::*;

    #[test]
    fn every_mode_grade_figure_and_word_of_a_controller_is_explained() {
        let mut words: Vec<&str> = vec![];
        words.extend(Mode::ALL.iter().map(|mode| mode.name()));
        words.extend(Grade::ALL.iter().map(|grade| grade.name()));
        words.extend(Metric::ALL.iter().map(|metric| metric.name()));
        words.extend(Reason::ALL.iter().map(|reason| reason.name()));
        words.extend(RobotMode::CB2.iter().chain(RobotMode::CB3).filter_map(|(mode, _)| mode.name()));
        words.extend(ProgramState::NAMED.iter().filter_map(|(state, _)| state.name()));
        words.extend(FriState::NAMED.iter().filter_map(|(state, _)| state.name()));
        words.extend(Quality::NAMED.iter().filter_map(|(quality, _)| quality.name()));
        words.extend(ControlScheme::NAMED.iter().filter_map(|(scheme, _)| scheme.name()));
        words.extend(SafetyMode::NAMED.iter().filter_map(|(mode, _)| mode.name()));
        let rows: Vec<_> = words.into_iter().map(str::to_owned).collect();
        assert_eq!(find(&rows).unexplained, [""; 0]);
    }

    #[test]
    fn a_word_counts_alone_and_no_term_is_there_twice() {
        assert_eq!(places("late later translate late", "late").collect::<Vec<_>>(), [0, 21]);
        let found = find(&["│ a strange word, 3 round │ late │".into(), "│ trip mm                 │ r    │".into()]);
        assert_eq!(found.unexplained, ["a", "r", "strange", "word"]);
        assert_eq!(found.terms.iter().map(|term| term.word).collect::<Vec<_>>(), ["round trip", "late", "mm"]);
        for (at, term) in TABLE.iter().enumerate() {
            assert!(!TABLE[..at].iter().any(|before| before.word == term.word), "{}", term.word);
            assert!(!term.meaning.is_empty(), "{}", term.word);
        }
    }
}
