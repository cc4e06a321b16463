//! Programs with a node of the URCap "External Control": their start waits for the computer.

use std::net::{IpAddr, Ipv4Addr};

use super::{Conn, Controller};
use crate::external_control::{ExternalControl, Request, assemble, nodes};
use crate::pendant::{Files, Operation, Outcome, Pendant, ProgramFile};
use crate::program::Playing;
use crate::program_text_bytes;

/// A program whose nodes of the URCap "External Control" are still being filled with URScript from the remote computer.
#[derive(Debug)]
pub(super) struct Fetching {
    from: ExternalControl,
    script: String,
    request: Request,
    answers: Vec<Result<String, &'static str>>,
    /// The connection, to the dashboard or the Robot API, that requested `play`; `None` if no client did.
    asker: Option<Conn>,
}

impl Controller {
    /// Starts to fetch the text of the loaded program's External Control nodes from the computer, if the program has
    /// such nodes and can be started. Returns whether a fetch has begun.
    pub(super) fn fetches(&mut self, playing: Playing, asker: Option<Conn>) -> bool {
        let Some(from) = &self.options.external_control else { return false };
        let Some(file) = self.pendant.program().filter(|file| nodes(&file.script) > 0) else { return false };
        let startable = !playing.exists && self.plant.robot.may_move() && self.fetching.is_none();
        if startable {
            self.fetching = Some(Fetching {
                from: from.clone(),
                script: file.script.clone(),
                request: Request::begin(from, &mut self.plant.sockets.dials, self.now),
                answers: vec![],
                asker,
            });
        }
        startable
    }

    /// Executes one control cycle in which text for a program's External Control nodes is fetched. The program starts
    /// once the request of every node has been answered or has failed; a failed one becomes a popup in the program.
    pub(super) fn fetch(&mut self) {
        let dials = &mut self.plant.sockets.dials;
        let Some(fetching) = &mut self.fetching else { return };
        let Some(answer) = fetching.request.cycle(dials, self.now) else { return };
        fetching.answers.push(answer);
        if fetching.answers.len() < nodes(&fetching.script) {
            fetching.request = Request::begin(&fetching.from, dials, self.now);
            return;
        }
        let Some(Fetching { from, script, answers, asker, .. }) = self.fetching.take() else { return };
        let program = assemble(&program_text_bytes::of_program(&script), &from, &answers);
        let localhost = from.host.eq_ignore_ascii_case("localhost").then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
        self.program_event(localhost.or_else(|| from.host.parse().ok()), &program, None);
        let plays = self.programs.play(&program, &mut self.plant, &mut self.notices);
        self.answer_operation(&Operation::Play, if plays { Outcome::Done } else { Outcome::Failed }, asker);
    }

    /// Cancels the fetch of External Control text for a program that was stopped before it had begun.
    pub(super) fn stop_fetching(&mut self) {
        if let Some(Fetching { request, asker, .. }) = self.fetching.take() {
            request.cancel(&mut self.plant.sockets.dials);
            self.answer_operation(&Operation::Play, Outcome::Failed, asker);
        }
    }
}

/// Returns the operator's interface as it is after a start of the controller. If the URCap "External Control" is
/// installed, a program with one node of it is loaded.
pub(super) fn pendant(files: &Files, external_control: Option<&ExternalControl>) -> Pendant {
    use crate::external_control::{NODE, PROGRAM};
    let mut files = files.clone();
    let loads = external_control.is_some();
    if loads && files.program(PROGRAM).is_none() {
        let script = format!("def program():\n {NODE}\nend\n");
        files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
    }
    let mut pendant = Pendant::new(files);
    if loads {
        pendant.loaded = Some(pendant.files.resolve(PROGRAM));
    }
    pendant
}
