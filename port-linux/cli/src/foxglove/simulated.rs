//! The server for Foxglove beside a simulated controller, which reads the controller's own ports as any client would.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::Running;
use outrigger_wire::robot::{Pose, RobotModel};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::{Server, named};
use crate::bound::Bound;
use outrigger::exit::Failure;
use outrigger::feed::{CAPACITY, Feed, Tap};
use outrigger::host::clock::Clock;
use outrigger::host::worker::Worker;
use outrigger::record::ArmGeometry;

/// The time between two attempts to connect to a port of the simulated controller.
const RETRY: Duration = Duration::from_millis(500);
/// The time to wait for the end of the thread that reads the ports.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server for Foxglove beside a simulated controller. It ends when this is dropped.
pub(crate) struct Simulated {
    server: Option<Server>,
    reads: Option<Worker>,
    over: watch::Sender<bool>,
}

impl Simulated {
    /// Starts a server at `bound` for the simulated controller, an arm of this `model`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if no thread can be started.
    pub(crate) fn start(bound: Bound, running: &Arc<Running>, model: RobotModel) -> Result<Self, Failure> {
        let (feed, clock, controller) = (Feed::new(CAPACITY), Clock::start(), Arc::clone(running));
        let arm = ArmGeometry::of_chain(move || {
            let [x, y, z, rx, ry, rz] = controller.controller().truth().tcp.map(|value| value as f32);
            let tcp = Pose { position: [x, y, z], rotation: [rx, ry, rz] };
            Some(KinematicChain::new(DhParameters::of(model), &tcp))
        });
        let server = Server::start(bound, &named("sim ur"), feed.reader(), arm, clock.origin_unix_nanos())?;
        let (over, ended) = watch::channel(false);
        let runtime = outrigger::host::runtime::one_threaded()?;
        let ports = [Port::Primary, Port::Realtime].map(|port| (port.number(), running.address(port)));
        let work = move || {
            let [primary, realtime] = ports.map(|(port, address)| read(Tap::new(feed.clone()), clock, port, address));
            let mut ended = ended;
            runtime.block_on(async {
                tokio::select! {
                    () = primary => {}
                    () = realtime => {}
                    _ = ended.changed() => {}
                }
            });
        };
        let reads = Worker::start("foxglove-sim", work)
            .map_err(|error| Failure::BadInput(format!("--foxglove: cannot start a thread: {error}")))?;
        Ok(Self { server: Some(server), reads: Some(reads), over })
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        let _ = self.over.send(true);
        let _ = self.reads.take().map(|reads| reads.join(PATIENCE));
        let _ = self.server.take().map(Server::finish);
    }
}

/// Reads a port of the simulated controller into a feed, and connects again after each loss. Never returns.
async fn read(mut tap: Tap, clock: Clock, port: u16, mut address: SocketAddr) {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    let mut bytes = [0; 4096];
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            tap.opened(clock.now(), port);
            while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                tap.received(clock.now(), bytes.get(..count).unwrap_or_default());
            }
            tap.closed(clock.now());
        }
        tokio::time::sleep(RETRY).await;
    }
}
