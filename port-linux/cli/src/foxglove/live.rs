//! Sends the channels of a session to the readers that have subscribed to them.

use std::sync::Arc;

use foxglove::{ChannelBuilder, Context, FoxgloveError, PartialMetadata, RawChannel, Schema};
use outrigger::record::Sink;

/// The channels of a session that readers can subscribe to.
pub(super) struct Live {
    context: Arc<Context>,
    channels: Vec<Arc<RawChannel>>,
}

impl Live {
    /// Creates the channels of the servers that use `context`.
    pub(super) const fn new(context: Arc<Context>) -> Self {
        Self { context, channels: vec![] }
    }
}

impl Sink for Live {
    type Error = FoxgloveError;
    const REPEATS: bool = true;
    const BYTES: bool = false;

    fn add_channel(&mut self, topic: &str, schema: Option<(&str, &str)>) -> Result<u16, FoxgloveError> {
        let builder = ChannelBuilder::new(topic).context(&self.context).message_encoding("json");
        let schema = schema.map(|(name, text)| Schema::new(name, "jsonschema", text.as_bytes().to_vec()));
        self.channels.push(builder.schema(schema).build_raw()?);
        u16::try_from(self.channels.len() - 1)
            .map_err(|_| FoxgloveError::ValueError(format!("{topic}: more than 65536 channels")))
    }

    fn is_wanted(&self, channel: u16) -> bool {
        self.channels.get(usize::from(channel)).is_some_and(|channel| channel.has_sinks())
    }

    fn write(&mut self, channel: u16, at: u64, data: &[u8]) -> Result<(), FoxgloveError> {
        if let Some(channel) = self.channels.get(usize::from(channel)) {
            channel.log_with_meta(data, PartialMetadata { log_time: Some(at) });
        }
        Ok(())
    }
}
