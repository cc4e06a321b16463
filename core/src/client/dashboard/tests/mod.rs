//! The client with any segmentation of the stream, and the sequences with replies of every kind.

mod bench;
mod client;
mod properties;
mod sequences;
