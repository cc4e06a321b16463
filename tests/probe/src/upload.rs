//! A program file on its way to a controller, and everything that is told of it.

use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig, UploadEvent, UploadInput};
use outrigger_core::time::{Duration, Instant};

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
        upload.receive_window().fill(any(7));
        upload.handle(now, any_input(), |event| {
            if let UploadEvent::Said(said) = event {
                used((said.title, said.text));
            }
            used(event);
        });
        used((upload.poll_transmit(now), upload.poll_timeout(), upload.outcome(), upload.file().lines()));
    }
}

fn any_input() -> UploadInput {
    match any(0) {
        0 => UploadInput::Start,
        1 => UploadInput::Opened,
        2 => UploadInput::Refused,
        3 => UploadInput::Closed,
        4 => UploadInput::Received(any(100)),
        _ => UploadInput::Tick,
    }
}
