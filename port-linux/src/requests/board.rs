//! Formats a board's answers as the lines that a run would have sent.

use outrigger_core::command::outputs::{WriteNews, WriteRefusal};
use outrigger_core::mode::Epoch;
use outrigger_remote::request::keyed::{News, Reply, Verdict as Theirs};
use outrigger_remote::request::{Ask, Fault};

use super::answer::{self, Answer, Verdict};
use super::setting::Setting;
use super::slot::Status;

/// Formats a board's answer to `ask` as a line of JSON. `robot` is the name of the board in a status.
pub fn line(id: u32, ask: &Ask<'_>, present: Epoch, reply: &Reply, robot: &str) -> String {
    let Reply { verdict, mode, grade, latch, unmet, ending } = *reply;
    let status = Status { epoch: present, mode, grade, latch, unmet, ending, ..Status::default() };
    let (id, word) = (Some(id), ask.word());
    let verdict = match (verdict, ask) {
        (Theirs::Done, Ask::Status | Ask::Watch) => return answer::status(id, word, &status, (robot, false), None),
        (Theirs::Fault(kind, at), _) => {
            let (expected, found) = ("what a board of this version accepts", &b""[..]);
            return answer::fault(&Fault { id, kind, at: usize::from(at), key: None, expected, found }, &status);
        }
        (Theirs::BadValue | Theirs::Output(News::Impossible), Ask::Set { output, .. }) => {
            return answer::value(id, &status, "output", "an output of the board, the arm and its software", output);
        }
        (Theirs::BadValue, Ask::Sample { source, .. }) => {
            return answer::value(id, &status, "source", "a source with readings from the network", source);
        }
        (Theirs::BadValue, Ask::Dashboard { how, .. }) => {
            return answer::value(id, &status, "how", "a command that the board's version has", how);
        }
        (Theirs::Dashboard(outcome), _) => Verdict::Dashboard(outcome),
        (Theirs::WrongEpoch, _) => Verdict::WrongEpoch(ask.epoch().unwrap_or(present)),
        (Theirs::Refused(Some(reason)), _) => Verdict::Refused(reason, unmet),
        (Theirs::Output(news), Ask::Set { output, .. }) => match (output.parse::<Setting>(), written(news)) {
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

const fn written(news: News) -> Option<WriteNews> {
    Some(match news {
        News::Confirmed(after) => WriteNews::Confirmed(after),
        News::NeverShown => WriteNews::NeverShown,
        News::NotConfirmed => WriteNews::NotConfirmed,
        News::Superseded => WriteNews::Superseded,
        News::NotConnected => WriteNews::Refused(WriteRefusal::NotConnected),
        News::LocalControl => WriteNews::Refused(WriteRefusal::LocalControl),
        News::NoInput => WriteNews::Refused(WriteRefusal::NoInput),
        News::Off => WriteNews::Refused(WriteRefusal::Off),
        News::LinkStale => WriteNews::Refused(WriteRefusal::LinkStale),
        News::Commanding => WriteNews::Refused(WriteRefusal::Commanding),
        News::NoSuchOutput => WriteNews::Refused(WriteRefusal::NoSuchOutput),
        News::Reserved => WriteNews::Refused(WriteRefusal::Reserved),
        News::Full => WriteNews::Refused(WriteRefusal::Full),
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
        let said = |ask: Ask<'_>, verdict| {
            let unmet = ReasonSet::EMPTY.with(Reason::NotRemote);
            let reply = Reply { verdict, mode: Mode::Monitor, unmet, ..Reply::default() };
            line(7, &ask, epoch, &reply, "board:10.0.0.3:47001")
        };
        let begin = r#"{"id":7,"ok":true,"epoch":4,"mode":"monitor","do":"#;
        assert!(
            said(Ask::Status, Theirs::Done).starts_with(&format!(r#"{begin}"status","robot":"board:10.0.0.3:47001""#))
        );
        assert!(said(Ask::Release, Theirs::Done).starts_with(&format!(r#"{begin}"release"}}"#)));
        let set = |verdict| said(Ask::Set { epoch, output: "digital-out.3=on" }, verdict);
        let ready = |verdict| said(Ask::Dashboard { epoch, how: "brake-release" }, verdict);
        for (line, has) in [
            (
                said(Ask::Request(old), Theirs::WrongEpoch),
                r#""what":"WrongEpoch","where":"epoch","expected":"4","found":"3""#,
            ),
            (said(Ask::Request(epoch), Theirs::Refused(Some(Reason::NotRemote))), r#""reasons":[{"name":"NotRemote""#),
            (said(Ask::Request(epoch), Theirs::Ending), r#""what":"Ending""#),
            (set(Theirs::Output(News::NeverShown)), r#""output":"digital-out.3=on""#),
            (set(Theirs::Output(News::Off)), r#""what":"NotSet""#),
            (set(Theirs::Output(News::Impossible)), r#""what":"BadValue""#),
            (set(Theirs::NoNews), r#""what":"NoNews""#),
            (said(Ask::Request(epoch), Theirs::NotFresh), r#""what":"NotFresh","where":"challenge""#),
            (said(Ask::Request(epoch), Theirs::Withdrawn), r#""what":"Withdrawn""#),
            (ready(Theirs::Dashboard(Outcome::Taken)), r#""do":"dashboard","text":"the controller has accepted it"#),
            (ready(Theirs::Dashboard(Outcome::LocalControl)), r#""what":"LocalControl","where":"dashboard""#),
            (ready(Theirs::Dashboard(Outcome::Commanding)), "stop it first"),
            (ready(Theirs::BadValue), r#""what":"BadValue""#),
            (said(Ask::Status, Theirs::Fault(outrigger_remote::request::FaultKind::Syntax, 3)), r#""what":"Syntax""#),
        ] {
            assert!(line.contains(has), "{line}");
        }
    }
}
