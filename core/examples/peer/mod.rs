//! A simulated controller for examples and trace tests, with just enough of 30001, 30003 and 30004 to be commanded.
//!
//! The arm is ideal: it has the commanded speed in the next cycle. `outrigger-sim` is the realistic simulator.

#![allow(unreachable_pub, reason = "tests of several packages use it, and an example that is a program")]

pub mod rtde;

use outrigger_core::engine::ur::LINKS;
use std::collections::VecDeque;

use outrigger_core::engine::LinkId;
use outrigger_wire::primary;
use outrigger_wire::realtime;
use outrigger_wire::robot::{MessageSource, SoftwareVersion};
use outrigger_wire::rtde::Value;

/// A simulated UR controller with its arm.
#[derive(Clone, Debug)]
pub struct Peer {
    software: SoftwareVersion,
    /// The time on the simulated controller's clock \[µs\].
    pub micros: u64,
    /// The joint angles of the simulated arm \[rad\], base joint first.
    pub q: [f64; 6],
    /// The joint speeds of the simulated arm \[rad/s\], base joint first.
    pub qd: [f64; 6],
    /// `true` to drop program text without a reply, as a controller in local control does.
    pub local: bool,
    /// The safety mode by its number; all except 1 and 2 stop the arm.
    pub safety: u8,
    /// The levels of the digital inputs; bit 0 is the first.
    pub digital_inputs: u64,
    /// The levels of the digital outputs; bit 0 is the first.
    pub digital_outputs: u64,
    /// `true` if a program of another sender runs on the simulated controller.
    pub foreign: bool,
    /// The program that moves the simulated arm; `None` if there is none. The joint speeds that it has set become zero
    /// at its end if it `stops_at_end`, and otherwise stay in force.
    program: Option<Program>,
    /// The URScript programs that were received completely, in order.
    pub programs: Vec<String>,
    text: String,
    /// The simulated RTDE service on port 30004.
    pub rtde: rtde::Service,
    /// The bytes waiting to be sent on ports 30001 and 30003.
    out: [VecDeque<u8>; 2],
    open: [bool; LINKS.len()],
    first_state_due: bool,
}

#[derive(Clone, Copy, Debug)]
struct Program {
    ends_at: u64,
    stops_at_end: bool,
}

impl Peer {
    /// Creates a simulated controller with this software version, with the arm at rest and no program.
    pub fn new(software: SoftwareVersion) -> Self {
        Self {
            software,
            micros: 1_000_000,
            q: [0.0, -1.5, 1.5, -1.5, -1.5, 0.0],
            qd: [0.0; 6],
            local: false,
            safety: 1,
            digital_inputs: 0,
            digital_outputs: 0,
            foreign: false,
            program: None,
            programs: Vec::new(),
            text: String::new(),
            rtde: rtde::Service::new(software),
            out: Default::default(),
            open: [false; LINKS.len()],
            first_state_due: false,
        }
    }

    /// Returns the period of the simulated controller's control cycle \[µs\], in which it publishes states on ports
    /// 30003 and 30004. On port 30001 it publishes one every 100 ms.
    pub fn period(&self) -> u64 {
        self.software.generation().period_micros()
    }

    /// Opens a client's connection to the simulated controller and sends the client the messages that are due at once.
    pub fn open(&mut self, link: LinkId) {
        self.open[link.index()] = true;
        self.out_mut(link).clear();
        match link {
            LinkId::PRIMARY => {
                self.send_version();
                self.first_state_due = true;
            }
            LinkId::REALTIME => self.text.clear(),
            _ => self.rtde.open(),
        }
    }

    /// Closes a client's connection to the simulated controller and drops the bytes that the client has not read.
    pub fn close(&mut self, link: LinkId) {
        self.open[link.index()] = false;
        self.out_mut(link).clear();
    }

    fn out_mut(&mut self, link: LinkId) -> &mut VecDeque<u8> {
        match self.out.get_mut(link.index()) {
            Some(out) => out,
            None => &mut self.rtde.out,
        }
    }

    /// Returns bytes that the simulated controller has sent on `link` and the client has not read so far; at most
    /// `most`.
    pub fn read(&mut self, link: LinkId, most: usize) -> Vec<u8> {
        let out = self.out_mut(link);
        let rest = out.split_off(most.min(out.len()));
        std::mem::replace(out, rest).into()
    }

    /// Passes bytes from a client to the simulated controller: program text on port 30003, RTDE packages on port 30004.
    pub fn write(&mut self, link: LinkId, bytes: &[u8]) {
        if link == LinkId::RTDE {
            return self.rtde.write(bytes);
        }
        self.text.push_str(std::str::from_utf8(bytes).expect("we only send ASCII"));
        while let Some(end) = self.end_of_program() {
            let program: String = self.text.drain(..end).collect();
            if !self.local {
                self.run(&program);
            }
            self.programs.push(program);
        }
    }

    /// Runs one control cycle of the simulated controller: the arm moves by one period, and states are sent on open
    /// connections.
    pub fn cycle(&mut self) {
        let period = self.period();
        self.micros += period;
        if let Some(program) = self.program
            && self.micros >= program.ends_at
        {
            self.program = None;
            if program.stops_at_end {
                self.qd = [0.0; 6];
            }
        }
        if !matches!(self.safety, 1 | 2) {
            self.program = None;
            self.foreign = false;
            self.qd = [0.0; 6];
        }
        for (q, qd) in self.q.iter_mut().zip(self.qd) {
            *q += qd * period as f64 * 1e-6;
        }
        if self.open[LinkId::REALTIME.index()] {
            self.send_realtime();
        }
        if self.open[LinkId::RTDE.index()] {
            self.send_rtde();
        }
        if self.open[LinkId::PRIMARY.index()] && (self.first_state_due || self.micros % 100_000 < period) {
            self.first_state_due = false;
            self.send_robot_state();
        }
    }

    /// Returns whether any program runs on the simulated controller.
    pub fn program_runs(&self) -> bool {
        self.program.is_some() || self.foreign
    }

    fn end_of_program(&self) -> Option<usize> {
        let line = self.text.find('\n')? + 1;
        if !self.text.starts_with("def ") && !self.text.starts_with("sec ") {
            return Some(line);
        }
        self.text.find("\nend\n").map(|at| at + 5)
    }

    fn run(&mut self, program: &str) {
        if program.starts_with("sec ") {
            return self.set_outputs(program);
        }
        // The slider has no effect here.
        if program.starts_with("set speed ") {
            return;
        }
        self.foreign = false;
        let self_ending = program.starts_with("def ");
        if let Some(at) = program.find("speedj([") {
            let (list, rest) = program[at + 8..].split_once(']').expect("a closed list");
            let speeds: Vec<f64> = list.split(',').map(|n| n.parse().expect("a number")).collect();
            self.qd = speeds.try_into().expect("six joints");
            let arguments = rest.split_once(')').expect("a closed call").0;
            let seconds: f64 = arguments.split(',').nth(2).map_or(0.02, |t| t.parse().expect("a number"));
            let ends_at = self.micros + (seconds * 1e6) as u64;
            let stops_at_end = self_ending || self.software.at_least(3, 5);
            self.program = Some(Program { ends_at, stops_at_end });
        } else {
            self.qd = [0.0; 6];
            self.program = None;
        }
    }

    /// Executes a secondary program. Only the standard digital outputs are supported.
    fn set_outputs(&mut self, program: &str) {
        for call in program.split("set_standard_digital_out(").skip(1) {
            let (arguments, _) = call.split_once(')').expect("a closed call");
            let (index, level) = arguments.split_once(',').expect("two arguments");
            let bit = 1 << index.parse::<u32>().expect("a number");
            self.digital_outputs =
                if level == "True" { self.digital_outputs | bit } else { self.digital_outputs & !bit };
        }
    }

    fn send_realtime(&mut self) {
        let repr = realtime::Repr {
            time: self.micros as f64 * 1e-6,
            q_actual: self.q,
            q_target: self.q,
            qd_actual: self.qd,
            qd_target: self.qd,
            robot_mode: if self.software.major < 3 { 0.0 } else { 7.0 },
            safety_mode: f64::from(self.safety),
            digital_input_bits: self.digital_inputs,
            digital_outputs: self.digital_outputs,
            speed_scaling: 1.0,
            program_state: if self.program_runs() { 2.0 } else { 1.0 },
            ..realtime::Repr::default()
        };
        let size = realtime::Repr::size_for(self.software);
        let mut bytes = [0; realtime::MAX_SIZE];
        let size = repr.emit(size, &mut bytes).expect("a known size");
        self.out[LinkId::REALTIME.index()].extend(&bytes[..size]);
    }

    fn send_rtde(&mut self) {
        let (micros, safety, runs) = (self.micros, i32::from(self.safety), self.program_runs());
        let (q, qd, digital_inputs) = (self.q, self.qd, self.digital_inputs);
        self.rtde.publish(|name, data_type| match name {
            "timestamp" => Value::Double(micros as f64 * 1e-6),
            "actual_q" | "target_q" => Value::Vector6d(q),
            "actual_qd" | "target_qd" => Value::Vector6d(qd),
            "robot_mode" => Value::Int32(7),
            "safety_mode" | "safety_status" => Value::Int32(safety),
            "runtime_state" => Value::Uint32(if runs { 2 } else { 1 }),
            "robot_status_bits" => Value::Uint32(if runs { 3 } else { 1 }),
            "speed_scaling" | "target_speed_fraction" => Value::Double(1.0),
            "actual_digital_input_bits" => Value::Uint64(digital_inputs),
            _ => rtde::zero(data_type),
        });
    }

    fn send_version(&mut self) {
        let version = primary::Version {
            project_name: primary::Text(b"URControl"),
            major: self.software.major,
            minor: self.software.minor,
            bugfix: self.software.bugfix.try_into().expect("a small number"),
            build_number: self.software.at_least(3, 3).then_some(0),
            build_date: primary::Text(b"01-01-2020, 00:00:00"),
        };
        let payload = primary::RobotMessagePayload::Version(version);
        let mut bytes = [0; 128];
        let size = primary::RobotMessage::emit(u64::MAX, MessageSource::RobotInterface, &payload, &mut bytes)
            .expect("a short message");
        self.out[LinkId::PRIMARY.index()].extend(&bytes[..size]);
    }

    fn send_robot_state(&mut self) {
        let cb2 = self.software.major < 3;
        let mode = primary::RobotModeDataRepr {
            timestamp: if cb2 { self.micros / 1_000 } else { self.micros },
            is_robot_connected: true,
            is_real_robot_enabled: true,
            is_power_on_robot: true,
            is_program_running: self.program_runs(),
            robot_mode: if cb2 { 0 } else { 7 },
            target_speed_fraction: 1.0,
            speed_fraction: 1.0,
            ..Default::default()
        };
        let mut bytes = [0; 512];
        let mut writer = primary::RobotStateWriter::new(&mut bytes).expect("room for the header");
        let size = |kind| primary::size_for(kind, self.software).expect("sent by every software");
        writer.add(&mode, size(0)).expect("room");
        if cb2 {
            let board = primary::MasterboardDataCb2Repr { master_safety_state: 8, ..Default::default() };
            writer.add(&board, size(3)).expect("room");
        } else {
            let board = primary::MasterboardDataRepr { safety_mode: self.safety, ..Default::default() };
            writer.add(&board, size(3)).expect("room");
        }
        let size = writer.finish().expect("a whole message");
        self.out[LinkId::PRIMARY.index()].extend(&bytes[..size]);
    }
}
