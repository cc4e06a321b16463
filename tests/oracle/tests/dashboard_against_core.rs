//! Compares the dashboard's requests and replies in the core with the tables of the specification.

use outrigger_oracle::noise::Noise;
use outrigger_wire::dashboard::{
    Argument, FlightReport, OperationalMode, Refusal, Reply, Request, RequestKind, Support, UserRole,
};
use outrigger_wire::robot::SoftwareVersion;

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn requests() -> impl Iterator<Item = [&'static str; 6]> {
    rows(include_str!("dashboard_requests.tsv")).map(|row| row.try_into().expect("six columns"))
}

fn replies() -> impl Iterator<Item = [&'static str; 3]> {
    rows(include_str!("dashboard_replies.tsv")).map(|row| row.try_into().expect("three columns"))
}

fn kind(words: &str) -> RequestKind {
    RequestKind::ALL.iter().copied().find(|kind| kind.words() == words).unwrap_or_else(|| panic!("no '{words}'"))
}

/// Returns the dashboard request of this kind, with the argument that stands in `dashboard_requests.tsv`.
fn request(kind: RequestKind, argument: &'static str) -> Request<'static> {
    let text = || Argument::new(argument).expect("an argument");
    match kind {
        RequestKind::Load => Request::Load(text()),
        RequestKind::Play => Request::Play,
        RequestKind::Stop => Request::Stop,
        RequestKind::Pause => Request::Pause,
        RequestKind::Quit => Request::Quit,
        RequestKind::Shutdown => Request::Shutdown,
        RequestKind::Running => Request::Running,
        RequestKind::RobotMode => Request::RobotMode,
        RequestKind::LoadedProgram => Request::LoadedProgram,
        RequestKind::Popup => Request::Popup(text()),
        RequestKind::ClosePopup => Request::ClosePopup,
        RequestKind::AddToLog => Request::AddToLog(text()),
        RequestKind::IsProgramSaved => Request::IsProgramSaved,
        RequestKind::ProgramState => Request::ProgramState,
        RequestKind::PolyscopeVersion => Request::PolyscopeVersion,
        RequestKind::Version => Request::Version,
        RequestKind::SetUserRole => Request::SetUserRole(UserRole::from_word(argument.as_bytes()).expect("a role")),
        RequestKind::UserRole => Request::UserRole,
        RequestKind::SetOperationalMode => {
            Request::SetOperationalMode(OperationalMode::from_word(argument.as_bytes()).expect("a mode"))
        }
        RequestKind::OperationalMode => Request::OperationalMode,
        RequestKind::ClearOperationalMode => Request::ClearOperationalMode,
        RequestKind::PowerOn => Request::PowerOn,
        RequestKind::PowerOff => Request::PowerOff,
        RequestKind::BrakeRelease => Request::BrakeRelease,
        RequestKind::SafetyMode => Request::SafetyMode,
        RequestKind::SafetyStatus => Request::SafetyStatus,
        RequestKind::UnlockProtectiveStop => Request::UnlockProtectiveStop,
        RequestKind::CloseSafetyPopup => Request::CloseSafetyPopup,
        RequestKind::LoadInstallation => Request::LoadInstallation(text()),
        RequestKind::RestartSafety => Request::RestartSafety,
        RequestKind::IsInRemoteControl => Request::IsInRemoteControl,
        RequestKind::SerialNumber => Request::SerialNumber,
        RequestKind::RobotModel => Request::RobotModel,
        RequestKind::GenerateFlightReport => {
            Request::GenerateFlightReport(Some(FlightReport::from_word(argument.as_bytes()).expect("a report")))
        }
        RequestKind::GenerateSupportFile => Request::GenerateSupportFile(text()),
        RequestKind::SaveLog => Request::SaveLog,
    }
}

/// Returns the meaning of a dashboard reply, in the words of `dashboard_replies.tsv`.
fn meaning(reply: &Reply<'_>) -> String {
    match reply {
        Reply::Done(added) => format!("done {added}").trim_end().to_owned(),
        Reply::Running(running) => format!("running {running}"),
        Reply::RobotMode(mode) => format!("robotmode {mode}"),
        Reply::LoadedProgram(None) => "loaded -".to_owned(),
        Reply::LoadedProgram(Some(path)) => format!("loaded {path}"),
        Reply::ProgramSaved { saved, program } => format!("saved {saved} {program}").trim_end().to_owned(),
        Reply::ProgramState { state, program: None } => format!("program {state} -"),
        Reply::ProgramState { state, program: Some(name) } => format!("program {state} {name}"),
        Reply::Software { version, text } => format!("software {version} {text}"),
        Reply::UserRole(role) => format!("role {}", role.word()),
        Reply::OperationalMode(None) => "mode -".to_owned(),
        Reply::OperationalMode(Some(mode)) => format!("mode {}", mode.word()),
        Reply::Safety(mode) => format!("safety {mode}"),
        Reply::RemoteControl(remote) => format!("remote {remote}"),
        Reply::SerialNumber(digits) => format!("serial {digits}"),
        Reply::RobotModel(model) => format!("model {model}"),
        Reply::Refused(Refusal::NeedsRemoteControl) => "refused: remote control".to_owned(),
        Reply::Refused(Refusal::TooEarly) => "refused: too early".to_owned(),
        Reply::Refused(Refusal::NotUnderstood(_)) => "refused: not understood".to_owned(),
        Reply::Refused(Refusal::FileNotFound(name)) => format!("refused: no file {name}"),
        Reply::Refused(Refusal::Failed(text)) => format!("refused: failed {text}"),
        Reply::Other(text) => format!("other {text}"),
    }
}

#[test]
fn the_requests_are_those_of_the_specification_and_each_is_its_line() {
    assert_eq!(requests().count(), RequestKind::ALL.len());
    for [words, argument, ..] in requests() {
        let mut line = [0xa5; Request::MAX_LEN];
        let size = request(kind(words), argument).emit(&mut line).expect("room");
        let expected = if argument == "-" { format!("{words}\n") } else { format!("{words} {argument}\n") };
        assert_eq!(line[..size], *expected.as_bytes());
        assert!(line[size..].iter().all(|byte| *byte == 0xa5), "'{words}' writes beyond its end");
    }
}

#[test]
fn each_software_knows_the_requests_that_the_specification_gives_it() {
    let versions = [(1, 4..=8), (3, 0..=15), (5, 0..=25), (10, 0..=13)];
    for [words, _, cb, e, x, remote] in requests() {
        assert_eq!(kind(words).needs_remote_control(), remote == "R", "{words}");
        for (major, minor) in versions.clone().into_iter().flat_map(|(major, minors)| minors.map(move |m| (major, m))) {
            let since = if major < 5 {
                cb
            } else if major < 10 {
                e
            } else {
                x
            };
            let (unconfirmed, since) = since.strip_prefix("? ").map_or((false, since), |since| (true, since));
            let first = since.split_once('.').map(|(major, minor)| (number(major), number(minor)));
            let expected = match first {
                None => Support::Never,
                Some(_) if unconfirmed && major == 3 => Support::Perhaps,
                Some(first) if first <= (major, minor) => Support::Yes,
                Some((major, minor)) => Support::From(SoftwareVersion::new(major, minor)),
            };
            let software = SoftwareVersion::new(major, minor);
            assert_eq!(kind(words).support(software), expected, "{words} in {software}");
        }
    }
}

fn number(digits: &str) -> u8 {
    digits.parse().expect("a number")
}

#[test]
fn every_reply_of_the_specification_means_what_it_says_there() {
    for [words, line, expected] in replies() {
        for asked in RequestKind::ALL.iter().filter(|kind| words == "*" || kind.words() == words) {
            assert_eq!(meaning(&Reply::parse(*asked, line.as_bytes())), expected, "'{}': {line}", asked.words());
        }
    }
    for kind in RequestKind::ALL {
        assert!(replies().any(|[words, ..]| words == kind.words()), "'{}' has no reply", kind.words());
    }
}

#[test]
fn case_and_line_ends_change_no_meaning() {
    for [words, line, _] in replies().filter(|[words, ..]| *words != "*") {
        let asked = kind(words);
        let plain = meaning(&Reply::parse(asked, line.as_bytes())).to_ascii_lowercase();
        for other in [line.to_ascii_uppercase(), line.to_ascii_lowercase(), format!(" {line}\r\n")] {
            assert_eq!(meaning(&Reply::parse(asked, other.as_bytes())).to_ascii_lowercase(), plain, "{other}");
        }
    }
}

#[test]
fn any_bytes_are_some_answer_to_any_request_and_keep_their_text() {
    let mut noise = Noise::seeded(29_999);
    let lines: Vec<_> = replies().map(|[_, line, _]| line.as_bytes()).collect();
    for _ in 0..20_000 {
        // A known line, cut, with some of its bytes changed.
        let mut line = lines[noise.below(lines.len())].to_vec();
        line.truncate(noise.below(line.len() + 1));
        for _ in 0..noise.below(4) {
            if !line.is_empty() {
                let at = noise.below(line.len());
                line[at] = noise.bytes(1)[0];
            }
        }
        for kind in RequestKind::ALL {
            if let Reply::Other(text) = Reply::parse(*kind, &line) {
                assert_eq!(text.0, line.trim_ascii());
            }
        }
    }
}
