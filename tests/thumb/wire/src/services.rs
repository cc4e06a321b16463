//! Requests to the dashboard server and to the Robot API, and their replies.

use outrigger_wire::dashboard::{Argument, Outcome, Reply, Request, RequestKind, is_greeting};
use outrigger_wire::frame::LineAssembler;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::robot_api::{Call, Response, member, software};

use crate::{any, any_bytes, any_text, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    into_room(|memory| lines(&mut LineAssembler::new(memory)));
    match Argument::new(any_text()) {
        Ok(name) => into_room(|room| any(Request::Load(name)).emit(room)),
        Err(error) => shown(error),
    }
    let kind = any(RequestKind::RobotMode);
    if let Err(error) = kind.check(any(SoftwareVersion::new(5, 15))) {
        shown(error);
    }
    if let Some(call) = Call::of(kind, any_text(), any(SoftwareVersion::new(10, 7))) {
        into_room(|room| call.emit(any_text(), room));
    }
    used(software(any_bytes()));
    let Some(member) = member(kind) else { return };
    let mut response = Response::new(member);
    for error in [response.take(any_bytes()).err(), response.end().err()].into_iter().flatten() {
        shown(error);
    }
    used((response.status(), response.is_success(), response.software()));
    used((response.value(), response.excerpt()));
}

#[inline(never)]
fn lines(assembler: &mut LineAssembler<'_>) {
    assembler.window().fill(any(7));
    assembler.commit(any(7));
    while let Some(line) = assembler.next_line() {
        match line {
            Ok(line) => {
                let reply = Reply::parse(any(RequestKind::RobotMode), line);
                used((is_greeting(line), Outcome::of_reply(&reply).text()));
            }
            Err(error) => shown(error),
        }
    }
    used(assembler.waiting());
    assembler.reset();
}
