//! The command `outrigger watch`: shows a board's telemetry live, and writes its recordings to files. Nothing is sent
//! to the board.

mod board_state;
mod boot;
mod chunk_reassembly;
mod datagram_limits;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod network_counters;

use std::net::{IpAddr, ToSocketAddrs as _};

use outrigger_remote::telemetry::DATAGRAM_MAX;
use outrigger_wire::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::mpsc::unbounded_channel;

use self::board_state::{Device, Dump};
use crate::args::WatchArgs;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::Clock;
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::record::fallbacks::{Recordings, Report, next_report};
use outrigger::show::{Format, Key, Notice, Show, is_verbose};

/// The longest wait for the board's first datagram of telemetry.
const FIRST: Duration = Duration::from_secs(10);
/// The time without telemetry after which the board, or the connection to it, counts as lost.
const SILENCE: Duration = Duration::from_secs(3);

/// Runs `outrigger watch`, which displays a board's telemetry and writes its recordings to files.
///
/// # Errors
/// [`Failure::Connection`] if the board has no address, or nothing was received from it; [`Failure::BadInput`] if the
/// address to listen on is not available or no file can be written.
pub(crate) fn run(args: &WatchArgs) -> Outcome {
    let board = resolve(&args.board)?;
    let recordings = args
        .out
        .as_ref()
        .map(|directory| Recordings::start(directory, 0, Some(datagram_limits::kept(board))))
        .transpose()?;
    outrigger::host::runtime::one_threaded()?.block_on(watch(args, board, recordings))
}

async fn watch(args: &WatchArgs, board: IpAddr, mut recordings: Option<Recordings>) -> Outcome {
    let (clock, mut signals) = (Clock::start(), Signals::listen(OnSignal::Nothing)?);
    let socket = UdpSocket::bind(args.listen).await.map_err(|error| {
        Failure::BadInput(format!("cannot listen on {}: {error}; is another `outrigger watch` running?", args.listen))
    })?;
    let (sender, mut keys) = unbounded_channel();
    let format = Format::choose(args.json);
    let mut show = Show::start(format, "watch", sender);
    show.notice(say(clock.now(), "listening", format!("listening on {} for {board}", args.listen)));

    let mut device = Device::new(board, recordings.is_some());
    let end_at = args.seconds.map(|seconds| Instant::ZERO + Duration::from_secs(seconds));
    let first_by = Instant::ZERO + FIRST;
    let mut next_snapshot = Instant::ZERO;
    let people = format != Format::Json;
    let all = !people || is_verbose();
    let mut bytes = [0; DATAGRAM_MAX + 1];
    loop {
        let first_by = device.is_unheard().then_some(first_by);
        let snapshot_at = device.is_talking().then_some(next_snapshot);
        if show.is_unread() && recordings.is_none() {
            break;
        }
        let wake = [end_at, first_by, snapshot_at, device.silent_at(SILENCE)];
        let wake = wake.into_iter().flatten().min();
        tokio::select! {
            received = socket.recv_from(&mut bytes) => {
                let now = clock.now();
                // A socket that only receives reports errors of single datagrams.
                let Ok((length, from)) = received else { continue };
                let datagram = bytes.get(..length).unwrap_or_default();
                let notices = device.take(from.ip(), datagram, now).into_iter();
                notices.filter(|notice| all || !is_of_grade(notice)).for_each(|notice| show.notice(notice));
                if people {
                    device.episode(now, false).into_iter().for_each(|notice| show.notice(notice));
                }
                if let Some(Dump { of, stem, bytes }) = device.dump() {
                    let handed = recordings.as_ref().map_or(Ok(()), |recordings| recordings.write(of, stem, &[&bytes]));
                    handed.err().into_iter().for_each(|report| show.notice(recorded(now, &report)));
                }
            }
            report = next_report(&mut recordings) => show.notice(recorded(clock.now(), &report)),
            Some(Key::HangUp) = keys.recv() => break,
            _ = signals.next() => break,
            () = sleep_until(&clock, wake) => {
                let now = clock.now();
                if [end_at, first_by].into_iter().flatten().any(|at| now >= at) {
                    break;
                }
                if device.silent_at(SILENCE).is_some_and(|at| now >= at) {
                    show.notice(device.fallen_silent(now));
                    // The snapshot shown no longer applies, so the next one is shown at once.
                    next_snapshot = now;
                }
                if now >= next_snapshot {
                    next_snapshot = now + format.pace();
                    device.snapshot(now).into_iter().for_each(|snapshot| show.snapshot(snapshot));
                }
            }
        }
    }
    let left = recordings.map(Recordings::finish).unwrap_or_default();
    left.iter().for_each(|report| show.notice(recorded(clock.now(), report)));
    device.episode(clock.now(), true).filter(|_| people).into_iter().for_each(|notice| show.notice(notice));
    device.snapshot(clock.now()).into_iter().for_each(|snapshot| show.snapshot(snapshot));
    show.finish();
    if device.is_unheard() { Err(nothing_came(args, board, &device)) } else { Ok(()) }
}

async fn sleep_until(clock: &Clock, at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
        None => std::future::pending().await,
    }
}

/// Returns `true` for notices about single changes of the link's grade, which are only shown with `-v`. Other notices
/// repeat their figures.
fn is_of_grade(notice: &Notice) -> bool {
    matches!(notice.kind, "grade" | "grade-low")
}

/// Returns the notice about the result of writing a board's recording to a file.
fn recorded(now: Instant, report: &Report) -> Notice {
    let (text, fields) = report.words();
    Notice { fields, ..say(now, "recording", text) }
}

/// Returns the IP address of a board that is given by address or name. Telemetry is accepted from any of its ports.
fn resolve(board: &str) -> Result<IpAddr, Failure> {
    let found = (board, 0).to_socket_addrs().map(|mut found| found.next());
    let why = match found {
        Ok(Some(address)) => return Ok(address.ip()),
        Ok(None) => "it has none".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Failure::Connection(format!("cannot find an address for the board '{board}': {why}; give its address")))
}

/// Returns the failure for a board from which nothing was received, with the conditions to check.
fn nothing_came(args: &WatchArgs, board: IpAddr, device: &Device) -> Failure {
    let strangers = match device.strangers() {
        0 => String::new(),
        count => format!(" (ignored {count} datagrams from other senders)"),
    };
    let refused = match device.refused() {
        Some((count, why)) => format!(" ({count} datagrams of it were refused: {why})"),
        None => String::new(),
    };
    Failure::Connection(format!(
        "no telemetry from {board} at {}{strangers}{refused}; check that the board is powered and its network link is up, \
         that device.telemetry in the configuration it was built with is this machine's address and port {}, that \
         device.address is {board}, and that no firewall drops UDP",
        args.listen,
        args.listen.port()
    ))
}

fn say(at: Instant, kind: &'static str, text: String) -> Notice {
    Notice { at, kind, text, fields: vec![] }
}
