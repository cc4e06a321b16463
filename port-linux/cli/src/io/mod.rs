//! The command `outrigger io`: shows the inputs and outputs of a robot, and sets its outputs. It never moves the
//! arm.

mod args;

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::{Ur, UrEvent, UrOptions};
use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::command::outputs::{MAX_WRITES, Write, WriteOutcome, WriteRefusal};
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::{DownCause, OutputsBy, UrConfig};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;

use outrigger::boxed_law::BoxedLaw;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::host::clock::Clock;
use outrigger::host::reactor;
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::host::target::Target;
use outrigger::json;
use outrigger::net::{Net, Trouble};
use outrigger::show::events::{Surroundings, notice};
use outrigger::show::reason_text::Observer;
use outrigger::show::{Terminals, eprintln_lossy, reason_text};
use outrigger::vendor::ur;

pub(crate) use self::args::IoArgs;

/// The longest wait for a session with the robot to begin.
const FIRST_SESSION: Duration = Duration::from_secs(10);
/// The longest wait for the connection to the primary interface, which reports most inputs and outputs ten times a
/// second. Without it, the values in the robot's states suffice.
const PRIMARY_PATIENCE: Duration = Duration::from_millis(1_500);
/// The shortest interval between two updates of `outrigger io --live`; most inputs and outputs are not reported faster.
const PACE: Duration = Duration::from_millis(100);

/// Runs `outrigger io`.
///
/// # Errors
/// [`Failure::Usage`] for two values for one output, [`Failure::Connection`] without a session, [`Failure::Fault`] if
/// an output was refused or not confirmed.
pub(crate) fn run(args: &IoArgs) -> Outcome {
    let writes: Vec<Write> = args.settings.iter().map(|setting| setting.0).collect();
    for (index, write) in writes.iter().enumerate() {
        if let Some(twice) = writes.iter().take(index).find(|earlier| earlier.sets_the_same(write)) {
            let [first, second] = [twice, write].map(reason_text::of_write);
            return Err(Failure::Usage(format!("{first} and {second} are the same output: give one of them")));
        }
    }
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    let mut config = UrConfig { peer: UrOptions { model: args.model, ..UrOptions::default() }, ..UrConfig::default() };
    config.peer.connect.outputs = args.via;
    if args.via != OutputsBy::Text {
        // RTDE inputs are limited to the outputs that are set, for as long as this runs.
        let claims = writes.iter().filter_map(Claim::of);
        config.peer.connect.claims = claims.fold(Claims::NONE, Claims::with);
    }
    outrigger::host::runtime::block_on(async {
        let mut net = Net::connecting(&target.address, target.ip, clock);
        let mut desk = IoSession::new(args, writes, clock, target, net.trouble())?;
        ur::run(config, BoxedLaw::idle(), &mut net, &mut desk, 0).await?;
        desk.outcome()
    })
}

/// The application that the session with the robot runs for `outrigger io`.
struct IoSession {
    clock: Clock,
    target: Target,
    trouble: Trouble,
    signals: Signals,
    page: Page,
    task: Task,
    /// The outputs to set that have not been passed to the engine yet.
    waiting: VecDeque<Write>,
    under_way: usize,
    /// The outputs for which there is a result, each with that result.
    done: Vec<(Write, WriteOutcome)>,
    established: Option<Instant>,
    /// `true` once enough is known of the robot to show its inputs and outputs, or to set an output.
    ready: bool,
    end: Option<Instant>,
    last_down: Option<String>,
    failure: Option<Failure>,
    ending: bool,
}

/// The task of `outrigger io`: set outputs, or show inputs and outputs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Set this many outputs of the robot, and end.
    Set(usize),
    /// Show the robot's inputs and outputs once, and end.
    Show,
    /// Keep showing the robot's inputs and outputs for this time; `None` for no limit.
    Watch(Option<Duration>),
}

impl IoSession {
    fn new(args: &IoArgs, writes: Vec<Write>, clock: Clock, target: Target, trouble: Trouble) -> Result<Self, Failure> {
        let task = match (writes.len(), args.live) {
            (0, true) => Task::Watch(args.seconds.map(Duration::from_secs)),
            (0, false) => Task::Show,
            (asked, _) => Task::Set(asked),
        };
        Ok(Self {
            clock,
            target,
            trouble,
            signals: Signals::listen(OnSignal::Nothing)?,
            page: Page::new(args.json, args.live),
            task,
            waiting: writes.into(),
            under_way: 0,
            done: vec![],
            established: None,
            ready: false,
            end: Some(clock.now() + FIRST_SESSION),
            last_down: None,
            failure: None,
            ending: false,
        })
    }

    /// Returns `true` if the command is to end: each output to set has a result, the inputs and outputs were shown
    /// once, or standard output cannot be written.
    fn is_over(&self) -> bool {
        let done = match self.task {
            Task::Set(asked) => self.done.len() == asked,
            Task::Show => self.page.shown.is_some(),
            Task::Watch(_) => false,
        };
        done || self.page.error.is_some()
    }

    /// Records and prints `news` about setting an output of the robot if it is a final result. News before the result,
    /// e.g. that the value was sent, and a second result are ignored.
    fn finish(&mut self, write: Write, news: WriteOutcome) {
        let ours = !self.done.iter().any(|(done, _)| *done == write);
        if ours && !matches!(news, WriteOutcome::Sent | WriteOutcome::Overwritten) {
            self.done.push((write, news));
            self.under_way = self.under_way.saturating_sub(1);
            self.page.news(&write, &news);
        }
    }

    fn outcome(self) -> Outcome {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(error) = self.page.error {
            return output_closed(&error);
        }
        let refused = |refusal| self.done.iter().any(|(_, news)| *news == WriteOutcome::Refused(refusal));
        if refused(WriteRefusal::NotConnected) {
            let why = self.last_down.unwrap_or_else(|| "the session ended".into());
            return Err(Failure::Connection(format!("not all outputs were set: {why}")));
        }
        let good = |news: &WriteOutcome| matches!(news, WriteOutcome::Confirmed(_) | WriteOutcome::NeverShown);
        let bad = self.done.iter().filter(|(_, news)| !good(news)).count();
        if bad == 0 {
            return Ok(());
        }
        let mut text = format!("{bad} of {} not set", self.done.len());
        if self.done.iter().any(|(_, news)| *news == WriteOutcome::NotConfirmed) {
            // Some software silently drops text in local control.
            text.push_str(
                "; check that the robot is in remote control (see `outrigger dashboard`) and that no other client sets it",
            );
        }
        Err(Failure::Fault(text))
    }
}

impl<'m> Application<6, Ur<'m>, BoxedLaw<6>> for IoSession {
    async fn next(&mut self) -> Input {
        if self.is_over() && !self.ending {
            self.ending = true;
            return Input::Shutdown;
        }
        if self.ready
            && !self.ending
            && self.under_way < MAX_WRITES
            && let Some(write) = self.waiting.pop_front()
        {
            self.under_way += 1;
            return Input::Set(write);
        }
        let over = reactor::sleep_until_some(self.clock, self.end.filter(|_| !self.ending));
        tokio::select! {
            _ = self.signals.next() => {
                if matches!(self.task, Task::Set(_)) && !self.ending {
                    self.failure = Some(Failure::Fault("interrupted: outputs that were sent may have been set".into()));
                }
            }
            () = over => if !self.ready {
                let why = self.last_down.take().unwrap_or_else(|| "no session within 10 s".into());
                self.failure = Some(Failure::Connection(why));
            }
        }
        self.ending = true;
        Input::Shutdown
    }

    fn event(&mut self, event: Event<UrEvent>) {
        match event {
            Event::Output { write, news } => self.finish(write, news),
            Event::Peer(UrEvent::UnownedInput(input)) => {
                self.page.note(&format!("{input}; it is sent as text if that is allowed"));
            }
            Event::Peer(UrEvent::Down { cause: DownCause::Refused, link: LinkId::PRIMARY, .. })
                if self.last_down.is_some() => {}
            Event::Peer(UrEvent::Down { .. }) if !self.ending => {
                let trouble = |link| self.trouble.of(link);
                let address = |port| self.target.socket(port);
                let here = self.target.ip.is_loopback();
                let (at, observer) = (self.clock.now(), Observer::Process);
                let around = Surroundings { at, here, observer, address: &address, trouble: &trouble };
                self.last_down = notice(&event, &around).map(|notice| notice.text);
            }
            _ => {}
        }
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, BoxedLaw<6>>, now: Instant) {
        let Some(terminals) = Terminals::of(engine).filter(|_| engine.peer().is_up(LinkId::REALTIME)) else {
            self.established = None;
            return;
        };
        let since = *self.established.get_or_insert(now);
        let facts = engine.peer().facts();
        let complete = facts.board.is_some() && facts.tool.is_some();
        if !self.ready && (complete || now.since(since) >= PRIMARY_PATIENCE) {
            self.ready = true;
            self.end = match self.task {
                Task::Watch(span) => span.map(|span| now + span),
                Task::Set(_) | Task::Show => None,
            };
        }
        if self.ready && !self.ending && !matches!(self.task, Task::Set(_)) {
            self.page.terminals(&terminals, now);
        }
    }
}

/// The result of setting an output of the robot, as a JSON object.
#[derive(Serialize)]
struct News {
    what: String,
    news: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ms: Option<f64>,
    text: String,
}

/// The output of `outrigger io` on standard output.
struct Page {
    json: bool,
    live: bool,
    redraws: bool,
    shown: Option<(Terminals, Instant)>,
    lines: usize,
    error: Option<std::io::Error>,
}

impl Page {
    fn new(json: bool, live: bool) -> Self {
        let redraws = live && !json && std::io::stdout().is_terminal();
        Self { json, live, redraws, shown: None, lines: 0, error: None }
    }

    /// Displays the robot's inputs and outputs if they have changed, at a limited rate.
    fn terminals(&mut self, terminals: &Terminals, now: Instant) {
        let same = |(shown, at): &(Terminals, Instant)| shown == terminals || now.since(*at) < PACE;
        if self.shown.as_ref().is_some_and(same) {
            return;
        }
        self.shown = Some((*terminals, now));
        if self.json {
            return self.print(&format!("{}\n", json::text(&terminals)));
        }
        let text = terminals.text();
        // Moves the cursor up to the first line of the previous display.
        let before = if self.redraws && self.lines > 0 { format!("\x1b[{}A\x1b[J", self.lines) } else { String::new() };
        let after = if self.live && !self.redraws { "\n" } else { "" };
        self.lines = text.lines().count();
        self.print(&format!("{before}{text}{after}"));
    }

    fn news(&mut self, write: &Write, news: &WriteOutcome) {
        let what = reason_text::of_write(write);
        if !self.json {
            return self.print(&format!("{what}: {}\n", reason_text::of_news(news)));
        }
        let after = if let WriteOutcome::Confirmed(after) = news { Some(json::millis(*after)) } else { None };
        let object =
            News { what, news: reason_text::name_of_news(news), after_ms: after, text: reason_text::of_news(news) };
        self.print(&format!("{}\n", json::text(&object)));
    }

    /// Prints a note for people on standard error, separate from the output that scripts read.
    fn note(&mut self, text: &str) {
        eprintln_lossy!("outrigger: {text}");
    }

    fn print(&mut self, text: &str) {
        let mut out = std::io::stdout();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.error.get_or_insert(error);
        }
    }
}
