//! A session that is only observed, and never commands the arm.

use outrigger_core::engine::Config;

use super::state_publisher::{Subscriber, Tee};
use crate::boxed_law::BoxedLaw;
use crate::companion::{Companions, Ended, Ends, Needs, RunningCompanions, Shown};
use crate::exit::{Outcome, despite};
use crate::feed::{EVENTS, Feed};
use crate::host::clock::Clock;
use crate::host::signals::OnSignal;
use crate::panel::{Operators, Panel, SessionObserver};
use crate::show::{Format, tell};
use crate::vendor::extra_reception::Apart;
use crate::vendor::{Vendor, Wanted};

/// The settings of a session that is only observed.
pub struct ObservationSettings<const N: usize> {
    /// The name of the command that observes, in the view and in messages.
    pub title: &'static str,
    /// The format of the observing command's output.
    pub format: Format,
    /// The time after which the session ends by itself \[s\]. `None` if it does not.
    pub seconds: Option<u64>,
    /// `true` if the session ends as soon as the reader of its output has closed it (`| head`).
    pub for_a_reader: bool,
    /// The companions of the session (components that run beside it, e.g. a recording). Here they may not command.
    pub companions: Companions<N>,
}

/// Observes `controller` until the operator or the time ends it.
///
/// # Errors
/// Returns the errors from starting companions (components that run beside the session);
/// [`Failure::Connection`](crate::exit::Failure::Connection) if there never was a session.
pub(super) fn look<const N: usize, C: Vendor<N>>(
    controller: C,
    config: Config<N, C::Options>,
    look: &ObservationSettings<N>,
) -> Outcome {
    let mut ends = Ends::default();
    let session = Operators::here(OnSignal::Nothing)
        .and_then(|operators| watch(controller, config, look, operators, None, &mut ends));
    let (ended, failures) = ends.finish();
    if session.is_err() {
        return despite(failures.into_iter().map(Err), session);
    }
    let json = look.format == Format::Json;
    let of = |ended: Ended| if json { ended.json } else { ended.text };
    let mut lines = ended.into_iter().map(of).filter(|line| !line.is_empty());
    let told = lines.try_for_each(|line| tell(&format!("{line}\n")));
    let mut failures = failures.into_iter();
    let first = failures.next().map_or(Ok(()), Err);
    despite(failures.map(Err).chain([told]), first)
}

/// Observes `controller` for these `operators`. An optional `watcher` receives the states and events of the session.
/// The functions that end its companions (components that run beside it, e.g. a recording) are added to `ends`.
///
/// # Errors
/// Returns the errors of [`look`].
pub(crate) fn watch<const N: usize, C: Vendor<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    look: &ObservationSettings<N>,
    operators: Operators,
    watcher: Option<Subscriber<N, C::Event>>,
    ends: &mut Ends,
) -> Outcome {
    let ObservationSettings { title, format, seconds, for_a_reader, ref companions } = *look;
    let format = format.possible();
    let (clock, needs) = (Clock::start(), Needs::of(companions));
    // A view shows traffic that no engine stores.
    let traffic = needs.traffic || format == Format::View;
    let (feed, variables) = match (traffic, needs.variables.is_empty()) {
        (true, false) => {
            let (feed, variables) = Feed::pair(C::ENTRIES);
            (Some(feed), Some(variables))
        }
        (true, true) => (Some(Feed::new(C::ENTRIES)), None),
        (false, false) => {
            let (feed, variables) = Feed::pair(EVENTS);
            (Some(feed), Some(variables))
        }
        (false, true) => ((!companions.is_empty()).then(|| Feed::new(EVENTS)), None),
    };
    let beside = match &feed {
        Some(feed) => Some(RunningCompanions::start(companions, &controller, &[], clock, feed, || None, ends)?),
        None => None,
    };
    let (taps, notices, progress, remarks) = match beside {
        Some(RunningCompanions { taps, notices, progress, remarks }) => (taps, notices, progress, Some(remarks)),
        None => (vec![], vec![], vec![], None),
    };
    if format == Format::Remarks {
        for (_, text, _) in &notices {
            tell(&format!("{text}\nCtrl-C ends it\n"))?;
        }
    }
    crate::host::runtime::block_on(async {
        let apart = match (&feed, variables) {
            (Some(feed), _) if needs.everything => Some((Wanted::Everything, feed.clone())),
            (_, variables) => variables.map(|variables| (Wanted::Variables(needs.variables), variables)),
        };
        let (_apart, of_apart) = match apart {
            Some((wanted, feed)) => {
                let (apart, remarks) = Apart::start(&mut controller, &config, wanted, clock, feed)?;
                (Some(apart), Some(remarks))
            }
            None => (None, None),
        };
        let mut net = controller.open(clock).await?;
        if let Some(feed) = feed.as_ref().filter(|_| traffic) {
            net = net.with_feed(feed, C::APART.filter(|_| needs.everything));
        }
        let mut panel = Panel::new(title, format, clock, controller, operators, seconds);
        if let Some(feed) = feed {
            panel = panel.with_feed(feed);
        }
        if format != Format::Remarks {
            notices.into_iter().for_each(|(kind, text, fields)| panel.say(kind, text, fields));
        }
        let progress = progress.into_iter().map(|counting| counting.progress).collect();
        let onlooker = SessionObserver::new(panel).beside(progress, of_apart, remarks);
        let onlooker = if for_a_reader { onlooker.for_a_reader() } else { onlooker };
        let mut onlooker = Shown::new(Tee::new(onlooker, watcher), taps);
        C::run(config, BoxedLaw::idle(), &mut net, &mut onlooker, 0).await?;
        if onlooker.inner.inner.has_begun() {
            ends.heard();
        }
        onlooker.inner.inner.finish()
    })
}
