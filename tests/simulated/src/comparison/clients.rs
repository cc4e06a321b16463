//! Clients as they were before Outrigger: they send lines and programs of `servoj` by a clock of their own.

use std::fmt::Write as _;
use std::time::Duration;

use outrigger_sim::controller::{Conn, Controller};
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_sim::rng::Rng;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

use super::course::{Course, Sample, Wanted};
use super::mechanism::{DELAYED_ACK, Mechanisms};

/// The method by which a client sends its positions to the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Client {
    /// One line of `servoj` every 8 ms. Each line is a program.
    Lines,
    /// One program of all positions, with two lines for each: an assignment of the position, and the call of
    /// `servoj`.
    Precomputed,
    /// A program with a thread that calls `servoj` and a socket from which it reads positions. The client sends four
    /// positions in the time of one call.
    Threaded {
        /// The time parameter of a `servoj` call \[s\].
        time: f64,
        /// The look-ahead time \[s\], if the software takes one.
        lookahead: Option<f64>,
        /// `true` if the program is uploaded before the motion and stays; `false` if it is uploaded for the motion.
        resident: bool,
    },
}

/// The task of a client: the controller that it commands, and the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The software version of the controller.
    pub software: SoftwareVersion,
    /// The method by which the client sends its positions.
    pub client: Client,
    /// `true` if the operator moves the speed slider during the motion.
    pub slides: bool,
}

/// The time at which the client receives the request to move the arm; a random part of 16 ms is added.
const ASKED: SimTime = SimTime::from_secs(1);
/// The time between two `servoj` lines that a client sends, and between two positions of a precomputed program \[s\].
/// It is also the time parameter of these calls.
const POINT: f64 = 0.008;
/// The time for which the client repeats the last position to a resident program \[s\].
const HELD: f64 = 1.0;
/// The number of the client's port to which programs connect.
const PORT: u16 = 50_001;
/// The positions of the speed slider, each with its time after the motion was requested.
pub(super) const SLIDER: [(Duration, f64); 3] =
    [(Duration::from_millis(700), 0.5), (Duration::from_millis(1_900), 0.2), (Duration::from_millis(3_200), 1.0)];

struct Run {
    task: Task,
    wanted: Wanted,
    controller: Controller,
    text: Conn,
    /// The connection that the program made to the client.
    reverse: Option<Conn>,
    /// The program's connection attempts, each with the time at which the client accepts it.
    calls: Vec<(SimTime, Conn)>,
    latency: Duration,
    waking: Duration,
    rng: Rng,
    /// The time of the request to the client.
    asked: SimTime,
    /// The time at which the client began to send its motion; `None` before.
    begun: Option<SimTime>,
    /// The number of positions sent; `next` is the time at which the next is due.
    sent: u32,
    next: SimTime,
    start: [f64; 6],
}

/// Executes one run of a client. Returns the course of the joint.
pub(super) fn run(task: Task, mechanisms: Mechanisms, seed: u64) -> Course {
    let mut options = mechanisms.controller(task.software, seed, DELAYED_ACK);
    let latency = mechanisms.latency();
    options.faults.push(Fault::new(FaultKind::Delay(latency), SimTime::ZERO, None));
    let mut rng = Rng::new(seed, 77);
    let asked = ASKED + Duration::from_micros(rng.up_to(16_000));
    if task.slides {
        for (after, slider) in SLIDER {
            options.faults.push(Fault::new(FaultKind::Slider(slider), asked + after, None));
        }
    }
    let start = options.q;
    let mut controller = Controller::new(options).expect("a robot");
    let text = controller.connect(Port::Realtime).expect("30003 is served");
    let first = match task.client {
        Client::Threaded { resident: true, .. } => SimTime::from_millis(100),
        Client::Threaded { resident: false, .. } => asked + mechanisms.upload(),
        Client::Precomputed | Client::Lines => asked,
    };
    let mut run = Run {
        task,
        wanted: Wanted::ThereAndBack,
        controller,
        text,
        reverse: None,
        calls: vec![],
        latency,
        waking: mechanisms.waking(),
        rng,
        asked,
        begun: None,
        sent: 0,
        next: first,
        start,
    };
    run.live()
}

impl Run {
    fn live(&mut self) -> Course {
        let end = self.asked + Duration::from_secs_f64(self.wanted.length() + 2.5);
        let mut samples = vec![];
        while self.controller.now() < end {
            let calls = self.calls.iter().map(|(at, _)| *at).min().unwrap_or(SimTime::MAX);
            let next = self.controller.next_event().min(self.next).min(calls).min(end);
            let cycles = self.controller.cycles();
            self.controller.advance_to(next);
            if self.controller.cycles() != cycles {
                samples.push(self.sample());
            }
            self.read();
            self.answer_calls();
            if self.next <= self.controller.now() {
                self.next = self.wake();
            }
        }
        let stopped = !self.controller.robot().may_move();
        Course { wanted: self.wanted, samples, stopped }
    }

    /// Returns a sample of the arm's motion. At the beginning of a cycle, the simulation moves the arm to its
    /// position at the end of that cycle.
    fn sample(&self) -> Sample {
        let at = self.controller.now() + self.controller.period();
        let t = at.as_secs_f64() - self.asked.as_secs_f64();
        let arm = self.controller.truth();
        Sample {
            t,
            own: t,
            q: arm.q[0] - self.start[0],
            qd: arm.qd[0],
            target: arm.targets.qd[0],
            scaling: arm.scaling,
        }
    }

    /// Reads all data that the controller publishes to the client, and discards them.
    fn read(&mut self) {
        let mut buffer = [0; 2048];
        for conn in [Some(self.text), self.reverse].into_iter().flatten() {
            while self.controller.read(conn, &mut buffer) > 0 {}
        }
    }

    fn answer_calls(&mut self) {
        let now = self.controller.now();
        while let Some(dial) = self.controller.poll_dial() {
            assert_eq!(dial.port, PORT, "the program calls the client");
            self.calls.push((now + self.latency * 2, dial.conn));
        }
        if let Some(due) = self.calls.iter().position(|(at, _)| *at <= now) {
            let (_, conn) = self.calls.remove(due);
            self.controller.dialled(conn, Ok(()));
            self.reverse = Some(conn);
            if self.task.client.is_resident() {
                self.next = self.asked;
            } else {
                self.begun = Some(now);
                self.next = now;
            }
        }
    }

    /// Sends what is due when the client wakes up. Returns the time at which it wakes up next.
    fn wake(&mut self) -> SimTime {
        let now = self.controller.now();
        match self.task.client {
            Client::Precomputed => {
                let text = self.precomputed();
                self.write(self.text, text.as_bytes());
                SimTime::MAX
            }
            Client::Lines => {
                let begun = *self.begun.get_or_insert(now);
                let t = now.since(begun).as_secs_f64();
                let line = format!("servoj({}, 0, 0, {POINT})\n", list(self.position(t)));
                self.write(self.text, line.as_bytes());
                if t >= self.wanted.length() { SimTime::MAX } else { self.tick(begun, POINT) }
            }
            Client::Threaded { time, .. } => match self.reverse {
                None => {
                    let program = self.program();
                    self.write(self.text, program.as_bytes());
                    SimTime::MAX
                }
                Some(conn) => {
                    let begun = *self.begun.get_or_insert(now);
                    let t = now.since(begun).as_secs_f64();
                    let end = self.wanted.length() + if self.task.client.is_resident() { HELD } else { 0.0 };
                    let last = t >= end && !self.task.client.is_resident();
                    let words = self.position(t).map(|q| (q * 1e6).round() as i32);
                    let words = words.into_iter().chain([i32::from(!last)]);
                    let bytes: Vec<u8> = words.flat_map(i32::to_be_bytes).collect();
                    self.write(conn, &bytes);
                    if t >= end { SimTime::MAX } else { self.tick(begun, time / 4.0) }
                }
            },
        }
    }

    /// Returns the time at which the client sends its next position, `interval` \[s\] after the one before, with the
    /// random delay of its wake-up.
    fn tick(&mut self, begun: SimTime, interval: f64) -> SimTime {
        self.sent += 1;
        let late = self.rng.up_to(u64::try_from(self.waking.as_micros()).unwrap_or(0));
        let due = begun + Duration::from_secs_f64(f64::from(self.sent) * interval) + Duration::from_micros(late);
        due.max(self.controller.now() + Duration::from_micros(1))
    }

    fn position(&self, t: f64) -> [f64; 6] {
        let mut q = self.start;
        q[0] += self.wanted.at(t);
        q
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) {
        let taken = self.controller.write(conn, bytes);
        assert_eq!(taken, bytes.len(), "a text of {} bytes is taken whole", bytes.len());
    }

    /// Returns a program that contains all positions of the motion.
    fn precomputed(&self) -> String {
        let points = (self.wanted.length() / POINT).round() as u32;
        let mut text = String::from("def precomputed():\n");
        for point in 1..=points {
            let q = self.position(f64::from(point) * POINT);
            let _ = writeln!(text, "\tq = {}\n\tservoj(q, 0, 0, {POINT})", list(q));
        }
        text + "end\n"
    }

    fn program(&self) -> String {
        let Client::Threaded { time, lookahead, .. } = self.task.client else { return String::new() };
        let call = match lookahead {
            None => format!("servoj(q, 0, 0, {time})"),
            Some(lookahead) => format!("servoj(q, 0, 0, {time}, {lookahead}, 300)"),
        };
        // The driver of 2015 was made for software without a look-ahead.
        let brake = if lookahead.is_some() { "stopj(1.0)" } else { "sync()" };
        let program = include_str!("threaded.script").replace("SERVOJ", &call).replace("BRAKE", brake);
        program.replace("HOST", "192.168.56.1").replace("PORT", &PORT.to_string())
    }
}

impl Client {
    const fn is_resident(self) -> bool {
        matches!(self, Self::Threaded { resident: true, .. })
    }
}

/// Returns joint positions as a list in URScript.
fn list(q: [f64; 6]) -> String {
    let numbers: Vec<String> = q.iter().map(|value| format!("{value:.5}")).collect();
    format!("[{}]", numbers.join(", "))
}
