//! The glossary: the ten words that a user must learn, and the meanings of the values, codes and keys on the screen. A
//! test fails if a page shows a word that is neither explained here nor plain English.

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
    /// Returns the meaning of the term; if it is the reason of a stop, also the advice for that reason.
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

/// The terms that every user of the full-screen view must learn, with their meanings. The help on every page contains
/// them, and no other text on a screen explains them.
pub(super) const LEARNED: &[Term] = terms! {
    "mode" "what this program does with the arm at present; only in Command does it move the arm",
    "link quality" "how well the robot's states arrive: Unacceptable, Bad, Ok or Perfect",
    "stop reason" "why commanding ended; after a fault the arm starts only after a reset",
    "start" "requests command of the arm, which this program then moves",
    "stop" "brings the arm to standstill; it stays there until the next start",
    "reset" "acknowledges a fault once you have removed its cause",
    "session" "a running `outrigger run`: one program connected to one robot",
    "path" "how commands reach the controller, chosen by `session.path`",
    "stopping distance" "how far the arm moves after a fault until it is at standstill",
    "tracking error" "how far a joint is from its commanded position",
};

/// The other terms that a screen may show, with their meanings: values, codes of the robot's controller, and keys. The
/// help on a page has those that the screen shows.
const TABLE: &[Term] = terms! {
    "TCP" "tool centre point: the tip of the tool, as set on the robot",
    "I/O" "inputs and outputs of the controller and the tool",
    "speed slider" "the slider on the pendant that scales every speed",
    "in effect" "the speed after the slider and the controller's limiter",
    // Keys.
    "q quit" "ends this command; a run stops its arm first",
    "c continue" "resumes a suspended motion",
    // Modes.
    "Offline" "mode: not connected to the robot",
    "Monitor" "mode: reads the robot's state and commands nothing",
    "Arming" "mode: holds the arm still until the robot is seen to take commands",
    "Command" "mode: moves the arm",
    "Stopping" "mode: brings the arm to standstill",
    "pendant stop undetected" "a stop at the pendant is not reported here, and the next command overrides it",
    "motion" "progress of the newest motion",
    "control error" "deviation from what the control law holds, such as a distance",
    "standoff error" "distance to the workpiece minus its setpoint; below 0 the tool is too near",
    "axis errors" "remaining deviation on each axis that a sensor controls",
    "worst joint" "the joint with the largest deviation",
    "time passes" "how many times slower than real time the demo runs, because this machine is busy",
    "recording" "how much of a recording of the board has arrived",
    "sensor" "the newest reading of the sensor",
    // Link.
    "needs" "the link quality that start requires",
    "Unacceptable" "link quality: commanding ends, and start is refused",
    "Bad" "link quality: start is refused",
    "Ok" "link quality: good enough to command",
    "Perfect" "link quality: every figure is within its best limit",
    "age" "age of the newest state of the robot",
    "jitter" "average deviation of the time between states from the period",
    "answered" "share of the last 100 states that the controller saw answered in time",
    "round trip" "time from a command to its echo in a state",
    "longest" "the longest time without a state, since the session or the controller's clock began",
    "longest gap" "the longest time without a state, since the session or the controller's clock began",
    "states" "messages with the robot's angles and modes, received so far",
    "skips" "cycles without an RTDE package since it was connected, by the controller's own count",
    "delays" "RTDE packages that arrived more than a period later than they were sent, since it was connected",
    "repeats" "RTDE packages for a cycle that had one already, since it was connected",
    "lost" "states that never arrived, in this epoch",
    "late" "states that arrived too late to be answered, in this epoch",
    "duplicate" "states that arrived twice, in this epoch",
    "reordered" "states that arrived after a later one, in this epoch",
    "epoch" "counts the restarts of the controller's clock, each of which begins the counts anew",
    "own stalls" "how often the process or board that rates the link was not scheduled in time",
    "impossible" "states that cannot be of this arm",
    "received" "share of the last 100 cycles whose state arrived",
    "samples" "cycles measured so far; link quality is rated over 100",
    "delay" "average delay of states",
    "misses" "consecutive cycles without a state",
    "unanswered" "consecutive answers that the controller did not see",
    "local_stall" "how late the process or board that rates the link was woken",
    "RTDE" "UR's real-time data exchange: states arrive from port 30004",
    "by 30003" "states arrive from UR's real-time port 30003, for this reason",
    // Values.
    "unknown" "not reported, which is not the same as 0",
    "variables" "numbers that a program on the controller shares",
    "identity" "model and software of the controller",
    "controller's clock" "seconds by the clock of the controller",
    "setpoint" "the angle that the controller commands",
    "target" "the speed that the controller commands",
    "payload" "mass that the controller assumes at the flange, tool included",
    "flange" "the face at the end of the arm that the tool is mounted on",
    "last" "the plot covers these seconds, newest at the right, scaled from lowest to highest; a point is unknown",
    "rx" "rotation vector: its direction is the axis of rotation, its length the angle",
    "ry" "rotation vector, second number",
    "rz" "rotation vector, third number",
    "configurable" "terminals of the control box that may have a function set on the robot",
    "supply" "voltage at the tool's connector, and the current drawn there",
    "A1" "first joint of a KUKA arm; A2 to A6 and E1 are the others",
    "A2" "second joint",
    "E1" "third joint, which arms with six joints lack",
    "A3" "fourth joint",
    "A4" "fifth joint",
    "A5" "sixth joint",
    "A6" "seventh joint, at the tool",
    // The controller's own words.
    "robot" "mode of the robot, as its controller reports it",
    "safety" "mode of the robot's safety system, as it reports it",
    "NORMAL" "safety: normal operation",
    "REDUCED" "safety: the safety system's reduced limits apply",
    "PROTECTIVE_STOP" "safety: the robot stopped by itself, after a collision or at a limit; find the cause, then unlock it on the pendant",
    "RECOVERY" "safety: outside its limits; move it back by hand on the pendant",
    "SAFEGUARD_STOP" "safety: a door or a light curtain stopped it",
    "SYSTEM_EMERGENCY_STOP" "safety: an emergency stop is pressed",
    "ROBOT_EMERGENCY_STOP" "safety: an emergency stop is pressed",
    "EMERGENCY_STOPPED" "robot: an emergency stop is pressed",
    "SECURITY_STOPPED" "robot: its safety system stopped it",
    "AUTOMATIC_MODE_SAFEGUARD_STOP" "safety: a door or a light curtain stopped it, in automatic mode",
    "SYSTEM_THREE_POSITION_ENABLING_STOP" "safety: an enabling switch is not in its middle position",
    "TP_THREE_POSITION_ENABLING_STOP" "safety: the pendant's enabling switch is not in its middle position",
    "IMMI_EMERGENCY_STOP" "safety: the injection moulding machine requests an emergency stop",
    "IMMI_SAFEGUARD_STOP" "safety: the injection moulding machine requests a stop",
    "PROFISAFE_WAITING_FOR_PARAMETERS" "safety: the plant's controller has not set its parameters yet",
    "PROFISAFE_AUTOMATIC_MODE_SAFEGUARD_STOP" "safety: the plant's controller requests a stop, in automatic mode",
    "PROFISAFE_SAFEGUARD_STOP" "safety: the plant's controller requests a stop",
    "PROFISAFE_EMERGENCY_STOP" "safety: the plant's controller requests an emergency stop",
    "SAFETY_API_SAFEGUARD_STOP" "safety: a program on the controller requests a stop",
    "IO_PLANE_STOP" "safety: a mode of software 5.26 and 10.13; see the pendant",
    "VALIDATE_JOINT_ID" "safety: a joint was replaced; confirm it on the pendant",
    "UNDEFINED_SAFETY_MODE" "safety: the controller reports none",
    "VIOLATION" "safety: a limit was exceeded; see the pendant",
    "FAULT" "safety: the safety system has a fault; see the pendant",
    "FATAL_ERROR" "robot: see the pendant",
    "UNKNOWN" "not reported; with a number, a value that this version does not know",
    "NO_CONTROLLER" "robot: the controller program does not run",
    "RUNNING" "robot: powered, brakes released, able to move",
    "FREEDRIVE" "robot: can be moved by hand",
    "BACKDRIVE" "robot: brakes released, can be pushed",
    "READY" "robot: ready to be started",
    "INITIALIZING" "robot: its joints are starting",
    "NO_POWER" "robot: the arm has no power",
    "NOT_CONNECTED" "robot: the controller does not reach the arm",
    "SHUTDOWN" "robot: shutting down",
    "DISCONNECTED" "robot: the controller does not reach the arm",
    "CONFIRM_SAFETY" "robot: the safety settings are to be confirmed on the pendant",
    "BOOTING" "robot: starting",
    "POWER_OFF" "robot: the arm has no power",
    "POWER_ON" "robot: the arm is being powered",
    "IDLE" "robot: powered, brakes engaged",
    "UPDATING_FIRMWARE" "robot: wait until it is done",
    "STOPPED" "program: none runs",
    "STOPPING" "program: it is ending",
    "PLAYING" "program: one runs",
    "PAUSING" "program: it is being paused",
    "PAUSED" "program: paused, and can resume",
    "RESUMING" "program: it is resuming",
    "KRC" "KUKA's controller, and the state of its interface",
    "MON" "KRC: commands are received and rated, not executed",
    "CMD" "KRC: commands are executed",
    "OFF" "KRC: the interface is closed",
    "silent" "KRC: no messages arrive",
    "quality" "the KRC's own rating of the link",
    "UNACCEPTABLE" "quality: commanding is not allowed",
    "BAD" "quality: commanding is allowed",
    "OK" "quality: commanding is allowed",
    "PERFECT" "quality: commanding is allowed",
    "scheme" "the KRC's control scheme",
    "POSITION" "scheme: joint positions",
    "CART_IMP" "scheme: the tool yields like a spring",
    "JNT_IMP" "scheme: each joint yields like a spring",
    "OTHER" "scheme: accepts no commands from outside",
    "drives on" "the motors have power",
    "drives off" "the motors have no power",
    "drives error" "a motor or its amplifier reports an error",
    "drives unknown" "the KRC has not reported whether the motors have power",
    "drives" "whether the motors have power",
    "missed" "cycles without an answer in time at the KRC",
    "latency" "delay of answers, measured by the KRC",
    "N" "newtons, a force",
    "Nm" "newton metres, a torque",
};

/// The words on the screen that are plain English, names of keys or units, and need no explanation.
#[cfg(test)]
const PLAIN: &str = "\
    C Hz Not Ready V a all analog and angle at base between by centre command controller demo digital elbow events \
    fault finished force frame from gravity help identified in inputs joint joints kg link log m mA main mm \
    monitor more motor motors ms next no not number of on other out outputs page pages per pose program r rad ready \
    record run running s scale second shoulder slider software speed tab temperature the time to tool value watch \
    wrist x y yet z µs";

/// The terms of the glossary that were found in the rows of a screen.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The terms found, without duplicates: first the reasons by their names, then the others in the order of the
    /// tables.
    pub(super) terms: Vec<Term>,
    /// The words on the screen that neither belong to a term of the glossary nor are plain English, for a test.
    #[cfg(test)]
    pub(super) unexplained: Vec<String>,
}

/// Finds the terms of the glossary in the `rows` of a screen. A word that is a part of a longer term is only counted if
/// it also occurs alone.
pub(super) fn find(rows: &[String]) -> Found {
    let reasons = Reason::ALL.iter().map(|reason| Term { word: reason.name(), meaning: "" });
    let terms: Vec<_> = reasons.chain(LEARNED.iter().chain(TABLE).copied()).collect();
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
            let is_plain = |word: &str| PLAIN.split_whitespace().any(|plain| plain == word);
            let words = words.filter(|word| !word.is_empty() && !is_plain(word));
            let words: std::collections::BTreeSet<_> = words.collect();
            words.into_iter().map(str::to_owned).collect()
        },
    }
}

/// Returns the text of each panel of the screen as one text, and the text around the panels as another. So a phrase is
/// found even if it continues in the next row of its panel.
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
        assert_eq!(found.unexplained, ["strange", "word"]);
        assert_eq!(found.terms.iter().map(|term| term.word).collect::<Vec<_>>(), ["round trip", "late"]);
        let terms: Vec<_> = LEARNED.iter().chain(TABLE).collect();
        for (at, term) in terms.iter().enumerate() {
            assert!(!terms[..at].iter().any(|before| before.word == term.word), "{}", term.word);
            assert!(!term.meaning.is_empty(), "{}", term.word);
            assert!(PLAIN.split_whitespace().all(|plain| plain != term.word), "{}", term.word);
        }
    }

    #[test]
    fn a_user_must_learn_at_most_ten_words() {
        assert!(LEARNED.len() <= 10, "{}", LEARNED.len());
    }
}
