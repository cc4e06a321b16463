//! Runs of a whole engine against the scripted peer, like a packet trace with time.

mod account;
pub(crate) mod bench;
mod command;
mod content;
mod detection;
mod links;
mod operator;
#[cfg(feature = "outputs")]
mod outputs;
mod properties;
#[cfg(feature = "record")]
mod record;
mod refused;
#[cfg(feature = "rtde")]
mod rtde;
#[cfg(feature = "record")]
mod snapshot;
