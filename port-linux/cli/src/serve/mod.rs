//! Serves states and events over TCP: one JSON object per line, to every client that connects.
//!
//! The server is a [companion](outrigger::companion): it runs on a thread of its own, and receives data from the
//! control loop by a [`Feed`](outrigger::feed::Feed), which waits for no reader. Lines are made once for all
//! readers. A reader that is slow or stalls loses old lines, and receives their number.

mod json_lines;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::task::JoinSet;

use outrigger_config::ServeSettings;

use self::json_lines::Lines;
use outrigger::companion::{Companion, Needs, Session, Started};
use outrigger::exit::Failure;
use outrigger::feed::{CAPACITY, Reader, Streams, stream_memory};
use outrigger::host::worker::Worker;
use outrigger::json;
use outrigger::show::complain;

/// The time that clients get at the end of a session to receive the remaining lines.
const FAREWELL: Duration = Duration::from_millis(200);

/// The TCP server that the table `[serve]` configures, as a companion of a session (a component that runs beside it).
#[derive(Debug)]
pub(crate) struct Readers {
    listen: SocketAddr,
    most: usize,
}

impl Readers {
    /// Returns the server that `settings` configure; `None` if they configure no port.
    pub(crate) fn of(settings: &ServeSettings) -> Option<Self> {
        settings.listen.map(|listen| Self { listen, most: settings.readers })
    }
}

impl<const N: usize> Companion<N> for Readers {
    fn needs(&self) -> Needs {
        Needs { traffic: true, ..Needs::default() }
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let server = Server::start(self.listen, self.most, session.feed, session.clock.origin_unix_nanos())?;
        let address = server.address.to_string();
        let text = format!("states and events for readers at {address}");
        let started = Started::saying("serve", text, vec![("address", address)]);
        Ok(started.ending(move |_| {
            server.finish();
            Ok(None)
        }))
    }
}

/// A running TCP server. It ends with the session's feed of states and events, which it reads.
#[derive(Debug)]
struct Server {
    address: SocketAddr,
    worker: Worker,
}

impl Server {
    /// Starts a TCP server at the address `listen` for up to `most` clients. It sends them the states and events that
    /// `reader` receives from the session. `origin` is the time at the start of the process's clock \[ns since 1970\].
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the address is not available.
    fn start(listen: SocketAddr, most: usize, reader: Reader, origin: u64) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::BadInput(format!(
                "serve.listen: cannot listen on {listen}: {error}; does another process have it, has this machine \
                 that address?"
            ))
        };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let runtime = outrigger::host::runtime::one_threaded()?;
        let work = move || {
            if let Err(error) = runtime.block_on(serve(listener, most, reader, origin)) {
                complain(&format!("serving on {address} ended: {error}"));
            }
        };
        let worker = Worker::start("serve", work).map_err(failed)?;
        Ok(Self { address, worker })
    }

    /// Waits for the end of the TCP server's thread, for 1 s at most.
    fn finish(self) {
        // A panic of the thread has been printed by then; there is nothing to add.
        let _ = self.worker.join(5 * FAREWELL);
    }
}

async fn serve(listener: TcpListener, most: usize, mut reader: Reader, origin: u64) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut memory = stream_memory();
    let Some(streams) = Streams::new(&mut memory) else { return Ok(()) };
    let mut lines = Lines::new(streams, origin);
    let to_all = channel(CAPACITY).0;
    let mut readers = JoinSet::new();
    loop {
        tokio::select! {
            heard = reader.next() => {
                let Some(heard) = heard else { break };
                lines.make(&heard, to_all.receiver_count() > 0, &mut |line| pass_on(&to_all, line));
            }
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // An error such as too many open files persists for a while.
                    tokio::time::sleep(FAREWELL).await;
                    continue;
                };
                if readers.len() < most {
                    let (from, to) = stream.into_split();
                    readers.spawn(attend(from, to, to_all.subscribe()));
                } else {
                    refuse(stream, most);
                }
            }
            Some(_) = readers.join_next() => {}
        }
    }
    drop(to_all);
    // Connections that stall are abandoned after a while.
    let _ = tokio::time::timeout(FAREWELL, async { while readers.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Passes a line of JSON to every connected reader, without waiting for any.
fn pass_on(to_all: &Sender<Arc<str>>, line: &str) {
    // An error means that the last reader has just gone.
    let _ = to_all.send(format!("{line}\n").into());
}

/// Sends a client the reason why it cannot become a reader. The part that does not fit into the socket at once is
/// not sent.
fn refuse(stream: tokio::net::TcpStream, most: usize) {
    let _ = stream.try_write(refusal(most).as_bytes());
}

/// Returns the line for a client that cannot become a reader, because there are `most` readers already.
fn refusal(most: usize) -> String {
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "refused")]
    struct Refused {
        readers: usize,
    }
    format!("{}\n", json::text(&Refused { readers: most }))
}

/// The JSON line that a client receives in place of lines that were dropped because it reads too slowly.
#[derive(Serialize)]
#[serde(tag = "type", rename = "dropped")]
struct Dropped {
    count: u64,
    total: u64,
}

/// Sends lines to one client until it disconnects or the session's feed ends. Data that the client sends is ignored.
async fn attend(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut lines: Receiver<Arc<str>>) {
    let gone = async {
        let mut ignored = [0; 256];
        while from.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
    };
    let sending = async {
        let mut dropped = 0;
        loop {
            let line = match lines.recv().await {
                Ok(line) => line,
                Err(RecvError::Lagged(count)) => {
                    dropped += count;
                    format!("{}\n", json::text(&Dropped { count, total: dropped })).into()
                }
                Err(RecvError::Closed) => return,
            };
            if to.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = gone => {}
        () = sending => {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    use super::*;

    /// Returns the task that serves a reader through a pipe of `room` bytes, and the reader's end of the pipe.
    fn reader(to_all: &Sender<Arc<str>>, room: usize) -> (tokio::io::DuplexStream, impl Future<Output = ()> + use<>) {
        let (ours, theirs) = tokio::io::duplex(room);
        let (from, to) = tokio::io::split(theirs);
        (ours, attend(from, to, to_all.subscribe()))
    }

    fn number(line: &str) -> Option<u64> {
        line.strip_prefix("{\"n\":")?.strip_suffix('}')?.parse().ok()
    }

    #[test]
    fn twenty_readers_that_stand_still_delay_nobody_and_are_told_what_they_lost() {
        outrigger::host::runtime::one_threaded().unwrap().block_on(async {
            const LINES: u64 = 1_000;
            let to_all = channel(64).0;
            let mut tasks = JoinSet::new();
            let mut still = vec![];
            for _ in 0..20 {
                let (ours, task) = reader(&to_all, 100);
                tasks.spawn(task);
                still.push(ours);
            }
            let (quick, task) = reader(&to_all, 100);
            tasks.spawn(task);
            let mut quick = BufReader::new(quick).lines();
            for n in 0..LINES {
                pass_on(&to_all, &format!("{{\"n\":{n}}}"));
                assert_eq!(quick.next_line().await.unwrap().as_deref().and_then(number), Some(n));
            }
            drop(to_all);
            for mut pipe in still {
                let mut text = String::new();
                pipe.read_to_string(&mut text).await.unwrap();
                let numbers: Vec<u64> = text.lines().filter_map(number).collect();
                let dropped = LINES - numbers.len() as u64;
                assert!(dropped > 900, "{dropped}");
                let told = format!("{{\"type\":\"dropped\",\"count\":{dropped},\"total\":{dropped}}}");
                assert!(text.lines().any(|line| line == told), "{text}");
                assert_eq!(numbers[numbers.len() - 64..], (LINES - 64..LINES).collect::<Vec<_>>(), "the newest");
            }
        });
    }

    #[test]
    fn a_reader_without_a_place_is_told_how_many_there_are() {
        assert_eq!(refusal(21), "{\"type\":\"refused\",\"readers\":21}\n");
    }

    #[test]
    fn a_reader_that_goes_away_is_forgotten() {
        outrigger::host::runtime::one_threaded().unwrap().block_on(async {
            let to_all = channel(64).0;
            let (ours, task) = reader(&to_all, 100);
            drop(ours);
            // The end is noticed although there is nothing to send.
            task.await;
        });
    }
}
