//! The receive memory of an engine for a controller of Universal Robots.

use outrigger_core::client::rtde::Claim;
use outrigger_core::engine::ur::Memory;
use outrigger_core::engine::ur::rtde::RtdeMemory;

/// The size of the memory for the primary link \[B\]: for a first robot state, with room for pop-ups and variables.
const PRIMARY_MEMORY: usize = 64 * 1024;
/// The size of the memory for the real-time link \[B\]: half a second of the fastest stream. So data that queues up
/// while this process is not scheduled is read in a few calls.
const REALTIME_MEMORY: usize = 320 * 1024;
/// The size of the memory for RTDE \[B\]: half a second of states.
const RTDE_MEMORY: usize = 128 * 1024;

/// The receive memory of a session, with room for every link that it may have.
#[derive(Debug)]
pub struct Windows<'m> {
    primary: Vec<u8>,
    realtime: Vec<u8>,
    rtde: Box<RtdeMemory<'m, RTDE_MEMORY, { Claim::ALL.len() }>>,
}

impl Default for Windows<'_> {
    fn default() -> Self {
        Self { primary: vec![0; PRIMARY_MEMORY], realtime: vec![0; REALTIME_MEMORY], rtde: Box::default() }
    }
}

impl<'m> Windows<'m> {
    /// Allocates the empty memory that an engine needs for received messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lends the whole receive memory to an engine. Can be called once.
    pub fn lend(&'m mut self) -> Memory<'m> {
        Memory { primary: &mut self.primary, realtime: &mut self.realtime, rtde: Some(&mut *self.rtde) }
    }
}
