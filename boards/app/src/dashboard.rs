//! Commands to the controller's dashboard server that make an arm ready, for clients with the key and for a contact at
//! the board. The socket is opened for a command and closed after it.

use core::future::pending;

use embassy_futures::select::{Either, select};
use embassy_net::tcp::TcpSocket;
use embassy_net::{IpAddress, Stack};
use embassy_time::{Duration, Timer, with_timeout};
use embedded_io_async::Write as _;
use outrigger_core::client::dashboard::{Outcome, ServiceCommand, ServiceCommandInput, ServiceCommandOutput};
use outrigger_core::engine::Controller;
use outrigger_core::mode::Mode;
use outrigger_embassy::{Handle, now};
use outrigger_wire::time::Instant;

use crate::dashboard_command_queue::{Asker, ServiceCommands};
use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The longest wait for the controller to notice the end of the connection to its dashboard server.
const CLOSING: Duration = Duration::from_secs(1);

/// The memory for the communication with the dashboard server. It is all zeros and takes no flash.
pub struct Memory {
    received: [u8; 512],
    sent: [u8; 128],
    line: [u8; 512],
}

impl Memory {
    /// Creates unused memory for the communication with the dashboard server.
    #[must_use]
    pub const fn new() -> Self {
        Self { received: [0; 512], sent: [0; 128], line: [0; 512] }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Executes commands at the controller's dashboard server, if its kind has one; never returns. Uses a socket of
/// `stack`.
pub async fn carry_out<const N: usize, P: Controller<N, Event: PeerEvent>>(
    shared: &Shared<N, P>,
    robot: Handle<'_>,
    stack: Stack<'_>,
    memory: &mut Memory,
) -> ! {
    let Memory { received, sent, line } = memory;
    let (service_commands, mode) = (shared.service_commands(), || shared.mode());
    let mut command = ServiceCommand::new(line);
    loop {
        let (arm_command, by) = service_commands.next().await;
        let outcome = match shared.dashboard() {
            Some(at) => {
                command.handle(now(), ServiceCommandInput::Ask(arm_command, mode()));
                let mut socket = TcpSocket::new(stack, received, sent);
                socket.set_nagle_enabled(false);
                let outcome = converse(&mut command, &mut socket, at, service_commands, (robot, &mode)).await;
                socket.close();
                let _ = with_timeout(CLOSING, socket.flush()).await;
                outcome
            }
            None => Outcome::NoDashboard,
        };
        service_commands.end();
        match by {
            Asker::Message => service_commands.report(outcome),
            Asker::Pin => shared.tell_of_brakes(Ok(outcome)),
        }
    }
}

/// Executes one command at the dashboard server and returns its outcome. Every wait ends by the command's own
/// timeouts.
async fn converse(
    command: &mut ServiceCommand<'_>,
    socket: &mut TcpSocket<'_>,
    at: IpAddress,
    service_commands: &ServiceCommands,
    (robot, mode): (Handle<'_>, impl Fn() -> Mode),
) -> Outcome {
    loop {
        let mut opens = None;
        while let Some(output) = command.poll_output() {
            match output {
                ServiceCommandOutput::Open { port } => opens = Some(port),
                ServiceCommandOutput::Release => {
                    service_commands.await_release();
                    robot.release();
                }
                // A line is shorter than the socket's memory, so this does not wait.
                ServiceCommandOutput::Transmit(bytes) => match socket.write_all(bytes).await {
                    Ok(()) => {}
                    Err(_) => command.handle(now(), ServiceCommandInput::Closed),
                },
                // The socket is closed at the end.
                ServiceCommandOutput::Close => {}
            }
        }
        if let Some(outcome) = command.poll_event() {
            return outcome;
        }
        let due = command.poll_timeout();
        let input = match opens {
            // The engine may have received a request since its last observation.
            None if service_commands.awaits_release() => match select(service_commands.looked(), until(due)).await {
                Either::First(()) if robot.is_waiting() => continue,
                Either::First(()) => {
                    service_commands.end_release();
                    ServiceCommandInput::Released(mode())
                }
                Either::Second(()) => ServiceCommandInput::Tick,
            },
            Some(port) => match select(socket.connect((at, port)), until(due)).await {
                Either::First(Ok(())) => ServiceCommandInput::Opened,
                Either::First(Err(_)) => ServiceCommandInput::Refused,
                Either::Second(()) => ServiceCommandInput::Tick,
            },
            None => match select(socket.read(command.receive_window()), until(due)).await {
                Either::First(Ok(count @ 1..)) => {
                    command.handle(now(), ServiceCommandInput::Mode(mode()));
                    command.commit(count, now());
                    continue;
                }
                Either::First(_) => ServiceCommandInput::Closed,
                Either::Second(()) => ServiceCommandInput::Tick,
            },
        };
        command.handle(now(), input);
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => Timer::at(embassy_time::Instant::from_micros(due.as_micros())).await,
        None => pending().await,
    }
}
