//! Decodes the traffic on port 30004 (RTDE) by following both directions.
//!
//! Data packages contain neither names nor types: the names are in our request, the types in the controller's reply.

use outrigger_wire::fields::FieldVisitor;
use outrigger_wire::rtde::{DataType, Package, Protocol, Reply, Request, TextMessage, TypeWord, Value};

/// The names and types of the values in RTDE data packages, in their order. The names are those of the request for
/// outputs.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a>(&'a [(String, DataType)]);

impl Columns<'_> {
    /// Passes every value of an RTDE data package to `visitor`, with its name.
    pub fn visit(&self, mut values: &[u8], visitor: &mut dyn FieldVisitor) {
        for (name, data_type) in self.0 {
            let Some(value) = Value::read(*data_type, values) else { return };
            value.visit(name, visitor);
            values = values.get(data_type.size()..).unwrap_or_default();
        }
    }
}

/// The decoded content of an RTDE package.
pub(super) enum Content<'a> {
    /// The values of an RTDE data package, with their names and types.
    Data(Columns<'a>, &'a [u8]),
    /// A text message of the controller, received over RTDE.
    Text(TextMessage<'a>),
}

/// The state of one RTDE connection, as far as it was observed.
#[derive(Debug)]
pub struct Conversation {
    protocol: Protocol,
    /// Bytes sent to the RTDE port that are not a whole package yet.
    unfinished: Vec<u8>,
    /// The names of the variables in the last RTDE request for outputs.
    asked: Vec<String>,
    columns: Vec<(String, DataType)>,
}

impl Default for Conversation {
    fn default() -> Self {
        Self { protocol: Protocol::V2, unfinished: vec![], asked: vec![], columns: vec![] }
    }
}

impl Conversation {
    /// Processes bytes that were sent to the controller's RTDE port.
    pub fn sent(&mut self, bytes: &[u8]) {
        self.unfinished.extend_from_slice(bytes);
        let mut rest = self.unfinished.as_slice();
        while let Some(size) = rest.first_chunk().map(|size| usize::from(u16::from_be_bytes(*size)))
            && let Some((package, after)) = rest.split_at_checked(size)
        {
            // A size of 0 does not say where the next package starts.
            rest = if size > 0 { after } else { &[] };
            let Ok(package) = Package::new_checked(package) else { continue };
            if let Ok(Request::SetupOutputs { names, .. }) = Request::parse(&package, self.protocol) {
                self.asked = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                self.columns.clear();
            }
        }
        let done = self.unfinished.len().saturating_sub(rest.len());
        self.unfinished.drain(..done);
    }

    /// Returns the names of the variables in the last RTDE request for outputs.
    pub fn names(&self) -> &[String] {
        &self.asked
    }

    /// Decodes an RTDE package of the controller. Returns `None` for a package without values or text, and an error
    /// text for one that is not valid.
    pub(super) fn received<'a>(&'a mut self, package: &'a [u8]) -> Result<Option<Content<'a>>, String> {
        let package = Package::new_checked(package).map_err(|error| error.to_string())?;
        match Reply::parse(&package, self.protocol).map_err(|error| error.to_string())? {
            Reply::ProtocolVersion { accepted } => {
                self.protocol = if accepted { Protocol::V2 } else { Protocol::V1 };
            }
            Reply::Outputs { types, .. } => {
                let types = types.iter().map(|word| match word {
                    TypeWord::Type(data_type) => Some(data_type),
                    TypeWord::NotFound | TypeWord::InUse | TypeWord::Other(_) => None,
                });
                // If a variable has no type, the request is repeated without it.
                let types: Vec<_> = types.collect::<Option<_>>().unwrap_or_default();
                let complete = types.len() == self.asked.len();
                self.columns = if complete { self.asked.iter().cloned().zip(types).collect() } else { vec![] };
            }
            Reply::Data { values, .. } if !self.columns.is_empty() => {
                let size: usize = self.columns.iter().map(|(_, data_type)| data_type.size()).sum();
                if size != values.len() {
                    return Err(format!("data of {} bytes, expected {size}", values.len()));
                }
                return Ok(Some(Content::Data(Columns(&self.columns), values)));
            }
            Reply::Text(text) => return Ok(Some(Content::Text(text))),
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_without_packages_are_not_kept() {
        let mut conversation = Conversation::default();
        for _ in 0..100 {
            conversation.sent(&[0; 4_096]);
            assert_eq!(conversation.unfinished.len(), 0);
        }
        // A package has at most this size.
        conversation.sent(&[0xff; 200_000]);
        assert!(conversation.unfinished.len() < usize::from(u16::MAX));
    }
}
