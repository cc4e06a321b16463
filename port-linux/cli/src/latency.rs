//! Measures the wake-up delays of this host on the calling thread, with the scheduling in force.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use outrigger_core::link::Histogram;
use outrigger_wire::time::{Duration, Instant};

use outrigger::host::clock::{Clock, std_duration};

/// The period of the wake-ups that are measured, which is also the period of states of the fastest UR controllers.
const PERIOD: Duration = Duration::from_millis(2);

/// The wake-up delays of this host: the times from when a thread was to be woken until it ran.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    /// The delays of a thread that sleeps until a time, counted from that time.
    pub timer: Histogram,
    /// The delays of a thread that waits for a socket, counted from the writing of bytes to the other end of a loopback
    /// connection.
    pub socket: Histogram,
}

/// Measures wake-ups by a timer and by a socket, each for half of `span`, with one wake-up per 2 ms.
///
/// # Errors
/// The errors of the loopback connection.
pub(crate) fn measure(clock: Clock, span: Duration) -> io::Result<Latency> {
    let wakes = (span.as_micros() / 2 / PERIOD.as_micros()).max(1);
    Ok(Latency { timer: sleeping(clock, wakes), socket: receiving(clock, wakes)? })
}

fn sleeping(clock: Clock, wakes: u64) -> Histogram {
    let mut late = Histogram::default();
    let mut due = clock.now();
    for _ in 0..wakes {
        due = due.max(clock.now()) + PERIOD;
        std::thread::sleep(std_duration(due.since(clock.now())));
        late.record(clock.now().since(due));
    }
    late
}

/// Measures wake-ups by a socket: a second thread sends the time of writing, and this one sleeps in `read`.
fn receiving(clock: Clock, wakes: u64) -> io::Result<Histogram> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut writer = TcpStream::connect(listener.local_addr()?)?;
    writer.set_nodelay(true)?;
    let (mut reader, _) = listener.accept()?;
    let mut late = Histogram::default();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..wakes {
                std::thread::sleep(std_duration(PERIOD));
                if writer.write_all(&clock.now().as_micros().to_be_bytes()).is_err() {
                    return;
                }
            }
        });
        let mut stamp = [0; 8];
        for _ in 0..wakes {
            reader.read_exact(&mut stamp)?;
            late.record(clock.now().since(Instant::from_micros(u64::from_be_bytes(stamp))));
        }
        Ok(late)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn every_wake_up_is_counted() {
        let latency = measure(Clock::start(), Duration::from_millis(40)).expect("loopback");
        assert_eq!((latency.timer.count(), latency.socket.count()), (10, 10));
    }
}
