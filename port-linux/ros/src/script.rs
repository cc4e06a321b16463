//! URScript programs that clients send (`core/docs/protocol/ros2-surface.md` 1 and 3): the text to upload, and the
//! course of a program up to its result.
//!
//! Permission to upload is granted elsewhere, and the controller's reaction is evaluated by
//! [`outrigger_core::client::script`].

use outrigger_core::client::script::ScriptFile;

use crate::driver_services::{Refused, wrong};
use outrigger_ros2_messages::endpoint::{Subscription, Task};
use outrigger_ros2_messages::{Action, Message, SendScript, SendScriptGoal, SendScriptResult, Status, Text};

/// The topic on which clients send the text of a URScript program. They receive no result.
pub static COMMAND: Subscription = Subscription {
    name: "urscript_interface/script_command",
    message: <Text as Message>::TYPE,
    does: "sends it to the controller unchanged; not while commanding or while a script of execute_script runs; its result \
           is in the log",
};

/// The topic of URScript programs under its name in `ur_modern_driver`, the driver of 2015.
pub static LEGACY_COMMAND: Subscription = Subscription {
    name: "ur_driver/URScript",
    message: <Text as Message>::TYPE,
    does: "as urscript_interface/script_command",
};

/// The action that runs a URScript program and reports its end.
pub static EXECUTE: Task = Task {
    name: "urscript_interface/execute_script",
    action: <SendScript as Action>::TYPE,
    does: "runs a program until it ends; wrapped in a def script_name if it has none; one at a time, not while commanding; cancel \
           replaces it by a stopj",
};

/// The longest text of a URScript program that is accepted \[bytes\].
pub const LONGEST: usize = 1 << 20;
/// The longest name of a URScript program that the controller reports without truncation \[bytes\].
const LONGEST_NAME: usize = 31;
/// The name given to a URScript program for which the client gives none.
const UNNAMED: &str = "script_from_ros";
/// The longest permitted wait for the start of a URScript program \[s\].
const LONGEST_WAIT: f64 = 3600.0;

/// The URScript program that is uploaded to stop another one: it replaces that one and brings the arm to rest.
pub const STOP: &str = "def outrigger_cancel():\n  stopj(2.0)\nend\n";

/// A URScript program to upload to the controller, with the options of its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The text of the URScript program to upload.
    pub text: String,
    /// The longest wait for the start of the program \[s\]; `None` for the default.
    pub start_within: Option<f64>,
    /// `true` if an error that the controller reports during the program is a failure.
    pub fails_on_reports: bool,
}

/// Returns the URScript program in a message on the topic for programs, unchanged.
///
/// # Errors
/// [`Refused`] if the text contains nothing that a controller would run, or is too long.
pub fn command(text: &Text) -> Result<&str, Refused> {
    check(&text.data).map(|()| text.data.as_str())
}

fn check(text: &str) -> Result<(), Refused> {
    if text.len() > LONGEST {
        return wrong("program", "at most 1 MiB of text", format!("{} bytes", text.len()));
    }
    // A controller would not read the text after a zero byte.
    if text.contains('\0') {
        return wrong("program", "text", "a byte 0");
    }
    match ScriptFile::new(text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(error) => wrong("program", "a program in URScript", error),
    }
}

/// Reads a goal of the action that runs a URScript program. A text that begins with `def` or `sec` is a complete
/// program; any other text becomes the body of one.
///
/// # Errors
/// [`Refused`] with the fault of the goal.
pub fn program(goal: &SendScriptGoal) -> Result<Program, Refused> {
    let SendScriptGoal { program, script_name, start_timeout, fail_on_warnings } = goal;
    check(program)?;
    let start_within = match start_timeout.seconds() {
        // UR's driver also treats a timeout of zero or less as unset.
        seconds if seconds <= 0.0 => None,
        seconds if seconds <= LONGEST_WAIT => Some(seconds),
        seconds => return wrong("start_timeout", "at most 3600 s", seconds),
    };
    let first = program.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let is_whole = first.is_some_and(|line| line.starts_with("def ") || line.starts_with("sec "));
    let text = if is_whole {
        program.clone()
    } else {
        let name = if script_name.is_empty() { UNNAMED } else { script_name };
        if !is_name(name) {
            let expected = "up to 31 letters, digits and '_', no digit first";
            return wrong("script_name", expected, format!("'{name}'"));
        }
        let inside = program.lines().map(|line| format!("  {line}\n")).collect::<String>();
        format!("def {name}():\n{inside}end\n")
    };
    Ok(Program { text, start_within, fails_on_reports: *fail_on_warnings })
}

fn is_name(name: &str) -> bool {
    let word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word && (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// An event in the course of a URScript program from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEvent {
    /// The control loop granted (`true`) or refused the requested permission to upload.
    Leave(bool),
    /// The controller has started the program.
    Started,
    /// A client cancels the program.
    Cancel,
    /// The program on the controller has ended, for any reason.
    Ended,
}

/// The action that an event in the course of a URScript program requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramAction {
    /// The event requires no action.
    Nothing,
    /// The program is to be uploaded to the controller.
    Send,
    /// The program is to be rejected, and the rejection reported.
    Reject,
    /// The control loop's permission to upload [`STOP`] is to be requested.
    AskToStop,
    /// The program [`STOP`], which brings the arm to rest, is to be uploaded.
    Stop,
    /// The end of the program is to be reported to the client.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ScriptStage {
    /// The control loop's permission to upload the client's program has been requested.
    Asks,
    Sent,
    Runs,
    /// The control loop's permission to upload [`STOP`], which stops the client's program, has been requested.
    AsksToStop,
    Stops,
    Over,
}

/// The course of one URScript program, from the request for permission to upload it to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Course {
    stage: ScriptStage,
    cancelled: bool,
}

impl Default for Course {
    fn default() -> Self {
        Self { stage: ScriptStage::Asks, cancelled: false }
    }
}

impl Course {
    /// Records an event in the course of the program and returns the action that it requires.
    #[must_use]
    pub const fn on(&mut self, happens: ProgramEvent) -> ProgramAction {
        let (stage, does) = match (self.stage, happens) {
            (ScriptStage::Asks, ProgramEvent::Leave(true)) => (ScriptStage::Sent, ProgramAction::Send),
            (ScriptStage::Asks, ProgramEvent::Leave(false)) => (ScriptStage::Over, ProgramAction::Reject),
            // The program is not yet, or no longer, in the course of execution.
            (ScriptStage::Asks | ScriptStage::Over, _) => return ProgramAction::Nothing,
            (_, ProgramEvent::Ended) => (ScriptStage::Over, ProgramAction::End),
            (ScriptStage::Sent, ProgramEvent::Started) if self.cancelled => {
                (ScriptStage::AsksToStop, ProgramAction::AskToStop)
            }
            (ScriptStage::Sent, ProgramEvent::Started) => (ScriptStage::Runs, ProgramAction::Nothing),
            (ScriptStage::Runs, ProgramEvent::Cancel) => (ScriptStage::AsksToStop, ProgramAction::AskToStop),
            (ScriptStage::AsksToStop, ProgramEvent::Leave(true)) => (ScriptStage::Stops, ProgramAction::Stop),
            // The client may cancel again.
            (ScriptStage::AsksToStop, ProgramEvent::Leave(false)) => (ScriptStage::Runs, ProgramAction::Nothing),
            (stage, _) => (stage, ProgramAction::Nothing),
        };
        self.cancelled |= matches!(happens, ProgramEvent::Cancel);
        self.stage = stage;
        does
    }

    /// Returns the status and the result of a program from the outcome of its upload.
    #[must_use]
    pub fn end(&self, ended: Result<String, String>) -> (Status, SendScriptResult) {
        let result = |success, message: String| SendScriptResult { success, message };
        match ended {
            Ok(text) | Err(text) if self.cancelled => (Status::Canceled, result(false, format!("cancelled: {text}"))),
            Ok(text) => (Status::Succeeded, result(true, text)),
            Err(text) => (Status::Aborted, result(false, text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::Span;

    fn goal(program: &str) -> SendScriptGoal {
        SendScriptGoal { program: program.into(), fail_on_warnings: true, ..SendScriptGoal::default() }
    }

    fn refused(goal: &SendScriptGoal, why: &str) {
        let error = program(goal).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn a_program_is_sent_as_it_is_and_anything_else_inside_of_one() {
        let whole = "# weld\ndef weld():\n  textmsg(\"seam\")\nend\n";
        let sent = program(&goal(whole)).expect("a program");
        assert_eq!((sent.text.as_str(), sent.start_within, sent.fails_on_reports), (whole, None, true));
        for text in ["popup(\"hello\")", "# say\npopup(\"hello\")\n"] {
            let sent = program(&SendScriptGoal { script_name: "greet".into(), ..goal(text) }).expect("a program").text;
            assert!(
                sent.starts_with("def greet():\n  ") && sent.ends_with("\n  popup(\"hello\")\nend\n")
                    || sent == "def greet():\n  popup(\"hello\")\nend\n",
                "{sent}"
            );
            let file = ScriptFile::new(sent.as_bytes()).expect("a file");
            assert_eq!(file.name(), Some("greet"));
            file.warnings(|warning| panic!("{warning:?} in {sent}"));
        }
        assert!(program(&goal("sleep(1)")).expect("a program").text.starts_with("def script_from_ros():\n"));
        // The text `define_it` is a call, not a `def`.
        assert!(program(&goal("define_it()")).expect("a program").text.contains("\n  define_it()\n"));
        assert_eq!(ScriptFile::new(STOP.as_bytes()).expect("a file").name(), Some("outrigger_cancel"));
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        refused(&goal(""), "program");
        refused(&goal(" \n# nothing\n"), "it has no statement");
        refused(&goal("a\0b"), "a byte 0");
        refused(&goal(&"x".repeat(LONGEST + 1)), "1048577 bytes");
        for name in ["1a", "a b", "a():\n  halt\nend\ndef b", "this_is_longer_than_a_controller_tells"] {
            refused(&SendScriptGoal { script_name: name.into(), ..goal("halt") }, "script_name");
        }
        let wait = |sec| SendScriptGoal { start_timeout: Span { sec, nanosec: 0 }, ..goal("halt") };
        refused(&wait(3601), "start_timeout");
        assert_eq!(program(&wait(-5)).expect("none").start_within, None);
        assert_eq!(program(&wait(5)).expect("some").start_within, Some(5.0));
        assert!(command(&Text { data: "# nothing".into() }).is_err());
        assert_eq!(command(&Text { data: "popup(\"a\")".into() }), Ok("popup(\"a\")"));
    }

    /// Explores every order of events: a program is uploaded once, with permission; the stop is uploaded only with a
    /// permission of its own, after the program ran and a client cancelled it; the end is reported once, and nothing
    /// happens after it.
    #[test]
    fn nothing_is_sent_without_leave_and_the_end_is_told_once() {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        struct Seen {
            course: Course,
            owed: bool,
            sent: bool,
            ran: bool,
            cancelled: bool,
            stopped: bool,
            over: bool,
        }
        let first = Seen { owed: true, ..Seen::default() };
        let (mut known, mut next) = (std::collections::HashSet::from([first]), vec![first]);
        let mut done = vec![];
        while let Some(seen) = next.pop() {
            for happens in [
                ProgramEvent::Leave(true),
                ProgramEvent::Leave(false),
                ProgramEvent::Started,
                ProgramEvent::Cancel,
                ProgramEvent::Ended,
            ] {
                let mut seen = seen;
                if matches!(happens, ProgramEvent::Leave(_)) && !std::mem::take(&mut seen.owed) {
                    continue;
                }
                seen.cancelled |= happens == ProgramEvent::Cancel && seen.sent && !seen.over;
                seen.ran |= happens == ProgramEvent::Started && seen.sent;
                let does = seen.course.on(happens);
                done.push(does);
                assert!(!seen.over || does == ProgramAction::Nothing, "{does:?} after its end");
                let granted = happens == ProgramEvent::Leave(true);
                match does {
                    ProgramAction::Nothing => {}
                    ProgramAction::Send => {
                        assert!(granted && !seen.sent);
                        seen.sent = true;
                    }
                    ProgramAction::Reject => {
                        assert!(happens == ProgramEvent::Leave(false) && !seen.sent);
                        seen.over = true;
                    }
                    ProgramAction::AskToStop => {
                        assert!(seen.cancelled && seen.ran && !seen.owed && !seen.stopped);
                        seen.owed = true;
                    }
                    ProgramAction::Stop => {
                        assert!(granted && seen.sent && seen.cancelled && !seen.stopped);
                        seen.stopped = true;
                    }
                    ProgramAction::End => {
                        assert!(happens == ProgramEvent::Ended && seen.sent);
                        let (status, result) = seen.course.end(Ok("it ended".into()));
                        assert_eq!(status == Status::Canceled, seen.cancelled);
                        assert_eq!(result.success, status == Status::Succeeded);
                        let (status, result) = seen.course.end(Err("an error".into()));
                        assert!(!result.success && result.message.ends_with("an error"));
                        assert_eq!(status, if seen.cancelled { Status::Canceled } else { Status::Aborted });
                        seen.over = true;
                    }
                }
                if known.insert(seen) {
                    next.push(seen);
                }
            }
        }
        for does in [
            ProgramAction::Nothing,
            ProgramAction::Send,
            ProgramAction::Reject,
            ProgramAction::AskToStop,
            ProgramAction::Stop,
            ProgramAction::End,
        ] {
            assert!(done.contains(&does), "{does:?} never happens");
        }
    }
}
