//! From a sensor's bytes to samples.

use embedded_io_async::Read;
use outrigger_core::command::SourceId;
use outrigger_core::sensor::{Decoder, Form};
use outrigger_embassy::{Handle, now};

/// Reads `source`'s readings from `bytes`, for ever; what is no reading is counted.
pub async fn sense(mut bytes: impl Read, form: Form, source: SourceId, handle: Handle<'_>) -> ! {
    let mut decoder = Decoder::new(form);
    let mut buffer = [0; 64];
    loop {
        let Ok(n) = bytes.read(&mut buffer).await else {
            decoder.resync();
            continue;
        };
        // Taken right after the read: how old a sample is, is judged by this.
        let taken_at = now();
        if let Some(reading) = decoder.newest(&buffer[..n], |_, _| ()) {
            handle.sample(reading.sample(source, taken_at));
        }
    }
}
