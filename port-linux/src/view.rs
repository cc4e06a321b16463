//! `outrigger view`: a robot's state and link on a page in a browser. Nothing is asked of it.

use outrigger_core::engine::Config;

use crate::args::ViewArgs;
use crate::clock::Clock;
use crate::exit::Outcome;
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::maker::Controller;
use crate::page::{About, ENTRIES, OnPage, Page};
use crate::panel::{Onlooker, Operators, Panel};
use crate::show::{Format, tell};
use crate::signals::Leaves;

/// Shows `controller`, for which `shown` stands on the page.
///
/// # Errors
/// [`Failure::BadInput`](crate::exit::Failure::BadInput) where the page's address cannot be had,
/// [`Failure::Connection`](crate::exit::Failure::Connection) where there never was a session.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    args: &ViewArgs,
) -> Outcome {
    let clock = Clock::start();
    let feed = Feed::new(ENTRIES);
    let about = About { command: "view", sources: vec![], workpiece: None };
    let (page, tap) = Page::start::<C, N>(args.web, about, feed.reader())?;
    if !args.json {
        tell(&format!("{}\nCtrl-C ends it\n", page.announced()))?;
    }
    let format = if args.json { Format::Json } else { Format::Remarks };
    let session = crate::runtime::block_on(async {
        let operators = Operators::here(Leaves::Nothing)?;
        let mut net = controller.open(clock, None).await?;
        let shown = controller.clone();
        let mut panel = Panel::new("view", format, clock, controller, operators, args.seconds).with_feed(feed);
        if args.json {
            panel.say("page", page.announced(), vec![("url", page.url())]);
        }
        let mut onlooker = OnPage::new(Onlooker::new(panel), Some((shown, tap)));
        C::run(config, BoxedLaw::idle(), &mut net, &mut onlooker, 0).await?;
        onlooker.inner.finish()
    });
    let counts = page.finish();
    session?;
    tell(&format!("{}\n", if args.json { counts.json() } else { counts.text() }))
}
