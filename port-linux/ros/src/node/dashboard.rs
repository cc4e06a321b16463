//! Executes dashboard calls on a thread of its own: one ordinary call at a time, and in parallel to it one call that
//! takes minutes and one goal of `SetMode`.
//!
//! Each call has a connection of its own, because the permissions of a connection are fixed when it is opened. A
//! pendant that was switched to remote control therefore takes effect at once, and a server that restarted causes no
//! trouble.

mod programs;
mod service_connection;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::Duration as StdDuration;

use outrigger_core::client::dashboard::{Sequence, SequenceEvent, SequenceInput};
use outrigger_ros2_messages::{SetModeFeedback, SetModeGoal, SetModeResult, Status};
use outrigger_wire::dashboard::{PORT, Reply, Request};
use outrigger_wire::robot::{Generation, ProgramState, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use self::service_connection::{Memory, Reached, ServiceAddresses};
use crate::dashboard::{DashboardOperation, Outcome, Value};
use crate::set_mode::ModeChange;
use outrigger::dashboard::robot_api_port;
use outrigger::dashboard::transport::{Transport as _, Trouble, run};
use outrigger::exit::Failure;
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger::host::worker::Worker;

/// The largest number of dashboard calls that wait for their answers.
const WAITING: usize = 16;
/// The time within which a dashboard call is answered (`core/docs/protocol/ros2-surface.md` 2.1).
const LIMIT: Duration = Duration::from_secs(20);
/// The time within which a dashboard call that takes minutes is answered.
const LONG: Duration = Duration::from_secs(900);
/// The least time that a queued call must have left until its limit to be started; otherwise it is answered as failed.
const ROOM: Duration = Duration::from_secs(5);
/// The longest wait for the end of the thread that calls the dashboard.
const FAREWELL: StdDuration = StdDuration::from_secs(2);

/// A result from the dashboard's thread, with the token of the request.
#[derive(Debug)]
pub(super) enum DashboardResult {
    /// The outcome of the dashboard call with this token.
    Answer(u64, Outcome),
    /// The progress of the goal of `SetMode` with this token.
    Feedback(u64, SetModeFeedback),
    /// The end of the goal of `SetMode` with this token: succeeded, canceled or aborted.
    Ended(u64, Status, SetModeResult),
}

#[derive(Debug)]
struct PendingCall {
    token: u64,
    ask: DashboardOperation,
    until: Instant,
}

#[derive(Debug)]
enum Order {
    Reach(u64, SetModeGoal),
    Cancel(u64),
}

/// The channels to the dashboard's thread. When they are dropped, the thread ends and sends nothing more to the
/// controller.
#[derive(Debug)]
struct Ways {
    short: UnboundedSender<PendingCall>,
    long: UnboundedSender<PendingCall>,
    orders: UnboundedSender<Order>,
    _stays: oneshot::Sender<()>,
}

/// A client of one controller's dashboard. Only dropping this value may wait, at most for `FAREWELL`.
#[derive(Debug)]
pub(super) struct Dashboard {
    ways: Option<Ways>,
    news: UnboundedReceiver<DashboardResult>,
    worker: Option<Worker>,
    clock: Clock,
    /// The number of dashboard calls that are not answered yet.
    waiting: usize,
    goal: Option<u64>,
}

impl Dashboard {
    /// Starts the thread that sends calls to the dashboard server of the controller at `target`, or to its Robot API if
    /// there is no such server. No connection is made before the first call.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the operating system provides no thread.
    pub(super) fn start(target: &Target, clock: Clock) -> Result<Self, Failure> {
        let robot_api = SocketAddr::new(target.ip, robot_api_port(&target.address));
        Self::at(ServiceAddresses { dashboard: target.socket(PORT), robot_api, clock })
    }

    fn at(place: ServiceAddresses) -> Result<Self, Failure> {
        let (short, calls) = unbounded_channel();
        let (long, reports) = unbounded_channel();
        let (orders, ordered) = unbounded_channel();
        let (tell, news) = unbounded_channel();
        let (stays, gone) = oneshot::channel();
        let runtime = outrigger::host::runtime::one_threaded()?;
        let work = async move {
            let all = async {
                tokio::join!(attend(place, calls, &tell), attend(place, reports, &tell), reach(place, ordered, &tell))
            };
            tokio::select! {
                biased;
                _ = gone => {}
                _ = all => {}
            }
        };
        let worker = Worker::start("dashboard", move || runtime.block_on(work))
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        let ways = Ways { short, long, orders, _stays: stays };
        Ok(Self { ways: Some(ways), news, worker: Some(worker), clock: place.clock, waiting: 0, goal: None })
    }

    /// Queues a dashboard call. Returns `false` if too many calls wait already; the call is then dropped and not
    /// answered.
    pub(super) fn ask(&mut self, token: u64, ask: DashboardOperation) -> bool {
        let Some(ways) = self.ways.as_ref().filter(|_| self.waiting < WAITING) else { return false };
        let (way, limit) = if ask.is_long() { (&ways.long, LONG) } else { (&ways.short, LIMIT) };
        let put = way.send(PendingCall { token, ask, until: self.clock.now() + limit }).is_ok();
        self.waiting += usize::from(put);
        put
    }

    /// Starts a goal of `SetMode`. Returns `false` if another goal is in progress.
    pub(super) fn set_mode(&mut self, token: u64, goal: SetModeGoal) -> bool {
        let Some(ways) = self.ways.as_ref().filter(|_| self.goal.is_none()) else { return false };
        let begun = ways.orders.send(Order::Reach(token, goal)).is_ok();
        self.goal = begun.then_some(token);
        begun
    }

    /// Stops sending requests for the goal of `SetMode` with this token, which ends as canceled. The last request sent
    /// may still take effect.
    pub(super) fn cancel(&self, token: u64) {
        if let Some(ways) = &self.ways {
            // A thread that has ended has nothing to cancel.
            let _ = ways.orders.send(Order::Cancel(token));
        }
    }

    /// Returns the next result of a dashboard call or goal of `SetMode`; `None` if there is none.
    pub(super) fn news(&mut self) -> Option<DashboardResult> {
        let news = self.news.try_recv().ok()?;
        match news {
            DashboardResult::Answer(..) => self.waiting = self.waiting.saturating_sub(1),
            DashboardResult::Ended(..) => self.goal = None,
            DashboardResult::Feedback(..) => {}
        }
        Some(news)
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        drop(self.ways.take());
        if let Some(worker) = self.worker.take() {
            let _ = worker.join(FAREWELL);
        }
    }
}

/// Answers dashboard calls in their order. No call is answered after its limit, which is counted from the time when it
/// was made.
async fn attend(
    place: ServiceAddresses,
    mut calls: UnboundedReceiver<PendingCall>,
    tell: &UnboundedSender<DashboardResult>,
) {
    while let Some(PendingCall { token, ask, until }) = calls.recv().await {
        let outcome = if place.clock.now() + ROOM > until {
            Outcome::failed("not sent: earlier calls took too long")
        } else {
            let deadline = place.clock.std_instant(until).into();
            let answered = tokio::time::timeout_at(deadline, outcome(&place, &ask)).await;
            answered.unwrap_or_else(|_| {
                let text = "timeout: it may still be executed, check the teach pendant before you retry";
                Outcome::failed(text)
            })
        };
        if tell.send(DashboardResult::Answer(token, outcome)).is_err() {
            return;
        }
    }
}

/// Executes one dashboard call on the controller and returns its outcome.
async fn outcome(place: &ServiceAddresses, ask: &DashboardOperation) -> Outcome {
    let mut memory = Memory::default();
    let carried_out = async {
        let (mut reached, software) = place.reach(&mut memory).await?;
        carry_out(place, &mut reached, software, ask).await
    };
    carried_out.await.unwrap_or_else(|Trouble(text)| Outcome::failed(text))
}

async fn carry_out(
    place: &ServiceAddresses,
    reached: &mut Reached<'_>,
    software: SoftwareVersion,
    ask: &DashboardOperation,
) -> Result<Outcome, Trouble> {
    if let Err(lacks) = ask.check(software) {
        return Ok(Outcome::failed(lacks));
    }
    Ok(match ask {
        DashboardOperation::Connect if software.generation() == Generation::PolyScopeX => {
            Outcome::done(format!("connected: Robot API of software {}.{} or later", software.major, software.minor))
        }
        DashboardOperation::Connect => Outcome::done(format!("connected: dashboard server of software {software}")),
        DashboardOperation::Resume => resume(reached).await?,
        DashboardOperation::Programs => match programs::list(place.robot_api).await {
            Ok(programs) => {
                let count = programs.len();
                Outcome { value: Value::Programs(programs), ..Outcome::done(format!("{count} programs")) }
            }
            Err(text) => Outcome::failed(text),
        },
        ask => match ask.request() {
            Some(request) => {
                reached.ask(request);
                reached.answer_with_line(Outcome::of).await?
            }
            None => Outcome::failed("not offered"),
        },
    })
}

/// Resumes a paused program. Playing a program that is not paused would start it from its beginning, so that is
/// refused.
async fn resume(reached: &mut Reached<'_>) -> Result<Outcome, Trouble> {
    let is_paused = |reply: &Reply<'_>| matches!(reply, Reply::ProgramState { state: ProgramState::Paused, .. });
    if !reached.execute(Request::ProgramState, is_paused).await? {
        return Ok(Outcome::failed("no program is paused"));
    }
    reached.ask(Request::Play);
    let outcome = reached.answer_with_line(Outcome::of).await?;
    // The reply has no text of its own; the line still contains that of the question.
    Ok(if outcome.success { Outcome::done("resumed") } else { outcome })
}

/// Executes goals of `SetMode`, one after another.
async fn reach(place: ServiceAddresses, mut orders: UnboundedReceiver<Order>, tell: &UnboundedSender<DashboardResult>) {
    while let Some(order) = orders.recv().await {
        let Order::Reach(token, goal) = order else { continue };
        let ended = change_mode(&place, token, &goal, tell);
        tokio::pin!(ended);
        let (status, result) = loop {
            tokio::select! {
                result = &mut ended => {
                    break (if result.success { Status::Succeeded } else { Status::Aborted }, result);
                }
                order = orders.recv() => match order {
                    Some(Order::Cancel(canceled)) if canceled == token => {
                        let message = "canceled: the last request may still be executed".to_owned();
                        break (Status::Canceled, SetModeResult { success: false, message });
                    }
                    Some(_) => {}
                    None => return,
                },
            }
        };
        if tell.send(DashboardResult::Ended(token, status, result)).is_err() {
            return;
        }
    }
}

async fn change_mode(
    place: &ServiceAddresses,
    token: u64,
    goal: &SetModeGoal,
    tell: &UnboundedSender<DashboardResult>,
) -> SetModeResult {
    let failed = |message: String| SetModeResult { success: false, message };
    let mut memory = Memory::default();
    let (mut reached, software) = match place.reach(&mut memory).await {
        Ok(reached) => reached,
        Err(Trouble(text)) => return failed(text),
    };
    let change = match ModeChange::new(goal, software) {
        Ok(change) => change,
        Err(refused) => return failed(refused.to_string()),
    };
    let mut telling = FeedbackReporter { change, told: None, token, tell };
    let ended = run(&mut telling, &mut reached, place.clock, |_| {}).await;
    telling.change.result(ended.map_err(|ended| ended.to_string()))
}

/// The sequence of requests for a goal of `SetMode`, which also sends the goal's feedback whenever it changes.
struct FeedbackReporter<'t> {
    change: ModeChange,
    told: Option<SetModeFeedback>,
    token: u64,
    tell: &'t UnboundedSender<DashboardResult>,
}

impl Sequence for FeedbackReporter<'_> {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        self.change.handle(now, input);
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        self.change.poll_output()
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        let event = self.change.poll_event();
        if let Some(feedback) = self.change.feedback()
            && self.told.replace(feedback) != Some(feedback)
        {
            // Sending fails if the receiver is gone, and then the thread is about to end.
            let _ = self.tell.send(DashboardResult::Feedback(self.token, feedback));
        }
        event
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.change.poll_timeout()
    }
}
