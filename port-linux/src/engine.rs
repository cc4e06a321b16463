//! The engine with its memory, on the loop that every port runs.

use outrigger_core::client::rtde::{ClaimRoom, ClaimedInputs};
use outrigger_core::drive::{Application, drive};
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::rtde::{RtdeRoom, RtdeStates, StateLink};
use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
use outrigger_core::law::Law;
use outrigger_core::time::Duration;

use crate::exit::Failure;
use crate::net::TcpNet;

/// A first robot state with room for pop-ups and variables.
const PRIMARY_MEMORY: usize = 64 * 1024;
/// Half a second of the fastest stream: what queues up while this process stands still is taken in a few reads.
const REALTIME_MEMORY: usize = 320 * 1024;
/// As long, of states alone.
const RTDE_MEMORY: usize = 128 * 1024;
/// Longest time one command may take to get into the socket.
const WRITE_LIMIT: Duration = Duration::from_millis(100);

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

/// Runs a session until the application has shut it down.
///
/// # Errors
/// [`Failure::BadInput`] for a configuration that the core refuses.
pub async fn run<L: Law<6>>(
    config: UrConfig,
    law: L,
    net: &mut TcpNet,
    application: &mut impl for<'m> Application<6, Ur<'m>, L>,
) -> Result<(), Failure> {
    run_recorded(config, law, net, application, 0).await
}

/// The same with a recorder of `recorder` bytes.
///
/// # Errors
/// Those of [`run`].
pub async fn run_recorded<L: Law<6>>(
    config: UrConfig,
    law: L,
    net: &mut TcpNet,
    application: &mut impl for<'m> Application<6, Ur<'m>, L>,
    recorder: usize,
) -> Result<(), Failure> {
    let (mut windows, mut recorder) = (Windows::new(), vec![0; recorder]);
    let mut room = ClaimRoom::new();
    let mut inputs = ClaimedInputs::new(config.peer.connect.claims, &mut room);
    let (primary, realtime, mut rtde) = windows.lend(&mut inputs);
    let memory = Memory { primary, realtime, rtde: as_link(rtde.as_mut()) };
    let engine =
        UrEngine::new(config, law, memory).map_err(|error| Failure::BadInput(format!("configuration: {error}")))?;
    let mut engine = engine.with_recorder(&mut recorder);
    drive(net, &mut engine, application, WRITE_LIMIT).await;
    Ok(())
}
