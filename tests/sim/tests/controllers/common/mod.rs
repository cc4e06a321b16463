//! A test bench: a controller in virtual time, clients, and packets that are read by the offsets of the
//! specification, without the core's parser.

pub(crate) mod reverse;

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_sim::arm::Drive;
use outrigger_sim::controller::{Conn, Controller, Options, Refused};
use outrigger_sim::dial::Dial;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

/// Returns options of a simulated controller whose drives follow each target in the same cycle, so that tests can count
/// cycles.
pub(crate) fn ideal(major: u8, minor: u8) -> Options {
    let mut options = Options::for_software(SoftwareVersion::new(major, minor));
    options.drive = Drive::IDEAL;
    options
}

/// The answer of a server to a connection that a program on the simulated controller opens.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// A server accepts the connection after this time.
    After(Duration),
    /// The connection is refused.
    Refuse,
}

/// A simulated controller in virtual time, the bytes that its clients have received, and servers for its programs.
pub(crate) struct Bench {
    pub(crate) controller: Controller,
    /// The answer of the server on each port to programs. Connections to other ports stay unanswered.
    answers: BTreeMap<u16, Answer>,
    /// The connections that programs are opening, each with the time at which a server answers it.
    ringing: Vec<(SimTime, Dial)>,
    /// The connections of programs that a server has answered and that the test has not accepted yet.
    answered: Vec<Dial>,
    received: BTreeMap<Conn, Vec<u8>>,
    segments: BTreeMap<Conn, Vec<(SimTime, usize)>>,
}

impl Bench {
    pub(crate) fn new(options: Options) -> Self {
        let controller = Controller::new(options).unwrap();
        Self {
            controller,
            answers: BTreeMap::new(),
            ringing: vec![],
            answered: vec![],
            received: BTreeMap::new(),
            segments: BTreeMap::new(),
        }
    }

    pub(crate) fn software(major: u8, minor: u8) -> Self {
        Self::new(ideal(major, minor))
    }

    pub(crate) fn connect(&mut self, port: Port) -> Conn {
        let conn = self.controller.connect(port).unwrap();
        self.received.insert(conn, vec![]);
        self.segments.insert(conn, vec![]);
        self.drain();
        conn
    }

    /// Advances the controller by `millis` of virtual time. Every client reads all arriving bytes.
    pub(crate) fn run(&mut self, millis: u64) {
        self.run_for(Duration::from_millis(millis));
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.controller.now() + span;
        while self.controller.now() < end {
            let ringing = self.ringing.iter().map(|(at, _)| *at).min().unwrap_or(SimTime::MAX);
            let next = self.controller.next_event().min(end).min(ringing);
            self.controller.advance_to(next);
            self.drain();
        }
    }

    /// Runs for `count` whole control cycles.
    pub(crate) fn cycles(&mut self, count: u32) {
        self.run_for(self.controller.period() * count);
    }

    /// Runs until just after the next control cycle.
    pub(crate) fn next_cycle(&mut self) {
        let cycles = self.controller.cycles();
        while self.controller.cycles() == cycles {
            let next = self.controller.next_event();
            self.controller.advance_to(next);
            self.drain();
        }
    }

    /// Sets the answer of the server on this port to connections of programs from now on.
    pub(crate) fn serve(&mut self, port: u16, answer: Answer) {
        self.answers.insert(port, answer);
    }

    /// Takes the next answered connection of a program to this port, if there is one.
    pub(crate) fn accept(&mut self, port: u16) -> Option<Conn> {
        let at = self.answered.iter().position(|dial| dial.port == port)?;
        Some(self.answered.remove(at).conn)
    }

    fn answer_calls(&mut self) {
        let now = self.controller.now();
        while let Some(dial) = self.controller.poll_dial() {
            match self.answers.get(&dial.port) {
                Some(Answer::After(time)) => self.ringing.push((now + *time, dial)),
                Some(Answer::Refuse) => self.controller.dialled(dial.conn, Err(Refused)),
                None => {}
            }
        }
        let (due, later) = std::mem::take(&mut self.ringing).into_iter().partition(|(at, _)| *at <= now);
        self.ringing = later;
        let due: Vec<(SimTime, Dial)> = due;
        for (_, dial) in due {
            self.controller.dialled(dial.conn, Ok(()));
            self.received.insert(dial.conn, vec![]);
            self.segments.insert(dial.conn, vec![]);
            self.answered.push(dial);
        }
    }

    fn drain(&mut self) {
        self.answer_calls();
        let mut buffer = [0; 4096];
        for (conn, all) in &mut self.received {
            loop {
                let n = self.controller.read(*conn, &mut buffer);
                if n == 0 {
                    break;
                }
                all.extend_from_slice(&buffer[..n]);
                self.segments.get_mut(conn).unwrap().push((self.controller.now(), n));
            }
        }
    }

    pub(crate) fn send(&mut self, conn: Conn, text: &str) {
        self.send_bytes(conn, text.as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, conn: Conn, bytes: &[u8]) {
        assert_eq!(self.controller.write(conn, bytes), bytes.len());
        self.drain();
    }

    /// Takes the texts of programs' `textmsg` calls and errors from the messages that a client of 30001 has received.
    pub(crate) fn told(&mut self, primary: Conn) -> Vec<String> {
        let messages = self.messages(primary).into_iter().filter(|message| message[4] == 20);
        let texts = messages.filter_map(|message| match message[14] {
            0 => Some(message[15..].to_vec()),
            10 => Some(message[23..].to_vec()),
            _ => None,
        });
        texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
    }

    /// Takes the bytes that a client has received.
    pub(crate) fn take(&mut self, conn: Conn) -> Vec<u8> {
        std::mem::take(self.received.get_mut(&conn).unwrap())
    }

    /// Takes the times and sizes of the segments that a client has received.
    pub(crate) fn take_segments(&mut self, conn: Conn) -> Vec<(SimTime, usize)> {
        self.take(conn);
        std::mem::take(self.segments.get_mut(&conn).unwrap())
    }

    /// Takes the bytes that a client has received as messages, split by the length at the start of each.
    pub(crate) fn messages(&mut self, conn: Conn) -> Vec<Vec<u8>> {
        let bytes = self.take(conn);
        let mut rest = bytes.as_slice();
        let mut messages = vec![];
        while !rest.is_empty() {
            let size = i32_at(rest, 0) as usize;
            assert!(size >= 5 && size <= rest.len(), "length {size} of {}", rest.len());
            messages.push(rest[..size].to_vec());
            rest = &rest[size..];
        }
        messages
    }

    /// Sends an RTDE package with this letter as its type to port 30004.
    pub(crate) fn package(&mut self, conn: Conn, letter: u8, payload: &[u8]) {
        let size = u16::try_from(payload.len() + 3).unwrap();
        let bytes = [&size.to_be_bytes()[..], &[letter], payload].concat();
        assert_eq!(self.controller.write(conn, &bytes), bytes.len());
        self.drain();
    }

    /// Takes the packages that a client of 30004 has received: letters and payloads.
    pub(crate) fn packages(&mut self, conn: Conn) -> Vec<(u8, Vec<u8>)> {
        let bytes = self.take(conn);
        let mut rest = bytes.as_slice();
        let mut packages = vec![];
        while !rest.is_empty() {
            let size = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
            assert!(size >= 3 && size <= rest.len(), "length {size} of {}", rest.len());
            packages.push((rest[2], rest[3..size].to_vec()));
            rest = &rest[size..];
        }
        packages
    }

    /// Returns the payload of the only package with this letter that a client of 30004 has received.
    pub(crate) fn answer(&mut self, conn: Conn, letter: u8) -> Vec<u8> {
        let packages = self.packages(conn);
        let mut of_letter = packages.iter().filter(|(found, _)| *found == letter);
        let (Some((_, payload)), None) = (of_letter.next(), of_letter.next()) else { panic!("{packages:?}") };
        payload.clone()
    }

    /// Connects an RTDE client in protocol version 2, sets up these outputs and starts them. Returns the connection.
    pub(crate) fn subscribe(&mut self, frequency: f64, names: &str) -> Conn {
        let conn = self.connect(Port::Rtde);
        self.package(conn, b'V', &[0, 2]);
        self.package(conn, b'O', &[&frequency.to_be_bytes()[..], names.as_bytes()].concat());
        self.package(conn, b'S', b"");
        let answers: Vec<u8> = self.packages(conn).into_iter().map(|(letter, _)| letter).collect();
        assert_eq!(answers, b"VOS");
        conn
    }

    /// Sends a request to 29999 and returns the line that answers it. Waits at most 10 s.
    pub(crate) fn ask(&mut self, conn: Conn, request: &str) -> String {
        self.lines(conn);
        self.send(conn, &format!("{request}\n"));
        for _ in 0..1000 {
            if let [line, more @ ..] = &self.lines(conn)[..] {
                assert!(more.is_empty(), "{request}: {more:?}");
                return line.clone();
            }
            self.run(10);
        }
        panic!("no reply to {request}")
    }

    /// Takes the lines that a client has received.
    pub(crate) fn lines(&mut self, conn: Conn) -> Vec<String> {
        String::from_utf8(self.take(conn)).unwrap().lines().map(str::to_owned).collect()
    }

    pub(crate) fn qd_target(&self) -> [f64; 6] {
        self.controller.truth().targets.qd
    }
}

pub(crate) fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

pub(crate) fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

pub(crate) fn near(a: [f64; 6], b: [f64; 6], tolerance: f64) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance), "{a:?} is not {b:?} within {tolerance}");
}
