//! What an answer says of something that is not done, in words.

use serde_json::Value;

use crate::exit::Failure;

/// The text of `key`, where there is one.
pub(crate) fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A reason, with what to do.
pub(crate) fn reason(of: &Value) -> String {
    format!("{} ({}); {}", text(of, "text"), text(of, "name"), text(of, "advice"))
}

/// What is wrong, and of which kind that is; `None` where it is done.
pub(crate) fn failure(answer: &Value) -> Option<Failure> {
    if answer.get("ok").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let word = text(answer, "do");
    let error = answer.get("error").unwrap_or(&Value::Null);
    let why = text(error, "text");
    Some(match text(error, "what") {
        "WrongEpoch" => Failure::Fault(format!(
            "{word} refused: {why} (WrongEpoch): it is {} now, and {} was seen; look at `status`, then ask again",
            text(error, "expected"),
            text(error, "found")
        )),
        "Refused" => {
            let reasons = answer.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let reasons: Vec<_> = reasons.iter().map(reason).collect();
            Failure::Fault(format!("{word} refused: {}", reasons.join("; ")))
        }
        "Busy" | "Guided" | "NoJointLaw" | "NotTaken" | "Elsewhere" | "NoMotion" => {
            Failure::Fault(format!("{word} refused: {why}"))
        }
        "Unfit" => Failure::BadInput(why.to_owned()),
        "NotSet" | "NoNews" | "Full" if word == "set" => Failure::Fault(match text(answer, "output") {
            "" => why.to_owned(),
            output => format!("{output}: {why}"),
        }),
        "Ending" => Failure::Fault(format!("{word} refused: {why}")),
        "NoPlace" => Failure::Connection(format!("the run takes no more: {why}")),
        _ => Failure::BadInput(format!("the run does not take it: {why}")),
    })
}
