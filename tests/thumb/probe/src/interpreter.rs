//! The client of interpreter mode, with all its events.

use outrigger_core::client::interpreter::{Client, InterpreterConfig, InterpreterInput, StatementFile};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_bytes, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    let file = match StatementFile::new(any_bytes()) {
        Ok(file) => file,
        Err(error) => return shown(error),
    };
    used(file.source_line(any(3)));
    into_room(|memory| live(&mut Client::new(any(InterpreterConfig::default()), file, memory)));
}

#[inline(never)]
fn live(client: &mut Client<'_, '_>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        if any(true) {
            client.handle(now, any_input());
        } else {
            client.receive_window().fill(any(7));
            client.commit(any(100), now);
        }
        while let Some(event) = client.poll_event() {
            used(event);
        }
        while let Some(output) = client.poll_output() {
            used(output);
        }
        used((client.poll_timeout(), client.outcome()));
    }
}

fn any_input() -> InterpreterInput {
    match any(0) {
        0 => InterpreterInput::Start,
        1 => InterpreterInput::Opened,
        2 => InterpreterInput::Refused,
        3 => InterpreterInput::Closed,
        4 => InterpreterInput::ProgramRuns,
        5 => InterpreterInput::ProgramEnded,
        6 => InterpreterInput::Cancel,
        _ => InterpreterInput::Tick,
    }
}
