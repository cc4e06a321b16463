//! `outrigger monitor`: state and link of a robot, live. Nothing is asked of it.

use outrigger_core::engine::Config;

use crate::args::MonitorArgs;
use crate::clock::Clock;
use crate::exit::Outcome;
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::maker::Controller;
use crate::panel::{Onlooker, Operators, Panel};
use crate::show::Format;
use crate::signals::Leaves;

/// Looks at `controller`.
///
/// # Errors
/// [`Failure::Connection`](crate::exit::Failure::Connection) where there never was a session.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    args: &MonitorArgs,
) -> Outcome {
    let (clock, format) = (Clock::start(), Format::choose(args.json));
    crate::runtime::block_on(async {
        let operators = Operators::here(Leaves::Nothing)?;
        let mut net = controller.open(clock, None).await?;
        let mut panel = Panel::new("monitor", format, clock, controller, operators, args.seconds);
        if format == Format::View {
            // Of what no engine keeps.
            let feed = Feed::new(C::ENTRIES);
            net = net.with_feed(&feed, None);
            panel = panel.with_feed(feed);
        }
        let mut onlooker = Onlooker::for_a_reader(panel);
        C::run(config, BoxedLaw::idle(), &mut net, &mut onlooker, 0).await?;
        onlooker.finish()
    })
}
