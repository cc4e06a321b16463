//! Commands to the controller's dashboard server that make an arm ready, for who asked with the key: a socket of its own, opened
//! when something is asked and closed after it.

use core::cell::Cell;
use core::future::pending;

use embassy_futures::select::{Either, select};
use embassy_net::tcp::TcpSocket;
use embassy_net::{IpAddress, Stack};
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Timer, with_timeout};
use embedded_io_async::Write as _;
use outrigger_core::client::Output;
use outrigger_core::client::dashboard::{Errand, ErrandInput, Outcome, Readying};
use outrigger_core::mode::Mode;
use outrigger_core::time::Instant;
use outrigger_embassy::now;

/// Longest wait for the controller to have noticed the end of the connection.
const CLOSING: Duration = Duration::from_secs(1);

/// Memory to speak with. All zeros: it costs no flash.
pub(crate) struct Memory {
    received: [u8; 512],
    sent: [u8; 128],
    line: [u8; 512],
}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self { received: [0; 512], sent: [0; 128], line: [0; 512] }
    }
}

/// Between who asks and the task that carries it out.
pub(crate) struct Errands {
    asked: Signal<NoopRawMutex, Readying>,
    busy: Cell<bool>,
    outcome: Signal<NoopRawMutex, Outcome>,
}

impl Errands {
    pub(crate) const fn new() -> Self {
        Self { asked: Signal::new(), busy: Cell::new(false), outcome: Signal::new() }
    }

    /// Asks; `false` while another one is under way.
    pub(crate) fn ask(&self, readying: Readying) -> bool {
        let free = !self.busy.replace(true);
        if free {
            self.asked.signal(readying);
        }
        free
    }

    /// What came of the one that was asked, once.
    pub(crate) async fn outcome(&self) -> Outcome {
        self.outcome.wait().await
    }

    fn is_over(&self, outcome: Outcome) {
        self.busy.set(false);
        self.outcome.signal(outcome);
    }
}

/// Carries out what is asked, for ever, at the dashboard server of the controller at `robot`, if its kind has one. `mode` is the
/// engine's.
pub(crate) async fn carry_out(
    errands: &Errands,
    robot: Option<IpAddress>,
    stack: Stack<'_>,
    mode: impl Fn() -> Mode,
    memory: &mut Memory,
) -> ! {
    let Memory { received, sent, line } = memory;
    let mut errand = Errand::new(line);
    loop {
        let readying = errands.asked.wait().await;
        let outcome = match robot {
            Some(robot) => {
                errand.handle(now(), ErrandInput::Ask(readying, mode()));
                let mut socket = TcpSocket::new(stack, received, sent);
                socket.set_nagle_enabled(false);
                let outcome = converse(&mut errand, &mut socket, robot, &mode).await;
                socket.close();
                let _ = with_timeout(CLOSING, socket.flush()).await;
                outcome
            }
            None => Outcome::NoDashboard,
        };
        errands.is_over(outcome);
    }
}

/// One command, to its end. Every wait in here ends by the errand's own times.
async fn converse(
    errand: &mut Errand<'_>,
    socket: &mut TcpSocket<'_>,
    robot: IpAddress,
    mode: impl Fn() -> Mode,
) -> Outcome {
    loop {
        let mut opens = None;
        while let Some(output) = errand.poll_output() {
            match output {
                Output::Open { port } => opens = Some(port),
                // A line is shorter than the socket's memory: this waits for nothing.
                Output::Transmit(bytes) => match socket.write_all(bytes).await {
                    Ok(()) => {}
                    Err(_) => errand.handle(now(), ErrandInput::Closed),
                },
                // That is done at the end.
                Output::Close => {}
            }
        }
        if let Some(outcome) = errand.poll_event() {
            return outcome;
        }
        let due = errand.poll_timeout();
        let input = match opens {
            Some(port) => match select(socket.connect((robot, port)), until(due)).await {
                Either::First(Ok(())) => ErrandInput::Opened,
                Either::First(Err(_)) => ErrandInput::Refused,
                Either::Second(()) => ErrandInput::Tick,
            },
            None => match select(socket.read(errand.receive_window()), until(due)).await {
                Either::First(Ok(count @ 1..)) => {
                    errand.handle(now(), ErrandInput::Mode(mode()));
                    errand.commit(count, now());
                    continue;
                }
                Either::First(_) => ErrandInput::Closed,
                Either::Second(()) => ErrandInput::Tick,
            },
        };
        errand.handle(now(), input);
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => Timer::at(embassy_time::Instant::from_micros(due.as_micros())).await,
        None => pending().await,
    }
}
