//! `outrigger monitor`: state and link of a robot, live. Nothing is sent.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use outrigger_core::engine::ur::UrOptions;
use outrigger_core::engine::ur::{ConnectConfig, UrConfig};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::time::Instant;

use crate::args::MonitorArgs;
use crate::clock::Clock;
use crate::engine;
use crate::exit::Outcome;
use crate::krc::watch::Listener;
use crate::net::TcpNet;
use crate::panel::{Panel, Target, Wish};
use crate::show::Format;

/// A law that is never asked: nothing here requests.
type Idle = JointServo<6>;

/// Runs the command.
///
/// # Errors
/// [`Failure::Connection`](crate::exit::Failure::Connection) where there never was a session.
pub fn run(args: &MonitorArgs) -> Outcome {
    let clock = Clock::start();
    if args.krc.is_krc(args.states)? {
        return crate::runtime()?.block_on(async {
            let format = Format::choose(args.json);
            let listener =
                Listener::open("monitor", format, clock, &args.robot, args.krc.listen(), args.seconds).await?;
            listener.run().await.map(drop)
        });
    }
    let target = Target::resolve(&args.robot)?;
    crate::runtime()?.block_on(async {
        let mut net = TcpNet::new(&target.address, target.ip, clock, None);
        let panel = Panel::new("monitor", Format::choose(args.json), clock, target, net.trouble(), args.seconds)?;
        let mut monitor = Monitor { panel };
        let law = Idle::new(Reference::Hold, JointServoConfig::default());
        let connect = ConnectConfig { states: args.states, ..ConnectConfig::default() };
        engine::run(
            UrConfig { peer: UrOptions { connect, ..UrOptions::default() }, ..UrConfig::default() },
            law,
            &mut net,
            &mut monitor,
        )
        .await?;
        monitor.panel.finish()
    })
}

struct Monitor {
    panel: Panel,
}

impl<'m> outrigger_core::drive::Application<6, Ur<'m>, Idle> for Monitor {
    async fn next(&mut self) -> Input {
        loop {
            if let Wish::End(_) = self.panel.next().await {
                return Input::Shutdown;
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        self.panel.event(&event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, Idle>, now: Instant) {
        self.panel.observe(engine, now, Vec::new);
    }
}
