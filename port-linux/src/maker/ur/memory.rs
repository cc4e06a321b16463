//! What an engine beside a controller of Universal Robots receives into.

use outrigger_core::client::rtde::ClaimedInputs;
use outrigger_core::engine::ur::rtde::{RtdeRoom, RtdeStates, StateLink};

/// A first robot state with room for pop-ups and variables.
const PRIMARY_MEMORY: usize = 64 * 1024;
/// Half a second of the fastest stream: what queues up while this process stands still is taken in a few reads.
const REALTIME_MEMORY: usize = 320 * 1024;
/// As long, of states alone.
const RTDE_MEMORY: usize = 128 * 1024;
/// Receive memory of a session.
pub(crate) struct Windows {
    primary: Vec<u8>,
    realtime: Vec<u8>,
    rtde: Box<RtdeRoom<RTDE_MEMORY>>,
}

impl Windows {
    pub(crate) fn new() -> Self {
        Self { primary: vec![0; PRIMARY_MEMORY], realtime: vec![0; REALTIME_MEMORY], rtde: Box::default() }
    }

    /// All of it, with the recipes of `inputs` that are written by RTDE.
    pub(crate) fn lend<'m>(
        &'m mut self,
        inputs: &'m mut ClaimedInputs<'m>,
    ) -> (&'m mut [u8], &'m mut [u8], Option<RtdeStates<'m>>) {
        let rtde = RtdeStates::with_inputs(&mut self.rtde, inputs.as_mut_slice());
        (&mut self.primary, &mut self.realtime, rtde)
    }
}

/// The link of RTDE, as a session takes it.
pub(crate) fn as_link<'m>(rtde: Option<&'m mut RtdeStates<'m>>) -> Option<&'m mut dyn StateLink> {
    rtde.map(|rtde| rtde as &mut dyn StateLink)
}
