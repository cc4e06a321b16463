//! Formats as text the JSON answers that a run (a process of `outrigger run`) gives to the requests of `outrigger ctl`.

use serde_json::Value;

use outrigger::requests::failure_text::{reason, text};

/// Formats the JSON answer of a run or a board to a request as text for people, with a line end.
pub(super) fn of(answer: &Value) -> String {
    let mode = text(answer, "mode");
    let epoch = answer.get("epoch").and_then(Value::as_u64).unwrap_or_default();
    match text(answer, "do") {
        "status" | "watch" => status(answer, mode, epoch),
        "dashboard" => format!("{}\nthis does not start commanding: `start` does\n", text(answer, "text")),
        "set" => format!("{}: {}\n", text(answer, "output"), text(answer, "text")),
        "sample" => format!("accepted, in {mode} at epoch {epoch}\n"),
        "release" if matches!(mode, "monitor" | "offline") => format!("stopped: the arm is not commanded, {mode}\n"),
        "acknowledge" => format!("reset: {mode} at epoch {epoch}\n"),
        "hand-back" => "handed back: our program on the controller ends, and the pendant's continues\n".into(),
        "resend" => "our program is sent to the controller again\n".into(),
        "freedrive" => "freedrive is active while this command renews it\n".into(),
        "force" => "force mode is active while this command renews it\n".into(),
        "stiffen" => "freedrive or force mode ended: the arm stops, and stays commanded\n".into(),
        "move" if motion_state(answer) == "done" => {
            format!("motion {}: the arm is already there, no command is sent\n", motion_number(answer))
        }
        "move" => format!("motion {} is active: it ends with this process, or by Ctrl-C\n", motion_number(answer)),
        "cancel" => "cancelled: the arm stops, and stays commanded\n".into(),
        "withdraw" => "withdrawn\n".into(),
        "renew" => "renewed\n".into(),
        "tool-contact" => "accepted: it applies to motions that the controller executes by itself\n".into(),
        "release" => format!("stop requested, mode {mode}\n"),
        word => format!("{word} granted: {mode} at epoch {epoch}\n"),
    }
}

/// Returns a line that names the process that sent `answer`: its number, if the kernel reports it, and its user. `None`
/// for answers to requests other than for the status, a start, a resumption or a stop.
pub(super) fn answered_by(answer: &Value, (process, user): (Option<i32>, u32)) -> Option<String> {
    let names = matches!(text(answer, "do"), "status" | "request" | "resume" | "release");
    let process = process.map_or_else(|| "a process".to_owned(), |number| format!("process {number}"));
    names.then(|| format!("answered by {process} of user {user}\n"))
}

fn motion_state(answer: &Value) -> &str {
    answer.get("motion").map_or("", |motion| text(motion, "state"))
}

fn motion_number(answer: &Value) -> u64 {
    answer.get("motion").and_then(|motion| motion.get("number")).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the reason why commanding ended, from the status in `answer`; `None` while commanding continues, or if no
/// reason is known.
pub(super) fn end_of_commanding(answer: &Value) -> Option<String> {
    if text(answer, "mode") == "command" { None } else { reason_of_end(answer) }
}

fn reason_of_end(answer: &Value) -> Option<String> {
    if let Some(latch) = answer.get("latch").filter(|latch| latch.is_object()) {
        return Some(reason(latch));
    }
    let left = answer.get("left").filter(|left| left.is_object())?;
    Some(format!("{} ({})", text(left, "text"), text(left, "name")))
}

/// Returns the result of the motion in the status `answer`, as success or failure; `None` while the motion waits or
/// runs, or if the status has no motion.
pub(super) fn end_of_motion(answer: &Value, robot: &str) -> Option<Result<String, String>> {
    let motion = answer.get("motion")?;
    let percent = motion.get("percent").and_then(Value::as_u64).unwrap_or_default();
    let why = || reason_of_end(answer).unwrap_or_else(|| "the arm was stopped".to_owned());
    Some(match text(motion, "state") {
        "waiting" | "running" => return None,
        "done" => Ok("done: the arm is at the motion's end, and stays commanded\n".into()),
        "cancelled" => Err(format!("the motion was cancelled at {percent} %; the arm is at standstill")),
        "suspended" => Err(format!(
            "{}; the motion is suspended at {percent} %: `outrigger ctl {robot} resume` continues it from there, \
             once no fault is latched and every precondition is met",
            why()
        )),
        "touched" => Err(format!(
            "tool contact ended the motion at {percent} %; the arm is at standstill, and stays \
                         commanded"
        )),
        "missed" => Err(format!(
            "{}; the motion ended at {percent} %; the arm is at standstill, and stays commanded",
            motion.get("reason").map_or_else(String::new, reason)
        )),
        "refused" => {
            Err(format!("the motion did not start: {}", motion.get("reason").map_or_else(String::new, reason)))
        }
        _ => Err(format!("{}; the motion ended at {percent} %, and will not continue", why())),
    })
}

fn status(answer: &Value, mode: &str, epoch: u64) -> String {
    let mut said =
        format!("{mode} at epoch {epoch}, link quality {}, robot {}\n", text(answer, "grade"), text(answer, "robot"));
    if let Some(latch) = answer.get("latch").filter(|latch| latch.is_object()) {
        said.push_str(&format!("latched: {}\n", reason(latch)));
    } else if let Some(left) = answer.get("left").filter(|left| left.is_object() && mode != "command") {
        said.push_str(&format!("commanding ended: {} ({})\n", text(left, "text"), text(left, "name")));
    }
    for unmet in answer.get("unmet").and_then(Value::as_array).into_iter().flatten() {
        said.push_str(&format!("Not ready: {}\n", reason(unmet)));
    }
    if let Some(motion) = answer.get("motion").filter(|motion| motion.is_object()) {
        let percent = motion.get("percent").and_then(Value::as_u64).unwrap_or_default();
        let seconds = motion.get("seconds").and_then(Value::as_f64).unwrap_or_default();
        let of = if seconds > 0.0 { format!(", {percent} % of {seconds:.1} s") } else { String::new() };
        said.push_str(&format!("motion {}: {}{of}\n", motion_number(answer), text(motion, "state")));
    }
    if answer.get("overrides_pendant").and_then(Value::as_bool) == Some(true) {
        said.push_str("a stop at the pendant would be overridden by the next command\n");
    }
    if let Some(held) = answer.get("held_by").filter(|held| held.is_object()) {
        said.push_str(&format!("{}\n", text(held, "text")));
    }
    if answer.get("ending").and_then(Value::as_bool) == Some(true) {
        said.push_str("the run is about to end\n");
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Value {
        serde_json::from_str(line).expect("JSON")
    }

    #[test]
    fn the_end_of_commanding_has_the_reason_of_the_status() {
        let status = |mode: &str, rest: &str| {
            let line = format!(r#"{{"mode":"{mode}","latch":null,"left":null{rest}}}"#);
            end_of_commanding(&serde_json::from_str(&line).expect("JSON"))
        };
        let paused = r#","left":{"name":"ProgramPaused","text":"the program was paused","advice":"a"}"#;
        assert_eq!(status("stopping", paused).as_deref(), Some("the program was paused (ProgramPaused)"));
        assert_eq!(status("command", paused), None);
        assert_eq!(status("monitor", ""), None);
        let latched = r#","latch":{"name":"GuideLimit","text":"too fast","advice":"slower"}"#;
        assert!(status("monitor", latched).is_some_and(|why| why.contains("GuideLimit") && why.contains("slower")));
    }

    #[test]
    fn answers_are_told_with_what_to_do() {
        let status = parsed(
            r#"{"id":1,"ok":true,"epoch":3,"mode":"monitor","do":"status","robot":"10.0.0.2","grade":"ok",
            "latch":{"name":"StateStale","text":"too old","advice":"look"},"unmet":[{"name":"Latched","text":"b","advice":"c"}],
            "ending":false}"#,
        );
        assert_eq!(
            of(&status),
            "monitor at epoch 3, link quality ok, robot 10.0.0.2\nlatched: too old (StateStale); look\nNot ready: b \
             (Latched); c\n"
        );
        let released = parsed(
            r#"{"id":1,"ok":true,"epoch":4,"mode":"monitor","do":"status","robot":"10.0.0.2","grade":"ok","latch":null,"unmet":[],
            "left":{"name":"Released","text":"Ctrl-C","advice":"a","by":"SIGINT"},"ending":true}"#,
        );
        let ending = "monitor at epoch 4, link quality ok, robot 10.0.0.2\ncommanding ended: Ctrl-C (Released)\nthe \
                      run is about to end\n";
        assert_eq!(of(&released), ending);
        let paused = parsed(
            r#"{"id":1,"ok":true,"epoch":4,"mode":"command","do":"status","robot":"10.0.0.2","grade":"ok","latch":null,"unmet":[],
            "ending":false,"overrides_pendant":true,"held_by":{"name":"ProgramPaused","text":"paused"},"motion":{"number":2,"state":"running"}}"#,
        );
        assert_eq!(
            of(&paused),
            "command at epoch 4, link quality ok, robot 10.0.0.2\nmotion 2: running\na stop at the pendant would be \
             overridden by the next command\npaused\n"
        );
        let done = parsed(r#"{"id":1,"ok":true,"epoch":3,"mode":"arming","do":"request"}"#);
        assert_eq!(of(&done), "request granted: arming at epoch 3\n");
        let moved =
            |state| parsed(&format!(r#"{{"do":"move","mode":"command","motion":{{"number":7,"state":"{state}"}}}}"#));
        assert!(of(&moved("waiting")).starts_with("motion 7 is active"));
        assert_eq!(of(&moved("done")), "motion 7: the arm is already there, no command is sent\n");
    }

    #[test]
    fn the_end_of_a_motion_is_told_by_what_ended_it() {
        let end = |state: &str, rest: &str| {
            let answer = format!(r#"{{"motion":{{"number":1,"state":"{state}","percent":42,"seconds":4.0{rest}}}"#);
            let answer = if rest.contains("left") { answer } else { format!("{answer}}}") };
            end_of_motion(&parsed(&answer), "10.0.0.2").expect("it has ended")
        };
        assert!(end("done", "").is_ok_and(|said| said.starts_with("done: the arm is at the motion's end")));
        let touched = end("touched", "").expect_err("short of its end");
        assert!(touched.starts_with("tool contact ended the motion at 42 %"), "{touched}");
        let reason = r#","reason":{"name":"GoalTolerance","text":"t","advice":"a"}"#;
        let missed = end("missed", reason).expect_err("short of its goal");
        assert_eq!(
            missed,
            "t (GoalTolerance); a; the motion ended at 42 %; the arm is at standstill, and stays commanded"
        );
        let left = r#"},"left":{"name":"Released","text":"released by another process","advice":"a","by":"request"}"#;
        let stopped = end("stopped", left).expect_err("released");
        assert_eq!(
            stopped,
            "released by another process (Released); the motion ended at 42 %, and will not \
                             continue"
        );
    }
}
