//! The command `outrigger sim sensor`: runs a simulated sensor at a serial line, a socket or an address.
//! [`outrigger_sim::sensor`] computes the readings and their times; this module encodes and sends them.

mod args;
mod message;
mod nonblocking_sender;
mod readings_file;
mod robot_pose_reader;
mod sensor_arguments;

use std::future::pending;

pub(crate) use args::SimSensorArgs;
use outrigger_sim::sensor::{Measures, Sensor, Sent};
use outrigger_sim::time::SimTime;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::oneshot;

use self::message::Written;
use self::nonblocking_sender::{Offered, Wire};
use self::robot_pose_reader::View;
use self::sensor_arguments::{Plan, To};
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::host::clock::Clock;
use outrigger::host::reactor::sleep_until_some;
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::show::{complain, say};

/// The default number of readings per second of a simulated sensor.
const RATE: f64 = 100.0;
/// The time without an error about a missing receiver after which a receiver of the sensor's datagrams counts as
/// present. Remote computers report such an error for one datagram a second only.
const HEARD: Duration = Duration::from_secs(2);
/// The interval at which sending the rest of a message is tried again.
const AGAIN: Duration = Duration::from_millis(1);

/// Runs `outrigger sim sensor`, a simulated sensor that sends readings to a serial line, a UDP address or standard
/// output.
///
/// # Errors
/// [`Failure::Usage`] for impossible options, [`Failure::BadInput`] for files, [`Failure::Connection`] for a line or
/// robot that cannot be reached or is gone.
pub(crate) fn run(args: &SimSensorArgs) -> Outcome {
    let Plan { to, written, settings } = Plan::of(args)?;
    let wire = to.open()?;
    if wire.is_a_terminal() && written == Written::Frames {
        return Err(Failure::Usage(
            "frames are binary, not for a terminal: give --uart or --udp, or pipe to a program".into(),
        ));
    }
    let clock = Clock::start();
    let (view, robot_ended) = match args.surface.zip(args.robot.as_ref()) {
        Some((surface, robot)) => View::of(surface, robot, clock).map(|(view, ended)| (Some(view), Some(ended)))?,
        None => (None, None),
    };
    let quiet = to == To::Output;
    tell(
        quiet,
        &format!(
            "simulated sensor, {}, to {to}; Ctrl-C ends it",
            settings_in_words(&settings.measures, settings.values, written)
        ),
    );
    if let (Some(most), Measures::Ahead { period }) = (to.carries(), &settings.measures) {
        let longest =
            written.message(Sent::Reading { seq: u32::MAX, values: vec![-0.123_456_78; settings.values], hurt: None });
        let needs = longest.unwrap_or_default().len() as f64 / period.as_secs_f64();
        if needs > most {
            let rate = most / (needs * period.as_secs_f64());
            tell(
                quiet,
                &format!("this line carries {rate:.0} of the longest readings per second: further ones are dropped"),
            );
        }
    }
    let feed =
        Feed { sensor: Sensor::new(settings), written, wire, view, quiet, counts: Counts::default(), unheard_at: None };
    outrigger::host::runtime::block_on(feed.run(clock, args.seconds.map(Duration::from_secs), robot_ended))
}

/// Prints a message to standard output, or to standard error if `quiet`, because standard output then carries the
/// readings.
fn tell(quiet: bool, text: &str) {
    if quiet { complain(text) } else { say!("{text}") }
}

fn settings_in_words(measures: &Measures, values: usize, written: Written) -> String {
    let what = match written {
        Written::Lines { .. } => "lines",
        Written::Frames => "frames",
        Written::Datagrams => "datagrams",
    };
    match measures {
        Measures::Ahead { period } => {
            let rate = (1.0 / period.as_secs_f64() * 1e3).round() / 1e3;
            format!("{what} of {values} value(s), {rate} per second")
        }
        Measures::Rows(rows) => {
            let again = if rows.again.is_some() { ", repeated" } else { "" };
            format!("{what} of {values} value(s), {} from a file{again}", rows.rows.len())
        }
    }
}

/// The numbers of messages of the simulated sensor that were sent and not sent, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    sent: u64,
    bytes: u64,
    /// The number of sent messages of invalid bytes, by which the option `--script` has replaced readings.
    garbage: u64,
    /// The number of sent messages in which the option `--script` has inverted a bit.
    hurt: u64,
    /// The number of readings that were not sent, because the option `--script` drops them or no surface was ahead of
    /// the tool.
    silent: u64,
    /// The number of messages dropped because the destination had no room, or an earlier message was still being sent.
    full: u64,
    /// The number of messages dropped because no program received them.
    unheard: u64,
}

/// A simulated sensor with the destination of its readings and counters of its messages.
struct Feed {
    sensor: Sensor,
    written: Written,
    wire: Wire,
    view: Option<View>,
    quiet: bool,
    counts: Counts,
    /// The time of the last error that reported a missing receiver; `None` once there is a receiver.
    unheard_at: Option<Instant>,
}

impl Feed {
    async fn run(
        mut self,
        clock: Clock,
        lasts: Option<Duration>,
        robot: Option<oneshot::Receiver<Failure>>,
    ) -> Outcome {
        let mut signals = Signals::listen(OnSignal::Nothing)?;
        let begun = clock.now();
        let end = lasts.map(|lasts| begun + lasts);
        let robot = async {
            match robot {
                // A thread that ends without a result has nothing to report.
                Some(ended) => match ended.await {
                    Ok(failure) => failure,
                    Err(_) => pending().await,
                },
                None => pending().await,
            }
        };
        let mut robot = std::pin::pin!(robot);
        let outcome = loop {
            let due = self.sensor.next_event().map(|due| begun + Duration::from_micros(due.as_micros()));
            let again = self.wire.is_in_a_message().then(|| clock.now() + AGAIN);
            if due.is_none() && again.is_none() {
                break Ok(());
            }
            let wake = [due, again, end].into_iter().flatten().min();
            tokio::select! {
                biased;
                _ = signals.next() => break Ok(()),
                failure = &mut robot => break Err(failure),
                () = sleep_until_some(clock, wake) => {}
            }
            let now = clock.now();
            if end.is_some_and(|end| now >= end) {
                break Ok(());
            }
            if let Err(error) = self.step(begun, now) {
                break self.ended(&error);
            }
        };
        tell(self.quiet, &self.summary(clock.now().since(begun)));
        outcome
    }

    /// Sends the sensor readings that are due at `now`.
    fn step(&mut self, begun: Instant, now: Instant) -> std::io::Result<()> {
        self.wire.go_on()?;
        let sim = SimTime::from_micros(now.since(begun).as_micros());
        loop {
            let ahead = self.view.as_ref().map_or(Some(0.0), View::distance);
            let Some(sent) = self.sensor.send(sim, ahead) else { return Ok(()) };
            let garbage = matches!(sent, Sent::Garbage(_));
            let hurt = matches!(sent, Sent::Reading { hurt: Some(_), .. });
            let Some(message) = self.written.message(sent) else {
                self.counts.silent += 1;
                continue;
            };
            let offered = self.wire.offer(&message)?;
            match offered {
                Offered::Taken => {
                    self.counts.sent += 1;
                    self.counts.bytes += message.len() as u64;
                    self.counts.garbage += u64::from(garbage);
                    self.counts.hurt += u64::from(hurt);
                }
                Offered::Full => self.counts.full += 1,
                Offered::Unheard => self.counts.unheard += 1,
            }
            self.say_how(offered, now);
        }
    }

    /// Reports that a receiver of the sensor's readings is missing, or present again. A destination without room is
    /// reported once.
    fn say_how(&mut self, offered: Offered, now: Instant) {
        match (offered, self.unheard_at) {
            (Offered::Unheard, before) => {
                self.unheard_at = Some(now);
                if before.is_none() {
                    tell(self.quiet, "no reader yet: readings are dropped");
                }
            }
            (Offered::Taken, Some(at)) if now.since(at) >= HEARD => {
                self.unheard_at = None;
                tell(self.quiet, "reader connected");
            }
            (Offered::Full, _) if self.counts.full == 1 => {
                tell(self.quiet, "the line is full: readings are dropped");
            }
            _ => {}
        }
    }

    /// Returns the outcome of `outrigger sim sensor` after an error in sending readings. It is no failure if the reader
    /// of standard output has closed it.
    fn ended(&self, error: &std::io::Error) -> Outcome {
        if self.quiet {
            return output_closed(error);
        }
        Err(Failure::Connection(format!(
            "the line was lost: {error}; plug it in, or start its reader, then run this again"
        )))
    }

    fn summary(&self, lasted: Duration) -> String {
        let Counts { sent, bytes, garbage, hurt, silent, full, unheard } = self.counts;
        let mut text = format!("sent {sent} messages, {bytes} B, in {:.1} s", lasted.as_secs_f64());
        for (count, what) in [
            (garbage, "of them garbage"),
            (hurt, "of them with a bit changed"),
            (silent, "not sent: by the script, or no surface ahead"),
            (full, "dropped: line full"),
            (unheard, "dropped: no reader"),
            (self.sensor.missed(), "missed: this process was not scheduled"),
        ] {
            if count > 0 {
                text += &format!("; {count} {what}");
            }
        }
        text
    }
}
