//! The decoded messages, on their way to the program in batches.

use std::sync::mpsc::SyncSender;

use outrigger_cli::decode::{Decoder, Undecoded};

use super::Stopped;
use super::value::{Collected, Node};

/// The number of messages after which a batch is sent.
const BATCH: usize = 64;

/// A message, or a place that cannot be decoded, with the names of its fields.
pub(super) type Item = Vec<(String, Node)>;
pub(super) type Batch = Vec<Item>;

/// A message of the decoding thread. Without an end the thread has panicked.
pub(super) enum Passed {
    Batch(Batch),
    End(Result<(), Stopped>),
}

/// The connection that a message came by, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    pub(super) port: Option<u16>,
    pub(super) connection: Option<&'static str>,
    pub(super) client: Option<String>,
    /// The time since 1970 \[s\].
    pub(super) time: Option<f64>,
    /// The offset in the decoder's stream at which the connection begins \[B\].
    pub(super) begin: u64,
}

impl Origin {
    fn fields(&self) -> Item {
        let mut fields = vec![];
        if let Some(port) = self.port {
            fields.push(("port".into(), Node::Unsigned(port.into())));
        }
        let texts = [("connection", self.connection.map(str::to_owned)), ("client", self.client.clone())];
        fields.extend(texts.into_iter().filter_map(|(name, text)| Some((name.into(), Node::Text(text?)))));
        if let Some(time) = self.time {
            fields.push(("arrival_time".into(), Node::Float(time)));
        }
        fields
    }
}

/// The way of decoded messages to the program. It waits while the program is slow.
pub(super) struct Sink {
    sender: SyncSender<Passed>,
    batch: Batch,
}

impl Sink {
    pub(super) const fn new(sender: SyncSender<Passed>) -> Self {
        Self { sender, batch: vec![] }
    }

    /// Takes every complete message of a decoder, and every place that it cannot decode. Always returns `Ok(true)`.
    pub(super) fn drain(&mut self, messages: &mut Decoder<'_>, origin: &Origin) -> Result<bool, Undecoded> {
        self.drain_watched(messages, origin, |_| true)
    }

    /// Takes messages like [`drain`](Self::drain). `watch` is called for each message with `None` and for each place
    /// that cannot be decoded, which is taken if it returns `true`.
    pub(super) fn drain_watched(
        &mut self,
        messages: &mut Decoder<'_>,
        origin: &Origin,
        mut watch: impl FnMut(Option<&Undecoded>) -> bool,
    ) -> Result<bool, Undecoded> {
        loop {
            let mut message = Collected::after(origin.fields());
            match messages.next(&mut message) {
                Ok(false) => return Ok(true),
                Ok(true) => {
                    watch(None);
                    let mut fields = message.fields();
                    if let Some((_, Node::Unsigned(offset))) = fields.iter_mut().find(|(name, _)| name == "offset") {
                        *offset = offset.saturating_sub(origin.begin);
                    }
                    self.batch.push(fields);
                }
                Err(undecoded) => {
                    if watch(Some(&undecoded)) {
                        self.undecoded(&undecoded, origin);
                    }
                }
            }
        }
    }

    /// Takes a place that cannot be decoded.
    pub(super) fn undecoded(&mut self, undecoded: &Undecoded, origin: &Origin) {
        let mut item = origin.fields();
        item.push(("offset".into(), Node::Unsigned(undecoded.at.saturating_sub(origin.begin))));
        item.push(("error".into(), Node::Text(undecoded.problem.clone())));
        self.batch.push(item);
    }

    pub(super) const fn is_full(&self) -> bool {
        self.batch.len() >= BATCH
    }

    /// Sends what was taken. Returns `false` if the program needs no more.
    pub(super) fn flush(&mut self) -> bool {
        self.batch.is_empty() || self.sender.send(Passed::Batch(std::mem::take(&mut self.batch))).is_ok()
    }

    /// Sends the rest, and how it ended.
    pub(super) fn end(mut self, ended: Result<(), Stopped>) {
        if self.flush() {
            let _ = self.sender.send(Passed::End(ended));
        }
    }
}
