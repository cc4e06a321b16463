//! `outrigger monitor`: state and link of a robot, live. Nothing is asked of it.

use crate::args::MonitorArgs;
use crate::clock::Clock;
use crate::engine;
use crate::exit::Outcome;
use crate::maker::krc::{self, KrcController};
use crate::maker::ur::{self, UrController};
use crate::panel::{Onlooker, Panel};
use crate::show::Format;
use crate::target::Target;

/// Runs the command.
///
/// # Errors
/// [`Failure::Connection`](crate::exit::Failure::Connection) where there never was a session.
pub fn run(args: &MonitorArgs) -> Outcome {
    let (clock, format) = (Clock::start(), Format::choose(args.json));
    if args.krc.is_krc(args.states)? {
        let config = krc::looking(&args.robot)?;
        return crate::runtime()?.block_on(async {
            let robot = args.robot.to_string();
            let (mut net, maker) = KrcController::listening(robot, args.krc.listen(), clock, None).await?;
            let mut onlooker = Onlooker::new(Panel::new("monitor", format, clock, maker, args.seconds)?);
            krc::run(config, engine::idle(), &mut net, &mut onlooker, 0).await?;
            onlooker.finish()
        });
    }
    let target = Target::resolve(&args.robot)?;
    crate::runtime()?.block_on(async {
        let (mut net, maker) = UrController::connecting(target, clock, None);
        let mut onlooker = Onlooker::new(Panel::new("monitor", format, clock, maker, args.seconds)?);
        ur::run(ur::looking(args.states), engine::idle(), &mut net, &mut onlooker, 0).await?;
        onlooker.finish()
    })
}
