//! The engine with its memory, on the loop that every port runs.

use outrigger_core::drive::{Application, drive};
use outrigger_core::law::Law;
use outrigger_core::session::{CoController, Config, Memory};
use outrigger_core::time::Duration;

use crate::exit::Failure;
use crate::net::TcpNet;

/// A first robot state with room for pop-ups and variables.
const PRIMARY_MEMORY: usize = 64 * 1024;
/// Half a second of the fastest stream: what queues up while this process stands still is taken in a few reads.
const REALTIME_MEMORY: usize = 320 * 1024;
/// Longest time one command may take to get into the socket.
const WRITE_LIMIT: Duration = Duration::from_millis(100);

/// Receive memory of a session: primary, real-time.
pub(crate) fn receive_memory() -> (Vec<u8>, Vec<u8>) {
    (vec![0; PRIMARY_MEMORY], vec![0; REALTIME_MEMORY])
}

/// Runs a session until the application has shut it down.
///
/// # Errors
/// [`Failure::BadInput`] for a configuration that the core refuses.
pub async fn run<L: Law<6>>(
    config: Config,
    law: L,
    net: &mut TcpNet,
    application: &mut impl Application<L>,
) -> Result<(), Failure> {
    run_recorded(config, law, net, application, 0).await
}

/// The same with a recorder of `recorder` bytes.
///
/// # Errors
/// Those of [`run`].
pub async fn run_recorded<L: Law<6>>(
    config: Config,
    law: L,
    net: &mut TcpNet,
    application: &mut impl Application<L>,
    recorder: usize,
) -> Result<(), Failure> {
    let ((mut primary, mut realtime), mut recorder) = (receive_memory(), vec![0; recorder]);
    let memory = Memory { primary: &mut primary, realtime: &mut realtime };
    let engine =
        CoController::new(config, law, memory).map_err(|error| Failure::BadInput(format!("configuration: {error}")))?;
    let mut engine = engine.with_recorder(&mut recorder);
    drive(net, &mut engine, application, WRITE_LIMIT).await;
    Ok(())
}
