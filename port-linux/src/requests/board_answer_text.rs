//! Formats the answers of a board (a microcontroller that commands a robot) as the lines that a run on a computer would
//! have sent.

use outrigger_core::command::outputs::{WriteOutcome, WriteRefusal};
use outrigger_core::mode::Epoch;
use outrigger_remote::request::keyed::{OutputOutcome, Reply, Verdict as Theirs};
use outrigger_remote::request::{ClientRequest, Fault};

use super::answer::{self, Answer, Verdict};
use super::output_assignment::Setting;
use super::run_status::Status;

/// Formats the answer of a board (a microcontroller that commands a robot) to the request `ask` as a line of JSON.
/// `robot` is the name of the board in a status.
pub fn line(id: u32, ask: &ClientRequest<'_>, present: Epoch, reply: &Reply, robot: &str) -> String {
    let Reply { verdict, mode, grade, latch, unmet, ending } = *reply;
    let status = Status { epoch: present, mode, grade, latch, unmet, ending, ..Status::default() };
    let (id, word) = (Some(id), ask.word());
    let verdict = match (verdict, ask) {
        (Theirs::Done, ClientRequest::Status | ClientRequest::Watch) => {
            return answer::status(id, word, &status, (robot, false), None);
        }
        (Theirs::Fault(kind, at), _) => {
            let (expected, found) = ("what a board of this version accepts", &b""[..]);
            return answer::fault(&Fault { id, kind, at: usize::from(at), key: None, expected, found }, &status);
        }
        (Theirs::BadValue | Theirs::Output(OutputOutcome::Impossible), ClientRequest::Set { output, .. }) => {
            return answer::value(id, &status, "output", "an output of the board, the arm and its software", output);
        }
        (Theirs::BadValue, ClientRequest::Sample { source, .. }) => {
            return answer::value(id, &status, "source", "a source with readings from the network", source);
        }
        (Theirs::BadValue, ClientRequest::Dashboard { how, .. }) => {
            return answer::value(id, &status, "how", "a command that the board's version has", how);
        }
        (Theirs::Dashboard(outcome), _) => Verdict::Dashboard(outcome),
        (Theirs::WrongEpoch, _) => Verdict::WrongEpoch(ask.epoch().unwrap_or(present)),
        (Theirs::Refused(Some(reason)), _) => Verdict::Refused(reason, unmet),
        (Theirs::Output(news), ClientRequest::Set { output, .. }) => match (output.parse::<Setting>(), written(news)) {
            (Ok(Setting(write)), Some(news)) => Verdict::Output(write, news),
            _ => Verdict::NoNews,
        },
        (Theirs::NotFresh, _) => Verdict::NotFresh,
        (Theirs::Withdrawn, _) => Verdict::Withdrawn,
        (Theirs::NoNews, _) => Verdict::NoNews,
        (Theirs::Full, _) => Verdict::Full,
        (Theirs::Done, _) => Verdict::Done,
        _ => Verdict::Ending,
    };
    Answer { id, word, status, verdict }.line(false)
}

const fn written(news: OutputOutcome) -> Option<WriteOutcome> {
    Some(match news {
        OutputOutcome::Confirmed(after) => WriteOutcome::Confirmed(after),
        OutputOutcome::NeverShown => WriteOutcome::NeverShown,
        OutputOutcome::NotConfirmed => WriteOutcome::NotConfirmed,
        OutputOutcome::Superseded => WriteOutcome::Superseded,
        OutputOutcome::NotConnected => WriteOutcome::Refused(WriteRefusal::NotConnected),
        OutputOutcome::LocalControl => WriteOutcome::Refused(WriteRefusal::LocalControl),
        OutputOutcome::NoInput => WriteOutcome::Refused(WriteRefusal::NoInput),
        OutputOutcome::Off => WriteOutcome::Refused(WriteRefusal::Off),
        OutputOutcome::LinkStale => WriteOutcome::Refused(WriteRefusal::LinkStale),
        OutputOutcome::Commanding => WriteOutcome::Refused(WriteRefusal::Commanding),
        OutputOutcome::NoSuchOutput => WriteOutcome::Refused(WriteRefusal::NoSuchOutput),
        OutputOutcome::Reserved => WriteOutcome::Refused(WriteRefusal::Reserved),
        OutputOutcome::Full => WriteOutcome::Refused(WriteRefusal::Full),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use outrigger_core::mode::Mode;
    use outrigger_core::robot::{Reason, ReasonSet};
    use outrigger_wire::dashboard::Outcome;

    use super::*;

    #[test]
    fn a_board_answers_with_the_lines_of_a_run() {
        let (epoch, old) = (Epoch::from_number(4), Epoch::from_number(3));
        let said = |ask: ClientRequest<'_>, verdict| {
            let unmet = ReasonSet::EMPTY.with(Reason::NotRemote);
            let reply = Reply { verdict, mode: Mode::Monitor, unmet, ..Reply::default() };
            line(7, &ask, epoch, &reply, "board:10.0.0.3:47001")
        };
        let begin = r#"{"id":7,"ok":true,"epoch":4,"mode":"monitor","do":"#;
        assert!(
            said(ClientRequest::Status, Theirs::Done)
                .starts_with(&format!(r#"{begin}"status","robot":"board:10.0.0.3:47001""#))
        );
        assert!(said(ClientRequest::Release, Theirs::Done).starts_with(&format!(r#"{begin}"release"}}"#)));
        let set = |verdict| said(ClientRequest::Set { epoch, output: "digital-out.3=on" }, verdict);
        let ready = |verdict| said(ClientRequest::Dashboard { epoch, how: "brake-release" }, verdict);
        for (line, has) in [
            (
                said(ClientRequest::Request(old), Theirs::WrongEpoch),
                r#""what":"WrongEpoch","where":"epoch","expected":"4","found":"3""#,
            ),
            (
                said(ClientRequest::Request(epoch), Theirs::Refused(Some(Reason::NotRemote))),
                r#""reasons":[{"name":"NotRemote""#,
            ),
            (said(ClientRequest::Request(epoch), Theirs::Ending), r#""what":"Ending""#),
            (set(Theirs::Output(OutputOutcome::NeverShown)), r#""output":"digital-out.3=on""#),
            (set(Theirs::Output(OutputOutcome::Off)), r#""what":"NotSet""#),
            (set(Theirs::Output(OutputOutcome::Impossible)), r#""what":"BadValue""#),
            (set(Theirs::NoNews), r#""what":"NoNews""#),
            (said(ClientRequest::Request(epoch), Theirs::NotFresh), r#""what":"NotFresh","where":"challenge""#),
            (said(ClientRequest::Request(epoch), Theirs::Withdrawn), r#""what":"Withdrawn""#),
            (ready(Theirs::Dashboard(Outcome::Taken)), r#""do":"dashboard","text":"the controller has accepted it"#),
            (ready(Theirs::Dashboard(Outcome::LocalControl)), r#""what":"LocalControl","where":"dashboard""#),
            (ready(Theirs::Dashboard(Outcome::Commanding)), "stop it first"),
            (ready(Theirs::BadValue), r#""what":"BadValue""#),
            (
                said(ClientRequest::Status, Theirs::Fault(outrigger_remote::request::FaultKind::Syntax, 3)),
                r#""what":"Syntax""#,
            ),
        ] {
            assert!(line.contains(has), "{line}");
        }
    }
}
