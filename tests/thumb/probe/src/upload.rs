//! The upload of a program file to a controller, with all its events.

use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig, UploadEvent, UploadInput};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_bytes, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    let file = match ScriptFile::new(any_bytes()) {
        Ok(file) => file,
        Err(error) => return shown(error),
    };
    file.warnings(|warning| used((warning, warning.kind.text())));
    used((file.name(), file.kind(), file.source_line(any(3))));
    into_room(|memory| match Upload::new(any(UploadConfig::default()), file, memory) {
        Ok(mut upload) => live(&mut upload),
        Err(error) => shown(error),
    });
}

#[inline(never)]
fn live(upload: &mut Upload<'_, '_>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        if any(true) {
            upload.handle(now, any_input());
        } else {
            upload.receive_window().fill(any(7));
            upload.commit(any(100), now);
        }
        while let Some(event) = upload.poll_event() {
            if let UploadEvent::Message(message) = event {
                used((message.title, message.text));
            }
            used(event);
        }
        while let Some(output) = upload.poll_output() {
            used(output);
        }
        used((upload.poll_timeout(), upload.outcome(), upload.file().lines()));
    }
}

fn any_input() -> UploadInput {
    match any(0) {
        0 => UploadInput::Start,
        1 => UploadInput::Opened,
        2 => UploadInput::Refused,
        3 => UploadInput::Closed,
        _ => UploadInput::Tick,
    }
}
