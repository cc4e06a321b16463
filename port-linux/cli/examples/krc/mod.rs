//! The common part of the programs for KUKA arms: an arm with a name, real or simulated.
#![allow(dead_code, reason = "each program uses its part")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use outrigger::host::Clock;
use outrigger::net::Net;
use outrigger_core::drive::{Application, drive};
use outrigger_core::engine::krc::{Krc as Peer, KrcConfig, KrcCounts, KrcEngine, KrcEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::Law;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;
use outrigger_sim::krc::{Krc, Options, Truth};
use outrigger_sim::udp::{Running, Server};
use outrigger_wire::fri::KrlVariables;
use outrigger_wire::robot::State;
use outrigger_wire::time::{Duration as Span, Instant};

/// A failure of the example programs, as text.
pub(crate) type Trouble = Box<dyn std::error::Error>;

/// The period in which simulated KRCs send measurements, long enough for a machine that does other work as well.
pub(crate) const PERIOD: Duration = Duration::from_millis(20);

/// The longest time that an arm's control loop waits for one write to a socket; datagrams never wait.
const WRITE_LIMIT: Span = Span::from_millis(100);

/// A change that the program makes to an engine directly, for example to its impedance, because no input of the engine
/// makes it.
type Change<L> = Box<dyn FnOnce(&mut KrcEngine<'_, L>)>;

/// The state shared by an arm's control loop and the example program: inputs and changes on the way in, events and the
/// engine's newest state on the way out.
struct Shared<L> {
    inputs: VecDeque<Input>,
    changes: Vec<Change<L>>,
    events: VecDeque<Event<KrcEvent>>,
    /// `true` if the engine has handled an input since the example program last waited in [`Arm::turn`].
    news: bool,
    seen: Seen,
}

/// The state of the engine that the example programs read.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) mode: Mode,
    pub(crate) state: Option<State<7>>,
    pub(crate) progress: Progress,
    pub(crate) counts: KrcCounts,
    pub(crate) krl: Option<KrlVariables>,
    epoch: Epoch,
    /// `true` if the engine would grant a request to command the arm now.
    ready: bool,
}

impl Seen {
    fn of<L: Law<7>>(engine: &KrcEngine<'_, L>, now: Instant) -> Self {
        Self {
            mode: engine.mode(),
            state: engine.state().copied(),
            progress: engine.motion_status().progress,
            counts: engine.peer().counts(),
            krl: engine.peer().krl().copied(),
            epoch: engine.mode_machine().epoch(),
            ready: engine.mode() == Mode::Monitor && engine.unmet(now).is_empty(),
        }
    }
}

/// The example program as the control loop sees it: it supplies the engine's inputs and receives its events.
struct Program<L>(Rc<RefCell<Shared<L>>>);

impl<L: Law<7>> Application<7, Peer, L> for Program<L> {
    async fn next(&mut self) -> Input {
        let next = self.0.borrow_mut().inputs.pop_front();
        match next {
            Some(input) => input,
            // Inputs are checked again in every turn.
            None => pending().await,
        }
    }

    fn event(&mut self, event: Event<KrcEvent>) {
        self.0.borrow_mut().events.push_back(event);
    }

    fn observe(&mut self, engine: &mut KrcEngine<'_, L>, now: Instant) {
        let mut shared = self.0.borrow_mut();
        shared.changes.drain(..).for_each(|change| change(engine));
        shared.seen = Seen::of(engine, now);
        shared.news = true;
    }
}

/// One arm of an example program, real or simulated.
pub(crate) struct Arm<L> {
    pub(crate) name: &'static str,
    /// The last reason for which arming or commanding ended other than by a release, which an operator makes. `None` if
    /// there was none.
    pub(crate) fell_back: Option<Reason>,
    shared: Rc<RefCell<Shared<L>>>,
    driving: Pin<Box<dyn Future<Output = ()>>>,
    simulated: Option<Running>,
}

impl<L: Law<7> + 'static> Arm<L> {
    /// Opens an arm with a real KRC that sends to `listen`; without it, with a simulated KRC.
    pub(crate) async fn open(
        name: &'static str,
        listen: Option<SocketAddr>,
        simulated: Options,
        config: KrcConfig,
        law: L,
        clock: Clock,
    ) -> Result<Self, Trouble> {
        let mut engine = KrcEngine::new(config, law, ())?;
        let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let mut net = Net::listening(listen.unwrap_or(loopback), clock).await?;
        let simulated = match listen {
            Some(_) => None,
            None => {
                let krc = Krc::new(Options { period: PERIOD, ..simulated })?;
                Some(Server::bind(krc, loopback, net.local()?)?.spawn()?)
            }
        };
        println!(
            "{name}: {}",
            match listen {
                Some(listen) => format!("waiting for a KRC at {listen}"),
                None => "a simulated KRC".into(),
            }
        );
        let shared = Shared {
            inputs: VecDeque::new(),
            changes: vec![],
            events: VecDeque::new(),
            news: false,
            seen: Seen::of(&engine, clock.now()),
        };
        let shared = Rc::new(RefCell::new(shared));
        let mut program = Program(Rc::clone(&shared));
        let driving = Box::pin(async move { drive(&mut net, &mut engine, &mut program, WRITE_LIMIT).await });
        Ok(Self { name, fell_back: None, shared, driving, simulated })
    }

    /// Returns the state of the engine after its last input.
    pub(crate) fn seen(&self) -> Seen {
        self.shared.borrow().seen
    }

    pub(crate) fn mode(&self) -> Mode {
        self.seen().mode
    }

    /// Runs this arm's control loop until its engine has handled an input.
    pub(crate) async fn turn(&mut self) {
        poll_fn(|context| {
            let ended = self.driving.as_mut().poll(context).is_ready();
            let news = std::mem::take(&mut self.shared.borrow_mut().news);
            if ended || news { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Queues an input of the operator or of a sensor for this arm's engine, which handles it in a later
    /// [`turn`](Self::turn).
    pub(crate) fn give(&self, input: Input) {
        self.shared.borrow_mut().inputs.push_back(input);
    }

    /// Queues a change to this arm's engine, which is applied after the engine's next input.
    pub(crate) fn change(&self, change: impl FnOnce(&mut KrcEngine<'_, L>) + 'static) {
        self.shared.borrow_mut().changes.push(Box::new(change));
    }

    /// Requests to command the arm if the engine would grant the request now. Otherwise nothing happens.
    pub(crate) fn request_when_ready(&mut self) {
        let Seen { ready, epoch, .. } = self.seen();
        if ready {
            self.give(Input::Request(epoch));
        }
    }

    /// Prints this arm's changes of mode since the last call, and stores the reason if arming or commanding ended other
    /// than by a release.
    pub(crate) fn tell(&mut self) {
        let events = std::mem::take(&mut self.shared.borrow_mut().events);
        for event in events {
            let Event::Transition(transition) = event else { continue };
            let reason = transition.reason.filter(|reason| !reason.is_release());
            let why = reason.map_or_else(String::new, |reason| format!(": {}", reason.text()));
            println!("{}: {} -> {}{why}", self.name, transition.from.name(), transition.to.name());
            // A fault of a KRC while the arm was not commanded has not ended commanding.
            let commanding = matches!(transition.from, Mode::Arming | Mode::Command | Mode::Stopping);
            self.fell_back = reason.filter(|_| commanding).or(self.fell_back);
        }
    }

    /// Returns the true state of the simulated arm; `None` for a real one.
    pub(crate) fn truth(&self) -> Option<Truth> {
        self.simulated.as_ref().map(|running| running.krc().truth())
    }

    /// Pushes the flange of a simulated arm \[N\], along the base's axes.
    pub(crate) fn push(&self, [x, y, z]: [f64; 3]) {
        if let Some(running) = &self.simulated {
            running.krc().push([x, y, z, 0.0, 0.0, 0.0]);
        }
    }
}
