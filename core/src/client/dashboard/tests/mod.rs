//! The client over any pieces of a stream, and the sequences against answers of every kind.

mod bench;
mod client;
mod properties;
mod sequences;
