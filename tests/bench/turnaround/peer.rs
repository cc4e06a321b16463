//! The load: a simulated controller that sends packets at absolute deadlines, and measures the arrival of the answers.

#![expect(clippy::disallowed_methods, reason = "this program measures time")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

const PERIOD: Duration = Duration::from_millis(2);
/// The time before its deadline at which the controller is awake, to send each packet exactly then.
const AWAKE: Duration = Duration::from_micros(250);
/// The limit on the delay of a packet after its deadline. With a longer delay the simulated controller itself was late,
/// and the cycle is not measured.
const PUNCTUAL: Duration = Duration::from_micros(200);
/// The longest wait for the first moving command of the measured process \[cycles\].
const PATIENCE: u32 = 5_000;
/// The number of cycles in motion before the measurement begins.
const WARM_UP: u32 = 250;
/// The number of cycles after an unanswered one in which an answer may belong to an earlier state.
const CATCH_UP: u32 = 3;
/// The longest wait for an answer, or for an idle process, while the clock of the measured process advances only with
/// the states.
const STEP: Duration = Duration::from_secs(20);
/// The time of silence on the connection after which no data is in transit.
const QUIET: Duration = Duration::from_millis(300);

/// The results of one block of measured cycles.
pub(crate) struct Block {
    /// The times from a packet's departure to its answer's arrival \[µs\], sorted.
    pub(crate) micros: Vec<f64>,
    /// The number of measured cycles.
    pub(crate) cycles: u32,
    /// The number of measured cycles that were answered before the next packet left.
    pub(crate) answered: u32,
    /// The number of wake-ups of the whole measured process per cycle of the block.
    pub(crate) wakes_per_cycle: f64,
    /// The number of threads of the measured process.
    pub(crate) threads: usize,
}

impl Block {
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let index = (share * (self.micros.len() - 1) as f64).round() as usize;
        self.micros[index]
    }
}

/// A TCP connection and the simulated connection that it carries.
struct Client {
    stream: TcpStream,
    conn: Conn,
}

/// The simulated controller with the two ports that a co-controller uses.
pub(crate) struct Peer {
    controller: Controller,
    listeners: [(Port, TcpListener); 2],
    primary: Vec<Client>,
    realtime: Option<Client>,
    port_base: u16,
}

impl Peer {
    pub(crate) fn new() -> Self {
        let controller = Controller::new(Options::for_software(SoftwareVersion::new(5, 15))).expect("a controller");
        let listen = |port: Port, base| TcpListener::bind((Ipv4Addr::LOCALHOST, port.at_base(base)?)).ok();
        let (port_base, listeners) = (47_000..60_000)
            .step_by(16)
            .find_map(|base| {
                let listeners = [Port::Primary, Port::Realtime].map(|port| listen(port, base).map(|l| (port, l)));
                let [Some(primary), Some(realtime)] = listeners else { return None };
                Some((base, [primary, realtime]))
            })
            .expect("two free ports");
        for (_, listener) in &listeners {
            listener.set_nonblocking(true).expect("a listener");
        }
        Self { controller, listeners, primary: vec![], realtime: None, port_base }
    }

    pub(crate) fn port_base(&self) -> u16 {
        self.port_base
    }

    pub(crate) fn realtime_port(&self) -> u16 {
        Port::Realtime.at_base(self.port_base).expect("it listens there")
    }

    /// Serves the measured process as its controller until `cycles` of commanded motion are measured.
    ///
    /// # Errors
    /// The process never commanded, or stopped.
    pub(crate) fn measure(&mut self, process: u32, cycles: u32) -> Result<Block, &'static str> {
        let mut block = Block { micros: vec![], cycles: 0, answered: 0, wakes_per_cycle: 0.0, threads: 0 };
        let start = Instant::now();
        let (mut moving, mut woken, mut catching_up) = (0, 0, 0);
        for cycle in 1..PATIENCE + WARM_UP + cycles {
            let deadline = start + PERIOD * cycle;
            // Not woken for the deadline itself: a controller sends more exactly than a thread is woken here.
            std::thread::sleep((deadline - AWAKE).saturating_duration_since(Instant::now()));
            self.accept();
            self.controller.advance_to(SimTime::ZERO + PERIOD * cycle);
            self.serve_primary();
            while Instant::now() < deadline {
                std::hint::spin_loop();
            }

            let left = Instant::now();
            let until = deadline + PERIOD - Duration::from_micros(50);
            let sent = self.send()?;
            let answer = if sent { self.answer(until, moving > 0)? } else { None };

            let commands = self.controller.truth().targets.qd.iter().any(|qd| qd.abs() > 1e-6);
            if moving == 0 && !commands {
                if cycle > PATIENCE {
                    return Err("no command came");
                }
                continue;
            }
            moving += 1;
            if moving == WARM_UP {
                (woken, _) = wakes(process);
            }
            if moving < WARM_UP {
                continue;
            }
            if left - deadline < PUNCTUAL {
                block.cycles += 1;
                if let Some(at) = answer {
                    block.answered += 1;
                    if catching_up == 0 {
                        block.micros.push((at - left).as_nanos() as f64 / 1e3);
                    }
                }
            }
            catching_up = if answer.is_none() { CATCH_UP } else { u32::saturating_sub(catching_up, 1) };
            if moving == WARM_UP + cycles {
                let (woken_by_now, threads) = wakes(process);
                block.wakes_per_cycle = (woken_by_now - woken) as f64 / f64::from(cycles);
                block.threads = threads;
                block.micros.sort_by(f64::total_cmp);
                let (programs, _) = self.controller.program();
                let stopped = !programs || block.micros.is_empty();
                return if stopped { Err("commanding ended within the block") } else { Ok(block) };
            }
        }
        Err("no command came")
    }

    /// Serves the measured process as its controller until it has answered `cycles` states, each before the next one is
    /// sent, however long it takes. Until the arm moves, a state is sent only after the process has handled the
    /// previous one and waits.
    ///
    /// # Errors
    /// The process never commanded, or stopped.
    pub(crate) fn lockstep(&mut self, process: u32, cycles: u32) -> Result<(), &'static str> {
        let (mut answered, mut moved) = (None, false);
        // A ROS 2 node takes a long time to start under Valgrind.
        for cycle in 1..10 * PATIENCE + cycles {
            self.accept();
            self.controller.advance_to(SimTime::ZERO + PERIOD * cycle);
            self.serve_primary();
            moved |= self.controller.truth().targets.qd.iter().any(|qd| qd.abs() > 1e-6);
            if !self.send()? {
                std::thread::sleep(PERIOD);
                continue;
            }
            // Most states during arming have no answer, until a program is reported to run.
            let patience = if moved {
                STEP
            } else {
                self.wait_until_idle(process)?;
                PERIOD
            };
            if self.answer(Instant::now() + patience, false)?.is_none() {
                if moved {
                    return Err("a state was not answered");
                }
            } else if let Some(answered) = &mut answered {
                *answered += 1;
                if *answered == cycles {
                    return Ok(());
                }
            } else {
                // The first answer. From here on no data is in transit when a state is sent.
                while self.answer(Instant::now() + QUIET, false)?.is_some() {}
                answered = Some(0);
            }
        }
        Err("no command came")
    }

    fn accept(&mut self) {
        for (port, listener) in &self.listeners {
            while let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(true).expect("a socket");
                stream.set_nodelay(true).expect("a socket");
                let conn = self.controller.connect(*port).expect("room for a client");
                let client = Client { stream, conn };
                match port {
                    Port::Realtime => self.realtime = Some(client),
                    _ => self.primary.push(client),
                }
            }
        }
    }

    fn serve_primary(&mut self) {
        let mut buffer = [0; 8192];
        for client in &mut self.primary {
            let n = self.controller.read(client.conn, &mut buffer);
            // A client that has disconnected does not matter for this measurement.
            let _ = client.stream.write_all(&buffer[..n]);
        }
    }

    /// Sends the state of this cycle to the measured process; returns `false` if it is not connected or there is no
    /// state.
    fn send(&mut self) -> Result<bool, &'static str> {
        let mut packet = [0; 4096];
        let Some(client) = &mut self.realtime else { return Ok(false) };
        let n = self.controller.read(client.conn, &mut packet);
        client.stream.write_all(&packet[..n]).map_err(|_| "the connection broke")?;
        Ok(n > 0)
    }

    /// Waits until the measured process has read all states and waits for more, so that a slow process does not fall
    /// behind the robot.
    ///
    /// # Errors
    /// The process was not idle within [`STEP`].
    fn wait_until_idle(&self, process: u32) -> Result<(), &'static str> {
        let Some(client) = &self.realtime else { return Ok(()) };
        let ports = [client.stream.peer_addr(), client.stream.local_addr()].map(|address| address.map(|at| at.port()));
        let [Ok(theirs), Ok(own)] = ports else { return Err("the connection broke") };
        let until = Instant::now() + STEP;
        while unread(theirs, own).is_some_and(|bytes| bytes > 0) || !waits(process) {
            if Instant::now() >= until {
                return Err("the process does not wait for a state");
            }
            std::thread::sleep(PERIOD / 20);
        }
        Ok(())
    }

    /// Waits until `until` for a command of the measured process. Returns the time of its arrival; `None` if none
    /// arrived. If `awake` is `true`, this thread does not sleep, so that only the wake-up of the process is measured.
    fn answer(&mut self, until: Instant, awake: bool) -> Result<Option<Instant>, &'static str> {
        let mut text = [0; 4096];
        let Some(client) = &mut self.realtime else { return Ok(None) };
        loop {
            match client.stream.read(&mut text) {
                Ok(0) => return Err("the connection was closed"),
                Ok(n) => {
                    let now = Instant::now();
                    self.controller.write(client.conn, &text[..n]);
                    return Ok(Some(now));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if Instant::now() >= until {
                        return Ok(None);
                    }
                    if awake {
                        std::hint::spin_loop();
                    } else {
                        std::thread::sleep(PERIOD / 20);
                    }
                }
                Err(_) => return Err("the connection broke"),
            }
        }
    }
}

/// Returns the number of received bytes that a process of this machine has not yet read from its connection between
/// port `local` and port `remote` (`rx_queue` of `/proc/net/tcp`); `None` if there is no such connection.
fn unread(local: u16, remote: u16) -> Option<u32> {
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let mut port = || fields.next()?.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        if (port()?, port()?) != (local, remote) {
            return None;
        }
        u32::from_str_radix(fields.nth(1)?.split_once(':')?.1, 16).ok()
    })
}

/// Returns whether the first thread of `process` waits in `ppoll`, according to `/proc/PID/syscall`. `false` as soon as
/// it is about to run.
fn waits(process: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{process}/syscall")).unwrap_or_default();
    call.split(' ').next().and_then(|number| number.parse().ok()) == Some(libc::SYS_ppoll)
}

/// Returns the number of wake-ups (voluntary context switches) of all threads of `process` since their start, and the
/// number of threads.
fn wakes(process: u32) -> (u64, usize) {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    let counts: Vec<u64> = tasks
        .flatten()
        .filter_map(|task| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
        })
        .collect();
    (counts.iter().sum(), counts.len())
}
