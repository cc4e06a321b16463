//! Describes for people why a request was not carried out, from its answer.

use outrigger_core::robot::Reason;
use serde_json::Value;

use crate::exit::Failure;
use crate::show::reason_text::{causes_first, command_name, one_per_line};

/// Returns the text of the member `key` of a JSON object. Empty if there is none.
pub fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Formats a reason in a run's JSON answer to a request as text for people, with advice.
pub fn reason(of: &Value) -> String {
    format!("{} ({}); {}", text(of, "text"), text(of, "name"), text(of, "advice"))
}

/// Orders the reasons in a run's JSON answer by cause: those from which others follow are first. In the answer itself
/// the decisive reason is first.
fn by_cause(reasons: &[Value]) -> Vec<&Value> {
    let is = |of: &Value, reason: Reason| text(of, "name") == reason.name();
    let known = Reason::ALL.iter().copied().filter(|known| reasons.iter().any(|of| is(of, *known)));
    let order = causes_first(known.collect());
    let mut reasons: Vec<_> = reasons.iter().collect();
    // An unknown name is last.
    reasons.sort_by_key(|of| order.iter().position(|known| is(of, *known)).unwrap_or(order.len()));
    reasons
}

/// Returns the error in a run's answer to a request, with its kind. `None` if the request was carried out.
pub fn failure(answer: &Value) -> Option<Failure> {
    if answer.get("ok").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let word = command_name(text(answer, "do"));
    let error = answer.get("error").unwrap_or(&Value::Null);
    let why = text(error, "text");
    Some(match text(error, "what") {
        "WrongEpoch" => Failure::Fault(format!(
            "{word} refused: {why} (WrongEpoch): it is {} now, and the request was for {}; check `status`, then try \
             again",
            text(error, "expected"),
            text(error, "found")
        )),
        "Refused" => {
            let reasons = answer.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let reasons: Vec<_> = by_cause(reasons).into_iter().map(reason).collect();
            Failure::Fault(format!("{word} refused:{}", one_per_line(&reasons)))
        }
        "Busy" | "Guided" | "NoJointLaw" | "NotTaken" | "Elsewhere" | "NoMotion" => {
            Failure::Fault(format!("{word} refused: {why}"))
        }
        "NotFresh" => Failure::Fault(format!("{word} refused: {why} (NotFresh)")),
        "Withdrawn" => Failure::Fault(format!("{word}: {why}")),
        "Unfit" => Failure::BadInput(why.to_owned()),
        _ if word == "dashboard" && text(error, "what") != "BadValue" => {
            Failure::Fault(format!("{word} refused: {why}"))
        }
        "NotSet" | "NoNews" | "Full" if word == "set" => Failure::Fault(match text(answer, "output") {
            "" => why.to_owned(),
            output => format!("{output}: {why}"),
        }),
        "Ending" => Failure::Fault(format!("{word} refused: {why}")),
        "NoPlace" => Failure::Connection(format!("the run has closed the connection: {why}")),
        _ => Failure::BadInput(format!("the run rejects it: {why}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_fault_and_a_line_that_is_not_understood_bad_input() {
        let of = |line| {
            failure(&serde_json::from_str(line).expect("JSON")).map(|failure| (failure.code(), failure.to_string()))
        };
        assert_eq!(of(r#"{"id":1,"ok":true,"epoch":3,"mode":"arming","do":"request"}"#), None);
        let epoch = r#"{"ok":false,"epoch":4,"do":"request","error":{"what":"WrongEpoch","text":"t","expected":"4","found":"3"}}"#;
        let (code, said) = of(epoch).expect("a failure");
        assert!(code == 4 && said.contains("it is 4 now, and the request was for 3"), "{said}");
        let refused = r#"{"ok":false,"do":"request","error":{"what":"Refused","text":"t"},"reasons":[{"name":"N","text":"t","advice":"a"}]}"#;
        assert_eq!(of(refused), Some((4, "start refused: t (N); a".into())));
        let away = r#"{"ok":false,"do":"hand-back","error":{"what":"Refused","text":"t"},"reasons":[{"name":"ProgramAway","text":"t","advice":"a"}]}"#;
        assert_eq!(of(away), Some((4, "hand-back refused: t (ProgramAway); a".into())));
        let latched = r#"{"name":"Latched","text":"t","advice":"a"}"#;
        let stop = r#"{"name":"ProtectiveStop","text":"s","advice":"b"}"#;
        let both =
            format!(r#"{{"ok":false,"do":"request","error":{{"what":"Refused"}},"reasons":[{latched},{stop}]}}"#);
        let lines = "start refused:\n  s (ProtectiveStop); b\n  t (Latched); a";
        assert_eq!(of(&both), Some((4, lines.into())), "one per line, the cause first");
        let late = r#"{"ok":false,"do":"request","challenge":9,"error":{"what":"NotFresh","text":"t"}}"#;
        assert_eq!(of(late), Some((4, "start refused: t (NotFresh)".into())));
        let syntax = r#"{"ok":false,"error":{"what":"Syntax","text":"t"}}"#;
        assert_eq!(of(syntax), Some((1, "the run rejects it: t".into())));
        assert_eq!(of(r#"{"ok":false,"error":{"what":"NoPlace","text":"t"}}"#).map(|(code, _)| code), Some(3));
    }
}
