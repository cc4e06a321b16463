//! Runs an engine in the control loop that all ports share.

use outrigger_core::drive::{Application, drive};
use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::Law;
use outrigger_wire::time::Duration;

use crate::net::Net;

/// The longest time for writing one command to the robot's socket.
const WRITE_LIMIT: Duration = Duration::from_millis(100);

/// Runs `engine` until the application has shut it down. `recorder` is the size of the recorder of the engine's inputs
/// and outputs \[B\].
pub(crate) async fn run<const N: usize, P: Controller<N>, L: Law<N>>(
    engine: Engine<'_, N, P, L>,
    net: &mut Net,
    application: &mut impl Application<N, P, L>,
    recorder: usize,
) {
    let mut recorder = vec![0; recorder];
    let mut engine = engine.with_recorder(&mut recorder);
    drive(net, &mut engine, application, WRITE_LIMIT).await;
}
