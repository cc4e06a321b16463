//! What an engine beside a controller of Universal Robots receives into.

use outrigger_core::client::rtde::Claim;
use outrigger_core::engine::ur::Memory;
use outrigger_core::engine::ur::rtde::RtdeMemory;

/// A first robot state with room for pop-ups and variables.
const PRIMARY_MEMORY: usize = 64 * 1024;
/// Half a second of the fastest stream: what queues up while this process stands still is taken in a few reads.
const REALTIME_MEMORY: usize = 320 * 1024;
/// As long, of states alone.
const RTDE_MEMORY: usize = 128 * 1024;

/// Receive memory of a session, for every claim.
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
    /// Returns memory that nothing has been received into.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All of it, once.
    pub fn lend(&'m mut self) -> Memory<'m> {
        Memory { primary: &mut self.primary, realtime: &mut self.realtime, rtde: Some(&mut *self.rtde) }
    }
}
